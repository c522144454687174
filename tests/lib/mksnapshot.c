/* SPDX-License-Identifier: MIT
 * Writes a KGSL snapshot of a dump: mksnapshot DUMP OUT. */
#include <stdio.h>

#include "tests/lib/snapshot_write.h"

int main(int argc, char **argv)
{
    struct cps_stream *in = NULL;
    struct cps_outfile *out = NULL;
    CPS_BUF left = {0};
    if (argc != 3)
        return 2;
    struct cps_err *err = cps_stream_open(argv[1], &in);
    if (!err)
        err = cps_outfile_open(argv[2], &out);
    if (!err)
        err = cps_snapshot_write(in, out, &left);
    if (err)
        cps_outfile_abort(out);
    else
        err = cps_outfile_commit(out);
    cps_stream_close(in);
    if (err)
        fprintf(stderr, "mksnapshot: %s\n", err->message);
    else if (left.size)
        fprintf(stderr, "left out, as nothing here reads it: %s\n", cps_buf_text(&left));
    int status = err ? 3 : 0;
    cps_err_free(err);
    return status;
}
