/* SPDX-License-Identifier: MIT
 * Answers: the nodes that a value comes from, as text and as JSON. */
#include <inttypes.h>
#include <string.h>

#include "emu/afuc/afuc.h"
#include "fw/image/place.h"
#include "isa/base/pm4.h"
#include "tools/cmd/render/doc.h"
#include "tools/explain/why/why.h"
#include "tools/run/account.h"
#include "trace/form/buffer_json.h"
#include "trace/out/json.h"

/* ---- Chains: a walk from the value, nearest first: a cut leaves out the farthest ---- */

#define MOST_NODES 4096u /* nodes of one chain */
#define SLOTS      (2 * MOST_NODES)

/* A chain: nodes in the order of a walk from the value, inputs after the nodes made of them. */
struct chain {
    uint32_t node[MOST_NODES];
    uint32_t slot[SLOTS]; /* place in `node`, plus 1, by its hash */
    uint32_t count;
    bool cut; /* there are more */
};

const char *why_kind_word(unsigned kind)
{
    static const char *const words[] = {
#define ORIGIN(id, word, meaning) [ORIGIN_##id] = word,
#include "emu/afuc/origin/origin.def"
    };
    return words[kind];
}

/* Where a node is noted, or would be: half of the slots are free. */
static uint32_t slot_of(const struct chain *chain, uint32_t node)
{
    uint32_t at = node * UINT32_C(0x9e3779b9) >> 8;
    while (chain->slot[at % SLOTS] && chain->node[chain->slot[at % SLOTS] - 1] != node)
        at++;
    return at % SLOTS;
}

static uint32_t find_in_chain(const struct chain *chain, uint32_t node)
{
    return node ? chain->slot[slot_of(chain, node)] - 1 : UINT32_MAX;
}

static void add_node(struct chain *chain, uint32_t node)
{
    if (!node || find_in_chain(chain, node) != UINT32_MAX)
        return;
    chain->cut |= chain->count == MOST_NODES;
    if (chain->count == MOST_NODES)
        return;
    chain->slot[slot_of(chain, node)] = chain->count + 1;
    chain->node[chain->count++] = node;
}

static void walk_chain(const struct origin *origin, uint32_t node, struct chain *ret)
{
    memset(ret->slot, 0, sizeof(ret->slot));
    ret->count = 0;
    ret->cut = false;
    add_node(ret, node);
    for (uint32_t i = 0; i < ret->count; i++) {
        const struct origin_node *at = origin_at_(origin, ret->node[i]);
        bool leaf = at->kind == ORIGIN_CUT || at->kind == ORIGIN_NONE;
        for (unsigned k = 0; k < ORIGIN_INPUTS && !leaf; k++)
            add_node(ret, at->in[k]);
        if (!leaf)
            add_node(ret, at->packet);
    }
}

static const struct cps_names *names_of(const struct why *why, const struct origin_node *node)
{
    return why->play->names[node->who];
}

static void put_instruction(struct why *why, const struct origin_node *node, struct cps_buf *out)
{
    struct cps_engine *engine = why->engine;
    struct cps_print_names names = {.names = names_of(why, node)};
    struct cps_insn insn;
    uint8_t bytes[CPS_INSN_BYTES];
    for (unsigned i = 0; i < engine->cores; i++) {
        if (engine->who[i] == node->who && cps_engine_decode(engine, i, node->pc, bytes, &insn))
            cps_print(&cps_isa_afuc, &insn, node->pc, &names, out);
    }
}

static void put_place_name(const struct why *why, const struct origin_node *node,
                           struct cps_buf *out)
{
    const struct origin_node *packet = origin_at_(why->origin, node->packet);
    int running = node->packet ? cps_fw_header_packet_(packet->value) : CPS_FW_NO_PACKET;
    play_place(why->play, node->who, node->pc, running, out);
}

/* ---- JSON: nodes, each with the places of its inputs in the list ---- */

static void add_input(struct json_object *to, const struct chain *chain, uint32_t node)
{
    uint32_t at = find_in_chain(chain, node);
    if (node) /* -1: it was left out */
        cps_json_append(to, json_object_new_int64(at == UINT32_MAX ? -1 : (int64_t)at));
    else if (to && json_object_array_add(to, NULL)) /* null: there is none */
        cps_json_append(to, NULL);
}

