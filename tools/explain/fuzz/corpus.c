/* SPDX-License-Identifier: MIT
 * Cases that are kept: packed in memory, as PM4 text in files that are called by their contents. */
#include "tools/explain/fuzz/fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/run/cachedir.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/reduce/reduce.h"
#include "trace/capture/pm4text.h"
#include "trace/out/outfile.h"

#define HEAD 3u /* words in front of a stream: address, count */

void corpus_pack(const struct fuzz_case *input, struct corpus_case *ret)
{
    uint32_t count = case_words(input) + HEAD * input->streams;
    uint32_t *to = tool_alloc(1, count * sizeof(*to));
    *ret = (struct corpus_case){.word = to, .count = count};
    for (unsigned i = 0; i < input->streams; i++) {
        const struct case_stream *s = &input->stream[i];
        *to++ = (uint32_t)s->iova;
        *to++ = (uint32_t)(s->iova >> 32);
        *to++ = s->count;
        memcpy(to, s->word, s->count * sizeof(*to));
        to += s->count;
    }
}

void corpus_unpack(const struct corpus_case *from, struct fuzz_case *ret)
{
    const uint32_t *word = from->word;
    ret->streams = 0;
    while (word < from->word + from->count) {
        struct case_stream *s = &ret->stream[ret->streams++];
        s->iova = (uint64_t)word[1] << 32 | word[0];
        s->count = word[2];
        memcpy(s->word, word + HEAD, s->count * sizeof(*word));
        word += HEAD + s->count;
    }
}

struct cps_err *corpus_text(const struct fuzz *fuzz, const struct fuzz_case *input,
                            const char *comment, struct cps_buf *ret)
{
    struct cps_item item[PROTECTION_ITEMS + CASE_STREAMS + 1];
    uint8_t bytes[4 * CASE_STREAMS * CASE_WORDS];
    CPS_BUF text = {0};
    size_t count = fuzz->protection.items;
    memcpy(item, fuzz->protection.item, count * sizeof(*item));
    count += case_items(input, bytes, item + count);
    CPS_TRY(cps_pm4text_write(item, count, &text));
    reduce_comment(tool_text(&text), comment ? comment : "", ret);
    return NULL;
}

struct cps_err *corpus_keep(struct fuzz *fuzz, const struct fuzz_case *input, bool refused)
{
    struct corpus *corpus = &fuzz->corpus;
    CPS_BUF text = {0};
    CPS_BUF path = {0};
    char hash[65];
    TOOL_ROOM(corpus->list, corpus->count);
    corpus_pack(input, &corpus->list[corpus->count]);
    corpus->list[corpus->count].refused = refused;
    fuzz->stats.corpus = ++corpus->count;
    if (!fuzz->dir)
        return NULL;
    CPS_TRY(corpus_text(fuzz, input, NULL, &text));
    cache_hash(tool_text(&text), text.size, hash);
    cps_buf_printf(&path, "%s/corpus/%.16s.pm4", fuzz->dir, hash);
    tool_text(&path);
    cache_make_dirs(path.data, 0777);
    return cps_outfile_whole(path.data, text.data, text.size);
}

void corpus_deinit(struct corpus *corpus)
{
    for (size_t i = 0; i < corpus->count; i++)
        free(corpus->list[i].word);
    free(corpus->list);
    *corpus = (struct corpus){0};
}

struct reading {
    struct cps_item_sink items; /* first */
    struct feed feed;
    const char *rnn;
    volatile int *interrupted;
    struct case_taken *taken;
    case_each_fn *each;
    void *context;
};

static struct cps_err *gather(struct cps_item_sink *items, const struct cps_item *item)
{
    return feed_add(&((struct reading *)items)->feed, item);
}

static bool is_over(const struct reading *r)
{
    return r->interrupted && *r->interrupted;
}

static struct cps_err *take_cut(void *context, const struct fuzz_case *input)
{
    const struct reading *r = context;
    return is_over(r) ? NULL : r->each(r->context, input);
}

/* A case of ours, or a capture, which is cut into cases. */
static struct cps_err *read_file(struct reading *r, const char *path)
{
    struct cps_stream *stream = NULL;
    uint64_t before = r->taken->cases;
    struct fuzz_case input;
    CPS_TRY(cps_stream_open(path, &stream));
    cps_stream_set_rnn(stream, r->rnn);
    struct cps_err *err = cps_capture_read(stream, NULL, &r->items);
    cps_stream_close(stream);
    if (!err && case_read(&r->feed, &input)) {
        r->taken->cases++;
        r->taken->words += case_words(&input);
        err = r->each(r->context, &input);
    } else if (!err) {
        struct job joined;
        job_init(&joined, &r->feed);
        err = case_cut(joined.item, joined.count, r->taken, take_cut, r);
        job_deinit(&joined);
    }
    feed_deinit(&r->feed);
    if (!err && r->taken->cases == before)
        err = cps_err_new(CPS_ERR_INPUT,
                          "%s: found no packet that is submitted, expected a capture or PM4 text",
                          path);
    return err;
}

static int is_case(const struct dirent *entry)
{
    static const char *const ends[] = {".pm4", ".rd", ".rd.gz", ".rd.zst"};
    size_t length = strlen(entry->d_name);
    bool found = false;
    for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        size_t end = strlen(ends[i]);
        found |= length > end && !strcmp(entry->d_name + length - end, ends[i]);
    }
    return found;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* A part that is not there has no case; one that cannot be listed may have some. */
static struct cps_err *read_folder(struct reading *r, const char *path)
{
    struct dirent **list = NULL;
    struct cps_err *err = NULL;
    int count = scandir(path, &list, is_case, by_bytes);
    if (count < 0 && errno != ENOENT && errno != ENOTDIR)
        return cps_err_os(path, "list");
    for (int i = 0; i < count; i++) {
        CPS_BUF name = {0};
        cps_buf_printf(&name, "%s/%s", path, list[i]->d_name);
        if (!err && !is_over(r))
            err = read_file(r, tool_text(&name));
        free(list[i]);
    }
    free(list);
    return err;
}

struct cps_err *corpus_read(const char *path, const char *rnn, volatile int *interrupted,
                            struct case_taken *taken, case_each_fn *each, void *context)
{
    static const char *const parts[] = {"", "/corpus", "/findings"};
    struct reading r = {{gather}, {0}, rnn, interrupted, taken, each, context};
    struct stat info;
    if (stat(path, &info))
        return cps_err_os(path, "open");
    if (!S_ISDIR(info.st_mode))
        return read_file(&r, path);
    for (unsigned i = 0; i < 3; i++) {
        CPS_BUF name = {0};
        cps_buf_printf(&name, "%s%s", path, parts[i]);
        CPS_TRY(read_folder(&r, tool_text(&name)));
    }
    return NULL;
}
