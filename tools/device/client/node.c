/* SPDX-License-Identifier: MIT
 * The node of the virtual device in a client: open, ioctl and mmap as messages.
 *
 * A node is known by what its file holds, so descriptors that were duplicated, inherited or
 * received are as good as those that open() returned. */
#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS
#undef _TIME_BITS
#undef _POSIX_C_SOURCE
#define _GNU_SOURCE
#define _LARGEFILE64_SOURCE
#include "tools/device/client/client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MSM_NAME "msm"
enum { MSM_MAJOR = 1, MSM_MINOR = 13 };

enum { DRM_VERSION = 0x00, DRM_DRIVER_LAST = 0x9f, SYNC_FILE_INFO = 4, MOST_NODES = 64 };
enum { LEAST_POINTER = 4096, ROUND = 8 };

CLIENT_NEXT(int, ioctl, int, unsigned long, ...)
CLIENT_NEXT(void *, mmap, void *, size_t, int, int, int, off_t)
CLIENT_NEXT(void *, mmap64, void *, size_t, int, int, int, off64_t)

/* ---- which descriptors are nodes ---- */

/* Filled once and never changed: an inode of a memfd does not come again. */
static struct node {
    atomic_uint state; /* 0: free, 1: being filled, 2: filled */
    enum node_kind kind;
    uint64_t device, inode;
    uint8_t token[DEVICE_TOKEN];
} nodes[MOST_NODES];

static const struct node *find_known(uint64_t device, uint64_t inode)
{
    for (unsigned i = 0; i < MOST_NODES; i++) {
        unsigned state = atomic_load_explicit(&nodes[i].state, memory_order_acquire);
        if (state == 2 && nodes[i].inode == inode && nodes[i].device == device)
            return &nodes[i];
        if (!state)
            return NULL;
    }
    return NULL;
}

bool node_is_known(uint64_t device, uint64_t inode)
{
    return find_known(device, inode);
}

static void remember_node(const struct client_file *file, enum node_kind kind,
                          const uint8_t token[DEVICE_TOKEN])
{
    for (unsigned i = 0; i < MOST_NODES; i++) {
        unsigned expected = 0;
        if (!atomic_compare_exchange_strong(&nodes[i].state, &expected, 1))
            continue;
        nodes[i].kind = kind;
        nodes[i].device = file->device;
        nodes[i].inode = file->inode;
        memcpy(nodes[i].token, token, DEVICE_TOKEN);
        atomic_store_explicit(&nodes[i].state, 2, memory_order_release);
        return;
    }
}

static enum node_kind read_token(int fd, uint8_t token[DEVICE_TOKEN])
{
    uint8_t text[sizeof(DEVICE_MAGIC) + DEVICE_TOKEN];
    int saved = errno;
    ssize_t size = pread(fd, text, sizeof(text), 0);
    errno = saved;
    if (size != sizeof(text))
        return NODE_NONE;
    memcpy(token, text + sizeof(DEVICE_MAGIC), DEVICE_TOKEN);
    return !memcmp(text, DEVICE_MAGIC, sizeof(DEVICE_MAGIC))             ? NODE_MSM
           : !memcmp(text, DEVICE_KGSL_MAGIC, sizeof(DEVICE_KGSL_MAGIC)) ? NODE_KGSL
                                                                         : NODE_NONE;
}

enum node_kind node_find(int fd, uint8_t token[DEVICE_TOKEN])
{
    struct client_file file;
    if (fd < 0 || !client_folder() || !client_file(fd, NULL, &file) || !S_ISREG(file.mode) ||
        file.links)
        return NODE_NONE;
    const struct node *known = find_known(file.device, file.inode);
    if (known) {
        memcpy(token, known->token, DEVICE_TOKEN);
        return known->kind;
    }
    enum node_kind kind = read_token(fd, token);
    if (!kind)
        return NODE_NONE;
    /* This process has it from another one: it stays open as long as this one lives, too. */
    struct device_head head = {.kind = DEVICE_HOLD};
    struct client_talk talk;
    struct iovec part[1];
    memcpy(head.token, token, DEVICE_TOKEN);
    if (!client_ask(&talk, true, &head, part, 1, NULL, 0, NULL, 0)) {
        if (talk.got >= 0)
            close(talk.got);
        remember_node(&file, kind, token);
    }
    return kind;
}

