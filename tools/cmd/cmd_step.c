/* SPDX-License-Identifier: MIT
 * cpscope step: the debugger at a prompt, from a script or a pipe. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "isa/base/shown.h"
#include "isa/base/within.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/json_options.h"
#include "tools/cmd/terminal/report.h"
#include "tools/cmd/terminal/text.h"
#include "tools/face/dap/dap.h"
#include "tools/face/debugger/command.h"
#include "tools/face/prompt/prompt.h"
#include "tools/face/screen/screen.h"
#include "tools/run/account.h"
#include "tools/run/interrupt.h"
#include "tools/explain/summary/summary.h"
#include "trace/out/json.h"

#include "tools/cmd/cmd_step.h"

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
    bool plain = cps_shown_plain_(tool_text(&r->out), r->out.size, true) == r->out.size;
    if (!plain)
        cps_shown_add_(&shown, cps_buf_text(&r->out), r->out.size, true);
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
    if (!r->wants_screen)
        return;
    r->wants_screen = false;
    screen_run(r);
    command_show(r);
    cps_err_free(show(r));
}

/* An empty line repeats what can be, as in gdb. */
static void interact(struct debugger *r)
{
    char *line = NULL;
    prompt_begin();
    while (!r->quit && !interrupted && (line = prompt_line(r, r->writing ? ">" : "(cpscope) "))) {
        CPS_FREE char *again = *line ? NULL : tool_strdup(command_repeat(r));
        run_typed(r, again ? again : line);
        free(line);
    }
    prompt_end();
    if (!r->quit)
        putchar('\n');
}

/* The next line of stdin; *more is false at its end. A line has an end somewhere: /dev/zero has
 * none. */
static struct cps_err *read_line(char line[MAX_LINE], bool *more)
{
    memset(line, 0, MAX_LINE);
    *more = fgets(line, MAX_LINE, stdin) != NULL;
    if (interrupted)
        *more = false;
    else if (ferror(stdin))
        return cps_err_os("(stdin)", "read");
    if (*more && !feof(stdin) && !memchr(line, '\n', MAX_LINE))
        return cps_err_new(CPS_ERR_INPUT, "(stdin): a line of more than %u bytes, expected its end",
                           MAX_LINE - 2);
    line[strcspn(line, "\r\n")] = '\0';
    return NULL;
}

/* From a pipe: every line is shown before its output. A mistake is reported, and the next line
 * is read, as gdb does; @p failed tells at the end that there was one.
 * @return an error of stdin or stdout */
static struct cps_err *run_piped(struct debugger *r, bool *failed)
{
    static char line[MAX_LINE];
    bool more = false;
    CPS_TRY(read_line(line, &more));
    for (unsigned number = 1; more && !r->quit && !r->session.limited; number++) {
        cps_buf_printf(&r->out, "> %s\n", line);
        struct cps_err *wrong = command_run(r, line);
        struct cps_err *err = show(r);
        if (wrong && !err) {
            *failed = true;
            report_error(cps_err_within_(wrong, "(stdin):%u", number));
            wrong = NULL;
        }
        CPS_TRY(cps_err_first_(err, wrong));
        CPS_TRY(read_line(line, &more));
    }
    return r->writing
               ? cps_err_new(CPS_ERR_SYNTAX, "(stdin): ends inside commands, expected \"end\"")
               : NULL;
}

/* The commands of a file, then, for a person, the prompt. @param failed  set if a line from a pipe
 * was wrong */
static struct cps_err *converse(struct debugger *r, const struct cps_options *opt, bool *failed)
{
    bool is_typed = isatty(STDIN_FILENO);
    session_opened(&r->session, &r->out);
    command_show(r);
    CPS_TRY(show(r));
    r->flush = show;
    r->has_terminal = !opt->batch && is_typed;
    if (opt->script) {
        struct cps_err *err = command_source(r, opt->script);
        CPS_TRY(cps_err_first_(err, show(r)));
    }
    if (opt->batch || (opt->script && !is_typed) || r->quit)
        return NULL;
    if (!is_typed)
        return run_piped(r, failed);
    if (opt->screen || r->wants_screen)
        screen_run(r);
    r->wants_screen = false;
    interact(r);
    return NULL;
}

