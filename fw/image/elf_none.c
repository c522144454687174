/* SPDX-License-Identifier: MIT
 * Stands in for elf.c and elf_write.c in builds without libelf. */
#include "fw/fw.h"

struct cps_err *cps_elf_write(const struct cps_program *program, struct cps_buf *out)
{
    (void)program;
    (void)out;
    return cps_err_new(CPS_ERR_UNSUPPORTED, "built without ELF files (libelf)");
}

struct cps_err *cps_elf_read(const char *name, const void *bytes, size_t size,
                             struct cps_program *ret)
{
    (void)bytes;
    (void)size;
    (void)ret;
    return cps_err_new(CPS_ERR_UNSUPPORTED, "%s: built without ELF files (libelf)", name);
}
