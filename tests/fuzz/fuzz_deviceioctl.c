/* SPDX-License-Identifier: MIT
 * Fuzz target: sequences of ioctls by several clients of the virtual device, on several open files,
 * with jobs that the demo's firmware executes. The input chooses rows of ioctl.def and what their
 * structures and arrays hold, mostly of values that mean something. Sizes are always right: what
 * they can be besides is the matter of fuzz_deviceproto. Bit 6 of the first byte makes the device
 * KGSL. */
#include <sys/mman.h>

#include "tests/fuzz/device_bench.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *data;
    size_t size;
};

static uint8_t byte_of(struct input *in)
{
    if (!in->size)
        return 0;
    in->size--;
    return *in->data++;
}

/* Small numbers are handles, counts, points and commands. */
static uint32_t word_of(struct input *in)
{
    static const uint32_t list[] = {
        0x10,       4096,      8192,      0x20000,   UINT32_MAX, 0xfffff000, 0x80000000, 0x40000010,
        0x20000010, 0x8000010, 0x4000010, 0x2000010, 0xc000010,  16,         40,         65536};
    uint8_t choice = byte_of(in);
    uint32_t raw = 0;
    if (choice < 32)
        return choice;
    if (choice < 48)
        return list[choice - 32];
    if (choice < 80)
        return 1u << (choice - 48);
    if (choice < 240)
        return (uint32_t)(choice - 80) << 12;
    for (unsigned i = 0; i < 4; i++)
        raw = raw << 8 | byte_of(in);
    return raw;
}

struct message {
    struct device_head head;
    uint8_t bytes[16384];
    int fds[2];
};

static void add_words(struct message *m, struct input *in, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 4) {
        uint32_t word = word_of(in);
        if (m->head.size + 4 > sizeof(m->bytes))
            return;
        memcpy(m->bytes + m->head.size, &word, 4);
        m->head.size += 4;
    }
}

static void add_bytes(struct message *m, const void *data, size_t size)
{
    size_t padded = (size + 7) / 8 * 8;
    if (m->head.size + padded > sizeof(m->bytes))
        return;
    memcpy(m->bytes + m->head.size, data, size);
    m->head.size += (uint32_t)padded;
}

static void add_piece(struct message *m, struct input *in, uint32_t size)
{
    struct device_piece piece = {.size = size};
    add_bytes(m, &piece, sizeof(piece));
    add_words(m, in, size);
    m->head.size = (m->head.size + 7) / 8 * 8;
}

static uint32_t member(const struct message *m, size_t offset)
{
    uint32_t value;
    memcpy(&value, m->bytes + offset, sizeof(value));
    return value;
}

static void ask(struct bench *b, unsigned client, struct message *m)
{
    static uint8_t answer[65536];
    int fds[2];
    unsigned count = 0;
    m->head.version = DEVICE_VERSION;
    for (unsigned i = 0; i < m->head.fds; i++)
        fds[count++] = m->fds[i];
    struct {
        struct device_head head;
        uint8_t bytes[16384];
    } packed = {.head = m->head};
    memcpy(packed.bytes, m->bytes, sizeof(packed.bytes));
    bench_send(b, client, &packed, sizeof(packed.head) + m->head.size, fds, count);
    bench_step(b);
    bench_read(b, client, answer, sizeof(answer));
}

static struct message begin(uint16_t kind, uint16_t row, uint32_t context)
{
    struct message m = {.head = {.kind = kind, .row = row}};
    memcpy(m.head.token, &context, sizeof(context));
    return m;
}

static void add_fds(struct bench *b, struct message *m, struct input *in)
{
    const struct device_ioctl *row = &device_ioctls[m->head.row];
    for (unsigned i = 0; i < 2; i++) {
        bool wanted = row->fd[i].way == DEVICE_IN &&
                      (!row->fd[i].bits || member(m, row->flags) & row->fd[i].bits);
        int fd = wanted ? b->fd[byte_of(in) % BENCH_FDS] : -1;
        if (fd >= 0)
            m->fds[m->head.fds++] = fd;
    }
}

