/* SPDX-License-Identifier: MIT
 * PM4 packets as people type them (docs/pm4-text.md). */
#ifndef CPS_PM4TEXT_H
#define CPS_PM4TEXT_H

#include "../../isa/isa.h"

CPS_C_BEGIN

/** Finds a buffer by name: address in bytes and size in dwords; false if there is none. */
struct cps_pm4text_names {
    const struct cps_names *names; /**< opcodes and registers */
    bool (*buffer)(void *context, const char *name, size_t length, uint64_t *iova,
                   uint32_t *dwords);
    void *context;
};

/**
 * Turns one line (a packet, `reg` or `.word`) into dwords.
 *
 * @param[out] words   @p max dwords, the header first
 * @param[out] column  on error where, from 0
 * @return NULL, or CPS_ERR_SYNTAX that says what was expected; no file, no line
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_pm4text_packet(const struct cps_pm4text_names *names,
                                                           const char *line, uint32_t *words,
                                                           uint32_t max, uint32_t *count,
                                                           size_t *column);

CPS_C_END

#endif
