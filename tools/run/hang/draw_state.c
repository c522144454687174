/* SPDX-License-Identifier: MIT
 * CP_DRAW_STATE: 32 groups of 8 dwords (H: base lo and hi, header with the modes; the dwords behind
 * them are of the fetch in progress, and repeat). */
#include "emu/afuc/afuc.h"
#include "tools/run/hang/compare.h"

enum { GROUPS = 32, GROUP_WORDS = 8 };

static void compare_group(struct replay *r, const struct dump_block *block, unsigned group)
{
    static const char *const words[] = {"base.lo", "base.hi", "header"};
    struct cps_draw_group here = cps_afuc_draw_group(cps_afuc_of(r->play->engine), 0, group);
    const uint32_t emulated[] = {(uint32_t)here.iova, (uint32_t)(here.iova >> 32), here.header};
    for (unsigned i = 0; i < 3; i++) {
        uint32_t hardware = dump_word(block, (size_t)group * GROUP_WORDS + i);
        bool older = !r->from_boot && !emulated[i];
        enum replay_verdict verdict = !block->count             ? REPLAY_NO_VALUE
                                      : hardware == emulated[i] ? REPLAY_EQUAL
                                      : older                   ? REPLAY_OLDER
                                                                : REPLAY_DIFFERENT;
        const char *why =
            block->count ? NULL : "the dump has no word of the block: zeros, or not read";
        rows_add(&r->rows, REPLAY_DRAW_STATE, verdict, hardware, emulated[i], why, "group%u.%s",
                 group, words[i]);
    }
}

void compare_draw_state(struct replay *r)
{
    const struct dump_block *block = dump_block(r->dump, "CP_DRAW_STATE");
    for (unsigned group = 0; block && group < GROUPS; group++)
        compare_group(r, block, group);
}
