/* SPDX-License-Identifier: MIT
 * Options: parser and help, both from opt.def. opt_engine.c checks them against the engine. */
#include "tools/cmd/options/opt_table.h"
#include "tools/cmd/options/opt_near.h"
#include "tools/cmd/terminal/progress.h"
#include "tools/cmd/options/opt_value.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "isa/isa.h"
#include "isa/base/lex.h"
#include "tools/cmd/terminal/report.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

int opt_unknown_command(const char *name)
{
    struct near near = {0};
    char meant[80];
    for (unsigned i = 0; i < COUNT(commands); i++)
        near_try(name, strlen(name), commands[i].name, strlen(commands[i].name), &near);
    return report_usage("no command is called '%s'; try 'cpscope help'%s", name,
                        near_text(&near, "", meant, sizeof(meant)));
}

int opt_command(const char *name)
{
    for (unsigned i = 0; i < COUNT(commands); i++) {
        if (!strcmp(commands[i].name, name))
            return (int)i;
    }
    return -1;
}

unsigned opt_threads(const struct cps_options *opt)
{
    if (opt->threads < 0)
        return sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 4 : 1;
    return opt->threads > 1 ? (unsigned)opt->threads : 1;
}

bool opt_count(const char *text, uint64_t *ret)
{
    char digits[24] = "";
    size_t length = strlen(text);
    uint64_t unit = 1;
    if (length && strchr("kMG", text[length - 1])) {
        unit = text[length - 1] == 'k' ? 1000 : text[length - 1] == 'M' ? 1000000 : 1000000000;
        length--;
    }
    if (!length || length >= sizeof(digits))
        return false;
    memcpy(digits, text, length);
    const char *at = digits;
    int64_t value = 0;
    if (!cps_lex_number(&at, &value) || *at || (uint64_t)value > UINT64_MAX / unit)
        return false;
    *ret = (uint64_t)value * unit;
    return true;
}

static bool add_path(struct file_paths *to, const char *text)
{
    if (to->count == FILES_MOST)
        return false;
    to->path[to->count++] = text;
    return true;
}

static bool add_policy(struct cps_run_config *to, const char *name, const char *text)
{
    if (to->policy_count == CPS_RUN_MAX_POLICY)
        return false;
    to->policy[to->policy_count++] = (struct cps_run_policy){name, text};
    return true;
}

static bool set_value(struct cps_options *to, const struct option *option, const char *text)
{
    void *field = (char *)to + option->offset;
    uint64_t count = 0;
    enum cps_gen gen = CPS_A6XX;
    switch (option->kind) {
    case KIND_FLAG:
        *(bool *)field = true;
        return true;
    case KIND_TEXT:
        *(const char **)field = text;
        return true;
    case KIND_LIST:
        if (to->run.fw_count == CPS_RUN_MAX_FW)
            return false;
        to->run.fw[to->run.fw_count++] = text;
        return true;
    case KIND_PATHS:
        return add_path(field, text);
    case KIND_COUNT:
        return opt_count(text, (uint64_t *)field);
    case KIND_INDEX:
        if (!opt_count(text, &count) || count > INT32_MAX)
            return false;
        *(long *)field = (long)count;
        return true;
    case KIND_GEN:
        if (!cps_gen_parse(text, &gen) || !cps_gen_is_afuc(gen))
            return false;
        *(unsigned *)field = gen;
        return true;
    case KIND_CHIP:
        return opt_chip_id(text, field);
    case KIND_POLICY:
        return add_policy(&to->run, option->name, text);
    default:
        return add_policy(&to->run, NULL, text);
    }
}

static const struct option *find_option(const char *arg, unsigned command, const char **value)
{
    for (unsigned i = 0; i < COUNT(options); i++) {
        const struct option *option = &options[i];
        if (!(option->commands >> command & 1))
            continue;
        size_t length = strlen(option->name);
        if (arg[1] == '-' && !strncmp(arg + 2, option->name, length) &&
            (!arg[2 + length] || arg[2 + length] == '=')) {
            *value = arg[2 + length] ? arg + 3 + length : NULL;
            return option;
        }
        if (option->letter && arg[1] == option->letter) {
            *value = arg[2] ? arg + 2 : NULL;
            return option;
        }
    }
    return NULL;
}

