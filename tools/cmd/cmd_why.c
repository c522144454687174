/* SPDX-License-Identifier: MIT
 * cpscope why: where values come from, back to the bytes of the capture. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/cmd/options/opt.h"
#include "tools/run/account.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/terminal/report.h"
#include "tools/explain/why/why.h"
#include "tools/explain/summary/summary.h"

int cmd_why(const struct cps_options *opt);

enum { MOST_ASKS = 1u << 20 };

static struct cps_err *add_line(struct why *why, char *line)
{
    line[strcspn(line, "\r\n")] = '\0';
    if (why->count == MOST_ASKS)
        return cps_err_new(CPS_ERR_USAGE, "stdin: more than %u questions", MOST_ASKS);
    return *line ? why_add(why, line) : NULL;
}

/* "-": a question a line. */
static struct cps_err *read_asks(struct why *why)
{
    struct cps_err *err = NULL;
    char *line = NULL;
    size_t room = 0;
    while (!err && getline(&line, &room, stdin) >= 0)
        err = add_line(why, line);
    if (!err && ferror(stdin))
        err = cps_err_new(CPS_ERR_OS, "stdin: %s", strerror(errno));
    else if (!err && !feof(stdin))
        err = cps_err_nomem();
    free(line);
    return err;
}

/* The demo has a capture of its own, unless the first word is the name of a file. */
static unsigned first_ask(const struct cps_options *opt)
{
    bool has_own = opt->run.demo && !opt->run.fw_count;
    return has_own && (!opt->arg_count || access(opt->arg[0], F_OK)) ? 0 : 1;
}

static struct cps_err *execute(struct why *why, const struct cps_options *opt,
                               struct cps_stream **capture)
{
    const char *path = first_ask(opt) ? opt->arg[0] : NULL;
    for (unsigned i = first_ask(opt); i < opt->arg_count; i++)
        CPS_TRY(strcmp(opt->arg[i], "-") != 0 ? why_add(why, opt->arg[i]) : read_asks(why));
    const char *slash = path ? strrchr(path, '/') : NULL;
    why->capture = slash ? slash + 1 : path ? path : "demo.pm4";
    CPS_TRY(cps_buffers_create(&why->play->buffers));
    CPS_TRY(play_stream(path, capture));
    CPS_TRY(play_read_dump(why->play, *capture));
    CPS_TRY(play_open(why->play, &opt->run, path));
    why->engine = why->play->engine;
    CPS_TRY(why_resolve(why));
    return why_run(why, *capture);
}

/* Reports questions without an answer. @return 3 if the run has no such draw or event, as with
 * `state --draw`; else 1 if a value was never written; 0: all have answers */
static int complain(const struct why *why)
{
    int status = 0;
    uint32_t draws = why->launches.count;
    for (size_t i = 0; i < why->count; i++) {
        const struct why_ask *ask = &why->ask[i];
        bool is_past_end = ask->when != WHY_END && !ask->reached;
        if (ask->kept != UINT32_MAX)
            continue;
        status = is_past_end ? 3 : status ? status : 1;
        if (is_past_end && ask->when == WHY_AT_DRAW)
            fprintf(stderr,
                    "cpscope: %s: no draw %" PRIu64 ": %s has %" PRIu32
                    " draw%s (numbered from 0)\n",
                    ask->text, ask->number, why->capture, draws, draws == 1 ? "" : "s");
        else if (is_past_end)
            fprintf(stderr, "cpscope: %s: the run has no event %" PRIu64 "\n", ask->text,
                    ask->number);
        else
            fprintf(stderr, "cpscope: %s: %s\n", ask->text,
                    ask->what == WHY_EVENT ? "this event is not a value"
                    : ask->when == WHY_END ? "the firmware never writes it in this run"
                                           : "the firmware has not written it by that point");
    }
    return status;
}

/* Then it matters which end that is. */
static bool asks_of_end(const struct why *why)
{
    size_t i = 0;
    while (i < why->count && why->ask[i].when != WHY_END)
        i++;
    return i < why->count;
}

static void print(struct why *why, const struct cps_options *opt)
{
    CPS_BUF out = {0};
    for (size_t i = 0; i < why->count; i++) {
        cps_buf_clear(&out);
        if (opt->json)
            why_json(why, &why->ask[i], &out);
        else
            why_text(why, &why->ask[i], &out);
        fwrite(tool_text(&out), 1, out.size, stdout);
    }
}

int cmd_why(const struct cps_options *opt)
{
    struct play play = {.items = {NULL}};
    struct why why = {.play = &play};
    struct cps_stream *capture = NULL;
    if (!opt->run.fw_count && !opt->run.demo)
        return report_usage("why needs --fw FILE, a capture, and what is asked, or --demo");
    if (opt->arg_count < 1 + first_ask(opt))
        return report_usage("why needs a capture, and what is asked: RB_CNTL, 0x8c00@draw:3, "
                            "mem:0x1000, event:12, or \"-\" for a list on stdin");
    struct cps_err *err = execute(&why, opt, &capture);
    struct play_account account;
    if (!err)
        err = play_account_take(&play, &account);
    why.account = &account;
    if (!err)
        print(&why, opt);
    int missing = err ? 0 : complain(&why);
    int early =
        !err && (missing || asks_of_end(&why)) ? summary_print_stop(&account, why.capture) : 0;
    int status = err ? report_error(err) : early ? early : missing;
    cps_stream_close(capture);
    why_deinit(&why);
    play_close(&play);
    return status;
}
