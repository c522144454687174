/* SPDX-License-Identifier: MIT
 * What readers and writers of the forms share with trace.c. Private to trace/. */
#ifndef CPS_FORMS_H
#define CPS_FORMS_H

#include "isa/base/buf.h"
#include "trace/form/trace.h"

/** A reader: `next` as cps_trace_next(), `close` frees what it made. */
struct cps_trace {
    struct cps_stream *stream;
    enum cps_trace_form form;
    struct cps_trace_head head;
    void *state;
    struct cps_err *(*next)(struct cps_trace *trace, struct cps_event *events, size_t max,
                            size_t *count);
    void (*close)(void *state);
};

/** A register that a form shows by itself. */
struct cps_signal {
    char *name; /* owned */
    uint32_t number;
};

/** A writer: `event`, or `events` for all of a batch, appends to `buf`, which trace.c hands to the
 * outfile; `end` is the last. What stands behind `filled` is the thread's while there is one. */
struct cps_trace_writer {
    struct cps_sink sink;     /* first */
    bool behind;              /* a thread may start */
    struct cps_handoff *ring; /* of batches on their way to it, or NULL */
    struct cps_event *batch;  /* the one that is being filled, or NULL */
    size_t filled;            /* events in it */
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
    void *state;             /* of the form; freed by trace.c with free() */
    uint64_t count;          /* events so far */
    uint64_t tick;           /* the last TICK's */
    bool ticking;            /* there was one */
    bool lost;               /* out of memory */
    struct cps_err *failure; /* why there is nothing whole, or NULL; owned */
    void (*put_head)(struct cps_trace_writer *writer); /* NULL: the form has none */
    void (*event)(struct cps_trace_writer *writer, const struct cps_event *event);
    void (*events)(struct cps_trace_writer *writer, const struct cps_event *events, size_t count);
    void (*end)(struct cps_trace_writer *writer);
    void (*deinit)(void *state); /* what it holds; NULL: nothing */
};

/** Most bytes of a head, which readers hold in memory. */
#define TRACE_HEAD_BYTES (4u << 20)

/* text_read.c: reads head and events of the text form. */
CPS_MUST_USE struct cps_err *cps_text_open_(struct cps_trace *trace);
/* jsonl.c */
CPS_MUST_USE struct cps_err *cps_jsonl_open_(struct cps_trace *trace);
CPS_MUST_USE struct cps_err *cps_jsonl_write_(struct cps_trace_writer *writer);
/* cpt_file.c */
CPS_MUST_USE struct cps_err *cps_cpt_open_(struct cps_trace *trace);
CPS_MUST_USE struct cps_err *cps_cpt_write_(struct cps_trace_writer *writer);
/* text.c, perfetto.c */
CPS_MUST_USE struct cps_err *cps_text_write_(struct cps_trace_writer *writer);
CPS_MUST_USE struct cps_err *cps_perfetto_write_(struct cps_trace_writer *writer);
/* sqlite.c */
CPS_MUST_USE struct cps_err *cps_sqlite_write_(struct cps_trace_writer *writer);
/* vcd.c */
CPS_MUST_USE struct cps_err *cps_vcd_write_(struct cps_trace_writer *writer);

/** Row of event.def by keyword: kind, or CPS_EV_COUNT. */
unsigned cps_event_by_keyword_(const char *word, size_t length);
/** Columns of a kind's text form. */
const char *cps_event_columns_(unsigned kind);

/** check.c: whether an event can be, in a trace whose head names processors or does not: what was
 * expected, or NULL. */
const char *cps_event_check_(const struct cps_event *event, bool with_processor);
/** Where the address of a register has the pipe whose register it is, if that is not the one that
 * the processor feeds (a7xx on). */
#define CPS_PIPE_SHIFT_ 36
/** Whether bit 32 of an event's address is the context bank (a5xx) and no part of the place. */
bool cps_event_has_bank_(unsigned kind);

#endif
