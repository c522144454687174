/* SPDX-License-Identifier: MIT
 * What the client library and the device say to each other on a Unix stream socket.
 *
 * A client asks, the device answers, one at a time on each connection; a thread that may wait has a
 * connection of its own. A message is a struct device_head, then `size` bytes. Descriptors travel
 * with the first byte of the head (SCM_RIGHTS).
 *
 * DEVICE_OPEN: nothing. The answer has one descriptor, the node: a memfd whose first 32 bytes are
 * DEVICE_MAGIC and a token. Who has the descriptor may use the open file; dup and SCM_RIGHTS need
 * no message.
 *
 * DEVICE_HOLD: only a token, which keeps the open file until this connection ends.
 *
 * DEVICE_IOCTL: token and `row`; the structure, padded with zeros to 8 bytes, then each array that
 * goes in: a struct device_piece, its bytes, padding to 8.
 * Descriptors are those of the row, in its order; of an ioctl on a sync file the token is 0, and
 * the sync file comes first. The answer is the padded structure, then each array that goes out in
 * the same way, of at most the bytes that were asked for; the last ones may be left out. A
 * descriptor that goes out comes with it, and the client puts its number into the structure. An
 * answer with an error may have no bytes at all.
 *
 * DEVICE_MAP: token, struct device_map. The answer is the same and one descriptor to map.
 *
 * An open file is closed when no connection holds it any more: every connection that has asked
 * something of it does. The device trusts nothing that it reads. A client has a connection for the
 * process, which opens and holds, and one for each thread that called ioctl or mmap.
 */
#ifndef CPS_DEVICE_PROTOCOL_H
#define CPS_DEVICE_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include "uapi.h"
#include "uapi_kgsl.h"

/** The folder that the device made for its clients: an environment variable names it. In it:
 * `socket`, and `root`, a tree with dev/dri/renderD128 and what sysfs says of it. */
#define DEVICE_FOLDER "CPSCOPE_DEVICE"
#define DEVICE_SOCKET "socket"
#define DEVICE_ROOT   "root"
#define DEVICE_MAGIC  "cpscope device\n" /* with its NUL: 16 bytes */
/** In its place in a node of KGSL, which is also the file of all its objects: an object's bytes are
 * at its number << 12. */
#define DEVICE_KGSL_MAGIC "cpscope kgsl-3d"
#define DEVICE_VERSION    1u

enum { DEVICE_TOKEN = 16, DEVICE_MAX_FDS = 2, DEVICE_MAX_ARRAYS = 4 };
/** Most bytes behind a head. */
#define DEVICE_MAX_SIZE (16u << 20)

enum device_kind { DEVICE_OPEN = 1, DEVICE_HOLD, DEVICE_IOCTL, DEVICE_MAP };

/** The same in both directions, in the byte order of the machine. */
struct device_head {
    uint16_t version; /**< DEVICE_VERSION */
    uint16_t kind;    /**< enum device_kind; of an answer that of the question */
    uint32_t size;    /**< bytes that follow */
    int32_t status;   /**< of an answer: 0, or -errno; of DEVICE_IOCTL also what ioctl() returns */
    uint16_t row;     /**< enum device_row of DEVICE_IOCTL */
    uint16_t fds;     /**< descriptors that come with it */
    uint8_t token[DEVICE_TOKEN];
};

/** Where an mmap() of the node leads. */
struct device_map {
    uint64_t offset; /**< as mmap() got it; in the answer that of the descriptor */
    uint64_t size;   /**< bytes */
};

/** In front of the bytes of an array. */
struct device_piece {
    uint32_t size; /**< bytes, without padding */
    uint32_t pad;
};

enum device_row {
#define ARRAY(...)
#define STRIDED(...)
#define FD_IN(...)
#define FD_OUT(...)
#define FD_IN_IF(...)
#define FD_OUT_IF(...)
#define IOCTL(group, number, name, structure, arrays, fds) DEVICE_##name,
#include "ioctl.def"
    DEVICE_ROWS
};

enum device_way { DEVICE_IN = 1, DEVICE_OUT = 2, DEVICE_INOUT = 3 };

/** Offsets are those of members of the structure. */
struct device_ioctl {
    uint8_t group, number;
    uint16_t size; /**< of the structure: a client's may be shorter, the rest is 0 */
    struct {
        uint8_t way; /**< enum device_way; 0: no more arrays */
        uint8_t pointer, count;
        uint8_t stride; /**< 0: they are dense */
        uint8_t bytes;
    } array[DEVICE_MAX_ARRAYS];
    struct {
        uint8_t way, offset; /**< 0: none */
        uint32_t bits;       /**< any of them is set in `flags`; 0: always */
    } fd[2];
    uint8_t flags; /**< offset of the member `flags`, which is the first of them all */
};

extern const struct device_ioctl device_ioctls[DEVICE_ROWS];

#endif
