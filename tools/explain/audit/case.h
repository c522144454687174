/* SPDX-License-Identifier: MIT
 * What a flaw is, by behaviour: a PM4 text, and which events have to come of it, or must not. */
#ifndef CPS_AUDIT_CASE_H
#define CPS_AUDIT_CASE_H

#include "trace/event/event.h"
#include "isa/isa.h"

/** Largest text of a case, in bytes. */
#define CASE_TEXT_LIMIT (1u << 20)

/** An event, as a line of a case says it. */
struct case_event {
    bool never; /**< it must not come; else it has to */
    unsigned kind;
    bool any_addr, any_value; /**< "*" */
    uint64_t addr;
    uint32_t value;
    char *text; /**< as it stands in the line; in the case's head, as the next */
    char *why;  /**< what the line says behind that, perhaps nothing */
};

struct audit_case {
    char *name;    /**< of its file, without the end; owned */
    char *text;    /**< the PM4 text; owned */
    char *head;    /**< a copy of it, cut into the words that the rest points to; owned */
    size_t size;   /**< of the text */
    char *flaw;    /**< what a firmware does that has it */
    char *known;   /**< its number in public, or NULL */
    char *packets; /**< words: those that a firmware must handle, or the case does not apply */
    char *evidence;
    uint32_t gens; /**< CPS_GEN_BIT()s that it is about */
    struct case_event *event;
    size_t events;
};

struct audit_cases {
    struct audit_case *item;
    size_t count;
};

/** Reads the cases that are built in, or all *.pm4 of a folder, by name.
 * @param dir  NULL: the built-in ones
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_OS, or CPS_ERR_INPUT: a file that is no case, or no file;
 *         the caller calls audit_cases_deinit() in any case */
CPS_MUST_USE struct cps_err *audit_cases_load(const char *dir, struct audit_cases *ret);
void audit_cases_deinit(struct audit_cases *cases);

/** Whether an event of a run is the one that a case names. */
bool case_event_is(const struct case_event *wanted, const struct cps_event *event);
/** The kinds of events that a case is about, as bits. */
uint32_t case_kinds(const struct audit_case *c);

#endif