static struct cps_err *unknown_option(unsigned command, const char *name)
{
    struct near near = {0};
    char meant[80];
    const char *said = name + strspn(name, "-");
    for (unsigned i = 0; i < COUNT(options) && name[0] == '-' && name[1] == '-'; i++) {
        if (options[i].commands >> command & 1)
            near_try(said, strcspn(said, "="), options[i].name, strlen(options[i].name), &near);
    }
    return cps_err_new(CPS_ERR_USAGE, "%s: unknown option %s; try 'cpscope help %s'%s",
                       commands[command].name, name, commands[command].name,
                       near_text(&near, "--", meant, sizeof(meant)));
}

static struct cps_err *bad_value(const struct option *option, const char *value)
{
    const char *expected = option->kind == KIND_COUNT   ? "a number, optionally with k, M or G"
                           : option->kind == KIND_INDEX ? "a number"
                                                        : option->argument;
    return cps_err_new(CPS_ERR_USAGE, "--%s %s: expected %s", option->name, value, expected);
}

static struct cps_err *set_option(unsigned command, const struct option *option, const char *name,
                                  const char *value, struct cps_options *ret)
{
    if (!option)
        return unknown_option(command, name);
    if (!option->argument && value)
        return cps_err_new(CPS_ERR_USAGE, "--%s takes no argument", option->name);
    if (!value && opt_needs_argument(option))
        return cps_err_new(CPS_ERR_USAGE, "--%s needs an argument: %s", option->name,
                           option->argument);
    CPS_TRY(opt_check_value(command, option, value));
    if (!set_value(ret, option, value ? value : ""))
        return bad_value(option, value);
    ret->given[option - options] = true;
    return NULL;
}

/* Takes the option at argv[*at] with its argument. */
static struct cps_err *take_option(unsigned command, int argc, char **argv, int *at,
                                   struct cps_options *ret)
{
    const char *value = NULL;
    const char *name = argv[*at];
    const struct option *option = find_option(name, command, &value);
    if (option && opt_needs_argument(option) && !value && *at + 1 < argc)
        value = argv[++*at];
    return set_option(command, option, name, value, ret);
}

const char *opt_form(unsigned command, unsigned index, enum opt_form *ret)
{
    static const enum opt_form forms[] = {
        [KIND_FLAG] = OPT_FLAG,  [KIND_TEXT] = OPT_TEXT,    [KIND_LIST] = OPT_LIST,
        [KIND_PATHS] = OPT_LIST, [KIND_COUNT] = OPT_NUMBER, [KIND_INDEX] = OPT_NUMBER,
        [KIND_GEN] = OPT_TEXT,   [KIND_CHIP] = OPT_NUMBER,  [KIND_POLICIES] = OPT_TEXT,
        [KIND_POLICY] = OPT_TEXT};
    for (unsigned i = 0; i < COUNT(options); i++) {
        if (!(options[i].commands >> command & 1) || index--)
            continue;
        *ret = forms[options[i].kind];
        return options[i].name;
    }
    return NULL;
}

struct cps_err *opt_take(unsigned command, const char *name, const char *value,
                         struct cps_options *ret)
{
    const struct option *option = NULL;
    for (unsigned i = 0; i < COUNT(options); i++) {
        if (options[i].commands >> command & 1 && !strcmp(options[i].name, name))
            option = &options[i];
    }
    return set_option(command, option, name, value, ret);
}

struct cps_err *opt_taken(unsigned command, const struct cps_options *opt)
{
    return opt_check(command, opt);
}

bool opt_given(const struct cps_options *opt, const char *name)
{
    bool given = false;
    for (size_t i = 0; i < OPTION_COUNT; i++)
        given |= opt->given[i] && !strcmp(options[i].name, name);
    return given;
}

struct cps_options opt_none(char **arg)
{
    struct cps_options opt = {.run = cps_run_config_default(),
                              .draw = -1,
                              .against = -1,
                              .threads = -1,
                              .cross_check = -1,
                              .hang_after = 500,
                              .arg = arg};
    opt.run.progress = progress_stream;
    return opt;
}

int opt_parse(unsigned command, int argc, char **argv, struct cps_options *ret)
{
    bool only_arguments = false;
    *ret = opt_none(argv);
    for (int i = 0; i < argc; i++) {
        char *arg = argv[i];
        if (!only_arguments && !strcmp(arg, "--")) {
            only_arguments = true;
        } else if (only_arguments || arg[0] != '-' || !arg[1]) {
            ret->arg[ret->arg_count++] = arg;
            only_arguments |= command == OPT_SHIFT_DEVICE; /* the others are the program's */
        } else {
            int status = report_result(take_option(command, argc, argv, &i, ret));
            if (status)
                return status;
        }
    }
    return report_result(opt_check(command, ret));
}
