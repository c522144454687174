/* SPDX-License-Identifier: MIT
 * Which generation a firmware image is of: by its id, else by what its words look like. */
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

/* Enough to tell generations apart, few enough to stay quick on the largest image. */
#define SAMPLE 8192u

/* A whole sample decodes in several generations only if it is nearly empty; the words that the
 * headers must have then decide. */
static unsigned score(const struct cps_fw *fw, enum cps_gen gen)
{
    const struct cps_isa *isa = &cps_isa_afuc;
    unsigned points = 0;
    for (uint32_t i = 0; i < fw->count && i < SAMPLE; i++) {
        struct cps_insn insn;
        cps_decode(isa, gen, fw->words[i], &insn);
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

/* Whether most words in front of @p end are instructions, and enough of them do something: of
 * shipped images 93 % are, and 69 % do. Small numbers are nops of a5xx with payload, and of random
 * words and texts six in ten are instructions of some kind. */
static bool is_code(const struct cps_fw *fw, uint32_t end)
{
    uint32_t words = 0;
    uint32_t good = 0;
    uint32_t busy = 0;
    for (uint32_t i = 2; i < end && i < SAMPLE; i++) {
        struct cps_insn insn;
        cps_decode(&cps_isa_afuc, fw->gen, fw->words[i], &insn);
        bool is_insn = insn.enc && !insn.unclaimed;
        words++;
        good += is_insn;
        busy += is_insn && insn.op != CPS_AFUC_NOP;
    }
    return good >= words - words / 8 && busy >= words / 4 && busy;
}

/* Whether an image whose id no row has is firmware at all: it has code and a packet table behind
 * it, or is an AQE's. How its first word begins says little: with a zero, as in a5xx, do many
 * files. */
static bool plausible(const struct cps_fw *fw)
{
    uint32_t table = cps_fw_find_table_(fw, fw->gen, 0);
    bool begins = fw->words[0] >> 24 == cps_fw_nop_(fw->gen) >> 24;
    if (table == CPS_FW_NONE)
        return begins && cps_fw_is_aqe_(fw) && is_code(fw, fw->count);
    return is_code(fw, table);
}

/* Signs of a8xx: BR looks for its own code in another GPU register, as the AQE does, or starts a
 * DDE. */
static bool is_a8xx(const struct cps_fw *fw)
{
    enum { SQE_INSTR_BASE_A8XX = 0x816, AQE_INSTR_BASE_A8XX = 0x818, DDE_BR_CNTL = 0x08a };
    return cps_fw_boot_reads_(fw, SQE_INSTR_BASE_A8XX) ||
           cps_fw_boot_reads_(fw, AQE_INSTR_BASE_A8XX) || cps_fw_boot_writes_(fw, DDE_BR_CNTL);
}

/* Of images without a row: where the boot writes its packet table tells a7xx's numbering of control
 * registers from later ones; chips before a750 have no AQE. a6xx whose boot waits for an LPAC (F:
 * a660 0007) is numbered as a660. @p fixed  the generation was asked for */
static void guess_layout(struct cps_fw *fw, bool fixed)
{
    enum { THREAD_SYNC = 0x200 };
    bool late = cps_fw_is_aqe_(fw) || (cps_fw_boot_writes_(fw, CPS_FW_TABLE_WRITE_GEN3) &&
                                       !cps_fw_boot_writes_(fw, CPS_FW_TABLE_WRITE_A7XX));
    if (fw->gen == CPS_A6XX && cps_fw_boot_writes_(fw, THREAD_SYNC))
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
    cps_fw_boot_chip_(fw, &identity, &variant);
    cps_buf_printf(out, "firmware id 0x%x is %s%s, taken for %s%s%s%s %s", fw->id,
                   other ? "of " : "not known", other ? cps_gen_name(other->gen) : "",
                   cps_gen_name(fw->gen), *word ? " with control registers as " : "", word,
                   cps_fw_is_aqe_(fw) ? ", an AQE," : "",
                   asked ? "as was asked for" : "from its contents");
    if (identity)
        cps_buf_printf(out, "; its boot wants CHIP_ID 0x%08x", fw->identity);
    if (variant)
        cps_buf_printf(out, "%s CHIP_VARIANT 0x%08x", identity ? " and" : "; its boot wants",
                       fw->variant);
}

/* Where there are AQEs, an image that shows neither an AQE's code nor a table might be anything. */
static bool role_is_open(const struct cps_fw *fw)
{
    return cps_gen_since(fw->gen, CPS_A7XX) && fw->layout != CPS_LAYOUT_A7XX &&
           !cps_fw_is_aqe_(fw) && cps_fw_find_table_(fw, fw->gen, 0) == CPS_FW_NONE &&
           !cps_fw_boot_writes_(fw, CPS_FW_TABLE_WRITE_GEN3);
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
    if (!target && !gen && !plausible(fw))
        return cps_err_input(
            fw->name, 4,
            "the first word 0x%08x carries no firmware id that is known, and what "
            "follows is not the code of one, expected firmware (--gen takes it for "
            "some all the same)",
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
