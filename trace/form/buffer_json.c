/* SPDX-License-Identifier: MIT
 * Buffers of a capture in JSON. */
#include "trace/form/buffer_json.h"

static void add_hex(struct json_object *to, const char *key, uint64_t value)
{
    CPS_BUF text = {0};
    cps_buf_hex(&text, value, 1);
    cps_json_buf(to, key, &text);
}

struct json_object *cps_buffer_json_(const struct cps_buffer *buffer)
{
    struct json_object *to = json_object_new_object();
    cps_json_text(to, "kind", cps_buffer_kind_text(buffer->kind));
    cps_json_uint(to, "number", buffer->number);
    cps_json_text(to, "name", buffer->name);
    add_hex(to, "iova", buffer->iova);
    add_hex(to, "size", buffer->last - buffer->iova + 1);
    return to;
}

void cps_buffers_json_(struct json_object *to, const char *key, const struct cps_buffers *buffers,
                       uint32_t submission, uint64_t address)
{
    const struct cps_buffer *at = cps_buffers_at(buffers, submission, address);
    if (!cps_buffers_known(buffers, submission) || (!at && !address))
        return;
    if (!at) {
        cps_json_null(to, key);
        return;
    }
    struct json_object *place = cps_buffer_json_(at);
    add_hex(place, "offset", address - at->iova);
    cps_json_add(to, key, place);
}
