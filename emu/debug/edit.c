/* SPDX-License-Identifier: MIT
 * Changing a machine while it stands. Changes belong to the run, at the step where they were made.
 */
#include "emu/debug/state.h"

#include <string.h>

/* Decodes the word anew, in an image of the machine's own, and stores it where `load` finds it. */
static bool patch(struct cps_machine *m, const struct cps_edit *edit)
{
    struct afuc_core *core = &m->core[edit->core];
    struct afuc_image *shared = m->image[edit->core];
    size_t size = sizeof(*shared) + ((size_t)shared->count + 1) * sizeof(*shared->uop);
    struct afuc_image *own = malloc(size);
    if (!own)
        return false;
    memcpy(own, shared, size);
    own->refs = 1;
    afuc_image_unref_(shared);
    m->image[edit->core] = own;
    own->native = NULL;
    own->loop = NULL;
    core->uops = core->hot = own->uop;
    afuc_patch_(own, (uint32_t)edit->number, edit->value, cps_layout_gen(core->layout));
    uint32_t dword = core->start + (uint32_t)edit->number;
    if (m->words && dword < m->word_count)
        m->words[dword] = edit->value;
    return cps_mem_write(m->mem, machine_image_iova_(m, edit->core) + 4 * edit->number,
                         edit->value);
}

static void make(struct cps_machine *m, const struct cps_edit *edit)
{
    struct afuc_state *s = &m->core[edit->core].s;
    const struct afuc_uop *uop = m->core[edit->core].uops + s->pc;
    m->changes++;
    switch (edit->what) {
    case CPS_EDIT_GPR:
        if (edit->number == R_ADDR)
            s->addr = edit->value;
        else if (edit->number == R_USRADDR)
            s->usraddr = edit->value;
        else if (edit->number)
            s->r[edit->number] = edit->value;
        break;
    case CPS_EDIT_PC:
        s->pc = edit->value;
        s->npc = edit->value + 1;
        break;
    case CPS_EDIT_CONTROL:
        s->control[edit->number] = edit->value;
        break;
    case CPS_EDIT_SQE:
        s->sqe[edit->number] = edit->value;
        break;
    case CPS_EDIT_REG:
        cps_machine_set_reg(m, (uint32_t)edit->number, edit->value);
        break;
    case CPS_EDIT_MEMORY:
        cps_mem_write(m->mem, edit->number, edit->value);
        break;
    case CPS_EDIT_WORD:
        patch(m, edit);
        break;
    case CPS_EDIT_BRANCH:
        s->pc = s->npc;
        s->npc = edit->value ? uop->target : s->pc + 1;
        break;
    case CPS_EDIT_RING:
        cps_machine_ring(m, edit->words, edit->count);
        break;
    }
}

void debug_make_edits_(struct cps_debug *d)
{
    while (d->made_next < d->made_count && d->made[d->made_next].step == d->place.step)
        make(d->machine, &d->made[d->made_next++].edit);
}

void debug_drop_edits_(struct cps_debug *d, size_t first)
{
    for (size_t i = first; i < d->made_count; i++)
        free((void *)d->made[i].edit.words);
    d->made_count = first;
}

static struct cps_err *check(const struct cps_debug *d, const struct cps_edit *edit)
{
    const struct afuc_core *core = &d->machine->core[edit->core];
    uint64_t limit = edit->what == CPS_EDIT_GPR       ? R_DATA
                     : edit->what == CPS_EDIT_CONTROL ? CONTROL_COUNT
                     : edit->what == CPS_EDIT_SQE     ? SQE_COUNT
                     : edit->what == CPS_EDIT_REG     ? GPU_REGS
                     : edit->what == CPS_EDIT_WORD    ? core->uop_count
                                                      : UINT64_MAX;
    if (!core->s.started)
        return cps_err_new(CPS_ERR_INPUT, "that processor is not started");
    if (edit->number >= limit)
        return cps_err_new(CPS_ERR_INPUT, "0x%llx: expected a number below 0x%llx",
                           (unsigned long long)edit->number, (unsigned long long)limit);
    if (edit->what == CPS_EDIT_PC && edit->value >= core->uop_count)
        return cps_err_new(CPS_ERR_INPUT, "0x%x: the image has 0x%x dwords", edit->value,
                           core->uop_count);
    if (edit->what == CPS_EDIT_BRANCH && !afuc_condition_(core->uops[core->s.pc].code))
        return cps_err_new(CPS_ERR_INPUT, "there is no conditional branch at 0x%04x", core->s.pc);
    return NULL;
}

/* What was changed further on belongs to a run that will not be. */
static void forget_later(struct cps_debug *d)
{
    debug_drop_edits_(d, d->made_next);
    debug_forget_behind_(d, d->place.step);
}

struct cps_err *cps_debug_edit(struct cps_debug *d, const struct cps_edit *edit)
{
    if (edit->core >= d->machine->core_count)
        return cps_err_new(CPS_ERR_INPUT, "there is no processor number %u", edit->core);
    CPS_TRY(check(d, edit));
    forget_later(d);
    struct made *made = realloc(d->made, (d->made_count + 1) * sizeof(*made));
    if (!made)
        return cps_err_nomem();
    d->made = made;
    made[d->made_count] = (struct made){*edit, d->place.step};
    if (edit->words) {
        uint32_t *words = malloc((edit->count + (size_t)1) * sizeof(*words));
        if (!words)
            return cps_err_nomem();
        memcpy(words, edit->words, edit->count * sizeof(*words));
        made[d->made_count].edit.words = words;
    }
    d->made_count++;
    debug_make_edits_(d);
    debug_refresh_(d);
    return NULL;
}
