/* SPDX-License-Identifier: MIT
 * A run, sorted by processor: then a packet is a range of rows, and so is a processor. */
#include "tools/face/page/view.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cpscope.h"
#include "isa/base/list.h"
#include "isa/base/pm4.h"
#include "tools/cmd/terminal/oom.h"

#define ROWS                                                                        \
    (1u << CPS_EV_REG | 1u << CPS_EV_REGR | 1u << CPS_EV_PIPE | 1u << CPS_EV_CTRL | \
     1u << CPS_EV_MEMW | 1u << CPS_EV_MEMR | 1u << CPS_EV_PROT | 1u << CPS_EV_IRQ | \
     1u << CPS_EV_STEP | 1u << CPS_EV_STEPX | 1u << CPS_EV_ASSUME | 1u << CPS_EV_UNMODELLED)

#define STRUCTURE (1u << CPS_EV_SUBMIT | 1u << CPS_EV_PKT | 1u << CPS_EV_END)

/* The kinds of rows that have their own number in four bits. */
_Static_assert(CPS_EV_UNMODELLED < 16, "a row's kind has four bits");

bool view_is_row(const struct cps_event *event)
{
    return ROWS >> cps_event_kind(event) & 1;
}

static struct cps_err *is_trace(const char *path, bool *ret)
{
    struct cps_stream *stream = NULL;
    const uint8_t *data = NULL;
    struct stat info;
    size_t size = 0;
    if (!path || stat(path, &info) || !S_ISREG(info.st_mode))
        return NULL; /* what can be read only once is a capture */
    CPS_TRY(cps_stream_open(path, &stream));
    struct cps_err *err = cps_stream_peek(stream, 64, &data, &size);
    *ret = !err && cps_trace_recognise(data, size);
    cps_stream_close(stream);
    return err;
}

/* A trace says which firmware made it; another one's code would not be what ran. */
static struct cps_err *check_firmware(const struct view_side *side,
                                      const struct cps_trace_head *head)
{
    const char *const path[2] = {side->fw->name, side->me ? side->me->name : NULL};
    for (unsigned i = 0; i < head->firmware_count; i++) {
        char hash[65] = "built-in";
        const char *said = head->firmware[i].sha256;
        bool known = path[i] && strlen(said) == 64;
        CPS_TRY(known && side->path[0] ? cps_sha256_file(path[i], hash) : NULL);
        if (known && strcmp(hash, said) != 0)
            return cps_err_new(CPS_ERR_INPUT, "the trace is of %s, another firmware than %s",
                               head->firmware[i].name, path[i]);
    }
    return NULL;
}

static struct cps_err *read_trace(struct view_side *side, const char *path)
{
    struct cps_trace_head head = {0};
    struct cps_err *err = record_read(path, &head, &side->record);
    if (!err)
        err = check_firmware(side, &head);
    cps_trace_head_deinit(&head);
    CPS_TRY(err);
    bool any = false;
    for (size_t i = 0; i < side->record.count && !any; i++)
        any = cps_event_kind(&side->record.event[i]) == CPS_EV_STEP;
    if (!any || side->record.count > VIEW_MOST_EVENTS)
        record_drop_steps(&side->record);
    return NULL;
}

struct cps_err *view_record(struct view_side *side, const char *capture, bool steps)
{
    const struct record_setup setup = {
        .config = &side->config,
        .kinds = STRUCTURE | (steps ? ROWS | 1u << CPS_EV_WORD : RECORD_COMPARED),
        .most_steps = VIEW_MOST_EVENTS,
        .narrow = true,
        .buffers = steps,
        .recover = side->alone,
    };
    bool trace = false;
    CPS_TRY(is_trace(capture, &trace));
    if (trace && !side->alone)
        return cps_err_new(CPS_ERR_USAGE, "a trace is of one firmware; expected a capture for two");
    if (trace)
        return read_trace(side, capture);
    CPS_TRY(record_run(&setup, side->path, capture, NULL, &side->record));
    if (side->record.own) {
        cps_fw_destroy(side->fw);
        side->fw = CPS_TAKE(side->record.own);
    }
    return NULL;
}

const struct cps_fw *view_image(const struct view_side *side, unsigned who,
                                const struct cps_fw_part **part)
{
    const struct cps_fw *fw = who == CPS_CPU_ME && side->me ? side->me : side->fw;
    for (unsigned i = 0; i < 2 * fw->part_count; i++) {
        *part = &fw->part[i / 2];
        if (cps_role_processor((*part)->role, i % 2) == who)
            return fw;
    }
    return NULL;
}

