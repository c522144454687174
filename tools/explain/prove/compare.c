/* SPDX-License-Identifier: MIT
 * What both revisions do with a stream. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpscope.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/prove/task.h"
#include "trace/form/text.h"

#define MOST_TICKS 300000u  /* of a stream: those are short */
#define LONG_TICKS 3000000u /* the same, with a boot and a switch of contexts */
#define NOTHINGS   8u

static void describe(const struct stage *stage, const struct cps_difference *d, char *ret,
                     size_t size)
{
    CPS_BUF text = {0};
    const struct cps_event *event = d->a ? d->a : d->b;
    const char *how = !d->b ? "only the old revision: " : !d->a ? "only the new revision: " : "";
    cps_text_event(&text, event, stage->names[cps_event_who(event)], false);
    char *end = strchr(cps_buf_text(&text), '\n');
    if (end)
        *end = 0;
    if (d->a && d->b)
        snprintf(ret, size, "%s; the new revision has 0x%08" PRIx32, cps_buf_text(&text),
                 d->b->value);
    else
        snprintf(ret, size, "%s%s", how, cps_buf_text(&text));
}

/* Leaves the events of one processor from the packet on (NULL: all): packets before it bring it to
 * its place, and differences of other processors belong to their handlers. */
static void keep_packet(struct record *record, enum cps_processor who,
                        const struct stage_mark *mark)
{
    size_t count = 0;
    bool seen = !mark;
    for (size_t i = 0; i < record->count; i++) {
        const struct cps_event *event = &record->event[i];
        if (cps_event_who(event) != (unsigned)who)
            continue;
        seen = seen || stage_is_marked(mark, event);
        if (seen)
            record->event[count++] = *event;
    }
    record->count = count;
}

void stage_renumber(const struct code *code, struct cps_event *event)
{
    if (cps_event_kind(event) == CPS_EV_CTRL && event->addr < CONTROL_COUNT &&
        code->scratch[event->addr] < CONTROL_COUNT)
        event->addr = code->scratch[event->addr];
}

static void renumber(const struct code *code, struct record *record)
{
    for (size_t i = 0; i < record->count; i++)
        stage_renumber(code, &record->event[i]);
}

static void compare_kinds(const struct stage *stage, const struct record record[2], uint32_t kinds,
                          struct stage_answer *ret)
{
    const struct cps_diff_options options = {.kinds = kinds, .mask = &stage->mask};
    struct cps_diff diff = {0};
    tool_must(cps_diff_events(record[0].event, record[0].count, record[1].event, record[1].count,
                              &options, NULL, NULL, &diff));
    ret->different = diff.differences != 0;
    if (ret->different)
        describe(stage, &diff.first, ret->text, sizeof(ret->text));
    cps_diff_deinit(&diff);
}

bool stage_ends_differ(const struct record record[2], char *ret, size_t size)
{
    if (record[0].account.stop == record[1].account.stop)
        return false;
    snprintf(ret, size, "the old revision ends with \"%s\", the new one with \"%s\"",
             cps_event_sub_word(CPS_EV_END, cps_stop_reason(record[0].account.stop)),
             cps_event_sub_word(CPS_EV_END, cps_stop_reason(record[1].account.stop)));
    return true;
}

struct cps_event *stage_next(const struct record *record, unsigned who, uint32_t kinds, size_t *at)
{
    while (*at < record->count) {
        struct cps_event *event = &record->event[(*at)++];
        if ((who == CPS_CPU_COUNT || cps_event_who(event) == who) &&
            kinds >> cps_event_kind(event) & 1)
            return event;
    }
    return NULL;
}

bool stage_is_context(const struct stage_context *context, uint64_t address)
{
    for (unsigned i = 0; i < context->count; i++) {
        if (context->address[i] == address)
            return true;
    }
    return false;
}

/* Gives the new revision the old one's words of a context that differ whatever ran before: return
 * addresses among them. @param add  notes those that do, instead */
static void equate_context(struct record record[2], struct stage_context *context, bool add)
{
    size_t at[2] = {0, 0};
    for (;;) {
        const struct cps_event *a =
            stage_next(&record[0], CPS_CPU_COUNT, 1u << CPS_EV_MEMW, &at[0]);
        struct cps_event *b = stage_next(&record[1], CPS_CPU_COUNT, 1u << CPS_EV_MEMW, &at[1]);
        if (!a || !b || a->addr != b->addr)
            return;
        bool known = stage_is_context(context, a->addr);
        if (add && !known && a->value != b->value && context->count < STAGE_CONTEXT)
            context->address[context->count++] = a->addr;
        else if (known)
            b->value = a->value;
    }
}

/* First what others see, then control registers. */
static void compare_records(const struct stage *stage, const struct record record[2],
                            struct stage_answer *ret)
{
    uint32_t kinds = stage->kinds & ~(1u << CPS_EV_END);
    *ret = (struct stage_answer){0};
    compare_kinds(stage, record, kinds & ~(1u << CPS_EV_CTRL), ret);
    if (!ret->different)
        ret->different = stage_ends_differ(record, ret->text, sizeof(ret->text));
    if (ret->different)
        return;
    compare_kinds(stage, record, kinds, ret);
    ret->hidden = ret->different;
}

void stage_compare_boots(const struct stage *stage, enum cps_processor who, const struct code *code,
                         bool *ret_known, struct stage_answer *ret)
{
    struct record record[2] = {{0}, {0}};
    *ret = (struct stage_answer){0};
    for (unsigned i = 0; i < 2; i++) {
        const struct record *boot = &stage->boot[i].record;
        record[i] = (struct record){.account = boot->account, .count = boot->count};
        record[i].event = tool_alloc(boot->count + 1, sizeof(*boot->event));
        if (boot->count)
            memcpy(record[i].event, boot->event, boot->count * sizeof(*boot->event));
        keep_packet(&record[i], who, NULL);
    }
    *ret_known = record[0].count && record[1].count;
    renumber(code, &record[1]);
    if (*ret_known)
        compare_records(stage, record, ret);
    record_deinit(&record[0]);
    record_deinit(&record[1]);
}

