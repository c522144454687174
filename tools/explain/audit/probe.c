/* SPDX-License-Identifier: MIT
 * Runs PM4 texts on a firmware, and judges cases by the events that follow. */
#include <string.h>

#include "fw/image/icache.h"
#include "isa/base/pm4.h"
#include "isa/base/within.h"
#include "isa/target.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/audit/audit.h"
#include "trace/form/text.h"

/* Boots of shipped firmware and the texts of audit take some ten thousand instructions. */
#define LIMIT 2000000u

static void record_events(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    record_keep((struct record *)((char *)sink - offsetof(struct record, sink)), events, count);
}

struct cps_err *probe_open(struct probe *probe, unsigned gen, const char *const firmware[2],
                           struct cps_fw *image)
{
    *probe = (struct probe){.config = {.gen = gen,
                                       .limit = LIMIT,
                                       .submit = -1,
                                       .fw = {firmware[0], firmware[1]},
                                       .fw_count = image         ? 0
                                                   : firmware[1] ? 2
                                                                 : 1}};
    probe->covers = image ? image->count + 1 : 0;
    probe->cover = image ? tool_alloc(probe->covers, sizeof(*probe->cover)) : NULL;
    probe->record.sink.put = record_events;
    probe->play = tool_alloc(1, sizeof(*probe->play));
    probe->play->fw = image;
    probe->play->trace = &probe->record.sink;
    return play_open(probe->play, &probe->config, NULL);
}

void probe_close(struct probe *probe)
{
    if (probe->play)
        play_close(probe->play);
    free(probe->play);
    record_deinit(&probe->record);
    cps_buf_deinit(&probe->why);
    free(probe->cover);
}

static struct cps_err *run_stream(struct probe *probe, struct cps_stream *stream, uint32_t kinds)
{
    struct play *play = probe->play;
    play->kinds = kinds;
    play->gpu = 0;
    play->stop = CPS_STOP_IDLE;
    probe->record.count = 0;
    cps_buf_clear(&probe->why);
    CPS_TRY(play_restart(play));
    if (probe->cover) { /* of the first processor; images of dumps have no other */
        memset(probe->cover, 0, probe->covers * sizeof(*probe->cover));
        cps_engine_cover(play->engine, 0, probe->cover, probe->covers);
    }
    CPS_TRY(play_run(play, stream));
    cps_engine_sink(play->engine, NULL, 0);
    if (play->stop != CPS_STOP_IDLE)
        play_explain(play, play->engine, play->stop, &probe->why);
    if (play->stop != CPS_STOP_IDLE && !probe->why.size)
        cps_buf_str(&probe->why, "more instructions than a run may have");
    tool_need(!probe->record.lost && !probe->why.failed);
    return NULL;
}

struct cps_err *probe_run(struct probe *probe, const char *name, const char *text, size_t size,
                          uint32_t kinds)
{
    struct cps_stream *stream = NULL;
    CPS_TRY(cps_stream_open_memory(name, text, size, &stream));
    struct cps_err *err = run_stream(probe, stream, kinds);
    cps_stream_close(stream);
    return err;
}

static const struct cps_names *names_of(const struct probe *probe, const struct cps_event *event)
{
    return probe->play->names[cps_event_who(event) % CPS_CPU_COUNT];
}

void probe_text(const struct probe *probe, const struct cps_event *event, struct cps_buf *out)
{
    CPS_BUF line = {0};
    cps_text_event(&line, event, names_of(probe, event), play_has_processors(probe->play));
    cps_buf_add(out, tool_text(&line), strcspn(tool_text(&line), "\n"));
}

void probe_own_handlers(const struct cps_fw *fw, unsigned part, bool ret[CPS_FW_TABLE_SIZE])
{
    uint32_t table[CPS_FW_TABLE_SIZE];
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++)
        table[id] = cps_fw_handler(fw, &fw->part[part], id);
    cps_fw_own_handlers_(table, ret);
}

bool probe_handles(const struct cps_fw *fw, const struct cps_names *names, const char *name,
                   size_t length)
{
    bool own[CPS_FW_TABLE_SIZE];
    uint32_t id = 0;
    probe_own_handlers(fw, 0, own);
    return cps_name_number(names, CPS_SPACE_PACKET, name, length, &id) && id < CPS_FW_TABLE_SIZE &&
           own[id];
}

