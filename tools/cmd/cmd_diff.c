/* SPDX-License-Identifier: MIT
 * cpscope diff: two traces, or two firmware revisions over captures. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/shown.h"
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

struct differ {
    const struct cps_options *opt;
    uint32_t kinds;
    struct cps_mask mask;
    struct cps_names *names[2][CPS_CPU_COUNT]; /* of both sides */
    struct json_object *json;                  /* NULL: text */
    struct cps_buf out;
    struct json_object *renumbered; /* the same of control registers of two chips */
    bool two_layouts;               /* which number them otherwise */
    uint64_t total;
    unsigned skipped;         /* captures of another GPU than the firmware's */
    int undecided;            /* 4: some capture was not compared to its end; or 0 */
    size_t first[2];          /* events of both sides that differ first; SIZE_MAX: there is none */
    struct json_object *last; /* the comparison at hand; NULL: text */
    struct diff_causes *causes; /* of two firmwares; NULL: there is no code to blame */
    struct cps_err *refused;    /* why firmware did not run; its images are compared all the same */
    int usage; /* status 2: an option that has no meaning for what the traces are of */
};

static void show(struct differ *d, const char *title, const struct diff_report *report)
{
    CPS_BUF why = {0};
    d->total += report->diff->differences;
    d->undecided |= diff_status(report, &why) & 4;
    if (d->json) {
        struct json_object *row = diff_json(report);
        cps_json_text(row, "name", title);
        cps_json_append(d->json, row);
        d->last = row;
        return;
    }
    cps_shown_put_(&d->out, title);
    cps_buf_str(&d->out, ": ");
    diff_print_first(report, &d->out);
    diff_print_counts(report, d->opt->all ? SIZE_MAX : MOST_ROWS, &d->out);
}

static struct cps_err *compare(struct differ *d, const struct record *a, const struct record *b,
                               const char *title, struct diff_report *report)
{
    struct cps_diff diff = {0};
    const struct cps_diff_options options = {d->kinds, &d->mask};
    report->a.names = d->names[0];
    report->b.names = d->names[1];
    report->kinds = d->kinds;
    report->mask = &d->mask;
    if (d->causes)
        diff_causes_begin(d->causes, report);
    CPS_TRY(cps_diff_events(a->event, a->count, b->event, b->count, &options,
                            d->causes ? diff_causes_take : NULL, d->causes, &diff));
    report->diff = &diff;
    d->first[0] = diff.differences && diff.first.a ? (size_t)(diff.first.a - a->event) : SIZE_MAX;
    d->first[1] = diff.differences && diff.first.b ? (size_t)(diff.first.b - b->event) : SIZE_MAX;
    show(d, title, report);
    cps_diff_deinit(&diff);
    return NULL;
}

/* Whose names a mask uses. */
static unsigned mask_processor(enum cps_gen gen)
{
    if (!cps_gen_is_afuc(gen))
        return CPS_CPU_HOST;
    return cps_gen_row(gen)->first;
}

/* Hidden state is what control registers are written with, scratch among them, what SQE registers
 * are, and calls that a packet leaves open. Where code lies is no state: handlers, other
 * processors' images, where the boot reads its own, routines of preemption and return addresses. */
static struct cps_err *compare_state(struct differ *d, const struct cps_names *names)
{
    d->kinds |= 1u << CPS_EV_CTRL | 1u << CPS_EV_SQE;
    CPS_TRY(record_mask_addresses(names, &d->mask));
    return cps_mask_add(&d->mask, "sqe:2-4,sqe:8-15", names);
}

/* Names of both sides; masks have those of the first one. */
static struct cps_err *take_names(struct differ *d, const struct cps_trace_head heads[2])
{
    const struct cps_options *opt = d->opt;
    for (unsigned i = 0; i < 2; i++)
        CPS_TRY(trace_names(&heads[i], opt->run.rnn, d->names[i]));
    if (opt->state)
        CPS_TRY(compare_state(d, d->names[0][mask_processor(heads[0].gen)]));
    return cps_mask_add(&d->mask, opt->mask ? opt->mask : "",
                        d->names[0][mask_processor(heads[0].gen)]);
}

/* As `run` writes it today, whatever policies a head leaves out; else as it stands there. */
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

