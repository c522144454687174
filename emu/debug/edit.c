/* SPDX-License-Identifier: MIT
 * Changing a machine while it stands. Changes belong to the run, at the step where they were made.
 */
#include "emu/debug/state.h"

#include <string.h>

#include "isa/base/list.h"

static bool set(struct cps_engine *engine, unsigned core, char file, uint64_t number,
                uint64_t value)
{
    return cps_engine_set(engine, (struct cps_place){(uint8_t)core, file, number}, value);
}

/* The branch is done: its delay slot, if it has one, is next. */
static bool branch(struct cps_engine *engine, unsigned core, bool taken)
{
    struct cps_where where = cps_engine_where(engine, core);
    uint8_t bytes[CPS_INSN_BYTES];
    struct cps_insn insn;
    uint32_t target = 0;
    if (!cps_engine_decode(engine, core, where.pc, bytes, &insn))
        return false;
    if (cps_insn_flow(engine->ops->isa, &insn) != CPS_FLOW_BRANCH ||
        !cps_insn_target(engine->ops->isa, &insn, where.pc, &target))
        return false;
    if (!cps_insn_has_slot(engine->ops->isa, &insn))
        return set(engine, core, CPS_FILE_PC, 0, taken ? target : where.npc);
    return set(engine, core, CPS_FILE_PC, 0, where.npc) &&
           (!taken || set(engine, core, CPS_FILE_PC, 1, target));
}

static bool packets(struct cps_engine *engine, const struct cps_edit *edit)
{
    const struct cps_item item = {.kind = CPS_ITEM_PACKETS,
                                  .block = {.words = edit->words, .count = edit->count}};
    struct cps_err *err = cps_engine_feed(engine, &item);
    cps_err_free(err);
    return !err;
}

static bool make(struct cps_engine *engine, const struct cps_edit *edit)
{
    switch (edit->what) {
    case CPS_EDIT_PLACE:
        return cps_engine_set(engine, edit->place, edit->value);
    case CPS_EDIT_BRANCH:
        return branch(engine, edit->place.core, edit->value);
    case CPS_EDIT_PACKETS:
        return packets(engine, edit);
    }
    return false;
}

void debug_make_edits_(struct cps_debug *d)
{
    while (d->made_next < d->made_count && d->made[d->made_next].step == d->place.step)
        make(d->engine, &d->made[d->made_next++].edit);
}

void debug_drop_edits_(struct cps_debug *d, size_t first)
{
    for (size_t i = first; i < d->made_count; i++)
        free((void *)d->made[i].edit.words);
    d->made_count = first;
}

static struct cps_err *check(const struct cps_debug *d, const struct cps_edit *edit)
{
    const struct cps_file *file = cps_engine_file(d->engine, edit->place.file);
    if (edit->place.core >= d->engine->cores)
        return cps_err_new(CPS_ERR_INPUT, "there is no processor number %u", edit->place.core);
    if (edit->what != CPS_EDIT_PLACE)
        return NULL;
    if (!file)
        return cps_err_new(CPS_ERR_INPUT, "%s has no such places", d->engine->ops->name);
    if (edit->place.number >= file->count)
        return cps_err_new(CPS_ERR_INPUT, "0x%llx: expected a %s below 0x%llx",
                           (unsigned long long)edit->place.number, file->name,
                           (unsigned long long)file->count);
    return NULL;
}

static struct cps_err *refused(const struct cps_debug *d, const struct cps_edit *edit)
{
    const struct cps_file *file = cps_engine_file(d->engine, edit->place.file);
    if (edit->what == CPS_EDIT_BRANCH)
        return cps_err_new(CPS_ERR_INPUT, "there is no conditional branch at 0x%04x",
                           (unsigned)cps_engine_where(d->engine, edit->place.core).pc);
    if (edit->what == CPS_EDIT_PACKETS)
        return cps_err_new(CPS_ERR_INPUT, "%s takes no packets here", d->engine->ops->name);
    return cps_err_new(CPS_ERR_INPUT, "%s 0x%llx cannot be 0x%llx here", file->name,
                       (unsigned long long)edit->place.number, (unsigned long long)edit->value);
}

struct cps_err *debug_keep_edit_(struct cps_debug *d, const struct cps_edit *edit, uint64_t step)
{
    uint32_t *words = NULL;
    if (!CPS_LIST_ROOM(d->made, d->made_count))
        return cps_err_nomem();
    if (edit->words) {
        words = malloc((edit->count + (size_t)1) * sizeof(*words));
        if (!words)
            return cps_err_nomem();
        memcpy(words, edit->words, edit->count * sizeof(*words));
    }
    d->made[d->made_count] = (struct made){*edit, step};
    d->made[d->made_count++].edit.words = words;
    return NULL;
}

struct cps_err *cps_debug_edit(struct cps_debug *d, const struct cps_edit *edit)
{
    CPS_TRY(check(d, edit));
    /* What was changed further on belongs to a run that will not be. */
    debug_drop_edits_(d, d->made_next);
    debug_forget_behind_(d, d->place.step);
    CPS_TRY(debug_keep_edit_(d, edit, d->place.step));
    bool good = make(d->engine, &d->made[d->made_count - 1].edit);
    if (!good)
        debug_drop_edits_(d, d->made_count - 1);
    d->made_next = d->made_count;
    debug_refresh_(d);
    if (!good && cps_mem_failed(d->engine->mem))
        return cps_err_nomem();
    return good ? NULL : refused(d, edit);
}
