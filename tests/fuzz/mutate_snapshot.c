/* SPDX-License-Identifier: MIT
 * The mutator of KGSL snapshots. */
#include "isa/base/le.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/mutate_sections.h"

enum { FIRST = 8 }; /* the magic is not among the bytes */

static unsigned find_sections(const struct cps_buf *file, struct section *ret)
{
    unsigned count = 0;
    for (size_t at = FIRST; count < SECTIONS && at <= file->size && file->size - at >= SECTION_HEAD;
         count++) {
        const uint8_t *head = (const uint8_t *)file->data + at;
        uint32_t size = cps_le32(head + 4);
        if ((cps_le32(head) & 0xffff) != 0xabcd || size < SECTION_HEAD || size > file->size - at)
            break;
        ret[count] = (struct section){at, size};
        at += size;
    }
    return count;
}

static uint32_t other_type(uint32_t *state)
{
    static const uint16_t types[] = {0x0101, 0x0201, 0x0202, 0x0301, 0x0302, 0x0402,
                                     0x0501, 0x0502, 0x0901, 0x0a01, 0x0b02, 0x0e02,
                                     0x1501, 0x1502, 0x1503, 0x1504, 0xffff, 0};
    uint32_t type = types[mutate_below(state, sizeof(types) / sizeof(types[0]))];
    return type << 16 | 0xabcd;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    static const struct section_format format = {find_sections, other_type, 8};
    return mutate_sections(&format, data, size, room, seed);
}
