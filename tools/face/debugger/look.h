/* SPDX-License-Identifier: MIT
 * A stopped machine as text: for the command line, the screen and editors. */
#ifndef CPS_LOOK_H
#define CPS_LOOK_H

#include "tools/face/debugger/session.h"

/* ---- look.c ---- */

/** The instruction at @p pc, without newline; labels and places by name. */
void look_insn(const struct session *session, unsigned core, uint32_t pc, struct cps_buf *out);
/** "0104 CP_EVENT_WRITE+0x1" */
void look_pc(const struct session *session, unsigned core, uint32_t pc, struct cps_buf *out);
/** Lines around @p pc: "=> 0104 2883003f  and $03, $04, 0x3f". "=>" runs next, "->" after it where
 * that is not the next line (a delay slot), "*" is a breakpoint. */
void look_code(const struct session *session, unsigned core, uint32_t pc, unsigned before,
               unsigned after, struct cps_buf *out);
/** The line of source of dword @p pc, with its comment, if the file is there; then its code. */
void look_source_text(const struct session *session, unsigned core, uint32_t pc,
                      struct cps_buf *out);
/** The file and line of dword @p pc; false if they are not known. */
bool look_source(const struct session *session, unsigned core, uint32_t pc, const char **file,
                 uint32_t *line);
/** "step 812, event 40, submission 0: sqe 0104 CP_EVENT_WRITE+0x1", with newline; of scripts the
 * line of the run file instead of the submission. */
void look_where(const struct session *session, unsigned core, struct cps_buf *out);
/** Most values that look_registers() shows. */
#define LOOK_VALUES 128u
/** General registers of a core, or the named values of a script's engine. */
struct look_values {
    uint64_t value[LOOK_VALUES];
};
void look_read(const struct session *session, unsigned core, struct look_values *ret);
/** All of them, in rows of about @p width characters; a "*" marks those that are others in
 * @p before (NULL: none). */
void look_registers(const struct session *session, unsigned core, unsigned width,
                    const struct look_values *before, struct cps_buf *out);
/** Calls, then the streams that led here, from the innermost to the ring. */
void look_backtrace(const struct session *session, unsigned core, struct cps_buf *out);
/** One event as a line of a text trace; an access of memory with its buffer, as the capture had
 * them in that submission. */
void look_event(const struct session *session, const struct cps_event *event, uint32_t submission,
                struct cps_buf *out);
/** The last @p count events with their numbers. */
void look_events(const struct session *session, unsigned count, struct cps_buf *out);
/** Why a run stopped; empty if it just went as far as asked. */
void look_stop(const struct session *session, const struct cps_debug_stop *stop,
               struct cps_buf *out);
/** Dwords of a memory (enum cps_file_sigil) from @p iova, four to a line; "........" where nothing
 * was ever stored. The first line, and each that begins in another buffer of the capture, names
 * that buffer. */
void look_memory(const struct session *session, char file, uint64_t iova, uint32_t dwords,
                 struct cps_buf *out);

/* ---- look_fields.c ---- */

/** The space of names of a file's registers; CPS_SPACE_COUNT: none. */
enum cps_space look_space(char file);
/** The value of a 64-bit register, of which @p number is a half, and its buffer if it is an
 * address: " = 0x0000000001125000 [buf 3 +0x0]"; nothing for others. */
void format_register64(const struct session *session, unsigned core, uint32_t number,
                       struct cps_buf *out);
/** The register that @p what names (as expr_place() has it), a field in a line.
 * @return false, and nothing is appended, if it names none */
bool look_register(const struct session *session, unsigned core, const char *what,
                   struct cps_buf *out);
/** The @p most GPU registers that were written last, the newest first, each with its fields; then
 * the control registers that are not 0, and those of the SQE. */
void look_fields(const struct session *session, unsigned core, unsigned most, struct cps_buf *out);
/** The packet at hand: header, name, payload with its fields; addresses with the buffer that they
 * lie in. Nothing for engines without packets. */
void look_packet(const struct session *session, unsigned core, struct cps_buf *out);
/** The same, up to @p most words; "." is before those that the processor read, "=>" before the one
 * that it reads next. */
void look_payload(const struct session *session, unsigned core, unsigned most, struct cps_buf *out);

/* ---- look_way.c: answers for which the run goes its way once more ---- */

struct state_result;
/** The state of `cpscope state` of the session's capture; the caller calls state_deinit() in any
 * case. @param draw  -1: of all @param who  whose draws; CPS_CPU_NONE: of the processor that draws
 */
CPS_MUST_USE struct cps_err *look_draw(const struct session *session, unsigned who, long draw,
                                       struct state_result *ret);
/** Appends the state at this place, the session's changes included, and what changed since the draw
 * before. @param all  also what did not change
 * @return NULL, CPS_ERR_SYNTAX where there are no draws, or an error of cps_debug_retrace() */
CPS_MUST_USE struct cps_err *look_state_here(struct session *session, bool all,
                                             struct cps_buf *out);
/** Appends the state at draw @p draw of the capture, as `cpscope state` has it, without changes of
 * the session. @return NULL, or an error: there is no capture, or no such draw */
CPS_MUST_USE struct cps_err *look_state_draw(const struct session *session, long draw, bool all,
                                             struct cps_buf *out);
/**
 * Appends where a value comes from.
 * @param what  as `cpscope why` takes it, its events counted as the debugger does; or a general or
 *              control register of @p core: "$02", "@IB_LEVEL"
 * @param json  as a line of JSON
 * @return NULL, CPS_ERR_NOMEM, or what is wrong with @p what, or that there is no such value
 */
CPS_MUST_USE struct cps_err *session_why(struct session *session, unsigned core, const char *what,
                                         bool json, struct cps_buf *out);

#endif
