/* SPDX-License-Identifier: MIT
 * cpscope info for Qualcomm's split firmware images. */
#include <inttypes.h>

#include "fw/image/mbn.h"
#include "tools/explain/info/info.h"
#include "tools/cmd/render/doc.h"
#include "trace/out/json.h"

static const char *type_name(uint32_t type)
{
    static const char *const names[] = {"none", "relocatable", "executable", "shared", "core"};
    return type < sizeof(names) / sizeof(names[0]) ? names[type] : "unknown";
}

/* Where the bytes of a segment are. */
static const char *place(const struct cps_mbn *mbn, unsigned i)
{
    const struct cps_mbn_segment *segment = &mbn->segment[i];
    if (!segment->file_size)
        return "no bytes";
    if (segment->inside)
        return "in this file";
    if (segment->split_size == CPS_MBN_ABSENT)
        return "missing";
    return cps_mbn_complete(mbn, i) ? "in its own file" : "in its own file of a wrong size";
}

static const char layout[] =
    "{.name:e}: Qualcomm firmware image\n"
    "  type        ELF{bits}, {type} ({.type}), machine {machine}, flags 0x{flags:08x}"
    "{split?, split}\n"
    "  entry       0x{entry:08x}\n"
    "{segments*  segment {number:02}  {kind:-6} address 0x{address:08x}, file {file_size} bytes, "
    "memory {memory_size} bytes, flags 0x{flags:08x}{relocatable? relocatable}, {place}"
    "{split_size?; .b{number:02} has {split_size} bytes{split_fits!, does not fit}}\n}";

static void put_segment(const struct cps_mbn *mbn, unsigned i, struct json_object *list)
{
    const struct cps_mbn_segment *segment = &mbn->segment[i];
    const char *kind = cps_mbn_kind_name(segment->kind);
    struct json_object *row =
        doc_row(list,
                "number=%u type=%u kind=%s address=%" PRIu64 " offset=%" PRIu64
                " file_size=%" PRIu64 " memory_size=%" PRIu64 " flags=%u relocatable?=%d place=%s",
                i, segment->type, kind ? kind : "other", segment->address, segment->offset,
                segment->file_size, segment->memory_size, segment->flags, segment->relocatable,
                place(mbn, i));
    if (segment->split_size != CPS_MBN_ABSENT)
        doc_put(row, "split_size=%" PRIu64 " split_fits?=%d", segment->split_size,
                segment->split_size == segment->file_size);
}

struct cps_err *info_mbn(struct cps_stream *stream, struct json_object *to)
{
    struct cps_mbn mbn;
    CPS_FREE uint8_t *bytes = NULL;
    size_t size = 0;
    const char *name = cps_stream_name(stream);
    CPS_TRY(cps_stream_read_all(stream, INFO_IMAGE_LIMIT, &bytes, &size));
    CPS_TRY(cps_mbn_parse(name, bytes, size, &mbn));
    doc_put(to,
            ".layout=%s .name=%s kind=qualcomm-image bits=%u type=%s .type=%u machine=%u flags=%u "
            "entry=%" PRIu64 " split?=%d",
            layout, name, mbn.bits, type_name(mbn.type), mbn.type, mbn.machine, mbn.flags,
            mbn.entry, mbn.split);
    struct json_object *segments = cps_json_new_array(to, "segments");
    for (unsigned i = 0; i < mbn.segment_count; i++)
        put_segment(&mbn, i, segments);
    return NULL;
}
