/* SPDX-License-Identifier: MIT
 * What a pair comes to: its run beside the baseline's or the golden, and where the values of its
 * differences come from. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "isa/base/within.h"
#include "tools/explain/regress/regress.h"
#include "tools/explain/diff/diffplace.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/why/why.h"
#include "trace/out/json.h"

void worker_set_status_(struct json_object *pair, enum result_status status, const char *reason)
{
    cps_json_text(pair, "status", result_word(status));
    cps_json_text(pair, "reason", reason);
}

static bool is_judged(struct json_object *pair)
{
    return cps_json_get(pair, "status");
}

/* Code goes with the place, which many pairs share; the first pair there brings it along. */
static void add_place(struct worker *w, const struct diff_report *report, struct json_object *pair)
{
    CPS_BUF key = {0};
    diff_place_key(report, &key);
    cps_json_buf(pair, "place", &key);
    if (cps_json_get(w->seen, tool_text(&key)))
        return;
    struct json_object *place = diff_place(report);
    cps_json_add(w->seen, tool_text(&key), json_object_get(place));
    cps_json_add(w->places, tool_text(&key), place);
}

static void describe(struct worker *w, struct diff_report *report, struct json_object *pair)
{
    CPS_BUF first = {0};
    CPS_BUF counts = {0};
    CPS_BUF packet_a = {0};
    CPS_BUF packet_b = {0};
    add_place(w, report, pair);
    diff_place_packet(report, false, &packet_a);
    diff_place_packet(report, true, &packet_b);
    report->a.fw = report->b.fw = NULL; /* the place has the code */
    diff_print_first(report, &first);
    diff_print_counts(report, 10, &counts);
    cps_json_buf(pair, "first", &first);
    cps_json_buf(pair, "counts", &counts);
    cps_json_buf(pair, "packet_a", &packet_a);
    cps_json_buf(pair, "packet_b", &packet_b);
}

static void judge_difference(uint64_t differences, const struct record *record,
                             struct json_object *pair)
{
    CPS_BUF reason = {0};
    cps_buf_printf(&reason, "%" PRIu64 " difference%s", differences, differences == 1 ? "" : "s");
    if (record->account.stop != CPS_STOP_IDLE)
        cps_buf_printf(&reason, "; %s: %s",
                       cps_event_sub_word(CPS_EV_END, cps_stop_reason(record->account.stop)),
                       record->account.why);
    worker_set_status_(pair, RESULT_DIFFERS, tool_text(&reason));
}

/* A run file says what its host must read, a dump what the hardware held. */
static void judge_input(const struct record *record, struct json_object *pair)
{
    CPS_BUF reason = {0};
    if (record->misses) {
        play_put_misses(record->misses, &reason);
        cps_buf_printf(&reason, ": %s", record->missed);
        cps_json_uint(pair, "differences", record->misses);
    }
    if (*record->disagrees)
        cps_buf_str(&reason, record->disagrees);
    if (reason.size)
        worker_set_status_(pair, RESULT_DIFFERS, tool_text(&reason));
}

/* Why a firmware behaves otherwise than the baseline: looked into when something differs. */
struct blame {
    struct engine *engine;
    const struct diff_report *report;
    bool begun;
    struct cps_err *err;
};

/* There is nothing to say where there is no code of both. */
static bool has_causes(const struct diff_report *report)
{
    return report->a.fw && report->b.fw && report->a.fw->gen == report->b.fw->gen;
}

static struct cps_err *open_causes(struct engine *e, const struct diff_report *report)
{
    struct cps_err *err = e->causes ? NULL : diff_causes_create(report, &e->causes);
    if (err) {
        diff_causes_destroy(e->causes);
        e->causes = NULL;
        return err;
    }
    diff_causes_clear(e->causes);
    diff_causes_begin(e->causes, report);
    return NULL;
}

static void take_difference(void *context, const struct cps_difference *difference)
{
    struct blame *blame = context;
    if (!blame->begun)
        blame->err = open_causes(blame->engine, blame->report);
    blame->begun = true;
    if (!blame->err)
        diff_causes_take(blame->engine->causes, difference);
}

