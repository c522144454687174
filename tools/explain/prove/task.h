/* SPDX-License-Identifier: MIT
 * `cpscope prove` over both revisions in the emulator: streams that bring a packet to a handler,
 * differences that they show, verdicts tested by execution, and the handlers as tasks with results.
 *
 *   stage.c       both revisions booted, where a handler begins; compare.c what they do
 *   witness.c     a difference as PM4 text, run on both revisions; hunt.c random streams where the
 *                 solver's show nothing
 *   crosscheck.c  verdicts tested by execution; twins.c both machines side by side
 *   task.c        handlers as tasks; pool.c runs them; kept.c stores results; results.c prints them
 */
#ifndef CPS_PROVE_TASK_H
#define CPS_PROVE_TASK_H

#include "tools/explain/prove/prove.h"
#include "tools/run/record.h"
#include "trace/form/diff.h"
#include "trace/out/json.h"

/* ---- Streams ---- */

/** The place where a stream puts a packet. */
enum place_at { AT_IB1, AT_IB2, AT_IB3, AT_GROUP, AT_RING, PLACES };
/** "IB1", "a draw-state group": for people. */
const char *stage_place(enum place_at place);

/** What a stream does before its packet: registers and words of memory. */
#define SETUP_MOST 16u
struct stage_setup {
    uint32_t reg[SETUP_MOST], reg_value[SETUP_MOST];
    unsigned regs;
    uint64_t mem[SETUP_MOST]; /**< addresses */
    uint32_t mem_value[SETUP_MOST];
    unsigned mems;
};

/** A packet with its payload. */
struct stage_packet {
    uint8_t id; /**< as the packet table has it: 4 is type 4 */
    uint32_t count;
    uint32_t word[WITNESS_MOST];
    struct stage_setup setup;
    uint8_t next;       /**< a packet after it, 0: none, */
    uint8_t next_count; /**< and how many words it has, all 1 */
};
/** Takes into `setup` what a difference read from registers and memory; words that are where
 * streams are, and a second value for the same place, are left out. */
void stage_set_up(struct stage_packet *packet, const struct difference *difference);
uint32_t stage_header(const struct stage_packet *packet);

/** A packet in a stream: its header and, except in the ring, its address. */
struct stage_mark {
    uint32_t header;
    uint64_t iova;   /**< 0: any */
    char inject[24]; /**< the stream's --inject; "": nothing */
};
bool stage_is_marked(const struct stage_mark *mark, const struct cps_event *event);
struct stage_mark stage_mark(enum cps_processor who, enum place_at place,
                             const struct stage_packet *packet);
/** The chip that streams are for. */
struct cps_item stage_chip(enum cps_gen gen);
/** Appends the first lines of PM4 text. */
void stage_head(enum cps_gen gen, struct cps_buf *out);
/** Appends the stream as PM4 text. */
void stage_text(enum cps_gen gen, enum cps_processor who, enum place_at place,
                const struct stage_packet *packet, struct cps_buf *out);

/* ---- Both revisions, booted ---- */

#define STAGE_PATH 4096

struct stage {
    const struct cps_run_config *config;
    struct cps_fw *fw[2];
    const char *path[2];
    char partner[STAGE_PATH]; /**< the other processor's file of a5xx; "": there is none */
    struct record_boot boot[2];
    struct cps_mask mask;
    struct cps_names *names[CPS_CPU_COUNT];
    uint32_t kinds;
};

/** Boots both. @return an error if one does not come through its boot. The caller calls
 * stage_deinit() in any case */
CPS_MUST_USE struct cps_err *stage_init(const struct cps_run_config *config, struct stage *ret);
void stage_deinit(struct stage *stage);
/** Boots one side. @param inject  as `--inject` has it; or NULL @param ret  unbooted if the partner
 * is missing; the caller calls record_boot_deinit() */
CPS_MUST_USE struct cps_err *stage_boot(const struct stage *stage, unsigned side,
                                        const char *inject, struct record_boot *ret);
/** The value of `--fw` for a run of one side. */
void stage_firmware(const struct stage *stage, unsigned side, const char *ret[2]);
/** The state of core @p who of side @p side when it begins with the packet's handler.
 * @param ret  gets whether it ever does: ret->known
 * @return NULL, or an error of the stream's reader */
