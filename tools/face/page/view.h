/* SPDX-License-Identifier: MIT
 * A run as one page of HTML: what the page shows is gathered here, and written as sections that its
 * script (view/page/) reads. docs/view.md says what a section holds.
 *
 *   gather.c  runs the capture, and sorts what happened by processor
 *   launch.c  what starts work
 *   names.c   names, fields and enumerations of what occurs
 *   buffers.c buffers of the capture
 *   code.c    the listing of what ran
 *   change.c  what differs between two revisions
 *   section.c sections: JSON or columns, compressed
 *   page.c    the file */
#ifndef CPS_VIEW_H
#define CPS_VIEW_H

#include "tools/run/record.h"
#include "trace/form/diff.h"

struct json_object;

/** Events beyond which those of steps are left out: a page of more is no longer fluid. */
#define VIEW_MOST_EVENTS ((size_t)4000000)

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

/** A packet, in the order of the page: by processor, then as they ran. */
struct view_packet {
    const struct cps_event *event; /**< the PKT; NULL: the end of the list */
    uint32_t low, high, header;    /**< its address and value */
    uint32_t submission;           /**< number of the SUBMIT before it; UINT32_MAX: none */
    uint32_t time;                 /**< events before it in the run, as view_is_timed() */
    uint32_t first;                /**< of its rows */
    uint32_t word;                 /**< of its words */
    uint32_t layout;               /**< 1 + number of what its words are called; 0: none */
};

/** A processor that made events: a range of rows and packets. */
struct view_processor {
    unsigned who;
    uint32_t row, row_end, packet, packet_end;
};

/** A row of the page. */
struct view_row {
    const struct cps_event *event;
    uint32_t addr, value, pc;
    uint8_t kind; /**< kind | sub << 4 */
};

/** Rows of the page are events but for submissions, packets and words. */
struct view_run {
    const struct view_side *side;
    struct view_processor processor[CPS_CPU_COUNT];
    unsigned processors;
    struct view_row *row; /**< owned; a second register of a STEP is a row of its own */
    size_t rows, row_room;
    struct view_packet *packet; /**< owned, with one more at the end */
    size_t packets;
    uint32_t *word; /**< owned */
    size_t words, word_room;
    const struct cps_event **submission; /**< owned */
    size_t submissions;
    uint32_t time; /**< events of the run, as view_is_timed() */
};

/** Runs @p side->config over a capture, or reads a trace that it made. @p capture  NULL: the
 * demo's.
 * @p steps  with all that the page shows */
CPS_MUST_USE struct cps_err *view_record(struct view_side *side, const char *capture, bool steps);
/** Whether an event becomes a row; the page numbers kinds with four bits. */
bool view_is_row(const struct cps_event *event);
/** Whether an event counts in the time of the page: rows, packets, submissions, the end. */
bool view_is_timed(const struct cps_event *event);
/** Sorts a run. The caller calls view_run_deinit() */
void view_gather(const struct view_side *side, struct view_run *ret);
void view_run_deinit(struct view_run *run);
/** The image and the part that a processor runs; NULL: none. */
const struct cps_fw *view_image(const struct view_side *side, unsigned who,
                                const struct cps_fw_part **part);
/** "CP_NOP", "type 4", "UNKN12": what is called so by the header's packet. */
void view_packet_name(const struct view_side *side, const struct cps_event *pkt,
                      struct cps_buf *out);

/** Adds "draws": packets that start work, by processor; "kinds" of them; and "drawing", the index
 * of the processor that is meant where none is named. */
void view_launches(const struct view_run *run, struct json_object *to);

/** Names of registers, and what packets' words are called; sets the layouts of packets. */
void view_names(struct view_run *run, struct json_object *to);

/** Buffers that are valid in submissions of the run: member `buffers`. */
void view_buffers(const struct view_run *run, struct json_object *to);

/** An instruction of a listing. */
struct view_line {
    char *text;     /**< owned; NULL: no instruction */
    char *comment;  /**< owned, or NULL */
    char *function; /**< owned: it begins there; or NULL */
};
/** A listing of all parts of an image: a line per dword. */
struct view_listing {
    struct view_line *line; /**< owned */
    uint32_t count;
};
CPS_MUST_USE struct cps_err *view_listing(const struct cps_fw *fw, const char *rnn,
                                          struct view_listing *ret);
void view_listing_deinit(struct view_listing *listing);
/** Instructions of the functions that ran. @p text  with what they say */
CPS_MUST_USE struct cps_err *view_code(const struct view_run *run, bool text,
                                       struct json_object *to);

/** What differs between an old run and this one. */
CPS_MUST_USE struct cps_err *view_change(const struct view_run *run, const struct view_side *old,
                                         bool text, struct json_object *to);

/** A section that grows; zero-initialised is empty. */
struct view_section {
    uint8_t *data; /**< owned */
    size_t size, room;
};
void view_put(struct view_section *section, const void *data, size_t size);
/** A column of @p count numbers as four planes of bytes, the lowest first. @p first  of them, the
 * next is @p stride bytes on; @p delta  its difference to the one before is written. */
void view_put_column(struct view_section *section, size_t count, bool delta, const uint32_t *first,
                     size_t stride);
/** Appends the element of a section: compressed, as base64; then it is empty. */
void view_section_put(struct view_section *section, const char *name, struct cps_buf *out);
/** Appends bytes as base64. */
void view_base64(struct cps_buf *out, const uint8_t *data, size_t size);
/** Columns of packets, words and events. */
void view_columns(const struct view_run *run, struct cps_buf *out);

/** The page up to its sections, and behind them. @p title  is escaped */
void view_page_begin(const char *title, struct cps_buf *out);
void view_page_end(struct cps_buf *out);

#endif
