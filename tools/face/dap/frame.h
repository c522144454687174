/* SPDX-License-Identifier: MIT
 * JSON messages after a header with their length, as the Debug Adapter Protocol and the Language
 * Server Protocol have them: "Content-Length: N", an empty line, N bytes. */
#ifndef CPS_FRAME_H
#define CPS_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "isa/base/err.h"

struct json_object;

/** A message has at most so many bytes, and in them so many of the signs "{ [ , :" that begin a
 * value or a member: each takes FRAME_VALUE_BYTES of memory, about, once it is read. */
#define FRAME_MAX_BYTES   ((size_t)16 << 20)
#define FRAME_MAX_VALUES  100000
#define FRAME_VALUE_BYTES 400

/** Where messages come from. Zero-initialised but for the documented members. */
struct frame {
    const char *name;         /**< of the input, for messages: "(stdin)" */
    const char *protocol;     /**< for messages: "Debug Adapter Protocol" */
    int in;                   /**< descriptor that is read */
    int wake;                 /**< another one: what comes out of it ends the input; -1: none */
    int door;                 /**< a third one, which is answered by... */
    void (*answer)(int door); /**< ...this; NULL: it is none */
    char buffer[4096];
    size_t at, size; /**< in the buffer */
    uint64_t offset; /**< bytes that were taken, for messages */
    size_t weight;   /**< memory that the last message takes, about; bytes */
    int failed;      /**< errno of reading; 0: it did not fail */
};

/** Waits for the next message, which the caller releases. *ret is NULL at the end of the input.
 * @return CPS_ERR_INPUT for what is not the protocol: offset, what was expected; CPS_ERR_OS */
CPS_MUST_USE struct cps_err *frame_read(struct frame *frame, struct json_object **ret);
/** Writes and releases @p message. */
void frame_write(FILE *out, struct json_object *message);
/** Whether a value, if there is one, has one of the types of dap.def: "ntblo".
 * @return NULL, or CPS_ERR_INPUT: which argument, what was found, what was expected */
CPS_MUST_USE struct cps_err *frame_check_kind(const char *request, const char *name,
                                              struct json_object *value, char kind);

#endif
