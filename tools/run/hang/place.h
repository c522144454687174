/* SPDX-License-Identifier: MIT
 * Where in a replay the hardware stood: the packet with its headers, at its level, with the words
 * in front of the read position of CP_ROQ consumed and those behind it to come; in it, the
 * instruction of its program counter. */
#ifndef CPS_PLAY_PLACE_H
#define CPS_PLAY_PLACE_H

#include "emu/engine.h"
#include "tools/run/hang/roq.h"

struct code;

/** What says which instruction of the packet it is. */
enum hang_by {
    HANG_NOWHERE,   /**< no packet of the replay has what the dump shows */
    HANG_BY_PC,     /**< the firmware is the dump's: its program counter */
    HANG_BY_LINE,   /**< another firmware: where it has the code of the dump's cache line */
    HANG_BY_PACKET, /**< neither is reached: the last instruction of the packet */
    HANG_BY_ITSELF, /**< the firmware ends there by itself */
};

/** What to look for. */
struct hang_sought {
    const struct dump_block *stat; /**< CP_SQE_STAT */
    uint32_t level;                /**< as it counts them */
    struct roq roq;
    bool pc_known; /**< `pc` is a place of the firmware that runs */
    enum hang_by by;
    uint32_t pc;
    bool quick; /**< the first place with the best rank is enough: candidates are not counted */
};

/** How well a packet agrees, a bit each; the more a higher bit says. */
enum hang_rank {
    HANG_RANK_PC = 1,       /**< the program counter is reached in it */
    HANG_RANK_IB1 = 2,      /**< the words of the IB1 that called its stream, if one did */
    HANG_RANK_IB2 = 4,      /**< those of the IB2 */
    HANG_RANK_WORDS = 8,    /**< the words of its stream */
    HANG_RANK_HEADERS = 16, /**< the three headers, and the level */
    HANG_RANK_BEST = 31,
};

struct hang_place {
    enum hang_by by;
    unsigned rank;       /**< enum hang_rank; 0: nowhere */
    uint64_t tick;       /**< of the engine, when it stands there; 0: where a whole run ends */
    bool no_words;       /**< the dump has no queue to compare its words with */
    unsigned candidates; /**< packets that agree as well, but for the program counter */
    uint64_t packet;     /**< dispatched before it, as the engine counts them */
};

/** Prepares the search. @p fw  that runs; @p same  it is the dump's own, or recovered from it;
 * @p code  what the dump holds of its firmware, or NULL */
struct cps_fw;
void hang_seek(const struct dump *dump, const struct cps_fw *fw, const struct code *code, bool same,
               struct hang_sought *ret);
/** Looks through all that @p engine would run, to its end or @p limit instructions; @p engine
 * itself stays where it is. @return NULL or CPS_ERR_NOMEM */
CPS_MUST_USE struct cps_err *hang_find(const struct hang_sought *sought, struct cps_engine *engine,
                                       uint64_t limit, struct hang_place *ret);
/** Appends what there is to say of a place, for people. */
void hang_place_text(const struct hang_place *place, struct cps_buf *out);

/** Levels as CP_SQE_STAT counts them, as those of events. */
static inline unsigned hang_event_level(uint32_t level)
{
    static const uint8_t levels[] = {CPS_LEVEL_RB, CPS_LEVEL_IB1, CPS_LEVEL_IB2, CPS_LEVEL_SDS};
    return levels[level & 3];
}

#endif
