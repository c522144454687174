/* SPDX-License-Identifier: MIT
 * What the numbers of an event are called, for forms that are JSON. Private to trace/. */
#ifndef CPS_NAMED_H
#define CPS_NAMED_H

#include "trace/form/forms.h"
#include "trace/out/json.h"

/** The names of the processor that made an event, or NULL. */
const struct cps_names *cps_named_by_(const struct cps_trace_writer *writer,
                                      const struct cps_event *event);
/** Which numbers an event's address is one of; CPS_SPACE_COUNT: it is another one. */
enum cps_space cps_named_space_(const struct cps_event *event);
/** Adds "fields" with what is known of the value of a register, unless nothing is. */
void cps_named_fields_(struct json_object *to, const struct cps_names *names, enum cps_space space,
                       const struct cps_event *event);
/** The name of a packet, or of the register that it writes first; NULL: it has none. */
const char *cps_named_packet_(const struct cps_names *names, uint32_t header);

#endif
