/* SPDX-License-Identifier: MIT
 * PM4 into real firmware: cases are made and changed at random, those that cover new edges of the
 * firmware are kept and changed further, and oracles look at all of them.
 *
 * The result depends on the seed, the firmware and the number of cases alone. Cases run in rounds
 * of batches: a batch knows what was known when its round began, and has random numbers of its own,
 * so that it does not matter which thread runs it; results are joined in the order of batches.
 *
 *   case.c      streams, edited, and cut out of captures
 *   grammar.c   packets out of nothing, and what firmware takes
 *   mutate.c    cases out of others
 *   rules.c     oracles, and the driver's CP_PROTECT
 *   run.c       a case on a clone           judge.c   what oracles find in it
 *   prove.c     a closer look at that       findings.c  minimal, as files
 *   corpus.c    cases that are kept         fuzz.c    batches and rounds, coverage */
#ifndef CPS_FUZZ_H
#define CPS_FUZZ_H

#include "emu/afuc/afuc.h"
#include "fw/fw.h"
#include "isa/packet.h"
#include "tools/explain/fuzz/random.h"
#include "tools/run/record.h"
#include "trace/event/item.h"
#include "trace/form/diff.h"

/* ---- case.c: a few short command streams in memory. The first is submitted, at level IB1, and is
 * all that decides whether others run: as indirect buffers, as draw-state groups, or as data that
 * packets read. Streams are plain dwords; packets are found again by their headers. ---- */

#define CASE_STREAMS 12u
#define CASE_WORDS   256u
/** Where the streams of new cases lie: with room for others after each, and data after all. */
#define CASE_BASE   UINT64_C(0x10000000)
#define CASE_STRIDE (4 * (uint64_t)CASE_WORDS)
/** Most packets that a case can have. */
#define CASE_PACKETS (CASE_STREAMS * CASE_WORDS)

struct case_stream {
    uint64_t iova;
    uint32_t count;
    uint32_t word[CASE_WORDS];
};

struct fuzz_case {
    unsigned streams;
    struct case_stream stream[CASE_STREAMS];
};

/** One packet of a stream, or a dword that begins none. */
struct case_packet {
    unsigned stream;
    uint32_t at, length;
};

/** A case without packets. */
void case_clear(struct fuzz_case *ret);
void case_copy(struct fuzz_case *to, const struct fuzz_case *from);
/** Words of all streams. */
uint32_t case_words(const struct fuzz_case *from);
/** The packet at word @p at, which is in the stream; cut where the stream ends. */
struct case_packet case_packet_at(const struct fuzz_case *from, unsigned stream, uint32_t at);
/** Lists the packets. @param ret  room for CASE_PACKETS @return how many */
unsigned case_list(const struct fuzz_case *from, struct case_packet *ret);
/** The stream that lies at @p iova; CASE_STREAMS: none does. */
unsigned case_stream_at(const struct fuzz_case *from, uint64_t iova);
/** Inserts words at @p at; false if there is no room. */
bool case_insert(struct case_stream *stream, uint32_t at, const uint32_t *word, uint32_t count);
void case_remove(struct case_stream *stream, uint32_t at, uint32_t count);
/** Updates the lengths of streams in packets that name them, and the first one is not empty. @p was
 *  by stream: other lengths are left alone; NULL: all are set */
void case_fit(struct fuzz_case *edited, const uint32_t *was);
/** Appends the items that an engine is fed with: contents, then the submission. @p bytes  room for
 * 4 * CASE_STREAMS * CASE_WORDS, to outlive the items. @param ret  room for CASE_STREAMS + 1
 * @return how many */
size_t case_items(const struct fuzz_case *from, uint8_t *bytes, struct cps_item *ret);
/** Takes a feed as it is: one submission, and all contents. @return false if it is no case */
bool case_read(const struct feed *feed, struct fuzz_case *ret);

/** What cases have of captures. */
struct case_taken {
    uint64_t cases;
    uint64_t words; /**< of streams, in packets of a case */
    uint64_t left;  /**< in packets that are longer than a case's stream, or in no packet */
    bool lost;      /**< the capture lacks streams that it names */
};

typedef struct cps_err *case_each_fn(void *context, const struct fuzz_case *input);