CPS_MUST_USE struct cps_err *stage_world(const struct stage *stage, unsigned side,
                                         enum cps_processor who, uint32_t pc, enum place_at place,
                                         const struct stage_packet *packet, struct world *ret);
/** A register of a core; 0: there is none. */
uint32_t stage_value(const struct play *play, unsigned core, char file, uint32_t number);
/** A packet's handler on a processor, which is waited for. */
struct stage_watch {
    struct cps_sink sink; /**< first */
    struct stage_mark mark;
    enum cps_processor who;
    uint32_t pc;
    uint32_t most_ticks; /**< until the handler begins */
    struct world *world; /**< gets the state where the handler begins; known: it has begun */
    /** Called there; then the rest of the stream runs. NULL: that is all. */
    void (*begun)(struct stage_watch *watch);
    uint32_t ticks_after; /**< for each submission from there on */
    /* While it runs, and after it: */
    bool seen; /**< the packet was dispatched */
    struct play *play;
    unsigned core;
    enum cps_stop stop;
};
/** Runs a stream on one side, which does nothing unless it has booted. Members up to `ticks_after`
 * are set. */
CPS_MUST_USE struct cps_err *stage_play(const struct stage *stage, unsigned side,
                                        const struct cps_buf *text, struct stage_watch *watch);

/* ---- What both do: compare.c ---- */

/** Words that a switch of contexts stores and that differ whatever ran before it: return addresses,
 * and variables that revisions keep in other places. */
#define STAGE_CONTEXT 256u
struct stage_context {
    uint64_t address[STAGE_CONTEXT];
    unsigned count;
};
/** Finds them, with packets that do nothing. */
CPS_MUST_USE struct cps_err *stage_context(const struct stage *stage, const char *inject,
                                           struct stage_context *ret);
/** The next event of some kinds; *at becomes the place after it. @param who  CPS_CPU_COUNT: of any
 * processor @return NULL: there is none */
struct cps_event *stage_next(const struct record *record, unsigned who, uint32_t kinds, size_t *at);
bool stage_is_context(const struct stage_context *context, uint64_t address);
/** Gives an event of the new revision the number that its private control register has in the old
 * one. */
void stage_renumber(const struct code *code, struct cps_event *event);
/** Describes how both runs ended, if differently. @return whether they did */
bool stage_ends_differ(const struct record record[2], char *ret, size_t size);

/** The first thing that a processor of both revisions does differently with a stream, from its
 * packet on. */
struct stage_answer {
    bool different;
    bool hidden; /**< only in control registers */
    char text[200];
};
/** @param code  says what private control registers and addresses of the new revision are in the
 * old one
 * @param text  PM4 text @param mark  the packet from which on they are compared */
CPS_MUST_USE struct cps_err *stage_compare(const struct stage *stage, enum cps_processor who,
                                           const struct code *code, const struct cps_buf *text,
                                           const struct stage_mark *mark, struct stage_answer *ret);
/** The same of the boots, which both have come through. @param ret_known  gets whether the boots
 * are kept, and the processor does anything in them */
void stage_compare_boots(const struct stage *stage, enum cps_processor who, const struct code *code,
                         bool *ret_known, struct stage_answer *ret);

/* ---- Differences that the emulator shows: witness.c ---- */

struct witness {
    bool confirmed; /**< both revisions, run over it, do not do the same */
    bool hidden;    /**< but only in control registers */
    bool tried;     /**< at least one stream came to the handler */
    enum place_at place;
    struct stage_mark mark; /**< the packet that shows it */
    uint32_t word[WITNESS_MOST];
    uint32_t words;      /**< of its payload */
    struct cps_buf text; /**< the stream, as PM4 text; owned */
    char how[160];       /**< what the comparison found */
    char seen[200];      /**< the first event that differs */
};
/** Takes a stream that shows a difference in place of the one so far. @param text  becomes empty */
void witness_take(struct witness *witness, const struct stage_answer *answer, enum place_at place,
                  const struct stage_mark *mark, const char *how, struct cps_buf *text);
