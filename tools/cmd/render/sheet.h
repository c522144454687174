/* SPDX-License-Identifier: MIT
 * A report of headings and tables: one walk over the results writes the text of a terminal or a
 * page. On a page the first cell of a row is the row's heading. */
#ifndef CPS_SHEET_H
#define CPS_SHEET_H

#include "isa/base/buf.h"

struct sheet {
    struct cps_buf *out;
    bool page;             /**< else text */
    const unsigned *width; /**< text: least width of each column; 0 for the last */
    unsigned column;
    bool heads; /**< the row has the columns' headings */
};

/** Starts and ends a page. Of text there is nothing. */
void sheet_begin(struct sheet *sheet, const char *title);
void sheet_end(struct sheet *sheet);
/** Starts a part with a heading. @param number  of its anchor, #fN */
void sheet_part(struct sheet *sheet, size_t number, const char *title);
void sheet_end_part(struct sheet *sheet);
/** Starts a table. @param id  of a page's element, or NULL */
void sheet_table(struct sheet *sheet, const char *id, const unsigned *width);
void sheet_end_table(struct sheet *sheet);
/** Starts a row, in text after @p indent blanks. @param heads  its cells are columns' headings */
void sheet_row(struct sheet *sheet, unsigned indent, bool heads);
void sheet_end_row(struct sheet *sheet);
/** Appends a cell. @param style  a class of report.css, or NULL */
void sheet_cell(struct sheet *sheet, const char *style, const char *text);
/** Appends a cell with a link on a page. */
void sheet_link(struct sheet *sheet, const char *style, const char *address, const char *text);
/** Appends a cell that is formatted. */
void sheet_cellf(struct sheet *sheet, const char *format, ...) CPS_PRINTF(2, 3);
/** A row of a key and a value, which may be "". */
void sheet_pair(struct sheet *sheet, const char *key, const char *format, ...) CPS_PRINTF(3, 4);

#endif
