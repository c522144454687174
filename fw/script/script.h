/* SPDX-License-Identifier: MIT
 * Scripts of small engines (HWSQ, SEQ, VP1) as files: raw bytes, assembly, or a run file, which
 * adds what the host and the rest of the chip do (docs/engines.md). Of engines without code (PFIFO)
 * a run file is all there is. It does not run them, and does not know what a policy means. */
#ifndef CPS_SCRIPT_H
#define CPS_SCRIPT_H

#include "../../isa/isa.h"

CPS_C_BEGIN

/** Largest script in bytes; a length field of SEQ does not reach further. */
#define CPS_SCRIPT_MAX_BYTES ((size_t)256 << 10)
/** Most words of OUT: its size is a byte. */
#define CPS_SCRIPT_MAX_OUT 255u
/** RAMIN as PFIFO sees it. */
#define CPS_SCRIPT_RAMIN_BYTES 0x100000u
/** Most `object` lines. */
#define CPS_SCRIPT_MAX_OBJECTS 256u

/** What the host does, in order. */
enum cps_script_do {
    CPS_DO_WRITE,  /**< addr, value */
    CPS_DO_READ,   /**< addr; expects value in the bits of mask */
    CPS_DO_UPLOAD, /**< the script's bytes to code RAM from byte addr on */
    CPS_DO_WAIT,   /**< ticks pass */
    CPS_DO_RUN,    /**< until the engine has nothing to do */
    CPS_DO_OBJECT, /**< addr is a handle, mask its channel, value its context */
};
/** Where an address of the host's leads. */
enum cps_script_where {
    CPS_AT_REG,    /**< a register: effects and events */
    CPS_AT_RAMIN,  /**< the engine's memory, beside the engine */
    CPS_AT_MEMORY, /**< the host's own */
};
struct cps_script_step {
    enum cps_script_do what;
    enum cps_script_where where; /**< of reads and writes */
    uint8_t size;                /**< bytes of a write: 4, 2 or 1; only words are aligned */
    uint32_t addr, value, mask;
    uint64_t ticks;
    uint32_t line; /**< of the run file, from 1 */
};

/** What the rest of the chip does, at a tick: an event or a register gets a value. */
struct cps_script_change {
    uint64_t tick;
    bool is_event;
    uint32_t number;
    uint32_t value;
    uint32_t line;
};

/** A loaded script; all lists are owned. */
struct cps_script {
    char *name; /**< path, for messages */
    enum cps_gen gen;
    struct cps_buf code; /**< bytes */
    struct cps_script_step *step;
    size_t step_count;                /**< 0: the usual way to start it */
    struct cps_script_change *change; /**< by tick */
    size_t change_count;
    uint32_t out[CPS_SCRIPT_MAX_OUT];
    unsigned out_count;
    bool has_out;
    struct cps_buf policy; /**< "name=word name=word", not looked into */
};

/**
 * Takes a script file apart; its first line and bytes tell which form it has. Files that it names
 * are beside @p name.
 * @param isa  the engine's, for messages; @param gen  0: as the file says
 * @return NULL, CPS_ERR_OS, CPS_ERR_INPUT (file, offset) or CPS_ERR_SYNTAX (file, line, column).
 * The caller calls cps_script_deinit() in any case.
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_script_parse(const char *name, const void *bytes,
                                                         size_t size, const struct cps_isa *isa,
                                                         unsigned gen, struct cps_script *ret);
/** Whether words can be a script of SEQ, as envytools' decoder of traces tells it: the first header
 * has no stray bits, operations are known, and none runs past the end. */
CPS_PUBLIC bool cps_seq_plausible(const void *bytes, size_t size);
CPS_PUBLIC void cps_script_deinit(struct cps_script *script);

/**
 * Assembles @p text, with labels, comments and literals as cps_assemble() has them. SEQ gets the
 * word that ends a script unless that stands there, or the directive `.noend`. VP1 has "+" in front
 * of a word that joins the bundle before it, `.names seed|envytools`, and `.align`, which fills a
 * group of four words with bnop.
 * @param gen  0: as the head comment says ("; g92 hwsq")
 * @return NULL, or CPS_ERR_SYNTAX as cps_assemble() gives it; appends to @p ret
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_script_assemble(const char *name, const char *text,
                                                            size_t size, unsigned gen,
                                                            struct cps_buf *ret);
/** Appends the assembly of a script's bytes; assembling it again gives the same bytes. Behind each
 * line stands where it is, and the name of a register that it holds; in front of it "+" where its
 * word joins the bundle before it.
 * @param rnn_dir  as for cps_names_create()
 * @param scheme  of VP1's registers, else CPS_NAMES_SEED */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_script_listing(enum cps_gen gen, const void *bytes,
                                                           size_t size, const char *rnn_dir,
                                                           enum cps_scheme scheme,
                                                           struct cps_buf *out);
/** Whether a file that begins with these bytes is a run file. */
CPS_PUBLIC bool cps_is_script(const void *bytes, size_t size);

CPS_C_END

#endif
