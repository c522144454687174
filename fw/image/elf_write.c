/* SPDX-License-Identifier: MIT
 * A program with its symbols and lines as ELF, for readelf, nm, objdump, addr2line and ourselves.
 * libelf has the names of what is written, but does not write it: it needs a file for that, and
 * memory that it does not look whether it got. */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "isa/base/le.h"
#include "fw/image/elf_form.h"

/* Code, table and what follows it per part; mark, symbols and their names, three of debugging
 * information, names of sections. */
#define MAX_SECTIONS (3 * CPS_FW_MAX_PARTS + 7)

struct section {
    char name[24];
    Elf32_Shdr header;
    struct cps_buf data;
};

struct writer {
    const struct cps_program *program;
    struct section section[MAX_SECTIONS];
    unsigned count;
};

static void deinit(struct writer *w)
{
    for (unsigned i = 0; i < w->count; i++)
        cps_buf_deinit(&w->section[i].data);
}

static struct section *add(struct writer *w, const char *name, const char *suffix, uint32_t type)
{
    struct section *section = &w->section[w->count++];
    snprintf(section->name, sizeof(section->name), "%s%s%s", name, *suffix ? "." : "", suffix);
    section->header.sh_type = type;
    section->header.sh_addralign = 1;
    return section;
}

static void add_words(struct writer *w, uint32_t part, const char *name, uint32_t from, uint32_t to)
{
    const struct cps_fw_part *p = &w->program->part[part];
    struct section *section = add(w, name, cps_elf_suffix_(p->role), SHT_PROGBITS);
    section->header.sh_flags = from ? SHF_ALLOC : SHF_ALLOC | SHF_EXECINSTR;
    section->header.sh_addr = cps_elf_base_(part) + from * 4;
    section->header.sh_addralign = 4;
    for (uint32_t i = from; i < to; i++)
        cps_elf_put32_(&section->data, w->program->image.words[1 + p->start + i]);
}

static void add_part(struct writer *w, uint32_t part)
{
    const struct cps_fw_part *p = &w->program->part[part];
    if (p->table == CPS_FW_NONE || !p->table) {
        add_words(w, part, ".text", 0, p->size);
        return;
    }
    uint32_t end = p->table + CPS_FW_TABLE_SIZE;
    add_words(w, part, ".text", 0, p->table);
    add_words(w, part, ".jumptbl", p->table, end);
    if (end < p->size)
        add_words(w, part, ".data", end, p->size);
}

/* Number of the section that holds an address; an address after all of them belongs to the last one
 * of its part. */
static unsigned section_of(const struct writer *w, uint32_t part, uint32_t dword)
{
    unsigned found = 0;
    for (unsigned i = 0; i < w->count; i++) {
        const Elf32_Shdr *header = &w->section[i].header;
        uint32_t offset = header->sh_addr - cps_elf_base_(part);
        if (header->sh_flags & SHF_ALLOC && offset <= dword * 4 && !(offset >> CPS_ELF_PART_SHIFT))
            found = i + 1;
    }
    return found;
}

static void add_symbols(struct writer *w)
{
    const struct cps_fw_debug *debug = &w->program->debug;
    struct section *names = add(w, ".strtab", "", SHT_STRTAB);
    struct section *symbols = add(w, ".symtab", "", SHT_SYMTAB);
    symbols->header.sh_link = w->count - 1;
    symbols->header.sh_info = (uint32_t)debug->symbol_count + 1; /* all are local to their part */
    symbols->header.sh_entsize = sizeof(Elf32_Sym);
    symbols->header.sh_addralign = 4;
    cps_buf_add(&names->data, "", 1);
    for (unsigned i = 0; i < sizeof(Elf32_Sym) / 4; i++)
        cps_elf_put32_(&symbols->data, 0);
    for (size_t i = 0; i < debug->symbol_count; i++) {
        const struct cps_fw_symbol *symbol = &debug->symbols[i];
        unsigned type = symbol->packet >= 0 ? STT_FUNC : STT_NOTYPE;
        cps_elf_put32_(&symbols->data, (uint32_t)names->data.size);
        cps_elf_put32_(&symbols->data, cps_elf_base_(symbol->part) + symbol->dword * 4);
        cps_elf_put32_(&symbols->data, 0);
        cps_elf_put32_(&symbols->data, ELF32_ST_INFO(STB_LOCAL, type) |
                                           section_of(w, symbol->part, symbol->dword) << 16);
        cps_buf_add(&names->data, symbol->name, strlen(symbol->name) + 1);
    }
}

static void add_names(struct writer *w)
{
    struct section *names = add(w, ".shstrtab", "", SHT_STRTAB);
    cps_buf_add(&names->data, "", 1);
    for (unsigned i = 0; i < w->count; i++) {
        w->section[i].header.sh_name = (uint32_t)names->data.size;
        cps_buf_add(&names->data, w->section[i].name, strlen(w->section[i].name) + 1);
    }
}

