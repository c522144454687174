/* SPDX-License-Identifier: MIT
 * The groups of a comparison, for replay.c. Each adds its rows to the replay, whose engine stands
 * where the hardware stood. */
#ifndef CPS_PLAY_COMPARE_H
#define CPS_PLAY_COMPARE_H

#include "tools/run/replay.h"

/** processor.c: the processor's own registers, positions and scratch. */
void compare_processor(struct replay *replay);
/** fetched.c: the words in CP_ROQ. */
void compare_fetched(struct replay *replay);
/** queued.c: the writes in CP_MEMPOOL; finds out how far each queue was read. */
void compare_queued(struct replay *replay);
/** registers.c: the sections `clusters` and `registers`. */
void compare_banks(struct replay *replay);
void compare_registers(struct replay *replay);
/** draw_state.c: CP_DRAW_STATE. */
void compare_draw_state(struct replay *replay);

/** fetched.c: "ring", "ib1", "ib2" or "sds", in names of rows. */
const char *fetched_level(uint32_t level);
/** How many fetches of a level wait, with the one that is read; 0: nothing is read there. Registers
 * name the last of them, which is being filled. */
unsigned fetched_count(const struct replay *replay, uint32_t level);
/**
 * How many dwords further the emulated processor has read the streams of a level than the words
 * that wait in CP_ROQ say of the hardware.
 * @return false if the dump does not say or cannot be right, or nothing is read at this level
 */
bool fetched_ahead(const struct replay *replay, uint32_t level, int64_t *ret);

#endif
