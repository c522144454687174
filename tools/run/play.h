/* SPDX-License-Identifier: MIT
 * What every command does that runs something: load firmware and input, build the engine, feed it
 * with the input's items, and keep what came of it. Captures, dumps, PM4 text and run files go
 * through the same loop; whoever wants to go back gets the items as a list.
 *
 *   load.c    firmware, scripts and the engine
 *   feed.c    lists of items
 *   loop.c    the loop
 *   account.c what was executed, and how it ended
 *   script.c  what a run file says, as items
 *   stop_dump.c  the hang dump of a run that has stopped early
 *   replay.c  a hardware dump as items, and where to stop */
#ifndef CPS_PLAY_H
#define CPS_PLAY_H

#include "emu/engine.h"
#include "fw/fw.h"
#include "fw/nv/script/script.h"
#include "tools/run/config.h"
#include "tools/run/feed.h"
#include "trace/capture/buffers.h"
#include "trace/capture/capture.h"
#include "trace/out/outfile.h"
#include "trace/form/trace.h"

#define PLAY_MAX_PLACES 256

struct dump;
struct launch;
struct replay;

/** A place that the program touched and nobody models. */
struct play_unmodelled {
    unsigned place; /**< enum CPS_PLACE_* */
    uint64_t number;
    uint64_t count; /**< submissions that touched it */
};

/** Something loaded, ready to be fed. */
struct play {
    struct cps_item_sink items; /* first: capture readers call back through it */
    struct cps_sink sink;
    const struct cps_run_config *config;
    enum cps_gen gen;
    struct cps_buffers *buffers; /**< made before anything is read: gets those of the capture, and
                                    is sealed behind play_run() and play_gather(); or NULL; owned */
    bool buffers_of_now; /**< they are looked up while it runs: as cps_buffers_now() has them */
    struct cps_fw *fw;   /**< firmware; NULL: a script, or what a host does */
    struct cps_fw *me;   /**< a5xx: the ME's firmware, else NULL */
    bool me_first;       /**< a5xx: it was named in front of the PFP's */
    struct cps_script script; /**< of engines without firmware */
    struct cps_policy policy;
    struct cps_host host; /**< set before play_open(): who owns memory; else nobody */
    struct cps_names *names[CPS_CPU_COUNT];
    struct cps_engine *engine;
    struct launch *launch;        /**< the plugin of `equip`, or NULL; the caller's */
    void (*equip)(struct play *); /**< called with each engine that is built; or NULL */
    struct dump *dump;            /**< the input where it is a hardware dump, read whole; or NULL */
    bool as_given;     /**< set before play_open(): a dump runs the firmware that was given, for who
                          compares two; else the one that ran there */
    bool quiet;        /**< set before play_open(): which firmware of a dump runs is not printed */
    struct code *code; /**< what the dump holds of that, if it was asked for */
    struct replay *replay;    /**< what to replay of it */
    struct feed feed;         /**< items of inputs that are read whole */
    struct cps_sink *trace;   /**< where recorded events go on to, or NULL */
    uint32_t kinds;           /**< what `trace` wants */
    uint32_t extra;           /**< what the engine emits beyond that, for our own use */
    struct cps_sink *watcher; /**< who gets those, or NULL */
    bool muted;               /**< nothing goes to `trace` */
    enum cps_stop stop;       /**< of the last run */
    bool begun;               /**< the bootstrap has run */
    bool booted;              /**< the driver's first packets, too */
    bool stopped;             /**< the engine cannot go on; what follows is ignored */
    /** Called once when the engine has stopped before the end of what it was fed, while its memory
     * and `buffers` are those of then; or NULL. */
    struct cps_err *(*at_stop)(struct play *);
    uint32_t ring_begin;            /**< dword of the ring where the submission that runs begins */
    uint64_t ring_clock;            /**< of the engine then */
    uint64_t ring_ends;             /**< and when the submission is given up; 0: at the limit */
    const struct cps_stream *reads; /**< while it is read: for the line of progress */
    bool may_end;                   /**< a sink may want no more before the input ends */
    bool enough;                    /**< it does: what follows is ignored, too */
    bool fed;                       /**< a stream of the submission at hand was not left out */
    bool input_failed;    /**< the input is truncated or damaged: only its beginning ran */
    bool boot_only;       /**< set by the caller: the boot is all that was asked for */
    uint32_t submissions; /**< seen */
    uint32_t executed;    /**< submissions that are not empty, and rings; of scripts what
                             their host does */
    uint32_t not_captured;
    uint64_t gpu; /**< first GPU or chip id of the capture, 0 if none */
    struct play_unmodelled place[PLAY_MAX_PLACES];
    unsigned place_count;
    uint64_t notes; /**< defects of the capture that did not stop the reading */
    uint64_t unknown[CPS_UNKNOWN_COUNT];
    struct cps_buf recorded; /**< the policies that a capture names */
    struct cps_buf missed;   /**< a line for each read of the host's that was not as expected */
    uint64_t misses;
    uint32_t hangs;      /**< submissions that hung, after which the run went on */
    struct cps_buf hung; /**< why the first one did */
};

