/* SPDX-License-Identifier: MIT
 * Scripts of small engines (HWSQ, SEQ, VP1) as files: raw bytes, assembly, or a run file, which
 * adds what the host and the rest of the chip do (docs/engines/). Of engines without code (PFIFO)
 * a run file is all there is. It does not run them, and does not know what a policy means.
 *
 * Threads: there is no state outside of struct cps_script. One thread at a time changes it; any
 * number may read one that nobody changes. */
#ifndef CPS_SCRIPT_H
#define CPS_SCRIPT_H

#include "../../../isa/isa.h"

CPS_C_BEGIN

/** Largest script in bytes; a length field of SEQ does not reach further. */
#define CPS_SCRIPT_MAX_BYTES ((size_t)256 << 10)
/** Most words of OUT: its size is a byte. */
#define CPS_SCRIPT_MAX_OUT 255u
/** Bytes of RAMIN as PFIFO sees it. */
#define CPS_SCRIPT_RAMIN_BYTES 0x100000u
/** Most `object` lines. */
#define CPS_SCRIPT_MAX_OBJECTS 256u

/** What the host does, in order. */
enum cps_script_do {
    /** It writes `value` to `addr`. */
    CPS_DO_WRITE,
    /** It reads `addr`, and expects `value` in the bits of `mask`. */
    CPS_DO_READ,
    /** It puts the script's bytes into code RAM, from byte `addr` on. */
    CPS_DO_UPLOAD,
    /** It waits for `ticks`. */
    CPS_DO_WAIT,
    /** It waits until the engine has nothing to do. */
    CPS_DO_RUN,
    /** It makes an object: `addr` is the handle, `mask` its channel, `value` its context. */
    CPS_DO_OBJECT,
};
/** Where an address of the host's leads. */
enum cps_script_where {
    /** To a register: with effects and events. */
    CPS_AT_REG,
    /** Into the engine's memory, beside the engine. */
    CPS_AT_RAMIN,
    /** Into the host's own memory. */
    CPS_AT_MEMORY,
    /** Through BAR1, into the memory of the card. */
    CPS_AT_BAR1,
    /** Through BAR2, into RAMIN. */
    CPS_AT_BAR2,
};
/** One thing that the host does. Members that `what` does not name are 0. */
struct cps_script_step {
    /** What it does. */
    enum cps_script_do what;
    /** Where to, of reads and writes. */
    enum cps_script_where where;
    /** Bytes of a write: 4, 2 or 1; only words are aligned. */
    uint8_t size;
    /** As enum cps_script_do says; addresses are bytes. */
    uint32_t addr, value, mask;
    /** Of the engine's own length: 32 ns for HWSQ, 1 ns for SEQ. */
    uint64_t ticks;
    /** Where the run file says so, from 1. */
    uint32_t line;
};

/** What the rest of the chip does, at a tick: an event or a register gets a value. */
struct cps_script_change {
    /** When, counted from the start. */
    uint64_t tick;
    /** An event gets it; else a register. */
    bool is_event;
    /** Number of the event, or the register's address in bytes. */
    uint32_t number;
    /** What it gets. */
    uint32_t value;
    /** Where the run file says so, from 1. */
    uint32_t line;
};

/** Where a run file says a word of its policy; both count from 1. */
struct cps_script_word {
    /** Byte of the policy at which the word begins. */
    size_t at;
    /** Of the run file. */
    uint32_t line;
    /** Byte of the line. */
    uint32_t column;
};

/** A loaded script; all lists are owned. */
struct cps_script {
    /** Path, for messages. */
    char *name;
    /** The generation that it is for. */
    enum cps_gen gen;
    /** The code, as bytes. */
    struct cps_buf code;
    /** What the host does. */
    struct cps_script_step *step;
    /** How many steps; 0: the usual way to start it. */
    size_t step_count;
    /** What the rest of the chip does, by tick. */
    struct cps_script_change *change;
    /** How many changes. */
    size_t change_count;
    /** SEQ: the words of OUT at the start. */
    uint32_t out[CPS_SCRIPT_MAX_OUT];
    /** How many words. */
    unsigned out_count;
    /** Whether there is an OUT at all. */
    bool has_out;
    /** "name=word name=word", not looked into: for cps_policy_parse(). */
    struct cps_buf policy;
    /** Where each of these words stands. */
    struct cps_script_word *policy_word;
    /** How many words. */
    size_t policy_count;
};

