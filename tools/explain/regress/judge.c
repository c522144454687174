/* SPDX-License-Identifier: MIT
 * What a pair comes to: its run beside the baseline's or the golden, and where the values of its
 * differences come from. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "isa/base/within.h"
#include "tools/explain/regress/regress.h"
#include "tools/explain/diff/diffreport.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/why/why.h"
#include "trace/out/json.h"

void regress_set_status_(struct json_object *pair, enum result_status status, const char *reason)
{
    cps_json_text(pair, "status", result_word(status));
    cps_json_text(pair, "reason", reason);
}

static bool is_judged(struct json_object *pair)
{
    return cps_json_get(pair, "status");
}

/* Code goes with the place, which many pairs share; the first pair there brings it along. */
static void describe(struct trial *t, struct diff_report *report)
{
    CPS_BUF key = {0};
    CPS_BUF first = {0};
    CPS_BUF counts = {0};
    CPS_BUF packet_a = {0};
    CPS_BUF packet_b = {0};
    diff_place_key(report, &key);
    if (!cps_json_get(t->regress->seen, tool_text(&key))) {
        struct json_object *place = diff_place(report);
        cps_json_add(t->regress->seen, tool_text(&key), json_object_get(place));
        cps_json_add(t->regress->places, tool_text(&key), place);
    }
    diff_place_packet(report, false, &packet_a);
    diff_place_packet(report, true, &packet_b);
    report->a.fw = report->b.fw = NULL; /* the place has the code */
    diff_print_first(report, &first);
    diff_print_counts(report, 10, &counts);
    doc_put(t->pair, "place=%p first=%p counts=%p packet_a=%p packet_b=%p", (const void *)&key,
            (const void *)&first, (const void *)&counts, (const void *)&packet_a,
            (const void *)&packet_b);
}

/* Why a firmware behaves differently from the baseline: looked into when something differs. */
struct blame {
    struct engine *engine;
    const struct diff_report *report;
    bool begun;
    struct cps_err *err;
};

static void take_difference(void *context, const struct cps_difference *difference)
{
    struct blame *blame = context;
    struct engine *e = blame->engine;
    if (!blame->begun && !e->causes)
        blame->err = diff_causes_create(blame->report, &e->causes);
    if (blame->err && !blame->begun) {
        diff_causes_destroy(e->causes);
        e->causes = NULL;
    } else if (!blame->begun) {
        diff_causes_clear(e->causes);
        diff_causes_begin(e->causes, blame->report);
    }
    blame->begun = true;
    if (!blame->err)
        diff_causes_take(e->causes, difference);
}

/* ---- Where the values of a pair's differences come from: one more run of each side, with its
 * nodes, for the first difference of each cause ---- */

/* Of a pair: causes that are followed, lines of each chain; and nodes (56 bytes), since there may
 * be many processes. */
enum { MOST_CAUSES = 4, MOST_LINES = 16, MOST_NODES = 1 << 20 };

struct side {
    unsigned firmware;
    size_t cause[MOST_CAUSES];        /* that each is about */
    uint64_t event[MOST_CAUSES];      /* number in the record */
    struct cps_buf text[MOST_CAUSES]; /* answers; owned */
    size_t count;
};

/* The answers, out of the cache or by a replay. They depend on the run, on the questions, and on
 * the name of the capture's file. */
static struct cps_err *answer(const struct trial *t, struct side *side)
{
    struct regress *r = t->regress;
    const char *const *path = r->manifest.firmware[side->firmware].path;
    const char *capture = r->manifest.capture[t->capture].path;
    const char *slash = strrchr(capture, '/');
    const struct cache_run run = regress_cache_run_(r, side->firmware);
    bool stored = *run.dir && !r->cache_failed;
    CPS_BUF about = {0};
    cps_buf_printf(&about, "why %d %d %s", MOST_LINES, MOST_NODES, slash ? slash + 1 : capture);
    for (size_t k = 0; k < side->count; k++)
        cps_buf_printf(&about, " %" PRIu64, side->event[k]);
    struct json_object *list = stored ? cache_take_texts(&run, tool_text(&about)) : NULL;
    bool known = cps_json_count(list) == side->count;
    for (size_t k = 0; known && k < side->count; k++)
        cps_buf_str(&side->text[k], json_object_get_string(json_object_array_get_idx(list, k)));
    json_object_put(list);
    if (known)
        return NULL;
    CPS_TRY(regress_boot_(r, side->firmware));
    const struct why_question question = {.config = &r->run,
                                          .firmware = {path[0], path[1]},
                                          .capture = capture,
                                          .kinds = regress_kinds_(r),
                                          .event = side->event,
                                          .events = side->count,
                                          .most = MOST_LINES,
                                          .nodes = MOST_NODES,
                                          .boots_first = r->engine[side->firmware].boot.booted};
    CPS_TRY(why_first_difference(&question, side->text));
    CPS_TRY(regress_check_inputs_(r, side->firmware, capture));
    list = tool_json(json_object_new_array());
    for (size_t k = 0; k < side->count; k++)
        cps_json_append(list, json_object_new_string(tool_text(&side->text[k])));
    if (stored)
        cache_keep_texts(&run, tool_text(&about), list);
    json_object_put(list);
    return NULL;
}

