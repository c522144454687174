/* SPDX-License-Identifier: MIT
 * One debugging session: firmware, capture and the debugging core joined, with names for places.
 * The command line, the screen and the adapter for editors all stand on this. */
#ifndef CPS_SESSION_H
#define CPS_SESSION_H

#include <stdatomic.h>

#include "tools/cmd/options/opt.h"
#include "emu/afuc/afuc.h"
#include "emu/debug/debug.h"
#include "tools/run/play.h"

struct session {
    const struct cps_options *opt;
    struct play play; /**< what is loaded; its engine is the debugger's */
    struct cps_debug *debug;
    enum cps_scheme scheme;      /**< whose names of VP1's registers */
    unsigned core;               /**< that commands are about */
    const atomic_int *interrupt; /**< set before session_open(): stops runs, the first one too */
    uint64_t limit; /**< most instructions of one command, back and forth; 0: nobody waits for it */
    uint64_t spent; /**< of the command at hand, CPS_DEBUG_INTERRUPT at a time */
    bool limited;   /**< a command ended because of it */
    const char *line; /**< the command at hand as it was typed, whose columns errors count; NULL */
    uint64_t start;   /**< step at which the session was opened */
};

/** Opens what the options name and goes to the first submission, or to that of --submit; of a hang
 * dump, to where the hardware stood. The caller calls session_close() in any case. */
CPS_MUST_USE struct cps_err *session_open(struct session *session, const struct cps_options *opt);
/** The same, but goes to where the engine's clock is @p clock. */
CPS_MUST_USE struct cps_err *session_open_at(struct session *session, const struct cps_options *opt,
                                             uint64_t clock);
void session_close(struct session *session);
/** Counts instructions of the command at hand that no move counts. */
void session_count_instructions(struct session *session, uint64_t instructions);
/** Whether the command at hand shall end: somebody stops it, or the limit does. */
bool session_interrupted(struct session *session);

/** Appends what there is to say of the place at which the session was opened: for hang dumps a
 * line, else nothing. */
void session_opened(const struct session *session, struct cps_buf *out);

/** The engine as it stands. */
static inline struct cps_engine *session_engine(const struct session *session)
{
    return cps_debug_engine(session->debug);
}
/** The same as what it is; NULL if it is no afuc. */
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
/** Which submission runs, as buffers of the capture count them; 0 before the first. */
uint32_t session_submission(const struct session *session);
/** The image that a core runs, and its part there; NULL if the file has none. */
const struct cps_fw *session_fw(const struct session *session, unsigned core,
                                const struct cps_fw_part **part);
/** Index of @p part in its image. */
unsigned session_part(const struct cps_fw *fw, const struct cps_fw_part *part);
struct cps_names *session_names(const struct session *session, unsigned core);
/** Appends "CP_NOP+0x2": by the user's labels, else by handlers, of which several packets' is
 * called by the one that the core is at. */
void session_place(const struct session *session, unsigned core, uint32_t pc, struct cps_buf *out);
/** The dword that a place's name stands for: a label, a packet's handler, either with "+N" behind
 * it. False if there is none. */
bool session_find_place(const struct session *session, unsigned core, const char *name,
                        size_t length, uint32_t *ret);
/** "sqe", "bv"; the index of the core of that name, or -1. */
const char *session_core_name(const struct session *session, unsigned core);
int session_find_core(const struct session *session, const char *name);

#endif
