/* SPDX-License-Identifier: MIT
 * cpscope info for firmware, for Qualcomm's split images of other processors, and for traces. */
#include <inttypes.h>
#include <string.h>

#include "fw/image/mbn.h"
#include "tools/cmd/render/doc.h"
#include "tools/explain/info/info.h"
#include "trace/form/trace.h"
#include "trace/out/json.h"

/* ---- Firmware ---- */

static const char firmware_layout[] =
    "{.name:e}: firmware\n"
    "  id          0x{id:03x} ({.target})\n"
    "  generation  {generation}\n"
    "  version     0x{version:03x}\n"
    "  size        {dwords} dwords\n"
    "{assumed?  assumed     {assumed}\n}"
    "{incomplete?  warning     {incomplete}\n}"
    "{processors*  processor   {name}: dwords 0x{start:04x} to 0x{.end:04x}"
    "{table?, packet table at 0x{table:04x}}{table!, no packet table found}\n"
    "{packet_table*    0x{id:02x} 0x{handler:04x} {name}\n}}";

static void put_processor(const struct cps_fw *fw, const struct cps_fw_part *part,
                          const struct cps_names *names, struct json_object *list)
{
    struct json_object *row =
        doc_row(list, "name=%s start=%u .end=%u size=%u", cps_fw_role_name(part->role), part->start,
                part->start + part->size, part->size);
    if (part->table != CPS_FW_NONE)
        doc_put(row, "table=%u", part->table);
    struct json_object *table = cps_json_new_array(row, "packet_table");
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE && part->table != CPS_FW_NONE; id++) {
        char scratch[INFO_NAME_SIZE];
        doc_row(table, "id=%u handler=%u name=%s", id, cps_fw_handler(fw, part, id),
                info_packet_name(names, id, scratch));
    }
}

struct cps_err *info_firmware(struct cps_fw *fw, struct json_object *to)
{
    struct cps_names *names = NULL;
    const struct cps_target *target = cps_target_find(fw->id);
    struct cps_err *err = cps_names_create(fw->layout, NULL, &names);
    doc_put(to,
            ".layout=%s .name=%s kind=firmware id=%u .target=%s generation=%s version=%u dwords=%u "
            "assumed=%s incomplete=%s",
            err ? "" : firmware_layout, fw->name, fw->id, target ? target->name : "unknown",
            cps_gen_name(fw->gen), fw->version, fw->count, fw->assumed, fw->incomplete);
    struct json_object *processors = cps_json_new_array(to, "processors");
    for (unsigned i = 0; i < fw->part_count && !err; i++)
        put_processor(fw, &fw->part[i], names, processors);
    cps_names_destroy(names);
    cps_fw_destroy(fw);
    return err;
}

/* ---- Images of other processors ---- */

/* Where the bytes of a segment are. */
static const char *segment_place(const struct cps_mbn *mbn, unsigned i)
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

static const char mbn_layout[] =
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
                segment_place(mbn, i));
    if (segment->split_size != CPS_MBN_ABSENT)
        doc_put(row, "split_size=%" PRIu64 " split_fits?=%d", segment->split_size,
                segment->split_size == segment->file_size);
}

struct cps_err *info_mbn(struct cps_stream *stream, struct json_object *to)
{
    static const char *const types[] = {"none", "relocatable", "executable", "shared", "core"};
    struct cps_mbn mbn;
    CPS_FREE uint8_t *bytes = NULL;
    size_t size = 0;
    const char *name = cps_stream_name(stream);
    CPS_TRY(cps_stream_read_all(stream, INFO_IMAGE_LIMIT, &bytes, &size));
    CPS_TRY(cps_mbn_parse(name, bytes, size, &mbn));
    doc_put(to,
            ".layout=%s .name=%s kind=qualcomm-image bits=%u type=%s .type=%u machine=%u flags=%u "
            "entry=%" PRIu64 " split?=%d",
            mbn_layout, name, mbn.bits,
            mbn.type < sizeof(types) / sizeof(types[0]) ? types[mbn.type] : "unknown", mbn.type,
            mbn.machine, mbn.flags, mbn.entry, mbn.split);
    struct json_object *segments = cps_json_new_array(to, "segments");
    for (unsigned i = 0; i < mbn.segment_count; i++)
        put_segment(&mbn, i, segments);
    return NULL;
}

/* ---- Traces ---- */

static const char trace_layout[] =
    "{.name:e}: trace\n{.head*  {.}\n}{events*  {@:-10} {.:10}\n}"
    "{end?ended: {end}, {packets} packets, {instructions} instructions\n}"
    "{end!the end is not recorded\n}";

static struct cps_err *describe_trace(struct cps_trace *trace, const char *name,
                                      struct json_object *to)
{
    struct cps_event events[1024], end = {0};
    uint64_t counts[CPS_EV_COUNT] = {0};
    size_t count = 1;
    while (count) {
        CPS_TRY(cps_trace_next(trace, events, 1024, &count));
        for (size_t i = 0; i < count; i++) {
            unsigned kind = cps_event_kind(&events[i]);
            counts[kind]++;
            end = kind == CPS_EV_END ? events[i] : end;
        }
    }
    const struct cps_trace_head *head = cps_trace_head(trace);
    doc_put(to, ".layout=%s .name=%s kind=trace gen=%s", trace_layout, name,
            cps_gen_name(head->gen));
    /* The head's lines, without the first one, which says that this is a trace. */
    struct json_object *list = cps_json_new_array(to, ".head");
    const char *line = strchr(head->text, '\n');
    while (line && line[1] == '#') {
        int length = (int)strcspn(line + 1, "\n");
        cps_json_append(list, json_object_new_string_len(line + 3, length > 2 ? length - 2 : 0));
        line = strchr(line + 1, '\n');
    }
    struct json_object *firmware = cps_json_new_array(to, "firmware");
    for (unsigned i = 0; i < head->firmware_count; i++)
        doc_row(firmware, "name=%s sha256=%s", head->firmware[i].name, head->firmware[i].sha256);
    doc_put(cps_json_new_object(to, "capture"), "name=%s sha256=%s", head->capture.name,
            head->capture.sha256);
    doc_put(to, "policy=%s", head->policy);
    struct json_object *kinds = cps_json_new_object(to, "events");
    for (unsigned i = 0; i < CPS_EV_COUNT; i++) {
        if (counts[i])
            cps_json_uint(kinds, cps_event_keyword(i), counts[i]);
    }
    if (counts[CPS_EV_END])
        doc_put(to, "end=%s packets=%u instructions=%" PRIu64,
                cps_event_sub_word(CPS_EV_END, cps_event_sub(&end)), end.value, end.addr);
    return NULL;
}

struct cps_err *info_trace(struct cps_stream *stream, struct json_object *to)
{
    struct cps_trace *trace = NULL;
    struct cps_err *err = cps_trace_open(stream, &trace);
    if (!err)
        err = describe_trace(trace, cps_stream_name(stream), to);
    cps_trace_close(trace);
    return err;
}
