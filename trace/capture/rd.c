/* SPDX-License-Identifier: MIT
 * Reads `.rd`, the capture format of freedreno, turnip and the kernel's `rd` files (sections of
 * type, size, payload; facts from Mesa's redump.h and readers). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/le.h"
#include "trace/capture/formats.h"
#include "trace/capture/rd_write.h"
#include "trace/event/event.h"

#define SYNC_MARK 0xffffffffu

enum section {
    SECTION_TEST = 1,
    SECTION_CMD = 2,
    SECTION_GPUADDR = 3,
    SECTION_CONTEXT = 4,
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
    struct cps_reading r; /* first */
    bool submitted;       /* a stream came since the last buffer: the next one starts afresh */
    bool reset;           /* so it does in any case */
    bool resuming;        /* buffers are changes of memory that a stream waits for */
    bool have_address;    /* a GPUADDR has come */
    bool open;            /* a submission has begun, and its end was not given */
    uint32_t context;     /* as recordings say it */
    uint32_t seqno;       /* of the submission that is open, or the last one */
    uint64_t ticks;       /* of the next stream */
    uint64_t iova;        /* of the last GPUADDR */
};

/* The change is complete: what waited goes on. */
static struct cps_err *end_change(struct reader *r)
{
    struct cps_item item = {.kind = CPS_ITEM_RUN};
    if (!r->resuming)
        return NULL;
    r->resuming = false;
    return cps_reading_give_(&r->r, &item);
}

static struct cps_err *end_submission(struct reader *r)
{
    struct cps_item item = {.kind = CPS_ITEM_FENCE,
                            .fence = {.seqno = r->seqno, .context = r->context}};
    CPS_TRY(end_change(r));
    if (!r->open)
        return NULL;
    r->open = false;
    return cps_reading_give_(&r->r, &item);
}

/* The GPU was reset. Of a reason that is none of ours nothing is known but that. */
static struct cps_err *end_by_hang(struct reader *r, unsigned reason, bool fence)
{
    bool known = reason > CPS_REASON_DONE && reason <= CPS_REASON_BAD_PACKET;
    struct cps_item item = {.kind = CPS_ITEM_RECOVER,
                            .recover = {.reason = known ? reason : CPS_REASON_FAULT}};
    if (!r->open)
        return NULL;
    r->open = fence;
    CPS_TRY(end_submission(r));
    return cps_reading_give_(&r->r, &item);
}

/* "cpscope submission context=1 seqno=2": what follows, up to the next one, is a submission, even
 * without streams. Other texts are for people. */
static struct cps_err *begin_submission(struct reader *r, const char *text, size_t size)
{
    char line[80] = "";
    uint32_t context = 0;
    uint32_t seqno = 0;
    memcpy(line, text, size < sizeof(line) ? size : sizeof(line) - 1);
    CPS_TRY(end_change(r));
    if (!strcmp(line, CPS_RD_RESUME)) {
        r->resuming = r->submitted;
        return NULL;
    }
    char same[sizeof(line)];
    if (sscanf(line, CPS_RD_RECOVER, &context, &seqno) == 2) {
        snprintf(same, sizeof(same), CPS_RD_RECOVER, context, seqno);
        return strcmp(line, same) != 0 ? NULL : end_by_hang(r, context, seqno);
    }
    if (r->open && !strncmp(line, CPS_RD_TICKS, strlen(CPS_RD_TICKS))) {
        r->ticks = strtoull(line + strlen(CPS_RD_TICKS), NULL, 10);
        return NULL;
    }
    if (sscanf(line, CPS_RD_SUBMISSION, &context, &seqno) != 2)
        return NULL;
    snprintf(same, sizeof(same), CPS_RD_SUBMISSION, context, seqno);
    if (strcmp(line, same) != 0)
        return NULL;
    CPS_TRY(end_submission(r));
    r->submitted = false;
    r->reset = r->have_address;
    r->context = context;
    r->seqno = seqno;
    r->open = true;
    return NULL;
}

/* Reads the first bytes of the payload and passes over the rest. */
static struct cps_err *small_payload(struct reader *r, size_t *size)
{
    size_t want = r->r.size < sizeof(r->r.bytes) ? r->r.size : sizeof(r->r.bytes);
    CPS_TRY(cps_stream_read(r->r.stream, r->r.bytes, want, size));
    r->r.left -= (uint32_t)*size;
    return *size < want ? cps_reading_truncated_(&r->r) : cps_reading_pass_(&r->r);
}

