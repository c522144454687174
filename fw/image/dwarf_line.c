/* SPDX-License-Identifier: MIT
 * Source lines as DWARF 4, chapters 6.2 (line table) and 7.5 (units), for 32-bit little-endian
 * files: one unit per part. What is read has the shape of what is written; every other one is
 * refused. */
#include <string.h>

#include "fw/image/elf_form.h"
#include "fw/image/private.h"

/* The numbers of DWARF 4 line tables (section 7.21). */
#define DWARF_VERSION 4
#define DWARF_UNIT    4 /* bytes of an instruction: addresses count in them */

/* Opcodes from DWARF_OPCODE_BASE on make a row and advance line and address at once. */
#define DWARF_LINE_BASE   (-3)
#define DWARF_LINE_RANGE  12
#define DWARF_OPCODE_BASE 13

enum dwarf_opcode {
    DWARF_COPY = 1,
    DWARF_ADVANCE_PC = 2,
    DWARF_ADVANCE_LINE = 3,
    DWARF_SET_FILE = 4,
};

enum dwarf_extended {
    DWARF_END_SEQUENCE = 1,
    DWARF_SET_ADDRESS = 2,
};

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

/* The start of a header after its length; operand counts of opcodes follow. */
static const struct {
    uint8_t value;
    const char *expected;
} header[] = {
    {DWARF_UNIT, "instructions of 4 bytes"},
    {1, "one operation per instruction, statements by default"},
    {1, "one operation per instruction, statements by default"},
    {DWARF_LINE_BASE & 0xff, "line base -3"},
    {DWARF_LINE_RANGE, "line range 12"},
    {DWARF_OPCODE_BASE, "13 as the first special opcode"},
};
static const uint8_t operands[DWARF_OPCODE_BASE - 1] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
enum { HEADER_BYTES = sizeof(header) / sizeof(header[0]) };

static void put_header(const struct cps_fw_debug *debug, struct cps_buf *out)
{
    put16(out, DWARF_VERSION);
    size_t from = open_length(out);
    for (unsigned i = 0; i < HEADER_BYTES; i++)
        put8(out, header[i].value);
    cps_buf_add(out, (const char *)operands, sizeof(operands));
    put8(out, 0); /* no folders: the files have their paths */
    for (size_t i = 0; i < debug->file_count; i++) {
        put_text(out, debug->files[i]);
        cps_buf_add(out, "\0\0\0", 3); /* folder, time, size: not told */
    }
    put8(out, 0);
    close_length(out, from);
}

/* A row, @p words and @p lines after the one before. */
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
    int64_t value = lines;
    while (value < -64 || value > 63) {
        put8(out, 0x80 | (unsigned)(value & 0x7f));
        value = (value - (value & 0x7f)) / 128;
    }
    put8(out, (unsigned)(value & 0x7f));
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

/* ---- and back ---- */

/* More source files than any program of ours has. */
#define MAX_FILES 64

struct reader {
    const char *name;
    uint64_t offset; /* of the section in the file */
    const uint8_t *data;
    size_t size; /* of what may be read now: the section, then a unit */
    size_t at;
    struct cps_program *program;
    uint32_t file[MAX_FILES]; /* of the unit, as indexes into the program's files */
    uint32_t file_count;
};

/* The state of the machine that section 6.2.2 describes, as far as it matters here. */
struct row {
    uint32_t address; /* bytes */
    uint32_t line;
    uint32_t file; /* from 1 */
};

static struct cps_err *expected(const struct reader *r, const char *what)
{
    return cps_err_input(r->name, r->offset + r->at, "line table: expected %s", what);
}

static struct cps_err *get(struct reader *r, unsigned bytes, uint32_t *ret)
{
    if (r->size - r->at < bytes)
        return expected(r, "more bytes before its end");
    *ret = 0;
    for (unsigned i = 0; i < bytes; i++)
        *ret |= (uint32_t)r->data[r->at + i] << 8 * i;
    r->at += bytes;
    return NULL;
}

static struct cps_err *get_exact(struct reader *r, unsigned bytes, uint32_t want, const char *what)
{
    uint32_t value = 0;
    CPS_TRY(get(r, bytes, &value));
    r->at -= value == want ? 0 : bytes;
    return value == want ? NULL : expected(r, what);
}

/* LEB128 of at most 32 bits. A signed one is two's complement: sums come out right modulo 2^32. */
static struct cps_err *get_leb(struct reader *r, bool is_signed, uint32_t *ret)
{
    uint32_t byte = 0x80;
    unsigned bits = 0;
    for (*ret = 0; byte & 0x80; bits += 7) {
        if (bits >= 35)
            return expected(r, "a number of 32 bits");
        CPS_TRY(get(r, 1, &byte));
        *ret |= (byte & 0x7f) << bits;
    }
    if (is_signed && bits < 32 && *ret >> (bits - 1) & 1)
        *ret |= UINT32_MAX << bits;
    return NULL;
}

