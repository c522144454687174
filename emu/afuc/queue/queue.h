/* SPDX-License-Identifier: MIT
 * Streams, the FIFOs after $memdata and $regdata, and what takes words from them. Private to emu/.
 */
#ifndef CPS_AFUC_QUEUE_H
#define CPS_AFUC_QUEUE_H

#include "emu/afuc/core/machine.h"

/** Queues a fetch; false if the queue is full. */
bool queue_push_(struct queue *queue, uint64_t iova, uint32_t dwords, uint32_t group);
/** The same for a stream of packets that @p core will read: reports one that memory lacks. */
bool stream_queue_(struct afuc_core *core, enum level level, struct fetch fetch);
void queue_clear_(struct afuc_core *core, enum level level);
/** Remembers where the stream of the current level is, and goes back there: nothing if the fetch of
 * then has been overwritten. */
void queue_mark_(struct afuc_core *core);
void queue_rewind_(struct afuc_core *core);
/** Whether @p words words can be read at the current level. */
bool stream_has_(struct afuc_core *core, uint32_t words);
uint32_t stream_peek_(struct afuc_core *core);
uint32_t stream_pop_(struct afuc_core *core);
void stream_select_(struct afuc_core *core, enum level level);
/** Reads the word @p ahead words after the next one without consuming; false past the IB. */
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

/** The word after the last one of the current stream. */
static inline uint32_t end_mark_(const struct afuc_core *core)
{
    return core->s.level == LEVEL_SIDE || core->s.preempt.end >> 1 & 1 ? END_OF_SIDE : END_OF_IB;
}

/** Level of the current stream as events have it; @p header  the word at hand */
static inline unsigned event_level_(const struct afuc_core *core, uint32_t header)
{
    static const uint8_t by_level[LEVEL_COUNT] = {CPS_LEVEL_RB,  CPS_LEVEL_IB1, CPS_LEVEL_IB2,
                                                  CPS_LEVEL_IB3, CPS_LEVEL_SDS, CPS_LEVEL_SDS};
    if (CPS_UNLIKELY(core->s.level == LEVEL_MEQ))
        return core->s.meq.level[core->s.meq.head];
    return header == end_mark_(core) ? (unsigned)CPS_LEVEL_INT : by_level[core->s.level];
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

/* ---- from the PFP of a5xx to its ME, from BR and BV of a8xx to their DDEs ---- */

/** Whether @p to takes @p words more. */
bool meq_room_(const struct afuc_core *to, uint32_t words);
/** Sends a word from @p by to @p to. */
void meq_push_(struct afuc_core *by, struct afuc_core *to, uint32_t value);
uint32_t meq_pop_(struct afuc_core *me);
/** Whether the side stream holds @p words words, its end mark counted. */
bool side_has_(const struct afuc_core *me, uint32_t words);
bool side_at_end_(const struct afuc_core *me);

/* ---- memory as cores reach it, with events; NRT writes ---- */

uint32_t core_mem_read_(struct afuc_core *core, uint64_t iova, unsigned via);
void core_mem_write_(struct afuc_core *core, uint64_t iova, uint32_t value, unsigned via);
void nrt_write_(struct afuc_core *core, uint32_t value);

/* ---- waitin and its relatives: packet.c ---- */

enum afuc_dispatch {
    DISPATCH_NOTHING,   /* no header yet */
    DISPATCH_PACKET,    /* go to @p target after the delay slot */
    DISPATCH_INTERRUPT, /* go there at once: the delay slot belongs to the packet after */
};
/** Looks the next header up. @p target may lie outside the image. */
enum afuc_dispatch afuc_dispatch_(struct afuc_core *core, uint32_t *target);
/** Enters the preemption routine where the core is, if that is due and it may. */
void afuc_interrupt_(struct afuc_core *core);
bool afuc_iret_(struct afuc_core *core, uint32_t *target);
bool afuc_setsecure_(struct afuc_core *core);

/* ---- what special registers do: port.c ---- */

bool afuc_ready_(struct afuc_core *core, const struct afuc_uop *uop);
uint32_t afuc_read_(struct afuc_core *core, const struct afuc_uop *uop, unsigned number);
void afuc_write_(struct afuc_core *core, unsigned number, uint32_t value);
void afuc_extra_moves_(struct afuc_core *core, const struct afuc_uop *uop);
void afuc_store_(struct afuc_core *core, uint32_t offset, uint32_t value);
uint32_t afuc_load_word_(struct afuc_core *core, uint32_t offset);

/** The instruction at hand calls where all eight places of the stack are taken, or returns where
 * none is. */
void afuc_report_stack_(struct afuc_core *core);

/** What keeps $data from being the next of consecutive registers: bits of the address selected. */
enum { USRADDR_MODES = 1u << 20 | 1u << 18, ADDR_MODES = 0xffu << 24 | 1u << 18 };

/* ---- repetitions, and packets of type 4, in one piece: bulk.c ---- */

/** Repetitions of a UOP_BULK in one piece, at most @p budget of them; returns how many were made, 0
 * if it takes single ones. */
uint64_t afuc_bulk_(struct afuc_core *core, const struct afuc_uop *uop, uint64_t budget);

/** Runs the handler of type 4 that begins at @p uop, its waitin and the slot after it, and goes on
 * as long as the next packet is of type 4, too; the state says where the core is then. Returns how
 * many ticks that took, at most @p budget; 0: the packet takes single instructions, and nothing has
 * happened. */
uint64_t afuc_type4_(struct afuc_core *core, const struct afuc_uop *uop, uint64_t budget);

#endif