/* ---- Where the values of a pair's differences come from: one more run of each side, with its
 * nodes, for the first difference of each cause ---- */

/* Of a pair: causes that are followed, lines of each chain; and nodes (56 bytes), since there may
 * be many processes. */
enum { MOST_CAUSES = 4, MOST_LINES = 16, MOST_NODES = 1 << 20 };

/* The questions of one side. */
struct side {
    unsigned firmware, capture;
    size_t cause[MOST_CAUSES];        /* that each is about */
    uint64_t event[MOST_CAUSES];      /* number in the record */
    struct cps_buf text[MOST_CAUSES]; /* answers; owned */
    size_t count;
};

static struct cps_err *replay_side(struct worker *w, struct side *side)
{
    const struct manifest *m = &w->regress->manifest;
    const struct manifest_firmware *firmware = &m->firmware[side->firmware];
    const char *capture = m->capture[side->capture].path;
    CPS_TRY(worker_boot_(w, side->firmware));
    const struct why_question question = {.config = &w->regress->run,
                                          .firmware = {firmware->path[0], firmware->path[1]},
                                          .capture = capture,
                                          .kinds = worker_kinds_(w),
                                          .event = side->event,
                                          .events = side->count,
                                          .most = MOST_LINES,
                                          .nodes = MOST_NODES,
                                          .boots_first = w->engine[side->firmware].boot.booted};
    CPS_TRY(why_first_difference(&question, side->text));
    return worker_check_inputs_(w, side->firmware, capture);
}

/* The answers, out of the cache or by a replay. They depend on the run, on the questions, and on
 * the name of the capture's file. */
static struct cps_err *answer(struct worker *w, struct side *side)
{
    const char *capture = w->regress->manifest.capture[side->capture].path;
    const char *slash = strrchr(capture, '/');
    const struct cache_run run = worker_cache_run_(w, side->firmware);
    bool stored = *run.dir && !w->cache_failed;
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
    CPS_TRY(replay_side(w, side));
    list = json_object_new_array();
    for (size_t k = 0; k < side->count; k++)
        cps_json_append(list, json_object_new_string(tool_text(&side->text[k])));
    if (stored)
        cache_keep_texts(&run, tool_text(&about), list);
    json_object_put(list);
    return NULL;
}

/* Adds to the causes, in their order, "why_old" and "why_new" of the first few. */
static struct cps_err *explain(struct worker *w, const struct diff_causes *from, struct side *side,
                               const struct record *record, struct json_object *causes)
{
    bool is_new = side->firmware != (unsigned)w->regress->manifest.baseline;
    struct diff_first first[MOST_CAUSES];
    size_t count = diff_causes_firsts(from, first, MOST_CAUSES);
    for (size_t k = 0; k < count; k++) {
        const struct cps_event *event = is_new ? first[k].b : first[k].a;
        if (!event)
            continue;
        side->event[side->count] = (uint64_t)(event - record->event);
        side->cause[side->count++] = k;
    }
    if (side->count)
        CPS_TRY(answer(w, side));
    for (size_t k = 0; k < side->count; k++) {
        if (side->text[k].size)
            cps_json_buf(json_object_array_get_idx(causes, side->cause[k]),
                         is_new ? "why_new" : "why_old", &side->text[k]);
    }
    return NULL;
}

/* A golden has neither code nor a run that could be made again. */
static struct cps_err *add_causes(struct worker *w, unsigned firmware, unsigned capture,
                                  const struct diff_report *report, struct json_object *pair)
{
    const struct manifest *m = &w->regress->manifest;
    const struct diff_causes *from = w->engine[firmware].causes;
    struct json_object *causes = diff_causes_json(from);
    struct cps_err *err = NULL;
    cps_json_add(pair, "causes", causes);
    for (unsigned i = 0; i < 2 && causes && !err && files_is_regular(m->capture[capture].path);
         i++) {
        struct side side = {.firmware = i ? firmware : (unsigned)m->baseline, .capture = capture};
        err = explain(w, from, &side, i ? report->b.record : report->a.record, causes);
        for (size_t k = 0; k < MOST_CAUSES; k++)
            cps_buf_deinit(&side.text[k]);
    }
    return err;
}

