/* SPDX-License-Identifier: MIT
 * Fuzz target: the results of a regression run, as `regress --merge` reads them. Each pair counts
 * at most once, and what was merged can be merged again. */
#include "tests/fuzz/memfile.h"
#include "tools/explain/regress/regress.h"
#include "trace/out/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct json_object *results)
{
    size_t all = json_object_array_length(cps_json_get(results, "pairs"));
    unsigned counted = 0;
    for (int status = 0; status < RESULT_COUNT; status++)
        counted += results_count(results, (enum result_status)status);
    CPS_BUF page = {0};
    results_page(results, "", &page);
    if (counted > all || page.failed)
        __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json_object *results = results_create();
    const char *path = memfile_path(memfile(data, size));
    struct cps_err *err = results_merge(results, path);
    if (!err)
        err = results_merge(results, path); /* two shards with the same members */
    if (!err)
        err = results_complete(results);
    if (!err)
        err = results_sort(results);
    if (!err)
        check(results);
    else if (!err->message[0])
        __builtin_trap();
    cps_err_free(err);
    json_object_put(results);
    return 0;
}
