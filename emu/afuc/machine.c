/* SPDX-License-Identifier: MIT
 * The row of afuc among the engines, and how a machine is made. */
#include "emu/afuc/control/control.h"

#include <string.h>

/* Where the image and the ring lie unless the caller says otherwise: the top of the kernel's half
 * of the address space, out of the way of captured buffers. */
#define DEFAULT_INSTR_IOVA UINT64_C(0x0001fffff0000000)
#define DEFAULT_RING_IOVA  UINT64_C(0x0001fffff8000000)
#define AQE_MEMORY         UINT32_C(0x30000)

/* GPU registers that hold the address of an image (F: read by the bootstrap). */
enum { PFP_INSTR_BASE = 0x835, ME_INSTR_BASE = 0x838 };

/* Where the first image of a file is noted, by processor and layout; AQE0 and AQE1 have a pair
 * each (F: gen80000 006b, its AQE 0047; gen70900's AQE 0041). */
static uint32_t instr_base(enum cps_processor who, enum cps_layout layout)
{
    bool a8xx = layout == CPS_LAYOUT_A8XX;
    if (who == CPS_CPU_AQE)
        return a8xx ? 0x818 : 0xb70;
    return a8xx ? 0x816 : 0x830;
}

/* Bits 27:24 of CHIP_ID are the processor's pipe, where images look at them. */
enum { PIPE_SHIFT = 24 };

/* Stores an image where its own `load`s and memory reads find it. */
static struct cps_err *store_image(struct cps_afuc *machine, uint64_t iova, const uint32_t *words,
                                   uint32_t count)
{
    cps_mem_keep(machine->engine.mem, true);
    for (uint32_t i = 0; i < count; i++) {
        if (!cps_mem_write(machine->engine.mem, iova + 4 * (uint64_t)i, words[i]))
            return cps_err_nomem();
    }
    cps_mem_keep(machine->engine.mem, false);
    return NULL;
}

/* Where a processor that another one starts reads its own address. */
static enum ctl own_base(enum cps_processor who)
{
    switch (who) {
    case CPS_CPU_LPAC:
        return CTL_LPAC_INSTR_BASE;
    case CPS_CPU_DDE_BR:
    case CPS_CPU_DDE_BV: /* one image, which reads one register */
        return CTL_DDE_BR_INSTR_BASE;
    default:
        return CTL_BV_INSTR_BASE;
    }
}

/* What the identity registers of a chip read, and which levels are privileged from the start. */
static struct cps_err *init_controls(struct afuc_core *core, const struct cps_config *config)
{
    size_t first = 0;
    while (cps_target_at(first) && cps_target_at(first)->layout != config->layout)
        first++;
    const struct cps_target *other = cps_target_at(first);
    CPS_TRY(afuc_control_init_(core));
    core->base = afuc_control_number_(core, own_base(core->who));
    bool late = config->layout == CPS_LAYOUT_A7XX_GEN3 || config->layout == CPS_LAYOUT_A8XX;
    uint32_t pipe = late ? bank_pipe_(core->who) : 0;
    afuc_control_set_(core, CTL_CHIP_ID, config->chip | pipe << PIPE_SHIFT);
    uint32_t variant = other ? other->variant : 0;
    bool said = config->has_variant || config->variant;
    afuc_control_set_(core, CTL_CHIP_VARIANT, said ? config->variant : variant);
    afuc_control_set_(core, CTL_LEVEL_PRIVILEGE, 1);
    return NULL;
}

static struct cps_err *add_core(struct cps_afuc *machine, enum cps_processor who,
                                enum cps_layout layout, const struct cps_config *config)
{
    struct afuc_core *core = &machine->core[machine->engine.cores];
    machine->engine.who[machine->engine.cores++] = (uint8_t)who;
    core->machine = machine;
    core->who = who;
    core->layout = layout;
    core->s.npc = 1;
    return init_controls(core, config);
}

static struct cps_err *init_a5xx(struct cps_afuc *machine, const struct cps_config *config)
{
    CPS_TRY(add_core(machine, CPS_CPU_PFP, CPS_LAYOUT_A5XX_PFP, config));
    CPS_TRY(add_core(machine, CPS_CPU_ME, CPS_LAYOUT_A5XX_ME, config));
    machine->core[0].me = &machine->core[1];
    machine->core[1].s.level = LEVEL_MEQ;
    uint64_t me_iova = cps_afuc_image_iova(machine, 1);
    machine_set_pair_(machine, PFP_INSTR_BASE, machine->instr_iova);
    machine_set_pair_(machine, ME_INSTR_BASE, me_iova);
    CPS_TRY(machine_load_core_(&machine->core[0], config->words, config->count, 0));
    CPS_TRY(machine_load_core_(&machine->core[1], config->me_words, config->me_count, 0));
    CPS_TRY(store_image(machine, machine->instr_iova, config->words, config->count));
    return store_image(machine, me_iova, config->me_words, config->me_count);
}

