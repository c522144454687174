/* SPDX-License-Identifier: MIT
 * Registers and blocks of a KGSL snapshot. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "isa/base/le.h"
#include "isa/base/list.h"
#include "trace/capture/snapshot.h"

static const struct {
    uint32_t index;
    const char *name;
} indexed[] = {
#define INDEXED(index, data, first, last, name) {index, #name},
#include "trace/capture/snapshot.def"
};

static const struct {
    unsigned version;
    uint32_t id;
    const char *name;
} clusters[] = {
#define CLUSTER(version, id, name) {version, id, #name},
#include "trace/capture/snapshot.def"
};

static const struct {
    uint32_t type;
    const char *name;
} debug[] = {
#define DEBUG(type, name) {type, #name},
#include "trace/capture/snapshot.def"
};

static struct cps_err *take_word(struct cps_snapshot *s, uint32_t *ret)
{
    uint8_t bytes[4];
    CPS_TRY(cps_snapshot_take_(s, bytes, sizeof(bytes)));
    *ret = cps_le32(bytes);
    return NULL;
}

/* ---- registers ---- */

/* Values of @p count registers that follow each other. */
static struct cps_err *read_values(struct cps_snapshot *s, struct cps_item *item, uint64_t count)
{
    CPS_TRY(cps_snapshot_room_(s, count, 4));
    for (uint64_t i = 0; i < count; i++) {
        CPS_TRY(take_word(s, &item->reg.value));
        CPS_TRY(cps_snapshot_give_(s, item));
        item->reg.offset++;
    }
    return NULL;
}

static struct cps_err *read_pairs(struct cps_snapshot *s, const char *section, uint32_t count)
{
    struct cps_item item = {.kind = CPS_ITEM_REGISTER};
    item.reg.section = section;
    item.reg.context = -1;
    CPS_TRY(cps_snapshot_room_(s, count, 8));
    for (uint32_t i = 0; i < count; i++) {
        CPS_TRY(take_word(s, &item.reg.offset));
        CPS_TRY(read_values(s, &item, 1));
    }
    return NULL;
}

struct cps_err *cps_snapshot_regs_(struct cps_snapshot *s)
{
    uint32_t count = 0;
    CPS_TRY(take_word(s, &count));
    return read_pairs(s, "registers", count);
}

/* A register with bit 31 and its value, or the first one, how many, and their values. */
struct cps_err *cps_snapshot_runs_(struct cps_snapshot *s)
{
    struct cps_item item = {.kind = CPS_ITEM_REGISTER};
    item.reg.section = "registers";
    item.reg.context = -1;
    while (s->left) {
        uint32_t count = 1;
        CPS_TRY(take_word(s, &item.reg.offset));
        if (!(item.reg.offset & CPS_SNAPSHOT_SINGLE))
            CPS_TRY(take_word(s, &count));
        item.reg.offset &= ~CPS_SNAPSHOT_SINGLE;
        CPS_TRY(read_values(s, &item, count));
    }
    return NULL;
}

/* A register and its value, or the first one with bit 31, the last one, and their values. */
static struct cps_err *read_ranges(struct cps_snapshot *s, struct cps_item *item)
{
    while (s->left) {
        uint32_t first = 0;
        CPS_TRY(take_word(s, &first));
        uint32_t last = first;
        item->reg.offset = first & ~CPS_SNAPSHOT_SINGLE;
        if (first & CPS_SNAPSHOT_SINGLE)
            CPS_TRY(take_word(s, &last));
        if (last < item->reg.offset)
            return cps_snapshot_bad_(s, " names registers 0x%x to 0x%x, expected a range",
                                     item->reg.offset, last);
        CPS_TRY(read_values(s, item, (uint64_t)last - item->reg.offset + 1));
    }
    return NULL;
}

static const char *cluster_name(unsigned version, uint32_t id, char *scratch)
{
    for (size_t i = 0; i < sizeof(clusters) / sizeof(clusters[0]); i++) {
        if (clusters[i].version == (version > 2 ? 2 : version) && clusters[i].id == id)
            return clusters[i].name;
    }
    snprintf(scratch, CPS_SNAPSHOT_NAME, "CLUSTER_%u", id);
    return scratch;
}

/* Context and cluster; of version 2 on, pipe and location; of version 3 on, slice, SP and uSPTP. In
 * version 3 what is of no cluster and no pipe are the plain registers. */
struct cps_err *cps_snapshot_cluster_(struct cps_snapshot *s)
{
    static const size_t sizes[] = {0, 8, 16, 28};
    uint8_t head[28];
    char scratch[CPS_SNAPSHOT_NAME];
    unsigned version = s->id & 3;
    CPS_TRY(cps_snapshot_take_(s, head, sizes[version]));
    uint32_t context = cps_le32(head);
    uint32_t cluster = cps_le32(head + 4);
    struct cps_item item = {.kind = CPS_ITEM_REGISTER};
    item.reg.context = context > INT_MAX ? -1 : (int)context;
    item.reg.section = cluster_name(version, cluster, scratch);
    if (version == 3 && !cluster && !cps_le32(head + 8) && cps_le32(head + 16) + 1 <= 1) {
        item.reg.context = -1;
        item.reg.section = "registers";
    }
    if (cps_snapshot_named_(s)) {
        item.reg.context = s->own.words[0] > INT_MAX ? -1 : (int)s->own.words[0];
        item.reg.section = s->own.name;
    }
    return read_ranges(s, &item);
}

/* ---- blocks ---- */

