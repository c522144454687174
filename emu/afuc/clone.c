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

/* The cores of a copy know each other, and nobody watches them. */
static void join_cores(struct cps_afuc *to, const struct cps_afuc *from)
{
    for (unsigned i = 0; i < to->engine.cores; i++) {
        struct afuc_core *core = &to->core[i];
        core->machine = to;
        core->me = core->me ? &to->core[core->me - from->core] : NULL;
        core->dde = core->dde ? &to->core[core->dde - from->core] : NULL;
        core->cover = NULL;
        core->log = NULL;
        core->window = NULL;
        core->window_left = 0;
    }
}

static struct cps_err *copy_owned(struct cps_afuc *from, struct cps_afuc *to)
{
    struct cps_err *err = bank_clone_(to);
    join_cores(to, from);
    for (unsigned i = 0; i < MAX_CORES; i++) {
        if (to->image[i])
            to->image[i]->refs++;
        cps_reg_index_ref_(to->core[i].control);
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

/* The bytes of a machine between two of its members. */
#define COPY(to, from, first, last) \
    memcpy((char *)(to) + (first), (const char *)(from) + (first), (last) - (first))

/* All but registers, and the batch of events, which is empty: a clone costs the pages that it
 * touches. */
_Static_assert(offsetof(struct cps_afuc, behaves) < offsetof(struct cps_afuc, touched),
               "a clone has what its registers do");
static void copy_state(void *to, const struct cps_afuc *from)
{
    const size_t batch = offsetof(struct cps_afuc, engine.tap.event);
    const size_t cores = offsetof(struct cps_afuc, core);
    COPY(to, from, 0, batch);
    COPY(to, from, batch + sizeof(from->engine.tap.event),
         cores + from->engine.cores * sizeof(*from->core));
    COPY(to, from, offsetof(struct cps_afuc, image), offsetof(struct cps_afuc, touched));
}

struct cps_err *machine_clone_(struct cps_engine *from, struct cps_engine **ret)
{
    const struct cps_afuc *original = (const struct cps_afuc *)from;
    struct cps_afuc *copy = malloc(sizeof(*copy));
    if (!copy)
        return cps_err_nomem();
    copy_state(copy, original);
    for (unsigned i = from->cores; i < MAX_CORES; i++)
        copy->core[i] = (struct afuc_core){.machine = copy};
    memset(copy->touched, 0, sizeof(copy->touched));
    memcpy(copy->reg_flags, original->reg_flags, sizeof(copy->reg_flags));
    memcpy(copy->reg, original->reg, sizeof(copy->reg));
    copy->engine.mem = NULL;
    copy->words = NULL;
    copy->seen = NULL;
    copy->origin = NULL;
    copy->engine.tap.sink = NULL;
    copy->engine.tap.kinds = 0;
    struct cps_err *err = copy_owned((struct cps_afuc *)from, copy);
    if (err)
        machine_destroy_(&copy->engine);
    else
        *ret = &copy->engine;
    return err;
}

/* What a machine owns or was given, which the state of another one must not replace. */
struct belongings {
    struct cps_mem *mem;
    struct cps_sink *sink;
    uint32_t kinds;
    uint32_t *words;
    struct origin *origin;
    struct reg_bank *bank[PIPE_COUNT];
    struct afuc_image *image[MAX_CORES];
    struct cps_cover *cover[MAX_CORES];
    struct cps_edge_log *log[MAX_CORES];
};

static void put_down(struct cps_afuc *machine, struct belongings *ret)
{
    ret->mem = machine->engine.mem;
    ret->sink = machine->engine.tap.sink;
    ret->kinds = machine->engine.tap.kinds;
    ret->words = machine->words;
    ret->origin = machine->origin;
    memcpy(ret->bank, machine->bank, sizeof(ret->bank));
    memcpy(ret->image, machine->image, sizeof(ret->image));
    for (unsigned i = 0; i < MAX_CORES; i++) {
        ret->cover[i] = machine->core[i].cover;
        ret->log[i] = machine->core[i].log;
    }
}

/* The images of the state are taken, those from before given back. */
static void pick_up(struct cps_afuc *machine, const struct belongings *from)
{
    machine->engine.mem = from->mem;
    machine->engine.tap.sink = from->sink;
    machine->engine.tap.kinds = from->kinds;
    machine->words = from->words;
    machine->origin = from->origin;
    machine->epoch = cps_mem_epoch(from->mem);
    memcpy(machine->bank, from->bank, sizeof(machine->bank));
    for (unsigned i = 0; i < MAX_CORES; i++) {
        if (machine->image[i])
            machine->image[i]->refs++;
        afuc_image_unref_(from->image[i]);
        machine->core[i].cover = from->cover[i];
        machine->core[i].log = from->log[i];
        machine->core[i].log_from = machine->core[i].s.pc;
    }
}

static void restore_registers(struct cps_afuc *machine, const struct cps_afuc *from)
{
    for (size_t i = 0; i < sizeof(machine->touched); i++) {
        size_t first = i * TOUCHED_REGS;
        if (!machine->touched[i])
            continue;
        memcpy(&machine->reg[first], &from->reg[first], TOUCHED_REGS * sizeof(*machine->reg));
        memcpy(&machine->reg_flags[first], &from->reg_flags[first], TOUCHED_REGS);
        machine->touched[i] = 0;
    }
}

struct cps_err *machine_restore_(struct cps_engine *engine, struct cps_engine *original)
{
    struct cps_afuc *machine = (struct cps_afuc *)engine;
    const struct cps_afuc *from = (const struct cps_afuc *)original;
    struct belongings own;
    CPS_TRY(cps_mem_restore(engine->mem, original->mem));
    put_down(machine, &own);
    copy_state(machine, from);
    join_cores(machine, from);
    pick_up(machine, &own);
    if (from->words)
        memcpy(machine->words, from->words, from->word_count * sizeof(*machine->words));
    bank_restore_(machine, from);
    restore_registers(machine, from);
    return NULL;
}
