/* SPDX-License-Identifier: MIT
 * Tables for people at a terminal, made of the rows of .def files as they are written there. */
#ifndef CPS_HELP_TABLE_H
#define CPS_HELP_TABLE_H

#include <json-c/json.h>

#include "isa/base/buf.h"
#include "isa/target.h"

/** A row: its columns as the .def file has them, and what masks of generations among them are. */
struct help_row {
    const char *cells; /**< the arguments of its macro, with commas between them */
    uint64_t gens[2];
};

struct help_table {
    const char *name;  /**< what people type */
    const char *title; /**< what its rows are */
    /** Names of the columns with blanks between them. One that begins with `#` is a mask of
     * generations, which help_row::gens has; the last column takes the rest of the line. */
    const char *head;
    const struct help_row *rows;
    size_t count;
    enum cps_gen of; /**< any generation of the set that masks are of; CPS_GEN_NONE: of all sets */
};

/** Appends a cell as people read it: without quotes, generations by name, "-" for none. */
void help_cell(const struct help_table *table, size_t row, unsigned column, struct cps_buf *out);
/** Appends words from column @p from on, in lines of at most @p width characters where words allow
 * it. @p line  offset in @p out of the line to continue @return that of the last line */
size_t help_put_words(const char *text, size_t line, size_t from, unsigned width,
                      struct cps_buf *out);
/** Appends the table in lines of at most @p width characters where words allow it. */
void help_layout(const struct help_table *table, unsigned width, struct cps_buf *out);
/** Columns of the terminal that stdout is, 80 where it is none. */
unsigned help_width(void);
/** A new array of objects, one a row; a member a column. */
struct json_object *help_json(const struct help_table *table);

#endif
