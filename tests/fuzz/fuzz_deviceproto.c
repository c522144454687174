/* SPDX-License-Identifier: MIT
 * Fuzz target: bytes and descriptors from clients of the virtual device. Whatever they send, the
 * device goes on, and has nothing left when they have gone.
 *
 * The input is a list of actions, each a byte: its low 2 bits are the connection, the next 3 the
 * action; 5 of them are followed by more. Tokens are the numbers of contexts, from 1. Bit 6 of the
 * first one makes the device KGSL. */
#include <sys/mman.h>

#include "tests/fuzz/device_bench.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a client may send for a descriptor. */
static int foreign_fd(struct bench *b, uint8_t what)
{
    int pair[2] = {-1, -1};
    int fd = -1;
    switch (what % 8) {
    case 0:
        fd = memfd_create("foreign", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        if (ftruncate(fd, (off_t)(what / 8) << 12) == 0)
            fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
        break;
    case 1:
        fd = memfd_create("foreign", MFD_CLOEXEC);
        break;
    case 2:
        if (pipe2(pair, O_CLOEXEC) == 0)
            close(pair[what / 8 % 2]);
        fd = pair[!(what / 8 % 2)];
        break;
    case 3:
        fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
        break;
    default:
        fd = fcntl(b->fd[what % BENCH_FDS] < 0 ? 0 : b->fd[what % BENCH_FDS], F_DUPFD_CLOEXEC, 0);
        break;
    }
    return fd;
}

static void act(struct bench *b, const uint8_t **data, size_t *size)
{
    static uint8_t answer[65536];
    uint8_t action = (*data)[0];
    unsigned i = action % BENCH_CLIENTS;
    ++*data, --*size;
    unsigned count = action / 4 % 8;
    switch (count) {
    case 0:
        bench_disconnect(b, i);
        break;
    case 1:
        bench_step(b);
        break;
    case 2:
        bench_read(b, i, answer, sizeof(answer));
        break;
    case 3: /* as many bytes as a byte says, of which none may be there */
    case 4:
    case 5:
    case 6: {
        int fds[3] = {-1, -1, -1};
        size_t length = *size ? (*data)[0] * (size_t)(action & 0x80 ? 16 : 1) : 0;
        *data += *size > 0, *size -= *size > 0;
        count = count - 3 < *size ? count - 3 : 0;
        for (unsigned k = 0; k < count; k++)
            fds[k] = foreign_fd(b, (*data)[k]);
        *data += count, *size -= count;
        length = length < *size ? length : *size;
        bench_send(b, i, *data, length, fds, count);
        for (unsigned k = 0; k < count; k++)
            close(fds[k]);
        *data += length, *size -= length;
        bench_step(b);
        break;
    }
    default:
        bench_connect(b, i);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bench b;
    bench_begin(&b, size && data[0] & 0x40);
    for (unsigned i = 0; i < BENCH_CLIENTS; i++)
        bench_connect(&b, i);
    while (size)
        act(&b, &data, &size);
    bench_end(&b);
    return 0;
}
