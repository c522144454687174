/* SPDX-License-Identifier: MIT
 * Completion for shells, from opt.def. */
#include "tools/cmd/options/opt_complete.h"

#include <string.h>

#include "tools/cmd/options/help_hardware.h"
#include "tools/cmd/options/opt_table.h"
#include "tools/cmd/options/opt_value.h"

void opt_put_escaped(const char *text, const char *which, struct cps_buf *out)
{
    for (; *text; text++)
        cps_buf_printf(out, "%s%c", strchr(which, *text) ? "\\" : "", *text);
}

static void put_tables(struct cps_buf *out)
{
    help_hardware_names(" ", out);
}

static void put_commands(struct cps_buf *out)
{
    EACH_COMMAND(c)
    cps_buf_printf(out, "%s ", c->name);
}

static enum opt_completion completion(const struct option *o, unsigned command)
{
    return opt_needs_argument(o) ? opt_completion(command, o->name, o->argument)
                                 : OPT_COMPLETE_NONE;
}

/* NAME='--to -t ...': the options of a command whose values are completed one way. */
static void bash_options(const char *name, const struct command *c, enum opt_completion how,
                         bool lists, struct cps_buf *out)
{
    unsigned command = (unsigned)(c - commands);
    cps_buf_printf(out, " %s='", name);
    EACH_OPTION(o, c)
    {
        if (!opt_needs_argument(o) || completion(o, command) != how ||
            (lists && !opt_is_list(command, o->name)))
            continue;
        cps_buf_printf(out, "--%s ", o->name);
        if (o->letter)
            cps_buf_printf(out, "-%c ", o->letter);
    }
    cps_buf_str(out, "'");
}

/* What the function does with the names that it got by then. The command line is taken apart at
 * blanks: bash does it at = and :, too, and leaves it to us to put only what is behind them. */
static const char bash_end[] =
    "    esac\n"
    "    local begin=$current previous=${before[${#before[@]}-1]} what=behind\n"
    "    case $current in --*=*) previous=${current%%=*} begin=${current#*=} ;; esac\n"
    "    case \" $files \" in *\" $previous \"*) what=files ;; esac\n"
    "    case \" $dirs \" in *\" $previous \"*) what=dirs ;; esac\n"
    "    case \" $none \" in *\" $previous \"*) what=none ;; esac\n"
    "    case \" $values \" in *\" $previous \"*) what=values ;; esac\n"
    "    case \" $lists \" in *\" $previous \"*) compopt -o nospace 2>/dev/null ;; esac\n"
    "    case $what$current in behind-*) what=options ;; esac\n"
    "    [ \"$command\" != help ] || what=options\n"
    "    case $what in\n"
    "    files) mapfile -t COMPREPLY < <(compgen -f -- \"$begin\") ;;\n"
    "    dirs) mapfile -t COMPREPLY < <(compgen -d -- \"$begin\") ;;\n"
    "    values) _cpscope_values \"$previous\" ;;\n"
    "    options) mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\") ;;\n"
    "    behind)\n"
    "        [ -z \"$behind$begin\" ] || [ -z \"$behind\" ] || _cpscope_values \"$behind\"\n"
    "        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$begin\") ;;\n"
    "    esac\n"
    "    local cut=${begin%\"${begin##*[=:]}\"}\n"
    "    [ -z \"$cut\" ] || COMPREPLY=(\"${COMPREPLY[@]#\"$cut\"}\")\n"
    "}\n"
    "complete -o filenames -F _cpscope cpscope\n";

