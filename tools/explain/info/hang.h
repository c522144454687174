/* SPDX-License-Identifier: MIT
 * Why a GPU hung: where its command processor is, what it waits for, since when, and which part of
 * the GPU has not finished what. */
#ifndef CPS_INFO_HANG_H
#define CPS_INFO_HANG_H

#include "tools/run/code.h"
#include "tools/run/hang/hang.h"
#include "tools/run/replay.h"

struct hang {
    struct play *play; /**< with firmware: the dump replayed */
    const struct dump *dump;
    const struct dump_block *stat; /**< CP_SQE_STAT, or NULL: then the rest is not known */
    const struct cps_names *names;
    const struct replay *replay; /**< with firmware; NULL: none, or it does not come there */
    struct mempool pool;
    struct roq roq;
    struct hang_wait wait;
    uint32_t pc, level, header;
};

/** Adds what is told of the hang: "summary", a paragraph, "location", "waits_for", "queues". */
void hang_story_put(const struct hang *hang, struct json_object *to);
/** Adds what stands around the program counter: "code", of the words that somebody knows, and
 * ".code", lines with all of them, marked. */
void hang_code_put(const struct hang *hang, struct json_object *to);

#endif
