/* SPDX-License-Identifier: MIT
 * Writes KGSL snapshots for tests, in the order of the dump; section OS, which others look for, at
 * the end, as Mesa's crashdec has it. */
#include "tests/lib/snapshot_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/le.h"
#include "isa/target.h"
#include "trace/capture/formats.h"
#include "trace/capture/snapshot.h"

#define FRAME_BYTES  (4u << 20)
#define MOST_BYTES   0xf0000000u /* of contents in one section, whose size has 32 bits */
#define MOST_PAIRS   4096u       /* registers in one section */
#define NO_LOCATION  0xffffffffu
#define OS_LINUX_V4  0x00000203u
#define OBJECT_PLAIN 3u

/* Sections that readers only name. */
static const char *const unread[] = {
    "shader-blocks", "debugbus", "gmu-log", "gmu-hfi", "gmu-debug",
#define PASSED(id, name) #name,
#include "trace/capture/snapshot.def"
};

static const struct snapshot_indexed indexed[] = {
#define INDEXED(index, data, first, last, name) {index, data, first, last, #name},
#include "trace/capture/snapshot.def"
};

static const struct snapshot_cluster clusters[] = {
#define CLUSTER(version, id, name) {version, id, #name},
#include "trace/capture/snapshot.def"
};

const struct snapshot_indexed *snapshot_find_indexed(const char *name, unsigned generation)
{
    for (size_t i = 0; i < sizeof(indexed) / sizeof(indexed[0]); i++) {
        bool ours = indexed[i].first <= generation && generation <= indexed[i].last;
        if (!strcmp(indexed[i].name, name) && (ours || !generation))
            return &indexed[i];
    }
    return NULL;
}

const struct snapshot_cluster *snapshot_find_cluster(const char *name)
{
    for (size_t i = 0; i < sizeof(clusters) / sizeof(clusters[0]); i++) {
        if (!strcmp(clusters[i].name, name))
            return &clusters[i];
    }
    return NULL;
}

/* A ring or buffer, and its contents: readers give them in pieces. */
struct region {
    bool open;
    struct cps_item about; /* CPS_ITEM_RING or CPS_ITEM_BUFFER */
    uint64_t iova;         /* where the contents begin */
    struct cps_buf contents;
};

/* Registers that go into one section. */
struct batch {
    char section[CPS_SNAPSHOT_NAME];
    int context;
    uint32_t count;
    uint32_t offset[MOST_PAIRS], value[MOST_PAIRS];
};

struct writer {
    struct cps_item_sink sink; /* first */
    struct cps_outfile *out;
    struct cps_buf frame; /* sections that are not written yet */
    bool started;         /* the header is written: with the first chip, or at the end */
    uint64_t gpu;
    struct region region;
    struct batch batch;
    bool unread[sizeof(unread) / sizeof(unread[0])];
    struct {
        uint32_t seconds;
        char release[32], comm[16];
    } os;
};

/* ---- bytes ---- */

static void put(struct writer *w, const void *data, size_t size)
{
    cps_buf_add(&w->frame, data, size);
}

static void put_words(struct writer *w, const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t bytes[4];
        cps_put_le32(bytes, words[i]);
        put(w, bytes, sizeof(bytes));
    }
}

