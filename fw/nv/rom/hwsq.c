/* SPDX-License-Identifier: MIT
 * Scripts of HWSQ in a VBIOS: after the letters "HWSQ", and in writes of init scripts to the code
 * RAM. */
#include <string.h>

#include "fw/nv/rom/private.h"
#include "isa/base/list.h"

/* Registers of HWSQ, as emu/nv/reg.def has them. */
enum {
    REG_ENTRY = 0x1304,
    REG_TRIGGER = 0x130c,
    CODE_OLD = 0x1400,
    CODE_OLD_BYTES = 0x100,
    CODE_NEW = 0x80000,
};
/* Of an entry after the letters that nouveau takes; boards have no others. */
enum { ENTRY_BYTES = 36 };

static struct cps_err *add(struct cps_rom *rom, struct cps_rom_hwsq *script)
{
    if (script->code.failed || !CPS_LIST_ROOM(rom->hwsq, rom->hwsq_count)) {
        cps_buf_deinit(&script->code);
        return cps_err_nomem();
    }
    rom->hwsq[rom->hwsq_count++] = *script;
    *script = (struct cps_rom_hwsq){0};
    return NULL;
}

/* The first of these letters after which entries are that drivers take, else the first one: they
 * may be in a text, too. */
static size_t find_letters(struct cps_rom *rom)
{
    size_t first = cps_rom_find_(rom, 1, "HWSQ", 4);
    size_t at = first;
    unsigned others = 0;
    for (; at && (rom->size - at < 6 || !rom->bytes[at + 4] || rom->bytes[at + 5] != ENTRY_BYTES);
         others++)
        at = cps_rom_find_(rom, at + 1, "HWSQ", 4);
    if (at && others)
        cps_buf_printf(
            &rom->notes,
            "HWSQ at 0x%zx: no entries of %u bytes as at 0x%zx, taken for a text like %u "
            "others\n",
            first, (unsigned)ENTRY_BYTES, at, others - 1);
    return at ? at : first;
}

/* "HWSQ", how many entries, bytes of each; an entry is the word for ENTRY_POINT and the code. */
struct cps_err *cps_rom_hwsq_table_(struct cps_rom *rom)
{
    size_t at = rom->hwsq_table = find_letters(rom);
    uint16_t head = 0;
    if (!at)
        return NULL;
    if (!cps_rd16(rom_bytes(rom), at + 4, &head)) {
        cps_buf_printf(&rom->notes, "HWSQ at 0x%zx: is cut off by the end of the file\n", at);
        return NULL;
    }
    rom->hwsq_entries = head & 0xff;
    rom->hwsq_length = head >> 8;
    if (rom->hwsq_length <= 4) {
        cps_buf_printf(&rom->notes,
                       "HWSQ at 0x%zx: entries of %u bytes, which leave none for "
                       "code\n",
                       at, rom->hwsq_length);
        return NULL;
    }
    if (rom->hwsq_length != ENTRY_BYTES)
        cps_buf_printf(&rom->notes,
                       "HWSQ at 0x%zx: entries of %u bytes, where drivers take only those of %u\n",
                       at, rom->hwsq_length, (unsigned)ENTRY_BYTES);
    at += 6;
    for (unsigned i = 0; i < rom->hwsq_entries; i++, at += rom->hwsq_length) {
        struct cps_rom_hwsq script = {.number = i, .address = CODE_OLD, .has_entry = true};
        if (at > rom->size || rom->size - at < rom->hwsq_length) {
            cps_buf_printf(&rom->notes,
                           "HWSQ at 0x%zx: has %u entries, of which %u are in the "
                           "file\n",
                           rom->hwsq_table, rom->hwsq_entries, i);
            break;
        }
        script.entry = cps_le32(rom->bytes + at);
        script.offset = at + 4;
        script.end = at + rom->hwsq_length;
        cps_buf_add(&script.code, (const char *)rom->bytes + script.offset, rom->hwsq_length - 4u);
        CPS_TRY(add(rom, &script));
    }
    return NULL;
}

/* ---- what init scripts write ---- */

struct gather {
    struct cps_rom *rom;
    const struct rom_init *init;
    size_t script; /* index */
    size_t at;     /* of the operation at hand */
    bool is_new;   /* the window that was written last */
    uint8_t code[CPS_ROM_HWSQ_BYTES];
    bool known[CPS_ROM_HWSQ_BYTES / 4];
    size_t first[CPS_ROM_HWSQ_BYTES / 4]; /* offset of the operation that wrote the word */
    size_t last[CPS_ROM_HWSQ_BYTES / 4];  /* the end of it */
    bool has_entry;
    uint32_t entry;
    struct cps_err *err;
};