/**
 * Looks for a stream that shows a handler's difference: from the states in which a machine that has
 * booted begins with it at each place, with a packet of each length, both are followed over unknown
 * payload, and each difference found is run. If none shows it, a bounded random search follows.
 * @param ret  the caller releases ret->text
 */
CPS_MUST_USE struct cps_err *witness_find(const struct prove_part *part, const struct stage *stage,
                                          const struct prove_handler *handler, struct witness *ret);
/** Compares what the boots of both revisions do in the emulator; as witness_find(). */
void witness_boot(const struct prove_part *part, const struct stage *stage, struct witness *ret);
/** Runs a stream that was found for the same handlers in other images. @param witness  as results
 * have it
 * @return whether it shows a difference here; false also where it cannot be run */
bool witness_replay(const struct prove_part *part, const struct stage *stage,
                    struct json_object *witness, struct stage_answer *ret);

/** Payloads that the solver found, which the random search begins with. */
#define HUNT_HINTS 24u
struct hunt_hints {
    struct difference *list; /**< owned */
    unsigned count;
};
/**
 * Runs random streams with packets of a handler on both revisions: made by the grammar of
 * tools/explain/fuzz/ and from the hints, kept and mutated if they reach new edges of the handler.
 * The number of runs and instructions is bounded, and the result depends on nothing else. A
 * difference counts if it follows a packet of the handler, is not of the clock, and no other
 * handler can be its cause: all others that ran are equal, or it is gone if the handler's packets
 * become CP_NOP.
 * @param ret  gets a smaller stream that shows the same, if one was found
 */
CPS_MUST_USE struct cps_err *hunt_find(const struct prove_part *part, const struct stage *stage,
                                       const struct prove_handler *handler,
                                       const struct hunt_hints *hints, struct witness *ret);

/* ---- Two machines, one of each revision, that begin with the same packet in the same state:
 * twins.c ---- */

/** A value that both get where the handler begins. */
struct twins_poke {
    char file;       /**< enum cps_file_sigil */
    uint32_t number; /**< as the old revision numbers it */
    uint32_t keep;   /**< bits that stay as they are */
    uint32_t value;
};

struct twins {
    const struct stage *stage;
    const struct code *code;
    uint32_t pc[2]; /**< of the handler */
    enum cps_processor who;
    bool waits; /**< one may wait without end where the other does not */
    /** By packet: its handler certainly does the same in both; or it is the one that is tested.
     * From the first packet on that is neither, events are not compared. */
    bool steady[CPS_FW_TABLE_SIZE], tested[CPS_FW_TABLE_SIZE];
    /** By dword: code that these handlers can reach; NULL: not known. An event of other code ends
     * the comparison, too: a handler that may differ goes on where a call of its own was open. */
    bool *ours[2];
    uint32_t first[2];         /**< where handlers begin: before them is the boot */
    bool plain[CONTROL_COUNT]; /**< of the old revision: storage that is private to the firmware */
    uint16_t number[CONTROL_COUNT]; /**< its number in the new revision */
    /** Packets of the second submission before which the hardware asks for preemption, and for
     * another ring, in a run from the boot on, with the boot's state; 0: it does not. */
    uint32_t preempt, other_ring;
    struct world world[2];   /**< where the handler began */
    struct record record[2]; /**< events from there on; released by twins_deinit() */
    bool cut[2];             /**< the run went on after its last event */
};

struct twins_answer {
    bool reached; /**< both began with the handler */
    bool different;
    char text[256]; /**< the first event that differs */
};

/** @param pc  of the handler, in both. The caller calls twins_deinit() in any case */
void twins_init(const struct stage *stage, const struct code *code, const uint32_t pc[2],
                bool waits, struct twins *ret);
void twins_deinit(struct twins *twins);
/** Finds `ours`, of the packets in `steady` and `tested`. */
void twins_find_code(struct twins *twins);
/** Runs both over a stream. @param packet  the one whose handler gets the state of @p poke */
CPS_MUST_USE struct cps_err *twins_run(struct twins *twins, const struct cps_buf *text,
                                       const struct stage_packet *packet,
                                       const struct twins_poke *poke, unsigned pokes,
                                       struct twins_answer *ret);

/* ---- Handlers as tasks, each with a result in JSON, which caches store, processes send and
 * reports show ---- */

