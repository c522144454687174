/* SPDX-License-Identifier: MIT
 * The files that commands are measured on, in a directory of their own: the input once, many times
 * in each form, and a matrix for `regress`. Copies are compressed one by one, so that the ratio is
 * that of the input, and not of something that repeats. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* nftw(); ncurses asks for it, too */
#endif
#include "tests/bench/bench.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fw/demo/demo.h"
#include "isa/base/source.h"
#include "tests/bench/stream.h"
#include "tools/run/files.h"
#include "trace/capture/rd_write.h"

#define REGRESS_CAPTURES 64u
#define FUZZ_EXECS       1000u
#define MOST_BYTES       ((size_t)1 << 30)

static void name_in(const struct bench *b, const char *name, char ret[BENCH_PATH])
{
    snprintf(ret, BENCH_PATH, "%s/%s", b->dir, name);
}

static struct cps_err *make_dir(struct bench *b)
{
    const char *base = getenv("TMPDIR");
    int length =
        snprintf(b->dir, sizeof(b->dir), "%s/cpscope-bench-XXXXXX", base && *base ? base : "/tmp");
    bool fits = length > 0 && (size_t)length < sizeof(b->dir);
    if (fits && mkdtemp(b->dir))
        return NULL;
    struct cps_err *err = fits ? cps_err_os(b->dir, "create")
                               : cps_err_new(CPS_ERR_INPUT,
                                             "TMPDIR: a path of %d bytes with the name of a "
                                             "folder in it, expected less than %zu",
                                             length, sizeof(b->dir));
    b->dir[0] = '\0';
    return err;
}

/* One copy; the form follows the name. */
static struct cps_err *write_one(struct bench *b, unsigned submissions, const char *path)
{
    struct cps_stream *in = NULL;
    struct cps_outfile *out = NULL;
    CPS_BUF built_in = {0};
    struct cps_err *err = bench_open(b, submissions, &built_in, &in);
    err = err ? err : cps_outfile_open(path, &out);
    err = err ? err : cps_rd_write(in, out, path);
    if (err)
        cps_outfile_abort(out);
    else
        err = cps_outfile_commit(out);
    cps_stream_close(in);
    return err;
}

/* The copies behind each other: readers take that for one capture, in each form. */
static struct cps_err *write_many(struct bench *b, const char *one, const char *path)
{
    CPS_FREE uint8_t *data = NULL;
    size_t size = 0;
    struct cps_outfile *out = NULL;
    CPS_TRY(cps_source_all_(one, MOST_BYTES, &data, &size));
    CPS_TRY(cps_outfile_open(path, &out));
    for (uint64_t i = 0; i < b->copies; i++)
        cps_outfile_write(out, data, size);
    return cps_outfile_commit(out);
}

static struct cps_err *write_forms(struct bench *b)
{
    static const char *const ones[] = {"one.rd", "one.rd.gz", "one.rd.zst"};
    static const char *const many[] = {"large.rd", "large.rd.gz", "large.rd.zst"};
    for (unsigned form = BENCH_RD; form <= BENCH_ZST; form++) {
        char one[BENCH_PATH];
        name_in(b, ones[form], one);
        name_in(b, many[form], b->large[form]);
        struct cps_err *err = write_one(b, BENCH_STREAM_LONG, one);
        b->has_zst = form == BENCH_ZST && !err;
        if (form == BENCH_ZST && err && err->code == CPS_ERR_UNSUPPORTED) {
            cps_err_free(err);
            return NULL;
        }
        CPS_TRY(err);
        CPS_TRY(write_many(b, one, b->large[form]));
    }
    return NULL;
}

/* Under plain names, which a manifest can have, whatever those of the files are. */
static struct cps_err *name_firmware(struct bench *b)
{
    b->firmwares = b->with.run.fw_count ? b->with.run.fw_count : 1;
    if (!b->with.run.fw_count) {
        name_in(b, "0.fw", b->firmware[0]);
        return cps_outfile_whole(b->firmware[0], cps_demo_fw, cps_demo_fw_size);
    }
    for (unsigned i = 0; i < b->firmwares; i++) {
        char name[16];
        CPS_FREE char *real = realpath(b->with.run.fw[i], NULL);
        snprintf(name, sizeof(name), "%u.fw", i);
        name_in(b, name, b->firmware[i]);
        if (!real || symlink(real, b->firmware[i]))
            return cps_err_os(b->with.run.fw[i], "name");
    }
    return NULL;
}

static struct cps_err *write_matrix(struct bench *b)
{
    CPS_BUF text = {0};
    CPS_TRY(write_one(b, BENCH_STREAM_SHORT, b->small));
    for (unsigned i = 0; i < REGRESS_CAPTURES; i++) {
        char name[16];
        char path[BENCH_PATH];
        snprintf(name, sizeof(name), "m%02u.rd", i);
        name_in(b, name, path);
        if (link(b->small, path))
            return cps_err_os(path, "link");
    }
    cps_buf_str(&text, "# cpscope-manifest 1\nfirmware fw");
    for (unsigned i = 0; i < b->firmwares; i++)
        cps_buf_printf(&text, " %u.fw", i);
    cps_buf_str(&text, "\ncapture m*.rd\n");
    return text.failed ? cps_err_nomem() : cps_outfile_whole(b->manifest, text.data, text.size);
}

static bool is_installed(const char *program)
{
    return bench_run(program, (const char *const[]){program, "--version", NULL}).good;
}

struct cps_err *bench_prepare(struct bench *b)
{
    static const char to_the_end[] = "c\n";
    CPS_TRY(make_dir(b));
    name_in(b, "small.rd", b->small);
    name_in(b, "manifest.txt", b->manifest);
    name_in(b, "step.txt", b->script);
    name_in(b, "report", b->report);
    b->count[BENCH_ONE] = 1;
    b->count[BENCH_HALF] = 0.5;
    b->count[BENCH_PAIRS] = REGRESS_CAPTURES;
    b->count[BENCH_EXECS] = FUZZ_EXECS;
    b->gzip = is_installed("gzip");
    b->zstd = is_installed("zstd");
    CPS_TRY(name_firmware(b));
    CPS_TRY(write_forms(b));
    CPS_TRY(cps_outfile_whole(b->script, to_the_end, sizeof(to_the_end) - 1));
    return write_matrix(b);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

void bench_clean(struct bench *b)
{
    enum { FOLDERS_OPEN = 8 };
    if (b->dir[0])
        nftw(b->dir, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
    feed_deinit(&b->feed);
    walker_deinit(&b->walker);
    cps_engine_destroy(b->booted);
    play_close(&b->play);
}
