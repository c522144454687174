/* SPDX-License-Identifier: MIT
 * Buffers of the capture, as far as the run could have used them. */
#include "tools/face/page/view.h"

#include <inttypes.h>

#include "tools/cmd/render/doc.h"
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

void view_buffers(const struct view_run *run, struct json_object *to)
{
    const struct cps_buffers *buffers = run->side->record.buffers;
    struct json_object *list = cps_json_new_array(to, "buffers");
    for (size_t i = 0; i < cps_buffers_count(buffers); i++) {
        const struct cps_buffer *buffer = cps_buffers_get(buffers, i);
        if (is_used(run, buffer))
            doc_array(list, "%s %u %s %" PRIx64 " %" PRIx64 " %u %u",
                      cps_buffer_kind_text(buffer->kind), buffer->number,
                      buffer->name ? buffer->name : "", buffer->iova, buffer->last, buffer->from,
                      buffer->until);
    }
}
