/* SPDX-License-Identifier: MIT
 * The words that every text of ours is made of: blanks, identifiers, numbers, literals. Shared by
 * the assembler, PM4 text and the debugger. */
#ifndef CPS_LEX_H
#define CPS_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Whether @p length bytes at @p text are that word. */
static inline bool cps_lex_is(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && !memcmp(text, word, length);
}
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
/** Finds a label of @p length bytes: true and its place, else false. */
typedef bool cps_lex_label_fn(void *context, const char *name, size_t length, uint32_t *ret);
/**
 * Reads a label and what is added to it: "#a", "#a + 1", "#b - #a", "#a * 4 - #b * 2", "#BV::a". A
 * factor is at most 0xffff; nothing is in brackets. A name with "::" in it is asked for as it is.
 * @param at       behind blanks there is a '#'; moved behind what was read, or to the mistake
 * @param find     asked for each label; NULL: there are none
 * @param context  what it gets
 * @param ret      the sum, from 0 to UINT32_MAX
 * @return NULL, or what was expected at *at: constant text
 */
const char *cps_lex_labels(const char **at, cps_lex_label_fn *find, void *context, int64_t *ret);
/** Moves *at behind @p word, which may stand behind blanks; false, and *at untouched, if another
 * text is there. */
bool cps_lex_take(const char **at, const char *word);
/** "$1f", "$sp", "$lr": the fixed spellings of general registers; @p length without the "$". */
bool cps_lex_register_(const char *word, size_t length, int64_t *ret);

#endif
