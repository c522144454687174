/* SPDX-License-Identifier: MIT
 * PM4 packets as people type them (docs/pm4-text.md). Whole files of them are captures:
 * cps_capture_read() reads those.
 *
 * Threads: there is no state beside the arguments. */
#ifndef CPS_PM4TEXT_H
#define CPS_PM4TEXT_H

#include "../../isa/isa.h"
#include "../event/item.h"

CPS_C_BEGIN

/** What the reader of packets asks its caller for. */
struct cps_pm4text_names {
    /** Opcodes and registers. */
    const struct cps_names *names;
    /** Finds the buffer called by @p length bytes at @p name: its address in bytes and its size in
     * dwords; false if there is none. */
    bool (*buffer)(void *context, const char *name, size_t length, uint64_t *iova,
                   uint32_t *dwords);
    /** What `buffer` gets. */
    void *context;
};

/**
 * Turns one line (a packet, `reg` or `.word`) into dwords.
 * @param names   for names
 * @param line    without comment, up to its NUL
 * @param words   gets the dwords, the header first
 * @param max     how many there is room for
 * @param count   gets how many there are
 * @param column  on error gets where, from 0
 * @return NULL, or CPS_ERR_SYNTAX that says what was expected; no file, no line
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_pm4text_packet(const struct cps_pm4text_names *names,
                                                           const char *line, uint32_t *words,
                                                           uint32_t max, uint32_t *count,
                                                           size_t *column);

/**
 * Writes items as a text that gives them again when it is read: the contents of buffers, cut where
 * streams begin and end, submissions, a ring, start values. Contents that follow each other in
 * memory have to be one item. Those whose size is no multiple of 4 are padded with zeros; texts and
 * sections are left out.
 * @param items  in their order
 * @param count  how many
 * @param out    gets the text
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_UNSUPPORTED: a submission lies in no single buffer
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_pm4text_write(const struct cps_item *items,
                                                          size_t count, struct cps_buf *out);

CPS_C_END

#endif
