/* SPDX-License-Identifier: MIT
 * The assembler's state and the steps that its files share. Private to fw/. */
#ifndef CPS_ASM_H
#define CPS_ASM_H

#include "fw/fw.h"

/* ---- a source as lines, and the errors found in it ---- */

/** Longest statement of assembly, without its comment, in bytes. */
#define CPS_ASM_MAX_LINE 500
/** After so many errors the rest is not reported. */
#define CPS_ASM_MAX_ERRORS 20

/** A source, the line that is being read, and its errors so far. */
struct cps_asm_text {
    const char *name; /**< of the source, for messages */
    const char *start, *end;
    const char *next; /**< the line after the current one */
    const char *line; /**< the current line in the source */
    size_t length;    /**< of the current line, without its end */
    uint32_t number;  /**< of the current line, from 1 */
    /** The current line without comment and trailing blanks, until the next one. */
    const char *statement;
    struct cps_buf held; /**< what has the statement */
    size_t longest; /**< bytes that one may have; CPS_ASM_MAX_LINE unless somebody changes it */
    bool muted;     /**< errors are not noted: another pass will find them again */
    unsigned error_count;
    struct cps_buf errors;
    /** Gets each error as it is noted, if somebody wants them one by one; may be NULL. */
    void (*each)(void *context, uint32_t line, size_t column, const char *message);
    void *context; /**< the first argument of `each` */
};

void cps_asm_text_init_(struct cps_asm_text *text, const char *name, const char *source,
                        size_t size);
void cps_asm_text_deinit_(struct cps_asm_text *text);
/** Begins again with the first line. */
void cps_asm_rewind_(struct cps_asm_text *text);
/** Goes to the next line; false after the last one or after too many errors. */
bool cps_asm_next_(struct cps_asm_text *text);
/** Notes an error at byte @p column of the current line, from 0. Always false. */
bool cps_asm_error_(struct cps_asm_text *text, size_t column, const char *format, ...)
    CPS_PRINTF(3, 4);
/** The comment of the current line, after its ';', or NULL; @p ret is its length. */
const char *cps_asm_comment_(const struct cps_asm_text *text, size_t *ret);
/** All noted errors as one, or NULL; also that memory was short. */
CPS_MUST_USE struct cps_err *cps_asm_errors_(const struct cps_asm_text *text);

/* ---- labels: collected in the first pass, looked up in the second ---- */

struct cps_asm_label {
    const char *name; /**< in the source, not terminated */
    size_t length;
    unsigned section; /**< each section has its own labels */
    uint32_t offset;  /**< dwords from the start of the section */
    uint32_t place;   /**< dwords from the start of the image */
    uint32_t line;    /**< where it is defined */
};

/** Zero-initialised is empty. */
struct cps_asm_labels {
    struct cps_asm_label *list;
    size_t count;
};

void cps_asm_labels_deinit_(struct cps_asm_labels *labels);
/** Adds a label; false when out of memory. Look-ups need cps_asm_labels_sort_() first. */
bool cps_asm_labels_add_(struct cps_asm_labels *labels, struct cps_asm_label label);
void cps_asm_labels_sort_(struct cps_asm_labels *labels);
/** The label of this name in @p section, the first one if it is defined twice; or NULL. */
const struct cps_asm_label *cps_asm_labels_find_(const struct cps_asm_labels *labels,
                                                 unsigned section, const char *name, size_t length);

/* ---- the assembler ---- */

/* Sections are numbered by what they are for; the first one of an image is CPS_FW_SQE. */
enum { CPS_ASM_SECTIONS = CPS_FW_ROLE_COUNT };