/* @p compared  with the baseline, which ends the same way */
static void judge_stop(struct worker *w, unsigned capture, const struct record *record,
                       bool compared, struct json_object *pair)
{
    int expected = w->regress->manifest.capture[capture].expect;
    int reason = (int)cps_stop_reason(record->account.stop);
    CPS_BUF text = {0};
    cps_buf_printf(&text, "%s, expected %s%s%s%s", cps_event_sub_word(CPS_EV_END, (unsigned)reason),
                   cps_event_sub_word(CPS_EV_END, (unsigned)expected),
                   record->account.why[0] ? ": " : "", record->account.why,
                   compared ? "; the baseline ends the same way" : "");
    if (reason != expected)
        worker_set_status_(pair, RESULT_STOPPED, tool_text(&text));
}

/* What of the capture did not run: the pair names it whatever its status is. */
static void put_gaps(const struct record *record, struct cps_buf *out)
{
    if (record->account.not_captured)
        cps_buf_printf(out, "%s%" PRIu32 " of %" PRIu32 " submissions not captured",
                       out->size ? "; " : "", record->account.not_captured,
                       record->account.submissions);
    if (record->missing)
        cps_buf_printf(out, "%s%" PRIu64 " indirect buffer%s missing from the capture",
                       out->size ? "; " : "", record->missing, record->missing == 1 ? "" : "s");
    if (record->notes)
        cps_buf_printf(out, "%s%" PRIu64 " defect%s in the capture", out->size ? "; " : "",
                       record->notes, record->notes == 1 ? "" : "s");
}

/* A pair in which nothing differs passes if something was executed, and no part of a dump is
 * missing. @p alone  there is a baseline, which this
 * pair could not be compared with */
static void judge_pass(const struct record *record, bool alone, struct json_object *pair)
{
    bool executed = record->account.executed;
    CPS_BUF reason = {0};
    if (!executed && !record->account.submissions)
        cps_buf_str(&reason, "nothing was executed: the capture submits nothing");
    else if (!executed)
        cps_buf_printf(&reason, "nothing was executed: 0 of %" PRIu32 " submissions",
                       record->account.submissions);
    put_gaps(record, &reason);
    if (record->account.cut)
        cps_buf_printf(&reason, "%sthe dump is truncated, so the comparison is incomplete",
                       reason.size ? "; " : "");
    if (alone)
        cps_buf_printf(&reason, "%snot compared: the baseline is of another generation",
                       reason.size ? "; " : "");
    worker_set_status_(pair, executed && !record->account.cut ? RESULT_PASS : RESULT_STOPPED,
                       tool_text(&reason));
}

/* The run is as the baseline's; or as the golden, before which judge_stop() was asked. */
static void judge_equal(struct worker *w, unsigned capture, const struct record *record,
                        struct json_object *pair)
{
    cps_json_uint(pair, "differences", 0);
    judge_stop(w, capture, record, true, pair);
    if (!is_judged(pair) && !diff_count_compared(record, w->regress->manifest.kinds, &w->mask))
        worker_set_status_(pair, RESULT_STOPPED,
                           "nothing was compared: neither side has such events");
    if (!is_judged(pair))
        judge_pass(record, false, pair);
}

/* What the comparison says of the pair. */
static struct cps_err *judge_diff(struct worker *w, unsigned firmware, unsigned capture,
                                  struct diff_report *report, struct json_object *pair)
{
    bool explained = has_causes(report); /* describe() takes the code out */
    if (!report->diff->differences) {
        judge_equal(w, capture, report->b.record, pair);
        return NULL;
    }
    cps_json_uint(pair, "differences", report->diff->differences);
    judge_difference(report->diff->differences, report->b.record, pair);
    describe(w, report, pair);
    return explained ? add_causes(w, firmware, capture, report, pair) : NULL;
}

