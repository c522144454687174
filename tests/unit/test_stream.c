/* SPDX-License-Identifier: MIT
 * Streams by magic, and output that is whole or absent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "trace/out/outfile.h"
#include "trace/capture/formats.h"
#include "trace/capture/stream.h"

static size_t gzip(const char *text, uint8_t *out, size_t room)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)text;
    z.avail_in = (uInt)strlen(text);
    z.next_out = out;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return room - z.avail_out;
}

static struct cps_err *read_memory(const void *data, size_t size, char *text, size_t room)
{
    struct cps_stream *stream = NULL;
    size_t got = 0;
    CPS_TRY(cps_stream_open_memory("test", data, size, &stream));
    struct cps_err *err = cps_stream_read(stream, text, room - 1, &got);
    text[got] = '\0';
    cps_stream_close(stream);
    return err;
}

static void gzip_members_in_a_row_are_one_stream(void **state)
{
    uint8_t data[256];
    char text[64];
    (void)state;
    size_t size = gzip("hello ", data, sizeof(data));
    size += gzip("world", data + size, sizeof(data) - size);
    assert_null(read_memory(data, size, text, sizeof(text)));
    assert_string_equal(text, "hello world");
}

static void gzip_cut_anywhere_is_an_error(void **state)
{
    uint8_t data[256];
    char text[64];
    (void)state;
    size_t size = gzip("hello", data, sizeof(data));
    for (size_t cut = 2; cut < size; cut++) {
        struct cps_err *err = read_memory(data, cut, text, sizeof(text));
        assert_non_null(err);
        assert_int_equal(err->code, CPS_ERR_INPUT);
        cps_err_free(err);
    }
}

static void peek_does_not_consume(void **state)
{
    struct cps_stream *stream = NULL;
    const uint8_t *data = NULL;
    size_t got = 0;
    char text[8] = "";
    (void)state;
    assert_null(cps_stream_open_memory("test", "abcdef", 6, &stream));
    assert_null(cps_stream_peek(stream, 3, &data, &got));
    assert_int_equal(got, 3);
    assert_memory_equal(data, "abc", 3);
    assert_null(cps_stream_read(stream, text, 7, &got));
    assert_string_equal(text, "abcdef");
    assert_int_equal(cps_stream_offset(stream), 6);
    cps_stream_close(stream);
}

static void a_directory_is_refused(void **state)
{
    struct cps_stream *stream = NULL;
    (void)state;
    struct cps_err *err = cps_stream_open("/", &stream);
    assert_non_null(err);
    assert_int_equal(err->code, CPS_ERR_OS);
    cps_err_free(err);
}

static void aborted_output_leaves_nothing(void **state)
{
    char path[] = "/tmp/cpscope-test-XXXXXX";
    struct cps_outfile *out = NULL;
    char line[8] = "";
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, "old", 3) == 3);
    close(fd);
    assert_null(cps_outfile_open(path, &out));
    cps_outfile_write(out, "new", 3);
    cps_outfile_abort(out);
    FILE *file = fopen(path, "r");
    assert_non_null(fgets(line, sizeof(line), file));
    fclose(file);
    assert_string_equal(line, "old");
    assert_null(cps_outfile_open(path, &out));
    cps_outfile_write(out, "new", 3);
    assert_null(cps_outfile_commit(out));
    file = fopen(path, "r");
    assert_non_null(fgets(line, sizeof(line), file));
    fclose(file);
    assert_string_equal(line, "new");
    unlink(path);
}

static void a_full_disk_is_reported(void **state)
{
    struct cps_outfile *out = NULL;
    (void)state;
    if (access("/dev/full", W_OK) != 0)
        return;
    assert_null(cps_outfile_open("/dev/full", &out));
    cps_outfile_write(out, "x", 1);
    struct cps_err *err = cps_outfile_commit(out);
    assert_non_null(err);
    assert_int_equal(err->code, CPS_ERR_OS);
    cps_err_free(err);
}

#define BIG (3u << 20)

/* A file of BIG bytes that compress a little, as gzip; the caller frees what it holds. */
static uint8_t *big_file(char *path)
{
    uint8_t *bytes = malloc(BIG);
    uint32_t random = 1;
    for (size_t i = 0; i < BIG; i++) {
        random = random * 1664525 + 1013904223;
        bytes[i] = (uint8_t)(random >> 24 & 0x3f);
    }
    close(mkstemp(path));
    gzFile file = gzopen(path, "wb1");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, bytes, BIG), BIG);
    assert_int_equal(gzclose(file), Z_OK);
    return bytes;
}

