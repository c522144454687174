/* SPDX-License-Identifier: MIT
 * Images to assembly as Mesa's disassembler prints it. Facts: Mesa, src/freedreno/qrisc/disasm.c
 * and src/compiler/isaspec, and the listings among Mesa's tests. */
#include "fw/listing/listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fw/image/private.h"
#include "isa/names/words.h"

/* What has a label and a line of its own: the packets' handlers, and the preemption routine. */
#define MAX_ENTRIES (CPS_FW_TABLE_SIZE + 1)

enum mark { MARK_BRANCH = 1, MARK_CALL = 2 };

struct entry {
    uint32_t dword;
    char name[64];
};

struct mesa {
    const struct cps_fw *fw;
    const struct cps_fw_part *part;
    const uint32_t *words; /* of the part */
    const struct cps_names *names;
    struct cps_buf *out;
    uint32_t code;  /* dwords that are listed as instructions */
    uint8_t *marks; /* per dword of these */
    struct entry entry[MAX_ENTRIES];
    unsigned entry_count;
    unsigned next; /* entry */
    const struct cps_insn *insn;
    char label[24];
};

/* ---- labels ---- */

static bool is_call(const struct cps_insn *insn)
{
    return cps_insn_flow(&cps_isa_afuc, insn) == CPS_FLOW_CALL;
}

static const char *find_label(void *context, uint32_t target)
{
    struct mesa *m = context;
    snprintf(m->label, sizeof(m->label), "%s%" PRIu32, is_call(m->insn) ? "fxn" : "l", target);
    return m->label;
}

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left;
    const struct entry *b = right;
    if (a->dword != b->dword)
        return a->dword < b->dword ? -1 : 1;
    return strcmp(a->name, b->name);
}

static struct entry *add_entry(struct mesa *m, uint32_t dword)
{
    struct entry *entry = &m->entry[m->entry_count++];
    entry->dword = dword;
    return entry;
}

/* What the write of %PREEMPT_INSTR at @p pc writes: a constant, or the entry of the table that was
 * loaded. Every image of the corpus does it in one of these ways; Mesa runs the boot instead. */
static uint32_t written_at(const struct mesa *m, uint32_t pc, int64_t data)
{
    for (uint32_t at = pc; at-- > 0;) {
        const struct cps_insn insn = cps_fw_decode_(m->fw, m->words[at]);
        int64_t base = cps_fw_field_(&insn, CPS_AFUC_F_BASE);
        if (cps_fw_field_(&insn, CPS_AFUC_F_DST) != data ||
            cps_fw_field_(&insn, CPS_AFUC_F_BANG) > 0)
            continue;
        if (insn.op == CPS_AFUC_MOVI && cps_fw_field_(&insn, CPS_AFUC_F_SHIFT) <= 0)
            return (uint32_t)cps_fw_field_(&insn, CPS_AFUC_F_IMM16);
        if (insn.op == CPS_AFUC_LOAD && base % 4 == 0 && base / 4 < CPS_FW_TABLE_SIZE)
            return m->words[m->part->table + base / 4];
        break;
    }
    return 0;
}

/* Where preemption goes to, by the first write of the register; 0 without one. */
static uint32_t preemption(const struct mesa *m)
{
    static const char name[] = "PREEMPT_INSTR";
    uint32_t number = 0;
    if (!cps_name_number(m->names, CPS_SPACE_SQE, name, sizeof(name) - 1, &number))
        return 0;
    for (uint32_t pc = 0; pc < m->code; pc++) {
        const struct cps_insn insn = cps_fw_decode_(m->fw, m->words[pc]);
        if (insn.op == CPS_AFUC_SWRITE && !cps_fw_field_(&insn, CPS_AFUC_F_SRC1) &&
            cps_fw_field_(&insn, CPS_AFUC_F_BASE) == number)
            return written_at(m, pc, cps_fw_field_(&insn, CPS_AFUC_F_SRC2));
    }
    return 0;
}

