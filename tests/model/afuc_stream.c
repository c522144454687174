/* SPDX-License-Identifier: MIT
 * Random numbers, and streams of random words for programs of afuc. */
#include "tests/model/afuc_program.h"

typedef uint32_t u32;

/* splitmix64 */
u32 afuc_random(struct afuc_program *p)
{
    uint64_t z = p->random += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (u32)(z >> 32);
}

u32 afuc_below(struct afuc_program *p, u32 end)
{
    return afuc_random(p) % end;
}

bool afuc_one_in(struct afuc_program *p, u32 n)
{
    return afuc_below(p, n) == 0;
}

/* Small, an edge, few bits, or anything. */
u32 afuc_value(struct afuc_program *p)
{
    static const u32 edges[] = {0,          1,          0xffffffff, 0x80000000, 0x7fffffff,
                                0x0000ffff, 0x00010000, 0x000000ff, 0x00000100, 0xfffffffe,
                                0x0000001f, 0x00000020, 0x0000003f, 0x00008000};
    switch (afuc_below(p, 6)) {
    case 0:
        return edges[afuc_below(p, sizeof(edges) / sizeof(*edges))];
    case 1:
        return afuc_below(p, 8);
    case 2:
        return afuc_random(p) >> afuc_below(p, 32);
    case 3:
        return (u32)1 << afuc_below(p, 32);
    default:
        return afuc_random(p);
    }
}

static u32 odd_parity(u32 value)
{
    u32 parity = 1;
    for (; value; value &= value - 1)
        parity ^= 1;
    return parity;
}

/* ---- streams ---- */

struct stream {
    struct afuc_program *p;
    u32 *word;
    u32 count, most;
};

static void put(struct stream *s, u32 word)
{
    if (s->count < s->most)
        s->word[s->count++] = word;
}

static u32 plain_register(struct afuc_program *p)
{
    u32 base = afuc_window(p->kind, afuc_one_in(p, 3));
    return (base ? base : afuc_window(p->kind, 0)) + afuc_below(p, AFUC_WINDOW - 4);
}

static u32 header4(u32 offset, u32 count)
{
    return 4u << 28 | odd_parity(offset) << 27 | offset << 8 | odd_parity(count) << 7 | count;
}

/* A header of a packet with few words, of register writes to an interesting bank, or a bad one. */
static u32 random_header(struct afuc_program *p)
{
    static const u32 banks[] = {0x1fff, 0x2000, 0x27ff, 0x2800, 0xdfff, 0xe000, 0xefff, 0xf000};
    u32 count = afuc_below(p, 5), id = afuc_below(p, 128);
    u32 offset = afuc_one_in(p, 2) ? banks[afuc_below(p, 8)] : afuc_below(p, 0x40000);
    u32 seven = 7u << 28 | odd_parity(id) << 23 | id << 16 | odd_parity(count) << 15 | count;
    u32 header = afuc_one_in(p, 3) ? header4(offset, count) : seven;
    if (afuc_one_in(p, 12))
        header ^= (u32)1 << afuc_below(p, 32);
    return header;
}

/* Writes of registers, one packet behind the other. */
static void packets(struct stream *s)
{
    for (u32 n = 1 + afuc_below(s->p, 5); n; n--) {
        u32 count = afuc_below(s->p, 5);
        put(s, header4(plain_register(s->p), count));
        while (count--)
            put(s, afuc_value(s->p));
    }
}

/* Registers, each with its value. */
static void pairs(struct stream *s)
{
    for (u32 n = 2 + afuc_below(s->p, 6); n; n--) {
        put(s, plain_register(s->p) | (u32)afuc_one_in(s->p, 6) << 18);
        put(s, afuc_value(s->p));
    }
}

u32 afuc_stream_make(struct afuc_program *p, u32 *word, bool table)
{
    struct stream s = {p, word, 0, 128};
    while (table && s.count < s.most)
        put(&s, s.count == 4 ? AFUC_TYPE4 : 10 + afuc_below(p, AFUC_IMAGE - 20));
    s.most = s.count + 120 + afuc_below(p, 40);
    if (table)
        packets(&s);
    while (s.count < s.most) {
        if (afuc_one_in(p, 12))
            packets(&s);
        else if (afuc_one_in(p, 16))
            pairs(&s);
        else
            put(&s, afuc_one_in(p, 3) ? random_header(p) : afuc_value(p));
    }
    return s.count;
}
