/* SPDX-License-Identifier: MIT
 * Packets of type 7: the rows of pm4.def. Not part of what is installed.
 *
 * Threads: everything is constant. */
#ifndef CPS_PACKET_H
#define CPS_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Opcodes: PM4_CP_NOP. */
enum {
#define PACKET(opcode, chips, name, ...) PM4_##name = (opcode),
#include "isa/pm4.def"
};

/** The largest weight of a row. */
#define CPS_PACKET_WEIGHT 8u

/** How the stream of a call runs. */
enum cps_packet_call {
    CPS_CALL_RUN,   /**< and comes back */
    CPS_CALL_CHAIN, /**< in place of the rest of the stream that calls it */
    CPS_CALL_KEEP,  /**< at another time */
};

/** How a packet writes registers. */
enum cps_packet_write {
    CPS_WRITE_NONE,
    CPS_WRITE_LIST,   /**< a number, and values after it */
    CPS_WRITE_PAIRS,  /**< numbers and values in turn */
    CPS_WRITE_NUMBER, /**< a number; the value comes from elsewhere */
};

/** What a packet starts. */
enum cps_launch_kind {
    CPS_LAUNCH_NONE,
    CPS_LAUNCH_DRAW,
    CPS_LAUNCH_DISPATCH,
    CPS_LAUNCH_BLIT,
    CPS_LAUNCH_RESOLVE,
    CPS_LAUNCH_SKIPPED, /**< of a run: a draw or dispatch that a predicate switched off */
    CPS_LAUNCH_KINDS
};

/** One name of an opcode, and what the packet carries and does. All strings are constant. */
struct cps_packet_row {
    uint8_t opcode;
    uint8_t chips;      /**< CPS_CHIP_BIT() of those that have the name; 0: none has */
    const char *name;   /**< "CP_NOP" */
    uint8_t tried;      /**< CPS_CHIP_BIT() of those whose firmware takes `words`; 0: none */
    uint8_t weight;     /**< up to CPS_PACKET_WEIGHT */
    const char *words;  /**< a letter for each, as pm4.def explains; NULL: not documented */
    const char *layout; /**< packet whose fields its words have; NULL: its own */
    struct cps_packet_callee {
        bool is_call;
        uint8_t how;           /**< enum cps_packet_call */
        uint8_t address, size; /**< words after the header */
        uint8_t low, bits;     /**< of the size, in its word */
        int8_t times;          /**< word with the number of streams; -1: there is one */
    } call;
    struct {
        uint8_t how;   /**< enum cps_packet_write */
        uint8_t first; /**< word after the header */
    } write;
    struct {
        uint8_t kind;      /**< enum cps_launch_kind */
        const char *event; /**< only with this one; NULL: with any */
    } start;
    bool sets_groups, sets_mode;
};

/** All rows, in the order of their opcodes. */
extern const struct cps_packet_row cps_packet_rows_[];
extern const size_t cps_packet_count_;

/** Whether firmware of a generation takes the words of a row. @param number  as struct cps_gen_row
 */
static inline bool cps_packet_is_tried_(const struct cps_packet_row *row, unsigned number)
{
    return row->tried >> (number - 2) & 1;
}

/** The row of a name, looked for at @p opcode first; the name may be the user's, of another number.
 * @param name  NULL: there is none @return NULL if no row has the name */
const struct cps_packet_row *cps_packet_row_(uint32_t opcode, const char *name);

struct cps_names;
/** The generation, enum cps_gen, that names are of. In isa/names/names.c. */
unsigned cps_names_gen_(const struct cps_names *names);

#endif
