/* SPDX-License-Identifier: MIT
 * Paths of the virtual device in a client: /dev/dri and what sysfs says of it are looked up in the
 * tree that the device made (tools/device/tree.def), and its node is a character device.
 *
 * On 32-bit, glibc has up to three layouts of the same structure; each name that a program can be
 * linked with is interposed. */
#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS
#undef _TIME_BITS
#undef _POSIX_C_SOURCE
#define _GNU_SOURCE
#define _LARGEFILE64_SOURCE
#include "tools/device/client/client.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MEMFD "/memfd:"
enum { NODE_MODE = S_IFCHR | 0666 };

/* The node that there is, and the numbers of a character device that it has. */
static const struct node_name {
    const char *path;
    unsigned major, minor;
} names[] = {{"/dev/dri/renderD128", 226, 128}, {"/dev/kgsl-3d0", 510, 0}};

static const char *const places[] = {
#define TREE(node, path, kind, text)
#define PLACE(path) path,
#include "tools/device/tree.def"
};

static struct {
    char path[PATH_MAX]; /* without links in it */
    size_t size;
    const struct node_name *name;
    struct client_file node; /* the empty file that stands for the node */
} root;
static pthread_once_t once = PTHREAD_ONCE_INIT;

CLIENT_NEXT(char *, realpath, const char *, char *)

static void find_root(void)
{
    char path[PATH_MAX];
    int saved = errno;
    const char *folder = client_folder();
    bool found = folder &&
                 snprintf(path, sizeof(path), "%s/" DEVICE_ROOT, folder) < (int)sizeof(path) &&
                 next_realpath()(path, root.path);
    for (unsigned i = 0; found && !root.size && i < sizeof(names) / sizeof(names[0]); i++) {
        root.name = &names[i];
        if (snprintf(path, sizeof(path), "%s%s", root.path, names[i].path) < (int)sizeof(path) &&
            client_file(AT_FDCWD, path, &root.node))
            root.size = strlen(root.path);
    }
    errno = saved;
}

/* The headers say that a path is not NULL; programs pass it all the same, and get EFAULT. */
static bool is_empty(const char *path)
{
    const char *volatile opaque = path;
    path = opaque;
    return path && !*path;
}

/* Where to look for @p path: itself, or below the root of the device, in @p ret. */
static const char *look_up(const char *path, char ret[PATH_MAX])
{
    const char *volatile opaque = path;
    path = opaque;
    if (!path || path[0] != '/' || !client_folder())
        return path;
    pthread_once(&once, find_root);
    for (unsigned i = 0; root.size && i < sizeof(places) / sizeof(places[0]); i++) {
        size_t size = strlen(places[i]);
        if (strncmp(path, places[i], size) != 0 || (path[size] && path[size] != '/'))
            continue;
        if (root.size + strlen(path) >= PATH_MAX)
            return path;
        return strcat(strcpy(ret, root.path), path);
    }
    return path;
}

/* Takes the root of the device off a path that is told to the program. */
static size_t hide_root(char *path, size_t size)
{
    if (!root.size || size <= root.size || memcmp(path, root.path, root.size) != 0 ||
        path[root.size] != '/')
        return size;
    memmove(path, path + root.size, size - root.size);
    return size - root.size;
}

/* Whether the file that was found is the node. */
static bool is_node(uint64_t device, uint64_t inode)
{
    return client_folder() &&
           ((root.size && root.node.inode == inode && root.node.device == device) ||
            node_is_known(device, inode));
}

/* A descriptor can be a node before any path was looked up. */
static const struct node_name *node_name(void)
{
    pthread_once(&once, find_root);
    return root.size ? root.name : &names[0];
}

static uint64_t split_device(dev_t device)
{
    return (uint64_t)major(device) << 32 | minor(device);
}

/* ---- open ---- */

/* What was opened as @p fd is replaced by the node, if it stands for it. */
static int finish_open(int fd, const char *asked, const char *found, int flags)
{
    struct client_file file;
    if (fd < 0 || flags & O_PATH || !client_folder())
        return fd;
    pthread_once(&once, find_root);
    const char *name = asked ? strrchr(asked, '/') : NULL;
    const char *node = root.size ? strrchr(root.name->path, '/') + 1 : "";
    if ((asked == found && (!asked || strcmp(name ? name + 1 : asked, node) != 0)) ||
        !client_file(fd, NULL, &file) || !root.size || file.device != root.node.device ||
        file.inode != root.node.inode)
        return fd;
    close(fd);
    return node_open(flags);
}

/* The tree is not written to. */
static int mask_flags(const char *asked, const char *found, int flags)
{
    return asked == found ? flags : flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_APPEND);
}

