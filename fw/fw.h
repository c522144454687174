/* SPDX-License-Identifier: MIT
 * libcps-fw: firmware as files and as source. Reads and writes containers, tells generations and
 * processors apart, assembles and lists. It does not run anything: where the parts of an image
 * begin is found from its own header words and tables.
 *
 * Threads: there is no state outside of handles. One thread at a time changes a handle; any number
 * may read one that nobody changes. */
#ifndef CPS_FW_H
#define CPS_FW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../isa/isa.h"

CPS_C_BEGIN

/** Most parts that one image can hold. */
#define CPS_FW_MAX_PARTS 4
/** Entries of a packet table. */
#define CPS_FW_TABLE_SIZE 128
/** "There is none", for dword offsets. */
#define CPS_FW_NONE UINT32_MAX
/** Largest image that is accepted, in dwords (16 MiB); shipped ones are below 32 Ki. */
#define CPS_FW_MAX_WORDS (4u << 20)
/** Largest file that is read: an image as ELF, with its symbols and lines. */
#define CPS_FW_MAX_BYTES ((size_t)64 << 20)

/** What a part of an image is for: numbers of ROLE rows, CPS_FW_SQE and so on. */
enum cps_fw_role {
#define ROLE(id, ...) CPS_FW_##id,
#include "../isa/target.def"
    /** How many there are. */
    CPS_FW_ROLE_COUNT,
};

/** The image of one processor inside a file. All numbers are dwords. */
struct cps_fw_part {
    /** What it runs on. */
    enum cps_fw_role role;
    /** In the whole image; the part's own addresses count from here. */
    uint32_t start;
    uint32_t size;
    /** Of the packet table, from `start`; CPS_FW_NONE if not found. */
    uint32_t table;
};

/** A name for a place of a part. */
struct cps_fw_symbol {
    /** As in the source: owned by the list that holds the symbol. */
    char *name;
    /** Index into the parts of the image. */
    uint32_t part;
    /** From the start of the part; its size for a label behind the last word. */
    uint32_t dword;
    /** Id of the packet whose handler this is by its name, else -1. */
    int packet;
};

/** From which source line a word comes, and the words behind it until the next such entry. */
struct cps_fw_line {
    /** Index into the parts of the image. */
    uint32_t part;
    /** From the start of the part. */
    uint32_t dword;
    /** Index into cps_fw_debug.files. */
    uint32_t file;
    /** From 1. */
    uint32_t line;
};

/** What is known of a program's source. Zero-initialised is nothing; all lists are owned. */
struct cps_fw_debug {
    /** By part, dword, name. */
    struct cps_fw_symbol *symbols;
    /** How many. */
    size_t symbol_count;
    /** By part, dword. */
    struct cps_fw_line *lines;
    /** How many. */
    size_t line_count;
    /** Paths as they were given to the assembler. */
    char **files;
    /** How many. */
    size_t file_count;
};

/** A loaded firmware file. Callers read it; cps_fw_symbols_load() adds to it. */
struct cps_fw {
    /** Path or name for messages. */
    char *name;
    /** The image, without the leading dword of the file. */
    uint32_t *words;
    /** Dwords of the image. */
    uint32_t count;
    /** The leading dword that the kernel drops; 0 in all shipped files. */
    uint32_t lead;
    /** Bits 23:12 of the first word: 0x6ee. */
    uint32_t id;
    /** Bits 11:0 of the first word. */
    uint32_t version;
    /** The generation, as the id says, or as was asked for. */
    enum cps_gen gen;
    /** The numbering of its control registers. */
    enum cps_layout layout;
    /** What control register CHIP_ID must read, and CHIP_VARIANT: those of the chip's row, else
     * what the code of the boot wants; 0 where neither says it. */
    uint32_t identity, variant;
    /** The images in it, in their order. */
    struct cps_fw_part part[CPS_FW_MAX_PARTS];
    /** How many, at least 1. */
    unsigned part_count;
    /** What was assumed because no row speaks for the image, or because nothing in it tells an SQE
     * from an AQE, for the user; else NULL. */
    char *assumed;
    /** Empty for raw files until cps_fw_symbols_load(); owned. */
    struct cps_fw_debug debug;
    /** What its own header or its end says is missing: where the image ends, and what it should
     * have; NULL: it is whole. Such an image can be described and listed, and must not run. */
    char *incomplete;
};

