/* SPDX-License-Identifier: MIT
 * What a packet handler does, as a hash: of the graph of its instructions, in which no address of
 * the image stands. A node is a pair (pc, npc), as the processor has it: an instruction, and what
 * comes behind it, which is a branch's target where the instruction stands in a delay slot. */
#include <sha256.h>
#include <stdlib.h>
#include <string.h>

#include "fw/image/private.h"
#include "isa/base/le.h"
#include "isa/base/list.h"

enum {
    MOST = 1 << 16, /* nodes; handlers of shipped images have some thousands */
    LR = 0x1b,      /* F: gen70900, `jump $lr` is how routines return that `bl` calls */
};

/* Where a graph ends: numbers that are no dword of an image, and no node. */
enum {
    AT_DISPATCH = 0xffffff00u, /* at the next packet */
    AT_RETURN,                 /* where the caller goes on */
    AT_ILLEGAL,                /* at no instruction: the processor faults */
    AT_OUTSIDE,                /* behind the code */
    AT_REGISTER,               /* where a register says: unknown */
    AT_LIMIT,                  /* the graph has more than MOST nodes */
};

struct node {
    uint32_t pc, npc;
    uint32_t *slot;   /* in the graph's table */
    uint32_t next[3]; /* nodes or ends, in a fixed order; the second one of a call is its callee */
    uint8_t count;
    bool call;
    bool seen; /* at the depth of the handler itself, not of what it calls */
};

struct graph {
    const struct cps_fw *fw;
    const struct cps_fw_part *part;
    struct node *node;
    size_t count;
    uint32_t *slot; /* hash table of node numbers + 1; 2 * MOST of them */
};

static uint32_t *find(const struct graph *g, uint32_t pc, uint32_t npc)
{
    uint32_t at = (pc * UINT32_C(2654435761) ^ npc * UINT32_C(2246822519)) >> 7;
    for (;; at++) {
        uint32_t *slot = &g->slot[at % (2 * MOST)];
        if (!*slot || (g->node[*slot - 1].pc == pc && g->node[*slot - 1].npc == npc))
            return slot;
    }
}

/* The words behind the table are no code. */
static uint32_t code_end(const struct cps_fw_part *part)
{
    return part->table < part->size ? part->table : part->size;
}

/* The node's number; it is added if it is new. */
static struct cps_err *intern(struct graph *g, uint32_t pc, uint32_t npc, uint32_t *ret)
{
    uint32_t *slot = NULL;
    *ret = pc;
    if (pc >= AT_DISPATCH)
        return NULL;
    *ret = AT_OUTSIDE;
    if (pc >= code_end(g->part))
        return NULL;
    slot = find(g, pc, npc);
    *ret = *slot ? *slot - 1 : AT_LIMIT;
    if (*slot || g->count == MOST)
        return NULL;
    if (!CPS_LIST_ROOM(g->node, g->count))
        return cps_err_nomem();
    g->node[g->count] = (struct node){.pc = pc, .npc = npc, .slot = slot};
    *ret = (uint32_t)g->count;
    *slot = (uint32_t)++g->count;
    return NULL;
}

static struct cps_err *lead(struct graph *g, size_t at, uint32_t pc, uint32_t npc)
{
    uint32_t to = 0;
    CPS_TRY(intern(g, pc, npc, &to));
    g->node[at].next[g->node[at].count++] = to;
    return NULL;
}

static struct cps_err *lead_on(struct graph *g, size_t at, uint32_t pc)
{
    return lead(g, at, pc, pc >= AT_DISPATCH ? pc : pc + 1);
}

static uint32_t behind(uint32_t npc)
{
    return npc >= AT_DISPATCH ? npc : npc + 1;
}

/* Where a jump or return goes behind its delay slot. */
static uint32_t jump_target(const struct graph *g, const struct cps_insn *insn, uint32_t pc)
{
    uint32_t target = AT_REGISTER;
    int64_t reg = cps_insn_field(&cps_isa_afuc, insn, CPS_AFUC_F_REG, -1);
    if (cps_insn_target(&cps_isa_afuc, insn, pc, &target))
        return target < code_end(g->part) ? target : AT_OUTSIDE;
    if (cps_insn_flow(&cps_isa_afuc, insn) == CPS_FLOW_RETURN || reg == LR)
        return AT_RETURN;
    return AT_REGISTER;
}

static struct cps_err *follow(struct graph *g, size_t at, const struct cps_insn *insn)
{
    uint32_t pc = g->node[at].pc;
    uint32_t npc = g->node[at].npc;
    switch (insn->enc ? (int)cps_insn_flow(&cps_isa_afuc, insn) : -1) {
    case CPS_FLOW_NEXT:
        return lead(g, at, npc, behind(npc));
    case CPS_FLOW_BRANCH:
        CPS_TRY(lead(g, at, npc, behind(npc)));
        return lead(g, at, npc, jump_target(g, insn, pc));
    case CPS_FLOW_JUMP:
    case CPS_FLOW_RETURN:
        return lead(g, at, npc, jump_target(g, insn, pc));
    case CPS_FLOW_CALL:
        g->node[at].call = true;
        CPS_TRY(lead_on(g, at, pc + 2));
        return lead(g, at, npc, jump_target(g, insn, pc));
    case CPS_FLOW_DISPATCH:
        return lead(g, at, npc, AT_DISPATCH);
    case CPS_FLOW_SKIP:
        CPS_TRY(lead_on(g, at, pc + 1));
        return lead_on(g, at, pc + 3);
    default:
        return lead(g, at, AT_ILLEGAL, AT_ILLEGAL);
    }
}

