/* SPDX-License-Identifier: MIT
 * Machines: construction, the ring, boot and submissions as the kernel driver makes them. */
#include "emu/afuc/machine.h"

#include <string.h>

/* Where the image and the ring lie unless the caller says otherwise: the top of the kernel's half
 * of the address space, out of the way of captured buffers. */
#define DEFAULT_INSTR_IOVA UINT64_C(0x0001fffff0000000)
#define DEFAULT_RING_IOVA  UINT64_C(0x0001fffff8000000)
#define DEFAULT_MEMORY     (UINT64_C(4) << 30)

/* The ME's image of a5xx, a file of its own. */
#define ME_IMAGE_OFFSET UINT64_C(0x1000000)

/* GPU registers that hold the address of an image (F: read by the bootstrap). */
enum { SQE_INSTR_BASE = 0x830, PFP_INSTR_BASE = 0x835, ME_INSTR_BASE = 0x838 };

static void set_reg64(struct cps_machine *machine, uint32_t offset, uint64_t value)
{
    cps_machine_set_reg(machine, offset, (uint32_t)value);
    cps_machine_set_reg(machine, offset + 1, (uint32_t)(value >> 32));
}

/* Stores an image where its own `load`s and memory reads find it. */
static struct cps_err *store_image(struct cps_machine *machine, uint64_t iova,
                                   const uint32_t *words, uint32_t count)
{
    cps_mem_keep(machine->mem, true);
    for (uint32_t i = 0; i < count; i++) {
        if (!cps_mem_write(machine->mem, iova + 4 * (uint64_t)i, words[i]))
            return cps_err_nomem();
    }
    cps_mem_keep(machine->mem, false);
    return NULL;
}

uint64_t machine_image_iova_(const struct cps_machine *machine, unsigned core)
{
    const struct afuc_core *c = &machine->core[core];
    if (c->who == CPS_CPU_ME)
        return machine->instr_iova + ME_IMAGE_OFFSET;
    return machine->instr_iova + 4 * (uint64_t)c->start;
}

/* What the identity registers of a chip read, and which levels are privileged from the start. */
static void init_controls(struct afuc_core *core, const struct cps_machine_config *config)
{
    const struct cps_target *first = cps_target_first(cps_layout_gen(core->layout));
    afuc_control_init_(core);
    afuc_control_set_(core, CTL_CHIP_ID, config->chip);
    afuc_control_set_(core, CTL_CHIP_VARIANT,
                      config->variant ? config->variant
                      : first         ? first->variant
                                      : 0);
    afuc_control_set_(core, CTL_LEVEL_PRIVILEGE, 1);
}

static void add_core(struct cps_machine *machine, enum cps_processor who, enum cps_layout layout,
                     const struct cps_machine_config *config)
{
    struct afuc_core *core = &machine->core[machine->core_count++];
    core->machine = machine;
    core->who = who;
    core->layout = layout;
    core->s.npc = 1;
    init_controls(core, config);
}

/* Decodes the image that begins at dword @p start of @p words and lets the core run. */
static struct cps_err *load_core(struct cps_machine *machine, struct afuc_core *core,
                                 const uint32_t *words, uint32_t count, uint32_t start)
{
    unsigned index = (unsigned)(core - machine->core);
    afuc_image_unref_(machine->image[index]);
    machine->image[index] = NULL;
    CPS_TRY(afuc_load_(words + start, count - start, cps_layout_gen(core->layout),
                       &machine->image[index]));
    core->uops = core->hot = machine->image[index]->uop;
    core->uop_count = count - start;
    core->start = start;
    if (core->cover && core->cover_count <= core->uop_count)
        core->cover = NULL;
    core->s.started = 1;
    return NULL;
}