/* Words that are after each other are one script. */
static size_t put_run(struct gather *g, size_t word)
{
    struct cps_rom_hwsq script = {.written = true,
                                  .number = (unsigned)g->script,
                                  .offset = g->first[word],
                                  .has_entry = g->has_entry,
                                  .entry = g->entry};
    script.address = (uint32_t)((g->is_new ? CODE_NEW : CODE_OLD) + word * 4);
    for (; word < CPS_ROM_HWSQ_BYTES / 4 && g->known[word]; word++) {
        cps_buf_add(&script.code, (const char *)g->code + word * 4, 4);
        script.offset = g->first[word] < script.offset ? g->first[word] : script.offset;
        script.end = g->last[word] > script.end ? g->last[word] : script.end;
    }
    g->err = add(g->rom, &script);
    return word;
}

static void flush(struct gather *g)
{
    for (size_t word = 0; word < CPS_ROM_HWSQ_BYTES / 4 && !g->err; word++) {
        if (g->known[word])
            word = put_run(g, word);
    }
    memset(g->known, 0, sizeof(g->known));
    g->has_entry = false;
}

/* The word of the code RAM that a register is; false if it is none. */
static bool code_word(uint32_t reg, bool *is_new, size_t *ret)
{
    *is_new = reg >= CODE_NEW && reg < CODE_NEW + CPS_ROM_HWSQ_BYTES;
    bool is_old = reg >= CODE_OLD && reg < CODE_OLD + CODE_OLD_BYTES;
    *ret = (reg - (*is_new ? CODE_NEW : CODE_OLD)) / 4;
    return (*is_new || is_old) && reg % 4 == 0;
}

static void write_reg(struct gather *g, uint32_t reg, uint32_t value)
{
    unsigned items = 0;
    size_t word = 0;
    bool is_new = false;
    if (reg == REG_TRIGGER || (reg == REG_ENTRY && g->has_entry))
        flush(g);
    if (reg == REG_ENTRY) {
        g->entry = value;
        g->has_entry = true;
    }
    if (g->err || !code_word(reg, &is_new, &word))
        return;
    if (g->known[word] || is_new != g->is_new)
        flush(g);
    g->is_new = is_new;
    g->known[word] = true;
    g->first[word] = g->at;
    g->last[word] = g->at + cps_rom_op_size_(g->rom, g->at, &items);
    cps_put_le32(g->code + word * 4, value);
}

/* A macro: number of its first pair of register and value, and how many. */
static void write_macro(struct gather *g, unsigned number)
{
    const struct cps_bytes bytes = rom_bytes(g->rom);
    size_t index = g->init->pointer[ROM_INIT_MACRO_INDEX];
    size_t macros = g->init->pointer[ROM_INIT_MACROS];
    uint16_t row = 0;
    if (!index || !macros || !cps_rd16(bytes, index + number * 2u, &row))
        return;
    for (unsigned i = 0; i < row >> 8; i++) {
        uint32_t reg = 0;
        uint32_t value = 0;
        size_t at = macros + ((row & 0xffu) + i) * 8;
        if (cps_rd32(bytes, at, &reg) && cps_rd32(bytes, at + 4, &value))
            write_reg(g, reg, value);
    }
}

/* Which of the words it is, the straps of the board say: such a script is not shown. */
static void note_choice(struct gather *g, uint32_t reg, unsigned items)
{
    size_t word = 0;
    bool is_new = false;
    unsigned step = g->rom->bytes[g->at + 5];
    unsigned count = g->rom->groups ? items / g->rom->groups : 0;
    for (unsigned i = 0; i < count; i++) {
        if (!code_word(reg + i * step, &is_new, &word))
            continue;
        cps_buf_printf(&g->rom->notes,
                       "operation at 0x%zx: writes code of HWSQ by the straps of "
                       "the board, which are not known\n",
                       g->at);
        return;
    }
}

struct cps_err *cps_rom_hwsq_written_(struct cps_rom *rom, const struct rom_init *init)
{
    struct gather g = {.rom = rom, .init = init};
    for (g.script = 0; g.script < rom->script_count && !g.err; g.script++) {
        const struct cps_rom_script *script = &rom->script[g.script];
        unsigned items = 0;
        size_t size = 0;
        for (g.at = script->offset; g.at < script->offset + script->size; g.at += size) {
            size = cps_rom_op_size_(rom, g.at, &items);
            const struct rom_op *row = cps_rom_op_(rom->bytes[g.at]);
            const uint8_t *op = g.rom->bytes + g.at;
            uint32_t reg = row->size >= 5 ? cps_le32(op + 1) : 0;
            if (row->flags & ROM_OP_WRITE)
                write_reg(&g, reg, cps_le32(op + 5));
            else if (row->flags & ROM_OP_MASKED && !cps_le32(op + 5))
                write_reg(&g, reg, cps_le32(op + 9));
            else if (row->flags & ROM_OP_MACRO)
                write_macro(&g, op[1]);
            else if (row->flags & ROM_OP_CHOICE)
                note_choice(&g, reg, items);
            for (unsigned i = 0; row->flags & ROM_OP_SEQUENCE && i < items; i++)
                write_reg(&g, reg + i * 4, cps_le32(op + row->size + i * 4));
        }
        flush(&g);
    }
    return g.err;
}
