/* SPDX-License-Identifier: MIT
 * Images to assembly that assembles to the same file. Every line is checked or literal: what a
 * reader sees is what the assembler will make of it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fw/listing/listing.h"
#include "fw/image/icache.h"
#include "fw/image/place.h"
#include "fw/image/private.h"

#define INDENT  8
#define COMMENT 56 /* column */

enum mark { MARK_LABEL = 1, MARK_CALL = 2, MARK_HANDLER = 4 };

struct listing {
    const struct cps_fw *fw;
    const struct cps_fw_part *part;
    const uint32_t *words; /* of the part */
    const struct cps_names *names;
    const struct cps_names *asm_names; /* the assembler's: without the user's database */
    struct cps_listing_labels labels;  /* the user's own */
    struct cps_buf *out;
    struct cps_buf text; /* of one instruction */
    struct cps_notes notes;
    uint8_t *marks;                    /* per word of the part */
    uint32_t table[CPS_FW_TABLE_SIZE]; /* the packets' handlers */
    bool error_label;                  /* the label for refused packets is not the user's */
    const struct cps_fw_icache *cache; /* what is known of a dump's image, or NULL */
    bool table_directive;              /* `.jumptbl` gives exactly the words of the table */
    char label[64];
};

static bool in_table(const struct listing *l, uint32_t address)
{
    return l->part->table != CPS_FW_NONE && address >= l->part->table &&
           address - l->part->table < CPS_FW_TABLE_SIZE;
}

/* Words that are listed as instructions; what follows the table never is code. */
static bool is_code(const struct listing *l, uint32_t address)
{
    return address < l->part->table; /* CPS_FW_NONE is above all addresses */
}

static bool can_have_label(const struct listing *l, uint32_t address)
{
    return address < l->part->size &&
           (!l->table_directive || !in_table(l, address) || address == l->part->table);
}

/* The label of packet @p id: a name only if the assembler will take it for the same packet. */
static const char *handler_label(struct listing *l, unsigned id)
{
    unsigned back = 0;
    const char *name = cps_name(l->names, CPS_SPACE_PACKET, id, NULL);
    if (name && strlen(name) < sizeof(l->label) &&
        cps_fw_packet_(l->asm_names, name, strlen(name), &back) && back == id)
        return name;
    snprintf(l->label, sizeof(l->label), "UNKN%u", id);
    return l->label;
}

static bool is_error_label(const struct listing *l, uint32_t address)
{
    return l->error_label && cps_fw_is_error_handler_(l->table, address);
}

static const char *address_label(struct listing *l, uint32_t address)
{
    const struct cps_fw_symbol *const *own = cps_listing_labels_find_(&l->labels, address);
    if (own)
        return (*own)->name;
    if (l->marks[address] & MARK_HANDLER && is_error_label(l, address))
        return CPS_FW_ERROR_HANDLER;
    if (l->marks[address] & MARK_HANDLER)
        return handler_label(
            l, (unsigned)cps_fw_packet_at_(l->table, l->names, address, CPS_FW_NO_PACKET));
    if (address == l->part->table)
        return "jumptbl";
    snprintf(l->label, sizeof(l->label), "%s%04" PRIx32,
             l->marks[address] & MARK_CALL ? "fxn" : "l", address);
    return l->label;
}

static const char *find_label(void *context, uint32_t target)
{
    struct listing *l = context;
    return can_have_label(l, target) ? address_label(l, target) : NULL;
}

static void mark_target(struct listing *l, uint32_t pc)
{
    const struct cps_insn insn = cps_fw_decode_(l->fw, l->words[pc]);
    uint32_t address = 0;
    if (insn.unclaimed || !cps_insn_target(&cps_isa_afuc, &insn, pc, &address))
        return;
    /* What `bl` leads to is named like what a jump does: listings keep their labels. */
    if (can_have_label(l, address))
        l->marks[address] |= insn.op == CPS_AFUC_CALL ? MARK_CALL : MARK_LABEL;
}

/* `.jumptbl` can stand for a table whose every entry is a place where a label can be. Entry 0
 * is what the assembler gives packets without a label. */
static bool table_is_labels(const struct listing *l)
{
    if (l->part->table == CPS_FW_NONE)
        return false;
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        uint32_t address = l->words[l->part->table + id];
        if (address >= l->part->size || in_table(l, address))
            return false;
    }
    return true;
}

static bool is_users(const struct listing *l, const char *label)
{
    for (size_t i = 0; i < l->labels.count; i++) {
        if (!strcmp(l->labels.list[i]->name, label))
            return true;
    }
    return false;
}

