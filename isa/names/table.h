/* SPDX-License-Identifier: MIT
 * Name tables as the generator writes them and as rnndb XML is read into: rows sorted by number,
 * an index sorted by name. Private to isa/; also included by the build-time generator. */
#ifndef CPS_NAMES_H
#define CPS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/** Sets of GPU generations ("variants"): bit 0 is a2xx, bit 3 a5xx, bit 6 a8xx. */
#define CPS_CHIP_BIT(digit) (1u << ((digit)-2))
#define CPS_CHIPS_ALL       0xffu

/** What the bits of a field mean, in rnndb's words. */
enum cps_name_kind {
    CPS_KIND_HEX,     /**< "hex", and what has no type */
    CPS_KIND_BOOL,    /**< "bool" */
    CPS_KIND_UINT,    /**< "uint" */
    CPS_KIND_INT,     /**< "int": two's complement of the field's width */
    CPS_KIND_FLOAT,   /**< "float": IEEE 754, 16 or 32 bits */
    CPS_KIND_FIXED,   /**< "fixed.N": signed, N bits behind the point */
    CPS_KIND_UFIXED,  /**< "ufixed.N" */
    CPS_KIND_ADDRESS, /**< "address": of the GPU's memory, in bytes */
    CPS_KIND_REGID,   /**< "regid": register of a shader and its component */
    CPS_KIND_REG,     /**< "reg": offset of a register of the GPU */
    CPS_KIND_COUNT
};

/** How the bits of a field are read. */
struct cps_name_type {
    uint8_t kind;    /**< enum cps_name_kind */
    uint8_t radix;   /**< of fixed point: bits behind the point */
    uint8_t shift;   /**< "<<N": low bits that the hardware leaves out, since they are 0 */
    bool selects;    /**< "!": its value decides which words and fields the packet has */
    uint16_t values; /**< 1 + index of the table of the enumeration; 0: none */
};

/** "?ENUM=VALUE": exists only where the field that selects by this enumeration has such a value. */
struct cps_name_when {
    uint16_t values; /**< 1 + index of the enumeration's table; 0: always */
    uint32_t mask;   /**< bit N: with value N */
};

/** One bit field of a register; bits count through both halves of a 64-bit register. */
struct cps_name_field {
    const char *name; /**< "": the register itself is this value */
    uint8_t low;
    uint8_t high;
    uint8_t chips; /**< generations that have the field */
    struct cps_name_type type;
    struct cps_name_when when;
};

struct cps_name_row {
    const char *name;
    uint32_t number;
    uint32_t order; /**< position in the source: earlier rows win a tie */
    uint32_t first_field;
    uint32_t field_count;
    uint16_t stride; /**< of a packet's words: they repeat with this distance */
    uint16_t length; /**< how often; 0 and 1: they do not */
    struct cps_name_when when;
    uint8_t chips; /**< generations in which the number has this name */
    bool wide;     /**< 64 bits: also covers number + 1 */
    bool is_gmu;   /**< of the GMU's file: any other row of the number wins */
};

struct cps_name_table {
    const char *domain;              /**< of the source: "A6XX_CONTROL_REG" */
    const struct cps_name_row *rows; /**< in the order of cps_row_order_() */
    const uint32_t *by_name;         /**< indexes into rows, in the order of cps_row_by_name_() */
    const struct cps_name_field *fields;
    size_t count;
};

/** All tables of one source, in the order of their domains. A domain is a space of registers, an
 * enumeration, or, called as the packet is, the words behind its header. */
struct cps_name_source {
    const struct cps_name_table *tables;
    size_t count;
};

/** The built-in tables, written by mknames. */
extern const struct cps_name_source cps_name_built_in_;

/* Of a domain's name and a table, for bsearch(). */
static inline int cps_table_order_(const void *domain, const void *table)
{
    return strcmp(domain, ((const struct cps_name_table *)table)->domain);
}

/** 1 + index of the table of @p domain, or 0. */
static inline uint16_t cps_source_find_(const struct cps_name_source *source, const char *domain)
{
    const struct cps_name_table *found =
        source->count
            ? bsearch(domain, source->tables, source->count, sizeof(*found), cps_table_order_)
            : NULL;
    return found ? (uint16_t)(found - source->tables + 1) : 0;
}

