/* SPDX-License-Identifier: MIT
 * The search for the place of a hang, by the words in CP_ROQ (H: exactly 1 of 4 draws with the same
 * three headers has the words of an a630's dump). */
#include "tools/run/hang/hang.h"

#include <stdlib.h>
#include <string.h>

#include "emu/afuc/afuc.h"
#include "fw/fw.h"
#include "isa/base/list.h"
#include "tools/run/code.h"

enum { HEADERS = 3 };

void hang_seek(const struct dump *dump, const struct cps_fw *fw, const struct code *code, bool same,
               struct hang_sought *ret)
{
    const struct dump_block *stat = dump_block(dump, "CP_SQE_STAT");
    uint32_t pc = dump_word(stat, STAT_PC);
    *ret = (struct hang_sought){
        .stat = stat, .pc_known = same, .by = HANG_BY_PC, .pc = pc, .general = UINT32_MAX};
    ret->level = hang_level(fw->gen, dump_word(stat, STAT_LEVEL));
    ret->ticks = dump->ticks;
    roq_read(dump, &ret->roq);
    if (same || !code || !cps_fw_icache_locate_(&code->cache, fw, pc, &ret->pc))
        return;
    ret->pc_known = true;
    ret->by = HANG_BY_LINE;
}

static bool same_packet(const struct hang_sought *s, const struct cps_afuc *machine)
{
    for (unsigned i = 0; i < HEADERS; i++) {
        if (cps_afuc_header(machine, 0, i) != dump_word(s->stat, STAT_HEADER + i))
            return false;
    }
    return true;
}

static uint32_t word_at(struct cps_engine *engine, uint64_t iova)
{
    uint64_t word = 0;
    cps_engine_get(engine, (struct cps_location){0, CPS_FILE_MEMORY, iova}, &word);
    return (uint32_t)word;
}

/* Words of the fetch, and whether CP_ROQ has them if its read position stands before the word
 * @p consumed. The ring goes round; of it only the packet's own words are compared, because
 * its fetches are rounded to granules at the places where the driver rang the bell. */
static bool words_agree(const struct hang_sought *s, struct cps_engine *engine, uint32_t level,
                        struct cps_position at, uint32_t consumed)
{
    const struct roq_queue *queue = &s->roq.queue[roq_of_level(level)];
    uint32_t waiting = roq_waiting(queue);
    uint32_t before = at.consumed;
    uint32_t behind = level ? at.dwords - at.consumed : 0;
    if (!level)
        before = (at.consumed + at.dwords -
                  (uint32_t)((cps_afuc_header_iova(cps_afuc_of(engine), 0) - at.iova) / 4)) %
                 at.dwords;
    if (before > queue->size - waiting)
        before = queue->size - waiting;
    if (behind > waiting)
        behind = waiting;
    for (int64_t i = -(int64_t)before; i < (int64_t)behind; i++) {
        uint32_t dword = (uint32_t)((at.consumed + i + at.dwords) % at.dwords);
        int64_t distance = i + at.consumed - consumed;
        if (roq_word(&s->roq, roq_of_level(level), distance) !=
            word_at(engine, at.iova + 4 * (uint64_t)dword))
            return false;
    }
    return true;
}

/* The position stays on the last word of a fetch until its end mark is popped (H: one case).
 * Without a queue, or a stream at the level, there is nothing that agrees. */
static bool same_words(const struct hang_sought *s, struct cps_engine *engine, uint32_t level)
{
    struct cps_position at = cps_afuc_position(cps_afuc_of(engine), 0, hang_event_level(level));
    if (level == HANG_IB3 || !s->roq.queue[roq_of_level(level)].known || !at.active || !at.dwords)
        return false;
    if (words_agree(s, engine, level, at, at.consumed))
        return true;
    return level && at.consumed == at.dwords && at.consumed &&
           words_agree(s, engine, level, at, at.consumed - 1);
}

