/* SPDX-License-Identifier: MIT
 * Reads `.rd`, the capture format of freedreno, turnip and the kernel's `rd` files (sections of
 * type, size, payload; facts from Mesa's redump.h and readers). */
#include <string.h>

#include "isa/base/le.h"
#include "trace/capture/formats.h"

#define CHUNK_BYTES 65536u
#define SYNC_MARK   0xffffffffu

enum section {
    SECTION_TEST = 1,
    SECTION_CMD = 2,
    SECTION_GPUADDR = 3,
    SECTION_CMDSTREAM_ADDR = 6,
    SECTION_BUFFER_CONTENTS = 12,
    SECTION_GPU_ID = 13,
    SECTION_CHIP_ID = 14,
    SECTION_COUNT = 18,
};

static const char *const section_name[SECTION_COUNT] = {
    "NONE",
    "TEST",
    "CMD",
    "GPUADDR",
    "CONTEXT",
    "CMDSTREAM",
    "CMDSTREAM_ADDR",
    "PARAM",
    "FLUSH",
    "PROGRAM",
    "VERT_SHADER",
    "FRAG_SHADER",
    "BUFFER_CONTENTS",
    "GPU_ID",
    "CHIP_ID",
    "SHADER_LOG_BUFFER",
    "CP_LOG_BUFFER",
    "WRBUFFER",
};

struct reader {
    struct cps_stream *stream;
    const struct cps_capture_limits *limits;
    struct cps_item_sink *sink;
    uint64_t offset; /* of the section */
    uint32_t type;
    uint32_t size;
    uint64_t total;
    bool submitted;    /* a stream came since the last buffer: the next one starts afresh */
    bool have_address; /* a GPUADDR has come */
    uint64_t iova;     /* of the last GPUADDR */
    uint8_t chunk[CHUNK_BYTES];
};

static struct cps_err *give(struct reader *r, struct cps_item *item)
{
    item->offset = r->offset;
    return r->sink->item(r->sink, item);
}

static struct cps_err *note(struct reader *r, const char *text)
{
    struct cps_item item = {.kind = CPS_ITEM_NOTE, .text = {text, strlen(text), false}};
    return give(r, &item);
}

static struct cps_err *truncated(const struct reader *r)
{
    return cps_err_input(cps_stream_name(r->stream), r->offset,
                         "section %s of %u bytes is cut short at 0x%llx, expected all of it",
                         r->type < SECTION_COUNT ? section_name[r->type] : "of unknown type",
                         r->size, (unsigned long long)cps_stream_offset(r->stream));
}

/* Reads the first bytes of the payload and skips the rest. */
static struct cps_err *small_payload(struct reader *r, size_t *size)
{
    size_t want = r->size < CHUNK_BYTES ? r->size : CHUNK_BYTES;
    uint64_t skipped = 0;
    CPS_TRY(cps_stream_read(r->stream, r->chunk, want, size));
    if (*size < want)
        return truncated(r);
    CPS_TRY(cps_stream_skip(r->stream, r->size - want, &skipped));
    return skipped == r->size - want ? NULL : truncated(r);
}

/* Text is padded to dwords; what follows the first NUL is stale. */
static struct cps_err *read_text(struct reader *r)
{
    size_t size = 0;
    CPS_TRY(small_payload(r, &size));
    const uint8_t *end = memchr(r->chunk, 0, size);
    struct cps_item item = {.kind = CPS_ITEM_TEXT};
    item.text.bytes = (const char *)r->chunk;
    item.text.size = end ? (size_t)(end - r->chunk) : size;
    return give(r, &item);
}

/* Address low, length, and address high where the section has room for it. */
static struct cps_err *read_address(struct reader *r, uint64_t *iova, uint32_t *length)
{
    size_t size = 0;
    uint32_t high = 0;
    uint32_t low = 0;
    CPS_TRY(small_payload(r, &size));
    struct cps_bytes bytes = {r->chunk, size};
    if (!cps_rd32(bytes, 0, &low) || !cps_rd32(bytes, 4, length))
        return cps_err_input(cps_stream_name(r->stream), r->offset,
                             "%s has %u bytes, expected 8 or 12", section_name[r->type], r->size);
    cps_rd32(bytes, 8, &high);
    *iova = (uint64_t)high << 32 | low;
    return NULL;
}

static struct cps_err *check_range(const struct reader *r, uint64_t iova, uint64_t size)
{
    if (iova + size >= iova)
        return NULL;
    return cps_err_input(cps_stream_name(r->stream), r->offset,
                         "%s runs past the end of the address space", section_name[r->type]);
}

static struct cps_err *read_gpuaddr(struct reader *r)
{
    uint32_t length = 0;
    struct cps_item reset = {.kind = CPS_ITEM_RESET};
    CPS_TRY(read_address(r, &r->iova, &length));
    CPS_TRY(check_range(r, r->iova, length));
    r->have_address = true;
    if (r->submitted)
        CPS_TRY(give(r, &reset));
    r->submitted = false;
    struct cps_item item = {.kind = CPS_ITEM_BUFFER, .buffer = {.iova = r->iova, .size = length}};
    return give(r, &item);
}

