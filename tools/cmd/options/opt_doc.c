/* SPDX-License-Identifier: MIT
 * What help says of an option, manual page and shell completion, from opt.def; policies, from
 * policy.def. */
#include <inttypes.h>
#include <string.h>

#include "isa/version.h"
#include "tools/cmd/options/help_hardware.h"
#include "tools/cmd/options/opt_complete.h"
#include "tools/cmd/options/opt_table.h"
#include "tools/cmd/options/opt_value.h"
#include "tools/cmd/options/help_table.h"
#include "tools/cmd/terminal/report.h"
#include "tools/cmd/terminal/text.h"

void opt_option_help(const struct option *o, unsigned command, struct cps_buf *out)
{
    cps_buf_str(out, o->help);
    opt_value_words(command, o, out);
    if (o->engines & AFUC || !opt_takes_engine(command)) /* the default is known */
        return;
    cps_buf_str(out, " (");
    cps_engines_text(o->engines, ", ", out);
    cps_buf_str(out, " only)");
}

/* Words from column @p indent on, wrapped to the terminal's width, and the end of the line. */
static void put_wrapped(const char *text, size_t line, size_t indent, struct cps_buf *out)
{
    help_put_words(text, line, indent, help_width(), out);
    cps_buf_str(out, "\n");
}

static void help_option(const struct option *option, unsigned command, struct cps_buf *out)
{
    enum { INDENT = 29 };
    CPS_BUF head = {0};
    CPS_BUF help = {0};
    if (option->letter)
        cps_buf_printf(&head, "  -%c, --%s", option->letter, option->name);
    else
        cps_buf_printf(&head, "      --%s", option->name);
    if (option->argument)
        cps_buf_printf(&head, "%s%s", opt_needs_argument(option) ? " " : "", option->argument);
    opt_option_help(option, command, &help);
    out->failed = out->failed || head.failed || help.failed;
    size_t line = out->size;
    cps_buf_str(out, cps_buf_text(&head));
    if (head.size >= INDENT) {
        cps_buf_str(out, "\n");
        line = out->size;
    }
    put_wrapped(cps_buf_text(&help), line, INDENT, out);
}

static void help_command(unsigned command, struct cps_buf *out)
{
    const char *group = "Options";
    cps_buf_printf(out, "usage: cpscope %s%s%s\n\n%s\n", commands[command].name,
                   *commands[command].arguments ? " " : "", commands[command].arguments,
                   commands[command].help);
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        if (!options[i].name)
            group = options[i].help;
        if (!(options[i].commands >> command & 1))
            continue;
        if (group)
            cps_buf_printf(out, "\n%s:\n", group);
        group = NULL;
        help_option(&options[i], command, out);
    }
    cps_buf_str(out, "\nExamples:\n");
    for (unsigned i = 0; i < EXAMPLE_COUNT; i++) {
        if (examples[i].command == command)
            cps_buf_printf(out, "  # %s\n  cpscope %s%s%s\n", examples[i].meaning,
                           commands[command].name, *examples[i].arguments ? " " : "",
                           examples[i].arguments);
    }
}

static void help_all(struct cps_buf *out)
{
    cps_buf_str(out,
                "usage: cpscope COMMAND ...\n\n"
                "Runs GPU command-processor firmware over captured PM4 streams.\n\nCommands:\n");
    for (unsigned i = 0; i < OPT_COMMANDS; i++)
        cps_buf_printf(out, "  %-8s %s\n", commands[i].name, commands[i].help);
    cps_buf_str(out, "  help     print this list\n\n"
                     "'cpscope help COMMAND' describes a command, 'cpscope help TOPIC' prints:\n");
    for (unsigned i = 0; i < sizeof(topics) / sizeof(topics[0]); i++)
        cps_buf_printf(out, "    %-9s %-22s %s\n", topics[i].name, topics[i].arguments,
                       topics[i].help);
    cps_buf_str(out, "\nExit status: 0 success, 1 differences found, 2 usage error, 3 bad input,\n"
                     "4 stopped early, nothing ran, or undecided, 5 internal contradiction.\n");
}

int opt_help(int command)
{
    CPS_BUF out = {0};
    if (command >= 0)
        help_command((unsigned)command, &out);
    else
        help_all(&out);
    struct cps_err *err = report_text(&out);
    return err ? report_error(err) : 0;
}

static void put_roff(const char *text, struct cps_buf *out)
{
    opt_put_escaped(text, "-\\", out);
}

static void man_option(const struct option *o, unsigned command, struct cps_buf *out)
{
    CPS_BUF help = {0};
    opt_option_help(o, command, &help);
    cps_buf_printf(out, ".TP\n");
    if (o->letter)
        cps_buf_printf(out, "\\fB\\-%c\\fR, ", o->letter);
    cps_buf_printf(out, "\\fB\\-\\-");
    put_roff(o->name, out);
    cps_buf_printf(out, "\\fR");
    if (o->argument)
        cps_buf_printf(out, "%s\\fI%s\\fR", opt_needs_argument(o) ? " " : "", o->argument);
    cps_buf_printf(out, "\n");
    out->failed = out->failed || help.failed;
    put_roff(cps_buf_text(&help), out);
    cps_buf_printf(out, "\n");
}

