/* SPDX-License-Identifier: MIT
 * Where the processors' images begin in a file, where their packet tables are, and whether the last
 * one is whole: found from header words, without executing anything.
 *
 * Dword 1 says where an image ends. F, V: in each of 35 images with 15 ids (the corpus, Debian's
 * firmware-qcom-soc of 2023, 2025 and 2026)
 * - of a5xx and a6xx, it has the place of the packet table, with whose last word the image ends;
 * - of a660, of a7xx and later, AQEs included, it has the image's dwords, and the packet table of
 *   the last processor ends 0 to 4 dwords before.
 * Programs made for tests may say neither: of those nothing is said here. */
#include <string.h>

#include "fw/image/private.h"

/* Handlers never lie in the header, and tables never in front of it. */
#define HEADER 2u

/* Whether a table of 128 handler addresses can stand at dword `table` of an image. */
bool cps_fw_plausible_table_(const struct cps_fw *fw, uint32_t start, uint32_t table)
{
    uint32_t size = fw->count - start;
    if (table < HEADER || size < CPS_FW_TABLE_SIZE || table > size - CPS_FW_TABLE_SIZE)
        return false;
    /* Shipped tables point to code in front of them; a program under construction may leave
     * ids out (0). Code or data taken for a table has hardly any such word. */
    unsigned good = 0;
    for (uint32_t i = 0; i < CPS_FW_TABLE_SIZE; i++)
        good += fw->words[start + table + i] < table;
    return good >= CPS_FW_TABLE_SIZE / 2;
}

/* The table offset in dword @p place of the image at @p start, or CPS_FW_NONE. */
static uint32_t table_at(const struct cps_fw *fw, enum cps_gen gen, uint32_t start, uint32_t place)
{
    if (start >= fw->count || place >= fw->count - start)
        return CPS_FW_NONE;
    uint32_t word = fw->words[start + place];
    if (word >> 24 != cps_fw_nop_(gen) >> 24)
        return CPS_FW_NONE;
    uint32_t table = word & 0xffffff;
    return cps_fw_plausible_table_(fw, start, table) ? table : CPS_FW_NONE;
}

uint32_t cps_fw_find_table_(const struct cps_fw *fw, enum cps_gen gen, uint32_t start)
{
    /* a740's first image has its total size in dword 1 and the offset in dword 3; its others, and
     * programs made for tests, have the offset in dword 1. */
    uint32_t table = CPS_FW_NONE;
    if (start == 0 && cps_gen_since(gen, CPS_A7XX))
        table = table_at(fw, gen, start, 3);
    if (table == CPS_FW_NONE)
        table = table_at(fw, gen, start, 1);
    /* a660 notes no offsets: the code that copies the table has them. */
    return table == CPS_FW_NONE && gen == CPS_A6XX ? cps_fw_boot_table_(fw, start) : table;
}

/* Where the image behind a part's table begins, or CPS_FW_NONE if what stands there is none. */
static uint32_t next_start(const struct cps_fw *fw, const struct cps_fw_part *part)
{
    if (part->table == CPS_FW_NONE)
        return CPS_FW_NONE;
    uint32_t end = part->start + part->table + CPS_FW_TABLE_SIZE;
    uint32_t start = (end + CPS_FW_ALIGN - 1) / CPS_FW_ALIGN * CPS_FW_ALIGN;
    if (start >= fw->count || fw->words[start] >> 24 != cps_fw_nop_(fw->gen) >> 24 ||
        cps_fw_find_table_(fw, fw->gen, start) == CPS_FW_NONE)
        return CPS_FW_NONE;
    return start;
}

/* Chains of images: each begins behind the packet table of the one before. */
static void split_chain(struct cps_fw *fw, const enum cps_fw_role *roles, unsigned role_count)
{
    uint32_t start = 0;
    while (start != CPS_FW_NONE && fw->part_count < role_count) {
        struct cps_fw_part *part = &fw->part[fw->part_count];
        if (fw->part_count)
            part[-1].size = start - part[-1].start;
        *part = (struct cps_fw_part){
            .role = roles[fw->part_count],
            .start = start,
            .size = fw->count - start,
            .table = cps_fw_find_table_(fw, fw->gen, start),
        };
        fw->part_count++;
        start = next_start(fw, part);
    }
}

/* Whether the program writes the registers that start indirect buffers. */
static bool writes_ib_registers(const struct cps_fw *fw)
{
    for (uint32_t i = 0; i < fw->count; i++) {
        struct cps_insn insn;
        cps_decode(&cps_isa_afuc, CPS_A5XX, fw->words[i], &insn);
        if (insn.op != CPS_AFUC_CWRITE ||
            cps_insn_field(&cps_isa_afuc, &insn, CPS_AFUC_F_SRC1, -1) != 0)
            continue;
        int64_t base = cps_insn_field(&cps_isa_afuc, &insn, CPS_AFUC_F_BASE, -1);
        if (base >= 0x0b0 && base <= 0x0b6 && base != 0x0b3)
            return true;
    }
    return false;
}

/* PFP and ME files carry the same id and version scheme; nothing in the header tells them apart.
 * Both must find their own code in memory before they can load their packet table, and there is
 * one GPU register for that per processor: 0x835 for PFP, 0x838 for ME. A program that does
 * neither is taken for a PFP if it starts indirect buffers, which only PFP can. */
