/* SPDX-License-Identifier: MIT
 * Fuzz target: whole `.cpt` files. Every event has a kind and a processor, and a file that is read
 * to its end gives the same events when it is read again, in other portions. */
#include "trace/form/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A number for all events; *whole when the file ended as it should. */
static uint64_t read_all(const uint8_t *data, size_t size, size_t portion, bool *whole)
{
    struct cps_stream *stream = NULL;
    struct cps_trace *trace = NULL;
    struct cps_event events[64];
    uint64_t sum = 0;
    size_t count = 1;
    struct cps_err *err = cps_stream_open_memory("fuzz", data, size, &stream);
    if (!err)
        err = cps_trace_open(stream, &trace);
    while (!err && count) {
        err = cps_trace_next(trace, events, portion, &count);
        for (size_t i = 0; i < count; i++) {
            const struct cps_event *e = &events[i];
            if (cps_event_kind(e) >= CPS_EV_COUNT || cps_event_who(e) >= CPS_CPU_COUNT)
                __builtin_trap();
            sum = (sum ^ e->addr ^ (uint64_t)e->value << 32) * UINT64_C(0x9e3779b97f4a7c15) + 1;
        }
    }
    *whole = !err;
    cps_err_free(err);
    cps_trace_close(trace);
    cps_stream_close(stream);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool whole[2] = {false, false};
    uint64_t first = read_all(data, size, 64, &whole[0]);
    uint64_t second = read_all(data, size, 7, &whole[1]);
    if (whole[0] != whole[1] || first != second)
        __builtin_trap();
    return 0;
}
