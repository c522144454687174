/* SPDX-License-Identifier: MIT
 * Names and fields of the registers that occur in a trace, for its database. */
#include <stdio.h>
#include <string.h>

#include "trace/form/sqlite.h"

static int number_of_space(const char *word)
{
    static const struct {
        const char *word;
        enum cps_space space;
    } spaces[] = {{"gpu", CPS_SPACE_GPU},
                  {"prot", CPS_SPACE_GPU},
                  {"pipe", CPS_SPACE_PIPE},
                  {"ctrl", CPS_SPACE_CONTROL},
                  {"sqe", CPS_SPACE_SQE}};
    for (size_t i = 0; word && i < sizeof(spaces) / sizeof(spaces[0]); i++) {
        if (!strcmp(word, spaces[i].word))
            return (int)spaces[i].space;
    }
    return -1;
}

static const struct cps_names *names_called(const struct cps_trace_writer *w, const char *processor)
{
    for (unsigned who = 0; processor && who < CPS_CPU_COUNT; who++) {
        if (!strcmp(processor, cps_processor_name(who)))
            return w->names[who];
    }
    return NULL;
}

/* A register, or a value of one, as a query gives it. */
struct found {
    struct database *d;
    const char *processor, *space;
    int64_t reg, value;
};

static void put_field(void *context, const struct cps_value *value)
{
    const struct found *f = context;
    CPS_BUF text = {0};
    cps_value_put(value, &text);
    if (text.failed)
        cps_db_check_(f->d, SQLITE_NOMEM);
    DB_INSERT(f->d, DB_FIELD, DB_TEXT(f->processor), DB_TEXT(f->space), DB_NUMBER(f->reg),
              DB_NUMBER(f->value), DB_TEXT(value->name ? value->name : "no-name"),
              DB_NUMBER(value->low), DB_NUMBER(value->high), DB_NUMBER(value->bits),
              DB_TEXT(cps_buf_text(&text)));
}

static void put_name(const struct found *f, const struct cps_names *names, enum cps_space space)
{
    unsigned half = 0;
    char full[256];
    const char *name = cps_name(names, space, (uint32_t)f->reg, &half);
    if (!name)
        return;
    snprintf(full, sizeof(full), half ? "%s+0x%x" : "%s", name, half);
    DB_INSERT(f->d, DB_NAME, DB_TEXT(f->processor), DB_TEXT(f->space), DB_NUMBER(f->reg),
              DB_TEXT(full));
}

/* Goes through what a query finds: registers, or values where it has a fourth column. */
void cps_db_put_known_(struct cps_trace_writer *w, const char *sql)
{
    struct database *d = w->state;
    sqlite3_stmt *query = NULL;
    if (d->code != SQLITE_OK || !cps_db_check_(d, sqlite3_prepare_v2(d->db, sql, -1, &query, NULL)))
        return;
    int code = SQLITE_ROW;
    while (d->code == SQLITE_OK && (code = sqlite3_step(query)) == SQLITE_ROW) {
        struct found f = {.d = d,
                          .processor = (const char *)sqlite3_column_text(query, 0),
                          .space = (const char *)sqlite3_column_text(query, 1),
                          .reg = sqlite3_column_int64(query, 2)};
        int space = number_of_space(f.space);
        const struct cps_names *names = names_called(w, f.processor);
        if (!names || space < 0)
            continue;
        if (sqlite3_column_count(query) == 3) {
            put_name(&f, names, (enum cps_space)space);
            continue;
        }
        f.value = sqlite3_column_int64(query, 3);
        cps_name_values(names, (enum cps_space)space, (uint32_t)f.reg, (uint32_t)f.value, put_field,
                        &f);
    }
    cps_db_check_(d, code);
    sqlite3_finalize(query);
}
