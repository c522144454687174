/* SPDX-License-Identifier: MIT
 * What a stopped machine looks like, as text: for the command line, the screen and editors. */
#ifndef CPS_LOOK_H
#define CPS_LOOK_H

#include "tools/debug/session.h"

/** The instruction at @p pc, without newline; labels and places by name. */
void look_insn(const struct session *session, unsigned core, uint32_t pc, struct cps_buf *out);
/** Lines around @p pc: "=> 0104 2883003f  and $03, $04, 0x3f". "=>" runs next, "->" behind it where
 * that is not the next line (a delay slot), "*" is a breakpoint. */
void look_code(const struct session *session, unsigned core, uint32_t pc, unsigned before,
               unsigned after, struct cps_buf *out);
/** "step 812, event 40: sqe 0104 CP_EVENT_WRITE+0x1", with newline. */
void look_where(const struct session *session, unsigned core, struct cps_buf *out);
/** All general registers, in rows of @p columns; those in @p changed have a "*". */
void look_registers(const struct session *session, unsigned core, unsigned columns,
                    uint32_t changed, struct cps_buf *out);
/** The packet at hand: header, name, payload; registers of type 4 with their fields. */
void look_packet(const struct session *session, unsigned core, struct cps_buf *out);
/** Calls, then the streams that led here, from the innermost to the ring. */
void look_backtrace(const struct session *session, unsigned core, struct cps_buf *out);
/** One event as a line of a text trace. */
void look_event(const struct session *session, const struct cps_event *event, struct cps_buf *out);
/** The last @p count events with their numbers. */
void look_events(const struct session *session, unsigned count, struct cps_buf *out);
/** Why a run stopped; empty if it just went as far as asked. */
void look_stop(const struct session *session, const struct cps_debug_stop *stop,
               struct cps_buf *out);
/** Dwords of memory from @p iova, four to a line; "........" where nothing was ever stored. */
void look_memory(const struct session *session, uint64_t iova, uint32_t dwords,
                 struct cps_buf *out);
/** The line of source that dword @p pc comes from, with its comment, if the file is there. */
void look_source_text(const struct session *session, unsigned core, uint32_t pc,
                      struct cps_buf *out);
/** The file and line that dword @p pc comes from; false if nobody knows. */
bool look_source(const struct session *session, unsigned core, uint32_t pc, const char **file,
                 uint32_t *line);

#endif
