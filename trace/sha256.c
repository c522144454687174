/* SPDX-License-Identifier: MIT
 * The hash that names a trace's inputs. */
#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stream.h"

static struct cps_err *hash_fd(int fd, const char *path, char ret[65])
{
    uint8_t digest[32];
    uint8_t block[65536];
    SHA2_CTX context;
    SHA256Init(&context);
    for (;;) {
        ssize_t got = read(fd, block, sizeof(block));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return cps_err_os(path, "read");
        if (got == 0)
            break;
        SHA256Update(&context, block, (size_t)got);
    }
    SHA256Final(digest, &context);
    for (unsigned i = 0; i < sizeof(digest); i++) {
        ret[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        ret[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    ret[64] = '\0';
    return NULL;
}

struct cps_err *cps_sha256_file(const char *path, char ret[65])
{
    struct stat info;
    if (!strcmp(path, "-") || (stat(path, &info) == 0 && !S_ISREG(info.st_mode))) {
        strcpy(ret, "unknown");
        return NULL;
    }
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return cps_err_os(path, "open");
    struct cps_err *err = hash_fd(fd, path, ret);
    close(fd);
    return err;
}
