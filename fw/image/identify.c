/* SPDX-License-Identifier: MIT
 * What an image is: its generation and layout, where the processors' images begin in a file, where
 * their packet tables are, and whether the last one is whole. Header words and the first
 * instructions tell it; nothing is executed.
 *
 * Dword 1 says where an image ends. F, V: in each of 35 images with 15 ids (the corpus, Debian's
 * firmware-qcom-soc of 2023, 2025 and 2026)
 * - of a5xx and a6xx, it has the place of the packet table, with whose last word the image ends;
 * - of a660, of a7xx and later, AQEs included, it has the image's dwords, and the packet table of
 *   the last processor ends 0 to 4 dwords before.
 * Programs made for tests may say neither: of those nothing is said here. */
#include <string.h>

#include "fw/image/private.h"

const struct cps_target *cps_fw_target_(uint32_t word)
{
    const struct cps_target *target = cps_target_find(cps_fw_id_(word));
    return target && word >> 24 == cps_fw_nop_(target->gen) >> 24 ? target : NULL;
}

const struct cps_target *cps_fw_row_(const struct cps_fw *fw)
{
    const struct cps_target *target = cps_fw_target_(fw->words[0]);
    return target && target->gen == fw->gen ? target : NULL;
}

enum cps_layout cps_fw_layout_(uint32_t id, enum cps_gen gen)
{
    const struct cps_target *target = cps_target_find(id);
    if (target && target->gen == gen)
        return target->layout;
    return cps_gen_layout(gen);
}

/* Handlers never lie in the header, and tables never before it. */
#define HEADER 2u

/* Whether a table of 128 handler addresses can be at dword `table` of the image at `start`. */
static bool plausible_table(const struct cps_fw *fw, uint32_t start, uint32_t table)
{
    uint32_t size = fw->count - start;
    if (table < HEADER || size < CPS_FW_TABLE_SIZE || table > size - CPS_FW_TABLE_SIZE)
        return false;
    /* Shipped tables point to code before them; a program under construction may leave
     * ids out (0). Code or data taken for a table has hardly any such word. */
    unsigned good = 0;
    for (uint32_t i = 0; i < CPS_FW_TABLE_SIZE; i++)
        good += fw->words[start + table + i] < table;
    return good >= CPS_FW_TABLE_SIZE / 2;
}

/* ---- what the boot says ---- */

/* Handlers begin after the boot. The longest one that was seen (gen80000 077) reads its packet
 * table at dword 0x198 and checks its chip at 0x1a3. */
#define BOOT 0x400u

static struct cps_insn insn_at(const struct cps_fw *fw, uint32_t at)
{
    return cps_fw_decode_(fw, at < fw->count ? fw->words[at] : 0);
}

/* A constant that an instruction loads as it is. */
static bool loads(const struct cps_insn *insn, uint32_t *ret)
{
    bool good = insn->op == CPS_AFUC_MOVI && cps_fw_field_(insn, CPS_AFUC_F_SHIFT) <= 0;
    *ret = (uint32_t)cps_fw_field_(insn, CPS_AFUC_F_IMM16);
    return good;
}

static bool boot_loads(const struct cps_fw *fw, uint32_t first, uint32_t last, uint32_t value)
{
    for (uint32_t i = first; i < fw->count && i < last; i++) {
        const struct cps_insn insn = insn_at(fw, i);
        uint32_t have = 0;
        if (loads(&insn, &have) && have == value)
            return true;
        if (insn.op == CPS_AFUC_OR && cps_fw_field_(&insn, CPS_AFUC_F_IMM16) == value)
            return true;
    }
    return false;
}

/* The access of control register @p base through $00 that comes next; `count` if there is none. */
static uint32_t next_access(const struct cps_fw *fw, uint32_t at, unsigned op, uint32_t base)
{
    for (; at < fw->count && at < BOOT; at++) {
        const struct cps_insn insn = insn_at(fw, at);
        if (insn.op == op && !cps_fw_field_(&insn, CPS_AFUC_F_SRC1) &&
            cps_fw_field_(&insn, CPS_AFUC_F_BASE) == base)
            break;
    }
    return at < BOOT ? at : fw->count;
}

static bool boot_writes(const struct cps_fw *fw, uint32_t control)
{
    return next_access(fw, 0, CPS_AFUC_CWRITE, control) < fw->count;
}

/* Whether an instruction makes @p value in register @p reg, or adds it to an index. */
static bool makes(const struct cps_insn *insn, int64_t reg, uint32_t value)
{
    uint32_t have = 0;
    if (cps_fw_field_(insn, CPS_AFUC_F_DST) != reg)
        return false;
    if (insn->op == CPS_AFUC_ADD || insn->op == CPS_AFUC_OR)
        return cps_fw_field_(insn, CPS_AFUC_F_IMM16) == value;
    return loads(insn, &have) && have == value;
}

