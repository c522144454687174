/* SPDX-License-Identifier: MIT
 * Cases that are kept: packed in memory, as PM4 text in files that are called by their contents. */
#include "tools/explain/fuzz/fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "isa/base/list.h"
#include "isa/base/within.h"
#include "tools/run/cachedir.h"
#include "tools/explain/reduce/reduce.h"
#include "trace/capture/pm4text.h"
#include "trace/out/outfile.h"

#define HEAD 3u /* words in front of a stream: address, count */

struct cps_err *corpus_pack(const struct fuzz_case *input, struct corpus_case *ret)
{
    uint32_t count = case_words(input) + HEAD * input->streams;
    uint32_t *to = malloc(count * sizeof(*to));
    if (!to)
        return cps_err_nomem();
    *ret = (struct corpus_case){.word = to, .count = count};
    for (unsigned i = 0; i < input->streams; i++) {
        const struct case_stream *s = &input->stream[i];
        *to++ = (uint32_t)s->iova;
        *to++ = (uint32_t)(s->iova >> 32);
        *to++ = s->count;
        memcpy(to, s->word, s->count * sizeof(*to));
        to += s->count;
    }
    return NULL;
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

/* The lines of @p comment behind the first one of @p text. */
static void put_commented(const char *text, const char *comment, struct cps_buf *ret)
{
    size_t first = strcspn(text, "\n") + 1;
    cps_buf_add(ret, text, first);
    while (*comment) {
        size_t length = strcspn(comment, "\n");
        cps_buf_str(ret, "; ");
        cps_buf_add(ret, comment, length);
        cps_buf_str(ret, "\n");
        comment += length + (comment[length] == '\n');
    }
    cps_buf_str(ret, text + first);
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
    put_commented(cps_buf_text(&text), comment ? comment : "", ret);
    return ret->failed ? cps_err_nomem() : NULL;
}

static struct cps_err *write_case(struct fuzz *fuzz, const struct fuzz_case *input)
{
    CPS_BUF text = {0};
    CPS_BUF path = {0};
    char hash[65];
    CPS_TRY(corpus_text(fuzz, input, NULL, &text));
    cache_hash(cps_buf_text(&text), text.size, hash);
    cps_buf_printf(&path, "%s/corpus/%.16s.pm4", fuzz->dir, hash);
    if (path.failed)
        return cps_err_nomem();
    cache_make_dirs(path.data, 0777);
    return cps_outfile_whole(path.data, cps_buf_text(&text), text.size);
}

struct cps_err *corpus_keep(struct fuzz *fuzz, struct corpus_case *input)
{
    struct corpus *corpus = &fuzz->corpus;
    if (!CPS_LIST_ROOM(corpus->list, corpus->count))
        return cps_err_nomem();
    corpus->list[corpus->count++] = *input;
    input->word = NULL;
    fuzz->stats.corpus = corpus->count;
    if (!fuzz->dir)
        return NULL;
    struct fuzz_case whole;
    corpus_unpack(&corpus->list[corpus->count - 1], &whole);
    return write_case(fuzz, &whole);
}

void corpus_deinit(struct corpus *corpus)
{
    for (size_t i = 0; i < corpus->count; i++)
        free(corpus->list[i].word);
    free(corpus->list);
    *corpus = (struct corpus){0};
}

struct reader {
    struct cps_item_sink items; /* first */
    struct feed feed;
};

static struct cps_err *gather(struct cps_item_sink *items, const struct cps_item *item)
{
    return feed_add(&((struct reader *)items)->feed, item);
}

struct cut {
    struct fuzz *fuzz;
    struct cps_err *(*each)(struct fuzz *fuzz, const struct fuzz_case *input);
};

static struct cps_err *take_cut(void *context, const struct fuzz_case *input)
{
    const struct cut *cut = context;
    if (cut->fuzz->interrupted && *cut->fuzz->interrupted)
        return NULL;
    return cut->each(cut->fuzz, input);
}

/* A case of ours, or a capture, which is cut into cases. */
static struct cps_err *read_feed(struct fuzz *fuzz, struct feed *feed,
                                 struct cps_err *(*each)(struct fuzz *fuzz,
                                                         const struct fuzz_case *input))
{
    struct case_taken *seeds = &fuzz->stats.seeds;
    struct cut cut = {fuzz, each};
    struct fuzz_case input;
    struct job joined;
    if (case_read(feed, &input)) {
        seeds->cases++;
        seeds->words += case_words(&input);
        return each(fuzz, &input);
    }
    job_init(&joined, feed);
    struct cps_err *err = case_cut(joined.item, joined.count, seeds, take_cut, &cut);
    job_deinit(&joined);
    return err;
}

static struct cps_err *read_file(struct fuzz *fuzz, const char *path,
                                 struct cps_err *(*each)(struct fuzz *fuzz,
                                                         const struct fuzz_case *input))
{
    struct reader reader = {.items = {gather}};
    struct cps_stream *stream = NULL;
    uint64_t before = fuzz->stats.seeds.cases;
    CPS_TRY(cps_stream_open(path, &stream));
    if (fuzz->opt) /* none for what was written here, with names that are built in */
        cps_stream_set_rnn(stream, fuzz->opt->rnn);
    struct cps_err *err = cps_capture_read(stream, NULL, &reader.items);
    cps_stream_close(stream);
    if (!err)
        err = read_feed(fuzz, &reader.feed, each);
    feed_deinit(&reader.feed);
    if (!err && fuzz->stats.seeds.cases == before)
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
static struct cps_err *read_folder(struct fuzz *fuzz, const char *path,
                                   struct cps_err *(*each)(struct fuzz *fuzz,
                                                           const struct fuzz_case *input))
{
    struct dirent **list = NULL;
    struct cps_err *err = NULL;
    int count = scandir(path, &list, is_case, by_bytes);
    if (count < 0 && errno != ENOENT && errno != ENOTDIR)
        return cps_err_os(path, "list");
    for (int i = 0; i < count; i++) {
        CPS_BUF name = {0};
        cps_buf_printf(&name, "%s/%s", path, list[i]->d_name);
        if (!err && !(fuzz->interrupted && *fuzz->interrupted))
            err = name.failed ? cps_err_nomem() : read_file(fuzz, name.data, each);
        free(list[i]);
    }
    free(list);
    return err;
}

struct cps_err *corpus_read(struct fuzz *fuzz, const char *path,
                            struct cps_err *(*each)(struct fuzz *fuzz,
                                                    const struct fuzz_case *input))
{
    static const char *const parts[] = {"corpus", "findings"};
    struct stat info;
    if (stat(path, &info))
        return cps_err_os(path, "open");
    if (!S_ISDIR(info.st_mode))
        return read_file(fuzz, path, each);
    CPS_TRY(read_folder(fuzz, path, each));
    for (unsigned i = 0; i < 2; i++) {
        CPS_BUF name = {0};
        cps_buf_printf(&name, "%s/%s", path, parts[i]);
        if (name.failed)
            return cps_err_nomem();
        CPS_TRY(read_folder(fuzz, name.data, each));
    }
    return NULL;
}