static bool takes_mode(int flags)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

#define OPEN(name)                                                                           \
    CLIENT_NEXT(int, name, const char *, int, ...)                                           \
    CLIENT_EXPORT int name(const char *path, int flags, ...)                                 \
    {                                                                                        \
        char buffer[PATH_MAX];                                                               \
        const char *found = look_up(path, buffer);                                           \
        va_list list;                                                                        \
        va_start(list, flags);                                                               \
        mode_t mode = takes_mode(flags) ? va_arg(list, mode_t) : 0;                          \
        va_end(list);                                                                        \
        return finish_open(next_##name()(found, mask_flags(path, found, flags), mode), path, \
                           found, flags);                                                    \
    }
#define OPENAT(name)                                                                             \
    CLIENT_NEXT(int, name, int, const char *, int, ...)                                          \
    CLIENT_EXPORT int name(int at, const char *path, int flags, ...)                             \
    {                                                                                            \
        char buffer[PATH_MAX];                                                                   \
        const char *found = look_up(path, buffer);                                               \
        va_list list;                                                                            \
        va_start(list, flags);                                                                   \
        mode_t mode = takes_mode(flags) ? va_arg(list, mode_t) : 0;                              \
        va_end(list);                                                                            \
        return finish_open(next_##name()(at, found, mask_flags(path, found, flags), mode), path, \
                           found, flags);                                                        \
    }
/* What fortified programs call. */
#define OPEN_2(name)                                                                          \
    CLIENT_NEXT(int, name, const char *, int)                                                 \
    CLIENT_EXPORT int name(const char *path, int flags);                                      \
    CLIENT_EXPORT int name(const char *path, int flags)                                       \
    {                                                                                         \
        char buffer[PATH_MAX];                                                                \
        const char *found = look_up(path, buffer);                                            \
        return finish_open(next_##name()(found, mask_flags(path, found, flags)), path, found, \
                           flags);                                                            \
    }
#define OPENAT_2(name)                                                                            \
    CLIENT_NEXT(int, name, int, const char *, int)                                                \
    CLIENT_EXPORT int name(int at, const char *path, int flags);                                  \
    CLIENT_EXPORT int name(int at, const char *path, int flags)                                   \
    {                                                                                             \
        char buffer[PATH_MAX];                                                                    \
        const char *found = look_up(path, buffer);                                                \
        return finish_open(next_##name()(at, found, mask_flags(path, found, flags)), path, found, \
                           flags);                                                                \
    }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
OPEN_2(__open_2)
OPEN_2(__open64_2)
OPENAT_2(__openat_2)
OPENAT_2(__openat64_2)

/* ---- functions of a path alone ---- */

#define OF_PATH(type, name)                          \
    CLIENT_NEXT(type, name, const char *)            \
    CLIENT_EXPORT type name(const char *path)        \
    {                                                \
        char buffer[PATH_MAX];                       \
        return next_##name()(look_up(path, buffer)); \
    }
OF_PATH(DIR *, opendir)

#define FOPEN(name)                                              \
    CLIENT_NEXT(FILE *, name, const char *, const char *)        \
    CLIENT_EXPORT FILE *name(const char *path, const char *mode) \
    {                                                            \
        char buffer[PATH_MAX];                                   \
        return next_##name()(look_up(path, buffer), mode);       \
    }
FOPEN(fopen)
FOPEN(fopen64)

#define SCANDIR(name, entry)                                                              \
    CLIENT_NEXT(int, name, const char *, struct entry ***, int (*)(const struct entry *), \
                int (*)(const struct entry **, const struct entry **))                    \
    CLIENT_EXPORT int name(const char *path, struct entry ***list,                        \
                           int (*filter)(const struct entry *),                           \
                           int (*compare)(const struct entry **, const struct entry **))  \
    {                                                                                     \
        char buffer[PATH_MAX];                                                            \
        return next_##name()(look_up(path, buffer), list, filter, compare);               \
    }
SCANDIR(scandir, dirent)
SCANDIR(scandir64, dirent64)

CLIENT_NEXT(int, access, const char *, int)
CLIENT_EXPORT int access(const char *path, int mode)
{
    char buffer[PATH_MAX];
    return next_access()(look_up(path, buffer), mode);
}

CLIENT_NEXT(int, faccessat, int, const char *, int, int)
CLIENT_EXPORT int faccessat(int at, const char *path, int mode, int flags)
{
    char buffer[PATH_MAX];
    return next_faccessat()(at, look_up(path, buffer), mode, flags);
}

