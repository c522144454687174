/* SPDX-License-Identifier: MIT
 * Names for the commentary of a trace. */
#include "tools/report/names.h"

struct cps_err *trace_names(const struct cps_trace_head *head, const char *rnn,
                            struct cps_names *names[CPS_CPU_COUNT])
{
    static const uint8_t a5xx[] = {CPS_CPU_PFP, CPS_CPU_ME};
    static const uint8_t later[] = {CPS_CPU_SQE, CPS_CPU_BV, CPS_CPU_LPAC};
    static const uint8_t scripts[] = {CPS_CPU_HOST, CPS_CPU_HWSQ,  CPS_CPU_HWSQ_B,
                                      CPS_CPU_SEQ,  CPS_CPU_PFIFO, CPS_CPU_VP1};
    const uint8_t *list = head->gen == CPS_A5XX         ? a5xx
                          : !cps_gen_is_afuc(head->gen) ? scripts
                                                        : later;
    size_t count = list == a5xx ? sizeof(a5xx) : list == later ? sizeof(later) : sizeof(scripts);
    for (size_t i = 0; i < count; i++) {
        unsigned who = list[i];
        enum cps_layout layout = who == CPS_CPU_ME ? CPS_LAYOUT_A5XX_ME : head->layout;
        CPS_TRY(cps_names_create(layout, rnn, &names[who]));
    }
    return NULL;
}

void trace_names_free(struct cps_names *names[CPS_CPU_COUNT])
{
    for (unsigned i = 0; i < CPS_CPU_COUNT; i++)
        cps_names_destroy(names[i]);
}
