/* SPDX-License-Identifier: MIT
 * Buffers of the capture, as far as the run could have used them. */
#include "tools/face/page/view.h"
#include "trace/out/json.h"

/* Whether a submission of the run, which are in the order of the capture, lies in its time. A dump
 * has none. */
static bool is_used(const struct view_run *run, const struct cps_buffer *buffer)
{
    size_t low = 0;
    size_t high = run->submissions;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (run->submission[middle]->value < buffer->from)
            low = middle + 1;
        else
            high = middle;
    }
    return !run->submissions ||
           (low < run->submissions && run->submission[low]->value < buffer->until);
}

static void add_hex(struct json_object *row, uint64_t value)
{
    CPS_BUF text = {0};
    cps_buf_hex(&text, value, 1);
    cps_json_append(row, text.failed ? NULL : json_object_new_string(cps_buf_text(&text)));
}

void view_buffers(const struct view_run *run, struct json_object *to)
{
    const struct cps_buffers *buffers = run->side->record.buffers;
    struct json_object *list = cps_json_new_array(to, "buffers");
    for (size_t i = 0; i < cps_buffers_count(buffers); i++) {
        const struct cps_buffer *buffer = cps_buffers_get(buffers, i);
        struct json_object *row = json_object_new_array();
        if (!is_used(run, buffer)) {
            json_object_put(row);
            continue;
        }
        cps_json_append(row, json_object_new_string(cps_buffer_kind_text(buffer->kind)));
        cps_json_append(row, json_object_new_int64(buffer->number));
        cps_json_append(row, view_text(buffer->name ? buffer->name : ""));
        add_hex(row, buffer->iova);
        add_hex(row, buffer->last);
        cps_json_append(row, json_object_new_int64(buffer->from));
        cps_json_append(row, json_object_new_int64(buffer->until));
        cps_json_append(list, row);
    }
}