/**
 * Takes a script file apart; its first line and bytes tell which form it has. Files that it names
 * are beside it and are read too.
 * @param name   path of the file, for messages and to find those others
 * @param bytes  @p size bytes of it, which are not kept
 * @param size   bytes
 * @param isa    the engine's instruction set, for messages
 * @param gen    0: as the file says; else the generation
 * @param ret    gets the script; the caller calls cps_script_deinit() in any case
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_OS, CPS_ERR_INPUT (file, offset) or CPS_ERR_SYNTAX (file,
 *         line, column)
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_script_parse(const char *name, const void *bytes,
                                                         size_t size, const struct cps_isa *isa,
                                                         unsigned gen, struct cps_script *ret);
/**
 * Takes bytes for the code of a script, whatever they look like: a piece of another file.
 * @param name   for messages
 * @param bytes  @p size bytes, which are copied
 * @param size   bytes
 * @param gen    the generation; 0 is refused
 * @param ret    gets the script; the caller calls cps_script_deinit() in any case
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_INPUT: none, too many, no whole words, or no generation
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_script_raw(const char *name, const void *bytes,
                                                       size_t size, unsigned gen,
                                                       struct cps_script *ret);
/**
 * How long an instruction waits for time to pass.
 * @param gen   the generation that it is of
 * @param insn  decoded
 * @return ticks: 32 ns for HWSQ, 1 ns for SEQ; 0 for all that do not wait for time
 */
CPS_PUBLIC uint64_t cps_script_ticks(enum cps_gen gen, const struct cps_insn *insn);
/**
 * Whether words can be a script of SEQ, as envytools' decoder of traces tells it: the first header
 * has no stray bits, operations are known, and none runs past the end.
 * @param bytes  the words, least significant byte first
 * @param size   bytes
 */
CPS_PUBLIC bool cps_seq_plausible(const void *bytes, size_t size);
/**
 * Releases what a script holds.
 * @param script  from cps_script_parse(), or zero-initialised
 */
CPS_PUBLIC void cps_script_deinit(struct cps_script *script);

/**
 * Assembles a script, with labels, comments and literals as cps_assemble() has them. SEQ gets the
 * word that ends a script unless that stands there, or the directive `.noend`. VP1 has "+" in front
 * of a word that joins the bundle before it, `.names measured|envytools`, and `.align`, which fills
 * a group of four words with bnop.
 * @param name  of the source, for messages
 * @param text  @p size bytes, which are not kept
 * @param size  bytes
 * @param gen   0: as the head comment says ("; g92 hwsq"); else the generation
 * @param ret   gets the bytes appended
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_SYNTAX as cps_assemble() gives it
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_script_assemble(const char *name, const char *text,
                                                            size_t size, unsigned gen,
                                                            struct cps_buf *ret);
/**
 * Appends the assembly of a script's bytes; assembling it again gives the same bytes. Behind each
 * line stands where it is, and the name of a register that it holds; in front of it "+" where its
 * word joins the bundle before it.
 * @param gen      the generation that it is for
 * @param bytes    the code
 * @param size     bytes
 * @param rnn_dir  as for cps_names_create()
 * @param scheme   which names registers of VP1 get, else CPS_NAMES_MEASURED
 * @param out      where to
 * @return NULL, CPS_ERR_NOMEM, or what cps_names_create() returns
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_script_listing(enum cps_gen gen, const void *bytes,
                                                           size_t size, const char *rnn_dir,
                                                           enum cps_scheme scheme,
                                                           struct cps_buf *out);
/**
 * Whether a file that begins with some bytes is a run file, of this version or another.
 * @param bytes  the first ones
 * @param size   how many
 */
CPS_PUBLIC bool cps_is_script(const void *bytes, size_t size);

CPS_C_END

#endif
