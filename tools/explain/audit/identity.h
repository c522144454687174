/* SPDX-License-Identifier: MIT
 * Which firmware an image is, by its contents: what its words say, and which known image has most
 * handlers in common with it. */
#ifndef CPS_AUDIT_IDENTITY_H
#define CPS_AUDIT_IDENTITY_H

#include <json-c/json.h>

#include "fw/fw.h"

/** An image with the hashes of its handlers. */
struct identity {
    struct cps_fw *fw; /**< owned */
    char sha256[65];   /**< of the file */
    struct cps_fw_hash hash[CPS_FW_MAX_PARTS][CPS_FW_TABLE_SIZE];
    bool own[CPS_FW_MAX_PARTS][CPS_FW_TABLE_SIZE]; /**< not what handles packets that there are not
                                                    */
};

/** Loads and hashes. @return NULL, or what cps_fw_load() and cps_sha256_file() return; the caller
 * calls identity_deinit() in any case */
CPS_MUST_USE struct cps_err *identity_load(const char *path, unsigned gen, struct identity *ret);
void identity_deinit(struct identity *identity);
/** How many handlers of @p a are its own, in all parts. */
unsigned identity_handlers(const struct identity *a);
/** How many of them do the same in @p b, in the part of the same role. */
unsigned identity_equal(const struct identity *a, const struct identity *b);
/** Members for a report: id, chip, generation, version, sha256, processors. */
void identity_json(const struct identity *a, struct json_object *to);
/** Whether the first part of @p fw handles a packet by itself, and not as it does those that there
 * are not. */
bool identity_handles(const struct cps_fw *fw, const struct cps_names *names, const char *name,
                      size_t length);

#endif
