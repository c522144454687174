/* SPDX-License-Identifier: MIT
 * cpscope view: a run, or what differs between two, as one page to look at. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cmd/options/opt.h"
#include "fw/demo/demo.h"
#include "tools/run/names.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/terminal/report.h"
#include "tools/face/page/view.h"
#include "tools/explain/summary/summary.h"
#include "trace/out/json.h"

int cmd_view(const struct cps_options *opt);

struct viewer {
    const struct cps_options *opt;
    struct view_side side[2]; /* the last one is shown */
    unsigned sides;
    struct view_run run;
    struct cps_buf out;
};

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static struct view_side *shown(struct viewer *v)
{
    return &v->side[v->sides - 1];
}

/* NULL: the demo's. */
static const char *capture(const struct viewer *v)
{
    return v->opt->arg_count ? v->opt->arg[0] : NULL;
}

static const char *capture_name(const struct viewer *v)
{
    return capture(v) ? file_name(capture(v)) : "demo.pm4";
}

static struct cps_err *load(struct view_side *side)
{
    const struct cps_run_config *config = &side->config;
    for (unsigned i = 0; i < config->fw_count; i++)
        side->path[i] = config->fw[i];
    CPS_TRY(config->fw_count ? cps_fw_load(config->fw[0], config->gen, &side->fw)
                             : cps_fw_parse("demo_sqe.fw", cps_demo_fw, cps_demo_fw_size,
                                            config->gen, &side->fw));
    if (config->fw_count > 1)
        CPS_TRY(cps_fw_load(config->fw[1], config->gen, &side->me));
    if (side->me && side->fw->part[0].role == CPS_FW_ME) {
        struct cps_fw *other = side->fw;
        side->fw = side->me;
        side->me = other;
    }
    const struct cps_trace_head head = {.gen = side->fw->gen, .layout = side->fw->layout};
    return trace_names(&head, config->rnn, side->names);
}

/* ---- the section that is read first ---- */

static void add_inputs(struct viewer *v, struct json_object *to)
{
    const struct view_side *side = v->run.side;
    CPS_BUF why = {0};
    play_account_reason(&side->record.account, &why);
    const char *const texts[][2] = {{"capture", capture_name(v)},
                                    {"firmware", file_name(side->fw->name)},
                                    {"firmware2", side->me ? file_name(side->me->name) : NULL},
                                    {"old", v->sides > 1 ? file_name(v->side[0].fw->name) : NULL},
                                    {"why", tool_text(&why)}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (texts[i][1])
            cps_json_add(to, texts[i][0], doc_shown(texts[i][1]));
    }
    doc_put(to, "version=%d gen=%s code?=%d diff?=%d", 2, cps_gen_name(side->fw->gen),
            !v->opt->no_code, v->sides > 1);
    struct json_object *runs = cps_json_new_array(to, "runs");
    for (unsigned i = 0; i < v->sides; i++)
        play_account_json_row(&v->side[i].record.account, NULL, runs);
}

static struct cps_err *put_page(struct viewer *v)
{
    CPS_BUF title = {0};
    bool code = !v->opt->no_code;
    struct json_object *meta = doc_new();
    struct json_object *names = doc_new();
    struct json_object *listing = doc_new();
    cps_buf_printf(&title, "%s \xc2\xb7 %s", capture_name(v), file_name(shown(v)->fw->name));
    view_page_begin(tool_text(&title), &v->out);
    add_inputs(v, meta);
    view_meta(&v->run, meta);
    view_page_json("meta", meta, &v->out);
    view_names(&v->run, names);
    view_page_json("names", names, &v->out);
    view_page_events(&shown(v)->record, &v->out);
    struct cps_err *err = view_code(&v->run, code, listing);
    view_page_json("code", listing, &v->out);
    if (!err && v->sides > 1) {
        struct json_object *change = doc_new();
        err = view_change(&v->run, &v->side[0], code, change);
        view_page_json("diff", change, &v->out);
    }
    view_page_end(&v->out);
    return err;
}

static struct cps_err *make(struct viewer *v)
{
    for (unsigned i = 0; i < v->sides; i++) {
        play_side(&v->opt->run, v->sides, i, &v->side[i].config);
        v->side[i].alone = v->sides == 1;
        CPS_TRY(load(&v->side[i]));
    }
    for (unsigned i = 0; i < v->sides; i++)
        CPS_TRY(view_record(&v->side[i], capture(v), i + 1 == v->sides));
    view_number(shown(v), &v->run);
    CPS_TRY(put_page(v));
    return cps_outfile_whole(v->opt->output, tool_text(&v->out), v->out.size);
}

static void report_contents(struct viewer *v)
{
    if (v->opt->no_code)
        report_aside("%s: holds words of the capture\n", v->opt->output);
    else
        report_aside("%s: holds disassembly of the firmware and words of the capture\n",
                     v->opt->output);
    if (v->run.side->record.stepless)
        report_aside(
            "%s: without steps: a trace has none, or there are more than %zu events, which "
            "-s N narrows\n",
            v->opt->output, VIEW_MOST_EVENTS);
}

static void release(struct viewer *v)
{
    for (unsigned i = 0; i < 2; i++) {
        record_deinit(&v->side[i].record);
        trace_names_free(v->side[i].names);
        cps_fw_destroy(v->side[i].fw);
        cps_fw_destroy(v->side[i].me);
    }
    free(v->run.packet);
    cps_buf_deinit(&v->out);
}

int cmd_view(const struct cps_options *opt)
{
    struct viewer v = {.opt = opt, .sides = play_revisions(&opt->run)};
    if (!v.sides && opt->run.demo)
        v.sides = 1;
    if (!v.sides)
        return report_usage(
            "view takes --fw FW, or --fw OLD --fw NEW (a5xx: two files each), or --demo");
    if (opt->arg_count != 1 && !(opt->run.demo && !opt->arg_count))
        return report_usage("view takes one capture, found %u", opt->arg_count);
    if (!opt->output)
        return report_usage("view needs -o FILE.html");
    struct cps_err *err = make(&v);
    int stopped = 0;
    for (unsigned i = 0; !err && i < v.sides; i++)
        stopped |= summary_print_stop(&v.side[i].record.account, capture_name(&v));
    if (!err)
        report_contents(&v);
    release(&v);
    return err ? report_error(err) : stopped;
}