/* Reads by odd pieces, with a look ahead before each; gives the bytes read. */
static size_t read_pieces(struct cps_stream *stream, uint8_t *to, size_t room, struct cps_err **err)
{
    size_t done = 0;
    size_t got = 1;
    for (size_t want = 1; got && !*err; want = want * 7 % 100003) {
        const uint8_t *ahead = NULL;
        size_t seen = 0;
        *err = cps_stream_peek(stream, 4096, &ahead, &seen);
        uint8_t first = seen && !*err ? *ahead : 0;
        if (!*err)
            *err =
                cps_stream_read(stream, to + done, want < room - done ? want : room - done, &got);
        if (!*err && got)
            assert_int_equal(to[done], first);
        done += *err ? 0 : got;
    }
    return done;
}

static void a_thread_reads_the_same(void **state)
{
    char path[] = "test_stream.XXXXXX";
    char message[2][200] = {"", ""};
    size_t size[2];
    (void)state;
    uint8_t *bytes = big_file(path);
    uint8_t *got = malloc(BIG + 1);
    for (unsigned cut = 0; cut < 2; cut++) {
        for (unsigned threads = 0; threads < 2; threads++) {
            struct cps_stream *stream = NULL;
            struct cps_err *err = NULL;
            assert_null(cps_stream_open(path, &stream));
            if (threads)
                cps_stream_read_in_thread(stream);
            size[threads] = read_pieces(stream, got, BIG + 1, &err);
            assert_memory_equal(got, bytes, size[threads]);
            snprintf(message[threads], sizeof(message[0]), "%s", err ? err->message : "");
            cps_err_free(err);
            cps_stream_close(stream);
        }
        assert_int_equal(size[0], size[1]);
        assert_string_equal(message[0], message[1]);
        assert_true(cut ? size[0] < BIG && message[0][0] : size[0] == BIG);
        assert_int_equal(truncate(path, 1 << 20), 0);
    }
    unlink(path);
    free(bytes);
    free(got);
}

/* Behind a few bytes, or many, and closed without: the thread ends with the stream. */
static void the_hash_comes_with_the_reading(void **state)
{
    char path[] = "test_stream.XXXXXX";
    char expected[65];
    char hash[65];
    (void)state;
    uint8_t *bytes = big_file(path);
    assert_null(cps_sha256_file(path, expected));
    for (unsigned round = 0; round < 8; round++) {
        static const uint64_t read[] = {0, BIG / 7, BIG / 2, BIG};
        struct cps_stream *stream = NULL;
        uint64_t skipped = 0;
        assert_null(cps_stream_open(path, &stream));
        assert_true(cps_stream_hash(stream));
        if (round & 1)
            cps_stream_read_in_thread(stream);
        assert_null(cps_stream_skip(stream, read[round / 2], &skipped));
        assert_null(cps_stream_sha256(stream, hash));
        assert_string_equal(hash, expected);
        cps_stream_close(stream);
        assert_null(cps_stream_open(path, &stream));
        cps_stream_read_in_thread(stream);
        assert_null(cps_stream_skip(stream, read[round / 2], &skipped));
        cps_stream_close(stream);
    }
    unlink(path);
    free(bytes);
}

