/* SPDX-License-Identifier: MIT
 * The words that every text of ours is made of: blanks, identifiers, numbers, literals. Shared by
 * the assembler, PM4 text and the debugger. */
#ifndef CPS_LEX_H
#define CPS_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The first character at or behind @p at that is neither space nor tab. */
const char *cps_lex_blank(const char *at);
/** Length of the identifier (letter or _, then letters, digits, _) at @p at; 0 if there is none. */
size_t cps_lex_identifier(const char *at);
/** Reads an unsigned number, decimal or 0x, of at most 64 bits minus sign, and moves *at behind
 * it; false, and *at untouched, if there is none or it is too large. */
bool cps_lex_number(const char **at, int64_t *ret);
/** Reads "[hex]" that fills the rest of the text. */
bool cps_lex_raw(const char *at, uint64_t *ret);
/** Reads "[hex]" of at most @p digits digits and moves *at behind it; false, and *at untouched, if
 * it is none. */
bool cps_lex_unit(const char **at, unsigned digits, uint32_t *ret);
/** Moves *at behind @p word, which may stand behind blanks; false, and *at untouched, if another
 * text is there. */
bool cps_lex_take(const char **at, const char *word);
/** "$1f", "$sp", "$lr": the fixed spellings of general registers; @p length without the "$". */
bool cps_lex_register_(const char *word, size_t length, int64_t *ret);

#endif
