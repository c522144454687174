/* SPDX-License-Identifier: MIT
 * cpscope info for captures: sections, buffers, submits, and the packets that a static walk
 * through IBs and draw-state groups finds. The walk knows no conditions: it counts more than
 * firmware executes (tools/explain/stream/walk.h). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "isa/base/within.h"
#include "emu/mem.h"
#include "tools/explain/info/info.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/stream/walk.h"
#include "isa/isa.h"
#include "isa/base/pm4.h"
#include "trace/out/json.h"

#define MAX_SECTION_TYPES 64
#define WALK_LIMIT        (UINT64_C(16) << 20) /* packets: bounds streams that name themselves */

static const char layout[] =
    "{.name:e}: capture, {format}\n{.lines}"
    "  gpu id {gpu_id}, chip id 0x{chip_id:x}\n"
    "  {.buffers} buffer{.buffers~s}, {.contents} with contents, {.submits} "
    "submission{.submits~s}\n"
    "  sections:\n{sections*    {.name:-18} {count:8} {bytes:12} bytes\n}"
    "  packets, by a static walk:\n"
    "{packets*{@=type4?    type4                        {.:8} ({.registers} registers)\n}"
    "{@=type4!    {@:-28} {.:8}\n}}";

struct info {
    struct cps_item_sink sink;
    struct cps_sink events; /* the walk's */
    struct json_object *to, *sections, *buffers, *submits;
    struct cps_buf lines; /* of the text: buffers, submits and notes in their order */
    bool json;            /* the tree has rows of buffers and submits, else the text has lines */
    uint64_t buffers_seen, submits_seen;
    struct stream_walk walk;
    struct cps_names *names; /* the walk's */
    bool pending;            /* a buffer whose contents may still come */
    uint64_t iova, size, contents;
    uint64_t with_contents;
    uint32_t gpu_id;
    uint64_t chip_id;
    uint64_t mix[128];
    uint64_t type4, type4_regs, malformed;
    uint64_t walked;
};

const char *info_packet_name(const struct cps_names *names, unsigned id,
                             char scratch[INFO_NAME_SIZE])
{
    const char *name = cps_name(names, CPS_SPACE_PACKET, id, NULL);
    if (name)
        return name;
    snprintf(scratch, INFO_NAME_SIZE, "UNKN%u", id);
    return scratch;
}

static void count_section(struct info *info, const struct cps_item *item)
{
    char type[24];
    snprintf(type, sizeof(type), "type %" PRIu32, item->section.type);
    const char *name = item->section.name ? item->section.name : type;
    struct json_object *row = cps_json_get(info->sections, name);
    if (!row && json_object_object_length(info->sections) == MAX_SECTION_TYPES)
        return;
    if (!row) {
        row = cps_json_new_object(info->sections, name);
        doc_put(row, ".name=%s count=%d bytes=%d", item->section.name ? name : "(unknown)", 0, 0);
    }
    json_object_int_inc(cps_json_get(row, "count"), 1);
    json_object_int_inc(cps_json_get(row, "bytes"), (int64_t)item->section.size);
}

/* The contents of a buffer are complete now. */
static void flush_buffer(struct info *info)
{
    if (!info->pending)
        return;
    info->pending = false;
    info->with_contents += info->contents != 0;
    info->buffers_seen++;
    if (!info->json)
        cps_buf_printf(&info->lines, "  buffer 0x%016" PRIx64 " %10" PRIu64 " bytes, %s\n",
                       info->iova, info->size, info->contents ? "with contents" : "no contents");
    else
        doc_row(info->buffers, "iova=%" PRIu64 " size=%" PRIu64 " contents=%" PRIu64, info->iova,
                info->size, info->contents);
}

static void count_events(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct info *info = (struct info *)((char *)sink - offsetof(struct info, events));
    for (size_t i = 0; i < count; i++) {
        struct cps_pm4 packet = cps_pm4_decode(events[i].value);
        if (cps_event_kind(&events[i]) != CPS_EV_PKT)
            continue;
        info->walked++;
        info->malformed += packet.kind == CPS_PM4_BAD;
        info->type4 += packet.kind == CPS_PM4_TYPE4;
        info->type4_regs += packet.kind == CPS_PM4_TYPE4 ? packet.count : 0;
        info->mix[packet.opcode] += packet.kind == CPS_PM4_TYPE7;
    }
}

static void put_submit(struct info *info, const struct cps_item *item)
{
    bool known = false;
    flush_buffer(info);
    cps_mem_read(info->walk.mem, item->stream.iova, &known);
    if (cps_mem_failed(info->walk.mem)) /* the command ends with it */
        return;
    info->submits_seen++;
    if (!info->json)
        cps_buf_printf(&info->lines, "  submit 0x%016" PRIx64 " %10" PRIu32 " dwords, %s\n",
                       item->stream.iova, item->stream.dwords, known ? "captured" : "not captured");
    else
        doc_row(info->submits, "iova=%" PRIu64 " dwords=%u captured?=%d", item->stream.iova,
                item->stream.dwords, known);
}