void help_bash(struct cps_buf *out)
{
    cps_buf_str(out,
                "# bash completion for cpscope\n"
                "_cpscope_values()\n{\n"
                "    mapfile -t COMPREPLY < <(\"${before[0]/#\\~/$HOME}\" help values \"$command\" "
                "\"$1\" \"$begin\" \"${before[@]:2}\" 2>/dev/null)\n}\n"
                "_cpscope()\n{\n"
                "    local line=${COMP_LINE:0:COMP_POINT}\n"
                "    local current=${line##*[[:blank:]]}\n"
                "    local options= files= dirs= none= values= lists= behind= command=\n"
                "    local -a before\n"
                "    read -ra before <<<\"${line%\"$current\"}\"\n"
                "    COMPREPLY=()\n    command=${before[1]}\n"
                "    if [ ${#before[@]} -lt 2 ]; then\n        mapfile -t COMPREPLY < <(compgen -W "
                "'");
    put_commands(out);
    cps_buf_str(out, "help' -- \"$current\")\n        return\n    fi\n    case $command in\n");
    EACH_COMMAND(c)
    {
        const char *behind = opt_behind((unsigned)(c - commands));
        cps_buf_printf(out, "    %s) options='", c->name);
        EACH_OPTION(o, c)
        cps_buf_printf(out, "--%s ", o->name);
        cps_buf_str(out, "'\n       ");
        bash_options("files", c, OPT_COMPLETE_FILES, false, out);
        bash_options("dirs", c, OPT_COMPLETE_DIRS, false, out);
        bash_options("none", c, OPT_COMPLETE_NONE, false, out);
        cps_buf_str(out, "\n       ");
        bash_options("values", c, OPT_COMPLETE_WORDS, false, out);
        bash_options("lists", c, OPT_COMPLETE_WORDS, true, out);
        cps_buf_printf(out, " behind='%s' ;;\n", behind ? behind : "");
    }
    cps_buf_str(out, "    help) options='");
    put_commands(out);
    EACH_TOPIC(topic)
    cps_buf_printf(out, "%s ", topic->name);
    cps_buf_str(out, "'\n          [ ${#before[@]} -eq 2 ] || options='--json all ");
    put_tables(out);
    cps_buf_str(out, "' ;;\n");
    cps_buf_str(out, bash_end);
}

static void zsh_value(const struct option *o, unsigned command, struct cps_buf *out)
{
    if (!opt_needs_argument(o))
        return;
    cps_buf_str(out, ":");
    opt_put_escaped(o->argument, ":", out);
    cps_buf_str(out, ":");
    switch (completion(o, command)) {
    case OPT_COMPLETE_WORDS:
        cps_buf_printf(out, " _cpscope_values --%s%s", o->name, /* a blank: no more arguments */
                       opt_is_list(command, o->name) ? " list" : "");
        break;
    case OPT_COMPLETE_FILES:
        cps_buf_str(out, "_files");
        break;
    case OPT_COMPLETE_DIRS:
        cps_buf_str(out, "_files -/");
        break;
    default:
        cps_buf_str(out, " ");
    }
}

static void zsh_option(const struct option *o, unsigned command, struct cps_buf *out)
{
    CPS_BUF help = {0};
    const char *equals = opt_needs_argument(o) ? "=" : "";
    opt_option_help(o, command, &help);
    out->failed = out->failed || help.failed;
    if (o->letter)
        cps_buf_printf(out, " \\\n    \"*\"{-%c%s,--%s%s}\"[", o->letter,
                       opt_needs_argument(o) ? "+" : "", o->name, equals);
    else
        cps_buf_printf(out, " \\\n    \"*--%s%s[", o->name, equals);
    opt_put_escaped(cps_buf_text(&help), "[]:\\\"$`", out);
    cps_buf_str(out, "]");
    zsh_value(o, command, out);
    cps_buf_str(out, "\"");
}

