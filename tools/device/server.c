/* SPDX-License-Identifier: MIT
 * Connections. Each has one question at a time: it is read, answered now or when something has
 * happened, and the answer is sent. Whoever breaks the protocol loses the connection. */
#include "tools/device/server.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "isa/base/list.h"
#include "tools/device/poison.h"
#include "tools/run/interrupt.h"

/* Nanoseconds without looking at new connections, when one could not be taken. */
#define DEAF INT64_C(10000000)

/* ---- open files ---- */

static bool hold(struct device_client *client, struct device_file *file)
{
    for (size_t i = 0; i < client->held_count; i++) {
        if (client->held[i] == file)
            return true;
    }
    if (!CPS_LIST_ROOM(client->held, client->held_count))
        return false;
    client->held[client->held_count++] = file;
    file->refs++;
    return true;
}

/* ---- answers ---- */

static void close_fds(struct device_message *message)
{
    for (unsigned i = 0; i < DEVICE_MAX_FDS; i++) {
        if (message->fd[i] >= 0)
            close(message->fd[i]);
        message->fd[i] = -1;
    }
    if (message->answer_fd >= 0)
        close(message->answer_fd);
    message->answer_fd = -1;
}

static void free_message(struct device_client *client)
{
    struct device_message *message = &client->message;
    client->device->use.messages -= client->charged;
    client->device->use.waited -= client->waited;
    client->charged = client->waited = 0;
    if (message->head.kind == DEVICE_IOCTL && message->structure) {
        for (unsigned i = 0; i <= DEVICE_MAX_ARRAYS; i++) {
            if (message->owned[i])
                free(message->array[i]);
        }
    }
    close_fds(message);
    free(client->rest);
    free(client->answer);
    client->rest = client->answer = NULL;
    client->have = client->sent = client->answer_size = 0;
    client->state = READS_HEAD;
    *message = (struct device_message){.fd = {-1, -1}, .answer_fd = -1};
}

static bool goes_out(const struct device_message *message, unsigned i)
{
    return message->out[i] && message->head.kind == DEVICE_IOCTL;
}

/* Makes the bytes of the answer: the structure, and what goes out. */
static bool make_answer(struct device_client *client, int status)
{
    struct device_message *message = &client->message;
    size_t structure = message->structure ? message->structure_size : 0;
    size_t size = sizeof(struct device_head) + structure;
    for (unsigned i = 0; i <= DEVICE_MAX_ARRAYS; i++) {
        if (goes_out(message, i))
            size += sizeof(struct device_piece) + padded(message->size[i]);
    }
    client->answer = calloc(1, size);
    if (!client->answer)
        return false;
    struct device_head head = message->head;
    head.size = (uint32_t)(size - sizeof(head));
    head.status = status;
    head.fds = message->answer_fd >= 0;
    memcpy(client->answer, &head, sizeof(head));
    uint8_t *at = client->answer + sizeof(head);
    if (structure)
        memcpy(at, message->structure, structure);
    at += structure;
    for (unsigned i = 0; i <= DEVICE_MAX_ARRAYS; i++) {
        if (!goes_out(message, i))
            continue;
        struct device_piece piece = {.size = message->size[i]};
        memcpy(at, &piece, sizeof(piece));
        if (piece.size)
            memcpy(at + sizeof(piece), message->array[i], piece.size);
        at += sizeof(piece) + padded(piece.size);
    }
    client->answer_size = size;
    client->sent = 0;
    client->state = WRITES;
    return true;
}

