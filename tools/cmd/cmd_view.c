/* SPDX-License-Identifier: MIT
 * cpscope view: a run, or what differs between two, as one page to look at. */
#include <inttypes.h>
#include <stdio.h>
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

static void add_text(struct json_object *to, const char *key, const char *text)
{
    cps_json_add(to, key, doc_shown(text));
}

/* BR and BV are what people call the two processors that share an image. */
static const char *processor_label(unsigned who)
{
    static const char *const label[CPS_CPU_COUNT] = {
        [CPS_CPU_PFP] = "PFP",       [CPS_CPU_ME] = "ME",     [CPS_CPU_SQE] = "BR",
        [CPS_CPU_BV] = "BV",         [CPS_CPU_LPAC] = "LPAC", [CPS_CPU_DDE_BR] = "DDE BR",
        [CPS_CPU_DDE_BV] = "DDE BV", [CPS_CPU_AQE] = "AQE",
    };
    return label[who] ? label[who] : cps_processor_name(who);
}

/* Index of the part that a processor runs, among those of both images. */
static uint64_t part_number(const struct view_side *side, unsigned who)
{
    const struct cps_fw_part *part = NULL;
    const struct cps_fw *fw = view_image(side, who, &part);
    return fw ? (uint64_t)(part - fw->part) + (fw == side->me ? side->fw->part_count : 0) : 0;
}

static void add_processors(struct viewer *v, struct json_object *to)
{
    struct json_object *list = cps_json_new_array(to, "processors");
    for (unsigned i = 0; i < v->run.processors; i++) {
        const struct view_processor *p = &v->run.processor[i];
        struct json_object *row =
            doc_row(list, "name=%s who=%u part=%" PRIu64, processor_label(p->who), p->who,
                    part_number(v->run.side, p->who));
        cps_json_add(row, "rows", doc_array(NULL, "%u %u", p->row, p->row_end));
        cps_json_add(row, "packets", doc_array(NULL, "%u %u", p->packet, p->packet_end));
    }
}

/* [index, address, dwords, time] */
static void add_submissions(struct viewer *v, struct json_object *to)
{
    const struct cps_event *first = v->run.side->record.event;
    struct json_object *list = cps_json_new_array(to, "submissions");
    uint32_t time = 0;
    for (size_t i = 0; i < v->run.submissions; i++) {
        const struct cps_event *at = v->run.submission[i];
        for (; first < at; first++)
            time += view_is_timed(first);
        doc_array(list, "%u %" PRIu64 " %u %u", at->value, at->addr, cps_event_pc(at), time);
    }
}

/* The names that headers stand for, by their 7 bits. */
static void add_packet_names(struct viewer *v, struct json_object *to)
{
    struct json_object *list = cps_json_new_object(to, "opcodes");
    for (size_t i = 0; i < v->run.packets; i++) {
        const struct cps_event *pkt = v->run.packet[i].event;
        char key[16];
        CPS_BUF name = {0};
        if (pkt->value >> 28 != 7)
            continue;
        snprintf(key, sizeof(key), "%" PRIu32, pkt->value >> 16 & 127);
        if (cps_json_get(list, key))
            continue;
        view_packet_name(v->run.side, pkt, &name);
        add_text(list, key, tool_text(&name));
    }
}

static void add_words(struct json_object *to, const char *key, unsigned kind)
{
    struct json_object *list = cps_json_new_array(to, key);
    for (unsigned sub = 0; sub < 16; sub++)
        cps_json_append(list, json_object_new_string(cps_event_sub_word(kind, sub)));
}

static void add_inputs(struct viewer *v, struct json_object *to)
{
    const struct view_side *side = v->run.side;
    add_text(to, "capture", capture_name(v));
    add_text(to, "firmware", file_name(side->fw->name));
    if (side->me)
        add_text(to, "firmware2", file_name(side->me->name));
    if (v->sides > 1)
        add_text(to, "old", file_name(v->side[0].fw->name));
    cps_json_text(to, "gen", cps_gen_name(side->fw->gen));
    CPS_BUF why = {0};
    play_account_reason(&side->record.account, &why);
    add_text(to, "why", tool_text(&why));
    struct json_object *runs = cps_json_new_array(to, "runs");
    for (unsigned i = 0; i < v->sides; i++)
        play_account_json_row(&v->side[i].record.account, NULL, runs);
}

static void put_json(struct viewer *v, const char *name, struct json_object *value)
{
    struct view_section section = {0};
    CPS_BUF text = {0};
    cps_json_put(&text, tool_json(value), JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
    json_object_put(value);
    view_put(&section, tool_text(&text), text.size);
    view_section_put(&section, name, &v->out);
}

static void put_meta(struct viewer *v)
{
    struct json_object *meta = json_object_new_object();
    cps_json_uint(meta, "version", 1);
    add_inputs(v, meta);
    add_processors(v, meta);
    add_submissions(v, meta);
    view_buffers(&v->run, meta);
    doc_put(meta, "packets=%zu rows=%zu words=%zu time=%u steps?=%d code?=%d diff?=%d",
            v->run.packets, v->run.rows, v->run.words, v->run.time, !v->run.side->record.stepless,
            !v->opt->no_code, v->sides > 1);
    add_packet_names(v, meta);
    view_launches(&v->run, meta);
    add_words(meta, "levels", CPS_EV_PKT);
    add_words(meta, "paths", CPS_EV_REG);
    add_words(meta, "vias", CPS_EV_MEMW);
    add_words(meta, "assumed", CPS_EV_ASSUME);
    add_words(meta, "places", CPS_EV_UNMODELLED);
    put_json(v, "meta", meta);
}

static struct cps_err *put_page(struct viewer *v)
{
    CPS_BUF title = {0};
    struct json_object *names = json_object_new_object();
    struct json_object *code = json_object_new_object();
    struct json_object *change = json_object_new_object();
    cps_buf_printf(&title, "%s \xc2\xb7 %s", capture_name(v), file_name(shown(v)->fw->name));
    view_page_begin(tool_text(&title), &v->out);
    put_meta(v);
    view_names(&v->run, names);
    view_columns(&v->run, &v->out);
    put_json(v, "names", names);
    CPS_TRY(view_code(&v->run, !v->opt->no_code, code));
    put_json(v, "code", code);
    if (v->sides > 1) {
        CPS_TRY(view_change(&v->run, &v->side[0], !v->opt->no_code, change));
        put_json(v, "diff", json_object_get(change));
    }
    json_object_put(change);
    view_page_end(&v->out);
    tool_text(&v->out);
    return NULL;
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
    view_gather(shown(v), &v->run);
    CPS_TRY(put_page(v));
    return cps_outfile_whole(v->opt->output, v->out.data, v->out.size);
}

static void note(struct viewer *v)
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
    view_run_deinit(&v->run);
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
        note(&v);
    release(&v);
    return err ? report_error(err) : stopped;
}
