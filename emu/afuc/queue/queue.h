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

/* ---- the policy about values that the rest of the GPU would write: packet.c ---- */

/** Opcodes of packets that wait; what for, and from which generation on: packet.c. */
#define WAIT_OPCODES(W) W(MEM_GTE, 0x14) W(REG_MEM, 0x3c) W(TWO_REGS, 0x70) W(TWO_MEMS, 0x71)
enum wait_opcode {
#define WAIT_OPCODE(id, opcode) WAIT_ON_##id = (opcode),
    WAIT_OPCODES(WAIT_OPCODE)
#undef WAIT_OPCODE
};

/** Whether a header may be one of theirs: most are not. */
static inline bool wait_may_poll_(uint32_t header)
{
    switch (header >> 16 & 0x7f) {
#define WAIT_OPCODE(id, opcode) case WAIT_ON_##id:
        WAIT_OPCODES(WAIT_OPCODE)
#undef WAIT_OPCODE
        return true;
    default:
        return false;
    }
}

/* ---- waitin and its relatives: packet.c ---- */

enum afuc_dispatch {
    DISPATCH_NOTHING,   /* no header yet */
    DISPATCH_PACKET,    /* go to @p target behind the delay slot */
    DISPATCH_INTERRUPT, /* go there at once: the delay slot belongs to the packet behind */
};
/** Looks the next header up. @p target may lie outside the image. */
enum afuc_dispatch afuc_dispatch_(struct afuc_core *core, uint32_t *target);
/** The same where the header is in the window and nothing may come in front of it. @return the
 * target, or NOT_AT_HAND: nothing has happened */
uint64_t afuc_take_header_(struct afuc_core *core);
#define NOT_AT_HAND UINT64_MAX
/** Where a header stands. */
struct packet_place {
    uint64_t iova;
    uint32_t pos;   /* in its stream */
    unsigned level; /* of its event */
    bool injected;
};

/** What follows from a packet that begins: events, its words for who wants them, the policy about
 * waits. */
void packet_noted_(struct afuc_core *core, uint32_t header, const struct packet_place *at,
                   uint32_t count);

/** Whether anything does, beside counts. */
static inline bool packet_is_noted_(const struct afuc_core *core, uint32_t header)
{
    const uint32_t kinds = 1u << CPS_EV_PKT | 1u << CPS_EV_SQE | 1u << CPS_EV_WORD;
    return core->machine->engine.tap.kinds & kinds || wait_may_poll_(header);
}

/** A packet begins. The delay slot pops its header; $rem counts that word too until then.
 * @param id     index of the packet table
 * @param count  dwords of payload
 * @return where its handler is, which may be outside of the image */
static inline uint32_t packet_begin_(struct afuc_core *core, uint32_t header,
                                     struct packet_place at, uint32_t id, uint32_t count)
{
    struct afuc_state *s = &core->s;
    struct cps_afuc *machine = core->machine;
    s->history[1] = s->history[0];
    s->history[0] = s->header;
    s->header = header;
    s->header_iova = at.iova;
    s->header_pos = at.pos;
    s->id = id;
    machine->submission_packets +=
        core == &machine->core[0] && !at.injected && !machine->rings.current;
    machine->engine.packets++;
    machine->packets_by_id[at.level][id]++;
    s->r[R_REM] = count + 1;
    if (CPS_UNLIKELY(packet_is_noted_(core, header))) {
        packet_noted_(core, header, &at, count);
    } else {
        machine->engine.tap.count[CPS_EV_PKT]++;
        machine->engine.tap.count[CPS_EV_SQE] += s->sqe[SQE_SP] != 0;
    }
    return s->table[id];
}

/** Enters the preemption routine where the core stands, if that is due and it may. */
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

/** Writes the register selected; false: it, or how it is selected, is not plain, and nothing has
 * happened. */
static inline bool afuc_put_data_(struct afuc_core *core, uint32_t value)
{
    struct afuc_state *s = &core->s;
    uint32_t *address = s->user_selected ? &s->usraddr : &s->addr;
    uint32_t modes = s->user_selected ? USRADDR_MODES : ADDR_MODES;
    unsigned path = s->user_selected ? CPS_PATH_USER : CPS_PATH_DATA;
    if (CPS_UNLIKELY(!core->plain || (*address & modes)) ||
        (s->user_selected && gpu_plain_protects_(core)))
        return false;
    if (!gpu_store_(core, *address & (GPU_REGS - 1), value, path))
        return false;
    ++*address;
    return true;
}

/** Stores an address that selects a plain register; false: it does more, or is none, and nothing
 * has happened. */
static inline bool afuc_select_(struct afuc_core *core, unsigned number, uint32_t value)
{
    struct afuc_state *s = &core->s;
    bool user = number == R_USRADDR;
    if (number == R_DATA || !core->plain || (!user && (value >> 24 || s->interrupted)))
        return false;
    *(user ? &s->usraddr : &s->addr) = value;
    s->user_selected = user;
    return true;
}

/* ---- repetitions, and packets of type 4, in one piece: bulk.c ---- */

/** Repetitions of a UOP_BULK in one piece, at most @p budget of them; returns how many were made, 0
 * if it takes single ones. */
uint64_t afuc_bulk_(struct afuc_core *core, const struct afuc_uop *uop, uint64_t budget);

/** Repetitions that take @p words words, at most 32,767 of them, @p group at a time, which is 1 to
 * 4: a division by a number that the compiler does not know is slow. */
static inline uint32_t bulk_turns_(uint32_t words, uint32_t group)
{
    static const uint32_t part[] = {0, 65536, 32768, 21846, 16384};
    return (uint32_t)((uint64_t)(words + group - 1) * part[group] >> 16);
}

/** Hands out the events of @p count words in consecutive registers. */
void bulk_events_(struct afuc_core *core, uint32_t offset, const uint32_t *word, uint32_t count,
                  unsigned path);

/** Counts them, too. */
static inline void bulk_noted_(struct afuc_core *core, uint32_t offset, const uint32_t *word,
                               uint32_t count, unsigned path)
{
    struct cps_tap *tap = &core->machine->engine.tap;
    tap->count[CPS_EV_REG] += count;
    if (CPS_UNLIKELY(cps_tap_wants_(tap, CPS_EV_REG)))
        bulk_events_(core, offset, word, count, path);
}

/** Runs the handler of type 4 that begins at @p uop, its waitin and the slot behind it, and goes on
 * as long as the next packet is of type 4, too; the state says where the core is then. Returns how
 * many ticks that took, at most @p budget; 0: the packet takes single instructions, and nothing has
 * happened. */
uint64_t afuc_type4_(struct afuc_core *core, const struct afuc_uop *uop, uint64_t budget);

#endif
