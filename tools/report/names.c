/* SPDX-License-Identifier: MIT
 * Names for the commentary of a trace. */
#include "tools/report/names.h"

#include "cpscope.h"

/* The processors of a5xx run one role each, which no other generation has. */
static bool is_early(enum cps_fw_role role)
{
    return role == CPS_FW_PFP || role == CPS_FW_ME;
}

/* Of scripts everybody from the host on: only one engine is in a trace. Else who runs a part of
 * firmware. */
static bool makes_events(enum cps_gen gen, unsigned who)
{
    if (!cps_gen_is_afuc(gen))
        return who >= CPS_CPU_HOST;
    for (unsigned i = 0; i < 2 * CPS_FW_ROLE_COUNT; i++) {
        enum cps_fw_role role = (enum cps_fw_role)(i / 2);
        if (who != CPS_CPU_NONE && cps_role_processor(role, i % 2) == who)
            return is_early(role) == (gen == CPS_A5XX);
    }
    return false;
}

struct cps_err *trace_names(const struct cps_trace_head *head, const char *rnn,
                            struct cps_names *names[CPS_CPU_COUNT])
{
    for (unsigned who = 0; who < CPS_CPU_COUNT; who++) {
        enum cps_layout layout = who == CPS_CPU_ME ? CPS_LAYOUT_A5XX_ME : head->layout;
        if (makes_events(head->gen, who))
            CPS_TRY(cps_names_create(layout, rnn, &names[who]));
    }
    return NULL;
}

void trace_names_free(struct cps_names *names[CPS_CPU_COUNT])
{
    for (unsigned i = 0; i < CPS_CPU_COUNT; i++)
        cps_names_destroy(names[i]);
}
