/* SPDX-License-Identifier: MIT
 * `(rep)` moves from $data to registers, memory, or to nowhere, in one piece: what a type-4 packet,
 * a register bunch and the end of every handler are made of. The events, registers and counts are
 * those of the single repetitions; what needs a look at each word is left to them. */
#include "emu/afuc/control/control.h"
#include "emu/afuc/queue/queue.h"
#include "isa/base/pm4.h"

/* What one call does: whole repetitions, all their words known and in the window. */
struct bulk {
    struct afuc_core *core;
    const uint32_t *word;
    uint32_t group; /* words of a repetition */
    uint32_t modes; /* that the instruction ORs to its first */
    uint32_t words; /* of all repetitions; the last one of a (rep) may have fewer */
};

/* Words that can be read without asking: those of an indirect buffer that memory holds. */
static uint32_t words_at_hand(struct afuc_core *core)
{
    const struct afuc_state *s = &core->s;
    if (CPS_LIKELY(core->window_left))
        return core->window_left;
    if (s->level == LEVEL_RB || s->level >= LEVEL_SIDE || s->injected || s->peeking)
        return 0;
    const struct queue *queue = &s->queue[s->level];
    if (!queue->count || queue->pos >= queue->fetch[queue->head].dwords)
        return 0;
    peek_word_(core); /* fills the window */
    return core->window_left;
}

/* A write that is no more than a store and an event is done; false: it is more, and nothing has
 * happened. @p core is plain. */
static bool store_register(struct afuc_core *core, uint32_t offset, uint32_t value, unsigned path)
{
    struct cps_afuc *m = core->machine;
    if (CPS_UNLIKELY(m->reg_flags[offset] & REG_BEHAVES))
        return false;
    core_event_(core, CPS_EV_REG, path, offset, value);
    m->engine.changes += bank_set_(m, core->pipe, offset, value);
    return true;
}

/* Whether @p count registers from @p offset lie in blocks in which none behaves. */
static inline bool are_plain(const struct cps_afuc *m, uint32_t offset, uint32_t count)
{
    if (offset >= GPU_REGS || count > GPU_REGS - offset)
        return false;
    uint32_t first = offset / REG_BLOCK;
    uint32_t last = (offset + count - !!count) / REG_BLOCK;
    bool behaves = m->behaves[first] | m->behaves[last];
    while (CPS_UNLIKELY(++first < last))
        behaves |= m->behaves[first];
    return !behaves;
}

/* Gives @p count consecutive registers that all pipes share their values, without events or
 * effect. */
static inline void set_shared(struct cps_afuc *m, uint32_t offset, const uint32_t *word,
                              uint32_t count)
{
    uint32_t *reg = &m->reg[offset];
    uint8_t *flags = &m->reg_flags[offset];
    uint32_t changes = 0;
    machine_touch_(m, offset);
    machine_touch_(m, offset + count - !!count);
    for (uint32_t i = TOUCHED_REGS; CPS_UNLIKELY(i < count); i += TOUCHED_REGS)
        machine_touch_(m, offset + i);
    for (uint32_t i = 0; i < count; i++) {
        changes += reg[i] != word[i];
        reg[i] = word[i];
        flags[i] |= REG_WRITTEN;
    }
    m->engine.changes += changes;
}

