/* SPDX-License-Identifier: MIT
 * cpscope info for Qualcomm's split firmware images. */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>

#include "fw/image/mbn.h"
#include "tools/info/info.h"

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
    printf("%s: Qualcomm firmware image\n", name);
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
    info_add_int(row, "number", i);
    info_add_int(row, "type", segment->type);
    json_object_object_add(row, "kind", json_object_new_string(kind ? kind : "other"));
    json_object_object_add(row, "address", json_object_new_uint64(segment->address));
    json_object_object_add(row, "offset", json_object_new_uint64(segment->offset));
    json_object_object_add(row, "file_size", json_object_new_uint64(segment->file_size));
    json_object_object_add(row, "memory_size", json_object_new_uint64(segment->memory_size));
    info_add_int(row, "flags", segment->flags);
    json_object_object_add(row, "relocatable", json_object_new_boolean(segment->relocatable));
    json_object_object_add(row, "place", json_object_new_string(place(mbn, i)));
    if (segment->split_size != CPS_MBN_ABSENT) {
        bool fits = segment->split_size == segment->file_size;
        info_add_int(row, "split_size", segment->split_size);
        json_object_object_add(row, "split_fits", json_object_new_boolean(fits));
    }
    return row;
}

static void print_json(const struct cps_mbn *mbn, struct json_object *json)
{
    struct json_object *segments = json_object_new_array();
    json_object_object_add(json, "kind", json_object_new_string("qualcomm-image"));
    info_add_int(json, "bits", mbn->bits);
    json_object_object_add(json, "type", json_object_new_string(type_name(mbn->type)));
    info_add_int(json, "machine", mbn->machine);
    info_add_int(json, "flags", mbn->flags);
    json_object_object_add(json, "entry", json_object_new_uint64(mbn->entry));
    json_object_object_add(json, "split", json_object_new_boolean(mbn->split));
    for (unsigned i = 0; i < mbn->segment_count; i++)
        json_object_array_add(segments, segment_json(mbn, i));
    json_object_object_add(json, "segments", segments);
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
