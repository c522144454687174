/* SPDX-License-Identifier: MIT
 * What help says of an option, manual page and shell completion, from opt.def; policies, from
 * policy.def. */
#include <inttypes.h>
#include <string.h>

#include "isa/version.h"
#include "tools/help_hardware.h"
#include "tools/opt_table.h"
#include "tools/report/report.h"
#include "tools/report/text.h"

#define EACH_COMMAND(c) \
    for (const struct command *c = commands; c < commands + sizeof(commands) / sizeof(*c); c++)
#define EACH_OPTION(o, c)                                                                   \
    for (const struct option *o = options; o < options + sizeof(options) / sizeof(*o); o++) \
        if (o->commands >> ((c)-commands) & 1)
#define EACH_TOPIC(t) \
    for (const struct topic *t = topics; t < topics + sizeof(topics) / sizeof(*t); t++)

/* "satisfy, stop"; "N" of a number. */
static void put_words(const struct cps_policy_row *row, const char *between, struct cps_buf *out)
{
    for (const char *word = *row->words == '#' ? "N" : row->words; *word;) {
        size_t length = strcspn(word, " ");
        cps_buf_add(out, word, length);
        word += length + strspn(word + length, " ");
        cps_buf_str(out, *word ? between : "");
    }
}

void opt_option_help(const struct option *o, unsigned command, struct cps_buf *out)
{
    cps_buf_str(out, o->help);
    if (o->kind == KIND_POLICY) {
        cps_buf_str(out, ": ");
        put_words(cps_policy_row(o->name, strlen(o->name)), ", ", out);
    }
    if (o->engines == ALL || !opt_takes_engine(command))
        return;
    cps_buf_str(out, " (");
    cps_engines_text(o->engines, ", ", out);
    cps_buf_str(out, " only)");
}

/* Puts @p escape in front of every character of @p which. */
static void put(const char *text, const char *which, const char *escape, struct cps_buf *out)
{
    for (; *text; text++)
        cps_buf_printf(out, "%s%c", strchr(which, *text) ? escape : "", *text);
}

static void put_roff(const char *text, struct cps_buf *out)
{
    put(text, "-\\", "\\", out);
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

static void man(struct cps_buf *out)
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
        "4 the emulated machine stopped early.\n"
        ".SH ENVIRONMENT\n.TP\n.B XDG_CACHE_HOME\nwhere results and machine code are kept.\n"
        ".TP\n.B NO_COLOR\nno colours.\n");
}

static void put_tables(struct cps_buf *out)
{
    help_hardware_names(" ", out);
}

static void bash(struct cps_buf *out)
{
    cps_buf_printf(
        out, "# bash completion for cpscope\n_cpscope()\n{\n"
             "    local current=${COMP_WORDS[COMP_CWORD]} words=\n    case ${COMP_WORDS[1]} in\n");
    EACH_COMMAND(c)
    {
        cps_buf_printf(out, "    %s) words='", c->name);
        EACH_OPTION(o, c)
        cps_buf_printf(out, "--%s ", o->name);
        cps_buf_printf(out, "--help' ;;\n");
    }
    cps_buf_printf(out, "    help) words='");
    EACH_COMMAND(c)
    cps_buf_printf(out, "%s ", c->name);
    EACH_TOPIC(topic)
    cps_buf_printf(out, "%s ", topic->name);
    cps_buf_printf(out, "'\n          [ \"$COMP_CWORD\" -eq 2 ] || words='--json all ");
    put_tables(out);
    cps_buf_printf(out, "' ;;\n    esac\n    [ \"$COMP_CWORD\" -gt 1 ] || words='");
    EACH_COMMAND(c)
    cps_buf_printf(out, "%s ", c->name);
    cps_buf_printf(out,
                   "help'\n"
                   "    case $current in\n    -*) ;;\n"
                   "    *) if [ \"$COMP_CWORD\" -gt 1 ] && [ \"${COMP_WORDS[1]}\" != help ]; then\n"
                   "           mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
                   "           return\n       fi ;;\n    esac\n"
                   "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n}\n"
                   "complete -o filenames -F _cpscope cpscope\n");
}

