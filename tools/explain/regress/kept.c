/* SPDX-License-Identifier: MIT
 * One run through the cache. */
#include "tools/explain/regress/kept.h"

/* Of the same code, or made; what is made is kept. */
static struct cps_err *boot_and_run(const struct cache_run *run, const struct record_setup *setup,
                                    const char *const firmware[2], const char *capture,
                                    const struct cps_fw *fw, struct kept_counts *counts,
                                    struct record *ret)
{
    struct record_boot boot = {0};
    struct cps_err *err = record_boot(setup, firmware, &boot);
    bool same = !err && cache_take_same(run, &boot.base, fw, ret);
    if (!err && !same)
        err = record_run(setup, firmware, capture, &boot, ret);
    counts->same += same;
    counts->emulated += !same && !err;
    if (!err && !same && !ret->misses)
        cps_err_free(cache_keep(run, &boot.base, ret, fw->gen));
    record_boot_deinit(&boot);
    return err;
}

struct cps_err *kept_run(const struct cache_run *run, const struct record_setup *setup,
                         const char *const firmware[2], const char *capture,
                         struct kept_counts *counts, struct record *ret)
{
    struct cps_fw *fw = NULL;
    CPS_TRY(cps_fw_load(firmware[0], setup->opt->gen, &fw));
    bool taken = cache_take(run, fw->count, ret);
    counts->cached += taken;
    struct cps_err *err =
        taken ? NULL : boot_and_run(run, setup, firmware, capture, fw, counts, ret);
    cps_fw_destroy(fw);
    return err;
}