/** Calls @p each for the cases that the streams of a capture are cut into. @p taken  counts on */
CPS_MUST_USE struct cps_err *case_cut(const struct cps_item *item, size_t count,
                                      struct case_taken *taken, case_each_fn *each, void *context);

/* ---- rules.c: rows of oracle.def and protect.def ---- */

enum oracle {
#define ORACLE(id, ...) ORACLE_##id,
#include "tools/explain/fuzz/oracle.def"
    ORACLE_COUNT,
};

/** Something that looks like a finding. */
struct suspect {
    enum oracle raised; /**< by a run */
    enum oracle oracle; /**< after a closer look */
    uint8_t who;        /**< enum cps_processor */
    uint8_t level;      /**< CPS_LEVEL_* of the packet */
    uint32_t header;    /**< of the packet */
    uint64_t iova;      /**< of the packet */
    uint32_t place;     /**< a register, or a program counter */
    uint32_t pc;
    uint32_t value; /**< that was written */
    uint8_t side;   /**< which firmware */
};

const char *oracle_name(enum oracle oracle);
/** The oracle of that name; ORACLE_COUNT: none. */
enum oracle oracle_find(const char *name, unsigned length);
/** A bit for each oracle that is on by default. */
uint32_t oracle_usual(void);
/** A bit for each that a closer look may make of what a run has raised. */
uint32_t oracle_family(enum oracle raised);
/** The packet table's id of a header; 0: it is malformed. */
unsigned oracle_packet(uint32_t header);
/** Equal keys, equal findings; or, of what runs have raised, equal suspects. */
uint64_t oracle_key(const struct suspect *suspect);
uint64_t oracle_raised(const struct suspect *suspect);

#define PROTECTION_REGS  0x40000u
#define PROTECTION_ITEMS 80u

/** Classes of a register, as bits. */
enum {
    REG_PROTECTED = 1,    /**< streams may not write it */
    REG_READ_ONLY = 2,    /**< but read */
    REG_CLASS_ORACLE = 8, /**< and above: 1 + the oracle that its PRIVILEGED row names */
};

/** The driver's writes to CP_PROTECT, and what that forbids. */
struct protection {
    struct cps_item item[PROTECTION_ITEMS]; /**< the chip, and the writes, as start values */
    unsigned items;
    uint8_t class[PROTECTION_REGS];
    uint32_t first[PROTECTION_ITEMS], last[PROTECTION_ITEMS]; /**< what entries forbid to write */
    unsigned spans;
};

/** As the kernel does for the chips of @p fw; nothing where no row has its generation. */
void protection_init(struct protection *protection, const struct cps_fw *fw);
/** A protected register, of every entry as likely; @p random decides. */
uint32_t protection_pick(const struct protection *protection, uint32_t random);

/* ---- grammar.c: what firmware takes. A handler reads as many words as it likes, and where that is
 * not what the header says the next header is looked for in the wrong place. So it is counted, by
 * operation and count, how often the next packet was where it should be; and by level, how often a
 * case ended there. Grammar and mutators follow these counts, mostly. ---- */

#define LEARN_OPCODES 128u
#define LEARN_COUNTS  64u
#define LEARN_LEVELS  6u

struct learned {
    uint16_t took[LEARN_OPCODES][LEARN_COUNTS]; /**< the next packet was where it should be */
    uint16_t lost[LEARN_OPCODES][LEARN_COUNTS]; /**< it was elsewhere, or nowhere */
    uint16_t passed[LEARN_OPCODES][LEARN_LEVELS];
    uint16_t refused[LEARN_OPCODES][LEARN_LEVELS];
};

/** The packet that a level is at. */
struct learn_last {
    uint64_t iova;
    uint32_t header;
    bool there;
};

/** A level has come from packet @p last to @p iova, a header or the end of its stream. */
void learn_next(struct learned *learned, const struct fuzz_case *input,
                const struct learn_last *last, unsigned level, uint64_t iova);
