/* SPDX-License-Identifier: MIT
 * cpscope state: what the registers hold at a draw, and what changed since the one before, or
 * between two draws, captures, or firmware revisions. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/within.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/cmd/terminal/report.h"
#include "tools/cmd/terminal/text.h"
#include "tools/explain/stream/state_json.h"
#include "tools/explain/stream/state_text.h"
#include "trace/event/event_words.h"
#include "trace/form/buffer_json.h"
#include "trace/out/json.h"

int cmd_state(const struct cps_options *opt);

/* What was asked for: one state, or two that are compared. */
struct ask {
    const struct cps_options *opt;
    struct state_setup setup[2];
    const char *firmware[2][3];
    struct state_result result[2];
    unsigned sides;
};

/* The state that is shown, beside another one or not. */
static const struct state_result *shown(const struct ask *ask)
{
    return &ask->result[ask->sides - 1];
}

static struct state_pair pair_of(const struct ask *ask)
{
    const struct state_result *last = shown(ask);
    bool two = ask->sides == 2;
    return (struct state_pair){
        .names = last->names,
        .now = last->state.now,
        .before = two ? ask->result[0].state.now : last->state.before,
        .since = two ? UINT64_MAX : last->state.since,
    };
}

static void put_head(const struct ask *ask, const uint32_t counts[STATE_GONE + 1],
                     struct cps_buf *out)
{
    for (unsigned i = 0; i < ask->sides; i++) {
        cps_buf_str(out, ask->sides == 1 ? "# " : i ? "# new: " : "# old: ");
        state_text_launch(&ask->result[i], out);
        cps_buf_str(out, "\n");
    }
    cps_buf_str(out, "# ");
    state_text_counts(counts, out);
    if (ask->sides == 2)
        cps_buf_printf(out, "; %" PRIu32 " have none now (-)", counts[STATE_GONE]);
    cps_buf_str(out, "\n");
}

static bool differs(const uint32_t counts[STATE_GONE + 1])
{
    return counts[STATE_CHANGED] || counts[STATE_NEW] || counts[STATE_GONE];
}

static struct cps_err *print_text(const struct ask *ask, bool *ret)
{
    CPS_BUF rows = {0};
    CPS_BUF out = {0};
    const struct state_pair pair = pair_of(ask);
    uint32_t counts[STATE_GONE + 1] = {0};
    bool only_changed = !ask->opt->all && (ask->sides == 2 || ask->opt->changed);
    state_text(&pair, shown(ask), only_changed, &rows, counts);
    put_head(ask, counts, &out);
    cps_buf_join(&out, &rows);
    *ret = differs(counts);
    return report_text(&out);
}

static struct cps_err *print_json(const struct ask *ask, bool *ret)
{
    struct json_object *root = json_object_new_object();
    const struct state_pair pair = pair_of(ask);
    uint32_t counts[STATE_GONE + 1] = {0};
    state_json(&pair, ask->result, ask->sides, root, counts);
    *ret = differs(counts);
    return report_json(root);
}

/* ---- the list of draws ---- */

static bool same_place(const struct cps_launch *a, const struct cps_launch *b)
{
    return a->submission == b->submission && a->packet.addr == b->packet.addr;
}

/* Draws that are made for one bin after the other stand once, with all of their numbers. */
static void put_listed(const struct state_result *result, uint32_t index, struct cps_buf *out)
{
    const struct cps_launch *launch = &result->list[index];
    for (uint32_t i = 0; i < index; i++) {
        if (same_place(&result->list[i], launch))
            return;
    }
    cps_buf_printf(out, "%5" PRIu32 "  %-8s  submission %" PRIu32 "  %s 0x%" PRIx64 "  ",
                   launch->number, cps_launch_kind_text_(launch->kind), launch->submission,
                   cps_event_sub_word(CPS_EV_PKT, cps_event_sub(&launch->packet)),
                   launch->packet.addr);
    cps_launch_put_(launch, result->names, out);
    bool more = false;
    for (uint32_t i = index + 1; i < result->count; i++) {
        if (!same_place(&result->list[i], launch))
            continue;
        cps_buf_printf(out, "%s%" PRIu32, more ? " " : "  again as ", result->list[i].number);
        more = true;
    }
    cps_buf_str(out, "\n");
}

static struct cps_err *print_list(const struct ask *ask)
{
    CPS_BUF out = {0};
    const struct state_result *result = &ask->result[0];
    if (ask->opt->json) {
        struct json_object *root = json_object_new_object();
        state_list_json(result, root);
        return report_json(root);
    }
    for (uint32_t i = 0; i < result->count; i++)
        put_listed(result, i, &out);
    if (!result->count)
        cps_buf_printf(&out, "# nothing was drawn by %s\n", cps_processor_name(result->who));
    return report_text(&out);
}

/* ---- what is asked for ---- */

static const char *input_name(const struct ask *ask, unsigned side)
{
    return ask->setup[side].capture ? ask->setup[side].capture : "the demo";
}

/* Where the run ended early, whether there is such a draw stays undecided. */
static struct cps_err *no_such_draw(const struct ask *ask, unsigned side, int *ret)
{
    const struct state_setup *setup = &ask->setup[side];
    *ret = play_account_tell(&ask->result[side].account, input_name(ask, side));
    struct cps_err *err = cps_err_new(
        CPS_ERR_INPUT, "draw %ld: the run of %s made %" PRIu32 " of them, counted from 0",
        setup->draw, input_name(ask, side), ask->result[side].count);
    if (!*ret)
        return err;
    report_note("state", err);
    cps_err_free(err);
    return NULL;
}

/* @p ret  the command's status */
static struct cps_err *answer(struct ask *ask, int *ret)
{
    bool different = false;
    for (unsigned i = 0; i < ask->sides; i++) {
        CPS_TRY(state_gather(&ask->setup[i], &ask->result[i]));
        if (ask->setup[i].draw >= 0 && !ask->result[i].state.now)
            return no_such_draw(ask, i, ret);
    }
    for (unsigned i = 0; i < ask->sides; i++)
        *ret |= play_account_tell(&ask->result[i].account, input_name(ask, i));
    if (ask->setup[0].draw < 0)
        return print_list(ask);
    CPS_TRY(ask->opt->json ? print_json(ask, &different) : print_text(ask, &different));
    *ret = ask->sides == 2 && different ? 1 : *ret;
    return NULL;
}

/* Sides differ in firmware, capture or draw; what one does not name is the other's. */
static void set_sides(struct ask *ask, unsigned revisions, unsigned who)
{
    const struct cps_options *opt = ask->opt;
    long draws[2] = {opt->draw, opt->against >= 0 ? opt->against : opt->draw};
    ask->sides = revisions > 1 || opt->arg_count > 1 || opt->against >= 0 ? 2 : 1;
    for (unsigned i = 0; i < ask->sides; i++) {
        struct cps_options side;
        play_side(opt, revisions ? revisions : 1, i < revisions ? i : 0, &side);
        ask->firmware[i][0] = revisions ? side.fw[0] : NULL;
        ask->firmware[i][1] = revisions && side.fw_count > 1 ? side.fw[1] : NULL;
        ask->setup[i] = (struct state_setup){
            .opt = opt,
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
    unsigned revisions = play_revisions(opt);
    unsigned who = CPS_CPU_NONE;
    int status = 0;
    if (!revisions && !opt->demo)
        return report_usage("state takes --fw FILE, once or twice, and a capture, or --demo");
    if (!opt->demo && !opt->arg_count)
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
