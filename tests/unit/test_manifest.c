/* SPDX-License-Identifier: MIT
 * Manifests: every form of a line, and what each refused one says about itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/scratch.h"
#include "tools/explain/regress/regress.h"
#include "trace/event/event.h"

#define HEAD  "# cpscope-manifest 1\n"
#define LEAST "firmware old a.fw\ncapture /nowhere/c.rd\n"

static struct cps_err *read_text(const char *text, struct manifest *ret)
{
    char path[64];
    struct cps_err *err = manifest_read(scratch_file(path, text), ret);
    remove(path);
    return err;
}

static void expect_error(const char *text, const char *said)
{
    struct manifest manifest;
    struct cps_err *err = read_text(text, &manifest);
    if (!err || err->code != CPS_ERR_SYNTAX || !strstr(err->message, said))
        fail_msg("%s%s\nexpected: %s", text, err ? err->message : "no error", said);
    cps_err_free(err);
    manifest_deinit(&manifest);
}

/* The path is in the manifest's folder. */
static void assert_beside(const char *path, const char *name)
{
    char expected[64];
    snprintf(expected, sizeof(expected), "%s/%s", scratch_folder(), name);
    assert_string_equal(path, expected);
}

static void the_least_manifest_has_the_defaults(void **state)
{
    struct manifest m;
    (void)state;
    assert_null(read_text(HEAD LEAST, &m));
    assert_int_equal(m.firmware_count, 1);
    assert_string_equal(m.firmware[0].name, "old");
    assert_beside(m.firmware[0].path[0], "a.fw");
    assert_null(m.firmware[0].path[1]);
    assert_null(m.firmware[0].tags);
    assert_int_equal(m.capture_count, 1);
    assert_string_equal(m.capture[0].path, "/nowhere/c.rd");
    assert_int_equal(m.capture[0].expect, CPS_REASON_DONE);
    assert_int_equal(m.baseline, -1);
    assert_null(m.golden);
    assert_null(m.mask);
    assert_null(m.events);
    assert_null(m.policy);
    assert_int_equal(m.limit, 100000000);
    manifest_deinit(&m);
}

static void every_line_has_its_meaning(void **state)
{
    struct manifest m;
    (void)state;
    assert_null(read_text(HEAD "# a comment\n\n"
                               "policy waits=stop prefetch=on   ; before what it is for\n"
                               "firmware one /fw/pfp.fw me.fw tags=a,b\n"
                               "firmware two hwsq:g92\n"
                               "firmware three /fw/three.fw\n"
                               "baseline three\n"
                               "capture /nowhere/2.rd /nowhere/1.rd tags=b expect=deadlock\r\n"
                               "golden goldens\n"
                               "mask reg:0x8810-0x8820\n"
                               "events reg,memw\n"
                               "limit 3M\n",
                          &m));
    assert_int_equal(m.firmware_count, 3);
    assert_string_equal(m.firmware[0].path[0], "/fw/pfp.fw");
    assert_beside(m.firmware[0].path[1], "me.fw");
    assert_string_equal(m.firmware[0].tags, ",a,b,");
    assert_string_equal(m.firmware[1].path[0], "hwsq:g92"); /* no file */
    assert_int_equal(m.baseline, 2);
    assert_int_equal(m.capture_count, 2);
    assert_string_equal(m.capture[0].name, "/nowhere/1.rd"); /* sorted */
    assert_string_equal(m.capture[1].name, "/nowhere/2.rd");
    assert_int_equal(m.capture[1].expect, CPS_REASON_DEADLOCK);
    assert_string_equal(m.capture[1].tags, ",b,");
    assert_beside(m.golden, "goldens");
    assert_string_equal(m.mask, "reg:0x8810-0x8820");
    assert_string_equal(m.events, "reg,memw");
    assert_string_equal(m.policy, "waits=stop prefetch=on");
    assert_int_equal(m.limit, 3000000);
    manifest_deinit(&m);
}

static void a_capture_named_twice_is_there_once(void **state)
{
    struct manifest m;
    (void)state;
    assert_null(read_text(HEAD LEAST "capture /nowhere/c.rd /nowhere/d.rd\n", &m));
    assert_int_equal(m.capture_count, 2);
    manifest_deinit(&m);
}

