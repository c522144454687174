/* SPDX-License-Identifier: MIT
 * Fuzz target: words as a program of VP1. The first byte chooses the chip, method or channel-switch
 * code, and the names; what is listed assembles again, and every program ends, by itself or by the
 * limit. The next bytes are values of registers. */
#include "tests/lib/engine_bench.h"
#include "isa/base/le.h"
#include "tests/lib/scriptcheck.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 17, LIMIT = 5000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum cps_gen chips[] = {CPS_VP1_NV41, CPS_VP1_NV44, CPS_VP1_G80};
    if (size < HEAD)
        return 0;
    enum cps_gen chip = chips[data[0] % 3];
    size_t bytes = (size - HEAD) / 4 * 4;
    bytes = bytes > 4096 ? 4096 : bytes;
    enum cps_scheme scheme = data[0] & 4 ? CPS_NAMES_ENVYTOOLS : CPS_NAMES_MEASURED;
    if (!scriptcheck_listing(chip, scheme, data + HEAD, bytes))
        __builtin_trap();
    struct bench *b = bench_new(chip, data[0] & 8 ? "mov-flags=clear" : NULL);
    for (unsigned i = 1; i < HEAD; i++)
        bench_write(b, 0xf000 + 0x80 * (i % 32) + 4 * data[i] % 128, data[i] * 0x01234567u);
    bench_write(b, 0xf464, 0);
    for (size_t at = 0; at < bytes; at += 4)
        cps_bus_poke(b->bus, CPS_MEMORY_PROGRAM, (uint32_t)at, cps_le32(data + HEAD + at));
    bench_write(b, 0xf474, 0x111);
    bench_write(b, 0xfc90, 1);
    bench_write(b, data[0] & 16 ? 0xfffff000 : 0xfc94, 0xc0000000);
    b->stop = nv_loop_(bench_nv(b), LIMIT);
    cps_tap_flush_(&b->engine->tap);
    if (b->engine->instructions > LIMIT || bench_reg(b, "pc") > 0xfffff || bench_reg(b, "a31") ||
        (b->stop == CPS_STOP_IDLE && bench_reg(b, "run")))
        __builtin_trap();
    bench_free(b);
    return 0;
}
