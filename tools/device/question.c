/* SPDX-License-Identifier: MIT
 * Questions: an ioctl's structure, and the arrays that belong to it. Nothing in them is trusted. */
#include "tools/device/server.h"

#include <stdlib.h>
#include <string.h>

/* Bytes that the message has in the device. False: too many. */
bool device_client_charge(struct device_client *client, size_t bytes)
{
    size_t *all = &client->device->use.messages;
    if (bytes > DEVICE_MAX_MESSAGES - *all)
        return false;
    *all += bytes;
    client->charged += bytes;
    return true;
}

/* A piece that came, or the room of one that goes. */
static bool take_piece(struct device_client *client, size_t *at, unsigned i, unsigned way,
                       uint64_t size)
{
    struct device_message *message = &client->message;
    struct device_piece piece;
    if (size > DEVICE_MAX_SIZE)
        return false;
    message->size[i] = (uint32_t)size;
    message->out[i] = way & DEVICE_OUT;
    if (!(way & DEVICE_IN)) {
        if (size > DEVICE_MAX_OUT ||
            !device_client_charge(client, 2 * size)) /* it is in the answer, too */
            return false;
        message->array[i] = calloc(1, size + 1);
        message->owned[i] = true;
        return message->array[i];
    }
    if (message->head.size - *at < sizeof(piece))
        return false;
    memcpy(&piece, client->rest + *at, sizeof(piece));
    *at += sizeof(piece);
    if (piece.size != size || padded(size) > message->head.size - *at)
        return false;
    message->array[i] = client->rest + *at;
    *at += padded(size);
    return true;
}

static uint32_t member(const struct device_message *message, unsigned offset)
{
    uint32_t value = 0;
    memcpy(&value, message->structure + offset, sizeof(value));
    return value;
}

/* The piece of the three ioctls whose pointers have their own meaning. */
static bool take_special(struct device_client *client, size_t *at)
{
    struct device_message *message = &client->message;
    const unsigned i = DEVICE_MAX_ARRAYS;
    union {
        struct msm_gem_info info;
        struct msm_param param;
        struct msm_vm_bind bind;
    } s;
    memcpy(&s, message->structure,
           message->structure_size < sizeof(s) ? message->structure_size : sizeof(s));
    switch (message->head.row) {
    case DEVICE_GEM_INFO:
        if (s.info.info == MSM_INFO_SET_NAME || s.info.info == MSM_INFO_SET_METADATA)
            return take_piece(client, at, i, DEVICE_IN, s.info.len);
        if (s.info.value && (s.info.info == MSM_INFO_NAME || s.info.info == MSM_INFO_METADATA))
            return take_piece(client, at, i, DEVICE_OUT, s.info.len);
        return true;
    case DEVICE_SET_PARAM:
        if (s.param.param == MSM_COMM || s.param.param == MSM_CMDLINE)
            return take_piece(client, at, i, DEVICE_IN, s.param.len);
        return true;
    case DEVICE_VM_BIND:
        if (s.bind.op_count == 1)
            return true;
        return take_piece(client, at, i, DEVICE_IN,
                          (uint64_t)s.bind.op_count * sizeof(struct msm_vm_bind_op));
    default:
        return true;
    }
}

bool device_client_parse(struct device_client *client)
{
    struct device_message *message = &client->message;
    if (message->head.row >= DEVICE_ROWS)
        return false;
    const struct device_ioctl *row = &device_ioctls[message->head.row];
    size_t at = padded(row->size);
    if (message->head.size < at)
        return false;
    message->structure = client->rest;
    message->structure_size = padded(row->size);
    for (unsigned i = 0; i < DEVICE_MAX_ARRAYS && row->array[i].way; i++) {
        uint64_t count = member(message, row->array[i].count);
        if (!take_piece(client, &at, i, row->array[i].way, count * row->array[i].bytes))
            return false;
    }
    return take_special(client, &at) && at == message->head.size;
}
