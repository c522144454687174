/* SPDX-License-Identifier: MIT
 * What a stopped machine looks like, field by field: registers and the packet at hand. */
#ifndef CPS_LOOK_FIELDS_H
#define CPS_LOOK_FIELDS_H

#include "tools/face/debugger/look.h"

/** The packet at hand as look_packet() has it, up to @p most words of it; "." stands in front of
 * those that the processor read, "=>" in front of the one that it reads next. Of engines without
 * packets nothing. */
void look_payload(const struct session *session, unsigned core, unsigned most, struct cps_buf *out);
/** The register that @p what names (as expr_place() has it), a field in a line.
 * @return false, and nothing is appended, if it names none */
bool look_register(const struct session *session, unsigned core, const char *what,
                   struct cps_buf *out);
/** The @p most GPU registers that were written last, the newest first, each with its fields; then
 * the control registers that are not 0, and those of the SQE. */
void look_fields(const struct session *session, unsigned core, unsigned most, struct cps_buf *out);

#endif
