/* SPDX-License-Identifier: MIT
 * The debug adapter: breakpoints of all kinds. A client sets each list as a whole. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/face/dap/dap_private.h"
#include "tools/face/debugger/look.h"
#include "tools/face/debugger/point.h"
#include "trace/out/json.h"

#define MOST (INT64_C(1) << 24) /* of what a client counts: lines, frames, instructions */

int64_t dap_number(struct json_object *from, const char *key, int64_t fallback)
{
    int64_t value = cps_json_get_int(from, key, fallback);
    return value > MOST ? MOST : value < -MOST ? -MOST : value;
}

/* Removes the points of a list that are of a core, or of any for -1, and whose text begins with
 * @p start. */
static void clear_some(struct dap *d, enum dap_list list, int core, const char *start)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < d->point_count[list]; i++) {
        int id = d->point[list][i];
        const struct cps_debug_point *point = cps_debug_find(d->debugger->session.debug, id);
        const struct typed_point *typed = point ? point->context : NULL;
        if (typed &&
            ((core >= 0 && point->core != core) || strncmp(typed->text, start, strlen(start)) != 0))
            d->point[list][kept++] = id;
        else
            point_remove(&d->debugger->session, id);
    }
    d->point_count[list] = kept;
}

static void clear(struct dap *d, enum dap_list list)
{
    clear_some(d, list, -1, "");
}

/* One entry of the answer: what became of a point. */
static void report(struct dap *d, enum dap_list of, int id, const struct cps_debug_point *point,
                   const struct cps_err *err, struct json_object *list)
{
    struct json_object *row = json_object_new_object();
    cps_json_bool(row, "verified", !err);
    if (err) {
        cps_json_text(row, "message", err->message);
    } else {
        cps_json_int(row, "id", id);
        if (point->what == CPS_AT_PC) {
            (of == DAP_LISTING ? dap_put_listing : dap_put_source)(d, (unsigned)point->core,
                                                                   point->pc, row);
            dap_put_hex(row, "instructionReference",
                        dap_code_address(d, (unsigned)point->core, point->pc), 1);
        }
    }
    cps_json_append(list, row);
}

/* "N", ">=N" or "%N" are what clients know; only a plain number of hits is understood. */
static struct cps_err *hit_condition(struct json_object *from, struct cps_debug_point *point)
{
    const char *text = cps_json_get_text(from, "hitCondition", NULL);
    char *end = NULL;
    if (!text || !*text)
        return NULL;
    unsigned long long hits = strtoull(text, &end, 0);
    if (*end || !hits)
        return cps_err_new(CPS_ERR_SYNTAX, "hit condition \"%s\": expected a number from 1", text);
    point->ignore = hits - 1;
    return NULL;
}

static bool is_in_a_list(const struct dap *d, int id)
{
    for (unsigned list = 0; list < DAP_LISTS; list++) {
        for (unsigned i = 0; i < d->point_count[list]; i++) {
            if (d->point[list][i] == id)
                return true;
        }
    }
    return false;
}

/* One that was typed, and that the client has as its own now. */
static void take_over(struct dap *d, uint32_t pc, int core)
{
    struct cps_debug *debug = d->debugger->session.debug;
    const struct cps_debug_point *point = NULL;
    for (unsigned i = 0; (point = cps_debug_point(debug, i));) {
        bool same = dap_is_plain(point) && point->pc == pc && point->core == core;
        if (!same || is_in_a_list(d, point->id) || !point_remove(&d->debugger->session, point->id))
            i++;
    }
}

static struct cps_err *add_point(struct dap *d, enum dap_list list, struct json_object *from,
                                 struct cps_debug_point *point, int *id)
{
    struct cps_err *err = point_condition(point, cps_json_get_text(from, "condition", NULL));
    if (!err)
        err = hit_condition(from, point);
    if (!err && d->point_count[list] == DAP_MAX_POINTS)
        err = cps_err_new(CPS_ERR_INPUT, "more than %d breakpoints of a kind", DAP_MAX_POINTS);
    if (!err)
        *id = cps_debug_add(d->debugger->session.debug, point);
    if (!err && !*id)
        err = cps_err_nomem();
    if (err)
        point_release(point);
    else
        d->point[list][d->point_count[list]++] = *id;
    if (!err && (list == DAP_SOURCE || list == DAP_LISTING))
        take_over(d, point->pc, point->core);
    return err;
}

/* What is behind "me:", if a processor has that name: the breakpoint is for that one alone. */
static const char *behind_core(const struct session *s, const char *text, unsigned *first,
                               unsigned *end)
{
    unsigned core = session_engine(s)->cores;
    const char *rest = point_core(s, text, &core);
    *first = rest == text ? 0 : core;
    *end = rest == text ? core : core + 1;
    return rest;
}

