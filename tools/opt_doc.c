/* SPDX-License-Identifier: MIT
 * Manual page and shell completion, from opt.def. */
#include <stdio.h>
#include <string.h>

#include "tools/opt_table.h"

#define EACH_COMMAND(c) \
    for (const struct command *c = commands; c < commands + sizeof(commands) / sizeof(*c); c++)
#define EACH_OPTION(o, c)                                                                   \
    for (const struct option *o = options; o < options + sizeof(options) / sizeof(*o); o++) \
        if (o->commands >> ((c)-commands) & 1)

/* Puts @p escape in front of every character of @p which. */
static void put(const char *text, const char *which, const char *escape)
{
    for (; *text; text++)
        printf("%s%c", strchr(which, *text) ? escape : "", *text);
}

static void put_roff(const char *text)
{
    put(text, "-\\", "\\");
}

static void man_option(const struct option *o)
{
    printf(".TP\n");
    if (o->letter)
        printf("\\fB\\-%c\\fR, ", o->letter);
    printf("\\fB\\-\\-");
    put_roff(o->name);
    printf("\\fR");
    if (o->argument)
        printf(" \\fI%s\\fR", o->argument);
    printf("\n");
    put_roff(o->help);
    printf("\n");
}

static void man(void)
{
    printf(".TH CPSCOPE 1 \"\" \"cpscope " CPS_VERSION "\" \"User Commands\"\n"
           ".SH NAME\ncpscope \\- run GPU command\\-processor firmware over captured PM4 streams\n"
           ".SH SYNOPSIS\n.B cpscope\n\\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIFILE\\fR]...\n"
           ".SH COMMANDS\n");
    EACH_COMMAND(c)
    {
        printf(".SS ");
        put_roff(c->name);
        printf(" ");
        put_roff(c->arguments);
        printf("\n");
        put_roff(c->help);
        printf(".\n");
        EACH_OPTION(o, c)
        man_option(o);
    }
    printf(".SH EXIT STATUS\n0 fine, 1 a comparison found differences, 2 wrong usage, 3 bad input, "
           "4 the emulated machine stopped early.\n"
           ".SH ENVIRONMENT\n.TP\n.B XDG_CACHE_HOME\nwhere results and machine code are kept.\n"
           ".TP\n.B NO_COLOR\nno colours.\n");
}

static void bash(void)
{
    printf("# bash completion for cpscope\n_cpscope()\n{\n"
           "    local current=${COMP_WORDS[COMP_CWORD]} words=\n    case ${COMP_WORDS[1]} in\n");
    EACH_COMMAND(c)
    {
        printf("    %s) words='", c->name);
        EACH_OPTION(o, c)
        printf("--%s ", o->name);
        printf("--help' ;;\n");
    }
    printf("    esac\n    [ \"$COMP_CWORD\" -gt 1 ] || words='");
    EACH_COMMAND(c)
    printf("%s ", c->name);
    printf("help'\n"
           "    case $current in\n    -*) ;;\n"
           "    *) if [ \"$COMP_CWORD\" -gt 1 ]; then\n"
           "           mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
           "           return\n       fi ;;\n    esac\n"
           "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n}\n"
           "complete -o filenames -F _cpscope cpscope\n");
}

static void zsh(void)
{
    printf("#compdef cpscope\nif (( CURRENT == 2 )); then\n    local -a commands=(\n");
    EACH_COMMAND(c)
    {
        printf("        \"%s:", c->name);
        put(c->help, ":\\\"$`", "\\");
        printf("\"\n");
    }
    printf("    )\n    _describe command commands\n    return\nfi\ncase $words[2] in\n");
    EACH_COMMAND(c)
    {
        printf("%s) _arguments -s", c->name);
        EACH_OPTION(o, c)
        {
            printf(" \\\n    \"*--%s[", o->name);
            put(o->help, "[]:\\\"$`", "\\");
            printf("]%s%s%s\"", o->argument ? ":" : "", o->argument ? o->argument : "",
                   o->argument ? ":_files" : "");
        }
        printf(" \\\n    '*:file:_files' ;;\n");
    }
    printf("esac\n");
}

static void fish(void)
{
    EACH_COMMAND(c)
    {
        printf("complete -c cpscope -n __fish_use_subcommand -a %s -d \"", c->name);
        put(c->help, "\"$\\", "\\");
        printf("\"\n");
        EACH_OPTION(o, c)
        {
            printf("complete -c cpscope -n '__fish_seen_subcommand_from %s' -l %s%s%s%c -d \"",
                   c->name, o->name, o->argument ? " -r" : "", o->letter ? " -s " : "",
                   o->letter ? o->letter : ' ');
            put(o->help, "\"$\\", "\\");
            printf("\"\n");
        }
    }
}

bool opt_document(const char *form)
{
    static const struct {
        const char *form;
        void (*print)(void);
    } forms[] = {{"man", man}, {"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    for (unsigned i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (!strcmp(form, forms[i].form)) {
            forms[i].print();
            return true;
        }
    }
    return false;
}
