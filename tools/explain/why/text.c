/* SPDX-License-Identifier: MIT
 * A chain for people: the value, what it was made of, and which packet of which stream that was. */
#include "tools/explain/why/why.h"

#include <inttypes.h>

#include "emu/afuc/afuc.h"
#include "isa/base/pm4.h"

/* The text of a chain, which prints each node once. */
struct text {
    struct why *why;
    struct why_chain chain;
    uint32_t node; /* the value itself */
    bool shown[WHY_MOST];
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
    if (!block || (node->kind == ORIGIN_PACKET && node->sub == CPS_LEVEL_INT))
        return; /* hardware's own packets stand nowhere */
    if (block->offset)
        cps_buf_printf(t->out, ": byte 0x%" PRIx64 " of %s", offset, t->why->capture);
    else if (block->line)
        cps_buf_printf(t->out, ": line %" PRIu32 " of %s, its word %" PRIu64, block->line,
                       t->why->capture, (node->place - block->iova) / 4);
    else
        cps_buf_printf(t->out, ": in %s", t->why->capture);
}

/* What the driver has put there: the firmware's image, packets in the ring. */
static void put_driver(struct text *t, const struct origin_node *node)
{
    const struct cps_afuc *machine = cps_afuc_of(t->why->engine);
    uint64_t ring = origin_ring_(t->why->origin);
    for (unsigned i = 0; i < t->why->engine->cores; i++) {
        uint64_t word = (node->place - cps_afuc_image_iova(machine, i)) / 4;
        if (word >= cps_afuc_image_size(machine, i))
            continue;
        cps_buf_printf(t->out, ": word 0x%04" PRIx64 " of the firmware of %s", word,
                       cps_processor_name(t->why->engine->who[i]));
        return;
    }
    bool in_ring = node->place - ring < origin_ring_bytes_(t->why->origin);
    cps_buf_str(t->out, in_ring ? ": the driver's, in the ring" : ": the driver's");
}

/* The driver's memory, which the capture does not list, has no buffer. */
static void put_buffer(struct text *t, const struct origin_node *node, bool always)
{
    const struct cps_buffers *buffers = t->why->play->buffers;
    if (always || cps_buffers_at(buffers, node->submission, node->place))
        cps_buffers_put(buffers, node->submission, node->place, t->out);
}

/* The address of a word, and its file unless the chain has its writer. */
static void put_source(struct text *t, const struct origin_node *node)
{
    uint64_t offset = 0;
    cps_buf_printf(t->out, " at 0x%" PRIx64, node->place);
    put_buffer(t, node, !node->known);
    if (node->in[ORIGIN_A])
        return;
    if (origin_block_(t->why->origin, node, &offset))
        put_file(t, node);
    else if (!node->known)
        cps_buf_str(t->out, ": the capture does not hold it");
    else
        put_driver(t, node);
}

static void put_code(struct text *t, const struct origin_node *node)
{
    cps_buf_printf(t->out, " by %s at pc ", cps_processor_name(node->who));
    cps_buf_hex(t->out, node->pc, 4);
    cps_buf_str(t->out, " ");
    why_place(t->why, node, t->out);
    cps_buf_str(t->out, " `");
    why_instruction(t->why, node, t->out);
    cps_buf_str(t->out, "`");
}

static bool has_inputs(const struct origin_node *node)
{
    return node->in[ORIGIN_A] || node->in[ORIGIN_B] || node->in[ORIGIN_D];
}

/* Which word of its stream a packet begins with; the ring has submissions instead. */
static void put_packet(struct text *t, const struct origin_node *node)
{
    const struct origin_node *stream = origin_at_(t->why->origin, node->packet);
    put_packet_name(t, node);
    cps_buf_printf(t->out, " at 0x%" PRIx64, node->place);
    if (stream->kind == ORIGIN_STREAM) {
        cps_buf_printf(t->out, ", word %" PRIu64 " of ", (node->place - stream->place) / 4);
        if (stream->kind == ORIGIN_STREAM && stream->aux != UINT32_MAX)
            cps_buf_printf(t->out, "draw-state group %" PRIu32, stream->aux);
        else
            cps_buf_str(t->out, cps_event_sub_word(CPS_EV_PKT, stream->sub));
        cps_buf_printf(t->out, " at 0x%" PRIx64, stream->place);
    } else if (stream->kind != ORIGIN_PACKET) {
        cps_buf_printf(t->out, " (%s)", cps_event_sub_word(CPS_EV_PKT, node->sub));
    }
    put_file(t, node);
}

/* Which packet the stream of @p packet comes from: what set the group, or what called. */
static uint32_t caller(struct text *t, const struct origin_node *packet, const char **how)
{
    const struct origin *o = t->why->origin;
    const struct origin_node *outer = origin_at_(o, packet->packet);
    const struct origin_node *group = origin_at_(o, outer->in[ORIGIN_A]);
    *how = outer->kind == ORIGIN_PACKET ? "passed on from " : "called by ";
    if (outer->kind != ORIGIN_STREAM)
        return packet->packet;
    if (outer->aux == UINT32_MAX || group->kind != ORIGIN_GROUP)
        return outer->packet;
    *how = "group set by ";
    return group->packet;
}

