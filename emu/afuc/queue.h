/* SPDX-License-Identifier: MIT
 * Streams, and the FIFOs behind $memdata and $regdata. Private to emu/afuc/. */
#ifndef CPS_AFUC_QUEUE_H
#define CPS_AFUC_QUEUE_H

#include "emu/afuc/machine.h"

/** Queues a fetch; false if the queue is full. */
bool queue_push_(struct queue *queue, uint64_t iova, uint32_t dwords, uint32_t group);
/** The same for a stream of packets that @p core will read: reports one that memory lacks. */
bool stream_queue_(struct afuc_core *core, enum level level, struct fetch fetch);
void queue_clear_(struct afuc_core *core, enum level level);
/** Whether @p words words can be read at the current level. */
bool stream_has_(struct afuc_core *core, uint32_t words);
uint32_t stream_peek_(struct afuc_core *core);
uint32_t stream_pop_(struct afuc_core *core);
void stream_select_(struct afuc_core *core, enum level level);
/** Reads the word @p ahead words behind the next one without consuming; false past the IB. */
bool stream_look_(struct afuc_core *core, uint32_t ahead, uint32_t *ret);
void fifo_request_(struct afuc_core *core, struct fifo *fifo, uint64_t iova, uint32_t dwords);
/** False if it is full. */
bool fifo_put_(struct fifo *fifo, uint32_t value);
/** Queues a register that was read for $regdata. False if there is no room, which is a fault that
 * names @p place: whoever queues several ends there, however many it was asked for. */
bool fifo_put_register_(struct afuc_core *core, uint32_t value, uint32_t place);
bool fifo_has_(struct afuc_core *core, struct fifo *fifo, uint32_t words);
uint32_t fifo_pop_(struct afuc_core *core, struct fifo *fifo);

/** A ring as one processor reads it. */
struct ring {
    uint64_t iova;
    uint32_t dwords, wptr;
};

/** LPAC has a ring of its own. */
static inline struct ring ring_of_(const struct afuc_core *core)
{
    const struct cps_afuc *machine = core->machine;
    return core->who == CPS_CPU_LPAC
               ? (struct ring){LPAC_RING, RING_DWORDS, machine->lpac_wptr}
               : (struct ring){machine->ring_iova, machine->ring_dwords, machine->ring_wptr};
}

/** Address of the next word of the current level. */
static inline uint64_t stream_iova_(const struct afuc_core *core)
{
    if (CPS_UNLIKELY(core->s.level == LEVEL_MEQ))
        return core->s.meq.iova[core->s.meq.head];
    const struct queue *queue = &core->s.queue[core->s.level];
    uint64_t first =
        core->s.level == LEVEL_RB ? ring_of_(core).iova : queue->fetch[queue->head].iova;
    return first + 4 * (uint64_t)queue->pos;
}

/** Level of the current stream as events have it; @p header  the word at hand */
static inline unsigned event_level_(const struct afuc_core *core, uint32_t header)
{
    static const uint8_t by_level[LEVEL_COUNT] = {CPS_LEVEL_RB,  CPS_LEVEL_IB1, CPS_LEVEL_IB2,
                                                  CPS_LEVEL_IB3, CPS_LEVEL_SDS, CPS_LEVEL_SDS};
    if (CPS_UNLIKELY(core->s.level == LEVEL_MEQ))
        return core->s.meq.level[core->s.meq.head];
    bool mark = header == (core->s.level == LEVEL_SIDE ? END_OF_SIDE : END_OF_IB);
    return mark ? (unsigned)CPS_LEVEL_INT : by_level[core->s.level];
}

/** The next word, where there is one in the window. */
static inline uint32_t window_pop_(struct afuc_core *core)
{
    core->s.r[R_REM]--;
    ++*core->window_pos;
    core->window_left--;
    return *core->window++;
}

static inline bool has_words_(struct afuc_core *core, uint32_t words)
{
    return CPS_LIKELY(core->window_left && core->window_left >= words) || stream_has_(core, words);
}

static inline uint32_t peek_word_(struct afuc_core *core)
{
    return CPS_LIKELY(core->window_left) ? *core->window : stream_peek_(core);
}

static inline uint32_t pop_word_(struct afuc_core *core)
{
    return CPS_LIKELY(core->window_left) ? window_pop_(core) : stream_pop_(core);
}

#endif
