/* SPDX-License-Identifier: MIT
 * What a machine owns: its end, and copies. State is copied, memory pages and decoded images are
 * shared. */
#include "emu/afuc/bank.h"
#include "emu/afuc/load.h"
#include "emu/afuc/machine.h"
#include "emu/afuc/clone.h"

#include <string.h>

void machine_destroy_(struct cps_engine *engine)
{
    struct cps_afuc *machine = (struct cps_afuc *)engine;
    for (unsigned i = 0; i < MAX_CORES; i++) {
        afuc_image_unref_(machine->image[i]);
        cps_reg_index_unref_(machine->core[i].control);
    }
    cps_reg_index_unref_(machine->pipe);
    cps_reg_index_unref_(machine->gpu);
    bank_deinit_(machine);
    free(machine->words);
    cps_mem_destroy(engine->mem);
    free(machine);
}

static struct cps_err *copy_owned(struct cps_afuc *from, struct cps_afuc *to)
{
    struct cps_err *err = bank_clone_(to);
    for (unsigned i = 0; i < MAX_CORES; i++) {
        struct afuc_core *core = &to->core[i];
        core->machine = to;
        core->me = core->me ? &to->core[core->me - from->core] : NULL;
        core->dde = core->dde ? &to->core[core->dde - from->core] : NULL;
        core->cover = NULL;
        core->window = NULL;
        core->window_left = 0;
        if (to->image[i])
            to->image[i]->refs++;
        cps_reg_index_ref_(core->control);
    }
    cps_reg_index_ref_(to->pipe);
    cps_reg_index_ref_(to->gpu);
    if (err)
        return err;
    CPS_TRY(cps_mem_clone(from->engine.mem, &to->engine.mem));
    to->epoch = cps_mem_epoch(to->engine.mem);
    if (!from->words)
        return NULL;
    to->words = malloc(from->word_count * sizeof(*to->words));
    if (!to->words)
        return cps_err_nomem();
    memcpy(to->words, from->words, from->word_count * sizeof(*to->words));
    return NULL;
}

/* All but the batch of events, which is empty: a clone costs the pages that it touches. */
static void copy_state(void *to, const struct cps_engine *from)
{
    const size_t batch = offsetof(struct cps_afuc, engine.tap.event);
    const size_t behind = batch + sizeof(from->tap.event);
    memcpy(to, from, batch);
    memcpy((char *)to + behind, (const char *)from + behind, sizeof(struct cps_afuc) - behind);
}

struct cps_err *machine_clone_(struct cps_engine *from, struct cps_engine **ret)
{
    struct cps_afuc *copy = malloc(sizeof(*copy));
    if (!copy)
        return cps_err_nomem();
    copy_state(copy, from);
    copy->engine.mem = NULL;
    copy->words = NULL;
    copy->seen = NULL;
    copy->engine.tap.sink = NULL;
    copy->engine.tap.kinds = 0;
    struct cps_err *err = copy_owned((struct cps_afuc *)from, copy);
    if (err)
        machine_destroy_(&copy->engine);
    else
        *ret = &copy->engine;
    return err;
}
