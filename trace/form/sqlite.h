/* SPDX-License-Identifier: MIT
 * What a trace is as a database: its tables, and the queries that fill them. Private to trace/.
 * docs/sqlite.md has the columns. */
#ifndef CPS_SQLITE_H
#define CPS_SQLITE_H

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
/** What is made of the tables once they are filled, with indexes and views. */
extern const char cps_sqlite_rest_[];

#endif
