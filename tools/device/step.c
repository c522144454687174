/* SPDX-License-Identifier: MIT
 * Jobs of a device, executed by a debugging session. */
#include "tools/device/step.h"

#include <stdlib.h>
#include <string.h>

#include "emu/mem.h"
#include "isa/base/le.h"
#include "isa/base/list.h"

/* A page with more changes than this is given whole: an item takes more room than a few dwords. */
#define MAX_CHANGES 32

/* ---- what the engine has stored goes to the client ---- */

static void deliver_page(const struct device_step *step, uint64_t iova, uint8_t *to)
{
    struct cps_mem *now = session_engine(step->live.session)->mem;
    for (uint32_t i = 0; i < CPS_PAGE_BYTES; i += 4) {
        bool stored = false;
        bool given = false;
        uint32_t value = cps_mem_read(now, iova + i, &stored);
        uint32_t before = cps_mem_read(step->base->mem, iova + i, &given);
        if (stored && !(given && before == value) && cps_le32(to + i) != value)
            cps_put_le32(to + i, value);
    }
}

static void deliver(const struct device_step *step)
{
    const struct cps_mem *now = session_engine(step->live.session)->mem;
    const struct device_space *space = step->device->gpu.space;
    for (size_t i = 0; i < space->count; i++) {
        const struct device_mapping *mapping = &space->list[i];
        bool written = mapping->bo && !(mapping->bo->flags & MSM_BO_GPU_READONLY);
        uint8_t *data = written ? device_bo_data(mapping->bo) : NULL;
        for (uint64_t at = 0; data && at < mapping->size; at += CPS_PAGE_BYTES) {
            if (!cps_mem_shares(now, step->base->mem, mapping->iova + at))
                deliver_page(step, mapping->iova + at, data + mapping->offset + at);
        }
    }
}

/* From now on the engine's memory is the client's. */
static struct cps_err *take_base(struct device_step *step)
{
    cps_engine_destroy(step->base);
    step->base = NULL;
    return cps_engine_clone(session_engine(step->live.session), &step->base);
}

/* ---- what the client has changed goes to the engine ---- */

/* Bytes that were found to differ, and end where the next ones begin. */
struct changed {
    struct device_step *step;
    uint64_t iova, size;
    const uint8_t *data;
};

static struct cps_err *add_item(struct device_step *step, const struct cps_item *item)
{
    struct play *play = &step->live.session->play;
    CPS_TRY(feed_add(&play->feed, item));
    CPS_TRY(cps_buffers_item(play->buffers, item));
    return NULL;
}

static struct cps_err *add_changed(struct changed *changed)
{
    struct device_step *step = changed->step;
    struct feed *feed = &step->live.session->play.feed;
    struct cps_item item = {.kind = CPS_ITEM_DATA,
                            .buffer = {.iova = changed->iova, .size = changed->size}};
    item.buffer.data = changed->data;
    if (!changed->size)
        return NULL;
    changed->size = 0;
    step->given += item.buffer.size;
    CPS_TRY(feed_add(feed, &item));
    return cps_engine_feed(step->base, &feed->item[feed->count - 1]);
}

static struct cps_err *add_bytes(struct changed *changed, uint64_t iova, const uint8_t *data,
                                 uint64_t size)
{
    if (changed->iova + changed->size != iova || changed->data + changed->size != data) {
        CPS_TRY(add_changed(changed));
        changed->iova = iova;
        changed->data = data;
    }
    changed->size += size;
    return NULL;
}

static bool word_differs(const struct device_step *step, uint64_t iova, const uint8_t *data)
{
    bool given = false;
    uint32_t value = cps_mem_read(step->base->mem, iova, &given);
    return !given || value != cps_le32(data);
}