/* Compares with @p base and judges the pair. */
static struct cps_err *compare(struct worker *w, unsigned firmware, unsigned capture,
                               const struct diff_side *base_side, const struct record *record,
                               struct json_object *pair)
{
    const struct record *base = base_side->record;
    struct engine *e = &w->engine[firmware];
    struct cps_diff diff = {0};
    const struct cps_diff_options options = {w->regress->manifest.kinds, &w->mask};
    const char *name = w->regress->manifest.firmware[firmware].name;
    struct diff_report report = {.a = *base_side, .b = {name, e->fw, e->me, record, e->names}};
    struct blame blame = {.engine = e, .report = &report};
    bool explained = has_causes(&report);
    struct cps_err *err =
        cps_diff_events(base->event, base->count, record->event, record->count, &options,
                        explained ? take_difference : NULL, &blame, &diff);
    err = cps_err_first_(err, blame.err);
    report.diff = &diff;
    if (!err)
        err = judge_diff(w, firmware, capture, &report, pair);
    cps_diff_deinit(&diff);
    return err;
}

void worker_golden_(const struct manifest *m, unsigned firmware, unsigned capture,
                    struct cps_buf *ret)
{
    cps_buf_printf(ret, "%s/%s/%s.cpt", m->golden, m->firmware[firmware].name,
                   m->capture[capture].name);
}

static struct cps_err *compare_golden(struct worker *w, unsigned firmware, unsigned capture,
                                      const struct record *record, bool alone,
                                      struct json_object *pair)
{
    CPS_BUF path = {0};
    struct record golden = {0};
    if (!w->regress->manifest.golden) {
        judge_pass(record, alone, pair);
        return NULL;
    }
    worker_golden_(&w->regress->manifest, firmware, capture, &path);
    const struct diff_side side = {
        .label = "golden", .record = &golden, .names = w->engine[firmware].names};
    struct cps_err *err = record_read(tool_text(&path), NULL, &golden);
    if (!err)
        err = compare(w, firmware, capture, &side, record, pair);
    record_deinit(&golden);
    return err;
}

/* Against what it should do: as the baseline does, else end as expected and be as the golden.
 * @p base  NULL: there is none, or this is it */
static struct cps_err *judge_record(struct worker *w, unsigned firmware, unsigned capture,
                                    const struct base *base, const struct record *record,
                                    struct json_object *pair)
{
    const struct manifest *m = &w->regress->manifest;
    cps_json_uint(pair, "packets", record->packets);
    cps_json_uint(pair, "instructions", record->instructions);
    judge_input(record, pair);
    if (is_judged(pair))
        return NULL;
    if (base && !base->err) {
        const struct engine *e = &w->engine[m->baseline];
        const struct diff_side side = {m->firmware[m->baseline].name, e->fw, e->me, &base->record,
                                       e->names};
        return compare(w, firmware, capture, &side, record, pair);
    }
    /* A baseline of another generation says nothing about this pair; one that failed should have.
     */
    if (base && base->err->code != CPS_ERR_MISMATCH)
        return cps_err_new(base->err->code, "the baseline did not run: %s", base->err->message);
    judge_stop(w, capture, record, false, pair);
    return is_judged(pair) ? NULL
                           : compare_golden(w, firmware, capture, record, base != NULL, pair);
}

struct cps_err *worker_judge_(struct worker *w, unsigned firmware, unsigned capture,
                              const struct base *base, struct json_object *pair)
{
    struct record record = {0};
    if (base && (int)firmware == w->regress->manifest.baseline)
        return base->err ? worker_again_(base->err)
                         : judge_record(w, firmware, capture, NULL, &base->record, pair);
    struct cps_err *err = worker_record_(w, firmware, capture, &record);
    if (!err)
        err = judge_record(w, firmware, capture, base, &record, pair);
    record_deinit(&record);
    return err;
}
