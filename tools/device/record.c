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
#include "trace/event/event.h"

/* Memory of the submission, at @p at of the bytes. */
struct piece {
    uint64_t iova, size;
    size_t at;
};
struct stream {
    uint64_t iova;
    uint32_t dwords;
};
/* A page that the firmware touched. */
struct touch {
    uint64_t iova;
    bool seen;                       /* its contents are known */
    uint8_t at_first[CPS_HOST_PAGE]; /* what the firmware got to see */
    uint8_t now[CPS_HOST_PAGE];
};
/* A page that changed while the engine waited in @p stream streams, before resumption @p round. */
struct change {
    size_t streams, round;
    uint64_t iova;
    uint8_t data[CPS_HOST_PAGE];
};

struct device_record {
    struct cps_outfile *out;
    struct cps_rd_writer *writer;
    bool open;   /* a submission has begun */
    bool full;   /* it has more memory than is allowed */
    bool failed; /* memory was short */
    bool over;   /* nothing more is recorded */
    uint32_t context;
    char comm[64];
    struct piece *piece;
    size_t pieces;
    struct stream *stream;
    size_t streams;
    struct touch **touched;
    size_t touches;
    uint32_t *slot; /* 1 + index of a touch, by its page; open addressing */
    size_t slots;   /* a power of two */
    struct change **change;
    size_t changes;
    size_t round;  /* resumptions */
    unsigned hang; /* why the submission hung, CPS_REASON_*; 0: it did not */
    bool fenced;
    uint64_t ticks; /* that its last stream ran */
    struct cps_buf bytes;
};

