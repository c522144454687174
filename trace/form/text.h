/* SPDX-License-Identifier: MIT
 * The text form of a trace: what people diff and keep in git. Files of it, with their heads, are
 * read and written by trace.h.
 *
 * Threads: there is no state beside the arguments. */
#ifndef CPS_TEXT_H
#define CPS_TEXT_H

#include "../../isa/isa.h"
#include "../event/event.h"

CPS_C_BEGIN

/** One input named in a trace's header. */
struct cps_trace_input {
    /** File name without directories. */
    const char *name;
    /** 64 digits, or "unknown". */
    const char *sha256;
};

/** What a trace says about how it was made. All texts are the caller's. */
struct cps_trace_header {
    /** The generation of the engine. */
    enum cps_gen gen;
    /** The firmware; of a5xx that of the PFP and that of the ME. */
    struct cps_trace_input firmware[2];
    /** How many. */
    unsigned firmware_count;
    /** What was run. */
    struct cps_trace_input capture;
    /** As cps_policy_text() has it: "waits=satisfy visibility=all prefetch=off". */
    const char *policy;
    /** As which generation captures of others are run on purpose; CPS_GEN_NONE: they are not. */
    enum cps_gen as;
    /** What the chip's identity was said to be, as --chip-id takes it; NULL: nothing was said. */
    const char *chip_id;
    /** Classes recorded: "submit,pkt,reg". */
    const char *events;
};

/**
 * Appends one line of the text form, with newline and commentary.
 * @param out             where to
 * @param event           the event
 * @param names           for commentary, of the event's processor; NULL: none
 * @param with_processor  the line begins with the processor's name
 */
CPS_PUBLIC void cps_text_event(struct cps_buf *out, const struct cps_event *event,
                               const struct cps_names *names, bool with_processor);

CPS_C_END

#endif