/* The address and operation of an instruction. */
static void add_code(struct why *why, const struct origin_node *node, struct json_object *to)
{
    CPS_BUF text = {0};
    CPS_BUF place = {0};
    struct cps_engine *engine = why->engine;
    struct cps_insn insn;
    uint8_t bytes[CPS_INSN_BYTES];
    put_instruction(why, node, &text);
    put_place_name(why, node, &place);
    doc_put(to, "pc=%04x text?=%p pc_name?=%p", node->pc, &text, &place);
    if (node->kind != ORIGIN_INSN)
        return;
    for (unsigned i = 0; i < engine->cores; i++) {
        if (engine->who[i] != node->who || !cps_engine_decode(engine, i, node->pc, bytes, &insn) ||
            !insn.enc)
            continue;
        /* the carry of an addition is no result of its own */
        doc_put(to, "op=%s dst=%d bit?=%d", cps_op_name(&cps_isa_afuc, insn.op), (int)node->dst,
                insn.op == CPS_AFUC_SETBITI);
    }
    if (node->has_imm)
        doc_put(to, "imm=%08" PRIx64, node->place);
}

/* Of places in memory. */
static void add_buffer(struct why *why, const struct origin_node *node, struct json_object *to)
{
    bool is_memory = 1u << node->kind & (1u << ORIGIN_WORD | 1u << ORIGIN_MEMORY |
                                         1u << ORIGIN_MEMW | 1u << ORIGIN_STREAM) ||
                     (node->kind == ORIGIN_PACKET && node->sub != CPS_LEVEL_INT);
    if (is_memory)
        cps_buffers_json_(to, "buffer", why->play->buffers, node->submission, node->place);
}

static void add_place(struct why *why, const struct origin_node *node, struct json_object *to)
{
    uint64_t offset = 0;
    const struct origin_block *block = NULL;
    if (node->kind != ORIGIN_INSN)
        doc_put(to, node->place > UINT32_MAX ? "place=%016" PRIx64 : "place=%04" PRIx64,
                node->place);
    if (node->kind == ORIGIN_REG || node->kind == ORIGIN_REGREAD)
        cps_json_text(
            to, "name",
            cps_name(names_of(why, node), CPS_SPACE_GPU, (uint32_t)node->place & 0x3ffff, NULL));
    bool packet = node->kind == ORIGIN_PACKET && node->sub != CPS_LEVEL_INT;
    if (node->kind == ORIGIN_WORD || node->kind == ORIGIN_MEMORY || packet)
        block = origin_block_(why->origin, node, &offset);
    add_buffer(why, node, to);
    if (block && block->offset)
        cps_json_uint(to, "byte", offset);
    if (block && block->line)
        cps_json_uint(to, "line", block->line);
    if (block)
        cps_json_uint(to, "word", (node->place - block->iova) / 4);
}

static struct json_object *node_json(struct why *why, const struct chain *chain, uint32_t at)
{
    const struct origin_node *node = origin_at_(why->origin, chain->node[at]);
    struct json_object *to = doc_new();
    doc_put(to, "kind=%s value=%08x", why_kind_word(node->kind), node->value);
    if (node->kind == ORIGIN_CUT)
        return to;
    doc_put(to, "tick=%" PRIu64 " cpu=%s", (uint64_t)node->clock, cps_processor_name(node->who));
    add_code(why, node, to);
    add_place(why, node, to);
    if (node->kind == ORIGIN_PACKET || node->kind == ORIGIN_STREAM)
        cps_json_text(to, "level", cps_event_sub_word(CPS_EV_PKT, node->sub));
    if ((node->kind == ORIGIN_STREAM && node->aux != UINT32_MAX) || node->kind == ORIGIN_GROUP)
        cps_json_uint(to, "group", node->aux);
    if (node->kind == ORIGIN_PACKET && node->submission != ORIGIN_NO_SUBMISSION)
        cps_json_uint(to, "submission", node->submission);
    struct json_object *in = cps_json_new_array(to, "in");
    for (unsigned k = 0; k < ORIGIN_INPUTS; k++)
        add_input(in, chain, node->in[k]);
    uint32_t packet = find_in_chain(chain, node->packet);
    if (packet != UINT32_MAX)
        cps_json_uint(to, "packet", packet);
    return to;
}