/* BR and BV send draws to their DDEs, which have no ring. */
static void link_dde(struct afuc_core *core)
{
    if (is_dde_(core))
        core->s.level = LEVEL_MEQ;
    else if (core->who == CPS_CPU_SQE)
        core->dde = machine_find_core_(core->machine, CPS_CPU_DDE_BR);
    else if (core->who == CPS_CPU_BV)
        core->dde = machine_find_core_(core->machine, CPS_CPU_DDE_BV);
}

/* An AQE alone: BR's CP_SET_PSEUDO_REG gives it memory and leaves a message before it starts it (F:
 * gen70900 0bb3..0bc8 and 113e). The base is far enough before the ring for all that an AQE
 * adds to it. */
static struct cps_err *leave_message(struct cps_afuc *machine)
{
    enum { AQE0_PREEMPT_BASE = 0x275, MESSAGE = 0x263, REQUEST = 0x271 };
    const uint64_t base = DEFAULT_RING_IOVA - AQE_MEMORY;
    machine->shared[AQE0_PREEMPT_BASE - SHARED_CONTROL] = (uint32_t)base;
    machine->shared[AQE0_PREEMPT_BASE + 1 - SHARED_CONTROL] = (uint32_t)(base >> 32);
    machine->shared[MESSAGE - SHARED_CONTROL] = 2;
    machine->shared[REQUEST - SHARED_CONTROL] = 1;
    bool stored = true;
    cps_mem_keep(machine->engine.mem, true);
    for (uint32_t at = 0; at < AQE_MEMORY; at += 4)
        stored = cps_mem_write(machine->engine.mem, base + at, 0) && stored;
    cps_mem_keep(machine->engine.mem, false);
    return stored ? NULL : cps_err_nomem();
}

/* The first image starts; the others wait until it starts them. */
static struct cps_err *init_sqe(struct cps_afuc *machine, const struct cps_config *config)
{
    for (unsigned i = 0; i < config->image_count && i < MAX_CORES; i++)
        CPS_TRY(add_core(machine, config->image[i].who, config->layout, config));
    for (unsigned i = 0; i < machine->engine.cores; i++)
        link_dde(&machine->core[i]);
    if (config->image[0].who == CPS_CPU_AQE)
        CPS_TRY(leave_message(machine));
    machine_set_pair_(machine, instr_base(config->image[0].who, config->layout),
                      machine->instr_iova);
    CPS_TRY(machine_load_core_(&machine->core[0], config->words, config->count,
                               config->image[0].start));
    return store_image(machine, machine->instr_iova, config->words, config->count);
}

static struct cps_err *copy_images(struct cps_afuc *machine, const struct cps_config *config)
{
    uint32_t me_count = config->layout == CPS_LAYOUT_A5XX_PFP ? config->me_count : 0;
    machine->words = malloc(((size_t)config->count + me_count) * sizeof(*machine->words));
    if (!machine->words)
        return cps_err_nomem();
    memcpy(machine->words, config->words, config->count * sizeof(*machine->words));
    if (me_count)
        memcpy(machine->words + config->count, config->me_words,
               me_count * sizeof(*machine->words));
    machine->word_count = config->count + me_count;
    machine->made = *config;
    return NULL;
}

static struct cps_err *init(struct cps_afuc *machine, const struct cps_config *config)
{
    CPS_TRY(cps_mem_create(config->memory_limit ? config->memory_limit : CPS_MEM_LIMIT,
                           &machine->engine.mem));
    machine->epoch = cps_mem_epoch(machine->engine.mem);
    CPS_TRY(copy_images(machine, config));
    CPS_TRY(config->layout == CPS_LAYOUT_A5XX_PFP ? init_a5xx(machine, config)
                                                  : init_sqe(machine, config));
    CPS_TRY(bank_init_(machine));
    CPS_TRY(afuc_pipe_init_(machine));
    CPS_TRY(gpu_init_(machine));
    if (config->host.read)
        cps_mem_host(machine->engine.mem, &machine->engine.host);
    return NULL;
}

static struct cps_err *check(const struct cps_config *config)
{
    if (config->layout == CPS_LAYOUT_A5XX_ME)
        return cps_err_new(CPS_ERR_INPUT, "an ME does not run without its PFP");
    if (!config->count || (!config->image_count && config->layout != CPS_LAYOUT_A5XX_PFP))
        return cps_err_new(CPS_ERR_INPUT, "the firmware holds no image, expected an SQE image");
    if (config->layout == CPS_LAYOUT_A5XX_PFP && !config->me_count)
        return cps_err_new(CPS_ERR_INPUT,
                           "a5xx has two processors, expected a PFP and an ME (pm4) image");
    return NULL;
}

static struct cps_err *create(const struct cps_engine_ops *ops, const struct cps_config *config,
                              struct cps_engine **ret)
{
    CPS_TRY(check(config));
    struct cps_afuc *machine = calloc(1, sizeof(*machine));
    if (!machine)
        return cps_err_nomem();
    machine->engine.ops = ops;
    machine->engine.gen = cps_layout_gen(config->layout);
    machine->engine.policy = config->policy;
    machine->engine.host = config->host;
    machine->layout = config->layout;
    machine->instr_iova = config->instr_iova ? config->instr_iova : DEFAULT_INSTR_IOVA;
    machine->ring_iova = DEFAULT_RING_IOVA;
    machine->ring_dwords = RING_DWORDS;
    struct cps_err *err = init(machine, config);
    if (err)
        machine_destroy_(&machine->engine);
    else
        *ret = &machine->engine;
    return err;
}

