/* SPDX-License-Identifier: MIT
 * What the first instructions of an image say: constants, where its packet table is, which chip it
 * wants to be on. Nothing is executed. */
#include "fw/image/private.h"

/* Handlers begin behind the boot. The longest one that was seen (gen80000 077) reads its packet
 * table at dword 0x198 and checks its chip at 0x1a3. */
#define BOOT 0x400u

static void decode(const struct cps_fw *fw, uint32_t at, struct cps_insn *ret)
{
    cps_decode(&cps_isa_afuc, fw->gen, at < fw->count ? fw->words[at] : 0, ret);
}

/* A constant that an instruction loads as it is. */
static bool loads(const struct cps_insn *insn, uint32_t *ret)
{
    bool good = insn->op == CPS_AFUC_MOVI && cps_fw_field_(insn, CPS_AFUC_F_SHIFT) <= 0;
    *ret = (uint32_t)cps_fw_field_(insn, CPS_AFUC_F_IMM16);
    return good;
}

bool cps_fw_boot_loads_(const struct cps_fw *fw, uint32_t first, uint32_t last, uint32_t value)
{
    for (uint32_t i = first; i < fw->count && i < last; i++) {
        struct cps_insn insn;
        uint32_t have = 0;
        decode(fw, i, &insn);
        if (loads(&insn, &have) && have == value)
            return true;
        if (insn.op == CPS_AFUC_OR && cps_fw_field_(&insn, CPS_AFUC_F_IMM16) == value)
            return true;
    }
    return false;
}

/* The access of control register @p base through $00 that comes next; `count` if there is none. */
static uint32_t next_access(const struct cps_fw *fw, uint32_t at, unsigned op, uint32_t base)
{
    for (; at < fw->count && at < BOOT; at++) {
        struct cps_insn insn;
        decode(fw, at, &insn);
        if (insn.op == op && !cps_fw_field_(&insn, CPS_AFUC_F_SRC1) &&
            cps_fw_field_(&insn, CPS_AFUC_F_BASE) == base)
            break;
    }
    return at < BOOT ? at : fw->count;
}

bool cps_fw_boot_writes_(const struct cps_fw *fw, uint32_t control)
{
    return next_access(fw, 0, CPS_AFUC_CWRITE, control) < fw->count;
}

/* Whether an instruction makes @p value in register @p reg, or adds it to an index. */
static bool makes(const struct cps_insn *insn, int64_t reg, uint32_t value)
{
    uint32_t have = 0;
    if (cps_fw_field_(insn, CPS_AFUC_F_DST) != reg)
        return false;
    if (insn->op == CPS_AFUC_ADD || insn->op == CPS_AFUC_OR)
        return cps_fw_field_(insn, CPS_AFUC_F_IMM16) == value;
    return loads(insn, &have) && have == value;
}

bool cps_fw_boot_reads_(const struct cps_fw *fw, uint32_t gpu)
{
    enum { REG_READ_ADDR_GEN3 = 0x01b, NEAR = 4 };
    uint32_t at = 0;
    while ((at = next_access(fw, at, CPS_AFUC_CWRITE, REG_READ_ADDR_GEN3)) < fw->count) {
        struct cps_insn insn;
        decode(fw, at, &insn);
        int64_t reg = cps_fw_field_(&insn, CPS_AFUC_F_SRC2);
        for (uint32_t i = at < NEAR ? 0 : at - NEAR; i < at; i++) {
            decode(fw, i, &insn);
            if (makes(&insn, reg, gpu))
                return true;
        }
        at++;
    }
    return false;
}

bool cps_fw_boot_indexes_(const struct cps_fw *fw, uint32_t control)
{
    for (uint32_t i = 0; i < fw->count && i < BOOT; i++) {
        struct cps_insn insn;
        decode(fw, i, &insn);
        if (insn.op == CPS_AFUC_CREAD && cps_fw_field_(&insn, CPS_AFUC_F_SRC1) > 0 &&
            cps_fw_field_(&insn, CPS_AFUC_F_BASE) == control)
            return true;
    }
    return false;
}

uint32_t cps_fw_boot_table_(const struct cps_fw *fw, uint32_t start)
{
    for (uint32_t i = start; i < start + 16; i++) {
        struct cps_insn insn;
        uint32_t table = 0;
        decode(fw, i, &insn);
        if (loads(&insn, &table) && cps_fw_plausible_table_(fw, start, table))
            return table;
    }
    return CPS_FW_NONE;
}

/* cread X; ubfx X, X, b8, b19; cmp Y, X, VALUE. */
static bool wanted_variant(const struct cps_fw *fw, uint32_t at, uint32_t *ret)
{
    for (uint32_t i = at + 1; i < at + 8; i++) {
        struct cps_insn insn;
        decode(fw, i, &insn);
        int64_t value = cps_fw_field_(&insn, CPS_AFUC_F_IMM16);
        if (insn.op != CPS_AFUC_CMP || value < 0)
            continue;
        *ret = (uint32_t)value << 8;
        return true;
    }
    return false;
}

/* cread X, and mov Y, VALUE near ushr X, X, 28, then cmp. */
static bool wanted_identity(const struct cps_fw *fw, uint32_t at, uint32_t *ret)
{
    uint32_t value = 0;
    bool shifts = false;
    bool knows = false;
    for (uint32_t i = at + 1; i < at + 20; i++) {
        struct cps_insn insn;
        uint32_t have = 0;
        decode(fw, i, &insn);
        int64_t by = cps_fw_field_(&insn, CPS_AFUC_F_IMM16);
        by = by < 0 ? cps_fw_field_(&insn, CPS_AFUC_F_IMM12) : by;
        shifts = shifts || (insn.op == CPS_AFUC_USHR && by == 28);
        if (loads(&insn, &have) && have < 16) {
            value = have;
            knows = true;
        }
        if (insn.op != CPS_AFUC_CMP || !shifts || !knows)
            continue;
        *ret = value << 28;
        return true;
    }
    return false;
}

typedef bool wanted(const struct cps_fw *fw, uint32_t at, uint32_t *ret);

static bool find(const struct cps_fw *fw, uint32_t control, wanted *is, uint32_t *ret)
{
    uint32_t at = 0;
    while ((at = next_access(fw, at, CPS_AFUC_CREAD, control)) < fw->count) {
        if (is(fw, at, ret))
            return true;
        at++;
    }
    return false;
}

void cps_fw_boot_chip_(struct cps_fw *fw, bool *identity, bool *variant)
{
    enum { CHIP_ID = 0x000, VARIANT_A7XX = 0x0ef, VARIANT_GEN3 = 0x002 };
    bool early = fw->layout == CPS_LAYOUT_A7XX;
    *identity = find(fw, CHIP_ID, wanted_identity, &fw->identity);
    *variant = cps_gen_since(fw->gen, CPS_A7XX) &&
               find(fw, early ? VARIANT_A7XX : VARIANT_GEN3, wanted_variant, &fw->variant);
}