static struct cps_err *compare_page(struct changed *changed, uint64_t iova, const uint8_t *data)
{
    const struct device_step *step = changed->step;
    uint32_t known = 0;
    unsigned changes = 0;
    bool before = false;
    const uint32_t *words = cps_mem_window(step->base->mem, iova, &known);
    if (!known)
        return add_bytes(changed, iova, data, CPS_PAGE_BYTES);
    if (known == CPS_PAGE_WORDS && !memcmp(words, data, CPS_PAGE_BYTES))
        return NULL;
    for (uint32_t i = 0; i < CPS_PAGE_BYTES; i += 4) {
        bool differs = word_differs(step, iova + i, data + i);
        changes += differs && !before;
        before = differs;
    }
    if (changes > MAX_CHANGES)
        return add_bytes(changed, iova, data, CPS_PAGE_BYTES);
    for (uint32_t i = 0; i < CPS_PAGE_BYTES; i += 4) {
        if (word_differs(step, iova + i, data + i))
            CPS_TRY(add_bytes(changed, iova + i, data + i, 4));
    }
    return NULL;
}

static struct cps_err *gather(struct device_step *step)
{
    const struct device_space *space = step->device->gpu.space;
    struct changed changed = {.step = step};
    for (size_t i = 0; i < space->count; i++) {
        const uint8_t *data = NULL;
        uint64_t at = 0;
        uint64_t iova = 0;
        uint64_t size = 0;
        while ((data = device_mapping_next(&space->list[i], &at, &iova, &size))) {
            for (uint64_t page = 0; page < size; page += CPS_PAGE_BYTES)
                CPS_TRY(compare_page(&changed, iova + page, data + page));
        }
    }
    return add_changed(&changed);
}

/* ---- jobs as items ---- */

static bool same_mapping(const struct device_mapping *a, const struct device_mapping *b)
{
    return a->iova == b->iova && a->size == b->size && a->bo == b->bo && a->offset == b->offset;
}

/* The mapping of @p space that was known already; @p at goes through both by address. */
static bool is_known(const struct device_step *step, const struct device_mapping *mapping,
                     size_t *at)
{
    while (*at < step->known_count && step->known[*at].iova < mapping->iova)
        ++*at;
    return *at < step->known_count && same_mapping(&step->known[*at], mapping);
}

static size_t count_known(const struct device_step *step, const struct device_space *space)
{
    size_t count = 0;
    size_t at = 0;
    for (size_t i = 0; i < space->count; i++)
        count += is_known(step, &space->list[i], &at);
    return count;
}

/* Where something of the last job's address space is gone, everything is given anew: what the
 * firmware reads there otherwise would hide a mistake. */
static struct cps_err *add_buffers(struct device_step *step, const struct device_job *job)
{
    const struct device_space *space = &job->file->space;
    const struct cps_item reset = {.kind = CPS_ITEM_RESET};
    size_t at = 0;
    if (job->file->context != step->context || count_known(step, space) < step->known_count) {
        step->known_count = 0;
        CPS_TRY(add_item(step, &reset));
        CPS_TRY(cps_engine_feed(step->base, &reset));
    }
    for (size_t i = 0; i < space->count; i++) {
        const struct device_mapping *mapping = &space->list[i];
        const char *name = mapping->bo ? mapping->bo->name : NULL;
        struct cps_item item = {.kind = CPS_ITEM_BUFFER,
                                .buffer = {.iova = mapping->iova, .size = mapping->size}};
        item.buffer.name = name;
        item.buffer.name_size = name ? strlen(name) : 0;
        if (!is_known(step, mapping, &at))
            CPS_TRY(add_item(step, &item));
    }
    struct device_mapping *known = realloc(step->known, (space->count + 1) * sizeof(*known));
    if (!known)
        return cps_err_nomem();
    memcpy(known, space->list, space->count * sizeof(*known));
    step->known = known;
    step->known_count = space->count;
    step->context = job->file->context;
    return NULL;
}

static struct cps_err *begin_job(struct device_step *step)
{
    step->next_cmd = 0;
    step->live.session->spent = 0;
    step->device->gpu.began = session_engine(step->live.session)->clock;
    step->device->gpu.ring_began = cps_afuc_ring_end_(session_afuc(step->live.session), 0);
    CPS_TRY(add_buffers(step, step->device->gpu.job));
    return gather(step);
}

