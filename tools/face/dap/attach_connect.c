/* SPDX-License-Identifier: MIT
 * The adapter's end of the socket of a run. */
#include "tools/face/dap/attach.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINE_BYTES 256
#define PATIENCE   5000 /* milliseconds: its thread has nothing else to do */

/* The first line, without its end. */
static bool read_line(int socket, char line[LINE_BYTES])
{
    size_t size = 0;
    char c = 0;
    struct pollfd one = {socket, POLLIN, 0};
    while (size < LINE_BYTES - 1 && poll(&one, 1, PATIENCE) == 1 && read(socket, &c, 1) == 1 &&
           c != '\n')
        line[size++] = c;
    line[size] = '\0';
    return c == '\n';
}

static struct cps_err *greet(int socket, const char *path)
{
    char line[LINE_BYTES];
    if (!attach_is_ours(socket))
        return cps_err_new(CPS_ERR_OS, "%s: another user's process listens there", path);
    if (!read_line(socket, line))
        return cps_err_new(CPS_ERR_OS, "%s: what listens there does not answer", path);
    return strcmp(line, ATTACH_HELLO) ? cps_err_new(CPS_ERR_INPUT, "%s: %s", path, line) : NULL;
}

static struct cps_err *connect_to(const struct attach_place *place, int s)
{
    const char *path = cps_buf_text(&place->path);
    struct sockaddr_un address = attach_address(place);
    if (connect(s, (struct sockaddr *)&address, sizeof(address)) == 0)
        return greet(s, path);
    if (errno == ECONNREFUSED)
        return cps_err_new(CPS_ERR_INPUT, "%s: the run that listened there is over", path);
    return cps_err_os(path, "connect to");
}

struct cps_err *attach_connect(const struct attach_place *place, int *ret)
{
    bool exists = false;
    CPS_TRY(attach_check(place, &exists));
    if (!exists)
        return cps_err_new(CPS_ERR_INPUT, "%s: no run listens there", cps_buf_text(&place->path));
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0)
        return cps_err_os(cps_buf_text(&place->path), "connect to");
    struct cps_err *err = connect_to(place, s);
    if (err)
        close(s);
    else
        *ret = s;
    return err;
}
