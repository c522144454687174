/* SPDX-License-Identifier: MIT
 * Included in front of every file of a build that counts lines (-include): a worker ends by
 * _exit(), which drops what it counted. Declares no more than it has to, because files choose their
 * feature macros themselves. */
#ifndef CPSCOPE_TESTS_COUNTED_H
#define CPSCOPE_TESTS_COUNTED_H

extern void __gcov_dump(void);
extern void _exit(int status) __attribute__((noreturn));

static inline __attribute__((noreturn)) void counted_exit(int status)
{
    __gcov_dump();
    _exit(status);
}

#define _exit counted_exit

#endif
