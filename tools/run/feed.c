/* SPDX-License-Identifier: MIT
 * Lists of items. */
#include "tools/run/feed.h"

#include <stdlib.h>
#include <string.h>

#include "isa/base/list.h"
#include "tools/run/account.h"

struct cps_err *feed_add_shared(struct feed *feed, const struct cps_item *item)
{
    if (!CPS_LIST_ROOM(feed->item, feed->count))
        return cps_err_nomem();
    feed->item[feed->count] = *item;
    if (item->kind == CPS_ITEM_SUBMIT)
        feed->item[feed->count].stream.index = feed->submissions++;
    feed->count++;
    return NULL;
}

/* A copy of @p size bytes that lives as long as the list; *ret stays NULL where there is none. */
static struct cps_err *own(struct feed *feed, const void *bytes, size_t size, void **ret)
{
    if (!bytes)
        return NULL;
    if (!CPS_LIST_ROOM(feed->owned, feed->owned_count))
        return cps_err_nomem();
    *ret = malloc(size + 1);
    if (!*ret)
        return cps_err_nomem();
    memcpy(*ret, bytes, size);
    feed->owned[feed->owned_count++] = *ret;
    return NULL;
}

static bool says_something(const struct cps_item *item)
{
    switch (item->kind) {
    case CPS_ITEM_SECTION:
    case CPS_ITEM_TEXT:
    case CPS_ITEM_NOTE:
    case CPS_ITEM_BUFFER:
    case CPS_ITEM_BLOCK:
        return false;
    default:
        return true;
    }
}

struct cps_err *feed_add(struct feed *feed, const struct cps_item *item)
{
    struct cps_item copy = *item;
    void *bytes = NULL;
    if (!says_something(item))
        return NULL;
    if (item->kind == CPS_ITEM_DATA) {
        CPS_TRY(own(feed, item->buffer.data, (size_t)item->buffer.size, &bytes));
        copy.buffer.data = bytes;
    }
    return feed_add_shared(feed, &copy);
}

static bool holds(const struct feed *feed, uint64_t iova)
{
    for (size_t i = 0; i < feed->count; i++) {
        const struct cps_item *item = &feed->item[i];
        if (item->kind == CPS_ITEM_DATA && iova - item->buffer.iova < item->buffer.size)
            return true;
    }
    return false;
}

void feed_account(const struct feed *feed, struct play_account *ret)
{
    *ret = (struct play_account){.submissions = feed->submissions};
    for (size_t i = 0; i < feed->count; i++) {
        const struct cps_item *item = &feed->item[i];
        ret->executed += item->kind == CPS_ITEM_RING;
        if (item->kind != CPS_ITEM_SUBMIT || !item->stream.dwords)
            continue;
        bool captured = holds(feed, item->stream.iova);
        ret->executed += captured;
        ret->not_captured += !captured;
    }
}

void feed_deinit(struct feed *feed)
{
    for (size_t i = 0; i < feed->owned_count; i++)
        free(feed->owned[i]);
    free(feed->owned);
    free(feed->item);
    *feed = (struct feed){0};
}

void feed_forget(struct feed *feed, uint64_t end)
{
    for (; feed->forgotten < end && feed->forgotten < feed->count; feed->forgotten++) {
        struct cps_item *item = &feed->item[feed->forgotten];
        if (item->kind != CPS_ITEM_DATA || !item->buffer.data)
            continue;
        free(feed->owned[feed->freed]);
        feed->owned[feed->freed++] = NULL;
        item->buffer.data = NULL;
    }
}

const struct cps_item *feed_item(void *context, uint64_t index)
{
    const struct feed *feed = context;
    return index < feed->count ? &feed->item[index] : NULL;
}
