/* SPDX-License-Identifier: MIT
 * The code that a processor runs, as it was loaded: for whoever follows calls. */
#include "tools/play/play.h"

const struct cps_fw *play_image(const struct play *play, unsigned who, uint32_t *part)
{
    const struct cps_engine *engine = play->engine;
    *part = 0;
    if (who == CPS_CPU_ME)
        return play->me;
    while (*part + 1 < engine->cores && engine->who[*part] != who)
        ++*part;
    return play->fw && *part < play->fw->part_count ? play->fw : NULL;
}

uint8_t play_flow(void *context, unsigned who, uint32_t pc)
{
    struct cps_insn insn;
    uint32_t part = 0;
    const struct cps_fw *fw = play_image(context, who, &part);
    if (!fw || pc >= fw->part[part].size)
        return 0;
    cps_decode(&cps_isa_afuc, fw->gen, fw->words[fw->part[part].start + pc], &insn);
    return cps_flow_code(&cps_isa_afuc, &insn, pc);
}
