/* SPDX-License-Identifier: MIT
 * Compares the packet handlers of two firmware revisions by what they do with any packet, in any
 * state: the part of `cpscope prove` that runs code over terms of a solver. task.h has the part
 * that runs both revisions in the emulator.
 *
 *   smt.c      terms and the solver
 *   meaning.c  expressions of isa/afuc.def as terms
 *   code.c     both revisions decoded and aligned; scratch.c which of their variables correspond;
 *              data.c words that are no code; poll.c loops that wait; live.c registers still needed
 *   side.c     one revision's run over terms; access.c what it reads and writes
 *   joint.c    both runs side by side; effect.c what they have to agree in; sources.c where the
 *              words come from that they read
 *   prove.c    places that are equal from there on, and what follows for handlers */
#ifndef CPS_PROVE_H
#define CPS_PROVE_H

#include "emu/afuc/core/act.h"
#include "emu/afuc/core/machine.h"
#include "fw/fw.h"
#include "fw/image/pairs.h"
#include "tools/explain/prove/smt.h"

/* ---- The code of one processor in both revisions ---- */

/** Numbers of dwords that are none: where a run goes that leaves the code. */
enum {
    PC_END = 0x7fffffff,  /**< after waitin: the handler is over */
    PC_RET = 0x7ffffffe,  /**< ret to a caller that the run has not seen */
    PC_JUMP = 0x7ffffffd, /**< to the address in a register */
    PC_IRET = 0x7ffffffc,
    PC_SPIN = 0x7ffffffb, /**< a jump to itself, without end: how firmware reports an error */
    PC_LAST = 0x70000000, /**< this and all above are none */
    /** Marks the address of a word of the new revision that the old one does not have. */
    PC_ALONE = 0x40000000,
};

/** Registers and flags that a place may still need, as bits: 0 to 31 general ones. */
#define LIVE_CARRY (UINT64_C(1) << 32)
#define LIVE_ADDR  (UINT64_C(1) << 33) /* where $data goes */

/** A constant that is another one in the other revision because the code moved. */
struct moved {
    uint32_t at[2];
    uint32_t value[2];
};

/** A constant that may be an address, in both revisions; CPS_FW_ALONE: one lacks it. */
struct constant {
    uint32_t value[2];
};

/** A loop that only waits for a value of a control register. */
struct poll {
    const struct code_side *side;
    uint32_t at;    /**< of the read, or of a branch to itself that reads in its delay slot */
    uint32_t size;  /**< dwords, with the delay slot of the branch back */
    uint64_t reads; /**< general registers that a turn reads and none writes, as bits */
};
#define MOST_POLLS 4000u
#define POLL_READS 4u /**< most of them */

struct code_side {
    const struct cps_fw *fw;
    const struct cps_fw_part *part;
    struct afuc_image *image; /**< in the new one, constants that are addresses are the old ones */
    uint32_t count;
    const uint32_t *partner;
    bool *cut;        /**< by dword: runs may be compared here */
    bool *is_code;    /**< by dword: a handler, or the boot, reaches it */
    bool *names_base; /**< by dword: it names a register that holds the image's base */
    uint64_t *live;   /**< by dword */
    uint16_t *poll;   /**< by dword: 1 + number of the poll that begins there, in code.poll; or 0 */
    uint64_t live_at_end, live_at_return;
    uint32_t selected, peek_switch; /**< control registers: the first shows $addr and $usraddr, the
                                       second makes $data a peek */
    uint32_t table[CPS_FW_TABLE_SIZE];
    uint64_t reads[CPS_FW_TABLE_SIZE]; /**< by packet: what its handler may read of what the packet
                                          before left; not of preemption, which keeps all */
};

/** All owned. */
struct code {
    struct code_side side[2];
    struct cps_fw_pairs pairs;
    bool *same;         /**< by dword of the old one: its partner is the same instruction */
    uint16_t *scratch;  /**< by number in the new one: what a control register is in the old one; a
                           bijection, which moves private registers only */
    bool *voted;        /**< by the same: instructions show it; else the rest in any order */
    bool renumbered;    /**< it is not the identity */
    struct {            /**< words that differ and are no code which a handler can reach */
        uint32_t *word; /**< place in the old revision; PC_ALONE: in the new one only */
        size_t words;
        char digest[65]; /**< of all of them, with both values */
    } data;
    struct moved *moved;
    size_t moved_count;
    struct constant *constant;
    size_t constants;
    struct poll *poll; /**< different ones */
    size_t poll_count;
};