/* False: the connection is over. */
static bool send_answer(struct device_client *client)
{
    while (client->sent < client->answer_size) {
        union {
            struct cmsghdr align;
            char bytes[CMSG_SPACE(sizeof(int))];
        } control = {0};
        struct iovec part = {client->answer + client->sent, client->answer_size - client->sent};
        struct msghdr out = {.msg_iov = &part, .msg_iovlen = 1};
        if (!client->sent && client->message.answer_fd >= 0) {
            out.msg_control = control.bytes;
            out.msg_controllen = sizeof(control.bytes);
            struct cmsghdr *head = CMSG_FIRSTHDR(&out);
            head->cmsg_level = SOL_SOCKET;
            head->cmsg_type = SCM_RIGHTS;
            head->cmsg_len = CMSG_LEN(sizeof(int));
            memcpy(CMSG_DATA(head), &client->message.answer_fd, sizeof(int));
        }
        ssize_t done = sendmsg(client->fd, &out, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK;
        client->sent += (size_t)done;
    }
    free_message(client);
    return true;
}

/* ---- questions ---- */

/* A node, by which clients name the file. That of KGSL is also the memory of its objects. */
static int make_node(const struct device_file *file, bool kgsl)
{
    char head[sizeof(DEVICE_MAGIC) + DEVICE_TOKEN] = DEVICE_MAGIC;
    static_assert(sizeof(DEVICE_MAGIC) == sizeof(DEVICE_KGSL_MAGIC), "one head");
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | (kgsl ? 0 : F_SEAL_WRITE);
    int fd = memfd_create("cpscope-node", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (kgsl)
        memcpy(head, DEVICE_KGSL_MAGIC, sizeof(DEVICE_KGSL_MAGIC));
    memcpy(head + sizeof(DEVICE_MAGIC), file->token, DEVICE_TOKEN);
    bool good = fd >= 0 && write(fd, head, sizeof(head)) == (ssize_t)sizeof(head) &&
                (!kgsl || ftruncate(fd, (off_t)DEVICE_KGSL_NODE) == 0) &&
                fcntl(fd, F_ADD_SEALS, seals) == 0;
    if (!good && fd >= 0)
        close(fd);
    return good ? fd : -1;
}

/* The memory of the process that asks: a child has its own, and so has a program behind exec(). */
static int open_process(struct device_client *client)
{
    return client->process.pid ? 0 : device_process_open(&client->process, client->pid);
}

static bool answer_open(struct device *device, struct device_client *client)
{
    struct device_message *message = &client->message;
    struct device_file *file = device_file_new(device);
    bool kgsl = device->config.kgsl;
    int status = file ? 0 : -ENOMEM;
    if (!status) {
        message->answer_fd = make_node(file, kgsl);
        status = message->answer_fd < 0 ? -ENOMEM : 0;
    }
    if (!status && kgsl)
        status = open_process(client);
    if (!status && kgsl)
        status = device_kgsl_open(file, &client->process, message->answer_fd);
    if (!status && !hold(client, file))
        status = -ENOMEM;
    if (!status)
        device_file_name(file, client->pid);
    else if (file)
        device_file_free(device, file);
    if (status)
        close_fds(message);
    return make_answer(client, status);
}

static bool answer_map(struct device_client *client, struct device_file *file)
{
    struct device_message *message = &client->message;
    struct device_map map;
    if (message->head.size != sizeof(map))
        return false;
    memcpy(&map, client->rest, sizeof(map));
    struct device_bo *bo = device_handle_bo(file, (uint32_t)(map.offset >> 32));
    uint64_t offset = map.offset & UINT32_MAX;
    uint64_t size = (map.size + 4095) / 4096 * 4096;
    if (!bo || offset % 4096 || offset > bo->size || map.size > bo->size ||
        size > bo->size - offset)
        return make_answer(client, -EINVAL);
    message->answer_fd = device_bo_export(bo);
    if (message->answer_fd < 0)
        return make_answer(client, -ENOMEM);
    map.offset = offset;
    memcpy(client->rest, &map, sizeof(map));
    message->structure = client->rest;
    message->structure_size = sizeof(map);
    return make_answer(client, 0);
}

/* A question that waits is asked again whenever something has happened. False: they are too many.
 */
static bool count_waited(struct device_client *client)
{
    struct device_message *message = &client->message;
    struct device_use *use = &client->device->use;
    bool wait = message->head.row == DEVICE_SYNCOBJ_WAIT ||
                message->head.row == DEVICE_SYNCOBJ_TIMELINE_WAIT;
    size_t count = wait ? message->size[0] / sizeof(uint32_t) : 1;
    if (message->begun)
        return true;
    if (count > DEVICE_MAX_WAITED - use->waited)
        return false;
    use->waited += count;
    client->waited = count;
    return true;
}

/* False: the connection is over. */
static bool ask(struct device *device, struct device_client *client)
{
    struct device_message *message = &client->message;
    struct device_file *file = NULL;
    int status = 0;
    switch (message->head.kind) {
    case DEVICE_OPEN:
        return message->head.size == 0 && answer_open(device, client);
    case DEVICE_HOLD:
    case DEVICE_MAP:
    case DEVICE_IOCTL:
        file = device_file_find(device, message->head.token);
        break;
    default:
        return false;
    }
    bool fileless = message->head.kind == DEVICE_IOCTL && message->head.row == DEVICE_SYNC_MERGE;
    if (!file && !fileless)
        return make_answer(client, -EBADF);
    if (file && !hold(client, file))
        return make_answer(client, -ENOMEM);
    if (message->head.kind == DEVICE_HOLD)
        return make_answer(client, 0);
    if (message->head.kind == DEVICE_MAP)
        return answer_map(client, file);
    if (!message->structure && !device_client_parse(client))
        return false;
    if (fileless)
        file = NULL;
    bool kgsl = device_ioctls[message->head.row].group == KGSL_GROUP;
    status = kgsl != (file && file->kgsl) ? -ENOTTY : kgsl ? open_process(client) : 0;
    message->process = &client->process;
    if (!status)
        status =
            kgsl ? device_kgsl_call(device, file, message) : device_call(device, file, message);
    if (status == DEVICE_LATER && !count_waited(client))
        status = -ENOMEM;
    if (status == DEVICE_LATER) {
        client->state = WAITS;
        device_poison_release(device->poison);
        message->begun = true;
        return true;
    }
    return make_answer(client, status);
}

/* ---- reading ---- */

static void take_fds(struct device_message *message, struct msghdr *in)
{
    for (struct cmsghdr *head = CMSG_FIRSTHDR(in); head; head = CMSG_NXTHDR(in, head)) {
        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd = -1;
            memcpy(&fd, CMSG_DATA(head) + i * sizeof(int), sizeof(fd));
            unsigned slot = message->fd[0] < 0 ? 0 : 1;
            if (message->fd[slot] < 0)
                message->fd[slot] = fd;
            else
                close(fd);
        }
    }
}

/* Bytes into a buffer; 0: not now, -1: the connection is over. */
static ssize_t receive(struct device_client *client, void *to, size_t size)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(DEVICE_MAX_FDS * sizeof(int))];
    } control;
    struct iovec part = {to, size};
    struct msghdr in = {.msg_iov = &part,
                        .msg_iovlen = 1,
                        .msg_control = control.bytes,
                        .msg_controllen = sizeof(control.bytes)};
    ssize_t got = recvmsg(client->fd, &in, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
    take_fds(&client->message, &in);
    return got && !(in.msg_flags & MSG_CTRUNC) ? got : -1;
}