/* What ls asks for. */
#define GETXATTR(name)                                                                      \
    CLIENT_NEXT(ssize_t, name, const char *, const char *, void *, size_t)                  \
    CLIENT_EXPORT ssize_t name(const char *path, const char *key, void *value, size_t size) \
    {                                                                                       \
        char buffer[PATH_MAX];                                                              \
        return next_##name()(look_up(path, buffer), key, value, size);                      \
    }
#define LISTXATTR(name)                                                   \
    CLIENT_NEXT(ssize_t, name, const char *, char *, size_t)              \
    CLIENT_EXPORT ssize_t name(const char *path, char *list, size_t size) \
    {                                                                     \
        char buffer[PATH_MAX];                                            \
        return next_##name()(look_up(path, buffer), list, size);          \
    }
GETXATTR(getxattr)
GETXATTR(lgetxattr)
LISTXATTR(listxattr)
LISTXATTR(llistxattr)

/* ---- links ---- */

/* A link as the program may see it: of /proc/self/fd, too, where the node is a memfd. */
static ssize_t finish_link(int at, const char *path, char *ret, ssize_t length, size_t size)
{
    struct client_file file;
    if (length <= 0)
        return length;
    if ((size_t)length < sizeof(MEMFD) - 1 || memcmp(ret, MEMFD, sizeof(MEMFD) - 1) != 0 ||
        !client_folder() || !client_file(at, path, &file) ||
        !node_is_known(file.device, file.inode))
        return (ssize_t)hide_root(ret, (size_t)length);
    const char *node = node_name()->path;
    size = size < strlen(node) ? size : strlen(node);
    memcpy(ret, node, size);
    return (ssize_t)size;
}

CLIENT_NEXT(ssize_t, readlink, const char *, char *, size_t)
CLIENT_EXPORT ssize_t readlink(const char *path, char *ret, size_t size)
{
    char buffer[PATH_MAX];
    ssize_t length = next_readlink()(look_up(path, buffer), ret, size);
    return finish_link(AT_FDCWD, path, ret, length, size);
}

CLIENT_NEXT(ssize_t, readlinkat, int, const char *, char *, size_t)
CLIENT_EXPORT ssize_t readlinkat(int at, const char *path, char *ret, size_t size)
{
    char buffer[PATH_MAX];
    ssize_t length = next_readlinkat()(at, look_up(path, buffer), ret, size);
    return finish_link(at, path, ret, length, size);
}

static char *resolve(const char *path, char *ret)
{
    char buffer[PATH_MAX];
    char *resolved = next_realpath()(look_up(path, buffer), ret);
    if (resolved)
        hide_root(resolved, strlen(resolved) + 1);
    return resolved;
}

CLIENT_EXPORT char *realpath(const char *path, char *ret)
{
    return resolve(path, ret);
}

CLIENT_EXPORT char *__realpath_chk(const char *path, char *ret, size_t size);
CLIENT_EXPORT char *__realpath_chk(const char *path, char *ret, size_t size)
{
    if (size < PATH_MAX)
        abort(); /* as glibc's: the program's buffer is too small */
    return resolve(path, ret);
}

CLIENT_EXPORT char *canonicalize_file_name(const char *path)
{
    return resolve(path, NULL);
}

/* ---- stat ---- */

/* How glibc of 32-bit processors lays out `struct stat` with a 64-bit time, as far as it matters.
 * Source: struct_stat_time64_helper.h of glibc. */
struct stat_time64 {
    uint64_t st_dev, st_ino;
    uint32_t st_mode, st_nlink, st_uid, st_gid;
    uint64_t st_rdev;
    int64_t st_size;
};

#define DRESS(fd, info)                                                                    \
    do {                                                                                   \
        uint8_t token[DEVICE_TOKEN];                                                       \
        if (((info)->st_nlink == 0 && S_ISREG((info)->st_mode) && node_find(fd, token)) || \
            is_node(split_device((dev_t)(info)->st_dev), (info)->st_ino)) {                \
            (info)->st_mode = NODE_MODE;                                                   \
            (info)->st_rdev = makedev(node_name()->major, node_name()->minor);             \
            (info)->st_size = 0;                                                           \
        }                                                                                  \
    } while (0)

#define STAT(name, type)                                         \
    CLIENT_NEXT(int, name, const char *, struct type *)          \
    CLIENT_EXPORT int name(const char *path, struct type *info); \
    CLIENT_EXPORT int name(const char *path, struct type *info)  \
    {                                                            \
        char buffer[PATH_MAX];                                   \
        int status = next_##name()(look_up(path, buffer), info); \
        if (!status)                                             \
            DRESS(-1, info);                                     \
        return status;                                           \
    }
