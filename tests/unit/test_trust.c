/* SPDX-License-Identifier: MIT
 * Whose files are run and loaded: the modes and owners of a path's folders decide. */
#define _DEFAULT_SOURCE /* S_IFREG and the like */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "isa/base/buf.h"
#include "tools/run/files.h"

static void expect(const char *path, const char *said)
{
    struct cps_err *err = trust_path(path);
    if (said ? !err || !strstr(err->message, said) : err != NULL)
        fail_msg("%s: %s, expected %s", path, err ? err->message : "trusted",
                 said ? said : "trusted");
    cps_err_free(err);
}

static void only_this_user_and_root_are_trusted(void **state)
{
    struct stat info = {.st_uid = geteuid(), .st_mode = S_IFREG | 0644};
    (void)state;
    assert_true(trust_stat(&info));
    info.st_mode = S_IFREG | 0664;
    assert_false(trust_stat(&info));
    info.st_mode = S_IFREG | 0646;
    assert_false(trust_stat(&info));
    info.st_mode = S_IFDIR | S_ISVTX | 0777; /* /tmp */
    assert_true(trust_stat(&info));
    info.st_mode = S_IFREG | S_ISVTX | 0666;
    assert_false(trust_stat(&info));
    info = (struct stat){.st_uid = geteuid() + 12345, .st_mode = S_IFREG | 0600};
    assert_false(trust_stat(&info));
    info.st_uid = 0;
    assert_true(trust_stat(&info));
}

static void a_folder_on_the_way_that_others_may_write_is_named(void **state)
{
    char base[] = "/tmp/cpscope-trust-XXXXXX";
    CPS_BUF inner = {0};
    CPS_BUF link = {0};
    (void)state;
    assert_non_null(mkdtemp(base));
    cps_buf_printf(&inner, "%s/a", base);
    cps_buf_printf(&link, "%s/link", base);
    assert_int_equal(mkdir(inner.data, 0700), 0);
    assert_int_equal(symlink("a", link.data), 0);
    expect(inner.data, NULL);
    expect(link.data, NULL);
    assert_int_equal(chmod(base, 0770), 0);
    expect(inner.data, "another user could change it");
    expect(link.data, base);
    assert_int_equal(chmod(base, 0700), 0);
    expect("/nonexistent/x", "No such file");
    unlink(link.data);
    rmdir(inner.data);
    rmdir(base);
}

static void programs_are_looked_for_in_absolute_folders_of_the_path(void **state)
{
    char *found = NULL;
    (void)state;
    setenv("PATH", ":.:relative:/bin", 1);
    assert_null(trust_program("sh", "the shell", &found));
    assert_string_equal(found, "/bin/sh");
    free(found);
    setenv("PATH", ".", 1);
    struct cps_err *err = trust_program("sh", "the shell", &found);
    assert_non_null(err);
    assert_int_equal(err->code, CPS_ERR_UNSUPPORTED);
    cps_err_free(err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_this_user_and_root_are_trusted),
        cmocka_unit_test(a_folder_on_the_way_that_others_may_write_is_named),
        cmocka_unit_test(programs_are_looked_for_in_absolute_folders_of_the_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
