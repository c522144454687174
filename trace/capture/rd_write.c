/* SPDX-License-Identifier: MIT
 * Writes `.rd`: from items, or from a capture of any format. */
#include "trace/capture/rd_write.h"

#include <string.h>
#include <zlib.h>

#include "isa/base/buf.h"
#include "isa/base/le.h"
#include "isa/base/within.h"

#ifdef CPS_HAVE_ZSTD
#include <zstd.h>
#endif

#define FRAME_BYTES (4u << 20)

/* Sections, as the reader in rd.c has them. */
enum {
    CMD = 2,
    GPUADDR = 3,
    CONTEXT = 4,
    CMDSTREAM_ADDR = 6,
    BUFFER_CONTENTS = 12,
    GPU_ID = 13,
    CHIP_ID = 14
};

enum packing { PLAIN, GZIP, ZSTD };

struct cps_rd_writer {
    struct cps_item_sink sink; /* first */
    struct cps_outfile *out;
    enum packing packing;
    struct cps_buf frame;    /* sections that are not written yet */
    struct cps_buf contents; /* of the buffer at hand: readers give them in pieces */
    uint64_t iova, size;     /* that buffer */
    bool have_buffer;
    bool changing; /* buffers are changes of memory: the last text was CPS_RD_RESUME */
    bool failed;
    struct cps_buf defect; /* the first note of the reader */
    uint64_t defect_at;
};

static void pack_gzip(struct cps_rd_writer *w)
{
    size_t room = compressBound(w->frame.size) + 32;
    CPS_FREE uint8_t *packed = malloc(room);
    z_stream z = {.next_in = (Bytef *)w->frame.data, .avail_in = (uInt)w->frame.size};
    if (!packed || deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        w->failed = true;
        return;
    }
    z.next_out = packed;
    z.avail_out = (uInt)room;
    w->failed = w->failed || deflate(&z, Z_FINISH) != Z_STREAM_END;
    cps_outfile_write(w->out, packed, z.total_out);
    deflateEnd(&z);
}

static void pack_zstd(struct cps_rd_writer *w)
{
#ifdef CPS_HAVE_ZSTD
    size_t room = ZSTD_compressBound(w->frame.size);
    CPS_FREE uint8_t *packed = malloc(room);
    size_t size = packed ? ZSTD_compress(packed, room, w->frame.data, w->frame.size, 3) : 0;
    w->failed = w->failed || !packed || ZSTD_isError(size);
    if (!w->failed)
        cps_outfile_write(w->out, packed, size);
#else
    w->failed = true;
#endif
}

static void flush(struct cps_rd_writer *w)
{
    w->failed = w->failed || w->frame.failed;
    if (w->frame.size && w->packing == GZIP)
        pack_gzip(w);
    else if (w->frame.size && w->packing == ZSTD)
        pack_zstd(w);
    else
        cps_outfile_write(w->out, cps_buf_text(&w->frame), w->frame.size);
    cps_buf_clear(&w->frame);
}

static void put_words(struct cps_rd_writer *w, const uint32_t *words, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint8_t bytes[4];
        cps_put_le32(bytes, words[i]);
        cps_buf_add(&w->frame, (const char *)bytes, 4);
    }
}

static void put_address(struct cps_rd_writer *w, uint32_t type, uint64_t iova, uint32_t length)
{
    put_words(w, (const uint32_t[]){type, 12, (uint32_t)iova, length, (uint32_t)(iova >> 32)}, 5);
}

/* Mesa's cffdump forgets all buffers at a GPUADDR after a stream, and passes over a CONTEXT. */
static void put_change_head(struct cps_rd_writer *w)
{
    const uint32_t size = (uint32_t)w->contents.size;
    put_words(
        w,
        (const uint32_t[]){CONTEXT, 12 + size, (uint32_t)w->iova, size, (uint32_t)(w->iova >> 32)},
        5);
}

/* The buffer at hand and what came of its contents. */
static void end_buffer(struct cps_rd_writer *w)
{
    if (!w->have_buffer)
        return;
    if (w->changing)
        put_change_head(w);
    else
        put_address(w, GPUADDR, w->iova, (uint32_t)w->size);
    if (w->contents.size && !w->changing)
        put_words(w, (const uint32_t[]){BUFFER_CONTENTS, (uint32_t)w->contents.size}, 2);
    cps_buf_join(&w->frame, &w->contents);
    cps_buf_clear(&w->contents);
    w->have_buffer = false;
    if (w->frame.size >= FRAME_BYTES)
        flush(w);
}

static void end_change(struct cps_rd_writer *w)
{
    end_buffer(w);
    w->changing = false;
}

static void begin_buffer(struct cps_rd_writer *w, uint64_t iova, uint64_t size)
{
    end_buffer(w);
    w->have_buffer = true;
    w->iova = iova;
    w->size = size;
}