/* False: the connection is over. */
static bool read_question(struct device *device, struct device_client *client)
{
    struct device_head *head = &client->message.head;
    while (client->state == READS_HEAD || client->state == READS_REST) {
        bool in_head = client->state == READS_HEAD;
        size_t want = in_head ? sizeof(*head) : head->size;
        if (client->have < want) {
            uint8_t *to = in_head ? (uint8_t *)head : client->rest;
            ssize_t got = receive(client, to + client->have, want - client->have);
            if (got <= 0)
                return got == 0;
            client->have += (size_t)got;
            continue;
        }
        if (in_head) {
            if (head->version != DEVICE_VERSION || head->size > DEVICE_MAX_SIZE)
                return false;
            if (!device_client_charge(client, head->size))
                return false;
            client->rest = calloc(1, (size_t)head->size + 8);
            if (!client->rest)
                return false;
            client->state = READS_REST;
            client->have = 0;
            continue;
        }
        if (!ask(device, client))
            return false;
    }
    return client->state != WRITES || send_answer(client);
}

static void close_client(struct device *device, size_t index)
{
    struct device_client *client = &device->clients[index];
    for (size_t i = 0; i < client->held_count; i++)
        device_file_unref(device, client->held[i]);
    free(client->held);
    free_message(client);
    device_process_close(&client->process);
    close(client->fd);
    *client = device->clients[--device->client_count];
}

bool device_connect(struct device *device, int fd, pid_t pid)
{
    if (device->client_count >= DEVICE_MAX_CLIENTS ||
        !CPS_LIST_ROOM(device->clients, device->client_count)) {
        close(fd);
        return false;
    }
    struct device_client *client = &device->clients[device->client_count++];
    *client = (struct device_client){.device = device, .fd = fd, .pid = pid};
    client->message = (struct device_message){.fd = {-1, -1}, .answer_fd = -1};
    return true;
}

static void accept_client(struct device *device)
{
    struct ucred peer = {0};
    socklen_t size = sizeof(peer);
    int fd = accept4(device->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        /* Without a descriptor the question stays: others may close theirs first. */
        device->deaf_until = device_now() + DEAF;
        return;
    }
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == getuid())
        device_connect(device, fd, peer.pid);
    else
        close(fd);
}

/* ---- the loop ---- */

/* Questions that waited: asked again. */
static void ask_again(struct device *device)
{
    for (size_t i = device->client_count; i-- > 0;) {
        struct device_client *client = &device->clients[i];
        if (client->state != WAITS)
            continue;
        client->state = READS_REST;
        bool good = ask(device, client);
        device->changing |= client->state == WRITES; /* others may wait for what it did */
        if (!good || (client->state == WRITES && !send_answer(client)))
            close_client(device, i);
    }
}

