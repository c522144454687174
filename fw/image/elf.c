/* SPDX-License-Identifier: MIT
 * Reads the ELF files that elf_write.c makes: libelf finds the sections, and nothing in them is
 * believed before it is checked. */
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>

#include "isa/base/le.h"
#include "fw/image/elf_form.h"
#include "fw/image/private.h"

/* Sections that hold words: three per part. */
#define MAX_PIECES (3 * CPS_FW_MAX_PARTS)
#define MAX_NAME   255

/* A section with words of the image. */
struct piece {
    const char *name;
    size_t number;
    uint64_t offset; /* in the file */
    uint32_t address;
    uint32_t part;
    struct cps_bytes words;
};

struct reader {
    const char *name; /* of the file */
    Elf *elf;
    size_t names; /* number of the section with the sections' names */
    struct piece piece[MAX_PIECES];
    unsigned piece_count;
    uint32_t lead;
    bool has_mark;
    Elf_Scn *symbols, *lines;
    struct cps_program *program;
};

static struct cps_err *expected(const struct reader *r, uint64_t offset, const char *what)
{
    return cps_err_input(r->name, offset, "expected %s", what);
}

static struct cps_err *check_header(struct reader *r)
{
    const Elf32_Ehdr *header = NULL;
    if (elf_kind(r->elf) != ELF_K_ELF || gelf_getclass(r->elf) != ELFCLASS32)
        return expected(r, EI_CLASS, "a whole ELF file of class 32");
    header = elf32_getehdr(r->elf);
    if (!header || header->e_ident[EI_DATA] != ELFDATA2LSB)
        return expected(r, EI_DATA, "a little-endian ELF file");
    if (header->e_machine != CPS_ELF_MACHINE)
        return expected(r, offsetof(Elf32_Ehdr, e_machine), "machine 1, as asm -g writes it");
    if (elf_getshdrstrndx(r->elf, &r->names) != 0)
        return expected(r, offsetof(Elf32_Ehdr, e_shstrndx), "a section with names");
    return NULL;
}

static struct cps_err *get_bytes(const struct reader *r, Elf_Scn *scn, const GElf_Shdr *header,
                                 struct cps_bytes *ret)
{
    Elf_Data *data = elf_rawdata(scn, NULL);
    if (!data || data->d_size != header->sh_size || header->sh_flags & SHF_COMPRESSED)
        return expected(r, header->sh_offset, "a section inside the file, not compressed");
    *ret = (struct cps_bytes){data->d_size ? data->d_buf : NULL, data->d_size};
    return NULL;
}

static struct cps_err *take_words(struct reader *r, Elf_Scn *scn, const char *name,
                                  const GElf_Shdr *header)
{
    struct piece piece = {name, elf_ndxscn(scn), header->sh_offset, (uint32_t)header->sh_addr,
                          0,    {NULL, 0}};
    CPS_TRY(get_bytes(r, scn, header, &piece.words));
    if (piece.words.size % 4 || header->sh_addr % 4)
        return expected(r, header->sh_offset, "a section of whole words");
    if (r->piece_count == MAX_PIECES)
        return expected(r, header->sh_offset, "fewer sections of the image");
    r->piece[r->piece_count++] = piece;
    return NULL;
}

static struct cps_err *take_section(struct reader *r, Elf_Scn *scn)
{
    GElf_Shdr copy; /* the file's own may lie anywhere */
    const GElf_Shdr *header = gelf_getshdr(scn, &copy);
    const char *name = header ? elf_strptr(r->elf, r->names, header->sh_name) : NULL;
    if (!name)
        return expected(r, offsetof(Elf32_Ehdr, e_shoff), "sections with names");
    if (header->sh_type == SHT_PROGBITS && !strcmp(name, CPS_ELF_MARK)) {
        /* Version, generation, leading dword of the raw file. */
        struct cps_bytes mark = {NULL, 0};
        uint32_t version = 0;
        uint32_t digit = 0;
        CPS_TRY(get_bytes(r, scn, header, &mark));
        if (mark.size != 12 || !cps_rd32(mark, 0, &version) || !cps_rd32(mark, 4, &digit))
            return expected(r, header->sh_offset, "12 bytes in " CPS_ELF_MARK);
        if (version != CPS_ELF_VERSION)
            return expected(r, header->sh_offset, "version 1 of " CPS_ELF_MARK);
        const char gen[2] = {(char)('0' + (digit & 0xf)), '\0'};
        if (digit > 9 || !cps_gen_parse(gen, &r->program->gen))
            return expected(r, header->sh_offset + 4, "a generation from 5 to 8");
        r->has_mark = cps_rd32(mark, 8, &r->lead);
        return NULL;
    }
    if (header->sh_type == SHT_PROGBITS && header->sh_flags & SHF_ALLOC)
        return take_words(r, scn, name, header);
    if (header->sh_type == SHT_SYMTAB)
        r->symbols = scn;
    if (header->sh_type == SHT_PROGBITS && !strcmp(name, ".debug_line"))
        r->lines = scn;
    return NULL;
}

