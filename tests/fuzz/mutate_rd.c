/* SPDX-License-Identifier: MIT
 * The mutator of `.rd`. */
#include "isa/base/le.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/mutate_sections.h"

static unsigned find_sections(const struct cps_buf *file, struct section *ret)
{
    unsigned count = 0;
    for (size_t at = 0; count < SECTIONS && file->size - at >= SECTION_HEAD; count++) {
        uint32_t type = cps_le32((const uint8_t *)file->data + at);
        uint32_t size = cps_le32((const uint8_t *)file->data + at + 4);
        size = type == ~0u ? 0 : size;
        if ((type > 255 && type != ~0u) || size > file->size - at - SECTION_HEAD)
            break;
        ret[count] = (struct section){at, SECTION_HEAD + (size_t)size};
        at += ret[count].size;
    }
    return count;
}

static uint32_t other_type(uint32_t *state)
{
    static const uint8_t types[] = {1, 2, 3, 6, 12, 13, 14, 17, 18, 4};
    return types[mutate_below(state, sizeof(types))];
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    static const struct section_format format = {find_sections, other_type, 7};
    return mutate_sections(&format, data, size, room, seed);
}
