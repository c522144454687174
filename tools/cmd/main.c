/* SPDX-License-Identifier: MIT
 * The command: its table of contents. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "isa/version.h"
#include "tools/cmd/options/opt.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/run/files.h"
#include "tools/cmd/terminal/guard.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/terminal/paint.h"
#include "tools/cmd/terminal/progress.h"
#include "tools/cmd/terminal/report.h"
#include "tools/cmd/device_debug.h"
#include "tools/face/dap/dap.h"
#include "trace/out/outfile.h"

#define COMMAND(id, name, ...) int cmd_##name(const struct cps_options *opt);
#include "tools/cmd/options/opt.def"

static int (*const run[])(const struct cps_options *opt) = {
#define COMMAND(id, name, ...) cmd_##name,
#include "tools/cmd/options/opt.def"
};

static bool is_help(const char *arg)
{
    return !strcmp(arg, "--help") || !strcmp(arg, "-h");
}

static bool is_version(const char *arg)
{
    return !strcmp(arg, "--version") || !strcmp(arg, "-V");
}

/* Whether one stands anywhere among a command's options: whatever else is wrong with them. */
static bool wants(bool (*what)(const char *arg), int argc, char **argv)
{
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (what(argv[i]))
            return true;
    }
    return false;
}

static int version(void)
{
    puts("cpscope " CPS_VERSION);
    return 0;
}

/* An output that is an input would be lost with the first mistake. A trace may become itself. */
static const char *overwritten(const struct cps_options *opt, bool converts)
{
    for (unsigned i = 0; opt->output && i < opt->arg_count && !converts; i++) {
        if (files_are_same(opt->output, opt->arg[i]))
            return opt->arg[i];
    }
    for (unsigned i = 0; opt->output && i < opt->run.fw_count; i++) {
        if (files_are_same(opt->output, opt->run.fw[i]))
            return opt->run.fw[i];
    }
    return NULL;
}

static bool has_prompt(unsigned command, const struct cps_options *opt)
{
    return command == OPT_SHIFT_STEP || (command == OPT_SHIFT_DEVICE && device_has_debugger(opt));
}

/* Whether what comes out goes to a terminal as it comes, where a line of progress would be in it:
 * what is printed at the end hides the line first. */
static bool writes_to_terminal(unsigned command, const struct cps_options *opt)
{
    const unsigned streams = 1u << OPT_SHIFT_RUN | 1u << OPT_SHIFT_DECODE | 1u << OPT_SHIFT_CONVERT;
    bool on_stdout = !opt->output || !strcmp(opt->output, "-");
    return has_prompt(command, opt) ||
           (streams >> command & 1 && on_stdout && isatty(STDOUT_FILENO));
}

static int do_command(int argc, char **argv)
{
    static char firmware[CPS_RUN_MAX_FW][FILES_PATH];
    struct cps_options opt;
    int command = opt_command(argv[1]);
    if (command < 0)
        return opt_unknown_command(argv[1]);
    if (wants(is_help, argc, argv))
        return opt_help(command);
    if (wants(is_version, argc, argv))
        return version();
    int status = opt_parse((unsigned)command, argc - 2, argv + 2, &opt);
    if (status)
        return status;
    /* The prompt and the screen speak to the terminal themselves, the language server to none. */
    if (!has_prompt((unsigned)command, &opt) && command != OPT_SHIFT_LSP)
        guard_output();
    for (unsigned i = 0; i < opt.run.fw_count; i++)
        opt.run.fw[i] = files_firmware(&opt.fw_path, opt.run.fw[i], firmware[i]);
    status = report_result(opt_check_inputs((unsigned)command, &opt));
    if (status)
        return status;
    const char *lost = overwritten(&opt, command == OPT_SHIFT_CONVERT);
    if (lost)
        return report_usage("-o %s would replace the input %s; expected another file", opt.output,
                            lost);
    report_be_quiet(opt.quiet);
    if (!opt.quiet && !writes_to_terminal((unsigned)command, &opt))
        progress_allow();
    return run[command](&opt);
}

static int do_first_word(int argc, char **argv)
{
    if (argc < 2)
        return report_usage("expected a command; try 'cpscope help'");
    if (!strcmp(argv[1], "help") || is_help(argv[1])) {
        int command = argc > 2 ? opt_command(argv[2]) : -1;
        int status = 0;
        if (argc > 2 && opt_document(argc - 2, argv + 2, &status))
            return status;
        if (argc > 2 && command < 0 && argv[2][0] != '-')
            return opt_unknown_command(argv[2]);
        return opt_help(command);
    }
    return is_version(argv[1]) ? version() : do_command(argc, argv);
}

/* A file that is opened must not become the stdout that was closed: what is printed would go there.
 * In its place stands one which writing to fails, or reading from stdin, and that is reported. */
static void keep_standard(void)
{
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
        if (fcntl(i, F_GETFD) < 0 &&
            open("/dev/null", i == STDIN_FILENO ? O_WRONLY : O_RDONLY) != i)
            return; /* there is no such device: the system is in a state that nothing can be kept in
                     */
    }
}

static void end_by(int number)
{
    cps_outfile_unlink_all();
    progress_hide();
    paint_end_by_signal();
    attach_unlink_all();
    pager_end_by_signal(); /* it reads the same terminal as the shell that would go on */
    signal(number, SIG_DFL);
    raise(number);
}

/* As tool_oom_handler. */
static void end_without_memory(void)
{
    paint_end_by_signal();
    attach_unlink_all();
}

/* A signal ends the command, but leaves no temporary file. One that the caller ignores stays so; a
 * file that grows too large is an error of writing as any other. */
static void handle_signals(void)
{
    static const int ends[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXCPU};
    const struct sigaction action = {.sa_handler = end_by, .sa_flags = SA_RESETHAND | SA_NODEFER};
    for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct sigaction old;
        if (!sigaction(ends[i], NULL, &old) && old.sa_handler != SIG_IGN)
            sigaction(ends[i], &action, NULL);
    }
    signal(SIGXFSZ, SIG_IGN);
}

int main(int argc, char **argv)
{
    keep_standard();
    handle_signals();
    tool_oom_handler = end_without_memory;
    int status = do_first_word(argc, argv);
    progress_hide();
    return report_stdout(status);
}
