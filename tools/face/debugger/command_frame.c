/* SPDX-License-Identifier: MIT
 * The debugger's commands about calls and code: frames, listings. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/lex.h"
#include "tools/face/debugger/command_private.h"

enum { BEFORE = 5, BEHIND = 8, LISTED = 10 }; /* instructions around a place; of one `list` */

static struct cps_where where(const struct debugger *r)
{
    return cps_engine_where(session_engine(&r->session), r->session.core);
}

uint32_t command_pc(const struct debugger *r)
{
    const struct session *s = &r->session;
    return r->frame && r->frame <= where(r).depth
               ? (uint32_t)session_value(s, s->core, CPS_FILE_STACK, r->frame - 1)
               : where(r).pc;
}

uint32_t command_behind(const struct session *s, uint32_t pc, unsigned count)
{
    while (count--)
        pc += session_length(s, s->core, pc);
    return pc;
}

/* ---- frames ---- */

static struct cps_err *show_frame(struct debugger *r)
{
    const struct session *s = &r->session;
    uint32_t pc = command_pc(r);
    r->has_listed = false;
    cps_buf_printf(&r->out, "#%u  %04" PRIx32 " ", r->frame, pc);
    session_place(s, s->core, pc, &r->out);
    cps_buf_str(&r->out, "\n");
    look_source_text(s, s->core, pc, &r->out);
    look_code(s, s->core, pc, 0, 0, &r->out);
    return NULL;
}

static struct cps_err *choose(struct debugger *r, uint64_t frame)
{
    if (frame > where(r).depth)
        return cps_err_new(CPS_ERR_INPUT,
                           "there is no frame %" PRIu64 ": %" PRIu32 " calls are open", frame,
                           where(r).depth);
    r->frame = (unsigned)frame;
    return show_frame(r);
}

struct cps_err *command_frame_(struct debugger *r, const char *arguments, int go)
{
    int64_t frame = r->frame;
    const char *at = arguments;
    (void)go;
    if (*at && (!cps_lex_number(&at, &frame) || *at || frame < 0))
        return cps_err_new(CPS_ERR_SYNTAX, "%s: expected the number of a frame, from 0", arguments);
    return choose(r, (uint64_t)frame);
}

struct cps_err *command_up_(struct debugger *r, const char *arguments, int go)
{
    uint64_t count = 1;
    (void)go;
    CPS_TRY(command_count(arguments, &count));
    if (r->frame == where(r).depth)
        return cps_err_new(CPS_ERR_INPUT, "this is the outermost frame");
    uint64_t left = where(r).depth - r->frame;
    return choose(r, r->frame + (count < left ? count : left));
}

struct cps_err *command_down_(struct debugger *r, const char *arguments, int go)
{
    uint64_t count = 1;
    (void)go;
    CPS_TRY(command_count(arguments, &count));
    if (!r->frame)
        return cps_err_new(CPS_ERR_INPUT, "this is the innermost frame");
    return choose(r, count < r->frame ? r->frame - count : 0);
}

struct cps_err *command_backtrace_(struct debugger *r, const char *arguments, int go)
{
    (void)arguments;
    (void)go;
    look_backtrace(&r->session, r->session.core, &r->out);
    return NULL;
}

/* ---- listings ---- */

bool command_has_code(const struct session *s, uint32_t pc)
{
    const struct cps_place at = {(uint8_t)s->core, CPS_FILE_CODE, pc};
    uint64_t word = 0;
    return cps_engine_get(session_engine(s), at, &word);
}

/* "[PLACE] [N]"; @p count  0: none was said. */
static struct cps_err *read_place(struct debugger *r, const char *arguments, uint32_t *pc,
                                  unsigned *count)
{
    size_t length = strcspn(arguments, " \t");
    const char *rest = cps_lex_blank(arguments + length);
    const char *number = rest;
    int64_t wanted = 0;
    if (*rest && (!cps_lex_number(&number, &wanted) || *number || wanted < 1 || wanted > 65536))
        return cps_err_new(CPS_ERR_SYNTAX, "%s: expected a number of instructions", rest);
    *count = (unsigned)wanted;
    return command_place(r, arguments, length, pc);
}

static void put_code(struct debugger *r, uint32_t pc, unsigned before, unsigned count)
{
    look_code(&r->session, r->session.core, pc, before, count - 1, &r->out);
    r->listed[0] = before < pc ? pc - before : 0;
    r->listed[1] = command_behind(&r->session, pc, count);
    r->has_listed = true;
}

struct cps_err *command_disas_(struct debugger *r, const char *arguments, int go)
{
    uint32_t pc = 0;
    unsigned count = 0;
    (void)go;
    CPS_TRY(read_place(r, arguments, &pc, &count));
    if (!command_has_code(&r->session, pc))
        return cps_err_new(CPS_ERR_INPUT, "0x%" PRIx32 ": %s has no code there", pc,
                           session_core_name(&r->session, r->session.core));
    put_code(r, pc, count ? 0 : BEFORE, count ? count : BEHIND + 1);
    return NULL;
}

/* What stands in front of what was shown. */
static struct cps_err *list_before(struct debugger *r)
{
    uint32_t first = r->has_listed ? r->listed[0] : command_pc(r);
    uint32_t from = first > LISTED ? first - LISTED : 0;
    if (!first)
        return cps_err_new(CPS_ERR_INPUT, "this is where the code begins");
    put_code(r, from, 0, first - from);
    return NULL;
}

struct cps_err *command_list_(struct debugger *r, const char *arguments, int go)
{
    if (!strcmp(arguments, "-"))
        return list_before(r);
    if (*arguments || !r->has_listed)
        return command_disas_(r, arguments, go);
    if (!command_has_code(&r->session, r->listed[1]))
        return cps_err_new(CPS_ERR_INPUT, "this is where the code ends");
    put_code(r, r->listed[1], 0, LISTED);
    return NULL;
}
