/* SPDX-License-Identifier: MIT
 * The code that a processor runs, as it was loaded: for whoever follows calls, and what its places
 * are called. */
#include <stdio.h>
#include <string.h>

#include "cpscope.h"
#include "tools/run/dump.h"
#include "emu/afuc/afuc.h"
#include "fw/image/place.h"
#include "isa/base/cleanup.h"
#include "tools/run/play.h"

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

static bool runs_on(enum cps_fw_role role, unsigned who)
{
    return cps_role_processor(role, 0) == who || cps_role_processor(role, 1) == who;
}

const struct cps_fw *play_part(const struct cps_fw *fw, const struct cps_fw *me, unsigned who,
                               const struct cps_fw_part **part)
{
    fw = who == CPS_CPU_ME && me ? me : fw;
    for (unsigned i = 0; fw && i < fw->part_count; i++) {
        *part = &fw->part[i];
        if (runs_on(fw->part[i].role, who))
            return fw;
    }
    return NULL;
}

void play_place(const struct play *play, unsigned who, uint32_t pc, int running,
                struct cps_buf *out)
{
    const struct cps_fw_part *part = NULL;
    const struct cps_fw *fw = play_part(play->fw, play->me, who, &part);
    if (fw)
        cps_fw_place_put_(fw, part, play->names[who], pc, running, out);
}

void play_function(void *play, unsigned who, uint32_t pc, struct cps_buf *out)
{
    CPS_BUF name = {0};
    play_place(play, who, pc, CPS_FW_NO_PACKET, &name);
    if (!strchr(cps_buf_text(&name), '+'))
        cps_buf_join(out, &name);
    out->failed = out->failed || name.failed;
}

/* "at 0x0158: ..." of the emulator, which has no names, becomes "at 0x0158 (CP_NOP+0x2): ...". */
void play_explain(const struct play *play, struct cps_engine *engine, enum cps_stop stop,
                  struct cps_buf *out)
{
    const struct cps_afuc *afuc = cps_afuc_of(engine);
    CPS_BUF why = {0};
    unsigned core = 0;
    cps_engine_explain(engine, stop, &why);
    const char *text = cps_buf_text(&why);
    const char *colon = afuc ? strstr(text, ": ") : NULL;
    out->failed = out->failed || why.failed;
    if (colon) {
        cps_afuc_trouble(afuc, &core);
        cps_buf_add(out, text, (size_t)(colon - text));
        cps_buf_str(out, " (");
        play_place(play, engine->who[core], cps_engine_where(engine, core).pc,
                   cps_fw_header_packet_(cps_afuc_header(afuc, core, 0)), out);
        cps_buf_str(out, ")");
    }
    cps_buf_str(out, colon ? colon : text);
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