/* A row with any values: counts are small, and the arrays are there. */
static void any_call(struct bench *b, struct input *in, unsigned client, uint32_t context,
                     unsigned number)
{
    const struct device_ioctl *row = &device_ioctls[number];
    struct message m = begin(DEVICE_IOCTL, (uint16_t)number, context);
    add_words(&m, in, row->size);
    m.head.size = (m.head.size + 7) / 8 * 8;
    for (unsigned i = 0; i < DEVICE_MAX_ARRAYS && row->array[i].way; i++) {
        uint32_t count = member(&m, row->array[i].count) % 64;
        memcpy(m.bytes + row->array[i].count, &count, sizeof(count));
    }
    if (number == DEVICE_VM_BIND || number == DEVICE_GEM_INFO || number == DEVICE_SET_PARAM) {
        size_t at = number == DEVICE_VM_BIND    ? offsetof(struct msm_vm_bind, op_count)
                    : number == DEVICE_GEM_INFO ? offsetof(struct msm_gem_info, len)
                                                : offsetof(struct msm_param, len);
        uint32_t count = member(&m, at) % 64;
        memcpy(m.bytes + at, &count, sizeof(count));
    }
    add_fds(b, &m, in);
    for (unsigned i = 0; i < DEVICE_MAX_ARRAYS && row->array[i].way; i++) {
        if (row->array[i].way & DEVICE_IN)
            add_piece(&m, in, member(&m, row->array[i].count) * row->array[i].bytes);
    }
    uint32_t info = member(&m, offsetof(struct msm_gem_info, info));
    uint32_t param = member(&m, offsetof(struct msm_param, param));
    uint32_t ops = member(&m, offsetof(struct msm_vm_bind, op_count));
    if (number == DEVICE_GEM_INFO && (info == MSM_INFO_SET_NAME || info == MSM_INFO_SET_METADATA))
        add_piece(&m, in, member(&m, offsetof(struct msm_gem_info, len)));
    if (number == DEVICE_SET_PARAM && (param == MSM_COMM || param == MSM_CMDLINE))
        add_piece(&m, in, member(&m, offsetof(struct msm_param, len)));
    if (number == DEVICE_VM_BIND && ops != 1)
        add_piece(&m, in, ops * (uint32_t)sizeof(struct msm_vm_bind_op));
    ask(b, client, &m);
}

/* ---- calls that make sense ---- */

static void new_buffer(struct bench *b, struct input *in, unsigned client, uint32_t context)
{
    struct message m = begin(DEVICE_IOCTL, DEVICE_GEM_NEW, context);
    uint8_t choice = byte_of(in);
    struct msm_gem_new new = {.size = (1 + choice % 16u) << 12,
                              .flags = choice & 0x80 ? MSM_BO_GPU_READONLY : 0x20000};
    add_bytes(&m, &new, sizeof(new));
    ask(b, client, &m);
    m = begin(DEVICE_IOCTL, DEVICE_GEM_INFO, context);
    struct msm_gem_info info = {.handle = 1 + choice / 16 % 4u, .info = MSM_INFO_IOVA};
    add_bytes(&m, &info, sizeof(info));
    ask(b, client, &m);
}

/* Packets of the demo: writes, waits, jumps, nonsense. */
static uint32_t make_packet(struct input *in, uint32_t *to)
{
    static const uint8_t opcodes[] = {0x3d, 0x3c, 0x3f, 0x10, 0x7d, 0x46, 0x3d, 0x42};
    uint8_t choice = byte_of(in);
    uint32_t opcode = opcodes[choice % 8], count = choice / 8 % 8;
    to[0] = 7u << 28 | (uint32_t)(1 ^ __builtin_parity(opcode)) << 23 | opcode << 16 |
            (uint32_t)(1 ^ __builtin_parity(count)) << 15 | count;
    for (uint32_t i = 1; i <= count; i++)
        to[i] = word_of(in);
    return 1 + count;
}

static void write_stream(struct bench *b, struct input *in, unsigned client, uint32_t context)
{
    struct message m = begin(DEVICE_MAP, 0, context);
    uint32_t words[128], used = 0;
    struct device_map map = {.offset = (uint64_t)(1 + byte_of(in) % 4) << 32, .size = 4096};
    unsigned before = b->fds;
    add_bytes(&m, &map, sizeof(map));
    ask(b, client, &m);
    if (b->fds == before)
        return;
    for (unsigned i = byte_of(in) % 12; i; i--)
        used += make_packet(in, words + used);
    /* The client writes while the processor may read. */
    ssize_t put = pwrite(b->fd[(b->fds - 1) % BENCH_FDS], words, used * sizeof(*words), 0);
    (void)put;
}

