/* SPDX-License-Identifier: MIT
 * The socket at which a run waits for an editor. It lies in a folder that is its user's alone, and
 * is checked on what was opened: owner, mode, no link; and on both ends whose process the other one
 * is. */
#ifndef CPS_ATTACH_H
#define CPS_ATTACH_H

#include <stdbool.h>
#include <sys/un.h>

#include "isa/base/buf.h"

#define ATTACH_NAME 80 /* bytes of a socket's name in its folder */

/** Where a socket is. */
struct attach_socket {
    struct cps_buf path; /**< for people */
    int folder;          /**< descriptor, -1: none */
    char name[ATTACH_NAME];
};

/** Opens the folder of @p path, which must be the user's alone.
 * @return CPS_ERR_OS; the caller calls attach_deinit() in any case */
CPS_MUST_USE struct cps_err *attach_open(const char *path, struct attach_socket *ret);
/** The same of the socket of process @p pid, in the folder "cpscope" of XDG_RUNTIME_DIR, which is
 * made if @p make. */
CPS_MUST_USE struct cps_err *attach_open_pid(long pid, bool make, struct attach_socket *ret);
/** The same where one run alone listens in that folder.
 * @return CPS_ERR_INPUT: none does, or more than one, which are named */
CPS_MUST_USE struct cps_err *attach_open_only(struct attach_socket *ret);
void attach_deinit(struct attach_socket *at);
/** Its address: by the opened folder, so that nobody can put another one in its place. */
struct sockaddr_un attach_address(const struct attach_socket *at);
/** Whether what has the name is a socket that is the user's alone. *exists: whether anything has
 * it; nothing is no error. */
CPS_MUST_USE struct cps_err *attach_check(const struct attach_socket *at, bool *exists);
/** Whether the process at the other end of a connected socket is the user's. */
bool attach_is_ours(int socket);

/** What the run's end prints first: this, or why not. One line. */
#define ATTACH_HELLO "cpscope: attach"
/** Connects with the run at a socket. @return CPS_ERR_OS, CPS_ERR_INPUT: what it printed instead */
CPS_MUST_USE struct cps_err *attach_connect(const struct attach_socket *at, int *ret);

#endif
