/* SPDX-License-Identifier: MIT
 * What `cpscope audit` finds out, as JSON: the printers read that.
 *
 *   {"cases": [{"name", "flaw", "known_as", "evidence"}],
 *    "files": [a row each, by "kind":
 *       "firmware": as identity_json() has it, "nearest": {"name", "equal", "of", "same_contents"},
 *                   "flaws": [{"case", "verdict", "why"}], "protect": [as protect_try() has it],
 *                   "unchecked", "undecided": counts
 *       "capture": "format", "gpu_id", "chip_id", "packets"
 *       "dump": "format", "gpu_id", "version" of the firmware that ran, "nearest", whose counts are
 *               of the lines in the processor's instruction cache, "recovered": {"from", words by
 *               what they come from: "hardware", "donor", "unknown"; "handlers", "whole": those
 *               of which all code is the hardware's}, "flaws" as of firmware, "why": nothing was
 *               recovered
 *       "skipped", "error": "why"],
 *    "flaws", "undecided", "errors", "skipped": counts} */
#ifndef CPS_AUDIT_H
#define CPS_AUDIT_H

#include "tools/cmd/options/opt.h"
#include "tools/run/record.h"
#include "trace/out/json.h"

struct code;

/* ---- case.c: what a flaw is, by behaviour: a PM4 text, and which events have to come of it, or
 * must not ---- */

/** Largest text of a case, in bytes. */
#define CASE_TEXT_LIMIT (1u << 20)

/** An event, as a line of a case says it. */
struct case_event {
    bool never; /**< it must not come; else it has to */
    unsigned kind;
    bool any_addr, any_value; /**< "*" */
    uint64_t addr;
    uint32_t value;
    char *text; /**< as it stands in the line; in the case's head, as the next */
    char *why;  /**< what the line says behind that, perhaps nothing */
};

struct audit_case {
    char *name;    /**< of its file, without the end; owned */
    char *text;    /**< the PM4 text; owned */
    char *head;    /**< a copy of it, cut into the words that the rest points to; owned */
    size_t size;   /**< of the text */
    char *flaw;    /**< what a firmware does that has it */
    char *known;   /**< its number in public, or NULL */
    char *packets; /**< words: those that a firmware must handle, or the case does not apply */
    char *evidence;
    uint32_t gens; /**< CPS_GEN_BIT()s that it is about */
    struct case_event *event;
    size_t events;
};

struct audit_cases {
    struct audit_case *item;
    size_t count;
};

/** Reads the cases that are built in, or all *.pm4 of a folder, by name.
 * @param dir  NULL: the built-in ones
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_OS, or CPS_ERR_INPUT: a file that is no case, or no file;
 *         the caller calls audit_cases_deinit() in any case */
CPS_MUST_USE struct cps_err *audit_cases_load(const char *dir, struct audit_cases *ret);
void audit_cases_deinit(struct audit_cases *cases);

/* ---- identity.c: which firmware an image is, by its contents ---- */

/** An image with the hashes of its handlers. */
struct identity {
    struct cps_fw *fw; /**< owned */
    char sha256[65];   /**< of the file */
    struct cps_fw_hash hash[CPS_FW_MAX_PARTS][CPS_FW_TABLE_SIZE];
    /** Not what handles packets that do not exist. */
    bool own[CPS_FW_MAX_PARTS][CPS_FW_TABLE_SIZE];
};

/** Loads and hashes. @return NULL, or what cps_fw_load() and cps_sha256_file() return; the caller
 * destroys ret->fw in any case */
CPS_MUST_USE struct cps_err *identity_load(const char *path, unsigned gen, struct identity *ret);
/** How many handlers of @p a are its own, in all parts. */
unsigned identity_handlers(const struct identity *a);
/** How many of them do the same in @p b, in the part of the same role. */
unsigned identity_equal(const struct identity *a, const struct identity *b);
/** Members for a report: id, chip, generation, version, sha256, processors. */
void identity_json(const struct identity *a, struct json_object *to);
/** Whether the first part of @p fw handles a packet by itself, and not as it does those that there
 * are not. */
bool identity_handles(const struct cps_fw *fw, const struct cps_names *names, const char *name,
                      size_t length);

/* ---- verdict.c: a firmware runs PM4 texts, each from power-on; whether it has a flaw ---- */

struct probe {
    struct cps_run_config config;
    struct play *play;       /**< its names are for texts of events */
    struct record record;    /**< events of the last run */
    bool stopped;            /**< the last run ended early */
    struct cps_buf why;      /**< where and why; empty if it did not */
    struct cps_cover *cover; /**< of the last run, by word of the image; NULL: nobody counts */
    uint32_t covers;
};

