/* SPDX-License-Identifier: MIT
 * Firmware and symbols from files: the one place of fw/ that opens any, compressed or not. Tools of
 * the build, which read none, do without it. */
#include "fw/image/private.h"

#include "isa/base/source.h"

/* What is no ELF image is measured by cps_fw_parse(). */
struct cps_err *cps_fw_read_file_(const char *path, uint8_t **ret, size_t *ret_size)
{
    return cps_source_all_(path, CPS_FW_MAX_BYTES, ret, ret_size);
}

struct cps_err *cps_fw_load(const char *path, unsigned gen, struct cps_fw **ret)
{
    CPS_FREE uint8_t *bytes = NULL;
    size_t size = 0;
    struct cps_fw *fw = NULL;
    CPS_TRY(cps_fw_read_file_(path, &bytes, &size));
    CPS_TRY(cps_fw_parse(path, bytes, size, gen, &fw));
    struct cps_err *err = cps_fw_check(fw);
    if (err)
        cps_fw_destroy(fw);
    else
        *ret = fw;
    return err;
}

struct cps_err *cps_fw_symbols_load(struct cps_fw *fw, const char *path)
{
    CPS_FREE uint8_t *bytes = NULL;
    size_t size = 0;
    CPS_TRY(cps_fw_read_file_(path, &bytes, &size));
    return cps_fw_symbols_parse(fw, path, bytes, size);
}
