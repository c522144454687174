/* SPDX-License-Identifier: MIT
 * What differs after a switch, and the list of what may. */
#include "tests/corpus/sweep_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct found {
    char what;
    uint32_t core;
    uint64_t number;
    uint32_t count, position;
    uint64_t want, got;
};

static struct {
    size_t count, room;
    struct found *found;
} differences;
uint32_t sweep_position;

void sweep_differ(char what, uint32_t core, uint64_t number, uint64_t want, uint64_t got)
{
    for (size_t i = 0; i < differences.count; i++) {
        struct found *found = &differences.found[i];
        if (found->what == what && found->number == number && found->core == core) {
            found->count++;
            return;
        }
    }
    if (differences.count == differences.room) {
        differences.room = 2 * differences.room + 64;
        differences.found =
            realloc(differences.found, differences.room * sizeof(*differences.found));
        if (!differences.found)
            abort();
    }
    differences.found[differences.count++] =
        (struct found){what, core, number, 1, sweep_position, want, got};
}

/* ---- what may differ ---- */

struct listed {
    char what;
    uint64_t first, last;
    uint32_t count;
    char cause[160];
};
static struct listed listed[256];
static size_t listed_count;

bool sweep_read_list(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[256];
    while (file && fgets(line, sizeof(line), file)) {
        struct listed *row = &listed[listed_count];
        if (line[0] != '#' && listed_count < sizeof(listed) / sizeof(listed[0]) &&
            sscanf(line, "%c %" SCNx64 " %" SCNx64 " %159[^\n]", &row->what, &row->first,
                   &row->last, row->cause) == 4)
            listed_count++;
    }
    if (file)
        fclose(file);
    return listed_count != 0;
}

/* A row of one image begins with @ and its name. */
static bool is_of(const struct listed *row, const char *name)
{
    size_t size = row->cause[0] == '@' ? strcspn(row->cause + 1, " ") : 0;
    const char *slash = strrchr(name, '/');
    return !strncmp(slash ? slash + 1 : name, row->cause + 1, size);
}

static struct listed *find_listed(const struct found *found, const char *name)
{
    for (size_t i = 0; i < listed_count; i++) {
        if (is_of(&listed[i], name) && listed[i].what == found->what &&
            found->number >= listed[i].first && found->number <= listed[i].last)
            return &listed[i];
    }
    return NULL;
}

/* @return how many differences no row has */
unsigned sweep_tell_differences(const char *name)
{
    unsigned other = 0;
    for (size_t i = 0; i < differences.count; i++) {
        const struct found *f = &differences.found[i];
        struct listed *row = find_listed(f, name);
        if (row) {
            row->count += f->count;
            continue;
        }
        other++;
        printf("# %c %u 0x%" PRIx64 ": %u times, first at %u: %" PRIx64 ", not %" PRIx64 "\n",
               f->what, f->core, f->number, f->count, f->position, f->got, f->want);
    }
    for (size_t i = 0; i < listed_count; i++) {
        if (listed[i].count)
            printf("# %c %" PRIx64 "..%" PRIx64 ", %u times: %s\n", listed[i].what, listed[i].first,
                   listed[i].last, listed[i].count, listed[i].cause);
        listed[i].count = 0;
    }
    differences.count = 0;
    return other;
}

void sweep_free_list(void)
{
    free(differences.found);
}