static void man_examples(unsigned command, struct cps_buf *out)
{
    cps_buf_printf(out, ".PP\nExamples:\n");
    for (unsigned i = 0; i < EXAMPLE_COUNT; i++) {
        if (examples[i].command != command)
            continue;
        cps_buf_printf(out, ".PP\n");
        put_roff(examples[i].meaning, out);
        cps_buf_printf(out, ":\n.br\n\\fBcpscope %s ", commands[command].name);
        put_roff(examples[i].arguments, out);
        cps_buf_printf(out, "\\fR\n");
    }
}

static void help_man(struct cps_buf *out)
{
    cps_buf_printf(
        out,
        ".TH CPSCOPE 1 \"\" \"cpscope " CPS_VERSION "\" \"User Commands\"\n"
        ".SH NAME\ncpscope \\- run GPU command\\-processor firmware over captured PM4 streams\n"
        ".SH SYNOPSIS\n.B cpscope\n\\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIFILE\\fR]...\n"
        ".SH COMMANDS\n");
    EACH_COMMAND(c)
    {
        cps_buf_printf(out, ".SS ");
        put_roff(c->name, out);
        cps_buf_printf(out, " ");
        put_roff(c->arguments, out);
        cps_buf_printf(out, "\n");
        put_roff(c->help, out);
        cps_buf_printf(out, ".\n");
        EACH_OPTION(o, c)
        man_option(o, (unsigned)(c - commands), out);
        man_examples((unsigned)(c - commands), out);
    }
    cps_buf_printf(out, ".SS help ");
    put_roff("[COMMAND | TOPIC]", out);
    cps_buf_printf(out, "\nsay what a command takes, or print a topic.\n");
    EACH_TOPIC(topic)
    {
        cps_buf_printf(out, ".TP\n\\fBhelp %s\\fR ", topic->name);
        put_roff(topic->arguments, out);
        cps_buf_printf(out, "\n");
        put_roff(topic->help, out);
        cps_buf_printf(out, "\n");
    }
    cps_buf_printf(
        out,
        ".SH EXIT STATUS\n0 fine, 1 a comparison found differences, 2 wrong usage, 3 bad input, "
        "4 the emulated machine stopped early, nothing ran, or a question stays undecided.\n"
        ".SH ENVIRONMENT\n.TP\n.B XDG_CACHE_HOME\nwhere results are stored.\n"
        ".TP\n.B NO_COLOR\nno colours, unless \\fB\\-\\-color always\\fR asks for them.\n");
}

static void put_policy(const struct cps_policy_row *row, unsigned group, struct cps_buf *out)
{
    enum { INDENT = 6 };
    CPS_BUF others = {0};
    CPS_BUF meaning = {0};
    cps_buf_printf(out, "  %s=", row->name);
    /* "satisfy|stop"; "N" of a number */
    for (const char *word = *row->words == '#' ? "N" : row->words; *word;) {
        size_t length = strcspn(word, " ");
        cps_buf_add(out, word, length);
        word += length + strspn(word + length, " ");
        cps_buf_str(out, *word ? "|" : "");
    }
    if (row->engines != group) {
        cps_engines_text(row->engines & ~group, ", ", &others);
        cps_buf_printf(out, "  (also %s)", cps_buf_text(&others));
    }
    cps_buf_str(out, "\n");
    cps_buf_str(&meaning, row->meaning);
    if (*row->words == '#')
        cps_buf_printf(&meaning, " (default: %" PRIu64 ")", row->initial);
    out->failed = out->failed || others.failed || meaning.failed;
    put_wrapped(cps_buf_text(&meaning), out->size, INDENT, out);
}

/* A policy of several engines is listed with the first of them, its lowest bit. */
static void help_policy(struct cps_buf *out)
{
    size_t count = 0;
    const struct cps_policy_row *rows = cps_policy_rows(&count);
    put_wrapped("Policies set what the rest of the GPU does. They are set by --policy "
                "\"NAME=WORD ...\", by `policy` lines of run files and manifests, and by "
                "\"# policy\" in a trace. The first word of each is the default. Below, they are "
                "grouped by --engine; Adreno firmware is afuc.",
                out->size, 0, out);
    for (unsigned group = AFUC; group <= VP1; group <<= 1) {
        cps_buf_str(out, "\n");
        cps_engines_text(group, "", out);
        cps_buf_str(out, ":\n");
        for (size_t i = 0; i < count; i++) {
            if (rows[i].engines & group && rows[i].engines % group == 0)
                put_policy(&rows[i], group, out);
        }
    }
}

#define PLAIN(name)  .print = help_##name
#define TABLES(name) .print_tables = help_##name

static int print_plain(void (*print)(struct cps_buf *out))
{
    CPS_BUF out = {0};
    print(&out);
    struct cps_err *err = report_text(&out);
    return err ? report_error(err) : 0;
}

bool opt_document(int count, char **arg, int *ret)
{
    static const struct {
        const char *name;
        void (*print)(struct cps_buf *out);
        int (*print_tables)(int count, char **arg);
    } forms[] = {
#define TOPIC(name, form, ...) {#name, form(name)},
#include "tools/cmd/options/opt.def"
    };
    for (unsigned i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (strcmp(arg[0], forms[i].name) != 0)
            continue;
        *ret = forms[i].print ? print_plain(forms[i].print)
                              : forms[i].print_tables(count - 1, arg + 1);
        return true;
    }
    return false;
}