/* What made a draw-state group run. */
static void put_runner(struct text *t, const struct origin_node *packet)
{
    const struct origin_node *stream = origin_at_(t->why->origin, packet->packet);
    const struct origin_node *by = origin_at_(t->why->origin, stream->packet);
    if (stream->kind != ORIGIN_STREAM || stream->aux == UINT32_MAX || by->kind != ORIGIN_PACKET)
        return;
    cps_buf_str(t->out, ", run by ");
    put_packet_name(t, by);
    cps_buf_printf(t->out, " at 0x%" PRIx64, by->place);
}

/* Packets and streams, from the inside out. */
static void put_calls(struct text *t, uint32_t at, unsigned depth)
{
    const char *how = "in ";
    for (unsigned i = 0; at && i < DEEPEST; i++) {
        const struct origin_node *node = origin_at_(t->why->origin, at);
        uint32_t place = why_chain_find(&t->chain, at);
        if (node->kind != ORIGIN_PACKET)
            return;
        bool again = place == UINT32_MAX || t->shown[place];
        indent(t, depth + i);
        cps_buf_str(t->out, how);
        put_packet(t, node);
        if (!again)
            put_runner(t, node);
        if (!node->packet && node->submission == ORIGIN_NO_SUBMISSION)
            cps_buf_str(t->out, ", before the first submission");
        else if (!node->packet)
            cps_buf_printf(t->out, ", submission %" PRIu32, node->submission);
        cps_buf_str(t->out, again && node->packet ? " (as above)\n" : "\n");
        if (again)
            return;
        t->shown[place] = true;
        at = caller(t, node, &how);
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

/* Nodes whose text follows from the kind alone. */
static const char *const kind_text[ORIGIN_COUNT] = {
    [ORIGIN_CUT] = "older than what was recorded", [ORIGIN_BEGIN] = "there from the start",
    [ORIGIN_HEADER] = "count of the header",       [ORIGIN_REMAINS] = "what is left of the count",
    [ORIGIN_HARDWARE] = "made by hardware",
};

static void put_node(struct text *t, const struct origin_node *node)
{
    if (node->kind != ORIGIN_CUT)
        cps_buf_hex(t->out, node->value, 8), cps_buf_str(t->out, " ");
    put_what(t, node);
    cps_buf_str(t->out, kind_text[node->kind] ? kind_text[node->kind] : "");
    switch (node->kind) {
    case ORIGIN_INSN:
    case ORIGIN_OFFSET:
        cps_buf_str(t->out, "computed");
        if (node->dst && node->dst <= R_REM)
            cps_buf_printf(t->out, " in $%02x", node->dst);
        put_code(t, node);
        if (!has_inputs(node))
            cps_buf_str(t->out, ": a constant of the firmware");
        break;
    case ORIGIN_WORD:
    case ORIGIN_MEMORY:
        cps_buf_printf(t->out, "word of %s", node->kind == ORIGIN_WORD ? "the stream" : "memory");
        put_source(t, node);
        break;
    case ORIGIN_MEMW:
        cps_buf_printf(t->out, "written to memory at 0x%" PRIx64, node->place);
        put_buffer(t, node, true);
        put_code(t, node);
        break;
    case ORIGIN_PASSED:
        cps_buf_printf(t->out, "taken by %s from another processor", cps_processor_name(node->who));
        break;
    case ORIGIN_ASSUMED:
        cps_buf_printf(t->out, "assumed: %s", cps_event_sub_word(CPS_EV_ASSUME, node->sub));
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
    bool again = place == UINT32_MAX || t->shown[place];
    bool deep = depth == DEEPEST && has_inputs(node);
    cps_buf_str(t->out, again && has_inputs(node) ? " (as above)" : deep ? " ..." : "");
    cps_buf_str(t->out, "\n");
    if (again || deep)
        return;
    t->shown[place] = true;
    if (node->packet != packet)
        put_calls(t, node->packet, depth + 1);
    if (node->kind == ORIGIN_CUT)
        return;
    for (unsigned k = 0; k < ORIGIN_INPUTS; k++)
        put_tree(t, node->in[k], depth + 1, node->packet);
}

static void put_whole_value(void *context, const struct cps_value *value)
{
    struct text *t = context;
    const struct origin_node *node = origin_at_(t->why->origin, t->node);
    cps_buffers_put_value(t->why->play->buffers, node->submission, value, t->out);
}

/* Half an address has no buffer. */
static void put_whole(struct text *t, const struct why_ask *ask)
{
    const struct origin_node *at = origin_at_(t->why->origin, t->node);
    const struct cps_names *names = why_names(t->why, at);
    unsigned half = 0;
    uint32_t number = (uint32_t)ask->place & 0x3ffff;
    if (!ask->has_whole || !cps_name(names, CPS_SPACE_GPU, number, &half))
        return;
    cps_buf_str(t->out, half ? ", upper half of " : ", lower half of ");
    cps_buf_hex(t->out, ask->whole, 16);
    cps_name_values64(names, CPS_SPACE_GPU, number - half, ask->whole, put_whole_value, t);
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
    cps_buf_hex(out, ask->value, 8);
    if (at->kind == ORIGIN_REG) {
        size_t before = out->size;
        cps_buf_str(out, " ");
        cps_name_fields(why_names(why, at), CPS_SPACE_GPU, (uint32_t)at->place & 0x3ffff, at->value,
                        out);
        if (out->size == before + 1)
            out->size = before;
    }
    t.node = node;
    put_whole(&t, ask);
    cps_buf_str(out, "\n");
    put_tree(&t, node, 1, 0);
    if (t.chain.cut || origin_cut_(why->origin))
        cps_buf_str(out, "  cut: more than is recorded\n");
}