/** An assembly in progress. All numbers are units of the instruction set: dwords, bytes of HWSQ. */
struct cps_assembler {
    struct cps_asm_text text;
    struct cps_asm_labels labels;
    struct cps_names *names;
    const struct cps_isa *isa;
    enum cps_gen gen;
    enum cps_layout layout;
    bool has_layout;   /* the head comment says it */
    bool encoding;     /* the second pass */
    bool failed;       /* out of memory */
    uint32_t *words;   /* of the image; grows during the second pass */
    uint32_t position; /* dword of the image */
    uint32_t lead;
    unsigned section;
    bool section_used[CPS_ASM_SECTIONS];
    uint32_t section_start;
    struct cps_fw_part part[CPS_ASM_SECTIONS]; /* the sections in the order of the image */
    unsigned part_count;
    unsigned part_of[CPS_ASM_SECTIONS]; /* by section */
    struct cps_fw_debug *debug;         /* NULL: nobody wants labels and lines */
    struct cps_buf bytes;               /* scripts: of the statement at hand */
    bool ended;                         /* scripts: it was the end of one */
    bool no_end;                        /* scripts: no end is to be added */
    enum cps_scheme scheme;             /* scripts: whose names registers have */
};

/** The current address, as instructions and labels of the section count it. */
static inline uint32_t cps_asm_pc_(const struct cps_assembler *a)
{
    return a->position - a->section_start;
}

/** Notes that something else was @p expected at @p at in the current statement. Always false. */
bool cps_asm_expected_(struct cps_assembler *a, const char *at, const char *expected);
/** Whether nothing but blanks is left; else notes an error. */
bool cps_asm_end_(struct cps_assembler *a, const char *at);
/** Appends a word (a byte of HWSQ); false if there is no room. */
bool cps_asm_emit_(struct cps_assembler *a, uint32_t word);
/** The length of the label that begins the text, without its colon and blanks before that;
 * else 0. */
size_t cps_asm_label_length_(const char *at);
/** What is after that label of @p length. */
const char *cps_asm_behind_label_(const char *at, size_t length);

/** Finds a label for the parser; @p context is the assembler. */
bool cps_asm_find_label_(void *context, const char *name, size_t length, uint32_t *ret);
/** Both passes over the source; errors are in a->text. */
void cps_asm_run_(struct cps_assembler *a);
void cps_asm_deinit_(struct cps_assembler *a);

/** script.c: an instruction, or a directive, of a script; false if there is no room. */
bool cps_asm_script_(struct cps_assembler *a, const char *at);
/** What is after the last statement of a script. */
bool cps_asm_script_end_(struct cps_assembler *a);

/** Notes from which line the word at the current position comes; false when out of memory. */
bool cps_asm_note_line_(struct cps_assembler *a);
/** Turns the finished assembly into @p ret, all but its words. */
CPS_MUST_USE struct cps_err *cps_asm_program_(struct cps_assembler *a, struct cps_program *ret);

/**
 * Finds out the generation and the layout: as asked, else as the head comment says, else by the
 * first word. Leaves the text where it is.
 */
CPS_MUST_USE struct cps_err *cps_asm_head_(struct cps_assembler *a, unsigned gen);
/** The same for scripts, whose head comment is "; g92 hwsq". */
CPS_MUST_USE struct cps_err *cps_asm_script_head_(struct cps_assembler *a, unsigned gen);

/* ---- the assembler for a caller that edits a source: every error, and the labels ---- */

/** Gets an error: line from 1, column in bytes from 0, which may be that of the line's end. */
typedef void cps_asm_error_fn(void *context, uint32_t line, size_t column, const char *message);

/** What a source is, also if it has errors. Zero-initialised is one of nothing. */
struct cps_asm_check {
    /** CPS_GEN_NONE: neither the source nor the caller says it; there are no labels then. */
    enum cps_gen gen;
    enum cps_layout layout;
    /** Sorted by section and name; they point into the source. */
    struct cps_asm_labels labels;
};

/**
 * Assembles a source of any instruction set, and forgets what comes of it.
 * @param text  stays the caller's, who keeps it as long as the labels
 * @param gen   enum cps_gen that the source is taken for if it does not say it itself; 0: none
 * @param each  gets the errors, those of CPS_ASM_MAX_ERRORS lines at most
 * @param ret   to be released by cps_asm_check_deinit_()
 * @return NULL or CPS_ERR_NOMEM
 */
CPS_MUST_USE struct cps_err *cps_asm_check_(const char *text, size_t size, unsigned gen,
                                            cps_asm_error_fn *each, void *context,
                                            struct cps_asm_check *ret);
void cps_asm_check_deinit_(struct cps_asm_check *check);

#endif
