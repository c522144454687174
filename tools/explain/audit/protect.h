/* SPDX-License-Identifier: MIT
 * Whether packets that write registers can write those that CP_PROTECT forbids, level by level, by
 * what the firmware does. */
#ifndef CPS_AUDIT_PROTECT_H
#define CPS_AUDIT_PROTECT_H

#include <json-c/json.h>

#include "tools/explain/audit/probe.h"

enum protect_level {
#define LEVEL(id, ...) PROTECT_##id,
#include "tools/explain/audit/writer.def"
    PROTECT_LEVELS,
};

/** What a packet does with a register whose number is out of the packet. */
enum protect_way {
    WAY_NONE,      /**< this generation has no such level */
    WAY_SILENT,    /**< nothing is written, protected or not */
    WAY_CHECKED,   /**< it takes the path that the hardware checks */
    WAY_TESTED,    /**< it asks first, and writes nothing */
    WAY_LIFTED,    /**< that path, on the ring, while the protected mode does not check the ring */
    WAY_UNCHECKED, /**< it writes what is protected */
    WAY_UNDECIDED, /**< the run did not come so far */
    WAY_COUNT,
};

/** What was found. */
struct protect_found {
    unsigned unchecked; /**< packets and levels, the ring not counted */
    unsigned undecided;
};

/** "ib1". */
const char *protect_level_word(enum protect_level level);
/** Tries all packets that the firmware handles. @param rows  array that gets an object for each:
 * "packet", and what it does by level, in words; "why" where something is not decided */
CPS_MUST_USE struct cps_err *protect_try(struct probe *probe, struct json_object *rows,
                                         struct protect_found *ret);

#endif
