/* SPDX-License-Identifier: MIT
 * The walker. Facts of packets: isa/pm4.def; here they are branches,
 * because this is what a fast program without any generality would do. */
#include "tests/bench/walker.h"

#include <stdlib.h>
#include <string.h>

#include "isa/base/cleanup.h"
#include "isa/base/le.h"
#include "isa/base/list.h"
#include "isa/packet.h"

/* Ring, IB1 to IB3, and a group. */
#define MOST_DEPTH   5
#define MOST_PACKETS (UINT64_C(1) << 24)

struct cps_err *walker_init(struct walker *w, size_t room)
{
    *w = (struct walker){.room = room};
    w->reg = calloc(WALKER_REGISTERS, sizeof(*w->reg));
    w->record = calloc(room, sizeof(*w->record));
    return w->reg && w->record ? NULL : cps_err_nomem();
}

void walker_deinit(struct walker *w)
{
    free(w->reg);
    free(w->record);
    free(w->piece);
    *w = (struct walker){0};
}

static inline void note(struct walker *w, uint32_t number, uint32_t value, uint64_t at)
{
    w->record[w->records++ & (w->room - 1)] = (struct walker_record){number, value, at};
}

static inline void put(struct walker *w, uint32_t number, uint32_t value, uint64_t at)
{
    w->reg[number & (WALKER_REGISTERS - 1)] = value;
    note(w, number, value, at);
}

/* What is there, of at most *dwords, which becomes as many as there are. The newest contents count.
 */
static const uint8_t *find(const struct walker *w, uint64_t iova, uint32_t *dwords)
{
    for (size_t i = w->pieces; i--;) {
        uint64_t at = iova - w->piece[i].iova;
        if (at >= w->piece[i].size)
            continue;
        uint64_t held = (w->piece[i].size - at) / 4;
        *dwords = *dwords < held ? *dwords : (uint32_t)held;
        return w->piece[i].data + at;
    }
    *dwords = 0;
    return NULL;
}

static void walk(struct walker *w, uint64_t iova, uint32_t dwords, unsigned depth);

static void run_groups(struct walker *w, unsigned depth)
{
    uint32_t dirty = w->dirty;
    w->dirty = 0;
    for (unsigned i = 0; i < WALKER_GROUPS && dirty >> i; i++) {
        if ((dirty >> i & 1) && (w->group[i].modes & w->mode))
            walk(w, w->group[i].iova, w->group[i].dwords, depth + 1);
    }
}

static void set_groups(struct walker *w, const uint8_t *word, uint32_t count)
{
    enum { DISABLE = 2, DISABLE_ALL = 4 };
    for (; count >= 3; word += 12, count -= 3) {
        uint32_t head = cps_le32(word);
        unsigned i = head >> 24 & 31;
        w->group[i].dwords = head >> 16 & DISABLE ? 0 : head & 0xffff;
        w->group[i].modes = head >> 20 & 7;
        w->group[i].iova = (uint64_t)cps_le32(word + 8) << 32 | cps_le32(word + 4);
        w->dirty = head >> 16 & DISABLE_ALL ? 0 : w->dirty | 1u << i;
    }
}

static void set_mode(struct walker *w, uint32_t marker)
{
    enum { IS_IFPC = 0x100 };
    switch (marker & (IS_IFPC | 15)) {
#define MODE(number, mask) \
    case number:           \
        w->mode = mask;    \
        break;
#include "isa/pm4.def"
    default:
        break;
    }
}

static void write_memory(struct walker *w, const uint8_t *word, uint32_t count)
{
    uint64_t to = count >= 2 ? (uint64_t)cps_le32(word + 4) << 32 | cps_le32(word) : 0;
    for (uint32_t i = 2; i < count; i++, to += 4, w->stores++)
        note(w, WALKER_MEMORY, cps_le32(word + 4 * (size_t)i), to);
}

