/* SPDX-License-Identifier: MIT
 * Traces as files: readers and writers of every form behind one interface.
 *
 * A trace is a head (lines that begin with '#': what was run, how) and events. The text form,
 * `.cpt` and JSON Lines hold the same; the viewers' forms are written only. docs/formats.md has
 * them all.
 *
 * Threads: one at a time may use a reader or a writer; different ones are independent. */
#ifndef CPS_TRACE_H
#define CPS_TRACE_H

#include "../../isa/isa.h"
#include "../event/event.h"
#include "../out/outfile.h"
#include "../capture/stream.h"
#include "text.h"

CPS_C_BEGIN

/** One input that a head names. */
struct cps_trace_file {
    /** Without directories, cut if longer. */
    char name[256];
    /** 64 digits, or "built-in", or "unknown". */
    char sha256[80];
};

/** The head of a trace. Zero-initialised is one that says nothing. */
struct cps_trace_head {
    /** All its lines, each with its newline; owned. */
    char *text;
    /** The generation of the engine. */
    enum cps_gen gen;
    /** Of the control registers, for names. */
    enum cps_layout layout;
    /** The firmware. */
    struct cps_trace_file firmware[2];
    /** How many files of it. */
    unsigned firmware_count;
    /** What was run. */
    struct cps_trace_file capture;
    /** As cps_policy_text() has it. */
    char policy[512];
    /** Classes recorded. */
    char events[256];
    /** As which generation captures of others were run on purpose; CPS_GEN_NONE: they were not. */
    enum cps_gen as;
    /** What the chip's identity was said to be: "ID" or "ID:VARIANT"; "": what the firmware wants.
     */
    char chip_id[32];
    /** Lines of the text form begin with the processor. */
    bool with_processor;
    /** Of chips' names, while the head is read: constant, or NULL. */
    const char *prefix;
};

/**
 * Makes the head of a run.
 * @param header          what it says; copied
 * @param layout          of the control registers
 * @param with_processor  whether several processors ran
 * @param ret             gets the head, which the caller deinitialises
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_INPUT: a text is too long for a head
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_trace_head_make(const struct cps_trace_header *header,
                                                            enum cps_layout layout,
                                                            bool with_processor,
                                                            struct cps_trace_head *ret);
/**
 * Takes the lines of a head apart; those that are not known are kept.
 * @param file  for messages
 * @param text  the lines, each with its newline
 * @param ret   gets the head, which the caller deinitialises
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_INPUT: it is no head, or a line says what there is not
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_trace_head_parse(const char *file, const char *text,
                                                             struct cps_trace_head *ret);
/**
 * Releases what a head holds.
 * @param head  one that was made or parsed, or zero-initialised
 */
CPS_PUBLIC void cps_trace_head_deinit(struct cps_trace_head *head);

/** A trace that is being read. */
struct cps_trace;

/**
 * Opens a trace of any readable form; its first bytes decide.
 * @param stream  where it is; it must outlive the reader
 * @param ret     gets the reader, which the caller closes
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_OS, CPS_ERR_INPUT, or CPS_ERR_UNSUPPORTED for a form that is
 *         only written, or that the library was built without
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_trace_open(struct cps_stream *stream,
                                                       struct cps_trace **ret);
/**
 * Ends a reader; its stream stays open.
 * @param trace  which; NULL is fine
 */
CPS_PUBLIC void cps_trace_close(struct cps_trace *trace);
/**
 * The head of a trace.
 * @param trace  which
 * @return valid as long as the reader
 */
CPS_PUBLIC const struct cps_trace_head *cps_trace_head(const struct cps_trace *trace);
/**
 * Gets the next events.
 * @param trace   where from
 * @param events  gets them
 * @param max     how many there is room for
 * @param count   gets how many came; 0 at the end
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_OS, or CPS_ERR_INPUT for damage; what stood before it has
 *         been delivered, also of a `.cpt` that was cut short
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *
cps_trace_next(struct cps_trace *trace, struct cps_event *events, size_t max, size_t *count);
/**
 * Whether a file that starts with some bytes is a trace.
 * @param data  the first ones, decompressed
 * @param size  how many
 */
CPS_PUBLIC bool cps_trace_recognise(const uint8_t *data, size_t size);

/** The formats that a trace can be written in: CPS_FORM_TEXT and so on; form.def has a row for
 * each, which says what it is. */
enum cps_trace_form {
#define WRITTEN(id, word, suffix) CPS_FORM_##id,
#include "form.def"
    /** How many there are. */
    CPS_FORM_COUNT,
};

/**
 * The form that a trace is read from.
 * @param trace  which
 */
CPS_PUBLIC enum cps_trace_form cps_trace_form(const struct cps_trace *trace);

/**
 * The form that a file name's end asks for.
 * @param path  ".cpt", ".jsonl", ".json" (Perfetto), ".vcd" and ".db" say something
 * @return CPS_FORM_TEXT for any other
 */
