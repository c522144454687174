/* SPDX-License-Identifier: MIT
 * Fuzz target: manifests. Errors name file and line; what is read is complete, and captures are
 * sorted. Wildcards that would search the machine are left out. */
#include <string.h>

#include "tests/fuzz/memfile.h"
#include "tools/explain/regress/regress.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool fine)
{
    if (!fine)
        __builtin_trap();
}

static void check(const struct manifest *m)
{
    must(m->firmware_count && m->capture_count && m->baseline < (int)m->firmware_count);
    for (unsigned i = 0; i < m->firmware_count; i++)
        must(m->firmware[i].name && m->firmware[i].path[0]);
    for (unsigned i = 0; i < m->capture_count; i++) {
        const struct manifest_capture *capture = &m->capture[i];
        must(capture->path && capture->name && capture->expect >= 0);
        must(!i || strcmp(capture[-1].name, capture->name) < 0);
        for (unsigned k = 0; k < m->firmware_count; k++)
            (void)manifest_pairs(&m->firmware[k], capture);
    }
}

/* A wildcard beside a slash, anywhere: glob() would read folder after folder. */
static bool searches(const uint8_t *data, size_t size)
{
    bool wild = false;
    bool deep = false;
    for (size_t i = 0; i < size; i++) {
        wild = wild || strchr("*?[", data[i] ? data[i] : 'x');
        deep = deep || data[i] == '/';
    }
    return wild && deep;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct manifest manifest;
    if (searches(data, size))
        return 0;
    struct cps_err *err = manifest_read(memfile_path(memfile(data, size)), &manifest);
    if (!err)
        check(&manifest);
    else if (err->code == CPS_ERR_SYNTAX)
        must(!strncmp(err->message, "/proc/self/fd/", 14));
    cps_err_free(err);
    manifest_deinit(&manifest);
    return 0;
}