static struct cps_err *record_side(const struct stage *stage, unsigned side,
                                   const struct cps_buf *text, const char *inject,
                                   struct record *ret)
{
    struct cps_run_config config = *stage->config;
    const struct record_setup setup = {.config = &config, .kinds = stage->kinds, .text = text};
    const char *firmware[2];
    config.limit = inject ? LONG_TICKS : MOST_TICKS;
    config.inject = inject;
    stage_firmware(stage, side, firmware);
    /* What the boot did differently is no answer. */
    struct record_boot boot = stage->boot[side];
    boot.record = (struct record){0};
    return record_run(&setup, firmware, "a stream", inject ? NULL : &boot, ret);
}

/* The events of a stream on both revisions. The caller releases them in any case. */
static struct cps_err *record_both(const struct stage *stage, const struct cps_buf *text,
                                   const char *inject, struct record record[2])
{
    CPS_TRY(record_side(stage, 0, text, inject, &record[0]));
    return record_side(stage, 1, text, inject, &record[1]);
}

/* The stream after another packet: there the clock is another one. */
static void put_later(const struct cps_buf *text, struct cps_buf *out)
{
    static const char earlier[] = "buffer 0x00f00000 earlier\n    CP_NOP 0x1\nsubmit earlier\n";
    const char *first = cps_buf_text(text);
    const char *submit = strstr(first, "\nsubmit ");
    const char *frame = strstr(first, " frame\n");
    const char *at = submit ? submit + 1 : frame ? frame + strlen(" frame\n") : first;
    cps_buf_add(out, first, (size_t)(at - first));
    cps_buf_str(out, submit ? earlier : frame ? "    CP_NOP 0x1\n" : "");
    cps_buf_str(out, at);
}

/* In the ring a packet is elsewhere, too. */
static bool same_place(const struct cps_event *a, const struct cps_event *b)
{
    return a && b && cps_event_kind(a) == cps_event_kind(b) &&
           cps_event_sub(a) == cps_event_sub(b) &&
           (a->addr == b->addr || cps_event_kind(a) == CPS_EV_PKT);
}

/* Gives the new revision the old one's values where those are others at another time. Where code
 * has another length, so is the clock.
 * @param record  old, new, old at another time @return whether there are any */
static bool equate_clock(const struct stage *stage, const struct record record[3])
{
    uint32_t kinds = stage->kinds & ~(1u << CPS_EV_CTRL);
    size_t at[3] = {0, 0, 0};
    bool found = false;
    for (;;) {
        const struct cps_event *a = stage_next(&record[0], CPS_CPU_COUNT, kinds, &at[0]);
        struct cps_event *b = stage_next(&record[1], CPS_CPU_COUNT, kinds, &at[1]);
        const struct cps_event *later = stage_next(&record[2], CPS_CPU_COUNT, kinds, &at[2]);
        if (!same_place(a, b) || !same_place(a, later))
            return found;
        if (a->value == later->value || a->value == b->value)
            continue;
        b->value = a->value;
        found = true;
    }
}

/* The answer without differences of the clock. */
static struct cps_err *compare_later(const struct stage *stage, enum cps_processor who,
                                     const struct cps_buf *text, const struct stage_mark *mark,
                                     struct record record[3], struct stage_answer *ret)
{
    CPS_BUF later = {0};
    put_later(text, &later);
    tool_text(&later);
    CPS_TRY(record_side(stage, 0, &later, NULL, &record[2]));
    keep_packet(&record[2], who, mark);
    if (equate_clock(stage, record))
        compare_records(stage, record, ret);
    return NULL;
}

struct cps_err *stage_context(const struct stage *stage, const char *inject,
                              struct stage_context *ret)
{
    struct record record[2] = {{0}, {0}};
    CPS_BUF text = {0};
    ret->count = 0;
    /* Packets that do nothing, more than --inject counts before a switch. */
    stage_head(stage->fw[0]->gen, &text);
    cps_buf_str(&text, "buffer 0x00100000 frame\n");
    for (unsigned i = 0; i < NOTHINGS; i++)
        cps_buf_str(&text, "    CP_NOP 0x1\n");
    cps_buf_str(&text, "submit frame\n");
    tool_text(&text);
    struct cps_err *err = record_both(stage, &text, inject, record);
    if (!err)
        equate_context(record, ret, true);
    record_deinit(&record[0]);
    record_deinit(&record[1]);
    return err;
}

struct cps_err *stage_compare(const struct stage *stage, enum cps_processor who,
                              const struct code *code, const struct cps_buf *text,
                              const struct stage_mark *mark, struct stage_answer *ret)
{
    struct record record[3] = {{0}, {0}, {0}};
    const char *inject = *mark->inject ? mark->inject : NULL;
    struct stage_context context = {.count = 0};
    *ret = (struct stage_answer){0};
    if (inject)
        CPS_TRY(stage_context(stage, inject, &context));
    struct cps_err *err = record_both(stage, text, inject, record);
    for (unsigned i = 0; i < 2 && !err; i++)
        keep_packet(&record[i], who, mark);
    equate_context(record, &context, false);
    renumber(code, &record[1]);
    if (!err)
        compare_records(stage, record, ret);
    if (!err && ret->different && !ret->hidden && !inject)
        err = compare_later(stage, who, text, mark, record, ret);
    for (unsigned i = 0; i < 3; i++)
        record_deinit(&record[i]);
    return err;
}
