/* SPDX-License-Identifier: MIT
 * What readers of captures share: items, notes, and sections with a header of eight bytes. */
#include "trace/capture/formats.h"

#include <string.h>

struct cps_err *cps_reading_give_(struct cps_reading *r, struct cps_item *item)
{
    item->offset = r->offset;
    return r->sink->item(r->sink, item);
}

struct cps_err *cps_reading_note_(struct cps_reading *r, const char *text)
{
    struct cps_item item = {.kind = CPS_ITEM_NOTE, .text = {text, strlen(text), false}};
    return cps_reading_give_(r, &item);
}

struct cps_err *cps_reading_header_(struct cps_reading *r, uint8_t header[8], bool *more)
{
    size_t got = 0;
    r->offset = cps_stream_offset(r->stream);
    CPS_TRY(cps_stream_read(r->stream, header, 8, &got));
    *more = got > 0;
    return !got || got == 8
               ? NULL
               : cps_err_input(cps_stream_name(r->stream), r->offset,
                               "section header of %zu bytes is cut short, expected 8", got);
}

struct cps_err *cps_reading_truncated_(const struct cps_reading *r)
{
    return cps_err_input(cps_stream_name(r->stream), r->offset,
                         "section %s of %u bytes is cut short at 0x%llx, expected all of it",
                         r->label, r->size, (unsigned long long)cps_stream_offset(r->stream));
}

struct cps_err *cps_reading_pass_(struct cps_reading *r)
{
    uint64_t passed = 0;
    CPS_TRY(cps_stream_skip(r->stream, r->left, &passed));
    bool all = passed == r->left;
    r->left = 0;
    return all ? NULL : cps_reading_truncated_(r);
}

struct cps_err *cps_reading_contents_(struct cps_reading *r, uint64_t iova, uint64_t size)
{
    for (uint64_t done = 0; done < size;) {
        size_t want = size - done < sizeof(r->bytes) ? (size_t)(size - done) : sizeof(r->bytes);
        size_t got = 0;
        const uint8_t *data = NULL;
        CPS_TRY(cps_stream_view_(r->stream, r->bytes, want, &data, &got));
        r->left -= (uint32_t)got;
        if (got < want)
            return cps_reading_truncated_(r);
        struct cps_item item = {
            .kind = CPS_ITEM_DATA,
            .buffer = {.iova = iova + done,
                       .size = got,
                       .data = data,
                       .at = r->has_places ? cps_stream_offset(r->stream) - got + 1 : 0}};
        CPS_TRY(cps_reading_give_(r, &item));
        done += got;
    }
    return NULL;
}
