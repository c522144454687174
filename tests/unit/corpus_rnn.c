/* SPDX-License-Identifier: MIT
 * The built-in names agree with a real rnndb tree, $CPSCOPE_CORPUS/rnndb: every number, half and
 * bit field of every layout. The tables were made from such a tree, so none may differ. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"

/* A number as its name, half, and the names of its fields (as if all bits were set). */
static void describe(const struct cps_names *names, enum cps_space space, uint32_t number,
                     struct cps_buf *out)
{
    unsigned index = 0;
    const char *name = cps_name(names, space, number, &index);
    if (!name)
        return;
    cps_buf_printf(out, "%s+%u ", name, index);
    cps_name_fields(names, space, number, UINT32_MAX, out);
}

static unsigned compare_space(const struct cps_names *built_in, const struct cps_names *tree,
                              enum cps_space space, unsigned *total)
{
    unsigned count = 0;
    CPS_BUF left = {0};
    CPS_BUF right = {0};
    for (uint32_t number = 0; number < 0x40000; number++) {
        cps_buf_clear(&left);
        cps_buf_clear(&right);
        describe(built_in, space, number, &left);
        describe(tree, space, number, &right);
        *total += left.size || right.size;
        if (!strcmp(cps_buf_text(&left), cps_buf_text(&right)))
            continue;
        count++;
        printf("# space %d 0x%x: built-in \"%s\", tree \"%s\"\n", (int)space, (unsigned)number,
               cps_buf_text(&left), cps_buf_text(&right));
    }
    return count;
}

static struct cps_err *compare_layout(enum cps_layout layout, const char *dir, unsigned *count,
                                      unsigned *total)
{
    struct cps_names *built_in = NULL;
    struct cps_names *tree = NULL;
    struct cps_err *err = cps_names_create(layout, NULL, &built_in);
    if (!err)
        err = cps_names_create(layout, dir, &tree);
    for (unsigned space = 0; !err && space < CPS_SPACE_COUNT; space++)
        *count += compare_space(built_in, tree, (enum cps_space)space, total);
    cps_names_destroy(built_in);
    cps_names_destroy(tree);
    return err;
}

int main(void)
{
    const char *corpus = getenv("CPSCOPE_CORPUS");
    if (!corpus) {
        printf("1..0 # SKIP CPSCOPE_CORPUS is not set\n");
        return 0;
    }
    CPS_BUF dir = {0};
    cps_buf_printf(&dir, "%s/rnndb", corpus);
    unsigned total = 0;
    unsigned count = 0;
    struct cps_err *err = NULL;
    for (unsigned layout = 0; !err && layout < CPS_LAYOUT_COUNT; layout++)
        err = compare_layout((enum cps_layout)layout, cps_buf_text(&dir), &count, &total);
    printf("1..1\n# %u of %u names differ\n", count, total);
    if (err)
        printf("# %s\n", err->message);
    printf("%s 1 - built-in names agree with the tree\n",
           err || count || total < 10000 ? "not ok" : "ok");
    cps_err_free(err);
    return 0;
}
