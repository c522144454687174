/* SPDX-License-Identifier: MIT
 * Lists of items. */
#include "tools/play/feed.h"

#include <stdlib.h>
#include <string.h>

/* Grows an array by one in steps of powers of two. */
static void *room_for(void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return array;
    size_t more = *room ? 2 * *room : 64;
    void *ret = realloc(array, more * size);
    if (ret)
        *room = more;
    return ret;
}

struct cps_err *feed_add_shared(struct feed *feed, const struct cps_item *item)
{
    struct cps_item *items = room_for(feed->item, feed->count, &feed->room, sizeof(*items));
    if (!items)
        return cps_err_nomem();
    feed->item = items;
    items[feed->count] = *item;
    if (item->kind == CPS_ITEM_SUBMIT)
        items[feed->count].stream.index = feed->submissions++;
    feed->count++;
    return NULL;
}

/* A copy of @p size bytes that lives as long as the list; *ret stays NULL where there is none. */
static struct cps_err *own(struct feed *feed, const void *bytes, size_t size, void **ret)
{
    if (!bytes)
        return NULL;
    void **owned = room_for(feed->owned, feed->owned_count, &feed->owned_room, sizeof(*owned));
    if (!owned)
        return cps_err_nomem();
    feed->owned = owned;
    *ret = malloc(size + 1);
    if (!*ret)
        return cps_err_nomem();
    memcpy(*ret, bytes, size);
    owned[feed->owned_count++] = *ret;
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

void feed_deinit(struct feed *feed)
{
    for (size_t i = 0; i < feed->owned_count; i++)
        free(feed->owned[i]);
    free(feed->owned);
    free(feed->item);
    *feed = (struct feed){0};
}

const struct cps_item *feed_item(void *context, uint64_t index)
{
    const struct feed *feed = context;
    return index < feed->count ? &feed->item[index] : NULL;
}
