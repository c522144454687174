/* SPDX-License-Identifier: MIT
 * Fuzz target: words as a script of SEQ. The first byte chooses the ABI and whether there is an
 * OUT; every operation ends, by what it is or by the limit, and what is listed assembles again. */
#include "tests/lib/engine_bench.h"
#include "tests/lib/scriptcheck.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LIMIT 20000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 9)
        return 0;
    enum cps_gen abi = data[0] & 1 ? CPS_SEQ_OLD : CPS_SEQ_NEW;
    size_t bytes = (size - 1) / 4 * 4;
    bytes = bytes > 4096 ? 4096 : bytes;
    if (!scriptcheck_listing(abi, CPS_NAMES_MEASURED, data + 1, bytes))
        __builtin_trap();
    struct bench *b = bench_new(abi, data[0] & 4 ? "cost=1 spin=100" : NULL);
    bench_load(b, 0, data + 1, bytes);
    for (unsigned event = 0; event < 5; event++) {
        if (cps_bus_schedule(b->bus, data[event] * 16u, true, event, data[0] >> event & 1))
            abort();
    }
    if (data[0] & 2)
        cps_bus_load(b->bus, 0xfffff004, data[5]);
    cps_bus_load(b->bus, 0xfffff000, (uint32_t)(bytes / 4));
    b->stop = nv_loop_(bench_nv(b), LIMIT);
    cps_tap_flush_(&b->engine->tap);
    bool running = bench_reg(b, "running") != 0;
    if (b->engine->instructions > LIMIT || (b->stop == CPS_STOP_IDLE && running) ||
        bench_reg(b, "pc") > bytes / 4)
        __builtin_trap();
    bench_free(b);
    return 0;
}
