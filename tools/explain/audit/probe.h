/* SPDX-License-Identifier: MIT
 * A firmware that is asked: it runs PM4 texts, each from power-on, and what comes of each is kept.
 */
#ifndef CPS_AUDIT_PROBE_H
#define CPS_AUDIT_PROBE_H

#include "tools/run/play.h"
#include "tools/run/record.h"

struct probe {
    struct cps_options opt;
    struct play *play;       /**< its names are for texts of events */
    struct record record;    /**< events of the last run */
    bool stopped;            /**< the last run ended early */
    struct cps_buf why;      /**< where and why; empty if it did not */
    struct cps_cover *cover; /**< of the last run, by word of the image; NULL: nobody counts */
    uint32_t covers;
};

/** Loads the firmware. @p opt  what it is to be taken for. @p firmware  its paths, of a5xx two.
 * The caller calls probe_close() in any case. */
CPS_MUST_USE struct cps_err *probe_open(struct probe *probe, const struct cps_options *opt,
                                        const char *const firmware[2]);
/** The same of an image, which it takes over in any case, and counts what is executed. */
CPS_MUST_USE struct cps_err *probe_open_image(struct probe *probe, const struct cps_options *opt,
                                              struct cps_fw *fw);
void probe_close(struct probe *probe);
/** Runs a text. @p name  of it, for messages. @p kinds  events to keep, as bits */
CPS_MUST_USE struct cps_err *probe_run(struct probe *probe, const char *name, const char *text,
                                       size_t size, uint32_t kinds);
/** Appends an event of the last run as a line of a trace has it, without its end. */
void probe_text(const struct probe *probe, const struct cps_event *event, struct cps_buf *out);

#endif