static void put_comment(struct listing *l, size_t line_start, uint32_t pc)
{
    cps_buf_str(l->out, " ");
    cps_buf_pad(l->out, line_start, COMMENT);
    cps_buf_printf(l->out, "; %04" PRIx32 " %08" PRIx32, pc, l->words[pc]);
    if (l->cache && pc < l->cache->count && l->cache->mark[pc] != CPS_FW_HARDWARE)
        cps_buf_str(l->out, l->cache->mark[pc] == CPS_FW_DONOR ? "  (donor)" : "  (unknown)");
}

static void put_literal(struct listing *l, uint32_t pc)
{
    size_t line_start = l->out->size;
    cps_buf_printf(l->out, "%*s[%08" PRIx32 "]", INDENT, "", l->words[pc]);
    put_comment(l, line_start, pc);
}

/* Register names may be unknown to the assembler or mean another number there (a user's register
 * database; control registers whose layout no id tells): such a line must not be listed as an
 * instruction. */
static bool parses_back(struct listing *l, uint32_t pc)
{
    const char *text = cps_buf_text(&l->text);
    if (!strpbrk(text, "@%"))
        return true;
    const struct cps_parse_names names = {.names = l->asm_names};
    uint64_t word = 0;
    size_t column = 0;
    struct cps_err *err = cps_parse(&cps_isa_afuc, l->fw->gen, text, pc, &names, &column, &word);
    bool same = !err && word == l->words[pc];
    cps_err_free(err);
    return same;
}

static void put_code(struct listing *l, uint32_t pc)
{
    const struct cps_print_names names = {.names = l->names, .label = find_label, .context = l};
    const struct cps_insn insn = cps_fw_decode_(l->fw, l->words[pc]);
    cps_buf_clear(&l->text);
    cps_print(&cps_isa_afuc, &insn, pc, &names, &l->text);
    bool is_literal = cps_buf_text(&l->text)[0] == '[' || !parses_back(l, pc);
    size_t line_start = l->out->size;
    if (is_literal) {
        put_literal(l, pc);
        if (insn.enc) {
            /* A word that some row nearly explains: shows how far. */
            cps_buf_str(l->out, "  ");
            cps_print_decoded(&cps_isa_afuc, &insn, pc, &names, l->out);
            if (insn.unclaimed)
                cps_buf_printf(l->out, ", unexplained bits 0x%08" PRIx64, insn.unclaimed);
        }
        return;
    }
    cps_buf_printf(l->out, "%*s%s", INDENT, "", cps_buf_text(&l->text));
    put_comment(l, line_start, pc);
    cps_buf_clear(&l->text);
    cps_notes_add_(&l->notes, &insn, &l->text);
    if (l->text.size)
        cps_buf_printf(l->out, "  %s", cps_buf_text(&l->text));
}

/* The header word that holds the table's offset moves with the table. */
static bool put_table_offset(struct listing *l, uint32_t pc)
{
    uint32_t table = l->part->table;
    if (pc == 0 || pc > 3 || table == CPS_FW_NONE ||
        l->words[pc] != cps_fw_offset_word_(l->fw->gen, table))
        return false;
    size_t line_start = l->out->size;
    const struct cps_fw_symbol *const *own = cps_listing_labels_find_(&l->labels, table);
    cps_buf_printf(l->out, "%*s[#%s]", INDENT, "", own ? (*own)->name : "jumptbl");
    put_comment(l, line_start, pc);
    return true;
}

/* All packets that share it; what the place is called by comes first. */
static void put_handler_labels(struct listing *l, uint32_t pc)
{
    if (!(l->marks[pc] & MARK_HANDLER))
        return;
    int best = -1;
    if (is_error_label(l, pc)) {
        bool own = cps_listing_labels_find_(&l->labels, pc);
        cps_buf_str(l->out, own ? "" : CPS_FW_ERROR_HANDLER ":\n");
    } else {
        best = cps_fw_packet_at_(l->table, l->names, pc, CPS_FW_NO_PACKET);
        cps_buf_printf(l->out, "%s:\n", handler_label(l, (unsigned)best));
    }
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        if (l->table[id] == pc && (int)id != best)
            cps_buf_printf(l->out, "%s:\n", handler_label(l, id));
    }
}

static bool put_own_labels(struct listing *l, uint32_t pc)
{
    const struct cps_fw_symbol *const *own = cps_listing_labels_find_(&l->labels, pc);
    if (!own)
        return false;
    const struct cps_fw_symbol *const *end = l->labels.list + l->labels.count;
    for (const struct cps_fw_symbol *const *at = own; at < end && (*at)->dword == pc; at++)
        cps_buf_printf(l->out, "%s:\n", (*at)->name);
    return true;
}

