/* SPDX-License-Identifier: MIT
 * The listing in the layout of Mesa's disassembler. Private to the project. */
#ifndef CPS_LISTING_MESA_H
#define CPS_LISTING_MESA_H

#include "fw/fw.h"

/**
 * As cps_fw_listing(), but as Mesa's qrisc-disasm (once afuc-disasm) prints the file, but for the
 * line that names the file. Symbols are not looked at. It assembles to the same file where Mesa's
 * does.
 * @param fw       the firmware
 * @param rnn_dir  as for cps_names_create()
 * @param out      where to
 * @return NULL, CPS_ERR_NOMEM, or what cps_names_create() returns
 */
CPS_MUST_USE struct cps_err *cps_fw_listing_mesa_(const struct cps_fw *fw, const char *rnn_dir,
                                                  struct cps_buf *out);

#endif