/** Loads the firmware. @p gen  what it is to be taken for. @p firmware  its paths, of a5xx two.
 * @p image  NULL; else the firmware, which it takes over in any case; then what is executed is
 * counted. The caller calls probe_close() in any case. */
CPS_MUST_USE struct cps_err *probe_open(struct probe *probe, unsigned gen,
                                        const char *const firmware[2], struct cps_fw *image);
void probe_close(struct probe *probe);
/** Runs a text. @p name  of it, for messages. @p kinds  events to keep, as bits */
CPS_MUST_USE struct cps_err *probe_run(struct probe *probe, const char *name, const char *text,
                                       size_t size, uint32_t kinds);
/** Appends an event of the last run as a line of a trace has it, without its end. */
void probe_text(const struct probe *probe, const struct cps_event *event, struct cps_buf *out);

enum verdict {
    VERDICT_CLEAN,     /**< it did what the case needs, and not what it must not */
    VERDICT_FLAW,      /**< it did what it must not */
    VERDICT_NOT_ABOUT, /**< the case is about other generations, or a packet that it lacks */
    VERDICT_UNDECIDED, /**< it did not come so far */
    VERDICT_COUNT,
};

/** "has it not", "has the flaw", "does not apply", "undecided". */
const char *verdict_word(enum verdict verdict);
/** Tries @p c on a firmware. @p probe  NULL: it cannot run, and @p why says the reason.
 * @param why  gets what the verdict comes from */
CPS_MUST_USE struct cps_err *verdict_of(const struct audit_case *c, const struct cps_fw *fw,
                                        struct probe *probe, enum verdict *ret,
                                        struct cps_buf *why);

/* ---- protect.c: whether packets that write registers can write those that CP_PROTECT forbids,
 * level by level, by what the firmware does ---- */

enum protect_level {
#define LEVEL(id, ...) PROTECT_##id,
#include "tools/explain/audit/writer.def"
    PROTECT_LEVELS,
};

/** What was found. */
struct protect_found {
    unsigned unchecked; /**< packets and levels, the ring not counted */
    unsigned undecided;
};

/** Appends the levels' words: "ib1". */
void protect_levels(struct json_object *list);
/** Tries all packets that the firmware handles. @param rows  array that gets an object for each:
 * "packet", and what it does by level, in words; "why" where something is not decided */
CPS_MUST_USE struct cps_err *protect_try(struct probe *probe, struct json_object *rows,
                                         struct protect_found *ret);

/* ---- audit.c: all files; dump.c: captures and hardware dumps; report.c: the report ---- */

/** A file to look at. */
struct audit_file {
    char *path;                /**< owned */
    bool named;                /**< on the command line, not found in a folder */
    bool known;                /**< only to be compared with */
    bool expected;             /**< it must be readable: named, or firmware as it begins */
    bool guessed;              /**< nothing says what it is: firmware is tried */
    struct identity *image;    /**< where it is firmware; owned */
    struct code *code;         /**< what a dump holds of its firmware; owned */
    struct json_object *row;   /**< of the report, which takes it at the end; NULL: `known` */
    struct cps_err *complaint; /**< what it is not, though it was named; owned */
    struct cps_err *err;       /**< what ends the audit; owned */
    unsigned flaws, undecided;
};

struct audit {
    const struct cps_options *opt;
    struct audit_cases cases;
    struct audit_file *file;
    size_t files;
    struct json_object *root;  /**< owned */
    unsigned flaws, undecided; /**< with packets that write what is protected */
    unsigned errors;           /**< files that must be readable, and are not */
};

/** What comes of each file that the options name, and of those in folders. The caller calls
 * audit_deinit() in any case. */
CPS_MUST_USE struct cps_err *audit_run(const struct cps_options *opt, struct audit *ret);
void audit_deinit(struct audit *audit);

/** Fills the row of a capture, or of a hardware dump. */
CPS_MUST_USE struct cps_err *audit_capture(struct cps_stream *stream, const char *format,
                                           struct json_object *row);
CPS_MUST_USE struct cps_err *audit_dump(struct cps_stream *stream, struct code **ret,
                                        struct json_object *row);
/** What can be said of the firmware that a dump's processor ran. */
CPS_MUST_USE struct cps_err *audit_recovered(const struct audit *audit, struct audit_file *dump);
/** Adds a row to @p rows and counts it. @p why  NULL or "": nothing to say */
void audit_add_flaw(struct audit_file *file, struct json_object *rows, const struct audit_case *c,
                    enum verdict verdict, const char *why);

/** Writes the report, as text or as a page. */
void audit_put(struct json_object *root, bool page, struct cps_buf *out);

#endif