/* A breakpoint from a text that point_break() reads, on the first core that knows the place. */
static void add_break(struct dap *d, enum dap_list list, struct json_object *from, const char *text,
                      struct json_object *answers)
{
    struct session *s = &d->debugger->session;
    struct cps_debug_point point = {0};
    struct cps_err *err = NULL;
    int id = 0;
    unsigned core = 0;
    unsigned end = session_engine(s)->cores;
    const char *place = list == DAP_FUNCTION ? behind_core(s, text, &core, &end) : text;
    for (; core < end; core++) {
        cps_err_free(err);
        err = point_break(s, core, place, &point);
        if (!err)
            break;
    }
    if (!err)
        err = add_point(d, list, from, &point, &id);
    report(d, list, id, &point, err, answers);
    cps_err_free(err);
}

static struct cps_err *listing_point(struct dap *d, unsigned core, struct json_object *from,
                                     struct cps_debug_point *point)
{
    CPS_BUF text = {0};
    uint32_t pc = 0;
    CPS_TRY(dap_listing_pc(d, core, dap_number(from, "line", 0) + d->lines_from_0, &pc));
    cps_buf_printf(&text, "*0x%" PRIx32, pc);
    if (text.failed)
        return cps_err_nomem();
    return point_break(&d->debugger->session, core, cps_buf_text(&text), point);
}

/* Breakpoints in a processor's listing. */
static void set_in_listing(struct dap *d, unsigned core, struct json_object *points,
                           struct json_object *answers)
{
    clear_some(d, DAP_LISTING, (int)core, "");
    for (size_t i = 0; points && i < cps_json_count(points); i++) {
        struct json_object *from = json_object_array_get_idx(points, i);
        struct cps_debug_point point = {0};
        int id = 0;
        struct cps_err *err = listing_point(d, core, from, &point);
        if (!err)
            err = add_point(d, DAP_LISTING, from, &point, &id);
        report(d, DAP_LISTING, id, &point, err, answers);
        cps_err_free(err);
    }
}

struct cps_err *dap_set_breakpoints(struct dap *d, struct json_object *arguments,
                                    struct json_object *body)
{
    struct json_object *answers = cps_json_new_array(body, "breakpoints");
    struct json_object *points = cps_json_member(arguments, "breakpoints", json_type_array);
    const char *path = cps_json_get_text(cps_json_get(arguments, "source"), "path", NULL);
    const char *slash = path ? strrchr(path, '/') : NULL;
    struct dap_listing listing;
    CPS_BUF start = {0};
    CPS_TRY(dap_find_listing(d, arguments, &listing));
    if (listing.is) {
        set_in_listing(d, listing.core, points, answers);
        return NULL;
    }
    cps_buf_printf(&start, "%s:", slash ? slash + 1 : path ? path : "");
    if (start.failed)
        return cps_err_nomem();
    clear_some(d, DAP_SOURCE, -1, cps_buf_text(&start));
    for (size_t i = 0; points && i < cps_json_count(points); i++) {
        struct json_object *from = json_object_array_get_idx(points, i);
        CPS_BUF text = {0};
        cps_buf_printf(&text, "%s%" PRId64, cps_buf_text(&start),
                       dap_number(from, "line", 0) + d->lines_from_0);
        if (text.failed)
            return cps_err_nomem();
        add_break(d, DAP_SOURCE, from, cps_buf_text(&text), answers);
    }
    return NULL;
}

struct cps_err *dap_set_function_breakpoints(struct dap *d, struct json_object *arguments,
                                             struct json_object *body)
{
    struct json_object *answers = cps_json_new_array(body, "breakpoints");
    struct json_object *points = cps_json_member(arguments, "breakpoints", json_type_array);
    clear(d, DAP_FUNCTION);
    for (size_t i = 0; points && i < cps_json_count(points); i++) {
        struct json_object *from = json_object_array_get_idx(points, i);
        const char *name = cps_json_get_text(from, "name", NULL);
        add_break(d, DAP_FUNCTION, from, name && *name ? name : "(no name)", answers);
    }
    return NULL;
}

static struct cps_err *instruction_point(struct dap *d, struct json_object *from,
                                         struct cps_debug_point *point)
{
    uint64_t address = 0;
    unsigned core = 0;
    int64_t pc = 0;
    CPS_BUF text = {0};
    CPS_TRY(dap_reference(from, "instructionReference", &address));
    if (!dap_find_code(d, address, &core, &pc))
        return cps_err_new(CPS_ERR_INPUT, "0x%" PRIx64 " is in no processor's code", address);
    cps_buf_printf(&text, "*0x%" PRIx64, (uint64_t)pc);
    if (text.failed)
        return cps_err_nomem();
    return point_break(&d->debugger->session, core, cps_buf_text(&text), point);
}

