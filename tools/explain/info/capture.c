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
#include "tools/explain/stream/walk.h"
#include "isa/isa.h"
#include "isa/base/pm4.h"
#include "trace/out/json.h"

#define MAX_SECTION_TYPES 64
#define WALK_LIMIT        (UINT64_C(16) << 20) /* packets: bounds streams that name themselves */

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
    struct json_object *json;  /* NULL: text */
    struct json_object *buffers;
    struct json_object *submits;
    struct counter counter;
    struct stream_walk walk;
    struct cps_names *names; /* the walk's */
    struct count count[MAX_SECTION_TYPES];
    unsigned count_used;
    bool pending; /* a buffer whose contents may still come */
    uint64_t iova, size, contents;
    uint64_t buffer_total, contents_total, submit_total;
    uint32_t gpu_id;
    uint64_t chip_id;
    uint64_t mix[128];
    uint64_t type4, type4_regs, malformed;
    uint64_t walked;
};

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

/* Prints the buffer whose contents are complete now. */
static void flush_buffer(struct info *info)
{
    if (!info->pending)
        return;
    info->pending = false;
    info->buffer_total++;
    info->contents_total += info->contents != 0;
    if (!info->json) {
        printf("  buffer 0x%016" PRIx64 " %10" PRIu64 " bytes, %s\n", info->iova, info->size,
               info->contents ? "with contents" : "no contents");
        return;
    }
    struct json_object *row = json_object_new_object();
    cps_json_uint(row, "iova", info->iova);
    cps_json_uint(row, "size", info->size);
    cps_json_uint(row, "contents", info->contents);
    cps_json_append(info->buffers, row);
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
    if (!info->json) {
        printf("  submit 0x%016" PRIx64 " %10" PRIu32 " dwords, %s\n", item->stream.iova,
               item->stream.dwords, known ? "captured" : "not captured");
        return;
    }
    struct json_object *row = json_object_new_object();
    cps_json_uint(row, "iova", item->stream.iova);
    cps_json_uint(row, "dwords", item->stream.dwords);
    cps_json_bool(row, "captured", known);
    cps_json_append(info->submits, row);
}

static void take_text(const struct info *info, const struct cps_item *item)
{
    if (info->json)
        return;
    fputs(item->kind == CPS_ITEM_NOTE ? "  note   " : "  text   ", stdout);
    for (size_t i = 0; i < item->text.size; i++) {
        char c = item->text.bytes[i];
        putchar(c >= ' ' && c <= '~' ? c : '?');
    }
    putchar('\n');
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

static void print_text(const struct info *info, const struct cps_names *names)
{
    printf("  gpu id %" PRIu32 ", chip id 0x%" PRIx64 "\n", info->gpu_id, info->chip_id);
    printf("  %" PRIu64 " buffers, %" PRIu64 " with contents, %" PRIu64 " submits\n",
           info->buffer_total, info->contents_total, info->submit_total);
    printf("  sections:\n");
    for (unsigned i = 0; i < info->count_used; i++)
        printf("    %-18s %8" PRIu64 " %12" PRIu64 " bytes\n",
               info->count[i].name ? info->count[i].name : "(unknown)", info->count[i].sections,
               info->count[i].bytes);
    printf("  packets, by a static walk:\n    %-28s %8" PRIu64 " (%" PRIu64 " registers)\n",
           "type 4", info->type4, info->type4_regs);
    for (unsigned id = 0; id < 128; id++) {
        char scratch[INFO_NAME_SIZE];
        if (info->mix[id])
            printf("    %-28s %8" PRIu64 "\n", info_packet_name(names, id, scratch), info->mix[id]);
    }
    if (info->malformed)
        printf("    %-28s %8" PRIu64 "\n", "malformed", info->malformed);
}

static void add_section(struct json_object *to, const struct count *count)
{
    char scratch[24];
    struct json_object *row = json_object_new_object();
    snprintf(scratch, sizeof(scratch), "type %" PRIu32, count->type);
    cps_json_uint(row, "count", count->sections);
    cps_json_uint(row, "bytes", count->bytes);
    cps_json_add(to, count->name ? count->name : scratch, row);
}

static void print_json(const struct info *info, const struct cps_names *names)
{
    struct json_object *sections = json_object_new_object();
    struct json_object *mix = json_object_new_object();
    cps_json_text(info->json, "kind", "capture");
    cps_json_uint(info->json, "gpu_id", info->gpu_id);
    cps_json_uint(info->json, "chip_id", info->chip_id);
    for (unsigned i = 0; i < info->count_used; i++)
        add_section(sections, &info->count[i]);
    cps_json_add(info->json, "sections", sections);
    cps_json_add(info->json, "buffers", json_object_get(info->buffers));
    cps_json_add(info->json, "submits", json_object_get(info->submits));
    cps_json_uint(mix, "type4", info->type4);
    for (unsigned id = 0; id < 128; id++) {
        char scratch[INFO_NAME_SIZE];
        if (info->mix[id])
            cps_json_uint(mix, info_packet_name(names, id, scratch), info->mix[id]);
    }
    if (info->malformed)
        cps_json_uint(mix, "malformed", info->malformed);
    cps_json_add(info->json, "packets", mix);
}

static struct cps_err *finish(struct info *info)
{
    struct cps_names *names = NULL;
    flush_buffer(info);
    CPS_TRY(cps_names_create(layout_of(info), NULL, &names));
    if (info->json)
        print_json(info, names);
    else
        print_text(info, names);
    cps_names_destroy(names);
    return NULL;
}

struct cps_err *info_capture(struct cps_stream *stream, const char *format,
                             struct json_object *json)
{
    struct info *info = calloc(1, sizeof(*info));
    if (!info)
        return cps_err_nomem();
    info->sink.item = take_item;
    info->json = json;
    info->buffers = json_object_new_array();
    info->submits = json_object_new_array();
    if (json) {
        cps_json_text(json, "format", format);
    } else {
        info_name(cps_stream_name(stream));
        printf(": capture, %s\n", format);
    }
    info->counter = (struct counter){{count_events}, info};
    info->walk.sink = &info->counter.sink;
    info->walk.publish = &info->names;
    struct cps_err *err = stream_walk_init(&info->walk);
    if (!err)
        err = cps_capture_read(stream, NULL, &info->sink);
    if (!err)
        err = stream_walk_end(&info->walk);
    /* A cut file is described as far as it goes, then reported. */
    if (!err || err->code != CPS_ERR_NOMEM)
        err = cps_err_first_(err, finish(info));
    stream_walk_deinit(&info->walk);
    json_object_put(info->buffers);
    json_object_put(info->submits);
    free(info);
    return err;
}
