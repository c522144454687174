/* SPDX-License-Identifier: MIT
 * What stdout goes through where it is a terminal. */
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/cmd/terminal/paint.h"

static pid_t pager; /* 0: there is none */
static bool has_stderr;

/* The shell that the user asked for by naming a command, as of any program that has a pager. */
static void become(const char *text, const int fd[2])
{
    dup2(fd[0], STDIN_FILENO);
    close(fd[0]);
    close(fd[1]);
    setenv("LESS", "FRX", 0);
    setenv("LV", "-c", 0);
    execl("/bin/sh", "sh", "-c", text, (char *)NULL);
    _exit(127);
}

void pager_begin(bool wanted)
{
    int fd[2];
    const char *own = getenv("CPSCOPE_PAGER");
    const char *any = own ? own : getenv("PAGER");
    const char *text =
        any ? any : "if command -v less >/dev/null; then exec less; else exec cat; fi";
    if (!wanted || !isatty(STDOUT_FILENO) || !*text || !strcmp(text, "cat") || pipe(fd))
        return;
    has_stderr = isatty(STDERR_FILENO); /* lines in between would be on the pager's screen */
    pager = fork();
    if (pager == 0)
        become(text, fd);
    if (pager > 0)
        dup2(fd[1], STDOUT_FILENO);
    if (pager > 0 && has_stderr)
        dup2(fd[1], STDERR_FILENO);
    close(fd[0]);
    close(fd[1]);
}

void pager_end_by_signal(void)
{
    enum { MOST_FILES = 256 };
    for (int fd = STDOUT_FILENO; pager > 0 && fd < MOST_FILES; fd++)
        close(fd); /* outputs have copies of stdout, and the pager reads until the last is closed */
    pager_end();
}

bool pager_runs(void)
{
    return pager > 0;
}

void pager_end(void)
{
    if (pager <= 0)
        return;
    signal(SIGINT, SIG_IGN); /* it is the pager's as long as that runs */
    close(STDOUT_FILENO);
    if (has_stderr)
        close(STDERR_FILENO);
    waitpid(pager, NULL, 0);
    pager = 0;
}
