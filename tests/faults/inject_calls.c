/* SPDX-License-Identifier: MIT
 * System calls that fail: a filter of seccomp sends a signal in their place, whose handler calls,
 * or does not. */
#include "inject.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { MAX_CALLS = 5 };

static const struct kind {
    const char *name;
    short number[MAX_CALLS]; /* ends with 0, which is read()'s and stands first if at all */
} kinds[] = {
    {"read", {SYS_read, SYS_pread64, SYS_readv}},
    {"write", {SYS_write, SYS_pwrite64, SYS_writev}},
    {"fsync", {SYS_fsync, SYS_fdatasync}},
    {"rename", {SYS_rename, SYS_renameat, SYS_renameat2}},
    {"link", {SYS_link, SYS_linkat}},
    {"close", {SYS_close}},
    {"open", {SYS_open, SYS_openat, SYS_creat}},
    {"mmap", {SYS_mmap}},
    {"mkdir", {SYS_mkdir, SYS_mkdirat}},
    {"unlink", {SYS_unlink, SYS_unlinkat, SYS_rmdir}},
    {"pipe", {SYS_pipe, SYS_pipe2}},
    {"stat", {SYS_stat, SYS_fstat, SYS_lstat, SYS_newfstatat}},
    {"list", {SYS_getdents64}},
    {"truncate", {SYS_ftruncate, SYS_truncate}},
    {"wait", {SYS_wait4, SYS_waitid}},
    {"poll", {SYS_poll, SYS_ppoll, SYS_select, SYS_pselect6}},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

enum { WRITE_KIND = 1, CLOSE_KIND = 5 };

static bool is_of(const struct kind *kind, long number)
{
    for (unsigned i = 0; i < MAX_CALLS && (i == 0 || kind->number[i]); i++) {
        if (kind->number[i] == number)
            return true;
    }
    return false;
}

static void trapped(int signal, siginfo_t *info, void *context)
{
    greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;
    int before = errno;
    long number = info->si_syscall;
    bool fails = reg[REG_RDI] != inject_fault.spare && inject_is_due((uint64_t)reg[REG_RDI]);
    bool closes =
        is_of(&kinds[CLOSE_KIND], number); /* the descriptor is gone whatever close() says */
    bool brief =
        fails && inject_fault.brief && is_of(&kinds[WRITE_KIND], number) && reg[REG_RDX] > 1;
    long result = -1;
    (void)signal;
    if (brief)
        reg[REG_RDX] /= 2;
    if (!fails || closes || brief)
        result = syscall(number, reg[REG_RDI], reg[REG_RSI], reg[REG_RDX], reg[REG_R10],
                         reg[REG_R8], reg[REG_R9]);
    int error = fails && !brief ? inject_fault.error : errno;
    reg[REG_RAX] = result < 0 || (fails && !brief) ? -(greg_t)error : result;
    errno = before;
}

/* A trap for each call of the watched kinds that does not come from libc's syscall(), as ours do.
 */
bool inject_watch_calls(void)
{
    enum { ROOM = 8 + 2 * KINDS * MAX_CALLS, FUNCTION_BYTES = 96 };
    uint32_t low = (uint32_t)(uintptr_t)syscall;
    struct sock_filter code[ROOM] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, low, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, low + FUNCTION_BYTES, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    };
    struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER};
    unsigned short used = 5;
    for (unsigned k = 0; k < KINDS; k++) {
        if (strcmp(inject_fault.call, kinds[k].name) != 0 && strcmp(inject_fault.call, "any") != 0)
            continue;
        for (unsigned i = 0; i < MAX_CALLS && (i == 0 || kinds[k].number[i]); i++) {
            code[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                        (uint32_t)kinds[k].number[i], 0, 1);
            code[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
        }
    }
    if (used == 5)
        return false;
    code[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {used, code};
    return !sigaction(SIGSYS, &action, NULL) && !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
           !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