static void compare_policies(struct differ *d, const struct cps_trace_head heads[2])
{
    CPS_BUF a = {0};
    CPS_BUF b = {0};
    describe_policy(&heads[0], &a);
    describe_policy(&heads[1], &b);
    if (strcmp(tool_text(&a), tool_text(&b)) != 0)
        cps_buf_printf(&d->out, "policies differ: \"%s\" and \"%s\"\n", cps_buf_text(&a),
                       cps_buf_text(&b));
}

static struct cps_err *diff_traces(struct differ *d, struct record jobs[2],
                                   struct cps_trace_head heads[2])
{
    const struct cps_options *opt = d->opt;
    for (unsigned i = 0; i < 2; i++)
        CPS_TRY(record_read(opt->arg[i], &heads[i], &jobs[i]));
    for (unsigned i = 0; i < 2 && !d->usage; i++)
        d->usage = opt_check_file(opt, heads[i].gen, opt->arg[i]);
    if (!d->usage && (opt->run.as || opt->run.chip_id.given))
        d->usage = report_usage("--%s is about a run, expected --fw OLD --fw NEW",
                                opt->run.as ? "as" : "chip-id");
    if (d->usage)
        return NULL;
    bool scripts = !cps_gen_is_afuc(heads[0].gen);
    if (scripts ? cps_gen_isa(heads[0].gen) != cps_gen_isa(heads[1].gen)
                : heads[0].gen != heads[1].gen)
        return cps_err_new(
            CPS_ERR_INPUT, "%s is of %s, %s of %s: their traces have nothing in common",
            opt->arg[0], cps_gen_name(heads[0].gen), opt->arg[1], cps_gen_name(heads[1].gen));
    compare_policies(d, heads);
    CPS_TRY(take_names(d, heads));
    struct diff_report report = {.a = {.label = "a", .record = &jobs[0]},
                                 .b = {.label = "b", .record = &jobs[1]}};
    return compare(d, &jobs[0], &jobs[1], opt->arg[1], &report);
}

/* Two revisions: the halves of the list of --fw. */
struct pair {
    const char *path[2][2];
    struct cps_fw *fw[2], *me[2];
    struct record_boot boot[2];
};

/* One that is not whole, too: what is missing is a difference. */
static struct cps_err *read_image(const char *path, unsigned gen, struct cps_fw **ret)
{
    CPS_FREE uint8_t *bytes = NULL;
    size_t size = 0;
    CPS_TRY(cps_stream_read_file(path, CPS_FW_MAX_BYTES, &bytes, &size));
    return cps_fw_parse(path, bytes, size, gen, ret);
}

static struct cps_err *check_whole(const struct pair *p)
{
    for (unsigned i = 0; i < 2; i++) {
        CPS_TRY(cps_fw_check(p->fw[i]));
        if (p->me[i])
            CPS_TRY(cps_fw_check(p->me[i]));
    }
    return NULL;
}

static struct cps_err *open_pair(struct differ *d, struct pair *p)
{
    const struct cps_options *opt = d->opt;
    unsigned each = opt->run.fw_count / 2;
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned k = 0; k < each; k++)
            p->path[i][k] = opt->run.fw[i * each + k];
        CPS_TRY(read_image(p->path[i][0], opt->run.gen, &p->fw[i]));
        CPS_TRY(cps_chip_id_check(&opt->run.chip_id, p->fw[i]));
        if (p->path[i][1])
            CPS_TRY(read_image(p->path[i][1], opt->run.gen, &p->me[i]));
        if (p->me[i] && p->fw[i]->part[0].role == CPS_FW_ME) {
            struct cps_fw *other = p->fw[i];
            p->fw[i] = p->me[i];
            p->me[i] = other;
        }
    }
    const struct cps_trace_head heads[2] = {{.gen = p->fw[0]->gen, .layout = p->fw[0]->layout},
                                            {.gen = p->fw[1]->gen, .layout = p->fw[1]->layout}};
    return take_names(d, heads);
}

/* Firmware of one generation runs captures of another one as --as says; of two generations, the
 * side does that which --as names. */
static struct cps_run_config config_of(const struct differ *d, const struct pair *p, unsigned side)
{
    struct cps_run_config config = d->opt->run;
    if (config.as && p->fw[side] && config.as != p->fw[side]->gen && config.as == p->fw[!side]->gen)
        config.as = CPS_GEN_NONE;
    return config;
}

