/* SPDX-License-Identifier: MIT
 * Outputs and spools where the system takes little at a time or nothing, and what they ask of it:
 * some of its calls go through here. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/form/forms.h"
#include "trace/form/trace.h"
#include "trace/out/outfile.h"

static int watched = -1;  /* the only descriptor whose writes are another's */
static size_t at_a_time;  /* bytes that a write takes */
static unsigned refusals; /* so many writes take nothing, and say so */
static unsigned given;    /* files that were given to an owner */
static bool guarded;      /* signals waited when the file got its name */
static bool has_proc = true;

ssize_t write(int fd, const void *data, size_t size)
{
    if (fd == watched && refusals) {
        refusals--;
        return 0;
    }
    if (fd == watched && at_a_time < size)
        size = at_a_time;
    return syscall(SYS_write, fd, data, size);
}

int access(const char *path, int mode)
{
    return has_proc ? (int)syscall(SYS_faccessat, AT_FDCWD, path, mode) : -1;
}

int fchown(int fd, uid_t owner, gid_t group)
{
    given++;
    return (int)syscall(SYS_fchown, fd, owner, group);
}

static bool is_held(int number)
{
    sigset_t now;
    return !pthread_sigmask(SIG_BLOCK, NULL, &now) && sigismember(&now, number) == 1;
}

int rename(const char *from, const char *to)
{
    guarded = is_held(SIGTERM) && is_held(SIGINT);
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    guarded = is_held(SIGTERM) && is_held(SIGINT);
    return (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

static char folder[64], target[96];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/cpscope-outfile-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(target, sizeof(target), "%s/target", folder);
    watched = -1;
    has_proc = true;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(target);
    return rmdir(folder);
}

static void no_error(struct cps_err *err)
{
    if (err)
        fail_msg("%s", err->message);
}

static void expect_contents(const char *path, const char *expected)
{
    char text[64];
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    ssize_t got = read(fd, text, sizeof(text) - 1);
    assert_true(got >= 0);
    text[got] = '\0';
    close(fd);
    assert_string_equal(text, expected);
}

static int newest_descriptor(void)
{
    int fd = open("/dev/null", O_RDONLY);
    close(fd);
    return fd - 1;
}

static void what_is_taken_in_pieces_arrives_whole(void **state)
{
    struct cps_outfile *out = NULL;
    struct cps_spool spool;
    (void)state;
    no_error(cps_outfile_open(target, &out));
    watched = newest_descriptor();
    at_a_time = 2;
    cps_outfile_write(out, "seven b", 7);
    no_error(cps_outfile_commit(out));
    expect_contents(target, "seven b");
    watched = -1;
    no_error(cps_spool_open_(&spool));
    watched = spool.fd;
    cps_spool_write_(&spool, "in pieces", 9);
    watched = -1;
    no_error(cps_outfile_open(target, &out));
    no_error(cps_spool_copy_(&spool, out));
    no_error(cps_outfile_commit(out));
    cps_spool_close_(&spool);
    expect_contents(target, "in pieces");
}

/* What takes nothing and has no error is full. */
static void what_takes_nothing_is_full(void **state)
{
    struct cps_outfile *out = NULL;
    struct cps_spool spool;
    (void)state;
    at_a_time = SIZE_MAX;
    no_error(cps_outfile_open(target, &out));
    watched = newest_descriptor();
    refusals = 2;
    cps_outfile_write(out, "text", 4);
    struct cps_err *err = cps_outfile_commit(out);
    assert_non_null(err);
    assert_non_null(strstr(err->message, strerror(ENOSPC)));
    cps_err_free(err);
    watched = -1;
    assert_int_equal(open(target, O_RDONLY), -1);
    no_error(cps_spool_open_(&spool));
    watched = spool.fd;
    refusals = 2;
    cps_spool_write_(&spool, "text", 4);
    refusals = 0;
    assert_int_equal(spool.failed, ENOSPC);
    cps_spool_write_(&spool, "more", 4);
    watched = -1;
    no_error(cps_outfile_open(target, &out));
    err = cps_spool_copy_(&spool, out);
    assert_non_null(err);
    assert_non_null(strstr(err->message, strerror(ENOSPC)));
    cps_err_free(err);
    cps_outfile_abort(out);
    assert_int_equal(lseek(spool.fd, 0, SEEK_END), 0);
    cps_spool_close_(&spool);
}

/* A name that is gone may be another's: it is taken away once. */
static void a_spool_loses_its_name_once(void **state)
{
    struct cps_spool spool;
    char path[sizeof(spool.path)];
    (void)state;
    no_error(cps_spool_open_(&spool));
    strcpy(path, spool.path);
    assert_int_equal(access(path, F_OK), 0);
    cps_spool_forget_(&spool);
    assert_int_equal(access(path, F_OK), -1);
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
    cps_spool_close_(&spool);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(unlink(path), 0);
    no_error(cps_spool_open_(&spool));
    strcpy(path, spool.path);
    cps_spool_close_(&spool);
    assert_int_equal(access(path, F_OK), -1);
}

/* While a file gets its name the process cannot be ended; afterwards it can. */
static void signals_wait_for_the_name(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 4; round++) {
        has_proc = round & 1;
        guarded = false;
        no_error(cps_outfile_whole(target, "text", 4));
        assert_true(guarded);
        assert_false(is_held(SIGTERM) || is_held(SIGINT));
    }
}

