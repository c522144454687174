/* SPDX-License-Identifier: MIT
 * Files of coverage: lcov's tracefile, and the disassembly that it counts, beside it. */
#include "tools/explain/cover/cover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/within.h"
#include "trace/out/outfile.h"

struct cps_err *cover_write_text(const char *path, const struct cps_buf *text)
{
    return text->failed ? cps_err_nomem() : cps_outfile_whole(path, cps_buf_text(text), text->size);
}

struct cps_err *cover_write_listing(const char *output, const struct cps_buf *listing, char **ret)
{
    CPS_BUF name = {0};
    if (strpbrk(output, "\r\n"))
        return cps_err_new(CPS_ERR_INPUT,
                           "%s: a line break in the name, which lcov's form has no way "
                           "to write; expected another one",
                           output);
    cps_buf_printf(&name, "%s.asm", output);
    if (name.failed)
        return cps_err_nomem();
    CPS_TRY(cover_write_text(name.data, listing));
    *ret = realpath(name.data, NULL);
    if (!*ret && errno != ENOMEM)
        *ret = CPS_TAKE(name.data);
    return *ret ? NULL : cps_err_nomem();
}

struct cps_err *cover_write(const struct cps_fw *fw, const struct cps_names *names,
                            const struct cps_cover *cover, const struct cps_buf *listing,
                            const char *path)
{
    CPS_BUF info = {0};
    CPS_FREE char *full = NULL;
    CPS_TRY(cover_write_listing(path, listing, &full));
    cover_lcov(fw, names, cover, full, cps_buf_text(listing), &info);
    return cover_write_text(path, &info);
}