/** Decodes and aligns. @p part  index in both; the caller calls code_deinit() in any case. */
CPS_MUST_USE struct cps_err *code_init(const struct cps_fw *old, const struct cps_fw *new,
                                       unsigned part, struct code *ret);
void code_deinit(struct code *code);
/** Whether the word after it runs before it branches. */
bool code_has_slot(const struct afuc_row *row);
/** Whether the delay slot of the instruction at @p at branches itself, but for a branch in the slot
 * of a branch, which all images have: that is not followed. */
bool code_slot_branches(const struct code_side *side, uint32_t at);
/** Where an instruction leads, after its delay slot if it has one. */
struct code_ways {
    bool target, next; /**< to uop.target; past the delay slot, or to the next word */
    bool call;         /**< the target returns to what is next */
    bool back;         /**< to an open call's return address */
    bool end;          /**< to the next packet, as the preemption routine, which gave all back */
    bool somewhere;    /**< to the address in a register */
    bool skip;         /**< past a word and that word's slot */
};
struct code_ways code_ways(const struct afuc_row *row);
/** Whether it goes to a constant address: afuc_uop.target. */
bool code_names_target(const struct afuc_row *row);
/** Whether its immediate may be an address of the image. */
bool code_may_address(const struct afuc_uop *uop);
/** Whether two instructions are the same but for the immediate. */
bool code_same(const struct afuc_uop *a, const struct afuc_uop *b);
/** The address in the new revision of what the old one has at @p pc, and back. Addresses that a run
 * keeps are those of the old revision. */
uint32_t code_to_new(const struct code *code, uint32_t pc);
uint32_t code_to_old(const struct code *code, uint32_t pc);
/** Whether a register that holds @p old, an address of the old revision, leads to the same code in
 * both: a return address does, and a constant, or a sum with one, if the code has moved as it has.
 */
bool code_may_jump(const struct code *code, uint32_t old);
/** Marks in @p ret, by dword, the words that code reaches from some places. */
void code_reach(const struct code_side *side, const uint32_t *pc, unsigned count, bool *ret);
/** Whether code at @p pc of a side may read words of its own image, or pass their address on: it
 * names a register that holds the image's base. */
bool code_reads_image(const struct code_side *side, uint32_t pc);
/** The first number of a row of ctrl.def, by its id; 0xffff where the layout lacks it. */
uint32_t code_control(enum cps_layout layout, const char *id);
/** Parts of code_init(), one file each. */
void code_scratch(struct code *code);
void code_data(struct code *code);
void code_polls(struct code *code);
void code_live(struct code_side *side);
/** Registers that the instruction at @p at reads, and those that it always writes. */
void code_uses(const struct code_side *side, uint32_t at, uint64_t *reads, uint64_t *writes);

/* ---- A run of one revision's code over terms. The rest of the GPU sees its effects; the words
 * that it reads are unknown, and the same in both revisions as long as all effects before them are
 * ---- */

/** All effects of a run are in order, and each has its place among the words that the run has taken
 * from its queues: two runs do the same only if both agree. */
enum effect_kind {
    EFFECT_REGISTER, /**< selected, address, value: $data written to a GPU register */
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
#define EFFECT_WORDS 12u

/** Sources of words that a run reads. The first ones are queues, which have an order. */
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

const char *effect_name(enum effect_kind kind);
/** The name of word @p index of an effect: "address". */
const char *effect_word_name(enum effect_kind kind, unsigned index);
/** Whether two effects can be the same one: of one kind, at one place among the words taken.
 * @param ret  gets the difference, as text */
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
    uint32_t epoch; /**< EFFECT_BULKs so far */
    unsigned effects;
    uint32_t poll; /**< address of the poll whose branch back comes next, or 0 */
    const struct kept *kept;
};

/** The state of a machine where a handler begins; all else is unknown. */
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
    const char *lost;    /**< why it cannot go on after this instruction, or NULL */
    struct kept **arena; /**< all that was kept; owned */
    size_t arena_count;
};

