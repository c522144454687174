/* SPDX-License-Identifier: MIT
 * One difference in words: the register by name, the fields that changed, what is missing. */
#include <inttypes.h>
#include <string.h>

#include "isa/names/words.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/diff/diffreport.h"

/* The registers that an event of a kind is about. */
enum cps_space diff_space(unsigned kind)
{
    switch (kind) {
    case CPS_EV_PIPE:
        return CPS_SPACE_PIPE;
    case CPS_EV_CTRL:
        return CPS_SPACE_CONTROL;
    case CPS_EV_SQE:
        return CPS_SPACE_SQE;
    default:
        return CPS_SPACE_GPU;
    }
}

static bool has_register(unsigned kind)
{
    return kind == CPS_EV_REG || kind == CPS_EV_REGR || kind == CPS_EV_PIPE ||
           kind == CPS_EV_CTRL || kind == CPS_EV_PROT || kind == CPS_EV_SQE;
}

static const struct cps_names *names_of(const struct diff_side *side, const struct cps_event *event)
{
    return side->names ? side->names[cps_event_who(event) % CPS_CPU_COUNT] : NULL;
}

/* "PC_EVENT_CMD", "CP_SCRATCH[2].REG", or "0x8a00". */
static void put_register(const struct diff_side *side, const struct cps_event *event,
                         struct cps_buf *out)
{
    const struct cps_names *names = names_of(side, event);
    uint64_t number = cps_event_place(event);
    unsigned half = 0;
    const char *name =
        names ? cps_name(names, diff_space(cps_event_kind(event)), (uint32_t)number, &half) : NULL;
    if (name)
        cps_buf_printf(out, half ? "%s+0x%x" : "%s", name, half);
    else
        cps_buf_printf(out, "0x%04" PRIx64, number);
}

static void put_place(const struct diff_side *side, const struct cps_event *event,
                      struct cps_buf *out)
{
    if (has_register(cps_event_kind(event)))
        put_register(side, event, out);
    else if (cps_event_kind(event) == CPS_EV_MEMW || cps_event_kind(event) == CPS_EV_MEMR)
        cps_buf_printf(out, "memory 0x%" PRIx64, event->addr);
    else
        cps_buf_str(out, cps_event_keyword(cps_event_kind(event)));
}

static void put_value(const struct cps_event *event, struct cps_buf *out)
{
    if (event)
        cps_buf_printf(out, "0x%08" PRIx32, event->value);
    else
        cps_buf_str(out, "missing");
}

/* Fields, unless some bit that differs has no name. */
static bool put_fields(const struct diff_side *side, const struct cps_event *any,
                       const struct cps_event *a, const struct cps_event *b, struct cps_buf *out)
{
    const struct cps_names *names = names_of(side, any);
    CPS_BUF text = {0};
    if (!names || !has_register(cps_event_kind(any)))
        return false;
    uint32_t known = cps_name_changed_(names, diff_space(cps_event_kind(any)), (uint32_t)any->addr,
                                       a ? &a->value : NULL, b ? &b->value : NULL, &text);
    uint32_t differ = (a ? a->value : 0) ^ (b ? b->value : 0);
    bool whole = text.size && !(differ & ~known);
    if (whole)
        cps_buf_printf(out, ".%s", tool_text(&text));
    return whole;
}

void diff_print_change(const struct diff_report *r, const struct cps_difference *d,
                       struct cps_buf *out)
{
    const struct diff_side *side = d->a ? &r->a : &r->b;
    const struct cps_event *any = d->a ? d->a : d->b;
    put_place(side, any, out);
    if (d->how == CPS_DIFF_PLACE) {
        cps_buf_str(out, " -> ");
        put_place(&r->b, d->b, out);
        cps_buf_str(out, ": the same value, ");
        put_value(d->b, out);
        cps_buf_str(out, ", is written there instead");
    } else if (!put_fields(side, any, d->a, d->b, out)) {
        cps_buf_str(out, " ");
        put_value(d->a, out);
        cps_buf_str(out, " -> ");
        put_value(d->b, out);
    }
    cps_buf_str(out, "\n");
}
