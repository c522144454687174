/* SPDX-License-Identifier: MIT
 * Compares the packet handlers of two firmware revisions by what they do with any packet, in any
 * state: `cpscope prove`.
 *
 *   smt.c      terms and the solver
 *   meaning.c  rows of isa/afuc.def as terms
 *   code.c     both revisions decoded and aligned; scratch.c which of their variables correspond;
 *              data.c words that are no code; live.c what registers are still needed
 *   side.c     one revision's run over terms; access.c what it reads and writes
 *   joint.c    both runs side by side; effect.c what they have to agree in; sources.c where the
 * words come from that they hear prove.c    places that are equal from there on, and what follows
 * for handlers stage.c    both revisions in the emulator, where a handler begins; compare.c what
 * they do witness.c  a difference as PM4 text, run on both revisions hunt.c     random streams
 * where the solver's show nothing crosscheck.c  verdicts tried by execution; twins.c both machines
 * side by side task.c     handlers as tasks with results; pool.c runs them; kept.c keeps what came
 * of them; results.c shows them */
#ifndef CPS_PROVE_H
#define CPS_PROVE_H

#include "fw/fw.h"
#include "tools/explain/prove/joint.h"

enum verdict {
    VERDICT_SAME_CODE, /**< all that it can reach is the same code */
    VERDICT_EQUAL,     /**< on all paths, in all states */
    VERDICT_WAITS,     /**< equal, but one waits for what the other does not: `why` */
    VERDICT_BOUNDED,   /**< on paths that go round each loop at most so many times */
    VERDICT_DIFFERENT,
    VERDICT_UNDECIDED,
    VERDICT_COUNT,
};
const char *verdict_name(enum verdict verdict);

/** In place of a packet: what runs from the processor's start to its first packet. */
#define PROVE_BOOTSTRAP CPS_FW_TABLE_SIZE

struct prove_handler {
    uint8_t id[CPS_FW_TABLE_SIZE]; /**< packets that it is the handler of */
    unsigned ids;
    uint32_t pc[2];
    bool put_in, taken_out; /**< the other revision has only the handler of unknown packets */
    bool alone;             /**< the other one has nothing there at all */
    enum verdict verdict;
    unsigned bound; /**< VERDICT_BOUNDED: turns of a loop */
    char why[200];  /**< VERDICT_UNDECIDED: the reason; VERDICT_DIFFERENT: how */
    bool has_difference;
    struct difference difference;
};

struct prove_part {
    struct code code;
    struct prove_handler *handler; /**< owned */
    size_t handlers;
    uint32_t *proven; /**< by dword of the old revision: PROVEN_*; owned */
};

static inline bool prove_is_bootstrap(const struct prove_handler *handler)
{
    return handler->id[0] == PROVE_BOOTSTRAP;
}

/** Decodes and aligns part @p part of both, and lists the handlers. The caller calls
 * prove_part_deinit() in any case. */
CPS_MUST_USE struct cps_err *prove_part_init(const struct cps_fw *old, const struct cps_fw *new,
                                             unsigned part, struct prove_part *ret);
void prove_part_deinit(struct prove_part *part);
/** Finds the places from which on all is equal, which needs no handler to be followed through. */
void prove_places(struct prove_part *part);
/** The verdict of a handler, after prove_places(). */
void prove_handler(const struct prove_part *part, struct prove_handler *handler);
/** Whether all that a handler, which both have, can reach is the same code. */
bool prove_same_code(const struct prove_part *part, const struct prove_handler *handler);
/** Whether a handler may read data of its image, and that differs: no proof about its code says
 * what it does. Of the bootstrap also whether the image's first two words do. */
bool prove_depends_on_data(const struct prove_part *part, const struct prove_handler *handler);
/** Appends the constants of a handler that its verdict takes for the same address, in the order of
 * the old revision's code. */
void prove_moved(const struct prove_part *part, const struct prove_handler *handler,
                 struct cps_buf *out);

#endif
