/* SPDX-License-Identifier: MIT
 * The mutator of targets whose bytes have no structure that is worth keeping, in the replay. */
#include "tests/fuzz/mutate.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    (void)seed;
    return LLVMFuzzerMutate(data, size, room);
}