static struct cps_err *get_file(struct reader *r, bool *ret)
{
    const char *path = (const char *)r->data + r->at;
    const uint8_t *end = memchr(path, '\0', r->size - r->at);
    if (!end)
        return expected(r, "a path that ends");
    *ret = *path != '\0';
    if (*ret && r->file_count == MAX_FILES)
        return expected(r, "at most 64 files");
    r->at = (size_t)(end - r->data) + 1;
    if (!*ret)
        return NULL;
    CPS_TRY(cps_fw_debug_file_(&r->program->debug, path, &r->file[r->file_count++]));
    return get_exact(r, 3, 0, "neither folder nor time nor size of the file");
}

static struct cps_err *get_header(struct reader *r)
{
    uint32_t length = 0;
    CPS_TRY(get_exact(r, 2, DWARF_VERSION, "DWARF version 4"));
    CPS_TRY(get(r, 4, &length));
    size_t from = r->at;
    for (unsigned i = 0; i < HEADER_BYTES; i++)
        CPS_TRY(get_exact(r, 1, header[i].value, header[i].expected));
    for (unsigned i = 0; i < sizeof(operands); i++)
        CPS_TRY(get_exact(r, 1, operands[i], "the operand counts of DWARF 4"));
    CPS_TRY(get_exact(r, 1, 0, "no folders"));
    r->file_count = 0;
    for (bool more = true; more;)
        CPS_TRY(get_file(r, &more));
    return r->at - from == length ? NULL : expected(r, "the header's length to fit");
}

static struct cps_err *take_row(struct reader *r, const struct row *row)
{
    uint32_t part = row->address >> CPS_ELF_PART_SHIFT;
    uint32_t dword = (row->address - cps_elf_base_(part)) / 4;
    if (row->address % 4 || part >= r->program->part_count || dword >= r->program->part[part].size)
        return expected(r, "a row for a word of the image");
    if (!row->file || row->file > r->file_count)
        return expected(r, "a row with a file of the header");
    const struct cps_fw_line line = {part, dword, r->file[row->file - 1], row->line};
    return cps_fw_debug_line_(&r->program->debug, line) ? NULL : cps_err_nomem();
}

static struct cps_err *do_extended(struct reader *r, struct row *row, bool *ended)
{
    uint32_t length = 0;
    uint32_t opcode = 0;
    CPS_TRY(get_leb(r, false, &length));
    CPS_TRY(get(r, 1, &opcode));
    if (opcode == DWARF_SET_ADDRESS && length == 5)
        return get(r, 4, &row->address);
    if (opcode != DWARF_END_SEQUENCE || length != 1)
        return expected(r, "an address of 4 bytes or the end of a sequence");
    *row = (struct row){.line = 1, .file = 1};
    *ended = true;
    return NULL;
}

static struct cps_err *do_standard(struct reader *r, uint32_t opcode, struct row *row)
{
    uint32_t value = 0;
    switch (opcode) {
    case DWARF_COPY:
        return take_row(r, row);
    case DWARF_ADVANCE_PC:
        CPS_TRY(get_leb(r, false, &value));
        row->address += value * DWARF_UNIT;
        return NULL;
    case DWARF_ADVANCE_LINE:
        CPS_TRY(get_leb(r, true, &value));
        row->line += value;
        return NULL;
    case DWARF_SET_FILE:
        return get_leb(r, false, &row->file);
    default:
        return expected(r, "an opcode that asm -g uses");
    }
}

static struct cps_err *do_opcode(struct reader *r, struct row *row, bool *ended)
{
    uint32_t opcode = 0;
    CPS_TRY(get(r, 1, &opcode));
    *ended = false;
    if (!opcode)
        return do_extended(r, row, ended);
    if (opcode < DWARF_OPCODE_BASE)
        return do_standard(r, opcode, row);
    opcode -= DWARF_OPCODE_BASE;
    row->address += opcode / DWARF_LINE_RANGE * DWARF_UNIT;
    row->line += (uint32_t)(DWARF_LINE_BASE + (int)(opcode % DWARF_LINE_RANGE));
    return take_row(r, row);
}

struct cps_err *cps_dwarf_read_(const char *name, uint64_t offset, const uint8_t *data, size_t size,
                                struct cps_program *ret)
{
    struct reader r = {.name = name, .offset = offset, .data = data, .program = ret};
    while (r.at < size) {
        uint32_t length = 0;
        r.size = size;
        CPS_TRY(get(&r, 4, &length));
        if (length > size - r.at)
            return expected(&r, "a unit inside its section");
        r.size = r.at + length;
        struct row row = {.line = 1, .file = 1};
        bool ended = false;
        CPS_TRY(get_header(&r));
        while (r.at < r.size)
            CPS_TRY(do_opcode(&r, &row, &ended));
        CPS_TRY(ended ? NULL : expected(&r, "the end of a sequence"));
    }
    return NULL;
}
