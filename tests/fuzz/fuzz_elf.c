/* SPDX-License-Identifier: MIT
 * Fuzz target: ELF files of firmware. The bytes are a file, or changes (place, place, value) to a
 * good one. What is accepted keeps its words through another file, and its listing assembles. */
#include "tests/lib/fwcheck.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char source[] = "[01740168]\n[#t]\na: jump #a\nnop\nCP_NOP: nop\nt: .jumptbl\n"
                             ".section BV\n[01740139]\n[#t]\nb: call #b\nt: .jumptbl #b\ne:\n";

static void must(bool fine)
{
    if (!fine)
        __builtin_trap();
}

static void check_again(const struct cps_program *program)
{
    struct cps_program again = {0};
    CPS_BUF elf = {0};
    struct cps_err *err = cps_elf_write(program, &elf);
    if (!err)
        err = cps_elf_read("again", elf.data, elf.size, &again);
    must(!err && again.image.count == program->image.count &&
         !memcmp(again.image.words, program->image.words, 4 * (size_t)again.image.count) &&
         again.debug.symbol_count == program->debug.symbol_count);
    cps_program_deinit(&again);
}

static void try_bytes(const uint8_t *data, size_t size)
{
    struct cps_program program = {0};
    struct cps_fw *fw = NULL;
    struct cps_err *err = cps_elf_read("fuzz", data, size, &program);
    if (!err)
        check_again(&program);
    cps_err_free(err);
    cps_program_deinit(&program);
    err = cps_fw_parse("fuzz", data, size, 0, &fw);
    must(err || fwcheck_listing(fw));
    cps_err_free(err);
    cps_fw_destroy(fw);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cps_program program;
    CPS_BUF elf = {0};
    try_bytes(data, size);
    must(!cps_program_assemble("f.afuc", source, sizeof(source) - 1, 0, &program));
    must(!cps_elf_write(&program, &elf));
    for (size_t i = 0; i + 2 < size; i += 3)
        elf.data[(size_t)(data[i] << 8 | data[i + 1]) % elf.size] = (char)data[i + 2];
    try_bytes((const uint8_t *)elf.data, elf.size);
    cps_program_deinit(&program);
    return 0;
}
