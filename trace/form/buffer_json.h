/* SPDX-License-Identifier: MIT
 * Buffers of a capture in JSON. */
#ifndef CPS_BUFFER_JSON_H
#define CPS_BUFFER_JSON_H

#include "trace/capture/buffers.h"
#include "trace/out/json.h"

/** A buffer as an object: `kind`, `number`, `name` if it has one, `iova` and `size` in bytes. */
struct json_object *cps_buffer_json_(const struct cps_buffer *buffer);
/** Sets a member for the buffer that an address lies in: the object with the `offset` in it, or
 * null for none. There is no member where cps_buffers_put() says nothing. */
void cps_buffers_json_(struct json_object *to, const char *key, const struct cps_buffers *buffers,
                       uint32_t submission, uint64_t address);

#endif
