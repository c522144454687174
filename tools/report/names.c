/* SPDX-License-Identifier: MIT
 * Names for the commentary of a trace. */
#include "tools/report/names.h"

/* Of scripts everybody from the host on: only one engine is in a trace. */
static bool makes_events(enum cps_gen gen, unsigned who)
{
    if (!cps_gen_is_afuc(gen))
        return who >= CPS_CPU_HOST;
    bool late = who == CPS_CPU_DDE_BR || who == CPS_CPU_DDE_BV || who == CPS_CPU_AQE;
    return gen == CPS_A5XX ? who <= CPS_CPU_ME
                           : late || (who >= CPS_CPU_SQE && who <= CPS_CPU_LPAC);
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
