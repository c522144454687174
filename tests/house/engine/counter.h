/* SPDX-License-Identifier: MIT
 * The operations of the test engine. */
#ifndef CPS_COUNTER_H
#define CPS_COUNTER_H

enum counter_op {
    COUNTER_NONE,
#define OP(id, ...) COUNTER_##id,
#include "tests/house/engine/counter.def"
};

#endif
