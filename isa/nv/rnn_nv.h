/* SPDX-License-Identifier: MIT
 * What envytools' rnndb of NVIDIA has beside Adreno's: files that import each other, ranges of
 * chips ("NV17:NV20 NV25-"), groups of registers that arrays use, registers of bytes, stripes with
 * names, values in fields. Private to isa/names/.
 *
 * A layout stands for several chips; a row is kept if one of them has it. Facts: envytools,
 * rnn/rnn.c and rnn/rnndec.c (MIT). */
#ifndef CPS_RNN_NV_H
#define CPS_RNN_NV_H

#include "isa/names/rnn_read.h"

/* Chips of a layout that are told apart. */
#define CPS_RNN_NV_CHIPS 32u
/* Elements of an array, nested ones multiplied: more of them are windows to memory. */
#define CPS_RNN_NV_ELEMENTS 4096u
/* Elements that groups repeat, in all; a real tree needs a hundredth. */
#define CPS_RNN_NV_REPEATS 500000u
/* Files that import each other. */
#define CPS_RNN_NV_IMPORTS 16u

struct cps_rnn_nv;

/* For a layout of NVIDIA's; what is read is kept in @p rnn. */
CPS_MUST_USE struct cps_err *cps_rnn_nv_create_(struct cps_rnn *rnn);
void cps_rnn_nv_destroy_(struct cps_rnn_nv *nv);
/* Reads the tree: DIR/nv_mmio.xml or DIR/rnndb/nv_mmio.xml, else root.xml there. */
CPS_MUST_USE struct cps_err *cps_rnn_nv_load_(struct cps_rnn *rnn, const char *dir);

/* What the reader does otherwise, or not at all, for Adreno. */
/* Takes an element that belongs to a group that is being kept; false: it does not. */
bool cps_rnn_nv_keep_(struct reader *reader, const char *name, const char **attributes);
/* The layout's chips that a list of ranges has; all of them where there is no enumeration. */
uint32_t cps_rnn_nv_members_(const struct cps_rnn_nv *nv, const char *text);
/* Elements that only NVIDIA's tree has; false: none of them. */
bool cps_rnn_nv_open_(struct reader *reader, struct frame *frame, const char *name,
                      const char **attributes);
/* A name of the enumeration of chips, in the order that ranges go by. */
void cps_rnn_nv_chip_(struct reader *reader, const char **attributes);
/* A value of the field or register that is open, whose type it makes an enumeration. */
void cps_rnn_nv_value_(struct reader *reader, const char **attributes);
/* Whether the arrays around the open register make few enough rows of it; more are a window. */
bool cps_rnn_nv_is_table_(const struct reader *reader);

#endif
