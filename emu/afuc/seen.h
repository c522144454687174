/* SPDX-License-Identifier: MIT
 * What a run looks at of its firmware. A machine does the same things with another image of the
 * same size if it begins in the same state, and all words and entries of packet tables that it
 * looked at are the same: nothing else of the image can reach it. */
#ifndef CPS_AFUC_SEEN_H
#define CPS_AFUC_SEEN_H

#include "emu/mem.h"
#include "emu/afuc/afuc.h"

/** Remembers it from now on. The caller counts what cores execute (cps_engine_cover()), from the
 * same moment on.
 * @param seen  a byte for each word of the image and one behind it, all 0; the caller's, until the
 *              machine ends. a5xx: of the PFP's image
 * @return false if this machine cannot say it: --inject */
bool afuc_seen_begin_(struct cps_afuc *machine, uint8_t *seen, uint32_t count);
/** Makes 1 of the bytes of words that were executed, decoded and not yet executed, or read.
 * @return false if some core was not counted: then nothing is known */
bool afuc_seen_end_(struct cps_afuc *machine);
/** Whether a core may have looked that entry of its packet table up: one of them has. */
bool afuc_seen_entry_(const struct cps_afuc *machine, unsigned id);

/** Hands bytes that say all that a machine goes on from to @p put, but for its image's words and
 * its packet tables: same bytes, same state. Those of a5xx include the ME's words.
 * @return CPS_ERR_NOMEM */
CPS_MUST_USE struct cps_err *afuc_state_(struct cps_afuc *machine, cps_put_bytes *put, void *to);

#endif
