/* SPDX-License-Identifier: MIT
 * Compiler attributes and scope guards: the only header, besides the dispatch loop, that uses
 * extensions of gcc and clang. */
#ifndef CPS_CLEANUP_H
#define CPS_CLEANUP_H

#include <stdlib.h>

/** Around the declarations of a header, so that C++ can call what they declare. */
#ifdef __cplusplus
#define CPS_C_BEGIN extern "C" {
#define CPS_C_END   }
#else
#define CPS_C_BEGIN
#define CPS_C_END
#endif

/** Checks the arguments of a printf-like function; @p fmt and @p args count from 1. */
#define CPS_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
/** A result that must not be dropped. */
#define CPS_MUST_USE __attribute__((warn_unused_result))
/** Part of the library's interface; everything else is hidden. */
#define CPS_PUBLIC         __attribute__((visibility("default")))
#define CPS_LIKELY(cond)   __builtin_expect(!!(cond), 1)
#define CPS_UNLIKELY(cond) __builtin_expect(!!(cond), 0)

/** Makes the compiler believe that @p variable is read and changed here: for yardstick loops. */
#define CPS_KEEP(variable) __asm__ volatile("" : "+r"(variable))

/** Runs @p function on the variable's address when the variable goes out of scope. */
#define CPS_CLEANUP(function) __attribute__((cleanup(function)))
/** Frees a malloc()ed pointer at the end of its scope; NULL is fine. */
#define CPS_FREE CPS_CLEANUP(cps_cleanup_free_)

static inline void cps_cleanup_free_(void *pointer)
{
    free(*(void **)pointer);
}

/** Hands a guarded pointer out: returns its value and disarms the guard. */
#define CPS_TAKE(pointer)               \
    __extension__({                     \
        __auto_type taken_ = (pointer); \
        (pointer) = NULL;               \
        taken_;                         \
    })

#endif
