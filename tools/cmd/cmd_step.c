/* SPDX-License-Identifier: MIT
 * cpscope step: the debugger at a prompt, from a script or a pipe. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "isa/base/within.h"
#include "isa/base/shown.h"
#include "tools/run/account.h"
#include "tools/face/dap/dap.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/face/prompt/prompt.h"
#include "tools/face/debugger/command.h"
#include "tools/cmd/terminal/report.h"
#include "tools/cmd/terminal/text.h"
#include "tools/face/screen/screen.h"
#include "tools/face/debugger/point.h"

int cmd_step(const struct cps_options *opt);

#define MAX_LINE 65536u /* bytes of a line of stdin */

static struct debugger *running;

static void on_interrupt(int signal)
{
    (void)signal;
    running->interrupt = 1;
}

static struct cps_err *show(struct debugger *r)
{
    CPS_BUF shown = {0};
    bool plain = cps_shown_plain_(cps_buf_text(&r->out), r->out.size, true) == r->out.size;
    if (!plain)
        cps_shown_add_(&shown, cps_buf_text(&r->out), r->out.size, true);
    shown.failed = shown.failed || r->out.failed;
    struct cps_err *err = report_text(plain ? &r->out : &shown);
    if (fflush(stdout) != 0 && !err)
        err = cps_err_os("(stdout)", "write");
    cps_buf_deinit(&r->out);
    return err;
}

/* One line typed by a person: mistakes are told, and the next line is awaited. */
static void run_typed(struct debugger *r, const char *line)
{
    r->interrupt = 0;
    struct cps_err *err = command_run(r, line);
    err = cps_err_first_(err, show(r));
    if (err)
        printf("%s\n", err->message);
    cps_err_free(err);
    if (r->wants_screen) {
        r->wants_screen = false;
        screen_run(r);
        command_show(r);
        cps_err_free(show(r));
    }
}

/* An empty line repeats what can be, as in gdb. */
static void interact(struct debugger *r)
{
    char *line = NULL;
    prompt_begin();
    while (!r->quit && (line = prompt_line(r, r->writing ? ">" : "(cpscope) "))) {
        CPS_FREE char *again = *line ? NULL : strdup(command_repeat(r));
        run_typed(r, again ? again : line);
        free(line);
    }
    prompt_end();
    if (!r->quit)
        putchar('\n');
}

/* The next line of stdin; NULL at its end. A line has an end somewhere: /dev/zero has none. */
static struct cps_err *read_line(char line[MAX_LINE], bool *more)
{
    memset(line, 0, MAX_LINE);
    *more = fgets(line, MAX_LINE, stdin) != NULL;
    if (ferror(stdin))
        return cps_err_os("(stdin)", "read");
    if (*more && !feof(stdin) && !memchr(line, '\n', MAX_LINE))
        return cps_err_new(CPS_ERR_INPUT, "(stdin): a line of more than %u bytes, expected its end",
                           MAX_LINE - 2);
    line[strcspn(line, "\r\n")] = '\0';
    return NULL;
}

/* A mistake is told, and the next line is read, as gdb does; the status says at the end that there
 * was one. @return an error of stdin or stdout */
static struct cps_err *run_line(struct debugger *r, unsigned number, const char *line, bool *failed)
{
    cps_buf_printf(&r->out, "> %s\n", line);
    struct cps_err *wrong = command_run(r, line);
    struct cps_err *err = show(r);
    bool about_line = wrong && wrong->code != CPS_ERR_NOMEM;
    if (about_line)
        wrong = cps_err_within_(wrong, "(stdin):%u", number);
    if (err || !about_line || wrong->code == CPS_ERR_NOMEM)
        return cps_err_first_(err, wrong);
    *failed = true;
    report_error(wrong);
    return NULL;
}

/* From a pipe: every line is shown in front of what it does. */
static struct cps_err *run_piped(struct debugger *r, bool *failed)
{
    static char line[MAX_LINE];
    bool more = false;
    unsigned number = 0;
    struct cps_err *err = read_line(line, &more);
    while (!err && more && !r->quit && !r->session.limited) {
        err = run_line(r, ++number, line, failed);
        if (!err)
            err = read_line(line, &more);
    }
    if (!err && r->writing)
        err = cps_err_new(CPS_ERR_SYNTAX, "(stdin): ends inside commands, expected \"end\"");
    return err;
}

/* Nobody sits in front of it to stop endless firmware. */
static bool is_alone(const struct cps_options *opt)
{
    return !opt->dap && (opt->batch || !isatty(STDIN_FILENO));
}

/* The commands of a file, then, for a person, the prompt. @param failed  set if a line from a pipe
 * was wrong */
static struct cps_err *converse(struct debugger *r, const struct cps_options *opt, bool *failed)
{
    session_opened(&r->session, &r->out);
    command_show(r);
    CPS_TRY(show(r));
    r->flush = show;
    r->has_terminal = !opt->batch && isatty(STDIN_FILENO);
    if (opt->script) {
        struct cps_err *err = command_source(r, opt->script);
        CPS_TRY(cps_err_first_(err, show(r)));
    }
    if (opt->batch || (opt->script && !isatty(STDIN_FILENO)) || r->quit)
        return NULL;
    if (!isatty(STDIN_FILENO))
        return run_piped(r, failed);
    if (opt->screen || r->wants_screen)
        screen_run(r);
    r->wants_screen = false;
    interact(r);
    return NULL;
}

static struct cps_err *run(struct debugger *r, const struct cps_options *opt, bool *failed)
{
    r->session.interrupt = &r->interrupt;
    if (is_alone(opt))
        r->session.limit = opt->limit;
    if (opt->fw_count || opt->demo || opt->arg_count)
        CPS_TRY(session_open(&r->session, opt));
    return opt->dap ? dap_serve(r, stdin, stdout) : converse(r, opt, failed);
}

/* A capture without anything to step through. @return 4, or 0 */
static int tell_empty(const struct debugger *r, const struct cps_options *opt)
{
    struct play_account account;
    if (!opt->arg_count || !r->session.play.fw)
        return 0;
    feed_account(&r->session.play.feed, &account);
    return account.executed ? 0 : play_account_tell(&account, opt->arg[0]);
}

static int usage(const struct cps_options *opt)
{
    int status = report_result(opt_check_run_file(opt));
    if (status)
        return status;
    if (!opt->fw_count && !opt->demo && !opt->dap && !opt_is_script(opt))
        return report_usage("step needs --fw FILE and a capture, or --demo");
    if (opt_is_script(opt) && !opt->arg_count && !opt->dap)
        return report_usage("step --engine takes one script");
    return opt->arg_count > 1 ? report_usage("step takes one capture") : 0;
}

int cmd_step(const struct cps_options *opt)
{
    const struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    int status = usage(opt);
    if (status)
        return status;
    struct debugger *r = calloc(1, sizeof(*r));
    if (!r)
        return report_error(cps_err_nomem());
    r->session.scheme = opt_scheme(opt);
    running = r;
    sigaction(SIGINT, &action, NULL);
    bool failed = false;
    struct cps_err *err = run(r, opt, &failed);
    int limited = r->session.limited ? 4 : 0;
    int empty = !err && is_alone(opt) ? tell_empty(r, opt) : 0;
    if (limited && !err)
        fputs("cpscope: limit: too many instructions in one command, expected it to end; --limit "
              "raises it\n",
              stderr);
    signal(SIGINT, SIG_DFL);
    command_deinit(r);
    session_close(&r->session);
    free(r);
    return err ? report_error(err) : failed ? 3 : limited | empty;
}