static void find_entries(struct mesa *m)
{
    m->entry_count = 0;
    m->next = 0;
    if (m->part->table == CPS_FW_NONE)
        return;
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        struct entry *entry = add_entry(m, m->words[m->part->table + id]);
        const char *name = cps_name(m->names, CPS_SPACE_PACKET, id, NULL);
        if (name)
            snprintf(entry->name, sizeof(entry->name), "%s", name);
        else
            snprintf(entry->name, sizeof(entry->name), "UNKN%u", id);
    }
    if (m->fw->gen != CPS_A5XX)
        strcpy(add_entry(m, preemption(m))->name, "preempt");
    qsort(m->entry, m->entry_count, sizeof(*m->entry), compare_entries);
}

static void find_targets(struct mesa *m)
{
    for (uint32_t pc = 0; pc < m->code; pc++) {
        uint32_t target = 0;
        const struct cps_insn insn = cps_fw_decode_(m->fw, m->words[pc]);
        if (!cps_insn_target(&cps_isa_afuc, &insn, pc, &target) || target >= m->code)
            continue;
        m->marks[target] |= is_call(&insn) ? MARK_CALL : MARK_BRANCH;
    }
}

/* ---- remarks ---- */

/* "SP_PS_MRT[0xb].REG": Mesa's rnn has indices in hexadecimal, with 0x unless they are 0. */
static void put_indexed(const char *name, struct cps_buf *out)
{
    for (const char *at = name; *at; at++) {
        char *end = NULL;
        unsigned long index = at > name && at[-1] == '[' ? strtoul(at, &end, 10) : 0;
        if (end && *end == ']') {
            cps_buf_printf(out, "%#lx", index);
            at = end;
        }
        cps_buf_add(out, at, 1);
    }
}

/* An array without registers in it has the offset in its element after it, even if that is 0. */
static bool put_name(const struct mesa *m, enum cps_space space, uint32_t number,
                     const char *before)
{
    unsigned index = 0;
    const char *name = cps_name(m->names, space, number, &index);
    if (!name)
        return false;
    cps_buf_printf(m->out, "\t; %s", before);
    put_indexed(name, m->out);
    if (index || name[strlen(name) - 1] == ']')
        cps_buf_printf(m->out, "+%#x", index);
    return true;
}

/* A number that may be of a GPU register; the first ones are too common. */
static void put_register(const struct mesa *m, uint32_t number)
{
    if (number < 0x100 || put_name(m, CPS_SPACE_GPU, number, ""))
        return;
    const char *old = cps_name_old_(number);
    if (old)
        cps_buf_printf(m->out, "\t; %s", old);
}

/* What a constant for $addr selects; its bit 18 says that addresses do not advance. */
static void put_pipe(const struct mesa *m, uint32_t value)
{
    value &= ~UINT32_C(0x40000);
    if (!(value & 0xffffff) && !put_name(m, CPS_SPACE_PIPE, value >> 24, "|"))
        cps_buf_printf(m->out, "\t; 0x%03" PRIx32, value >> 24);
}

static void put_remark(const struct mesa *m, const struct cps_insn *insn)
{
    enum { ADDR = 0x1d };
    int64_t value = cps_fw_field_(insn, CPS_AFUC_F_IMM16);
    int64_t shift = cps_fw_field_(insn, CPS_AFUC_F_SHIFT);
    value = value < 0 ? cps_fw_field_(insn, CPS_AFUC_F_IMM12) : value;
    if (value < 0 || insn->op == CPS_AFUC_NOT)
        return;
    shift = shift < 0 ? 0 : shift;
    if (cps_fw_field_(insn, CPS_AFUC_F_DST) == ADDR && shift >= 16)
        put_pipe(m, (uint32_t)value << shift);
    else
        put_register(m, (uint32_t)value << shift);
}

/* ---- lines ---- */

static void put_literal(const struct mesa *m, uint32_t word)
{
    uint32_t table = m->part->table;
    if (m->fw->gen != CPS_A5XX && table != CPS_FW_NONE &&
        word == cps_fw_offset_word_(m->fw->gen, table)) {
        cps_buf_str(m->out, "[#jumptbl]");
        return;
    }
    cps_buf_printf(m->out, "[%08" PRIx32 "]", word);
    put_register(m, word);
}

