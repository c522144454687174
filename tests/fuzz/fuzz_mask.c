/* SPDX-License-Identifier: MIT
 * Fuzz target: masks. Ranges are not empty, and an event in the middle of one is covered with its
 * bits. */
#include <stdlib.h>
#include <string.h>

#include "trace/event/mask.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct cps_mask *mask)
{
    static const unsigned kinds[] = {[CPS_MASK_REG] = CPS_EV_REG,
                                     [CPS_MASK_PIPE] = CPS_EV_PIPE,
                                     [CPS_MASK_CTRL] = CPS_EV_CTRL,
                                     [CPS_MASK_MEM] = CPS_EV_MEMW,
                                     [CPS_MASK_SQE] = CPS_EV_SQE};
    for (unsigned i = 0; i < mask->count; i++) {
        const struct cps_mask_rule *rule = &mask->rule[i];
        if (rule->first > rule->last)
            __builtin_trap();
        if (rule->what == CPS_MASK_PKT || rule->first > UINT32_MAX)
            continue;
        struct cps_event event =
            cps_event_make(kinds[rule->what], 0, CPS_CPU_SQE, 0, rule->first, 0);
        if ((cps_mask_bits(mask, &event, -1) & rule->bits) != rule->bits)
            __builtin_trap();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct cps_names *names;
    CPS_CLEANUP(cps_mask_deinit) struct cps_mask mask = {0};
    char *text = malloc(size + 1);
    if (!text || (!names && cps_names_create(CPS_LAYOUT_A6XX, NULL, &names)))
        abort();
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    struct cps_err *err = cps_mask_add(&mask, text, names);
    if (err && err->code != CPS_ERR_SYNTAX)
        __builtin_trap();
    check(&mask);
    cps_err_free(err);
    free(text);
    return 0;
}
