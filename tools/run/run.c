/* SPDX-License-Identifier: MIT
 * Runs, for programs of others: struct play behind a few calls. */
#include "tools/run/run.h"

#include <stdlib.h>

#include "isa/base/within.h"
#include "tools/run/account.h"
#include "tools/run/play.h"
#include "tools/run/replay.h"

struct cps_run {
    struct play play; /* first: also its items' sink */
    struct cps_stream *input;
    struct play_account account;
    bool finished;
    struct cps_buf why;
};

static struct cps_err *open_input(struct cps_run *run, const struct cps_run_config *config,
                                  const char *path)
{
    if (path && !cps_run_wants_script(config)) {
        CPS_TRY(play_stream(path, &run->input));
        CPS_TRY(play_read_dump(&run->play, run->input));
    }
    run->play.quiet = true;
    CPS_TRY(play_open(&run->play, config, path));
    play_watch_replay(&run->play);
    return NULL;
}

struct cps_err *cps_run_open(const struct cps_run_config *config, const char *path,
                             struct cps_run **ret)
{
    struct cps_run *run = calloc(1, sizeof(*run));
    *ret = NULL;
    if (!run)
        return cps_err_nomem();
    struct cps_err *err = open_input(run, config, path);
    if (err)
        cps_run_close(run);
    else
        *ret = run;
    return err;
}

struct cps_engine *cps_run_engine(struct cps_run *run)
{
    return run->play.engine;
}

void cps_run_sink(struct cps_run *run, struct cps_sink *sink, uint32_t kinds)
{
    run->play.trace = sink;
    run->play.kinds = kinds;
    if (run->play.begun)
        play_watch(&run->play);
}

struct cps_err *cps_run_feed(struct cps_run *run, const struct cps_item *item)
{
    if (run->finished || run->input || play_is_script(&run->play))
        return cps_err_new(CPS_ERR_USAGE, run->finished ? "the run is finished"
                                                        : "the run has an input of its own");
    return play_item(&run->play, item);
}

struct cps_err *cps_run_finish(struct cps_run *run, struct cps_run_result *ret)
{
    struct play *play = &run->play;
    struct cps_err *err = NULL;
    *ret = (struct cps_run_result){.end = "", .why = ""};
    if (run->finished)
        return cps_err_new(CPS_ERR_USAGE, "the run is finished");
    run->finished = true;
    if (run->input || play_is_script(play)) {
        err = play_run(play, run->input);
    } else {
        play_boot(play);
        cps_engine_end(play->engine, play->stop);
        err = play->stop == CPS_STOP_NOMEM ? cps_err_nomem() : NULL;
    }
    const struct replay *replay = play->replay;
    if (!err && replay)
        err = replay_compare(play->replay);
    ret->replayed = replay != NULL;
    struct cps_err *late = play_account_take(play, &run->account);
    if (late)
        return cps_err_first_(err, late);
    const struct play_account *account = &run->account;
    play_account_reason(account, &run->why);
    ret->stop = account->stop;
    ret->end = play_account_word(account);
    ret->why = cps_buf_text(&run->why);
    ret->waits = account->waits;
    ret->wait = account->wait;
    ret->complete = !err && !play_account_status(account) && !play->misses &&
                    (!replay || replay_has_place(replay));
    ret->submissions = account->submissions;
    ret->executed = account->executed;
    ret->instructions = play->engine->instructions;
    ret->packets = play->engine->packets;
    if (!replay)
        return err;
    ret->agrees = !err && replay_agrees(replay);
    ret->place = replay_has_place(replay) ? cps_buf_text(&replay->place_text)
                                          : "position of the hardware unknown, nothing compared";
    ret->rows = replay->rows.count;
    ret->equal = rows_count(&replay->rows, REPLAY_EQUAL);
    ret->different = rows_count(&replay->rows, REPLAY_DIFFERENT);
    return err;
}

bool cps_run_row(const struct cps_run *run, size_t index, struct cps_run_row *ret)
{
    const struct replay *replay = run->play.replay;
    if (!replay || index >= replay->rows.count)
        return false;
    const struct replay_row *row = &replay->rows.row[index];
    *ret = (struct cps_run_row){.group = rows_group_name(row),
                                .name = row->name,
                                .verdict = rows_verdict_word(row),
                                .why = row->why,
                                .hardware = row->hardware,
                                .emulated = row->emulated};
    return true;
}

void cps_run_close(struct cps_run *run)
{
    if (!run)
        return;
    play_close(&run->play);
    cps_stream_close(run->input);
    cps_buf_deinit(&run->why);
    free(run);
}