/* Draws of one IB2 look the same in it; the IB1 that called it tells them apart. */
static unsigned rank_of_callers(const struct hang_sought *s, struct cps_engine *engine,
                                uint32_t level)
{
    unsigned rank = 0;
    if (level < 2 || same_words(s, engine, 1))
        rank |= HANG_RANK_IB1;
    if (level < 3 || same_words(s, engine, 2)) /* IB3 is called by IB2, as groups are */
        rank |= HANG_RANK_IB2;
    return rank;
}

/* What the search has seen. */
struct search {
    const struct hang_sought *sought;
    struct hang_position *place;
    uint64_t packet; /* the last one that was a candidate; UINT64_MAX: none */
};

static bool same_registers(const struct hang_sought *s, struct cps_engine *engine)
{
    for (uint32_t i = 1; i <= STAT_REM; i++) {
        uint64_t value = 0;
        if (!(s->general >> i & 1))
            continue;
        cps_engine_get(engine, (struct cps_location){0, CPS_FILE_GENERAL, i}, &value);
        if (value != dump_word(s->stat, i))
            return false;
    }
    return true;
}

/* Words are worth more than the program counter: that one is the same in each of the packets. */
static unsigned rank_of(const struct search *search, struct cps_engine *engine, uint32_t level)
{
    const struct hang_sought *s = search->sought;
    unsigned rank = HANG_RANK_HEADERS;
    if (s->pc_known && cps_engine_where(engine, 0).pc == s->pc)
        rank |= HANG_RANK_PC;
    if (s->exact && same_registers(s, engine))
        rank |= HANG_RANK_REGISTERS;
    if (!same_words(s, engine, level))
        return rank;
    return rank | HANG_RANK_WORDS | rank_of_callers(s, engine, level);
}

static void count(struct search *search, const struct cps_engine *engine, unsigned rank)
{
    struct hang_position *place = search->place;
    const unsigned inside = HANG_RANK_PC | HANG_RANK_REGISTERS;
    unsigned words = rank & ~inside;
    unsigned best = place->rank & ~inside;
    if (words > best)
        place->candidates = 1;
    else if (words == best && search->packet != engine->packets)
        place->candidates++;
    if (words >= best)
        search->packet = engine->packets;
}

/* After each instruction. Of equal places the first stays; a packet in which the program counter is
 * not reached counts to its last instruction. */
static void match_state(struct search *search, struct cps_engine *engine)
{
    const struct hang_sought *s = search->sought;
    const struct cps_afuc *machine = cps_afuc_of(engine);
    struct hang_position *place = search->place;
    uint32_t level = hang_level(engine->gen, cps_afuc_level(machine, 0));
    if (!same_packet(s, machine) || s->level > HANG_IB3 || level != s->level)
        return;
    unsigned rank = rank_of(search, engine, s->level);
    count(search, engine, rank);
    bool further =
        rank == place->rank && place->by == HANG_BY_PACKET && place->packet == engine->packets;
    if (rank <= place->rank && !further)
        return;
    place->rank = rank;
    place->by = rank & HANG_RANK_PC ? s->by : HANG_BY_PACKET;
    place->packet = engine->packets;
    place->tick = engine->clock;
}

/* Packets of a whole run that have the dump's three headers, by their number. */
struct passing {
    struct cps_sink sink; /* first */
    unsigned who;         /* the processor of CP_SQE_STAT */
    uint32_t sought[HEADERS], headers[HEADERS];
    uint64_t packets; /* so far */
    uint64_t *number;
    size_t count;
    bool failed;
};

static void note_packets(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct passing *p = (struct passing *)sink;
    for (size_t i = 0; i < count; i++) {
        if (cps_event_kind(&events[i]) != CPS_EV_PKT)
            continue;
        p->packets++;
        if (cps_event_who(&events[i]) != p->who)
            continue;
        p->headers[2] = p->headers[1];
        p->headers[1] = p->headers[0];
        p->headers[0] = events[i].value;
        if (memcmp(p->headers, p->sought, sizeof(p->headers)) != 0)
            continue;
        p->failed = p->failed || !CPS_LIST_ROOM(p->number, p->count);
        if (!p->failed)
            p->number[p->count++] = p->packets;
    }
}