/* Text is padded to dwords; what follows the first NUL is stale. */
static struct cps_err *read_text(struct reader *r)
{
    size_t size = 0;
    CPS_TRY(small_payload(r, &size));
    const uint8_t *end = memchr(r->r.bytes, 0, size);
    struct cps_item item = {.kind = CPS_ITEM_TEXT};
    item.text.bytes = (const char *)r->r.bytes;
    item.text.size = end ? (size_t)(end - r->r.bytes) : size;
    CPS_TRY(begin_submission(r, item.text.bytes, item.text.size));
    return cps_reading_give_(&r->r, &item);
}

/* Address low, length, and address high where the section has room for it. */
static struct cps_err *read_address(struct reader *r, uint64_t *iova, uint32_t *length)
{
    size_t size = 0;
    uint32_t high = 0;
    uint32_t low = 0;
    CPS_TRY(small_payload(r, &size));
    struct cps_bytes bytes = {r->r.bytes, size};
    if (!cps_rd32(bytes, 0, &low) || !cps_rd32(bytes, 4, length))
        return cps_err_input(cps_stream_name(r->r.stream), r->r.offset,
                             "%s has %u bytes, expected 8 or 12", r->r.label, r->r.size);
    cps_rd32(bytes, 8, &high);
    *iova = (uint64_t)high << 32 | low;
    return NULL;
}

static struct cps_err *check_range(const struct reader *r, uint64_t iova, uint64_t size)
{
    if (iova + size >= iova)
        return NULL;
    return cps_err_input(cps_stream_name(r->r.stream), r->r.offset,
                         "%s runs past the end of the address space", r->r.label);
}

static struct cps_err *read_gpuaddr(struct reader *r)
{
    uint32_t length = 0;
    struct cps_item reset = {.kind = CPS_ITEM_RESET};
    CPS_TRY(read_address(r, &r->iova, &length));
    CPS_TRY(check_range(r, r->iova, length));
    r->have_address = true;
    if (r->submitted)
        CPS_TRY(end_submission(r));
    if (r->submitted || r->reset)
        CPS_TRY(cps_reading_give_(&r->r, &reset));
    r->submitted = r->reset = false;
    struct cps_item item = {.kind = CPS_ITEM_BUFFER, .buffer = {.iova = r->iova, .size = length}};
    return cps_reading_give_(&r->r, &item);
}

static struct cps_err *read_stream(struct reader *r)
{
    struct cps_item item = {.kind = CPS_ITEM_SUBMIT};
    CPS_TRY(read_address(r, &item.stream.iova, &item.stream.dwords));
    CPS_TRY(check_range(r, item.stream.iova, 4 * (uint64_t)item.stream.dwords));
    CPS_TRY(end_change(r));
    r->submitted = true;
    if (item.stream.dwords > 0xfffff)
        return cps_err_input(cps_stream_name(r->r.stream), r->r.offset,
                             "command stream of %u dwords, an indirect buffer holds up to %u",
                             item.stream.dwords, 0xfffffu);
    r->seqno += !r->open;
    r->open = true;
    item.stream.context = r->context;
    item.stream.ticks = r->ticks;
    r->ticks = 0;
    return cps_reading_give_(&r->r, &item);
}

static struct cps_err *read_contents(struct reader *r)
{
    if (!r->have_address) {
        CPS_TRY(cps_reading_pass_(&r->r));
        return cps_reading_note_(&r->r, "contents without a buffer before them are ignored");
    }
    CPS_TRY(check_range(r, r->iova, r->r.size));
    r->r.total += r->r.size;
    if (r->r.size > r->r.limits->buffer_bytes || r->r.total > r->r.limits->total_bytes)
        return cps_err_input(cps_stream_name(r->r.stream), r->r.offset,
                             "buffer contents pass the limit of %llu bytes",
                             (unsigned long long)r->r.limits->buffer_bytes);
    return cps_reading_contents_(&r->r, r->iova, r->r.size);
}

/* Memory that changed while a stream waited for it: address low, length, address high, contents. */
static struct cps_err *read_change(struct reader *r)
{
    uint8_t head[12];
    size_t size = 0;
    if (!r->resuming || r->r.size < sizeof(head))
        return cps_reading_pass_(&r->r);
    CPS_TRY(cps_stream_read(r->r.stream, head, sizeof(head), &size));
    r->r.left -= (uint32_t)size;
    if (size < sizeof(head))
        return cps_reading_truncated_(&r->r);
    r->iova = (uint64_t)cps_le32(head + 8) << 32 | cps_le32(head);
    r->r.size -= (uint32_t)sizeof(head);
    CPS_TRY(check_range(r, r->iova, r->r.size));
    struct cps_item item = {.kind = CPS_ITEM_BUFFER,
                            .buffer = {.iova = r->iova, .size = r->r.size}};
    CPS_TRY(cps_reading_give_(&r->r, &item));
    return read_contents(r);
}

