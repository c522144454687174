/* SPDX-License-Identifier: MIT
 * Rows of a comparison: kept, counted, printed. */
#include "tools/run/hang/hang.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "isa/base/list.h"
#include "trace/out/json.h"

static const char *const group_names[REPLAY_GROUPS] = {
    [REPLAY_PROCESSOR] = "processor",  [REPLAY_ROQ] = "fetched words",
    [REPLAY_QUEUES] = "queued writes", [REPLAY_BANKS] = "cluster registers",
    [REPLAY_REGISTERS] = "registers",  [REPLAY_DRAW_STATE] = "draw state",
};

static const char *const verdict_words[REPLAY_VERDICTS] = {
    [REPLAY_EQUAL] = "equal",         [REPLAY_DIFFERENT] = "different",
    [REPLAY_IN_FLIGHT] = "in flight", [REPLAY_BANK] = "bank",
    [REPLAY_NO_VALUE] = "no value",   [REPLAY_OLDER] = "older than the replay",
};

void rows_add(struct replay_rows *rows, enum replay_group group, enum replay_verdict verdict,
              uint32_t hardware, uint32_t emulated, const char *why, const char *format, ...)
{
    va_list arguments;
    if (rows->failed || !CPS_LIST_ROOM(rows->row, rows->count)) {
        rows->failed = true;
        return;
    }
    struct replay_row *row = &rows->row[rows->count++];
    *row = (struct replay_row){.hardware = hardware,
                               .emulated = emulated,
                               .group = (uint8_t)group,
                               .verdict = (uint8_t)verdict,
                               .why = why};
    va_start(arguments, format);
    vsnprintf(row->name, sizeof(row->name), format, arguments);
    va_end(arguments);
    rows->counts[group][verdict]++;
}

void rows_deinit(struct replay_rows *rows)
{
    free(rows->row);
    *rows = (struct replay_rows){0};
}

unsigned rows_count(const struct replay_rows *rows, enum replay_verdict verdict)
{
    unsigned count = 0;
    for (unsigned group = 0; group < REPLAY_GROUPS; group++)
        count += rows->counts[group][verdict];
    return count;
}

const char *rows_group_name(const struct replay_row *row)
{
    return group_names[row->group];
}

const char *rows_verdict_word(const struct replay_row *row)
{
    return verdict_words[row->verdict];
}

static void print_row(const struct replay_row *row, FILE *out)
{
    fprintf(out, "%s 0x%08" PRIx32 " 0x%08" PRIx32 " %s%s%s\n", row->name, row->hardware,
            row->emulated, verdict_words[row->verdict], row->why ? ": " : "",
            row->why ? row->why : "");
}

/* "# processor: 183 equal, 0 different, 1 no value": the two that matter always, others if any. */
static void print_counts(const char *name, const unsigned counts[REPLAY_VERDICTS], FILE *out)
{
    fprintf(out, "# %s: %u equal, %u different", name, counts[REPLAY_EQUAL],
            counts[REPLAY_DIFFERENT]);
    for (unsigned verdict = REPLAY_IN_FLIGHT; verdict < REPLAY_VERDICTS; verdict++) {
        if (counts[verdict])
            fprintf(out, ", %u %s", counts[verdict], verdict_words[verdict]);
    }
    fputc('\n', out);
}

static bool has_rows(const struct replay_rows *rows, unsigned group)
{
    unsigned count = 0;
    for (unsigned verdict = 0; verdict < REPLAY_VERDICTS; verdict++)
        count += rows->counts[group][verdict];
    return count;
}

void rows_print(const struct replay_rows *rows, bool all, FILE *out)
{
    unsigned shown = all ? 1 : rows_count(rows, REPLAY_DIFFERENT);
    unsigned sum[REPLAY_VERDICTS];
    if (shown)
        fprintf(out, "# register hardware emulated verdict\n");
    for (size_t i = 0; i < rows->count; i++) {
        if (all || rows->row[i].verdict == REPLAY_DIFFERENT)
            print_row(&rows->row[i], out);
    }
    for (unsigned group = 0; group < REPLAY_GROUPS; group++) {
        if (has_rows(rows, group))
            print_counts(group_names[group], rows->counts[group], out);
    }
    for (unsigned verdict = 0; verdict < REPLAY_VERDICTS; verdict++)
        sum[verdict] = rows_count(rows, verdict);
    print_counts("in all", sum, out);
}

struct json_object *rows_json(const struct replay_rows *rows)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < rows->count; i++) {
        const struct replay_row *row = &rows->row[i];
        struct json_object *to = json_object_new_object();
        cps_json_text(to, "group", group_names[row->group]);
        cps_json_text(to, "register", row->name);
        cps_json_uint(to, "hardware", row->hardware);
        cps_json_uint(to, "emulated", row->emulated);
        cps_json_text(to, "verdict", verdict_words[row->verdict]);
        if (row->why)
            cps_json_text(to, "why", row->why);
        cps_json_append(list, to);
    }
    return list;
}

struct json_object *rows_json_counts(const struct replay_rows *rows)
{
    struct json_object *groups = json_object_new_object();
    for (unsigned group = 0; group < REPLAY_GROUPS; group++) {
        struct json_object *to = json_object_new_object();
        for (unsigned verdict = 0; verdict < REPLAY_VERDICTS; verdict++)
            cps_json_uint(to, verdict_words[verdict], rows->counts[group][verdict]);
        cps_json_add(groups, group_names[group], to);
    }
    return groups;
}
