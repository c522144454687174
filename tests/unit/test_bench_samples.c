/* SPDX-License-Identifier: MIT
 * Samples of `bench`: what could not be had is 0, and what was measured took no more time than the
 * whole call did. No time is expected to be long or short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "tests/lib/scratch.h"
#include "tests/bench/bench.h"

enum { SIZE = 1 << 20 };

/* Bytes that do not compress, so that most of the file is contents. */
static void put_noise(const char *path)
{
    gzFile out = gzopen(path, "wb");
    uint32_t noise = 1;
    assert_non_null(out);
    for (unsigned i = 0; i < SIZE; i++) {
        noise = noise * 1664525u + 1013904223u;
        assert_int_equal(gzputc(out, (int)(noise >> 24)), (int)(noise >> 24));
    }
    assert_int_equal(gzclose(out), Z_OK);
}

struct scene {
    struct bench bench;
    long size;
};

static int setup(void **state)
{
    struct scene *s = calloc(1, sizeof(*s));
    assert_non_null(s);
    char path[64];
    for (unsigned i = 0; i < 3; i++) {
        scratch_file(path, "");
        put_noise(path);
        snprintf(s->bench.large[i], sizeof(s->bench.large[i]), "%s", path);
    }
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    s->size = ftell(file);
    fclose(file);
    s->bench.has_zst = true; /* our reader takes either by what is in it */
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct scene *s = *state;
    for (unsigned i = 0; i < 3; i++)
        remove(s->bench.large[i]);
    free(s);
    return 0;
}

static void damage_all(const struct scene *s, long at)
{
    for (unsigned i = 0; i < 3; i++) {
        FILE *file = fopen(s->bench.large[i], "r+b");
        assert_non_null(file);
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        int byte = getc(file);
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        assert_int_equal(putc(byte ^ 0xff, file), byte ^ 0xff);
        assert_int_equal(fclose(file), 0);
    }
}

static double (*const readers[])(struct bench *bench) = {bench_read, bench_inflate, bench_unzstd,
                                                         bench_gzip, bench_zstd};
enum { READERS = sizeof(readers) / sizeof(readers[0]) };

static void reading_takes_a_part_of_the_time(void **state)
{
    struct scene *s = *state;
    for (unsigned i = 0; i < READERS; i++) {
        double before = bench_cpu();
        double seconds = readers[i](&s->bench);
        double whole = bench_cpu() - before;
        if (!(seconds > 0) || seconds > whole)
            fail_msg("reader %u: %g of %g s", i, seconds, whole);
    }
}

/* Where the first block begins, contents, their check, how many there are (RFC 1952). */
static void what_does_not_unpack_took_no_time(void **state)
{
    struct scene *s = *state;
    const long places[] = {10, s->size / 2, s->size - 8, s->size - 4};
    for (unsigned k = 0; k < 4; k++) {
        damage_all(s, places[k]);
        assert_true(bench_read(&s->bench) > 0); /* it is a file still */
        for (unsigned i = 1; i < READERS; i++) {
            if (readers[i](&s->bench) > 0)
                fail_msg("reader %u, byte %ld of %ld", i, places[k], s->size);
        }
        damage_all(s, places[k]);
    }
}

static void what_is_not_there_took_no_time(void **state)
{
    struct scene *s = *state;
    for (unsigned i = 0; i < 3; i++)
        remove(s->bench.large[i]);
    for (unsigned i = 0; i < READERS; i++)
        assert_true(readers[i](&s->bench) == 0);
}

static void without_zstd_there_is_no_sample_of_it(void **state)
{
    struct scene *s = *state;
    s->bench.has_zst = false;
    assert_true(bench_unzstd(&s->bench) == 0);
    assert_true(bench_zstd(&s->bench) == 0);
}

/* 0x04000000 turns of six instructions, counted from 0x0400 << 16 down to 0. */
static void the_loop_runs_to_its_end(void **state)
{
    static double (*const loops[])(struct bench * bench) = {bench_alu, bench_alu_native};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        double before = bench_cpu();
        double rate = loops[i](NULL);
        double whole = bench_cpu() - before;
        assert_true(whole > 0);
        if (rate * whole < 6.0 * 0x04000000)
            fail_msg("loop %u: %g instructions in %g s", i, rate * whole, whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reading_takes_a_part_of_the_time, setup, teardown),
        cmocka_unit_test_setup_teardown(what_does_not_unpack_took_no_time, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_there_took_no_time, setup, teardown),
        cmocka_unit_test_setup_teardown(without_zstd_there_is_no_sample_of_it, setup, teardown),
        cmocka_unit_test(the_loop_runs_to_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
