/* SPDX-License-Identifier: MIT
 * The run of a page: its events, and the numbers of its packets. */
#include "tools/face/page/view.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cpscope.h"
#include "tools/cmd/terminal/oom.h"

#define ROWS                                                                        \
    (1u << CPS_EV_REG | 1u << CPS_EV_REGR | 1u << CPS_EV_PIPE | 1u << CPS_EV_CTRL | \
     1u << CPS_EV_MEMW | 1u << CPS_EV_MEMR | 1u << CPS_EV_PROT | 1u << CPS_EV_IRQ | \
     1u << CPS_EV_STEP | 1u << CPS_EV_STEPX | 1u << CPS_EV_ASSUME | 1u << CPS_EV_UNMODELLED)

/* What says whether a packet starts work. */
#define STARTS    (1u << CPS_EV_WORD | 1u << CPS_EV_LAUNCH)
#define STRUCTURE (1u << CPS_EV_SUBMIT | 1u << CPS_EV_PKT | 1u << CPS_EV_END)

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

/* A trace names the firmware that ran: no other one's code may be shown. */
static struct cps_err *check_firmware(const struct view_side *side,
                                      const struct cps_trace_head *head)
{
    const char *const path[2] = {side->fw->name, side->me ? side->me->name : NULL};
    for (unsigned i = 0; i < head->firmware_count; i++) {
        char hash[65] = "built-in";
        const char *hash_of_trace = head->firmware[i].sha256;
        bool known = path[i] && strlen(hash_of_trace) == 64;
        CPS_TRY(known && side->path[0] ? cps_sha256_file(path[i], hash) : NULL);
        if (known && strcmp(hash, hash_of_trace) != 0)
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
    size_t count = 0;
    bool any = false;
    for (size_t i = 0; i < side->record.count; i++) {
        unsigned kind = cps_event_kind(&side->record.event[i]);
        any |= kind == CPS_EV_STEP;
        if ((ROWS | STRUCTURE | STARTS) >> kind & 1)
            side->record.event[count++] = side->record.event[i];
    }
    side->record.count = count;
    if (!any || side->record.count > VIEW_MOST_EVENTS)
        record_drop_steps(&side->record);
    return NULL;
}

struct cps_err *view_record(struct view_side *side, const char *capture, bool steps)
{
    const struct record_setup setup = {
        .config = &side->config,
        .kinds = STRUCTURE | (steps ? ROWS | STARTS : RECORD_COMPARED),
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

void view_number(const struct view_side *side, struct view_run *ret)
{
    const struct record *record = &side->record;
    *ret = (struct view_run){.side = side};
    for (unsigned who = 0; who < CPS_CPU_COUNT; who++) {
        bool any = false;
        size_t first = ret->packets;
        for (size_t i = 0; i < record->count && who != CPS_CPU_NONE; i++) {
            if (cps_event_who(&record->event[i]) != who)
                continue;
            any = true;
            if (cps_event_kind(&record->event[i]) != CPS_EV_PKT)
                continue;
            TOOL_ROOM(ret->packet, ret->packets);
            ret->packet[ret->packets++] = &record->event[i];
        }
        if (any)
            ret->processor[ret->processors++] = (struct view_processor){who, first, ret->packets};
    }
}
