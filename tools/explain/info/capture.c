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
    "  {.buffers} buffers, {.contents} with contents, {.submits} submits\n"
    "  sections:\n{sections*    {.name:-18} {count:8} {bytes:12} bytes\n}"
    "  packets, by a static walk:\n"
    "    type 4                       {.type4:8} ({.registers} registers)\n"
    "{.packets*    {@:-28} {.:8}\n}";

struct count {
    const char *name;
    uint32_t type;
    uint64_t sections;
    uint64_t bytes;
};

struct info;

/* Takes the walk's events. */
struct counter {
    struct cps_sink sink; /* first */
    struct info *info;
};

struct info {
    struct cps_item_sink sink; /* first */
    struct json_object *to, *buffers, *submits;
    struct cps_buf lines; /* of the text: buffers, submits and notes in their order */
    struct counter counter;
    struct stream_walk walk;
    struct cps_names *names; /* the walk's */
    struct count count[MAX_SECTION_TYPES];
    unsigned count_used;
    bool json;    /* the tree has rows of buffers and submits, else the text has lines */
    bool pending; /* a buffer whose contents may still come */
    uint64_t iova, size, contents;
    uint64_t buffer_total, contents_total, submit_total;
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
    unsigned i = 0;
    while (i < info->count_used && info->count[i].type != item->section.type)
        i++;
    if (i == MAX_SECTION_TYPES)
        return;
    if (i == info->count_used)
        info->count[info->count_used++] =
            (struct count){item->section.name, item->section.type, 0, 0};
    info->count[i].sections++;
    info->count[i].bytes += item->section.size;
}

/* The contents of a buffer are complete now. */
static void flush_buffer(struct info *info)
{
    if (!info->pending)
        return;
    info->pending = false;
    info->buffer_total++;
    info->contents_total += info->contents != 0;
    if (!info->json)
        cps_buf_printf(&info->lines, "  buffer 0x%016" PRIx64 " %10" PRIu64 " bytes, %s\n",
                       info->iova, info->size, info->contents ? "with contents" : "no contents");
    else
        doc_row(info->buffers, "iova=%" PRIu64 " size=%" PRIu64 " contents=%" PRIu64, info->iova,
                info->size, info->contents);
}

