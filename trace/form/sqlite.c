/* SPDX-License-Identifier: MIT
 * A trace as a database of SQLite, written only. It is made in a file without a name, in one
 * transaction, and becomes the output when it is whole; memory does not grow with it. */
#include "trace/form/sqlite.h"

#include <stdio.h>
#include <string.h>

#include "trace/form/text.h"

#define CACHE_KIB "8192"

/* What happened first is what is told. */
bool cps_db_check_(struct database *d, int code)
{
    bool good = code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW;
    if (!good && d->code == SQLITE_OK) {
        d->code = code;
        snprintf(d->reason, sizeof(d->reason), "%s", sqlite3_errstr(code));
    }
    return good;
}

static struct cps_err *failure_of(const struct database *d)
{
    if (d->code == SQLITE_OK)
        return NULL;
    if (d->code == SQLITE_NOMEM)
        return cps_err_nomem();
    return cps_err_new(CPS_ERR_OS, "the database cannot be made: %s", d->reason);
}

static void execute(struct database *d, const char *sql)
{
    if (d->code == SQLITE_OK)
        cps_db_check_(d, sqlite3_exec(d->db, sql, NULL, NULL, NULL));
}

void cps_db_insert_(struct database *d, enum db_insert which, const struct db_cell *cell,
                    unsigned count)
{
    sqlite3_stmt *statement = d->insert[which];
    if (d->code != SQLITE_OK)
        return;
    for (unsigned i = 0; i < count; i++) {
        int column = (int)i + 1;
        if (cell[i].text)
            cps_db_check_(d,
                          sqlite3_bind_text(statement, column, cell[i].text, -1, SQLITE_TRANSIENT));
        else if (cell[i].number == DB_NULL)
            cps_db_check_(d, sqlite3_bind_null(statement, column));
        else
            cps_db_check_(d, sqlite3_bind_int64(statement, column, cell[i].number));
    }
    cps_db_check_(d, sqlite3_step(statement));
    sqlite3_reset(statement);
}

/* "# key value" */
static void put_head(struct database *d, const char *text)
{
    while (*text && d->code == SQLITE_OK) {
        CPS_BUF line = {0};
        size_t size = strcspn(text, "\n");
        if (size > 2)
            cps_buf_add(&line, text + 2, size - 2);
        text += size + (text[size] != '\0');
        if (line.failed)
            cps_db_check_(d, SQLITE_NOMEM);
        char *value = line.data ? strchr(line.data, ' ') : NULL;
        if (value)
            *value++ = '\0';
        DB_INSERT(d, DB_HEAD, DB_TEXT(cps_buf_text(&line)), DB_TEXT(value ? value : ""));
    }
}

static void close_database(struct database *d)
{
    for (unsigned i = 0; i < DB_INSERTS; i++) {
        sqlite3_finalize(d->insert[i]);
        d->insert[i] = NULL;
    }
    int code = sqlite3_close(d->db);
    d->db = NULL;
    cps_db_check_(d, code);
}

static void end(struct cps_trace_writer *w)
{
    struct database *d = w->state;
    cps_db_end_rows_(w);
    put_head(d, w->head->text);
    cps_db_put_known_(w, cps_sqlite_registers_);
    cps_db_put_known_(w, cps_sqlite_values_);
    cps_db_put_buffers_(w);
    execute(d, cps_sqlite_addresses_);
    execute(d, cps_sqlite_rest_);
    execute(d, "COMMIT");
    close_database(d);
    w->failure = failure_of(d);
    if (!w->failure)
        w->failure = cps_spool_copy_(&d->spool, w->out);
}

static void free_database(void *state)
{
    struct database *d = state;
    if (d->db)
        close_database(d);
    cps_spool_close_(&d->spool);
    cps_words_free_(&d->words);
    cps_buf_deinit(&d->value);
}

/* The name goes at once: SQLite has the file open then. */
static struct cps_err *open_file(struct database *d)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    CPS_TRY(cps_spool_open_(&d->spool));
    cps_db_check_(d, sqlite3_open_v2(d->spool.path, &d->db, flags, "unix-none"));
    cps_spool_forget_(&d->spool);
    return NULL;
}

static void prepare(struct database *d)
{
    execute(d, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA page_size = 4096;"
               "PRAGMA cache_size = -" CACHE_KIB "; BEGIN");
    execute(d, cps_sqlite_tables_);
    for (unsigned i = 0; i < DB_INSERTS && d->code == SQLITE_OK; i++)
        cps_db_check_(d,
                      sqlite3_prepare_v2(d->db, cps_sqlite_inserts_[i], -1, &d->insert[i], NULL));
}

/* Words are rows by their packet and number: without packets they would take each other's place. */
static struct cps_err *check_events(const char *events)
{
    uint32_t kinds = 0;
    bool good =
        !cps_text_classes(events, &kinds) || !(kinds >> CPS_EV_WORD & 1) || kinds >> CPS_EV_PKT & 1;
    return good ? NULL
                : cps_err_new(CPS_ERR_UNSUPPORTED,
                              "a database holds words by their packets: expected events with pkt "
                              "where payload is one of them");
}

struct cps_err *cps_sqlite_write_(struct cps_trace_writer *writer)
{
    CPS_TRY(check_events(writer->head->events));
    struct database *d = calloc(1, sizeof(*d));
    if (!d)
        return cps_err_nomem();
    d->spool.fd = -1;
    d->submission = DB_NULL;
    struct cps_err *err = open_file(d);
    if (!err) {
        prepare(d);
        err = failure_of(d);
    }
    if (err) {
        free_database(d);
        free(d);
        return err;
    }
    writer->state = d;
    cps_db_begin_draws_(writer);
    writer->event = cps_db_event_;
    writer->end = end;
    writer->deinit = free_database;
    return NULL;
}