static struct cps_err *read_chip(struct reader *r)
{
    size_t size = 0;
    uint32_t low = 0;
    uint32_t high = 0;
    CPS_TRY(small_payload(r, &size));
    struct cps_bytes bytes = {r->r.bytes, size};
    if (!cps_rd32(bytes, 0, &low))
        return cps_err_input(cps_stream_name(r->r.stream), r->r.offset,
                             "%s has %u bytes, expected at least 4", r->r.label, r->r.size);
    cps_rd32(bytes, 4, &high);
    struct cps_item item = {.kind = CPS_ITEM_CHIP};
    if (r->r.type == SECTION_GPU_ID)
        item.chip.gpu_id = low;
    else
        item.chip.chip_id = (uint64_t)high << 32 | low;
    return cps_reading_give_(&r->r, &item);
}

static struct cps_err *read_payload(struct reader *r)
{
    switch (r->r.type) {
    case SECTION_TEST:
    case SECTION_CMD:
        return read_text(r);
    case SECTION_GPUADDR:
        return read_gpuaddr(r);
    case SECTION_CONTEXT:
        return read_change(r);
    case SECTION_CMDSTREAM_ADDR:
        return read_stream(r);
    case SECTION_BUFFER_CONTENTS:
        return read_contents(r);
    case SECTION_GPU_ID:
    case SECTION_CHIP_ID:
        return read_chip(r);
    default:
        return cps_reading_pass_(&r->r);
    }
}

static struct cps_err *read_section(struct reader *r)
{
    bool known = r->r.type < SECTION_COUNT;
    if (r->r.size >= 0x80000000u)
        return cps_err_input(cps_stream_name(r->r.stream), r->r.offset,
                             "section of type %u has size 0x%x, expected less than 0x80000000",
                             r->r.type, r->r.size);
    r->r.label = known ? section_name[r->r.type] : "of unknown type";
    r->r.left = r->r.size;
    struct cps_item item = {.kind = CPS_ITEM_SECTION};
    item.section.name = known ? r->r.label : NULL;
    item.section.type = r->r.type;
    item.section.size = r->r.size;
    CPS_TRY(cps_reading_give_(&r->r, &item));
    return read_payload(r);
}

struct cps_err *cps_rd_read_(struct cps_stream *stream, const struct cps_capture_limits *limits,
                             struct cps_item_sink *sink)
{
    CPS_FREE struct reader *r = calloc(1, sizeof(*r));
    if (!r)
        return cps_err_nomem();
    r->r.stream = stream;
    r->r.limits = limits;
    r->r.sink = sink;
    r->r.has_places = true;
    for (bool more = true; more;) {
        uint8_t header[8];
        CPS_TRY(cps_reading_header_(&r->r, header, &more));
        r->r.type = more ? cps_le32(header) : SYNC_MARK;
        r->r.size = more ? cps_le32(header + 4) : SYNC_MARK;
        if (r->r.type != SYNC_MARK || r->r.size != SYNC_MARK)
            CPS_TRY(read_section(r));
    }
    return end_submission(r);
}

/* The section of @p data at @p at, if it is there to its end. A sync mark is one of 0 bytes. */
static bool section_at(struct cps_bytes data, size_t at, uint32_t *type, uint32_t *size)
{
    if (!cps_rd32(data, at, type) || !cps_rd32(data, at + 4, size))
        return false;
    if (*type == SYNC_MARK && *size == SYNC_MARK)
        *size = 0;
    return *size <= data.size - at - 8;
}

const char *cps_rd_policy(const uint8_t *data, size_t size, size_t *ret)
{
    const uint32_t texts =
        1u << SECTION_TEST | 1u << SECTION_CMD | 1u << SECTION_GPU_ID | 1u << SECTION_CHIP_ID;
    const size_t word = strlen(CPS_RD_POLICY);
    uint32_t type = 0;
    uint32_t length = 0;
    bool may_follow = cps_rd_recognise_(data, size);
    for (size_t at = 0;
         may_follow && section_at((struct cps_bytes){data, size}, at, &type, &length);
         at += 8 + (size_t)length) {
        const char *text = (const char *)data + at + 8;
        if (type == SECTION_CMD && length > word && !memcmp(text, CPS_RD_POLICY, word)) {
            *ret = strnlen(text + word, length - word);
            return text + word;
        }
        may_follow = type == SYNC_MARK || (type < SECTION_COUNT && texts >> type & 1);
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