static int compare_pieces(const void *left, const void *right)
{
    const struct piece *a = left;
    const struct piece *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static bool find_role(const char *name, bool first, enum cps_fw_role *ret)
{
    static const char text[] = ".text.";
    *ret = CPS_FW_SQE;
    if (first)
        return !strcmp(name, ".text");
    if (strncmp(name, text, strlen(text)) != 0)
        return false;
    for (unsigned role = 0; role < CPS_FW_ROLE_COUNT; role++) {
        *ret = (enum cps_fw_role)role;
        if (cps_fw_role_section(*ret) && !strcmp(name + strlen(text), cps_elf_suffix_(*ret)))
            return true;
    }
    return false;
}

/* A part begins with its code; which processor it is for is in the section's name. */
static struct cps_err *begin_part(struct reader *r, const struct piece *piece, uint32_t start)
{
    struct cps_program *program = r->program;
    struct cps_fw_part part = {CPS_FW_SQE, start, 0, CPS_FW_NONE};
    bool good = program->part_count < CPS_FW_MAX_PARTS && start % CPS_FW_ALIGN == 0 &&
                find_role(piece->name, !program->part_count, &part.role);
    for (unsigned i = 0; i < program->part_count; i++)
        good = good && program->part[i].role != part.role;
    if (!good) {
        uint64_t offset = piece->offset;
        CPS_BUF text = {0};
        cps_buf_str(&text, "first .text, then ");
        cps_fw_sections_(true, &text);
        cps_buf_str(&text, ", 32-byte aligned");
        return text.failed ? cps_err_nomem() : expected(r, offset, cps_buf_text(&text));
    }
    program->part[program->part_count++] = part;
    return NULL;
}

/* Pieces are in the order of their addresses, without gaps in a part. */
static struct cps_err *place_piece(struct reader *r, struct piece *piece, uint32_t *count)
{
    struct cps_program *program = r->program;
    if (piece->address == cps_elf_base_(program->part_count))
        CPS_TRY(begin_part(r, piece, *count));
    if (!program->part_count)
        return expected(r, piece->offset, "the first section of the image at address 0");
    piece->part = program->part_count - 1;
    struct cps_fw_part *part = &program->part[piece->part];
    if (piece->address != cps_elf_base_(piece->part) + part->size * 4)
        return expected(r, piece->offset, "sections of the image without gaps between them");
    if (!strncmp(piece->name, ".jumptbl", 8) && piece->words.size >= 4 * CPS_FW_TABLE_SIZE)
        part->table = part->size;
    part->size += (uint32_t)(piece->words.size / 4);
    *count += (uint32_t)(piece->words.size / 4);
    return *count <= CPS_FW_MAX_WORDS ? NULL : expected(r, piece->offset, "a smaller image");
}

static const struct piece *find_piece(const struct reader *r, size_t number)
{
    for (unsigned i = 0; i < r->piece_count; i++) {
        if (r->piece[i].number == number)
            return &r->piece[i];
    }
    return NULL;
}

/* Symbols of other kinds and sections are not ours to judge. */
static struct cps_err *take_symbol(struct reader *r, const GElf_Shdr *header, const GElf_Sym *from)
{
    unsigned type = GELF_ST_TYPE(from->st_info);
    const struct piece *piece = find_piece(r, from->st_shndx);
    if (!piece || (type != STT_NOTYPE && type != STT_FUNC))
        return NULL;
    const char *name = elf_strptr(r->elf, header->sh_link, from->st_name);
    uint32_t offset = (uint32_t)from->st_value - cps_elf_base_(piece->part);
    struct cps_fw_symbol symbol = {NULL, piece->part, offset / 4, -1};
    if (!name || !*name || strnlen(name, MAX_NAME + 1) > MAX_NAME)
        return expected(r, header->sh_offset, "symbols with names of at most 255 bytes");
    if (offset % 4 || symbol.dword > r->program->part[piece->part].size)
        return expected(r, header->sh_offset, "symbols at words of the image");
    return cps_fw_debug_symbol_(&r->program->debug, name, strlen(name), symbol);
}

static struct cps_err *take_symbols(struct reader *r)
{
    GElf_Shdr copy;
    const GElf_Shdr *header = r->symbols ? gelf_getshdr(r->symbols, &copy) : NULL;
    if (!header)
        return NULL;
    Elf_Data *data = elf_getdata(r->symbols, NULL);
    if (!data || data->d_type != ELF_T_SYM || header->sh_entsize != sizeof(Elf32_Sym))
        return expected(r, header->sh_offset, "a symbol table inside the file");
    for (size_t i = 1; i < data->d_size / sizeof(Elf32_Sym) && i < INT32_MAX; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol))
            return expected(r, header->sh_offset, "whole symbols");
        CPS_TRY(take_symbol(r, header, &symbol));
    }
    return NULL;
}

