/* SPDX-License-Identifier: MIT
 * File names may hold any bytes; documents may not. */
#ifndef CPS_UTF8_H
#define CPS_UTF8_H

#include <stddef.h>

/** Length of the character at @p at, a terminated text; 0 if there is none that XML, HTML or JSON
 * may hold: a byte that is no UTF-8, or a control character but line break and tabulator. */
size_t utf8_length(const char *at);

#endif
