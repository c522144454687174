/* SPDX-License-Identifier: MIT
 * Connections of a client to the device.
 *
 * Each thread has one, because an ioctl may wait; a child process has its own. Another one belongs
 * to the whole process: what it asked for stays open as long as the process, and as long as
 * children that inherited it and have not called exec. */
#undef _FORTIFY_SOURCE
#undef _POSIX_C_SOURCE
#define _GNU_SOURCE
#include "tools/device/client/client.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum { MOST_LINKS = 256, HIGH_FD = 256 };

/* Connections of threads, which a child closes: the device must see when their thread ends. */
static atomic_int link_fds[MOST_LINKS];
static struct client_link shared_link;
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t thread_key;
/* Preloaded, so there is room for it from the start, and no thread allocates it. */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct client_link thread_link;

static void remember_fd(int from, int to)
{
    for (unsigned i = 0; i < MOST_LINKS; i++) {
        int expected = from;
        if (atomic_compare_exchange_strong(&link_fds[i], &expected, to))
            return;
    }
}

bool client_file(int fd, const char *path, struct client_file *ret)
{
    struct statx info;
    int saved = errno;
    /* The same on 32-bit, and past every function that is interposed. */
    long status = syscall(SYS_statx, fd, path ? path : "", path ? 0 : AT_EMPTY_PATH,
                          STATX_TYPE | STATX_INO | STATX_NLINK, &info);
    errno = saved;
    if (status)
        return false;
    *ret = (struct client_file){(uint64_t)info.stx_dev_major << 32 | info.stx_dev_minor,
                                info.stx_ino, info.stx_mode, info.stx_nlink};
    return true;
}

static bool is_same(int fd, const struct client_file *file)
{
    struct client_file now;
    return client_file(fd, NULL, &now) && now.device == file->device && now.inode == file->inode;
}

static void close_link(void *argument)
{
    struct client_link *link = argument;
    if (link->fd && link->pid == getpid()) {
        remember_fd(link->fd, 0);
        if (is_same(link->fd, &link->file))
            close(link->fd);
    }
    link->fd = 0;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char folder[4096];

/* Whether a number is still that of a connection: the program may have closed it, and have a file
 * of its own there. */
static bool is_link(int fd)
{
    struct sockaddr_un peer = {.sun_family = AF_UNSPEC};
    socklen_t size = sizeof(peer);
    size_t length = strlen(folder);
    return getpeername(fd, (struct sockaddr *)&peer, &size) == 0 && peer.sun_family == AF_UNIX &&
           strnlen(peer.sun_path, sizeof(peer.sun_path)) < sizeof(peer.sun_path) &&
           strncmp(peer.sun_path, folder, length) == 0 &&
           strcmp(peer.sun_path + length, "/" DEVICE_SOCKET) == 0;
}

static void start_child(void)
{
    int saved = errno;
    for (unsigned i = 0; i < MOST_LINKS; i++) {
        int fd = atomic_exchange(&link_fds[i], 0);
        if (fd && is_link(fd))
            close(fd);
    }
    errno = saved;
    shared_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    atomic_store(&shared_link.busy, false);
}

static void start_client(void)
{
    const char *given = secure_getenv(DEVICE_FOLDER);
    if (!given || *given != '/' || strlen(given) >= sizeof(folder))
        return;
    strcpy(folder, given);
    for (size_t size = strlen(folder); size > 1 && folder[size - 1] == '/'; size--)
        folder[size - 1] = '\0';
    pthread_key_create(&thread_key, close_link);
    pthread_atfork(NULL, NULL, start_child);
}

const char *client_folder(void)
{
    pthread_once(&once, start_client);
    return *folder ? folder : NULL;
}

__attribute__((constructor)) static void prepare_client(void)
{
    client_folder();
}

static int connect_device(struct client_link *link)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(folder) + sizeof("/" DEVICE_SOCKET) > sizeof(address.sun_path))
        return -ENODEV;
    strcat(strcpy(address.sun_path, folder), "/" DEVICE_SOCKET);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int status;
    do {
        status = connect(fd, (struct sockaddr *)&address, sizeof(address));
    } while (status && errno == EINTR);
    if (status) {
        close(fd);
        return -ENODEV;
    }
    /* Low numbers are those that programs count on. */
    int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
    if (high >= 0) {
        close(fd);
        fd = high;
    }
    link->fd = fd;
    link->pid = getpid();
    if (!client_file(fd, NULL, &link->file)) {
        close(fd);
        link->fd = 0;
        return -ENODEV;
    }
    return 0;
}

/* A handler that interrupts a question asks on a connection of its own, and so does every question
 * after one that longjmp() left. */
static int begin_talk(struct client_talk *talk, bool shared)
{
    struct client_link *link = shared ? &shared_link : &thread_link;
    if (atomic_exchange(&link->busy, true)) {
        link = &talk->own;
        *link = (struct client_link){.busy = true};
    }
    talk->link = link;
    if (link->fd && (link->pid != getpid() || !is_same(link->fd, &link->file))) {
        if (link->pid == getpid())
            remember_fd(link->fd, 0);
        link->fd = 0;
    }
    if (link->fd)
        return 0;
    int status = connect_device(link);
    if (!status && link == &thread_link) {
        remember_fd(0, link->fd);
        pthread_setspecific(thread_key, link);
    }
    return status;
}