static void a_name_that_no_document_can_hold_is_shown_escaped(void **state)
{
    struct manifest m;
    (void)state;
    assert_null(read_text(HEAD "firmware f a.fw\ncapture /nowhere/\xff.rd\n", &m));
    assert_string_equal(m.capture[0].path, "/nowhere/\xff.rd");
    assert_string_equal(m.capture[0].name, "/nowhere/\\xff.rd");
    manifest_deinit(&m);
}

static void refused_lines_are_named(void **state)
{
    (void)state;
    expect_error("", ":1: expected \"# cpscope-manifest 1\"");
    expect_error("firmware f a.fw\n", ":1: expected \"# cpscope-manifest 1\"");
    expect_error(HEAD, "at least one firmware and one capture");
    expect_error(HEAD "firmware f a.fw\n", "at least one firmware and one capture");
    expect_error(HEAD "bogus x\n", ":2: expected firmware, capture, baseline");
    expect_error(HEAD "\nfirmware f\n", ":3: expected firmware NAME FILE");
    expect_error(HEAD "firmware f a b c\n", ":2: expected firmware NAME FILE");
    expect_error(HEAD "firmware f hwsq:g92 b.fw\n", ":2: expected firmware NAME FILE");
    expect_error(HEAD "capture\n", ":2: expected capture GLOB");
    expect_error(HEAD "capture c.rd expect=bogus\n", ":2: expected capture GLOB");
    expect_error(HEAD "capture /nowhere/*.rd\n", ":2: expected a pattern that some file matches");
    expect_error(HEAD "baseline old\n" LEAST, ":2: expected baseline NAME");
    expect_error(HEAD LEAST "golden\n", ":4: expected a value");
    expect_error(HEAD LEAST "limit x\n", ":4: expected limit N");
    expect_error(HEAD LEAST "events reg,bogus\n", ":4: expected classes of events");
    expect_error(HEAD LEAST "policy bogus=1\n", ":4: ");
    expect_error(HEAD LEAST "golden a\ngolden b\n", ":5: a second \"golden\"");
    expect_error(HEAD LEAST "baseline old\nbaseline old\n", ":5: expected one baseline");
    expect_error(HEAD "firmware f a.fw tags=a tags=b\n", ":2: found tags= twice");
    expect_error(HEAD "firmware f a.fw tags=a\ncapture c.rd tags=b\n",
                 ":3: capture c.rd is in no pair, expected one of its tags, b, on a firmware");
    /* Some pairs are there. */
    expect_error(
        HEAD "firmware f a.fw tags=a6xx,x\ncapture c.rd tags=a6xx\ncapture d.rd tags=y,a6x\n",
        ":4: capture d.rd is in no pair, expected one of its tags, y,a6x, on a firmware; did "
        "you mean a6xx?");
    expect_error(HEAD "firmware f a.fw tags=a6xx\nfirmware g b.fw tags=a7\nfirmware h b.fw\n"
                      "capture c.rd tags=a6xx\ncapture d.rd tags=a6xx\n",
                 ":3: firmware g is in no pair, expected one of its tags, a7, on a capture");
    expect_error(
        HEAD "firmware f a.fw tags=a6xx\nfirmware g b.fw tags=a7x\ncapture c.rd tags=a6xx\n"
             "capture d.rd tags=a7xx,a6xx\n",
        ":3: firmware g is in no pair, expected one of its tags, a7x, on a capture; did you "
        "mean a7xx?");
    /* of HWSQ alone; that no firmware here is it is known at the end, but the line is the policy's
     */
    expect_error(HEAD "policy fb-delay=1\n# more\n" LEAST, ":2: ");
}

static void a_line_may_have_any_number_of_words(void **state)
{
    CPS_BUF text = {0};
    struct manifest m;
    (void)state;
    cps_buf_str(&text, HEAD "firmware f a.fw\ncapture");
    for (unsigned i = 0; i < 1000; i++)
        cps_buf_printf(&text, " /nowhere/%04u.rd", i);
    cps_buf_str(&text, " expect=fault tags=a\n");
    assert_null(read_text(cps_buf_text(&text), &m));
    assert_int_equal(m.capture_count, 1000);
    assert_int_equal(m.capture[999].expect, CPS_REASON_FAULT);
    assert_string_equal(m.capture[999].tags, ",a,");
    manifest_deinit(&m);
}

