/* SPDX-License-Identifier: MIT
 * Mutators of files that are sections behind each other: sections are removed, copied, moved, cut,
 * and their words changed; their lengths stay right, but for the ones that are made wrong on
 * purpose. */
#include "tests/fuzz/mutate_sections.h"

#include "isa/base/le.h"
#include "tests/fuzz/mutate.h"

static void change_word(uint32_t *state, struct cps_buf *file, struct section s)
{
    size_t words = s.size / 4;
    uint8_t *word = (uint8_t *)file->data + s.at + 4 * (size_t)mutate_below(state, (uint32_t)words);
    cps_put_le32(word, mutate_edge(state, cps_le32(word)));
}

/* The length in the head counts the payload or all of the section: it changes as the file does. */
static void change_payload(struct cps_buf *file, struct section s)
{
    size_t before = file->size;
    mutate_part(file, s.at + SECTION_HEAD, s.size - SECTION_HEAD);
    uint8_t *length = (uint8_t *)file->data + s.at + 4;
    cps_put_le32(length, cps_le32(length) + (uint32_t)(file->size - before));
}

static void change(const struct section_format *format, uint32_t *state, struct cps_buf *file,
                   struct section a, struct section b)
{
    CPS_BUF copy = {0};
    cps_buf_add(&copy, file->data + b.at, b.size);
    switch (mutate_below(state, format->changes)) {
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
        cps_put_le32((uint8_t *)file->data + a.at, format->type(state));
        break;
    case 4:
        change_payload(file, a);
        break;
    default:
        change_word(state, file, a);
    }
}

size_t mutate_sections(const struct section_format *format, uint8_t *data, size_t size, size_t room,
                       unsigned seed)
{
    static struct section sections[SECTIONS];
    uint32_t state = seed;
    CPS_BUF file = {0};
    cps_buf_add(&file, (const char *)data, size);
    for (unsigned i = 0; i <= mutate_below(&state, 3); i++) {
        unsigned count = format->find(&file, sections);
        if (!count || mutate_below(&state, 8) == 0)
            return LLVMFuzzerMutate(data, size, room);
        change(format, &state, &file, sections[mutate_below(&state, count)],
               sections[mutate_below(&state, count)]);
    }
    return mutate_done(&file, data, size, room);
}