void view_packet_name(const struct view_side *side, const struct cps_event *pkt,
                      struct cps_buf *out)
{
    struct cps_pm4 header = cps_pm4_decode(pkt->value);
    const struct cps_names *names = side->names[cps_event_who(pkt) % CPS_CPU_COUNT];
    const char *name = names && header.kind == CPS_PM4_TYPE7
                           ? cps_name(names, CPS_SPACE_PACKET, header.opcode, NULL)
                           : NULL;
    if (name)
        cps_buf_str(out, name);
    else if (header.kind == CPS_PM4_TYPE7)
        cps_buf_printf(out, "UNKN%u", (unsigned)header.opcode);
    else
        cps_buf_str(out, header.kind == CPS_PM4_TYPE4 ? "type 4" : "no packet");
}

static void add_row(struct view_run *run, const struct cps_event *event, unsigned kind,
                    uint32_t addr, uint32_t value)
{
    tool_need(CPS_LIST_RESERVE(run->row, run->row_room, run->rows + 1));
    run->row[run->rows++] = (struct view_row){event, addr, value, cps_event_pc(event),
                                              (uint8_t)(kind | (cps_event_sub(event) & 15) << 4)};
}

/* One row per register that changed, at least one per instruction. */
static void add_step(struct view_run *run, const struct cps_event *event)
{
    uint64_t values = event->addr;
    unsigned kind = cps_event_kind(event);
    if (kind == CPS_EV_STEP && !event->value)
        add_row(run, event, kind, 0, 0);
    for (uint32_t reg = 0; reg < 32; reg++) {
        if (!(event->value >> reg & 1))
            continue;
        add_row(run, event, kind, reg, (uint32_t)values);
        values >>= 32;
        kind = CPS_EV_STEPX;
    }
}

static void take(struct view_run *run, const struct cps_event *event, uint32_t submission)
{
    unsigned kind = cps_event_kind(event);
    if (kind == CPS_EV_STEP || kind == CPS_EV_STEPX) {
        add_step(run, event);
    } else if (kind == CPS_EV_WORD && run->packets) {
        tool_need(CPS_LIST_RESERVE(run->word, run->word_room, run->words + 1));
        run->word[run->words++] = event->value;
    } else if (kind == CPS_EV_PKT) {
        TOOL_ROOM(run->packet, run->packets);
        run->packet[run->packets++] = (struct view_packet){.event = event,
                                                           .low = (uint32_t)event->addr,
                                                           .high = (uint32_t)(event->addr >> 32),
                                                           .header = event->value,
                                                           .submission = submission,
                                                           .time = run->time,
                                                           .first = (uint32_t)run->rows,
                                                           .word = (uint32_t)run->words};
    } else if (view_is_row(event)) {
        add_row(run, event, kind, (uint32_t)event->addr, event->value);
    }
}

/* Appends what one processor did. */
static void take_processor(struct view_run *run, unsigned who)
{
    const struct record *record = &run->side->record;
    struct view_processor processor = {who, (uint32_t)run->rows, 0, (uint32_t)run->packets, 0};
    uint32_t submission = UINT32_MAX;
    run->time = 0;
    for (size_t i = 0; i < record->count; i++) {
        if (cps_event_who(&record->event[i]) == who)
            take(run, &record->event[i], submission);
        run->time += view_is_timed(&record->event[i]);
        submission += cps_event_kind(&record->event[i]) == CPS_EV_SUBMIT;
    }
    processor.row_end = (uint32_t)run->rows;
    processor.packet_end = (uint32_t)run->packets;
    run->processor[run->processors++] = processor;
}

bool view_is_timed(const struct cps_event *event)
{
    return (ROWS | STRUCTURE) >> cps_event_kind(event) & 1;
}

void view_gather(const struct view_side *side, struct view_run *ret)
{
    const struct record *record = &side->record;
    uint32_t who = 0; /* made anything: a bit per processor */
    *ret = (struct view_run){.side = side};
    for (size_t i = 0; i < record->count; i++) {
        const struct cps_event *event = &record->event[i];
        unsigned by = cps_event_who(event);
        if (by < CPS_CPU_COUNT && by != CPS_CPU_NONE)
            who |= 1u << by;
        if (cps_event_kind(event) != CPS_EV_SUBMIT)
            continue;
        TOOL_ROOM(ret->submission, ret->submissions);
        ret->submission[ret->submissions++] = event;
    }
    for (unsigned i = 0; i < CPS_CPU_COUNT; i++) {
        if (who >> i & 1)
            take_processor(ret, i);
    }
    TOOL_ROOM(ret->packet, ret->packets);
    ret->packet[ret->packets] = (struct view_packet){.submission = UINT32_MAX,
                                                     .time = ret->time,
                                                     .first = (uint32_t)ret->rows,
                                                     .word = (uint32_t)ret->words};
}

void view_run_deinit(struct view_run *run)
{
    free(run->row);
    free(run->packet);
    free(run->word);
    free(run->submission);
    *run = (struct view_run){0};
}
