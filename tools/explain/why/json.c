/* SPDX-License-Identifier: MIT
 * A chain as JSON: its nodes, each with the places of its inputs in the list. */
#include "tools/explain/why/why.h"

#include <inttypes.h>

#include "isa/base/pm4.h"
#include "tools/cmd/render/doc.h"
#include "tools/run/account.h"
#include "trace/form/buffer_json.h"
#include "trace/out/json.h"

static void add_input(struct json_object *to, const struct why_chain *chain, uint32_t node)
{
    uint32_t at = why_chain_find(chain, node);
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
    why_instruction(why, node, &text);
    why_place(why, node, &place);
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
            cps_name(why_names(why, node), CPS_SPACE_GPU, (uint32_t)node->place & 0x3ffff, NULL));
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

static struct json_object *node_json(struct why *why, const struct why_chain *chain, uint32_t at)
{
    const struct origin_node *node = origin_at_(why->origin, chain->node[at]);
    struct json_object *to = json_object_new_object();
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
    uint32_t packet = why_chain_find(chain, node->packet);
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
    const struct cps_names *names = why_names(why, at);
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
    struct why_chain chain = {.count = 0};
    struct json_object *root = json_object_new_object();
    cps_json_text(root, "what", ask->text);
    if (ask->kept != UINT32_MAX) {
        why_chain(why->origin, origin_kept_(why->origin, ask->kept), &chain);
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
