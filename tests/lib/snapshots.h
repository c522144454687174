/* SPDX-License-Identifier: MIT
 * A dump in memory as a snapshot in memory, for tests of cps_snapshot_write(). */
#ifndef TESTS_SNAPSHOTS_H
#define TESTS_SNAPSHOTS_H

#include "tests/lib/scratch.h"
#include "tests/lib/snapshot_write.h"

/** @p ret  gets the snapshot; @p left  what it leaves out. Both are the caller's. */
static inline struct cps_err *to_snapshot(const void *dump, size_t size, struct cps_buf *ret,
                                          struct cps_buf *left)
{
    char path[64];
    struct cps_stream *in = NULL;
    struct cps_outfile *out = NULL;
    uint8_t *data = NULL;
    size_t got = 0;
    struct cps_err *err = cps_stream_open_memory("a.dump", dump, size, &in);
    if (!err)
        err = cps_outfile_open(scratch_file(path, ""), &out);
    if (!err)
        err = cps_snapshot_write(in, out, left);
    if (err)
        cps_outfile_abort(out);
    else
        err = cps_outfile_commit(out);
    if (!err)
        err = cps_stream_read_file(path, (size_t)1 << 30, &data, &got);
    if (!err)
        cps_buf_add(ret, (const char *)data, got);
    free(data);
    unlink(path);
    cps_stream_close(in);
    return err;
}

#endif