/* Restarting a core that runs is not known to happen; it goes on. */
void machine_start_core_(struct afuc_core *by, enum cps_processor who, uint64_t iova)
{
    struct cps_machine *machine = by->machine;
    uint64_t start = (iova - machine->instr_iova) / 4;
    struct afuc_core *core = NULL;
    for (unsigned i = 0; i < machine->core_count; i++)
        core = machine->core[i].who == who ? &machine->core[i] : core;
    if (!core || start >= machine->word_count) {
        core_event_(by, CPS_EV_UNMODELLED, CPS_PLACE_MEMORY, iova, 0);
        return;
    }
    if (core->s.started)
        return;
    uint32_t bases[2] = {afuc_control_number_(core, CTL_BV_INSTR_BASE),
                         afuc_control_number_(core, CTL_LPAC_INSTR_BASE)};
    uint32_t number = bases[who == CPS_CPU_LPAC];
    if (number != 0xffff) {
        core->s.control[number] = (uint32_t)iova;
        core->s.control[number + 1] = (uint32_t)(iova >> 32);
    }
    struct cps_err *err =
        load_core(machine, core, machine->words, machine->word_count, (uint32_t)start);
    if (err)
        afuc_fault_(by, FAULT_MEMORY, (uint32_t)iova);
    cps_err_free(err);
}

static struct cps_err *init_a5xx(struct cps_machine *machine,
                                 const struct cps_machine_config *config)
{
    uint64_t me_iova = machine->instr_iova + ME_IMAGE_OFFSET;
    add_core(machine, CPS_CPU_PFP, CPS_LAYOUT_A5XX_PFP, config);
    add_core(machine, CPS_CPU_ME, CPS_LAYOUT_A5XX_ME, config);
    machine->core[0].me = &machine->core[1];
    machine->core[1].s.level = LEVEL_MEQ;
    set_reg64(machine, PFP_INSTR_BASE, machine->instr_iova);
    set_reg64(machine, ME_INSTR_BASE, me_iova);
    CPS_TRY(load_core(machine, &machine->core[0], config->words, config->count, 0));
    CPS_TRY(load_core(machine, &machine->core[1], config->me_words, config->me_count, 0));
    CPS_TRY(store_image(machine, machine->instr_iova, config->words, config->count));
    return store_image(machine, me_iova, config->me_words, config->me_count);
}

/* The first image starts; the others wait until it starts them. */
static struct cps_err *init_sqe(struct cps_machine *machine,
                                const struct cps_machine_config *config)
{
    for (unsigned i = 0; i < config->image_count && i < MAX_CORES; i++)
        add_core(machine, config->image[i].who, config->layout, config);
    set_reg64(machine, SQE_INSTR_BASE, machine->instr_iova);
    CPS_TRY(load_core(machine, &machine->core[0], config->words, config->count,
                      config->image[0].start));
    machine->words = malloc(config->count * sizeof(*machine->words));
    if (!machine->words)
        return cps_err_nomem();
    memcpy(machine->words, config->words, config->count * sizeof(*machine->words));
    machine->word_count = config->count;
    return store_image(machine, machine->instr_iova, config->words, config->count);
}

static struct cps_err *init(struct cps_machine *machine, const struct cps_machine_config *config)
{
    CPS_TRY(cps_mem_create(config->memory_limit ? config->memory_limit : DEFAULT_MEMORY,
                           &machine->mem));
    machine->epoch = cps_mem_epoch(machine->mem);
    CPS_TRY(config->layout == CPS_LAYOUT_A5XX_PFP ? init_a5xx(machine, config)
                                                  : init_sqe(machine, config));
    gpu_init_(machine);
    return NULL;
}

static struct cps_err *check(const struct cps_machine_config *config)
{
    if (config->layout == CPS_LAYOUT_A8XX)
        return cps_err_new(CPS_ERR_UNSUPPORTED,
                           "a8xx firmware cannot be executed: how its control registers are "
                           "numbered is not known; disasm and info work");
    if (config->layout == CPS_LAYOUT_A5XX_ME)
        return cps_err_new(CPS_ERR_INPUT, "an ME does not run without its PFP");
    if (!config->count || (!config->image_count && config->layout != CPS_LAYOUT_A5XX_PFP))
        return cps_err_new(CPS_ERR_INPUT, "the firmware holds no image, expected an SQE image");
    if (config->layout == CPS_LAYOUT_A5XX_PFP && !config->me_count)
        return cps_err_new(CPS_ERR_INPUT,
                           "a5xx has two processors, expected a PFP and an ME (pm4) image");
    return NULL;
}

