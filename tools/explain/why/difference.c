/* SPDX-License-Identifier: MIT
 * One question about one run: what a difference between two of them comes from. */
#include "tools/explain/why/why.h"

#include "tools/cmd/terminal/oom.h"

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

static struct cps_err *answer(struct why *why, const struct why_question *question,
                              const struct cps_run_config *config, struct cps_stream **in)
{
    char text[32];
    for (size_t i = 0; i < question->events; i++) {
        snprintf(text, sizeof(text), "event:%" PRIu64, question->event[i]);
        CPS_TRY(why_add(why, text));
    }
    CPS_TRY(play_stream(question->capture, in));
    CPS_TRY(play_read_dump(why->play, *in));
    why->play->quiet = true;
    CPS_TRY(play_open(why->play, config, question->capture));
    CPS_TRY(why_resolve(why));
    return why_run(why, *in);
}

/* One answer, without its first line. */
static void put_answer(struct why *why, const struct why_ask *ask,
                       const struct why_question *question, struct cps_buf *out)
{
    CPS_BUF text = {0};
    if (ask->kept == UINT32_MAX)
        return;
    if (question->json) {
        why_json(why, ask, out);
    } else {
        why_text(why, ask, &text);
        const char *lines = strchr(tool_text(&text), '\n');
        put_lines(lines ? lines + 1 : "", question->most, out);
    }
    tool_text(out);
}

static struct cps_err *replay(const struct why_question *question, struct why_clocks *clocks,
                              struct cps_buf *out)
{
    struct cps_run_config config = *question->config;
    struct play play = {.as_given = question->as_given};
    const char *slash = question->capture ? strrchr(question->capture, '/') : NULL;
    struct why why = {.play = &play,
                      .kinds = question->kinds,
                      .capture = slash ? slash + 1 : question->capture,
                      .nodes = question->nodes,
                      .clocks = clocks,
                      .boots_first = question->boots_first};
    struct cps_stream *in = NULL;
    play.boot_only = question->capture == play_nothing;
    config.demo = !question->firmware[0];
    config.fw_count = 0;
    for (unsigned i = 0; i < 2 && question->firmware[i]; i++)
        config.fw[config.fw_count++] = question->firmware[i];
    struct cps_err *err = answer(&why, question, &config, &in);
    for (size_t i = 0; i < question->events && !err; i++)
        put_answer(&why, &why.ask[i], question, &out[i]);
    cps_stream_close(in);
    why_deinit(&why);
    play_close(&play);
    return err;
}

struct cps_err *why_first_difference(const struct why_question *question, struct cps_buf *out)
{
    return replay(question, NULL, out);
}

struct cps_err *why_clock(const struct why_question *question, struct why_clocks *clocks)
{
    struct why_question all = *question;
    all.events = 0;
    return replay(&all, clocks, NULL);
}
