/* SPDX-License-Identifier: MIT
 * cpscope diff: two traces, or two firmware revisions over captures. */
#include <inttypes.h>
#include <string.h>

#include "isa/base/shown.h"
#include "isa/base/within.h"
#include "tools/explain/diff/diffreport.h"
#include "tools/run/names.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/terminal/paint.h"
#include "tools/cmd/terminal/progress.h"
#include "tools/cmd/terminal/report.h"
#include "tools/explain/why/why.h"
#include "tools/cmd/terminal/text.h"
#include "trace/capture/stream.h"
#include "trace/out/json.h"

int cmd_diff(const struct cps_options *opt);

/* What is shown without --all: rows of a table, lines of an origin. */
enum { MOST_ROWS = 10, MOST_WHY = 8 };

/* A trace, or a firmware and its run of the capture at hand. */
struct side {
    const char *label;
    const char *path[2]; /* of firmware */
    struct cps_fw *fw, *me;
    struct cps_trace_head head;
    struct cps_names *names[CPS_CPU_COUNT];
    struct record record;
    struct record_boot boot;
};

struct differ {
    const struct cps_options *opt;
    struct side side[2];
    uint32_t kinds;
    struct cps_mask mask;
    struct json_object *comparisons, *renumbered; /* for JSON */
    struct cps_buf out;
    bool two_layouts;      /* chips that number control registers differently */
    uint64_t total, clock; /* differences; values that differ only by the clock */
    const char *capture;
    unsigned skipped;           /* captures of another GPU than the firmware's */
    int undecided;              /* 4: some capture was not compared to its end; or 0 */
    struct diff_causes *causes; /* of two firmwares; NULL: no code explains differences */
    struct cps_err *refused;    /* why firmware did not run; its images are compared all the same */
};

static struct diff_report report_of(const struct differ *d)
{
    const struct side *a = &d->side[0], *b = &d->side[1];
    return (struct diff_report){.a = {a->label, a->fw, a->me, &a->record, a->names},
                                .b = {b->label, b->fw, b->me, &b->record, b->names},
                                .kinds = d->kinds,
                                .mask = &d->mask};
}

/* Firmware of one generation runs captures of another one as --as says; of two generations, the
 * side does that which --as names. */
static struct cps_run_config config_of(const struct differ *d, unsigned side)
{
    struct cps_run_config config = d->opt->run;
    const struct cps_fw *fw = d->side[side].fw;
    if (config.as && fw && config.as != fw->gen && config.as == d->side[!side].fw->gen)
        config.as = CPS_GEN_NONE;
    return config;
}

static uint32_t kinds_of(const struct differ *d)
{
    return d->kinds | 1u << CPS_EV_PKT | 1u << CPS_EV_SUBMIT;
}

static struct why_question question_of(const struct differ *d, unsigned i,
                                       const struct cps_run_config *config)
{
    const struct side *side = &d->side[i];
    return (struct why_question){.config = config,
                                 .firmware = {side->path[0], side->path[1]},
                                 .capture = d->capture,
                                 .kinds = kinds_of(d),
                                 .as_given = true,
                                 .json = d->opt->json};
}

static struct cps_err *find_clock(void *context, unsigned side, struct why_clocks *clocks)
{
    const struct differ *d = context;
    const struct cps_run_config config = config_of(d, side);
    const struct why_question question = question_of(d, side, &config);
    return why_clock(&question, clocks);
}

/* Compares the events of both sides. @param first  gets the numbers of those that differ first;
 * SIZE_MAX: the side has none. @param row  gets the comparison, for JSON */