struct cps_err *cps_machine_create(const struct cps_machine_config *config,
                                   struct cps_machine **ret)
{
    CPS_TRY(check(config));
    struct cps_machine *machine = calloc(1, sizeof(*machine));
    if (!machine)
        return cps_err_nomem();
    machine->layout = config->layout;
    machine->policy = config->policy;
    machine->instr_iova = config->instr_iova ? config->instr_iova : DEFAULT_INSTR_IOVA;
    machine->ring_iova = DEFAULT_RING_IOVA;
    machine->ring_dwords = RING_DWORDS;
    struct cps_err *err = init(machine, config);
    if (err) {
        cps_machine_destroy(machine);
        return err;
    }
    *ret = machine;
    return NULL;
}

void cps_machine_destroy(struct cps_machine *machine)
{
    if (!machine)
        return;
    for (unsigned i = 0; i < MAX_CORES; i++)
        afuc_image_unref_(machine->image[i]);
    free(machine->words);
    cps_mem_destroy(machine->mem);
    free(machine);
}

void machine_flush_(struct cps_machine *machine)
{
    if (machine->sink && machine->pending)
        machine->sink->put(machine->sink, machine->event, machine->pending);
    machine->pending = 0;
}

void cps_machine_sink(struct cps_machine *machine, struct cps_sink *sink, uint32_t kinds)
{
    machine_flush_(machine);
    machine->sink = sink;
    machine->kinds = sink ? kinds : 0;
}

void cps_machine_flush(struct cps_machine *machine)
{
    machine_flush_(machine);
}

unsigned cps_stop_reason(enum cps_stop stop)
{
    static const uint8_t reason[] = {
        [CPS_STOP_IDLE] = CPS_REASON_DONE,
        [CPS_STOP_BUDGET] = CPS_REASON_LIMIT,
        [CPS_STOP_DEADLOCK] = CPS_REASON_DEADLOCK,
        [CPS_STOP_FAULT] = CPS_REASON_FAULT,
        [CPS_STOP_BAD_PACKET] = CPS_REASON_BAD_PACKET,
    };
    return reason[stop];
}

void cps_machine_end(struct cps_machine *machine, enum cps_stop stop)
{
    machine_event_(machine, CPS_EV_END, cps_stop_reason(stop), CPS_CPU_NONE, 0,
                   machine->stats.instructions, (uint32_t)machine->stats.packets);
    machine_flush_(machine);
}

/* Puts words behind what the ring holds, as the driver does before it moves the write pointer. */
bool cps_machine_ring(struct cps_machine *machine, const uint32_t *words, unsigned count)
{
    bool stored = true;
    cps_mem_keep(machine->mem, true);
    for (unsigned i = 0; i < count; i++) {
        uint64_t iova = machine->ring_iova + 4 * (uint64_t)machine->ring_wptr;
        stored = cps_mem_write(machine->mem, iova, words[i]) && stored;
        machine->ring_wptr = (machine->ring_wptr + 1) % machine->ring_dwords;
    }
    cps_mem_keep(machine->mem, false);
    return stored;
}

void cps_machine_set_ring(struct cps_machine *machine, uint64_t iova, uint32_t dwords,
                          uint32_t rptr, uint32_t wptr)
{
    machine->ring_iova = iova;
    machine->ring_dwords = dwords ? dwords : RING_DWORDS;
    machine->ring_wptr = wptr % machine->ring_dwords;
    for (unsigned i = 0; i < machine->core_count; i++) {
        machine->core[i].s.queue[LEVEL_RB].pos = rptr % machine->ring_dwords;
        machine->core[i].window_left = 0;
    }
}