static void put(SHA256_CTX *hash, uint32_t word)
{
    uint8_t bytes[4];
    cps_put_le32(bytes, word);
    SHA256Update(hash, bytes, sizeof(bytes));
}

/* Nodes have their numbers in the order in which they are found, so that equal graphs are equal
 * texts, wherever they stand. */
static struct cps_err *walk(struct graph *g, uint32_t entry, SHA256_CTX *hash)
{
    uint32_t first = 0;
    CPS_TRY(intern(g, entry, entry + 1, &first));
    put(hash, first);
    for (size_t i = 0; i < g->count; i++) {
        struct cps_insn insn;
        cps_decode(&cps_isa_afuc, g->fw->gen, g->fw->words[g->part->start + g->node[i].pc], &insn);
        CPS_TRY(follow(g, i, &insn));
        put(hash, (uint32_t)insn.word & ~(uint32_t)cps_insn_target_bits(&cps_isa_afuc, &insn));
        put(hash, g->node[i].count);
        for (unsigned k = 0; k < g->node[i].count; k++)
            put(hash, g->node[i].next[k]);
    }
    return NULL;
}

static bool is_unknown(uint32_t next)
{
    return next == AT_REGISTER || next == AT_LIMIT || next == AT_OUTSIDE;
}

/* Whether the handler itself, not a routine that it calls, returns: then it goes on where the call
 * stack says, in code that is none of its own. */
static struct cps_err *find_return(struct graph *g, bool *ret)
{
    CPS_FREE uint32_t *todo = calloc(g->count + 1, sizeof(*todo));
    size_t count = 0;
    if (!todo)
        return cps_err_nomem();
    if (g->count) {
        todo[count++] = 0;
        g->node[0].seen = true;
    }
    while (count) {
        const struct node *node = &g->node[todo[--count]];
        for (unsigned k = 0; k < (node->call ? 1u : node->count); k++) {
            uint32_t next = node->next[k];
            *ret |= next == AT_RETURN;
            if (next >= AT_DISPATCH || g->node[next].seen)
                continue;
            g->node[next].seen = true;
            todo[count++] = next;
        }
    }
    return NULL;
}

static struct cps_err *hash_handler(struct graph *g, uint32_t entry, struct cps_fw_hash *ret)
{
    SHA256_CTX hash;
    *ret = (struct cps_fw_hash){.present = true};
    SHA256Init(&hash);
    put(&hash, g->fw->gen);
    put(&hash, g->fw->layout);
    CPS_TRY(walk(g, entry, &hash));
    SHA256Final(ret->digest, &hash);
    ret->instructions = (uint32_t)g->count;
    ret->open = !g->count;
    for (size_t i = 0; i < g->count; i++) {
        for (unsigned k = 0; k < g->node[i].count; k++)
            ret->open |= is_unknown(g->node[i].next[k]);
    }
    return find_return(g, &ret->returns);
}

/* The same code need not be walked for each of the packets that share it. */
static const struct cps_fw_hash *known(const struct cps_fw *fw, const struct cps_fw_part *part,
                                       const struct cps_fw_hash *hash, unsigned id)
{
    for (unsigned i = 0; i < id; i++) {
        if (hash[i].present && cps_fw_handler(fw, part, i) == cps_fw_handler(fw, part, id))
            return &hash[i];
    }
    return NULL;
}

/* An empty graph, for the next handler. */
static void forget(struct graph *g)
{
    for (size_t i = 0; i < g->count; i++)
        *g->node[i].slot = 0;
    free(g->node);
    g->node = NULL;
    g->count = 0;
}

static struct cps_err *hash_table(struct graph *g, struct cps_fw_hash *ret)
{
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        uint32_t entry = cps_fw_handler(g->fw, g->part, id);
        const struct cps_fw_hash *same = known(g->fw, g->part, ret, id);
        if (!entry || entry == CPS_FW_NONE)
            continue;
        if (same) {
            ret[id] = *same;
            continue;
        }
        CPS_TRY(hash_handler(g, entry, &ret[id]));
        forget(g);
    }
    return NULL;
}

struct cps_err *cps_fw_handler_hashes(const struct cps_fw *fw, const struct cps_fw_part *part,
                                      struct cps_fw_hash *ret)
{
    struct graph g = {.fw = fw, .part = part};
    memset(ret, 0, CPS_FW_TABLE_SIZE * sizeof(*ret));
    g.slot = calloc(2 * (size_t)MOST, sizeof(*g.slot));
    struct cps_err *err = g.slot ? hash_table(&g, ret) : cps_err_nomem();
    free(g.slot);
    free(g.node);
    return err;
}

bool cps_fw_hash_same(const struct cps_fw_hash *a, const struct cps_fw_hash *b)
{
    return a->present && b->present && !a->open && !b->open && a->returns == b->returns &&
           !memcmp(a->digest, b->digest, sizeof(a->digest));
}
