/* SPDX-License-Identifier: MIT
 * What a case may not bring about, and what seems to have. Rows: oracle.def. */
#ifndef CPS_FUZZ_ORACLE_H
#define CPS_FUZZ_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

enum oracle {
#define ORACLE(id, ...) ORACLE_##id,
#include "tools/explain/fuzz/oracle.def"
    ORACLE_COUNT,
};

/** Something that looks like a finding. */
struct suspect {
    enum oracle raised; /**< the oracle that a run has raised */
    enum oracle oracle; /**< what a closer look has made of it */
    uint8_t who;        /**< enum cps_processor */
    uint8_t level;      /**< CPS_LEVEL_* of the packet */
    uint32_t header;    /**< of the packet */
    uint64_t iova;      /**< where it lies */
    uint32_t place;     /**< a register, or a program counter */
    uint32_t pc;
    uint32_t value; /**< what was written */
    uint8_t side;   /**< which firmware */
};

/** The oracle's name. */
const char *oracle_name(enum oracle oracle);
/** The oracle called so; ORACLE_COUNT: none is. */
enum oracle oracle_find(const char *name, unsigned length);
/** A bit for each oracle that is asked without being named. */
uint32_t oracle_usual(void);
/** A bit for each that a closer look may make of what a run has raised. */
uint32_t oracle_family(enum oracle raised);
/** The packet table's id of a header; 0: it is malformed. */
unsigned oracle_packet(uint32_t header);
/** Equal keys, equal findings; or, of what runs have raised, equal suspects. */
uint64_t oracle_key(const struct suspect *suspect);
uint64_t oracle_raised(const struct suspect *suspect);

#endif