/* CP_ME_INIT as the kernel's drivers send it: contexts, error detection, default reset. a5xx has a
 * word of work-arounds, a7xx starts without concurrent binning and sends an operation mask; the
 * list of power-up registers is left out, because no capture holds it. */
void machine_me_init_(struct cps_machine *machine)
{
    const uint32_t a5xx[] = {0x70c80008, 0x2f, 3, 0x20000000, 0, 0, machine->workarounds, 0, 0};
    static const uint32_t a6xx[] = {0x70c80008, 0x2f, 3, 0x20000000, 0, 0, 0, 0, 0};
    static const uint32_t a7xx[] = {0x70970001, 0x08000000, 0x70c80004, 0x4b, 3, 0x20000000, 2};
    switch (cps_layout_gen(machine->layout)) {
    case CPS_A5XX:
        cps_machine_ring(machine, a5xx, sizeof(a5xx) / sizeof(a5xx[0]));
        break;
    case CPS_A6XX:
        cps_machine_ring(machine, a6xx, sizeof(a6xx) / sizeof(a6xx[0]));
        break;
    default:
        cps_machine_ring(machine, a7xx, sizeof(a7xx) / sizeof(a7xx[0]));
    }
}

void cps_machine_workarounds(struct cps_machine *machine, uint32_t word)
{
    machine->workarounds = word;
}

enum cps_stop cps_machine_boot(struct cps_machine *machine, uint64_t budget)
{
    enum cps_stop stop = cps_machine_run(machine, budget);
    if (stop != CPS_STOP_IDLE)
        return stop;
    machine_me_init_(machine);
    return cps_machine_run(machine, budget);
}

struct cps_err *cps_machine_load(struct cps_machine *machine, uint64_t iova, const uint8_t *data,
                                 uint64_t size)
{
    return cps_mem_load(machine->mem, iova, data, size);
}

void cps_machine_forget(struct cps_machine *machine)
{
    cps_mem_forget(machine->mem);
}

/* CP_THREAD_CONTROL as the kernel's a7xx_submit() sends it in front of the IBs: BR alone after both
 * have met, then both. Without it BV would not follow into the IBs and no stream could synchronise
 * with it. */
static const uint32_t threads_a7xx[] = {0x70970001, 0x80000001, 0x70970001, 0x00000003};

bool cps_machine_inject(struct cps_machine *machine, enum cps_inject kind, uint32_t submission,
                        uint32_t packet)
{
    if (machine->injection_count == MAX_INJECTIONS)
        return false;
    machine->injection[machine->injection_count++] = (struct injection){kind, submission, packet};
    return true;
}

/* A SUBMIT event has no address of its own for the index: the stream's dwords, which an IB limits
 * to 20 bits, take the place of the program counter. */
bool cps_machine_submit(struct cps_machine *machine, uint32_t index, uint64_t iova, uint32_t dwords)
{
    const uint32_t call[] = {0x70bf8003, (uint32_t)iova, (uint32_t)(iova >> 32), dwords & 0xfffff};
    bool known = false;
    cps_mem_read(machine->mem, iova, &known);
    machine_event_(machine, CPS_EV_SUBMIT, 0, CPS_CPU_NONE, dwords & 0xfffff, iova, index);
    machine->submission = index;
    machine->submission_packets = 0;
    if (!known && dwords) {
        machine_event_(machine, CPS_EV_UNMODELLED, CPS_PLACE_STREAM, CPS_CPU_NONE, 0, iova, 0);
        return false;
    }
    if (cps_gen_since(cps_layout_gen(machine->layout), CPS_A7XX))
        cps_machine_ring(machine, threads_a7xx, sizeof(threads_a7xx) / sizeof(threads_a7xx[0]));
    return cps_machine_ring(machine, call, sizeof(call) / sizeof(call[0]));
}
