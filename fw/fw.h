/* SPDX-License-Identifier: MIT
 * libcps-fw: firmware as files and as source. Reads and writes containers, tells generations and
 * processors apart, assembles and lists. It does not run anything: where the parts of an image
 * begin is found from its own header words and tables. */
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

/** What a part of an image runs on. */
enum cps_fw_role {
    CPS_FW_PFP,  /**< a5xx prefetch parser */
    CPS_FW_ME,   /**< a5xx micro engine, the file called pm4 */
    CPS_FW_SQE,  /**< a6xx SQE, a7xx BR */
    CPS_FW_BV,   /**< a7xx */
    CPS_FW_LPAC, /**< a660 and later */
};

/** The image of one processor inside a file. All numbers are dwords. */
struct cps_fw_part {
    enum cps_fw_role role;
    uint32_t start; /**< in the whole image; the part's own addresses count from here */
    uint32_t size;
    uint32_t table; /**< of the packet table, from `start`; CPS_FW_NONE if not found */
};

/** A name for a place of a part. */
struct cps_fw_symbol {
    char *name;     /**< as in the source: owned by the list that holds the symbol */
    uint32_t part;  /**< index into the parts of the image */
    uint32_t dword; /**< from the start of the part; its size for a label behind the last word */
    int packet;     /**< id of the packet whose handler this is by its name, else -1 */
};

/** From which source line a word comes, and the words behind it until the next such entry. */
struct cps_fw_line {
    uint32_t part;
    uint32_t dword; /**< from the start of the part */
    uint32_t file;  /**< index into cps_fw_debug.files */
    uint32_t line;  /**< from 1 */
};

/** What is known of a program's source. Zero-initialised is nothing; all lists are owned. */
struct cps_fw_debug {
    struct cps_fw_symbol *symbols; /**< by part, dword, name */
    size_t symbol_count;
    struct cps_fw_line *lines; /**< by part, dword */
    size_t line_count;
    char **files; /**< paths as they were given to the assembler */
    size_t file_count;
};

/** A loaded firmware file. */
struct cps_fw {
    char *name;       /**< path or name for messages */
    uint32_t *words;  /**< the image, without the leading dword of the file */
    uint32_t count;   /**< dwords */
    uint32_t lead;    /**< the leading dword that the kernel drops; 0 in all shipped files */
    uint32_t id;      /**< bits 23:12 of the first word: 0x6ee */
    uint32_t version; /**< bits 11:0 of the first word */
    enum cps_gen gen;
    enum cps_layout layout;
    struct cps_fw_part part[CPS_FW_MAX_PARTS];
    unsigned part_count;
    char *assumed; /**< what was assumed because the id is unknown, for the user; else NULL */
    /** Empty for raw files until cps_fw_symbols_load(); owned. */
    struct cps_fw_debug debug;
};

/**
 * Loads a firmware file: raw `.fw`, or an ELF file that cps_elf_write() made, which brings symbols
 * and lines; its first bytes tell which.
 * @param gen  0 to find out, else the generation to take it for
 * @return NULL, or CPS_ERR_OS / CPS_ERR_INPUT (file, offset, what was expected)
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_fw_load(const char *path, unsigned gen,
                                                    struct cps_fw **ret);
/** The same from the bytes of a file in memory. */
CPS_PUBLIC CPS_MUST_USE struct cps_err *
cps_fw_parse(const char *name, const void *bytes, size_t size, unsigned gen, struct cps_fw **ret);
CPS_PUBLIC void cps_fw_destroy(struct cps_fw *fw);

/** "pfp", "me", "sqe", "bv", "lpac". */
CPS_PUBLIC const char *cps_fw_role_name(enum cps_fw_role role);

/** The dword address of packet @p id's handler in a part's table, or CPS_FW_NONE. */
CPS_PUBLIC uint32_t cps_fw_handler(const struct cps_fw *fw, const struct cps_fw_part *part,
                                   unsigned id);

/**
 * Appends the assembly listing of all parts; assembling it again gives the same file. Symbols of
 * the firmware are its labels, as far as that allows.
 * @param rnn_dir  as for cps_names_create()
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_fw_listing(const struct cps_fw *fw, const char *rnn_dir,
                                                       struct cps_buf *out);

/** A place where the code of two images differs. */
struct cps_fw_change {
    enum cps_fw_role role;
    uint32_t a, b; /**< dwords from the starts of the processor's images */
};

/**
 * Finds where the code that packets run differs between two images. Both are walked in step from
 * each handler of their packet tables, so that code which only moved, and padding, is no change.
 * @param[out] ret  @p count places in no particular order; the caller frees them
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_INPUT for images of two generations
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_fw_compare(const struct cps_fw *a,
                                                       const struct cps_fw *b,
                                                       struct cps_fw_change **ret, size_t *count);

/** Whether two instructions are the same but for where they branch to. */
CPS_PUBLIC bool cps_fw_same_insn(enum cps_gen gen, uint32_t a, uint32_t b);

