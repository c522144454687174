/* SPDX-License-Identifier: MIT
 * Fuzz target: script files of all forms. The first byte chooses engine and chip, the second
 * whether the rest is behind the head of a run file. Errors name the file; what is read can be
 * listed. */
#include <string.h>

#include "fw/nv/script/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char head[] = "# cpscope-script 1\n";

static void check(const struct cps_script *script)
{
    CPS_BUF text = {0};
    struct cps_err *err = cps_script_listing(script->gen, cps_buf_text(&script->code),
                                             script->code.size, NULL, CPS_NAMES_MEASURED, &text);
    if (err && err->code != CPS_ERR_NOMEM)
        __builtin_trap();
    cps_err_free(err);
    if (script->code.size && !cps_isa_has_code(cps_gen_isa(script->gen)))
        __builtin_trap();
    for (size_t i = 1; i < script->change_count; i++) {
        if (script->change[i].tick < script->change[i - 1].tick)
            __builtin_trap();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned gens[] = {0, CPS_NV17, CPS_G92, CPS_SEQ_OLD, CPS_SEQ_NEW, 0, 0, CPS_NV3T};
    CPS_CLEANUP(cps_script_deinit) struct cps_script script = {0};
    CPS_BUF file = {0};
    if (size < 2)
        return 0;
    unsigned which = data[0] % 8;
    const struct cps_isa *isa = which < 3   ? &cps_isa_hwsq
                                : which < 6 ? &cps_isa_seq
                                            : &cps_isa_pfifo;
    if (data[1] & 1)
        cps_buf_str(&file, head);
    cps_buf_add(&file, (const char *)data + 2, size - 2);
    struct cps_err *err =
        cps_script_parse("fuzz", cps_buf_text(&file), file.size, isa, gens[which], &script);
    if (!err)
        check(&script);
    else if (strncmp(err->message, "fuzz", 4) != 0 && err->code == CPS_ERR_SYNTAX)
        __builtin_trap();
    cps_err_free(err);
    return 0;
}
