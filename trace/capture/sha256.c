/* SPDX-License-Identifier: MIT
 * The hash that names a trace's inputs. */
#include <string.h>
#include <sys/stat.h>

#include "isa/base/source.h"
#include "trace/capture/stream.h"

struct cps_err *cps_sha256_file(const char *path, char ret[65])
{
    struct stat info;
    struct cps_source *source = NULL;
    if (!strcmp(path, "-") || (stat(path, &info) == 0 && !S_ISREG(info.st_mode))) {
        strcpy(ret, "unknown");
        return NULL;
    }
    CPS_TRY(cps_source_open_(path, &source));
    struct cps_err *err = NULL;
    if (cps_source_hash_(source))
        err = cps_source_sha256_(source, ret);
    else
        strcpy(ret, "unknown"); /* another one has taken its place */
    cps_source_close_(source);
    return err;
}
