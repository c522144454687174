/* SPDX-License-Identifier: MIT
 * Numbers, bytes and texts for mutators. */
#include "tests/fuzz/mutate.h"

#include <string.h>

uint32_t mutate_below(uint32_t *state, uint32_t limit)
{
    *state = *state * 1664525u + 1013904223u;
    return limit ? (uint32_t)((uint64_t)(*state ^ *state >> 15) * limit >> 32) : 0;
}

uint32_t mutate_edge(uint32_t *state, uint32_t value)
{
    static const uint32_t edges[] = {
        0,       1,       2,       4,          0x7f,       0x80, 0xff,    0x100,     0xffff,
        0x10000, 0x3ffff, 0xfffff, 0x7fffffff, 0x80000000, ~0u,  ~0u - 3, 0x1000000, 0xfffffff0};
    switch (mutate_below(state, 5)) {
    case 0:
        return value + 1;
    case 1:
        return value - 1;
    case 2:
        return value ^ 1u << mutate_below(state, 32);
    default:
        return edges[mutate_below(state, sizeof(edges) / sizeof(edges[0]))];
    }
}

void mutate_splice(struct cps_buf *buf, size_t at, size_t gone, const char *with, size_t size)
{
    CPS_BUF out = {0};
    cps_buf_add(&out, cps_buf_text(buf), at);
    cps_buf_add(&out, with, size);
    cps_buf_add(&out, cps_buf_text(buf) + at + gone, buf->size - at - gone);
    cps_buf_clear(buf);
    cps_buf_add(buf, cps_buf_text(&out), out.size);
}

void mutate_part(struct cps_buf *buf, size_t at, size_t size)
{
    uint8_t bytes[4096 + 64];
    size_t most = size < 4096 ? size : 4096;
    if (most)
        memcpy(bytes, cps_buf_text(buf) + at, most);
    size_t made = LLVMFuzzerMutate(bytes, most, most + 64);
    mutate_splice(buf, at, most, (const char *)bytes, made);
}

size_t mutate_done(const struct cps_buf *buf, uint8_t *data, size_t size, size_t room)
{
    if (buf->failed || !buf->size || buf->size > room)
        return size;
    memcpy(data, buf->data, buf->size);
    return buf->size;
}

/* ---- texts ---- */

struct span {
    size_t at, size;
};

/* What lies around a place of the text, up to a character of @p ends on either side. */
static struct span span_at(const struct cps_buf *text, size_t at, const char *ends)
{
    size_t first = at;
    size_t last = at;
    while (first > 0 && !strchr(ends, text->data[first - 1]))
        first--;
    while (last < text->size && !strchr(ends, text->data[last]))
        last++;
    return (struct span){first, last - first};
}

/* A line with its end, or a word. */
static struct span some_span(uint32_t *state, const struct cps_buf *text, bool line)
{
    static const char words[] = " \t\r\n,:;=<>\"{}[]()#@/.-";
    struct span span =
        span_at(text, mutate_below(state, (uint32_t)text->size), line ? "\n" : words);
    span.size += line && span.at + span.size < text->size;
    return span;
}

static void put_number(uint32_t *state, struct cps_buf *text, struct span span)
{
    static const char *const odd[] = {"-1",
                                      "0x",
                                      "18446744073709551615",
                                      "99999999999999999999",
                                      "",
                                      "0x100000000",
                                      "0x7fffffffffffffff",
                                      "1e9",
                                      "\"",
                                      "\\",
                                      "*"};
    CPS_BUF number = {0};
    if (mutate_below(state, 3))
        cps_buf_printf(&number, mutate_below(state, 2) ? "0x%x" : "%u",
                       mutate_edge(state, mutate_below(state, 256)));
    else
        cps_buf_str(&number, odd[mutate_below(state, sizeof(odd) / sizeof(odd[0]))]);
    mutate_splice(text, span.at, span.size, cps_buf_text(&number), number.size);
}

void mutate_text(uint32_t *state, struct cps_buf *text)
{
    bool line = mutate_below(state, 2);
    if (!text->size) {
        cps_buf_str(text, "0\n");
        return;
    }
    struct span span = some_span(state, text, line);
    struct span other = some_span(state, text, line);
    CPS_BUF copy = {0};
    cps_buf_add(&copy, text->data + other.at, other.size);
    switch (mutate_below(state, 6)) {
    case 0:
        mutate_splice(text, span.at, span.size, "", 0);
        break;
    case 1:
        mutate_splice(text, span.at, span.size, cps_buf_text(&copy), copy.size);
        break;
    case 2:
        mutate_splice(text, span.at, 0, cps_buf_text(&copy), copy.size);
        break;
    case 3:
        mutate_part(text, span.at, span.size);
        break;
    default:
        put_number(state, text, some_span(state, text, false));
    }
}