int node_open(int flags)
{
    struct device_head head = {.kind = DEVICE_OPEN};
    struct client_talk talk;
    struct client_file file;
    struct iovec part[1];
    uint8_t token[DEVICE_TOKEN];
    int status = client_ask(&talk, true, &head, part, 1, NULL, 0, NULL, 0);
    if (!status && head.status < 0)
        status = head.status;
    enum node_kind kind = NODE_NONE;
    if (!status && (talk.got < 0 || !client_file(talk.got, NULL, &file) ||
                    !(kind = read_token(talk.got, token))))
        status = -ENODEV;
    if (status) {
        if (talk.got >= 0)
            close(talk.got);
        errno = -status;
        return -1;
    }
    remember_node(&file, kind, token);
    if (!(flags & O_CLOEXEC))
        fcntl(talk.got, F_SETFD, 0);
    return talk.got;
}

/* ---- ioctl ---- */

/* An array that a structure leads to. */
struct array {
    uint64_t at;
    uint64_t count;
    uint32_t stride, bytes;
    uint8_t way;
};
enum { MOST_ARRAYS = DEVICE_MAX_ARRAYS + 1, PARTS_OF_ARRAY = 3 };

struct call {
    const struct device_ioctl *row;
    union {
        uint64_t align;
        uint8_t bytes[CLIENT_BODY];
    } body;
    struct array array[MOST_ARRAYS];
    struct device_piece piece[MOST_ARRAYS];
    unsigned arrays;
    void *gathered[MOST_ARRAYS];
    size_t gathered_size[MOST_ARRAYS];
    struct iovec parts[2 + MOST_ARRAYS * PARTS_OF_ARRAY];
    unsigned count;
};

static uint32_t member32(const struct call *call, size_t offset)
{
    uint32_t value;
    memcpy(&value, call->body.bytes + offset, sizeof(value));
    return value;
}

static uint64_t member64(const struct call *call, size_t offset)
{
    uint64_t value;
    memcpy(&value, call->body.bytes + offset, sizeof(value));
    return value;
}

static void add_array(struct call *call, uint8_t way, uint64_t at, uint64_t count, uint32_t stride,
                      uint32_t bytes)
{
    call->array[call->arrays++] = (struct array){at, count, stride, bytes, way};
}

static void list_arrays(struct call *call, unsigned row)
{
    for (unsigned i = 0; i < DEVICE_MAX_ARRAYS && call->row->array[i].way; i++) {
        uint8_t bytes = call->row->array[i].bytes, stride = call->row->array[i].stride;
        add_array(call, call->row->array[i].way, member64(call, call->row->array[i].pointer),
                  member32(call, call->row->array[i].count),
                  stride ? member32(call, stride) : bytes, bytes);
    }
    switch (row) {
    case DEVICE_SET_PARAM: {
        uint32_t param = member32(call, offsetof(struct msm_param, param));
        if (param == MSM_COMM || param == MSM_CMDLINE)
            add_array(call, DEVICE_IN, member64(call, offsetof(struct msm_param, value)),
                      member32(call, offsetof(struct msm_param, len)), 1, 1);
        break;
    }
    case DEVICE_GEM_INFO: {
        uint32_t info = member32(call, offsetof(struct msm_gem_info, info));
        bool set = info == MSM_INFO_SET_NAME || info == MSM_INFO_SET_METADATA;
        bool get = info == MSM_INFO_NAME || info == MSM_INFO_METADATA;
        if (set || (get && member64(call, offsetof(struct msm_gem_info, value))))
            add_array(call, set ? DEVICE_IN : DEVICE_OUT,
                      member64(call, offsetof(struct msm_gem_info, value)),
                      member32(call, offsetof(struct msm_gem_info, len)), 1, 1);
        break;
    }
    case DEVICE_VM_BIND: {
        uint32_t count = member32(call, offsetof(struct msm_vm_bind, op_count));
        if (count != 1)
            add_array(call, DEVICE_IN, member64(call, offsetof(struct msm_vm_bind, ops)), count,
                      member32(call, offsetof(struct msm_vm_bind, op_stride)),
                      sizeof(struct msm_vm_bind_op));
        break;
    }
    }
}

/* Elements that do not lie close together, or are shorter than today's, as the device reads them.
 */