static struct cps_err *read_words(struct cps_snapshot *s, size_t count)
{
    if (!CPS_LIST_RESERVE(s->block, s->block_capacity, count))
        return cps_err_nomem();
    for (size_t done = 0; done < count;) {
        size_t piece = count - done;
        piece = piece < sizeof(s->bytes) / 4 ? piece : sizeof(s->bytes) / 4;
        CPS_TRY(cps_snapshot_take_(s, s->bytes, 4 * piece));
        for (size_t i = 0; i < piece; i++)
            s->block[done + i] = cps_le32(s->bytes + 4 * i);
        done += piece;
    }
    return NULL;
}

/* A section OWN_NAME says how many of the words are known, and how many the block has. */
static struct cps_err *give_block(struct cps_snapshot *s, const char *name, uint32_t count)
{
    struct cps_item item = {.kind = CPS_ITEM_BLOCK};
    uint32_t kept = count < CPS_BLOCK_LIMIT ? count : CPS_BLOCK_LIMIT;
    bool named = cps_snapshot_named_(s);
    CPS_TRY(read_words(s, kept));
    item.block.name = named ? s->own.name : name;
    item.block.count = named && s->own.words[0] < kept ? s->own.words[0] : kept;
    item.block.size = named ? s->own.words[1] : count;
    item.block.size = item.block.size < item.block.count ? item.block.count : item.block.size;
    item.block.words = item.block.count ? s->block : NULL;
    return cps_snapshot_give_(s, &item);
}

/* Of later generations one register serves several processors: CP_BV_SQE_STAT. */
static void name_block(uint32_t index, uint32_t pipe, char *ret)
{
    static const char *const pipes[] = {"",      "",      "BV_",     "LPAC_",
                                        "AQE0_", "AQE1_", "DDE_BR_", "DDE_BV_"};
    for (size_t i = 0; i < sizeof(indexed) / sizeof(indexed[0]); i++) {
        if (indexed[i].index != index)
            continue;
        snprintf(ret, CPS_SNAPSHOT_NAME, "CP_%s%s", pipe < 8 ? pipes[pipe] : "UNKNOWN_",
                 indexed[i].name + strlen("CP_"));
        return;
    }
    snprintf(ret, CPS_SNAPSHOT_NAME, "INDEXED_0x%04x", index);
}

/* Index register, data register, first index, count; of version 2 pipe and slice. */
struct cps_err *cps_snapshot_indexed_(struct cps_snapshot *s)
{
    uint8_t head[24] = {0};
    char name[CPS_SNAPSHOT_NAME];
    CPS_TRY(cps_snapshot_take_(s, head, s->id == CPS_SNAPSHOT_INDEXED_REGS ? 16 : 24));
    uint32_t count = cps_le32(head + 12);
    CPS_TRY(cps_snapshot_room_(s, count, 4));
    if (cps_le32(head + 8)) {
        CPS_TRY(cps_snapshot_pass_(s));
        return cps_snapshot_note_(s, "warning: a block without its first words is passed over");
    }
    name_block(cps_le32(head), cps_le32(head + 16), name);
    return give_block(s, name, count);
}

/* ---- debug sections ---- */

static struct cps_err *read_text(struct cps_snapshot *s, enum cps_item_kind kind)
{
    uint32_t size = 0;
    CPS_TRY(take_word(s, &size));
    if (size > sizeof(s->bytes))
        return cps_snapshot_bad_(s, " holds a text of %u bytes, expected at most %zu", size,
                                 sizeof(s->bytes));
    CPS_TRY(cps_snapshot_take_(s, s->bytes, size));
    struct cps_item item = {.kind = kind, .text = {(const char *)s->bytes, size, false}};
    s->texts |= kind == CPS_ITEM_TEXT;
    CPS_TRY(cps_snapshot_give_(s, &item));
    return cps_snapshot_pass_(s);
}

/* Two words and a name for the section that follows. */
static struct cps_err *read_name(struct cps_snapshot *s)
{
    uint32_t size = 0;
    CPS_TRY(take_word(s, &s->own.words[0]));
    CPS_TRY(take_word(s, &s->own.words[1]));
    CPS_TRY(take_word(s, &size));
    if (!size || size >= sizeof(s->own.name))
        return cps_snapshot_bad_(s, " holds a name of %u bytes, expected 1 to %zu", size,
                                 sizeof(s->own.name) - 1);
    CPS_TRY(cps_snapshot_take_(s, s->own.name, size));
    s->own.name[size] = '\0';
    s->own.number = s->number + 1;
    if (strlen(s->own.name) != size)
        return cps_snapshot_bad_(s, " holds a name with a NUL in it");
    return cps_snapshot_pass_(s);
}

/* Type, size in dwords, words. */
struct cps_err *cps_snapshot_debug_(struct cps_snapshot *s)
{
    uint32_t type = 0;
    uint32_t dwords = 0;
    CPS_TRY(take_word(s, &type));
    CPS_TRY(take_word(s, &dwords));
    CPS_TRY(cps_snapshot_room_(s, dwords, 4));
    switch (type) {
    case CPS_SNAPSHOT_OWN_TEXT:
        return read_text(s, CPS_ITEM_TEXT);
    case CPS_SNAPSHOT_OWN_NOTE:
        return read_text(s, CPS_ITEM_NOTE);
    case CPS_SNAPSHOT_OWN_GMU:
        return read_pairs(s, "registers-gmu", dwords / 2);
    case CPS_SNAPSHOT_OWN_NAME:
        return read_name(s);
    default:
        break;
    }
    for (size_t i = 0; i < sizeof(debug) / sizeof(debug[0]); i++) {
        if (debug[i].type == type)
            return give_block(s, debug[i].name, dwords);
    }
    return cps_snapshot_pass_(s);
}