/* A register of 64 bits whose half was asked for. */
struct whole {
    struct why *why;
    struct json_object *to;
    uint32_t submission;
};

static void add_whole_buffer(void *context, const struct cps_value *value)
{
    struct whole *whole = context;
    uint64_t address = 0;
    if (cps_value_address(value, &address))
        cps_buffers_json_(whole->to, "buffer", whole->why->play->buffers, whole->submission,
                          address);
}

/* Half an address has no buffer. */
static void add_whole(struct why *why, const struct why_ask *ask, struct json_object *to)
{
    const struct origin_node *at = origin_at_(why->origin, origin_kept_(why->origin, ask->kept));
    const struct cps_names *names = names_of(why, at);
    struct whole whole = {why, to, at->submission};
    unsigned half = 0;
    uint32_t number = (uint32_t)ask->place & 0x3ffff;
    if (!ask->has_whole || !cps_name(names, CPS_SPACE_GPU, number, &half))
        return;
    doc_put(to, "whole=%016" PRIx64, ask->whole);
    cps_name_values64(names, CPS_SPACE_GPU, number - half, ask->whole, add_whole_buffer, &whole);
}

void why_json(struct why *why, const struct why_ask *ask, struct cps_buf *out)
{
    struct chain chain = {.count = 0};
    struct json_object *root = doc_new();
    cps_json_text(root, "what", ask->text);
    if (ask->kept != UINT32_MAX) {
        walk_chain(why->origin, origin_kept_(why->origin, ask->kept), &chain);
        doc_put(root, "value=%08x", ask->value);
        add_whole(why, ask, root);
    }
    struct json_object *nodes = cps_json_new_array(root, "nodes");
    for (uint32_t i = 0; i < chain.count; i++)
        cps_json_append(nodes, node_json(why, &chain, i));
    cps_json_bool(root, "cut", chain.cut || origin_cut_(why->origin));
    if (why->account)
        play_account_json(why->account, cps_json_new_object(root, "run"));
    cps_json_put(out, root, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
    cps_buf_str(out, "\n");
    json_object_put(root);
}

/* ---- Text: the value, its inputs, and the packet and stream of each ---- */

/* The text of a chain, which prints each node once. */
struct text {
    struct why *why;
    struct chain chain;
    uint32_t node; /* the value itself */
    bool shown[MOST_NODES];
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
    const char *name = cps_name(names_of(t->why, node), space, number, &index);
    cps_buf_hex(t->out, number, 4);
    if (name)
        cps_buf_printf(t->out, " %s%s", name, index ? "+0x1" : "");
}

static void put_packet_name(struct text *t, const struct origin_node *node)
{
    struct cps_pm4 packet = cps_pm4_decode_any(node->value);
    const char *name = NULL;
    if (packet.kind == CPS_PM4_TYPE7)
        name = cps_name(names_of(t->why, node), CPS_SPACE_PACKET, packet.opcode, NULL);
    if (packet.kind == CPS_PM4_TYPE4) {
        cps_buf_str(t->out, "type4 ");
        name = cps_name(names_of(t->why, node), CPS_SPACE_GPU, packet.reg, NULL);
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
    put_place_name(t->why, node, t->out);
    cps_buf_str(t->out, " `");
    put_instruction(t->why, node, t->out);
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
        uint32_t place = find_in_chain(&t->chain, at);
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
    uint32_t place = find_in_chain(&t->chain, at);
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
    const struct cps_names *names = names_of(t->why, at);
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
    walk_chain(why->origin, node, &t.chain);
    cps_buf_printf(out, "%s = ", ask->text);
    cps_buf_hex(out, ask->value, 8);
    if (at->kind == ORIGIN_REG) {
        size_t before = out->size;
        cps_buf_str(out, " ");
        cps_name_fields(names_of(why, at), CPS_SPACE_GPU, (uint32_t)at->place & 0x3ffff, at->value,
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
