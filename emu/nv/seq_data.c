/* SPDX-License-Identifier: MIT
 * SEQ's data memory as the host sees it: the ports to it, the scratch words, the stack.
 *
 * The scratch words are the registers of the interpreter, so that memory and registers can not
 * differ. The stack is what the firmware writes there; nothing is read back from it. */
#include "emu/nv/seq.h"

#define READ_INC   (UINT32_C(1) << 25)
#define WRITE_INC  (UINT32_C(1) << 24)
#define INDEX_MASK (READ_INC | WRITE_INC | (DATA_BYTES - 4))
/* Where the scratch words begin. */
#define SCRATCH 0x3e0u

/* How many bytes of the script's frame lie in front of a byte of data. */
static uint32_t in_frame(const struct nv *e, uint32_t byte)
{
    return (byte - seq_place_(e->engine.policy.seq_stack)) % DATA_BYTES;
}

void seq_frame_(struct nv *e, enum frame offset, uint32_t value)
{
    *seq_data_(e, seq_place_(e->engine.policy.seq_stack) + offset) = value;
}

static bool is_kept(uint32_t offset)
{
    static const uint8_t kept[] = {FRAME_IN_WORDS, FRAME_IN_END, FRAME_INSN_LEN, FRAME_RET,
                                   FRAME_IN_START};
    for (unsigned i = 0; i < sizeof(kept); i++) {
        if (kept[i] == offset)
            return true;
    }
    return false;
}

static uint32_t read_word(const struct cps_access *at, uint32_t byte)
{
    struct nv *e = nv_of_(at);
    const struct seq *s = seq_of_(e);
    uint32_t frame = in_frame(e, byte);
    switch (byte - SCRATCH) {
    case 0x00:
        return s->out_words;
    case 0x04:
        return s->out_start;
    case 0x08:
        return s->eq | (uint32_t)s->lt << 8;
    case 0x0c:
        return s->val;
    case 0x10:
        return s->reg;
    case 0x14:
        return s->ret;
    default:
        if (s->words && frame < FRAME_BYTES && !is_kept(frame))
            cps_bus_unknown(e, CPS_UNKNOWN_SEQ_STACK, at->by, frame);
        return *seq_data_(e, byte);
    }
}

static void write_word(struct nv *e, uint32_t byte, uint32_t value)
{
    struct seq *s = seq_of_(e);
    switch (byte - SCRATCH) {
    case 0x00:
        s->out_words = (uint8_t)value;
        break;
    case 0x04:
        s->out_start = value & (DATA_BYTES - 4);
        break;
    case 0x08:
        s->eq = (uint8_t)value;
        s->lt = (uint8_t)(value >> 8);
        break;
    case 0x0c:
        s->val = value;
        break;
    case 0x10:
        s->reg = value;
        break;
    case 0x14:
        s->ret = value;
        break;
    default:
        *seq_data_(e, byte) = value;
    }
}

/* Where a port stands, and where it goes on if the bit for that is set. */
static uint32_t step(struct seq *s, unsigned port, uint32_t bit, bool moves)
{
    uint32_t index = s->index[port];
    if (moves && index & bit)
        s->index[port] = (index & ~(DATA_BYTES - 4)) | ((index + 4) & (DATA_BYTES - 4));
    return index & (DATA_BYTES - 4);
}

/* Index and data of each port take turns. */
uint32_t seq_read_port_(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    struct seq *s = seq_of_(e);
    unsigned port = at->index / 2;
    if (at->index % 2 == 0)
        return s->index[port];
    return read_word(at, step(s, port, READ_INC, !e->engine.tap.quiet));
}

void seq_write_port_(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    struct seq *s = seq_of_(e);
    unsigned port = at->index / 2;
    if (at->index % 2 == 0) {
        s->index[port] = at->value & INDEX_MASK;
        return;
    }
    if (s->running)
        cps_bus_unknown(e, CPS_UNKNOWN_REWRITTEN, at->by, s->index[port]);
    write_word(e, step(s, port, WRITE_INC, true), at->value);
}
