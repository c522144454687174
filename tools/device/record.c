/* SPDX-License-Identifier: MIT
 * Records submissions as `.rd`. */
#include "tools/device/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/host.h"
#include "isa/base/list.h"
#include "isa/base/within.h"
#include "trace/capture/rd_write.h"

/* Memory of the submission, at @p at of the bytes. */
struct piece {
    uint64_t iova, size;
    size_t at;
};
struct stream {
    uint64_t iova;
    uint32_t dwords;
};

struct device_record {
    struct cps_outfile *out;
    struct cps_rd_writer *writer;
    bool open;   /* a submission has begun */
    bool full;   /* it has more memory than is allowed */
    bool failed; /* memory was short */
    bool over;   /* nothing more is recorded */
    uint32_t context, pid;
    char comm[64];
    struct piece *piece;
    size_t pieces;
    struct stream *stream;
    size_t streams;
    uint64_t *touched; /* pages, by address up to `sorted` */
    size_t touches, sorted;
    struct cps_buf bytes;
};

static struct cps_err *put_text(struct device_record *record, const struct cps_buf *text)
{
    const struct cps_item item = {.kind = CPS_ITEM_TEXT, .text = {cps_buf_text(text), text->size}};
    return text->failed ? cps_err_nomem() : cps_rd_item(record->writer, &item);
}

static struct cps_err *put_head(struct device_record *record, const struct cps_item *chip,
                                const struct cps_policy *policy, enum cps_gen gen)
{
    CPS_BUF text = {0};
    cps_buf_str(&text, CPS_RD_POLICY);
    cps_policy_text(policy, gen, &text);
    CPS_TRY(put_text(record, &text));
    return cps_rd_item(record->writer, chip);
}

struct cps_err *device_record_open(const char *path, uint64_t chip_id, uint32_t gpu_id,
                                   const struct cps_policy *policy, enum cps_gen gen,
                                   struct device_record **ret)
{
    const struct cps_item chip = {.kind = CPS_ITEM_CHIP, .chip = {gpu_id, chip_id}};
    struct device_record *record = calloc(1, sizeof(*record));
    if (!record)
        return cps_err_nomem();
    struct cps_err *err = cps_outfile_open(path, &record->out);
    if (!err)
        err = cps_rd_open(record->out, path, &record->writer);
    if (!err)
        err = put_head(record, &chip, policy, gen);
    if (err)
        device_record_abort(record);
    else
        *ret = record;
    return err;
}

void device_record_begin(struct device_record *record, uint32_t context, const char *comm,
                         uint32_t pid)
{
    record->open = !record->over;
    record->full = record->failed = false;
    record->context = context;
    record->pid = pid;
    snprintf(record->comm, sizeof(record->comm), "%s", comm ? comm : "");
    record->pieces = record->streams = record->touches = record->sorted = 0;
    cps_buf_clear(&record->bytes);
}

void device_record_memory(struct device_record *record, uint64_t iova, const void *data,
                          uint64_t size)
{
    bool fits = size <= DEVICE_RECORD_LIMIT - record->bytes.size;
    record->full |= !fits;
    if (!record->open || !size || !fits)
        return;
    if (!CPS_LIST_ROOM(record->piece, record->pieces)) {
        record->failed = true;
        return;
    }
    record->piece[record->pieces++] = (struct piece){iova, size, record->bytes.size};
    cps_buf_add(&record->bytes, data, (size_t)size);
}

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t one = *(const uint64_t *)a;
    const uint64_t other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

static void sort_touched(struct device_record *record)
{
    uint64_t *page = record->touched;
    size_t count = 0;
    if (record->touches)
        qsort(page, record->touches, sizeof(*page), compare_numbers);
    for (size_t i = 0; i < record->touches; i++) {
        if (!count || page[count - 1] != page[i])
            page[count++] = page[i];
    }
    record->touches = record->sorted = count;
}

void device_record_touched(struct device_record *record, uint64_t iova)
{
    if (!record->open)
        return;
    /* A submission that waits touches its pages again and again. */
    if (record->touches >= 2 * record->sorted + 1024)
        sort_touched(record);
    if (!CPS_LIST_ROOM(record->touched, record->touches))
        record->failed = true;
    else
        record->touched[record->touches++] = iova / CPS_HOST_PAGE * CPS_HOST_PAGE;
}

void device_record_stream(struct device_record *record, uint64_t iova, uint32_t dwords)
{
    if (!record->open)
        return;
    if (!CPS_LIST_ROOM(record->stream, record->streams))
        record->failed = true;
    else
        record->stream[record->streams++] = (struct stream){iova, dwords};
}

