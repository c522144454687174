/* SPDX-License-Identifier: MIT
 * Signals that end a long command: the first one is noted, the next one ends the process. Each case
 * is a process of its own, because that is what signals end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tools/run/interrupt.h"

static const int both[] = {SIGINT, SIGTERM};

/* What became of a process that does @p act: its status, or 128 and the signal that ended it. */
static int child(int (*act)(int number), int number)
{
    int status = 0;
    pid_t pid = fork();
    if (!pid)
        _exit(act(number));
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int is_noted(int number)
{
    struct interrupt taken;
    interrupted = 1;
    interrupt_take(&taken);
    if (interrupted)
        return 1;
    raise(number);
    return interrupted == number ? 0 : 2;
}

static void the_first_one_is_noted(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(child(is_noted, both[i]), 0);
}

static int comes_second(int number)
{
    struct interrupt taken;
    interrupt_take(&taken);
    raise(number == SIGINT ? SIGTERM : SIGINT);
    raise(number);
    return 0;
}

static int comes_twice(int number)
{
    struct interrupt taken;
    interrupt_take(&taken);
    raise(number);
    raise(number);
    return 0;
}

static void the_next_one_ends_the_process(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(child(comes_twice, both[i]), 128 + both[i]);
        assert_int_equal(child(comes_second, both[i]), 128 + both[i]);
    }
}

static int is_ignored(int number)
{
    struct interrupt taken;
    signal(number, SIG_IGN);
    interrupt_take(&taken);
    raise(number);
    raise(number);
    return interrupted;
}

static void what_the_caller_ignores_stays_so(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(child(is_ignored, both[i]), 0);
}

static int is_given_back(int number)
{
    struct interrupt taken;
    interrupt_take(&taken);
    interrupt_give_back(&taken);
    raise(number);
    return 0;
}

static void what_was_is_given_back(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(child(is_given_back, both[i]), 128 + both[i]);
}

static int keeps_to_itself(int number)
{
    struct {
        struct interrupt taken;
        uint8_t behind[sizeof(struct sigaction)];
    } room;
    (void)number;
    memset(room.behind, 0xa5, sizeof(room.behind));
    interrupt_take(&room.taken);
    for (size_t i = 0; i < sizeof(room.behind); i++) {
        if (room.behind[i] != 0xa5)
            return 1;
    }
    return 0;
}

static void nothing_else_is_written(void **state)
{
    (void)state;
    assert_int_equal(child(keeps_to_itself, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_one_is_noted),
        cmocka_unit_test(the_next_one_ends_the_process),
        cmocka_unit_test(what_the_caller_ignores_stays_so),
        cmocka_unit_test(what_was_is_given_back),
        cmocka_unit_test(nothing_else_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
