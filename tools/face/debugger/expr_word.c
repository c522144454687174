/* SPDX-License-Identifier: MIT
 * Words that expressions know. */
#include "tools/face/debugger/expr.h"

#include <string.h>

#include "tools/face/debugger/look.h"

struct cps_pm4 expr_packet(const struct session *session, unsigned core)
{
    return cps_pm4_decode_any(cps_afuc_header(session_afuc(session), core, 0));
}

static bool get_header(const struct expr_at *p, uint64_t *ret)
{
    *ret = session_afuc(p->session) ? cps_afuc_header(session_afuc(p->session), p->core, 0) : 0;
    return session_afuc(p->session);
}

static bool get_opcode(const struct expr_at *p, uint64_t *ret)
{
    if (!session_afuc(p->session))
        return false;
    *ret = expr_packet(p->session, p->core).kind == CPS_PM4_TYPE7
               ? expr_packet(p->session, p->core).opcode
               : UINT32_MAX;
    return true;
}

static bool get_count(const struct expr_at *p, uint64_t *ret)
{
    if (!session_afuc(p->session))
        return false;
    *ret = expr_packet(p->session, p->core).count;
    return true;
}

static bool get_level(const struct expr_at *p, uint64_t *ret)
{
    if (session_afuc(p->session))
        *ret = cps_afuc_level(session_afuc(p->session), p->core);
    return session_afuc(p->session);
}

static bool get_iova(const struct expr_at *p, uint64_t *ret)
{
    struct cps_event event = {0};
    if (!session_afuc(p->session))
        return false;
    look_last_packet(p->session, p->core, &event);
    *ret = event.addr;
    return true;
}

/* Before the first one it is a number that no draw has. */
static bool get_draw(const struct expr_at *p, uint64_t *ret)
{
    *ret = cps_debug_place(p->session->debug).tally - 1;
    return session_afuc(p->session);
}

static bool get_line(const struct expr_at *p, uint64_t *ret)
{
    const struct cps_item *item = session_item(p->session);
    *ret = item ? item->line : 0;
    return item;
}

static bool get_submission(const struct expr_at *p, uint64_t *ret)
{
    *ret = session_submission(p->session);
    return true;
}

static bool get_step(const struct expr_at *p, uint64_t *ret)
{
    *ret = cps_debug_place(p->session->debug).step;
    return true;
}

static bool get_event(const struct expr_at *p, uint64_t *ret)
{
    *ret = cps_debug_place(p->session->debug).event;
    return true;
}

static bool get_value(const struct expr_at *p, uint64_t *ret)
{
    *ret = p->event ? p->event->value : 0;
    return p->event;
}

static bool get_offset(const struct expr_at *p, uint64_t *ret)
{
    *ret = p->event ? p->event->addr : 0;
    return p->event;
}

static const struct {
    const char *name;
    bool (*get)(const struct expr_at *p, uint64_t *ret); /* false: there is none here */
} words[] = {
    {"header", get_header},     {"opcode", get_opcode},
    {"count", get_count},       {"level", get_level},
    {"iova", get_iova},         {"draw", get_draw},
    {"line", get_line},         {"submission", get_submission},
    {"submit", get_submission}, {"step", get_step},
    {"event", get_event},       {"value", get_value},
    {"offset", get_offset},
};

bool expr_word(const struct expr_at *p, const char *word, size_t length, uint64_t *ret)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strlen(words[i].name) == length && !memcmp(word, words[i].name, length))
            return words[i].get(p, ret);
    }
    return false;
}
