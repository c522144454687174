/* SPDX-License-Identifier: MIT
 * The rows of opt.def as tables: for the parser (opt.c), and for the manual page and completion
 * (opt_doc.c). */
#ifndef CPS_OPT_TABLE_H
#define CPS_OPT_TABLE_H

#include <stddef.h>

#include "tools/opt.h"

enum kind {
    KIND_FLAG,
    KIND_TEXT,
    KIND_LIST,
    KIND_PATHS,
    KIND_COUNT,
    KIND_INDEX,
    KIND_GEN,
    KIND_WAITS,
    KIND_VISIBILITY,
    KIND_SWITCH,
};

enum {
#define COMMAND(id, ...) id = 1 << OPT_SHIFT_##id,
#include "tools/opt.def"
};

static const struct command {
    const char *name;
    const char *arguments;
    const char *help;
} commands[] = {
#define COMMAND(id, name, arguments, help) {#name, arguments, help},
#include "tools/opt.def"
};

static const struct option {
    size_t offset; /* in struct cps_options */
    enum kind kind;
    const char *name;
    char letter;
    const char *argument; /* NULL: takes none */
    unsigned commands;
    const char *help;
} options[] = {
#define OPTION(field, kind, name, letter, argument, commands, help) \
    {offsetof(struct cps_options, field), KIND_##kind, name, letter, argument, commands, help},
#include "tools/opt.def"
};

#endif
