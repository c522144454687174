/* SPDX-License-Identifier: MIT
 * Draws and the state at one of them, as JSON. */
#ifndef CPS_STATE_JSON_H
#define CPS_STATE_JSON_H

#include "tools/explain/stream/state_rows.h"

struct json_object;

/** Adds "draws", of one side or two, and the "registers" of the last one. @param counts  gets how
 * many registers have each mark */
void state_json(const struct state_pair *pair, const struct state_result *result, unsigned sides,
                struct json_object *to, uint32_t counts[STATE_GONE + 1]);
/** Adds "draws": all of a run. */
void state_list_json(const struct state_result *result, struct json_object *to);

#endif