/* ---- load.c ---- */

/** How many firmware revisions --fw names, of which a5xx has two files each; 0: that is none. */
unsigned play_revisions(const struct cps_run_config *config);
/** The configuration of revision @p side of @p sides: its share of the list of --fw. */
void play_side(const struct cps_run_config *config, unsigned sides, unsigned side,
               struct cps_run_config *ret);
/** Loads what the configuration names (firmware, a script, or the demo) and builds the engine. @p
 * input is the capture, dump or script, NULL for none (or the demo's); a script is read here.
 * @p play is zero but for `kinds`, `trace`, and for `fw` where that
 * is no file: of one that needs no other; the caller calls play_close() in any case. */
CPS_MUST_USE struct cps_err *play_open(struct play *play, const struct cps_run_config *config,
                                       const char *input);
/** --no-recover is about a hang dump: refuses it for any other @p input. */
CPS_MUST_USE struct cps_err *
play_check_recover(const struct play *play, const struct cps_run_config *config, const char *input);
void play_close(struct play *play);
/** After play_open(): of a dump, sees each instruction, for which registers the replay writes and
 * which code it executes. */
void play_watch_replay(struct play *play);
/** An engine as new, for another run of the same input. */
CPS_MUST_USE struct cps_err *play_restart(struct play *play);
/** Takes a copy of an engine that has booted this firmware, with the events of its boot left out.
 */
CPS_MUST_USE struct cps_err *play_adopt(struct play *play, struct cps_engine *booted);
/**
 * Instead of play_open(): takes over the firmware that another one has opened, and its engine in
 * the state of @p state. Scripts and dumps are not lent.
 * @param play   as play_open() has it
 * @param config  the one that @p from was opened with, but for limits
 * @param from   who lends; it has no engine until play_return()
 * @param state  the engine to begin as, which nobody runs: @p from lends a clone of it each time
 * @return NULL or CPS_ERR_NOMEM: then nothing was lent
 */
CPS_MUST_USE struct cps_err *play_borrow(struct play *play, const struct cps_run_config *config,
                                         struct play *from, struct cps_engine *state);
/** Gives back what play_borrow() has lent, in front of play_close(). */
void play_return(struct play *play, struct play *to);
/** Lets events flow; play_boot() does it too. */
void play_watch(struct play *play);
/** Whether traces name the processor in each line: what they do not name is an SQE. */
bool play_has_processors(const struct play *play);
static inline bool play_has_processors_of(const struct play *play, const struct cps_engine *engine)
{
    return engine->cores > 1 || !play->fw || engine->who[0] != CPS_CPU_SQE;
}
/** An error if the GPU that play->gpu names cannot run this firmware's generation. */
CPS_MUST_USE struct cps_err *play_check_gpu(const struct play *play);
/** What stands in a run file in front of an address of the host's: "ramin ", or "" for a register.
 */
const char *play_where(const struct cps_item *item);

/** Appends "N reads are not what the run file expects". */
void play_put_misses(uint64_t count, struct cps_buf *out);
/** Appends a line: the read @p item of a run file, which read @p answer, is not as expected. */
void play_put_miss(const struct play *play, const struct cps_item *item, uint32_t answer,
                   struct cps_buf *out);
/** Whether the input is a script or a run file, rather than a capture. */
static inline bool play_is_script(const struct play *play)
{
    return !play->fw;
}

/* ---- loop.c ---- */

/** As cps_item_sink.item: the loop behind a reader of captures. */
CPS_MUST_USE struct cps_err *play_take_item_(struct cps_item_sink *items,
                                             const struct cps_item *item);

