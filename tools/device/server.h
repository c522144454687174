/* SPDX-License-Identifier: MIT
 * A connection, for the two files that read questions. */
#ifndef CPS_DEVICE_SERVER_H
#define CPS_DEVICE_SERVER_H

#include "tools/device/device.h"

enum client_state { READS_HEAD, READS_REST, WAITS, WRITES };

struct device_client {
    struct device *device;
    int fd;
    enum client_state state;
    struct device_message message;
    size_t have; /* bytes of the head, or of what follows */
    uint8_t *rest;
    uint8_t *answer;
    size_t answer_size, sent;
    struct device_file **held;
    size_t held_count;
    pid_t pid;
    struct device_process process; /* of `pid`, once an open file of KGSL was asked something */
    size_t charged;                /* bytes of its message */
    size_t waited;                 /* handles that its question waits for */
};

static inline size_t padded(size_t size)
{
    return (size + 7) / 8 * 8;
}

/** Counts bytes that the connection makes the device keep. False: they are too many. */
bool device_client_charge(struct device_client *client, uint64_t size);
/** Finds the structure and the arrays of an ioctl in what came. False: it breaks the protocol. */
bool device_client_parse(struct device_client *client);

#endif
