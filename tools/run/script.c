/* SPDX-License-Identifier: MIT
 * What a run file says, as items: the timeline, then the host's lines. */
#include "tools/run/play.h"

/* Registers that the usual start goes through. */
#define DEBUG_6     0x1098u
#define ENTRY_POINT 0x1304u
#define TRIGGER     0x130cu

struct cps_err *play_load_script(const char *path, const struct cps_isa *isa, unsigned gen,
                                 struct cps_script *ret)
{
    CPS_FREE uint8_t *data = NULL;
    size_t size = 0;
    CPS_TRY(cps_stream_read_file(path, 64u << 20, &data, &size));
    return cps_script_parse(path, data, size, isa, gen, ret);
}

/* What drivers do with a script: entry point 0 in slot A. SEQ starts with its upload. What only
 * some chips have is left as it is after the reset, so that chips can be compared. */
static const struct cps_script_step usual_hwsq[] = {
    {.what = CPS_DO_UPLOAD},
    {.what = CPS_DO_WRITE, .size = 4, .addr = ENTRY_POINT},
    {.what = CPS_DO_WRITE, .size = 4, .addr = DEBUG_6, .value = 0x18},
    {.what = CPS_DO_WRITE, .size = 4, .addr = TRIGGER, .value = 3},
};
/* Of other engines, the upload starts them. */
static const struct cps_script_step usual_others[] = {{.what = CPS_DO_UPLOAD}};
/* What the measurements did with VP1. */
static const struct cps_script_step usual_vp1[] = {
    {.what = CPS_DO_UPLOAD},
    {.what = CPS_DO_WRITE, .size = 4, .addr = 0xf474, .value = 0x111},
    {.what = CPS_DO_WRITE, .size = 4, .addr = 0xfc90, .value = 1},
    {.what = CPS_DO_WRITE, .size = 4, .addr = 0xfc94, .value = 0xc0000000},
};
#define USUAL(isa, steps)                              \
    {                                                  \
        isa, steps, sizeof(steps) / sizeof((steps)[0]) \
    }
static const struct usual {
    const struct cps_isa *isa;
    const struct cps_script_step *step;
    size_t count;
} usual[] = {USUAL(&cps_isa_hwsq, usual_hwsq), USUAL(&cps_isa_vp1, usual_vp1),
             USUAL(NULL, usual_others)};

static struct cps_err *add_step(struct play *play, const struct cps_script_step *step)
{
    static const uint8_t kinds[] = {
        [CPS_DO_WRITE] = CPS_ITEM_WRITE, [CPS_DO_READ] = CPS_ITEM_READ,
        [CPS_DO_UPLOAD] = CPS_ITEM_CODE, [CPS_DO_WAIT] = CPS_ITEM_WAIT,
        [CPS_DO_RUN] = CPS_ITEM_RUN,     [CPS_DO_OBJECT] = CPS_ITEM_OBJECT,
    };
    static const uint8_t where[] = {
        [CPS_AT_REG] = CPS_HOST_REG,       [CPS_AT_RAMIN] = CPS_HOST_RAMIN,
        [CPS_AT_MEMORY] = CPS_HOST_MEMORY, [CPS_AT_BAR1] = CPS_HOST_BAR1,
        [CPS_AT_BAR2] = CPS_HOST_BAR2,
    };
    const struct cps_script *script = &play->script;
    struct cps_item item = {.kind = (enum cps_item_kind)kinds[step->what], .line = step->line};
    item.host.where = (enum cps_item_where)where[step->where];
    item.host.size = step->size;
    item.host.addr = step->addr;
    item.host.value = step->value;
    item.host.mask = step->mask;
    item.host.ticks = step->ticks;
    item.code.bytes = (const uint8_t *)cps_buf_text(&script->code);
    item.code.size = script->code.size;
    item.code.at = step->addr;
    item.code.out = script->has_out ? script->out : NULL;
    item.code.out_count = script->out_count;
    return feed_add_shared(&play->feed, &item);
}

static struct cps_err *add_steps(struct play *play, const struct cps_script_step *step,
                                 size_t count)
{
    for (size_t i = 0; i < count; i++)
        CPS_TRY(add_step(play, &step[i]));
    return NULL;
}

static bool uploads(const struct cps_script *script)
{
    for (size_t i = 0; i < script->step_count; i++) {
        if (script->step[i].what == CPS_DO_UPLOAD)
            return true;
    }
    return false;
}

static const struct usual *usual_of(const struct play *play)
{
    const struct usual *at = usual;
    if (!cps_isa_has_code(play->engine->ops->isa))
        return NULL; /* the host's lines are all there is */
    while (at->isa && at->isa != play->engine->ops->isa)
        at++;
    return at;
}

/* The file's steps, behind an upload unless they have one; the usual ones if there are none. */
struct cps_err *play_script_items(struct play *play)
{
    const struct usual *start = usual_of(play);
    const struct cps_script *script = &play->script;
    const struct cps_item end = {.kind = CPS_ITEM_END};
    for (size_t i = 0; i < play->script.change_count; i++) {
        const struct cps_script_change *c = &play->script.change[i];
        const struct cps_item item = {
            .kind = CPS_ITEM_CHANGE,
            .line = c->line,
            .change = {
                .tick = c->tick, .is_event = c->is_event, .number = c->number, .value = c->value}};
        CPS_TRY(feed_add_shared(&play->feed, &item));
    }
    if (start && !script->step_count)
        CPS_TRY(add_steps(play, start->step, start->count));
    if (start && script->step_count && !uploads(script))
        CPS_TRY(add_steps(play, start->step, 1));
    CPS_TRY(add_steps(play, script->step, script->step_count));
    return feed_add_shared(&play->feed, &end);
}