void help_zsh(struct cps_buf *out)
{
    cps_buf_str(out, "#compdef cpscope\n"
                     "_cpscope_values() {\n    local -a found suffix\n"
                     "    [[ $2 != list ]] || suffix=(-S '')\n"
                     "    found=(${(f)\"$($whole[1] help values $whole[2] $1 \"$PREFIX\" "
                     "${whole[3,-1]} 2>/dev/null)\"})\n"
                     "    compadd \"${suffix[@]}\" -a found\n}\n"
                     "local -a whole=($words)\n");
    cps_buf_str(out, "if (( CURRENT == 2 )); then\n    local -a commands=(\n");
    EACH_COMMAND(c)
    {
        cps_buf_printf(out, "        \"%s:", c->name);
        opt_put_escaped(c->help, ":\\\"$`", out);
        cps_buf_str(out, "\"\n");
    }
    cps_buf_str(out, "    )\n    _describe command commands\n    return\nfi\n");
    cps_buf_str(out, "case $words[2] in\n");
    EACH_COMMAND(c)
    {
        unsigned command = (unsigned)(c - commands);
        cps_buf_printf(out, "%s) _arguments -s", c->name);
        EACH_OPTION(o, c)
        zsh_option(o, command, out);
        if (opt_behind(command))
            cps_buf_printf(out, " \\\n    '*:file:{ _cpscope_values %s; _files }' ;;\n",
                           opt_behind(command));
        else
            cps_buf_str(out, " \\\n    '*:file:_files' ;;\n");
    }
    cps_buf_str(out, "help) if (( CURRENT == 3 )); then compadd ");
    put_commands(out);
    EACH_TOPIC(topic)
    cps_buf_printf(out, "%s ", topic->name);
    cps_buf_str(out, "; else compadd -- --json all ");
    put_tables(out);
    cps_buf_str(out, "; fi ;;\nesac\n");
}

static void fish_option(const struct option *o, const struct command *c, struct cps_buf *out)
{
    CPS_BUF help = {0};
    opt_option_help(o, (unsigned)(c - commands), &help);
    out->failed = out->failed || help.failed;
    cps_buf_printf(out, "complete -c cpscope -n '__fish_seen_subcommand_from %s' -l %s", c->name,
                   o->name);
    if (o->letter)
        cps_buf_printf(out, " -s %c", o->letter);
    switch (completion(o, (unsigned)(c - commands))) {
    case OPT_COMPLETE_WORDS:
        cps_buf_printf(out, " -x -a '(__cpscope_values %s --%s)'", c->name, o->name);
        break;
    case OPT_COMPLETE_FILES:
        cps_buf_str(out, " -r -F");
        break;
    case OPT_COMPLETE_DIRS:
        cps_buf_str(out, " -x -a '(__fish_complete_directories)'");
        break;
    default:
        cps_buf_str(out, opt_needs_argument(o) ? " -x" : "");
    }
    cps_buf_str(out, " -d \"");
    opt_put_escaped(cps_buf_text(&help), "\"$\\", out);
    cps_buf_str(out, "\"\n");
}

void help_fish(struct cps_buf *out)
{
    cps_buf_str(out, "function __cpscope_values\n"
                     "    set -l line (commandline -opc)\n"
                     "    set -l begin (commandline -ct | string replace -r -- '^--[^=]*=' '')\n"
                     "    $line[1] help values $argv \"$begin\" $line[3..-1] 2>/dev/null\nend\n");
    EACH_COMMAND(c)
    {
        const char *behind = opt_behind((unsigned)(c - commands));
        cps_buf_printf(out, "complete -c cpscope -n __fish_use_subcommand -a %s -d \"", c->name);
        opt_put_escaped(c->help, "\"$\\", out);
        cps_buf_str(out, "\"\n");
        EACH_OPTION(o, c)
        fish_option(o, c, out);
        if (behind)
            cps_buf_printf(out,
                           "complete -c cpscope -n '__fish_seen_subcommand_from %s' -a "
                           "'(__cpscope_values %s %s)'\n",
                           c->name, c->name, behind);
    }
    EACH_TOPIC(topic)
    cps_buf_printf(out,
                   "complete -c cpscope -n '__fish_seen_subcommand_from help' -f -a %s -d \"%s\"\n",
                   topic->name, topic->help);
    cps_buf_str(out, "complete -c cpscope -n '__fish_seen_subcommand_from hardware' -f -a '");
    put_tables(out);
    cps_buf_str(out, "'\n");
}
