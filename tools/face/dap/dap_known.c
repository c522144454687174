/* SPDX-License-Identifier: MIT
 * The debug adapter: which points the client knows of. Those of its own lists it is answered; one
 * that was typed, in the console or a script, it is told of, so that the editor shows it. */
#include <stdlib.h>

#include "isa/base/list.h"
#include "tools/face/debugger/point.h"
#include "tools/face/dap/dap_private.h"
#include "trace/out/json.h"

/* What shows of a point, but for its place, which it keeps. */
struct dap_known {
    int id;
    bool disabled;
    uint32_t condition; /* a hash */
};

static uint32_t hash(const char *text)
{
    uint32_t value = 2166136261u; /* FNV-1a */
    for (; text && *text; text++)
        value = (value ^ (unsigned char)*text) * 16777619u;
    return value;
}

static const char *condition_of(const struct cps_debug_point *point)
{
    const struct typed_point *typed = point->context;
    return typed ? typed->condition : NULL;
}

static struct dap_known know(const struct cps_debug_point *point)
{
    return (struct dap_known){point->id, point->disabled, hash(condition_of(point))};
}

/* Of one that stops every time its place is reached, the place, too: an editor takes it for one of
 * its own, and sends it as such in the next list. */
static void tell(struct dap *d, const char *reason, int id, const struct cps_debug_point *point)
{
    struct json_object *body = json_object_new_object();
    struct json_object *row = json_object_new_object();
    cps_json_int(row, "id", id);
    cps_json_bool(row, "verified", point && !point->disabled);
    if (point && dap_is_plain(point))
        dap_put_source(d, (unsigned)point->core, point->pc, row);
    cps_json_text(body, "reason", reason);
    cps_json_add(body, "breakpoint", row);
    dap_event(d, "breakpoint", body);
}

static void compare(struct dap *d, const struct dap_known *then)
{
    const struct cps_debug_point *point = cps_debug_find(d->debugger->session.debug, then->id);
    struct dap_known now = point ? know(point) : *then;
    if (!point)
        tell(d, "removed", then->id, NULL);
    else if (now.disabled != then->disabled || now.condition != then->condition)
        tell(d, "changed", then->id, point);
}

static bool is_known(const struct dap *d, int id)
{
    for (size_t i = 0; i < d->known_count; i++) {
        if (d->known[i].id == id)
            return true;
    }
    return false;
}

static void tell_new(struct dap *d)
{
    const struct cps_debug_point *point = NULL;
    for (unsigned i = 0; (point = cps_debug_point(d->debugger->session.debug, i)); i++) {
        if (!is_known(d, point->id))
            tell(d, "new", point->id, point);
    }
}

static void remember(struct dap *d)
{
    const struct cps_debug_point *point = NULL;
    d->known_count = 0;
    for (unsigned i = 0; (point = cps_debug_point(d->debugger->session.debug, i)); i++) {
        if (!CPS_LIST_ROOM(d->known, d->known_count))
            return; /* it is told of once more */
        d->known[d->known_count++] = know(point);
    }
}

bool dap_is_plain(const struct cps_debug_point *point)
{
    return point->what == CPS_AT_PC && point->core >= 0 && !condition_of(point) && !point->ignore &&
           !point->once;
}

void dap_know_points(struct dap *d, bool told)
{
    if (!d->open)
        return;
    for (size_t i = 0; !told && i < d->known_count; i++)
        compare(d, &d->known[i]);
    if (!told)
        tell_new(d);
    remember(d);
}
