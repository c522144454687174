/* SPDX-License-Identifier: MIT
 * Stands in for rnn.c in builds without expat. */
#include "isa/names/rnn.h"

struct cps_err *cps_rnn_load_(enum cps_layout layout, const char *dir, struct cps_rnn **ret)
{
    (void)layout;
    (void)ret;
    return cps_err_new(CPS_ERR_UNSUPPORTED, "%s: built without rnndb XML support (expat)", dir);
}

void cps_rnn_destroy_(struct cps_rnn *rnn)
{
    (void)rnn;
}

const struct cps_name_source *cps_rnn_source_(const struct cps_rnn *rnn)
{
    (void)rnn;
    return NULL;
}
