/* SPDX-License-Identifier: MIT
 * Launched work: what the function that does it gets (emu/work.h). */
#include "emu/afuc/control/control.h"

#include "isa/target.h"

/* What is around a struct cps_work. */
struct call {
    struct cps_work work; /* first */
    struct afuc_core *core;
    bool mapped; /* memory may have changed without the engine */
};

static struct call *call_of(const struct cps_work *work)
{
    return work->core;
}

/* a5xx has two banks: that of the register that starts the work. */
static uint32_t in_bank(const struct cps_work *work, uint32_t offset)
{
    bool second = work->offset >> 12 ? work->offset >> 11 & 1 : work->offset >> 10 & 1;
    if (offset >= 0xe000 && offset <= 0xe7ff)
        return offset | (uint32_t)second << 11;
    if (offset >= 0x2000 && offset <= 0x23ff)
        return offset | (uint32_t)second << 10;
    return offset;
}

static bool get(const struct cps_work *work, uint32_t offset, uint32_t *value)
{
    const struct afuc_core *core = call_of(work)->core;
    *value = 0;
    if (offset >= GPU_REGS)
        return false;
    if (work->generation == 5)
        offset = in_bank(work, offset);
    *value = bank_get_(core->machine, core->pipe, offset);
    return bank_written_(core->machine, core->pipe, offset);
}

static bool read(const struct cps_work *work, uint64_t iova, void *to, uint64_t size)
{
    return cps_mem_save(call_of(work)->core->machine->engine.mem, iova, to, size);
}

/* Page by page: nothing is stored where the host has no memory. */
static bool write(const struct cps_work *work, uint64_t iova, const void *from, uint64_t size)
{
    struct cps_mem *mem = call_of(work)->core->machine->engine.mem;
    const uint8_t *data = from;
    while (size) {
        uint64_t room = CPS_PAGE_BYTES - iova % CPS_PAGE_BYTES;
        uint64_t step = size < room ? size : room;
        struct cps_err *err =
            cps_mem_is_hosted(mem, iova) ? cps_mem_load(mem, iova, data, step) : cps_err_nomem();
        if (err) {
            cps_err_free(err);
            return false;
        }
        iova += step;
        data += step;
        size -= step;
    }
    return true;
}

static void *map(const struct cps_work *work, uint64_t iova, uint64_t *size)
{
    struct call *call = call_of(work);
    const struct cps_host *host = &call->core->machine->engine.host;
    void *data = host->map ? host->map(host->context, iova, size) : NULL;
    call->mapped |= data != NULL;
    return data;
}

void work_call_(struct afuc_core *core, unsigned kind, uint32_t offset, uint32_t value)
{
    struct cps_engine *engine = &core->machine->engine;
    struct call call = {.work = {.kind = kind,
                                 .generation = cps_gen_row(engine->gen)->number,
                                 .offset = offset,
                                 .value = value,
                                 .processor = core->who,
                                 .pc = core->s.pc,
                                 .header = core->s.header,
                                 .iova = core->s.header_iova,
                                 .core = &call,
                                 .get = get,
                                 .read = read,
                                 .write = write,
                                 .map = map},
                        .core = core};
    engine->work_failed = engine->work(engine->work_context, &call.work);
    if (engine->work_failed)
        afuc_fault_(core, FAULT_WORK, kind);
    if (call.mapped)
        cps_mem_host_changed(engine->mem);
    stream_recheck_(core);
}
