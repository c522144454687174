/* SPDX-License-Identifier: MIT
 * A trace as a database while it is made: its state, its statements, and how rows go in. Private to
 * trace/. docs/sqlite.md has the columns.
 *
 *   sqlite_schema.c  the tables
 *   sqlite_rows.c    events become rows
 *   sqlite_draws.c   draws and the like among them
 *   sqlite_names.c   names and fields of what occurs
 *   sqlite_buffers.c buffers of the capture, and what addresses lie in
 *   sqlite.c         the file, from its beginning to its end */
#ifndef CPS_SQLITE_H
#define CPS_SQLITE_H

#include <sqlite3.h>

#include "trace/form/forms.h"
#include "trace/form/spool.h"
#include "trace/form/words.h"
#include "trace/event/launch.h"

/** Statements that are prepared once; sqlite_schema.c has them. */
enum db_insert {
    DB_HEAD,
    DB_SUBMISSION,
    DB_PACKET,
    DB_WORD,
    DB_WRITE,
    DB_READ,
    DB_MEMORY,
    DB_ASSUMPTION,
    DB_OTHER,
    DB_NAME,
    DB_FIELD,
    DB_DRAW,
    DB_BUFFER,
    DB_ADDRESS,
    DB_INSERTS,
};

/** Makes the tables. */
extern const char cps_sqlite_tables_[];
/** By enum db_insert. */
extern const char *const cps_sqlite_inserts_[DB_INSERTS];
/** The registers that occur, which get names: processor, space, number. */
extern const char cps_sqlite_registers_[];
/** The values that occur in registers, which get fields: processor, space, number, value. */
extern const char cps_sqlite_values_[];
/** Adds addresses in registers and of memory, and the buffer that each lies in. */
extern const char cps_sqlite_addresses_[];
/** What is made of the tables once they are filled, with indexes and views. */
extern const char cps_sqlite_rest_[];

#define DB_NULL INT64_MIN /* NULL in a column of numbers */

/* A processor's packet, whose row is made when it is over. */
struct db_packet {
    struct cps_event event;
    int64_t id; /* 0: there is none */
    int64_t number, submission;
    int64_t writes, reads, memory, steps;
};

/* Draws and the like of a processor. */
struct db_draws {
    struct cps_launches launches;
    int64_t packet, event, submission; /* of the one that is open */
    int64_t before;                    /* last packet of the one before; 0: there is none */
};

struct database {
    sqlite3 *db;
    sqlite3_stmt *insert[DB_INSERTS];
    struct cps_spool spool;
    int code;        /* SQLITE_OK, or of the first failure */
    char reason[96]; /* its message */
    bool stepping;   /* STEP events are recorded */
    int64_t submission, packets;
    struct db_packet packet[CPS_CPU_COUNT];
    struct db_draws draws[CPS_CPU_COUNT];
    struct cps_words words;
    int64_t words_of;     /* packet */
    int64_t words_event;  /* its event */
    struct cps_buf value; /* text of a word */
};
/* A value of a row. */
struct db_cell {
    const char *text; /* NULL: the number */
    int64_t number;   /* DB_NULL: NULL */
};
#define DB_TEXT(value)   \
    {                    \
        (value), DB_NULL \
    }
#define DB_NUMBER(value)       \
    {                          \
        NULL, (int64_t)(value) \
    }

#define DB_INSERT(d, which, ...)                                        \
    cps_db_insert_((d), (which), (const struct db_cell[]){__VA_ARGS__}, \
                   sizeof((const struct db_cell[]){__VA_ARGS__}) / sizeof(struct db_cell))

/** Keeps what went wrong first. @return whether @p code is none of that */
bool cps_db_check_(struct database *d, int code);
/** Adds a row; nothing behind a failure. */
void cps_db_insert_(struct database *d, enum db_insert which, const struct db_cell *cell,
                    unsigned count);
/** Takes an event: cps_trace_writer.event. */
void cps_db_event_(struct cps_trace_writer *writer, const struct cps_event *event);
/** Begins to look for draws. */
void cps_db_begin_draws_(struct cps_trace_writer *writer);
/** Adds the row of a draw that is over in front of @p event; NULL: the trace ends. */
void cps_db_draws_(struct cps_trace_writer *writer, const struct cps_event *event);
/** Adds the rows of what is not over when the trace is. */
void cps_db_end_rows_(struct cps_trace_writer *writer);
/** Adds the address that a word of the packet at hand is, if it is one. */
void cps_db_put_address_(struct database *d, const struct cps_value *value);
/** Adds the buffers of the capture, and makes the functions that cps_sqlite_addresses_ calls. */
void cps_db_put_buffers_(struct cps_trace_writer *writer);
/** Adds names of the registers that a query finds, or fields where it has their values, too. */
void cps_db_put_known_(struct cps_trace_writer *writer, const char *sql);

#endif
