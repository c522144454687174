/* SPDX-License-Identifier: MIT
 * Sets of keys. */
#include "tools/explain/fuzz/map.h"

#include <stdlib.h>
#include <string.h>

#include "isa/base/list.h"
#include "tools/explain/fuzz/random.h"

static size_t slot_of(const struct key_map *map, uint64_t key)
{
    size_t at = (size_t)rng_mix(key) & (map->slots - 1);
    while (map->slot[at] && map->key[map->slot[at] - 1] != key)
        at = (at + 1) & (map->slots - 1);
    return at;
}

static bool grow(struct key_map *map)
{
    struct key_map wider = *map;
    wider.slots = map->slots ? 2 * map->slots : 1024;
    wider.slot = calloc(wider.slots, sizeof(*wider.slot));
    if (!wider.slot)
        return false;
    for (size_t i = 0; i < map->count; i++)
        wider.slot[slot_of(&wider, map->key[i])] = (uint32_t)i + 1;
    free(map->slot);
    *map = wider;
    return true;
}

bool key_map_has(const struct key_map *map, uint64_t key)
{
    return map->count && map->slot[slot_of(map, key)];
}

bool key_map_add(struct key_map *map, uint64_t key)
{
    if (2 * map->count >= map->slots && !grow(map)) {
        map->failed = true;
        return false;
    }
    size_t at = slot_of(map, key);
    if (map->slot[at])
        return false;
    if (!CPS_LIST_ROOM(map->key, map->count)) {
        map->failed = true;
        return false;
    }
    map->key[map->count++] = key;
    map->slot[at] = (uint32_t)map->count;
    return true;
}

void key_map_clear(struct key_map *map)
{
    if (map->count)
        memset(map->slot, 0, map->slots * sizeof(*map->slot));
    map->count = 0;
}

void key_map_deinit(struct key_map *map)
{
    free(map->key);
    free(map->slot);
    *map = (struct key_map){0};
}
