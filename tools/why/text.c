/* SPDX-License-Identifier: MIT
 * A chain for people: the value, what it was made of, and which packet of which stream that was. */
#include "tools/why/why.h"

#include <inttypes.h>

#include "isa/base/pm4.h"

/* A text on its way out: what was told is told once. */
struct text {
    struct why *why;
    struct why_chain chain;
    bool told[WHY_MOST];
    struct cps_buf *out;
};

enum { DEEPEST = 24 };

static void indent(struct text *t, unsigned depth)
{
    for (unsigned i = 0; i < depth; i++)
        cps_buf_str(t->out, "  ");
}

/* "RB_MRT[0].CONTROL", or the number. */
static void put_register(struct text *t, const struct origin_node *node, enum cps_space space)
{
    unsigned index = 0;
    uint32_t number = (uint32_t)node->place & 0x3ffff;
    const char *name = cps_name(why_names(t->why, node), space, number, &index);
    cps_buf_hex(t->out, number, 4);
    if (name)
        cps_buf_printf(t->out, " %s%s", name, index ? "+0x1" : "");
}

static void put_packet_name(struct text *t, const struct origin_node *node)
{
    struct cps_pm4 packet = cps_pm4_decode_any(node->value);
    const char *name = NULL;
    if (packet.kind == CPS_PM4_TYPE7)
        name = cps_name(why_names(t->why, node), CPS_SPACE_PACKET, packet.opcode, NULL);
    if (packet.kind == CPS_PM4_TYPE4) {
        cps_buf_str(t->out, "type 4 ");
        name = cps_name(why_names(t->why, node), CPS_SPACE_GPU, packet.reg, NULL);
    }
    if (name)
        cps_buf_str(t->out, name);
    else
        cps_buf_hex(t->out, node->value, 8);
}

/* "byte 1234 of FILE", where the capture has it. */
static void put_file(struct text *t, const struct origin_node *node)
{
    uint64_t offset = 0;
    const struct origin_block *block = origin_block_(t->why->origin, node, &offset);
    if (!block)
        return;
    if (block->offset)
        cps_buf_printf(t->out, ": byte 0x%" PRIx64 " of %s", offset, t->why->capture);
    else if (block->line)
        cps_buf_printf(t->out, ": line %" PRIu32 " of %s, its word %" PRIu64, block->line,
                       t->why->capture, (node->place - block->iova) / 4);
    else
        cps_buf_printf(t->out, ": in %s", t->why->capture);
}

/* Where no other node is told of it. */
static void put_source(struct text *t, const struct origin_node *node)
{
    bool known = node->known && !node->in[ORIGIN_A];
    uint64_t ring = t->why->origin ? origin_ring_(t->why->origin) : 0;
    cps_buf_printf(t->out, " at 0x%" PRIx64, node->place);
    put_file(t, node);
    uint64_t offset = 0;
    bool in_file = origin_block_(t->why->origin, node, &offset) != NULL;
    if (!node->known)
        cps_buf_str(t->out, ": the capture does not hold it");
    else if (known && !in_file && node->place - ring < origin_ring_bytes_(t->why->origin))
        cps_buf_str(t->out, ": the driver's, in the ring");
    else if (known && !in_file)
        cps_buf_str(t->out, ": the driver's");
}

static void put_code(struct text *t, const struct origin_node *node)
{
    cps_buf_printf(t->out, " by %s at pc ", cps_processor_name(node->who));
    cps_buf_hex(t->out, node->pc, 4);
    cps_buf_str(t->out, " `");
    why_instruction(t->why, node, t->out);
    cps_buf_str(t->out, "`");
}

static bool has_inputs(const struct origin_node *node)
{
    return node->in[ORIGIN_A] || node->in[ORIGIN_B] || node->in[ORIGIN_D];
}

static void put_computed(struct text *t, const struct origin_node *node)
{
    if (node->dst < R_TRASH)
        cps_buf_printf(t->out, " in $%02x", node->dst);
    put_code(t, node);
    if (!has_inputs(node))
        cps_buf_str(t->out, ": a constant of the firmware");
}

