/* SPDX-License-Identifier: MIT
 * The rows of pm4.def, and how to find one. */
#include "isa/packet.h"

#include <string.h>

#include "isa/names/table.h"

enum {
    NONE = 0,
    A2 = CPS_CHIP_BIT(2),
    A3 = CPS_CHIP_BIT(3),
    A4 = CPS_CHIP_BIT(4),
    A5 = CPS_CHIP_BIT(5),
    A6 = CPS_CHIP_BIT(6),
    ANY = CPS_CHIPS_ALL,
    A8_ON = ANY & ~(CPS_CHIP_BIT(8) - 1),
    A7_ON = ANY & ~(CPS_CHIP_BIT(7) - 1),
    A6_ON = ANY & ~(A6 - 1),
    A5_ON = ANY & ~(A5 - 1),
    A4_ON = ANY & ~(A4 - 1),
    A2_A4 = A2 | A3 | A4,
    A2_A6 = A2_A4 | A5 | A6,
    A3_A5 = A3 | A4 | A5,
    A4_A5 = A4 | A5,
};

enum {
#define WEIGHT(id, times, reason) WEIGHT_##id = (times),
#include "isa/pm4.def"
};
#define WEIGHT(id, times, reason) _Static_assert((times) <= CPS_PACKET_WEIGHT, "a heavy row");
#include "isa/pm4.def"

#define ONCE (-1)

/* The columns `words` and `act`. */
#define NO_WORDS                .words = NULL
#define FUZZ(gens, of, letters) .tried = (gens), .weight = WEIGHT_##of, .words = (letters)
#define NOTHING                 .layout = NULL
#define LAID_OUT(table)         .layout = (table)
#define CALLS(how, ...)         .call = {true, CPS_CALL_##how, __VA_ARGS__}
#define BUFFER(how)             CALLS(how, 0, 2, 0, 20, ONCE), LAID_OUT("CP_INDIRECT_BUFFER")
#define WRITES(how, first)      .write = {CPS_WRITE_##how, first}
#define STARTS_ON(event, of)    .start = {CPS_LAUNCH_##of, event}
#define STARTS(of)              STARTS_ON(NULL, of)
#define SETS_GROUPS             .sets_groups = true
#define SETS_MODE               .sets_mode = true

const struct cps_packet_row cps_packet_rows_[] = {
#define PACKET(opcode, chips, name, words, act, evidence) {opcode, chips, #name, words, act},
#include "isa/pm4.def"
};
const size_t cps_packet_count_ = sizeof(cps_packet_rows_) / sizeof(cps_packet_rows_[0]);

const struct cps_packet_row *cps_packet_row_(uint32_t opcode, const char *name)
{
    const struct cps_packet_row *end = cps_packet_rows_ + cps_packet_count_;
    if (!name)
        return NULL;
    const struct cps_packet_row *found = NULL;
    for (const struct cps_packet_row *row = cps_packet_rows_; row < end; row++) {
        if (row->opcode == opcode && !strcmp(row->name, name))
            return row;
        found = found || strcmp(row->name, name) != 0 ? found : row;
    }
    return found;
}
