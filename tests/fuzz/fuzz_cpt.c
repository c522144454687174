/* SPDX-License-Identifier: MIT
 * Fuzz target: what stands inside a frame of a `.cpt`. The bytes become one frame with all its
 * checksums right, because no mutation would ever get past them. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "trace/form/cpt.h"
#include "trace/form/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEAD "# cpscope-trace 1\n# gen a6xx\n"
#define ROOM (1u << 20)

static size_t put32(uint8_t *to, size_t at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        to[at + i] = (uint8_t)(value >> 8 * i);
    return at + 4;
}

static void read_all(const uint8_t *file, size_t size)
{
    struct cps_stream *stream = NULL;
    struct cps_trace *trace = NULL;
    struct cps_event events[64];
    size_t count = 1;
    struct cps_err *err = cps_stream_open_memory("fuzz", file, size, &stream);
    if (!err)
        err = cps_trace_open(stream, &trace);
    while (!err && count) {
        err = cps_trace_next(trace, events, 64, &count);
        for (size_t i = 0; i < count; i++) {
            if (cps_event_kind(&events[i]) >= CPS_EV_COUNT ||
                cps_event_who(&events[i]) > CPS_CPU_NONE)
                __builtin_trap();
        }
    }
    cps_err_free(err);
    cps_trace_close(trace);
    cps_stream_close(stream);
}

/* The first byte is the number of events. */
static size_t make_file(uint8_t *file, const uint8_t *data, size_t size)
{
    size_t at = CPT_MAGIC_SIZE;
    memcpy(file, CPT_MAGIC, CPT_MAGIC_SIZE);
    at = put32(file, at, sizeof(HEAD) - 1);
    at = put32(file, at, cpt_sum(HEAD, sizeof(HEAD) - 1));
    memcpy(file + at, HEAD, sizeof(HEAD) - 1);
    at += sizeof(HEAD) - 1;
    size_t packed = ZSTD_compress(file + at + 16, ROOM - at - 16, data + 1, size - 1, 1);
    put32(file, at, CPT_FRAME);
    put32(file, at + 4, data[0]);
    put32(file, at + 8, (uint32_t)(size - 1));
    put32(file, at + 12, (uint32_t)packed);
    return at + 16 + packed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > ROOM / 2)
        return 0;
    uint8_t *file = malloc(ROOM);
    if (!file)
        return 0;
    read_all(file, make_file(file, data, size));
    free(file);
    return 0;
}
