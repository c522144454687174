/* SPDX-License-Identifier: MIT
 * Which instructions random programs of afuc have executed, and what stood in their delay slots. */
#ifndef TESTS_AFUC_SEEN_H
#define TESTS_AFUC_SEEN_H

#include "tests/model/afuc_model.h"

enum { AFUC_FORMS = 192, AFUC_PREFIXES = 10, AFUC_LEAVES = 14, AFUC_SLOTS = 19 };

struct afuc_seen {
    uint64_t form[AFUC_KINDS][AFUC_FORMS];
    uint64_t prefix[AFUC_KINDS][AFUC_PREFIXES];
    uint64_t slot[AFUC_LEAVES][AFUC_SLOTS];
    uint32_t left; /* what the instruction before was, 0: no branch */
};

/* A tick of the model: from one state to the next. */
void afuc_seen_tick(struct afuc_seen *seen, const struct afuc_model *from,
                    const struct afuc_model *to);
/* Prints what was executed; whether that is every instruction of each generation, every prefix and
 * everything in every delay slot. */
bool afuc_seen_all(const struct afuc_seen *seen);

#endif
