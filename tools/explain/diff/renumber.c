/* SPDX-License-Identifier: MIT
 * The renumbering of control registers between two chips. */
#include "tools/explain/diff/renumber.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "isa/base/shown.h"
#include "trace/out/json.h"

/* Numbers that follow each other on both sides. */
struct range {
    uint32_t a, b, count;
    uint32_t pairs, agree; /* of all together */
};

struct printer {
    struct cps_names *names[2];
    struct json_object *json;
    struct cps_buf *out;
};

static void deinit(struct printer *p)
{
    cps_names_destroy(p->names[0]);
    cps_names_destroy(p->names[1]);
}

static const char *name_of(const struct printer *p, unsigned side, uint32_t number)
{
    const char *name = cps_name(p->names[side], CPS_SPACE_CONTROL, number, NULL);
    return name ? name : "";
}

static void put_span(uint32_t first, uint32_t count, struct cps_buf *out)
{
    char text[24];
    int length = count > 1 ? snprintf(text, sizeof(text), "0x%03x-0x%03x", (unsigned)first,
                                      (unsigned)(first + count - 1))
                           : snprintf(text, sizeof(text), "0x%03x", (unsigned)first);
    cps_buf_printf(out, "%s%*s", text, 12 - length > 0 ? 12 - length : 1, "");
}

/* Ranges are named by their first register, where one has a name. */
static void put_range(const struct printer *p, const struct range *range)
{
    const char *name = name_of(p, 0, range->a);
    name = *name ? name : name_of(p, 1, range->b);
    if (p->json) {
        struct json_object *row = json_object_new_object();
        cps_json_uint(row, "a", range->a);
        cps_json_uint(row, "b", range->b);
        cps_json_uint(row, "count", range->count);
        cps_json_uint(row, "pairs", range->pairs);
        cps_json_uint(row, "agree", range->agree);
        cps_json_text(row, "name", name);
        cps_json_append(p->json, row);
        return;
    }
    cps_buf_str(p->out, "  ");
    put_span(range->a, range->count, p->out);
    cps_buf_str(p->out, "-> ");
    put_span(range->b, range->count, p->out);
    cps_buf_printf(p->out, "%5" PRIu32 " of %5" PRIu32 " pairs%s%s\n", range->agree, range->pairs,
                   *name ? "  " : "", name);
}

static void put_all(const struct printer *p, const struct cps_fw_renumber *list, size_t count)
{
    struct range range = {0};
    for (size_t i = 0; i < count; i++) {
        bool on = range.count && list[i].a == range.a + range.count &&
                  list[i].b == range.b + range.count && !*name_of(p, 0, list[i].a) &&
                  !*name_of(p, 1, list[i].b);
        if (!on && range.count)
            put_range(p, &range);
        if (!on)
            range = (struct range){.a = list[i].a, .b = list[i].b};
        range.count++;
        range.pairs += list[i].pairs;
        range.agree += list[i].agree;
    }
    if (range.count)
        put_range(p, &range);
}

struct cps_err *renumber_print(const struct cps_fw *a, const struct cps_fw *b, const char *rnn,
                               struct json_object *json, struct cps_buf *out)
{
    struct cps_fw_renumber *list = NULL;
    size_t count = 0;
    struct printer p = {.json = json, .out = out};
    struct cps_err *err = cps_names_create(a->layout, rnn, &p.names[0]);
    if (!err)
        err = cps_names_create(b->layout, rnn, &p.names[1]);
    if (!err)
        err = cps_fw_renumber(a, b, &list, &count);
    if (!err && !json) {
        cps_shown_put_(out, a->name);
        cps_buf_str(out, " and ");
        cps_shown_put_(out, b->name);
        cps_buf_printf(out, ": control registers of two layouts, %zu correspond:\n", count);
    }
    if (!err)
        put_all(&p, list, count);
    free(list);
    deinit(&p);
    return err;
}

static bool has_role(const struct cps_fw *fw, enum cps_fw_role role)
{
    unsigned i = 0;
    while (i < fw->part_count && fw->part[i].role != role)
        i++;
    return i < fw->part_count;
}

struct cps_err *renumber_check(const struct cps_fw *a, const struct cps_fw *b)
{
    CPS_BUF roles = {0};
    for (unsigned i = 0; i < a->part_count; i++) {
        if (has_role(b, a->part[i].role))
            return NULL;
    }
    for (unsigned i = 0; i < a->part_count; i++)
        cps_buf_printf(&roles, "%s ", cps_fw_role_name(a->part[i].role));
    cps_buf_str(&roles, "and");
    for (unsigned i = 0; i < b->part_count; i++)
        cps_buf_printf(&roles, " %s", cps_fw_role_name(b->part[i].role));
    if (roles.failed)
        return cps_err_nomem();
    return cps_err_new(CPS_ERR_MISMATCH, "%s and %s have no processor in common: %s", a->name,
                       b->name, cps_buf_text(&roles));
}
