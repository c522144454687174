/* SPDX-License-Identifier: MIT
 * cpscope state: the registers at a draw, and their changes since the one before, or
 * between two draws, captures, or firmware revisions. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/within.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/report.h"
#include "tools/explain/stream/state.h"
#include "tools/explain/summary/summary.h"
#include "trace/event/event_words.h"

int cmd_state(const struct cps_options *opt);

/* What was asked for: one state, or two that are compared. */
struct ask {
    const struct cps_options *opt;
    struct state_setup setup[2];
    const char *firmware[2][3];
    struct state_result result[2];
    unsigned sides;
};

static struct cps_err *print(const struct ask *ask, bool *is_different)
{
    static const char list[] = STATE_LIST "{draws!# nothing was drawn by {.processor}\n}";
    static const char state[] = "{draws*# {.label}" STATE_LAUNCH "\n}# " STATE_COUNTS
                                "{.gone?; {.gone} have none now (-)}\n" STATE_ROWS;
    const struct cps_options *opt = ask->opt;
    struct json_object *root = doc_new();
    bool is_list = ask->setup[0].draw < 0;
    bool only_changed = !opt->all && (ask->sides == 2 || opt->changed);
    doc_put(root, ".processor=%s", cps_processor_name(ask->result[0].who));
    if (is_list)
        state_list_put(&ask->result[0], root);
    else
        *is_different = state_put(ask->result, ask->sides, only_changed, root);
    return doc_print(root, is_list ? list : state, opt->json);
}

/* Runs each side, and prints. @p status  the command's */
static struct cps_err *answer(struct ask *ask, int *status)
{
    bool is_different = false;
    const char *name[2];
    for (unsigned i = 0; i < ask->sides; i++) {
        const struct state_setup *setup = &ask->setup[i];
        struct state_result *result = &ask->result[i];
        name[i] = setup->capture ? setup->capture : "the demo";
        CPS_TRY(state_gather(setup, result));
        if (setup->draw < 0 || result->state.now)
            continue;
        *status = summary_print_stop(&result->account, name[i]);
        struct cps_err *err =
            cps_err_new(CPS_ERR_INPUT, "no draw %ld: %s has %" PRIu32 " draw%s (numbered from 0)",
                        setup->draw, name[i], result->count, result->count == 1 ? "" : "s");
        if (!*status)
            return err;
        report_note("state", err); /* the run ended early: it is undecided */
        cps_err_free(err);
        return NULL;
    }
    for (unsigned i = 0; i < ask->sides; i++)
        *status |= summary_print_stop(&ask->result[i].account, name[i]);
    CPS_TRY(print(ask, &is_different));
    *status = ask->sides == 2 && is_different ? 1 : *status;
    return NULL;
}

/* Sides differ in firmware, capture or draw; what one does not name is the other's. */
static void set_sides(struct ask *ask, unsigned revisions, unsigned who)
{
    const struct cps_options *opt = ask->opt;
    long draws[2] = {opt->draw, opt->against >= 0 ? opt->against : opt->draw};
    ask->sides = revisions > 1 || opt->arg_count > 1 || opt->against >= 0 ? 2 : 1;
    for (unsigned i = 0; i < ask->sides; i++) {
        struct cps_run_config side;
        play_side(&opt->run, revisions ? revisions : 1, i < revisions ? i : 0, &side);
        ask->firmware[i][0] = revisions ? side.fw[0] : NULL;
        ask->firmware[i][1] = revisions && side.fw_count > 1 ? side.fw[1] : NULL;
        ask->setup[i] = (struct state_setup){
            .config = &opt->run,
            .firmware = ask->firmware[i],
            .capture = opt->arg_count ? opt->arg[i < opt->arg_count ? i : 0] : NULL,
            .who = who,
            .draw = draws[i],
        };
    }
}

int cmd_state(const struct cps_options *opt)
{
    struct ask ask = {.opt = opt};
    unsigned revisions = play_revisions(&opt->run);
    unsigned who = CPS_CPU_NONE;
    int status = 0;
    if (!revisions && !opt->run.demo)
        return report_usage("state takes --fw FILE, once or twice, and a capture, or --demo");
    if (!opt->run.demo && !opt->arg_count)
        return report_usage("state takes a capture");
    if (revisions > 2 || opt->arg_count > 2)
        return report_usage("state compares at most two firmware revisions or captures");
    if (opt->processor) /* whose word was checked when it was taken */
        who = cps_processor_by_name_(opt->processor, strlen(opt->processor));
    set_sides(&ask, revisions, who);
    if (ask.sides == 2 && opt->draw < 0)
        return report_usage("two states are compared at a draw; expected --draw N");
    struct cps_err *err = answer(&ask, &status);
    for (unsigned i = 0; i < ask.sides; i++)
        state_deinit(&ask.result[i]);
    return err ? report_error(err) : status;
}
