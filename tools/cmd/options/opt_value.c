/* SPDX-License-Identifier: MIT
 * What the values of options can be: value.def's rows over the tables that have the words. */
#include "tools/cmd/options/opt_value.h"

#include <stdio.h>
#include <string.h>

#include "isa/isa.h"
#include "tools/cmd/options/opt_near.h"
#include "tools/cmd/options/opt_table.h"
#include "tools/cmd/terminal/report.h"
#include "tools/cmd/terminal/text.h"
#include "trace/event/event.h"
#include "trace/form/text.h"
#include "trace/form/trace.h"

/* A list that the help of an option shows is not longer than this. */
enum { MOST_SHOWN = 200, MOST_PACKETS = 0x80, MOST_REGISTERS = 0x40000 };

struct ask {
    unsigned command;
    const char *option;
    const char *begin;  /* only words that begin so are of interest */
    const char *engine; /* NULL: any */
    enum cps_gen gen;   /* whose registers */
};

static void put_line(struct cps_buf *out, const char *word)
{
    cps_buf_str(out, word);
    cps_buf_str(out, "\n");
}

/* Words with blanks between. */
static void put_words(const char *words, struct cps_buf *out)
{
    for (; *words; words++)
        cps_buf_add(out, *words == ' ' ? "\n" : words, 1);
    cps_buf_str(out, "\n");
}

static void trace_forms(const struct ask *ask, struct cps_buf *out)
{
    (void)ask;
    for (unsigned i = 0; i < CPS_FORM_COUNT; i++)
        put_line(out, cps_trace_form_word((enum cps_trace_form)i));
}

static void profile_forms(const struct ask *ask, struct cps_buf *out)
{
    (void)ask;
#define FORM(word) put_line(out, #word);
#include "tools/explain/profile/form.def"
}

/* Each once: several kinds share a class. */
static void event_classes(const struct ask *ask, struct cps_buf *out)
{
    static const char *const classes[] = {
#define EVENT(id, keyword, class, ...) class,
#include "trace/event/event.def"
    };
    (void)ask;
    put_words("all default", out);
    for (unsigned i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        unsigned before = 0;
        while (strcmp(classes[before], classes[i]) != 0)
            before++;
        if (before == i)
            put_line(out, classes[i]);
    }
}

static void engines(const struct ask *ask, struct cps_buf *out)
{
    const struct cps_isa *last = NULL;
    (void)ask;
    for (unsigned gen = CPS_GEN_NONE + 1; gen < CPS_GEN_COUNT; gen++) {
        const struct cps_isa *isa = cps_gen_isa((enum cps_gen)gen);
        if (isa != last)
            put_line(out, cps_isa_name(isa));
        last = isa;
    }
}

/* Whether a generation of another engine has the same word, where no engine was said. */
static bool listed_before(unsigned gen, const char *engine)
{
    const struct cps_gen_row *row = cps_gen_row((enum cps_gen)gen);
    for (unsigned i = CPS_GEN_NONE + 1; i < gen && !engine; i++) {
        const struct cps_gen_row *other = cps_gen_row((enum cps_gen)i);
        if (!strcmp(other->option, row->option) && !strcmp(other->word, row->word))
            return true;
    }
    return false;
}

/* The words that an option like --gen takes, of the engine that was said. */
static void put_gens(const struct ask *ask, const char *option, struct cps_buf *out)
{
    for (unsigned gen = CPS_GEN_NONE + 1; gen < CPS_GEN_COUNT; gen++) {
        const struct cps_gen_row *row = cps_gen_row((enum cps_gen)gen);
        bool wanted = !ask->engine || !strcmp(ask->engine, cps_isa_name(row->isa));
        if (wanted && !strcmp(row->option, option) && !listed_before(gen, ask->engine))
            put_line(out, row->word);
    }
}

static void generations(const struct ask *ask, struct cps_buf *out)
{
    put_gens(ask, "gen", out);
}

static void chips(const struct ask *ask, struct cps_buf *out)
{
    put_gens(ask, ask->option, out);
}

static void styles(const struct ask *ask, struct cps_buf *out)
{
    (void)ask;
#define STYLE(id, word, ...) put_line(out, word);
#include "isa/style.def"
}

static void oracles(const struct ask *ask, struct cps_buf *out)
{
    (void)ask;
    put_line(out, "all");
#define ORACLE(id, name, ...) put_line(out, name);
#include "tools/explain/fuzz/oracle.def"
}

static void levels(const struct ask *ask, struct cps_buf *out)
{
    (void)ask;
    for (unsigned i = CPS_LEVEL_RB; i <= CPS_LEVEL_INT; i++)
        put_line(out, cps_event_sub_word(CPS_EV_PKT, i));
}

/* Those that draw. */
static void processors(const struct ask *ask, struct cps_buf *out)
{
    (void)ask;
    for (unsigned who = 0; who < CPS_CPU_NONE; who++)
        put_line(out, cps_processor_name(who));
}