static uint32_t kinds_of(const struct differ *d)
{
    return d->kinds | 1u << CPS_EV_PKT | 1u << CPS_EV_SUBMIT;
}

static struct cps_err *put_why(struct differ *d, const char *side, const struct cps_buf *text)
{
    struct json_object *answer = NULL;
    if (!*tool_text(text))
        return NULL;
    if (!d->json) {
        cps_buf_printf(&d->out, "  where the %s value comes from:\n", side);
        cps_buf_str(&d->out, cps_buf_text(text));
        return NULL;
    }
    CPS_TRY(cps_json_parse(cps_buf_text(text), text->size, &answer));
    char key[16];
    snprintf(key, sizeof(key), "why_%s", side);
    cps_json_add(d->last, key, answer);
    return NULL;
}

/* Where the two values of the first difference come from. */
static struct cps_err *show_why(struct differ *d, struct pair *p, const char *capture)
{
    static const char *const sides[] = {"old", "new"};
    for (unsigned i = 0; i < 2; i++) {
        const struct cps_run_config config = config_of(d, p, i);
        const uint64_t event = d->first[i];
        const struct why_question question = {.config = &config,
                                              .firmware = {p->path[i][0], p->path[i][1]},
                                              .capture = capture,
                                              .kinds = kinds_of(d),
                                              .event = &event,
                                              .events = 1,
                                              .most = d->opt->all ? UINT32_MAX : MOST_WHY,
                                              .json = d->json != NULL};
        CPS_BUF text = {0};
        if (d->first[i] == SIZE_MAX || !p->fw[i])
            continue;
        CPS_TRY(why_first_difference(&question, &text));
        CPS_TRY(put_why(d, sides[i], &text));
    }
    return NULL;
}

static struct cps_err *diff_capture(struct differ *d, struct pair *p, const char *capture)
{
    struct record record[2] = {{0}, {0}};
    struct cps_err *err = NULL;
    for (unsigned i = 0; i < 2 && !err; i++) {
        const struct cps_run_config config = config_of(d, p, i);
        const struct record_setup setup = {.config = &config, .kinds = kinds_of(d), .cover = true};
        err = record_open(&setup, p->path[i], d->opt->arg_count, &p->boot[i]);
        if (!err)
            err = record_run(&setup, p->path[i], capture, &p->boot[i], &record[i]);
    }
    struct diff_report report = {.a = {"old", p->fw[0], p->me[0], &record[0], NULL},
                                 .b = {"new", p->fw[1], p->me[1], &record[1], NULL}};
    if (!err)
        err = compare(d, &record[0], &record[1], capture, &report);
    record_deinit(&record[0]);
    record_deinit(&record[1]);
    if (!err)
        err = show_why(d, p, capture);
    return err;
}

/* Scripts on two chips: there is no code of theirs to compare. */
static struct cps_err *diff_chips(struct differ *d, struct pair *p)
{
    const struct cps_options *opt = d->opt;
    struct cps_trace_head heads[2] = {{0}, {0}};
    bool good = opt->run.fw_count == 2;
    for (unsigned i = 0; i < 2; i++) {
        heads[i].gen = (enum cps_gen)cps_named_engine(opt->run.fw[i]);
        heads[i].layout = cps_gen_layout(heads[i].gen);
        good = good && heads[i].gen;
    }
    if (!good || cps_gen_isa(heads[0].gen) != cps_gen_isa(heads[1].gen))
        return cps_err_new(CPS_ERR_INPUT, "--fw %s --fw %s: expected two chips of one engine",
                           opt->run.fw[0], opt->run.fw[1]);
    CPS_TRY(take_names(d, heads));
    for (unsigned i = 0; i < 2; i++)
        p->path[i][0] = opt->run.fw[i];
    for (unsigned i = 0; i < opt->arg_count; i++)
        CPS_TRY(diff_capture(d, p, opt->arg[i]));
    return NULL;
}

/* Where their code differs is what explains differences. Of two layouts nearly every line does. */
static struct cps_err *open_causes(struct differ *d, const struct pair *p)
{
    const struct diff_report sides = {.a = {"old", p->fw[0], p->me[0], NULL, d->names[0]},
                                      .b = {"new", p->fw[1], p->me[1], NULL, d->names[1]}};
    return d->two_layouts ? NULL : diff_causes_create(&sides, &d->causes);
}

