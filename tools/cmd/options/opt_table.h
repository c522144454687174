/* SPDX-License-Identifier: MIT
 * The rows of opt.def as tables: for the parser (opt.c), the check of options against the engine
 * (opt_engine.c), and for help, the manual page and completion (opt_doc.c). */
#ifndef CPS_OPT_TABLE_H
#define CPS_OPT_TABLE_H

#include <stddef.h>

#include "emu/policy.h"
#include "isa/base/buf.h"
#include "tools/cmd/options/opt.h"

enum kind {
    KIND_FLAG,
    KIND_TEXT,
    KIND_LIST,
    KIND_PATHS,
    KIND_COUNT,
    KIND_INDEX,
    KIND_GEN,
    KIND_CHIP,
    KIND_POLICIES,
    KIND_POLICY,
};

enum {
#define COMMAND(id, ...) id = 1 << OPT_SHIFT_##id,
#include "tools/cmd/options/opt.def"
};

enum {
    EVERY = (1 << OPT_COMMANDS) - 1,
    AFUC = CPS_ON_AFUC,
    HWSQ = CPS_ON_HWSQ,
    SEQ = CPS_ON_SEQ,
    VP1 = CPS_ON_VP1,
    PFIFO = CPS_ON_PFIFO,
    ALL = CPS_ON_ALL
};

static const struct command {
    const char *name;
    const char *arguments;
    const char *help;
} commands[] = {
#define COMMAND(id, name, arguments, help) {#name, arguments, help},
#include "tools/cmd/options/opt.def"
};

/* What help shows of a command. */
static const struct example {
    unsigned command;
    const char *arguments;
    const char *meaning;
} examples[] = {
#define EXAMPLE(id, arguments, meaning) {OPT_SHIFT_##id, arguments, meaning},
#include "tools/cmd/options/example.def"
};
enum { EXAMPLE_COUNT = sizeof(examples) / sizeof(examples[0]) };

static const struct topic {
    const char *name;
    const char *arguments;
    const char *help;
} topics[] = {
#define TOPIC(name, form, arguments, help) {#name, arguments, help},
#include "tools/cmd/options/opt.def"
};

/* A row without a name begins a group of help; it belongs to no command. */
static const struct option {
    size_t offset; /* in struct cps_options */
    enum kind kind;
    const char *name;
    char letter;
    const char *argument; /* NULL: takes none */
    unsigned commands;
    unsigned engines; /* enum cps_engines */
    const char *help;
} options[] = {
#define OPTION(field, kind, name, letter, argument, commands, engines, help) \
    {offsetof(struct cps_options, field),                                    \
     KIND_##kind,                                                            \
     name,                                                                   \
     letter,                                                                 \
     argument,                                                               \
     commands,                                                               \
     engines,                                                                \
     help},
#define GROUP(title) {.help = title},
#include "tools/cmd/options/opt.def"
};
enum { OPTION_COUNT = sizeof(options) / sizeof(options[0]) };

#define EACH_COMMAND(c) \
    for (const struct command *c = commands; c < commands + sizeof(commands) / sizeof(*c); c++)
#define EACH_OPTION(o, c)                                                                   \
    for (const struct option *o = options; o < options + sizeof(options) / sizeof(*o); o++) \
        if (o->commands >> ((c)-commands) & 1)
#define EACH_TOPIC(t) \
    for (const struct topic *t = topics; t < topics + sizeof(topics) / sizeof(*t); t++)

/** Whether an argument must follow; one in "[=...]" may stand behind a "=" alone. */
static inline bool opt_needs_argument(const struct option *option)
{
    return option->argument && option->argument[0] != '[';
}
/** Whether options of a command, by its number, are checked against an engine. */
bool opt_takes_engine(unsigned command);
/** Checks what options of command number @p command say against the engine that they are for, as
 * far as it is known without a look into files. @return NULL, or CPS_ERR_USAGE */
CPS_MUST_USE struct cps_err *opt_check(unsigned command, const struct cps_options *opt);
/** Appends what help says of an option of command number @p command: its row's text, the words of a
 * policy, the engines if it is not for all. */
void opt_option_help(const struct option *option, unsigned command, struct cps_buf *out);

#endif