/* Only what was another's is given back to him, which only root can. */
static void owners_are_kept(void **state)
{
    struct stat info;
    (void)state;
    no_error(cps_outfile_whole(target, "new", 3));
    no_error(cps_outfile_whole(target, "old", 3));
    assert_int_equal(given, 0);
    if (chown(target, 1, 1) != 0)
        return;
    no_error(cps_outfile_whole(target, "his", 3));
    assert_int_equal(stat(target, &info), 0);
    assert_true(info.st_uid == 1 && info.st_gid == 1);
    assert_int_equal(given, 1);
}

/* A name without a folder is of the one at hand. */
static void relative_names_have_a_folder_too(void **state)
{
    char before[4096];
    struct cps_outfile *out = NULL;
    (void)state;
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir(folder), 0);
    no_error(cps_outfile_open("target", &out));
    cps_outfile_write(out, "text", 4);
    assert_int_equal(rmdir(folder), 0); /* nothing has a name in it */
    cps_outfile_abort(out);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
}

/* An open file goes on where it stands, whatever its name. */
static void descriptors_go_on_where_they_are(void **state)
{
    static const char *const names[] = {"/dev/fd/%d", "/proc/self/fd/%d"};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[64];
        int fd = open(target, O_CREAT | O_TRUNC | O_WRONLY, 0600);
        assert_int_equal(write(fd, "abc", 3), 3);
        snprintf(path, sizeof(path), names[i], fd);
        no_error(cps_outfile_whole(path, "def", 3));
        assert_int_equal(write(fd, "ghi", 3), 3);
        close(fd);
        expect_contents(target, "abcdefghi");
    }
}

/* A hundred names are tried. */
static void names_run_out(void **state)
{
    char path[128];
    (void)state;
    for (unsigned way = 0; way < 2; way++) {
        has_proc = way;
        no_error(cps_outfile_whole(target, "old", 3)); /* so that a name is needed */
        for (unsigned i = 0; i < 100; i++) {
            snprintf(path, sizeof(path), "%s.%ld.%u.tmp", target, (long)getpid(), i);
            close(open(path, O_CREAT | O_EXCL | O_WRONLY, 0600));
            struct cps_err *err = i < 98 ? NULL : cps_outfile_whole(target, "new", 3);
            if (i < 99)
                no_error(err);
            else if (!err || !strstr(err->message, strerror(EEXIST)))
                fail_msg("%s", err ? err->message : "no error");
            cps_err_free(err);
        }
        expect_contents(target, "new");
        for (unsigned i = 0; i < 100; i++) {
            snprintf(path, sizeof(path), "%s.%ld.%u.tmp", target, (long)getpid(), i);
            assert_int_equal(unlink(path), 0);
        }
    }
}

/* No run begins whose database cannot be opened: one descriptor is left, which the file takes. */
static void a_database_that_cannot_be_opened_is_an_error_at_once(void **state)
{
    struct cps_outfile *out = NULL;
    struct cps_trace_head head;
    struct cps_trace_writer *writer = NULL;
    struct rlimit before, few;
    (void)state;
    no_error(cps_trace_head_parse("head", "# cpscope-trace 1\n# gen a6xx\n# events pkt\n", &head));
    no_error(cps_outfile_open(target, &out));
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = (rlim_t)newest_descriptor() + 2;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    struct cps_err *err = cps_trace_writer_create(CPS_FORM_SQLITE, out, &head, NULL, &writer);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_non_null(err);
    assert_null(writer);
    cps_err_free(err);
    cps_outfile_abort(out);
    cps_trace_head_deinit(&head);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        CASE(what_is_taken_in_pieces_arrives_whole),
        CASE(what_takes_nothing_is_full),
        CASE(a_spool_loses_its_name_once),
        CASE(signals_wait_for_the_name),
        CASE(owners_are_kept),
        CASE(relative_names_have_a_folder_too),
        CASE(descriptors_go_on_where_they_are),
        CASE(names_run_out),
        CASE(a_database_that_cannot_be_opened_is_an_error_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