/* NAME=WORD of every policy, NAME= of those that take a number. */
static void policies(const struct ask *ask, struct cps_buf *out)
{
    size_t count = 0;
    const struct cps_policy_row *rows = cps_policy_rows(&count);
    unsigned of = ask->engine ? cps_engines_named(ask->engine) : CPS_ON_ALL;
    for (size_t i = 0; i < count; i++) {
        const char *word = *rows[i].words == '#' ? "" : rows[i].words;
        if (!(rows[i].engines & of))
            continue;
        do {
            size_t length = strcspn(word, " ");
            cps_buf_printf(out, "%s=%.*s\n", rows[i].name, (int)length, word);
            word += length + strspn(word + length, " ");
        } while (*word);
    }
}

static void policy_words(const struct ask *ask, struct cps_buf *out)
{
    put_words(cps_policy_row(ask->option, strlen(ask->option))->words, out);
}

static void put_names(const struct ask *ask, enum cps_space space, uint32_t most,
                      struct cps_buf *out)
{
    struct cps_names *names = NULL;
    cps_err_free(cps_names_create(cps_gen_layout(ask->gen), NULL, &names));
    for (uint32_t i = 0; names && i < most; i++) {
        unsigned part = 0;
        const char *name = cps_name(names, space, i, &part);
        if (name && !part && !strncmp(name, ask->begin, strlen(ask->begin)))
            put_line(out, name);
    }
    cps_names_destroy(names);
}

static void packets(const struct ask *ask, struct cps_buf *out)
{
    put_names(ask, CPS_SPACE_PACKET, MOST_PACKETS, out);
}

static void registers(const struct ask *ask, struct cps_buf *out)
{
    put_names(ask, CPS_SPACE_GPU, MOST_REGISTERS, out);
}

enum { ALSO, ONLY };

static const struct value {
    const char *name;
    unsigned commands;
    bool only;
    char between; /* 0: one value */
    const char *words;
    void (*put)(const struct ask *ask, struct cps_buf *out); /* NULL: `words` */
} values[] = {
#define ONE                                      0
#define SAID(text)                               .words = (text)
#define TABLE(of)                                .put = (of)
#define VALUE(name, commands, rule, between, of) {name, commands, rule, between, of},
#include "tools/cmd/options/value.def"
};

static const struct value *find(unsigned command, const char *name)
{
    for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        if (values[i].commands >> command & 1 && !strcmp(values[i].name, name))
            return &values[i];
    }
    return NULL;
}

/* All words, a line each. */
static void list(const struct value *value, const struct ask *ask, struct cps_buf *out)
{
    if (value->words)
        put_words(value->words, out);
    else
        value->put(ask, out);
}

static struct ask ask_for(unsigned command, const char *option)
{
    return (struct ask){.command = command, .option = option, .begin = "", .gen = CPS_A6XX};
}

/* Appends lines with commas between them. @param last  what stands before the last one instead */
static void join(const struct cps_buf *lines, const char *last, struct cps_buf *out)
{
    const char *at = cps_buf_text(lines);
    for (const char *end = NULL; (end = strchr(at, '\n')); at = end + 1) {
        const char *next = end[1] ? strchr(end + 1, '\n') : NULL;
        cps_buf_add(out, at, (size_t)(end - at));
        cps_buf_str(out, !next ? "" : next[1] ? ", " : last);
    }
}

void opt_value_words(unsigned command, const struct option *option, struct cps_buf *out)
{
    const struct value *value = find(command, option->name);
    const struct ask ask = ask_for(command, option->name);
    CPS_BUF lines = {0};
    if (!value || !(value->only || option->kind == KIND_POLICY))
        return;
    list(value, &ask, &lines);
    out->failed = out->failed || lines.failed;
    if (lines.size > MOST_SHOWN)
        return;
    cps_buf_str(out, ": ");
    join(&lines, ", ", out);
}

/* Whether a list has a word; @p near gets the one that may have been meant. */
static bool has(const struct cps_buf *lines, const char *word, size_t length, struct near *near)
{
    const char *at = cps_buf_text(lines);
    for (const char *end = NULL; (end = strchr(at, '\n')); at = end + 1) {
        if ((size_t)(end - at) == length && !memcmp(at, word, length))
            return true;
        near_try(word, length, at, (size_t)(end - at), near);
    }
    return false;
}

/* @param text  what was said; @p length bytes of it are what nothing is called */
static struct cps_err *refuse(const struct option *option, const char *text, size_t length,
                              const struct cps_buf *lines, const struct near *near)
{
    CPS_BUF known = {0};
    char meant[80];
    join(lines, " or ", &known);
    if (lines->failed || known.failed)
        return cps_err_nomem();
    /* Of generations, none is nearer than another. */
    const char *hint = option->kind == KIND_GEN ? "" : near_text(near, "", meant, sizeof(meant));
    return cps_err_new(CPS_ERR_USAGE, "--%s %.*s: expected %s%s", option->name, (int)length, text,
                       cps_buf_text(&known), hint);
}