static void put_level(struct text *t, const struct origin_node *node)
{
    if (node->kind == ORIGIN_STREAM && node->aux != UINT32_MAX)
        cps_buf_printf(t->out, "draw-state group %" PRIu32, node->aux);
    else
        cps_buf_str(t->out, cps_event_sub_word(CPS_EV_PKT, node->sub));
}

/* Which word of its stream a packet begins with; the ring has submissions instead. */
static void put_packet(struct text *t, const struct origin_node *node)
{
    const struct origin_node *stream = origin_at_(t->why->origin, node->packet);
    put_packet_name(t, node);
    cps_buf_printf(t->out, " at 0x%" PRIx64, node->place);
    if (stream->kind == ORIGIN_STREAM) {
        cps_buf_printf(t->out, ", word %" PRIu64 " of ", (node->place - stream->place) / 4);
        put_level(t, stream);
        cps_buf_printf(t->out, " at 0x%" PRIx64, stream->place);
    } else if (stream->kind != ORIGIN_PACKET) {
        cps_buf_printf(t->out, " (%s)", cps_event_sub_word(CPS_EV_PKT, node->sub));
    }
    put_file(t, node);
}

/* Packets and streams, from the inside out. */
static void put_calls(struct text *t, uint32_t at, unsigned depth)
{
    const struct origin *o = t->why->origin;
    for (unsigned i = 0; at && i < DEEPEST; i++) {
        const struct origin_node *node = origin_at_(o, at);
        uint32_t place = why_chain_find(&t->chain, at);
        const struct origin_node *outer = origin_at_(o, node->packet);
        bool again = place == UINT32_MAX || t->told[place];
        if (node->kind != ORIGIN_PACKET)
            return;
        indent(t, depth + i);
        cps_buf_str(t->out,
                    i ? outer->kind == ORIGIN_PACKET ? "passed on from " : "called by " : "in ");
        put_packet(t, node);
        if (!node->packet)
            cps_buf_printf(t->out, ", submission %" PRIu32, node->submission);
        cps_buf_str(t->out, again && node->packet ? " (as above)\n" : "\n");
        if (again)
            return;
        t->told[place] = true;
        at = node->packet;
        if (outer->kind != ORIGIN_STREAM)
            continue;
        const struct origin_node *group = origin_at_(o, outer->in[ORIGIN_A]);
        if (outer->aux != UINT32_MAX && group->kind == ORIGIN_GROUP) {
            indent(t, depth + i + 1);
            cps_buf_printf(t->out, "draw-state group %" PRIu32 " set\n", outer->aux);
            at = group->packet;
        } else {
            at = outer->packet;
        }
    }
}

static void put_what(struct text *t, const struct origin_node *node)
{
    static const char *const verb[] = {[ORIGIN_REG] = "written to ",
                                       [ORIGIN_PIPE] = "written to pipe register ",
                                       [ORIGIN_CTRL] = "written to control register ",
                                       [ORIGIN_SQE] = "written to SQE register ",
                                       [ORIGIN_REGREAD] = "read from ",
                                       [ORIGIN_CREAD] = "read from control register ",
                                       [ORIGIN_SREAD] = "read from SQE register "};
    static const enum cps_space space[] = {
        [ORIGIN_REG] = CPS_SPACE_GPU,      [ORIGIN_PIPE] = CPS_SPACE_PIPE,
        [ORIGIN_CTRL] = CPS_SPACE_CONTROL, [ORIGIN_SQE] = CPS_SPACE_SQE,
        [ORIGIN_REGREAD] = CPS_SPACE_GPU,  [ORIGIN_CREAD] = CPS_SPACE_CONTROL,
        [ORIGIN_SREAD] = CPS_SPACE_SQE};
    bool named = node->kind < sizeof(verb) / sizeof(verb[0]) && verb[node->kind];
    cps_buf_str(t->out, named ? verb[node->kind] : "");
    if (named)
        put_register(t, node, space[node->kind]);
    if (named)
        put_code(t, node);
    if (named && node->kind >= ORIGIN_REGREAD && node->kind <= ORIGIN_SREAD && !has_inputs(node))
        cps_buf_str(t->out, ": as hardware has it");
}

