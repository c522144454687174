/* SPDX-License-Identifier: MIT
 * The run's end of the socket: a thread that takes clients in, one at a time. */
#include "tools/face/dap/attach.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct attach_server {
    struct attach_place place;
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

static void say(int client, const char *line)
{
    ssize_t sent = send(client, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)sent; /* who does not listen has lost */
}

static void take_in(struct attach_server *s, int client)
{
    bool ours = attach_is_ours(client);
    pthread_mutex_lock(&s->lock);
    bool refused = s->busy;
    if (ours && !refused) {
        say(client, ATTACH_HELLO "\n");
        s->busy = true;
        s->client = client;
        pthread_cond_broadcast(&s->came);
    }
    pthread_mutex_unlock(&s->lock);
    if (ours && refused)
        say(client, "another editor is attached to this run\n");
    if (!ours || refused)
        close(client);
}

static void *serve(void *context)
{
    struct attach_server *s = context;
    struct pollfd both[2] = {{s->listener, POLLIN, 0}, {s->wake[0], POLLIN, 0}};
    for (;;) {
        if (poll(both, 2, -1) < 0 && errno != EINTR)
            return NULL;
        if (both[1].revents)
            return NULL;
        int client = both[0].revents ? accept(s->listener, NULL, NULL) : -1;
        if (client >= 0)
            take_in(s, client);
        else if (both[0].revents && errno != EINTR && errno != ECONNABORTED)
            poll(&both[1], 1, 100); /* no descriptor is left: whoever knocks waits */
    }
}

/* Signals belong to the thread of the run. */
static bool start(struct attach_server *s)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&s->thread, NULL, serve, s) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static bool lives(const struct attach_place *place)
{
    struct sockaddr_un address = attach_address(place);
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool dead = probe >= 0 && connect(probe, (struct sockaddr *)&address, sizeof(address)) != 0 &&
                errno == ECONNREFUSED;
    if (probe >= 0)
        close(probe);
    return !dead;
}

/* A socket whose run is dead makes room. */
static struct cps_err *make_room(const struct attach_place *place)
{
    bool exists = false;
    CPS_TRY(attach_check(place, &exists));
    if (!exists)
        return NULL;
    if (lives(place))
        return cps_err_new(CPS_ERR_INPUT, "%s: another run listens there",
                           cps_buf_text(&place->path));
    if (unlinkat(place->folder, place->name, 0) != 0)
        return cps_err_os(cps_buf_text(&place->path), "replace");
    return NULL;
}

/* The mode is there from the start: no other thread runs yet that would create a file. */
static struct cps_err *bind_socket(struct attach_server *s)
{
    struct sockaddr_un address = attach_address(&s->place);
    bool exists = false;
    mode_t before = umask(S_IRWXG | S_IRWXO | S_IXUSR);
    int failed = bind(s->listener, (struct sockaddr *)&address, sizeof(address));
    umask(before);
    if (failed)
        return cps_err_os(s->path, "create");
    atomic_store(&named, s->path);
    if (listen(s->listener, 8) != 0)
        return cps_err_os(s->path, "listen at");
    return attach_check(&s->place, &exists);
}

/* Two runs that want the same name take turns. */
static struct cps_err *create(struct attach_server *s)
{
    s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s->listener < 0)
        return cps_err_os(s->path, "create");
    if (flock(s->place.folder, LOCK_EX) != 0)
        return cps_err_os(s->path, "lock the folder of");
    struct cps_err *err = make_room(&s->place);
    if (!err)
        err = bind_socket(s);
    flock(s->place.folder, LOCK_UN);
    return err;
}

static struct cps_err *find_place(struct attach_server *s, const char *path)
{
    CPS_BUF whole = {0};
    CPS_TRY(*path ? attach_place_open(path, &s->place)
                  : attach_place_pid((long)getpid(), true, &s->place));
    CPS_FREE char *here = *path && *path != '/' ? getcwd(NULL, 0) : NULL;
    cps_buf_printf(&whole, "%s%s%s", here ? here : "", here ? "/" : "",
                   cps_buf_text(&s->place.path));
    if (whole.failed)
        return cps_err_nomem();
    s->path = CPS_TAKE(whole.data);
    return NULL;
}

static struct cps_err *open_server(struct attach_server *s, const char *path)
{
    CPS_TRY(find_place(s, path));
    CPS_TRY(create(s));
    if (pipe(s->wake) != 0) {
        s->wake[0] = s->wake[1] = -1;
        return cps_err_os("(pipe)", "create");
    }
    if (start(s))
        return NULL;
    close(s->wake[1]);
    s->wake[1] = -1;
    return cps_err_new(CPS_ERR_OS, "cannot start a thread");
}

struct cps_err *attach_listen(const char *path, struct attach_server **ret)
{
    struct attach_server *s = calloc(1, sizeof(*s));
    if (!s)
        return cps_err_nomem();
    s->place.folder = s->listener = s->wake[0] = s->wake[1] = -1;
    s->client = -1;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->came, NULL);
    struct cps_err *err = open_server(s, path);
    if (err)
        attach_end(s);
    else
        *ret = s;
    return err;
}

const char *attach_path(const struct attach_server *s)
{
    return cps_buf_text(&s->place.path);
}

int attach_try(struct attach_server *s)
{
    return s->client < 0 ? -1 : atomic_exchange(&s->client, -1);
}

int attach_wait(struct attach_server *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->client < 0)
        pthread_cond_wait(&s->came, &s->lock);
    pthread_mutex_unlock(&s->lock);
    return attach_try(s);
}

void attach_leave(struct attach_server *s, int client)
{
    close(client);
    pthread_mutex_lock(&s->lock);
    s->busy = false;
    pthread_mutex_unlock(&s->lock);
}

static void close_one(int descriptor)
{
    if (descriptor >= 0)
        close(descriptor);
}

void attach_end(struct attach_server *s)
{
    if (!s)
        return;
    if (s->wake[1] >= 0) {
        close(s->wake[1]);
        pthread_join(s->thread, NULL);
    }
    if (s->path && atomic_load(&named) == s->path) {
        unlinkat(s->place.folder, s->place.name, 0);
        atomic_store(&named, NULL);
    }
    close_one(s->wake[0]);
    close_one(s->listener);
    close_one(s->client);
    attach_place_deinit(&s->place);
    pthread_cond_destroy(&s->came);
    pthread_mutex_destroy(&s->lock);
    free(s->path);
    free(s);
}