#define PUT_WORDS(w, ...) \
    put_words(w, (const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4)

static void put_zeros(struct writer *w, size_t size)
{
    static const char zeros[4096];
    for (; size > sizeof(zeros); size -= sizeof(zeros))
        put(w, zeros, sizeof(zeros));
    put(w, zeros, size);
}

/* The head of a section whose payload has @p size bytes. */
static void put_section(struct writer *w, uint32_t id, size_t size)
{
    PUT_WORDS(w, id << 16 | CPS_SNAPSHOT_SECTION, 8 + (uint32_t)size);
}

/* The head of a debug section with @p dwords words. */
static void put_own(struct writer *w, enum cps_snapshot_own type, size_t dwords)
{
    put_section(w, CPS_SNAPSHOT_DEBUG, 8 + 4 * dwords);
    PUT_WORDS(w, type, (uint32_t)dwords);
}

/* Bytes behind their number, up to the next word. */
static void put_text(struct writer *w, const char *text, size_t size)
{
    PUT_WORDS(w, (uint32_t)size);
    put(w, text, size);
    put_zeros(w, (4 - size % 4) % 4);
}

static void put_name(struct writer *w, uint32_t first, uint32_t second, const char *name)
{
    put_own(w, CPS_SNAPSHOT_OWN_NAME, 3 + (strlen(name) + 3) / 4);
    PUT_WORDS(w, first, second);
    put_text(w, name, strlen(name));
}

static void flush(struct writer *w)
{
    cps_outfile_write(w->out, cps_buf_text(&w->frame), w->frame.size);
    cps_buf_clear(&w->frame);
}

/* Those of the region, without another copy where they are large. */
static void put_contents(struct writer *w)
{
    const struct cps_buf *contents = &w->region.contents;
    if (!w->started || contents->size < FRAME_BYTES) {
        put(w, cps_buf_text(contents), contents->size);
        return;
    }
    flush(w);
    cps_outfile_write(w->out, contents->data, contents->size);
}

/* ---- the chip ---- */

static struct cps_err *start(struct writer *w, uint32_t gpu, uint64_t chip)
{
    uint8_t header[12];
    if (w->started)
        return NULL;
    if (gpu > 0xffff || chip > UINT32_MAX)
        return cps_err_new(CPS_ERR_UNSUPPORTED,
                           "GPU %u with chip id 0x%llx, of which a snapshot holds 16 and 32 bits",
                           gpu, (unsigned long long)chip);
    w->started = true;
    w->gpu = gpu ? gpu : chip;
    cps_put_le32(header, CPS_SNAPSHOT_MAGIC);
    cps_put_le32(header + 4, gpu ? 3u << 16 | gpu : UINT32_MAX);
    cps_put_le32(header + 8, (uint32_t)chip);
    cps_outfile_write(w->out, header, sizeof(header));
    return NULL;
}

/* ---- rings and buffers ---- */

static void end_ring(struct writer *w, const struct cps_item *about)
{
    const struct cps_buf *contents = &w->region.contents;
    uint32_t dwords = (uint32_t)(about->ring.size / 4);
    uint32_t first = (uint32_t)((w->region.iova - about->ring.iova) / 4);
    put_section(w, CPS_SNAPSHOT_RB_V2, 44 + contents->size);
    PUT_WORDS(w, first, dwords, dwords, about->ring.wptr, about->ring.rptr,
              (uint32_t)(contents->size / 4), about->ring.last_fence, about->ring.retired_fence,
              (uint32_t)about->ring.iova, (uint32_t)(about->ring.iova >> 32), about->ring.id);
    put_contents(w);
}

/* Of which nothing is known but where it is. */
static void put_memory(struct writer *w, uint64_t iova, uint64_t size)
{
    put_section(w, CPS_SNAPSHOT_MEMLIST_V2, 12 + 20);
    PUT_WORDS(w, 1, 0, 0, (uint32_t)iova, (uint32_t)(iova >> 32), (uint32_t)size,
              (uint32_t)(size >> 32), 0);
}

static void put_object(struct writer *w)
{
    uint64_t iova = w->region.iova;
    size_t size = w->region.contents.size;
    put_section(w, CPS_SNAPSHOT_GPU_OBJECT_V2, 28 + size);
    PUT_WORDS(w, OBJECT_PLAIN, (uint32_t)iova, (uint32_t)(iova >> 32), 0, 0, (uint32_t)(size / 4),
              0);
    put_contents(w);
}

/* What is known of a buffer in part only becomes two: where it is, and that part. */
static struct cps_err *end_region(struct writer *w)
{
    struct region *r = &w->region;
    bool failed = r->contents.failed;
    bool whole = r->iova == r->about.buffer.iova && r->contents.size == r->about.buffer.size;
    if (!r->open)
        return NULL;
    r->open = false;
    if (r->about.kind == CPS_ITEM_RING)
        end_ring(w, &r->about);
    else if (!whole || !r->contents.size)
        put_memory(w, r->about.buffer.iova, r->about.buffer.size);
    if (r->about.kind != CPS_ITEM_RING && r->contents.size)
        put_object(w);
    cps_buf_clear(&r->contents);
    return failed ? cps_err_nomem() : NULL;
}

static struct cps_err *begin_region(struct writer *w, const struct cps_item *item)
{
    bool ring = item->kind == CPS_ITEM_RING;
    CPS_TRY(end_region(w));
    if (ring && (item->ring.size % 4 || item->ring.size / 4 > UINT32_MAX))
        return cps_err_new(CPS_ERR_UNSUPPORTED,
                           "a ring of 0x%llx bytes, which a snapshot counts as dwords of 32 bits",
                           (unsigned long long)item->ring.size);
    w->region.open = true;
    w->region.about = *item;
    w->region.iova = ring ? item->ring.iova : item->buffer.iova;
    return NULL;
}

/* Contents that stand alone are a buffer. */
static struct cps_err *add_contents(struct writer *w, const struct cps_item *item)
{
    struct region *r = &w->region;
    /* Where it is only: what item points to is gone before the section is written. */
    struct cps_item alone = {.kind = CPS_ITEM_BUFFER,
                             .buffer = {.iova = item->buffer.iova, .size = item->buffer.size}};
    bool ring = r->about.kind == CPS_ITEM_RING;
    uint64_t from = ring ? r->about.ring.iova : r->about.buffer.iova;
    uint64_t size = ring ? r->about.ring.size : r->about.buffer.size;
    uint64_t at = item->buffer.iova - from;
    bool inside = r->open && at <= size && item->buffer.size <= size - at && !(ring && at % 4);
    if (inside && !r->contents.size)
        r->iova = item->buffer.iova;
    if (!inside || item->buffer.iova != r->iova + r->contents.size)
        CPS_TRY(begin_region(w, &alone));
    if (item->buffer.size > MOST_BYTES - r->contents.size)
        return cps_err_new(CPS_ERR_UNSUPPORTED,
                           "contents of more than 0x%x bytes, which no section holds", MOST_BYTES);
    cps_buf_add(&r->contents, (const char *)item->buffer.data, (size_t)item->buffer.size);
    return NULL;
}

/* ---- registers ---- */

static void put_pairs(struct writer *w, const struct batch *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        PUT_WORDS(w, b->offset[i], b->value[i]);
}

/* How many registers from @p first on follow each other. */
static uint32_t run_length(const struct batch *b, uint32_t first)
{
    uint32_t length = 1;
    while (first + length < b->count && b->offset[first + length] == b->offset[first] + length)
        length++;
    return length;
}

/* As ranges; the kernels of version 2 on write single ones shorter. */
static void put_ranges(struct writer *w, const struct batch *b, unsigned version, uint32_t id)
{
    size_t start = w->frame.size;
    put_section(w, version == 1 ? CPS_SNAPSHOT_MVC : CPS_SNAPSHOT_MVC_V2, 0);
    PUT_WORDS(w, b->context < 0 ? 0 : (uint32_t)b->context, id);
    if (version > 1)
        PUT_WORDS(w, 0, NO_LOCATION);
    for (uint32_t i = 0, length = 0; i < b->count; i += length) {
        length = run_length(b, i);
        if (length > 1 || version == 1)
            PUT_WORDS(w, CPS_SNAPSHOT_SINGLE | b->offset[i], b->offset[i] + length - 1);
        else
            PUT_WORDS(w, b->offset[i]);
        put_words(w, b->value + i, length);
    }
    if (!w->frame.failed)
        cps_put_le32((uint8_t *)w->frame.data + start + 4, (uint32_t)(w->frame.size - start));
}

static void put_cluster(struct writer *w, const struct batch *b)
{
    const struct snapshot_cluster *row = snapshot_find_cluster(b->section);
    if (!row || b->context < 0)
        put_name(w, (uint32_t)b->context, 0, b->section);
    put_ranges(w, b, row ? row->version : 2, row ? row->id : 0);
}

static void end_batch(struct writer *w)
{
    struct batch *b = &w->batch;
    bool plain = b->context < 0;
    if (b->count && plain && !strcmp(b->section, "registers")) {
        put_section(w, CPS_SNAPSHOT_REGS, 4 + 8 * (size_t)b->count);
        PUT_WORDS(w, b->count);
        put_pairs(w, b);
    } else if (b->count && plain && !strcmp(b->section, "registers-gmu")) {
        put_own(w, CPS_SNAPSHOT_OWN_GMU, 2 * (size_t)b->count);
        put_pairs(w, b);
    } else if (b->count) {
        put_cluster(w, b);
    }
    b->count = 0;
}

static struct cps_err *add_register(struct writer *w, const struct cps_item *item)
{
    struct batch *b = &w->batch;
    if (item->reg.offset & CPS_SNAPSHOT_SINGLE)
        return cps_err_new(CPS_ERR_UNSUPPORTED, "register 0x%x, of which a snapshot holds 31 bits",
                           item->reg.offset);
    if (b->count == MOST_PAIRS || b->context != item->reg.context ||
        strcmp(b->section, item->reg.section) != 0)
        end_batch(w);
    b->context = item->reg.context;
    snprintf(b->section, sizeof(b->section), "%s", item->reg.section);
    b->offset[b->count] = item->reg.offset;
    b->value[b->count++] = item->reg.value;
    return NULL;
}

/* ---- blocks ---- */

/* Others expect all words of a block, so that zeros stand for those that the dump left out at its
 * end. Where it has none at all, nothing is known of them. */
static void put_block(struct writer *w, const struct cps_item *item)
{
    size_t count = item->block.count;
    size_t size = item->block.size;
    size_t written = count && size <= CPS_BLOCK_LIMIT ? size : count;
    /* Of any generation while the chip is not known. */
    const struct snapshot_indexed *row =
        snapshot_find_indexed(item->block.name, w->gpu ? cps_gpu_generation(w->gpu) : 0);
    if (!row || count != size)
        put_name(w, (uint32_t)count, (uint32_t)size, item->block.name);
    put_section(w, CPS_SNAPSHOT_INDEXED_REGS, 16 + 4 * written);
    PUT_WORDS(w, row ? row->index : 0, row ? row->data : 0, 0, (uint32_t)written);
    put_words(w, item->block.words, count);
    put_zeros(w, 4 * (written - count));
}

/* ---- texts ---- */

/* Keeps the value of "key: value" for section OS. */
static void keep(const struct cps_item *item, const char *key, char *to, size_t room)
{
    size_t length = strlen(key);
    if (item->text.size <= length || memcmp(item->text.bytes, key, length) != 0)
        return;
    size_t size = item->text.size - length;
    size = size < room ? size : room - 1;
    memset(to, 0, room);
    memcpy(to, item->text.bytes + length, size);
}

static void keep_for_os(struct writer *w, const struct cps_item *item)
{
    char time[12] = "";
    keep(item, "kernel: ", w->os.release, sizeof(w->os.release));
    keep(item, "comm: ", w->os.comm, sizeof(w->os.comm));
    keep(item, "time: ", time, sizeof(time));
    if (time[0])
        w->os.seconds = (uint32_t)strtoul(time, NULL, 10);
}

static void add_text(struct writer *w, const struct cps_item *item)
{
    bool note = item->kind == CPS_ITEM_NOTE;
    if (!note)
        keep_for_os(w, item);
    put_own(w, note ? CPS_SNAPSHOT_OWN_NOTE : CPS_SNAPSHOT_OWN_TEXT, 1 + (item->text.size + 3) / 4);
    put_text(w, item->text.bytes, item->text.size);
}

/* Of a process and its page table, of power and contexts nothing is known. */
static void put_os(struct writer *w)
{
    put_section(w, CPS_SNAPSHOT_OS, 160);
    PUT_WORDS(w, OS_LINUX_V4, w->os.seconds);
    put_zeros(w, 56);
    put(w, w->os.release, sizeof(w->os.release));
    put_zeros(w, 32);
    put(w, w->os.comm, sizeof(w->os.comm));
    put_zeros(w, 16);
}

/* ---- items ---- */

static void note_section(struct writer *w, const char *name)
{
    for (size_t i = 0; name && i < sizeof(unread) / sizeof(unread[0]); i++)
        w->unread[i] |= !strcmp(unread[i], name);
}

static struct cps_err *take(struct writer *w, const struct cps_item *item)
{
    switch (item->kind) {
    case CPS_ITEM_SECTION:
        note_section(w, item->section.name);
        return NULL;
    case CPS_ITEM_CHIP:
        return start(w, item->chip.gpu_id, item->chip.chip_id);
    case CPS_ITEM_TEXT:
    case CPS_ITEM_NOTE:
        add_text(w, item);
        return NULL;
    case CPS_ITEM_RING:
    case CPS_ITEM_BUFFER:
        return begin_region(w, item);
    case CPS_ITEM_DATA:
        return add_contents(w, item);
    case CPS_ITEM_REGISTER:
        return add_register(w, item);
    case CPS_ITEM_BLOCK:
        put_block(w, item);
        return NULL;
    default:
        return cps_err_new(CPS_ERR_UNSUPPORTED,
                           "a capture of submissions, which a snapshot has no section for");
    }
}

static struct cps_err *take_item(struct cps_item_sink *sink, const struct cps_item *item)
{
    struct writer *w = (struct writer *)sink;
    if (item->kind != CPS_ITEM_DATA)
        CPS_TRY(end_region(w));
    if (item->kind != CPS_ITEM_REGISTER)
        end_batch(w);
    CPS_TRY(take(w, item));
    if (w->started && w->frame.size >= FRAME_BYTES)
        flush(w);
    return w->frame.failed ? cps_err_nomem() : NULL;
}

static struct cps_err *finish(struct writer *w)
{
    CPS_TRY(end_region(w));
    end_batch(w);
    CPS_TRY(start(w, 0, 0));
    put_os(w);
    put_section(w, CPS_SNAPSHOT_END, 0);
    flush(w);
    return w->frame.failed ? cps_err_nomem() : NULL;
}

static struct cps_err *name_unread(const struct writer *w, struct cps_buf *left)
{
    for (size_t i = 0; i < sizeof(unread) / sizeof(unread[0]); i++) {
        if (w->unread[i])
            cps_buf_printf(left, "%s%s", left->size ? ", " : "", unread[i]);
    }
    return left->failed ? cps_err_nomem() : NULL;
}

struct cps_err *cps_snapshot_write(struct cps_stream *in, struct cps_outfile *out,
                                   struct cps_buf *left)
{
    struct writer *w = calloc(1, sizeof(*w));
    if (!w)
        return cps_err_nomem();
    w->sink.item = take_item;
    w->out = out;
    struct cps_err *err = cps_capture_read(in, NULL, &w->sink);
    if (!err)
        err = finish(w);
    if (!err)
        err = name_unread(w, left);
    cps_buf_deinit(&w->frame);
    cps_buf_deinit(&w->region.contents);
    free(w);
    return err;
}
