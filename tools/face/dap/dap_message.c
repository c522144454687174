/* SPDX-License-Identifier: MIT
 * Members of requests, and the events that the adapter sends. */
#include <sys/socket.h>
#include <sys/time.h>

#include "tools/face/dap/dap_private.h"
#include "tools/cmd/render/doc.h"

/* Of what a client counts: lines, frames, instructions. */
#define MOST (INT64_C(1) << 24)

int64_t dap_number(struct json_object *from, const char *key, int64_t fallback)
{
    int64_t value = cps_json_get_int(from, key, fallback);
    return value > MOST ? MOST : value < -MOST ? -MOST : value;
}

const char *dap_text(const struct dap *d, const char *key)
{
    return cps_json_get_text(d->in, key, NULL);
}

struct cps_err *dap_thread(const struct dap *d, unsigned *ret)
{
    int64_t id = dap_number(d->in, "threadId", 1);
    unsigned count = session_engine(d->session)->cores;
    if (id < 1 || id > count)
        return cps_err_new(CPS_ERR_INPUT, "threadId %lld: expected 1 to %u", (long long)id, count);
    *ret = (unsigned)id - 1;
    return NULL;
}

void dap_event(struct dap *d, const char *name, struct json_object *body)
{
    struct json_object *message = doc_new();
    doc_put(message, "type=event event=%s", name);
    if (body)
        cps_json_add(message, "body", body);
    dap_wire_send(d->wire, message);
}

void dap_output(struct dap *d, const struct cps_buf *text)
{
    struct json_object *body = doc_new();
    doc_put(body, "category=console output=%p", text);
    dap_event(d, "output", body);
}

/* Tells the client that values may be others now. */
void dap_changed(struct dap *d, int how)
{
    struct json_object *body = doc_new();
    (void)how;
    cps_json_add(body, "areas", doc_array(NULL, "%s", "all"));
    dap_event(d, "invalidated", body);
}

void dap_limit_sending(int socket, unsigned seconds)
{
    const struct timeval limit = {.tv_sec = seconds};
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}