static void zsh(struct cps_buf *out)
{
    cps_buf_printf(out, "#compdef cpscope\nif (( CURRENT == 2 )); then\n    local -a commands=(\n");
    EACH_COMMAND(c)
    {
        cps_buf_printf(out, "        \"%s:", c->name);
        put(c->help, ":\\\"$`", "\\", out);
        cps_buf_printf(out, "\"\n");
    }
    cps_buf_printf(out,
                   "    )\n    _describe command commands\n    return\nfi\ncase $words[2] in\n");
    EACH_COMMAND(c)
    {
        cps_buf_printf(out, "%s) _arguments -s", c->name);
        EACH_OPTION(o, c)
        {
            CPS_BUF help = {0};
            opt_option_help(o, (unsigned)(c - commands), &help);
            cps_buf_printf(out, " \\\n    \"*--%s[", o->name);
            out->failed = out->failed || help.failed;
            put(cps_buf_text(&help), "[]:\\\"$`", "\\", out);
            bool needs = opt_needs_argument(o);
            cps_buf_printf(out, "]%s%s%s\"", needs ? ":" : "", needs ? o->argument : "",
                           needs ? ":_files" : "");
        }
        cps_buf_printf(out, " \\\n    '*:file:_files' ;;\n");
    }
    cps_buf_printf(out, "help) if (( CURRENT == 3 )); then compadd");
    EACH_COMMAND(c)
    cps_buf_printf(out, " %s", c->name);
    EACH_TOPIC(topic)
    cps_buf_printf(out, " %s", topic->name);
    cps_buf_printf(out, "; else compadd -- --json all ");
    put_tables(out);
    cps_buf_printf(out, "; fi ;;\nesac\n");
}

static void fish(struct cps_buf *out)
{
    EACH_COMMAND(c)
    {
        cps_buf_printf(out, "complete -c cpscope -n __fish_use_subcommand -a %s -d \"", c->name);
        put(c->help, "\"$\\", "\\", out);
        cps_buf_printf(out, "\"\n");
        EACH_OPTION(o, c)
        {
            CPS_BUF help = {0};
            opt_option_help(o, (unsigned)(c - commands), &help);
            cps_buf_printf(
                out, "complete -c cpscope -n '__fish_seen_subcommand_from %s' -l %s%s%s%c -d \"",
                c->name, o->name, opt_needs_argument(o) ? " -r" : "", o->letter ? " -s " : "",
                o->letter ? o->letter : ' ');
            out->failed = out->failed || help.failed;
            put(cps_buf_text(&help), "\"$\\", "\\", out);
            cps_buf_printf(out, "\"\n");
        }
    }
    EACH_TOPIC(topic)
    cps_buf_printf(out,
                   "complete -c cpscope -n '__fish_seen_subcommand_from help' -f -a %s -d \"%s\"\n",
                   topic->name, topic->help);
    cps_buf_printf(out, "complete -c cpscope -n '__fish_seen_subcommand_from hardware' -f -a '");
    put_tables(out);
    cps_buf_printf(out, "'\n");
}

static void policy(struct cps_buf *out)
{
    size_t count = 0;
    const struct cps_policy_row *rows = cps_policy_rows(&count);
    cps_buf_printf(
        out,
        "What shapes a run: --policy \"NAME=WORD ...\", `policy` lines of run files and manifests, "
        "\"# policy\" of traces.\n\n");
    for (size_t i = 0; i < count; i++) {
        CPS_BUF setting = {0};
        CPS_BUF engines = {0};
        cps_buf_printf(&setting, "%s=", rows[i].name);
        put_words(&rows[i], "|", &setting);
        cps_engines_text(rows[i].engines, ", ", &engines);
        out->failed = out->failed || setting.failed || engines.failed;
        cps_buf_printf(out, "  %-34s %-16s %s", cps_buf_text(&setting), cps_buf_text(&engines),
                       rows[i].meaning);
        cps_buf_printf(out, *rows[i].words == '#' ? " (%" PRIu64 ")\n" : "\n", rows[i].initial);
    }
    cps_buf_printf(out, "\nDefault: the first word, or the number in parentheses.\n");
}

#define PLAIN(name)  .print = name
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
#include "tools/opt.def"
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