static bool boot_reads(const struct cps_fw *fw, uint32_t gpu)
{
    enum { REG_READ_ADDR_GEN3 = 0x01b, NEAR = 4 };
    uint32_t at = 0;
    while ((at = next_access(fw, at, CPS_AFUC_CWRITE, REG_READ_ADDR_GEN3)) < fw->count) {
        const struct cps_insn write = insn_at(fw, at);
        int64_t reg = cps_fw_field_(&write, CPS_AFUC_F_SRC2);
        for (uint32_t i = at < NEAR ? 0 : at - NEAR; i < at; i++) {
            const struct cps_insn insn = insn_at(fw, i);
            if (makes(&insn, reg, gpu))
                return true;
        }
        at++;
    }
    return false;
}

static bool boot_indexes(const struct cps_fw *fw, uint32_t control)
{
    for (uint32_t i = 0; i < fw->count && i < BOOT; i++) {
        const struct cps_insn insn = insn_at(fw, i);
        if (insn.op == CPS_AFUC_CREAD && cps_fw_field_(&insn, CPS_AFUC_F_SRC1) > 0 &&
            cps_fw_field_(&insn, CPS_AFUC_F_BASE) == control)
            return true;
    }
    return false;
}

static uint32_t boot_table(const struct cps_fw *fw, uint32_t start)
{
    for (uint32_t i = start; i < start + 16; i++) {
        const struct cps_insn insn = insn_at(fw, i);
        uint32_t table = 0;
        if (loads(&insn, &table) && plausible_table(fw, start, table))
            return table;
    }
    return CPS_FW_NONE;
}

/* cread X; ubfx X, X, b8, b19; cmp Y, X, VALUE. */
static bool wanted_variant(const struct cps_fw *fw, uint32_t at, uint32_t *ret)
{
    for (uint32_t i = at + 1; i < at + 8; i++) {
        const struct cps_insn insn = insn_at(fw, i);
        int64_t value = cps_fw_field_(&insn, CPS_AFUC_F_IMM16);
        if (insn.op != CPS_AFUC_CMP || value < 0)
            continue;
        *ret = (uint32_t)value << 8;
        return true;
    }
    return false;
}

/* cread X, and mov Y, VALUE near ushr X, X, 28, then cmp. */
static bool wanted_identity(const struct cps_fw *fw, uint32_t at, uint32_t *ret)
{
    uint32_t value = 0;
    bool shifts = false;
    bool knows = false;
    for (uint32_t i = at + 1; i < at + 20; i++) {
        const struct cps_insn insn = insn_at(fw, i);
        uint32_t have = 0;
        int64_t by = cps_fw_field_(&insn, CPS_AFUC_F_IMM16);
        by = by < 0 ? cps_fw_field_(&insn, CPS_AFUC_F_IMM12) : by;
        shifts = shifts || (insn.op == CPS_AFUC_USHR && by == 28);
        if (loads(&insn, &have) && have < 16) {
            value = have;
            knows = true;
        }
        if (insn.op != CPS_AFUC_CMP || !shifts || !knows)
            continue;
        *ret = value << 28;
        return true;
    }
    return false;
}

typedef bool wanted(const struct cps_fw *fw, uint32_t at, uint32_t *ret);

static bool find(const struct cps_fw *fw, uint32_t control, wanted *is, uint32_t *ret)
{
    uint32_t at = 0;
    while ((at = next_access(fw, at, CPS_AFUC_CREAD, control)) < fw->count) {
        if (is(fw, at, ret))
            return true;
        at++;
    }
    return false;
}

static void boot_chip(struct cps_fw *fw, bool *identity, bool *variant)
{
    enum { CHIP_ID = 0x000, VARIANT_A7XX = 0x0ef, VARIANT_GEN3 = 0x002 };
    bool early = fw->layout == CPS_LAYOUT_A7XX;
    *identity = find(fw, CHIP_ID, wanted_identity, &fw->identity);
    *variant = cps_gen_since(fw->gen, CPS_A7XX) &&
               find(fw, early ? VARIANT_A7XX : VARIANT_GEN3, wanted_variant, &fw->variant);
}

/* ---- processors and their tables ---- */

/* The table offset in dword @p place of the image at @p start, or CPS_FW_NONE. */
static uint32_t table_at(const struct cps_fw *fw, enum cps_gen gen, uint32_t start, uint32_t place)
{
    if (start >= fw->count || place >= fw->count - start)
        return CPS_FW_NONE;
    uint32_t word = fw->words[start + place];
    if (word >> 24 != cps_fw_nop_(gen) >> 24)
        return CPS_FW_NONE;
    uint32_t table = word & 0xffffff;
    return plausible_table(fw, start, table) ? table : CPS_FW_NONE;
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
    return table == CPS_FW_NONE && gen == CPS_A6XX ? boot_table(fw, start) : table;
}

