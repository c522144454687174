/* SPDX-License-Identifier: MIT
 * Preloaded (LD_PRELOAD): makes one call of a program fail, and says what came of it.
 *
 *   FAULT_CALL      malloc, fork, thread, clock, or a kind of system call: a row of `kinds`, "any"
 *   FAULT_AT        which call of this kind, from 1, of the process and what it forks; 0: none
 *   FAULT_ALWAYS    all later ones, too
 *   FAULT_ERRNO     the number of the error (default ENOMEM for memory, EIO else)
 *   FAULT_SHORT     writes half instead of failing
 *   FAULT_SIGNAL    sends this signal to the process instead of failing
 *   FAULT_CUT       cuts this file to half its size, and then calls as usual
 *   FAULT_SPARE     calls about this descriptor neither fail nor count
 *   FAULT_LOG       a file of at least a page, mapped: `struct inject_log`
 *
 * Allocations are counted by interposition, which sees those of libraries and of libc, too. System
 * calls are trapped by seccomp, because libc's own (of stdio) cannot be interposed. Programs that
 * the process starts run undisturbed after malloc, fork and clock; none survives the filter. */
#include "inject.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#define SHOWN __attribute__((visibility("default")))

struct inject inject_fault;

static __thread bool inside __attribute__((tls_model("initial-exec")));

static _Unwind_Reason_Code keep_frame(struct _Unwind_Context *context, void *arg)
{
    struct inject_log *log = arg;
    if (log->depth == INJECT_DEPTH)
        return _URC_END_OF_STACK;
    log->stack[log->depth++] = _Unwind_GetIP(context);
    return _URC_NO_REASON;
}

static void cut_file(void)
{
    int fd = (int)syscall(SYS_open, inject_fault.cut_path, O_RDWR);
    long size = syscall(SYS_lseek, fd, 0, SEEK_END);
    if (fd >= 0 && size > 0)
        syscall(SYS_ftruncate, fd, size / 2);
    syscall(SYS_close, fd);
}

/* Whether this call of the watched kind is the one; it has failed then, or shall. */
bool inject_is_due(uint64_t argument)
{
    uint64_t number = atomic_fetch_add(&inject_fault.log->calls, 1) + 1;
    bool due = inject_fault.at &&
               (number == inject_fault.at || (inject_fault.always && number > inject_fault.at));
    if (!due || inside)
        return false;
    inside = true;
    if (atomic_fetch_add(&inject_fault.log->fired, 1) == 0) {
        inject_fault.log->first = argument;
        _Unwind_Backtrace(keep_frame, inject_fault.log);
    }
    if (inject_fault.cut)
        cut_file();
    if (inject_fault.signal)
        syscall(SYS_kill, syscall(SYS_getpid), inject_fault.signal);
    inside = false;
    return !inject_fault.cut && !inject_fault.signal;
}

/* ---- memory: glibc's other names for it ---- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t align, size_t size);

static bool no_memory(void)
{
    if (!inject_fault.memory || !inject_is_due(0))
        return false;
    errno = ENOMEM;
    return true;
}

SHOWN void *malloc(size_t size)
{
    return no_memory() ? NULL : __libc_malloc(size);
}

SHOWN void *calloc(size_t count, size_t size)
{
    return no_memory() ? NULL : __libc_calloc(count, size);
}

SHOWN void *realloc(void *old, size_t size)
{
    return no_memory() ? NULL : __libc_realloc(old, size);
}

SHOWN void *aligned_alloc(size_t align, size_t size)
{
    return no_memory() ? NULL : __libc_memalign(align, size);
}

SHOWN int posix_memalign(void **ret, size_t align, size_t size)
{
    void *memory = no_memory() ? NULL : __libc_memalign(align, size);
    if (memory)
        *ret = memory;
    return memory ? 0 : ENOMEM;
}

/* ---- what is called through the linker only ---- */

SHOWN pid_t fork(void)
{
    if (!inject_fault.forks || !inject_is_due(0))
        return inject_fault.fork();
    errno = inject_fault.error;
    return -1;
}

SHOWN int pthread_create(pthread_t *ret, const pthread_attr_t *how, void *(*start)(void *),
                         void *arg)
{
    return inject_fault.threads && inject_is_due(0) ? inject_fault.error
                                                    : inject_fault.thread(ret, how, start, arg);
}

/* The trap's signal must get through: threads that block all of them would end the process. */
SHOWN int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t less;
    if (set)
        less = *set;
    if (set && how != SIG_UNBLOCK)
        sigdelset(&less, SIGSYS);
    return inject_fault.mask(how, set ? &less : NULL, old);
}

/* A clock that goes back by a day after each call from the due one on. */
SHOWN int clock_gettime(clockid_t which, struct timespec *ret)
{
    int status = inject_fault.clock ? inject_fault.clock(which, ret)
                                    : (int)syscall(SYS_clock_gettime, which, ret);
    if (inject_fault.clocks && inject_is_due(0))
        ret->tv_sec -= 86400 * (time_t)atomic_load(&inject_fault.log->fired);
    return status;
}

SHOWN time_t time(time_t *ret)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (ret)
        *ret = now.tv_sec;
    return now.tv_sec;
}

/* ---- the start ---- */

static unsigned long number_of(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);
    return text ? strtoul(text, NULL, 0) : otherwise;
}

static void copy(char *to, size_t size, const char *name)
{
    const char *text = getenv(name);
    if (text)
        strncpy(to, text, size - 1);
}

static struct inject_log *map_log(void)
{
    static struct inject_log nowhere;
    const char *path = getenv("FAULT_LOG");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *map = mmap(NULL, sizeof(struct inject_log), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    return map == MAP_FAILED ? &nowhere : map;
}

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static __attribute__((constructor)) void arm(void)
{
    void *found[] = {next("fork"), next("pthread_create"), next("clock_gettime"),
                     next("pthread_sigmask")};
    memcpy(&inject_fault.mask, &found[3], sizeof(found[3]));
    memcpy(&inject_fault.fork, &found[0], sizeof(found[0]));
    memcpy(&inject_fault.thread, &found[1], sizeof(found[1]));
    memcpy(&inject_fault.clock, &found[2], sizeof(found[2]));
    inject_fault.log = map_log();
    copy(inject_fault.call, sizeof(inject_fault.call), "FAULT_CALL");
    copy(inject_fault.cut_path, sizeof(inject_fault.cut_path), "FAULT_CUT");
    inject_fault.at = number_of("FAULT_AT", 0);
    inject_fault.always = getenv("FAULT_ALWAYS") != NULL;
    inject_fault.brief = getenv("FAULT_SHORT") != NULL;
    inject_fault.cut = inject_fault.cut_path[0] != '\0';
    inject_fault.error = (int)number_of("FAULT_ERRNO", EIO);
    inject_fault.signal = (int)number_of("FAULT_SIGNAL", 0);
    inject_fault.spare = (long)number_of("FAULT_SPARE", ~0ul);
    inject_fault.log->base = getauxval(AT_PHDR) & ~UINT64_C(0xfff);
    unsetenv("LD_PRELOAD");
    inject_fault.forks = !strcmp(inject_fault.call, "fork");
    inject_fault.threads = !strcmp(inject_fault.call, "thread");
    inject_fault.clocks = !strcmp(inject_fault.call, "clock");
    bool memory = !strcmp(inject_fault.call, "malloc");
    bool linked = inject_fault.forks || inject_fault.threads || inject_fault.clocks || memory;
    inject_fault.log->armed = linked || inject_watch_calls();
    inject_fault.memory = memory; /* last: what comes before is not counted */
}