/**
 * Loads a firmware file to run it: raw `.fw`, or an ELF file that cps_elf_write() made, which
 * brings symbols and lines, either also compressed with gzip, zstd or xz; its first bytes tell
 * which.
 * @param path  of the file
 * @param gen   0 to find out, else the generation (enum cps_gen) to take it for
 * @param ret   gets the handle, which the caller destroys
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_OS, CPS_ERR_INPUT (file, offset, what was expected), also
 *         for an image that is not whole, or CPS_ERR_UNSUPPORTED for ELF if built without libelf,
 *         for zstd and xz without their libraries
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_fw_load(const char *path, unsigned gen,
                                                    struct cps_fw **ret);
/**
 * As cps_fw_load(), from the bytes of a file in memory, which are not compressed; and an image that
 * is not whole is taken as far as it goes.
 * @param name   for messages
 * @param bytes  @p size bytes, which are copied
 * @param size   bytes
 * @param gen    0 to find out, else the generation to take it for
 * @param ret    gets the handle, which the caller destroys
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_INPUT or CPS_ERR_UNSUPPORTED
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *
cps_fw_parse(const char *name, const void *bytes, size_t size, unsigned gen, struct cps_fw **ret);
/**
 * Whether an image is whole: one that cps_fw_parse() made may be not.
 * @param fw  the firmware
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_INPUT that says what is missing
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_fw_check(const struct cps_fw *fw);
/**
 * Releases a handle and all that it holds.
 * @param fw  from cps_fw_load() or cps_fw_parse(); NULL is fine
 */
CPS_PUBLIC void cps_fw_destroy(struct cps_fw *fw);

/**
 * The name of what a part is for: "pfp", "me", "sqe", "bv", "lpac", "dde", "aqe".
 * @param role  of a part
 * @return constant text
 */
CPS_PUBLIC const char *cps_fw_role_name(enum cps_fw_role role);
/**
 * How assembly calls a part that is not the first one of its image: "BV", "LPAC", "DDE".
 * @param role  of a part
 * @return constant text, NULL for parts that images begin with
 */
CPS_PUBLIC const char *cps_fw_role_section(enum cps_fw_role role);

/**
 * Where the handler of a packet begins.
 * @param fw    the firmware
 * @param part  one of its parts
 * @param id    the packet's number in the table, below CPS_FW_TABLE_SIZE: the opcode of a type-7
 *              packet
 * @return dwords from the start of the part, or CPS_FW_NONE if the part has no table or the table
 *         has none
 */
CPS_PUBLIC uint32_t cps_fw_handler(const struct cps_fw *fw, const struct cps_fw_part *part,
                                   unsigned id);

/** What a packet handler does, as a hash. */
struct cps_fw_hash {
    /** SHA-256 of all instructions that the handler can reach, and of how they lead to each other;
     * no address of the image is part of it. */
    uint8_t digest[32];
    /** How many instructions those are; one in the delay slots of two branches counts twice. */
    uint32_t instructions;
    /** There is a handler; else the rest is 0. */
    bool present;
    /** A jump goes where a register says, or out of the code: not all of it is known. */
    bool open;
    /** It may end by returning to where the call stack says, in code that is not part of it. */
    bool returns;
};

/**
 * Hashes the handlers of a part's packet table. Code that only stands elsewhere has the same hash:
 * branches count as the code that they lead to. Constants are taken as they are, also those that
 * are addresses of the image, so that handlers with the same hash, neither of them `open`, do the
 * same in the same state; handlers that do the same may have different ones.
 * @param fw    the firmware
 * @param part  one of its parts
 * @param ret   gets CPS_FW_TABLE_SIZE of them, by packet
 * @return NULL or CPS_ERR_NOMEM
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_fw_handler_hashes(const struct cps_fw *fw,
                                                              const struct cps_fw_part *part,
                                                              struct cps_fw_hash *ret);
/**
 * Whether two handlers are known to do the same in the same state.
 * @param a  one hash
 * @param b  the other
 * @return false also where one of them is `open`, or there is none
 */
CPS_PUBLIC bool cps_fw_hash_same(const struct cps_fw_hash *a, const struct cps_fw_hash *b);