static void put_word(struct mesa *m, uint32_t pc)
{
    const struct cps_print_names names = {
        .names = m->names, .label = find_label, .context = m, .style = CPS_STYLE_MESA};
    uint32_t target = 0;
    size_t start = m->out->size;
    const struct cps_insn insn = cps_fw_decode_(m->fw, m->words[pc]);
    /* Data that looks like a branch to where no label is: Mesa's disassembler prints a number,
     * which no assembler takes. */
    bool is_data = cps_insn_target(&cps_isa_afuc, &insn, pc, &target) && target >= m->code;
    m->insn = &insn;
    cps_print(&cps_isa_afuc, &insn, pc, &names, m->out);
    if (is_data || (m->out->size > start && m->out->data[start] == '[')) {
        m->out->size = start;
        put_literal(m, m->words[pc]);
    } else {
        put_remark(m, &insn);
    }
    m->insn = NULL;
    cps_buf_str(m->out, "\n");
}

/* The table, for which Mesa has a directive, and what follows it. */
static void put_table(const struct mesa *m)
{
    if (m->code == m->part->size)
        return;
    cps_buf_str(m->out, m->fw->gen >= CPS_A7XX ? ".align 32\n" : "");
    cps_buf_str(m->out, "jumptbl:\n.jumptbl\n");
    for (uint32_t pc = m->code + CPS_FW_TABLE_SIZE; pc < m->part->size; pc++)
        cps_buf_printf(m->out, "[%08" PRIx32 "]\n", m->words[pc]);
}

static struct cps_err *put_part(struct mesa *m)
{
    /* Of a5xx, Mesa lists the table as what its words are as instructions. */
    bool has_table = m->part->table != CPS_FW_NONE && m->fw->gen != CPS_A5XX;
    m->code = has_table ? m->part->table : m->part->size;
    CPS_FREE uint8_t *marks = calloc((size_t)m->code + 1, 1);
    if (!marks)
        return cps_err_nomem();
    m->marks = marks;
    find_entries(m);
    find_targets(m);
    for (uint32_t pc = 0; pc < m->code && !m->out->failed; pc++) {
        bool has_entry = m->next < m->entry_count && m->entry[m->next].dword == pc;
        if (pc && (has_entry || (m->marks[pc] & MARK_CALL)))
            cps_buf_str(m->out, "\n");
        for (; m->next < m->entry_count && m->entry[m->next].dword == pc; m->next++)
            cps_buf_printf(m->out, "%s:\n", m->entry[m->next].name);
        if (m->marks[pc] & MARK_CALL)
            cps_buf_printf(m->out, "fxn%" PRIu32 ":\n", pc);
        if (m->marks[pc] & MARK_BRANCH)
            cps_buf_printf(m->out, "l%" PRIu32 ":\n", pc);
        put_word(m, pc);
    }
    put_table(m);
    m->marks = NULL;
    return m->out->failed ? cps_err_nomem() : NULL;
}

struct cps_err *cps_fw_listing_mesa_(const struct cps_fw *fw, const char *rnn_dir,
                                     struct cps_buf *out)
{
    CPS_CLEANUP(cps_listing_names_) struct cps_names *names = NULL;
    CPS_TRY(cps_names_create(fw->layout, rnn_dir, &names));
    struct mesa m = {.fw = fw, .names = names, .out = out};
    cps_buf_printf(out, "; %s microcode\n; Version: %08" PRIx32 "\n\n", cps_gen_name(fw->gen),
                   fw->words[0]);
    for (unsigned i = 0; i < fw->part_count; i++) {
        m.part = &fw->part[i];
        m.words = fw->words + m.part->start;
        const char *name = cps_fw_role_section(m.part->role);
        if (m.part != m.fw->part)
            cps_buf_printf(m.out, "\n.section %s\n;\n; %s microcode:\n;\n", name, name);
        CPS_TRY(put_part(&m));
    }
    return NULL;
}
