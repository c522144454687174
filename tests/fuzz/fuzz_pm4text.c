/* SPDX-License-Identifier: MIT
 * Any text behind the magic line as PM4 text: buffers come before their contents, and what a
 * buffer holds has the size that was announced. Written again, it reads as what is written the same
 * way. */
#include <assert.h>
#include <string.h>

#include "trace/capture/capture.h"
#include "trace/capture/pm4text.h"

#define MOST_ITEMS 512

struct counter {
    struct cps_item_sink sink;
    uint64_t announced;
    uint64_t received;
    struct cps_item item[MOST_ITEMS]; /* contents that follow each other are one */
    size_t items;
};

/* As the writer wants them; of long texts the first ones. */
static void keep(struct counter *counter, const struct cps_item *item)
{
    struct cps_item *last = counter->items ? &counter->item[counter->items - 1] : NULL;
    bool data = item->kind == CPS_ITEM_DATA;
    bool follows = data && last && last->kind == CPS_ITEM_DATA &&
                   last->buffer.iova + last->buffer.size == item->buffer.iova;
    if (item->kind == CPS_ITEM_BUFFER || (!follows && counter->items == MOST_ITEMS))
        return;
    size_t before = follows ? (size_t)last->buffer.size : 0;
    if (!follows) {
        last = &counter->item[counter->items++];
        *last = *item;
    }
    if (!data)
        return;
    uint8_t *bytes =
        realloc(follows ? (void *)last->buffer.data : NULL, before + (size_t)item->buffer.size + 1);
    memcpy(bytes + before, item->buffer.data, (size_t)item->buffer.size);
    last->buffer.data = bytes;
    last->buffer.size = before + item->buffer.size;
}

static void forget(struct counter *counter)
{
    for (size_t i = 0; i < counter->items; i++) {
        if (counter->item[i].kind == CPS_ITEM_DATA)
            free((void *)counter->item[i].buffer.data);
    }
}

static struct cps_err *take(struct cps_item_sink *sink, const struct cps_item *item)
{
    struct counter *counter = (struct counter *)sink;
    if (item->kind == CPS_ITEM_BUFFER)
        counter->announced += item->buffer.size;
    if (item->kind == CPS_ITEM_DATA)
        counter->received += item->buffer.size;
    assert(counter->received <= counter->announced);
    keep(counter, item);
    return NULL;
}

static struct cps_err *read_text(const char *text, size_t size, struct counter *ret)
{
    struct cps_stream *stream = NULL;
    *ret = (struct counter){.sink = {take}};
    struct cps_err *err = cps_stream_open_memory("fuzz", text, size, &stream);
    if (!err)
        err = cps_capture_read(stream, NULL, &ret->sink);
    cps_stream_close(stream);
    return err;
}

/* What nothing holds whole cannot be written; what is written comes back. */
static void write_again(const struct counter *counter)
{
    static struct counter again;
    CPS_BUF first = {0};
    CPS_BUF second = {0};
    struct cps_err *err = cps_pm4text_write(counter->item, counter->items, &first);
    if (err) {
        cps_err_free(err);
        return;
    }
    err = read_text(cps_buf_text(&first), first.size, &again);
    assert(!err);
    err = cps_pm4text_write(again.item, again.items, &second);
    assert(!err && !strcmp(cps_buf_text(&first), cps_buf_text(&second)));
    forget(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char magic[] = "# cpscope-pm4 1\n";
    static struct counter counter;
    size_t head = sizeof(magic) - 1;
    char *text = malloc(head + size); /* exactly as large as the text, for ASan */
    memcpy(text, magic, head);
    if (size)
        memcpy(text + head, data, size);
    struct cps_err *err = read_text(text, head + size, &counter);
    if (!err) {
        assert(counter.received == counter.announced);
        write_again(&counter);
    }
    cps_err_free(err);
    forget(&counter);
    free(text);
    return 0;
}