/**
 * Adds symbols from a file to a loaded firmware: from the ELF form of the same image, which brings
 * lines too, or from text. A line of text is "ADDRESS NAME", the address in dwords (0x or decimal)
 * from the start of the first part, or with a role and a colon in front ("bv:0x12 draw") from the
 * start of that one; `#` begins a comment.
 * @return NULL, CPS_ERR_OS, CPS_ERR_SYNTAX (file, line, column) or CPS_ERR_INPUT, also when an ELF
 *         file is of another image; then @p fw is as it was
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_fw_symbols_load(struct cps_fw *fw, const char *path);
/** The same from the bytes of a file in memory. */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_fw_symbols_parse(struct cps_fw *fw, const char *name,
                                                             const void *bytes, size_t size);

/** Frees the lists and leaves them empty. */
CPS_PUBLIC void cps_fw_debug_deinit(struct cps_fw_debug *debug);

/**
 * The last symbol at or in front of a place: how places are named.
 * @param part    index into fw->part
 * @param dword   from the start of the part
 * @param offset  gets the dwords from the symbol to the place; may be NULL
 * @return NULL if the part has none there; of several at one place the first by name
 */
CPS_PUBLIC const struct cps_fw_symbol *cps_fw_symbol_at(const struct cps_fw *fw, uint32_t part,
                                                        uint32_t dword, uint32_t *offset);
/** The symbol called @p name, which may begin with a role and a colon ("bv:draw"); without it the
 * first part that has the name answers. NULL if there is none. */
CPS_PUBLIC const struct cps_fw_symbol *cps_fw_symbol_find(const struct cps_fw *fw,
                                                          const char *name);
/** The source line of a word; NULL if it is unknown. fw->debug.files has the file's path. */
CPS_PUBLIC const struct cps_fw_line *cps_fw_line_at(const struct cps_fw *fw, uint32_t part,
                                                    uint32_t dword);

/** An assembled program. */
struct cps_asm {
    uint32_t *words; /**< as in the file, including the leading zero dword */
    uint32_t count;  /**< dwords */
};

/**
 * Assembles @p text: the syntax of the listing, which is that of Mesa's tools. Beyond
 * instructions there are `name:`, `#name`, `[0123abcd]`, `[#name]` (a label's dword offset as the
 * payload of a nop) and
 *
 *     .align N        nops up to a multiple of N bytes, counted from the start of the image
 *     .jumptbl        the 128 words of the packet table, from the labels of this section that are
 *                     packet names or UNKNn (decimal); packets without a label get 0, or the
 *                     address of NAME if `#NAME` follows
 *     .section NAME   begins the image BV or LPAC, 32-byte aligned, with labels of its own
 *     .lead N         another leading dword than 0
 *
 * @param name  of the source, for messages
 * @param gen   0 to find out from the first literal or the `; aNxx microcode` line
 * @return NULL, or CPS_ERR_SYNTAX: "FILE:LINE:COLUMN: expected ...", the line, and a caret; up to
 *         20 errors in one message. The caller frees ret->words.
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *
cps_assemble(const char *name, const char *text, size_t size, unsigned gen, struct cps_asm *ret);

/** An assembled program with what is known of its source: what an ELF file of ours holds. */
struct cps_program {
    struct cps_asm image;
    enum cps_gen gen;
    struct cps_fw_part part[CPS_FW_MAX_PARTS]; /**< as the source's sections say */
    unsigned part_count;
    struct cps_fw_debug debug;
};

/** As cps_assemble(), and keeps labels and lines; the caller deinitialises @p ret. */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_program_assemble(const char *name, const char *text,
                                                             size_t size, unsigned gen,
                                                             struct cps_program *ret);
CPS_PUBLIC void cps_program_deinit(struct cps_program *program);

/**
 * Appends @p program as an ELF file, with symbols and source lines in the way that binutils and
 * debuggers know; docs/formats.md says what is where.
 * @return NULL, CPS_ERR_OS, or CPS_ERR_UNSUPPORTED if built without libelf
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_elf_write(const struct cps_program *program,
                                                      struct cps_buf *out);
/**
 * Reads such a file back: words, parts, symbols, lines. Files with other contents are refused.
 * @return NULL, CPS_ERR_INPUT (file, offset, what was expected), or CPS_ERR_UNSUPPORTED if built
 *         without libelf. The caller deinitialises @p ret.
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_elf_read(const char *name, const void *bytes,
                                                     size_t size, struct cps_program *ret);
/** Whether a file that begins with these bytes is ELF; its contents are not looked at. */
CPS_PUBLIC bool cps_is_elf(const void *bytes, size_t size);

CPS_C_END

#endif