static struct cps_err *put_begin(struct device_record *record, uint32_t seqno)
{
    CPS_BUF text = {0};
    cps_buf_printf(&text, CPS_RD_SUBMISSION, record->context, seqno);
    CPS_TRY(put_text(record, &text));
    cps_buf_clear(&text);
    /* As the kernel names a submission in its own captures. */
    cps_buf_printf(&text, "%s/%" PRIu32 ": fence=%" PRIu32, record->comm, record->pid, seqno);
    return put_text(record, &text);
}

static struct cps_err *put_data(struct device_record *record, uint64_t iova, const void *data,
                                uint64_t size)
{
    const struct cps_item item = {.kind = CPS_ITEM_DATA, .buffer = {iova, size, data}};
    return cps_rd_item(record->writer, &item);
}

/* Zeros from @p from to @p to, of one page. */
static struct cps_err *put_zeros(struct device_record *record, uint64_t from, uint64_t to)
{
    static const uint8_t zeros[CPS_HOST_PAGE];
    return from < to ? put_data(record, from, zeros, to - from) : NULL;
}

static int compare_pieces(const void *a, const void *b)
{
    const struct piece *one = a;
    const struct piece *other = b;
    return (one->iova > other->iova) - (one->iova < other->iova);
}

/* The end of a piece that begins in the page, or before it. */
static uint64_t end_of(const struct piece *piece)
{
    return piece->iova + piece->size;
}

/* What was touched and is in no piece. */
static struct cps_err *put_holes(struct device_record *record)
{
    const struct piece *piece = record->piece;
    size_t next = 0; /* the first piece that does not end before the page */
    for (size_t i = 0; i < record->touches; i++) {
        uint64_t at = record->touched[i];
        const uint64_t end = at + CPS_HOST_PAGE;
        while (next < record->pieces && end_of(&piece[next]) <= at)
            next++;
        for (size_t j = next; j < record->pieces && piece[j].iova < end && at < end; j++) {
            CPS_TRY(put_zeros(record, at, piece[j].iova));
            at = at < end_of(&piece[j]) ? end_of(&piece[j]) : at;
        }
        CPS_TRY(put_zeros(record, at, end));
    }
    return NULL;
}

static struct cps_err *put_memory(struct device_record *record)
{
    if (record->pieces)
        qsort(record->piece, record->pieces, sizeof(*record->piece), compare_pieces);
    for (size_t i = 0; i < record->pieces; i++) {
        const struct piece *piece = &record->piece[i];
        const struct cps_item item = {.kind = CPS_ITEM_BUFFER,
                                      .buffer = {.iova = piece->iova, .size = piece->size}};
        CPS_TRY(cps_rd_item(record->writer, &item));
        CPS_TRY(put_data(record, piece->iova, record->bytes.data + piece->at, piece->size));
    }
    sort_touched(record);
    return put_holes(record);
}

static struct cps_err *put_submission(struct device_record *record, uint32_t seqno)
{
    CPS_TRY(put_begin(record, seqno));
    CPS_TRY(put_memory(record));
    for (size_t i = 0; i < record->streams; i++) {
        const struct cps_item item = {
            .kind = CPS_ITEM_SUBMIT,
            .stream = {.iova = record->stream[i].iova, .dwords = record->stream[i].dwords}};
        CPS_TRY(cps_rd_item(record->writer, &item));
    }
    return NULL;
}

struct cps_err *device_record_end(struct device_record *record, uint32_t seqno)
{
    if (!record->open)
        return NULL;
    record->open = false;
    record->over = true;
    if (record->full)
        return cps_err_new(CPS_ERR_INPUT,
                           "the recording ends before submission %" PRIu32
                           ": it has more than %" PRIu64 " MiB of memory",
                           seqno, DEVICE_RECORD_LIMIT >> 20);
    if (record->failed || record->bytes.failed)
        return cps_err_nomem();
    CPS_TRY(put_submission(record, seqno));
    record->over = false;
    return NULL;
}

static void release(struct device_record *record)
{
    cps_buf_deinit(&record->bytes);
    free(record->piece);
    free(record->stream);
    free(record->touched);
    free(record);
}

struct cps_err *device_record_close(struct device_record *record)
{
    if (!record)
        return NULL;
    struct cps_err *err = cps_rd_close(record->writer);
    if (err)
        cps_outfile_abort(record->out);
    else
        err = cps_outfile_commit(record->out);
    release(record);
    return err;
}

void device_record_abort(struct device_record *record)
{
    if (!record)
        return;
    cps_err_free(cps_rd_close(record->writer));
    cps_outfile_abort(record->out);
    release(record);
}