struct cps_err *opt_check_value(unsigned command, const struct option *option, const char *text)
{
    const struct value *value = text ? find(command, option->name) : NULL;
    const struct ask ask = ask_for(command, option->name);
    const char between[] = {value ? value->between : '\0', '\0'};
    CPS_BUF lines = {0};
    if (!value || !value->only)
        return NULL;
    list(value, &ask, &lines);
    for (const char *at = text; at;) {
        size_t length = strcspn(at, between);
        struct near near = {0};
        if (lines.failed || !has(&lines, at, length, &near))
            return refuse(option, length ? at : text, length ? length : strlen(text), &lines,
                          &near);
        at = at[length] ? at + length + 1 : NULL;
    }
    return NULL;
}

enum opt_completion opt_completion(unsigned command, const char *name, const char *argument)
{
    if (find(command, name))
        return OPT_COMPLETE_WORDS;
    if (strstr(argument, "DIR"))
        return OPT_COMPLETE_DIRS;
    return strstr(argument, "FILE") || strstr(argument, "DUMP") ? OPT_COMPLETE_FILES
                                                                : OPT_COMPLETE_NONE;
}

bool opt_is_list(unsigned command, const char *name)
{
    const struct value *value = find(command, name);
    return value && value->between;
}

const char *opt_behind(unsigned command)
{
    for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        if (values[i].commands >> command & 1 && values[i].name[0] >= 'A' &&
            values[i].name[0] <= 'Z')
            return values[i].name;
    }
    return NULL;
}

/* The option of a command that "--to", "-t" or "to" names. */
static const char *name_of(unsigned command, const char *text)
{
    const char *name = text + strspn(text, "-");
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        const struct option *o = &options[i];
        bool letter = text[0] == '-' && text[1] == o->letter && o->letter && !text[2];
        if (o->commands >> command & 1 && (letter || !strcmp(o->name, name)))
            return o->name;
    }
    return name;
}

/* What the rest of the command line says about the words: --engine and --gen. */
static void read_rest(int count, char **arg, struct ask *ask)
{
    for (int i = 0; i + 1 < count; i++) {
        enum cps_gen gen = CPS_GEN_NONE;
        if (!strcmp(arg[i], "--engine"))
            ask->engine = arg[i + 1];
        if ((!strcmp(arg[i], "--gen") || !strcmp(arg[i], "-g")) && cps_gen_parse(arg[i + 1], &gen))
            ask->gen = gen;
    }
}

/* Which options of which commands have a table. */
static void put_rows(struct cps_buf *out)
{
    EACH_COMMAND(c)
    {
        cps_buf_printf(out, "%s:", c->name);
        EACH_OPTION(o, c)
        cps_buf_printf(out, "%s%s", find((unsigned)(c - commands), o->name) ? " --" : "",
                       find((unsigned)(c - commands), o->name) ? o->name : "");
        const char *behind = opt_behind((unsigned)(c - commands));
        cps_buf_printf(out, "%s%s\n", behind ? " " : "", behind ? behind : "");
    }
    cps_buf_str(out, "\n'cpscope help values COMMAND OPTION' lists one.\n");
}

int help_values(int count, char **arg)
{
    CPS_BUF out = {0};
    int command = count > 1 ? opt_command(arg[0]) : -1;
    if (!count) {
        put_rows(&out);
        return report_result(report_text(&out));
    }
    if (command < 0)
        return report_usage("help values takes COMMAND OPTION [BEGIN]");
    const char *name = name_of((unsigned)command, arg[1]);
    const struct value *value = find((unsigned)command, name);
    struct ask ask = ask_for((unsigned)command, name);
    if (!value)
        return report_usage("help values: %s %s has no table of values", arg[0], arg[1]);
    read_rest(count - 2, arg + 2, &ask);
    /* The words that begin as the last one of a list does, behind the others. */
    const char *begin = count > 2 ? arg[2] : "";
    CPS_BUF lines = {0};
    const char *last = value->between ? strrchr(begin, value->between) : NULL;
    ask.begin = last ? last + 1 : begin;
    list(value, &ask, &lines);
    out.failed = out.failed || lines.failed;
    const char *at = cps_buf_text(&lines);
    for (const char *end = NULL; (end = strchr(at, '\n')); at = end + 1) {
        if (strncmp(at, ask.begin, strlen(ask.begin)) != 0)
            continue;
        cps_buf_add(&out, begin, (size_t)(ask.begin - begin));
        cps_buf_add(&out, at, (size_t)(end - at) + 1);
    }
    return report_result(report_text(&out));
}