/** The name, by its address, of a capture without anything in it: only the boot runs. */
extern const char play_nothing[];
/** Opens an input by name; NULL is the demo's capture. */
CPS_MUST_USE struct cps_err *play_stream(const char *path, struct cps_stream **ret);
/** Boots if that has not happened; on return play->stop says how it ended. */
void play_boot(struct play *play);
/** Feeds one item and lets the engine run as far as that goes. */
CPS_MUST_USE struct cps_err *play_item(struct play *play, const struct cps_item *item);
/** Feeds a CPS_ITEM_SUBMIT, and leaves it to the caller to run the engine: a device does so in
 * pieces. @p runs  gets whether there is something to run */
CPS_MUST_USE struct cps_err *play_feed_submission(struct play *play, const struct cps_item *item,
                                                  bool *runs);
/** Feeds a CPS_ITEM_RECOVER and boots: a submission hung. play->stop says how the boot ended. */
CPS_MUST_USE struct cps_err *play_recover(struct play *play, const struct cps_item *item);
/** Adds the items of a recovery to play->feed. @param reason  CPS_REASON_* */
CPS_MUST_USE struct cps_err *play_gather_recovery(struct play *play, unsigned reason);
/** Whether the driver does something at the end of a submission: CPS_ITEM_FENCE. */
bool play_wants_fences(const struct play *play);
/** Feeds an input to its end, and ends the run. @p capture  the opened input where it is a capture;
 * NULL: what play_open() or play_gather() have read. */
CPS_MUST_USE struct cps_err *play_run(struct play *play, struct cps_stream *capture);
/** Reads the whole input into play->feed, as it is played: for dumps and whoever goes back. */
CPS_MUST_USE struct cps_err *play_gather(struct play *play, struct cps_stream *capture);

/* ---- flow.c ---- */

/** The firmware that a processor runs, and which part of it: core i runs part i, and the ME of a5xx
 * has an image of its own. NULL: there is none. */
const struct cps_fw *play_image(const struct play *play, unsigned who, uint32_t *part);
/** The image that a processor runs, and its part of it, by what the part is for; NULL: there is
 * none. @p me  the image of its own that the ME of a5xx has, or NULL */
const struct cps_fw *play_part(const struct cps_fw *fw, const struct cps_fw *me, unsigned who,
                               const struct cps_fw_part **part);
/** Appends what a place is called (fw/image/place.h); nothing where no firmware is known. @p
 * running is the packet that runs there, or CPS_FW_NO_PACKET. */
void play_place(const struct play *play, unsigned who, uint32_t pc, int running,
                struct cps_buf *out);
/** Appends the name of what begins there, a label or a handler; nothing if nothing does. A
 * cps_place_fn, whose context is the struct play. */
void play_function(void *play, unsigned who, uint32_t pc, struct cps_buf *out);
/** As cps_engine_explain(), with the name of the place. */
void play_explain(const struct play *play, struct cps_engine *engine, enum cps_stop stop,
                  struct cps_buf *out);
/** Where the instruction at @p pc goes: a cps_flow_fn, whose context is the struct play. */
uint8_t play_flow(void *play, unsigned who, uint32_t pc);

/* ---- script.c ---- */

/** Reads a script file, or stdin for "-". @p gen  0: as the file says; the caller calls
 * cps_script_deinit() in any case */
CPS_MUST_USE struct cps_err *play_load_script(const char *path, const struct cps_isa *isa,
                                              unsigned gen, struct cps_script *ret);

/** Makes play->feed of play->script. */
CPS_MUST_USE struct cps_err *play_script_items(struct play *play);

/* ---- stop_dump.c ---- */

/** Writes the hang dump of the engine as it stands (tools/run/coredump.h), for `at_stop`. @p input
 * is the name of what ran; @p path  of the dump, "-": stdout */
CPS_MUST_USE struct cps_err *play_write_dump(struct play *play, const char *input,
                                             const char *path);

/* ---- replay.c ---- */

/** Before play_open(): what the beginning of @p capture says of the engine. A hardware dump, which
 * says where the firmware lay, is read whole into play->dump; a recording names its policies. */
CPS_MUST_USE struct cps_err *play_read_dump(struct play *play, struct cps_stream *capture);
/** Makes play->feed of play->dump, and finds out where the hardware stood. */
CPS_MUST_USE struct cps_err *play_dump_items(struct play *play);
/** How often the run came to a stream that is missing from the capture. */
uint64_t play_missing_streams(const struct play *play);
/** play_open() and play_dump_items() of play->dump, with the firmware that ran there, for commands
 * that describe it: that a dump cannot be replayed is no error, then @p why says it. */
CPS_MUST_USE struct cps_err *play_replay(struct play *play, const struct cps_run_config *config,
                                         struct cps_buf *why);

#endif
