/* SPDX-License-Identifier: MIT
 * A run as one page of HTML: the run's events and what they mean are written as sections that the
 * page's script (page/) reads. docs/view.md describes the sections.
 *
 *   run.c     runs the capture, or reads a trace
 *   meta.c    inputs, processors, what starts work, buffers
 *   names.c   names, fields and enumerations of what occurs
 *   code.c    the listing of what ran
 *   change.c  what differs between two revisions
 *   page.c    the file: sections of JSON or columns, compressed */
#ifndef CPS_VIEW_H
#define CPS_VIEW_H

#include "tools/run/record.h"
#include "trace/form/diff.h"

struct json_object;

/** Events beyond which those of steps are left out: a page of more is no longer fluid. */
#define VIEW_MOST_EVENTS ((size_t)4000000)
/** Dwords of a packet: its header counts them in 14 bits. */
#define VIEW_MOST_WORDS 0x4000

/** One revision and its run. */
struct view_side {
    struct cps_run_config config; /**< with its share of --fw */
    const char *path[2];          /**< of firmware, as record_run() takes them; NULL: the demo */
    bool alone;                   /**< there is no other revision: it may be a trace */
    struct cps_fw *fw;            /**< owned */
    struct cps_fw *me;            /**< a5xx: of the ME; owned */
    struct record record;
    struct cps_names *names[CPS_CPU_COUNT];
};

/** A processor that made events, and its packets. */
struct view_processor {
    unsigned who;
    size_t packet, packet_end;
};

/** Packets as the page numbers them: by processor, then as they ran. */
struct view_run {
    const struct view_side *side;
    struct view_processor processor[CPS_CPU_COUNT];
    unsigned processors;
    const struct cps_event **packet; /**< PKT events; owned */
    size_t packets;
};

/** Runs @p side->config over a capture, or reads a trace that it made. @p capture  NULL: the
 * demo's.
 * @p steps  with all that the page shows */
CPS_MUST_USE struct cps_err *view_record(struct view_side *side, const char *capture, bool steps);
/** Whether an event becomes a row of the page, rather than a packet, a submission or a word. */
bool view_is_row(const struct cps_event *event);
/** Numbers the packets of a run. The caller frees ret->packet. */
void view_number(const struct view_side *side, struct view_run *ret);
/** Adds what the page is about: `meta` but for the inputs. */
void view_meta(const struct view_run *run, struct json_object *to);
/** Names of registers, and what packets' words are called. */
void view_names(const struct view_run *run, struct json_object *to);

/** A listing of all parts of an image: a line per dword. */
struct view_listing {
    struct cps_buf text; /**< that the lines point into */
    struct view_line {
        const char *text; /**< NULL: no instruction */
        const char *comment;
        char *function; /**< labels of the function that begins there, owned; or NULL */
    } * line;           /**< owned */
    uint32_t count;
};
CPS_MUST_USE struct cps_err *view_listing(const struct cps_fw *fw, const char *rnn,
                                          struct view_listing *ret);
void view_listing_deinit(struct view_listing *listing);
/** Instructions of the functions that ran. @p text  with what they say */
CPS_MUST_USE struct cps_err *view_code(const struct view_run *run, bool text,
                                       struct json_object *to);

/** Differences between an old run and this one. */
CPS_MUST_USE struct cps_err *view_change(const struct view_run *run, const struct view_side *old,
                                         bool text, struct json_object *to);

/** The page before its sections, and after them. @p title  is escaped */
void view_page_begin(const char *title, struct cps_buf *out);
void view_page_end(struct cps_buf *out);
/** Appends a section of JSON, and releases @p value. */
void view_page_json(const char *name, struct json_object *value, struct cps_buf *out);
/** Appends the events as columns. */
void view_page_events(const struct record *record, struct cps_buf *out);

#endif
