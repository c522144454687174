/* SPDX-License-Identifier: MIT
 * Remarks after the instructions of a listing. */
#include "fw/listing/listing.h"

#include <string.h>

#include "fw/image/private.h"

#define ADDR    0x1d
#define USRADDR 0x1e

void cps_notes_init_(struct cps_notes *notes, const struct cps_names *names)
{
    static const char *const selectors[] = {"REG_WRITE_ADDR", "REG_READ_ADDR"};
    *notes = (struct cps_notes){.names = names};
    for (unsigned i = 0; i < 2; i++) {
        uint32_t number = 0;
        if (cps_name_number(names, CPS_SPACE_CONTROL, selectors[i], strlen(selectors[i]), &number))
            notes->selector[notes->selector_count++] = number;
    }
    cps_notes_forget_(notes);
}

void cps_notes_forget_(struct cps_notes *notes)
{
    notes->known = 1; /* $00 reads as 0 */
    notes->value[0] = 0;
    notes->forget_in = 0;
}

/* The constant that an instruction computes; false if it depends on anything else. */
static bool constant(const struct cps_notes *notes, const struct cps_insn *insn, uint32_t *ret)
{
    int64_t imm = cps_fw_field_(insn, CPS_AFUC_F_IMM16);
    int64_t src = cps_fw_field_(insn, CPS_AFUC_F_SRC1);
    if (imm < 0)
        return false;
    if (insn->op == CPS_AFUC_MOVI) {
        *ret = (uint32_t)imm << cps_insn_field(&cps_isa_afuc, insn, CPS_AFUC_F_SHIFT, 0);
        return true;
    }
    if (src < 0 || !(notes->known >> src & 1))
        return false;
    if (insn->op == CPS_AFUC_OR)
        *ret = notes->value[src] | (uint32_t)imm;
    else if (insn->op == CPS_AFUC_ADD)
        *ret = notes->value[src] + (uint32_t)imm;
    else
        return false;
    return true;
}

static void put_name(const struct cps_notes *notes, enum cps_space space, uint32_t number,
                     struct cps_buf *out)
{
    unsigned index = 0;
    const char *name = cps_name(notes->names, space, number, &index);
    if (!name)
        return;
    cps_buf_str(out, space == CPS_SPACE_PIPE ? "|" : "");
    cps_buf_str(out, name);
    if (index)
        cps_buf_printf(out, "+0x%x", index);
}

/* What a value selects when it is written to $addr or $usraddr. */
static void put_destination(const struct cps_notes *notes, int64_t dst, uint32_t value,
                            struct cps_buf *out)
{
    if (dst == ADDR && value >> 24)
        put_name(notes, CPS_SPACE_PIPE, value >> 24, out);
    else
        put_name(notes, CPS_SPACE_GPU, value & 0x3ffff, out);
}

static void note_cwrite(const struct cps_notes *notes, const struct cps_insn *insn,
                        struct cps_buf *out)
{
    int64_t data = cps_fw_field_(insn, CPS_AFUC_F_SRC2);
    if (cps_fw_field_(insn, CPS_AFUC_F_SRC1) != 0 || cps_fw_field_(insn, CPS_AFUC_F_BANG) != 0 ||
        !(notes->known >> data & 1))
        return;
    for (unsigned i = 0; i < notes->selector_count; i++) {
        if (cps_fw_field_(insn, CPS_AFUC_F_BASE) == notes->selector[i])
            put_name(notes, CPS_SPACE_GPU, notes->value[data] & 0x3ffff, out);
    }
}

static void learn(struct cps_notes *notes, int64_t dst, bool is_known, uint32_t value)
{
    if (dst <= 0 || dst > 31)
        return;
    notes->known &= ~(1u << dst);
    /* What is written to the queue registers is not what they give when read. */
    if (!is_known || dst >= 0x1c)
        return;
    notes->known |= 1u << dst;
    notes->value[dst] = value;
}

void cps_notes_add_(struct cps_notes *notes, const struct cps_insn *insn, struct cps_buf *out)
{
    uint32_t value = 0;
    int64_t dst = cps_fw_field_(insn, CPS_AFUC_F_DST);
    bool is_known = constant(notes, insn, &value);
    if (is_known && (dst == ADDR || dst == USRADDR))
        put_destination(notes, dst, value, out);
    if (insn->op == CPS_AFUC_CWRITE)
        note_cwrite(notes, insn, out);
    learn(notes, dst, is_known, value);
    if (cps_insn_flow(&cps_isa_afuc, insn) == CPS_FLOW_CALL)
        notes->forget_in = 2;
    else if (notes->forget_in && --notes->forget_in == 1)
        cps_notes_forget_(notes);
}
