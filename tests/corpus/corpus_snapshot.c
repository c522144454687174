/* SPDX-License-Identifier: MIT
 * Every dump under $CPSCOPE_CORPUS/captures becomes a snapshot that reads back as the same items.
 */
#include <dirent.h>
#include <stdio.h>

#include "tests/lib/itemlog.h"
#include "tests/lib/snapshots.h"

#define MOST_BYTES ((size_t)1 << 30)

/* What a dump says, in the form to compare. */
static struct cps_err *read_all(const void *data, size_t size, struct log *log)
{
    struct cps_stream *stream = NULL;
    log->sink.item = log_item;
    CPS_TRY(cps_stream_open_memory("dump", data, size, &stream));
    struct cps_err *err = cps_capture_read(stream, NULL, &log->sink);
    cps_stream_close(stream);
    return err;
}

static bool same(const struct cps_buf *a, const struct cps_buf *b)
{
    return !a->failed && a->size == b->size && !strcmp(cps_buf_text(a), cps_buf_text(b));
}

static struct cps_err *compare(const uint8_t *data, size_t size, bool *equal)
{
    struct log before = {.compared = true};
    struct log after = {.compared = true};
    CPS_BUF snapshot = {0};
    CPS_BUF left = {0};
    struct cps_err *err = read_all(data, size, &before);
    if (!err)
        err = to_snapshot(data, size, &snapshot, &left);
    if (!err)
        err = read_all(cps_buf_text(&snapshot), snapshot.size, &after);
    *equal = !err && same(&before.text, &after.text) && same(&before.chip, &after.chip);
    if (!err)
        printf("# %zu bytes of items, snapshot of %zu bytes, without %s\n", before.text.size,
               snapshot.size, cps_buf_text(&left));
    log_deinit(&before);
    log_deinit(&after);
    return err;
}

/* @return whether the file is a dump */
static bool check(const char *path, const char *name, unsigned number)
{
    uint8_t *data = NULL;
    size_t size = 0;
    bool equal = false;
    struct cps_err *err = cps_stream_read_file(path, MOST_BYTES, &data, &size);
    bool dump = !err && cps_capture_is_hang(data, size);
    if (dump)
        err = compare(data, size, &equal);
    if (dump)
        printf("%s %u - %s reads back equal%s%s\n", equal ? "ok" : "not ok", number, name,
               err ? ": " : "", err ? err->message : "");
    cps_err_free(err);
    free(data);
    return dump;
}

int main(void)
{
    const char *corpus = getenv("CPSCOPE_CORPUS");
    unsigned count = 0;
    CPS_BUF folder = {0};
    cps_buf_printf(&folder, "%s/captures", corpus ? corpus : "");
    DIR *dir = corpus ? opendir(cps_buf_text(&folder)) : NULL;
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        CPS_BUF path = {0};
        cps_buf_printf(&path, "%s/%s", cps_buf_text(&folder), entry->d_name);
        if (entry->d_name[0] != '.')
            count += check(cps_buf_text(&path), entry->d_name, count + 1);
    }
    if (dir)
        closedir(dir);
    if (count)
        printf("1..%u\n", count);
    else
        printf("1..0 # SKIP %s\n", corpus ? "no dumps in the corpus" : "CPSCOPE_CORPUS is not set");
    return 0;
}
