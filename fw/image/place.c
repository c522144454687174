/* SPDX-License-Identifier: MIT
 * How places of code, packets and parts of an image are called. */
#include "fw/image/place.h"

#include <inttypes.h>
#include <string.h>

#include "fw/image/private.h"
#include "isa/base/pm4.h"
#include "isa/packet.h"

/* Names of one handler, the best first. */
enum rank { RANK_RUNNING, RANK_NOP, RANK_CP, RANK_NAMED, RANK_UNKNOWN, RANK_NONE };

void cps_fw_packet_put_(const struct cps_names *names, unsigned id, struct cps_buf *out)
{
    const char *name = names ? cps_name(names, CPS_SPACE_PACKET, id, NULL) : NULL;
    if (name)
        cps_buf_str(out, name);
    else
        cps_buf_printf(out, "UNKN%u", id);
}

int cps_fw_header_packet_(uint32_t header)
{
    struct cps_pm4 packet = cps_pm4_decode(header);
    if (packet.kind == CPS_PM4_TYPE7)
        return (int)packet.opcode;
    return packet.kind == CPS_PM4_TYPE4 ? PM4_PKT4 : CPS_FW_NO_PACKET;
}

/* Entry 0 is what malformed headers lead to. Where nops go there, too, it is no error. */
bool cps_fw_is_error_handler_(const uint32_t *table, uint32_t at)
{
    return table[0] == at && table[PM4_CP_NOP] != at;
}

static enum rank rank_of(const struct cps_names *names, unsigned id, int running)
{
    const char *name = names ? cps_name(names, CPS_SPACE_PACKET, id, NULL) : NULL;
    if ((int)id == running)
        return RANK_RUNNING;
    if (id == PM4_CP_NOP)
        return RANK_NOP;
    if (!name)
        return RANK_UNKNOWN;
    return strncmp(name, "CP_", 3) ? RANK_NAMED : RANK_CP;
}

int cps_fw_packet_at_(const uint32_t *table, const struct cps_names *names, uint32_t at,
                      int running)
{
    enum rank best = RANK_NONE;
    int ret = -1;
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        enum rank rank = table[id] == at ? rank_of(names, id, running) : RANK_NONE;
        if (rank < best) {
            best = rank;
            ret = (int)id;
        }
    }
    return ret;
}

uint32_t cps_fw_handler_find_(const uint32_t *table, const struct cps_names *names,
                              const char *name, size_t length)
{
    static const char error[] = CPS_FW_ERROR_HANDLER;
    unsigned id = 0;
    if (length == sizeof(error) - 1 && !memcmp(name, error, length))
        return cps_fw_is_error_handler_(table, table[0]) ? table[0] : CPS_FW_NONE;
    return cps_fw_packet_(names, name, length, &id) ? table[id] : CPS_FW_NONE;
}

void cps_fw_table_of_(const struct cps_fw *fw, const struct cps_fw_part *part, uint32_t *ret)
{
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++)
        ret[id] = cps_fw_handler(fw, part, id);
}

/* Where the last handler at or before @p pc begins; 0: none does. Entries of 0 are empty. */
static uint32_t handler_before(const uint32_t *table, uint32_t pc)
{
    uint32_t ret = 0;
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++)
        ret = table[id] <= pc && table[id] > ret ? table[id] : ret;
    return ret;
}

static void put_handler(const uint32_t *table, const struct cps_names *names, uint32_t at,
                        int running, struct cps_buf *out)
{
    int id = at ? cps_fw_packet_at_(table, names, at, running) : -1;
    if (id < 0)
        cps_buf_str(out, "bootstrap");
    else if (cps_fw_is_error_handler_(table, at))
        cps_buf_str(out, CPS_FW_ERROR_HANDLER);
    else
        cps_fw_packet_put_(names, (unsigned)id, out);
}

static void put_offset(uint32_t offset, struct cps_buf *out)
{
    if (offset)
        cps_buf_printf(out, "+0x%" PRIx32, offset);
}

void cps_fw_table_place_put_(const uint32_t *table, const struct cps_names *names, uint32_t pc,
                             int running, struct cps_buf *out)
{
    uint32_t at = handler_before(table, pc);
    put_handler(table, names, at, running, out);
    put_offset(pc - at, out);
}

/* The label there that is no packet's, or NULL. @p first is the first symbol of its dword. */
static const char *own_label(const struct cps_fw *fw, const struct cps_fw_symbol *first)
{
    const struct cps_fw_symbol *end = fw->debug.symbols + fw->debug.symbol_count;
    for (const struct cps_fw_symbol *at = first; at < end; at++) {
        if (at->part != first->part || at->dword != first->dword)
            break;
        if (at->packet < 0)
            return at->name;
    }
    return NULL;
}

void cps_fw_place_put_(const struct cps_fw *fw, const struct cps_fw_part *part,
                       const struct cps_names *names, uint32_t pc, int running, struct cps_buf *out)
{
    uint32_t table[CPS_FW_TABLE_SIZE];
    uint32_t offset = 0;
    cps_fw_table_of_(fw, part, table);
    uint32_t at = handler_before(table, pc);
    bool runs = at && running >= 0 && running < CPS_FW_TABLE_SIZE && table[running] == at &&
                !cps_fw_is_error_handler_(table, at);
    const struct cps_fw_symbol *symbol =
        cps_fw_symbol_at(fw, (uint32_t)(part - fw->part), pc, &offset);
    const char *label = symbol ? own_label(fw, symbol) : NULL;
    if (!symbol || symbol->dword < at || (symbol->dword == at && (runs || !label))) {
        put_handler(table, names, at, running, out);
        put_offset(pc - at, out);
        return;
    }
    cps_buf_str(out, label ? label : symbol->name);
    put_offset(offset, out);
}
