/* SPDX-License-Identifier: MIT
 * cpscope info for Qualcomm's split firmware images. */
#include <inttypes.h>
#include <stdio.h>

#include "fw/image/mbn.h"
#include "tools/explain/info/info.h"
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

static void segment_text(const struct cps_mbn *mbn, unsigned i)
{
    const struct cps_mbn_segment *segment = &mbn->segment[i];
    const char *kind = cps_mbn_kind_name(segment->kind);
    printf("  segment %02u  %-6s address 0x%08" PRIx64 ", file %" PRIu64 " bytes, memory %" PRIu64
           " bytes, flags 0x%08" PRIx32 "%s, %s",
           i, kind ? kind : "other", segment->address, segment->file_size, segment->memory_size,
           segment->flags, segment->relocatable ? " relocatable" : "", place(mbn, i));
    if (segment->split_size != CPS_MBN_ABSENT)
        printf("; .b%02u has %" PRIu64 " bytes%s", i, segment->split_size,
               segment->split_size == segment->file_size ? "" : ", does not fit");
    printf("\n");
}

static void print_text(const char *name, const struct cps_mbn *mbn)
{
    info_name(name);
    printf(": Qualcomm firmware image\n");
    printf("  type        ELF%u, %s (%" PRIu32 "), machine %" PRIu32 ", flags 0x%08" PRIx32 "%s\n",
           mbn->bits, type_name(mbn->type), mbn->type, mbn->machine, mbn->flags,
           mbn->split ? ", split" : "");
    printf("  entry       0x%08" PRIx64 "\n", mbn->entry);
    for (unsigned i = 0; i < mbn->segment_count; i++)
        segment_text(mbn, i);
}

static struct json_object *segment_json(const struct cps_mbn *mbn, unsigned i)
{
    const struct cps_mbn_segment *segment = &mbn->segment[i];
    struct json_object *row = json_object_new_object();
    const char *kind = cps_mbn_kind_name(segment->kind);
    cps_json_uint(row, "number", i);
    cps_json_uint(row, "type", segment->type);
    cps_json_text(row, "kind", kind ? kind : "other");
    cps_json_uint(row, "address", segment->address);
    cps_json_uint(row, "offset", segment->offset);
    cps_json_uint(row, "file_size", segment->file_size);
    cps_json_uint(row, "memory_size", segment->memory_size);
    cps_json_uint(row, "flags", segment->flags);
    cps_json_bool(row, "relocatable", segment->relocatable);
    cps_json_text(row, "place", place(mbn, i));
    if (segment->split_size != CPS_MBN_ABSENT) {
        bool fits = segment->split_size == segment->file_size;
        cps_json_uint(row, "split_size", segment->split_size);
        cps_json_bool(row, "split_fits", fits);
    }
    return row;
}

static void print_json(const struct cps_mbn *mbn, struct json_object *json)
{
    struct json_object *segments = json_object_new_array();
    cps_json_text(json, "kind", "qualcomm-image");
    cps_json_uint(json, "bits", mbn->bits);
    cps_json_text(json, "type", type_name(mbn->type));
    cps_json_uint(json, "machine", mbn->machine);
    cps_json_uint(json, "flags", mbn->flags);
    cps_json_uint(json, "entry", mbn->entry);
    cps_json_bool(json, "split", mbn->split);
    for (unsigned i = 0; i < mbn->segment_count; i++)
        cps_json_append(segments, segment_json(mbn, i));
    cps_json_add(json, "segments", segments);
}

struct cps_err *info_mbn(struct cps_stream *stream, struct json_object *json)
{
    struct cps_mbn mbn;
    CPS_FREE uint8_t *bytes = NULL;
    size_t size = 0;
    const char *name = cps_stream_name(stream);
    CPS_TRY(cps_stream_read_all(stream, INFO_IMAGE_LIMIT, &bytes, &size));
    CPS_TRY(cps_mbn_parse(name, bytes, size, &mbn));
    if (json)
        print_json(&mbn, json);
    else
        print_text(name, &mbn);
    return NULL;
}
