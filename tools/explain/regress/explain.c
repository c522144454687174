/* SPDX-License-Identifier: MIT
 * Where the values of a pair's differences come from: one more run of each side, with its nodes,
 * for the first difference of each cause. */
#include <inttypes.h>
#include <string.h>

#include "tools/explain/regress/worker.h"
#include "tools/explain/why/why.h"
#include "trace/out/json.h"

/* Of a pair: causes that are followed, lines of each chain; and nodes (56 bytes), since there may
 * be many processes. */
enum { MOST_CAUSES = 4, MOST_LINES = 16, MOST_NODES = 1 << 20 };

/* The questions of one side. */
struct side {
    const char *key;                  /* of the answers, in a cause */
    size_t cause[MOST_CAUSES];        /* that each is about */
    uint64_t event[MOST_CAUSES];      /* number in the record */
    struct cps_buf text[MOST_CAUSES]; /* answers; owned */
    size_t count;
};

static void choose(const struct explain *e, unsigned i, struct side *ret)
{
    struct diff_first first[MOST_CAUSES];
    size_t count = diff_causes_firsts(e->causes, first, MOST_CAUSES);
    ret->key = i ? "why_new" : "why_old";
    for (size_t k = 0; k < count; k++) {
        const struct cps_event *event = i ? first[k].b : first[k].a;
        if (!event)
            continue;
        ret->event[ret->count] = (uint64_t)(event - e->record[i]->event);
        ret->cause[ret->count++] = k;
    }
}

static struct cps_err *replay(struct worker *w, const struct explain *e, unsigned i,
                              struct side *side)
{
    const struct manifest *m = &w->regress->manifest;
    const struct manifest_firmware *firmware = &m->firmware[e->firmware[i]];
    CPS_TRY(worker_boot_(w, e->firmware[i]));
    const struct why_question question = {.opt = &w->regress->run,
                                          .firmware = {firmware->path[0], firmware->path[1]},
                                          .capture = m->capture[e->capture].path,
                                          .kinds = worker_kinds_(w),
                                          .event = side->event,
                                          .events = side->count,
                                          .most = MOST_LINES,
                                          .nodes = MOST_NODES,
                                          .boots_first = w->engine[e->firmware[i]].boot.booted};
    CPS_TRY(why_first_difference(&question, side->text));
    return worker_check_inputs_(w, e->firmware[i], m->capture[e->capture].path);
}

/* What the answers depend on beside the run: they name the capture's file, too. */
static void put_questions(const struct side *side, const char *capture, struct cps_buf *out)
{
    const char *slash = strrchr(capture, '/');
    cps_buf_printf(out, "why %d %d %s", MOST_LINES, MOST_NODES, slash ? slash + 1 : capture);
    for (size_t k = 0; k < side->count; k++)
        cps_buf_printf(out, " %" PRIu64, side->event[k]);
}

static bool take(const struct cache_run *run, const char *questions, struct side *side)
{
    struct json_object *list = NULL;
    CPS_BUF text = {0};
    if (!cache_take_text(run, questions, &text))
        return false;
    struct cps_err *err = cps_json_parse(cps_buf_text(&text), text.size, &list);
    bool good = !err && cps_json_count(list) == side->count;
    for (size_t k = 0; k < side->count && good; k++)
        cps_buf_str(&side->text[k], json_object_get_string(json_object_array_get_idx(list, k)));
    cps_err_free(err);
    json_object_put(list);
    return good;
}

/* That it cannot be kept costs another replay, and is no error: keeping the run said so. */
static void keep(const struct cache_run *run, const char *questions, const struct side *side)
{
    struct json_object *list = json_object_new_array();
    CPS_BUF text = {0};
    for (size_t k = 0; k < side->count; k++)
        cps_json_append(list, json_object_new_string(cps_buf_text(&side->text[k])));
    cps_json_put(&text, list, JSON_C_TO_STRING_PLAIN);
    if (!text.failed)
        cps_err_free(cache_keep_text(run, questions, cps_buf_text(&text)));
    json_object_put(list);
}

static struct cps_err *ask(struct worker *w, const struct explain *e, unsigned i, struct side *side)
{
    const struct cache_run run = worker_cache_run_(w, e->firmware[i]);
    bool cached = *run.dir && !w->cache_failed;
    CPS_BUF questions = {0};
    put_questions(side, w->regress->manifest.capture[e->capture].path, &questions);
    if (questions.failed)
        return cps_err_nomem();
    if (cached && take(&run, cps_buf_text(&questions), side))
        return NULL;
    CPS_TRY(replay(w, e, i, side));
    if (cached)
        keep(&run, cps_buf_text(&questions), side);
    return NULL;
}

static void add_answers(const struct side *side, struct json_object *causes)
{
    for (size_t k = 0; k < side->count; k++) {
        if (side->text[k].size || side->text[k].failed)
            cps_json_buf(json_object_array_get_idx(causes, side->cause[k]), side->key,
                         &side->text[k]);
    }
}

struct cps_err *worker_explain_(struct worker *w, const struct explain *e, struct json_object *to)
{
    struct cps_err *err = NULL;
    if (!to || !files_is_regular(w->regress->manifest.capture[e->capture].path))
        return NULL;
    for (unsigned i = 0; i < 2 && !err; i++) {
        struct side side = {.count = 0};
        choose(e, i, &side);
        if (side.count)
            err = ask(w, e, i, &side);
        if (!err)
            add_answers(&side, to);
        for (size_t k = 0; k < MOST_CAUSES; k++)
            cps_buf_deinit(&side.text[k]);
    }
    return err;
}