/* Milliseconds until the first question that waits has waited long enough; -1: never. */
static int first_deadline(const struct device *device)
{
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < device->client_count; i++) {
        const struct device_client *client = &device->clients[i];
        if (client->state == WAITS && client->message.deadline < first)
            first = client->message.deadline;
    }
    if (first == INT64_MAX)
        return -1;
    int64_t left = (first - device_now()) / 1000000 + 1;
    return left < 0 ? 0 : left > 60000 ? 60000 : (int)left;
}

static int earlier(int a, int b)
{
    return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

static bool answer_clients(struct device *device, int child, bool *ended, int most)
{
    struct pollfd *polls = device->polls;
    size_t count = device->client_count;
    bool deaf = device->deaf_until > device_now();
    int timeout =
        device->changing ? 0 : earlier(device_gpu_timeout(device), first_deadline(device));
    timeout = earlier(timeout, deaf ? earlier(most, DEAF / 1000000) : most);
    polls[0] = (struct pollfd){.fd = deaf ? -1 : device->listener, .events = POLLIN};
    polls[1] = (struct pollfd){.fd = *ended ? -1 : child, .events = POLLIN};
    for (size_t i = 0; i < count; i++) {
        const struct device_client *client = &device->clients[i];
        short events = client->state == WRITES ? POLLOUT : client->state == WAITS ? 0 : POLLIN;
        polls[i + 2] = (struct pollfd){.fd = client->fd, .events = events};
    }
    if (poll(polls, count + 2, timeout) < 0)
        return errno == EINTR;
    *ended |= polls[1].revents != 0;
    for (size_t i = count; i-- > 0;) {
        struct device_client *client = &device->clients[i];
        short got = polls[i + 2].revents;
        bool good = true;
        if (got & POLLIN && (client->state == READS_HEAD || client->state == READS_REST))
            good = read_question(device, client);
        else if (got & POLLOUT && client->state == WRITES)
            good = send_answer(client);
        else if (got & (POLLHUP | POLLERR | POLLNVAL))
            good = false;
        if (!good)
            close_client(device, i);
    }
    if (polls[0].revents & POLLIN)
        accept_client(device);
    return true;
}

bool device_step(struct device *device, int child, bool *ended, int most)
{
    if (!device->polls)
        device->polls = calloc(DEVICE_MAX_CLIENTS + 2, sizeof(*device->polls));
    if (!device->polls) {
        device->failed = device->failed ? device->failed : cps_err_nomem();
        return false;
    }
    bool good = answer_clients(device, child, ended, most);
    device_schedule(device);
    device_gpu_run(device);
    device_schedule(device);
    device_sync_files_tell(device);
    ask_again(device);
    return good;
}

/* Every buffer is a descriptor. The program was started before, with the limit as it was. */
static void raise_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static bool wants_turn(const struct device *device)
{
    struct device_debugger *debugger = device->gpu.debugger;
    return debugger && debugger->wants_turn(debugger, device);
}

struct cps_err *device_serve(struct device *device, int child, bool *ended)
{
    /* A client may close the pipe that tells it of a fence at any time. */
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction before;
    sigaction(SIGPIPE, &ignore, &before);
    raise_limit();
    device->resumed = device_now();
    bool good = true;
    /* A job that runs ends, as on hardware; those that wait are gone with their clients. */
    while (good && !device->failed && !interrupted &&
           !(*ended && !device->client_count &&
             (device->gpu.debugger || device->gpu.state == GPU_IDLE)) &&
           !wants_turn(device))
        good = device_step(device, child, ended, -1);
    sigaction(SIGPIPE, &before, NULL);
    device->paused = device_now();
    struct cps_err *err = device->failed;
    device->failed = NULL;
    return err || good ? err : cps_err_os("the device's clients", "poll");
}

struct cps_err *device_listen(struct device *device, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address.sun_path))
        return cps_err_new(CPS_ERR_OS, "%s: a socket's path has at most %zu bytes", path,
                           sizeof(address.sun_path) - 1);
    strcpy(address.sun_path, path);
    device->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (device->listener < 0 ||
        bind(device->listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(device->listener, 64) != 0)
        return cps_err_os(path, "listen");
    return NULL;
}

void device_deinit(struct device *device)
{
    while (device->client_count)
        close_client(device, device->client_count - 1);
    free(device->clients);
    free(device->polls);
    if (device->listener >= 0)
        close(device->listener);
    device_gpu_drop(device);
    device_schedule(device);
    while (device->files)
        device_file_free(device, device->files);
    for (size_t i = 0; i < device->exported_count; i++)
        device_syncobj_unref(device->exported[i]);
    free(device->exported);
    device_sync_files_deinit(device);
    free(device->bo);
    free(device->gpu.page);
    cps_err_free(device->failed);
}
