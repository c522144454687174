/* SPDX-License-Identifier: MIT
 * What mutators share. A mutator changes what a format says and keeps what holds it together, so
 * that its changes reach behind the first check. The fuzzer calls it, and so does the replay. */
#ifndef CPS_MUTATE_H
#define CPS_MUTATE_H

#include <stddef.h>
#include <stdint.h>

#include "isa/base/buf.h"

struct json_object;

/** The mutator of a target: changes @p size bytes in place. @param room  most that fit
 * @return the new size */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);
/** A change that knows no format: libFuzzer's own, or that of the replay. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);

/** A number below @p limit (0: 0), which follows from the state alone. */
uint32_t mutate_below(uint32_t *state, uint32_t limit);
/** A number that parsers have trouble with: an end of a range, or a neighbour of @p value. */
uint32_t mutate_edge(uint32_t *state, uint32_t value);
/** Replaces @p gone bytes at @p at. */
void mutate_splice(struct cps_buf *buf, size_t at, size_t gone, const char *with, size_t size);
/** LLVMFuzzerMutate() on a part of @p buf, which may grow. */
void mutate_part(struct cps_buf *buf, size_t at, size_t size);
/** Changes lines and words of a text: copies, moves, removes them, puts numbers there. */
void mutate_text(uint32_t *state, struct cps_buf *text);
/** Changes members, elements and values of a JSON document. */
void mutate_json(uint32_t *state, struct json_object *root);
/** Hands @p buf to the fuzzer; what does not fit leaves the data as they are. */
size_t mutate_done(const struct cps_buf *buf, uint8_t *data, size_t size, size_t room);

#endif