CPS_PUBLIC enum cps_trace_form cps_trace_form_of(const char *path);
/**
 * The form of a word.
 * @param word  "text", "cpt", "jsonl", "perfetto", "vcd", "sqlite"
 * @param ret   gets the form
 * @return false if none is called so
 */
CPS_PUBLIC bool cps_trace_form_parse(const char *word, enum cps_trace_form *ret);
/**
 * The word of a form, as cps_trace_form_parse() reads it.
 * @param form  below CPS_FORM_COUNT
 * @return constant text
 */
CPS_PUBLIC const char *cps_trace_form_word(enum cps_trace_form form);

struct cps_buffers;
/** A trace that is being written. */
struct cps_trace_writer;

/**
 * Begins a trace.
 * @param form   which
 * @param out    where to; it must outlive the writer, and the caller commits it
 * @param head   what stands in front; it must outlive the writer
 * @param names  by enum cps_processor, for commentary; NULL, also members: none. They must outlive
 *               the writer
 * @param ret    gets the writer, which cps_trace_writer_finish() ends
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_UNSUPPORTED for a form that the library was built without
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_trace_writer_create(
    enum cps_trace_form form, struct cps_outfile *out, const struct cps_trace_head *head,
    struct cps_names *const names[CPS_CPU_COUNT], struct cps_trace_writer **ret);
/**
 * What a writer takes events with: for cps_engine_sink().
 * @param writer  which
 * @return valid as long as the writer
 */
CPS_PUBLIC struct cps_sink *cps_trace_writer_sink(struct cps_trace_writer *writer);
/**
 * Lets a form for viewers of waves show a GPU register as a signal of its own.
 * @param writer  which, before its first event; other forms than VCD take no notice
 * @param name    of the signal; copied
 * @param number  of the register
 * @return NULL or CPS_ERR_NOMEM
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_trace_writer_signal(struct cps_trace_writer *writer,
                                                                const char *name, uint32_t number);
/** Of cps_flow_code(): the instruction has a delay slot. */
#define CPS_FLOW_CODE_SLOT 0x80u
/** Of cps_flow_code(): no field of the instruction says where it goes. */
#define CPS_FLOW_CODE_REGISTER 0x40u
/** Of cps_flow_code(): 1 + enum cps_flow. */
#define CPS_FLOW_CODE_MASK 0x3fu
/**
 * Where an instruction goes, in a byte: for whoever follows calls.
 * @param isa   the set that decoded it
 * @param insn  as decoded
 * @param pc    where it stands in its image, in units
 */
CPS_PUBLIC uint8_t cps_flow_code(const struct cps_isa *isa, const struct cps_insn *insn,
                                 uint32_t pc);
/** Says where the instruction at @p pc of a processor goes, as cps_flow_code(); 0: it is not known.
 */
typedef uint8_t cps_flow_fn(void *context, unsigned who, uint32_t pc);
/**
 * Lets a form for viewers show calls, where STEP events are recorded: only the code says what is
 * one.
 * @param writer   which, before its first event; other forms take no notice
 * @param flow     who knows the code
 * @param context  its first argument, to outlive the writer
 */
CPS_PUBLIC void cps_trace_writer_flow(struct cps_trace_writer *writer, cps_flow_fn *flow,
                                      void *context);
/** Appends the name of the place that a call of a processor leads to; nothing if it has none. */
typedef void cps_place_fn(void *context, unsigned who, uint32_t pc, struct cps_buf *out);
/**
 * Lets a form for viewers name what is called.
 * @param writer   which, before its first event; other forms take no notice
 * @param place    who knows the names
 * @param context  its first argument, to outlive the writer
 */
CPS_PUBLIC void cps_trace_writer_places(struct cps_trace_writer *writer, cps_place_fn *place,
                                        void *context);
/**
 * Lets a database say which buffers the capture has, and which of them addresses lie in.
 * @param writer   which, before its first event; other forms take no notice
 * @param buffers  read by cps_trace_writer_finish() only, when it must be sealed; it must outlive
 *                 the writer
 */
CPS_PUBLIC void cps_trace_writer_buffers(struct cps_trace_writer *writer,
                                         const struct cps_buffers *buffers);
/**
 * Writes another head over the one that the writer was made with. Nothing but
 * cps_trace_writer_finish() may follow.
 * @param writer  whose outfile is cps_outfile_patchable()
 * @param head    of the same length in every line
 */
CPS_PUBLIC void cps_trace_writer_rehead(struct cps_trace_writer *writer,
                                        const struct cps_trace_head *head);
/**
 * Writes the rest and frees the writer; does not commit the outfile.
 * @param writer  which; NULL is fine
 * @return NULL, CPS_ERR_NOMEM when events were lost for lack of memory, or CPS_ERR_OS: the form
 * could not be made; then what the outfile has is nothing to commit
 */
CPS_PUBLIC struct cps_err *cps_trace_writer_finish(struct cps_trace_writer *writer);

CPS_C_END

#endif
