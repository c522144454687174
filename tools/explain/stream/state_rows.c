/* SPDX-License-Identifier: MIT
 * Two states side by side, register by register. */
#include "tools/explain/stream/state_rows.h"

#include <string.h>

static void no_value(void *context, const struct cps_value *value)
{
    (void)context;
    (void)value;
}

static bool is_wide(const struct state_pair *pair, uint32_t number)
{
    bool both_now = pair->now[number].event && pair->now[number + 1].event;
    bool both_before = pair->before[number].event && pair->before[number + 1].event;
    return (both_now || both_before) &&
           cps_name_values64(pair->names, CPS_SPACE_GPU, number, 0, no_value, NULL);
}

static uint64_t value_of(const struct state_register *reg, bool wide)
{
    return reg->value | (wide ? (uint64_t)reg[1].value << 32 : 0);
}

static enum state_mark mark_of(const struct state_pair *pair, const struct state_row *row)
{
    const struct state_register *now = &pair->now[row->number];
    const struct state_register *before = &pair->before[row->number];
    bool has_now = now->event || (row->is_wide && now[1].event);
    bool had = before->event || (row->is_wide && before[1].event);
    if (!has_now)
        return STATE_GONE;
    if (!had)
        return STATE_NEW;
    if (row->value != row->old)
        return STATE_CHANGED;
    return now->event > pair->since || (row->is_wide && now[1].event > pair->since) ? STATE_AGAIN
                                                                                    : STATE_KEPT;
}

void state_rows(const struct state_pair *pair,
                void (*each)(void *context, const struct state_row *row), void *context)
{
    for (uint32_t i = 0; i < STATE_REGISTERS; i++) {
        if (!pair->now[i].event && !pair->before[i].event)
            continue;
        struct state_row row = {.number = i};
        row.is_wide = i + 1 < STATE_REGISTERS && is_wide(pair, i);
        row.name = cps_name(pair->names, CPS_SPACE_GPU, i, &row.half);
        row.value = value_of(&pair->now[i], row.is_wide);
        row.old = value_of(&pair->before[i], row.is_wide);
        row.mark = mark_of(pair, &row);
        row.writer = row.mark != STATE_GONE ? &pair->now[i] : NULL;
        each(context, &row);
        i += row.is_wide;
    }
}

/* Hands on the rows of one block, and notes which others there are. */
enum { MAX_BLOCKS = 128 };

struct blocks {
    char name[MAX_BLOCKS][16];
    unsigned count;
    unsigned now; /* the one whose rows are handed on; `count`: none, they are looked for */
    void (*each)(void *context, const struct state_row *row);
    void *context;
};

static unsigned block_number(struct blocks *b, const struct state_row *row)
{
    char block[16];
    unsigned i = 0;
    state_block(row, block);
    while (i < b->count && strcmp(b->name[i], block) != 0)
        i++;
    if (i == b->count && i < MAX_BLOCKS)
        memcpy(b->name[b->count++], block, sizeof(block));
    return i < MAX_BLOCKS ? i : MAX_BLOCKS - 1; /* more than there are anywhere share the last */
}

static void note_block(void *context, const struct state_row *row)
{
    block_number(context, row);
}

static void hand_on(void *context, const struct state_row *row)
{
    struct blocks *b = context;
    if (block_number(b, row) == b->now)
        b->each(b->context, row);
}

void state_rows_by_block(const struct state_pair *pair,
                         void (*each)(void *context, const struct state_row *row), void *context)
{
    struct blocks b = {.each = each, .context = context};
    state_rows(pair, note_block, &b);
    for (b.now = 0; b.now < b.count; b.now++)
        state_rows(pair, hand_on, &b);
}

size_t state_block(const struct state_row *row, char ret[16])
{
    size_t size = row->name ? strcspn(row->name, "_") : 0;
    if (!size || size > 15) {
        memcpy(ret, "?", 2);
        return 1;
    }
    memcpy(ret, row->name, size);
    ret[size] = '\0';
    return size;
}

char state_mark_text(enum state_mark mark)
{
    return " =*+-"[mark];
}

const char *state_mark_word(enum state_mark mark)
{
    static const char *const words[] = {"kept", "again", "changed", "new", "gone"};
    return words[mark];
}