static struct cps_err *compare(struct differ *d, const char *title, size_t first[2],
                               struct json_object **row)
{
    struct cps_diff diff = {0};
    const struct record *a = &d->side[0].record, *b = &d->side[1].record;
    struct diff_clock clock = {.record = {a, b}, .find = find_clock, .context = d};
    struct cps_diff_options options = {.kinds = d->kinds, .mask = &d->mask};
    struct diff_report report = report_of(d);
    CPS_BUF why = {0};
    report.diff = &diff;
    if (d->causes)
        diff_causes_begin(d->causes, &report);
    diff_clock_begin(&clock, &options);
    struct cps_err *err = cps_diff_events(a->event, a->count, b->event, b->count, &options,
                                          d->causes ? diff_causes_take : NULL, d->causes, &diff);
    err = cps_err_first_(err, diff_clock_end(&clock));
    if (err) {
        cps_diff_deinit(&diff);
        return err;
    }
    first[0] = diff.differences && diff.first.a ? (size_t)(diff.first.a - a->event) : SIZE_MAX;
    first[1] = diff.differences && diff.first.b ? (size_t)(diff.first.b - b->event) : SIZE_MAX;
    d->total += diff.differences;
    d->clock += diff.excused;
    d->undecided |= diff_status(&report, &why) & 4;
    if (d->opt->json) {
        *row = diff_json(&report);
        cps_json_text(*row, "name", title);
        cps_json_append(d->comparisons, *row);
    } else {
        cps_shown_put_(&d->out, title);
        cps_buf_str(&d->out, ": ");
        diff_print_first(&report, &d->out);
        diff_print_counts(&report, d->opt->all ? SIZE_MAX : MOST_ROWS, &d->out);
    }
    cps_diff_deinit(&diff);
    return NULL;
}

/* Names of both sides, and masks, which have the names of the first one. */
static struct cps_err *open_names(struct differ *d)
{
    const struct cps_options *opt = d->opt;
    enum cps_gen gen = d->side[0].head.gen;
    for (unsigned i = 0; i < 2; i++)
        CPS_TRY(trace_names(&d->side[i].head, opt->run.rnn, d->side[i].names));
    unsigned who = cps_gen_is_afuc(gen) ? cps_gen_row(gen)->first : CPS_CPU_HOST;
    const struct cps_names *names = d->side[0].names[who];
    if (opt->state) {
        /* Hidden state: writes of control registers, scratch among them, SQE registers, and calls
         * that a packet leaves open. Addresses of code are no state: handlers, other processors'
         * images, the boot's own image, routines of preemption and return addresses. */
        d->kinds |= 1u << CPS_EV_CTRL | 1u << CPS_EV_SQE;
        CPS_TRY(record_mask_addresses(names, &d->mask));
        CPS_TRY(cps_mask_add(&d->mask, "sqe:2-4,sqe:8-15", names));
    }
    return cps_mask_add(&d->mask, opt->mask ? opt->mask : "", names);
}

/* ---- Two traces ---- */

/* As `run` writes it today, whatever policies a head omits; else the head's own text. */
static void describe_policy(const struct cps_trace_head *head, struct cps_buf *out)
{
    struct cps_policy policy = cps_policy_default();
    struct cps_err *err = cps_policy_parse(head->policy, head->gen, &policy);
    tool_need(!err || err->code != CPS_ERR_NOMEM);
    if (err)
        cps_buf_str(out, head->policy);
    else
        cps_policy_text(&policy, head->gen, out);
    cps_err_free(err);
}

/* @param usage  gets 2 for an option that has no meaning for these traces */
static struct cps_err *diff_traces(struct differ *d, int *usage)
{
    const struct cps_options *opt = d->opt;
    struct cps_trace_head *a = &d->side[0].head, *b = &d->side[1].head;
    struct json_object *row = NULL;
    CPS_BUF policy_a = {0};
    CPS_BUF policy_b = {0};
    size_t first[2];
    for (unsigned i = 0; i < 2; i++) {
        d->side[i].label = i ? "b" : "a";
        CPS_TRY(record_read(opt->arg[i], &d->side[i].head, &d->side[i].record));
    }
    for (unsigned i = 0; i < 2 && !*usage; i++)
        *usage = opt_check_file(opt, d->side[i].head.gen, opt->arg[i]);
    if (*usage)
        return NULL;
    if (opt->run.as || opt->run.chip_id.given)
        return cps_err_new(CPS_ERR_USAGE, "--%s is about a run, expected --fw OLD --fw NEW",
                           opt->run.as ? "as" : "chip-id");
    if (cps_gen_is_afuc(a->gen) ? a->gen != b->gen : cps_gen_isa(a->gen) != cps_gen_isa(b->gen))
        return cps_err_new(CPS_ERR_INPUT,
                           "%s is of %s, %s of %s: their traces have nothing in common",
                           opt->arg[0], cps_gen_name(a->gen), opt->arg[1], cps_gen_name(b->gen));
    describe_policy(a, &policy_a);
    describe_policy(b, &policy_b);
    if (strcmp(tool_text(&policy_a), tool_text(&policy_b)) != 0)
        cps_buf_printf(&d->out, "policies differ: \"%s\" and \"%s\"\n", cps_buf_text(&policy_a),
                       cps_buf_text(&policy_b));
    CPS_TRY(open_names(d));
    return compare(d, opt->arg[1], first, &row);
}

