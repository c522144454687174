/* SPDX-License-Identifier: MIT
 * What `cpscope audit` finds out, as a tree (tools/cmd/render/doc.h):
 *
 *   {"cases": [{"name", "flaw", "known_as", "evidence"}],
 *    "files": [a row each, by "kind":
 *       "firmware": "id", "chip", "generation", "version", "sha256", "dwords", "assumed",
 * "handlers", "processors", "nearest": {"name", "equal", "of", "same_contents"}, "flaws": [{"case",
 * "verdict", "why"}], "protect": [as protect_try() has it], "unchecked", "undecided": counts
 *       "capture": "format", "gpu_id", "chip_id", "packets"
 *       "dump": "format", "gpu_id", "version" of the firmware that ran, "nearest", whose counts are
 *               of the lines in the processor's instruction cache, "recovered": {"from", words by
 *               their source: "hardware", "donor", "unknown"; "handlers", "whole": those of which
 *               all code is the hardware's}, "flaws" as of firmware, "why": nothing was recovered
 *       "skipped", "error": "why"],
 *    "flaws", "undecided", "errors", "skipped": counts} */
#ifndef CPS_AUDIT_H
#define CPS_AUDIT_H

#include "tools/run/files.h"
#include "tools/run/record.h"
#include "trace/out/json.h"

struct code;

/* ---- case.c: a flaw is a PM4 text, and which events must follow from it, or must not ---- */

/** An event, as a line of a case names it. */
struct case_event {
    bool never; /**< it must not come; else it has to */
    unsigned kind;
    bool any_addr, any_value; /**< "*" */
    uint64_t addr;
    uint32_t value;
    char *text; /**< the event and the remark after it; owned */
};

struct audit_case {
    char *name;    /**< of its file, without the suffix; owned */
    char *text;    /**< the PM4 text; owned */
    char *head;    /**< a copy, cut into the words that the members below point to; owned */
    size_t size;   /**< of the text */
    char *flaw;    /**< what a firmware does that has it */
    char *known;   /**< its number in public, or NULL */
    char *packets; /**< words: a firmware that handles not all of them is not affected */
    char *evidence;
    uint32_t gens; /**< CPS_GEN_BIT()s that it is about */
    struct case_event *event;
    size_t events;
};

struct audit_cases {
    struct audit_case *item;
    size_t count;
};

/** Reads the built-in cases (@p dir NULL), or all *.pm4 of a folder, by name.
 * @return NULL, CPS_ERR_OS, or CPS_ERR_INPUT: a file that is no case, or no file; the caller calls
 *         audit_cases_deinit() in any case */
CPS_MUST_USE struct cps_err *audit_cases_load(const char *dir, struct audit_cases *ret);
void audit_cases_deinit(struct audit_cases *cases);

/* ---- probe.c: a firmware runs PM4 texts, each from power-on; whether it has a flaw ---- */

struct probe {
    struct cps_run_config config;
    struct play *play;       /**< its names are for texts of events */
    struct record record;    /**< events of the last run */
    struct cps_buf why;      /**< where and why the last run ended early; empty if it did not */
    struct cps_cover *cover; /**< of the last run, by word of the image; NULL: not counted */
    uint32_t covers;
};

/** Loads the firmware, @p firmware, of a5xx two files, or takes over @p image, whose executed words
 * are counted. The caller calls probe_close() in any case. */
CPS_MUST_USE struct cps_err *probe_open(struct probe *probe, unsigned gen,
                                        const char *const firmware[2], struct cps_fw *image);
void probe_close(struct probe *probe);
/** Runs a text. @p name  of it, for messages. @p kinds  events to record, as bits */
CPS_MUST_USE struct cps_err *probe_run(struct probe *probe, const char *name, const char *text,
                                       size_t size, uint32_t kinds);
/** Appends an event of the last run as a line of a trace has it, without its end. */
void probe_text(const struct probe *probe, const struct cps_event *event, struct cps_buf *out);
/** Which packets a part of @p fw handles by itself. */
void probe_own_handlers(const struct cps_fw *fw, unsigned part, bool ret[CPS_FW_TABLE_SIZE]);
/** Whether the first part of @p fw handles a packet by itself. */
bool probe_handles(const struct cps_fw *fw, const struct cps_names *names, const char *name,
                   size_t length);

