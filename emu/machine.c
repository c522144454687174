/* SPDX-License-Identifier: MIT
 * Machines: construction, the ring, boot and submissions as the kernel driver makes them. */
#include "machine.h"

#include <string.h>

/* Where the image and the ring lie unless the caller says otherwise: the top of the kernel's half
 * of the address space, out of the way of captured buffers. */
#define DEFAULT_INSTR_IOVA UINT64_C(0x0001fffff0000000)
#define DEFAULT_RING_IOVA  UINT64_C(0x0001fffff8000000)
#define DEFAULT_MEMORY     (UINT64_C(4) << 30)

/* GPU registers that hold the address of the image (F: read by the bootstrap). */
enum { SQE_INSTR_BASE = 0x830 };

static void core_init(struct afuc_core *core, struct cps_machine *machine, enum cps_processor who)
{
    core->machine = machine;
    core->who = who;
    core->layout = machine->layout;
    core->s.npc = 1;
    afuc_control_init_(core);
}

/* Stores the image where its own `load`s and memory reads find it. */
static struct cps_err *store_image(struct cps_machine *machine, const uint32_t *words,
                                   uint32_t count)
{
    cps_mem_keep(machine->mem, true);
    for (uint32_t i = 0; i < count; i++) {
        if (!cps_mem_write(machine->mem, machine->instr_iova + 4 * (uint64_t)i, words[i]))
            return cps_err_nomem();
    }
    cps_mem_keep(machine->mem, false);
    return NULL;
}

static struct cps_err *add_core(struct cps_machine *machine,
                                const struct cps_machine_config *config)
{
    struct afuc_core *core = &machine->core[0];
    core_init(core, machine, config->image[0].who);
    CPS_TRY(afuc_load_(config->words, config->count, cps_layout_gen(config->layout),
                       &machine->uops[0]));
    machine->core_count = 1;
    core->uops = machine->uops[0];
    core->uop_count = config->count;
    core->s.started = 1;
    afuc_control_set_(core, CTL_CHIP_ID, config->chip);
    return NULL;
}

static void set_reg64(struct cps_machine *machine, uint32_t offset, uint64_t value)
{
    cps_machine_set_reg(machine, offset, (uint32_t)value);
    cps_machine_set_reg(machine, offset + 1, (uint32_t)(value >> 32));
}

static struct cps_err *init(struct cps_machine *machine, const struct cps_machine_config *config)
{
    CPS_TRY(cps_mem_create(config->memory_limit ? config->memory_limit : DEFAULT_MEMORY,
                           &machine->mem));
    CPS_TRY(add_core(machine, config));
    gpu_init_(machine);
    set_reg64(machine, SQE_INSTR_BASE, machine->instr_iova);
    return store_image(machine, config->words, config->count);
}

struct cps_err *cps_machine_create(const struct cps_machine_config *config,
                                   struct cps_machine **ret)
{
    if (config->layout != CPS_LAYOUT_A6XX)
        return cps_err_new(CPS_ERR_UNSUPPORTED,
                           "%s firmware cannot be executed yet, only a6xx; disasm and info work",
                           cps_gen_name(cps_layout_gen(config->layout)));
    if (!config->image_count || !config->count)
        return cps_err_new(CPS_ERR_INPUT, "the firmware holds no image, expected an SQE image");
    struct cps_machine *machine = calloc(1, sizeof(*machine));
    if (!machine)
        return cps_err_nomem();
    machine->layout = config->layout;
    machine->policy = config->policy;
    machine->instr_iova = config->instr_iova ? config->instr_iova : DEFAULT_INSTR_IOVA;
    machine->ring_iova = config->ring_iova ? config->ring_iova : DEFAULT_RING_IOVA;
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
        free(machine->uops[i]);
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

void cps_machine_end(struct cps_machine *machine, enum cps_stop stop)
{
    static const uint8_t reason[] = {
        [CPS_STOP_IDLE] = CPS_REASON_DONE,
        [CPS_STOP_BUDGET] = CPS_REASON_LIMIT,
        [CPS_STOP_DEADLOCK] = CPS_REASON_DEADLOCK,
        [CPS_STOP_FAULT] = CPS_REASON_FAULT,
        [CPS_STOP_BAD_PACKET] = CPS_REASON_BAD_PACKET,
    };
    machine_event_(machine, CPS_EV_END, reason[stop], CPS_CPU_NONE, 0, machine->stats.instructions,
                   (uint32_t)machine->stats.packets);
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
        machine->ring_wptr = (machine->ring_wptr + 1) % RING_DWORDS;
    }
    cps_mem_keep(machine->mem, false);
    return stored;
}

/* CP_ME_INIT as the kernel's a6xx driver sends it: contexts, error detection, default reset. */
static const uint32_t me_init_a6xx[] = {0x70c80008, 0x2f, 3, 0x20000000, 0, 0, 0, 0, 0};

enum cps_stop cps_machine_boot(struct cps_machine *machine, uint64_t budget)
{
    enum cps_stop stop = cps_machine_run(machine, budget);
    if (stop != CPS_STOP_IDLE)
        return stop;
    cps_machine_ring(machine, me_init_a6xx, sizeof(me_init_a6xx) / sizeof(me_init_a6xx[0]));
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

/* A SUBMIT event has no address of its own for the index: the stream's dwords, which an IB limits
 * to 20 bits, take the place of the program counter. */
bool cps_machine_submit(struct cps_machine *machine, uint32_t index, uint64_t iova, uint32_t dwords)
{
    const uint32_t call[] = {0x70bf8003, (uint32_t)iova, (uint32_t)(iova >> 32), dwords & 0xfffff};
    bool known = false;
    cps_mem_read(machine->mem, iova, &known);
    machine_event_(machine, CPS_EV_SUBMIT, 0, CPS_CPU_NONE, dwords & 0xfffff, iova, index);
    if (!known && dwords) {
        machine_event_(machine, CPS_EV_UNMODELLED, CPS_PLACE_STREAM, CPS_CPU_NONE, 0, iova, 0);
        return false;
    }
    return cps_machine_ring(machine, call, sizeof(call) / sizeof(call[0]));
}