/* ---- Two revisions: the halves of the list of --fw ---- */

/* Reads an image, also one that is not whole: its missing parts are differences. */
static struct cps_err *read_image(const char *path, unsigned gen, struct cps_fw **ret)
{
    CPS_FREE uint8_t *bytes = NULL;
    size_t size = 0;
    CPS_TRY(cps_stream_read_file(path, CPS_FW_MAX_BYTES, &bytes, &size));
    return cps_fw_parse(path, bytes, size, gen, ret);
}

static struct cps_err *open_firmware(struct differ *d)
{
    const struct cps_run_config *config = &d->opt->run;
    for (struct side *side = d->side; side < d->side + 2; side++) {
        CPS_TRY(read_image(side->path[0], config->gen, &side->fw));
        CPS_TRY(cps_chip_id_check(&config->chip_id, side->fw));
        if (side->path[1])
            CPS_TRY(read_image(side->path[1], config->gen, &side->me));
        if (side->me && side->fw->part[0].role == CPS_FW_ME) {
            struct cps_fw *other = side->fw;
            side->fw = side->me;
            side->me = other;
        }
        side->head.gen = side->fw->gen;
        side->head.layout = side->fw->layout;
    }
    return open_names(d);
}

static struct cps_err *check_whole(const struct differ *d)
{
    for (unsigned i = 0; i < 2; i++) {
        CPS_TRY(cps_fw_check(d->side[i].fw));
        if (d->side[i].me)
            CPS_TRY(cps_fw_check(d->side[i].me));
    }
    return NULL;
}

/* Where the two values of the first difference come from. */
static struct cps_err *show_why(struct differ *d, const size_t first[2], struct json_object *row)
{
    for (unsigned i = 0; i < 2; i++) {
        const struct side *side = &d->side[i];
        const struct cps_run_config config = config_of(d, i);
        const uint64_t event = first[i];
        struct why_question question = question_of(d, i, &config);
        question.event = &event;
        question.events = 1;
        question.most = d->opt->all ? UINT32_MAX : MOST_WHY;
        CPS_BUF text = {0};
        struct json_object *answer = NULL;
        if (first[i] == SIZE_MAX || !side->fw)
            continue;
        CPS_TRY(why_first_difference(&question, &text));
        if (!*tool_text(&text))
            continue;
        if (d->opt->json) {
            CPS_TRY(cps_json_parse(text.data, text.size, &answer));
            cps_json_add(row, i ? "why_new" : "why_old", answer);
        } else {
            cps_buf_printf(&d->out, "  where the %s value comes from:\n%s", side->label, text.data);
        }
    }
    return NULL;
}

static struct cps_err *diff_capture(struct differ *d, const char *capture)
{
    size_t first[2];
    struct json_object *row = NULL;
    struct cps_err *err = NULL;
    d->capture = capture;
    for (unsigned i = 0; i < 2 && !err; i++) {
        struct side *side = &d->side[i];
        const struct cps_run_config config = config_of(d, i);
        const struct record_setup setup = {.config = &config, .kinds = kinds_of(d), .cover = true};
        err = record_open(&setup, side->path, d->opt->arg_count, &side->boot);
        if (!err)
            err = record_run(&setup, side->path, capture, &side->boot, &side->record);
    }
    if (!err)
        err = compare(d, capture, first, &row);
    record_deinit(&d->side[0].record);
    record_deinit(&d->side[1].record);
    return err ? err : show_why(d, first, row);
}

/* Scripts on two chips: they have no code to compare. */
static struct cps_err *diff_chips(struct differ *d)
{
    const struct cps_options *opt = d->opt;
    struct cps_trace_head *a = &d->side[0].head, *b = &d->side[1].head;
    a->gen = (enum cps_gen)cps_named_engine(opt->run.fw[0]);
    b->gen = (enum cps_gen)cps_named_engine(opt->run.fw[1]);
    if (opt->run.fw_count != 2 || !a->gen || !b->gen || cps_gen_isa(a->gen) != cps_gen_isa(b->gen))
        return cps_err_new(CPS_ERR_INPUT, "--fw %s --fw %s: expected two chips of one engine",
                           opt->run.fw[0], opt->run.fw[1]);
    a->layout = cps_gen_layout(a->gen);
    b->layout = cps_gen_layout(b->gen);
    CPS_TRY(open_names(d));
    for (unsigned i = 0; i < opt->arg_count; i++)
        CPS_TRY(diff_capture(d, opt->arg[i]));
    return NULL;
}