enum verdict {
    VERDICT_CLEAN,     /**< it did what the case needs, and not what it must not */
    VERDICT_FLAW,      /**< it did what it must not */
    VERDICT_NOT_ABOUT, /**< the case is about other generations, or a packet that it lacks */
    VERDICT_UNDECIDED, /**< the run ended before */
    VERDICT_COUNT,
};

const char *verdict_word(enum verdict verdict);
/** Tries @p c on a firmware. @p probe  NULL: it cannot run
 * @param why  gets what the verdict comes from */
CPS_MUST_USE struct cps_err *verdict_of(const struct audit_case *c, const struct cps_fw *fw,
                                        struct probe *probe, enum verdict *ret,
                                        struct cps_buf *why);

/* ---- protect.c: whether packets that write registers can write those that CP_PROTECT forbids,
 * level by level, by what the firmware does ---- */

/** Appends the levels' words: "ib1". */
void protect_levels(struct json_object *list);
struct audit_file;
/** Tries all packets that the firmware handles: "protect" gets a row for each, with "packet", what
 * it does by level, and "why" where something is not decided. "unchecked" counts packets and
 * levels, without the ring. @p probe  NULL: it cannot run */
CPS_MUST_USE struct cps_err *protect_try(struct probe *probe, struct audit_file *file);

/* ---- audit.c: all files; dump.c: captures and hardware dumps; report.c: the report ---- */

/** What the command line asks for. */
struct audit_config {
    unsigned gen;      /**< what images are taken for; 0: as they say */
    const char *cases; /**< folder; NULL: the built-in ones */
    char *const *path;
    unsigned paths;
    const struct file_paths *known, *fw_path; /**< to compare with; where firmware is */
    unsigned jobs;
};

/** A firmware image. */
struct identity {
    struct cps_fw *fw; /**< owned */
    unsigned handlers; /**< its own, in all parts */
    struct cps_fw_hash hash[CPS_FW_MAX_PARTS][CPS_FW_TABLE_SIZE];
    bool own[CPS_FW_MAX_PARTS][CPS_FW_TABLE_SIZE];
};

/** A file to look at. */
struct audit_file {
    char *path;                /**< owned */
    bool named;                /**< on the command line, not found in a folder */
    bool known;                /**< only to be compared with */
    bool expected;             /**< it must be readable: named, or firmware by its first words */
    struct identity *image;    /**< where it is firmware; owned */
    struct code *code;         /**< the firmware that a dump holds; owned */
    struct json_object *row;   /**< of the report, which takes it at the end; NULL: `known` */
    struct cps_err *complaint; /**< why it is not what it was named for; owned */
    struct cps_err *err;       /**< ends the audit; owned */
    unsigned flaws, undecided;
};

struct audit {
    const struct audit_config *config;
    struct audit_cases cases;
    struct audit_file *file;
    size_t files;
    struct json_object *root;  /**< owned */
    unsigned flaws, undecided; /**< with packets that write what is protected */
    unsigned errors;           /**< files that must be readable, and are not */
};

/** Audits each file that @p config names, and those in folders. The caller calls audit_deinit() in
 * any case. */
CPS_MUST_USE struct cps_err *audit_run(const struct audit_config *config, struct audit *ret);
void audit_deinit(struct audit *audit);

/** Fills the row of a capture, or of a hardware dump. */
CPS_MUST_USE struct cps_err *audit_capture(struct cps_stream *stream, const char *format,
                                           struct json_object *row);
CPS_MUST_USE struct cps_err *audit_dump(struct cps_stream *stream, struct code **ret,
                                        struct json_object *row);
/** Audits the firmware that a dump's processor ran, as far as the dump holds it. */
CPS_MUST_USE struct cps_err *audit_recovered(const struct audit *audit, struct audit_file *dump);
/** Adds the nearest file to a row. */
void audit_put_nearest(struct audit_file *file, const char *name, uint32_t equal, uint32_t of,
                       bool is_same);
/** Adds a row to the "flaws" of a file and counts it. @p why  NULL or "": nothing to report */
void audit_add_flaw(struct audit_file *file, const struct audit_case *c, enum verdict verdict,
                    const char *why);

/** Writes the report, as text or as a page. */
void audit_put(struct json_object *root, bool page, struct cps_buf *out);

#endif
