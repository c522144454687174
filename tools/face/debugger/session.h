/* SPDX-License-Identifier: MIT
 * One debugging session: firmware, capture and the debugging core joined, with names for places,
 * expressions and points as the user types them. The command line, the screen and the adapter for
 * editors all use this. */
#ifndef CPS_SESSION_H
#define CPS_SESSION_H

#include <stdatomic.h>

#include "emu/afuc/afuc.h"
#include "emu/debug/debug.h"
#include "tools/run/play.h"

struct session;

/** A device whose programs submit while the session is open: the list of items grows. */
struct session_live {
    /** Called before the engine runs; the items so far are the driver's first ones. */
    struct cps_err *(*open)(struct session_live *live, struct session *session);
    /**
     * The run has nothing more to do, or cannot go on: waits until something has changed.
     * @param stop  CPS_WHY_END, or why the engine cannot go on; gets why the move ends
     * @return true: items were added, the same move goes on
     */
    bool (*more)(struct session_live *live, struct cps_debug_stop *stop);
    int listener;            /**< who waits there ends a move, as a signal does; -1: nobody */
    struct session *session; /**< as `open` got it */
    uint64_t began;          /**< step at which the move began */
};

struct session {
    /* Set before session_open(); borrowed. */
    const struct cps_run_config *config;
    const char *capture;         /**< or script; NULL: none, or the demo's */
    const char *symbols;         /**< a file of labels, or NULL */
    enum cps_scheme scheme;      /**< whose names of VP1's registers */
    const atomic_int *interrupt; /**< stops runs, the first one too; NULL: nothing does */
    uint64_t limit;            /**< most instructions of one command, back and forth; 0: no limit */
    struct session_live *live; /**< in the place of a capture; NULL: none */

    struct play play; /**< the input; its engine is the debugger's */
    struct cps_debug *debug;
    unsigned core;    /**< that commands are about */
    uint64_t spent;   /**< of the command at hand, CPS_DEBUG_INTERRUPT at a time */
    bool limited;     /**< a command ended because of the limit */
    const char *line; /**< the command at hand as it was typed, whose columns errors count; NULL */
    struct cps_debug_stop hung; /**< the last hang that was shown... */
    uint64_t hung_at;           /**< ...at this step, and that nothing has ended since; 0: none */
    uint64_t start;             /**< step at which the session was opened */
};

/* ---- session.c ---- */

/** Opens the input and goes to the first submission, or to that of --submit; of a hang dump, to the
 * position of the hardware. The caller calls session_close() in any case. */
CPS_MUST_USE struct cps_err *session_open(struct session *session);
/** The same, but goes to where the engine's clock is @p clock. */
CPS_MUST_USE struct cps_err *session_open_at(struct session *session, uint64_t clock);
void session_close(struct session *session);
/** As cps_debug_run(); of a device, to a submission that has yet to come, too. */
struct cps_debug_stop session_run(struct session *session, enum cps_debug_go go, unsigned core);
/** Counts instructions of the command at hand that no move counts. */
void session_count_instructions(struct session *session, uint64_t instructions);
/** Whether the command at hand shall end: the user stops it, or the limit does. */
bool session_interrupted(struct session *session);
/** Appends a line about the place at which a session of a hang dump was opened. */
void session_opened(const struct session *session, struct cps_buf *out);

/** Whether a move that began at @p step gives up what hangs: the hang was shown before. */
static inline bool session_gives_up(const struct session *session, uint64_t step)
{
    return session->hung_at && step >= session->hung_at;
}
/** Whether the engine cannot go on. */
static inline bool session_hangs(const struct cps_debug_stop *stop)
{
    return stop->reason == CPS_WHY_DEADLOCK || stop->reason == CPS_WHY_FAULT ||
           stop->reason == CPS_WHY_BAD_PACKET;
}