struct cps_err *dap_set_instruction_breakpoints(struct dap *d, struct json_object *arguments,
                                                struct json_object *body)
{
    struct json_object *answers = cps_json_new_array(body, "breakpoints");
    struct json_object *points = cps_json_member(arguments, "breakpoints", json_type_array);
    clear(d, DAP_INSTRUCTION);
    for (size_t i = 0; points && i < cps_json_count(points); i++) {
        struct json_object *from = json_object_array_get_idx(points, i);
        struct cps_debug_point point = {0};
        int id = 0;
        struct cps_err *err = instruction_point(d, from, &point);
        if (!err)
            err = add_point(d, DAP_INSTRUCTION, from, &point, &id);
        report(d, DAP_INSTRUCTION, id, &point, err, answers);
        cps_err_free(err);
    }
    return NULL;
}

/* The text of a watchpoint: the variable's own, or an address. */
struct cps_err *dap_data_breakpoint_info(struct dap *d, struct json_object *arguments,
                                         struct json_object *body)
{
    static const char *const signs[] = {"", "@", "%", "reg:"};
    struct session *s = &d->debugger->session;
    const char *name = cps_json_get_text(arguments, "name", NULL);
    int64_t reference = dap_number(arguments, "variablesReference", 0);
    int64_t space = reference > 0 && reference < DAP_FIELDS ? (reference - 1) % DAP_SPACES : -1;
    struct cps_debug_point point;
    CPS_BUF text = {0};
    if (!name)
        return cps_err_new(CPS_ERR_INPUT, "dataBreakpointInfo: expected \"name\"");
    if (cps_json_get_bool(arguments, "asAddress", false))
        cps_buf_printf(&text, "[%s]", name);
    else
        cps_buf_printf(&text, "%s%s",
                       space > 0 && space < 4 && strncmp(name, signs[space], 1) ? signs[space] : "",
                       name);
    if (text.failed)
        return cps_err_nomem();
    struct cps_err *err = point_watch(s, s->core, POINT_WRITE, cps_buf_text(&text), &point);
    if (err && err->code == CPS_ERR_NOMEM)
        return err;
    cps_json_text(body, "description", err ? err->message : cps_buf_text(&text));
    if (err) {
        cps_json_null(body, "dataId");
    } else {
        cps_json_buf(body, "dataId", &text);
        struct json_object *access = json_object_new_array();
        bool reads = point.kinds & (1u << CPS_EV_REG | 1u << CPS_EV_MEMW);
        cps_json_append(access, json_object_new_string("write"));
        if (reads) {
            cps_json_append(access, json_object_new_string("read"));
            cps_json_append(access, json_object_new_string("readWrite"));
        }
        cps_json_add(body, "accessTypes", access);
        point_release(&point);
    }
    cps_err_free(err);
    return NULL;
}

static unsigned access_of(struct json_object *from)
{
    const char *type = cps_json_get_text(from, "accessType", NULL);
    if (type && !strcmp(type, "read"))
        return POINT_READ;
    return type && !strcmp(type, "readWrite") ? POINT_READ | POINT_WRITE : POINT_WRITE;
}

struct cps_err *dap_set_data_breakpoints(struct dap *d, struct json_object *arguments,
                                         struct json_object *body)
{
    struct session *s = &d->debugger->session;
    struct json_object *answers = cps_json_new_array(body, "breakpoints");
    struct json_object *points = cps_json_member(arguments, "breakpoints", json_type_array);
    clear(d, DAP_DATA);
    for (size_t i = 0; points && i < cps_json_count(points); i++) {
        struct json_object *from = json_object_array_get_idx(points, i);
        const char *text = cps_json_get_text(from, "dataId", NULL);
        struct cps_debug_point point = {0};
        int id = 0;
        struct cps_err *err = point_watch(s, s->core, access_of(from), text ? text : "", &point);
        if (!err)
            err = add_point(d, DAP_DATA, from, &point, &id);
        report(d, DAP_DATA, id, &point, err, answers);
        cps_err_free(err);
    }
    return NULL;
}

/* Deadlocks, faults and refused packets end every run anyway; a forbidden write is an event. */
struct cps_err *dap_set_exception_breakpoints(struct dap *d, struct json_object *arguments,
                                              struct json_object *body)
{
    struct json_object *filters = cps_json_member(arguments, "filters", json_type_array);
    (void)body;
    clear(d, DAP_EXCEPTION);
    for (size_t i = 0; filters && i < cps_json_count(filters); i++) {
        const char *filter = json_object_get_string(json_object_array_get_idx(filters, i));
        struct cps_debug_point point;
        int id = 0;
        if (!filter || strcmp(filter, "protect") != 0)
            continue;
        CPS_TRY(point_break(&d->debugger->session, 0, "event:prot", &point));
        CPS_TRY(add_point(d, DAP_EXCEPTION, NULL, &point, &id));
    }
    return NULL;
}
