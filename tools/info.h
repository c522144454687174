/* SPDX-License-Identifier: MIT
 * Descriptions of files: as text on stdout, or into a JSON object where one is given. */
#ifndef CPS_INFO_H
#define CPS_INFO_H

#include "trace/capture.h"
#include "trace/stream.h"

struct json_object;

/** What a capture holds: chip, sections, buffers, submits, packet mix. */
CPS_MUST_USE struct cps_err *info_capture(struct cps_stream *stream, struct json_object *json);
/** What a firmware holds: id, generation, version, processors, packet table. */
CPS_MUST_USE struct cps_err *info_firmware(struct cps_stream *stream, unsigned gen,
                                           struct json_object *json);

#endif
