/* SPDX-License-Identifier: MIT
 * A program with its symbols and lines as ELF, for readelf, nm, objdump, addr2line and ourselves.
 */
#include <libelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "isa/base/le.h"
#include "fw/image/elf_form.h"

/* Code, table and what follows it per part; mark, symbols and their names, three of debugging
 * information, names of sections. */
#define MAX_SECTIONS (3 * CPS_FW_MAX_PARTS + 7)

struct section {
    char name[24];
    Elf32_Shdr header; /* libelf fills in the rest */
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
    snprintf(section->name, sizeof(section->name), "%s%s", name, suffix);
    section->header.sh_type = type;
    section->header.sh_addralign = 1;
    return section;
}

static void put32(struct cps_buf *out, uint32_t value)
{
    uint8_t bytes[4];
    cps_put_le32(bytes, value);
    cps_buf_add(out, (const char *)bytes, sizeof(bytes));
}

static void add_words(struct writer *w, uint32_t part, const char *name, uint32_t from, uint32_t to)
{
    const struct cps_fw_part *p = &w->program->part[part];
    struct section *section = add(w, name, cps_elf_suffix_(p->role), SHT_PROGBITS);
    section->header.sh_flags = from ? SHF_ALLOC : SHF_ALLOC | SHF_EXECINSTR;
    section->header.sh_addr = cps_elf_base_(part) + from * 4;
    section->header.sh_addralign = 4;
    for (uint32_t i = from; i < to; i++)
        put32(&section->data, w->program->image.words[1 + p->start + i]);
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

static void add_mark(struct writer *w)
{
    struct section *section = add(w, CPS_ELF_MARK, "", SHT_PROGBITS);
    section->header.sh_addralign = 4;
    put32(&section->data, CPS_ELF_VERSION);
    put32(&section->data, cps_gen_row(w->program->gen)->number);
    put32(&section->data, w->program->image.words[0]);
}

/* Number of the section that holds an address; an address behind all belongs to the last one of
 * its part. */
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
        put32(&symbols->data, 0);
    for (size_t i = 0; i < debug->symbol_count; i++) {
        const struct cps_fw_symbol *symbol = &debug->symbols[i];
        unsigned type = symbol->packet >= 0 ? STT_FUNC : STT_NOTYPE;
        put32(&symbols->data, (uint32_t)names->data.size);
        put32(&symbols->data, cps_elf_base_(symbol->part) + symbol->dword * 4);
        put32(&symbols->data, 0);
        put32(&symbols->data,
              ELF32_ST_INFO(STB_LOCAL, type) | section_of(w, symbol->part, symbol->dword) << 16);
        cps_buf_add(&names->data, symbol->name, strlen(symbol->name) + 1);
    }
}