/* The word after the image, which a fault leads to, needs a counter too. */
static void cover(struct cps_engine *engine, unsigned core, struct cps_cover *counts,
                  uint32_t count)
{
    struct afuc_core *c = &((struct cps_afuc *)engine)->core[core];
    c->cover = counts && count > c->uop_count ? counts : NULL;
    c->cover_count = count;
}

static const struct cps_file files[] = {
    {CPS_FILE_GENERAL, 32, 1, "general register", 32},
    {CPS_FILE_CONTROL, 32, 1, "control register", CONTROL_COUNT},
    {CPS_FILE_SQE, 32, 1, "SQE register", SQE_COUNT},
    {CPS_FILE_STACK, 32, 1, "return", STACK_DEPTH},
    {CPS_FILE_PC, 32, 1, "pc", 2},
    {CPS_FILE_CODE, 32, 1, "code", UINT32_MAX},
    {CPS_FILE_REGISTER, 32, 1, "register", GPU_REGS},
    {CPS_FILE_MEMORY, 32, 4, "memory", UINT64_MAX},
};

const struct cps_engine_ops cps_afuc_ops_ = {
    .name = "afuc",
    .isa = &cps_isa_afuc,
    .file = files,
    .files = sizeof(files) / sizeof(files[0]),
    .create = create,
    .destroy = machine_destroy_,
    .clone = machine_clone_,
    .restore = machine_restore_,
    .feed = machine_feed_,
    .run = machine_run_,
    .ticks_alone = true,
    .where = machine_where_,
    .get = machine_get_,
    .set = machine_set_,
    .waits_for = machine_waits_for_,
    .explain = machine_explain_,
    .cover = cover,
    .watch = gpu_watch_,
};

/* ---- the end of a machine, and copies ----
 *
 * State is copied, memory pages and decoded images are shared. */

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

/* ---- recovery ---- */

/* A reset keeps counts, observers and the caller's settings. */
static void keep_counts(struct cps_afuc *to, const struct cps_afuc *from)
{
    struct cps_engine *engine = &to->engine;
    engine->clock = from->engine.clock;
    engine->instructions = from->engine.instructions;
    engine->packets = from->engine.packets;
    memcpy(engine->launches, from->engine.launches, sizeof(engine->launches));
    engine->changes = from->engine.changes + 1; /* registers are others */
    engine->asked = from->engine.asked;
    engine->asked_context = from->engine.asked_context;
    engine->tap = from->engine.tap;
    to->origin = from->origin;
    to->repeats = from->repeats;
    memcpy(to->packets_by_id, from->packets_by_id, sizeof(to->packets_by_id));
    memcpy(to->injection, from->injection, sizeof(to->injection));
    to->injection_count = from->injection_count;
    to->injection_next = from->injection_next;
    to->watched = from->watched;
    to->rings.wanted = from->rings.wanted;
    to->chip = from->chip;
    for (unsigned i = 0; i < MAX_CORES; i++) {
        to->core[i].cover = from->core[i].cover;
        to->core[i].cover_count = from->core[i].cover_count;
        to->core[i].log = from->core[i].log;
    }
}

/* All registers may differ from those of the machine that this one is a clone of. */
static void touch_all(struct cps_afuc *machine)
{
    memset(machine->touched, 1, sizeof(machine->touched));
    for (unsigned i = 0; i < PIPE_COUNT; i++) {
        if (machine->bank[i])
            machine->bank[i]->touched = true;
    }
}

/* A new machine in the place of this one, with its memory. */
struct cps_err *machine_recover_(struct cps_afuc *machine)
{
    struct cps_config config = machine->made;
    struct cps_engine *other = NULL;
    config.words = machine->words;
    config.me_words = machine->words + config.count;
    config.policy = machine->engine.policy;
    CPS_FREE struct cps_afuc *old = malloc(sizeof(*old));
    if (!old)
        return cps_err_nomem();
    CPS_TRY(create(machine->engine.ops, &config, &other));
    struct cps_afuc *fresh = (struct cps_afuc *)other;
    cps_tap_flush_(&machine->engine.tap);
    *old = *machine;
    keep_counts(fresh, old);
    *machine = *fresh;
    machine->engine.mem = old->engine.mem;
    machine->epoch = old->epoch;
    for (unsigned i = 0; i < machine->engine.cores; i++) {
        struct afuc_core *core = &machine->core[i];
        core->machine = machine;
        core->me = core->me ? &machine->core[core->me - fresh->core] : NULL;
        core->dde = core->dde ? &machine->core[core->dde - fresh->core] : NULL;
        core->log_from = core->s.pc;
    }
    touch_all(machine);
    /* What the old one owned goes with the new one's memory. */
    old->engine.mem = fresh->engine.mem;
    *fresh = *old;
    machine_destroy_(&fresh->engine);
    return NULL;
}
