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
/** Address of the next word of the current level. */
uint64_t stream_iova_(const struct afuc_core *core);
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
/** Level of the current stream as events have it; @p header  the word at hand */
unsigned event_level_(const struct afuc_core *core, uint32_t header);

/* Whether the next @p words words of the stream lie in the window: of an indirect buffer, stored,
 * before its end. The rest of queue.c is for all that this is not. */
static inline bool words_at_hand_(const struct afuc_core *core, uint32_t words)
{
    return core->window_left >= words && core->window_left && !core->s.injected &&
           core->s.level >= LEVEL_IB1 && core->s.level <= LEVEL_SDS &&
           core->window_epoch == *core->machine->epoch;
}

static inline bool has_words_(struct afuc_core *core, uint32_t words)
{
    return CPS_LIKELY(words_at_hand_(core, words)) || stream_has_(core, words);
}

static inline uint32_t peek_word_(struct afuc_core *core)
{
    return CPS_LIKELY(words_at_hand_(core, 1)) ? *core->window : stream_peek_(core);
}

static inline uint32_t pop_word_(struct afuc_core *core)
{
    if (CPS_UNLIKELY(!words_at_hand_(core, 1)))
        return stream_pop_(core);
    core->s.r[R_REM]--;
    core->s.queue[core->s.level].pos++;
    core->window_left--;
    return *core->window++;
}

#endif
