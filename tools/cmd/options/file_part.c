/* SPDX-License-Identifier: MIT
 * A file, or the part of it that --offset and --length name. */
#include "tools/cmd/options/opt.h"
#include "tools/cmd/options/file_part.h"

#include <inttypes.h>
#include <stdlib.h>

#include "trace/capture/stream.h"

bool file_part_wanted(const struct cps_options *opt)
{
    return opt_given(opt, "offset") || opt_given(opt, "length");
}

struct cps_err *file_part_read(const struct cps_options *opt, const char *path, size_t limit,
                               struct file_part *ret)
{
    size_t size = 0;
    if (opt_given(opt, "length") && !opt->length)
        return cps_err_new(CPS_ERR_USAGE, "--length 0: expected at least 1 byte");
    CPS_TRY(cps_stream_read_file(path, limit, &ret->data, &size));
    cps_buf_str(&ret->name, path);
    if (opt->offset)
        cps_buf_printf(&ret->name, "+0x%" PRIx64, opt->offset);
    if (ret->name.failed)
        return cps_err_nomem();
    if (opt->offset >= size || opt->length > size - opt->offset)
        return cps_err_input(path, size,
                             "file ends, expected %" PRIu64 " bytes from 0x%" PRIx64 " on",
                             opt->length ? opt->length : 1, opt->offset);
    ret->bytes = ret->data + opt->offset;
    ret->size = opt->length ? (size_t)opt->length : size - (size_t)opt->offset;
    return NULL;
}

void file_part_deinit(struct file_part *part)
{
    cps_buf_deinit(&part->name);
    free(part->data);
}
