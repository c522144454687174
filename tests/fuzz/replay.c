/* SPDX-License-Identifier: MIT
 * Runs a fuzz target as a plain test: every seed, then as many changes to them as the time allows
 * that a test should take. The same each time.
 *
 * Usage: fuzz_NAME [-rounds=N] FILE|FOLDER...; a folder that begins with "$CPSCOPE_CORPUS" is
 * there, and without that variable the test is skipped (status 77). */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEEDS = 1024, ROOM = 1 << 20, SKIPPED = 77 };
#define MOST_BYTES ((uint64_t)24 << 20) /* of all changed inputs together */

struct seed {
    uint8_t *data;
    size_t size;
};

static struct seed seeds[SEEDS];
static unsigned seed_count;
static uint32_t plain_state = 1;

/* Bits, words, cuts, copies within. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room)
{
    uint32_t *s = &plain_state;
    size_t at = mutate_below(s, (uint32_t)size);
    size_t from = mutate_below(s, (uint32_t)size);
    size_t length = 1 + mutate_below(s, (uint32_t)(size - at) < 64 ? (uint32_t)(size - at) : 64);
    switch (size ? mutate_below(s, 6) : 5) {
    case 0:
        data[at] ^= (uint8_t)(1u << mutate_below(s, 8));
        return size;
    case 1:
        data[at] = (uint8_t)mutate_edge(s, data[at]);
        return size;
    case 2:
        for (size_t i = 0, word = mutate_edge(s, 0); i < 4 && (at & ~(size_t)3) + i < size; i++)
            data[(at & ~(size_t)3) + i] = (uint8_t)(word >> 8 * i);
        return size;
    case 3:
        length = length < size - at ? length : size - at;
        memmove(data + at, data + at + length, size - at - length);
        return size - length;
    case 4:
        length = length < size - from ? length : size - from;
        memmove(data + at, data + from, length < size - at ? length : size - at);
        return size;
    default:
        if (size + 1 > room)
            return size;
        memmove(data + at + 1, data + at, size - at);
        data[at] = (uint8_t)mutate_below(s, 256);
        return size + 1;
    }
}

/* The target gets memory of exactly the size, so that sanitizers see what reads behind it. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);
    if (!exact)
        abort();
    memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static int add_file(const char *path)
{
    static uint8_t data[ROOM];
    FILE *file = fopen(path, "rb");
    if (!file || seed_count == SEEDS)
        return 1;
    struct seed *seed = &seeds[seed_count];
    seed->size = fread(data, 1, sizeof(data), file);
    seed->data = malloc(seed->size ? seed->size : 1);
    fclose(file);
    if (!seed->data)
        return 1;
    memcpy(seed->data, data, seed->size);
    seed_count++;
    return 0;
}

static int is_seed(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* In the order of their names. */
static int add(const char *path)
{
    struct dirent **names = NULL;
    char file[4096];
    int bad = 0;
    int count = scandir(path, &names, is_seed, alphasort);
    if (count < 0)
        return add_file(path);
    for (int i = 0; i < count; i++) {
        snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name);
        bad |= add_file(file);
        free(names[i]);
    }
    free(names);
    return bad;
}

/* The front of one seed and the back of another. */
static size_t splice(uint32_t *state, const struct seed *a, uint8_t *data)
{
    const struct seed *b = &seeds[mutate_below(state, seed_count)];
    size_t front = mutate_below(state, (uint32_t)a->size);
    size_t from = mutate_below(state, (uint32_t)b->size);
    size_t back = b->size - from < ROOM - front ? b->size - from : ROOM - front;
    memcpy(data, a->data, front);
    memcpy(data + front, b->data + from, back);
    return front + back;
}

static void run_changed(unsigned rounds)
{
    static uint8_t data[ROOM];
    uint32_t state = 1;
    uint64_t bytes = 0;
    for (unsigned round = 0; seed_count && round < rounds && bytes < MOST_BYTES; round++) {
        const struct seed *seed = &seeds[mutate_below(&state, seed_count)];
        size_t size = seed->size;
        memcpy(data, seed->data, size);
        if (mutate_below(&state, 16) == 0)
            size = splice(&state, seed, data);
        for (unsigned i = 0; i <= mutate_below(&state, 4); i++)
            size = LLVMFuzzerCustomMutator(data, size, ROOM, mutate_below(&state, UINT32_MAX));
        run(data, size);
        bytes += size;
    }
}

int main(int argc, char **argv)
{
    static const char variable[] = "$CPSCOPE_CORPUS";
    unsigned rounds = 3000;
    int bad = 0;
    for (int i = 1; i < argc; i++) {
        const char *corpus = getenv("CPSCOPE_CORPUS");
        char path[4096];
        if (!strncmp(argv[i], "-rounds=", 8)) {
            rounds = (unsigned)strtoul(argv[i] + 8, NULL, 10);
        } else if (!strncmp(argv[i], variable, sizeof(variable) - 1)) {
            if (!corpus)
                return SKIPPED;
            snprintf(path, sizeof(path), "%s%s", corpus, argv[i] + sizeof(variable) - 1);
            bad |= add(path);
        } else {
            bad |= add(argv[i]);
        }
    }
    for (unsigned i = 0; i < seed_count; i++)
        run(seeds[i].data, seeds[i].size);
    run_changed(rounds);
    printf("%u seeds\n", seed_count);
    for (unsigned i = 0; i < seed_count; i++)
        free(seeds[i].data);
    return bad;
}
