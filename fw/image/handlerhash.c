/* SPDX-License-Identifier: MIT
 * What a packet handler does, as a hash: of the graph of its instructions, in which no address of
 * the image is. */
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

#include "fw/image/private.h"
#include "fw/image/walk.h"
#include "isa/base/cleanup.h"
#include "isa/base/le.h"

#define MOST ((size_t)1 << 16) /* nodes; handlers of shipped images have some thousands */

static void hash_word(struct sha256_ctx *hash, uint32_t word)
{
    uint8_t bytes[4];
    cps_put_le32(bytes, word);
    sha256_update(hash, sizeof(bytes), bytes);
}

/* Nodes have their numbers in the order in which they are found, so that equal graphs are equal
 * texts, wherever they are. */
static void put_node(const struct cps_fw_walk *walk, const struct cps_fw_node *node,
                     struct sha256_ctx *hash)
{
    const struct cps_insn insn =
        cps_fw_decode_(walk->fw, walk->fw->words[walk->part->start + node->pc]);
    hash_word(hash, (uint32_t)insn.word & ~(uint32_t)cps_insn_target_bits(&cps_isa_afuc, &insn));
    hash_word(hash, node->count);
    for (unsigned k = 0; k < node->count; k++)
        hash_word(hash, node->next[k]);
}

static bool is_unknown(uint32_t next)
{
    return next == CPS_FW_AT_REGISTER || next == CPS_FW_AT_LIMIT || next == CPS_FW_AT_OUTSIDE;
}

static bool is_return(uint32_t next)
{
    return next == CPS_FW_AT_RETURN || next == CPS_FW_AT_LINK;
}

/* Whether the handler itself, not a routine that it calls, returns: then it goes on where the call
 * stack says, in code that is none of its own. */
static struct cps_err *find_return(const struct cps_fw_walk *walk, bool *ret)
{
    CPS_FREE uint32_t *todo = calloc(walk->count + 1, sizeof(*todo));
    CPS_FREE bool *seen = calloc(walk->count + 1, sizeof(*seen));
    size_t count = 0;
    if (!todo || !seen)
        return cps_err_nomem();
    if (walk->count) {
        todo[count++] = 0;
        seen[0] = true;
    }
    while (count) {
        const struct cps_fw_node *node = &walk->node[todo[--count]];
        for (unsigned k = 0; k < (node->call ? 1u : node->count); k++) {
            uint32_t next = node->next[k];
            *ret |= is_return(next);
            if (next >= CPS_FW_AT_DISPATCH || seen[next])
                continue;
            seen[next] = true;
            todo[count++] = next;
        }
    }
    return NULL;
}

static struct cps_err *hash_handler(struct cps_fw_walk *walk, uint32_t entry,
                                    struct cps_fw_hash *ret)
{
    struct sha256_ctx hash;
    uint32_t first = 0;
    *ret = (struct cps_fw_hash){.present = true};
    cps_fw_walk_clear_(walk);
    CPS_TRY(cps_fw_walk_from_(walk, entry, &first));
    CPS_TRY(cps_fw_walk_(walk));
    sha256_init(&hash);
    hash_word(&hash, walk->fw->gen);
    hash_word(&hash, walk->fw->layout);
    hash_word(&hash, first);
    ret->instructions = (uint32_t)walk->count;
    ret->open = !walk->count;
    for (size_t i = 0; i < walk->count; i++) {
        put_node(walk, &walk->node[i], &hash);
        for (unsigned k = 0; k < walk->node[i].count; k++)
            ret->open |= is_unknown(walk->node[i].next[k]);
    }
    sha256_digest(&hash, SHA256_DIGEST_SIZE, ret->digest);
    return find_return(walk, &ret->returns);
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

static struct cps_err *hash_table(struct cps_fw_walk *walk, struct cps_fw_hash *ret)
{
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        uint32_t entry = cps_fw_handler(walk->fw, walk->part, id);
        const struct cps_fw_hash *same = known(walk->fw, walk->part, ret, id);
        if (!entry || entry == CPS_FW_NONE)
            continue;
        if (same)
            ret[id] = *same;
        else
            CPS_TRY(hash_handler(walk, entry, &ret[id]));
    }
    return NULL;
}

struct cps_err *cps_fw_handler_hashes(const struct cps_fw *fw, const struct cps_fw_part *part,
                                      struct cps_fw_hash *ret)
{
    CPS_CLEANUP(cps_fw_walk_deinit_) struct cps_fw_walk walk = {0};
    memset(ret, 0, CPS_FW_TABLE_SIZE * sizeof(*ret));
    cps_fw_walk_init_(fw, part, MOST, &walk);
    return hash_table(&walk, ret);
}

bool cps_fw_hash_same(const struct cps_fw_hash *a, const struct cps_fw_hash *b)
{
    return a->present && b->present && !a->open && !b->open && a->returns == b->returns &&
           !memcmp(a->digest, b->digest, sizeof(a->digest));
}