static bool is_pfp(const struct cps_fw *fw)
{
    bool pfp = cps_fw_boot_loads_(fw, HEADER, 64, 0x835);
    bool me = cps_fw_boot_loads_(fw, HEADER, 64, 0x838);
    return pfp != me ? pfp : writes_ib_registers(fw);
}

/* The two AQEs share a block of control registers, which they index by their number: no other
 * image of the corpus reads 0x271 so. */
bool cps_fw_is_aqe_(const struct cps_fw *fw)
{
    enum { AQE_SHARED = 0x271 };
    return cps_gen_since(fw->gen, CPS_A7XX) && cps_fw_boot_indexes_(fw, AQE_SHARED);
}

enum cps_fw_role cps_fw_first_role_(struct cps_fw *fw)
{
    if (fw->gen != CPS_A5XX)
        return cps_fw_is_aqe_(fw) ? CPS_FW_AQE : CPS_FW_SQE;
    bool pfp = is_pfp(fw);
    fw->layout = pfp ? CPS_LAYOUT_A5XX_PFP : CPS_LAYOUT_A5XX_ME;
    return pfp ? CPS_FW_PFP : CPS_FW_ME;
}

/* Of its row; without one the most that a chip of its generation has: the chain ends by itself. */
static const char *processors_of(const struct cps_fw *fw)
{
    const struct cps_target *target = cps_fw_row_(fw);
    const char *most = target ? target->processors : "";
    for (size_t i = 0; !target && cps_target_at(i); i++) {
        const struct cps_target *other = cps_target_at(i);
        if (other->gen == fw->gen && strlen(other->processors) > strlen(most))
            most = other->processors;
    }
    return most;
}

/* The roles whose names stand in a text with blanks between. */
static unsigned read_roles(const char *names, enum cps_fw_role ret[CPS_FW_MAX_PARTS])
{
    unsigned count = 0;
    while (*names && count < CPS_FW_MAX_PARTS) {
        size_t length = strcspn(names, " ");
        for (unsigned i = 0; i < CPS_FW_ROLE_COUNT; i++) {
            const char *name = cps_fw_role_name((enum cps_fw_role)i);
            if (strlen(name) == length && !memcmp(name, names, length))
                ret[count++] = (enum cps_fw_role)i;
        }
        names += length + (names[length] == ' ');
    }
    return count;
}

void cps_fw_split_(struct cps_fw *fw)
{
    enum cps_fw_role chain[CPS_FW_MAX_PARTS];
    enum cps_fw_role first = cps_fw_first_role_(fw);
    if (first == CPS_FW_SQE)
        split_chain(fw, chain, read_roles(processors_of(fw), chain));
    else
        split_chain(fw, &first, 1);
}

uint32_t cps_fw_handler(const struct cps_fw *fw, const struct cps_fw_part *part, unsigned id)
{
    if (part->table == CPS_FW_NONE || id >= CPS_FW_TABLE_SIZE)
        return CPS_FW_NONE;
    uint32_t address = fw->words[part->start + part->table + id];
    return address < part->size ? address : CPS_FW_NONE;
}

/* Where the last processor's packet table ends. */
static uint32_t end_of_tables(const struct cps_fw *fw)
{
    const struct cps_fw_part *last = &fw->part[fw->part_count - 1];
    return last->start + last->table + CPS_FW_TABLE_SIZE;
}

static void put_missing(const struct cps_fw *fw, struct cps_buf *out)
{
    const struct cps_fw_part *last = &fw->part[fw->part_count - 1];
    /* What dword 1 has as its payload; 0: nothing. */
    uint32_t word = fw->count > 1 ? fw->words[1] : UINT32_MAX;
    uint32_t note = word >> 24 == cps_fw_nop_(fw->gen) >> 24 ? word & 0xffffff : 0;
    bool says_size = fw->layout == CPS_LAYOUT_A660 || cps_gen_since(fw->gen, CPS_A7XX);
    if (!note)
        return;
    if (note > fw->count && says_size)
        cps_buf_printf(out,
                       "the image ends at dword 0x%x, expected 0x%x dwords as its dword 1 says",
                       fw->count, note);
    else if (!says_size && CPS_FW_TABLE_SIZE > (int64_t)fw->count - note)
        cps_buf_printf(out,
                       "the image ends at dword 0x%x, expected 0x%x dwords: its dword 1 says that "
                       "the packet table is at 0x%x",
                       fw->count, note + CPS_FW_TABLE_SIZE, note);
    else if (last->table == CPS_FW_NONE && last->role != CPS_FW_AQE)
        cps_buf_printf(out, "no packet table of the %s was found, expected one",
                       cps_fw_role_name(last->role));
    else if (note == fw->count && last->role != CPS_FW_AQE &&
             fw->count - end_of_tables(fw) >= CPS_FW_ALIGN)
        cps_buf_printf(out,
                       "the dwords from 0x%x to 0x%x, after the packet table of the %s, are no "
                       "image of another processor, expected one",
                       end_of_tables(fw), fw->count, cps_fw_role_name(last->role));
}

struct cps_err *cps_fw_measure_(struct cps_fw *fw)
{
    CPS_BUF text = {0};
    put_missing(fw, &text);
    if (text.failed)
        return cps_err_nomem();
    if (text.size)
        fw->incomplete = CPS_TAKE(text.data);
    return NULL;
}

struct cps_err *cps_fw_check(const struct cps_fw *fw)
{
    return fw->incomplete ? cps_err_input(fw->name, 4 + 4 * (size_t)fw->count, "%s", fw->incomplete)
                          : NULL;
}
