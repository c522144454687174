/* SPDX-License-Identifier: MIT
 * How places of code are called: the one rule, for every command and output. Not installed.
 *
 * A place is called by the nearest label or handler before it, and how far after that it
 * is. Packets share handlers, so a handler may have many names. The first of these counts:
 * 1. the packet that runs, where that is known, and the handler is its own;
 * 2. a label of the image's source, or of the user's, that is no packet's name;
 * 3. `error_handler`, where malformed headers go and whatever shares its entry: a packet that was
 *    refused did not run;
 * 4. CP_NOP: what shares its handler is ignored;
 * 5. another packet whose name begins with CP_, else any with a name, else UNKNn; of equal ones
 *    the lowest number.
 * Before all of them is the `bootstrap`. */
#ifndef CPS_FW_PLACE_H
#define CPS_FW_PLACE_H

#include "fw/fw.h"

/** No packet runs, or nobody knows which. */
#define CPS_FW_NO_PACKET (-1)

/** What the handler of refused packets is called. */
#define CPS_FW_ERROR_HANDLER "error_handler"

/** Appends "CP_NOP", "PKT4" or "UNKN12": entry @p id of the packet tables. */
void cps_fw_packet_put_(const struct cps_names *names, unsigned id, struct cps_buf *out);
/** The entry of the packet table that a header leads to; CPS_FW_NO_PACKET: it is malformed. */
int cps_fw_header_packet_(uint32_t header);
/** Whether the handler that begins at dword @p at is the one of refused packets. @p table has
 * CPS_FW_TABLE_SIZE entries, as cps_fw_table_of_() or a dump gives them. */
bool cps_fw_is_error_handler_(const uint32_t *table, uint32_t at);
/** The packet that the handler at dword @p at of the part is called by, 5 of the rule, or the
 * packet @p running; -1: no handler begins there. */
int cps_fw_packet_at_(const uint32_t *table, const struct cps_names *names, uint32_t at,
                      int running);
/** The other way round: where the handler called @p name begins, by any of its names; CPS_FW_NONE:
 * there is none. */
uint32_t cps_fw_handler_find_(const uint32_t *table, const struct cps_names *names,
                              const char *name, size_t length);
/** The packet table of a part: CPS_FW_TABLE_SIZE entries, as cps_fw_handler() gives them. */
void cps_fw_table_of_(const struct cps_fw *fw, const struct cps_fw_part *part, uint32_t *ret);
/** Appends "CP_NOP+0x2": dword @p pc of a part. @p running is the packet that runs there. */
void cps_fw_place_put_(const struct cps_fw *fw, const struct cps_fw_part *part,
                       const struct cps_names *names, uint32_t pc, int running,
                       struct cps_buf *out);
/** The same where nothing but a packet table is known: in dumps. */
void cps_fw_table_place_put_(const uint32_t *table, const struct cps_names *names, uint32_t pc,
                             int running, struct cps_buf *out);

#endif
