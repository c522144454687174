/* SPDX-License-Identifier: MIT
 * Reads snapshots of the vendor's kernel (KGSL): a header, then sections of magic, type, size and
 * payload. snapshot.def says what the numbers mean. All structures are packed. */
#include "trace/capture/snapshot.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/buf.h"
#include "isa/base/le.h"
#include "isa/base/list.h"
#include "trace/capture/formats.h"

#define TEXT_BYTES 32768u

struct snapshot {
    struct cps_reading r; /* first */
    uint32_t number;      /* which section of the file it is */
    struct {
        uint32_t number; /* of the section that it is about */
        uint32_t words[2];
        char name[CPS_SNAPSHOT_NAME];
    } own;           /* what the last section OWN_NAME said */
    bool texts;      /* there were own texts, which say more than section OS */
    bool unknown;    /* there was a section of unknown type */
    bool done;       /* the last section was read */
    uint32_t *block; /* words of a block */
    size_t block_capacity;
};

/* Readers of the payload of a section. */
#define SECTION(id, name, read) static struct cps_err *read_##read(struct snapshot *s);
#include "trace/capture/snapshot.def"

static const struct section {
    uint32_t id;
    const char *name;
    struct cps_err *(*read)(struct snapshot *s);
} sections[] = {
#define SECTION(id, name, read) {id, #name, read_##read},
#define PASSED(id, name)        {id, #name, NULL},
#include "trace/capture/snapshot.def"
};

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

/* ---- sections ---- */

CPS_PRINTF(2, 3)
static struct cps_err *bad_section(const struct snapshot *s, const char *format, ...)
{
    char text[160];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    return cps_err_input(cps_stream_name(s->r.stream), s->r.offset, "section %s of %u bytes%s",
                         s->r.label, s->r.size, text);
}

static struct cps_err *take_bytes(struct snapshot *s, void *to, size_t size)
{
    size_t got = 0;
    if (size > s->r.left)
        return bad_section(s, ", expected at least %llu",
                           (unsigned long long)(s->r.size - s->r.left) + size);
    CPS_TRY(cps_stream_read(s->r.stream, to, size, &got));
    s->r.left -= (uint32_t)got;
    return got == size ? NULL : cps_reading_truncated_(&s->r);
}

static struct cps_err *check_room(const struct snapshot *s, uint64_t count, unsigned each)
{
    if (count <= s->r.left / each)
        return NULL;
    return bad_section(s, ", which has room for %u entries of %u bytes, states %llu",
                       s->r.left / each, each, (unsigned long long)count);
}

/* Behind the end nothing is read. */
static struct cps_err *read_end(struct snapshot *s)
{
    s->done = true;
    return cps_reading_pass_(&s->r);
}

static struct cps_err *take_word(struct snapshot *s, uint32_t *ret)
{
    uint8_t bytes[4];
    CPS_TRY(take_bytes(s, bytes, sizeof(bytes)));
    *ret = cps_le32(bytes);
    return NULL;
}

/* ---- rings and buffers ---- */

/* With 63 bits no range can wrap. */
static struct cps_err *check_range(const struct snapshot *s, uint64_t iova, uint64_t size)
{
    if (iova <= INT64_MAX && size <= INT64_MAX - iova)
        return NULL;
    return bad_section(s, " names 0x%llx+0x%llx, expected a range of 63 bits",
                       (unsigned long long)iova, (unsigned long long)size);
}

static struct cps_err *read_contents(struct snapshot *s, uint64_t iova, uint64_t size)
{
    const struct cps_capture_limits *limits = s->r.limits;
    if (size > limits->buffer_bytes || size > limits->total_bytes - s->r.total)
        return bad_section(s, ": contents of 0x%llx, expected at most 0x%llx, 0x%llx in all",
                           (unsigned long long)size, (unsigned long long)limits->buffer_bytes,
                           (unsigned long long)limits->total_bytes);
    s->r.total += size;
    return cps_reading_contents_(&s->r, iova, size);
}

/* start, end, size, wptr, rptr, count (dwords); newest time stamp, the one that has retired;
 * address (64 bits), id. `count` dwords from `start` on follow. */
