/* SPDX-License-Identifier: MIT
 * Editors that attach to a run: between two of its instructions it takes one in, and serves it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "isa/base/shown.h"
#include "tools/face/dap/dap_private.h"
#include "tools/run/interrupt.h"

struct attach_server {
    struct dap_run run;
    struct play *play;
    struct attach_socket at;
    char *path; /* absolute, for signals */
    bool waits; /* for the first editor */
};

/* For the signal handler, which has no server at hand. */
static _Atomic(char *) named;

void attach_unlink_all(void)
{
    char *path = atomic_load(&named);
    if (path)
        unlink(path);
}

/* ---- the socket ---- */

/* Removes the socket of a dead run. */
static struct cps_err *make_room(const struct attach_socket *at)
{
    struct sockaddr_un address = attach_address(at);
    bool exists = false;
    CPS_TRY(attach_check(at, &exists));
    if (!exists)
        return NULL;
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool dead = probe >= 0 && connect(probe, (struct sockaddr *)&address, sizeof(address)) != 0 &&
                errno == ECONNREFUSED;
    if (probe >= 0)
        close(probe);
    if (!dead)
        return cps_err_new(CPS_ERR_INPUT, "%s: another run listens there", cps_buf_text(&at->path));
    return unlinkat(at->folder, at->name, 0) ? cps_err_os(cps_buf_text(&at->path), "replace")
                                             : NULL;
}

/* The mode is there from the start: no other thread runs yet that would create a file. */
static struct cps_err *bind_socket(struct attach_server *s)
{
    struct sockaddr_un address = attach_address(&s->at);
    bool exists = false;
    mode_t before = umask(S_IRWXG | S_IRWXO | S_IXUSR);
    int failed = bind(s->run.listener, (struct sockaddr *)&address, sizeof(address));
    umask(before);
    if (failed)
        return cps_err_os(s->path, "create");
    atomic_store(&named, s->path);
    if (listen(s->run.listener, 8) != 0)
        return cps_err_os(s->path, "listen at");
    return attach_check(&s->at, &exists);
}

static struct cps_err *open_socket(struct attach_server *s, const char *path)
{
    CPS_BUF whole = {0};
    CPS_TRY(path && *path ? attach_open(path, &s->at)
                          : attach_open_pid((long)getpid(), true, &s->at));
    CPS_FREE char *here = path && *path && *path != '/' ? getcwd(NULL, 0) : NULL;
    cps_buf_printf(&whole, "%s%s%s", here ? here : "", here ? "/" : "", tool_text(&s->at.path));
    s->path = tool_strdup(tool_text(&whole));
    s->run.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->run.listener < 0)
        return cps_err_os(s->path, "create");
    if (flock(s->at.folder, LOCK_EX) != 0) /* two runs that want the same name take turns */
        return cps_err_os(s->path, "lock the folder of");
    struct cps_err *err = make_room(&s->at);
    if (!err)
        err = bind_socket(s);
    flock(s->at.folder, LOCK_UN);
    return err;
}

/* ---- the run ---- */

/* What an editor sees is read once more. */
static struct cps_err *check_twice(const char *path)
{
    struct stat info;
    if (!strcmp(path, "-") || (!stat(path, &info) && !S_ISREG(info.st_mode)))
        return cps_err_new(CPS_ERR_INPUT,
                           "--listen: %s cannot be read again for an editor, expected a file",
                           path);
    return NULL;
}

struct cps_err *attach_server_open(const struct dap_setup *setup, const char *path, bool waits,
                                   struct attach_server **ret)
{
    CPS_BUF shown = {0};
    for (unsigned i = 0; i < setup->config.fw_count; i++)
        CPS_TRY(check_twice(setup->config.fw[i]));
    if (setup->capture)
        CPS_TRY(check_twice(setup->capture));
    struct attach_server *s = tool_alloc(1, sizeof(*s));
    s->run.setup = *setup;
    s->waits = waits;
    s->at.folder = s->run.listener = -1;
    struct cps_err *err = open_socket(s, path);
    if (err) {
        attach_server_close(s);
        return err;
    }
    *ret = s;
    cps_shown_add_(&shown, s->at.path.data, s->at.path.size, false);
    fprintf(stderr, "cpscope: an editor can attach: %s\n", tool_text(&shown));
    return NULL;
}

static bool serve_client(struct attach_server *s)
{
    int client = s->run.ended ? -1 : attach_accept(s->run.listener, ATTACH_HELLO "\n");
    if (client < 0)
        return s->run.ended;
    struct cps_err *err = dap_serve_run(&s->run, client);
    if (err)
        fprintf(stderr, "cpscope: an editor was let go: %s\n", err->message);
    cps_err_free(err);
    if (s->run.ended)
        fputs("cpscope: an editor ended the run\n", stderr);
    close(client);
    return s->run.ended;
}

/* As cps_engine_interrupt() asks; the end that an editor asked for lasts. What went wrong for an
 * editor is no matter of the run's. */
static bool serve_waiting(void *context)
{
    struct attach_server *s = context;
    s->run.clock = s->play->engine->clock;
    return serve_client(s);
}

/* Others are refused at the socket meanwhile; what one has typed ends with it. */
static void serve_device(struct attach_server *s)
{
    struct session *session = &s->run.debugger->session;
    session->live->listener = -1;
    serve_client(s);
    session->live->listener = s->run.listener;
    session->limited = false;
    s->run.debugger->interrupt = 0;
}

void attach_server_serve(struct attach_server *s, struct debugger *debugger)
{
    struct session *session = &debugger->session;
    enum cps_debug_reason reason = CPS_WHY_GONE;
    s->run.debugger = debugger;
    session->live->listener = s->run.listener;
    while (s->waits && !s->run.attached && !s->run.ended && !interrupted) {
        if (poll(&(struct pollfd){s->run.listener, POLLIN, 0}, 1, 500) == 1)
            serve_device(s);
    }
    while (!s->run.ended && !interrupted && reason != CPS_WHY_END && reason != CPS_WHY_NOMEM &&
           reason != CPS_WHY_REFUSED) {
        reason = session_run(session, CPS_GO_ON, session->core).reason;
        if (reason == CPS_WHY_INTERRUPTED)
            serve_device(s);
    }
    session->live->listener = -1;
}

void attach_server_begin(struct attach_server *s, struct play *play)
{
    if (!s)
        return;
    s->play = play;
    cps_engine_interrupt(play->engine, serve_waiting, s);
    while (s->waits && !s->run.attached && !s->run.ended) {
        poll(&(struct pollfd){s->run.listener, POLLIN, 0}, 1, -1);
        serve_waiting(s);
    }
}

void attach_server_close(struct attach_server *s)
{
    if (!s)
        return;
    if (s->path && atomic_load(&named) == s->path) {
        unlinkat(s->at.folder, s->at.name, 0);
        atomic_store(&named, NULL);
    }
    if (s->run.listener >= 0)
        close(s->run.listener);
    attach_deinit(&s->at);
    free(s->path);
    free(s);
}