static void put_node(struct text *t, const struct origin_node *node)
{
    cps_buf_hex(t->out, node->value, 8);
    cps_buf_str(t->out, " ");
    put_what(t, node);
    switch (node->kind) {
    case ORIGIN_INSN:
    case ORIGIN_OFFSET:
        cps_buf_str(t->out, "computed");
        put_computed(t, node);
        break;
    case ORIGIN_WORD:
        cps_buf_str(t->out, "word of the stream");
        put_source(t, node);
        break;
    case ORIGIN_MEMORY:
        cps_buf_str(t->out, "word of memory");
        put_source(t, node);
        break;
    case ORIGIN_MEMW:
        cps_buf_printf(t->out, "written to memory at 0x%" PRIx64, node->place);
        put_code(t, node);
        break;
    case ORIGIN_HEADER:
        cps_buf_str(t->out, "count of the header");
        break;
    case ORIGIN_REMAINS:
        cps_buf_str(t->out, "what is left of the count");
        break;
    case ORIGIN_PASSED:
        cps_buf_printf(t->out, "taken by %s from another processor", cps_processor_name(node->who));
        break;
    case ORIGIN_ASSUMED:
        cps_buf_printf(t->out, "assumed: %s", cps_event_sub_word(CPS_EV_ASSUME, node->sub));
        break;
    case ORIGIN_BEGIN:
        cps_buf_str(t->out, "there from the start");
        break;
    case ORIGIN_CUT:
        cps_buf_str(t->out, "older than what was kept");
        break;
    case ORIGIN_HARDWARE:
        cps_buf_str(t->out, "made by hardware");
        break;
    default:
        break;
    }
}

static void put_tree(struct text *t, uint32_t at, unsigned depth, uint32_t packet)
{
    const struct origin_node *node = origin_at_(t->why->origin, at);
    uint32_t place = why_chain_find(&t->chain, at);
    if (!at || node->kind == ORIGIN_PACKET || node->kind == ORIGIN_GROUP)
        return;
    indent(t, depth);
    put_node(t, node);
    bool again = place == UINT32_MAX || t->told[place] || depth == DEEPEST;
    cps_buf_str(t->out, again && has_inputs(node) ? " (as above)\n" : "\n");
    if (again)
        return;
    t->told[place] = true;
    if (node->packet != packet)
        put_calls(t, node->packet, depth + 1);
    if (node->kind == ORIGIN_CUT)
        return;
    for (unsigned k = 0; k < ORIGIN_INPUTS; k++)
        put_tree(t, node->in[k], depth + 1, node->packet);
}

void why_text(struct why *why, const struct why_ask *ask, struct cps_buf *out)
{
    struct text t = {.why = why, .out = out};
    if (ask->kept == UINT32_MAX)
        return;
    uint32_t node = origin_kept_(why->origin, ask->kept);
    const struct origin_node *at = origin_at_(why->origin, node);
    why_chain(why->origin, node, &t.chain);
    cps_buf_printf(out, "%s = ", ask->text);
    cps_buf_hex(out, at->value, 8);
    if (at->kind == ORIGIN_REG) {
        size_t before = out->size;
        cps_buf_str(out, " ");
        cps_name_fields(why_names(why, at), CPS_SPACE_GPU, (uint32_t)at->place & 0x3ffff, at->value,
                        out);
        if (out->size == before + 1)
            out->size = before;
    }
    cps_buf_str(out, "\n");
    put_tree(&t, node, 1, 0);
    if (t.chain.cut || origin_cut_(why->origin))
        cps_buf_str(out, "  cut: there is more than is kept\n");
}