static void put_labels(struct listing *l, uint32_t pc)
{
    if (pc == l->part->table) {
        bool aligned = (l->part->start + pc) % CPS_FW_ALIGN == 0;
        cps_buf_printf(l->out, "\n%s", aligned ? ".align 32\n" : "");
        if (!put_own_labels(l, pc))
            cps_buf_str(l->out, "jumptbl:\n");
        put_handler_labels(l, pc);
        return;
    }
    if (!l->marks[pc] && !cps_listing_labels_find_(&l->labels, pc))
        return;
    cps_notes_forget_(&l->notes);
    cps_buf_str(l->out, l->marks[pc] & (MARK_HANDLER | MARK_CALL) ? "\n" : "");
    put_handler_labels(l, pc);
    if (!put_own_labels(l, pc) && !(l->marks[pc] & MARK_HANDLER))
        cps_buf_printf(l->out, "%s:\n", address_label(l, pc));
}

static struct cps_err *put_part(struct listing *l)
{
    CPS_FREE uint8_t *marks = calloc((size_t)l->part->size + 1, 1);
    if (!marks)
        return cps_err_nomem();
    cps_listing_labels_deinit_(&l->labels);
    uint32_t number = (uint32_t)(l->part - l->fw->part);
    CPS_TRY(cps_listing_labels_init_(l->fw, number, l->asm_names, &l->labels));
    l->marks = marks;
    l->error_label = !is_users(l, CPS_FW_ERROR_HANDLER);
    cps_fw_table_of_(l->fw, l->part, l->table);
    l->table_directive = table_is_labels(l);
    for (unsigned id = 0; l->part->table != CPS_FW_NONE && id < CPS_FW_TABLE_SIZE; id++) {
        uint32_t address = l->words[l->part->table + id];
        if (address && address < l->part->size)
            l->marks[address] |= MARK_HANDLER;
    }
    for (uint32_t pc = 0; pc < l->part->size && is_code(l, pc); pc++)
        mark_target(l, pc);
    cps_notes_init_(&l->notes, l->names);
    for (uint32_t pc = 0; pc < l->part->size && !l->out->failed; pc++) {
        put_labels(l, pc);
        if (l->table_directive && pc == l->part->table) {
            cps_buf_str(l->out, ".jumptbl\n");
            pc += CPS_FW_TABLE_SIZE - 1;
            continue;
        }
        if (!put_table_offset(l, pc)) {
            if (is_code(l, pc))
                put_code(l, pc);
            else
                put_literal(l, pc);
        }
        cps_buf_str(l->out, "\n");
    }
    return l->out->failed || l->text.failed ? cps_err_nomem() : NULL;
}

struct cps_err *cps_fw_listing(const struct cps_fw *fw, const char *rnn_dir, struct cps_buf *out)
{
    return cps_fw_listing_marked_(fw, NULL, rnn_dir, out);
}

static void deinit(struct listing *l)
{
    cps_listing_labels_deinit_(&l->labels);
    cps_buf_deinit(&l->text);
}

struct cps_err *cps_fw_listing_marked_(const struct cps_fw *fw, const struct cps_fw_icache *cache,
                                       const char *rnn_dir, struct cps_buf *out)
{
    CPS_CLEANUP(cps_listing_names_) struct cps_names *names = NULL;
    CPS_TRY(cps_names_create(fw->layout, rnn_dir, &names));
    CPS_CLEANUP(cps_listing_names_) struct cps_names *asm_names = NULL;
    CPS_TRY(cps_names_create(fw->layout, NULL, &asm_names));
    CPS_CLEANUP(deinit)
    struct listing l = {
        .fw = fw, .names = names, .asm_names = asm_names, .cache = cache, .out = out};
    const struct cps_target *target = cps_fw_target_(fw->words[0]);
    /* Which control registers the assembler has names for: PFP and ME number them differently. */
    const char *word =
        fw->gen == CPS_A5XX ? cps_fw_role_name(fw->part[0].role) : cps_layout_word(fw->layout);
    cps_buf_printf(out, "; %s %s%smicrocode\n", cps_gen_name(fw->gen), word, *word ? " " : "");
    cps_buf_printf(out, "; Version: %08" PRIx32 "\n", fw->words[0]);
    if (target)
        cps_buf_printf(out, "; Firmware: %s, id %03" PRIx32 ", version %03" PRIx32 "\n",
                       target->name, fw->id, fw->version);
    cps_buf_str(out, "\n");
    if (fw->lead)
        cps_buf_printf(out, ".lead 0x%08" PRIx32 "\n", fw->lead);
    for (unsigned i = 0; i < fw->part_count; i++) {
        l.part = &fw->part[i];
        l.words = fw->words + l.part->start;
        if (i)
            cps_buf_printf(out, "\n.section %s\n", cps_fw_role_section(l.part->role));
        CPS_TRY(put_part(&l));
    }
    return NULL;
}
