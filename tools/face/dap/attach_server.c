/* SPDX-License-Identifier: MIT
 * Editors that attach to a run: a thread takes clients in, one at a time, and the run serves them
 * between two of its instructions. */
#include "tools/face/dap/attach_server.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "isa/base/shown.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/face/dap/attach.h"
#include "tools/face/dap/dap.h"

struct attach_server {
    struct dap_run run;
    struct play *play;
    struct attach_socket at;
    char *path; /* absolute, for signals */
    int listener;
    int wake[2]; /* a pipe: what comes out of it ends the thread */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t came;
    bool busy;         /* a client is there; the lock is held */
    atomic_int client; /* who was not taken yet; -1: none */
};

/* A signal concerns the process: so this is the one thing that is not a server's own. */
static _Atomic(char *) named;

void attach_unlink_all(void)
{
    char *path = atomic_load(&named);
    if (path)
        unlink(path);
}

/* ---- the thread ---- */

static void take_in(struct attach_server *s, int client)
{
    static const char busy[] = "another editor is attached to this run\n";
    bool ours = attach_is_ours(client);
    pthread_mutex_lock(&s->lock);
    bool refused = s->busy;
    const char *line = refused ? busy : ATTACH_HELLO "\n";
    ssize_t sent = ours ? send(client, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT) : 0;
    (void)sent; /* who does not listen has lost */
    if (ours && !refused) {
        s->busy = true;
        s->client = client;
        pthread_cond_broadcast(&s->came);
    }
    pthread_mutex_unlock(&s->lock);
    if (!ours || refused)
        close(client);
}

static void *accept_all(void *context)
{
    struct attach_server *s = context;
    struct pollfd both[2] = {{s->listener, POLLIN, 0}, {s->wake[0], POLLIN, 0}};
    for (;;) {
        if ((poll(both, 2, -1) < 0 && errno != EINTR) || both[1].revents)
            return NULL;
        int client = both[0].revents ? accept(s->listener, NULL, NULL) : -1;
        if (client >= 0)
            take_in(s, client);
        else if (both[0].revents && errno != EINTR && errno != ECONNABORTED)
            poll(&both[1], 1, 100); /* no descriptor is left: whoever knocks waits */
    }
}

/* ---- the socket ---- */

/* A socket whose run is dead makes room. */
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
    int failed = bind(s->listener, (struct sockaddr *)&address, sizeof(address));
    umask(before);
    if (failed)
        return cps_err_os(s->path, "create");
    atomic_store(&named, s->path);
    if (listen(s->listener, 8) != 0)
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
    s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s->listener < 0)
        return cps_err_os(s->path, "create");
    if (flock(s->at.folder, LOCK_EX) != 0) /* two runs that want the same name take turns */
        return cps_err_os(s->path, "lock the folder of");
    struct cps_err *err = make_room(&s->at);
    if (!err)
        err = bind_socket(s);
    flock(s->at.folder, LOCK_UN);
    return err;
}

static struct cps_err *listen_for_clients(struct attach_server *s, const char *path)
{
    sigset_t all;
    sigset_t before;
    CPS_TRY(open_socket(s, path));
    if (pipe(s->wake) != 0) {
        s->wake[0] = s->wake[1] = -1;
        return cps_err_os("(pipe)", "create");
    }
    sigfillset(&all); /* signals belong to the thread of the run */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&s->thread, NULL, accept_all, s) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        return NULL;
    close(s->wake[1]);
    s->wake[1] = -1;
    return cps_err_new(CPS_ERR_OS, "cannot start a thread");
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

struct cps_err *attach_server_open(const struct cps_options *opt, struct attach_server **ret)
{
    CPS_BUF shown = {0};
    if (!opt->listen && !opt->listen_wait)
        return NULL;
    for (unsigned i = 0; i < opt->run.fw_count; i++)
        CPS_TRY(check_twice(opt->run.fw[i]));
    if (opt->arg_count)
        CPS_TRY(check_twice(opt->arg[0]));
    struct attach_server *s = tool_alloc(1, sizeof(*s));
    s->run.opt = opt;
    s->at.folder = s->listener = s->wake[0] = s->wake[1] = -1;
    s->client = -1;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->came, NULL);
    struct cps_err *err = listen_for_clients(s, opt->listen);
    if (err) {
        attach_server_close(s);
        return err;
    }
    *ret = s;
    cps_shown_add_(&shown, s->at.path.data, s->at.path.size, false);
    fprintf(stderr, "cpscope: an editor can attach: %s\n", tool_text(&shown));
    return NULL;
}

/* As cps_engine_interrupt() asks; the end that an editor asked for lasts. */
static bool serve_waiting(void *context)
{
    struct attach_server *s = context;
    int client = s->run.ended || s->client < 0 ? -1 : atomic_exchange(&s->client, -1);
    if (client >= 0) {
        /* What went wrong for an editor is no matter of the run's. */
        s->run.clock = s->play->engine->clock;
        struct cps_err *err = dap_serve_run(&s->run, client);
        if (err)
            fprintf(stderr, "cpscope: an editor was let go: %s\n", err->message);
        cps_err_free(err);
        if (s->run.ended)
            fputs("cpscope: an editor ended the run\n", stderr);
        close(client);
        pthread_mutex_lock(&s->lock);
        s->busy = false; /* the next one may come */
        pthread_mutex_unlock(&s->lock);
    }
    return s->run.ended;
}

void attach_server_begin(struct attach_server *s, struct play *play)
{
    if (!s)
        return;
    s->play = play;
    cps_engine_interrupt(play->engine, serve_waiting, s);
    while (s->run.opt->listen_wait && !s->run.attached && !s->run.ended) {
        pthread_mutex_lock(&s->lock);
        while (s->client < 0)
            pthread_cond_wait(&s->came, &s->lock);
        pthread_mutex_unlock(&s->lock);
        serve_waiting(s);
    }
}

void attach_server_close(struct attach_server *s)
{
    if (!s)
        return;
    if (s->wake[1] >= 0) {
        close(s->wake[1]);
        pthread_join(s->thread, NULL);
    }
    if (s->path && atomic_load(&named) == s->path) {
        unlinkat(s->at.folder, s->at.name, 0);
        atomic_store(&named, NULL);
    }
    const int descriptors[] = {s->wake[0], s->listener, s->client};
    for (unsigned i = 0; i < sizeof(descriptors) / sizeof(descriptors[0]); i++) {
        if (descriptors[i] >= 0)
            close(descriptors[i]);
    }
    attach_deinit(&s->at);
    pthread_cond_destroy(&s->came);
    pthread_mutex_destroy(&s->lock);
    free(s->path);
    free(s);
}
