/* SPDX-License-Identifier: MIT
 * One question about one run: what a difference between two of them comes from. */
#include "tools/explain/why/why.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Lines of @p text up to @p most, the rest as a count. */
static void put_lines(const char *text, unsigned most, struct cps_buf *out)
{
    unsigned left = 0;
    for (unsigned i = 0; *text; i++) {
        size_t length = strcspn(text, "\n");
        length += text[length] == '\n';
        if (i < most) {
            cps_buf_str(out, "  ");
            cps_buf_add(out, text, length);
        }
        left += i >= most;
        text += length;
    }
    if (left)
        cps_buf_printf(out, "    ... %u more: cpscope why\n", left);
}

static struct cps_err *answer(struct why *why, const struct why_once *once, struct cps_stream **in)
{
    char text[32];
    for (size_t i = 0; i < once->events; i++) {
        snprintf(text, sizeof(text), "event:%" PRIu64, once->event[i]);
        CPS_TRY(why_add(why, text));
    }
    CPS_TRY(play_stream(once->capture, in));
    CPS_TRY(play_read_dump(why->play, *in));
    why->play->quiet = true;
    CPS_TRY(play_open(why->play, once->opt, once->capture));
    CPS_TRY(why_resolve(why));
    return why_run(why, *in);
}

/* One answer, without its first line. */
static struct cps_err *put_answer(struct why *why, const struct why_ask *ask,
                                  const struct why_once *once, struct cps_buf *out)
{
    CPS_BUF text = {0};
    if (ask->kept == UINT32_MAX)
        return NULL;
    if (once->json) {
        why_json(why, ask, out);
        return out->failed ? cps_err_nomem() : NULL;
    }
    why_text(why, ask, &text);
    const char *lines = strchr(cps_buf_text(&text), '\n');
    put_lines(lines ? lines + 1 : "", once->most, out);
    return text.failed || out->failed ? cps_err_nomem() : NULL;
}

struct cps_err *why_once(const struct why_once *once, struct cps_buf *out)
{
    struct cps_options opt = *once->opt;
    struct play play = {.items = {NULL}};
    const char *slash = strrchr(once->capture, '/');
    struct why why = {.play = &play,
                      .kinds = once->kinds,
                      .capture = slash ? slash + 1 : once->capture,
                      .nodes = once->nodes,
                      .boots_first = once->boots_first};
    struct why_once own = *once;
    struct cps_stream *in = NULL;
    opt.fw_count = 0;
    for (unsigned i = 0; i < 2 && once->firmware[i]; i++)
        opt.fw[opt.fw_count++] = once->firmware[i];
    own.opt = &opt;
    struct cps_err *err = answer(&why, &own, &in);
    for (size_t i = 0; i < once->events && !err; i++)
        err = put_answer(&why, &why.ask[i], once, &out[i]);
    cps_stream_close(in);
    why_deinit(&why);
    play_close(&play);
    return err;
}
