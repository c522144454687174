/* SPDX-License-Identifier: MIT
 * The text form of a trace: what people diff and keep in git. */
#ifndef CPS_TEXT_H
#define CPS_TEXT_H

#include "../../isa/isa.h"
#include "../event.h"

CPS_C_BEGIN

/** One input named in a trace's header. */
struct cps_trace_input {
    const char *name;   /**< file name without directories */
    const char *sha256; /**< 64 digits, or "unknown" */
};

/** What a trace says about how it was made. All texts are the caller's. */
struct cps_trace_header {
    enum cps_gen gen;
    struct cps_trace_input firmware[2];
    unsigned firmware_count;
    struct cps_trace_input capture;
    const char *policy; /**< "waits=satisfy visibility=all prefetch=off" */
    const char *events; /**< classes recorded, "submit,pkt,reg" */
};

/** Appends one line of the text form, with newline and commentary. */
CPS_PUBLIC void cps_text_event(struct cps_buf *out, const struct cps_event *event,
                               const struct cps_names *names, bool with_processor);
/** Bits of the kinds that a comma-separated list of classes names ("reg,pipe,memw", "all",
 * "default"); false if a class is unknown. */
CPS_PUBLIC bool cps_text_classes(const char *list, uint32_t *ret);
/** Keyword of a kind: "REG". */
CPS_PUBLIC const char *cps_event_keyword(unsigned kind);

CPS_C_END

#endif