/**
 * Appends the assembly listing of all parts; assembling it again gives the same file. Symbols of
 * the firmware are its labels, as far as that allows.
 * @param fw       the firmware
 * @param rnn_dir  as for cps_names_create()
 * @param out      where to
 * @return NULL, CPS_ERR_NOMEM, or what cps_names_create() returns
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_fw_listing(const struct cps_fw *fw, const char *rnn_dir,
                                                       struct cps_buf *out);

/** A place where two images differ. */
struct cps_fw_change {
    /** Of the processor whose code it is. */
    enum cps_fw_role role;
    /** Dwords from the starts of the processor's images. */
    uint32_t a, b;
    /** How many words stand there: 0 in `a` where code was put in, 0 in `b` where it was taken
     * out. The whole image and 0 where one of both has no such processor. */
    uint32_t a_count, b_count;
    /** The same words stand at another place among the rest. */
    bool moved;
};

/**
 * Finds where two images differ. Their code is aligned as a whole; where everything stands some
 * words further on, that is no change, nor is the filling before and after the packet table. An
 * entry of the packet table is the same that leads to the same code; all other data is compared
 * word by word. The version is in struct cps_fw, and no change.
 * @param a      one firmware
 * @param b      the other
 * @param ret    gets the places, by processor and by their order in @p a; the caller frees them
 * @param count  gets how many
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_INPUT for images of two generations
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_fw_compare(const struct cps_fw *a,
                                                       const struct cps_fw *b,
                                                       struct cps_fw_change **ret, size_t *count);

/** A control register of one image, and what it is in one whose chip numbers them otherwise. */
struct cps_fw_renumber {
    /** Numbers of the same register in both. */
    uint32_t a, b;
    /** Pairs of instructions that name `a` and stand at the same place of the same handlers. */
    uint32_t pairs;
    /** How many of them name `b`: at least two, and two thirds. */
    uint32_t agree;
};

/**
 * Finds how the control registers of two images correspond: the same handlers are aligned, and
 * where their instructions agree but for the control register, that is evidence for a pair. A pair
 * is given where two thirds of the evidence about either register name the other one: what is less
 * certain is left out, and no register has two partners.
 * @param a      one firmware
 * @param b      the other
 * @param ret    gets the pairs in the order of their numbers in @p a; the caller frees them
 * @param count  gets how many
 * @return NULL or CPS_ERR_NOMEM
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_fw_renumber(const struct cps_fw *a,
                                                        const struct cps_fw *b,
                                                        struct cps_fw_renumber **ret,
                                                        size_t *count);

/**
 * Whether two instructions are the same but for where they branch to.
 * @param gen  the generation of both
 * @param a    a word
 * @param b    the other
 */
CPS_PUBLIC bool cps_fw_same_insn(enum cps_gen gen, uint32_t a, uint32_t b);

/**
 * Adds symbols from a file to a loaded firmware: from the ELF form of the same image, which brings
 * lines too, or from text. A line of text is "ADDRESS NAME", the address in dwords (0x or decimal)
 * from the start of the first part, or with a role and a colon in front ("bv:0x12 draw") from the
 * start of that one; `#` begins a comment.
 * @param fw    the firmware; on error it is as it was
 * @param path  of the file
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_OS, CPS_ERR_SYNTAX (file, line, column) or CPS_ERR_INPUT,
 *         also when an ELF file is of another image
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_fw_symbols_load(struct cps_fw *fw, const char *path);
/**
 * As cps_fw_symbols_load(), from the bytes of a file in memory.
 * @param fw     the firmware; on error it is as it was
 * @param name   for messages
 * @param bytes  @p size bytes, which are not kept
 * @param size   bytes
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_SYNTAX or CPS_ERR_INPUT
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_fw_symbols_parse(struct cps_fw *fw, const char *name,
                                                             const void *bytes, size_t size);

/**
 * The last symbol at or in front of a place: how places are named.
 * @param fw      the firmware
 * @param part    index into fw->part
 * @param dword   from the start of the part
 * @param offset  gets the dwords from the symbol to the place; may be NULL
 * @return NULL if the part has none there; of several at one place the first by name. Valid until
 *         the firmware gets other symbols
 */
CPS_PUBLIC const struct cps_fw_symbol *cps_fw_symbol_at(const struct cps_fw *fw, uint32_t part,
                                                        uint32_t dword, uint32_t *offset);
