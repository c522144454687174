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

#include <json-c/json.h>

#include "tools/explain/audit/case.h"
#include "tools/explain/audit/identity.h"
#include "tools/explain/audit/verdict.h"
#include "tools/cmd/options/opt.h"

struct code;
struct cps_stream;

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
    struct json_object *root; /**< owned */
    unsigned flaws;           /**< and packets that write what is protected */
    unsigned undecided;
    unsigned errors; /**< files that must be readable, and are not */
};

/** What comes of each file that the options name, and of those in folders. The caller calls
 * audit_deinit() in any case. */
CPS_MUST_USE struct cps_err *audit_run(const struct cps_options *opt, struct audit *ret);
void audit_deinit(struct audit *audit);

/** Adds a file, or those of a folder and the folders in it, by name, links not followed. */
CPS_MUST_USE struct cps_err *audit_add_path(struct audit *audit, const char *path, bool known);
/** Fills the row of a capture, or of a hardware dump. */
CPS_MUST_USE struct cps_err *audit_capture(struct cps_stream *stream, const char *format,
                                           struct json_object *row);
CPS_MUST_USE struct cps_err *audit_dump(struct cps_stream *stream, struct code **ret,
                                        struct json_object *row);
/** The image that has most lines of a dump's instruction cache, wherever they stand, or NULL. */
const struct audit_file *audit_dump_nearest(const struct audit *audit,
                                            const struct audit_file *dump);
/** What can be said of the firmware that a dump's processor ran. */
CPS_MUST_USE struct cps_err *audit_recovered(const struct audit *audit, struct audit_file *dump);
/** Adds a row to @p rows and counts it. @p why  NULL or "": nothing to say */
void audit_add_flaw(struct audit_file *file, struct json_object *rows, const struct audit_case *c,
                    enum verdict verdict, const char *why);

/** For which GPU a capture or dump is: older ones have its number, newer ones the chip's id. */
void audit_chip(struct json_object *row, struct cps_buf *out);
/** The report as text. */
void audit_text(struct json_object *root, struct cps_buf *out);
/** The report as a page. */
void audit_html(struct json_object *root, struct cps_buf *out);

#endif