static int check_usage(const struct cps_options *opt)
{
    int status = report_result(opt_check_run_file(opt));
    if (status)
        return status;
    if (!opt->run.fw_count && !opt->run.demo && !opt->dap && !cps_run_is_script(&opt->run))
        return report_usage("step needs --fw FILE and a capture, or --demo");
    if (cps_run_is_script(&opt->run) && !opt->arg_count && !opt->dap)
        return report_usage("step --engine takes one script");
    return opt->arg_count > 1 ? report_usage("step takes one capture") : 0;
}

/* The status of a session without an error: 4 where a command was too long, or where no user was
 * there and the capture has nothing to step through. */
static int end_status(const struct debugger *r, bool is_alone)
{
    struct play_account account;
    int empty = 0;
    if (is_alone && r->session.capture && r->session.play.fw) {
        feed_account(&r->session.play.feed, &account);
        empty = account.executed ? 0 : summary_print_stop(&account, r->session.capture);
    }
    if (r->session.limited)
        fputs("cpscope: limit: too many instructions in one command, expected it to end; --limit "
              "raises it\n",
              stderr);
    return r->session.limited ? 4 | empty : empty;
}

/* Arguments of the request `launch`: the options of this command, and the capture. */
static struct cps_err *take_launch(struct json_object *arguments, struct dap_setup *ret)
{
    char *capture[1] = {(char *)cps_json_get_text(arguments, "capture", NULL)};
    struct cps_options opt = opt_none(capture);
    opt.arg_count = capture[0] != NULL;
    CPS_TRY(json_options_take("launch", OPT_SHIFT_STEP, arguments, &opt));
    if (!opt.run.fw_count && !opt.run.demo && !cps_run_is_script(&opt.run))
        return cps_err_new(CPS_ERR_INPUT, "launch: expected \"fw\": a file, \"demo\": true, or "
                                          "\"engine\" with a script as \"capture\"");
    *ret = (struct dap_setup){opt.run, capture[0], opt.symbols, opt.script, opt_scheme(&opt)};
    return NULL;
}

int step_session(const struct cps_options *opt, const char *capture, struct session_live *live)
{
    const struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    int status = 0;
    bool failed = false;
    bool is_alone = !opt->dap && (opt->batch || !isatty(STDIN_FILENO));
    bool listens = live && (opt->listen || opt->listen_wait);
    const struct dap_setup setup = {.config = opt->run, .symbols = opt->symbols};
    struct attach_server *server = NULL;
    struct cps_err *err = NULL;
    struct debugger *r = tool_alloc(1, sizeof(*r));
    r->session.config = &opt->run;
    r->session.capture = capture;
    r->session.live = live;
    r->session.symbols = opt->symbols;
    r->session.scheme = opt_scheme(opt);
    r->session.interrupt = &r->interrupt;
    r->session.limit =
        is_alone ? opt->run.limit : 0; /* no user is there to stop endless firmware */
    running = r;
    if (!listens)
        sigaction(SIGINT, &action, NULL);
    if (listens)
        err = attach_server_open(&setup, opt->listen, opt->listen_wait, &server);
    if (!err && (opt->run.fw_count || opt->run.demo || capture))
        err = session_open(&r->session);
    if (!err && listens)
        attach_server_serve(server, r);
    else if (!err)
        err = opt->dap ? dap_serve(r, take_launch, stdin, stdout) : converse(r, opt, &failed);
    attach_server_close(server);
    status = err ? 0 : end_status(r, is_alone);
    if (!listens)
        signal(SIGINT, SIG_DFL);
    command_deinit(r);
    session_close(&r->session);
    free(r);
    return err ? report_error(err) : failed ? 3 : status;
}

int cmd_step(const struct cps_options *opt)
{
    int status = check_usage(opt);
    return status ? status : step_session(opt, opt->arg_count ? opt->arg[0] : NULL, NULL);
}