/* Where the image after a part's table begins, or CPS_FW_NONE if what is there is none. */
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

/* Chains of images: each begins after the packet table of the one before. */
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
    bool pfp = boot_loads(fw, HEADER, 64, 0x835);
    bool me = boot_loads(fw, HEADER, 64, 0x838);
    return pfp != me ? pfp : writes_ib_registers(fw);
}

/* The two AQEs share a block of control registers, which they index by their number: no other
 * image of the corpus reads 0x271 so. */
static bool is_aqe(const struct cps_fw *fw)
{
    enum { AQE_SHARED = 0x271 };
    return cps_gen_since(fw->gen, CPS_A7XX) && boot_indexes(fw, AQE_SHARED);
}

enum cps_fw_role cps_fw_first_role_(struct cps_fw *fw)
{
    if (fw->gen != CPS_A5XX)
        return is_aqe(fw) ? CPS_FW_AQE : CPS_FW_SQE;
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

/* The roles whose names are in a text with blanks between. */
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

/* ---- generation and layout ---- */

/* Enough to tell generations apart, few enough to stay quick on the largest image. */
#define SAMPLE 8192u

/* A whole sample decodes in several generations only if it is nearly empty; the words that the
 * headers must have then decide. */
static unsigned score(const struct cps_fw *fw, enum cps_gen gen)
{
    unsigned points = 0;
    for (uint32_t i = 0; i < fw->count && i < SAMPLE; i++) {
        struct cps_insn insn;
        cps_decode(&cps_isa_afuc, gen, fw->words[i], &insn);
        points += insn.enc && !insn.unclaimed;
    }
    if (fw->words[0] >> 24 == cps_fw_nop_(gen) >> 24)
        points += SAMPLE;
    if (cps_fw_find_table_(fw, gen, 0) != CPS_FW_NONE)
        points += SAMPLE / 4;
    return points;
}

/* a8xx is left out: it differs from a7xx by few instructions, which no score can tell. */
static enum cps_gen guess_generation(const struct cps_fw *fw)
{
    static const enum cps_gen gens[] = {CPS_A6XX, CPS_A7XX, CPS_A5XX};
    enum cps_gen best = gens[0];
    unsigned best_score = 0;
    for (size_t i = 0; i < sizeof(gens) / sizeof(gens[0]); i++) {
        unsigned points = score(fw, gens[i]);
        if (points > best_score) {
            best_score = points;
            best = gens[i];
        }
    }
    return best;
}

/* Whether most words before @p end are instructions, and enough of them do something: of
 * shipped images 93 % are, and 69 % do. Small numbers are nops of a5xx with payload, and of random
 * words and texts six in ten are instructions of some kind. */
static bool is_code(const struct cps_fw *fw, uint32_t end)
{
    uint32_t words = 0;
    uint32_t good = 0;
    uint32_t busy = 0;
    for (uint32_t i = 2; i < end && i < SAMPLE; i++) {
        const struct cps_insn insn = cps_fw_decode_(fw, fw->words[i]);
        bool is_insn = insn.enc && !insn.unclaimed;
        words++;
        good += is_insn;
        busy += is_insn && insn.op != CPS_AFUC_NOP;
    }
    return good >= words - words / 8 && busy >= words / 4 && busy;
}

/* Whether an image whose id no row has is firmware at all: it has code and a packet table after
 * it, or is an AQE's. How its first word begins says little: with a zero, as in a5xx, do many
 * files. */
static bool is_plausible(const struct cps_fw *fw)
{
    uint32_t table = cps_fw_find_table_(fw, fw->gen, 0);
    bool begins = fw->words[0] >> 24 == cps_fw_nop_(fw->gen) >> 24;
    if (table == CPS_FW_NONE)
        return begins && is_aqe(fw) && is_code(fw, fw->count);
    return is_code(fw, table);
}

/* Where the boot writes packet tables: control register PACKET_TABLE_WRITE of the layouts. */
enum { CPS_FW_TABLE_WRITE_A7XX = 0x061, CPS_FW_TABLE_WRITE_GEN3 = 0x071 };

/* Signs of a8xx: BR looks for its own code in another GPU register, as the AQE does, or starts a
 * DDE. */
static bool is_a8xx(const struct cps_fw *fw)
{
    enum { SQE_INSTR_BASE_A8XX = 0x816, AQE_INSTR_BASE_A8XX = 0x818, DDE_BR_CNTL = 0x08a };
    return boot_reads(fw, SQE_INSTR_BASE_A8XX) || boot_reads(fw, AQE_INSTR_BASE_A8XX) ||
           boot_writes(fw, DDE_BR_CNTL);
}

/* Of images without a row: where the boot writes its packet table tells a7xx's numbering of control
 * registers from later ones; chips before a750 have no AQE. a6xx whose boot waits for an LPAC (F:
 * a660 0007) is numbered as a660. @p fixed  the generation was asked for */
static void guess_layout(struct cps_fw *fw, bool fixed)
{
    enum { THREAD_SYNC = 0x200 };
    bool late = is_aqe(fw) || (boot_writes(fw, CPS_FW_TABLE_WRITE_GEN3) &&
                               !boot_writes(fw, CPS_FW_TABLE_WRITE_A7XX));
    if (fw->gen == CPS_A6XX && boot_writes(fw, THREAD_SYNC))
        fw->layout = CPS_LAYOUT_A660;
    if (fw->gen != CPS_A7XX || !late)
        return;
    fw->layout = CPS_LAYOUT_A7XX_GEN3;
    if (!fixed && is_a8xx(fw)) {
        fw->gen = CPS_A8XX;
        fw->layout = CPS_LAYOUT_A8XX;
    }
}

/* What it was taken for, and the registers of the chip's identity: no row says them. */
static void put_guess(struct cps_fw *fw, bool asked, struct cps_buf *out)
{
    const struct cps_target *other = cps_fw_target_(fw->words[0]);
    const char *word = cps_layout_word(fw->layout);
    bool identity = false;
    bool variant = false;
    boot_chip(fw, &identity, &variant);
    cps_buf_printf(out, "firmware id 0x%x is %s%s, taken for %s%s%s%s %s", fw->id,
                   other ? "of " : "not known", other ? cps_gen_name(other->gen) : "",
                   cps_gen_name(fw->gen), *word ? " with control registers as " : "", word,
                   is_aqe(fw) ? ", an AQE," : "", asked ? "as was asked for" : "from its contents");
    if (identity)
        cps_buf_printf(out, "; its boot wants CHIP_ID 0x%08x", fw->identity);
    if (variant)
        cps_buf_printf(out, "%s CHIP_VARIANT 0x%08x", identity ? " and" : "; its boot wants",
                       fw->variant);
}

/* Where there are AQEs, an image that shows neither an AQE's code nor a table might be anything. */
static bool role_is_open(const struct cps_fw *fw)
{
    return cps_gen_since(fw->gen, CPS_A7XX) && fw->layout != CPS_LAYOUT_A7XX && !is_aqe(fw) &&
           cps_fw_find_table_(fw, fw->gen, 0) == CPS_FW_NONE &&
           !boot_writes(fw, CPS_FW_TABLE_WRITE_GEN3);
}

/* Images of a2xx to a4xx. V: the 14 that Debian's firmware-qcom-soc has, of a200 (yamato) to a420;
 * after their version all pm4 begin with the same two words, and so do all pfp, but for the second.
 */
static bool is_older(const struct cps_fw *fw)
{
    const uint32_t *word = fw->words;
    return fw->count > 2 && ((word[1] == 0xc0200400 && !word[2]) ||
                             (word[0] == 0x00c60400 && word[2] == 0x00a00000));
}

struct cps_err *cps_fw_identify_(struct cps_fw *fw, unsigned gen)
{
    const struct cps_target *target = cps_fw_target_(fw->words[0]);
    fw->id = cps_fw_id_(fw->words[0]);
    fw->version = fw->words[0] & 0xfff;
    fw->gen = gen ? (enum cps_gen)gen : target ? target->gen : guess_generation(fw);
    fw->layout = cps_fw_layout_(target ? fw->id : CPS_FW_NONE, fw->gen);
    if (!target && !gen && is_older(fw))
        return cps_err_new(
            CPS_ERR_UNSUPPORTED,
            "%s: offset 0x4: this is firmware of a2xx to a4xx, whose instruction set "
            "is an older one, expected firmware of a5xx or later",
            fw->name);
    if (!target && !gen && !is_plausible(fw))
        return cps_err_input(fw->name, 4,
                             "not firmware: the first word 0x%08x has no known firmware id, and "
                             "the rest does not look like microcode, expected firmware (--gen "
                             "GEN forces it)",
                             fw->words[0]);
    if (cps_fw_row_(fw)) {
        fw->identity = target->identity;
        fw->variant = target->variant;
    } else {
        guess_layout(fw, gen);
    }
    CPS_BUF text = {0};
    if (!cps_fw_row_(fw))
        put_guess(fw, gen, &text);
    if (role_is_open(fw))
        cps_buf_printf(&text, "%sno packet table and no code of an AQE, taken for an SQE",
                       text.size ? "; " : "");
    if (text.failed)
        return cps_err_nomem();
    fw->assumed = CPS_TAKE(text.data);
    return NULL;
}
