/* SPDX-License-Identifier: MIT
 * The debug adapter: breakpoints of all kinds. A client sets each list as a whole; events report
 * points that were typed in the console or a script. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/face/dap/dap_private.h"
#include "tools/cmd/render/doc.h"

static const char *key_of(int id, char key[16])
{
    snprintf(key, 16, "%d", id);
    return key;
}

int dap_list_of(const struct dap *d, int id)
{
    char key[16];
    return (int)cps_json_get_int(d->lists, key_of(id, key), DAP_LISTS);
}

/* Removes the points of a list that are of a core, or of any for -1, and whose text begins with
 * @p start. */
static void clear_list(struct dap *d, enum dap_list list, int core, const char *start)
{
    const struct cps_debug_point *point = NULL;
    for (unsigned i = 0; (point = cps_debug_point(d->session->debug, i));) {
        const struct typed_point *typed = point->context;
        bool stays = dap_list_of(d, point->id) != (int)list || (core >= 0 && point->core != core) ||
                     (typed && strncmp(typed->text, start, strlen(start)) != 0);
        if (stays || !point_remove(d->session, point->id))
            i++;
    }
}

/* "N", ">=N" or "%N" are what clients know; only a plain number of hits is understood. */
static struct cps_err *hit_condition(struct json_object *from, struct cps_debug_point *point)
{
    const char *text = cps_json_get_text(from, "hitCondition", "");
    char *end = NULL;
    if (!*text)
        return NULL;
    unsigned long long hits = strtoull(text, &end, 0);
    if (*end || !hits)
        return cps_err_new(CPS_ERR_SYNTAX, "hit condition \"%s\": expected a number from 1", text);
    point->ignore = hits - 1;
    return NULL;
}

static const char *condition_of(const struct cps_debug_point *point)
{
    const struct typed_point *typed = point->context;
    return typed ? typed->condition : NULL;
}

/* Whether it stops whenever one processor reaches a place. */
static bool is_plain(const struct cps_debug_point *point)
{
    return point->what == CPS_AT_PC && point->core >= 0 && !condition_of(point) && !point->ignore &&
           !point->once;
}

/* One that was typed, and that the client has as its own now. */
static void take_over(struct dap *d, uint32_t pc, int core)
{
    const struct cps_debug_point *point = NULL;
    for (unsigned i = 0; (point = cps_debug_point(d->session->debug, i));) {
        bool same = is_plain(point) && point->pc == pc && point->core == core;
        if (!same || dap_list_of(d, point->id) != DAP_LISTS || !point_remove(d->session, point->id))
            i++;
    }
}

/* Adds a point, with the conditions of @p from. @param id  gets its number */
static struct cps_err *add_point(struct dap *d, enum dap_list list, struct json_object *from,
                                 struct cps_debug_point *point, int *id)
{
    char key[16];
    unsigned count = 0;
    const struct cps_debug_point *other = NULL;
    for (unsigned i = 0; (other = cps_debug_point(d->session->debug, i)); i++)
        count += dap_list_of(d, other->id) == (int)list;
    struct cps_err *err = point_condition(point, cps_json_get_text(from, "condition", NULL));
    if (!err)
        err = hit_condition(from, point);
    if (!err && count >= DAP_MAX_POINTS)
        err = cps_err_new(CPS_ERR_INPUT, "more than %d breakpoints of a kind", DAP_MAX_POINTS);
    if (err) {
        point_release(point);
        return err;
    }
    *id = cps_debug_add(d->session->debug, point);
    tool_need(*id != 0);
    cps_json_int(d->lists, key_of(*id, key), list);
    if (list == DAP_SOURCE || list == DAP_LISTING)
        take_over(d, point->pc, point->core);
    return NULL;
}

/* What becomes of a client's list of points, one after the other. */
struct setting {
    struct dap *dap;
    enum dap_list list;
    unsigned core;    /* of a listing */
    const char *file; /* of a source */
};
typedef struct cps_err *make_point(const struct setting *setting, struct json_object *from,
                                   struct cps_debug_point *point);

static void set_points(const struct setting *setting, make_point *make)
{
    struct dap *d = setting->dap;
    struct json_object *answers = cps_json_new_array(d->out, "breakpoints");
    struct json_object *points = cps_json_member(d->in, "breakpoints", json_type_array);
    for (size_t i = 0; points && i < cps_json_count(points); i++) {
        struct json_object *from = json_object_array_get_idx(points, i);
        struct cps_debug_point point = {0};
        int id = 0;
        struct cps_err *err = make(setting, from, &point);
        if (!err)
            err = add_point(d, setting->list, from, &point, &id);
        struct json_object *row =
            doc_row(answers, "verified?=%d message=%s", !err, err ? err->message : NULL);
        if (!err)
            doc_put(row, "id=%d", id);
        if (!err && point.what == CPS_AT_PC) {
            (setting->list == DAP_LISTING ? dap_put_listing
                                          : dap_put_source)(d, (unsigned)point.core, point.pc, row);
            doc_put(row, "instructionReference=%" PRIx64,
                    dap_code_address(d, (unsigned)point.core, point.pc));
        }
        cps_err_free(err);
    }
}

