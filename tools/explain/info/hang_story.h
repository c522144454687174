/* SPDX-License-Identifier: MIT
 * Why a GPU hung, in a paragraph: where its command processor stands, what it waits for, since
 * when, and which part of the GPU has not finished what. */
#ifndef CPS_HANG_STORY_H
#define CPS_HANG_STORY_H

#include "tools/run/code.h"
#include "tools/run/hang/hang.h"
#include "tools/run/replay.h"

struct json_object;

struct hang_story {
    const struct dump *dump;
    const struct code *code;
    const struct cps_names *names;
    enum cps_gen gen;
    const struct replay *replay; /**< with firmware; NULL: none, or it does not come there */
    struct mempool pool;
    struct roq roq;
    struct hang_wait wait;
    struct cps_buf text;
};

/** Composes the paragraph into `text`. The caller calls hang_story_deinit() in any case. */
CPS_MUST_USE struct cps_err *hang_story_tell(struct hang_story *story);
void hang_story_deinit(struct hang_story *story);
/** The same as members of @p to: "summary", "location", "waits_for", "queues". */
void hang_story_json(const struct hang_story *story, struct json_object *to);

#endif
