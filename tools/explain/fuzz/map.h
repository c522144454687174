/* SPDX-License-Identifier: MIT
 * A set of 64-bit keys: what cases have reached. Keys stay in the order in which they came. */
#ifndef CPS_FUZZ_MAP_H
#define CPS_FUZZ_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct key_map {
    uint64_t *key; /**< in order of arrival */
    size_t count;
    uint32_t *slot; /**< index of a key + 1; open addressing */
    size_t slots;   /**< a power of two, or 0 */
    bool failed;    /**< memory was short: something was lost */
};

/** Adds @p key. @return whether it was not there */
bool key_map_add(struct key_map *map, uint64_t key);
bool key_map_has(const struct key_map *map, uint64_t key);
/** Forgets all keys, and keeps the room. */
void key_map_clear(struct key_map *map);
void key_map_deinit(struct key_map *map);

#endif
