/* SPDX-License-Identifier: MIT
 * Compiler attributes and scope guards: the only header, besides the dispatch loop, that uses
 * extensions of gcc and clang. Nothing here has state: threads need no care.
 *
 * A program that includes the library needs none of this, but may use the guards, which work in C
 * only. */
#ifndef CPS_CLEANUP_H
#define CPS_CLEANUP_H

#include <stdlib.h>

/* Around the declarations of a header, so that C++ can call what they declare. */
#ifdef __cplusplus
#define CPS_C_BEGIN extern "C" {
#define CPS_C_END   }
#else
#define CPS_C_BEGIN
#define CPS_C_END
#endif

/** Checks the arguments of a printf-like function.
 * @param fmt   position of the format, from 1
 * @param args  position of the first argument that it names, from 1 */
#define CPS_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
/** A result that must not be dropped: compilers warn about a call that does. */
#define CPS_MUST_USE __attribute__((warn_unused_result))
/** Part of the library's interface. The library is compiled so that everything else is hidden;
 * cpscope.lds lists the same names once more. */
#define CPS_PUBLIC __attribute__((visibility("default")))
/** Says that a condition holds nearly always. */
#define CPS_LIKELY(cond) __builtin_expect(!!(cond), 1)
/** Says that a condition hardly ever holds. */
#define CPS_UNLIKELY(cond) __builtin_expect(!!(cond), 0)

/** 1 if the number of ones in a uint32_t is odd, else 0. */
#define CPS_ODD_ONES(value) ((uint32_t)__builtin_parity(value))

/** Makes the compiler believe that @p variable is read and changed here: for yardstick loops. */
#define CPS_KEEP(variable) __asm__ volatile("" : "+r"(variable))

/** Runs @p function on the variable's address when the variable goes out of scope, however control
 * leaves it. */
#define CPS_CLEANUP(function) __attribute__((cleanup(function)))
/** Frees a malloc()ed pointer at the end of its scope; NULL is fine. */
#define CPS_FREE CPS_CLEANUP(cps_cleanup_free_)

/* What CPS_FREE calls: @p pointer is the address of the variable. */
static inline void cps_cleanup_free_(void *pointer)
{
    free(*(void **)pointer);
}

/** Hands a guarded pointer out: returns its value and disarms the guard, as in
 * `return CPS_TAKE(text);`. */
#define CPS_TAKE(pointer)               \
    __extension__({                     \
        __auto_type taken_ = (pointer); \
        (pointer) = NULL;               \
        taken_;                         \
    })

#endif