static void submit(struct bench *b, struct input *in, unsigned client, uint32_t context)
{
    struct message m = begin(DEVICE_IOCTL, DEVICE_SUBMIT, context);
    uint8_t choice = byte_of(in), more = byte_of(in);
    const struct msm_submit_bo bos[2] = {
        {.flags = choice & 3, .handle = 1 + choice / 4 % 4u},
        {.flags = MSM_BO_READ | MSM_BO_WRITE, .handle = 1 + choice / 16 % 4u}};
    const struct msm_submit_cmd cmd = {.type = MSM_CMD_BUF,
                                       .size = 4 + (more % 32u) * 4,
                                       .iova = UINT64_C(0x100000000) + ((more / 32u) << 12)};
    const struct msm_submit_syncobj sync = {
        .handle = 1 + more % 4u, .flags = more / 4 % 2u, .point = more / 8 % 4u};
    struct msm_submit args = {.flags = MSM_PIPE_3D,
                              .bo_count = 1 + choice / 64 % 2u,
                              .cmd_count = 1,
                              .fence_fd = -1,
                              .queue = byte_of(in) % 3u,
                              .stride = sizeof(sync)};
    uint8_t flags = byte_of(in);
    args.in_count = flags & 1;
    args.out_count = flags / 2 & 1;
    args.flags |=
        (flags & 1 ? MSM_SUBMIT_SYNCOBJ_IN : 0) | (flags & 2 ? MSM_SUBMIT_SYNCOBJ_OUT : 0);
    args.flags |=
        (flags & 4 ? MSM_SUBMIT_FENCE_FD_IN : 0) | (flags & 8 ? MSM_SUBMIT_FENCE_FD_OUT : 0);
    add_bytes(&m, &args, sizeof(args));
    add_fds(b, &m, in);
    const struct device_piece piece[] = {
        {.size = args.bo_count * 16}, {.size = 32}, {.size = 0}, {.size = 16}};
    add_bytes(&m, &piece[0], sizeof(piece[0]));
    add_bytes(&m, bos, piece[0].size);
    add_bytes(&m, &piece[1], sizeof(piece[1]));
    add_bytes(&m, &cmd, sizeof(cmd));
    add_bytes(&m, &piece[args.in_count ? 3 : 2], sizeof(piece[0]));
    add_bytes(&m, &sync, args.in_count * 16);
    add_bytes(&m, &piece[args.out_count ? 3 : 2], sizeof(piece[0]));
    add_bytes(&m, &sync, args.out_count * 16);
    ask(b, client, &m);
}

static void change_space(struct bench *b, struct input *in, unsigned client, uint32_t context)
{
    uint8_t choice = byte_of(in), where = byte_of(in);
    struct message m = begin(DEVICE_IOCTL, DEVICE_VM_BIND, context);
    struct msm_vm_bind args = {.queue = 1 + choice / 64,
                               .op_count = 1,
                               .fence_fd = -1,
                               .op = {.op = choice % 3,
                                      .handle = choice % 3 == MSM_MAP ? 1 + choice / 4 % 4u : 0,
                                      .iova = UINT64_C(0x100000000) + (uint64_t)(where % 16) * 4096,
                                      .range = (1 + where / 16 % 4u) * 4096}};
    const struct device_piece none = {0};
    add_bytes(&m, &args, sizeof(args));
    add_bytes(&m, &none, sizeof(none));
    add_bytes(&m, &none, sizeof(none));
    ask(b, client, &m);
}

/* The client manages addresses, and queue 1 changes them. */
static void use_vm_bind(struct bench *b, unsigned client, uint32_t context)
{
    struct message m = begin(DEVICE_IOCTL, DEVICE_SET_PARAM, context);
    struct msm_param param = {.pipe = MSM_PIPE_3D, .param = MSM_EN_VM_BIND, .value = 1};
    add_bytes(&m, &param, sizeof(param));
    ask(b, client, &m);
    m = begin(DEVICE_IOCTL, DEVICE_QUEUE_NEW, context);
    struct msm_queue queue = {.flags = MSM_QUEUE_VM_BIND};
    add_bytes(&m, &queue, sizeof(queue));
    ask(b, client, &m);
}

/* ---- KGSL: structures lie in memory of the process ---- */

/* An address of the area, mostly. */
static uint64_t area_of(struct input *in)
{
    uint8_t choice = byte_of(in);
    return choice == 255 ? (uint64_t)word_of(in) << 32 | word_of(in)
                         : (uintptr_t)BENCH_AREA + choice * (BENCH_AREA_BYTES / 256);
}

static void fill_area(struct input *in)
{
    uint32_t *to = (uint32_t *)(BENCH_AREA + byte_of(in) * (size_t)(BENCH_AREA_BYTES / 256));
    for (unsigned i = byte_of(in) % 48; i; i--)
        *to++ = word_of(in);
}

