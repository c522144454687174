/* SPDX-License-Identifier: MIT
 * The mutators of `.rd` and of KGSL snapshots, which differ in what the head of a section says. */
#ifndef CPS_MUTATE_SECTIONS_H
#define CPS_MUTATE_SECTIONS_H

#include "isa/base/buf.h"

enum { SECTION_HEAD = 8, SECTIONS = 512 };

struct section {
    size_t at, size; /* with its head: a word with the type, a word with the length */
};

struct section_format {
    /** The sections of a file, as far as they are whole: how many, SECTIONS at most. */
    unsigned (*find)(const struct cps_buf *file, struct section *ret);
    /** The first word of another type of section. */
    uint32_t (*type)(uint32_t *state);
    unsigned changes; /**< ways to change it, equally likely: five, and the rest change a word */
};

/** As LLVMFuzzerCustomMutator(). */
size_t mutate_sections(const struct section_format *format, uint8_t *data, size_t size, size_t room,
                       unsigned seed);

#endif