static void *gather(struct call *call, unsigned i, size_t size)
{
    const struct array *a = &call->array[i];
    uint8_t *to =
        next_mmap()(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (to == MAP_FAILED)
        return NULL;
    call->gathered[i] = to;
    call->gathered_size[i] = size;
    uint32_t given = a->stride < a->bytes ? a->stride : a->bytes;
    for (uint64_t k = 0; a->at && k < a->count; k++)
        memcpy(to + k * a->bytes, (const uint8_t *)(uintptr_t)a->at + k * a->stride, given);
    return to;
}

static void add_part(struct call *call, void *at, size_t size)
{
    if (size)
        call->parts[call->count++] = (struct iovec){at, size};
}

static int fill_parts(struct call *call)
{
    static uint8_t zero[ROUND];
    call->count = 1; /* the head is the first */
    add_part(call, call->body.bytes, (call->row->size + ROUND - 1u) & ~(ROUND - 1u));
    for (unsigned i = 0; i < call->arrays; i++) {
        const struct array *a = &call->array[i];
        if (a->count * a->bytes > DEVICE_MAX_SIZE)
            return -ENOMEM;
        size_t size = (size_t)(a->count * a->bytes);
        void *at = (void *)(uintptr_t)a->at;
        if (!(a->way & DEVICE_IN))
            continue;
        bool points = !at && a->bytes == sizeof(uint64_t);
        if (size && !at && !points)
            return -EFAULT;
        if (size && (a->stride != a->bytes || points) && !(at = gather(call, i, size)))
            return -ENOMEM;
        call->piece[i].size = (uint32_t)size;
        add_part(call, &call->piece[i], sizeof(call->piece[i]));
        add_part(call, at, size);
        add_part(call, zero, -size & (ROUND - 1u));
    }
    return 0;
}

static bool has_fd(const struct call *call, unsigned i, uint8_t way)
{
    return call->row->fd[i].way == way &&
           (!call->row->fd[i].bits || member32(call, call->row->flags) & call->row->fd[i].bits);
}

static int read_arrays(struct call *call, struct client_talk *talk)
{
    for (unsigned i = 0; i < call->arrays && talk->left; i++) {
        const struct array *a = &call->array[i];
        struct device_piece piece;
        uint8_t rest[ROUND];
        if (!(a->way & DEVICE_OUT))
            continue;
        int status = client_read(talk, &piece, sizeof(piece));
        if (status)
            return status;
        if (piece.size > a->count * a->bytes)
            return -EIO;
        status = client_read(talk, (void *)(uintptr_t)a->at, piece.size);
        if (!status)
            status = client_read(talk, rest, -piece.size & (ROUND - 1u));
        if (status)
            return status;
    }
    return talk->left ? -EIO : 0;
}

/* Gives the descriptor that came to the structure; DRM_CLOEXEC is O_CLOEXEC. */
static void place_fd(struct call *call, unsigned row, uint32_t flags, int got, bool wanted)
{
    for (unsigned i = 0; i < 2 && got >= 0 && wanted; i++) {
        if (call->row->fd[i].way != DEVICE_OUT)
            continue;
        if (row == DEVICE_PRIME_TO_FD && !(flags & O_CLOEXEC))
            fcntl(got, F_SETFD, 0);
        if (row == DEVICE_KGSL_EVENT) { /* it leads there, and the device has written there */
            memcpy((void *)(uintptr_t)member64(call, call->row->fd[i].offset), &got, sizeof(got));
            return;
        }
        memcpy(call->body.bytes + call->row->fd[i].offset, &got, sizeof(got));
        return;
    }
    if (got >= 0)
        close(got);
}

/* The program's structure, in or out, as the kernel reaches it: a wrong pointer is EFAULT. Where
 * the system refuses to look, it is trusted. */
static int copy_argument(void *own, void *argument, size_t size, bool out)
{
    const struct iovec here = {own, size}, there = {argument, size};
    ssize_t done = out ? process_vm_writev(getpid(), &here, 1, &there, 1, 0)
                       : process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    if (done == (ssize_t)size)
        return 0;
    if (done >= 0 || errno == EFAULT)
        return -EFAULT;
    memcpy(out ? argument : own, out ? own : argument, size);
    return 0;
}

static int send_call(struct call *call, unsigned row, const uint8_t *token, int fd,
                     unsigned long request, void *argument)
{
    struct device_head head = {.kind = DEVICE_IOCTL, .row = (uint16_t)row};
    struct client_talk talk;
    int fds[DEVICE_MAX_FDS];
    unsigned fd_count = 0;
    size_t size = (call->row->size + ROUND - 1u) & ~(ROUND - 1u);
    size_t given = _IOC_SIZE(request) < call->row->size ? _IOC_SIZE(request) : call->row->size;
    if (token)
        memcpy(head.token, token, DEVICE_TOKEN);
    else
        fds[fd_count++] = fd;
    for (unsigned i = 0; i < 2; i++) {
        if (has_fd(call, i, DEVICE_IN))
            fds[fd_count++] = (int)member32(call, call->row->fd[i].offset);
    }
    uint32_t flags = member32(call, offsetof(struct drm_prime, flags));
    int status = client_ask(&talk, false, &head, call->parts, call->count, fds, fd_count,
                            call->body.bytes, size);
    if (status)
        return status;
    bool answered = head.size >= size; /* an error may come without the structure */
    if (answered ? (status = read_arrays(call, &talk)) : head.size || head.status >= 0)
        head.status = status ? status : -EIO;
    place_fd(call, row, flags, talk.got, answered && head.status >= 0);
    client_end(&talk);
    bool out = answered && _IOC_DIR(request) & _IOC_READ && given;
    if (out && call->row->group == KGSL_GROUP)
        status = head.status < 0 ? 0 : copy_argument(call->body.bytes, argument, given, true);
    else if (out)
        memcpy(argument, call->body.bytes, given);
    return status ? status : head.status;
}

static int call_row(unsigned row, const uint8_t *token, int fd, unsigned long request,
                    void *argument)
{
    struct call call = {.row = &device_ioctls[row]};
    size_t given = _IOC_SIZE(request) < call.row->size ? _IOC_SIZE(request) : call.row->size;
    if (given && (uintptr_t)argument < LEAST_POINTER)
        return -EFAULT;
    int status = 0;
    if (_IOC_DIR(request) & _IOC_WRITE && given && call.row->group == KGSL_GROUP)
        status = copy_argument(call.body.bytes, argument, given, false);
    else if (_IOC_DIR(request) & _IOC_WRITE)
        memcpy(call.body.bytes, argument, given);
    if (status)
        return status;
    list_arrays(&call, row);
    status = fill_parts(&call);
    if (!status)
        status = send_call(&call, row, token, fd, request, argument);
    for (unsigned i = 0; i < MOST_ARRAYS; i++) {
        if (call.gathered[i])
            munmap(call.gathered[i], call.gathered_size[i]);
    }
    return status;
}

/* struct drm_version of drm.h: its layout depends on the size of a pointer. */
struct version {
    int major, minor, patch;
    size_t name_size;
    char *name;
    size_t date_size;
    char *date;
    size_t text_size;
    char *text;
};

static void give_text(char *to, size_t *size, const char *text)
{
    size_t length = strlen(text);
    if (to && *size)
        memcpy(to, text, *size < length ? *size : length);
    *size = length;
}

static int tell_version(struct version *version)
{
    if ((uintptr_t)version < LEAST_POINTER)
        return -EFAULT;
    version->major = MSM_MAJOR;
    version->minor = MSM_MINOR;
    version->patch = 0;
    give_text(version->name, &version->name_size, MSM_NAME);
    give_text(version->date, &version->date_size, "0");
    give_text(version->text, &version->text_size, "MSM Snapdragon DRM");
    return 0;
}

static unsigned find_row(unsigned long request)
{
    unsigned row = 0;
    while (row < DEVICE_ROWS && (device_ioctls[row].group != _IOC_TYPE(request) ||
                                 device_ioctls[row].number != _IOC_NR(request)))
        row++;
    return row;
}

/* As kgsl_ioctl_helper(): a structure may be shorter or longer than the kernel's. */
static int call_kgsl(const uint8_t *token, int fd, unsigned long request, void *argument)
{
    unsigned row = find_row(request);
    return row < DEVICE_ROWS ? call_row(row, token, fd, request, argument) : -ENOTTY;
}

/* Errors as drm_ioctl() of Linux has them for a render node: EACCES for what a render node may not
 * do, EINVAL for what the driver does not have. */
static int call_node(const uint8_t *token, int fd, unsigned long request, void *argument)
{
    unsigned row = find_row(request), number = _IOC_NR(request);
    if (row < DEVICE_ROWS)
        return call_row(row, token, fd, request, argument);
    if (number == DRM_VERSION)
        return tell_version(argument);
    return number >= MSM_FIRST && number <= DRM_DRIVER_LAST ? -EINVAL : -EACCES;
}

/* struct sync_file_info and sync_fence_info of sync_file.h. */
struct sync_info {
    char name[32];
    int32_t status;
    uint32_t flags, count, pad;
    uint64_t fences;
};
struct fence_info {
    char object[32], driver[32];
    int32_t status;
    uint32_t flags;
    uint64_t time;
};

static int tell_sync(int fd, struct sync_info *info)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    struct sync_merge merge = {.name = "info", .fd2 = fd};
    if ((uintptr_t)info < LEAST_POINTER)
        return -EFAULT;
    /* A file that merges with itself is one of the device's. */
    int status = call_row(DEVICE_SYNC_MERGE, NULL, fd,
                          _IOC(_IOC_READ | _IOC_WRITE, SYNC_GROUP, 3, sizeof(merge)), &merge);
    if (status)
        return status;
    close(merge.fence);
    int done = poll(&poll_fd, 1, 0) > 0;
    if (info->flags || info->pad)
        return -EINVAL;
    if (info->count && info->fences) {
        struct fence_info fence = {.object = MSM_NAME, .driver = MSM_NAME, .status = done};
        memcpy((void *)(uintptr_t)info->fences, &fence, sizeof(fence));
    }
    *info =
        (struct sync_info){.name = MSM_NAME, .status = done, .count = 1, .fences = info->fences};
    return 0;
}