/* A text that point_break() reads, on the first core from @p core on that knows the place. */
static struct cps_err *break_on(struct dap *d, unsigned core, unsigned end, const char *text,
                                struct cps_debug_point *point)
{
    struct cps_err *err = NULL;
    do {
        cps_err_free(err);
        err = point_break(d->session, core, text, point);
    } while (err && ++core < end);
    return err;
}

static struct cps_err *make_source(const struct setting *setting, struct json_object *from,
                                   struct cps_debug_point *point)
{
    struct dap *d = setting->dap;
    CPS_BUF text = {0};
    cps_buf_printf(&text, "%s%" PRId64, setting->file,
                   dap_number(from, "line", 0) + d->lines_from_0);
    return break_on(d, 0, session_engine(d->session)->cores, tool_text(&text), point);
}

/* An instruction of a core. */
static struct cps_err *break_at(struct dap *d, unsigned core, int64_t pc,
                                struct cps_debug_point *point)
{
    CPS_BUF text = {0};
    cps_buf_printf(&text, "*0x%" PRIx64, (uint64_t)pc);
    return point_break(d->session, core, tool_text(&text), point);
}

static struct cps_err *make_listing(const struct setting *setting, struct json_object *from,
                                    struct cps_debug_point *point)
{
    struct dap *d = setting->dap;
    uint32_t pc = 0;
    int64_t line = dap_number(from, "line", 0) + d->lines_from_0;
    CPS_TRY(dap_listing_pc(d, setting->core, line, &pc));
    return break_at(d, setting->core, pc, point);
}

struct cps_err *dap_set_breakpoints(struct dap *d)
{
    struct setting setting = {.dap = d, .list = DAP_SOURCE};
    const char *path = cps_json_get_text(cps_json_get(d->in, "source"), "path", "");
    const char *slash = strrchr(path, '/');
    bool is_listing = false;
    CPS_BUF start = {0};
    cps_json_new_array(d->out, "breakpoints"); /* of a listing that is refused, too */
    cps_buf_printf(&start, "%s:", slash ? slash + 1 : path);
    setting.file = tool_text(&start);
    CPS_TRY(dap_find_listing(d, &is_listing, &setting.core));
    setting.list = is_listing ? DAP_LISTING : DAP_SOURCE;
    clear_list(d, setting.list, is_listing ? (int)setting.core : -1,
               is_listing ? "" : setting.file);
    set_points(&setting, is_listing ? make_listing : make_source);
    return NULL;
}

/* With "me:" in front it is for the processor of that name alone. */
static struct cps_err *make_function(const struct setting *setting, struct json_object *from,
                                     struct cps_debug_point *point)
{
    struct dap *d = setting->dap;
    const char *name = cps_json_get_text(from, "name", "");
    unsigned core = 0;
    unsigned end = session_engine(d->session)->cores;
    const char *place = point_core(d->session, *name ? name : "(no name)", &core);
    bool is_of_one = place != name && *name;
    return break_on(d, core, is_of_one ? core + 1 : end, place, point);
}

static struct cps_err *make_instruction(const struct setting *setting, struct json_object *from,
                                        struct cps_debug_point *point)
{
    uint64_t address = 0;
    unsigned core = 0;
    int64_t pc = 0;
    CPS_TRY(dap_reference(from, "instructionReference", &address));
    if (!dap_find_code(setting->dap, address, &core, &pc))
        return cps_err_new(CPS_ERR_INPUT, "0x%" PRIx64 " is in no processor's code", address);
    return break_at(setting->dap, core, pc, point);
}

static struct cps_err *make_data(const struct setting *setting, struct json_object *from,
                                 struct cps_debug_point *point)
{
    struct session *s = setting->dap->session;
    const char *type = cps_json_get_text(from, "accessType", "");
    unsigned access = !strcmp(type, "read")        ? POINT_READ
                      : !strcmp(type, "readWrite") ? POINT_READ | POINT_WRITE
                                                   : POINT_WRITE;
    return point_watch(s, s->core, access, cps_json_get_text(from, "dataId", ""), point);
}