/** The engine at this place. */
static inline struct cps_engine *session_engine(const struct session *session)
{
    return cps_debug_engine(session->debug);
}
/** The same as an afuc; NULL if it is none. */
static inline struct cps_afuc *session_afuc(const struct session *session)
{
    return cps_afuc_of(cps_debug_engine(session->debug));
}
/** The value at a place of a core, 0 if there is none. */
uint64_t session_value(const struct session *session, unsigned core, char file, uint64_t number);
/** Whether there is code at @p pc of a core. */
bool session_has_code(const struct session *session, unsigned core, uint64_t pc);
/** Units of the instruction at @p pc, 1 where there is none. */
uint32_t session_length(const struct session *session, unsigned core, uint32_t pc);
/** The item that was fed last, NULL if none was. */
const struct cps_item *session_item(const struct session *session);
/** A copy of an engine that nothing will change again, run until it has found that itself: what
 * single steps leave does not say what it waits for. NULL: memory is short. */
struct cps_engine *session_stuck(const struct session *session);
/** Which submission runs, as buffers of the capture count them; 0 before the first. */
uint32_t session_submission(const struct session *session);
/** The image that a core runs, and the index of its part there; NULL if the file has none. */
const struct cps_fw *session_fw(const struct session *session, unsigned core, unsigned *part);
struct cps_names *session_names(const struct session *session, unsigned core);
/** Appends "CP_NOP+0x2": by the user's labels, else by handlers, of which several packets' is
 * called by the one that the core is at. */
void session_place(const struct session *session, unsigned core, uint32_t pc, struct cps_buf *out);
/** The dword of a place by its name: a label, a packet's handler, either followed by "+N". False if
 * there is none. */
bool session_find_place(const struct session *session, unsigned core, const char *name,
                        size_t length, uint32_t *ret);
/** "sqe", "bv"; the index of the core of that name, or -1. */
const char *session_core_name(const struct session *session, unsigned core);
int session_find_core(const struct session *session, const char *name);

/* ---- expr.c: expressions over a machine's state, as C writes them
 *
 *     $02 $rem $addr $pc $npc     general registers, program counter, the dword after it
 *     @IB_LEVEL @0x054            control registers      %SP %0x05   SQE registers
 *     RB_CCU_CNTL reg:0x8810      GPU registers          [0x1000]    a dword of memory
 *     $a.addr a.addr val          values of scripts' engines, by the names of `info registers`
 *     ramin:0x100 memory:0x0      memories of engines that have several
 *     CP_NOP CP_NOP+0x2 label     addresses of places in the firmware
 *     header opcode count payload[2] iova level   of the packet at hand
 *     draw submission submit step event line      position of the run
 *     value offset                of the event at hand, in conditions of watchpoints
 *     + - * / % & | ^ ~ ! << >> == != < > <= >= && || ( )    on 64-bit unsigned numbers ---- */

/**
 * Evaluates @p text for core @p core.
 * @param event  for `value` and `offset`; NULL: they are errors
 * @return NULL, or CPS_ERR_SYNTAX with the column (from 1, of session->line if @p text is a part of
 * it) and what was expected
 */
CPS_MUST_USE struct cps_err *expr_eval(const struct session *session, unsigned core,
                                       const struct cps_event *event, const char *text,
                                       uint64_t *ret);
/** The same for the first @p length bytes of @p text, at no event. */
CPS_MUST_USE struct cps_err *expr_eval_part(const struct session *session, unsigned core,
                                            const char *text, size_t length, uint64_t *ret);
/** The column of @p at in the line that was typed, from 1; 1 if it is no part of it. */
size_t expr_column(const struct session *session, const char *at);
/** Recognises "$02", "$pc", "@IB_LEVEL", "RB_CCU_CNTL", "[0x1000]", "a.addr", "ramin:0x100"; false:
 * it is no single place. @param[out] ret  its core is @p core */
bool expr_place(const struct session *session, unsigned core, const char *text,
                struct cps_location *ret);
