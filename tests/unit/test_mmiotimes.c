/* SPDX-License-Identifier: MIT
 * Lines of Linux' mmiotrace: when an access was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "isa/base/buf.h"
#include "trace/capture/mmiotrace.h"

struct log {
    struct cps_mmio_sink sink;
    unsigned count;
    struct cps_mmio_access access; /* the last one */
};

static struct cps_err *no_device(struct cps_mmio_sink *sink, const struct cps_mmio_device *device)
{
    (void)sink;
    (void)device;
    return NULL;
}

static struct cps_err *note(struct cps_mmio_sink *sink, const struct cps_mmio_access *access)
{
    struct log *log = (struct log *)sink;
    log->count++;
    log->access = *access;
    return NULL;
}

static struct cps_err *none_lost(struct cps_mmio_sink *sink, uint64_t line)
{
    (void)sink;
    (void)line;
    return NULL;
}

static struct cps_err *read_line(const char *line, struct log *log)
{
    CPS_BUF text = {0};
    struct cps_stream *stream = NULL;
    *log = (struct log){.sink = {no_device, note, none_lost}};
    cps_buf_printf(&text, "VERSION 20070824\n%s\n", line);
    assert_null(cps_stream_open_memory("a.log", text.data, text.size, &stream));
    struct cps_err *err = cps_mmiotrace_read_(stream, &log->sink);
    cps_stream_close(stream);
    return err;
}

static void times_are_nanoseconds(void **state)
{
    static const struct {
        const char *time;
        uint64_t ns;
    } rows[] = {
        {"0", 0},
        {"0.5", 500000000},
        {"9.25", UINT64_C(9250000000)},
        {"0.000000001", 1},
        {"0.0000000019", 1}, /* less than a nanosecond is none */
        {"12.345678", UINT64_C(12345678000)},
        {"99.999999999", UINT64_C(99999999999)},
        {"4294967295.9", UINT64_C(4294967295900000000)},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CPS_BUF line = {0};
        struct log log;
        cps_buf_printf(&line, "W 4 %s 1 0xd0000100 0x5 0x0 0", rows[i].time);
        assert_null(read_line(cps_buf_text(&line), &log));
        assert_int_equal(log.count, 1);
        assert_true(log.access.ns == rows[i].ns);
        assert_true(log.access.write && log.access.size == 4 && log.access.line == 2);
        assert_true(log.access.address == 0xd0000100 && log.access.value == 5);
    }
}

static void what_is_no_time_is_refused(void **state)
{
    static const char *const times[] = {"x",          "/1",   ":1",  "-1",  ".5",
                                        "4294967296", "1.5x", "1.:", "1./", "1,5"};
    (void)state;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        CPS_BUF line = {0};
        struct log log;
        cps_buf_printf(&line, "R 4 %s 1 0xd0000100 0x5 0x0 0", times[i]);
        struct cps_err *err = read_line(cps_buf_text(&line), &log);
        assert_non_null(err);
        if (!strstr(err->message, "a.log:2") || !strstr(err->message, "expected seconds"))
            fail_msg("\"%s\": %s", times[i], err->message);
        assert_int_equal(log.count, 0);
        cps_err_free(err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_nanoseconds),
        cmocka_unit_test(what_is_no_time_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