/* What captures do on both, and how the code differs. Of two layouts nearly every line does: there
 * it is said how their control registers correspond, which needs no capture. */
static struct cps_err *diff_firmware(struct differ *d, struct pair *p)
{
    if (cps_named_engine(d->opt->run.fw[0]) || cps_named_engine(d->opt->run.fw[1]))
        return diff_chips(d, p);
    CPS_TRY(open_pair(d, p));
    CPS_TRY(renumber_check(p->fw[0], p->fw[1]));
    d->two_layouts = p->fw[0]->layout != p->fw[1]->layout;
    if (d->two_layouts)
        CPS_TRY(renumber_print(p->fw[0], p->fw[1], d->opt->run.rnn, d->renumbered,
                               d->json ? NULL : &d->out));
    else if (!d->opt->arg_count)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s and %s have the same register layout; give at least one "
                           "capture to compare",
                           p->fw[0]->name, p->fw[1]->name);
    CPS_TRY(open_causes(d, p));
    d->refused = check_whole(p);
    for (unsigned i = 0; i < d->opt->arg_count && !d->refused; i++) {
        progress_part("capture", i + 1, d->opt->arg_count);
        CPS_TRY(report_skip(diff_capture(d, p, d->opt->arg[i]), d->opt->arg, d->opt->arg_count, i,
                            &d->skipped));
    }
    if (d->causes)
        diff_causes_print(d->causes, d->opt->all, &d->out);
    return NULL;
}

static int status_of(const struct differ *d)
{
    return d->total ? 1 : d->undecided;
}

static struct cps_err *print(struct differ *d)
{
    if (!d->opt->json)
        return paint_text(d->opt->colour, PAINT_DIFF, &d->out);
    struct json_object *root = json_object_new_object();
    doc_put(root, "status=%d differences=%" PRIu64 " skipped=%u", status_of(d), d->total,
            d->skipped);
    cps_json_add(root, "comparisons", json_object_get(d->json));
    if (d->causes)
        cps_json_add(root, "causes", diff_causes_json(d->causes));
    if (d->two_layouts)
        cps_json_add(root, "renumbering", json_object_get(d->renumbered));
    cps_json_buf(root, "text", &d->out);
    return doc_print(root, NULL, true);
}

static int usage(const struct cps_options *opt)
{
    if (opt->run.fw_count && (opt->run.fw_count % 2 || opt->run.fw_count > 4))
        return report_usage("diff takes --fw OLD --fw NEW (a5xx: two files each) and captures, "
                            "which chips of two layouts do not need");
    if (!opt->run.fw_count && opt->arg_count != 2)
        return report_usage("diff takes two traces, or --fw OLD --fw NEW [CAPTURE...]");
    return 0;
}

int cmd_diff(const struct cps_options *opt)
{
    struct differ d = {.opt = opt, .kinds = RECORD_COMPARED};
    struct record jobs[2] = {{0}, {0}};
    struct cps_trace_head heads[2] = {{0}, {0}};
    struct pair pair = {0};
    int status = usage(opt);
    if (status)
        return status;
    if (opt->events)
        cps_text_classes(opt->events, &d.kinds);
    d.json = opt->json ? json_object_new_array() : NULL;
    d.renumbered = json_object_new_array();
    struct cps_err *err =
        opt->run.fw_count ? diff_firmware(&d, &pair) : diff_traces(&d, jobs, heads);
    if (!err && !d.usage)
        err = print(&d);
    for (unsigned i = 0; i < 2; i++) {
        record_deinit(&jobs[i]);
        cps_trace_head_deinit(&heads[i]);
        cps_fw_destroy(pair.fw[i]);
        cps_fw_destroy(pair.me[i]);
        record_boot_deinit(&pair.boot[i]);
    }
    diff_causes_destroy(d.causes);
    json_object_put(d.json);
    json_object_put(d.renumbered);
    trace_names_free(d.names[0]);
    trace_names_free(d.names[1]);
    cps_mask_deinit(&d.mask);
    cps_buf_deinit(&d.out);
    if (err)
        cps_err_free(d.refused);
    err = err ? err : d.refused;
    if (err)
        return report_error(err);
    return d.usage ? d.usage : status_of(&d);
}
