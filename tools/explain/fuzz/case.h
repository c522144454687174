/* SPDX-License-Identifier: MIT
 * A test case: a few short command streams in memory. The first is submitted, at level IB1, and is
 * all that decides whether others run: as indirect buffers, as draw-state groups, or as data that
 * packets read. Streams are plain dwords; packets are found again by their headers.
 *
 * What it knows of PM4 is lengths, and where packets name streams. It runs nothing. */
#ifndef CPS_FUZZ_CASE_H
#define CPS_FUZZ_CASE_H

#include "isa/base/buf.h"
#include "tools/explain/fuzz/random.h"
#include "tools/run/feed.h"

#define CASE_STREAMS 12u
#define CASE_WORDS   256u
/** Where the streams of new cases lie: with room for others behind each, and data behind all. */
#define CASE_BASE   UINT64_C(0x10000000)
#define CASE_STRIDE (4 * (uint64_t)CASE_WORDS)

struct case_stream {
    uint64_t iova;
    uint32_t count;
    uint32_t word[CASE_WORDS];
};

struct fuzz_case {
    unsigned streams;
    struct case_stream stream[CASE_STREAMS];
};

/** One packet of a stream, or a dword that begins none. */
struct case_packet {
    unsigned stream;
    uint32_t at, length;
};

/** Most packets that a case can have. */
#define CASE_PACKETS (CASE_STREAMS * CASE_WORDS)

/** A case without packets. */
void case_clear(struct fuzz_case *ret);
void case_copy(struct fuzz_case *to, const struct fuzz_case *from);
/** Words of all streams. */
uint32_t case_words(const struct fuzz_case *from);
/** The packet at word @p at, which is in the stream; cut where the stream ends. */
struct case_packet case_packet_at(const struct fuzz_case *from, unsigned stream, uint32_t at);
/** Lists the packets. @param ret  room for CASE_PACKETS @return how many */
unsigned case_list(const struct fuzz_case *from, struct case_packet *ret);
/** The stream that lies at @p iova; CASE_STREAMS: none does. */
unsigned case_stream_at(const struct fuzz_case *from, uint64_t iova);
/** Makes room for, or takes out, words at @p at; false if there is no room. */
bool case_insert(struct case_stream *stream, uint32_t at, const uint32_t *word, uint32_t count);
void case_remove(struct case_stream *stream, uint32_t at, uint32_t count);
/** Lets packets that name a stream say how long it is now, and the first one not be empty. @p was
 * lengths that they may say, by stream, of which others are left alone; NULL: all are set */
void case_fit(struct fuzz_case *edited, const uint32_t *was);

/** Appends what an engine is fed with: contents, then the submission. @p bytes  room for them all,
 * 4 * CASE_STREAMS * CASE_WORDS, to outlive the items. @param ret  room for CASE_STREAMS + 1
 * @return how many */
size_t case_items(const struct fuzz_case *from, uint8_t *bytes, struct cps_item *ret);
/** Takes a feed as it is: one submission, and all contents. @return false if it is no case */
bool case_read(const struct feed *feed, struct fuzz_case *ret);

/* ---- captured.c ---- */

/** What cases have of captures. */
struct case_taken {
    uint64_t cases;
    uint64_t words; /**< of streams, in packets of a case */
    uint64_t left;  /**< in packets that are longer than a case's stream, or in no packet */
    bool lost;      /**< the capture lacks streams that it names */
};

typedef struct cps_err *case_each_fn(void *context, const struct fuzz_case *input);

/** Calls @p each for the cases that the streams of a capture are cut into. @param taken  counts on
 */
CPS_MUST_USE struct cps_err *case_cut(const struct cps_item *item, size_t count,
                                      struct case_taken *taken, case_each_fn *each, void *context);

/* ---- learn.c ----
 * What firmware takes: a handler reads as many words as it likes, and where that is not what the
 * header says the next header is looked for in the wrong place. So it is counted, by operation and
 * count, how often the next packet was where it should be; and by level, how often a case ended
 * there: the packet was refused, or never came to its end. The grammar and the mutators follow what
 * was counted, mostly. */

#define LEARN_OPCODES 128u
#define LEARN_COUNTS  64u
#define LEARN_LEVELS  6u

struct learned {
    uint16_t took[LEARN_OPCODES][LEARN_COUNTS]; /**< the next packet was where it should be */
    uint16_t lost[LEARN_OPCODES][LEARN_COUNTS]; /**< it was elsewhere, or nowhere */
    uint16_t passed[LEARN_OPCODES][LEARN_LEVELS];
    uint16_t refused[LEARN_OPCODES][LEARN_LEVELS];
};

/** The packet that a level is at. */
struct learn_last {
    uint64_t iova;
    uint32_t header;
    bool there;
};

/** A level has come from packet @p last to @p iova, a header or the end of its stream. */
void learn_next(struct learned *learned, const struct fuzz_case *input,
                const struct learn_last *last, unsigned level, uint64_t iova);
/** It does not come from a packet to the next one: words are missing. */
void learn_starved(struct learned *learned, uint32_t header);
/** The firmware refuses a packet, or does not come to its end. */
void learn_refused(struct learned *learned, uint32_t header, unsigned level);
/** Adds what others have counted. */
void learn_join(struct learned *learned, const struct learned *more);
/** Whether packets with that count mostly lead astray. */
bool learn_is_bad(const struct learned *learned, unsigned opcode, uint32_t count);
/** Whether cases mostly end there on that level. */
bool learn_is_refused(const struct learned *learned, unsigned opcode, unsigned level);
/** A count that firmware takes, or @p wanted, if it is none of the bad ones or nothing is known. */
uint32_t learn_count(const struct learned *learned, unsigned opcode, uint32_t wanted,
                     struct rng *rng);

#endif
