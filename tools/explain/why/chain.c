/* SPDX-License-Identifier: MIT
 * The nodes that a value comes from: a walk from the value, nearest first, so that what is cut off
 * is what is farthest. */
#include "tools/explain/why/why.h"

#include "fw/image/place.h"

#include <string.h>

const char *why_kind_word(unsigned kind)
{
    static const char *const words[] = {
#define ORIGIN(id, word, meaning) [ORIGIN_##id] = word,
#include "emu/afuc/origin/origin.def"
    };
    return words[kind];
}

/* Where a node is noted, or would be: half of the slots are free. */
static uint32_t slot_of(const struct why_chain *chain, uint32_t node)
{
    uint32_t at = node * UINT32_C(0x9e3779b9) >> 8;
    while (chain->slot[at % WHY_SLOTS] && chain->node[chain->slot[at % WHY_SLOTS] - 1] != node)
        at++;
    return at % WHY_SLOTS;
}

uint32_t why_chain_find(const struct why_chain *chain, uint32_t node)
{
    return node ? chain->slot[slot_of(chain, node)] - 1 : UINT32_MAX;
}

static void add(struct why_chain *chain, uint32_t node)
{
    if (!node || why_chain_find(chain, node) != UINT32_MAX)
        return;
    chain->cut |= chain->count == WHY_MOST;
    if (chain->count == WHY_MOST)
        return;
    chain->slot[slot_of(chain, node)] = chain->count + 1;
    chain->node[chain->count++] = node;
}

void why_chain(const struct origin *origin, uint32_t node, struct why_chain *ret)
{
    memset(ret->slot, 0, sizeof(ret->slot));
    ret->count = 0;
    ret->cut = false;
    add(ret, node);
    for (uint32_t i = 0; i < ret->count; i++) {
        const struct origin_node *at = origin_at_(origin, ret->node[i]);
        bool leaf = at->kind == ORIGIN_CUT || at->kind == ORIGIN_NONE;
        for (unsigned k = 0; k < ORIGIN_INPUTS && !leaf; k++)
            add(ret, at->in[k]);
        if (!leaf)
            add(ret, at->packet);
    }
}

const struct cps_names *why_names(const struct why *why, const struct origin_node *node)
{
    return why->play->names[node->who];
}

void why_instruction(struct why *why, const struct origin_node *node, struct cps_buf *out)
{
    struct cps_engine *engine = why->engine;
    struct cps_print_names names = {.names = why_names(why, node)};
    struct cps_insn insn;
    uint8_t bytes[CPS_INSN_BYTES];
    for (unsigned i = 0; i < engine->cores; i++) {
        if (engine->who[i] == node->who && cps_engine_decode(engine, i, node->pc, bytes, &insn))
            cps_print(&cps_isa_afuc, &insn, node->pc, &names, out);
    }
}

void why_place(const struct why *why, const struct origin_node *node, struct cps_buf *out)
{
    const struct origin_node *packet = origin_at_(why->origin, node->packet);
    int running = node->packet ? cps_fw_header_packet_(packet->value) : CPS_FW_NO_PACKET;
    play_place(why->play, node->who, node->pc, running, out);
}
