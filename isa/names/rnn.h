/* SPDX-License-Identifier: MIT
 * Names from a user's rnndb XML tree. Private to isa/. */
#ifndef CPS_RNN_H
#define CPS_RNN_H

#include <stddef.h>

#include "isa/isa.h"
#include "isa/names/table.h"

/** Limits that keep hostile XML bounded; the real database needs a tenth of each. */
#define CPS_RNN_MAX_NAMES    200000u /**< registers, values, fields and bit sets together */
#define CPS_RNN_MAX_ELEMENTS 4096u   /**< of one array */
#define CPS_RNN_MAX_DEPTH    32u     /**< of XML elements */
#define CPS_RNN_MAX_LENGTH   256u    /**< bytes of one name */

struct cps_rnn;

/** The domain that the names of the domain or enum @p name belong to for @p layout: another one of
 * the same space, or @p name itself if it is none. In names.c. */
const char *cps_names_domain_(enum cps_layout layout, const char *name);

/** Reads the files of @p dir that concern @p layout. The caller destroys @p ret. */
CPS_MUST_USE struct cps_err *cps_rnn_load_(enum cps_layout layout, const char *dir,
                                           struct cps_rnn **ret);
/** Empty tables, to be filled by cps_rnn_parse_() and closed by cps_rnn_finish_(). */
CPS_MUST_USE struct cps_err *cps_rnn_create_(enum cps_layout layout, struct cps_rnn **ret);
void cps_rnn_destroy_(struct cps_rnn *rnn);
/** Adds what one XML file says; @p name is for messages: CPS_ERR_INPUT has file and line. */
CPS_MUST_USE struct cps_err *cps_rnn_parse_(struct cps_rnn *rnn, const char *name, const void *data,
                                            size_t size);
/** Resolves bit sets and sorts. Once, after the last file. */
CPS_MUST_USE struct cps_err *cps_rnn_finish_(struct cps_rnn *rnn);
/** All names after cps_rnn_finish_(); maybe none, never NULL. Valid as long as @p rnn. */
const struct cps_name_source *cps_rnn_source_(const struct cps_rnn *rnn);

#endif
