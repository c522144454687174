/* SPDX-License-Identifier: MIT
 * Prints every name that Adreno's layouts have, for corpus_names.py to compare: a line is layout,
 * space, number, name, half, fields if no bit and if all bits were set. Usage: corpus_names
 * [RNN_DIR] */
#include <stdio.h>

#include "isa/isa.h"

static const struct {
    const char *name;
    enum cps_layout layout;
} layouts[] = {
#define LAYOUT(id, ...) {#id, CPS_LAYOUT_##id},
#include "isa/target.def"
};

static const char *const spaces[CPS_SPACE_COUNT] = {
    [CPS_SPACE_GPU] = "gpu",   [CPS_SPACE_CONTROL] = "control", [CPS_SPACE_SQE] = "sqe",
    [CPS_SPACE_PIPE] = "pipe", [CPS_SPACE_PACKET] = "packet",   [CPS_SPACE_EVENT] = "event",
};

static void print_space(const char *layout, const struct cps_names *names, enum cps_space space)
{
    CPS_BUF fields = {0};
    for (uint32_t number = 0; number < 0x40000; number++) {
        unsigned half = 0;
        const char *name = cps_name(names, space, number, &half);
        if (!name)
            continue;
        cps_buf_clear(&fields);
        cps_name_fields(names, space, number, 0, &fields);
        cps_buf_str(&fields, " | ");
        cps_name_fields(names, space, number, UINT32_MAX, &fields);
        printf("%s\t%s\t%u\t%s\t%u\t%s\n", layout, spaces[space], (unsigned)number, name, half,
               cps_buf_text(&fields));
    }
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        struct cps_names *names = NULL;
        if (layouts[i].layout > CPS_LAYOUT_A8XX)
            break;
        struct cps_err *err =
            cps_names_create(layouts[i].layout, argc > 1 ? argv[1] : NULL, &names);
        if (err) {
            fprintf(stderr, "%s\n", err->message);
            cps_err_free(err);
            return 1;
        }
        for (int space = 0; space < CPS_SPACE_COUNT; space++) {
            if (spaces[space])
                print_space(layouts[i].name, names, (enum cps_space)space);
        }
        cps_names_destroy(names);
    }
    return 0;
}