/* Where everything lies: after the headers the sections in their order, then their table. */
static void lay_out(struct writer *w)
{
    uint32_t at = (uint32_t)(sizeof(Elf32_Ehdr) + w->program->part_count * sizeof(Elf32_Phdr));
    for (unsigned i = 0; i < w->count; i++) {
        Elf32_Shdr *header = &w->section[i].header;
        at = (at + header->sh_addralign - 1) / header->sh_addralign * header->sh_addralign;
        header->sh_offset = at;
        header->sh_size = (uint32_t)w->section[i].data.size;
        at += header->sh_size;
    }
}

static void pad(struct cps_buf *out, uint32_t offset)
{
    while (out->size < offset && !out->failed)
        cps_buf_add(out, "", 1);
}

static void put16x2(struct cps_buf *out, unsigned low, unsigned high)
{
    cps_elf_put32_(out, low | high << 16);
}

static void put_header(const struct writer *w, uint32_t table, struct cps_buf *out)
{
    static const char ident[EI_NIDENT] = {ELFMAG0,    ELFMAG1,     ELFMAG2,   ELFMAG3,
                                          ELFCLASS32, ELFDATA2LSB, EV_CURRENT};
    cps_buf_add(out, ident, sizeof(ident));
    put16x2(out, ET_EXEC, CPS_ELF_MACHINE);
    cps_elf_put32_(out, EV_CURRENT);
    cps_elf_put32_(out, 0);                  /* entry */
    cps_elf_put32_(out, sizeof(Elf32_Ehdr)); /* the segments */
    cps_elf_put32_(out, table);
    cps_elf_put32_(out, 0); /* flags */
    put16x2(out, sizeof(Elf32_Ehdr), sizeof(Elf32_Phdr));
    put16x2(out, w->program->part_count, sizeof(Elf32_Shdr));
    put16x2(out, w->count + 1, w->count);
}

/* The words of a part. */
static void put_segment(const struct writer *w, uint32_t part, struct cps_buf *out)
{
    uint32_t offset = 0;
    uint32_t size = 0;
    for (unsigned i = 0; i < w->count; i++) {
        const Elf32_Shdr *header = &w->section[i].header;
        if (!(header->sh_flags & SHF_ALLOC) || header->sh_addr >> CPS_ELF_PART_SHIFT != part)
            continue;
        offset = size ? offset : header->sh_offset;
        size += header->sh_size;
    }
    const uint32_t words[] = {PT_LOAD, offset, cps_elf_base_(part), cps_elf_base_(part),
                              size,    size,   PF_R | PF_X,         4};
    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        cps_elf_put32_(out, words[i]);
}

static void put_section(const Elf32_Shdr *h, struct cps_buf *out)
{
    const uint32_t words[] = {h->sh_name, h->sh_type, h->sh_flags, h->sh_addr,      h->sh_offset,
                              h->sh_size, h->sh_link, h->sh_info,  h->sh_addralign, h->sh_entsize};
    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        cps_elf_put32_(out, words[i]);
}

static void put_file(struct writer *w, struct cps_buf *out)
{
    static const Elf32_Shdr none;
    lay_out(w);
    const struct section *last = &w->section[w->count - 1];
    uint32_t table = (last->header.sh_offset + last->header.sh_size + 3) & ~UINT32_C(3);
    put_header(w, table, out);
    for (uint32_t i = 0; i < w->program->part_count; i++)
        put_segment(w, i, out);
    for (unsigned i = 0; i < w->count; i++) {
        pad(out, w->section[i].header.sh_offset);
        cps_buf_join(out, &w->section[i].data);
    }
    pad(out, table);
    put_section(&none, out);
    for (unsigned i = 0; i < w->count; i++)
        put_section(&w->section[i].header, out);
}

struct cps_err *cps_elf_write(const struct cps_program *program, struct cps_buf *out)
{
    CPS_CLEANUP(deinit) struct writer w = {.program = program};
    for (uint32_t i = 0; i < program->part_count; i++)
        add_part(&w, i);
    struct section *section = add(&w, CPS_ELF_MARK, "", SHT_PROGBITS);
    section->header.sh_addralign = 4;
    cps_elf_put32_(&section->data, CPS_ELF_VERSION);
    cps_elf_put32_(&section->data, cps_gen_row(w.program->gen)->number);
    cps_elf_put32_(&section->data, w.program->image.words[0]);
    add_symbols(&w);
    struct cps_dwarf dwarf = {{0}, {0}, {0}};
    cps_dwarf_write_(w.program, &dwarf);
    add(&w, ".debug_line", "", SHT_PROGBITS)->data = dwarf.line;
    add(&w, ".debug_info", "", SHT_PROGBITS)->data = dwarf.info;
    add(&w, ".debug_abbrev", "", SHT_PROGBITS)->data = dwarf.abbrev;
    add_names(&w);
    put_file(&w, out);
    return out->failed ? cps_err_nomem() : NULL;
}
