/* SPDX-License-Identifier: MIT
 * Fuzz target: assembly text. Errors name a place; what assembles is a file that can be loaded,
 * whose listing assembles to the same words. The first byte chooses the generation. */
#include "tests/lib/fwcheck.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_program(const struct cps_asm *program, unsigned gen)
{
    struct cps_fw *fw = NULL;
    /* The file is the words as they lie in memory on a little-endian machine. */
    struct cps_err *err =
        cps_fw_parse("fuzz", program->words, (size_t)program->count * 4, gen, &fw);
    if (err ? program->count >= 3 : !fwcheck_listing(fw))
        __builtin_trap();
    cps_err_free(err);
    cps_fw_destroy(fw);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned gens[] = {0, CPS_A5XX, CPS_A6XX, CPS_A7XX, CPS_A8XX};
    struct cps_asm program = {0};
    if (!size)
        return 0;
    unsigned gen = gens[data[0] % 5];
    struct cps_err *err = cps_assemble("fuzz", (const char *)data + 1, size - 1, gen, &program);
    if (err) {
        if (strncmp(err->message, "fuzz:", 5) != 0 && err->code != CPS_ERR_NOMEM)
            __builtin_trap();
    } else {
        check_program(&program, gen);
    }
    cps_err_free(err);
    free(program.words);
    return 0;
}
