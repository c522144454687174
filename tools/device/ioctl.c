/* SPDX-License-Identifier: MIT
 * The rows of ioctl.def, for the client library and the device. */
#include "protocol.h"

#define WAY_IN    DEVICE_IN
#define WAY_OUT   DEVICE_OUT
#define WAY_INOUT DEVICE_INOUT

enum { NO_FLAGS = 0 };

#define ARRAY(structure, way, pointer, count, bytes) \
    {WAY_##way, offsetof(struct structure, pointer), offsetof(struct structure, count), 0, bytes},
#define STRIDED(structure, way, pointer, count, stride, bytes)                          \
    {WAY_##way, offsetof(struct structure, pointer), offsetof(struct structure, count), \
     offsetof(struct structure, stride), bytes},
#define FD_IN(structure, member)           {DEVICE_IN, offsetof(struct structure, member), 0},
#define FD_OUT(structure, member)          {DEVICE_OUT, offsetof(struct structure, member), 0},
#define FD_IN_IF(structure, member, bits)  {DEVICE_IN, offsetof(struct structure, member), bits},
#define FD_OUT_IF(structure, member, bits) {DEVICE_OUT, offsetof(struct structure, member), bits},
/* Where descriptors depend on `flags`, it is the first member. */
#define IOCTL(group, number, name, structure, arrays, fds) \
    [DEVICE_##name] = {group, number, sizeof(struct structure), {arrays}, {fds}, NO_FLAGS},

const struct device_ioctl device_ioctls[DEVICE_ROWS] = {
#include "ioctl.def"
};