static struct cps_err *read_stream(struct reader *r)
{
    struct cps_item item = {.kind = CPS_ITEM_SUBMIT};
    CPS_TRY(read_address(r, &item.stream.iova, &item.stream.dwords));
    CPS_TRY(check_range(r, item.stream.iova, 4 * (uint64_t)item.stream.dwords));
    r->submitted = true;
    if (item.stream.dwords > 0xfffff)
        return cps_err_input(cps_stream_name(r->stream), r->offset,
                             "command stream of %u dwords, an indirect buffer holds up to %u",
                             item.stream.dwords, 0xfffffu);
    return give(r, &item);
}

static struct cps_err *skip_payload(struct reader *r)
{
    uint64_t skipped = 0;
    CPS_TRY(cps_stream_skip(r->stream, r->size, &skipped));
    return skipped == r->size ? NULL : truncated(r);
}

static struct cps_err *read_contents(struct reader *r)
{
    if (!r->have_address) {
        CPS_TRY(skip_payload(r));
        return note(r, "contents without a buffer before them are ignored");
    }
    CPS_TRY(check_range(r, r->iova, r->size));
    r->total += r->size;
    if (r->size > r->limits->buffer_bytes || r->total > r->limits->total_bytes)
        return cps_err_input(cps_stream_name(r->stream), r->offset,
                             "buffer contents pass the limit of %llu bytes",
                             (unsigned long long)r->limits->buffer_bytes);
    for (uint32_t done = 0; done < r->size;) {
        size_t want = r->size - done < CHUNK_BYTES ? r->size - done : CHUNK_BYTES;
        size_t got = 0;
        const uint8_t *data = NULL;
        CPS_TRY(cps_stream_view_(r->stream, r->chunk, want, &data, &got));
        if (got < want)
            return truncated(r);
        struct cps_item item = {.kind = CPS_ITEM_DATA,
                                .buffer = {.iova = r->iova + done,
                                           .size = got,
                                           .data = data,
                                           .at = cps_stream_offset(r->stream) - got + 1}};
        CPS_TRY(give(r, &item));
        done += (uint32_t)got;
    }
    return NULL;
}

static struct cps_err *read_chip(struct reader *r)
{
    size_t size = 0;
    uint32_t low = 0;
    uint32_t high = 0;
    CPS_TRY(small_payload(r, &size));
    struct cps_bytes bytes = {r->chunk, size};
    if (!cps_rd32(bytes, 0, &low))
        return cps_err_input(cps_stream_name(r->stream), r->offset,
                             "%s has %u bytes, expected at least 4", section_name[r->type],
                             r->size);
    cps_rd32(bytes, 4, &high);
    struct cps_item item = {.kind = CPS_ITEM_CHIP};
    if (r->type == SECTION_GPU_ID)
        item.chip.gpu_id = low;
    else
        item.chip.chip_id = (uint64_t)high << 32 | low;
    return give(r, &item);
}

static struct cps_err *read_payload(struct reader *r)
{
    switch (r->type) {
    case SECTION_TEST:
    case SECTION_CMD:
        return read_text(r);
    case SECTION_GPUADDR:
        return read_gpuaddr(r);
    case SECTION_CMDSTREAM_ADDR:
        return read_stream(r);
    case SECTION_BUFFER_CONTENTS:
        return read_contents(r);
    case SECTION_GPU_ID:
    case SECTION_CHIP_ID:
        return read_chip(r);
    default:
        return skip_payload(r);
    }
}

/* The next section's header; @p more is false at a clean end of the file. */
static struct cps_err *read_header(struct reader *r, bool *more)
{
    uint8_t header[8];
    size_t got = 0;
    r->offset = cps_stream_offset(r->stream);
    CPS_TRY(cps_stream_read(r->stream, header, sizeof(header), &got));
    *more = got > 0;
    if (got && got < sizeof(header))
        return cps_err_input(cps_stream_name(r->stream), r->offset,
                             "section header of %zu bytes is cut short, expected 8", got);
    r->type = cps_le32(header);
    r->size = cps_le32(header + 4);
    return NULL;
}

static struct cps_err *read_section(struct reader *r)
{
    if (r->size >= 0x80000000u)
        return cps_err_input(cps_stream_name(r->stream), r->offset,
                             "section of type %u has size 0x%x, expected less than 0x80000000",
                             r->type, r->size);
    struct cps_item item = {.kind = CPS_ITEM_SECTION};
    item.section.name = r->type < SECTION_COUNT ? section_name[r->type] : NULL;
    item.section.type = r->type;
    item.section.size = r->size;
    CPS_TRY(give(r, &item));
    return read_payload(r);
}

struct cps_err *cps_rd_read_(struct cps_stream *stream, const struct cps_capture_limits *limits,
                             struct cps_item_sink *sink)
{
    CPS_FREE struct reader *r = calloc(1, sizeof(*r));
    if (!r)
        return cps_err_nomem();
    r->stream = stream;
    r->limits = limits;
    r->sink = sink;
    for (bool more = true; more;) {
        CPS_TRY(read_header(r, &more));
        if (more && !(r->type == SYNC_MARK && r->size == SYNC_MARK))
            CPS_TRY(read_section(r));
    }
    return NULL;
}

/* The format has no magic: a sync mark, or a known section of a size that can be true. A header
 * cut short is taken for one too, so that the reader can say where it ends. */
bool cps_rd_recognise_(const uint8_t *data, size_t size)
{
    if (size < 4)
        return false;
    uint32_t type = cps_le32(data);
    uint32_t length = size >= 8 ? cps_le32(data + 4) : 0;
    if (type == SYNC_MARK)
        return size < 8 || length == SYNC_MARK;
    return type > 0 && type < SECTION_COUNT;
}