/* Adds to the causes, in their order, "why_old" and "why_new" of the first few. */
static struct cps_err *explain(const struct trial *t, struct side *side, bool is_new,
                               const struct record *record, struct json_object *causes)
{
    struct diff_first first[MOST_CAUSES];
    size_t count = diff_causes_firsts(t->engine->causes, first, MOST_CAUSES);
    for (size_t k = 0; k < count; k++) {
        const struct cps_event *event = is_new ? first[k].b : first[k].a;
        if (!event)
            continue;
        side->event[side->count] = (uint64_t)(event - record->event);
        side->cause[side->count++] = k;
    }
    if (side->count)
        CPS_TRY(answer(t, side));
    for (size_t k = 0; k < side->count; k++) {
        if (side->text[k].size)
            cps_json_buf(json_object_array_get_idx(causes, side->cause[k]),
                         is_new ? "why_new" : "why_old", &side->text[k]);
    }
    return NULL;
}

/* A golden has neither code nor a run that could be made again. */
static struct cps_err *add_causes(const struct trial *t, const struct diff_report *report)
{
    const struct manifest *m = &t->regress->manifest;
    struct json_object *causes = diff_causes_json(t->engine->causes);
    bool is_replayed = causes && files_is_regular(m->capture[t->capture].path);
    struct cps_err *err = NULL;
    cps_json_add(t->pair, "causes", causes);
    for (unsigned i = 0; i < 2 && is_replayed && !err; i++) {
        struct side side = {.firmware = i ? t->firmware : (unsigned)m->baseline};
        err = explain(t, &side, i, i ? report->b.record : report->a.record, causes);
        for (size_t k = 0; k < MOST_CAUSES; k++)
            cps_buf_deinit(&side.text[k]);
    }
    return err;
}

/* @p compared  with the baseline, which ends the same way */
static void judge_stop(const struct trial *t, const struct record *record, bool compared)
{
    unsigned expected = (unsigned)t->regress->manifest.capture[t->capture].expect;
    unsigned reason = (unsigned)cps_stop_reason(record->account.stop);
    CPS_BUF text = {0};
    cps_buf_printf(&text, "%s, expected %s%s%s%s", cps_event_sub_word(CPS_EV_END, reason),
                   cps_event_sub_word(CPS_EV_END, expected), record->account.why[0] ? ": " : "",
                   record->account.why, compared ? "; the baseline ends the same way" : "");
    if (reason != expected)
        regress_set_status_(t->pair, RESULT_STOPPED, tool_text(&text));
}

/* A pair in which nothing differs passes if something was executed, and no part of a dump is
 * missing. Its reason has what of the capture did not run, whatever the status is.
 * @p alone  there is a baseline, which this pair could not be compared with */
static void judge_pass(const struct record *record, bool alone, uint64_t clock,
                       struct json_object *pair)
{
    const struct play_account *account = &record->account;
    struct json_object *root = doc_new();
    bool passes = account->executed && !account->cut;
    CPS_BUF reason = {0};
    doc_put(root, "submissions=%u", account->submissions);
    if (!account->executed)
        cps_json_bool(root, account->submissions ? "none" : "empty", true);
    if (account->not_captured)
        cps_json_uint(root, "lost", account->not_captured);
    if (record->missing)
        cps_json_uint(root, "missing", record->missing);
    if (record->notes)
        cps_json_uint(root, "notes", record->notes);
    if (clock)
        cps_json_uint(root, "clock", clock);
    doc_put(root, "cut?=%d alone?=%d", account->cut, alone);
    doc_text(root,
             "{clock?; {clock} value{clock~s} differ only by the clock}"
             "{empty?; nothing was executed: the capture submits nothing}"
             "{none?; nothing was executed: 0 of {submissions} submissions}"
             "{lost?; {lost} of {submissions} submissions not captured}"
             "{missing?; {missing} indirect buffer{missing~s} missing from the capture}"
             "{notes?; {notes} defect{notes~s} in the capture}"
             "{cut?; the dump is truncated: the comparison is incomplete}"
             "{alone?; not compared: the baseline is of another generation}",
             &reason);
    json_object_put(root);
    regress_set_status_(pair, passes ? RESULT_PASS : RESULT_STOPPED,
                        reason.size ? tool_text(&reason) + 2 : "");
}