/* @return whether the ioctl is the device's, with its status */
static bool is_ours(int fd, unsigned long request, void *argument, int *status)
{
    uint8_t token[DEVICE_TOKEN];
    if (_IOC_TYPE(request) == DRM_GROUP || _IOC_TYPE(request) == KGSL_GROUP) {
        bool kgsl = _IOC_TYPE(request) == KGSL_GROUP;
        enum node_kind kind = node_find(fd, token);
        *status = kind != (kgsl ? NODE_KGSL : NODE_MSM) ? -ENOTTY
                  : kgsl                                ? call_kgsl(token, fd, request, argument)
                                                        : call_node(token, fd, request, argument);
        return kind;
    }
    if (_IOC_TYPE(request) != SYNC_GROUP || !client_folder())
        return false;
    *status = _IOC_NR(request) == SYNC_FILE_INFO ? tell_sync(fd, argument)
              : find_row(request) < DEVICE_ROWS
                  ? call_row(find_row(request), NULL, fd, request, argument)
                  : -ENOTTY;
    return *status != -ENOTTY;
}

static int call_ioctl(int fd, unsigned long request, void *argument)
{
    int saved = errno, status;
    request &= UINT32_MAX; /* some callers have it in an int */
    if (!is_ours(fd, request, argument, &status))
        return next_ioctl()(fd, request, argument);
    errno = status < 0 ? -status : saved;
    return status < 0 ? -1 : status;
}