void client_end(struct client_talk *talk)
{
    if (talk->left || talk->link == &talk->own)
        close_link(talk->link);
    atomic_store(&talk->link->busy, false);
    pthread_setcancelstate(talk->cancel, NULL);
}

static int send_all(int fd, struct iovec *parts, unsigned count, const int *fds, unsigned fd_count)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(DEVICE_MAX_FDS * sizeof(int))];
    } control = {.bytes = {0}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
    if (fd_count) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
        memcpy(CMSG_DATA(head), fds, fd_count * sizeof(int));
    }
    while (message.msg_iovlen) {
        ssize_t sent = sendmsg(fd, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return errno == EFAULT || errno == EBADF ? -errno : -ENODEV;
        message.msg_control = NULL;
        message.msg_controllen = 0;
        size_t done = (size_t)sent;
        while (message.msg_iovlen && done >= message.msg_iov->iov_len) {
            done -= message.msg_iov->iov_len;
            message.msg_iov++;
            message.msg_iovlen--;
        }
        if (message.msg_iovlen) {
            message.msg_iov->iov_base = (char *)message.msg_iov->iov_base + done;
            message.msg_iov->iov_len -= done;
        }
    }
    return 0;
}

/* What one recvmsg() has, with the descriptor that may come with it. */
static ssize_t receive_some(struct client_talk *talk, struct iovec *parts, unsigned count)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message = {.msg_iov = parts,
                             .msg_iovlen = count,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    ssize_t size;
    do {
        size = recvmsg(talk->link->fd, &message, MSG_CMSG_CLOEXEC);
    } while (size < 0 && errno == EINTR);
    if (size <= 0)
        return size < 0 && errno == EFAULT ? -EFAULT : -ENODEV;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
        head->cmsg_len == CMSG_LEN(sizeof(int))) {
        if (talk->got >= 0)
            close(talk->got);
        memcpy(&talk->got, CMSG_DATA(head), sizeof(int));
    }
    return size;
}

int client_read(struct client_talk *talk, void *to, size_t size)
{
    if (size > talk->left)
        return -EIO;
    for (size_t done = 0; done < size;) {
        struct iovec part = {(char *)to + done, size - done};
        ssize_t some = receive_some(talk, &part, 1);
        if (some < 0)
            return (int)some;
        done += (size_t)some;
        talk->left -= (size_t)some;
    }
    return 0;
}

static int receive_answer(struct client_talk *talk, struct device_head *head, void *body,
                          size_t room)
{
    size_t done = 0;
    talk->left = 1; /* until the head is there, nothing is known of the rest */
    while (done < sizeof(*head)) {
        struct iovec parts[] = {{(char *)head + done, sizeof(*head) - done}, {body, room}};
        ssize_t some = receive_some(talk, parts, 2);
        if (some < 0)
            return (int)some;
        done += (size_t)some;
    }
    done -= sizeof(*head);
    if (head->version != DEVICE_VERSION || head->size > DEVICE_MAX_SIZE || head->size < done)
        return -EIO;
    talk->left = head->size - done;
    size_t more = head->size < room ? head->size - done : room - done;
    return client_read(talk, (char *)body + done, more);
}

static int talk_with_device(struct client_talk *talk, struct device_head *head, struct iovec *parts,
                            unsigned count, const int *fds, unsigned fd_count, void *body,
                            size_t room)
{
    uint16_t kind = head->kind;
    size_t size = 0;
    for (unsigned i = 1; i < count; i++)
        size += parts[i].iov_len;
    if (size > DEVICE_MAX_SIZE)
        return -ENOMEM;
    head->version = DEVICE_VERSION;
    head->size = (uint32_t)size;
    head->fds = (uint16_t)fd_count;
    parts[0] = (struct iovec){head, sizeof(*head)};
    talk->left = 1;
    int status = send_all(talk->link->fd, parts, count, fds, fd_count);
    if (!status)
        status = receive_answer(talk, head, body, room);
    return status ? status : head->kind == kind ? 0 : -EIO;
}

int client_ask(struct client_talk *talk, bool shared, struct device_head *head, struct iovec *parts,
               unsigned count, const int *fds, unsigned fd_count, void *body, size_t room)
{
    sigset_t all, signals;
    int saved = errno;
    talk->got = -1;
    talk->left = 0;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &talk->cancel);
    if (shared) {
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &signals);
        pthread_mutex_lock(&shared_lock);
    }
    int status = begin_talk(talk, shared);
    if (!status)
        status = talk_with_device(talk, head, parts, count, fds, fd_count, body, room);
    if (status && talk->got >= 0)
        close(talk->got);
    if (status || shared)
        client_end(talk);
    if (shared) {
        pthread_mutex_unlock(&shared_lock);
        pthread_sigmask(SIG_SETMASK, &signals, NULL);
    }
    errno = saved;
    return status;
}
