/* SPDX-License-Identifier: MIT
 * Sets of keys. */
#include "tools/explain/fuzz/fuzz.h"
#include "tools/cmd/terminal/oom.h"

static size_t slot_of(const struct key_map *map, uint64_t key)
{
    size_t at = (size_t)rng_mix(key) & (map->slots - 1);
    while (map->slot[at] && map->key[map->slot[at] - 1] != key)
        at = (at + 1) & (map->slots - 1);
    return at;
}

static void grow_slots(struct key_map *map)
{
    free(map->slot);
    map->slots = map->slots ? 2 * map->slots : 1024;
    map->slot = tool_alloc(map->slots, sizeof(*map->slot));
    for (size_t i = 0; i < map->count; i++)
        map->slot[slot_of(map, map->key[i])] = (uint32_t)i + 1;
}

bool key_map_has(const struct key_map *map, uint64_t key)
{
    return map->count && map->slot[slot_of(map, key)];
}

bool key_map_add(struct key_map *map, uint64_t key)
{
    if (2 * map->count >= map->slots)
        grow_slots(map);
    size_t at = slot_of(map, key);
    if (map->slot[at])
        return false;
    TOOL_ROOM(map->key, map->count);
    map->key[map->count++] = key;
    map->slot[at] = (uint32_t)map->count;
    return true;
}

void key_map_deinit(struct key_map *map)
{
    free(map->key);
    free(map->slot);
    *map = (struct key_map){0};
}
