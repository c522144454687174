/* SPDX-License-Identifier: MIT
 * The account of a run. */
#include "tools/run/account.h"

#include <inttypes.h>
#include <stdio.h>

#include "emu/afuc/afuc.h"
#include "tools/run/dump.h"
#include "tools/run/play.h"
#include "trace/out/json.h"

/* Whether equal work may take other times: then values of the clock differ. */
static bool clock_varies(const struct cps_policy *policy)
{
    switch ((enum cps_policy_clock)policy->clock) {
    case CPS_CLOCK_PACKETS:
        return false;
    case CPS_CLOCK_INSTRUCTIONS:
    case CPS_CLOCK_HOST:
        return true;
    }
    return true;
}

struct cps_err *play_account_take(const struct play *play, struct play_account *ret)
{
    CPS_BUF why = {0};
    bool scripted = play_is_script(play);
    *ret = (struct play_account){
        .stop = play->enough ? CPS_STOP_IDLE : play->stop,
        .replayed = play->replay != NULL,
        .scripted = scripted,
        .boot_only = play->boot_only,
        .input_failed = play->input_failed,
        .cut = play->dump && play->dump->cut.size,
        .submissions = play->submissions,
        .executed = play->executed + (scripted ? play->engine->instructions : 0),
        .not_captured = play->not_captured,
        .clock_varies = !scripted && clock_varies(&play->engine->policy),
        .hangs = play->hangs,
    };
    if (!scripted)
        ret->injections = cps_afuc_injections_(cps_afuc_of(play->engine), &ret->not_injected);
    if (play->enough)
        ret->not_injected = 0;
    if (ret->stop != CPS_STOP_IDLE || scripted)
        play_explain(play, play->engine, ret->stop, &why);
    else
        cps_buf_join(&why, &play->hung);
    ret->waits = cps_engine_waits_for(play->engine, ret->stop, &ret->wait);
    ret->waiting = (enum cps_processor)play->engine->who[ret->wait.core];
    snprintf(ret->why, sizeof(ret->why), "%s", cps_buf_text(&why));
    return why.failed ? cps_err_nomem() : NULL;
}

static bool stops_early(const struct play_account *a)
{
    return a->stop != CPS_STOP_IDLE && !a->replayed;
}

static bool executes_nothing(const struct play_account *a)
{
    return !a->executed && !a->boot_only && !a->from_trace;
}

int play_account_status(const struct play_account *a)
{
    return stops_early(a) || a->hangs || executes_nothing(a) || a->input_failed ||
                   a->not_injected || a->cut
               ? 4
               : 0;
}

const char *play_account_word(const struct play_account *a)
{
    return cps_event_sub_word(CPS_EV_END, cps_stop_reason(a->stop));
}

static void put_missing(const struct play_account *a, struct cps_buf *out)
{
    cps_buf_printf(out, "%" PRIu32 " of %" PRIu32 " submissions %s not in the capture",
                   a->not_captured, a->submissions, a->not_captured == 1 ? "is" : "are");
}

void play_account_put(const struct play_account *a, struct cps_buf *out)
{
    if (stops_early(a)) {
        cps_buf_str(out, a->why[0] ? a->why : play_account_word(a));
    } else if (a->hangs) {
        cps_buf_printf(out, "%" PRIu32 " submission%s hung, and the GPU was reset; the first: %s",
                       a->hangs, a->hangs == 1 ? "" : "s", a->why);
    } else if (executes_nothing(a)) {
        cps_buf_str(out, "nothing executed: ");
        if (a->not_captured)
            put_missing(a, out);
        else if (a->scripted)
            cps_buf_str(out, "no step of the script ran");
        else
            cps_buf_str(out, a->submissions ? "its submissions are empty"
                                            : "the input has no submission");
    } else if (a->input_failed) {
        cps_buf_str(out, "the input is truncated or damaged: only its beginning was executed");
    } else if (a->not_injected) {
        cps_buf_printf(out, "%u of %u interrupts of --inject were not raised", a->not_injected,
                       a->injections);
    } else if (a->cut) {
        cps_buf_str(out, "the dump is truncated: the comparison is incomplete");
    }
}

void play_account_reason(const struct play_account *a, struct cps_buf *out)
{
    play_account_put(a, out);
    if (!out->size)
        cps_buf_str(out, a->why);
}

void play_account_put_missing(const struct play_account *a, struct cps_buf *out)
{
    if (a->not_captured && !executes_nothing(a))
        put_missing(a, out);
}

/* Numbers as integers, so that no program has to parse them; absent members say nothing. */
static void put_wait(const struct play_account *a, struct json_object *to)
{
    static const char *const functions[8] = {NULL, "<", "<=", "==", "!=", ">=", ">", NULL};
    const struct cps_wait *wait = &a->wait;
    struct json_object *object = json_object_new_object();
    cps_json_text(object, "what", cps_event_sub_word(CPS_EV_WAIT, wait->what));
    cps_json_text(object, "processor", cps_processor_name(a->waiting));
    cps_json_uint(object, "pc", wait->pc);
    if (wait->what <= CPS_WAIT_ON_CHIP)
        cps_json_uint(object, "address", wait->address);
    if (wait->second)
        cps_json_uint(object, "second", wait->second);
    if (wait->what <= CPS_WAIT_ON_CHIP || wait->value)
        cps_json_uint(object, "value", wait->value);
    if (wait->function) {
        cps_json_text(object, "function", functions[wait->function & 7]);
        cps_json_bool(object, "signed", wait->function & 8);
        cps_json_uint(object, "reference", wait->reference);
        cps_json_uint(object, "mask", wait->mask);
    }
    if (wait->header || wait->iova) {
        cps_json_uint(object, "header", wait->header);
        cps_json_uint(object, "iova", wait->iova);
    }
    cps_json_add(to, "wait", object);
}

void play_account_json(const struct play_account *a, struct json_object *to)
{
    CPS_BUF why = {0};
    play_account_reason(a, &why);
    cps_json_uint(to, "status", (uint64_t)play_account_status(a));
    cps_json_text(to, "end", a->endless ? NULL : play_account_word(a));
    if (why.size)
        cps_json_buf(to, "why", &why);
    if (a->waits)
        put_wait(a, to);
    if (a->hangs)
        cps_json_uint(to, "hangs", a->hangs);
    if (a->injections)
        cps_json_uint(to, "not_injected", a->not_injected);
    if (a->scripted || a->from_trace)
        return;
    cps_json_uint(to, "submissions", a->submissions);
    cps_json_uint(to, "executed", a->executed);
    cps_json_uint(to, "not_captured", a->not_captured);
}

void play_account_json_row(const struct play_account *a, const char *side, struct json_object *list)
{
    struct json_object *row = json_object_new_object();
    if (side)
        cps_json_text(row, "side", side);
    play_account_json(a, row);
    cps_json_append(list, row);
}
