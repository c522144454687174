/* SPDX-License-Identifier: MIT
 * Which capture is measured, and with which firmware: what is given, else what $CPSCOPE_CORPUS has,
 * else what is built in. */
#include "tests/bench/bench.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/stream.h"
#include "tools/run/files.h"

#define MOST_BYTES (UINT64_C(512) << 20)

struct gatherer {
    struct cps_item_sink sink;
    struct feed *feed;
    const char *name;
    uint64_t bytes;
};

static struct cps_err *keep(struct cps_item_sink *sink, const struct cps_item *item)
{
    struct gatherer *g = (struct gatherer *)sink;
    g->bytes += item->kind == CPS_ITEM_DATA ? item->buffer.size : 0;
    if (g->bytes > MOST_BYTES)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s: its buffers have more than 512 MiB, expected a capture that can be "
                           "held in memory",
                           g->name);
    return feed_add(g->feed, item);
}

struct cps_err *bench_gather(struct cps_stream *stream, struct feed *ret)
{
    struct gatherer gatherer = {.sink = {keep}, .feed = ret, .name = cps_stream_name(stream)};
    return cps_capture_read(stream, NULL, &gatherer.sink);
}

struct cps_err *bench_open(struct bench *b, unsigned submissions, struct cps_buf *built_in,
                           struct cps_stream **ret)
{
    if (b->capture[0])
        return cps_stream_open(b->capture, ret);
    bench_stream(submissions, built_in);
    if (built_in->failed)
        return cps_err_nomem();
    return cps_stream_open_memory("built-in.rd", built_in->data, built_in->size, ret);
}

/* The generation whose firmware is one file; 0: this is none. */
static unsigned generation_of(const char *path)
{
    struct cps_fw *fw = NULL;
    cps_err_free(cps_fw_load(path, 0, &fw));
    unsigned ret = fw && fw->gen != CPS_A5XX ? cps_gen_row(fw->gen)->number : 0;
    ret = fw && fw->part[0].role == CPS_FW_SQE ? ret : 0;
    cps_fw_destroy(fw);
    return ret;
}

bool bench_find_firmware(const char *corpus, uint64_t gpu, char ret[4096])
{
    char folder[2048];
    char own[32];
    struct dirent **name = NULL;
    unsigned wanted = cps_gpu_generation(gpu);
    unsigned best = 0;
    snprintf(folder, sizeof(folder), "%s/firmware", corpus);
    snprintf(own, sizeof(own), "a%llu_", (unsigned long long)gpu);
    int count = wanted ? scandir(folder, &name, NULL, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", folder, name[i]->d_name);
        const char *dot = strrchr(name[i]->d_name, '.');
        unsigned fits = !strncmp(name[i]->d_name, own, strlen(own)) ? 2 : 1;
        if (dot && !strcmp(dot, ".fw") && fits >= best && generation_of(path) == wanted) {
            best = fits;
            strcpy(ret, path);
        }
        free(name[i]);
    }
    free(name);
    return best > 0;
}

/* The GPU that made it, and how many packets it has; 0: it is none that can be run. */
static uint64_t weigh(const char *path, uint64_t *gpu)
{
    struct cps_stream *stream = NULL;
    struct feed feed = {0};
    struct walker walker = {0};
    *gpu = 0;
    struct cps_err *err = cps_stream_open(path, &stream);
    err = err ? err : bench_gather(stream, &feed);
    err = err ? err : walker_init(&walker, 1);
    for (size_t i = 0; !err && i < feed.count; i++) {
        const struct cps_item *item = &feed.item[i];
        if (item->kind == CPS_ITEM_CHIP && !*gpu)
            *gpu = item->chip.gpu_id ? item->chip.gpu_id : item->chip.chip_id & 0xffffffff;
        err = walker_item(&walker, item);
    }
    uint64_t packets = err ? 0 : walker.packets;
    cps_err_free(err);
    walker_deinit(&walker);
    feed_deinit(&feed);
    cps_stream_close(stream);
    return packets;
}

/* The .rd of a corpus with most packets that some firmware there can run. */
static void search_corpus(struct bench *b, const char *corpus)
{
    char folder[2048];
    struct dirent **name = NULL;
    uint64_t most = 0;
    snprintf(folder, sizeof(folder), "%s/captures", corpus);
    int count = scandir(folder, &name, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[4096];
        char fw[4096] = "";
        uint64_t gpu = 0;
        snprintf(path, sizeof(path), "%s/%s", folder, name[i]->d_name);
        bool fits = strstr(name[i]->d_name, ".rd") && files_is_regular(path);
        uint64_t packets = fits ? weigh(path, &gpu) : 0;
        if (packets > most && (b->with.run.fw_count || bench_find_firmware(corpus, gpu, fw))) {
            most = packets;
            strcpy(b->capture, path);
        }
        free(name[i]);
    }
    free(name);
}

static struct cps_err *choose_firmware(struct bench *b, const char *corpus)
{
    uint64_t gpu = 0;
    b->with.run.demo = true; /* where --fw names none */
    if (b->with.run.fw_count || !b->capture[0] || !corpus || !*corpus)
        return NULL;
    weigh(b->capture, &gpu);
    if (bench_find_firmware(corpus, gpu, b->chosen))
        b->with.run.fw[b->with.run.fw_count++] = b->chosen;
    return NULL;
}

struct cps_err *bench_choose(struct bench *b)
{
    struct cps_stream *stream = NULL;
    CPS_BUF built_in = {0};
    const char *corpus = getenv("CPSCOPE_CORPUS");
    if (!b->capture[0] && corpus && *corpus)
        search_corpus(b, corpus);
    struct cps_err *err = bench_open(b, BENCH_STREAM_LONG, &built_in, &stream);
    err = err ? err : bench_gather(stream, &b->feed);
    cps_stream_close(stream);
    if (!err && b->capture[0] && !files_is_regular(b->capture))
        err = cps_err_new(CPS_ERR_INPUT, "%s: expected a regular file, which is read several times",
                          b->capture);
    return err ? err : choose_firmware(b, corpus);
}
