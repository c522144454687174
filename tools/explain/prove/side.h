/* SPDX-License-Identifier: MIT
 * A run of one revision's code over terms. What the rest of the GPU sees of it are its effects;
 * what it hears back are unknown words, which are the same in both revisions as long as all effects
 * before them are. Private to tools/explain/prove/. */
#ifndef CPS_PROVE_SIDE_H
#define CPS_PROVE_SIDE_H

#include "tools/explain/prove/code.h"
#include "tools/explain/prove/smt.h"

/** What the rest of the GPU sees. All effects of a run are in order, and each has its place among
 * the words that the run has taken from its queues: two runs do the same only if both agree. */
enum effect_kind {
    EFFECT_REGISTER, /**< selected, where, value: $data written to a GPU register */
    EFFECT_SELECT,   /**< $addr or $usraddr, value: where addressing a register does something */
    EFFECT_CWRITE,   /**< number, value, more values */
    EFFECT_CREAD,    /**< number, and what the register may show of the processor itself */
    EFFECT_STORE,    /**< operation, offset, value */
    EFFECT_LOAD,     /**< operation, offset */
    EFFECT_SECURE,   /**< mode */
    EFFECT_POLL,     /**< number, which loop, the registers that it looks at: a control register is
                        read until it has a value */
    EFFECT_BULK,     /**< an instruction that repeats itself as often as an unknown $rem says */
    EFFECT_DISPATCH, /**< the packet is over: words from here on are the next one's */
    EFFECT_KINDS,
};
const char *effect_name(enum effect_kind kind);

#define EFFECT_WORDS 12u

/** Sources of words that a run hears. The first ones are queues, which have an order. */
enum channel {
    FROM_DATA,
    FROM_MEMDATA,
    FROM_REGDATA,
    QUEUES,
    FROM_CONTROL = QUEUES,
    FROM_MEMORY,
    FROM_SECURE,
    CHANNELS
};

struct effect {
    uint8_t kind;
    uint8_t count;
    uint32_t pc;
    uint32_t taken[QUEUES];     /**< words of each queue before it */
    const struct afuc_uop *uop; /**< of EFFECT_BULK */
    Z3_ast word[EFFECT_WORDS];
};

/** What word @p index of an effect is: "address". */
const char *effect_word_name(enum effect_kind kind, unsigned index);
/** Whether two effects can be the same one: of one kind, at one place among the words taken.
 * @param ret  gets what is not, as text */
bool effect_fits(const struct effect *a, const struct effect *b, char *ret, size_t size);

/** A control register that a run has written. */
struct kept {
    uint32_t number;
    Z3_ast value;
    const struct kept *before;
};

#define CALLS 8u
/** Words of a source that a witness has at most. */
#define WITNESS_MOST 64u

struct state {
    uint32_t pc, npc;
    Z3_ast r[R_COUNT];
    Z3_ast carry, addr, usraddr, user; /**< `user`: 1 while $data goes to $usraddr */
    Z3_ast target;                     /**< at PC_JUMP */
    Z3_ast sqe[SQE_COUNT];
    Z3_ast condition;     /**< of the branch at pc that is not decided */
    uint32_t call[CALLS]; /**< return addresses, of the old revision */
    unsigned calls;
    uint32_t heard[CHANNELS];
    uint32_t epoch; /**< how many EFFECT_BULK so far */
    unsigned effects;
    uint32_t poll; /**< where the poll began whose branch back comes next, or 0 */
    const struct kept *kept;
};

/** What is known where a handler begins, of a machine that stands there; all else is unknown. */
struct world {
    uint32_t r[32];
    uint32_t sqe[SQE_COUNT];
    uint32_t control[CONTROL_COUNT];
    bool known;
};

enum halt {
    HALT_BRANCH, /**< state.condition decides */
    HALT_CUT,
    HALT_END,  /**< pc says which end */
    HALT_LOST, /**< runner.why says why */
    HALT_BUDGET,
};

/** One revision's run; states are the caller's, copied where a run divides. */
struct runner {
    struct smt *smt;
    const struct code *code;
    unsigned side;
    const struct world *world;
    struct effect *effect;
    size_t effects;
    uint64_t steps; /**< instructions that may still run */
    const char *why;
    const char *lost;    /**< why it cannot go on behind the instruction that it is at, or NULL */
    struct kept **arena; /**< all that was kept; owned */
    size_t arena_count;
};

void runner_deinit(struct runner *runner);
/** A state of which nothing is known, where @p pc begins. */
void state_unknown(const struct smt *smt, uint32_t pc, struct state *ret);
/** Runs until something must be decided. */
enum halt runner_go(struct runner *runner, struct state *state);
/** Goes on behind HALT_BRANCH. */
void runner_branch(struct runner *runner, struct state *state, bool taken);
/** Whether the branch that is not decided is the one back of a poll, which ends at last. */
bool runner_polls(const struct runner *runner, const struct state *state);
/** Goes on from PC_JUMP, to an address of the old revision; false if this revision has none there.
 */
bool runner_jump(const struct runner *runner, struct state *state, uint32_t old);

/* ---- What the parts of a run share: side.c operands and control flow, access.c what is read and
 * written ---- */

/** The next word of a source: the same unknown in both revisions. */
Z3_ast runner_heard_(struct runner *run, struct state *s, enum channel from);
/** A new effect, to which the caller adds the words. */
struct effect *runner_effect_(struct runner *run, struct state *s, enum effect_kind kind);
void runner_add_word_(struct effect *effect, Z3_ast word);
/** The value of operand @p number of an instruction. */
Z3_ast runner_source_(struct runner *run, struct state *s, const struct afuc_uop *uop,
                      unsigned number);
/** @p a + @p b; @p a & @p mask. */
Z3_ast runner_plus_(struct runner *run, Z3_ast a, uint32_t b);
Z3_ast runner_masked_(struct runner *run, Z3_ast a, uint32_t mask);

/** Which poll begins at a place: its number in code.poll + 1; 0: none, also where the machine is
 * known, whose loops turn. */
unsigned runner_poll_(const struct runner *run, uint32_t pc);
/** The value that ends a poll. */
Z3_ast runner_poll_value_(struct runner *run, struct state *s, Z3_ast at, unsigned id);
void runner_control_write_(struct runner *run, struct state *s, const struct afuc_uop *uop);
Z3_ast runner_control_read_(struct runner *run, struct state *s, const struct afuc_uop *uop);
void runner_store_(struct runner *run, struct state *s, const struct afuc_uop *uop);
Z3_ast runner_load_(struct runner *run, struct state *s, const struct afuc_uop *uop);
/** SQE registers are storage. @return false for what is not followed */
bool runner_sqe_write_(struct runner *run, struct state *s, const struct afuc_uop *uop);
bool runner_sqe_read_(struct runner *run, struct state *s, const struct afuc_uop *uop, Z3_ast *ret);

#endif
