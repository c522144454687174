/* SPDX-License-Identifier: MIT
 * Qualcomm's firmware images, as far as their headers go. Both classes of ELF are read by hand:
 * the contents that libelf would look for are in other files. */
#include "fw/image/mbn.h"
#include "fw/image/elf_form.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "isa/base/buf.h"
#include "isa/base/le.h"

/* Where the fields of the two classes are, and how wide addresses are. */
struct shape {
    unsigned bits;
    size_t header_size;
    size_t entry, table, flags, entry_size, count; /* in the file's header */
    size_t program_size;
    size_t p_flags, p_offset, p_address, p_file_size, p_memory_size; /* in a program header */
};

static const struct shape shapes[] = {
    {32, 52, 24, 28, 36, 42, 44, 32, 24, 4, 12, 16, 20},
    {64, 64, 24, 32, 48, 54, 56, 56, 4, 8, 24, 32, 40},
};

struct reader {
    const char *path;
    struct cps_bytes bytes;
    const struct shape *shape;
};

static const struct shape *find_shape(struct cps_bytes bytes)
{
    static const uint8_t magic[] = {0x7f, 'E', 'L', 'F'};
    if (bytes.size < 6 || memcmp(bytes.data, magic, 4) != 0 || bytes.data[5] != 1)
        return NULL;
    unsigned class = bytes.data[4];
    return class == 1 || class == 2 ? &shapes[class - 1] : NULL;
}

/* Fields that lie after the end read as 0; the sizes are checked before. */
static uint32_t get32(const struct reader *r, size_t offset)
{
    uint32_t value = 0;
    return cps_rd32(r->bytes, offset, &value) ? value : 0;
}

static uint32_t get16(const struct reader *r, size_t offset)
{
    return get32(r, offset - 2) >> 16; /* never the first field */
}

static uint64_t get_address(const struct reader *r, size_t offset)
{
    uint64_t low = get32(r, offset);
    return r->shape->bits == 32 ? low : low | (uint64_t)get32(r, offset + 4) << 32;
}

bool cps_mbn_probe(const void *bytes, size_t size)
{
    struct reader r = {NULL, {bytes, size}, NULL};
    r.shape = find_shape(r.bytes);
    return r.shape && size >= r.shape->header_size && get16(&r, r.shape->count) != 0 &&
           get16(&r, 18) != CPS_ELF_MACHINE; /* firmware with symbols, of our own making */
}

static bool ends_with(const char *path, const char *end)
{
    size_t length = strlen(path);
    return length > strlen(end) && !strcmp(path + length - strlen(end), end);
}

/* The size of NAME.bNN beside NAME.mdt. */
static struct cps_err *measure_split(const char *path, unsigned number, uint64_t *ret)
{
    struct stat status;
    CPS_BUF name = {0};
    *ret = CPS_MBN_ABSENT;
    if (!ends_with(path, ".mdt"))
        return NULL;
    cps_buf_add(&name, path, strlen(path) - 3);
    cps_buf_printf(&name, "b%02u", number);
    if (name.failed)
        return cps_err_nomem();
    if (!stat(name.data, &status) && S_ISREG(status.st_mode))
        *ret = (uint64_t)status.st_size;
    return NULL;
}

static void get_segment(const struct reader *r, size_t at, struct cps_mbn_segment *ret)
{
    const struct shape *shape = r->shape;
    *ret = (struct cps_mbn_segment){
        .type = get32(r, at),
        .flags = get32(r, at + shape->p_flags),
        .offset = get_address(r, at + shape->p_offset),
        .address = get_address(r, at + shape->p_address),
        .file_size = get_address(r, at + shape->p_file_size),
        .memory_size = get_address(r, at + shape->p_memory_size),
    };
    ret->kind = ret->flags >> 24 & 7;
    ret->relocatable = ret->flags >> 27 & 1;
    ret->inside = ret->offset <= r->bytes.size && ret->file_size <= r->bytes.size - ret->offset;
}