/* The lists that are about no source; the row of the request names which. */
struct cps_err *dap_set_points(struct dap *d)
{
    static make_point *const makers[DAP_LISTS] = {[DAP_FUNCTION] = make_function,
                                                  [DAP_INSTRUCTION] = make_instruction,
                                                  [DAP_DATA] = make_data};
    const struct setting setting = {.dap = d, .list = (enum dap_list)d->how};
    clear_list(d, setting.list, -1, "");
    set_points(&setting, makers[setting.list]);
    return NULL;
}

/* The text of a watchpoint: the variable's own, or an address. */
struct cps_err *dap_data_breakpoint_info(struct dap *d)
{
    static const char *const signs[] = {"", "@", "%", "reg:"};
    struct session *s = d->session;
    const char *name = dap_text(d, "name");
    int64_t reference = dap_number(d->in, "variablesReference", 0);
    int64_t space = reference > 0 && reference < DAP_FIELDS ? (reference - 1) % DAP_SPACES : -1;
    struct cps_debug_point point;
    CPS_BUF text = {0};
    if (!name)
        return cps_err_new(CPS_ERR_INPUT, "dataBreakpointInfo: expected \"name\"");
    if (cps_json_get_bool(d->in, "asAddress", false))
        cps_buf_printf(&text, "[%s]", name);
    else
        cps_buf_printf(&text, "%s%s",
                       space > 0 && space < 4 && strncmp(name, signs[space], 1) ? signs[space] : "",
                       name);
    struct cps_err *err = point_watch(s, s->core, POINT_WRITE, tool_text(&text), &point);
    doc_put(d->out, "description=%s", err ? err->message : tool_text(&text));
    if (err) {
        cps_json_null(d->out, "dataId");
        cps_err_free(err);
        return NULL;
    }
    doc_put(d->out, "dataId=%p", &text);
    bool is_readable = point.kinds & (1u << CPS_EV_REG | 1u << CPS_EV_MEMW);
    struct json_object *access =
        doc_array(NULL, is_readable ? "%s %s %s" : "%s", "write", "read", "readWrite");
    cps_json_add(d->out, "accessTypes", access);
    point_release(&point);
    return NULL;
}

/* Deadlocks, faults and refused packets end every run anyway; a forbidden write is an event. */
struct cps_err *dap_set_exceptions(struct dap *d)
{
    struct json_object *filters = cps_json_member(d->in, "filters", json_type_array);
    clear_list(d, DAP_EXCEPTION, -1, "");
    for (size_t i = 0; filters && i < cps_json_count(filters); i++) {
        const char *filter = json_object_get_string(json_object_array_get_idx(filters, i));
        struct cps_debug_point point;
        int id = 0;
        if (!filter || strcmp(filter, "protect") != 0)
            continue;
        CPS_TRY(point_break(d->session, 0, "event:prot", &point));
        CPS_TRY(add_point(d, DAP_EXCEPTION, NULL, &point, &id));
    }
    return NULL;
}

/* ---- which points the client knows of ---- */

/* What shows of a point, but for its place, which it keeps. */
static void note_point(const struct cps_debug_point *point, struct json_object *to)
{
    char key[16];
    CPS_BUF text = {0};
    const char *condition = condition_of(point);
    cps_buf_printf(&text, "%d %s", point->disabled, condition ? condition : "");
    cps_json_text(to, key_of(point->id, key), tool_text(&text));
}

/* Of one that stops every time its place is reached, the place, too: an editor takes it for one of
 * its own, and sends it as such in the next list. */
static void report_point(struct dap *d, const char *reason, int id,
                         const struct cps_debug_point *point)
{
    struct json_object *body = doc_new();
    doc_put(body, "reason=%s", reason);
    struct json_object *row = cps_json_new_object(body, "breakpoint");
    doc_put(row, "id=%d verified?=%d", id, point && !point->disabled);
    if (point && is_plain(point))
        dap_put_source(d, (unsigned)point->core, point->pc, row);
    dap_event(d, "breakpoint", body);
}

void dap_know_points(struct dap *d, bool told)
{
    const struct cps_debug_point *point = NULL;
    if (!d->open)
        return;
    struct json_object *before = d->known;
    struct json_object *now = doc_new();
    for (unsigned i = 0; (point = cps_debug_point(d->session->debug, i)); i++)
        note_point(point, now);
    d->known = tool_json(now);
    if (!told && before) {
        json_object_object_foreach(before, id, text)
        {
            struct json_object *other = cps_json_get(now, id);
            int number = atoi(id);
            if (!other)
                report_point(d, "removed", number, NULL);
            else if (!json_object_equal(text, other))
                report_point(d, "changed", number, cps_debug_find(d->session->debug, number));
        }
    }
    for (unsigned i = 0; !told && (point = cps_debug_point(d->session->debug, i)); i++) {
        char key[16];
        if (!cps_json_get(before, key_of(point->id, key)))
            report_point(d, "new", point->id, point);
    }
    json_object_put(before);
}