static struct cps_err *read_ring(struct snapshot *s)
{
    uint8_t head[44];
    CPS_TRY(take_bytes(s, head, sizeof(head)));
    uint32_t start = cps_le32(head);
    uint32_t dwords = cps_le32(head + 8);
    uint32_t count = cps_le32(head + 20);
    struct cps_item item = {.kind = CPS_ITEM_RING};
    item.ring.wptr = cps_le32(head + 12);
    item.ring.rptr = cps_le32(head + 16);
    item.ring.last_fence = cps_le32(head + 24);
    item.ring.retired_fence = cps_le32(head + 28);
    item.ring.iova = cps_le64(head + 32);
    item.ring.id = cps_le32(head + 40);
    item.ring.size = 4 * (uint64_t)dwords;
    CPS_TRY(check_range(s, item.ring.iova, item.ring.size));
    CPS_TRY(check_room(s, count, 4));
    if (count && (start > dwords || count > dwords - start))
        return bad_section(s, " holds %u dwords from %u on, expected them in a ring of %u", count,
                           start, dwords);
    CPS_TRY(cps_reading_give_(&s->r, &item));
    return read_contents(s, item.ring.iova + 4 * (uint64_t)start, 4 * (uint64_t)count);
}

/* Address, page table, size in dwords (64 bits each), contents. Of a size that is no multiple of 4
 * the kernel states the whole dwords. */
static struct cps_err *read_ib(struct snapshot *s)
{
    uint8_t head[24];
    CPS_TRY(take_bytes(s, head, sizeof(head)));
    uint64_t dwords = cps_le64(head + 16);
    struct cps_item item = {.kind = CPS_ITEM_BUFFER};
    CPS_TRY(check_room(s, dwords, 4));
    item.buffer.iova = cps_le64(head);
    item.buffer.size = s->r.left / 4 == dwords ? s->r.left : 4 * dwords;
    CPS_TRY(check_range(s, item.buffer.iova, item.buffer.size));
    CPS_TRY(cps_reading_give_(&s->r, &item));
    return read_contents(s, item.buffer.iova, item.buffer.size);
}

/* What kind of buffer it is stands in front of the rest. */
static struct cps_err *read_object(struct snapshot *s)
{
    uint8_t type[4];
    CPS_TRY(take_bytes(s, type, sizeof(type)));
    return read_ib(s);
}

/* Count, page table (64 bits); address, size (64 bits each) and kind of each buffer. */
static struct cps_err *read_memory(struct snapshot *s)
{
    uint8_t head[12];
    CPS_TRY(take_bytes(s, head, sizeof(head)));
    uint32_t count = cps_le32(head);
    CPS_TRY(check_room(s, count, 20));
    for (uint32_t i = 0; i < count; i++) {
        uint8_t entry[20];
        struct cps_item item = {.kind = CPS_ITEM_BUFFER};
        CPS_TRY(take_bytes(s, entry, sizeof(entry)));
        item.buffer.iova = cps_le64(entry);
        item.buffer.size = cps_le64(entry + 8);
        CPS_TRY(check_range(s, item.buffer.iova, item.buffer.size));
        CPS_TRY(cps_reading_give_(&s->r, &item));
    }
    return NULL;
}

/* ---- registers ---- */

/* Values of @p count registers that follow each other. */
static struct cps_err *read_values(struct snapshot *s, struct cps_item *item, uint64_t count)
{
    CPS_TRY(check_room(s, count, 4));
    for (uint64_t i = 0; i < count; i++) {
        CPS_TRY(take_word(s, &item->reg.value));
        CPS_TRY(cps_reading_give_(&s->r, item));
        item->reg.offset++;
    }
    return NULL;
}

static struct cps_err *read_pairs(struct snapshot *s, const char *section, uint32_t count)
{
    struct cps_item item = {.kind = CPS_ITEM_REGISTER, .reg = {.section = section, .context = -1}};
    CPS_TRY(check_room(s, count, 8));
    for (uint32_t i = 0; i < count; i++) {
        CPS_TRY(take_word(s, &item.reg.offset));
        CPS_TRY(read_values(s, &item, 1));
    }
    return NULL;
}

