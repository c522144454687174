/* SPDX-License-Identifier: MIT
 * Outputs that are whole or absent, where contents can have no name (O_TMPFILE) and where they
 * need a temporary one: without /proc, which access() below takes away. */
#include <dirent.h>
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

#include "trace/out/outfile.h"

static bool has_proc;
static char folder[64], target[96];

/* In place of the C library's: the product asks it for nothing else here. */
int access(const char *path, int mode)
{
    (void)mode;
    return has_proc && !strcmp(path, "/proc/self/fd") ? 0 : -1;
}

static void no_error(struct cps_err *err)
{
    if (err)
        fail_msg("%s", err->message);
}

/* Names in the folder that are not the target's; the last of them in @p ret. */
static unsigned others(char ret[256])
{
    unsigned count = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "target"))
            continue;
        snprintf(ret, 256, "%s", entry->d_name);
        count++;
    }
    closedir(dir);
    return count;
}

static void contents(const char *path, char *ret, size_t size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t got = fread(ret, 1, size - 1, file);
    ret[got] = '\0';
    fclose(file);
}

static unsigned mode_of(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 0777;
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/cpscope-outfile-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(target, sizeof(target), "%s/target", folder);
    umask(022);
    return 0;
}

static int tear_down(void **state)
{
    char name[256], path[512];
    (void)state;
    unlink(target);
    while (others(name)) {
        snprintf(path, sizeof(path), "%s/%s", folder, name);
        if (unlink(path) != 0)
            return -1;
    }
    return rmdir(folder);
}

/* Until it is whole the target is what it was. A new file gets what umask leaves of 0666, one that
 * is there keeps its mode; its contents are nobody else's meanwhile. */
static void replaces(unsigned names)
{
    char name[256] = "", text[64], path[512];
    for (unsigned round = 0; round < 2; round++) {
        struct cps_outfile *out = NULL;
        no_error(cps_outfile_open(target, &out));
        cps_outfile_write(out, "second", 6);
        assert_int_equal(others(name), names);
        snprintf(path, sizeof(path), "%s/%s", folder, name);
        if (names)
            assert_int_equal(mode_of(path) & 077, 0);
        if (round) {
            contents(target, text, sizeof(text));
            assert_string_equal(text, "first");
        }
        no_error(cps_outfile_commit(out));
        contents(target, text, sizeof(text));
        assert_string_equal(text, "second");
        assert_int_equal(others(name), 0);
        assert_int_equal(mode_of(target), round ? 0640 : 0644);
        no_error(cps_outfile_whole(target, "first", 5));
        assert_int_equal(chmod(target, 0640), 0);
    }
}

static void contents_have_no_name_until_they_are_whole(void **state)
{
    (void)state;
    has_proc = true;
    replaces(0);
}

static void without_proc_they_have_one_beside_the_target(void **state)
{
    (void)state;
    has_proc = false;
    replaces(1);
}

static void what_is_given_up_leaves_nothing(void **state)
{
    char name[256];
    (void)state;
    for (unsigned way = 0; way < 2; way++) {
        struct cps_outfile *out = NULL;
        has_proc = way;
        no_error(cps_outfile_open(target, &out));
        cps_outfile_write(out, "text", 4);
        cps_outfile_abort(out);
        assert_int_equal(others(name), 0);
        struct stat info;
        assert_int_not_equal(stat(target, &info), 0);
    }
    cps_outfile_abort(NULL);
}

/* Nothing that has the name is written to, be it another's file or a link somewhere. */
static void a_temporary_name_that_is_taken_is_left_alone(void **state)
{
    char name[256], path[512], text[64];
    (void)state;
    for (unsigned way = 0; way < 2; way++) {
        snprintf(path, sizeof(path), "%s.%ld.0.tmp", target, (long)getpid());
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs("theirs", file);
        fclose(file);
        has_proc = way;
        no_error(cps_outfile_whole(target, "one", 3));
        no_error(cps_outfile_whole(target, "two", 3));
        contents(target, text, sizeof(text));
        assert_string_equal(text, "two");
        contents(path, text, sizeof(text));
        assert_string_equal(text, "theirs");
        assert_int_equal(others(name), 1);
        assert_int_equal(unlink(target), 0);
    }
}