#define FSTAT(name, type)                              \
    CLIENT_NEXT(int, name, int, struct type *)         \
    CLIENT_EXPORT int name(int fd, struct type *info); \
    CLIENT_EXPORT int name(int fd, struct type *info)  \
    {                                                  \
        int status = next_##name()(fd, info);          \
        if (!status)                                   \
            DRESS(fd, info);                           \
        return status;                                 \
    }
#define FSTATAT(name, type)                                                         \
    CLIENT_NEXT(int, name, int, const char *, struct type *, int)                   \
    CLIENT_EXPORT int name(int at, const char *path, struct type *info, int flags); \
    CLIENT_EXPORT int name(int at, const char *path, struct type *info, int flags)  \
    {                                                                               \
        char buffer[PATH_MAX];                                                      \
        int status = next_##name()(at, look_up(path, buffer), info, flags);         \
        if (!status)                                                                \
            DRESS(is_empty(path) ? at : -1, info);                                  \
        return status;                                                              \
    }
/* Of programs that were linked with glibc before 2.33. Newer ones do not let dlsym() find it. */
#define XSTAT(name, type, next)                                                               \
    CLIENT_NEXT(int, name, int, const char *, struct type *)                                  \
    CLIENT_EXPORT int name(int version, const char *path, struct type *info);                 \
    CLIENT_EXPORT int name(int version, const char *path, struct type *info)                  \
    {                                                                                         \
        char buffer[PATH_MAX];                                                                \
        const char *found = look_up(path, buffer);                                            \
        int status =                                                                          \
            next_##name() ? next_##name()(version, found, info) : next_##next()(found, info); \
        if (!status)                                                                          \
            DRESS(-1, info);                                                                  \
        return status;                                                                        \
    }
#define FXSTAT(name, type, next)                                                                 \
    CLIENT_NEXT(int, name, int, int, struct type *)                                              \
    CLIENT_EXPORT int name(int version, int fd, struct type *info);                              \
    CLIENT_EXPORT int name(int version, int fd, struct type *info)                               \
    {                                                                                            \
        int status = next_##name() ? next_##name()(version, fd, info) : next_##next()(fd, info); \
        if (!status)                                                                             \
            DRESS(fd, info);                                                                     \
        return status;                                                                           \
    }
#define FXSTATAT(name, type, next)                                                               \
    CLIENT_NEXT(int, name, int, int, const char *, struct type *, int)                           \
    CLIENT_EXPORT int name(int version, int at, const char *path, struct type *info, int flags); \
    CLIENT_EXPORT int name(int version, int at, const char *path, struct type *info, int flags)  \
    {                                                                                            \
        char buffer[PATH_MAX];                                                                   \
        const char *found = look_up(path, buffer);                                               \
        int status = next_##name() ? next_##name()(version, at, found, info, flags)              \
                                   : next_##next()(at, found, info, flags);                      \
        if (!status)                                                                             \
            DRESS(is_empty(path) ? at : -1, info);                                               \
        return status;                                                                           \
    }

STAT(stat, stat)
STAT(lstat, stat)
FSTAT(fstat, stat)
FSTATAT(fstatat, stat)
STAT(stat64, stat64)
STAT(lstat64, stat64)
FSTAT(fstat64, stat64)
FSTATAT(fstatat64, stat64)
XSTAT(__xstat, stat, stat)
XSTAT(__lxstat, stat, lstat)
FXSTAT(__fxstat, stat, fstat)
FXSTATAT(__fxstatat, stat, fstatat)
XSTAT(__xstat64, stat64, stat64)
XSTAT(__lxstat64, stat64, lstat64)
FXSTAT(__fxstat64, stat64, fstat64)
FXSTATAT(__fxstatat64, stat64, fstatat64)
#if UINTPTR_MAX == UINT32_MAX
STAT(__stat64_time64, stat_time64)
STAT(__lstat64_time64, stat_time64)
FSTAT(__fstat64_time64, stat_time64)
FSTATAT(__fstatat64_time64, stat_time64)
#endif

CLIENT_NEXT(int, statx, int, const char *, int, unsigned, struct statx *)
CLIENT_EXPORT int statx(int at, const char *path, int flags, unsigned mask, struct statx *info)
{
    char buffer[PATH_MAX];
    uint8_t token[DEVICE_TOKEN];
    int status = next_statx()(at, look_up(path, buffer), flags, mask, info);
    if (status)
        return status;
    uint64_t device = (uint64_t)info->stx_dev_major << 32 | info->stx_dev_minor;
    if ((is_empty(path) && node_find(at, token)) || is_node(device, info->stx_ino)) {
        info->stx_mode = NODE_MODE;
        info->stx_size = 0;
        info->stx_rdev_major = node_name()->major;
        info->stx_rdev_minor = node_name()->minor;
    }
    return status;
}