static void put_text(struct info *info, const struct cps_item *item)
{
    cps_buf_str(&info->lines, item->kind == CPS_ITEM_NOTE ? "  note   " : "  text   ");
    for (size_t i = 0; i < item->text.size; i++) {
        char c = item->text.bytes[i];
        cps_buf_add(&info->lines, c >= ' ' && c <= '~' ? &c : "?", 1);
    }
    cps_buf_str(&info->lines, "\n");
}

static struct cps_err *take_item(struct cps_item_sink *sink, const struct cps_item *item)
{
    struct info *info = (struct info *)sink;
    switch (item->kind) {
    case CPS_ITEM_SECTION:
        count_section(info, item);
        return NULL;
    case CPS_ITEM_CHIP:
        info->gpu_id = info->gpu_id ? info->gpu_id : item->chip.gpu_id;
        info->chip_id = info->chip_id ? info->chip_id : item->chip.chip_id;
        break;
    case CPS_ITEM_RESET:
        flush_buffer(info);
        break;
    case CPS_ITEM_BUFFER:
        flush_buffer(info);
        info->pending = true;
        info->iova = item->buffer.iova;
        info->size = item->buffer.size;
        info->contents = 0;
        return NULL;
    case CPS_ITEM_DATA:
        info->contents += item->buffer.size;
        break;
    case CPS_ITEM_SUBMIT:
        put_submit(info, item);
        break;
    case CPS_ITEM_TEXT:
    case CPS_ITEM_NOTE:
        put_text(info, item);
        return NULL;
    case CPS_ITEM_RING:
        flush_buffer(info);
        return NULL;
    default:
        return NULL;
    }
    info->walk.limit = info->walked < WALK_LIMIT ? WALK_LIMIT - info->walked : 0;
    return info->walk.items.item(&info->walk.items, item);
}

static struct cps_err *put_totals(struct info *info)
{
    struct json_object *to = info->to;
    struct cps_names *names = NULL;
    flush_buffer(info);
    CPS_TRY(cps_names_create(
        cps_gpu_layout(info->gpu_id ? info->gpu_id : info->chip_id & 0xffffffff), NULL, &names));
    cps_json_buf(to, ".lines", &info->lines);
    doc_put(to,
            "kind=capture gpu_id=%u chip_id=%" PRIu64 " .buffers=%" PRIu64 " .contents=%" PRIu64
            " .submits=%" PRIu64 " .registers=%" PRIu64,
            info->gpu_id, info->chip_id, info->buffers_seen, info->with_contents,
            info->submits_seen, info->type4_regs);
    cps_json_add(to, "sections", json_object_get(info->sections));
    cps_json_add(to, "buffers", json_object_get(info->buffers));
    cps_json_add(to, "submits", json_object_get(info->submits));
    struct json_object *packets = cps_json_new_object(to, "packets");
    cps_json_uint(packets, "type4", info->type4);
    for (unsigned id = 0; id < 128; id++) {
        char scratch[INFO_NAME_SIZE];
        if (info->mix[id])
            cps_json_uint(packets, info_packet_name(names, id, scratch), info->mix[id]);
    }
    if (info->malformed)
        cps_json_uint(packets, "malformed", info->malformed);
    cps_names_destroy(names);
    return NULL;
}

struct cps_err *info_capture(struct cps_stream *stream, const char *format, bool json,
                             struct json_object *to)
{
    struct info *info = tool_alloc(1, sizeof(*info));
    *info = (struct info){.sink = {.item = take_item},
                          .events = {count_events},
                          .to = to,
                          .json = json,
                          .sections = doc_new(),
                          .buffers = tool_json(json_object_new_array()),
                          .submits = tool_json(json_object_new_array())};
    doc_put(to, ".layout=%s .name=%s format=%s", layout, cps_stream_name(stream), format);
    info->walk.sink = &info->events;
    info->walk.publish = &info->names;
    struct cps_err *err = stream_walk_init(&info->walk);
    if (!err)
        err = cps_capture_read(stream, NULL, &info->sink);
    if (!err)
        err = stream_walk_end(&info->walk);
    if (!err || err->code != CPS_ERR_NOMEM)
        err = cps_err_first_(err, put_totals(info));
    stream_walk_deinit(&info->walk);
    json_object_put(info->sections);
    json_object_put(info->buffers);
    json_object_put(info->submits);
    cps_buf_deinit(&info->lines);
    free(info);
    return err;
}