/** It does not come from a packet to the next one: words are missing. */
void learn_starved(struct learned *learned, uint32_t header);
/** The firmware rejects a packet, or does not come to its end. */
void learn_refused(struct learned *learned, uint32_t header, unsigned level);
void learn_join(struct learned *learned, const struct learned *more);
/** Whether packets with that count mostly lead astray. */
bool learn_is_bad(const struct learned *learned, unsigned opcode, uint32_t count);
/** Whether cases mostly end there on that level. */
bool learn_is_refused(const struct learned *learned, unsigned opcode, unsigned level);
/** A count that firmware takes, or @p wanted, if it is none of the bad ones or nothing is known. */
uint32_t learn_count(const struct learned *learned, unsigned opcode, uint32_t wanted,
                     struct rng *rng);

/** Packets out of nothing: pm4.def has what they carry, the firmware's own packet table which
 * there are, and its code which numbers matter. */
struct grammar {
    const struct cps_fw *fw;
    const struct protection *protection;
    const struct learned *learned;         /**< it grows between rounds */
    const char *fields[CPS_FW_TABLE_SIZE]; /**< NULL: not documented */
    /** Opcodes with fields and a handler of their own, each as often as its weight. */
    uint8_t known[CPS_PACKET_WEIGHT * CPS_FW_TABLE_SIZE];
    uint8_t own[CPS_FW_TABLE_SIZE]; /**< all with a handler of their own */
    unsigned knowns, owns;
};

void grammar_init(struct grammar *grammar, const struct cps_fw *fw,
                  const struct protection *protection, const struct learned *learned);
/** Whether only hardware makes such packets: no stream of a program has them. */
bool grammar_is_hardwares(unsigned opcode);
/** A number of the sort that code treats in a way of its own. */
uint32_t grammar_value(const struct grammar *grammar, const struct fuzz_case *at, struct rng *rng);
/** An address in or near the streams of a case. */
uint64_t grammar_address(const struct fuzz_case *at, struct rng *rng);
/** A packet for a stream. It may name streams of the case, mostly those after its own, so that few
 * form loops, and make one more there.
 * @param ret  room for CASE_WORDS @return dwords */
uint32_t grammar_packet(const struct grammar *grammar, struct fuzz_case *at, unsigned stream,
                        struct rng *rng, uint32_t *ret);
/** Fills streams that have no packets yet. */
void grammar_fill(const struct grammar *grammar, struct rng *rng, struct fuzz_case *edited);
/** A case of a few packets. */
void grammar_case(const struct grammar *grammar, struct rng *rng, struct fuzz_case *ret);

/* ---- mutate.c: packets come, go, move between streams and change, words change, streams are
 * joined, and what names a stream is led to another one ---- */

/** Changes a case a few times. @param other  a case to take parts of */
void mutate(const struct grammar *grammar, struct rng *rng, const struct fuzz_case *other,
            struct fuzz_case *edited);
/** The levels that streams are read at, as far as calls in them tell; RB: unknown. */
void case_levels(const struct fuzz_case *from, uint8_t *ret);
/** Mostly repairs what mutation has broken in streams that packets name: headers whose parity is
 * wrong, packets that are cut, counts that lead astray, operations that firmware rejects there. */
void repair(const struct grammar *grammar, struct rng *rng, struct fuzz_case *edited);

/* ---- run.c: a case on clones of booted machines ---- */

#define RUN_SUSPECTS 64u
#define RUN_EDGES    65536u

/** Where a processor is, by its events. */
struct run_location {
    uint8_t level;
    bool user; /**< in a stream that is not the driver's */
    uint32_t header;
    uint64_t iova;
};

/** A firmware, booted. */
struct run_side {
    struct cps_run_config config;
    struct play *play;
    struct cps_engine *booted; /**< as every case finds it */
    struct cps_engine *engine;
    struct cps_sink sink;
    struct cps_edge_log log;
    enum cps_stop stop;
    struct run_location place[CPS_CPU_COUNT];
    bool internal; /**< the stream had a packet that only hardware makes: the rest shows nothing */
    bool goes_on;  /**< packets came until the limit, or nearly */
    struct learn_last last[LEARN_LEVELS]; /**< of the first processor */
    uint64_t digest[CPS_CPU_COUNT];       /**< of the events that count */
    struct record record;                 /**< of them, if there are two sides */
    struct run *run;
};

