/* SPDX-License-Identifier: MIT
 * The socket at which a run waits for an editor. It lies in a folder that is its user's alone, and
 * is checked on what was opened: owner, mode, no link; and on both ends whose process the other one
 * is.
 *
 *   attach_place.c    the folder and the name
 *   attach_listen.c   the run's end
 *   attach_connect.c  the adapter's end */
#ifndef CPS_ATTACH_H
#define CPS_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

#include "isa/base/buf.h"
#include "isa/base/err.h"

/* ---- attach_place.c ---- */

#define ATTACH_NAME 80 /* bytes of a socket's name in its folder */

/** Where a socket is. */
struct attach_place {
    struct cps_buf path; /**< for people */
    int folder;          /**< descriptor, -1: none */
    char name[ATTACH_NAME];
};

/** Opens the folder of @p path, which must be the user's alone.
 * @return CPS_ERR_OS; the caller calls attach_place_deinit() in any case */
CPS_MUST_USE struct cps_err *attach_place_open(const char *path, struct attach_place *ret);
/** The same of the socket of process @p pid, in the folder "cpscope" of XDG_RUNTIME_DIR, which is
 * made if @p make. */
CPS_MUST_USE struct cps_err *attach_place_pid(long pid, bool make, struct attach_place *ret);
/** The same where one run alone listens in that folder.
 * @return CPS_ERR_INPUT: none does, or more than one, which are named */
CPS_MUST_USE struct cps_err *attach_place_only(struct attach_place *ret);
void attach_place_deinit(struct attach_place *place);
/** Its address: by the opened folder, so that nobody can put another one in its place. */
struct sockaddr_un attach_address(const struct attach_place *place);
/** Whether what has the name is a socket that is the user's alone. *exists: whether anything has
 * it; nothing is no error. */
CPS_MUST_USE struct cps_err *attach_check(const struct attach_place *place, bool *exists);
/** Whether the process behind a connected socket is the user's. */
bool attach_is_ours(int socket);

/* ---- attach_listen.c ---- */

struct attach_server;

/** What the run's end says first: this, or why not. One line. */
#define ATTACH_HELLO "cpscope: attach"

/** Begins to listen, in a thread of its own, which refuses a second client.
 * @param path  "": that of attach_place_pid()
 * @return CPS_ERR_OS, CPS_ERR_INPUT: a run that lives has it */
CPS_MUST_USE struct cps_err *attach_listen(const char *path, struct attach_server **ret);
/** For people. */
const char *attach_path(const struct attach_server *server);
/** A client that has come, -1: none. */
int attach_try(struct attach_server *server);
/** Waits for one. */
int attach_wait(struct attach_server *server);
/** Closes the one that came, and lets the next one in. */
void attach_leave(struct attach_server *server, int client);
/** Removes the socket. NULL is fine. */
void attach_end(struct attach_server *server);
/** For handlers of signals that end the process: removes the sockets. */
void attach_unlink_all(void);

/* ---- attach_connect.c ---- */

/** Connects with the run at @p place. @return CPS_ERR_OS, CPS_ERR_INPUT: what it said instead */
CPS_MUST_USE struct cps_err *attach_connect(const struct attach_place *place, int *ret);

#endif
