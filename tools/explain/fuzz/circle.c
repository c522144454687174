/* SPDX-License-Identifier: MIT
 * Loops that a processor stands in: whether they ask anybody outside for anything. */
#include "tools/explain/fuzz/judge.h"

#include "isa/isa.h"

#define STEPS 16384u

enum { R_MEMDATA = 0x1d, R_REGDATA = 0x1e, R_DATA = 0x1f };

/* An instruction of a core's image; false: it is not there. */
static bool insn_at(const struct run_side *side, unsigned core, uint32_t pc, struct cps_insn *ret)
{
    const struct play *play = side->play;
    bool me = side->engine->who[core] == CPS_CPU_ME;
    const struct cps_fw *fw = me ? play->me : play->fw;
    uint32_t start = me ? 0 : run_image_start(side, core);
    if (!fw || pc >= fw->count - start)
        return false;
    cps_decode(&cps_isa_afuc, fw->gen, fw->words[start + pc], ret);
    return true;
}

static bool has_source(const struct cps_insn *insn, int64_t reg)
{
    static const uint8_t sources[] = {CPS_AFUC_F_SRC1, CPS_AFUC_F_SRC2, CPS_AFUC_F_REG};
    bool found = false;
    for (unsigned i = 0; i < sizeof(sources); i++)
        found |= cps_insn_field(&cps_isa_afuc, insn, sources[i], -1) == reg;
    return found;
}

/* Whether somebody else decides on what an instruction does: a stream, memory, a register, the
 * hardware around the processor. */
static bool asks(const struct cps_insn *insn)
{
    return insn->op == CPS_AFUC_CREAD || insn->op == CPS_AFUC_LOAD || insn->op == CPS_AFUC_LOADP ||
           insn->op == CPS_AFUC_WAITIN || has_source(insn, R_MEMDATA) ||
           has_source(insn, R_REGDATA) || has_source(insn, R_DATA);
}

enum oracle circle_kind(struct run_side *side, unsigned core)
{
    struct cps_engine *engine = side->engine;
    uint32_t low = UINT32_MAX;
    uint32_t high = 0;
    for (uint32_t i = 0; i < STEPS; i++) {
        struct cps_insn insn;
        uint32_t pc = cps_engine_where(engine, core).pc;
        if (!insn_at(side, core, pc, &insn) || asks(&insn))
            return ORACLE_WAITS;
        low = pc < low ? pc : low;
        high = pc > high ? pc : high;
        cps_engine_run(engine, 1);
    }
    return high - low <= 1 ? ORACLE_HALT : ORACLE_HANG;
}