/* The next part of the job. False: there is none. */
static struct cps_err *add_part(struct device_step *step, bool *ret)
{
    struct play *play = &step->live.session->play;
    struct device_gpu *gpu = &step->device->gpu;
    const struct device_job *job = gpu->job;
    size_t part = step->next_cmd;
    struct cps_item item = {.kind = CPS_ITEM_FENCE};
    size_t parts = job->cmd_count + play_wants_fences(play);
    *ret = part < parts;
    if (!*ret)
        return NULL;
    step->next_cmd++;
    if (part == job->cmd_count) {
        item.fence.seqno = ++gpu->fence;
        item.fence.context = job->file->context;
    } else {
        item.kind = CPS_ITEM_SUBMIT;
        item.stream.iova = job->cmd[part].iova;
        item.stream.dwords = job->cmd[part].dwords;
        item.stream.context = job->file->context;
    }
    CPS_TRY(add_item(step, &item));
    return cps_buffers_seal(play->buffers);
}

/* ---- waiting ---- */

static struct device_step *of_debugger(const struct device_debugger *debugger)
{
    return (struct device_step *)((char *)(uintptr_t)debugger -
                                  offsetof(struct device_step, debugger));
}

static bool has_changed(struct device_step *step, uint64_t iova)
{
    uint32_t value = cps_mem_read(step->base->mem, iova, NULL);
    uint32_t now = value;
    device_space_word(step->device->gpu.space, iova, &now);
    return now != value;
}

static bool wait_has_changed(struct device_step *step)
{
    bool changed = false;
    for (unsigned i = 0; i < step->words.count; i++)
        changed |= has_changed(step, step->words.iova[i]);
    return changed;
}

static bool is_interrupted(const struct device_step *step)
{
    return session_interrupted(step->live.session);
}

static bool wants_turn(struct device_debugger *debugger, const struct device *device)
{
    struct device_step *step = of_debugger(debugger);
    if (is_interrupted(step))
        return true;
    if (step->waits)
        return wait_has_changed(step) || device_now() > step->patience_ends;
    return device->gpu.state == GPU_HELD;
}

static uint64_t debugger_time(const struct device_debugger *debugger)
{
    const struct session *session = of_debugger(debugger)->live.session;
    return session && session->debug ? session_engine(session)->clock : 0;
}

static void serve_clients(struct device_step *step)
{
    struct cps_err *err = device_serve(step->device, step->child, &step->ended);
    if (step->failed)
        cps_err_free(err);
    else
        step->failed = err;
}

/* ---- the session asks ---- */

static bool has_job(const struct device_step *step)
{
    return step->device->gpu.state == GPU_HELD;
}

/* Old submissions go when there are too many. */
static void limit_history(struct device_step *step)
{
    struct session *session = step->live.session;
    if (step->given < DEVICE_STEP_MEMORY / 2)
        return;
    feed_forget(&session->play.feed, cps_debug_forget(session->debug, step->mark));
    step->mark = session->play.feed.count;
    step->given = 0;
}

/* The job that was executed ends, and the next one is waited for. True: it has come. */
static struct cps_err *next_job(struct device_step *step, bool *ret)
{
    if (has_job(step)) {
        deliver(step);
        device_gpu_end(step->device, false);
    }
    CPS_TRY(take_base(step));
    limit_history(step);
    serve_clients(step);
    *ret = has_job(step);
    return *ret ? begin_job(step) : NULL;
}

static struct cps_err *next_part(struct device_step *step, bool *ret)
{
    if (has_job(step))
        CPS_TRY(add_part(step, ret));
    while (!*ret) {
        CPS_TRY(next_job(step, ret));
        if (!*ret)
            return NULL;
        CPS_TRY(add_part(step, ret));
    }
    return NULL;
}

static enum cps_stop stop_of(const struct cps_debug_stop *stop)
{
    return stop->reason == CPS_WHY_BAD_PACKET ? CPS_STOP_BAD_PACKET
           : stop->reason == CPS_WHY_FAULT    ? CPS_STOP_FAULT
                                              : CPS_STOP_DEADLOCK;
}