/* "A6XX" at *text: its digit, and *text behind it; else 0. */
static inline unsigned cps_chip_parse_(const char **text)
{
    const char *t = *text;
    if (t[0] != 'A' || t[1] < '2' || t[1] > '9' || strncmp(t + 2, "XX", 2) != 0)
        return 0;
    *text = t + 4;
    return (unsigned)(t[1] - '0');
}

/**
 * Reads rnndb's "A5XX", "A6XX-", "A2XX-A4XX" or several of them. Empty means all; words that name
 * no generation (chips within one) are ignored, since no layout could tell them apart.
 */
static inline uint8_t cps_chips_parse_(const char *text)
{
    unsigned chips = 0;
    while (*text) {
        const char *start = text;
        unsigned first = cps_chip_parse_(&text);
        unsigned last = first;
        if (*text == '-') {
            text++;
            last = cps_chip_parse_(&text);
            if (!last)
                last = 9;
            if (!first && last < 9)
                first = 2;
        }
        for (unsigned digit = first; first && digit <= last; digit++)
            chips |= CPS_CHIP_BIT(digit);
        if (text == start)
            text++;
    }
    return (uint8_t)(chips ? chips : CPS_CHIPS_ALL);
}

/** "uint", "fixed.4" in the .tsv files: its number and, of fixed point, @p radix; else
 * CPS_KIND_COUNT. */
static inline unsigned cps_name_kind_parse_(const char *text, uint8_t *radix)
{
    static const char *const words[CPS_KIND_COUNT] = {
        [CPS_KIND_HEX] = "hex",       [CPS_KIND_BOOL] = "bool",       [CPS_KIND_UINT] = "uint",
        [CPS_KIND_INT] = "int",       [CPS_KIND_FLOAT] = "float",     [CPS_KIND_FIXED] = "fixed",
        [CPS_KIND_UFIXED] = "ufixed", [CPS_KIND_ADDRESS] = "address", [CPS_KIND_REGID] = "regid",
        [CPS_KIND_REG] = "reg"};
    size_t length = strcspn(text, ".");
    for (unsigned kind = 0; kind < CPS_KIND_COUNT; kind++) {
        if (strlen(words[kind]) != length || memcmp(words[kind], text, length) != 0)
            continue;
        for (text += length; *text; text++)
            *radix = (uint8_t)(*text >= '0' && *text <= '9' ? *radix * 10 + *text - '0' : 0);
        return kind;
    }
    return CPS_KIND_COUNT;
}

/* The later a name was introduced, and the fewer generations have it, the higher. */
static inline unsigned cps_chips_rank_(uint8_t chips)
{
    unsigned first = 0;
    unsigned others = 8;
    for (unsigned bit = 0; bit < 8; bit++)
        others -= chips >> bit & 1;
    while (first < 8 && !(chips >> first & 1))
        first++;
    return first * 16 + others;
}

/* The most specific row first, then as written. */
static inline int cps_row_rank_(const struct cps_name_row *a, const struct cps_name_row *b)
{
    unsigned rank_a = cps_chips_rank_(a->chips);
    unsigned rank_b = cps_chips_rank_(b->chips);
    if (rank_a != rank_b)
        return rank_a > rank_b ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/** By number, the GPU before the GMU, then the most specific name, then as written. Total. */
static inline int cps_row_order_(const void *left, const void *right)
{
    const struct cps_name_row *a = left;
    const struct cps_name_row *b = right;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    if (a->is_gmu != b->is_gmu)
        return a->is_gmu ? 1 : -1;
    return cps_row_rank_(a, b);
}

/** By name, then the most specific row, then as written. Compares pointers to rows. */
static inline int cps_row_by_name_(const void *left, const void *right)
{
    const struct cps_name_row *a = *(const struct cps_name_row *const *)left;
    const struct cps_name_row *b = *(const struct cps_name_row *const *)right;
    int order = strcmp(a->name, b->name);
    return order ? order : cps_row_rank_(a, b);
}

#endif
