/* SPDX-License-Identifier: MIT
 * What the listings share, and the one in the layout of Mesa's disassembler. Private to the
 * project.
 */
#ifndef CPS_FW_LISTING_H
#define CPS_FW_LISTING_H

#include "fw/fw.h"

/** For CPS_CLEANUP. */
static inline void cps_listing_names_(struct cps_names **names)
{
    cps_names_destroy(*names);
}

/* ---- remarks: which GPU or pipe register a constant selects, on the straight line only ---- */

/** Constants that the registers hold, as far as the straight line tells. */
struct cps_notes {
    const struct cps_names *names;
    uint32_t value[32];
    uint32_t known;       /**< bit n: value[n] is valid */
    unsigned forget_in;   /**< instructions until a call has changed everything; 0: none pending */
    uint32_t selector[2]; /**< control registers that take a GPU register offset */
    unsigned selector_count;
};

void cps_notes_init_(struct cps_notes *notes, const struct cps_names *names);
/** Control may come from elsewhere: nothing is known any more. */
void cps_notes_forget_(struct cps_notes *notes);
/** Appends the remark on @p insn, if there is one, and takes note of what it does. */
void cps_notes_add_(struct cps_notes *notes, const struct cps_insn *insn, struct cps_buf *out);

/* ---- the user's labels: of all symbols those with which it assembles to the same words ---- */

/** Labels of one part, by dword. Zero-initialised is none. */
struct cps_listing_labels {
    const struct cps_fw_symbol **list; /**< into fw->debug.symbols */
    size_t count;
};

/**
 * Chooses the labels of a part. Left out are what no label can be called, what would be taken for
 * a packet's handler, what the listing itself may call another place, and all but the first of
 * equal names.
 * @param names  the assembler's own
 */
CPS_MUST_USE struct cps_err *cps_listing_labels_init_(const struct cps_fw *fw, uint32_t part,
                                                      const struct cps_names *names,
                                                      struct cps_listing_labels *ret);
void cps_listing_labels_deinit_(struct cps_listing_labels *labels);
/** The first label at @p dword, or NULL; the others of the same place follow it in the list. */
const struct cps_fw_symbol *const *cps_listing_labels_find_(const struct cps_listing_labels *labels,
                                                            uint32_t dword);

/**
 * As cps_fw_listing(), but as Mesa's qrisc-disasm (once afuc-disasm) prints the file, but for the
 * line that names the file. Symbols are not looked at. It assembles to the same file where Mesa's
 * does.
 * @param fw       the firmware
 * @param rnn_dir  as for cps_names_create()
 * @param out      where to
 * @return NULL, CPS_ERR_NOMEM, or what cps_names_create() returns
 */
CPS_MUST_USE struct cps_err *cps_fw_listing_mesa_(const struct cps_fw *fw, const char *rnn_dir,
                                                  struct cps_buf *out);

#endif
