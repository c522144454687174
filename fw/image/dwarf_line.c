/* SPDX-License-Identifier: MIT
 * Source lines as DWARF 4, chapters 6.2 (line table) and 7.5 (units), written for 32-bit
 * little-endian files: one unit per part. */
#include <string.h>

#include "isa/base/le.h"
#include "fw/image/elf_form.h"

static void put8(struct cps_buf *out, unsigned value)
{
    const char byte = (char)value;
    cps_buf_add(out, &byte, 1);
}

static void put16(struct cps_buf *out, unsigned value)
{
    put8(out, value & 0xff);
    put8(out, value >> 8);
}

static void put_text(struct cps_buf *out, const char *text)
{
    cps_buf_add(out, text, strlen(text) + 1);
}

static void put_unsigned(struct cps_buf *out, uint32_t value)
{
    for (; value > 0x7f; value >>= 7)
        put8(out, 0x80 | (value & 0x7f));
    put8(out, value);
}

static void put_signed(struct cps_buf *out, int64_t value)
{
    while (value < -64 || value > 63) {
        put8(out, 0x80 | (unsigned)(value & 0x7f));
        value = (value - (value & 0x7f)) / 128;
    }
    put8(out, (unsigned)(value & 0x7f));
}

/* A length that is known only at the end of what it counts. */
static size_t open_length(struct cps_buf *out)
{
    cps_elf_put32_(out, 0);
    return out->size;
}

static void close_length(struct cps_buf *out, size_t from)
{
    if (!out->failed)
        cps_put_le32((uint8_t *)out->data + from - 4, (uint32_t)(out->size - from));
}

static void put_header(const struct cps_fw_debug *debug, struct cps_buf *out)
{
    static const uint8_t operands[DWARF_OPCODE_BASE - 1] = DWARF_OPERANDS;
    put16(out, DWARF_VERSION);
    size_t from = open_length(out);
    put8(out, DWARF_UNIT);
    put8(out, 1); /* operations per instruction */
    put8(out, 1); /* every row is a statement */
    put8(out, (unsigned)(DWARF_LINE_BASE & 0xff));
    put8(out, DWARF_LINE_RANGE);
    put8(out, DWARF_OPCODE_BASE);
    cps_buf_add(out, (const char *)operands, sizeof(operands));
    put8(out, 0); /* no folders: the files have their paths */
    for (size_t i = 0; i < debug->file_count; i++) {
        put_text(out, debug->files[i]);
        cps_buf_add(out, "\0\0\0", 3); /* folder, time, size: not told */
    }
    put8(out, 0);
    close_length(out, from);
}

/* A row, @p words and @p lines behind the one before. */
static void put_row(struct cps_buf *out, uint32_t words, int64_t lines)
{
    int64_t step = lines - DWARF_LINE_BASE;
    if (step >= 0 && step < DWARF_LINE_RANGE &&
        words <= (255u - DWARF_OPCODE_BASE - (unsigned)step) / DWARF_LINE_RANGE) {
        put8(out, DWARF_OPCODE_BASE + (unsigned)step + DWARF_LINE_RANGE * words);
        return;
    }
    if (words) {
        put8(out, DWARF_ADVANCE_PC);
        put_unsigned(out, words);
    }
    put8(out, DWARF_ADVANCE_LINE);
    put_signed(out, lines);
    put8(out, DWARF_COPY);
}

static void put_rows(const struct cps_program *program, uint32_t part, struct cps_buf *out)
{
    uint32_t dword = 0;
    uint32_t line = 1;
    uint32_t file = 0;
    put8(out, 0);
    put_unsigned(out, 5);
    put8(out, DWARF_SET_ADDRESS);
    cps_elf_put32_(out, cps_elf_base_(part));
    for (size_t i = 0; i < program->debug.line_count; i++) {
        const struct cps_fw_line *row = &program->debug.lines[i];
        if (row->part != part)
            continue;
        if (row->file != file) {
            put8(out, DWARF_SET_FILE);
            put_unsigned(out, row->file + 1);
        }
        put_row(out, row->dword - dword, (int64_t)row->line - line);
        dword = row->dword;
        line = row->line;
        file = row->file;
    }
    put8(out, DWARF_ADVANCE_PC);
    put_unsigned(out, program->part[part].size - dword);
    put8(out, 0);
    put_unsigned(out, 1);
    put8(out, DWARF_END_SEQUENCE);
}

static void put_abbrev(struct cps_buf *out)
{
    static const uint8_t attributes[][2] = {
        {0x25, 0x08}, /* producer, string */
        {0x13, 0x05}, /* language, 2 bytes */
        {0x03, 0x08}, /* name, string */
        {0x10, 0x17}, /* line table, offset */
        {0x11, 0x01}, /* first address */
        {0x12, 0x06}, /* size, 4 bytes */
        {0, 0},
    };
    put8(out, 1);    /* number of the abbreviation */
    put8(out, 0x11); /* a compile unit */
    put8(out, 0);    /* without children */
    cps_buf_add(out, (const char *)attributes, sizeof(attributes));
    put8(out, 0);
}

static void put_unit(const struct cps_program *program, uint32_t part, uint32_t line_offset,
                     struct cps_buf *out)
{
    size_t from = open_length(out);
    put16(out, DWARF_VERSION);
    cps_elf_put32_(out, 0); /* offset of the abbreviations */
    put8(out, 4);           /* bytes of an address */
    put8(out, 1);           /* abbreviation */
    put_text(out, "cpscope asm");
    put16(out, 0x8001); /* assembler */
    put_text(out, program->debug.file_count ? program->debug.files[0] : "");
    cps_elf_put32_(out, line_offset);
    cps_elf_put32_(out, cps_elf_base_(part));
    cps_elf_put32_(out, program->part[part].size * 4);
    close_length(out, from);
}

void cps_dwarf_write_(const struct cps_program *program, struct cps_dwarf *ret)
{
    put_abbrev(&ret->abbrev);
    for (uint32_t i = 0; i < program->part_count; i++) {
        if (!program->part[i].size)
            continue;
        uint32_t offset = (uint32_t)ret->line.size;
        size_t from = open_length(&ret->line);
        put_header(&program->debug, &ret->line);
        put_rows(program, i, &ret->line);
        close_length(&ret->line, from);
        put_unit(program, i, offset, &ret->info);
    }
}