struct prove_task {
    unsigned part;
    size_t handler;
    char key[65];               /**< of its result: kept.c */
    struct json_object *result; /**< NULL: not known yet; owned */
    bool unchecked; /**< a result of other images, or of another count of runs: cross-check it */
};

struct prove {
    /* Of the caller, who clears the rest: */
    const struct cps_run_config *config;
    const char *const *name; /**< handlers to compare; none: all */
    unsigned names;
    unsigned jobs;
    unsigned runs; /**< of cross-checks, each handler */
    /* Then: */
    struct stage stage;
    struct prove_part part[CPS_FW_MAX_PARTS];
    unsigned parts;
    struct prove_task *task; /**< by part, then by the lowest packet; owned */
    size_t tasks;
    const char *cache; /**< folder of results, or NULL; the caller's */
    char images[65];   /**< of all words of both revisions */
    bool interrupted;
};

/** Runs of a handler unless --cross-check gives another number. */
#define CROSSCHECK_RUNS 256u

/** Loads both revisions and lists the tasks. The caller calls prove_close() in any case. */
CPS_MUST_USE struct cps_err *prove_open(struct prove *prove);
void prove_close(struct prove *prove);
/** "CP_NOP" or "UNKN119". */
void prove_packet_name(const struct prove *prove, unsigned part, unsigned id, char ret[48]);
/** The handler that a task is about. */
const struct prove_handler *prove_handler_of(const struct prove *prove,
                                             const struct prove_task *task);
/** Puts the names of its packets into a result, in place of any, first the one that it is called
 * by; and `name` where it is called by none of them. */
void prove_put_packets(const struct prove *prove, unsigned part,
                       const struct prove_handler *handler, struct json_object *result);
/** Finds the key of each task. */
CPS_MUST_USE struct cps_err *prove_keys(struct prove *prove);
/** Takes results from the cache, also those of other revisions that have the same handlers; but
 * streams must show their difference here again. */
void prove_recall(struct prove *prove);
/** Stores a result; what cannot be stored is found again. */
void prove_keep(const struct prove *prove, const struct prove_task *task,
                struct json_object *result);
/** Finds the rest, in processes of their own. */
CPS_MUST_USE struct cps_err *prove_run(struct prove *prove);
/** The result of one task, in this process; after prove_places(). */
CPS_MUST_USE struct cps_err *prove_task(const struct prove *prove, const struct prove_task *task,
                                        struct json_object **ret);

/** The verdict of a result; VERDICT_COUNT: none. */
enum verdict prove_verdict(struct json_object *result);
/** How many tasks have a verdict. */
size_t prove_count(const struct prove *prove, enum verdict verdict);
/** How many verdicts a cross-check contradicts. */
size_t prove_contradictions(const struct prove *prove);
/** All results as one object, with counts by verdict. */
struct json_object *prove_results(const struct prove *prove);
/** The results for people. */
void prove_table(const struct prove *prove, bool all, struct cps_buf *out);
/** Writes results.json, index.html, a page per handler that differs, and the witnesses. */
CPS_MUST_USE struct cps_err *prove_write(const struct prove *prove, const char *dir);
/** Appends the name of files about a result, without suffix. */
void prove_file_name(struct json_object *result, struct cps_buf *out);

/** Whether a verdict promises what runs can contradict: same code, equal, equal except for waits.
 */
static inline bool crosscheck_applies(struct json_object *result)
{
    return prove_verdict(result) <= VERDICT_WAITS;
}
/** Tests the verdict of @p result: both revisions run in the emulator, from random states, with
 * random packets. Nothing of the proof is used but the renumbering of private control registers and
 * the addresses that moved with the code. Handlers that no stream reaches are not tested, nor
 * states that 64 payload words and the registers cannot express.
 *
 * Adds `cross_check` to @p result: `runs`, `reached` (runs in which both revisions began with the
 * handler) and, if one shows a difference, `contradiction`: its `run`, `event`, `place`,
 * `packet_words`, `registers`, `control_registers`, `gpu_registers` and the stream's `text`. All
 * follow from the images, the handler and the count of runs. */
CPS_MUST_USE struct cps_err *crosscheck_task(const struct prove *prove,
                                             const struct prove_task *task,
                                             struct json_object *result);

#endif