/* What the walk sees. */
static void count_events(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct info *info = ((struct counter *)sink)->info;
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

static void take_submit(struct info *info, const struct cps_item *item)
{
    bool known = false;
    flush_buffer(info);
    info->submit_total++;
    cps_mem_read(info->walk.mem, item->stream.iova, &known);
    if (cps_mem_failed(
            info->walk.mem)) /* nothing can be said of it, and the command ends with it */
        return;
    if (!info->json)
        cps_buf_printf(&info->lines, "  submit 0x%016" PRIx64 " %10" PRIu32 " dwords, %s\n",
                       item->stream.iova, item->stream.dwords, known ? "captured" : "not captured");
    else
        doc_row(info->submits, "iova=%" PRIu64 " dwords=%u captured?=%d", item->stream.iova,
                item->stream.dwords, known);
}

static void take_text(struct info *info, const struct cps_item *item)
{
    cps_buf_str(&info->lines, item->kind == CPS_ITEM_NOTE ? "  note   " : "  text   ");
    for (size_t i = 0; i < item->text.size; i++) {
        char c = item->text.bytes[i];
        cps_buf_add(&info->lines, c >= ' ' && c <= '~' ? &c : "?", 1);
    }
    cps_buf_str(&info->lines, "\n");
}

static struct cps_err *follow(struct info *info, const struct cps_item *item)
{
    info->walk.limit = info->walked < WALK_LIMIT ? WALK_LIMIT - info->walked : 0;
    return info->walk.items.item(&info->walk.items, item);
}

static struct cps_err *take_item(struct cps_item_sink *sink, const struct cps_item *item)
{
    struct info *info = (struct info *)sink;
    switch (item->kind) {
    case CPS_ITEM_SECTION:
        count_section(info, item);
        break;
    case CPS_ITEM_CHIP:
        info->gpu_id = info->gpu_id ? info->gpu_id : item->chip.gpu_id;
        info->chip_id = info->chip_id ? info->chip_id : item->chip.chip_id;
        return follow(info, item);
    case CPS_ITEM_RESET:
        flush_buffer(info);
        return follow(info, item);
    case CPS_ITEM_BUFFER:
        flush_buffer(info);
        info->pending = true;
        info->iova = item->buffer.iova;
        info->size = item->buffer.size;
        info->contents = 0;
        break;
    case CPS_ITEM_DATA:
        info->contents += item->buffer.size;
        return follow(info, item);
    case CPS_ITEM_SUBMIT:
        take_submit(info, item);
        return follow(info, item);
    case CPS_ITEM_TEXT:
    case CPS_ITEM_NOTE:
        take_text(info, item);
        break;
    case CPS_ITEM_RING:
        flush_buffer(info);
        break;
    default:
        break;
    }
    return NULL;
}

static enum cps_layout layout_of(const struct info *info)
{
    return cps_gpu_layout(info->gpu_id ? info->gpu_id : info->chip_id & 0xffffffff);
}

static void put_sections(const struct info *info, struct json_object *to)
{
    for (unsigned i = 0; i < info->count_used; i++) {
        char type[24];
        const struct count *count = &info->count[i];
        snprintf(type, sizeof(type), "type %" PRIu32, count->type);
        doc_put(cps_json_new_object(to, count->name ? count->name : type),
                ".name=%s count=%" PRIu64 " bytes=%" PRIu64,
                count->name ? count->name : "(unknown)", count->sections, count->bytes);
    }
}

static void put_packets(const struct info *info, const struct cps_names *names,
                        struct json_object *to)
{
    for (unsigned id = 0; id < 128; id++) {
        char scratch[INFO_NAME_SIZE];
        if (info->mix[id])
            cps_json_uint(to, info_packet_name(names, id, scratch), info->mix[id]);
    }
    if (info->malformed)
        cps_json_uint(to, "malformed", info->malformed);
}

static struct cps_err *finish(struct info *info)
{
    struct json_object *to = info->to;
    struct cps_names *names = NULL;
    flush_buffer(info);
    CPS_TRY(cps_names_create(layout_of(info), NULL, &names));
    cps_json_buf(to, ".lines", &info->lines);
    doc_put(to,
            "kind=capture gpu_id=%u chip_id=%" PRIu64 " .buffers=%" PRIu64 " .contents=%" PRIu64
            " .submits=%" PRIu64 " .type4=%" PRIu64 " .registers=%" PRIu64,
            info->gpu_id, info->chip_id, info->buffer_total, info->contents_total,
            info->submit_total, info->type4, info->type4_regs);
    put_sections(info, cps_json_new_object(to, "sections"));
    cps_json_add(to, "buffers", json_object_get(info->buffers));
    cps_json_add(to, "submits", json_object_get(info->submits));
    put_packets(info, names, cps_json_new_object(to, ".packets"));
    struct json_object *packets = cps_json_new_object(to, "packets");
    cps_json_uint(packets, "type4", info->type4);
    put_packets(info, names, packets);
    cps_names_destroy(names);
    return NULL;
}

struct cps_err *info_capture(struct cps_stream *stream, const char *format, bool json,
                             struct json_object *to)
{
    struct info *info = tool_alloc(1, sizeof(*info));
    info->sink.item = take_item;
    info->to = to;
    info->json = json;
    info->buffers = tool_json(json_object_new_array());
    info->submits = tool_json(json_object_new_array());
    doc_put(to, ".layout=%s .name=%s format=%s", layout, cps_stream_name(stream), format);
    info->counter = (struct counter){{count_events}, info};
    info->walk.sink = &info->counter.sink;
    info->walk.publish = &info->names;
    struct cps_err *err = stream_walk_init(&info->walk);
    if (!err)
        err = cps_capture_read(stream, NULL, &info->sink);
    if (!err)
        err = stream_walk_end(&info->walk);
    if (!err || err->code != CPS_ERR_NOMEM)
        err = cps_err_first_(err, finish(info));
    stream_walk_deinit(&info->walk);
    json_object_put(info->buffers);
    json_object_put(info->submits);
    cps_buf_deinit(&info->lines);
    free(info);
    return err;
}
