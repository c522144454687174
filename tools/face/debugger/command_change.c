/* SPDX-License-Identifier: MIT
 * The debugger's commands that change the machine. */
#include <stdlib.h>
#include <string.h>

#include "tools/face/debugger/command.h"
#include "trace/capture/pm4text.h"

static struct cps_err *edit_machine(struct debugger *r, const struct cps_edit *edit)
{
    CPS_TRY(cps_debug_edit(r->session.debug, edit));
    command_show(r);
    return NULL;
}

struct cps_err *command_set_(struct debugger *r, struct command_args *args)
{
    cps_lex_take(&args->text, "var ");
    args->text = cps_lex_blank(args->text);
    const char *equals = strchr(args->text, '=');
    if (!equals)
        return cps_err_new(CPS_ERR_SYNTAX, "expected set WHAT = EXPR");
    CPS_FREE char *left = tool_strdup(args->text);
    left[equals - args->text] = '\0';
    for (size_t end = strlen(left); end && left[end - 1] == ' '; end--)
        left[end - 1] = '\0';
    CPS_TRY(expr_assign(&r->session, r->session.core, left, equals + 1, NULL));
    command_show(r);
    return NULL;
}

static bool find_label(void *context, const char *name, size_t length, uint32_t *ret)
{
    const struct session *s = context;
    return session_find_place(s, s->core, name, length, ret);
}

/* A parser's error in @p text, with the column of the line typed; takes @p err over. */
static struct cps_err *at_column(const struct session *s, struct cps_err *err, size_t column,
                                 const char *text)
{
    struct cps_err *ret =
        cps_err_new(CPS_ERR_SYNTAX, "column %zu: %s", expr_column(s, text) + column, err->message);
    cps_err_free(err);
    return ret;
}

/* Stores an instruction, unit by unit; it must be as long as the one there. */
static struct cps_err *replace_code(struct debugger *r, uint64_t place, const struct cps_buf *code)
{
    const struct session *s = &r->session;
    unsigned unit = cps_isa_unit(session_engine(s)->ops->isa);
    uint32_t there = session_length(s, s->core, (uint32_t)place);
    if (code->size / unit != there)
        return cps_err_new(CPS_ERR_SYNTAX,
                           "found an instruction of %zu units, expected %u, as the one there",
                           code->size / unit, there);
    for (size_t i = 0; i < code->size / unit; i++) {
        uint64_t word = 0;
        for (unsigned k = unit; k--;)
            word = word << 8 | (uint8_t)code->data[i * unit + k];
        const struct cps_edit change = {.what = CPS_EDIT_PLACE,
                                        .place = {(uint8_t)s->core, CPS_FILE_CODE, place + i},
                                        .value = word};
        CPS_TRY(cps_debug_edit(s->debug, &change));
    }
    command_show(r);
    return NULL;
}

struct cps_err *command_patch_(struct debugger *r, struct command_args *args)
{
    const struct session *s = &r->session;
    const struct cps_engine *engine = session_engine(s);
    const char *colon = strchr(args->text, ':');
    const struct cps_parse_names names = {.names = session_names(s, s->core),
                                          .label = find_label,
                                          .context = (void *)s,
                                          .scheme = s->scheme};
    CPS_BUF code = {0};
    size_t column = 0;
    if (!colon)
        return cps_err_new(CPS_ERR_SYNTAX, "expected patch PLACE: INSTRUCTION");
    uint32_t place = 0;
    CPS_TRY(command_place(r, args->text, (size_t)(colon - args->text), &place));
    const char *text = cps_lex_blank(colon + 1);
    struct cps_err *err = cps_parse_bytes(engine->ops->isa, engine->gen, text, (uint32_t)place,
                                          &names, &column, &code);
    tool_need(!code.failed);
    return err ? at_column(s, err, column, text) : replace_code(r, place, &code);
}

struct cps_err *command_branch_(struct debugger *r, struct command_args *args)
{
    if (strcmp(args->text, "taken") != 0 && strcmp(args->text, "not") != 0)
        return cps_err_new(CPS_ERR_SYNTAX, "expected branch taken, or branch not");
    return edit_machine(r, &(struct cps_edit){.what = CPS_EDIT_BRANCH,
                                              .place = {.core = (uint8_t)r->session.core},
                                              .value = args->text[0] == 't'});
}

struct cps_err *command_inject_(struct debugger *r, struct command_args *args)
{
    const struct session *s = &r->session;
    const struct cps_pm4text_names names = {.names = session_names(s, s->core)};
    uint32_t words[512];
    uint32_t count = 0;
    size_t column = 0;
    struct cps_err *err = cps_pm4text_packet(&names, args->text, words, 512, &count, &column);
    if (err)
        return at_column(s, err, column, args->text);
    return edit_machine(
        r, &(struct cps_edit){.what = CPS_EDIT_PACKETS, .words = words, .count = count});
}