/**
 * The symbol of a name.
 * @param fw    the firmware
 * @param name  may begin with a role and a colon ("bv:draw"); without it the first part that has
 *              the name answers
 * @return NULL if there is none. Valid until the firmware gets other symbols
 */
CPS_PUBLIC const struct cps_fw_symbol *cps_fw_symbol_find(const struct cps_fw *fw,
                                                          const char *name);
/**
 * The source line of a word.
 * @param fw     the firmware; fw->debug.files has the path of the line's file
 * @param part   index into fw->part
 * @param dword  from the start of the part
 * @return NULL if it is unknown. Valid until the firmware gets other symbols
 */
CPS_PUBLIC const struct cps_fw_line *cps_fw_line_at(const struct cps_fw *fw, uint32_t part,
                                                    uint32_t dword);

/** An assembled program. */
struct cps_asm {
    /** As in the file, including the leading zero dword. The caller frees them. */
    uint32_t *words;
    /** Dwords. */
    uint32_t count;
};

/**
 * Assembles a text: the syntax of the listing, which is that of Mesa's tools. Beyond
 * instructions there are `name:`, `#name`, `[0123abcd]`, `[#name]` (a label's dword offset as the
 * payload of a nop) and
 *
 *     .align N        nops up to a multiple of N bytes, counted from the start of the image
 *     .jumptbl        the 128 words of the packet table, from the labels of this section that are
 *                     packet names or UNKNn (decimal); packets without a label get 0, or the
 *                     address of NAME if `#NAME` follows
 *     .section NAME   begins the image BV, LPAC or DDE, 32-byte aligned, with labels of its own
 *     .lead N         another leading dword than 0
 *
 * @param name  of the source, for messages
 * @param text  @p size bytes, which are not kept
 * @param size  bytes
 * @param gen   0 to find out from the first literal or the `; a7xx a750 microcode` line,
 *              else the generation; the word in the middle is of LAYOUT rows, of a5xx pfp or me
 * @param ret   gets the words
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_SYNTAX: "FILE:LINE:COLUMN: expected ...", the line, and a
 *         caret; up to 20 errors in one message
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *
cps_assemble(const char *name, const char *text, size_t size, unsigned gen, struct cps_asm *ret);

/** An assembled program with what is known of its source: what an ELF file of ours holds. */
struct cps_program {
    /** Its words. */
    struct cps_asm image;
    /** Its generation. */
    enum cps_gen gen;
    /** As the source's sections say. */
    struct cps_fw_part part[CPS_FW_MAX_PARTS];
    /** How many. */
    unsigned part_count;
    /** Labels and lines. */
    struct cps_fw_debug debug;
};

/**
 * As cps_assemble(), and keeps labels and lines.
 * @param name  of the source, for messages and as the file of the lines
 * @param text  @p size bytes, which are not kept
 * @param size  bytes
 * @param gen   0 to find out, else the generation
 * @param ret   gets the program, which the caller deinitialises
 * @return NULL, CPS_ERR_NOMEM or CPS_ERR_SYNTAX
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_program_assemble(const char *name, const char *text,
                                                             size_t size, unsigned gen,
                                                             struct cps_program *ret);
/**
 * Releases what a program holds.
 * @param program  from cps_program_assemble() or cps_elf_read(), or zero-initialised
 */
CPS_PUBLIC void cps_program_deinit(struct cps_program *program);

/**
 * Appends a program as an ELF file, with symbols and source lines in the way that binutils and
 * debuggers know; docs/formats.md says what is where.
 * @param program  the program
 * @param out      where to
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_OS, or CPS_ERR_UNSUPPORTED if built without libelf
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_elf_write(const struct cps_program *program,
                                                      struct cps_buf *out);
/**
 * Reads such a file back: words, parts, symbols, lines. Files with other contents are refused.
 * @param name   for messages
 * @param bytes  @p size bytes, which are not kept
 * @param size   bytes
 * @param ret    gets the program, which the caller deinitialises
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_INPUT (file, offset, what was expected), or
 *         CPS_ERR_UNSUPPORTED if built without libelf
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_elf_read(const char *name, const void *bytes,
                                                     size_t size, struct cps_program *ret);
/**
 * Whether a file that begins with some bytes is ELF; its contents are not looked at.
 * @param bytes  the first ones
 * @param size   how many
 */
CPS_PUBLIC bool cps_is_elf(const void *bytes, size_t size);

CPS_C_END

#endif
