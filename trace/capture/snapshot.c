/* SPDX-License-Identifier: MIT
 * Reads snapshots of the vendor's kernel (KGSL): a header, then sections of magic, type, size and
 * payload. */
#include "trace/capture/snapshot.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/le.h"

static const struct section {
    uint32_t id;
    const char *name;
    struct cps_err *(*read)(struct cps_snapshot *s);
} sections[] = {
#define SECTION(id, name, read) {id, #name, cps_snapshot_##read##_},
#define PASSED(id, name)        {id, #name, NULL},
#include "trace/capture/snapshot.def"
};

struct cps_err *cps_snapshot_give_(struct cps_snapshot *s, struct cps_item *item)
{
    item->offset = s->offset;
    return s->sink->item(s->sink, item);
}

struct cps_err *cps_snapshot_note_(struct cps_snapshot *s, const char *text)
{
    struct cps_item item = {.kind = CPS_ITEM_NOTE, .text = {text, strlen(text), false}};
    return cps_snapshot_give_(s, &item);
}

struct cps_err *cps_snapshot_bad_(const struct cps_snapshot *s, const char *format, ...)
{
    char text[160];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    return cps_err_input(cps_stream_name(s->stream), s->offset, "section %s of %u bytes%s",
                         s->label, s->size, text);
}

static struct cps_err *truncated(const struct cps_snapshot *s)
{
    return cps_snapshot_bad_(s, " is cut short at 0x%llx, expected all of it",
                             (unsigned long long)cps_stream_offset(s->stream));
}

struct cps_err *cps_snapshot_take_(struct cps_snapshot *s, void *to, size_t size)
{
    size_t got = 0;
    if (size > s->left)
        return cps_snapshot_bad_(s, ", expected at least %llu",
                                 (unsigned long long)(s->size - s->left) + size);
    CPS_TRY(cps_stream_read(s->stream, to, size, &got));
    s->left -= (uint32_t)got;
    return got == size ? NULL : truncated(s);
}

struct cps_err *cps_snapshot_pass_(struct cps_snapshot *s)
{
    uint64_t passed = 0;
    CPS_TRY(cps_stream_skip(s->stream, s->left, &passed));
    bool all = passed == s->left;
    s->left = 0;
    return all ? NULL : truncated(s);
}

struct cps_err *cps_snapshot_room_(const struct cps_snapshot *s, uint64_t count, unsigned each)
{
    if (count <= s->left / each)
        return NULL;
    return cps_snapshot_bad_(s, ", which has room for %u entries of %u bytes, states %llu",
                             s->left / each, each, (unsigned long long)count);
}

/* Behind the end nothing is read. */
struct cps_err *cps_snapshot_end_(struct cps_snapshot *s)
{
    s->done = true;
    return cps_snapshot_pass_(s);
}

static const struct section *find_section(uint32_t id)
{
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        if (sections[i].id == id)
            return &sections[i];
    }
    return NULL;
}

static struct cps_err *read_payload(struct cps_snapshot *s, const struct section *kind)
{
    if (kind && kind->read) {
        CPS_TRY(kind->read(s));
        if (s->left)
            CPS_TRY(cps_snapshot_note_(
                s, "warning: more data than stated, or than is kept, the rest is dropped"));
    }
    if (!kind && !s->unknown) {
        s->unknown = true;
        CPS_TRY(cps_snapshot_note_(s, "sections of unknown types are passed over"));
    }
    return cps_snapshot_pass_(s);
}

static struct cps_err *read_section(struct cps_snapshot *s, const uint8_t header[8])
{
    uint32_t word = cps_le32(header);
    const struct section *kind = find_section(word >> 16);
    struct cps_item item = {.kind = CPS_ITEM_SECTION};
    if ((word & 0xffff) != CPS_SNAPSHOT_SECTION)
        return cps_err_input(cps_stream_name(s->stream), s->offset,
                             "section with magic 0x%04x, expected 0x%04x", word & 0xffff,
                             CPS_SNAPSHOT_SECTION);
    s->id = word >> 16;
    s->label = kind ? kind->name : "of unknown type";
    s->size = cps_le32(header + 4);
    s->number++;
    if (s->size < 8)
        return cps_snapshot_bad_(s, ", expected at least 8");
    s->left = s->size - 8;
    item.section.name = kind ? kind->name : NULL;
    item.section.type = s->id;
    item.section.size = s->left;
    CPS_TRY(cps_snapshot_give_(s, &item));
    return read_payload(s, kind);
}

/* What was cut out of memory may lack the last section. */
static struct cps_err *read_sections(struct cps_snapshot *s)
{
    while (!s->done) {
        uint8_t header[8];
        size_t got = 0;
        s->offset = cps_stream_offset(s->stream);
        CPS_TRY(cps_stream_read(s->stream, header, sizeof(header), &got));
        if (!got)
            return cps_snapshot_note_(s, "warning: the snapshot ends without a section END");
        if (got < sizeof(header))
            return cps_err_input(cps_stream_name(s->stream), s->offset,
                                 "section header of %zu bytes is cut short, expected 8", got);
        CPS_TRY(read_section(s, header));
    }
    return NULL;
}

/* Bits 31:16 of the GPU's id are 3 for 3D, and all are set where the chip id alone counts. */
static struct cps_err *read_header(struct cps_snapshot *s)
{
    uint8_t header[12];
    size_t got = 0;
    CPS_TRY(cps_stream_read(s->stream, header, sizeof(header), &got));
    if (got < sizeof(header))
        return cps_err_input(cps_stream_name(s->stream), 0,
                             "snapshot header of %zu bytes is cut short, expected 12", got);
    uint32_t magic = cps_le32(header);
    uint32_t gpu = cps_le32(header + 4);
    if (magic != CPS_SNAPSHOT_MAGIC && magic != CPS_SNAPSHOT_MAGIC + 1)
        return cps_err_input(cps_stream_name(s->stream), 0,
                             "snapshot of version %u, expected 2 or 3", magic & 0xffff);
    if (magic != CPS_SNAPSHOT_MAGIC)
        CPS_TRY(cps_snapshot_note_(
            s, "a header of version 3, which no source describes, is read as one of version 2"));
    struct cps_item item = {.kind = CPS_ITEM_CHIP};
    item.chip.gpu_id = gpu >> 16 == 3 ? gpu & 0xffff : 0;
    item.chip.chip_id = cps_le32(header + 8);
    return item.chip.gpu_id || item.chip.chip_id ? cps_snapshot_give_(s, &item) : NULL;
}

struct cps_err *cps_snapshot_read_(struct cps_stream *stream,
                                   const struct cps_capture_limits *limits,
                                   struct cps_item_sink *sink)
{
    struct cps_snapshot *s = calloc(1, sizeof(*s));
    if (!s)
        return cps_err_nomem();
    s->stream = stream;
    s->limits = limits;
    s->sink = sink;
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
