/* SPDX-License-Identifier: MIT
 * The library that a client of the virtual device preloads: what its files share.
 *
 * It needs nothing but libc, and one compiler call builds it for another processor:
 *
 *   aarch64-linux-gnu-gcc -shared -fPIC -O2 -fvisibility=hidden -I. -o libcpscope-client.so
 *       tools/device/client/{link,node,path}.c tools/device/ioctl.c -pthread -ldl
 *
 * Every function here keeps errno if it succeeds, prints nothing and allocates nothing, because it
 * runs in a program that does not know of it. */
#ifndef CPS_DEVICE_CLIENT_H
#define CPS_DEVICE_CLIENT_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "tools/device/protocol.h"

#define CLIENT_EXPORT __attribute__((visibility("default")))

/** Declares next_NAME(), which returns the definition that this library's NAME hides, or NULL. */
#define CLIENT_NEXT(type, name, ...)                                       \
    typedef type name##_type(__VA_ARGS__);                                 \
    static name##_type *next_##name(void)                                  \
    {                                                                      \
        static _Atomic(uintptr_t) found;                                   \
        uintptr_t at = atomic_load_explicit(&found, memory_order_relaxed); \
        if (!at) {                                                         \
            at = (uintptr_t)dlsym(RTLD_NEXT, #name);                       \
            atomic_store_explicit(&found, at, memory_order_relaxed);       \
        }                                                                  \
        return (name##_type *)at;                                          \
    }

enum { CLIENT_BODY = 256 };

/** Which file it is. */
struct client_file {
    uint64_t device, inode;
    uint32_t mode, links;
};

/** The device's folder without links in it, or NULL: this process is no client. */
const char *client_folder(void);
/** @param fd  a descriptor, or AT_FDCWD with a @p path
 * @return false: there is no such file */
bool client_file(int fd, const char *path, struct client_file *ret);

/** A connection to the device. */
struct client_link {
    int fd; /**< 0: none yet */
    pid_t pid;
    struct client_file file; /**< of `fd`: the program may have closed it or replaced it */
    atomic_bool busy;
};

/** What one question needs besides `head`. */
struct client_talk {
    struct client_link own, *link;
    int cancel;  /* pthread_setcancelstate() as it was */
    int got;     /* the descriptor of the answer, or -1 */
    size_t left; /* bytes of the answer that have not been read */
};

/** Asks: sends @p head with the bytes of @p parts and descriptors, and reads the head of the answer
 * and at most @p room bytes that follow it.
 * @param shared  on the connection of the whole process, which keeps open files open; else on that
 *                of the thread
 * @param parts   parts[0] is free for the head, @p count counts it
 * @return 0, or -errno: nothing was answered, and the question is over */
int client_ask(struct client_talk *talk, bool shared, struct device_head *head, struct iovec *parts,
               unsigned count, const int *fds, unsigned fd_count, void *body, size_t room);
/** Reads more of the answer. */
int client_read(struct client_talk *talk, void *to, size_t size);
/** Ends a question that client_ask() has begun; a connection with bytes left to read is closed. */
void client_end(struct client_talk *talk);

/** Opens the node. @param flags  of open(): O_CLOEXEC. @return a descriptor, or -1 and errno */
int node_open(int flags);
/** Which driver's node it is. */
enum node_kind { NODE_NONE, NODE_MSM, NODE_KGSL };
/** Whether @p fd is a node of the device, of whatever process that opened it. */
enum node_kind node_find(int fd, uint8_t token[DEVICE_TOKEN]);
/** The same of a file that was found before. */
bool node_is_known(uint64_t device, uint64_t inode);

#endif