/* What captures do on both, and how the code differs. Of two layouts nearly every line does, so
 * that it explains nothing: there the control registers that correspond are shown, which needs no
 * capture. */
static struct cps_err *diff_firmware(struct differ *d)
{
    const struct cps_options *opt = d->opt;
    unsigned each = opt->run.fw_count / 2;
    for (unsigned i = 0; i < opt->run.fw_count; i++)
        d->side[i / each].path[i % each] = opt->run.fw[i];
    d->side[0].label = "old";
    d->side[1].label = "new";
    if (cps_named_engine(opt->run.fw[0]) || cps_named_engine(opt->run.fw[1]))
        return diff_chips(d);
    CPS_TRY(open_firmware(d));
    const struct cps_fw *a = d->side[0].fw, *b = d->side[1].fw;
    const struct diff_report sides = report_of(d);
    CPS_TRY(renumber_check(a, b));
    d->two_layouts = a->layout != b->layout;
    if (!d->two_layouts && !opt->arg_count)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s and %s have the same register layout; give at least one "
                           "capture to compare",
                           a->name, b->name);
    CPS_TRY(d->two_layouts
                ? renumber_print(a, b, opt->run.rnn, d->renumbered, opt->json ? NULL : &d->out)
                : diff_causes_create(&sides, &d->causes));
    d->refused = check_whole(d);
    for (unsigned i = 0; i < opt->arg_count && !d->refused; i++) {
        progress_part("capture", i + 1, opt->arg_count);
        CPS_TRY(
            report_skip(diff_capture(d, opt->arg[i]), opt->arg, opt->arg_count, i, &d->skipped));
    }
    if (d->causes)
        diff_causes_print(d->causes, opt->all, &d->out);
    return NULL;
}

/* ---- The command ---- */

static int status_of(const struct differ *d)
{
    return d->total ? 1 : d->skipped ? 4 : d->undecided;
}

static struct cps_err *print(struct differ *d)
{
    if (!d->opt->json)
        return paint_text(d->opt->colour, PAINT_DIFF, &d->out);
    struct json_object *root = doc_new();
    doc_put(root, "status=%d differences=%" PRIu64 " skipped=%u", status_of(d), d->total,
            d->skipped);
    if (d->clock)
        cps_json_uint(root, "clock", d->clock);
    cps_json_add(root, "comparisons", json_object_get(d->comparisons));
    if (d->causes)
        cps_json_add(root, "causes", diff_causes_json(d->causes));
    if (d->two_layouts)
        cps_json_add(root, "renumbering", json_object_get(d->renumbered));
    cps_json_buf(root, "text", &d->out);
    return doc_print(root, NULL, true);
}

int cmd_diff(const struct cps_options *opt)
{
    struct differ d = {.opt = opt, .kinds = RECORD_COMPARED};
    unsigned count = opt->run.fw_count;
    int usage = 0;
    if (count && (count % 2 || count > 4))
        return report_usage("diff takes --fw OLD --fw NEW (a5xx: two files each) and captures, "
                            "which are optional for chips of two layouts");
    if (!count && opt->arg_count != 2)
        return report_usage("diff takes two traces, or --fw OLD --fw NEW [CAPTURE...]");
    if (opt->events)
        cps_text_classes(opt->events, &d.kinds);
    d.comparisons = tool_json(json_object_new_array());
    d.renumbered = tool_json(json_object_new_array());
    struct cps_err *err = count ? diff_firmware(&d) : diff_traces(&d, &usage);
    if (!err && !usage)
        err = print(&d);
    for (struct side *side = d.side; side < d.side + 2; side++) {
        record_deinit(&side->record);
        cps_trace_head_deinit(&side->head);
        cps_fw_destroy(side->fw);
        cps_fw_destroy(side->me);
        record_boot_deinit(&side->boot);
        trace_names_free(side->names);
    }
    diff_causes_destroy(d.causes);
    json_object_put(d.comparisons);
    json_object_put(d.renumbered);
    cps_mask_deinit(&d.mask);
    cps_buf_deinit(&d.out);
    if (err)
        cps_err_free(d.refused);
    err = err ? err : d.refused;
    return err ? report_error(err) : usage ? usage : status_of(&d);
}