void runner_deinit(struct runner *runner);
/** A state of which nothing is known, where @p pc begins. */
void state_unknown(const struct smt *smt, uint32_t pc, struct state *ret);
/** Runs until something must be decided. */
enum halt runner_go(struct runner *runner, struct state *state);
/** Goes on after HALT_BRANCH. */
void runner_branch(struct runner *runner, struct state *state, bool taken);
/** Whether the branch that is not decided is the one back of a poll, which always ends. */
bool runner_polls(const struct runner *runner, const struct state *state);
/** Goes on from PC_JUMP, to an address of the old revision; false if this revision has none there.
 */
bool runner_jump(const struct runner *runner, struct state *state, uint32_t old);

/* Shared by side.c and access.c. */

/** The next word of a source: the same unknown in both revisions. */
Z3_ast runner_heard_(struct runner *run, struct state *s, enum channel from);
/** A new effect, to which the caller adds the words. */
struct effect *runner_effect_(struct runner *run, struct state *s, enum effect_kind kind);
void runner_add_word_(struct effect *effect, Z3_ast word);
/** The value of register operand @p number of an instruction. */
Z3_ast runner_source_(struct runner *run, struct state *s, const struct afuc_uop *uop,
                      unsigned number);
/** @p a + @p b; @p a & @p mask. */
Z3_ast runner_plus_(struct runner *run, Z3_ast a, uint32_t b);
Z3_ast runner_masked_(struct runner *run, Z3_ast a, uint32_t mask);
/** The poll that begins at a place: its number in code.poll + 1; 0: none, also where the machine is
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

/* ---- Both revisions side by side over the same unknown words, along every path, until they differ
 * or come to the same place in the same state again ---- */

/** The result of a comparison. */
enum verdict {
    VERDICT_SAME_CODE, /**< all that it can reach is the same code; only of handlers */
    VERDICT_EQUAL,     /**< on all paths, in all states */
    VERDICT_WAITS,     /**< equal, but one waits where the other does not */
    VERDICT_BOUNDED,   /**< on paths that go through each loop at most so many times */
    VERDICT_DIFFERENT,
    VERDICT_UNDECIDED,
    VERDICT_COUNT,
};
const char *verdict_name(enum verdict verdict);

/** The first difference of a path, and words with which that path is taken. */
struct difference {
    char text[192];
    uint64_t left;               /**< as LIVE_*: what both leave another value in, or 0 */
    uint32_t r[32];              /**< where the handler begins */
    uint32_t data[WITNESS_MOST]; /**< from the stream */
    uint32_t data_count;
    uint32_t regdata[WITNESS_MOST], regdata_count;
    uint32_t memdata[WITNESS_MOST], memdata_count;
    uint32_t control[WITNESS_MOST], control_count;
    uint32_t loaded[WITNESS_MOST], loaded_count;
    /* Sources of those words: numbers of registers, addresses of memory. */
    uint32_t control_at[WITNESS_MOST], regdata_at[WITNESS_MOST];
    uint64_t memdata_at[WITNESS_MOST], loaded_at[WITNESS_MOST];
};

/** What is known of a place: nothing; that all is equal from there on; or that all is equal but for
 * a poll that only revision `side` has at `pc`, of which this is one. */
#define PROVEN_NOT             0u
#define PROVEN_EQUAL           1u
#define PROVEN_WAITS(side, pc) (2u + ((uint32_t)(side) << 30 | (pc)))
static inline uint32_t proven_pc(uint32_t proven)
{
    return (proven - 2) & 0x3fffffff;
}
static inline unsigned proven_side(uint32_t proven)
{
    return (proven - 2) >> 30;
}

/** Polls that are noted of one comparison. */
#define WAITS_MOST 4u

struct joint {
    struct smt smt;
    const struct code *code;
    struct runner run[2];
    const uint32_t *proven; /**< by dword of the old revision: PROVEN_*; NULL: nothing is known */
    const bool *refused;    /**< by the same: places that are not taken for equal; or NULL */
    bool follow;            /**< paths keep what they know, loops end after `bound` turns */
    unsigned bound;         /**< turns of a loop */
    unsigned most_paths;    /**< then it is undecided */
    uint64_t most_queries;  /**< the same, of the solver */
    uint64_t most_steps;    /**< the same, of instructions of each revision */
    /** With `follow`: paths end where as many before them have been at the same place of both,
     * which finds differences soon, but proves nothing: joint.pruned. 0: they do not. */
    unsigned most_visits;
    /** Gets differences; true: enough. NULL: the first is enough. */
    bool (*found)(void *context, const struct difference *difference);
    void *context;
    /* Results. */
    struct {
        uint32_t pc[WAITS_MOST];
        unsigned side[WAITS_MOST];
        unsigned count;
    } waits; /**< polls that only one revision has */
    enum verdict verdict;
    struct difference difference;
    const char *why; /**< of VERDICT_UNDECIDED */
    uint32_t *child; /**< places of the old revision at which both were equal; owned */
    size_t children;
    unsigned paths;
    bool pruned; /**< a path was left because of `most_visits` */
    bool stop;
    uint16_t *visits; /**< by dword of the old revision; owned */
};

