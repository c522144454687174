/* SPDX-License-Identifier: MIT
 * The renumbering of control registers between two chips. */
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/diff/diffcause.h"

#include <inttypes.h>
#include <stdlib.h>

#include "isa/base/shown.h"
#include "tools/cmd/render/doc.h"

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

static const char *name_of(const struct printer *p, unsigned side, uint32_t number)
{
    const char *name = cps_name(p->names[side], CPS_SPACE_CONTROL, number, NULL);
    return name ? name : "";
}

static void put_span(uint32_t first, uint32_t count, struct cps_buf *out)
{
    size_t start = out->size;
    cps_buf_hex(out, first, 3);
    if (count > 1) {
        cps_buf_str(out, "-");
        cps_buf_hex(out, first + count - 1, 3);
    }
    cps_buf_pad(out, start, 11);
    cps_buf_str(out, " ");
}

/* Ranges are named by their first register, where one has a name. */
static void put_range(const struct printer *p, const struct range *range)
{
    const char *name = name_of(p, 0, range->a);
    name = *name ? name : name_of(p, 1, range->b);
    if (p->json) {
        doc_row(p->json, "a=%u b=%u count=%u pairs=%u agree=%u name=%s", range->a, range->b,
                range->count, range->pairs, range->agree, name);
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
    cps_names_destroy(p.names[0]);
    cps_names_destroy(p.names[1]);
    return err;
}

struct cps_err *renumber_check(const struct cps_fw *a, const struct cps_fw *b)
{
    CPS_BUF roles = {0};
    for (unsigned i = 0; i < a->part_count; i++) {
        if (diff_part(b, a->part[i].role))
            return NULL;
    }
    for (unsigned i = 0; i < a->part_count; i++)
        cps_buf_printf(&roles, "%s ", cps_fw_role_name(a->part[i].role));
    cps_buf_str(&roles, "and");
    for (unsigned i = 0; i < b->part_count; i++)
        cps_buf_printf(&roles, " %s", cps_fw_role_name(b->part[i].role));
    return cps_err_new(CPS_ERR_MISMATCH, "%s and %s have no processor in common: %s", a->name,
                       b->name, tool_text(&roles));
}