/* The format of a capture is recognised by its first bytes, before it is hashed. */
static void bytes_that_were_peeked_are_in_the_hash(void **state)
{
    char path[] = "test_stream.XXXXXX";
    char expected[65];
    (void)state;
    free(big_file(path));
    assert_null(cps_sha256_file(path, expected));
    for (unsigned round = 0; round < 4; round++) {
        struct cps_stream *stream = NULL;
        const uint8_t *first = NULL;
        size_t size = 0;
        uint64_t skipped = 0;
        char hash[65];
        assert_null(cps_stream_open(path, &stream));
        if (round & 1)
            assert_null(cps_stream_peek(stream, 64, &first, &size));
        assert_true(cps_stream_hash(stream));
        if (!(round & 1))
            assert_null(cps_stream_peek(stream, 64, &first, &size));
        assert_null(cps_stream_skip(stream, round & 2 ? BIG : 3, &skipped));
        assert_null(cps_stream_sha256(stream, hash));
        assert_string_equal(hash, expected);
        cps_stream_close(stream);
    }
    unlink(path);
}

/* What was asked for before the hash is all that there is: the rest went into it. */
static void nothing_is_read_behind_the_hash(void **state)
{
    char path[] = "test_stream.XXXXXX";
    (void)state;
    free(big_file(path));
    for (unsigned ahead = 0; ahead < 2; ahead++) {
        struct cps_stream *stream = NULL;
        char hash[65];
        char byte = 0;
        size_t got = 1;
        assert_null(cps_stream_open(path, &stream));
        assert_true(cps_stream_hash(stream));
        if (ahead)
            cps_stream_read_in_thread(stream);
        assert_null(cps_stream_read(stream, &byte, 1, &got));
        assert_int_equal(got, 1);
        assert_null(cps_stream_sha256(stream, hash));
        assert_null(cps_stream_read(stream, &byte, 1, &got));
        assert_int_equal(got, 0);
        cps_stream_close(stream);
    }
    unlink(path);
}

/* Of a file its bytes as they are stored; memory has no such thing, and of a pipe nobody knows. */
static void how_much_was_read_is_known_of_files(void **state)
{
    static const char text[] = "a text that is no capture";
    struct cps_stream *stream = NULL;
    char path[] = "test_stream.XXXXXX";
    char byte = 0;
    size_t got = 0;
    uint64_t at = 7;
    uint64_t size = 7;
    int ends[2];
    (void)state;
    assert_null(cps_stream_open_memory("memory", text, sizeof(text), &stream));
    assert_true(cps_stream_share_(stream, &at, &size));
    assert_true(at == 0 && size == 0);
    cps_stream_close(stream);
    int fd = mkstemp(path);
    assert_int_equal(write(fd, text, sizeof(text)), sizeof(text));
    close(fd);
    assert_null(cps_stream_open(path, &stream));
    assert_null(cps_stream_read(stream, &byte, 1, &got));
    assert_true(cps_stream_share_(stream, &at, &size));
    assert_true(at == sizeof(text) && size == sizeof(text)); /* it is read by blocks */
    cps_stream_close(stream);
    assert_int_equal(truncate(path, 0), 0);
    assert_null(cps_stream_open(path, &stream));
    assert_true(cps_stream_share_(stream, &at, &size));
    assert_true(at == 0 && size == 0);
    cps_stream_close(stream);
    unlink(path);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, sizeof(text)), sizeof(text));
    close(ends[1]);
    snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
    assert_null(cps_stream_open(path, &stream));
    assert_false(cps_stream_share_(stream, &at, &size));
    assert_true(at == 0 && size == 0);
    cps_stream_close(stream);
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gzip_members_in_a_row_are_one_stream),
        cmocka_unit_test(gzip_cut_anywhere_is_an_error),
        cmocka_unit_test(a_thread_reads_the_same),
        cmocka_unit_test(the_hash_comes_with_the_reading),
        cmocka_unit_test(bytes_that_were_peeked_are_in_the_hash),
        cmocka_unit_test(nothing_is_read_behind_the_hash),
        cmocka_unit_test(how_much_was_read_is_known_of_files),
        cmocka_unit_test(peek_does_not_consume),
        cmocka_unit_test(a_directory_is_refused),
        cmocka_unit_test(aborted_output_leaves_nothing),
        cmocka_unit_test(a_full_disk_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
