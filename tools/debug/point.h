/* SPDX-License-Identifier: MIT
 * Breakpoints and watchpoints as people type them.
 *
 *     CP_NOP  CP_NOP+0x2  label  *0x104  file.afuc:12    a place in the firmware
 *     pkt:CP_NOP  pkt:0x10  pkt:CP_NOP@ib2  pkt:@sds     behind the dispatch of a packet
 *     event:irq,prot                                     any event of these classes
 *     $02  @IB_LEVEL  |EVENT_CMD  RB_CCU_CNTL  reg:0x8810-0x8820  [0x1000]  [0x1000]-[0x1fff]
 *                                                        what instructions write (or read)
 *
 * each with " if EXPRESSION" behind it. */
#ifndef CPS_SPOT_H
#define CPS_SPOT_H

#include "tools/debug/session.h"

enum spot_access { SPOT_WRITE = 1, SPOT_READ = 2 };

/** What a point was made from: its `context`. Owned by the session's list of points. */
struct spot {
    const struct session *session;
    char *text;      /**< as typed, without the condition */
    char *condition; /**< or NULL */
};

/** A breakpoint. @return NULL, or CPS_ERR_SYNTAX; on success the caller adds @p ret, which then is
 * released with spot_release() behind cps_debug_remove() */
CPS_MUST_USE struct cps_err *spot_break(const struct session *session, unsigned core,
                                        const char *text, struct cps_debug_point *ret);
/** A watchpoint. @param access  bits of enum spot_access */
CPS_MUST_USE struct cps_err *spot_watch(const struct session *session, unsigned core,
                                        unsigned access, const char *text,
                                        struct cps_debug_point *ret);
/** Sets another condition; NULL or "" for none. */
CPS_MUST_USE struct cps_err *spot_condition(struct cps_debug_point *point, const char *condition);
void spot_release(struct cps_debug_point *point);
/** Removes a point and what it was made from. */
bool spot_remove(struct session *session, int id);
/** Removes all of them. */
void spot_clear(struct session *session);

#endif
