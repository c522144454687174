/* SPDX-License-Identifier: MIT
 * The place of a hang in the dump's memory. Registers name the fetch that is being filled, which
 * with look-ahead need not be the one that is read: the words themselves do not err. */
#include "tools/run/hang/estimate.h"

#include "isa/base/le.h"

/* Fewer words say nothing, more cost time; a header is not further back than its packet can be. */
enum { ENOUGH = 4, MOST = 32 };

struct search {
    const struct dump_data *data;
    const struct roq *roq;
    enum roq_region region;
    int64_t history, waiting; /* dwords that the region has on both sides */
};

static bool agrees(const struct search *s, size_t at, int64_t distance)
{
    int64_t byte = (int64_t)at + 4 * distance;
    return byte >= 0 && byte + 4 <= (int64_t)s->data->size &&
           cps_le32(s->data->bytes + byte) == roq_word(s->roq, s->region, distance);
}

/* How many words agree around byte @p at, as the next one to read: @return 0 if the one in front of
 * it does not. */
static uint32_t words_around(const struct search *s, size_t at)
{
    uint32_t words = 0;
    for (int64_t i = 1; i <= s->history && i <= MOST && agrees(s, at, -i); i++)
        words++;
    for (int64_t i = 0; words && i < s->waiting && i < MOST && agrees(s, at, i); i++)
        words++;
    return words;
}

/* The packet's header stands as far in front of the place as words agree. */
static uint64_t header_before(const struct search *s, size_t at, uint32_t header)
{
    for (int64_t i = 1; i <= s->history && agrees(s, at, -i); i++) {
        if (roq_word(s->roq, s->region, -i) == header)
            return s->data->iova + at - 4 * (uint64_t)i;
    }
    return 0;
}

static void search(const struct search *s, uint32_t header, struct hang_estimate *ret)
{
    for (size_t at = 4; at <= s->data->size; at += 4) {
        uint32_t words = words_around(s, at);
        if (words < ENOUGH || words < ret->words)
            continue;
        uint64_t packet = header ? header_before(s, at, header) : 0;
        if (header && !packet)
            continue;
        unsigned places = words == ret->words ? ret->places + 1 : 1;
        if (places == 1)
            *ret = (struct hang_estimate){s->data->iova + at, packet, words, 1};
        ret->places = places;
    }
}

bool hang_estimate(const struct dump *dump, const struct roq *roq, uint32_t level, uint32_t header,
                   struct hang_estimate *ret)
{
    struct search s = {.roq = roq, .region = roq_of_level(level)};
    const struct roq_queue *queue = &roq->queue[s.region];
    *ret = (struct hang_estimate){0};
    if (level > 3 || !queue->known)
        return false;
    s.waiting = roq_waiting(queue);
    s.history = queue->size - s.waiting;
    for (size_t i = 0; i < dump->data_count; i++) {
        s.data = &dump->data[i];
        search(&s, header, ret);
    }
    return ret->words;
}
