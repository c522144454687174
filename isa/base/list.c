/* SPDX-License-Identifier: MIT
 * Growing arrays. */
#include "isa/base/list.h"

#include <stdint.h>
#include <string.h>

enum { FIRST_ROOM = 8 };

bool cps_list_reserve(void *list, size_t *room, size_t need, size_t size)
{
    size_t more = *room ? *room : FIRST_ROOM;
    void *items = NULL;
    if (need <= *room)
        return true;
    while (more < need) {
        if (more > SIZE_MAX / 2)
            return false;
        more *= 2;
    }
    if (more > SIZE_MAX / size)
        return false;
    memcpy(&items, list, sizeof(items)); /* whatever it points to */
    items = realloc(items, more * size);
    if (!items)
        return false;
    memcpy(list, &items, sizeof(items));
    *room = more;
    return true;
}

bool cps_list_room(void *list, size_t count, size_t size)
{
    size_t room = count;
    if (count & (count - 1) || (count && count < FIRST_ROOM))
        return true;
    return cps_list_reserve(list, &room, count + 1, size);
}
