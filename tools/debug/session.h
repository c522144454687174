/* SPDX-License-Identifier: MIT
 * One debugging session: firmware, capture and the debugging core joined, with names for places.
 * The command line, the screen and the adapter for editors all stand on this. */
#ifndef CPS_SESSION_H
#define CPS_SESSION_H

#include <stdatomic.h>

#include "emu/debug/debug.h"
#include "tools/play/rig.h"

/** A buffer's contents, kept so that any submission can be fed again. */
struct session_data {
    uint64_t iova;
    uint8_t *bytes; /**< owned */
    uint64_t size;
    bool forget; /**< in front of it, all buffers so far are gone; then size may be 0 */
};

/** A submission: what is loaded before it, and the stream. */
struct session_feed {
    size_t first, count; /**< in session.data */
    uint64_t iova;
    uint32_t dwords;
};

struct session {
    struct cps_item_sink items; /* first: the capture reader calls back through it */
    const struct cps_options *opt;
    struct rig rig; /**< firmware and names; its machine is the debugger's */
    struct cps_debug *debug;
    struct session_data *data;
    size_t data_count;
    struct session_feed *feed;
    uint32_t feed_count;
    size_t open_first; /* data that belong to the feed to come */
    bool forget_next;
    unsigned core;               /**< that commands are about */
    const atomic_int *interrupt; /**< set before session_open(): stops runs, the first one too */
};

/** Opens what the options name and goes to the first submission, or to that of --submit; the
 * caller calls session_close() in any case. */
CPS_MUST_USE struct cps_err *session_open(struct session *session, const struct cps_options *opt);
void session_close(struct session *session);

/** The machine as it stands. */
static inline struct cps_machine *session_machine(const struct session *session)
{
    return cps_debug_machine(session->debug);
}
/** The image that a core runs, and its part there; NULL if the file has none. */
const struct cps_fw *session_fw(const struct session *session, unsigned core,
                                const struct cps_fw_part **part);
/** Index of @p part in its image. */
unsigned session_part(const struct cps_fw *fw, const struct cps_fw_part *part);
struct cps_names *session_names(const struct session *session, unsigned core);
/** Appends "CP_NOP+0x2": by the user's labels, else by handlers. */
void session_place(const struct session *session, unsigned core, uint32_t pc, struct cps_buf *out);
/** The dword that a place's name stands for: a label, a packet's handler, either with "+N" behind
 * it. False if there is none. */
bool session_find_place(const struct session *session, unsigned core, const char *name,
                        size_t length, uint32_t *ret);
/** "sqe", "bv"; the index of the core of that name, or -1. */
const char *session_core_name(const struct session *session, unsigned core);
int session_find_core(const struct session *session, const char *name);

#endif
