/* SPDX-License-Identifier: MIT
 * Fuzz target: firmware files. Parts and handlers lie inside the image, and the listing of whatever
 * is accepted assembles to the same file; a handler that is wholly known has its own hash. The
 * first byte chooses the generation. */
#include "tests/lib/fwcheck.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_parts(const struct cps_fw *fw)
{
    uint32_t next = 0;
    for (unsigned i = 0; i < fw->part_count; i++) {
        const struct cps_fw_part *part = &fw->part[i];
        if (part->start != next || !part->size || part->size > fw->count - next)
            __builtin_trap();
        for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
            uint32_t handler = cps_fw_handler(fw, part, id);
            if (handler != CPS_FW_NONE && handler >= part->size)
                __builtin_trap();
        }
        next += part->size;
    }
    if (next != fw->count)
        __builtin_trap();
}

static void check_hashes(const struct cps_fw *fw)
{
    static struct cps_fw_hash hash[CPS_FW_TABLE_SIZE];
    struct cps_err *err = cps_fw_handler_hashes(fw, &fw->part[0], hash);
    for (unsigned id = 0; !err && id < CPS_FW_TABLE_SIZE; id++) {
        if (hash[id].open ? cps_fw_hash_same(&hash[id], &hash[id])
                          : cps_fw_hash_same(&hash[id], &hash[id]) != hash[id].present)
            __builtin_trap();
    }
    cps_err_free(err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned gens[] = {0, CPS_A5XX, CPS_A6XX, CPS_A7XX, CPS_A8XX};
    struct cps_fw *fw = NULL;
    if (!size)
        return 0;
    struct cps_err *err = cps_fw_parse("fuzz", data + 1, size - 1, gens[data[0] % 5], &fw);
    if (!err) {
        check_parts(fw);
        check_hashes(fw);
        if (!fwcheck_listing(fw))
            __builtin_trap();
    }
    cps_err_free(err);
    cps_fw_destroy(fw);
    return 0;
}