/* Results go by names: the one of the first would hide that of the second. */
static void two_firmwares_of_one_name_are_refused(void **state)
{
    (void)state;
    expect_error(HEAD "firmware f a.fw\nfirmware f b.fw\ncapture c.rd\n",
                 ":3: firmware f is in line 2 already");
}

static void a_capture_that_two_lines_say_different_things_of_is_refused(void **state)
{
    (void)state;
    expect_error(HEAD LEAST "capture /nowhere/c.rd expect=fault\n",
                 ":4: capture /nowhere/c.rd is in line 3 with another expect=");
    expect_error(HEAD LEAST "capture /nowhere/c.rd tags=a\n", "another expect= or tags=");
}

static void a_nul_does_not_hide_what_follows(void **state)
{
    static const char text[] = HEAD LEAST "\0capture /nowhere/d.rd\n";
    char path[64];
    struct manifest m;
    (void)state;
    FILE *file = fopen(scratch_file(path, ""), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, sizeof(text) - 1, file), sizeof(text) - 1);
    fclose(file);
    struct cps_err *err = manifest_read(path, &m);
    assert_non_null(err);
    assert_non_null(strstr(err->message, ":4: found a byte 0x00"));
    cps_err_free(err);
    manifest_deinit(&m);
    remove(path);
}

static void a_long_tag_is_compared_to_its_end(void **state)
{
    char a[202] = "", b[202] = "";
    (void)state;
    memset(a + 1, 'x', 199);
    a[0] = a[200] = ',';
    memcpy(b, a, sizeof(b));
    const struct manifest_firmware fw = {.tags = a};
    const struct manifest_capture capture = {.tags = b};
    assert_true(manifest_pairs(&fw, &capture));
    b[199] = 'y';
    assert_false(manifest_pairs(&fw, &capture));
}

static void a_backslash_is_no_escape_of_another_name(void **state)
{
    struct manifest m;
    (void)state;
    assert_null(
        read_text(HEAD "firmware f a.fw\ncapture /nowhere/\xff.rd /nowhere/\\xff.rd\n", &m));
    assert_int_equal(m.capture_count, 2);
    assert_string_equal(m.capture[0].name, "/nowhere/\\x5cxff.rd");
    manifest_deinit(&m);
}

static void tags_decide_what_runs_on_what(void **state)
{
    static const struct {
        const char *firmware, *capture;
        bool pair;
    } rows[] = {
        {NULL, NULL, true},     {",a,", NULL, true},    {NULL, ",a,", true},
        {",a,", ",a,", true},   {",a,", ",b,", false},  {",a,b,", ",c,b,", true},
        {",ab,", ",a,", false}, {",a,", ",ab,", false}, {",x,y,", ",xy,", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct manifest_firmware fw = {.tags = (char *)(uintptr_t)rows[i].firmware};
        const struct manifest_capture capture = {.tags = (char *)(uintptr_t)rows[i].capture};
        assert_int_equal(manifest_pairs(&fw, &capture), rows[i].pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_manifest_has_the_defaults),
        cmocka_unit_test(every_line_has_its_meaning),
        cmocka_unit_test(a_capture_named_twice_is_there_once),
        cmocka_unit_test(a_name_that_no_document_can_hold_is_shown_escaped),
        cmocka_unit_test(refused_lines_are_named),
        cmocka_unit_test(tags_decide_what_runs_on_what),
        cmocka_unit_test(a_line_may_have_any_number_of_words),
        cmocka_unit_test(two_firmwares_of_one_name_are_refused),
        cmocka_unit_test(a_capture_that_two_lines_say_different_things_of_is_refused),
        cmocka_unit_test(a_nul_does_not_hide_what_follows),
        cmocka_unit_test(a_long_tag_is_compared_to_its_end),
        cmocka_unit_test(a_backslash_is_no_escape_of_another_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