const char *verdict_word(enum verdict verdict)
{
    static const char *const words[VERDICT_COUNT] = {"not affected", "has the flaw",
                                                     "not applicable", "undecided"};
    return words[verdict];
}

static struct cps_err *find_handlers(const struct audit_case *c, const struct cps_fw *fw,
                                     struct cps_buf *why)
{
    struct cps_names *names = NULL;
    const char *at = c->packets ? c->packets : "";
    CPS_TRY(cps_names_create(fw->layout, NULL, &names));
    for (size_t length; *(at += strspn(at, " \t")); at += length) {
        length = strcspn(at, " \t");
        if (!why->size && !probe_handles(fw, names, at, length))
            cps_buf_printf(why, "it has no handler for %.*s", (int)length, at);
    }
    cps_names_destroy(names);
    return NULL;
}

/* The first event of the last run that a line names, or NULL. */
static const struct cps_event *find_event(const struct probe *probe,
                                          const struct case_event *wanted)
{
    for (size_t i = 0; i < probe->record.count; i++) {
        const struct cps_event *event = &probe->record.event[i];
        if (cps_event_kind(event) == wanted->kind &&
            (wanted->any_addr || event->addr == wanted->addr) &&
            (wanted->any_value || event->value == wanted->value))
            return event;
    }
    return NULL;
}

/* "sds CP_SMMU_TABLE_UPDATE: ": the packet that the processor was in. */
static void put_packet(const struct probe *probe, const struct cps_event *event,
                       struct cps_buf *out)
{
    for (const struct cps_event *pkt = event; pkt-- > probe->record.event;) {
        if (cps_event_kind(pkt) != CPS_EV_PKT || cps_event_who(pkt) != cps_event_who(event))
            continue;
        struct cps_pm4 packet = cps_pm4_decode(pkt->value);
        const char *name =
            packet.kind == CPS_PM4_TYPE7
                ? cps_name(names_of(probe, event), CPS_SPACE_PACKET, packet.opcode, NULL)
                : NULL;
        cps_buf_printf(out, "%s %s: ", cps_event_sub_word(CPS_EV_PKT, cps_event_sub(pkt)),
                       name ? name : "packet");
        return;
    }
}

static enum verdict judge(const struct probe *probe, const struct audit_case *c,
                          struct cps_buf *why)
{
    const struct cps_event *flaw = NULL; /* the first event that must not be */
    const struct case_event *missing = NULL;
    for (size_t i = 0; i < c->events; i++) {
        const struct cps_event *event = find_event(probe, &c->event[i]);
        if (c->event[i].never && event && (!flaw || event < flaw))
            flaw = event;
        if (!c->event[i].never && !event && !missing)
            missing = &c->event[i];
    }
    if (flaw) {
        put_packet(probe, flaw, why);
        probe_text(probe, flaw, why);
        return VERDICT_FLAW;
    }
    if (probe->why.size)
        cps_buf_join(why, &probe->why);
    else if (missing)
        cps_buf_printf(why, "no %s", missing->text);
    return probe->why.size || missing ? VERDICT_UNDECIDED : VERDICT_CLEAN;
}

struct cps_err *verdict_of(const struct audit_case *c, const struct cps_fw *fw, struct probe *probe,
                           enum verdict *ret, struct cps_buf *why)
{
    *ret = VERDICT_NOT_ABOUT;
    if (!(c->gens & cps_gen_bit(fw->gen))) {
        cps_buf_printf(why, "%s firmware", cps_gen_name(fw->gen));
        return NULL;
    }
    *ret = VERDICT_UNDECIDED;
    if (fw->part[0].table == CPS_FW_NONE) {
        cps_buf_str(why, "it has no packet table: which packets it handles is not known");
        return NULL;
    }
    CPS_TRY(find_handlers(c, fw, why));
    if (why->size)
        *ret = VERDICT_NOT_ABOUT;
    if (why->size || !probe)
        return NULL;
    uint32_t kinds = UINT32_C(1) << CPS_EV_PKT;
    for (size_t i = 0; i < c->events; i++)
        kinds |= UINT32_C(1) << c->event[i].kind;
    CPS_TRY(
        cps_err_within_(probe_run(probe, c->name, c->text, c->size, kinds), "case %s", c->name));
    *ret = judge(probe, c, why);
    return NULL;
}
