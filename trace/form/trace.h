/* SPDX-License-Identifier: MIT
 * Traces as files: readers and writers of every form behind one interface.
 *
 * A trace is a head (lines that begin with '#': what was run, how) and events. The text form,
 * `.cpt` and JSON Lines hold the same; the viewers' forms are written only. docs/formats.md has
 * them all.
 *
 * To add a form: a row in trace.c, and a writer or reader beside the others. */
#ifndef CPS_TRACE_H
#define CPS_TRACE_H

#include "../../isa/isa.h"
#include "../event.h"
#include "../outfile.h"
#include "../capture/stream.h"
#include "text.h"

CPS_C_BEGIN

/** One input that a head names. */
struct cps_trace_file {
    char name[256];  /**< without directories, cut if longer */
    char sha256[80]; /**< 64 digits, or "built-in" */
};

/** The head of a trace. */
struct cps_trace_head {
    char *text; /**< all its lines, each with its newline; owned */
    enum cps_gen gen;
    enum cps_layout layout; /**< of the control registers, for names */
    struct cps_trace_file firmware[2];
    unsigned firmware_count;
    struct cps_trace_file capture;
    char policy[128];
    char events[256];
    bool with_processor; /**< lines of the text form begin with the processor */
    const char *prefix;  /**< of chips' names, while the head is read: constant, or NULL */
};

/** Makes the head of a run. */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_trace_head_make(const struct cps_trace_header *header,
                                                            enum cps_layout layout,
                                                            bool with_processor,
                                                            struct cps_trace_head *ret);
/** Takes the lines of @p text apart; lines that are not known are kept. @p file for messages. */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_trace_head_parse(const char *file, const char *text,
                                                             struct cps_trace_head *ret);
CPS_PUBLIC void cps_trace_head_deinit(struct cps_trace_head *head);

struct cps_trace;

/** Opens a trace of any readable form; its first bytes decide. @p stream must outlive it. */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_trace_open(struct cps_stream *stream,
                                                       struct cps_trace **ret);
CPS_PUBLIC void cps_trace_close(struct cps_trace *trace);
CPS_PUBLIC const struct cps_trace_head *cps_trace_head(const struct cps_trace *trace);
/**
 * Gets up to @p max events; *count is 0 at the end.
 * @return CPS_ERR_INPUT for damage; what stood before it has been delivered, also of a `.cpt` that
 *         was cut short
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *
cps_trace_next(struct cps_trace *trace, struct cps_event *events, size_t max, size_t *count);
/** Whether a file that starts with these bytes is a trace. */
CPS_PUBLIC bool cps_trace_recognise(const uint8_t *data, size_t size);

enum cps_trace_form {
    CPS_FORM_TEXT,
    CPS_FORM_CPT,
    CPS_FORM_JSONL,
    CPS_FORM_PERFETTO,
    CPS_FORM_VCD,
    CPS_FORM_COUNT,
};

/** The form that a file name's end asks for (".cpt", ".jsonl", ".json", ".vcd"), else text. */
CPS_PUBLIC enum cps_trace_form cps_trace_form_of(const char *path);
/** The form called @p word ("text", "cpt", "jsonl", "perfetto", "vcd"); false: none is. */
CPS_PUBLIC bool cps_trace_form_parse(const char *word, enum cps_trace_form *ret);

struct cps_trace_writer;

/** Begins a trace in @p out. @p names (by enum cps_processor, may be NULL) give commentary; they,
 * @p out and @p head must outlive the writer. */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_trace_writer_create(
    enum cps_trace_form form, struct cps_outfile *out, const struct cps_trace_head *head,
    struct cps_names *const names[CPS_CPU_COUNT], struct cps_trace_writer **ret);
CPS_PUBLIC struct cps_sink *cps_trace_writer_sink(struct cps_trace_writer *writer);
/** Lets a second thread encode, compress and write, once there proves to be enough to do; what is
 * written stays the same. Until cps_trace_writer_finish(), nobody else may use the outfile, the
 * head and the names. */
CPS_PUBLIC void cps_trace_writer_behind(struct cps_trace_writer *writer);
/** Writes @p head over the one that the writer was made with, which has the same length in every
 * line; the outfile is patchable. Nothing but cps_trace_writer_finish() may follow. */
CPS_PUBLIC void cps_trace_writer_rehead(struct cps_trace_writer *writer,
                                        const struct cps_trace_head *head);
/** Writes the rest and frees the writer; does not commit the outfile. NULL is fine.
 * @return NULL, or CPS_ERR_NOMEM when events were lost for lack of memory */
CPS_PUBLIC struct cps_err *cps_trace_writer_finish(struct cps_trace_writer *writer);

CPS_C_END

#endif