/* What the handler of a signal calls: all names that are there, and none that has gone. */
static void names_are_known_to_the_handler_of_a_signal(void **state)
{
    enum { KNOWN = 8 };
    struct cps_outfile *out[KNOWN];
    char name[256], path[512];
    (void)state;
    has_proc = false;
    for (unsigned round = 0; round < 3; round++) { /* places become free again */
        for (unsigned i = 0; i < KNOWN; i++) {
            snprintf(path, sizeof(path), "%s/%u", folder, i);
            no_error(cps_outfile_open(path, &out[i]));
        }
        assert_int_equal(others(name), KNOWN);
        if (round == 2)
            cps_outfile_unlink_all();
        assert_int_equal(others(name), round == 2 ? 0 : KNOWN);
        for (unsigned i = 0; i < KNOWN; i++)
            cps_outfile_abort(out[i]);
        assert_int_equal(others(name), 0);
    }
    no_error(cps_outfile_whole(target, "kept", 4));
    cps_outfile_unlink_all();
    contents(target, path, sizeof(path));
    assert_string_equal(path, "kept");
}

/* 40 links are followed, as Linux does; of 41 the message says why not. */
static void links_are_followed_to_their_end(void **state)
{
    char path[512], next[512], text[64];
    (void)state;
    has_proc = true;
    snprintf(next, sizeof(next), "target");
    for (unsigned i = 0; i < 41; i++) {
        snprintf(path, sizeof(path), "%s/link%u", folder, i);
        assert_int_equal(symlink(next, path), 0);
        snprintf(next, sizeof(next), "link%u", i);
        if (i == 39) {
            no_error(cps_outfile_whole(path, "far", 3));
            contents(target, text, sizeof(text));
            assert_string_equal(text, "far");
        }
    }
    struct cps_outfile *out = NULL;
    struct cps_err *err = cps_outfile_open(path, &out);
    assert_non_null(err);
    assert_int_equal(err->code, CPS_ERR_OS);
    assert_non_null(strstr(err->message, strerror(ELOOP)));
    cps_err_free(err);
}

/* A header that is known only at the end, with more behind it than a buffer has. */
static void the_first_bytes_can_be_written_again(void **state)
{
    static char text[200001];
    (void)state;
    struct cps_outfile *out = NULL;
    has_proc = true;
    no_error(cps_outfile_open(target, &out));
    assert_true(cps_outfile_patchable(out));
    for (unsigned i = 0; i < 20000; i++)
        cps_outfile_write(out, "0123456789", 10);
    cps_outfile_patch(out, "head", 4);
    no_error(cps_outfile_commit(out));
    contents(target, text, sizeof(text));
    assert_int_equal(strlen(text), 200000);
    assert_memory_equal(text, "head456789", 10);
    for (unsigned i = 1; i < 20000; i++)
        assert_memory_equal(text + 10 * i, "0123456789", 10);
}

static void no_folder_and_no_space_are_errors_that_name_the_file(void **state)
{
    struct cps_outfile *out = NULL;
    (void)state;
    for (unsigned way = 0; way < 2; way++) {
        has_proc = way;
        char path[512];
        snprintf(path, sizeof(path), "%s/none/target", folder);
        struct cps_err *err = cps_outfile_open(path, &out);
        assert_non_null(err);
        assert_int_equal(err->code, CPS_ERR_OS);
        assert_non_null(strstr(err->message, path));
        cps_err_free(err);
    }
    no_error(cps_outfile_open("/dev/full", &out));
    assert_false(cps_outfile_patchable(out));
    cps_outfile_write(out, "text", 4);
    struct cps_err *err = cps_outfile_commit(out);
    assert_non_null(err);
    assert_non_null(strstr(err->message, "/dev/full"));
    cps_err_free(err);
    no_error(cps_outfile_open("/dev/null", &out));
    assert_true(cps_outfile_patchable(out));
    cps_outfile_write(out, "text", 4);
    cps_outfile_patch(out, "t", 1);
    no_error(cps_outfile_commit(out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        CASE(contents_have_no_name_until_they_are_whole),
        CASE(without_proc_they_have_one_beside_the_target),
        CASE(what_is_given_up_leaves_nothing),
        CASE(a_temporary_name_that_is_taken_is_left_alone),
        CASE(names_are_known_to_the_handler_of_a_signal),
        CASE(links_are_followed_to_their_end),
        CASE(the_first_bytes_can_be_written_again),
        CASE(no_folder_and_no_space_are_errors_that_name_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