/* ---- Values that differ only by the clock ---- */

/* What of a comparison finding marks needs. */
struct timed {
    const struct trial *t;
    unsigned firmware[2];
};

/* Marks as text, which the cache may hold: "NUMBER MARK" of each event that has one. */
static struct json_object *put_marks(const struct why_clocks *clocks)
{
    struct json_object *list = tool_json(json_object_new_array());
    for (size_t i = 0; i < clocks->count; i++) {
        CPS_BUF text = {0};
        if (!clocks->mark[i])
            continue;
        cps_buf_printf(&text, "%zu %" PRIu64, i, clocks->mark[i]);
        cps_json_append(list, json_object_new_string(tool_text(&text)));
    }
    return list;
}

static bool take_marks(struct json_object *list, struct why_clocks *clocks)
{
    for (size_t i = 0; i < cps_json_count(list); i++) {
        size_t number = 0;
        uint64_t mark = 0;
        const char *text = json_object_get_string(json_object_array_get_idx(list, i));
        if (!text || sscanf(text, "%zu %" SCNu64, &number, &mark) != 2 || number >= clocks->count)
            return false;
        clocks->mark[number] = mark;
    }
    return list;
}

static struct cps_err *find_clock(void *context, unsigned side, struct why_clocks *clocks)
{
    const struct timed *timed = context;
    struct regress *r = timed->t->regress;
    unsigned firmware = timed->firmware[side];
    const char *const *path = r->manifest.firmware[firmware].path;
    const char *capture = r->manifest.capture[timed->t->capture].path;
    const struct cache_run run = regress_cache_run_(r, firmware);
    bool stored = *run.dir && !r->cache_failed && strlen(r->capture_hash) == 64;
    struct json_object *list = stored ? cache_take_texts(&run, "clock") : NULL;
    bool known = take_marks(list, clocks);
    json_object_put(list);
    if (known)
        return NULL;
    CPS_TRY(regress_boot_(r, firmware));
    const struct why_question question = {.config = &r->run,
                                          .firmware = {path[0], path[1]},
                                          .capture = capture,
                                          .kinds = regress_kinds_(r),
                                          .nodes = MOST_NODES,
                                          .boots_first = r->engine[firmware].boot.booted};
    CPS_TRY(why_clock(&question, clocks));
    CPS_TRY(regress_check_inputs_(r, firmware, capture));
    list = put_marks(clocks);
    if (stored)
        cache_keep_texts(&run, "clock", list);
    json_object_put(list);
    return NULL;
}

/* ---- Verdicts ---- */

/* Compares with @p base and judges the pair. The run may be as the golden, before which
 * judge_stop() was asked. @p own  a golden of the same firmware */
