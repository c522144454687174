/* SPDX-License-Identifier: MIT
 * What reading and decompressing alone cost: in process, by the library that we link, and by the
 * program that people know. Where that is not there, the library stands in for it, and the report
 * says so. */
#include "tests/bench/bench.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#define PIECE 65536u

static uint8_t piece[PIECE];

double bench_read(struct bench *b)
{
    double start = bench_cpu();
    int fd = open(b->large[BENCH_RD], O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : 1;
    while (got > 0)
        got = read(fd, piece, sizeof(piece));
    if (fd >= 0)
        close(fd);
    return got < 0 ? 0 : bench_cpu() - start;
}

double bench_inflate(struct bench *b)
{
    double start = bench_cpu();
    gzFile in = gzopen(b->large[BENCH_GZ], "rb");
    int got = in ? 1 : -1;
    if (in)
        gzbuffer(in, PIECE);
    while (got > 0)
        got = gzread(in, piece, sizeof(piece));
    if (in)
        gzclose(in);
    return got < 0 ? 0 : bench_cpu() - start;
}

/* Through our own reader, which keeps a window of the file, and does nothing else with it. */
double bench_unzstd(struct bench *b)
{
    struct cps_stream *stream = NULL;
    const uint8_t *data = NULL;
    size_t size = PIECE;
    double start = bench_cpu();
    struct cps_err *err = b->has_zst ? cps_stream_open(b->large[BENCH_ZST], &stream) : NULL;
    while (!err && stream && size) {
        err = cps_stream_peek(stream, PIECE, &data, &size);
        err = err ? err : cps_stream_skip(stream, size, &(uint64_t){0});
    }
    bool failed = err || !stream;
    cps_err_free(err);
    cps_stream_close(stream);
    return failed ? 0 : bench_cpu() - start;
}

static struct bench_child unpack(const char *program, const char *file)
{
    return bench_run(program, (const char *const[]){program, "-dc", file, NULL});
}

double bench_gzip(struct bench *b)
{
    return b->gzip ? unpack("gzip", b->large[BENCH_GZ]).cpu : bench_inflate(b);
}

double bench_wall_gzip(struct bench *b)
{
    return b->gzip ? unpack("gzip", b->large[BENCH_GZ]).wall : bench_inflate(b);
}

double bench_zstd(struct bench *b)
{
    if (!b->has_zst)
        return 0;
    return b->zstd ? unpack("zstd", b->large[BENCH_ZST]).cpu : bench_unzstd(b);
}
