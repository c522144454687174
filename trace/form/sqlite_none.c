/* SPDX-License-Identifier: MIT
 * Databases, built without SQLite. */
#include "trace/form/forms.h"

struct cps_err *cps_sqlite_write_(struct cps_trace_writer *writer)
{
    (void)writer;
    return cps_err_new(CPS_ERR_UNSUPPORTED,
                       "cpscope was built without SQLite, which .db needs: -Dsqlite=enabled");
}
