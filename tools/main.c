/* SPDX-License-Identifier: MIT
 * The command: its table of contents. */
#include <stdio.h>
#include <string.h>

#include "isa/version.h"
#include "tools/opt.h"
#include "tools/play/files.h"
#include "tools/report/report.h"

#define COMMAND(id, name, ...) int cmd_##name(const struct cps_options *opt);
#include "tools/opt.def"

static int (*const run[])(const struct cps_options *opt) = {
#define COMMAND(id, name, ...) cmd_##name,
#include "tools/opt.def"
};

static int help(int argc, char **argv)
{
    int command = argc > 2 ? opt_command(argv[2]) : -1;
    int status = 0;
    if (argc > 2 && opt_document(argc - 2, argv + 2, &status))
        return status;
    if (argc > 2 && command < 0)
        return report_usage("no command is called '%s'; try 'cpscope help'", argv[2]);
    return opt_help(command);
}

/* Whether --help stands anywhere among a command's options. */
static bool wants_help(int argc, char **argv)
{
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (!strcmp(argv[i], "--help"))
            return true;
    }
    return false;
}

static int do_command(int argc, char **argv)
{
    static char firmware[OPT_MAX_FW][FILES_PATH];
    struct cps_options opt;
    int command = opt_command(argv[1]);
    if (command < 0)
        return report_usage("no command is called '%s'; try 'cpscope help'", argv[1]);
    if (wants_help(argc, argv))
        return opt_help(command);
    int status = opt_parse((unsigned)command, argc - 2, argv + 2, &opt);
    if (status)
        return status;
    files_firmware(&opt, firmware);
    return run[command](&opt);
}

static int do_first_word(int argc, char **argv)
{
    if (argc < 2)
        return report_usage("expected a command; try 'cpscope help'");
    if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return help(argc, argv);
    if (strcmp(argv[1], "--version") != 0)
        return do_command(argc, argv);
    puts("cpscope " CPS_VERSION);
    return 0;
}

int main(int argc, char **argv)
{
    int status = do_first_word(argc, argv);
    if ((fflush(stdout) != 0 || ferror(stdout)) && !status)
        status = report_error(cps_err_os("(stdout)", "write"));
    return status;
}