struct run {
    struct run_side side[2];
    unsigned sides;
    bool lpac; /**< streams are submitted to LPAC */
    uint64_t limit;
    uint32_t oracles;  /**< a bit for each that is asked for */
    uint32_t compared; /**< kinds of events */
    const struct protection *protection;
    uint8_t *bytes;
    const struct fuzz_case *input; /**< that runs */
    struct learned *learned;       /**< gets what cases teach; or NULL */
    struct suspect suspect[RUN_SUSPECTS];
    unsigned suspects;
    uint64_t executed;
    volatile int *interrupted; /**< not 0 ends what takes many runs; or NULL */
};

/** Loads the firmware of @p config, sets protection up, and boots. @p protection  of the first
 * firmware; it is filled, and outlives the run. The caller calls run_close() in any case. */
CPS_MUST_USE struct cps_err *run_open(struct run *run, const struct cps_run_config *config,
                                      unsigned sides, struct protection *protection);
void run_close(struct run *run);
/** Lets the cases of a side begin with @p booted, which it takes over. @p kinds  of events
 * @return NULL, or CPS_ERR_INPUT: the machine takes no streams */
CPS_MUST_USE struct cps_err *run_begin_side(struct run *run, unsigned number,
                                            struct cps_engine *booted, uint32_t kinds);
/** Runs a case on every side. The results are in run->suspect and side[].log. */
void run_case(struct run *run, const struct fuzz_case *input);
/** Runs a case on one side only, up to a limit of its own, for what it writes. */
void run_one(struct run *run, unsigned side, const struct fuzz_case *input, uint64_t limit);
/** Whether the first difference of two sides is in what a clock decides on. */
bool run_is_clock(struct run *run, const struct fuzz_case *input);
/** Whether an oracle is asked for that may come of it. */
bool run_wants(const struct run *run, enum oracle raised);
/** Where the image of a core begins in the first file of a side. */
uint32_t run_image_start(const struct run_side *side, unsigned core);
/** The suspect that was raised with that key; NULL: there is none. */
const struct suspect *run_suspect(const struct run *run, uint64_t key);
/** Measures: clones, each with an empty packet, a second. */
double run_yardstick(struct run *run);
/** As cps_sink.put of a side. */
void run_take_events(struct cps_sink *sink, const struct cps_event *events, size_t count);
/** Notes a suspect, if an oracle is asked for that it may become. */
void run_add_suspect(struct run *run, const struct suspect *suspect);

/** The same, of the packet that a processor of a side is at. */
void run_suspect_at(struct run_side *side, unsigned who, enum oracle oracle, uint32_t place,
                    uint32_t pc, uint32_t value);

/* ---- judge.c: what oracles find after a run ---- */

/** How a side's run ended, and how privileged it was. */
void judge_side(struct run_side *side);
/** Whether two sides did the same, and ended in the same way. */
void judge_difference(struct run *run);
/** Whether two runs ended differently: came to their end, were rejected, reported an error, or do
 * not end. */
bool judge_endings_differ(const struct run *run);
/** What the loop of a side's core is, once it was followed for a while: HALT a jump to itself, HANG
 * one that reads nothing from outside, WAITS one that does. */
enum oracle circle_kind(struct run_side *side, unsigned core);

/* ---- prove.c ---- */

/** Whether a suspect is a finding: of a write past protection, whether the stream decides on it; of
 * an endless run, whether it is; of a difference, whether it is more than time. Runs the case
 * again, changed.
 * @param suspect  gets the oracle that it is a finding of */
bool run_prove(struct run *run, const struct fuzz_case *input, struct suspect *suspect);

/* ---- fuzz.c ---- */

/** A set of 64-bit keys: what cases have reached. */
struct key_map {
    uint64_t *key; /**< in order of arrival */
    size_t count;
    uint32_t *slot; /**< index of a key + 1; open addressing */
    size_t slots;   /**< a power of two, or 0 */
};

/** Adds @p key. @return whether it was not there */
bool key_map_add(struct key_map *map, uint64_t key);
bool key_map_has(const struct key_map *map, uint64_t key);
void key_map_deinit(struct key_map *map);

/** A case that is kept: its streams as words, each after its address and count. */
struct corpus_case {
    uint32_t *word;
    uint32_t count;
    bool refused; /**< it ends with a packet that the firmware rejects */
};