static struct cps_err *read_regs(struct snapshot *s)
{
    uint32_t count = 0;
    CPS_TRY(take_word(s, &count));
    return read_pairs(s, "registers", count);
}

/* A register with bit 31 and its value, or the first one, how many, and their values. */
static struct cps_err *read_runs(struct snapshot *s)
{
    struct cps_item item = {.kind = CPS_ITEM_REGISTER,
                            .reg = {.section = "registers", .context = -1}};
    while (s->r.left) {
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
static struct cps_err *read_ranges(struct snapshot *s, struct cps_item *item)
{
    while (s->r.left) {
        uint32_t first = 0;
        CPS_TRY(take_word(s, &first));
        uint32_t last = first;
        item->reg.offset = first & ~CPS_SNAPSHOT_SINGLE;
        if (first & CPS_SNAPSHOT_SINGLE)
            CPS_TRY(take_word(s, &last));
        if (last < item->reg.offset)
            return bad_section(s, " names registers 0x%x to 0x%x, expected a range",
                               item->reg.offset, last);
        CPS_TRY(read_values(s, item, (uint64_t)last - item->reg.offset + 1));
    }
    return NULL;
}

/* Whether a section OWN_NAME stood in front of this one. */
static bool is_named(const struct snapshot *s)
{
    return s->own.number == s->number;
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
static struct cps_err *read_cluster(struct snapshot *s)
{
    static const size_t sizes[] = {0, 8, 16, 28};
    uint8_t head[28];
    char scratch[CPS_SNAPSHOT_NAME];
    unsigned version = s->r.type & 3;
    CPS_TRY(take_bytes(s, head, sizes[version]));
    uint32_t context = cps_le32(head);
    uint32_t cluster = cps_le32(head + 4);
    struct cps_item item = {.kind = CPS_ITEM_REGISTER,
                            .reg = {.section = cluster_name(version, cluster, scratch),
                                    .context = context > INT_MAX ? -1 : (int)context}};
    if (version == 3 && !cluster && !cps_le32(head + 8) && cps_le32(head + 16) + 1 <= 1) {
        item.reg.context = -1;
        item.reg.section = "registers";
    }
    if (is_named(s)) {
        item.reg.context = s->own.words[0] > INT_MAX ? -1 : (int)s->own.words[0];
        item.reg.section = s->own.name;
    }
    return read_ranges(s, &item);
}

/* ---- blocks ---- */

static struct cps_err *read_words(struct snapshot *s, size_t count)
{
    if (!CPS_LIST_RESERVE(s->block, s->block_capacity, count))
        return cps_err_nomem();
    for (size_t done = 0; done < count;) {
        size_t piece = count - done;
        piece = piece < TEXT_BYTES / 4 ? piece : TEXT_BYTES / 4;
        CPS_TRY(take_bytes(s, s->r.bytes, 4 * piece));
        for (size_t i = 0; i < piece; i++)
            s->block[done + i] = cps_le32(s->r.bytes + 4 * i);
        done += piece;
    }
    return NULL;
}

/* A section OWN_NAME says how many of the words are known, and how many the block has. */
static struct cps_err *give_block(struct snapshot *s, const char *name, uint32_t count)
{
    struct cps_item item = {.kind = CPS_ITEM_BLOCK};
    uint32_t kept = count < CPS_BLOCK_LIMIT ? count : CPS_BLOCK_LIMIT;
    bool named = is_named(s);
    CPS_TRY(read_words(s, kept));
    item.block.name = named ? s->own.name : name;
    item.block.count = named && s->own.words[0] < kept ? s->own.words[0] : kept;
    item.block.size = named ? s->own.words[1] : count;
    item.block.size = item.block.size < item.block.count ? item.block.count : item.block.size;
    item.block.words = item.block.count ? s->block : NULL;
    return cps_reading_give_(&s->r, &item);
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
static struct cps_err *read_indexed(struct snapshot *s)
{
    uint8_t head[24] = {0};
    char name[CPS_SNAPSHOT_NAME];
    CPS_TRY(take_bytes(s, head, s->r.type == CPS_SNAPSHOT_INDEXED_REGS ? 16 : 24));
    uint32_t count = cps_le32(head + 12);
    CPS_TRY(check_room(s, count, 4));
    if (cps_le32(head + 8)) {
        CPS_TRY(cps_reading_pass_(&s->r));
        return cps_reading_note_(&s->r, "warning: a block without its first words is passed over");
    }
    name_block(cps_le32(head), cps_le32(head + 16), name);
    return give_block(s, name, count);
}

/* ---- debug sections ---- */

static struct cps_err *read_text(struct snapshot *s, enum cps_item_kind kind)
{
    uint32_t size = 0;
    CPS_TRY(take_word(s, &size));
    if (size > TEXT_BYTES)
        return bad_section(s, " holds a text of %u bytes, expected at most %u", size, TEXT_BYTES);
    CPS_TRY(take_bytes(s, s->r.bytes, size));
    struct cps_item item = {.kind = kind, .text = {(const char *)s->r.bytes, size, false}};
    s->texts |= kind == CPS_ITEM_TEXT;
    CPS_TRY(cps_reading_give_(&s->r, &item));
    return cps_reading_pass_(&s->r);
}

/* Two words and a name for the section that follows. */
static struct cps_err *read_name(struct snapshot *s)
{
    uint32_t size = 0;
    CPS_TRY(take_word(s, &s->own.words[0]));
    CPS_TRY(take_word(s, &s->own.words[1]));
    CPS_TRY(take_word(s, &size));
    if (!size || size >= sizeof(s->own.name))
        return bad_section(s, " holds a name of %u bytes, expected 1 to %zu", size,
                           sizeof(s->own.name) - 1);
    CPS_TRY(take_bytes(s, s->own.name, size));
    s->own.name[size] = '\0';
    s->own.number = s->number + 1;
    if (strlen(s->own.name) != size)
        return bad_section(s, " holds a name with a NUL in it");
    return cps_reading_pass_(&s->r);
}

/* Type, size in dwords, words. */
static struct cps_err *read_debug(struct snapshot *s)
{
    uint32_t type = 0;
    uint32_t dwords = 0;
    CPS_TRY(take_word(s, &type));
    CPS_TRY(take_word(s, &dwords));
    CPS_TRY(check_room(s, dwords, 4));
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
    return cps_reading_pass_(&s->r);
}

/* ---- texts ---- */

/* "key: value", unless the value is empty. */
static struct cps_err *give_line(struct snapshot *s, const char *key, const char *value,
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
    return cps_reading_give_(&s->r, &item);
}

/* Where the three forms, told apart by their first word, have what is of use; contexts and their
 * time stamps follow. */
static struct cps_err *read_os(struct snapshot *s)
{
    static const struct {
        uint32_t id;
        size_t seconds, release, comm, size;
    } forms[] = {{0x0001, 8, 48, 112, 128}, {0x0202, 4, 48, 112, 128}, {0x0203, 4, 64, 128, 160}};
    uint8_t head[160];
    char time[12] = "";
    CPS_TRY(take_bytes(s, head, 4));
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (forms[i].id != cps_le32(head))
            continue;
        CPS_TRY(take_bytes(s, head + 4, forms[i].size - 4));
        if (!s->texts) {
            CPS_TRY(give_line(s, "kernel", (const char *)head + forms[i].release, 32));
            uint32_t seconds = cps_le32(head + forms[i].seconds);
            if (seconds)
                snprintf(time, sizeof(time), "%u", seconds);
            CPS_TRY(give_line(s, "time", time, sizeof(time)));
            CPS_TRY(give_line(s, "comm", (const char *)head + forms[i].comm, 16));
        }
        return cps_reading_pass_(&s->r);
    }
    CPS_TRY(cps_reading_pass_(&s->r));
    return cps_reading_note_(&s->r, "an OS section of unknown form is passed over");
}

/* ---- the file ---- */

static struct cps_err *read_payload(struct snapshot *s, const struct section *kind)
{
    if (kind && kind->read) {
        CPS_TRY(kind->read(s));
        if (s->r.left)
            CPS_TRY(cps_reading_note_(
                &s->r, "warning: more data than stated, or than fits; the rest is dropped"));
    }
    if (!kind && !s->unknown) {
        s->unknown = true;
        CPS_TRY(cps_reading_note_(&s->r, "sections of unknown types are passed over"));
    }
    return cps_reading_pass_(&s->r);
}

static struct cps_err *read_section(struct snapshot *s, const uint8_t header[8])
{
    uint32_t word = cps_le32(header);
    const struct section *kind = NULL;
    struct cps_item item = {.kind = CPS_ITEM_SECTION};
    if ((word & 0xffff) != CPS_SNAPSHOT_SECTION)
        return cps_err_input(cps_stream_name(s->r.stream), s->r.offset,
                             "section with magic 0x%04x, expected 0x%04x", word & 0xffff,
                             CPS_SNAPSHOT_SECTION);
    s->r.type = word >> 16;
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
        kind = sections[i].id == s->r.type ? &sections[i] : kind;
    s->r.label = kind ? kind->name : "of unknown type";
    s->r.size = cps_le32(header + 4);
    s->number++;
    if (s->r.size < 8)
        return bad_section(s, ", expected at least 8");
    s->r.left = s->r.size - 8;
    item.section.name = kind ? kind->name : NULL;
    item.section.type = s->r.type;
    item.section.size = s->r.left;
    CPS_TRY(cps_reading_give_(&s->r, &item));
    return read_payload(s, kind);
}

/* What was cut out of memory may lack the last section. */
static struct cps_err *read_sections(struct snapshot *s)
{
    while (!s->done) {
        uint8_t header[8];
        bool more = false;
        CPS_TRY(cps_reading_header_(&s->r, header, &more));
        if (!more)
            return cps_reading_note_(&s->r, "warning: the snapshot ends without a section END");
        CPS_TRY(read_section(s, header));
    }
    return NULL;
}

/* Bits 31:16 of the GPU's id are 3 for 3D, and all are set where the chip id alone counts. */
static struct cps_err *read_header(struct snapshot *s)
{
    uint8_t header[12];
    size_t got = 0;
    CPS_TRY(cps_stream_read(s->r.stream, header, sizeof(header), &got));
    if (got < sizeof(header))
        return cps_err_input(cps_stream_name(s->r.stream), 0,
                             "snapshot header of %zu bytes is cut short, expected 12", got);
    uint32_t magic = cps_le32(header);
    uint32_t gpu = cps_le32(header + 4);
    if (magic != CPS_SNAPSHOT_MAGIC && magic != CPS_SNAPSHOT_MAGIC + 1)
        return cps_err_input(cps_stream_name(s->r.stream), 0,
                             "snapshot of version %u, expected 2 or 3", magic & 0xffff);
    if (magic != CPS_SNAPSHOT_MAGIC)
        CPS_TRY(cps_reading_note_(
            &s->r,
            "a header of version 3, which no source describes, is read as one of version 2"));
    struct cps_item item = {.kind = CPS_ITEM_CHIP};
    item.chip.gpu_id = gpu >> 16 == 3 ? gpu & 0xffff : 0;
    item.chip.chip_id = cps_le32(header + 8);
    return item.chip.gpu_id || item.chip.chip_id ? cps_reading_give_(&s->r, &item) : NULL;
}

struct cps_err *cps_snapshot_read_(struct cps_stream *stream,
                                   const struct cps_capture_limits *limits,
                                   struct cps_item_sink *sink)
{
    struct snapshot *s = calloc(1, sizeof(*s));
    if (!s)
        return cps_err_nomem();
    s->r.stream = stream;
    s->r.limits = limits;
    s->r.sink = sink;
    struct cps_err *err = read_header(s);
    if (!err)
        err = read_sections(s);
    free(s->block);
    free(s);
    return err;
}

/* Every version is recognised, so that the reader can name the one that it does not know. */
bool cps_snapshot_recognise_(const uint8_t *data, size_t size)
{
    return size >= 4 && cps_le32(data) >> 16 == CPS_SNAPSHOT_MAGIC >> 16;
}
