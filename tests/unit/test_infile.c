/* SPDX-License-Identifier: MIT
 * Files that are read: what opening one does not do, and how much of it is taken. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "isa/base/infile.h"
#include "isa/base/source.h"

enum { SECONDS = 30 }; /* after which the program ends that hangs in here */

static void no_error(struct cps_err *err)
{
    if (err)
        fail_msg("%s", err->message);
}

static void expect_error(struct cps_err *err, enum cps_err_code code, const char *said)
{
    assert_non_null(err);
    assert_int_equal(err->code, code);
    if (!strstr(err->message, said))
        fail_msg("\"%s\" lacks \"%s\"", err->message, said);
    cps_err_free(err);
}

/* Another program that is started gets none of them, and none is waited for. */
static void what_is_opened_is_neither_inherited_nor_waited_for(void **state)
{
    struct cps_infile file;
    (void)state;
    no_error(cps_infile_open_("/dev/null", &file));
    assert_int_equal(fcntl(file.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(fcntl(file.fd, F_GETFL) & (O_NONBLOCK | O_ACCMODE), O_NONBLOCK | O_RDONLY);
    assert_false(file.regular || file.patient);
    cps_infile_close_(&file);
    assert_int_equal(file.fd, -1);
    no_error(cps_infile_open_("-", &file));
    assert_int_equal(fcntl(file.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_true(file.fd > STDERR_FILENO);
    assert_true(file.patient && !file.regular);
    cps_infile_close_(&file);
    assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
}

static void a_fifo_is_open_before_somebody_writes(void **state)
{
    char dir[] = "/tmp/cpscope-infile-XXXXXX";
    char path[64];
    struct cps_infile file;
    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/fifo", dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(SECONDS);
    no_error(cps_infile_open_(path, &file));
    alarm(0);
    assert_false(file.regular);
    cps_infile_close_(&file);
    remove(path);
    rmdir(dir);
}

/* Nothing is mapped at 0, so that the memory of a process cannot be read from its begin. */
static void an_error_of_reading_ends_it(void **state)
{
    static const char path[] = "/proc/self/mem";
    uint8_t *data = NULL;
    size_t size = 0;
    (void)state;
    if (access(path, R_OK))
        skip();
    alarm(SECONDS);
    expect_error(cps_source_all_(path, 100, &data, &size), CPS_ERR_OS,
                 "/proc/self/mem: cannot read: ");
    alarm(0);
    assert_null(data);
    expect_error(cps_source_all_("/", 100, &data, &size), CPS_ERR_OS,
                 "/: cannot read: Is a directory");
    expect_error(cps_source_all_("/nonexistent", 100, &data, &size), CPS_ERR_OS,
                 "/nonexistent: cannot open: ");
}

static uint8_t byte_at(size_t at)
{
    return (uint8_t)(at * 7 + at / 256 + 1);
}

static void expect_bytes(const char *path, size_t limit, size_t count)
{
    uint8_t *data = NULL;
    size_t size = 0;
    no_error(cps_source_all_(path, limit, &data, &size));
    assert_int_equal(size, count);
    for (size_t i = 0; i < size; i++) {
        if (data[i] != byte_at(i))
            fail_msg("byte %zu of %zu", i, size);
    }
    assert_int_equal(data[size], 0);
    free(data);
}

/* Around what is read at once, 64 KiB; a byte more than the limit is too much. */
static void a_file_is_read_whole_with_a_nul_behind(void **state)
{
    static uint8_t bytes[200000];
    static const size_t sizes[] = {0,      1,      65535,  65536,        65537,
                                   131071, 131072, 131073, sizeof(bytes)};
    char path[] = "/tmp/cpscope-infile-XXXXXX";
    int fd = mkstemp(path);
    size_t written = 0;
    (void)state;
    assert_true(fd >= 0);
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = byte_at(i);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t more = sizes[i] - written;
        assert_int_equal(write(fd, bytes + written, more), more);
        written = sizes[i];
        uint8_t *data = NULL;
        size_t size = 0;
        expect_bytes(path, written, written);
        expect_bytes(path, written + 1, written);
        if (written)
            expect_error(cps_source_all_(path, written - 1, &data, &size), CPS_ERR_INPUT,
                         "file goes on, expected at most");
        assert_null(data);
    }
    close(fd);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_opened_is_neither_inherited_nor_waited_for),
        cmocka_unit_test(a_fifo_is_open_before_somebody_writes),
        cmocka_unit_test(an_error_of_reading_ends_it),
        cmocka_unit_test(a_file_is_read_whole_with_a_nul_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