struct corpus {
    struct corpus_case *list;
    size_t count;
};

/** Something found, proved and written. */
struct finding {
    struct suspect suspect;
    char name[96]; /**< of its files, without their suffixes */
    uint32_t packets, words;
    char said[224]; /**< in a line */
};

struct findings {
    struct finding *list;
    size_t count;
    struct key_map known;   /**< keys of suspects that need no closer look any more */
    struct key_map doubted; /**< keys of looks that came to nothing, with how many */
};

struct fuzz_stats {
    uint64_t executed; /**< cases; runs of proofs and minimisation are not counted */
    uint64_t rounds;
    uint64_t ends[8];        /**< by CPS_REASON_*, of the first firmware */
    size_t edges;            /**< (handler, edge, level, privilege) */
    size_t corpus;           /**< cases kept */
    size_t findings;         /**< kept */
    uint64_t looks;          /**< runs of proofs and minimisation */
    struct case_taken seeds; /**< of the arguments */
};

struct fuzz {
    struct cps_run_config config;
    char *const *seed_path; /**< captures, cases, and folders of them */
    unsigned seed_paths;
    bool merge; /**< these are all */
    unsigned sides, jobs;
    uint64_t seed, limit;
    uint64_t most; /**< cases; 0: no limit */
    double until;  /**< when to end, as reduce_clock() counts; 0: never */
    uint32_t oracles;
    const char *dir; /**< where files go; NULL: nowhere */
    volatile int *interrupted;
    void (*progress)(const struct fuzz *fuzz); /**< after each round; or NULL */
    /* Not the caller's: */
    struct protection protection;
    struct learned learned;
    struct grammar grammar;
    struct run *run; /**< one for each job */
    struct corpus corpus;
    struct findings findings;
    struct key_map edges;
    struct cps_cover *cover; /**< by dword of the first firmware's image */
    struct fuzz_stats stats;
};

/** Loads and boots firmware. The caller calls fuzz_close(). */
CPS_MUST_USE struct cps_err *fuzz_open(struct fuzz *fuzz);
void fuzz_close(struct fuzz *fuzz);
/** Runs until there were enough cases, time is over, or it is interrupted. */
CPS_MUST_USE struct cps_err *fuzz_run(struct fuzz *fuzz);

/** The key of an edge. */
uint64_t batch_edge(const struct cps_edge *edge, unsigned side);

/* ---- corpus.c ---- */

void corpus_pack(const struct fuzz_case *input, struct corpus_case *ret);
void corpus_unpack(const struct corpus_case *from, struct fuzz_case *ret);
/** Keeps a case, and writes its file. @param refused  as corpus_case has it */
CPS_MUST_USE struct cps_err *corpus_keep(struct fuzz *fuzz, const struct fuzz_case *input,
                                         bool refused);
/** The text of a case, as 'cpscope run' takes it. @p comment  lines for its head, or NULL */
CPS_MUST_USE struct cps_err *corpus_text(const struct fuzz *fuzz, const struct fuzz_case *input,
                                         const char *comment, struct cps_buf *ret);
/** Calls @p each for the cases of @p path: a file, or a folder with files, or with folders corpus
 * and findings; in the order of their names. @p interrupted  not 0 ends it; or NULL
 * @p taken  counts on */
CPS_MUST_USE struct cps_err *corpus_read(const char *path, const char *rnn,
                                         volatile int *interrupted, struct case_taken *taken,
                                         case_each_fn *each, void *context);
void corpus_deinit(struct corpus *corpus);

/* ---- findings.c ---- */

/** Whether a suspect needs a closer look. */
bool findings_wants(const struct findings *findings, const struct suspect *suspect);
/** Looks, and if it is a finding makes it minimal, writes it, and reads and runs the file. */
CPS_MUST_USE struct cps_err *findings_look(struct fuzz *fuzz, const struct fuzz_case *input,
                                           const struct suspect *suspect);
void findings_deinit(struct findings *findings);
/** Runs @p input on the firmware of @p config and writes the text of its trace to @p output. */
CPS_MUST_USE struct cps_err *trace_case(const struct cps_run_config *config, uint64_t limit,
                                        const char *input, const char *output);

#endif
