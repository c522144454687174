/* SPDX-License-Identifier: MIT
 * Completion of the debugger's commands. */
#include <stdlib.h>
#include <string.h>

#include "isa/base/lex.h"
#include "tools/face/debugger/command_private.h"

/* Counts down to the candidate that is wanted. */
static char *pick(const char *candidate, const char *word, unsigned *index)
{
    if (!candidate || strncmp(candidate, word, strlen(word)) != 0)
        return NULL;
    return (*index)-- == 0 ? strdup(candidate) : NULL;
}

static char *pick_place(const struct debugger *r, const char *word, unsigned *index)
{
    const struct cps_fw_part *part = NULL;
    const struct session *s = &r->session;
    const struct cps_fw *fw = session_fw(s, s->core, &part);
    char *ret = NULL;
    for (size_t i = 0; fw && !ret && i < fw->debug.symbol_count; i++) {
        if (fw->debug.symbols[i].part == session_part(fw, part))
            ret = pick(fw->debug.symbols[i].name, word, index);
    }
    for (unsigned id = 0; fw && !ret && !fw->debug.symbol_count && id < 128; id++)
        ret = pick(cps_name(session_names(s, s->core), CPS_SPACE_PACKET, id, NULL), word, index);
    return ret;
}

/* Registers by name, with the sign of their space. */
static char *pick_value(const struct debugger *r, const char *word, unsigned *index)
{
    static const struct {
        char sign;
        enum cps_space space;
        uint32_t count;
    } spaces[] = {{'@', CPS_SPACE_CONTROL, 0x1000},
                  {'%', CPS_SPACE_SQE, 0x40},
                  {'|', CPS_SPACE_PIPE, 0x100},
                  {0, CPS_SPACE_GPU, 0x40000}};
    const struct cps_names *names = session_names(&r->session, r->session.core);
    char *ret = NULL;
    size_t which = 0;
    while (spaces[which].sign && spaces[which].sign != *word)
        which++;
    if (!spaces[which].sign && strlen(word) < 2)
        return NULL; /* tens of thousands */
    for (uint32_t i = 0; !ret && i < spaces[which].count; i++) {
        unsigned part = 0;
        const char *name = cps_name(names, spaces[which].space, i, &part);
        CPS_BUF text = {0};
        if (!name || part)
            continue;
        cps_buf_printf(&text, "%s%s", (char[2]){spaces[which].sign, 0}, name);
        ret = pick(cps_buf_text(&text), word, index);
    }
    return ret;
}

/* A command by its name; gdb's longer ones, too. */
static char *pick_command(const char *word, unsigned *index)
{
    char *ret = NULL;
    for (const struct command_row *row = command_rows; !ret && row->name; row++) {
        ret = pick(row->name, word, index);
        for (const char *at = row->others; !ret && *at; at += strspn(at, " ")) {
            size_t length = strcspn(at, " ");
            CPS_FREE char *other = length > 3 ? strndup(at, length) : NULL;
            ret = pick(other, word, index);
            at += length;
        }
    }
    return ret;
}

static char *pick_argument(const struct debugger *r, const struct command_row *row,
                           const char *word, unsigned *index)
{
    char *ret = NULL;
    for (unsigned i = 0; row->completes == TOPIC && !ret && command_topic(i); i++)
        ret = pick(command_topic(i), word, index);
    for (unsigned i = 0; row->completes == CORE && !ret && i < session_engine(&r->session)->cores;
         i++)
        ret = pick(session_core_name(&r->session, i), word, index);
    if (!ret && (row->completes == PLACE || row->completes == VALUE))
        ret = pick_place(r, word, index);
    return !ret && row->completes == VALUE ? pick_value(r, word, index) : ret;
}

char *command_complete(const struct debugger *r, const char *line, unsigned index, size_t *start)
{
    size_t length = strlen(line);
    while (length && !strchr(" \t", line[length - 1]))
        length--;
    *start = length;
    const char *word = line + length;
    const char *command = cps_lex_blank(line);
    if (command == word)
        return pick_command(word, &index);
    const struct command_row *row = command_find(command, command_word(command));
    return row ? pick_argument(r, row, word, &index) : NULL;
}
