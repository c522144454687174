/* SPDX-License-Identifier: MIT
 * Which generation a firmware image is of: by its id, else by what its words look like. */
#include "fw/image/private.h"

const struct cps_target *cps_fw_target_(uint32_t word)
{
    const struct cps_target *target = cps_target_find(cps_fw_id_(word));
    return target && word >> 24 == cps_fw_nop_(target->gen) >> 24 ? target : NULL;
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

static unsigned count_instructions(const struct cps_fw *fw, enum cps_gen gen)
{
    const struct cps_isa *isa = &cps_isa_afuc;
    unsigned good = 0;
    for (uint32_t i = 0; i < fw->count && i < SAMPLE; i++) {
        struct cps_insn insn;
        cps_decode(isa, gen, fw->words[i], &insn);
        good += insn.enc && !insn.unclaimed;
    }
    return good;
}

/* A whole sample decodes in several generations only if it is nearly empty; the words that the
 * headers must have then decide. */
static unsigned score(const struct cps_fw *fw, enum cps_gen gen)
{
    unsigned points = count_instructions(fw, gen);
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

/* Every image begins with a nop that carries its id; without that and without a packet table it is
 * some other file. */
static bool plausible(const struct cps_fw *fw)
{
    return fw->words[0] >> 24 == cps_fw_nop_(fw->gen) >> 24 ||
           cps_fw_find_table_(fw, fw->gen, 0) != CPS_FW_NONE;
}

/* Of a7xx and later without a row: where the boot writes its packet table tells the numbering of
 * control registers, and a8xx looks for its own code in another GPU register. */
static void guess_layout(struct cps_fw *fw)
{
    enum { BOOT = 0x200, SQE_INSTR_BASE_A8XX = 0x816, SQE_INSTR_BASE = 0x830 };
    if (fw->gen != CPS_A7XX || cps_fw_boot_writes_(fw, CPS_FW_TABLE_WRITE_A7XX) ||
        !cps_fw_boot_writes_(fw, CPS_FW_TABLE_WRITE_GEN3))
        return;
    fw->layout = CPS_LAYOUT_A7XX_GEN3;
    if (cps_fw_boot_loads_(fw, 0, BOOT, SQE_INSTR_BASE_A8XX) &&
        !cps_fw_boot_loads_(fw, 0, BOOT, SQE_INSTR_BASE)) {
        fw->gen = CPS_A8XX;
        fw->layout = CPS_LAYOUT_A8XX;
    }
}

/* The registers of the chip's identity, where no row says them. */
static struct cps_err *assume(struct cps_fw *fw, const char *why)
{
    CPS_BUF text = {0};
    bool identity = false;
    bool variant = false;
    cps_fw_boot_chip_(fw, &identity, &variant);
    const char *word = cps_layout_word(fw->layout);
    cps_buf_printf(&text, "firmware id 0x%x is not known, taken for %s%s%s %s", fw->id,
                   cps_gen_name(fw->gen), *word ? " with control registers as " : "", word, why);
    if (identity)
        cps_buf_printf(&text, "; its boot wants CHIP_ID 0x%08x", fw->identity);
    if (variant)
        cps_buf_printf(&text, "%s CHIP_VARIANT 0x%08x", identity ? " and" : "; its boot wants",
                       fw->variant);
    if (text.failed)
        return cps_err_nomem();
    fw->assumed = CPS_TAKE(text.data);
    return NULL;
}

struct cps_err *cps_fw_identify_(struct cps_fw *fw, unsigned gen)
{
    const struct cps_target *target = cps_fw_target_(fw->words[0]);
    fw->id = cps_fw_id_(fw->words[0]);
    fw->version = fw->words[0] & 0xfff;
    fw->gen = gen ? (enum cps_gen)gen : target ? target->gen : guess_generation(fw);
    fw->layout = cps_fw_layout_(target ? fw->id : CPS_FW_NONE, fw->gen);
    if (target && target->gen == fw->gen) {
        fw->identity = target->identity;
        fw->variant = target->variant;
    }
    if (target)
        return NULL;
    if (!gen && !plausible(fw))
        return cps_err_input(fw->name, 4,
                             "the first word 0x%08x carries no firmware id, expected firmware "
                             "(--gen takes it for some all the same)",
                             fw->words[0]);
    if (!gen)
        guess_layout(fw);
    return assume(fw, gen ? "as was asked for" : "from its contents");
}