static struct cps_err *take_lines(struct reader *r)
{
    GElf_Shdr copy;
    const GElf_Shdr *header = r->lines ? gelf_getshdr(r->lines, &copy) : NULL;
    struct cps_bytes bytes = {NULL, 0};
    if (!header)
        return NULL;
    CPS_TRY(get_bytes(r, r->lines, header, &bytes));
    return cps_dwarf_read_(r->name, header->sh_offset, bytes.data, bytes.size, r->program);
}

static struct cps_err *read_all(struct reader *r)
{
    CPS_TRY(check_header(r));
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(r->elf, scn));)
        CPS_TRY(take_section(r, scn));
    if (!r->has_mark)
        return expected(r, 0, "a section .cpscope: an ELF file made by asm -g");
    struct cps_asm *image = &r->program->image;
    uint32_t count = 0;
    qsort(r->piece, r->piece_count, sizeof(*r->piece), compare_pieces);
    for (unsigned i = 0; i < r->piece_count; i++)
        CPS_TRY(place_piece(r, &r->piece[i], &count));
    image->words = malloc(4 * ((size_t)count + 1));
    if (!image->words)
        return cps_err_nomem();
    image->words[image->count++] = r->lead;
    for (unsigned i = 0; i < r->piece_count; i++) {
        for (size_t at = 0; at < r->piece[i].words.size; at += 4)
            image->words[image->count++] = cps_le32(r->piece[i].words.data + at);
    }
    CPS_TRY(take_symbols(r));
    CPS_TRY(take_lines(r));
    cps_fw_debug_sort_(&r->program->debug);
    return NULL;
}

static void guard_elf(Elf **elf)
{
    elf_end(*elf);
}

/* libelf wants memory that is aligned and that it may change: a copy. */
struct cps_err *cps_elf_read(const char *name, const void *bytes, size_t size,
                             struct cps_program *ret)
{
    CPS_FREE char *copy = malloc(size + 1);
    CPS_CLEANUP(guard_elf) Elf *elf = NULL;
    CPS_CLEANUP(cps_program_deinit) struct cps_program program = {0};
    struct reader r = {.name = name, .program = &program};
    if (!copy)
        return cps_err_nomem();
    memcpy(copy, bytes, size);
    if (elf_version(EV_CURRENT) == EV_NONE || !(r.elf = elf = elf_memory(copy, size)))
        return cps_err_input(name, 0, "expected an ELF file: %s", elf_errmsg(-1));
    CPS_TRY(read_all(&r));
    *ret = program;
    program = (struct cps_program){0};
    return NULL;
}