/* Runs to the end on a copy, which @p whole becomes. */
static struct cps_err *run_whole(const struct hang_sought *s, struct cps_engine *engine,
                                 uint64_t limit, struct passing *p, struct cps_engine **whole,
                                 enum cps_stop *stop)
{
    *p =
        (struct passing){.sink = {note_packets}, .who = engine->who[0], .packets = engine->packets};
    CPS_TRY(cps_engine_clone(engine, whole));
    for (unsigned i = 0; i < HEADERS; i++) {
        p->sought[i] = dump_word(s->stat, STAT_HEADER + i);
        p->headers[i] = cps_afuc_header(cps_afuc_of(*whole), 0, i);
    }
    cps_engine_sink(*whole, &p->sink, 1u << CPS_EV_PKT);
    *stop = cps_engine_run(*whole, limit);
    cps_engine_sink(*whole, NULL, 0);
    return p->failed || *stop == CPS_STOP_NOMEM ? cps_err_nomem() : NULL;
}

/* Goes on to before packet @p number, in strides: the last one is taken back. */
static struct cps_err *approach(struct cps_engine **engine, uint64_t number, uint64_t end)
{
    enum { STRIDE = 1 << 16 };
    while ((*engine)->packets < number && (*engine)->clock + STRIDE < end) {
        struct cps_engine *ahead = NULL;
        CPS_TRY(cps_engine_clone(*engine, &ahead));
        enum cps_stop stop = cps_engine_run(ahead, STRIDE);
        if (ahead->packets >= number || stop != CPS_STOP_BUDGET) {
            cps_engine_destroy(ahead);
            return stop == CPS_STOP_NOMEM ? cps_err_nomem() : NULL;
        }
        cps_engine_destroy(*engine);
        *engine = ahead;
    }
    return NULL;
}

/* Instruction by instruction through packet @p number; one that goes round stays where it is. */
static struct cps_err *step_through(struct search *search, struct cps_engine *engine,
                                    uint64_t number, uint64_t end)
{
    enum { MOST = 1 << 20 };
    const struct hang_position *place = search->place;
    enum cps_stop stop = CPS_STOP_BUDGET;
    for (uint32_t inside = 0; inside < MOST && stop == CPS_STOP_BUDGET;
         inside += engine->packets == number) {
        bool enough = search->sought->quick && place->rank == HANG_RANK_BEST;
        if (engine->packets > number || engine->clock >= end || enough)
            break;
        stop = cps_engine_run(engine, 1);
        match_state(search, engine);
    }
    return stop == CPS_STOP_NOMEM ? cps_err_nomem() : NULL;
}

static struct cps_err *step_candidates(struct search *search, struct cps_engine *engine,
                                       const struct passing *p, uint64_t end)
{
    struct cps_engine *at = NULL;
    CPS_TRY(cps_engine_clone(engine, &at));
    struct cps_err *err = NULL;
    for (size_t i = 0; i < p->count && !err; i++) {
        err = approach(&at, p->number[i], end);
        if (!err)
            err = step_through(search, at, p->number[i], end);
    }
    cps_engine_destroy(at);
    return err;
}

/* An emulator's dump says when it stopped, counted from the ring's first word: the same run, in one
 * piece as there, stands there again. (Processors that loop together come by in another order where
 * a run is cut.) */
static struct cps_err *try_tick(const struct hang_sought *sought, struct cps_engine *engine,
                                uint64_t ticks, struct hang_position *ret)
{
    struct hang_sought exact = *sought;
    struct search search = {.sought = &exact, .place = ret, .packet = UINT64_MAX};
    struct cps_engine *at = NULL;
    CPS_TRY(cps_engine_clone(engine, &at));
    exact.exact = true;
    enum cps_stop stop = cps_engine_run(at, ticks);
    match_state(&search, at);
    cps_engine_destroy(at);
    return stop == CPS_STOP_NOMEM ? cps_err_nomem() : NULL;
}

