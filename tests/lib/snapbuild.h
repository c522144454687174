/* SPDX-License-Identifier: MIT
 * Writes snapshots of the vendor's kernel, field by field as its kgsl_snapshot.h has them, and
 * shares nothing with the product's writer. */
#ifndef TESTS_SNAPBUILD_H
#define TESTS_SNAPBUILD_H

#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "isa/base/buf.h"
#include "tests/lib/itemlog.h"

static inline void put(struct cps_buf *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        char byte = (char)(value >> 8 * i);
        cps_buf_add(out, &byte, 1);
    }
}

static inline void put32(struct cps_buf *out, size_t count, const uint32_t *words)
{
    for (size_t i = 0; i < count; i++)
        put(out, words[i], 4);
}

#define WORDS(out, ...) \
    put32(out, sizeof((uint32_t[]){__VA_ARGS__}) / 4, (const uint32_t[]){__VA_ARGS__})

static inline void put_string(struct cps_buf *out, const char *text, size_t room)
{
    cps_buf_str(out, text);
    for (size_t i = strlen(text); i < room; i++)
        put(out, 0, 1);
}

static inline void header(struct cps_buf *out, uint32_t magic, uint32_t gpu, uint32_t chip)
{
    WORDS(out, magic, gpu, chip);
}

static inline size_t begin(struct cps_buf *out, uint32_t id)
{
    size_t start = out->size;
    put(out, 0xabcd, 2);
    put(out, id, 2);
    put(out, 0, 4);
    return start;
}

static inline void end(struct cps_buf *out, size_t start)
{
    size_t size = out->size - start;
    for (unsigned i = 0; i < 4; i++)
        out->data[start + 4 + i] = (char)(size >> 8 * i);
}

/* A section of words. */
#define SECTION(out, id, ...)             \
    do {                                  \
        size_t start_ = begin(out, (id)); \
        WORDS(out, __VA_ARGS__);          \
        end(out, start_);                 \
    } while (0)

static inline void put_end(struct cps_buf *out)
{
    end(out, begin(out, 0xffff));
}

/* struct kgsl_snapshot_linux_v4 and a context behind it. */
static inline void put_os(struct cps_buf *out)
{
    size_t start = begin(out, 0x0101);
    WORDS(out, 0x203, 1700000000, 1, 2, 3, 4, 5);
    put(out, 6, 8);
    put(out, 7, 8);
    WORDS(out, 8, 9, 10, 11, 1);
    put_string(out, "5.15.78-android", 32);
    put_string(out, "#1 SMP", 32);
    put_string(out, "a.game", 16);
    put_string(out, "lpac", 16);
    WORDS(out, 10, 7, 6, 6);
    end(out, start);
}

/* struct kgsl_snapshot_rb_v2. */
static inline void put_ring(struct cps_buf *out, uint32_t start, uint32_t dwords, size_t count,
                            const uint32_t *words)
{
    size_t section = begin(out, 0x0302);
    WORDS(out, start, dwords, dwords, 3, 2, (uint32_t)count, 7, 6);
    put(out, 0x1000000001000, 8);
    put(out, 1, 4);
    put32(out, count, words);
    end(out, section);
}

/* struct kgsl_snapshot_gpu_object_v2, or kgsl_snapshot_ib_v2, which has no type. */
static inline void put_object(struct cps_buf *out, bool ib, uint64_t iova, uint64_t dwords,
                              size_t bytes)
{
    size_t start = begin(out, ib ? 0x0402 : 0x0b02);
    if (!ib)
        put(out, 5, 4);
    put(out, iova, 8);
    put(out, 0xaaaa, 8);
    put(out, dwords, 8);
    for (size_t i = 0; i < bytes; i++)
        put(out, i + 1, 1);
    end(out, start);
}

/* As kernels for a6xx order it. */
static inline void small_snapshot(struct cps_buf *out)
{
    static const uint32_t ring[] = {0x70108000, 0, 0xffffffff, 4, 5};
    header(out, 0x504d0002, 0x00030276, 0x06030002);
    put_os(out);
    SECTION(out, 0x0201, 2, 0x800, 0x1000, 0x801, 0xffffffff);
    SECTION(out, 0x0202, 0x80000900, 1, 0x910, 2, 3, 4);
    SECTION(out, 0x0501, 0x908, 0x909, 0, 3, 0xc5, 0, 0x80000000);
    SECTION(out, 0x0901, 10, 2, 1, 2);
    SECTION(out, 0x0901, 14, 1, 0x17606c01);
    SECTION(out, 0x1501, 1, 3, 0x80008000, 0x8001, 5, 6, 0x80008010, 0x8010, 7);
    SECTION(out, 0x0a01, 1, 2, 3, 4);
    SECTION(out, 0x1701, 1, 0, 0, 0, 0, 0, 0, 5);
    put_ring(out, 0, 5, 5, ring);
    put_object(out, false, 0x100000000, 2, 8);
    SECTION(out, 0x0e02, 2, 0xaaaa, 0, 0x2000, 0, 0x100, 0, 9, 0x3000, 1, 0x10, 0, 9);
    put_object(out, true, 0x200000000, 1, 4);
    put_end(out);
}

static const char small_log[] = "chip 630 6030002\n"
                                "section OS\ntext kernel: 5.15.78-android\n"
                                "text time: 1700000000\ntext comm: a.game\n"
                                "section REGS\nreg registers -1 800 1000\n"
                                "reg registers -1 801 ffffffff\n"
                                "section REGS_V2\nreg registers -1 900 1\n"
                                "reg registers -1 910 3\nreg registers -1 911 4\n"
                                "section INDEXED_REGS\nblock CP_SQE_STAT 3: c5 0 80000000\n"
                                "section DEBUG\nblock CP_ROQ 2: 1 2\nsection DEBUG\n"
                                "section MVC\nreg CLUSTER_GRAS 1 8000 5\n"
                                "reg CLUSTER_GRAS 1 8001 6\nreg CLUSTER_GRAS 1 8010 7\n"
                                "section DEBUGBUS\nsection GMU_MEMORY\n"
                                "section RB_V2\nring 1 1000000001000+14 at 2 3 fences 7 6\n"
                                "data 1000000001000: 70108000 0 ffffffff 4 5\n"
                                "section GPU_OBJECT_V2\nbuffer 100000000+8\n"
                                "data 100000000: 4030201 8070605\n"
                                "section MEMLIST_V2\nbuffer 2000+100\nbuffer 100003000+10\n"
                                "section IB_V2\nbuffer 200000000+4\ndata 200000000: 4030201\n"
                                "section END\n";

/* What reading a dump says, item by item. */
static inline void log_check(const struct cps_buf *dump, const char *expected)
{
    struct log log = {0};
    struct cps_err *err = read_bytes(dump->data, dump->size, &log);
    if (err)
        print_error("%s\n", err->message);
    assert_null(err);
    assert_string_equal(cps_buf_text(&log.text), expected);
    log_deinit(&log);
}

#endif