CLIENT_EXPORT int ioctl(int fd, unsigned long request, ...)
{
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    return call_ioctl(fd, request, argument);
}

#if UINTPTR_MAX == UINT32_MAX
/* The name that glibc gives ioctl() in programs with a 64-bit time. */
CLIENT_EXPORT int __ioctl_time64(int fd, unsigned long request, ...);
CLIENT_EXPORT int __ioctl_time64(int fd, unsigned long request, ...)
{
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    return call_ioctl(fd, request, argument);
}
#endif

/* ---- mmap ---- */

/* @return the mapping, or MAP_FAILED and errno */
static void *map_node(const uint8_t *token, void *at, size_t size, int protection, int flags,
                      uint64_t offset)
{
    struct device_head head = {.kind = DEVICE_MAP};
    struct device_map map = {offset, size};
    struct iovec parts[2] = {{NULL, 0}, {&map, sizeof(map)}};
    struct client_talk talk;
    memcpy(head.token, token, DEVICE_TOKEN);
    int status = client_ask(&talk, false, &head, parts, 2, NULL, 0, &map, sizeof(map));
    if (!status) {
        client_end(&talk);
        status = head.status < 0                            ? head.status
                 : head.size != sizeof(map) || talk.got < 0 ? -EIO
                                                            : 0;
    }
    void *mapped = MAP_FAILED;
    if (status)
        errno = -status;
    else
        mapped = next_mmap64()(at, size, protection, flags, talk.got, (off64_t)map.offset);
    if (talk.got >= 0) {
        int saved = errno;
        close(talk.got);
        errno = saved;
    }
    return mapped;
}

CLIENT_EXPORT void *mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset)
{
    uint8_t token[DEVICE_TOKEN];
    if (!(flags & MAP_ANONYMOUS) && node_find(fd, token) == NODE_MSM)
        return map_node(token, at, size, protection, flags, (uint64_t)offset);
    return next_mmap64()(at, size, protection, flags, fd, offset);
}

CLIENT_EXPORT void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    uint8_t token[DEVICE_TOKEN];
    if (!(flags & MAP_ANONYMOUS) && node_find(fd, token) == NODE_MSM)
        return map_node(token, at, size, protection, flags, (uint64_t)(unsigned long)offset);
    return next_mmap()(at, size, protection, flags, fd, offset);
}