/* The same of those of a core's pipe. */
static inline void set_registers(struct afuc_core *core, uint32_t offset, const uint32_t *word,
                                 uint32_t count)
{
    struct cps_afuc *m = core->machine;
    if (CPS_LIKELY(!m->bank[core->pipe % PIPE_COUNT])) {
        set_shared(m, offset, word, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        m->engine.changes += bank_set_(m, core->pipe, offset + i, word[i]);
}

/* Whether CP_PROTECT forbids a core that is plain anything. */
static inline bool is_protected(const struct afuc_core *core)
{
    return (bank_get_(core->machine, core->pipe, core->protect) & 1) && gpu_mode_protects_(core);
}

/* Repetitions that take @p words words, at most 32,767 of them, @p group at a time, which is 1 to
 * 4: a division by a number that the compiler does not know is slow. */
static inline uint32_t turns_of(uint32_t words, uint32_t group)
{
    static const uint32_t part[] = {0, 65536, 32768, 21846, 16384};
    return (uint32_t)((uint64_t)(words + group - 1) * part[group] >> 16);
}

/* The events of @p count words in consecutive registers. */
static inline void note_registers(struct afuc_core *core, uint32_t offset, const uint32_t *word,
                                  uint32_t count, unsigned path)
{
    struct cps_tap *tap = &core->machine->engine.tap;
    tap->count[CPS_EV_REG] += count;
    if (CPS_LIKELY(!cps_tap_wants_(tap, CPS_EV_REG)))
        return;
    const struct cps_event first =
        cps_event_make(CPS_EV_REG, path, core->who, core->s.pc, offset, 0);
    for (uint32_t i = 0; i < count; i++) {
        tap->event[tap->pending++] = (struct cps_event){first.head, first.addr + i, word[i], 0};
        if (CPS_UNLIKELY(tap->pending == CPS_TAP_BATCH))
            cps_tap_flush_(tap);
    }
}

/* How many of @p count registers are plain storage. */
static uint32_t plain_registers(const struct cps_afuc *m, uint32_t offset, uint32_t count)
{
    uint32_t i = 0;
    if (CPS_LIKELY(are_plain(m, offset, count)))
        return count;
    if (offset >= GPU_REGS || count > GPU_REGS - offset)
        return 0;
    while (i < count && !(m->reg_flags[offset + i] & REG_BEHAVES))
        i++;
    return i;
}

/* Whole repetitions only, unless the last ones are all of it. */
static uint32_t whole(const struct bulk *b, uint32_t words)
{
    return words == b->words ? words : words - words % b->group;
}

/* Bits of $addr and $usraddr: it stays where it is; $usraddr: whether a read is allowed. */
enum { FIXED = 1u << 18, ASKS = 1u << 20 };

/* To the registers from $addr or $usraddr on, or all to one of them: the data port of a memory. */
static uint32_t to_registers(const struct bulk *b)
{
    struct afuc_core *core = b->core;
    struct afuc_state *s = &core->s;
    uint32_t *address = s->user_selected ? &s->usraddr : &s->addr;
    bool fixed = *address & FIXED;
    unsigned path = s->user_selected ? CPS_PATH_USER : CPS_PATH_DATA;
    uint32_t offset = *address & 0x3ffff;
    if (s->user_selected && ((*address & ASKS) || is_protected(core)))
        return 0;
    uint32_t last = fixed ? 1 : b->words;
    uint32_t count = plain_registers(core->machine, offset, last);
    count = fixed && count ? b->words : whole(b, count);
    for (uint32_t i = 0; fixed && i < count; i++)
        store_register(core, offset, b->word[i], path);
    if (!fixed) {
        set_registers(core, offset, b->word, count);
        note_registers(core, offset, b->word, count, path);
    }
    *address += fixed ? 0 : count;
    return count;
}

/* What is ORed to the word at @p i of a pair's address: the instruction's own, to the first of each
 * repetition. */
static uint32_t modes_of(const struct bulk *b, uint32_t i)
{
    return i % b->group ? 0 : b->modes;
}

static bool plain_pairs(const struct bulk *b, uint32_t at)
{
    bool plain = true;
    for (uint32_t i = at; i < at + b->group; i += 2) {
        uint32_t address = b->word[i] | modes_of(b, i);
        plain =
            plain && !(address & ASKS) && plain_registers(b->core->machine, address & 0x3ffff, 1);
    }
    return plain;
}

/* Pairs of a register and its value. */
static uint32_t to_pairs(const struct bulk *b)
{
    struct afuc_core *core = b->core;
    uint32_t done = 0;
    if (b->group % 2 || is_protected(core))
        return 0;
    while (done + b->group <= b->words && plain_pairs(b, done)) {
        for (uint32_t end = done + b->group; done < end; done += 2) {
            uint32_t address = b->word[done] | modes_of(b, done);
            store_register(core, address & 0x3ffff, b->word[done + 1], CPS_PATH_USER);
            core->s.usraddr = address + !(address & FIXED);
            core->s.user_selected = 1;
        }
    }
    return done;
}

/* To memory, through the pipe register that takes its data. The stream itself may be written. */
static uint32_t to_memory(const struct bulk *b)
{
    struct afuc_core *core = b->core;
    uint32_t number = core->s.addr >> 24;
    uint32_t done = 0;
    if (b->group != 1 || !(core->s.addr >> 18 & 1) || !afuc_pipe_is_memory_(core, number))
        return 0;
    while (done < b->words && core->window_epoch == *core->machine->epoch && !core->s.wait) {
        core_event_(core, CPS_EV_PIPE, 0, number, b->word[done]);
        nrt_write_(core, b->word[done++]);
    }
    return done;
}

static uint32_t move(const struct bulk *b, unsigned dst)
{
    if (dst != R_TRASH && !b->core->plain)
        return 0; /* the MEQ of a5xx, and registers in banks */
    switch (dst) {
    case R_DATA:
        return b->core->s.user_selected || !(b->core->s.addr >> 24) ? to_registers(b)
                                                                    : to_memory(b);
    case R_USRADDR:
        return to_pairs(b);
    default:
        return b->words;
    }
}

uint64_t afuc_bulk_(struct afuc_core *core, const struct afuc_uop *uop, uint64_t budget)
{
    struct afuc_state *s = &core->s;
    bool both = uop->s1 == R_DATA; /* or with a register */
    struct bulk b = {.core = core, .group = 1u + uop->xmov, .modes = both ? s->r[uop->s2] : 0};
    uint32_t left = s->r[R_REM];
    uint32_t known = words_at_hand(core);
    b.words = left < known ? left : known;
    if (budget < b.words && b.words > budget * b.group)
        b.words = (uint32_t)(budget * b.group);
    if (b.words < left)
        b.words -= b.words % b.group;
    if (!b.words)
        return 0;
    b.word = core->window;
    uint32_t done = move(&b, uop->dst);
    if (core->window_left) { /* else memory has changed */
        core->window += done;
        core->window_left -= done;
    }
    s->queue[s->level].pos += done;
    s->r[R_REM] -= done;
    return turns_of(done, b.group);
}

/* ---- packets of type 4 ----
 *
 * Two thirds of all packets: from one header to the next. The handler is the same four instructions
 * in all images (load.c finds them):
 *
 *     ushr $usraddr, $01, 8            the offset
 *     (rep)(xmovN)mov $data, $data     the words, to consecutive registers
 *     waitin                           the next header,
 *     mov $01, $data                   which the delay slot takes
 *
 * Events, ticks and state are those of the single instructions. What is not plain is left to them:
 * registers that behave or are protected, words that are not in the window. */

enum { TYPE4 = 4 }; /* index of the packet table */

/* Entries of the packet table lead here, no interrupt precedes a packet, and no observer records
 * payloads. */
static bool may_run(const struct afuc_core *core, uint32_t pc)
{
    const struct cps_afuc *m = core->machine;
    return core->plain && core->window_left && core->s.table[TYPE4] == pc && !m->watched &&
           !is_protected(core) && !cps_tap_wants_(&m->engine.tap, CPS_EV_WORD);
}

uint64_t afuc_type4_(struct afuc_core *core, const struct afuc_uop *uop, uint64_t budget)
{
    struct afuc_state *const s = &core->s;
    struct cps_afuc *const m = core->machine;
    const uint32_t pc = (uint32_t)(uop - core->uops);
    if (!may_run(core, pc))
        return 0; /* also without a window */
    const uint32_t *const end = core->window + core->window_left;
    const uint32_t *word = core->window;
    const uint32_t *header = NULL; /* of the packet that began last */
    uint32_t value = s->r[uop->s1];
    uint32_t count = s->r[R_REM];
    uint32_t stop = pc; /* where the core is if the next packet takes single instructions */
    uint32_t packets = 0;
    uint64_t left = budget;
    for (;;) {
        uint32_t address = value >> (uop->imm & 31);
        uint32_t offset = address & (GPU_REGS - 1);
        if (end - word < (ptrdiff_t)count || count + 4u > left || (address & USRADDR_MODES) ||
            !are_plain(m, offset, count))
            break;
        uint32_t turns = turns_of(count, 1u + uop[1].xmov);
        left -= 1u + turns + !turns; /* with nothing to do (rep) takes its tick, too */
        m->repeats += turns - !!turns;
        s->pc = pc + 1;
        set_registers(core, offset, word, count);
        note_registers(core, offset, word, count, CPS_PATH_USER);
        s->usraddr = address + count;
        word += count;
        count = 0;
        stop = pc + 2;
        if (word == end || cps_pm4_decode(*word).kind != CPS_PM4_TYPE4)
            break;
        header = word++;
        value = *header;
        count = value & 0x7f;
        stop = pc;
        left -= 2;
        packets++;
        s->history[1] = s->history[0];
        s->history[0] = s->header;
        s->header = value;
        s->pc = pc + 2;
        if (s->sqe[SQE_SP]) /* the packet before left a call open */
            core_event_(core, CPS_EV_SQE, 0, SQE_SP, s->sqe[SQE_SP]);
        core_event_(core, CPS_EV_PKT, core->window_level,
                    core->window_end - 4 * (uint64_t)(end - header), value);
    }
    if (left == budget)
        return 0;
    if (header) {
        s->header_iova = core->window_end - 4 * (uint64_t)(end - header);
        s->id = TYPE4;
        core->packets += packets;
        m->engine.packets += packets;
        m->packets_by_id[core->window_level][TYPE4] += packets;
        m->submission_packets += core == &m->core[0] && !m->rings.current ? packets : 0;
    }
    s->pc = stop;
    s->user_selected = 1;
    s->r[uop->s1] = value;
    s->r[R_REM] = count;
    *core->window_pos += (uint32_t)(word - core->window);
    core->window = word;
    core->window_left = (uint32_t)(end - word);
    return budget - left;
}