static void add_lines(struct writer *w)
{
    struct cps_dwarf dwarf = {{0}, {0}, {0}};
    cps_dwarf_write_(w->program, &dwarf);
    add(w, ".debug_line", "", SHT_PROGBITS)->data = dwarf.line;
    add(w, ".debug_info", "", SHT_PROGBITS)->data = dwarf.info;
    add(w, ".debug_abbrev", "", SHT_PROGBITS)->data = dwarf.abbrev;
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

static bool set_header(Elf *elf, const struct writer *w)
{
    Elf32_Ehdr *header = elf32_newehdr(elf);
    if (!header)
        return false;
    header->e_ident[EI_DATA] = ELFDATA2LSB;
    header->e_type = ET_EXEC;
    header->e_machine = CPS_ELF_MACHINE;
    header->e_version = EV_CURRENT;
    header->e_shstrndx = (Elf32_Half)w->count;
    return true;
}

/* The contents are little-endian already: nothing is left to convert. */
static bool set_section(Elf *elf, struct section *section)
{
    Elf_Scn *scn = elf_newscn(elf);
    Elf32_Shdr *header = scn ? elf32_getshdr(scn) : NULL;
    Elf_Data *data = scn ? elf_newdata(scn) : NULL;
    if (!header || !data)
        return false;
    *header = section->header;
    *data = (Elf_Data){.d_buf = section->data.data,
                       .d_type = ELF_T_BYTE,
                       .d_version = EV_CURRENT,
                       .d_size = section->data.size,
                       .d_align = section->header.sh_addralign};
    return true;
}

/* Where the words of a part lie in the file, once libelf has laid it out. */
static bool set_segment(Elf *elf, const struct writer *w, uint32_t part, Elf32_Phdr *segment)
{
    *segment = (Elf32_Phdr){.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_align = 4};
    segment->p_vaddr = segment->p_paddr = cps_elf_base_(part);
    for (unsigned i = 0; i < w->count; i++) {
        const Elf32_Shdr *header = elf32_getshdr(elf_getscn(elf, i + 1));
        if (!header)
            return false;
        if (!(header->sh_flags & SHF_ALLOC) || header->sh_addr >> CPS_ELF_PART_SHIFT != part)
            continue;
        if (!segment->p_filesz)
            segment->p_offset = header->sh_offset;
        segment->p_filesz += header->sh_size;
    }
    segment->p_memsz = segment->p_filesz;
    return true;
}

static bool set_segments(Elf *elf, const struct writer *w, Elf32_Phdr *segments)
{
    if (elf_update(elf, ELF_C_NULL) < 0)
        return false;
    for (uint32_t i = 0; i < w->program->part_count; i++) {
        if (!set_segment(elf, w, i, &segments[i]))
            return false;
    }
    elf_flagphdr(elf, ELF_C_SET, ELF_F_DIRTY);
    return true;
}

static void guard_elf(Elf **elf)
{
    elf_end(*elf);
}

static struct cps_err *failed(const char *what)
{
    return cps_err_new(CPS_ERR_OS, "ELF output: cannot %s: %s", what, elf_errmsg(-1));
}

static struct cps_err *write_file(struct writer *w, FILE *file)
{
    if (elf_version(EV_CURRENT) == EV_NONE)
        return failed("start libelf");
    CPS_CLEANUP(guard_elf) Elf *elf = elf_begin(fileno(file), ELF_C_WRITE, NULL);
    Elf32_Phdr *segments =
        elf && set_header(elf, w) ? elf32_newphdr(elf, w->program->part_count) : NULL;
    if (!segments)
        return failed("make the header");
    for (unsigned i = 0; i < w->count; i++) {
        if (w->section[i].data.failed)
            return cps_err_nomem();
        if (!set_section(elf, &w->section[i]))
            return failed("add a section");
    }
    if (!set_segments(elf, w, segments))
        return failed("lay out the segments");
    return elf_update(elf, ELF_C_WRITE) < 0 ? failed("write") : NULL;
}

static struct cps_err *read_back(FILE *file, struct cps_buf *out)
{
    char chunk[4096];
    rewind(file);
    for (size_t size; (size = fread(chunk, 1, sizeof(chunk), file)) > 0;)
        cps_buf_add(out, chunk, size);
    if (ferror(file))
        return cps_err_os("ELF output", "read back");
    return out->failed ? cps_err_nomem() : NULL;
}

static void guard_file(FILE **file)
{
    if (*file)
        fclose(*file);
}

/* libelf writes to file descriptors only, so the bytes pass through a nameless file. */
struct cps_err *cps_elf_write(const struct cps_program *program, struct cps_buf *out)
{
    CPS_CLEANUP(deinit) struct writer w = {.program = program};
    CPS_CLEANUP(guard_file) FILE *file = tmpfile();
    if (!file)
        return cps_err_os("ELF output", "open a temporary file");
    for (uint32_t i = 0; i < program->part_count; i++)
        add_part(&w, i);
    add_mark(&w);
    add_symbols(&w);
    add_lines(&w);
    add_names(&w);
    CPS_TRY(write_file(&w, file));
    return read_back(file, out);
}
