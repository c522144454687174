/* SPDX-License-Identifier: MIT
 * The mutator of ELF files: fields of the header, of program and section headers and of symbols,
 * each in its own width; and what sections hold, without moving anything. */
#include <string.h>

#include "isa/base/le.h"
#include "tests/fuzz/mutate.h"

struct table {
    size_t at, entry, count;
};

static uint32_t field16(const uint8_t *data, size_t at)
{
    return data[at] | (uint32_t)data[at + 1] << 8;
}

/* Where a table is, by the places of three fields of the header; empty where it does not fit. */
static struct table table_of(const uint8_t *data, size_t size, size_t place, size_t entry)
{
    struct table t = {cps_le32(data + place), field16(data, entry), field16(data, entry + 2)};
    if (t.entry < 8 || t.at > size || t.count > (size - t.at) / t.entry)
        t.count = 0;
    return t;
}

static void change_field(uint32_t *state, uint8_t *field, size_t size)
{
    if (size == 2) {
        uint32_t value = mutate_edge(state, field16(field, 0));
        field[0] = (uint8_t)value;
        field[1] = (uint8_t)(value >> 8);
    } else {
        cps_put_le32(field, mutate_edge(state, cps_le32(field)));
    }
}

static void change_entry(uint32_t *state, uint8_t *data, struct table t)
{
    uint32_t entry = mutate_below(state, (uint32_t)t.count);
    uint32_t field = mutate_below(state, (uint32_t)(t.entry / 4));
    uint32_t other = mutate_below(state, (uint32_t)t.count);
    uint8_t *at = data + t.at + entry * t.entry + 4 * (size_t)field;
    if (mutate_below(state, 4))
        change_field(state, at, 4);
    else /* the same field of another entry: sections that lie in each other */
        memmove(at, data + t.at + other * t.entry + 4 * (size_t)field, 4);
}

/* ELF32: what a section holds; of ELF64 these are other fields, and as good as any. */
static void change_contents(uint32_t *state, uint8_t *data, size_t size, struct table t)
{
    const uint8_t *header = data + t.at + t.entry * mutate_below(state, (uint32_t)t.count);
    if (t.entry < 40)
        return;
    size_t at = cps_le32(header + 16);
    size_t length = cps_le32(header + 20);
    if (at >= size || length > size - at || length < 4)
        return;
    if (mutate_below(state, 2))
        change_field(state, data + at + 4 * (size_t)mutate_below(state, (uint32_t)(length / 4)), 4);
    else
        LLVMFuzzerMutate(data + at, length, length);
}

static void change(uint32_t *state, uint8_t *data, size_t size)
{
    bool wide = data[4] == 2;
    struct table programs = table_of(data, size, wide ? 32 : 28, wide ? 54 : 42);
    struct table sections = table_of(data, size, wide ? 40 : 32, wide ? 58 : 46);
    switch (mutate_below(state, 6)) {
    case 0:
        change_field(state, data + 16 + 2 * (size_t)mutate_below(state, 18), 2);
        break;
    case 1:
        if (programs.count)
            change_entry(state, data, programs);
        break;
    case 2:
    case 3:
        if (sections.count)
            change_entry(state, data, sections);
        break;
    default:
        if (sections.count)
            change_contents(state, data, size, sections);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    uint32_t state = seed;
    if (size < 64 || mutate_below(&state, 8) == 0)
        return LLVMFuzzerMutate(data, size, room);
    for (unsigned i = 0; i <= mutate_below(&state, 3); i++)
        change(&state, data, size);
    return size;
}
