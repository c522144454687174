/* SPDX-License-Identifier: MIT
 * The mutator of devcoredumps: lines and words, or the words that a line of ascii85 stands for. */
#include <string.h>

#include "isa/base/le.h"
#include "tests/fuzz/mutate.h"

enum { WORDS = 1024 };

static void encode(const uint8_t *bytes, size_t count, struct cps_buf *out)
{
    for (size_t i = 0; i < count; i++) {
        char digits[5];
        uint32_t rest = cps_le32(bytes + 4 * i);
        bool zero = !rest;
        for (int k = 4; k >= 0; k--, rest /= 85)
            digits[k] = (char)('!' + rest % 85);
        cps_buf_add(out, zero ? "z" : digits, zero ? 1 : 5);
    }
}

static size_t decode(const char *text, size_t size, uint8_t *ret)
{
    size_t count = 0;
    for (size_t at = 0; at < size && count < WORDS; count++) {
        uint32_t word = 0;
        size_t used = text[at] == 'z' ? 1 : 5;
        for (size_t i = 0; used == 5 && i < 5 && at + i < size; i++)
            word = word * 85 + (uint32_t)(text[at + i] - '!');
        cps_put_le32(ret + 4 * count, word);
        at += used;
    }
    return count;
}

/* The contents behind one of the keys; false if the dump has none there. */
static bool find_contents(uint32_t *state, struct cps_buf *text, size_t *at, size_t *size)
{
    static const char key[] = "!!ascii85 |";
    const char *from = cps_buf_text(text) + mutate_below(state, (uint32_t)text->size);
    const char *found = strstr(from, key);
    found = found ? found : strstr(cps_buf_text(text), key);
    if (!found)
        return false;
    found += sizeof(key) - 1;
    found += strspn(found, " \r\n");
    *at = (size_t)(found - text->data);
    *size = strcspn(found, "\r\n");
    return true;
}

static void change_contents(uint32_t *state, struct cps_buf *text)
{
    uint8_t bytes[4 * WORDS + 16];
    size_t at = 0;
    size_t size = 0;
    CPS_BUF line = {0};
    if (!find_contents(state, text, &at, &size))
        return;
    size_t count = decode(text->data + at, size, bytes);
    count = LLVMFuzzerMutate(bytes, 4 * count, sizeof(bytes)) / 4;
    encode(bytes, count, &line);
    mutate_splice(text, at, size, cps_buf_text(&line), line.size);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    uint32_t state = seed;
    CPS_BUF text = {0};
    if (mutate_below(&state, 8) == 0)
        return LLVMFuzzerMutate(data, size, room);
    cps_buf_add(&text, (const char *)data, size);
    if (mutate_below(&state, 4) == 0)
        change_contents(&state, &text);
    else
        mutate_text(&state, &text);
    return mutate_done(&text, data, size, room);
}
