/* SPDX-License-Identifier: MIT
 * Lines of mmiotrace. */
#include "trace/capture/mmiotrace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/capture/lines.h"

static const char magic[] = "VERSION 20070824";

struct reader {
    struct cps_lines *lines;
    uint64_t number; /* of the line */
    const char *at;
    struct cps_mmio_sink *sink;
};

bool cps_mmiotrace_recognise_(const uint8_t *data, size_t size)
{
    return size >= sizeof(magic) - 1 && !memcmp(data, magic, sizeof(magic) - 1);
}

static struct cps_err *expected(const struct reader *r, const char *what)
{
    int length = (int)strcspn(r->at, " ");
    return cps_err_new(CPS_ERR_SYNTAX, "%s:%" PRIu64 ": found '%.*s', expected %s",
                       cps_stream_name(r->lines->stream), r->number, length > 40 ? 40 : length,
                       r->at, what);
}

/* "12.345678": seconds, in nanoseconds. */
static bool time_stamp(struct reader *r, uint64_t *ret)
{
    uint64_t seconds = 0;
    uint64_t unit = UINT64_C(100000000);
    char *end = NULL;
    while (*r->at == ' ')
        r->at++;
    if (*r->at < '0' || *r->at > '9')
        return false;
    seconds = strtoull(r->at, &end, 10);
    if (seconds > UINT32_MAX)
        return false;
    *ret = seconds * UINT64_C(1000000000);
    if (*end == '.') {
        for (end++; *end >= '0' && *end <= '9'; end++, unit /= 10)
            *ret += unit * (uint64_t)(*end - '0');
    }
    if (*end && *end != ' ')
        return false;
    r->at = end;
    return true;
}

/* "PCIDEV BUSFN VENDORDEVICE IRQ" and seven starts and seven sizes; a driver's name may follow. */
static struct cps_err *read_device(struct reader *r)
{
    struct cps_mmio_device device = {0};
    uint64_t value = 0;
    if (!cps_lines_number_(&r->at, 16, UINT16_MAX, &value))
        return expected(r, "bus and function, 4 digits");
    if (!cps_lines_number_(&r->at, 16, UINT32_MAX, &value))
        return expected(r, "vendor and device, 8 digits");
    device.vendor = (uint32_t)(value >> 16);
    device.device = value & 0xffff;
    if (!cps_lines_number_(&r->at, 16, UINT64_MAX, &value))
        return expected(r, "an interrupt");
    for (unsigned i = 0; i < 2 * CPS_MMIO_BARS; i++) {
        uint64_t *to = i < CPS_MMIO_BARS ? &device.bar[i] : &device.size[i - CPS_MMIO_BARS];
        if (!cps_lines_number_(&r->at, 16, UINT64_MAX, to))
            return expected(r, "seven starts and seven sizes of regions");
    }
    return r->sink->device(r->sink, &device);
}

/* "R SIZE TIME MAP ADDRESS VALUE ...": what follows the value is not looked at. */
static struct cps_err *read_access(struct reader *r, bool write)
{
    struct cps_mmio_access access = {.write = write, .line = r->number};
    uint64_t map = 0;
    uint64_t size = 0;
    if (!cps_lines_number_(&r->at, 10, 8, &size) || !size || size & (size - 1))
        return expected(r, "a width of 1, 2, 4 or 8 bytes");
    access.size = (unsigned)size;
    if (!time_stamp(r, &access.ns))
        return expected(r, "seconds");
    if (!cps_lines_number_(&r->at, 10, UINT32_MAX, &map))
        return expected(r, "a number of a mapping");
    if (!cps_lines_number_(&r->at, 16, UINT64_MAX, &access.address))
        return expected(r, "an address on the bus");
    if (!cps_lines_number_(&r->at, 16, UINT64_MAX, &access.value) ||
        (size < 8 && access.value >> size * 8))
        return expected(r, "a value of that width");
    return r->sink->access(r->sink, &access);
}

/* "UNKNOWN TIME MAP ADDRESS ...": an instruction that the tracer could not decode. */
static struct cps_err *read_unknown(struct reader *r)
{
    struct cps_mmio_access access = {.unknown = true, .size = 1, .line = r->number};
    uint64_t map = 0;
    if (!time_stamp(r, &access.ns))
        return expected(r, "seconds");
    if (!cps_lines_number_(&r->at, 10, UINT32_MAX, &map))
        return expected(r, "a number of a mapping");
    if (!cps_lines_number_(&r->at, 16, UINT64_MAX, &access.address))
        return expected(r, "an address on the bus");
    return r->sink->access(r->sink, &access);
}

static bool take_word(struct reader *r, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(r->at, word, length) != 0 || (r->at[length] && r->at[length] != ' '))
        return false;
    r->at += length;
    return true;
}

static struct cps_err *read_line(struct reader *r)
{
    r->at = r->lines->text;
    if (take_word(r, "R"))
        return read_access(r, false);
    if (take_word(r, "W"))
        return read_access(r, true);
    if (take_word(r, "PCIDEV"))
        return read_device(r);
    if (take_word(r, "UNKNOWN"))
        return read_unknown(r);
    if (take_word(r, "MARK")) { /* "MARK TIME Lost N events." */
        uint64_t ns = 0;
        if (!time_stamp(r, &ns))
            return expected(r, "seconds");
        return strncmp(r->at, " Lost ", 6) ? NULL : r->sink->lost(r->sink, r->number);
    }
    if (r->number == 1 && strcmp(r->lines->text, magic) != 0)
        return expected(r, magic);
    if (!*r->at || take_word(r, "MAP") || take_word(r, "UNMAP") || take_word(r, "VERSION") ||
        take_word(r, "LSPCI"))
        return NULL;
    return expected(r, "R, W, MAP, UNMAP, MARK, VERSION, LSPCI, PCIDEV or UNKNOWN");
}

struct cps_err *cps_mmiotrace_read_(struct cps_stream *stream, struct cps_mmio_sink *sink)
{
    CPS_FREE struct cps_lines *lines = calloc(1, sizeof(*lines));
    struct reader r = {.lines = lines, .number = 1, .sink = sink};
    if (!lines)
        return cps_err_nomem();
    lines->stream = stream;
    CPS_TRY(cps_lines_start_(lines));
    for (; !lines->done; r.number++) {
        CPS_TRY(cps_lines_text_(lines));
        CPS_TRY(read_line(&r));
        CPS_TRY(cps_lines_start_(lines));
    }
    return NULL;
}