static void make_kgsl(struct bench *b, struct input *in, unsigned client, uint32_t context)
{
    static const uint64_t flags[] = {0, KGSL_USE_CPU_MAP, KGSL_GPU_READONLY, KGSL_VBO,
                                     KGSL_VBO | KGSL_NO_MAP_ZERO};
    uint8_t choice = byte_of(in);
    struct message m = begin(DEVICE_IOCTL, DEVICE_KGSL_OBJECT_ALLOC, context);
    const struct kgsl_object_alloc object = {.size = (1 + choice % 16u) << 12,
                                             .flags = flags[choice / 16 % 5u]};
    add_bytes(&m, &object, sizeof(object));
    ask(b, client, &m);
    m = begin(DEVICE_IOCTL, DEVICE_KGSL_CONTEXT_NEW, context);
    const struct kgsl_context new = {.flags = KGSL_PREAMBLE | KGSL_NO_GMEM_ALLOC |
                                              (choice & 0x80 ? KGSL_USER_TS : 0)};
    add_bytes(&m, &new, sizeof(new));
    ask(b, client, &m);
}

/* One stream, which the area has, or a buffer. */
static void command(struct bench *b, struct input *in, unsigned client, uint32_t context)
{
    enum { OBJECT = BENCH_AREA_BYTES - 256, POINT = BENCH_AREA_BYTES - 128 };
    uint32_t *words = (uint32_t *)(BENCH_AREA + BENCH_AREA_BYTES / 2);
    uint32_t used = 0;
    struct message m = begin(DEVICE_IOCTL, DEVICE_KGSL_COMMAND, context);
    for (unsigned i = byte_of(in) % 12; i; i--)
        used += make_packet(in, words + used);
    uint8_t choice = byte_of(in);
    const struct kgsl_object object = {.gpuaddr =
                                           choice & 1 ? area_of(in) : (uint64_t)(uintptr_t)words,
                                       .size = 4 * (used ? used : 1),
                                       .flags = KGSL_OBJECT_PROFILE,
                                       .id = choice / 2 % 4u};
    const struct kgsl_point_timestamp time = {1 + choice / 8 % 4u, byte_of(in)};
    const struct kgsl_sync_point point = {(uintptr_t)BENCH_AREA + POINT + 64, sizeof(time),
                                          choice / 32 % 2u, 0};
    memcpy(BENCH_AREA + OBJECT, &object, sizeof(object));
    memcpy(BENCH_AREA + POINT, &point, sizeof(point));
    memcpy(BENCH_AREA + POINT + 64, &time, sizeof(time));
    const struct kgsl_command args = {.flags = KGSL_COMMAND_PROFILING,
                                      .cmds = (uintptr_t)BENCH_AREA + OBJECT,
                                      .cmd_size = sizeof(object),
                                      .cmd_count = choice & 0x80 ? 0 : 1,
                                      .objects = (uintptr_t)BENCH_AREA + OBJECT,
                                      .object_size = sizeof(object),
                                      .object_count = 1,
                                      .syncs = (uintptr_t)BENCH_AREA + POINT,
                                      .sync_size = sizeof(point),
                                      .sync_count = choice / 64 % 2u,
                                      .context = 1 + choice / 8 % 3u,
                                      .timestamp = byte_of(in)};
    add_bytes(&m, &args, sizeof(args));
    ask(b, client, &m);
}

static void act(struct bench *b, struct input *in)
{
    uint8_t action = byte_of(in), who = byte_of(in);
    unsigned client = who % BENCH_CLIENTS;
    uint32_t context = 1 + who / BENCH_CLIENTS % 4;
    struct message m;
    if (b->device.config.kgsl && action % 16 >= 13) {
        if (action % 16 == 13)
            fill_area(in);
        else
            (action % 16 == 14 ? make_kgsl : command)(b, in, client, context);
        return;
    }
    switch (action % 16) {
    case 0:
        bench_disconnect(b, client);
        bench_connect(b, client);
        return;
    case 1:
        m = begin(DEVICE_OPEN, 0, 0);
        ask(b, client, &m);
        return;
    case 2:
        new_buffer(b, in, client, context);
        return;
    case 3:
        write_stream(b, in, client, context);
        return;
    case 4:
    case 5:
        submit(b, in, client, context);
        return;
    case 6:
        change_space(b, in, client, context);
        return;
    case 7:
        use_vm_bind(b, client, context);
        return;
    case 8:
        bench_step(b);
        return;
    default:
        any_call(b, in, client, context, byte_of(in) % DEVICE_ROWS);
        return;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bench b;
    struct input in = {data, size};
    bench_begin(&b, size && data[0] & 0x40);
    for (unsigned i = 0; i < BENCH_CLIENTS; i++)
        bench_connect(&b, i);
    while (in.size)
        act(&b, &in);
    bench_end(&b);
    return 0;
}
