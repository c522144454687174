/* SPDX-License-Identifier: MIT
 * The mutator of whole `.cpt` files: the head or what a frame holds is changed, frames are removed,
 * copied and moved; then the file is put together with its checksums and its index. */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "isa/base/le.h"
#include "tests/fuzz/mutate.h"
#include "trace/form/cpt.h"

enum { FRAMES = 16, FRAME_ROOM = 1 << 16 };

struct file {
    char magic[CPT_MAGIC_SIZE];
    struct cps_buf head;
    struct cps_buf raw[FRAMES];
    uint32_t events[FRAMES];
    unsigned count;
};

static void file_deinit(struct file *file)
{
    cps_buf_deinit(&file->head);
    for (unsigned i = 0; i < FRAMES; i++)
        cps_buf_deinit(&file->raw[i]);
}

/* @return bytes of the frame in the file, 0 if there is none */
static size_t take_frame(struct file *file, const uint8_t *at, size_t size)
{
    static char raw[FRAME_ROOM];
    if (size < CPT_FRAME_HEAD || cps_le32(at) != CPT_FRAME || file->count == FRAMES)
        return 0;
    size_t packed = cps_le32(at + 12);
    if (packed > size - CPT_FRAME_HEAD)
        return 0;
    size_t got = ZSTD_decompress(raw, sizeof(raw), at + CPT_FRAME_HEAD, packed);
    if (ZSTD_isError(got))
        return 0;
    file->events[file->count] = cps_le32(at + 4);
    cps_buf_add(&file->raw[file->count++], raw, got);
    return CPT_FRAME_HEAD + packed;
}

static bool take_apart(struct file *file, const uint8_t *data, size_t size)
{
    size_t at = CPT_MAGIC_SIZE + 8;
    if (size < at || memcmp(data, CPT_MAGIC, CPT_MAGIC_SIZE - 1) != 0)
        return false;
    size_t head = cps_le32(data + CPT_MAGIC_SIZE);
    if (head > size - at)
        return false;
    memcpy(file->magic, data, CPT_MAGIC_SIZE);
    cps_buf_add(&file->head, (const char *)data + at, head);
    at += head;
    for (size_t used = 1; used; at += used)
        used = take_frame(file, data + at, size - at);
    return file->count > 0;
}

static void put32(struct cps_buf *out, uint32_t value)
{
    uint8_t bytes[4];
    cps_put_le32(bytes, value);
    cps_buf_add(out, (const char *)bytes, 4);
}

static void put64(struct cps_buf *out, uint64_t value)
{
    put32(out, (uint32_t)value);
    put32(out, (uint32_t)(value >> 32));
}

static void put_frame(const struct cps_buf *raw, uint32_t events, struct cps_buf *out)
{
    char *packed = malloc(ZSTD_compressBound(raw->size));
    ZSTD_CCtx *context = ZSTD_createCCtx();
    if (!packed || !context)
        abort();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    size_t size = ZSTD_compress2(context, packed, ZSTD_compressBound(raw->size), cps_buf_text(raw),
                                 raw->size);
    put32(out, CPT_FRAME);
    put32(out, events);
    put32(out, (uint32_t)raw->size);
    put32(out, (uint32_t)size);
    cps_buf_add(out, packed, size);
    ZSTD_freeCCtx(context);
    free(packed);
}

static void put_together(const struct file *file, struct cps_buf *out)
{
    CPS_BUF index = {0};
    uint64_t events = 0;
    cps_buf_add(out, file->magic, CPT_MAGIC_SIZE);
    put32(out, (uint32_t)file->head.size);
    put32(out, cpt_sum(cps_buf_text(&file->head), file->head.size));
    cps_buf_add(out, cps_buf_text(&file->head), file->head.size);
    for (unsigned i = 0; i < file->count; i++) {
        put64(&index, out->size);
        put64(&index, events);
        put_frame(&file->raw[i], file->events[i], out);
        events += file->events[i];
    }
    uint64_t at = out->size;
    put32(out, CPT_INDEX);
    put32(out, file->count);
    cps_buf_add(out, cps_buf_text(&index), index.size);
    put64(out, events);
    put64(out, at);
    cps_buf_str(out, CPT_END);
}

static void change(uint32_t *state, struct file *file)
{
    unsigned i = mutate_below(state, file->count);
    unsigned other = mutate_below(state, file->count);
    switch (mutate_below(state, 8)) {
    case 0:
        mutate_text(state, &file->head);
        break;
    case 1:
        file->events[i] = mutate_edge(state, file->events[i]);
        break;
    case 2: /* frames know nothing of each other */
        if (file->count < FRAMES) {
            file->events[file->count] = file->events[i];
            cps_buf_add(&file->raw[file->count++], cps_buf_text(&file->raw[i]), file->raw[i].size);
        }
        break;
    case 3:
        cps_buf_clear(&file->raw[i]);
        cps_buf_add(&file->raw[i], cps_buf_text(&file->raw[other]), file->raw[other].size);
        break;
    case 4:
        file->magic[CPT_MAGIC_SIZE - 1] = (char)('2' + mutate_below(state, 3));
        break;
    default:
        mutate_part(&file->raw[i], mutate_below(state, (uint32_t)file->raw[i].size / 2),
                    file->raw[i].size / 2);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    struct file file = {0};
    uint32_t state = seed;
    CPS_BUF out = {0};
    if (mutate_below(&state, 8) == 0 || !take_apart(&file, data, size)) {
        size = LLVMFuzzerMutate(data, size, room);
    } else {
        for (unsigned i = 0; i <= mutate_below(&state, 2); i++)
            change(&state, &file);
        put_together(&file, &out);
        size = mutate_done(&out, data, size, room);
    }
    file_deinit(&file);
    return size;
}