static void add_contents(struct cps_rd_writer *w, const struct cps_item *item)
{
    bool follows = w->have_buffer && item->buffer.iova == w->iova + w->contents.size;
    if (!follows)
        begin_buffer(w, item->buffer.iova, item->buffer.size);
    cps_buf_add(&w->contents, (const char *)item->buffer.data, (size_t)item->buffer.size);
    if (w->size < w->contents.size)
        w->size = w->contents.size;
}

/* Text is padded to dwords, with a NUL behind it. */
static void put_text(struct cps_rd_writer *w, const struct cps_item *item)
{
    static const char zeros[4];
    end_buffer(w);
    w->changing = item->text.size == strlen(CPS_RD_RESUME) &&
                  !memcmp(item->text.bytes, CPS_RD_RESUME, item->text.size);
    size_t size = item->text.size + 4 - item->text.size % 4;
    put_words(w, (const uint32_t[]){CMD, (uint32_t)size}, 2);
    cps_buf_add(&w->frame, item->text.bytes, item->text.size);
    cps_buf_add(&w->frame, zeros, size - item->text.size);
}

struct cps_err *cps_rd_item(struct cps_rd_writer *w, const struct cps_item *item)
{
    switch (item->kind) {
    case CPS_ITEM_CHIP:
        end_buffer(w);
        if (item->chip.gpu_id)
            put_words(w, (const uint32_t[]){GPU_ID, 4, item->chip.gpu_id}, 3);
        if (item->chip.chip_id)
            put_words(w,
                      (const uint32_t[]){CHIP_ID, 8, (uint32_t)item->chip.chip_id,
                                         (uint32_t)(item->chip.chip_id >> 32)},
                      4);
        return NULL;
    case CPS_ITEM_TEXT:
        put_text(w, item);
        return NULL;
    case CPS_ITEM_BUFFER:
        begin_buffer(w, item->buffer.iova, item->buffer.size);
        return NULL;
    case CPS_ITEM_DATA:
        add_contents(w, item);
        return NULL;
    case CPS_ITEM_SUBMIT:
        if (item->stream.lpac)
            return cps_err_new(CPS_ERR_UNSUPPORTED,
                               "the capture submits to LPAC, which .rd has no section for");
        end_change(w);
        put_address(w, CMDSTREAM_ADDR, item->stream.iova, item->stream.dwords);
        return NULL;
    case CPS_ITEM_RUN:
        end_change(w);
        return NULL;
    case CPS_ITEM_NOTE:
        if (!w->defect.size) {
            cps_buf_add(&w->defect, item->text.bytes, item->text.size);
            w->defect_at = item->offset;
        }
        return NULL;
    case CPS_ITEM_RING:
        return cps_err_new(CPS_ERR_UNSUPPORTED,
                           "the capture holds a ring, which .rd has no section for");
    default:
        return NULL;
    }
}

static struct cps_err *take_item(struct cps_item_sink *sink, const struct cps_item *item)
{
    return cps_rd_item((struct cps_rd_writer *)sink, item);
}

static bool ends_with(const char *name, const char *suffix)
{
    size_t length = strlen(name);
    size_t tail = strlen(suffix);
    return length > tail && !strcmp(name + length - tail, suffix);
}

struct cps_err *cps_rd_open(struct cps_outfile *out, const char *name, struct cps_rd_writer **ret)
{
    struct cps_rd_writer *w = calloc(1, sizeof(*w));
    if (!w)
        return cps_err_nomem();
    w->sink.item = take_item;
    w->out = out;
    w->packing = ends_with(name, ".gz") ? GZIP : ends_with(name, ".zst") ? ZSTD : PLAIN;
#ifndef CPS_HAVE_ZSTD
    if (w->packing == ZSTD) {
        free(w);
        return cps_err_new(CPS_ERR_UNSUPPORTED, "%s: cpscope was built without zstd", name);
    }
#endif
    *ret = w;
    return NULL;
}

void cps_rd_flush(struct cps_rd_writer *w)
{
    end_buffer(w);
    flush(w);
}

struct cps_err *cps_rd_close(struct cps_rd_writer *w)
{
    if (!w)
        return NULL;
    cps_rd_flush(w);
    bool failed = w->failed;
    cps_buf_deinit(&w->frame);
    cps_buf_deinit(&w->contents);
    cps_buf_deinit(&w->defect);
    free(w);
    return failed ? cps_err_nomem() : NULL;
}

struct cps_err *cps_rd_write(struct cps_stream *in, struct cps_outfile *out, const char *name)
{
    struct cps_rd_writer *w = NULL;
    CPS_TRY(cps_rd_open(out, name, &w));
    struct cps_err *err = cps_capture_read(in, NULL, &w->sink);
    if (!err && w->defect.failed)
        err = cps_err_nomem();
    if (!err && w->defect.size)
        err = cps_err_input(cps_stream_name(in), w->defect_at, "%s", cps_buf_text(&w->defect));
    return cps_err_first_(err, cps_rd_close(w));
}
