/* SPDX-License-Identifier: MIT
 * Copies of machines: state is copied, memory pages and decoded images are shared. */
#include "emu/afuc/machine.h"

#include <string.h>

static struct cps_err *copy_owned(struct cps_machine *from, struct cps_machine *to)
{
    for (unsigned i = 0; i < MAX_CORES; i++) {
        struct afuc_core *core = &to->core[i];
        core->machine = to;
        core->me = core->me ? &to->core[core->me - from->core] : NULL;
        core->cover = NULL;
        core->window = NULL;
        core->window_left = 0;
        if (to->image[i])
            to->image[i]->refs++;
    }
    CPS_TRY(cps_mem_clone(from->mem, &to->mem));
    to->epoch = cps_mem_epoch(to->mem);
    if (!from->words)
        return NULL;
    to->words = malloc(from->word_count * sizeof(*to->words));
    if (!to->words)
        return cps_err_nomem();
    memcpy(to->words, from->words, from->word_count * sizeof(*to->words));
    return NULL;
}

struct cps_err *cps_machine_clone(struct cps_machine *machine, struct cps_machine **ret)
{
    struct cps_machine *copy = malloc(sizeof(*copy));
    if (!copy)
        return cps_err_nomem();
    machine_flush_(machine);
    memcpy(copy, machine, sizeof(*copy));
    copy->mem = NULL;
    copy->words = NULL;
    copy->sink = NULL;
    copy->kinds = 0;
    struct cps_err *err = copy_owned(machine, copy);
    if (err)
        cps_machine_destroy(copy);
    else
        *ret = copy;
    return err;
}
