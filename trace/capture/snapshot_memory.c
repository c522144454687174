/* SPDX-License-Identifier: MIT
 * Rings, buffers and texts of a KGSL snapshot. All structures are packed. */
#include <stdio.h>
#include <string.h>

#include "isa/base/buf.h"
#include "isa/base/le.h"
#include "trace/capture/snapshot.h"

static uint64_t le64(const uint8_t *bytes)
{
    return (uint64_t)cps_le32(bytes + 4) << 32 | cps_le32(bytes);
}

/* With 63 bits no range can wrap. */
static struct cps_err *check_range(const struct cps_snapshot *s, uint64_t iova, uint64_t size)
{
    if (iova <= INT64_MAX && size <= INT64_MAX - iova)
        return NULL;
    return cps_snapshot_bad_(s, " names 0x%llx+0x%llx, expected a range of 63 bits",
                             (unsigned long long)iova, (unsigned long long)size);
}

static struct cps_err *read_contents(struct cps_snapshot *s, uint64_t iova, uint64_t size)
{
    uint64_t room = s->limits->total_bytes - s->total;
    if (size > s->limits->buffer_bytes || size > room)
        return cps_snapshot_bad_(s, ": contents of 0x%llx, expected at most 0x%llx, 0x%llx in all",
                                 (unsigned long long)size,
                                 (unsigned long long)s->limits->buffer_bytes,
                                 (unsigned long long)s->limits->total_bytes);
    s->total += size;
    for (uint64_t done = 0; done < size;) {
        size_t piece = size - done < sizeof(s->bytes) ? (size_t)(size - done) : sizeof(s->bytes);
        CPS_TRY(cps_snapshot_take_(s, s->bytes, piece));
        struct cps_item item = {.kind = CPS_ITEM_DATA,
                                .buffer = {.iova = iova + done, .size = piece, .data = s->bytes}};
        CPS_TRY(cps_snapshot_give_(s, &item));
        done += piece;
    }
    return NULL;
}

/* start, end, size, wptr, rptr, count (dwords); newest time stamp, the one that has retired;
 * address (64 bits), id. `count` dwords from `start` on follow. */
struct cps_err *cps_snapshot_ring_(struct cps_snapshot *s)
{
    uint8_t head[44];
    CPS_TRY(cps_snapshot_take_(s, head, sizeof(head)));
    uint32_t start = cps_le32(head);
    uint32_t dwords = cps_le32(head + 8);
    uint32_t count = cps_le32(head + 20);
    struct cps_item item = {.kind = CPS_ITEM_RING};
    item.ring.wptr = cps_le32(head + 12);
    item.ring.rptr = cps_le32(head + 16);
    item.ring.last_fence = cps_le32(head + 24);
    item.ring.retired_fence = cps_le32(head + 28);
    item.ring.iova = le64(head + 32);
    item.ring.id = cps_le32(head + 40);
    item.ring.size = 4 * (uint64_t)dwords;
    CPS_TRY(check_range(s, item.ring.iova, item.ring.size));
    CPS_TRY(cps_snapshot_room_(s, count, 4));
    if (count && (start > dwords || count > dwords - start))
        return cps_snapshot_bad_(s, " holds %u dwords from %u on, expected them in a ring of %u",
                                 count, start, dwords);
    CPS_TRY(cps_snapshot_give_(s, &item));
    return read_contents(s, item.ring.iova + 4 * (uint64_t)start, 4 * (uint64_t)count);
}

/* Address, page table, size in dwords (64 bits each), contents. Of a size that is no multiple of 4
 * the kernel states the whole dwords. */
static struct cps_err *read_object(struct cps_snapshot *s)
{
    uint8_t head[24];
    CPS_TRY(cps_snapshot_take_(s, head, sizeof(head)));
    uint64_t dwords = le64(head + 16);
    struct cps_item item = {.kind = CPS_ITEM_BUFFER};
    CPS_TRY(cps_snapshot_room_(s, dwords, 4));
    item.buffer.iova = le64(head);
    item.buffer.size = s->left / 4 == dwords ? s->left : 4 * dwords;
    CPS_TRY(check_range(s, item.buffer.iova, item.buffer.size));
    CPS_TRY(cps_snapshot_give_(s, &item));
    return read_contents(s, item.buffer.iova, item.buffer.size);
}

struct cps_err *cps_snapshot_ib_(struct cps_snapshot *s)
{
    return read_object(s);
}

/* What kind of buffer it is stands in front of the rest. */
struct cps_err *cps_snapshot_object_(struct cps_snapshot *s)
{
    uint8_t type[4];
    CPS_TRY(cps_snapshot_take_(s, type, sizeof(type)));
    return read_object(s);
}

/* Count, page table (64 bits); address, size (64 bits each) and kind of each buffer. */
struct cps_err *cps_snapshot_memory_(struct cps_snapshot *s)
{
    uint8_t head[12];
    CPS_TRY(cps_snapshot_take_(s, head, sizeof(head)));
    uint32_t count = cps_le32(head);
    CPS_TRY(cps_snapshot_room_(s, count, 20));
    for (uint32_t i = 0; i < count; i++) {
        uint8_t entry[20];
        struct cps_item item = {.kind = CPS_ITEM_BUFFER};
        CPS_TRY(cps_snapshot_take_(s, entry, sizeof(entry)));
        item.buffer.iova = le64(entry);
        item.buffer.size = le64(entry + 8);
        CPS_TRY(check_range(s, item.buffer.iova, item.buffer.size));
        CPS_TRY(cps_snapshot_give_(s, &item));
    }
    return NULL;
}

/* "key: value", unless the value is empty. */
static struct cps_err *give_line(struct cps_snapshot *s, const char *key, const char *value,
                                 size_t room)
{
    CPS_BUF line = {0};
    size_t length = strnlen(value, room);
    if (!length)
        return NULL;
    cps_buf_printf(&line, "%s: ", key);
    cps_buf_add(&line, value, length);
    if (line.failed)
        return cps_err_nomem();
    struct cps_item item = {.kind = CPS_ITEM_TEXT, .text = {line.data, line.size, false}};
    return cps_snapshot_give_(s, &item);
}

static struct cps_err *give_time(struct cps_snapshot *s, uint32_t seconds)
{
    char text[12];
    snprintf(text, sizeof(text), "%u", seconds);
    return seconds ? give_line(s, "time", text, sizeof(text)) : NULL;
}

/* Where the three forms, told apart by their first word, have what is of use; contexts and their
 * time stamps follow. */
struct cps_err *cps_snapshot_os_(struct cps_snapshot *s)
{
    static const struct {
        uint32_t id;
        size_t seconds, release, comm, size;
    } forms[] = {{0x0001, 8, 48, 112, 128}, {0x0202, 4, 48, 112, 128}, {0x0203, 4, 64, 128, 160}};
    uint8_t head[160];
    CPS_TRY(cps_snapshot_take_(s, head, 4));
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (forms[i].id != cps_le32(head))
            continue;
        CPS_TRY(cps_snapshot_take_(s, head + 4, forms[i].size - 4));
        if (!s->texts) {
            CPS_TRY(give_line(s, "kernel", (const char *)head + forms[i].release, 32));
            CPS_TRY(give_time(s, cps_le32(head + forms[i].seconds)));
            CPS_TRY(give_line(s, "comm", (const char *)head + forms[i].comm, 16));
        }
        return cps_snapshot_pass_(s);
    }
    CPS_TRY(cps_snapshot_pass_(s));
    return cps_snapshot_note_(s, "an OS section of unknown form is passed over");
}