/* As the kernel: a line, a dump. The device looks at the debugger's engine meanwhile. */
static struct cps_err *tell_hang(struct device_step *step, enum cps_stop stop)
{
    struct device *device = step->device;
    struct play *play = &step->live.session->play;
    CPS_BUF why = {0};
    CPS_TRY(cps_engine_clone(session_engine(step->live.session), &play->engine));
    cps_engine_run(play->engine, 4u << 20); /* what it waits for is known then */
    play_explain(play, play->engine, stop, &why);
    device->gpu.play = play;
    device->gpu.next_cmd = step->next_cmd;
    device->hang(device, "hang", cps_buf_text(&why));
    cps_engine_destroy(CPS_TAKE(play->engine));
    return NULL;
}

/* What nobody will end is shown first; who goes on gives the job up, as the kernel does, and the
 * processor is reset. A hang in an old submission is the user's. */
static struct cps_err *give_up(struct device_step *step, const struct cps_debug_stop *stop,
                               bool *ret)
{
    struct session *session = step->live.session;
    uint64_t fed = cps_debug_location(session->debug).fed;
    if (!session_gives_up(session, step->live.began) || feed_item(&session->play.feed, fed))
        return NULL;
    *ret = true;
    if (has_job(step)) {
        step->device->counts.hangs++;
        CPS_TRY(tell_hang(step, stop_of(stop)));
        deliver(step);
        device_gpu_end(step->device, true);
    }
    session->hung_at = 0;
    CPS_TRY(play_gather_recovery(&session->play, cps_stop_reason(stop_of(stop))));
    return cps_debug_feed(session->debug);
}

/* The engine waits for memory: what it has stored goes to the client, which may change it. */
static struct cps_err *wait_for_memory(struct device_step *step, bool *ret)
{
    step->patience_ends = device_now() + step->device->config.hang_after;
    deliver(step);
    CPS_TRY(take_base(step));
    step->waits = true;
    step->debugger.timeout = 1;
    serve_clients(step);
    step->debugger.timeout = 50;
    step->waits = false;
    *ret = wait_has_changed(step);
    if (!*ret)
        return NULL;
    CPS_TRY(gather(step));
    return cps_debug_feed(step->live.session->debug);
}

/* What clients stored at a wait is fed again where changes of the user have moved the wait. */
static struct cps_err *end_wait(struct device_step *step, bool *ret)
{
    struct session *session = step->live.session;
    uint64_t fed = cps_debug_location(session->debug).fed;
    const struct cps_item *next = feed_item(&session->play.feed, fed);
    *ret = next && !cps_item_acts(next) && next->kind != CPS_ITEM_RECOVER;
    if (*ret)
        return cps_debug_feed(session->debug);
    struct cps_engine *stuck = next ? NULL : session_stuck(session);
    step->words.count = 0;
    if (stuck)
        device_waits_find(stuck, &step->words);
    cps_engine_destroy(stuck);
    if (step->words.count && has_job(step) && !session_gives_up(session, step->live.began))
        CPS_TRY(wait_for_memory(step, ret));
    return NULL;
}

static bool more(struct session_live *live, struct cps_debug_stop *stop)
{
    struct device_step *step = (struct device_step *)live;
    struct cps_err *err = NULL;
    bool goes_on = false;
    if (stop->reason == CPS_WHY_END)
        err = next_part(step, &goes_on);
    else if (stop->reason == CPS_WHY_DEADLOCK)
        err = end_wait(step, &goes_on);
    else if (!session_hangs(stop))
        return false;
    if (!err && !goes_on && is_interrupted(step))
        stop->reason = CPS_WHY_INTERRUPTED;
    else if (!err && !goes_on && stop->reason != CPS_WHY_END)
        err = give_up(step, stop, &goes_on);
    if (err)
        stop->reason = CPS_WHY_NOMEM;
    cps_err_free(err);
    return goes_on && !err;
}

void device_step_init(struct device_step *step, struct device *device)
{
    step->live.more = more;
    step->live.listener = -1;
    step->debugger =
        (struct device_debugger){.wants_turn = wants_turn, .time = debugger_time, .timeout = 50};
    step->device = device;
    device->gpu.debugger = &step->debugger;
}

struct cps_err *device_step_deinit(struct device_step *step)
{
    cps_engine_destroy(step->base);
    step->base = NULL;
    free(step->known);
    step->known = NULL;
    return CPS_TAKE(step->failed);
}
