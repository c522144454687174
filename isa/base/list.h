/* SPDX-License-Identifier: MIT
 * The one growing array. A list is a pointer and a count: how much room there is follows from the
 * count, so that nobody has to keep it. */
#ifndef CPS_LIST_H
#define CPS_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "isa/base/cleanup.h"

/** Makes room for one more item behind @p count ones in the array pointer @p list (NULL at first).
 * False when out of memory: the list is as before. The array must only ever be grown by this, or
 * from nothing by CPS_LIST_RESERVE: it has room for the next power of two. */
#define CPS_LIST_ROOM(list, count) cps_list_room(&(list), (count), sizeof(*(list)))
/** Makes room for @p need items in all, where many come at once; @p room, a size_t, says for how
 * many there is room (0 at first). False when out of memory: the list is as before. */
#define CPS_LIST_RESERVE(list, room, need) \
    cps_list_reserve(&(list), &(room), (need), sizeof(*(list)))

/** What CPS_LIST_ROOM calls: @p list  address of the array pointer; @p size  bytes of an item. */
CPS_MUST_USE bool cps_list_room(void *list, size_t count, size_t size);
/** What CPS_LIST_RESERVE calls. */
CPS_MUST_USE bool cps_list_reserve(void *list, size_t *room, size_t need, size_t size);

#endif
