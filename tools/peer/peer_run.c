/* SPDX-License-Identifier: MIT
 * cpscope run for scripts: the trace, and a summary. */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "tools/info/info.h"
#include "tools/report/names.h"
#include "tools/peer/peer.h"
#include "tools/report/report.h"
#include "trace/outfile.h"
#include "trace/form/trace.h"

struct job {
    const struct cps_options *opt;
    struct peer peer;
    struct cps_outfile *out;
    struct cps_trace_head head;
    struct cps_trace_writer *writer;
    struct cps_names *names[CPS_CPU_COUNT];
};

static struct cps_err *make_head(struct job *j)
{
    CPS_BUF policy = {0};
    char hash[65];
    const char *path = j->opt->arg[0];
    const char *slash = strrchr(path, '/');
    cps_policy_text(&j->peer.policy, j->peer.script.gen, &policy);
    CPS_TRY(cps_sha256_file(path, hash));
    const struct cps_trace_header header = {
        .gen = j->peer.script.gen,
        .capture = {slash ? slash + 1 : path, hash},
        .policy = cps_buf_text(&policy),
        .events = j->opt->events ? j->opt->events : "default",
    };
    return cps_trace_head_make(&header, cps_gen_layout(header.gen), true, &j->head);
}

static struct cps_err *open_trace(struct job *j)
{
    const struct cps_options *opt = j->opt;
    const char *path = opt->output ? opt->output : "-";
    enum cps_trace_form form = cps_trace_form_of(path);
    if (opt->json && !opt->output)
        return NULL;
    if (opt->to && !cps_trace_form_parse(opt->to, &form))
        return cps_err_new(CPS_ERR_INPUT, "--to %s: expected text, cpt, jsonl, perfetto or vcd",
                           opt->to);
    CPS_TRY(make_head(j));
    CPS_TRY(trace_names(&j->head, opt->rnn, j->names));
    CPS_TRY(cps_outfile_open(path, &j->out));
    CPS_TRY(cps_trace_writer_create(form, j->out, &j->head, j->names, &j->writer));
    j->peer.trace = cps_trace_writer_sink(j->writer);
    return NULL;
}

static struct cps_err *execute(struct job *j, const struct cps_isa *isa, unsigned gen)
{
    CPS_TRY(peer_open(&j->peer, isa, gen, j->opt->arg[0], j->opt));
    CPS_TRY(open_trace(j));
    CPS_TRY(peer_play(&j->peer));
    struct cps_err *err = cps_trace_writer_finish(j->writer);
    j->writer = NULL;
    if (!err && j->out)
        err = cps_outfile_commit(CPS_TAKE(j->out));
    return err;
}

static void release(struct job *j)
{
    cps_err_free(cps_trace_writer_finish(j->writer));
    cps_trace_head_deinit(&j->head);
    cps_outfile_abort(j->out);
    trace_names_free(j->names);
    peer_close(&j->peer);
}

int peer_run(const struct cps_options *opt)
{
    struct job j = {.opt = opt, .peer = {.limit = opt->limit}};
    const struct cps_isa *isa = NULL;
    unsigned gen = 0;
    int status = peer_usage(opt, &isa, &gen);
    if (!status && opt->arg_count != 1)
        status = report_usage("run --engine takes one script");
    if (!status && !cps_text_classes(opt->events ? opt->events : "default", &j.peer.kinds))
        status = report_usage("--events takes classes of docs/formats.md, \"all\" or \"default\"");
    if (status)
        return status;
    struct cps_err *err = execute(&j, isa, gen);
    if (err) {
        status = report_error(err);
    } else {
        peer_summary(&j.peer, opt->json);
        status = j.peer.misses ? 1 : j.peer.stop == CPS_STOP_IDLE ? 0 : 4;
    }
    release(&j);
    return status;
}

/* ---- the summary ---- */

static const char *unknown_word(unsigned number)
{
    const struct cps_event event = cps_event_make(CPS_EV_ASSUME, CPS_WHAT_UNKNOWN, 0, 0, number, 0);
    return cps_event_unknown(&event);
}

static const char *stop_word(const struct peer *p)
{
    return cps_event_sub_word(CPS_EV_END, cps_stop_reason(p->stop));
}

/* Of more registers than these, only those that are not 0 are listed. */
#define FEW 16u

static void print_text(const struct peer *p)
{
    const struct cps_engine *e = p->engine;
    const struct cps_regset *regs = e->ops->regs;
    for (unsigned i = 0; i < CPS_UNKNOWN_COUNT; i++) {
        if (p->unknown[i])
            fprintf(stderr, "unknown: %s x%" PRIu64 "\n", unknown_word(i), p->unknown[i]);
    }
    for (size_t i = 0; i < regs->count; i++) {
        if (regs->count <= FEW || cps_engine_reg(e, i))
            fprintf(stderr, "%s%s=0x%" PRIx64, i ? " " : "", regs->reg[i].name,
                    cps_engine_reg(e, i));
    }
    fprintf(stderr,
            peer_has_code(p) ? "\n%" PRIu64 " starts, %" PRIu64 " instructions, %" PRIu64
                               " ticks, %" PRIu64 " register writes, %" PRIu64 " register reads\n"
                             : "\n%" PRIu64 " commands into CACHE1, %" PRIu64 " taken, %" PRIu64
                               " ticks, %" PRIu64 " register writes, %" PRIu64 " register reads\n",
            e->starts, e->instructions, cps_bus_clock(e->bus), cps_bus_count(e->bus, CPS_EV_REG),
            cps_bus_count(e->bus, CPS_EV_REGR));
    fputs(cps_buf_text(&p->missed), stderr);
    fprintf(stderr, "ended: %s%s%s\n", stop_word(p), *p->why ? " " : "", p->why);
}

static struct json_object *json_unknown(const struct peer *p)
{
    struct json_object *list = json_object_new_object();
    for (unsigned i = 0; i < CPS_UNKNOWN_COUNT; i++) {
        if (p->unknown[i])
            info_add_int(list, unknown_word(i), p->unknown[i]);
    }
    return list;
}

static void print_json(const struct peer *p)
{
    const struct cps_engine *e = p->engine;
    struct json_object *root = json_object_new_object();
    struct json_object *regs = json_object_new_object();
    for (size_t i = 0; i < e->ops->regs->count; i++)
        info_add_int(regs, e->ops->regs->reg[i].name, cps_engine_reg(e, i));
    json_object_object_add(root, "engine", json_object_new_string(e->ops->name));
    json_object_object_add(root, "chip", json_object_new_string(cps_gen_name(p->script.gen)));
    info_add_int(root, "starts", e->starts);
    info_add_int(root, "instructions", e->instructions);
    info_add_int(root, "ticks", cps_bus_clock(e->bus));
    info_add_int(root, "register_writes", cps_bus_count(e->bus, CPS_EV_REG));
    info_add_int(root, "register_reads", cps_bus_count(e->bus, CPS_EV_REGR));
    json_object_object_add(root, "registers", regs);
    json_object_object_add(root, "unknown", json_unknown(p));
    info_add_int(root, "misses", p->misses);
    json_object_object_add(root, "missed", json_object_new_string(cps_buf_text(&p->missed)));
    json_object_object_add(root, "end", json_object_new_string(stop_word(p)));
    if (*p->why)
        json_object_object_add(root, "why", json_object_new_string(p->why));
    puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY));
    json_object_put(root);
}

void peer_summary(const struct peer *peer, bool json)
{
    if (json)
        print_json(peer);
    else
        print_text(peer);
}