static struct cps_err *get_segments(const struct reader *r, struct cps_mbn *ret)
{
    uint64_t table = get_address(r, r->shape->table);
    ret->segment_count = get16(r, r->shape->count);
    if (ret->segment_count > CPS_MBN_MAX_SEGMENTS)
        return cps_err_input(r->path, r->shape->count, "%u program headers, expected at most %u",
                             ret->segment_count, CPS_MBN_MAX_SEGMENTS);
    if (get16(r, r->shape->entry_size) != r->shape->program_size)
        return cps_err_input(r->path, r->shape->entry_size, "expected program headers of %zu bytes",
                             r->shape->program_size);
    if (table > r->bytes.size ||
        r->bytes.size - table < ret->segment_count * r->shape->program_size)
        return cps_err_input(r->path, r->shape->table,
                             "expected %u program headers inside the file", ret->segment_count);
    for (unsigned i = 0; i < ret->segment_count; i++) {
        struct cps_mbn_segment *segment = &ret->segment[i];
        get_segment(r, (size_t)table + i * r->shape->program_size, segment);
        CPS_TRY(measure_split(r->path, i, &segment->split_size));
    }
    return NULL;
}

static bool is_split(const struct cps_mbn *mbn)
{
    for (unsigned i = 0; i < mbn->segment_count; i++) {
        if (mbn->segment[i].file_size && !mbn->segment[i].inside)
            return true;
    }
    return false;
}

/* Other people's ELF files have no segments of these kinds. */
static bool has_kinds(const struct cps_mbn *mbn)
{
    for (unsigned i = 0; i < mbn->segment_count; i++) {
        if (mbn->segment[i].kind == CPS_MBN_HASH || mbn->segment[i].kind == CPS_MBN_HEADER)
            return true;
    }
    return false;
}

struct cps_err *cps_mbn_parse(const char *path, const void *bytes, size_t size, struct cps_mbn *ret)
{
    struct cps_mbn mbn = {0};
    struct reader r = {path, {bytes, size}, NULL};
    r.shape = find_shape(r.bytes);
    if (!r.shape)
        return cps_err_input(path, 0, "expected a little-endian ELF file of class 32 or 64");
    if (size < r.shape->header_size)
        return cps_err_input(path, size, "file ends, expected an ELF header of %zu bytes",
                             r.shape->header_size);
    mbn.bits = r.shape->bits;
    mbn.type = get16(&r, 16);
    mbn.machine = get16(&r, 18);
    mbn.entry = get_address(&r, r.shape->entry);
    mbn.flags = get32(&r, r.shape->flags);
    CPS_TRY(get_segments(&r, &mbn));
    if (!has_kinds(&mbn))
        return cps_err_input(path, r.shape->table,
                             "no program header has the flags of a hash or header segment, "
                             "expected an image of Qualcomm's");
    if (is_split(&mbn)) {
        /* In a `.mdt` the hashes follow the headers, whatever their offset says. */
        uint64_t headers = mbn.segment[0].file_size;
        for (unsigned i = 1; i < mbn.segment_count; i++) {
            struct cps_mbn_segment *segment = &mbn.segment[i];
            if (segment->kind == CPS_MBN_HASH && mbn.segment[0].inside &&
                segment->file_size == r.bytes.size - headers)
                segment->inside = true;
        }
    }
    mbn.split = is_split(&mbn);
    *ret = mbn;
    return NULL;
}

bool cps_mbn_complete(const struct cps_mbn *mbn, unsigned i)
{
    const struct cps_mbn_segment *segment = &mbn->segment[i];
    return segment->inside || !segment->file_size || segment->split_size == segment->file_size;
}

const char *cps_mbn_kind_name(unsigned kind)
{
    return kind == CPS_MBN_DATA     ? "data"
           : kind == CPS_MBN_HASH   ? "hash"
           : kind == CPS_MBN_HEADER ? "header"
                                    : NULL;
}
