/* SPDX-License-Identifier: MIT
 * Breakpoints and watchpoints as people type them.
 *
 *     CP_NOP  CP_NOP+0x2  label  *0x104  file.afuc:12    a place in the firmware
 *     CP_NOP@ib2  label@sds                              the same, while a stream of that level
 * runs me:CP_NOP                                          the same, of that processor pkt:CP_NOP
 * pkt:0x10  pkt:CP_NOP@ib2  pkt:@sds     behind the dispatch of a packet line:12 behind what a run
 * file's host does there event:irq,prot                                     any event of these
 * classes $02  @IB_LEVEL  |EVENT_CMD  RB_CCU_CNTL  reg:0x8810-0x8820  [0x1000]  [0x1000]-[0x1fff]
 *                                                        what instructions write (or read)
 *
 * each with " if EXPRESSION" behind it. */
#ifndef CPS_TYPED_POINT_H
#define CPS_TYPED_POINT_H

#include "tools/face/debugger/session.h"

enum point_access { POINT_WRITE = 1, POINT_READ = 2 };

/** What a point was made from: its `context`. Owned by the session's list of points. */
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

/** Whether people call it a breakpoint, rather than a watchpoint. */
static inline bool point_is_break(const struct cps_debug_point *point)
{
    return point->what == CPS_AT_PC || point->what == CPS_AT_LINE;
}

/** A breakpoint. @return NULL, or CPS_ERR_SYNTAX; on success the caller adds @p ret, which then is
 * released with point_release() behind cps_debug_remove() */
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
 * @return what is left */
const char *point_core(const struct session *session, const char *text, unsigned *core);
/** The breakpoint at @p pc of a core; NULL: there is none. @param enabled  only one that stops */
struct cps_debug_point *point_at(const struct session *session, unsigned core, uint32_t pc,
                                 bool enabled);
/** Sets another condition; NULL or "" for none. */
CPS_MUST_USE struct cps_err *point_condition(struct cps_debug_point *point, const char *condition);
void point_release(struct cps_debug_point *point);
/** Removes a point and what it was made from. */
bool point_remove(struct session *session, int id);
/** Removes all of them. */
void point_clear(struct session *session);

#endif