void joint_init(const struct code *code, unsigned effort, struct joint *ret);
void joint_deinit(struct joint *joint);
/** Compares from two places of the old and the new revision, in equal states.
 * @param start  the states; NULL: of which nothing is known but the invariants */
void joint_compare(struct joint *joint, uint32_t old, uint32_t new, const struct state start[2]);
/** Takes from a model the state where the handler begins, the words that it reads, and their
 * sources. What a repetition reads is not followed. */
void joint_take_model(const struct joint *joint, const struct state *state, unsigned side,
                      const struct smt_model *model, struct difference *ret);
/** Asserts what holds wherever a handler begins: invariant.def. */
void joint_assert_invariants(const struct joint *j, const struct state *s);

/** A pair of terms that both revisions leave to later code, with a name for people. */
struct left {
    char name[24];
    uint64_t bit; /**< as LIVE_*; of SQE registers 0 */
    Z3_ast word[2];
};
#define MOST_LEFT (32u + 4u + SQE_COUNT)

/** The pairs of two states, @p s, that later code may read: @p live as LIVE_*.
 * @return how many of @p ret, which has room for MOST_LEFT */
unsigned left_words(const struct state *s, uint64_t live, struct left *ret);
/** What is live after an end, one of PC_*. */
uint64_t left_live(const struct code_side *side, uint32_t pc);

/* ---- Handlers ---- */

/** In place of a packet: what runs from the processor's start to its first packet. */
#define PROVE_BOOTSTRAP CPS_FW_TABLE_SIZE

struct prove_handler {
    uint8_t id[CPS_FW_TABLE_SIZE]; /**< packets that it is the handler of */
    unsigned ids;
    uint32_t pc[2];
    bool added, removed; /**< the other revision has only the handler of unknown packets */
    bool alone;          /**< the other one has nothing there at all */
    enum verdict verdict;
    unsigned bound; /**< VERDICT_BOUNDED: turns of a loop */
    char why[200];  /**< VERDICT_UNDECIDED: the reason; VERDICT_DIFFERENT: the difference */
    bool has_difference;
    struct difference difference;
};

struct prove_part {
    struct code code;
    struct prove_handler *handler; /**< owned */
    size_t handlers;
    uint32_t *proven; /**< by dword of the old revision: PROVEN_*; owned */
};

/** Whether a handler, which both have, begins at a place of both. */
static inline bool prove_is_aligned(const struct prove_part *part,
                                    const struct prove_handler *handler)
{
    return !handler->alone && part->code.pairs.partner[0][handler->pc[0]] == handler->pc[1];
}

static inline bool prove_is_bootstrap(const struct prove_handler *handler)
{
    return handler->id[0] == PROVE_BOOTSTRAP;
}

/** Decodes and aligns part @p part of both, and lists the handlers. The caller calls
 * prove_part_deinit() in any case. */
CPS_MUST_USE struct cps_err *prove_part_init(const struct cps_fw *old, const struct cps_fw *new,
                                             unsigned part, struct prove_part *ret);
void prove_part_deinit(struct prove_part *part);
/** Finds the places from which on all is equal. */
void prove_places(struct prove_part *part);
/** The verdict of a handler, after prove_places(). */
void prove_handler(const struct prove_part *part, struct prove_handler *handler);
/** Whether all that a handler, which both have, can reach is the same code. */
bool prove_same_code(const struct prove_part *part, const struct prove_handler *handler);
/** Whether a handler may read data of its image that differs: no proof about its code covers that.
 * Of the bootstrap also whether the image's first two words differ. */
bool prove_depends_on_data(const struct prove_part *part, const struct prove_handler *handler);
/** Appends the constants of a handler that its verdict takes for the same address, in the order of
 * the old revision's code. */
void prove_moved(const struct prove_part *part, const struct prove_handler *handler,
                 struct cps_buf *out);

#endif
