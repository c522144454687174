/* SPDX-License-Identifier: MIT
 * What readers and writers of the formats share. Private to trace/. */
#ifndef CPS_FORMS_H
#define CPS_FORMS_H

#include "isa/base/buf.h"
#include "trace/capture/lines.h"
#include "trace/event/event_words.h"
#include "trace/form/trace.h"
#include "trace/form/words.h"
#include "trace/out/json.h"

/** A reader: `next` as cps_trace_next(), `close` frees what it made. */
struct cps_trace {
    struct cps_stream *stream;
    enum cps_trace_form form;
    struct cps_trace_head head;
    void *state;
    uint64_t count; /* events so far */
    bool lacks_end; /* END, which the head promises, has not come yet */
    struct cps_err *(*next)(struct cps_trace *trace, struct cps_event *events, size_t max,
                            size_t *count);
    void (*close)(void *state);
};

/** A register that a format shows by itself. */
struct cps_signal {
    char *name; /* owned */
    uint32_t number;
};

/** A writer: `event`, or `events` for all of a batch, appends to `buf`, which trace.c hands to the
 * outfile; `end` is the last. */
struct cps_trace_writer {
    struct cps_sink sink; /* first */
    struct cps_outfile *out;
    const struct cps_trace_head *head;
    struct cps_names *names[CPS_CPU_COUNT];
    struct cps_signal *signal; /* registers that VCD shows; owned */
    size_t signals;
    cps_flow_fn *flow; /* NULL: the code is not known */
    void *flow_context;
    cps_place_fn *place; /* NULL: places have no names */
    void *place_context;
    const struct cps_buffers *buffers; /* of the capture, known when the trace is over; or NULL */
    struct cps_buf buf;
    struct cps_words words;         /* of the packet at hand */
    struct cps_words_form on_words; /* how the format shows them; its context is the writer */
    void *state;                    /* of the format; freed by trace.c with free() */
    uint64_t count;                 /* events so far */
    uint64_t tick;                  /* the last TICK's */
    bool ticking;                   /* there was one */
    bool lost;                      /* out of memory */
    struct cps_err *failure;        /* why there is nothing whole, or NULL; owned */
    void (*put_head)(struct cps_trace_writer *writer); /* NULL: the format has none */
    void (*event)(struct cps_trace_writer *writer, const struct cps_event *event);
    void (*events)(struct cps_trace_writer *writer, const struct cps_event *events, size_t count);
    void (*end)(struct cps_trace_writer *writer);
    void (*deinit)(void *state); /* what it holds; NULL: nothing */
};

/** Most bytes of a head, which readers hold in memory. */
#define TRACE_HEAD_BYTES (4u << 20)

#define WRITTEN(id, word, suffix) \
    CPS_MUST_USE struct cps_err *cps_##word##_write_(struct cps_trace_writer *writer);
#include "trace/form/form.def"
#define READABLE(id, word, suffix, magic) \
    CPS_MUST_USE struct cps_err *cps_##word##_open_(struct cps_trace *trace);
#include "trace/form/form.def"

/* ---- lines of events: text_read.c ---- */

/** A trace of lines. */
struct cps_event_lines {
    struct cps_lines lines; /* first */
    bool pending;           /* the line at hand was not taken yet */
    /** Reads an event from the line at hand. @p expected  gets what was expected, or NULL */
    struct cps_err *(*parse)(const struct cps_lines *line, bool with_processor,
                             struct cps_event *ret, const char **expected);
};

/** Makes the state of a reader of lines. */
CPS_MUST_USE struct cps_err *cps_event_lines_open_(struct cps_trace *trace,
                                                   struct cps_event_lines **ret);

/* ---- names and words: words.c ---- */

/** The names of the processor that made an event, or NULL. */
const struct cps_names *cps_named_by_(const struct cps_trace_writer *writer,
                                      const struct cps_event *event);
/** The name of the register that an event is about; NULL: it has none. */
const char *cps_named_register_(const struct cps_names *names, const struct cps_event *event);
/** Adds "fields" with what is known of the value of a register, unless nothing is. */
void cps_named_fields_(struct json_object *to, const struct cps_names *names,
                       const struct cps_event *event);
/** The name of a packet, or of the register that it writes first; NULL: it has none. */
const char *cps_named_packet_(const struct cps_names *names, uint32_t header);

/** Shows the words that wait, where there are any. */
void cps_words_flush_(struct cps_trace_writer *writer);
/** Lets a WORD of the packet before wait, and shows the words that wait before any other event.
 * @return whether the event waits */
bool cps_words_wait_(struct cps_trace_writer *writer, const struct cps_event *event);

/* ---- a file without a name: spool.c ---- */

/** For formats that cannot be written from their start to their end. It lies in TMPDIR, and goes
 * with the process. */
struct cps_spool {
    int fd;
    int failed;      /**< errno of the first failure, or 0 */
    char path[4096]; /**< its name, while it has one */
};

/** Makes the file, which still has its name, for others to open. On error there is nothing to be
 * closed. */
CPS_MUST_USE struct cps_err *cps_spool_open_(struct cps_spool *spool);
/** Takes the name away; where that fails, cps_spool_close_() tries again. */
void cps_spool_forget_(struct cps_spool *spool);
/** Appends bytes; after an error the rest is dropped. */
void cps_spool_write_(struct cps_spool *spool, const void *data, size_t size);
/** Appends the whole contents to an output. @return NULL, or what failed first */
CPS_MUST_USE struct cps_err *cps_spool_copy_(struct cps_spool *spool, struct cps_outfile *out);
void cps_spool_close_(struct cps_spool *spool);

#endif
