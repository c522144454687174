/* SPDX-License-Identifier: MIT
 * Editors that attach to a run. */
#include "tools/face/dap/guest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "isa/base/shown.h"
#include "tools/face/dap/attach.h"
#include "tools/face/dap/dap.h"

struct guest {
    struct attach_server *server;
    struct dap_run run;
    struct play *play;
};

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

static struct cps_err *check_inputs(const struct cps_options *opt)
{
    for (unsigned i = 0; i < opt->fw_count; i++)
        CPS_TRY(check_twice(opt->fw[i]));
    return opt->arg_count ? check_twice(opt->arg[0]) : NULL;
}

static struct cps_err *tell(const char *path)
{
    CPS_BUF shown = {0};
    cps_shown_add_(&shown, path, strlen(path), false);
    if (shown.failed)
        return cps_err_nomem();
    fprintf(stderr, "cpscope: an editor can attach: %s\n", cps_buf_text(&shown));
    return NULL;
}

struct cps_err *guest_open(const struct cps_options *opt, struct guest **ret)
{
    if (!opt->listen && !opt->listen_wait)
        return NULL;
    CPS_TRY(check_inputs(opt));
    struct guest *guest = calloc(1, sizeof(*guest));
    if (!guest)
        return cps_err_nomem();
    guest->run.opt = opt;
    struct cps_err *err = attach_listen(opt->listen ? opt->listen : "", &guest->server);
    if (err) {
        free(guest);
        return err;
    }
    *ret = guest;
    return tell(attach_path(guest->server));
}

/* What went wrong for an editor is no matter of the run's. */
static void serve(struct guest *guest, int client)
{
    guest->run.clock = guest->play->engine->clock;
    struct cps_err *err = dap_serve_run(&guest->run, client);
    if (err)
        fprintf(stderr, "cpscope: an editor was let go: %s\n", err->message);
    cps_err_free(err);
    if (guest->run.ended)
        fputs("cpscope: an editor ended the run\n", stderr);
    attach_leave(guest->server, client);
}

/* As cps_engine_interrupt() asks; the end that an editor asked for lasts. */
static bool asked(void *context)
{
    struct guest *guest = context;
    int client = guest->run.ended ? -1 : attach_try(guest->server);
    if (client >= 0)
        serve(guest, client);
    return guest->run.ended;
}

void guest_begin(struct guest *guest, struct play *play)
{
    if (!guest)
        return;
    guest->play = play;
    cps_engine_interrupt(play->engine, asked, guest);
    while (guest->run.opt->listen_wait && !guest->run.attached && !guest->run.ended)
        serve(guest, attach_wait(guest->server));
}

void guest_close(struct guest *guest)
{
    if (!guest)
        return;
    attach_end(guest->server);
    free(guest);
}
