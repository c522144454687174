/* SPDX-License-Identifier: MIT
 * The program that is the device's first client: found, and started with the client library in
 * front of its own. */
#include "tools/device/start.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/device/protocol.h"

#define CLIENT_LIBRARY "libcpscope-client.so"
enum { PATH_SIZE = 4096, MAX_WORDS = 16 };

/* Beside the program, as in a build folder, or where it was installed. */
static bool find_library(char path[PATH_SIZE])
{
    ssize_t size = readlink("/proc/self/exe", path, PATH_SIZE - 64);
    if (size > 0) {
        path[size] = 0;
        char *slash = strrchr(path, '/');
        strcpy(slash + 1, CLIENT_LIBRARY);
        if (access(path, R_OK) == 0)
            return true;
    }
    snprintf(path, PATH_SIZE, "%s/%s", CPS_CLIENT_DIR, CLIENT_LIBRARY);
    return access(path, R_OK) == 0;
}

static void put_in_front(const char *variable, const char *path)
{
    const char *old = getenv(variable);
    char *both = NULL;
    if (old && *old && asprintf(&both, "%s:%s", path, old) > 0)
        setenv(variable, both, 1);
    else
        setenv(variable, path, 1);
    free(both);
}

/* Drivers of Vulkan that the loader would try: only the one for this device. */
static void choose_driver(const char *root)
{
    static const char *const files[] = {"/usr/share/vulkan/icd.d/freedreno_icd.json",
                                        "/usr/share/vulkan/icd.d/freedreno_icd.aarch64.json",
                                        "/usr/share/vulkan/icd.d/freedreno_icd.x86_64.json"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char path[PATH_SIZE];
        snprintf(path, sizeof(path), "%s%s", root ? root : "", files[i]);
        if (access(path, R_OK) == 0)
            setenv("VK_DRIVER_FILES", files[i], 0);
    }
}

/* The loader looks for layers where programs of the host have theirs: qemu does not look up
 * access() in the root. */
static void choose_layers(const char *root)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/usr/share/vulkan/explicit_layer.d", root);
    setenv("VK_LAYER_PATH", path, 0);
    snprintf(path, sizeof(path), "%s/usr/share/vulkan/implicit_layer.d", root);
    setenv("VK_IMPLICIT_LAYER_PATH", path, 0);
}

/* A program of the root by its name. */
static bool find_in_root(const char *root, const char *name, char path[PATH_SIZE])
{
    static const char *const folders[] = {"usr/bin", "usr/games", "usr/lib/piglit/bin",
                                          "usr/lib/aarch64-linux-gnu/piglit/bin"};
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && !strchr(name, '/'); i++) {
        snprintf(path, PATH_SIZE, "%s/%s/%s", root, folders[i], name);
        if (access(path, X_OK) == 0)
            return true;
    }
    snprintf(path, PATH_SIZE, "%s%s", name[0] == '/' && access(name, X_OK) != 0 ? root : "", name);
    return access(path, X_OK) == 0;
}

static struct cps_err *check_root(const struct device_program *program)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/usr/lib/cpscope/" CLIENT_LIBRARY, program->root);
    if (access(path, R_OK) != 0)
        return cps_err_new(CPS_ERR_OS, "%s: no root that tools/client.sh made", program->root);
    if (!find_in_root(program->root, program->argv[0], path))
        return cps_err_new(CPS_ERR_OS, "%s: not found in the root %s", program->argv[0],
                           program->root);
    return NULL;
}

/* What is typed is for the debugger. */
static void leave_terminal(void)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    signal(SIGINT, SIG_IGN);
}

static void exec_program(const struct device_program *program, const char *library)
{
    const char *root = program->root;
    char path[PATH_SIZE];
    setenv(DEVICE_FOLDER, program->folder, 1);
    choose_driver(root);
    if (!root) {
        put_in_front("LD_PRELOAD", library);
        execvp(program->argv[0], program->argv);
        return;
    }
    choose_layers(root);
    size_t count = 0;
    while (program->argv[count])
        count++;
    char **argv = calloc(count + MAX_WORDS, sizeof(*argv));
    if (!argv)
        return;
    /* qemu looks up the guest's absolute paths in the root first. Variables for the guest alone:
     * the emulator itself is of the host. */
    size_t n = 0;
    find_in_root(root, program->argv[0], path);
    argv[n++] = (char *)"qemu-aarch64-static";
    argv[n++] = (char *)"-L";
    argv[n++] = (char *)root;
    argv[n++] = (char *)"-E";
    argv[n++] = (char *)"LD_PRELOAD=/usr/lib/cpscope/" CLIENT_LIBRARY;
    argv[n++] = (char *)"-E";
    argv[n++] = (char *)"LD_LIBRARY_PATH=/usr/lib/aarch64-linux-gnu:/usr/lib";
    argv[n++] = path;
    for (size_t i = 1; i < count; i++)
        argv[n++] = program->argv[i];
    execvp(argv[0], argv);
    argv[0] = (char *)"qemu-aarch64";
    execvp(argv[0], argv);
    free(argv);
}

struct cps_err *device_program_start(const struct device_program *program, pid_t *pid, int *pidfd)
{
    char library[PATH_SIZE] = "";
    int report[2];
    int failure = 0;
    if (!program->root && !find_library(library))
        return cps_err_new(CPS_ERR_OS, "%s: not found beside the program, nor in %s",
                           CLIENT_LIBRARY, CPS_CLIENT_DIR);
    if (program->root)
        CPS_TRY(check_root(program));
    if (pipe2(report, O_CLOEXEC) != 0)
        return cps_err_os("the program's start", "pipe");
    fflush(NULL);
    *pid = fork();
    if (*pid == 0) {
        if (program->debugged)
            leave_terminal();
        if (program->to_stderr)
            dup2(STDERR_FILENO, STDOUT_FILENO);
        exec_program(program, library);
        failure = errno;
        ssize_t ignored = write(report[1], &failure, sizeof(failure));
        (void)ignored;
        _exit(127);
    }
    close(report[1]);
    ssize_t told = *pid < 0 ? 0 : read(report[0], &failure, sizeof(failure));
    close(report[0]);
    if (*pid < 0 || told > 0) {
        errno = *pid < 0 ? errno : failure;
        return cps_err_os(program->root && told > 0 ? "qemu-aarch64-static" : program->argv[0],
                          *pid < 0 ? "fork" : "execute");
    }
    *pidfd = (int)syscall(SYS_pidfd_open, *pid, 0);
    return *pidfd < 0 ? cps_err_os(program->argv[0], "pidfd_open") : NULL;
}

int device_program_status(int ended)
{
    return WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
}