static struct cps_err *put_text(struct device_record *record, const struct cps_buf *text)
{
    const struct cps_item item = {.kind = CPS_ITEM_TEXT,
                                  .text = {.bytes = cps_buf_text(text), .size = text->size}};
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

static void forget_submission(struct device_record *record)
{
    for (size_t i = 0; i < record->touches; i++)
        free(record->touched[i]);
    for (size_t i = 0; i < record->changes; i++)
        free(record->change[i]);
    record->pieces = record->streams = record->touches = record->changes = record->round = 0;
    record->hang = 0;
    if (record->slots)
        memset(record->slot, 0, record->slots * sizeof(*record->slot));
    cps_buf_clear(&record->bytes);
}

void device_record_begin(struct device_record *record, uint32_t context, const char *comm)
{
    record->open = !record->over;
    record->full = record->failed = false;
    record->context = context;
    snprintf(record->comm, sizeof(record->comm), "%s", comm ? comm : "");
    forget_submission(record);
}

/* Whether @p size bytes more are allowed. */
static bool has_room(struct device_record *record, uint64_t size)
{
    uint64_t used = record->bytes.size + record->touches * sizeof(struct touch) +
                    record->changes * sizeof(struct change);
    bool fits = used <= DEVICE_RECORD_LIMIT && size <= DEVICE_RECORD_LIMIT - used;
    record->full |= !fits;
    return fits;
}

void device_record_memory(struct device_record *record, uint64_t iova, const void *data,
                          uint64_t size)
{
    if (!record->open || !size || !has_room(record, size))
        return;
    if (!CPS_LIST_ROOM(record->piece, record->pieces)) {
        record->failed = true;
        return;
    }
    record->piece[record->pieces++] = (struct piece){iova, size, record->bytes.size};
    cps_buf_add(&record->bytes, data, (size_t)size);
}

/* ---- pages that the firmware touched ---- */

/* Where the index has the page, or would have it. */
static uint32_t *find_slot(struct device_record *record, uint64_t iova)
{
    const size_t mask = record->slots - 1;
    size_t at = (size_t)(iova / CPS_HOST_PAGE * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;
    while (record->slot[at] && record->touched[record->slot[at] - 1]->iova != iova)
        at = (at + 1) & mask;
    return &record->slot[at];
}

static bool grow_index(struct device_record *record)
{
    if (record->slots > 2 * record->touches)
        return true;
    size_t slots = record->slots ? 2 * record->slots : 1024;
    uint32_t *slot = calloc(slots, sizeof(*slot));
    if (!slot)
        return false;
    free(record->slot);
    record->slot = slot;
    record->slots = slots;
    for (size_t i = 0; i < record->touches; i++)
        *find_slot(record, record->touched[i]->iova) = (uint32_t)i + 1;
    return true;
}

/* The page of an address; NULL where it was never touched, @p make: where there is no room. */
static struct touch *find_touch(struct device_record *record, uint64_t iova, bool make)
{
    iova -= iova % CPS_HOST_PAGE;
    if (!record->open || !grow_index(record)) {
        record->failed |= record->open;
        return NULL;
    }
    uint32_t *slot = find_slot(record, iova);
    if (*slot)
        return record->touched[*slot - 1];
    if (!make || !has_room(record, sizeof(struct touch)))
        return NULL;
    struct touch *touch = calloc(1, sizeof(*touch));
    if (!touch || !CPS_LIST_ROOM(record->touched, record->touches)) {
        free(touch);
        record->failed = true;
        return NULL;
    }
    touch->iova = iova;
    record->touched[record->touches++] = touch;
    *slot = (uint32_t)record->touches;
    return touch;
}

static void add_change(struct device_record *record, const struct touch *touch)
{
    if (!has_room(record, sizeof(struct change)))
        return;
    struct change *change = malloc(sizeof(*change));
    if (!change || !CPS_LIST_ROOM(record->change, record->changes)) {
        free(change);
        record->failed = true;
        return;
    }
    change->streams = record->streams;
    change->round = record->round;
    change->iova = touch->iova;
    memcpy(change->data, touch->now, CPS_HOST_PAGE);
    record->change[record->changes++] = change;
}

void device_record_read(struct device_record *record, uint64_t iova, const void *page)
{
    struct touch *touch = find_touch(record, iova, true);
    if (!touch || (touch->seen && !memcmp(touch->now, page, CPS_HOST_PAGE)))
        return;
    memcpy(touch->now, page, CPS_HOST_PAGE);
    if (!touch->seen)
        memcpy(touch->at_first, page, CPS_HOST_PAGE);
    else if (record->round)
        add_change(record, touch);
    touch->seen = true;
}

void device_record_wrote(struct device_record *record, uint64_t iova, const void *data,
                         uint32_t size)
{
    struct touch *touch = find_touch(record, iova, false);
    uint64_t at = iova % CPS_HOST_PAGE;
    if (touch)
        memcpy(touch->now + at, data, size < CPS_HOST_PAGE - at ? size : CPS_HOST_PAGE - at);
}

void device_record_resume(struct device_record *record)
{
    record->round++;
}

void device_record_hang(struct device_record *record, unsigned reason, uint64_t ticks, bool fence)
{
    record->ticks = ticks;
    record->hang = reason;
    record->fenced = fence;
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
    /* As the kernel names a submission in its own captures, where the context is the process: two
     * runs have the same bytes. */
    cps_buf_printf(&text, "%s/%" PRIu32 ": fence=%" PRIu32, record->comm, record->context, seqno);
    return put_text(record, &text);
}

static struct cps_err *put_data(struct device_record *record, uint64_t iova, const void *data,
                                uint64_t size)
{
    const struct cps_item item = {.kind = CPS_ITEM_DATA,
                                  .buffer = {.iova = iova, .size = size, .data = data}};
    return cps_rd_item(record->writer, &item);
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

static int compare_touches(const void *a, const void *b)
{
    const struct touch *one = *(const struct touch *const *)a;
    const struct touch *other = *(const struct touch *const *)b;
    return (one->iova > other->iova) - (one->iova < other->iova);
}

/* From @p from to @p to, of one page. */
static struct cps_err *put_part(struct device_record *record, const struct touch *touch,
                                uint64_t from, uint64_t to)
{
    return from < to ? put_data(record, from, touch->at_first + (from - touch->iova), to - from)
                     : NULL;
}

/* What was touched and is in no piece. */
static struct cps_err *put_holes(struct device_record *record)
{
    const struct piece *piece = record->piece;
    size_t next = 0; /* the first piece that does not end before the page */
    for (size_t i = 0; i < record->touches; i++) {
        const struct touch *touch = record->touched[i];
        const uint64_t end = touch->iova + CPS_HOST_PAGE;
        uint64_t at = touch->iova;
        while (next < record->pieces && end_of(&piece[next]) <= at)
            next++;
        for (size_t j = next; j < record->pieces && piece[j].iova < end && at < end; j++) {
            CPS_TRY(put_part(record, touch, at, piece[j].iova));
            at = at < end_of(&piece[j]) ? end_of(&piece[j]) : at;
        }
        CPS_TRY(put_part(record, touch, at, end));
    }
    return NULL;
}

/* What the firmware got to see of a piece is what counts: a client may write at any time. */
static void update_piece(struct device_record *record, const struct piece *piece)
{
    uint64_t at = piece->iova - piece->iova % CPS_HOST_PAGE;
    for (; at < end_of(piece); at += CPS_HOST_PAGE) {
        const struct touch *touch = record->slots ? find_touch(record, at, false) : NULL;
        uint64_t from = at > piece->iova ? at : piece->iova;
        uint64_t to = at + CPS_HOST_PAGE < end_of(piece) ? at + CPS_HOST_PAGE : end_of(piece);
        if (touch && touch->seen)
            memcpy(record->bytes.data + piece->at + (from - piece->iova),
                   touch->at_first + (from - at), (size_t)(to - from));
    }
}

static struct cps_err *put_memory(struct device_record *record)
{
    if (record->pieces)
        qsort(record->piece, record->pieces, sizeof(*record->piece), compare_pieces);
    for (size_t i = 0; i < record->pieces; i++) {
        const struct piece *piece = &record->piece[i];
        update_piece(record, piece);
        const struct cps_item item = {.kind = CPS_ITEM_BUFFER,
                                      .buffer = {.iova = piece->iova, .size = piece->size}};
        CPS_TRY(cps_rd_item(record->writer, &item));
        CPS_TRY(put_data(record, piece->iova, record->bytes.data + piece->at, piece->size));
    }
    if (record->touches)
        qsort(record->touched, record->touches, sizeof(*record->touched), compare_touches);
    return put_holes(record);
}

/* The changes after @p streams streams, each resumption behind a text of its own. */
static struct cps_err *put_changes(struct device_record *record, size_t streams)
{
    const struct cps_item text = {.kind = CPS_ITEM_TEXT,
                                  .text = {.bytes = CPS_RD_RESUME, .size = strlen(CPS_RD_RESUME)}};
    size_t round = 0;
    for (size_t i = 0; i < record->changes; i++) {
        const struct change *change = record->change[i];
        if (change->streams != streams)
            continue;
        if (change->round != round)
            CPS_TRY(cps_rd_item(record->writer, &text));
        round = change->round;
        CPS_TRY(put_data(record, change->iova, change->data, CPS_HOST_PAGE));
    }
    return NULL;
}

static struct cps_err *put_ticks(struct device_record *record)
{
    CPS_BUF text = {0};
    cps_buf_printf(&text, CPS_RD_TICKS "%" PRIu64, record->ticks);
    return put_text(record, &text);
}

static struct cps_err *put_submission(struct device_record *record, uint32_t seqno)
{
    CPS_TRY(put_begin(record, seqno));
    /* Without a stream other readers take the memory for that of the next submission. */
    if (record->streams)
        CPS_TRY(put_memory(record));
    for (size_t i = 0; i < record->streams; i++) {
        const struct cps_item item = {
            .kind = CPS_ITEM_SUBMIT,
            .stream = {.iova = record->stream[i].iova, .dwords = record->stream[i].dwords}};
        if (record->hang == CPS_REASON_LIMIT && i + 1 == record->streams)
            CPS_TRY(put_ticks(record));
        CPS_TRY(cps_rd_item(record->writer, &item));
        CPS_TRY(put_changes(record, i + 1));
    }
    CPS_BUF text = {0};
    cps_buf_printf(&text, CPS_RD_RECOVER, record->hang, record->fenced);
    return record->hang ? put_text(record, &text) : NULL;
}

static struct cps_err *end_submission(struct device_record *record, uint32_t seqno)
{
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

struct cps_err *device_record_end(struct device_record *record, uint32_t seqno)
{
    if (!record->open)
        return NULL;
    struct cps_err *err = end_submission(record, seqno);
    record->open = false;
    forget_submission(record);
    return err;
}

static void release(struct device_record *record)
{
    forget_submission(record);
    cps_buf_deinit(&record->bytes);
    free(record->piece);
    free(record->stream);
    free(record->touched);
    free(record->slot);
    free(record->change);
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
