/* SPDX-License-Identifier: MIT
 * The mutator of targets that read lines of words. */
#include "tests/fuzz/mutate.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    uint32_t state = seed;
    CPS_BUF text = {0};
    if (mutate_below(&state, 4) == 0)
        return LLVMFuzzerMutate(data, size, room);
    cps_buf_add(&text, (const char *)data, size);
    for (unsigned i = 0; i <= mutate_below(&state, 3); i++)
        mutate_text(&state, &text);
    return mutate_done(&text, data, size, room);
}
