/* SPDX-License-Identifier: MIT
 * Fuzz target: envytools' listings and sources. The first byte selects the chip; the rest is a
 * source, and code whose listing assembles to the same bytes. */
#include <string.h>

#include "fw/nv/envy/envy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool good)
{
    if (!good)
        __builtin_trap();
}

static void check_code(enum cps_gen gen, const uint8_t *data, size_t size)
{
    CPS_BUF text = {0};
    CPS_BUF back = {0};
    size -= size % cps_isa_unit(cps_gen_isa(gen));
    struct cps_err *err = cps_envy_listing_(gen, data, size, &text);
    if (!err)
        err = cps_envy_assemble_("fuzz.s", cps_buf_text(&text), text.size, gen, &back);
    expect(!err && back.size == size && (!size || !memcmp(back.data, data, size)));
}

static void check_source(enum cps_gen gen, const char *text, size_t size)
{
    CPS_BUF bytes = {0};
    struct cps_err *err = cps_envy_assemble_("fuzz.s", text, size, gen, &bytes);
    expect(!err || !bytes.size);
    cps_err_free(err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum cps_gen gens[] = {CPS_NV17, CPS_NV41, CPS_G80, CPS_VP1_G80};
    if (!size || size > 4096)
        return 0;
    enum cps_gen gen = gens[data[0] & 3];
    check_source(gen, (const char *)data + 1, size - 1);
    check_code(gen, data + 1, size - 1);
    return 0;
}