/** The memory that "[ADDRESS]" is about: the first that the engine has, by enum cps_file_sigil. */
char expr_memory(const struct session *session);
/** Writes the value of @p text to the place @p place, as a change of the run.
 * @param[out] ret  the value as it was stored; may be NULL
 * @return NULL, CPS_ERR_SYNTAX, or an error of cps_debug_edit() */
CPS_MUST_USE struct cps_err *expr_assign(struct session *session, unsigned core, const char *place,
                                         const char *text, uint64_t *ret);

/* ---- point.c: breakpoints and watchpoints, each followed by " if EXPRESSION"
 *
 *     CP_NOP  CP_NOP+0x2  label  *0x104  file.afuc:12    a place in the firmware
 *     CP_NOP@ib2  label@sds       the same, while a stream of that level runs
 *     me:CP_NOP                   the same, of that processor
 *     pkt:CP_NOP  pkt:0x10  pkt:CP_NOP@ib2  pkt:@sds     after the dispatch of a packet
 *     line:12                     after what a run file's host does there
 *     event:irq,prot              any event of these classes
 *     $02  @IB_LEVEL  |EVENT_CMD  RB_CCU_CNTL  reg:0x8810-0x8820  [0x1000]  [0x1000]-[0x1fff]
 *                                 accesses of instructions ---- */

enum point_access { POINT_WRITE = 1, POINT_READ = 2 };

/** The text that a point was made from: its `context`. Owned by the point. */
struct typed_point {
    const struct session *session;
    const char *word;  /**< the command that makes such a one: "watch" */
    char *text;        /**< as typed, without the condition */
    char *condition;   /**< or NULL */
    char *commands;    /**< lines to run when it stops a run, or NULL */
    bool disable_next; /**< when it stops a run the next time */
    bool moves;        /**< it is where an expression led when it was typed, which may change */
    uint32_t levels;   /**< bits of levels of streams at which it counts; 0: all */
};

/** Whether it is about a place, rather than an access or an event. */
static inline bool point_is_break(const struct cps_debug_point *point)
{
    return point->what == CPS_AT_PC || point->what == CPS_AT_LINE;
}
/** "breakpoint" or "watchpoint", by the command that made it. */
const char *point_noun(const struct cps_debug_point *point);
/** A breakpoint. @return NULL, or CPS_ERR_SYNTAX; on success the caller adds @p ret, which then is
 * released with point_release() after cps_debug_remove() */
CPS_MUST_USE struct cps_err *point_break(const struct session *session, unsigned core,
                                         const char *text, struct cps_debug_point *ret);
/** A watchpoint. @param access  bits of enum point_access */
CPS_MUST_USE struct cps_err *point_watch(const struct session *session, unsigned core,
                                         unsigned access, const char *text,
                                         struct cps_debug_point *ret);
/** "file.afuc:12": the first word of that line, or of the next one that has words; false if there
 * is none. */
bool point_line(const struct session *session, unsigned core, const char *text, size_t length,
                uint32_t *ret);
/** Takes "me:" off the front of a place. @param core  gets that processor, else is left alone
 * @return the rest */
const char *point_core(const struct session *session, const char *text, unsigned *core);
/** The breakpoint at @p pc of a core; NULL: there is none. @param enabled  only one that stops */
struct cps_debug_point *point_at(const struct session *session, unsigned core, uint32_t pc,
                                 bool enabled);
/** Sets another condition; NULL or "" for none. */
CPS_MUST_USE struct cps_err *point_condition(struct cps_debug_point *point, const char *condition);
void point_release(struct cps_debug_point *point);
/** Removes a point and its text. */
bool point_remove(struct session *session, int id);
/** Removes all of them. */
void point_clear(struct session *session);
/** The newest event of a kind before event @p number, as far as events are kept.
 * @param number  gets its own @return false: there is none */
bool session_event_before(const struct session *session, enum cps_event_kind kind, uint64_t *number,
                          struct cps_event *ret);
/** The newest dispatch of a core, for the level and the address of its header; false if it is no
 * more kept, or there was none. */
bool session_last_packet(const struct session *session, unsigned core, struct cps_event *ret);

#endif
