/* SPDX-License-Identifier: MIT
 * Registers that behave: the row of their tables, the index that finds it, and what a handler gets.
 * The same for every engine and every kind of registers.
 *
 * It does not know what a register holds, nor who reports an access: that is the engine's. */
#ifndef CPS_REG_H
#define CPS_REG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/base/err.h"

struct cps_access;
/** A handler: what a read gives, and what a write does. */
typedef uint32_t cps_reg_read(const struct cps_access *at);
typedef void cps_reg_write(const struct cps_access *at);

/** Who accesses, for the trace. */
struct cps_by {
    unsigned who;  /**< enum cps_processor */
    unsigned path; /**< CPS_PATH_*, of writes */
    uint32_t pc;
};

/** One register, or several in a row, with the same behaviour. */
struct cps_reg_row {
    uint64_t gens;         /**< a bit per generation or layout, as the table counts them */
    uint32_t first, count; /**< the first number, and how many registers */
    uint16_t stride;       /**< from the number of one to that of the next */
    uint16_t own;          /**< bits that only the table's own code knows */
    uint32_t member;       /**< where a struct holds the first one: cps_reg_member_() */
    uint32_t mask, seen;   /**< bits that a write stores, and that a read shows */
    /** What a read gives; NULL: what the register holds. */
    cps_reg_read *read;
    /** What a write does; NULL: it only stores. The table's own code says who stores. */
    cps_reg_write *write;
};

/** An access to one register, for its handlers. */
struct cps_access {
    void *device; /**< whose register it is: a core, or an engine */
    const struct cps_reg_row *row;
    uint32_t number;
    uint32_t index;  /**< of the register in its row */
    uint32_t value;  /**< of a write */
    uint32_t stored; /**< what it holds, where the engine gives that: before a write */
    unsigned
        lanes; /**< bytes that a write brings, a bit each; where part of a word can be written */
    const uint32_t *extra;   /**< of afuc: words that came with the value */
    const struct cps_by *by; /**< of NVIDIA's engines */
};

/** A row of @p n registers, @p step apart; the rest are designated members. */
#define CPS_REG_ROW(bits, low, n, step, ...)                                        \
    {                                                                               \
        .gens = (bits), .first = (low), .count = (n), .stride = (step), __VA_ARGS__ \
    }

/** Rows of a table, for the index. */
struct cps_reg_table {
    const struct cps_reg_row *row;
    size_t count;
};
#define CPS_REG_TABLE(rows)                  \
    {                                        \
        rows, sizeof(rows) / sizeof(rows[0]) \
    }

/** The rows that one chip has. Nobody changes it, so copies of an engine share it. */
struct cps_reg_index {
    uint32_t refs;
    uint32_t dense;  /**< numbers below it have their row at row[number], NULL if there is none */
    uint32_t sorted; /**< of tables with larger numbers: so many rows, by first number */
    uint32_t depth;  /**< how many rows before it begin within the span of another one */
    const struct cps_reg_row *row[];
};

/** Finds the rows whose gens have a bit of @p gens; the tables must outlive the index.
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_INPUT: two rows have the same register; the caller calls
 * cps_reg_index_unref_() */
CPS_MUST_USE struct cps_err *cps_reg_index_create_(const struct cps_reg_table *tables, size_t count,
                                                   uint64_t gens, struct cps_reg_index **ret);
/** One owner more, who may be given NULL. */
void cps_reg_index_ref_(struct cps_reg_index *index);
void cps_reg_index_unref_(struct cps_reg_index *index);

/** The row of a register among the sorted ones. */
const struct cps_reg_row *cps_reg_search_(const struct cps_reg_index *index, uint32_t number);

/** The row of a register, NULL if none has it. */
static inline const struct cps_reg_row *cps_reg_find_(const struct cps_reg_index *index,
                                                      uint32_t number)
{
    return number < index->dense ? index->row[number] : cps_reg_search_(index, number);
}

/** Where struct @p base holds a register of a row that has a member: an array of words from there
 * on. */
static inline uint32_t *cps_reg_member_(void *base, const struct cps_reg_row *row, uint32_t index)
{
    return (uint32_t *)(void *)((char *)base + row->member) + index;
}

/** Handlers of registers that show, or also keep, a member of the device. */
cps_reg_read cps_reg_read_member_;
cps_reg_write cps_reg_write_member_;
/** A write of anything adds one to the member. */
cps_reg_write cps_reg_count_member_;
/** Handlers of registers without contents and without effect. */
cps_reg_read cps_reg_read_none_;
cps_reg_write cps_reg_write_none_;

#define CPS_LANES_ALL 15u
/** The value of a write in the bytes that it brings, @p old in the others. */
uint32_t cps_reg_lanes_(const struct cps_access *at, uint32_t old);

#endif
