/* SPDX-License-Identifier: MIT
 * GPU registers: storage, the few that behave (gpu_reg.def), and CP_PROTECT. */
#include "machine.h"

struct gpu_access {
    struct afuc_core *core;
    uint32_t offset;
    uint32_t index; /* within the row */
    uint32_t stored;
};

static uint32_t assume(const struct gpu_access *at, unsigned what, uint32_t value)
{
    core_event_(at->core, CPS_EV_ASSUME, what, at->offset, value);
    return value;
}

static uint32_t read_CLOCK(const struct gpu_access *at)
{
    uint64_t clock = at->core->machine->clock;
    return assume(at, CPS_WHAT_CLOCK, (uint32_t)(at->index & 1 ? clock >> 32 : clock));
}

static uint32_t read_ACK_BELOW(const struct gpu_access *at)
{
    return assume(at, CPS_WHAT_ACK, at->core->machine->reg[at->offset - 1]);
}

static uint32_t read_VSC_STATE(const struct gpu_access *at)
{
    bool all = at->core->machine->policy.visibility == CPS_VISIBILITY_ALL;
    return assume(at, CPS_WHAT_VISIBILITY, all ? 0xffffffff : at->stored);
}

static uint32_t read_COUNT(const struct gpu_access *at)
{
    return assume(at, CPS_WHAT_COUNTER, at->stored);
}

static const struct row {
    enum cps_gen gens;
    uint32_t first, last;
    uint32_t (*read)(const struct gpu_access *at);
} rows[] = {
#define GPU_REG(id, gens, first, last, read, evidence) {gens, first, last, read_##read},
#include "gpu_reg.def"
};

void gpu_init_(struct cps_machine *machine)
{
    enum cps_gen gen = cps_layout_gen(machine->layout);
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (uint32_t r = rows[i].first; (rows[i].gens & gen) && r <= rows[i].last; r++)
            machine->reg_flags[r] |= REG_BEHAVES;
    }
}

static uint32_t behave(struct afuc_core *core, uint32_t offset, uint32_t stored)
{
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (offset >= rows[i].first && offset <= rows[i].last) {
            struct gpu_access at = {core, offset, offset - rows[i].first, stored};
            return rows[i].read(&at);
        }
    }
    return stored;
}

uint32_t gpu_read_(struct afuc_core *core, uint32_t offset)
{
    struct cps_machine *machine = core->machine;
    uint32_t value = machine->reg[offset];
    uint8_t *flags = &machine->reg_flags[offset];
    core->polled = (struct polled){CPS_PLACE_GPU, offset};
    if (*flags & REG_BEHAVES) {
        value = behave(core, offset, value);
    } else if (!(*flags & (REG_WRITTEN | REG_REPORTED))) {
        *flags |= REG_REPORTED;
        core_event_(core, CPS_EV_UNMODELLED, CPS_PLACE_GPU, offset, 0);
    }
    core_event_(core, CPS_EV_REGR, 0, offset, value);
    return value;
}

enum { CP_PROTECT_CNTL = 0x84f, CP_PROTECT_FIRST = 0x850, CP_PROTECT_LAST = 0x87f };
enum { PROTECT_ENABLE = 1, PROTECT_LAST_IS_OPEN = 8 };

/* One entry: 17:0 first register, 30:18 how many behind it, 31 reads forbidden too. */
static bool entry_forbids(uint32_t entry, bool open_ended, uint32_t first, uint32_t last,
                          bool write)
{
    uint32_t from = entry & 0x3ffff;
    uint32_t to = open_ended ? GPU_REGS - 1 : from + (entry >> 18 & 0x1fff);
    return entry && (write || entry >> 31) && first <= to && last >= from;
}

bool gpu_protected_(const struct cps_machine *machine, uint32_t offset, uint32_t count, bool write)
{
    uint32_t control = machine->reg[CP_PROTECT_CNTL];
    if (CPS_LIKELY(!(control & PROTECT_ENABLE)))
        return false;
    uint32_t last = count ? offset + count - 1 : offset;
    for (uint32_t r = CP_PROTECT_FIRST; r <= CP_PROTECT_LAST; r++) {
        bool open = (control & PROTECT_LAST_IS_OPEN) && r == CP_PROTECT_LAST;
        if (entry_forbids(machine->reg[r], open, offset, last, write))
            return true;
    }
    return false;
}

void gpu_write_(struct afuc_core *core, uint32_t offset, uint32_t value, unsigned path)
{
    struct cps_machine *machine = core->machine;
    if (path == CPS_PATH_USER && CPS_UNLIKELY(gpu_protected_(machine, offset, 1, true))) {
        core_event_(core, CPS_EV_PROT, 0, offset, value);
        return;
    }
    core_event_(core, CPS_EV_REG, path, offset, value);
    machine->changes += machine->reg[offset] != value;
    machine->reg[offset] = value;
    machine->reg_flags[offset] |= REG_WRITTEN;
}