/* Numbers and values in turn, or one number and its value behind a word of flags. */
static void write_pairs(struct walker *w, const uint8_t *word, uint32_t count, uint64_t at)
{
    for (; count >= 2; word += 8, count -= 2, w->writes++)
        put(w, cps_le32(word) & (WALKER_REGISTERS - 1), cps_le32(word + 4), at);
}

static void act(struct walker *w, uint32_t header, const uint8_t *word, uint32_t count, uint64_t at,
                unsigned depth)
{
    switch (header >> 16 & 0x7f) {
    case PM4_CP_INDIRECT_BUFFER:
    case PM4_CP_INDIRECT_BUFFER_PFD:
    case PM4_CP_INDIRECT_BUFFER_CHAIN:
        if (count >= 3)
            walk(w, (uint64_t)cps_le32(word + 4) << 32 | cps_le32(word),
                 cps_le32(word + 8) & 0xfffff, depth + 1);
        break;
    case PM4_CP_SET_DRAW_STATE:
        set_groups(w, word, count);
        break;
    case PM4_CP_SET_MARKER:
        set_mode(w, count ? cps_le32(word) : 0);
        break;
    case PM4_CP_MEM_WRITE:
        write_memory(w, word, count);
        break;
    case PM4_CP_CONTEXT_REG_BUNCH:
        write_pairs(w, word, count, at);
        break;
    case PM4_CP_REG_WRITE:
        write_pairs(w, word + 4, count > 2 ? 2 : 0, at);
        break;
    case PM4_CP_DRAW_INDX:
    case PM4_CP_DRAW_AUTO:
    case PM4_CP_DRAW_INDIRECT:
    case PM4_CP_DRAW_INDX_INDIRECT:
    case PM4_CP_DRAW_INDIRECT_MULTI:
    case PM4_CP_RUN_OPENCL:
    case PM4_CP_EXEC_CS:
    case PM4_CP_DRAW_INDX_OFFSET:
    case PM4_CP_EXEC_CS_INDIRECT:
        run_groups(w, depth);
        break;
    default:
        break;
    }
}

static void walk(struct walker *w, uint64_t iova, uint32_t dwords, unsigned depth)
{
    const uint8_t *at = depth < MOST_DEPTH ? find(w, iova, &dwords) : NULL;
    for (uint32_t i = 0; at && i < dwords && w->left;) {
        uint64_t from = iova + 4 * (uint64_t)i;
        uint32_t header = cps_le32(at + 4 * (size_t)i++);
        uint32_t most = header >> 28 == 4 ? 0x7f : header >> 28 == 7 ? 0x3fff : 0;
        uint32_t count = header & most;
        const uint8_t *word = at + 4 * (size_t)i;
        if (count > dwords - i)
            count = dwords - i;
        i += count;
        w->packets += most != 0;
        w->left--;
        if (most == 0x7f) {
            uint32_t number = header >> 8 & (WALKER_REGISTERS - 1);
            w->writes += count;
            for (; count; count--, word += 4)
                put(w, number++, cps_le32(word), from);
        } else if (most) {
            act(w, header, word, count, from, depth);
        }
    }
}

static struct cps_err *remember(struct walker *w, const struct cps_item *item)
{
    if (!CPS_LIST_ROOM(w->piece, w->pieces))
        return cps_err_nomem();
    w->piece[w->pieces++] =
        (struct walker_piece){item->buffer.iova, item->buffer.size, item->buffer.data};
    return NULL;
}

struct cps_err *walker_item(struct walker *w, const struct cps_item *item)
{
    enum { DIRECT = 4 };
    switch (item->kind) {
    case CPS_ITEM_RESET:
        w->pieces = 0;
        return NULL;
    case CPS_ITEM_DATA:
        return remember(w, item);
    case CPS_ITEM_SUBMIT:
        w->left = MOST_PACKETS;
        w->mode = DIRECT;
        w->dirty = 0;
        walk(w, item->stream.iova, item->stream.dwords, 1);
        return NULL;
    default:
        return NULL;
    }
}