/* Where the history is missing, processors may begin in another phase: some ticks around are tried,
 * as long as that costs no more than a run to the limit. */
static struct cps_err *find_at_tick(const struct hang_sought *sought, struct cps_engine *engine,
                                    uint64_t limit, struct hang_position *ret)
{
    enum { AROUND = 512 };
    const unsigned sure = HANG_RANK_HEADERS | HANG_RANK_PC | HANG_RANK_REGISTERS;
    uint64_t ticks = sought->ticks;
    const struct hang_position nowhere = *ret;
    uint64_t spent = 0;
    if (ticks > limit)
        return NULL;
    for (uint64_t i = 0; ticks && i <= 2 * AROUND && spent <= limit; i++) {
        uint64_t near = i % 2 ? ticks + (i + 1) / 2 : ticks - i / 2;
        if (near > ticks + AROUND || !near)
            break;
        *ret = nowhere;
        CPS_TRY(try_tick(sought, engine, near, ret));
        if ((ret->rank & sure) == sure)
            return NULL;
        spent += near;
    }
    *ret = nowhere;
    return NULL;
}

struct cps_err *hang_find(const struct hang_sought *sought, struct cps_engine *engine,
                          uint64_t limit, struct hang_position *ret)
{
    struct cps_engine *whole = NULL;
    struct passing passing = {.count = 0};
    enum cps_stop stop = CPS_STOP_BUDGET;
    struct search search = {.sought = sought, .place = ret, .packet = UINT64_MAX};
    const unsigned sure = HANG_RANK_HEADERS | HANG_RANK_PC | HANG_RANK_REGISTERS;
    const struct hang_position nowhere = {
        .no_words =
            sought->level == HANG_IB3 || !sought->roq.queue[roq_of_level(sought->level)].known};
    *ret = nowhere;
    CPS_TRY(find_at_tick(sought, engine, limit, ret));
    if ((ret->rank & sure) == sure)
        return NULL;
    *ret = nowhere;
    struct cps_err *err = run_whole(sought, engine, limit, &passing, &whole, &stop);
    if (!err)
        err = step_candidates(&search, engine, &passing, whole->clock);
    bool ended = stop != CPS_STOP_IDLE && stop != CPS_STOP_BUDGET;
    if (!err && ended && search.packet == whole->packets && ret->packet == whole->packets) {
        ret->by = HANG_BY_ITSELF;
        ret->tick = 0;
    }
    cps_engine_destroy(whole);
    free(passing.number);
    return err;
}

void hang_place_text(const struct hang_position *place, struct cps_buf *out)
{
    static const char *const texts[] = {
        [HANG_NOWHERE] = "position of the hardware not found: no packet matches the dump's headers "
                         "and level; compared at the end of the replay",
        [HANG_BY_PC] =
            "position of the hardware, matched by packet headers, %s and program counter",
        [HANG_BY_LINE] = "position of the hardware, matched by packet headers, %s and the code in "
                         "the dump's instruction cache",
        [HANG_BY_PACKET] = "packet of the hardware, matched by packet headers and %s; the replay "
                           "does not reach its program counter",
        [HANG_BY_ITSELF] = "position of the hardware, matched by packet headers and %s: the replay "
                           "stops there on its own",
    };
    const char *text = texts[place->by];
    const char *here = strstr(text, "%s");
    const char *words = place->rank & HANG_RANK_WORDS ? "queues"
                        : place->no_words             ? "level (the dump has no queue for it)"
                                                      : "level (its queue holds other words)";
    if (here)
        cps_buf_printf(out, "%.*s%s%s", (int)(here - text), text, words, here + 2);
    else
        cps_buf_str(out, text);
    cps_buf_printf(out, "; %u match%s", place->candidates, place->candidates == 1 ? "" : "es");
}
