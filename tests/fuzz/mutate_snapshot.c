/* SPDX-License-Identifier: MIT
 * The mutator of KGSL snapshots: sections are removed, copied, moved, cut, and their words changed;
 * their lengths stay right, but for the ones that are made wrong on purpose. */
#include <string.h>

#include "isa/base/le.h"
#include "tests/fuzz/mutate.h"

enum { FIRST = 8, HEAD = 8, SECTIONS = 512 }; /* the magic is not among the bytes */

struct section {
    size_t at, size; /* with its head */
};

/* The sections of a file, as far as they are whole. */
static unsigned find_sections(const struct cps_buf *file, struct section *ret)
{
    unsigned count = 0;
    for (size_t at = FIRST; count < SECTIONS && at <= file->size && file->size - at >= HEAD;
         count++) {
        const uint8_t *head = (const uint8_t *)file->data + at;
        uint32_t size = cps_le32(head + 4);
        if ((cps_le32(head) & 0xffff) != 0xabcd || size < HEAD || size > file->size - at)
            break;
        ret[count] = (struct section){at, size};
        at += size;
    }
    return count;
}

static void change_word(uint32_t *state, struct cps_buf *file, struct section s)
{
    size_t words = s.size / 4;
    uint8_t *word = (uint8_t *)file->data + s.at + 4 * (size_t)mutate_below(state, (uint32_t)words);
    cps_put_le32(word, mutate_edge(state, cps_le32(word)));
}

static void change_payload(struct cps_buf *file, struct section s)
{
    size_t before = file->size;
    mutate_part(file, s.at + HEAD, s.size - HEAD);
    cps_put_le32((uint8_t *)file->data + s.at + 4, (uint32_t)(s.size + file->size - before));
}

static void change_type(uint32_t *state, struct cps_buf *file, struct section s)
{
    static const uint16_t types[] = {0x0101, 0x0201, 0x0202, 0x0301, 0x0302, 0x0402,
                                     0x0501, 0x0502, 0x0901, 0x0a01, 0x0b02, 0x0e02,
                                     0x1501, 0x1502, 0x1503, 0x1504, 0xffff, 0};
    uint32_t type = types[mutate_below(state, sizeof(types) / sizeof(types[0]))];
    cps_put_le32((uint8_t *)file->data + s.at, type << 16 | 0xabcd);
}

static void change(uint32_t *state, struct cps_buf *file, struct section a, struct section b)
{
    CPS_BUF copy = {0};
    cps_buf_add(&copy, file->data + b.at, b.size);
    switch (mutate_below(state, 8)) {
    case 0:
        mutate_splice(file, a.at, a.size, "", 0);
        break;
    case 1:
        mutate_splice(file, a.at, 0, copy.data, copy.size);
        break;
    case 2:
        mutate_splice(file, a.at, a.size, copy.data, copy.size);
        break;
    case 3:
        change_type(state, file, a);
        break;
    case 4:
        change_payload(file, a);
        break;
    default:
        change_word(state, file, a);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    static struct section sections[SECTIONS];
    uint32_t state = seed;
    CPS_BUF file = {0};
    cps_buf_add(&file, (const char *)data, size);
    for (unsigned i = 0; i <= mutate_below(&state, 3); i++) {
        unsigned count = find_sections(&file, sections);
        if (!count || mutate_below(&state, 8) == 0)
            return LLVMFuzzerMutate(data, size, room);
        change(&state, &file, sections[mutate_below(&state, count)],
               sections[mutate_below(&state, count)]);
    }
    return mutate_done(&file, data, size, room);
}