static struct cps_err *compare(struct trial *t, const struct diff_side *base,
                               const struct record *record, bool own)
{
    const struct manifest *m = &t->regress->manifest;
    struct engine *e = t->engine;
    struct cps_diff diff = {0};
    struct timed timed = {t, {(unsigned)m->baseline, t->firmware}};
    struct diff_clock clock = {
        .record = {base->record, record}, .find = find_clock, .context = &timed, .golden = own};
    struct cps_diff_options options = {.kinds = m->kinds, .mask = &t->regress->mask};
    struct diff_report report = {
        .a = *base, .b = {m->firmware[t->firmware].name, e->fw, e->me, record, e->names}};
    struct blame blame = {.engine = e, .report = &report};
    /* Without code of both there is no cause. describe() takes the code out. */
    bool explained = base->fw && e->fw && base->fw->gen == e->fw->gen;
    diff_clock_begin(&clock, &options);
    struct cps_err *err =
        cps_diff_events(base->record->event, base->record->count, record->event, record->count,
                        &options, explained ? take_difference : NULL, &blame, &diff);
    err = cps_err_first_(cps_err_first_(err, blame.err), diff_clock_end(&clock));
    report.diff = &diff;
    if (err) {
        cps_diff_deinit(&diff);
        return err;
    }
    cps_json_uint(t->pair, "differences", diff.differences);
    if (diff.excused)
        cps_json_uint(t->pair, "clock", diff.excused);
    if (diff.differences) {
        CPS_BUF reason = {0};
        cps_buf_printf(&reason, "%" PRIu64 " difference%s", diff.differences,
                       diff.differences == 1 ? "" : "s");
        diff_put_clock(&report, "; ", &reason);
        if (record->account.stop != CPS_STOP_IDLE)
            cps_buf_printf(&reason, "; %s: %s",
                           cps_event_sub_word(CPS_EV_END, cps_stop_reason(record->account.stop)),
                           record->account.why);
        regress_set_status_(t->pair, RESULT_DIFFERS, tool_text(&reason));
        describe(t, &report);
        err = explained ? add_causes(t, &report) : NULL;
    } else {
        judge_stop(t, record, true);
        if (!is_judged(t->pair) && !diff_count_compared(record, m->kinds, &t->regress->mask))
            regress_set_status_(t->pair, RESULT_STOPPED,
                                "nothing was compared: neither side has such events");
        if (!is_judged(t->pair))
            judge_pass(record, false, diff.excused, t->pair);
    }
    cps_diff_deinit(&diff);
    return err;
}

void regress_golden_(const struct manifest *m, unsigned firmware, unsigned capture,
                     struct cps_buf *ret)
{
    cps_buf_printf(ret, "%s/%s/%s.cpt", m->golden, m->firmware[firmware].name,
                   m->capture[capture].name);
}

/* Against what it should do: as the baseline does, else end as expected and be as the golden. A run
 * file has what its host must read, a dump what the hardware held.
 * @p base  NULL: there is none, or this is it */
static struct cps_err *judge_record(struct trial *t, const struct base *base,
                                    const struct record *record)
{
    const struct manifest *m = &t->regress->manifest;
    CPS_BUF reason = {0};
    cps_json_uint(t->pair, "packets", record->packets);
    cps_json_uint(t->pair, "instructions", record->instructions);
    if (record->misses) {
        play_put_misses(record->misses, &reason);
        cps_buf_printf(&reason, ": %s", record->missed);
        cps_json_uint(t->pair, "differences", record->misses);
    }
    cps_buf_str(&reason, record->disagrees);
    if (reason.size) {
        regress_set_status_(t->pair, RESULT_DIFFERS, tool_text(&reason));
        return NULL;
    }
    if (base && !base->err) {
        const struct engine *e = &t->regress->engine[m->baseline];
        const struct diff_side side = {m->firmware[m->baseline].name, e->fw, e->me, &base->record,
                                       e->names};
        return compare(t, &side, record, false);
    }
    /* A baseline of another generation tells nothing of this pair; one that failed should have. */
    if (base && base->err->code != CPS_ERR_MISMATCH)
        return cps_err_new(base->err->code, "the baseline did not run: %s", base->err->message);
    judge_stop(t, record, false);
    if (is_judged(t->pair))
        return NULL;
    if (!m->golden) {
        judge_pass(record, base, 0, t->pair);
        return NULL;
    }
    CPS_BUF path = {0};
    struct record golden = {0};
    const struct diff_side side = {.label = "golden", .record = &golden, .names = t->engine->names};
    regress_golden_(m, t->firmware, t->capture, &path);
    struct cps_trace_head head = {0};
    struct cps_err *err = record_read(tool_text(&path), &head, &golden);
    bool own = !strcmp(head.firmware[0].sha256, t->engine->hash) &&
               !strcmp(head.firmware[1].sha256, t->engine->me_hash);
    if (!err)
        err = compare(t, &side, record, own);
    record_deinit(&golden);
    cps_trace_head_deinit(&head);
    return err;
}

struct cps_err *regress_judge_(struct trial *t, const struct base *base)
{
    struct record record = {0};
    if (base && (int)t->firmware == t->regress->manifest.baseline)
        return base->err ? cps_err_lines_(base->err->code, base->err->message)
                         : judge_record(t, NULL, &base->record);
    struct cps_err *err = regress_record_(t->regress, t->firmware, t->capture, &record);
    if (!err)
        err = judge_record(t, base, &record);
    record_deinit(&record);
    return err;
}
