/* SPDX-License-Identifier: MIT
 * The engines, and what is asked of all of them. */
#include "emu/mem.h"
#include "emu/tap.h"

/* A row each. */
#define ENGINES(ROW) ROW(afuc) ROW(hwsq) ROW(seq) ROW(pfifo) ROW(vp1)

#define DECLARE(name) extern const struct cps_engine_ops cps_##name##_ops_;
ENGINES(DECLARE)
#define POINTER(name) &cps_##name##_ops_,
static const struct cps_engine_ops *const engines[] = {ENGINES(POINTER)};

static bool is_hosted(const struct cps_host *host)
{
    return host->read || host->write || host->read_register || host->write_register ||
           host->interrupt;
}

static struct cps_err *check_host(const struct cps_host *host, const struct cps_isa *isa)
{
    if (is_hosted(host) && isa != &cps_isa_afuc)
        return cps_err_new(CPS_ERR_UNSUPPORTED, "%s has no host: only afuc's engines have",
                           cps_isa_name(isa));
    if (!host->read != !host->write)
        return cps_err_new(CPS_ERR_INPUT,
                           "the host %s memory, expected functions to read and to write it",
                           host->read ? "reads" : "writes");
    return NULL;
}

static struct cps_err *check_clock(const struct cps_config *config)
{
    switch ((enum cps_policy_clock)config->policy.clock) {
    case CPS_CLOCK_PACKETS:
    case CPS_CLOCK_INSTRUCTIONS:
        return NULL;
    case CPS_CLOCK_HOST:
        break;
    }
    return config->host.clock
               ? NULL
               : cps_err_new(CPS_ERR_INPUT,
                             "policy clock=host: expected a program around the engine that has a "
                             "clock");
}

struct cps_err *cps_engine_create(const struct cps_config *config, struct cps_engine **ret)
{
    enum cps_gen gen = config->gen ? config->gen : cps_layout_gen(config->layout);
    for (unsigned i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
        if (engines[i]->isa != cps_gen_isa(gen))
            continue;
        CPS_TRY(check_host(&config->host, engines[i]->isa));
        CPS_TRY(check_clock(config));
        return engines[i]->create(engines[i], config, ret);
    }
    return cps_err_new(CPS_ERR_UNSUPPORTED, "no engine runs %s", cps_gen_name(gen));
}

void cps_engine_destroy(struct cps_engine *engine)
{
    if (engine)
        engine->ops->destroy(engine);
}

struct cps_err *cps_engine_clone(struct cps_engine *engine, struct cps_engine **ret)
{
    cps_tap_flush_(&engine->tap);
    if (is_hosted(&engine->host))
        return cps_err_new(CPS_ERR_UNSUPPORTED,
                           "an engine with a host cannot be copied: its memory is the host's");
    CPS_TRY(engine->ops->clone(engine, ret));
    cps_engine_interrupt(*ret, NULL, NULL);
    cps_engine_work(*ret, NULL, NULL);
    return NULL;
}

/* Another one in its place. */
static struct cps_err *replace(struct cps_engine **engine, struct cps_engine *original)
{
    struct cps_engine *old = *engine;
    *engine = NULL;
    struct cps_err *err = cps_engine_clone(original, engine);
    if (!err)
        cps_tap_set_(&(*engine)->tap, old->tap.sink, old->tap.kinds);
    old->tap.sink = NULL;
    cps_engine_destroy(old);
    return err;
}

struct cps_err *cps_engine_restore(struct cps_engine **engine, struct cps_engine *original)
{
    cps_tap_flush_(&(*engine)->tap);
    if (!original->ops->restore)
        return replace(engine, original);
    bool (*asked)(void *) = (*engine)->asked;
    void *context = (*engine)->asked_context;
    cps_work_fn *work = (*engine)->work;
    void *work_context = (*engine)->work_context;
    struct cps_err *err = original->ops->restore(*engine, original);
    if (!err) {
        cps_engine_interrupt(*engine, asked, context);
        cps_engine_work(*engine, work, work_context);
        return NULL;
    }
    cps_engine_destroy(*engine);
    *engine = NULL;
    return err;
}

void cps_engine_sink(struct cps_engine *engine, struct cps_sink *sink, uint32_t kinds)
{
    cps_tap_set_(&engine->tap, sink, kinds);
}

struct cps_err *cps_engine_feed(struct cps_engine *engine, const struct cps_item *item)
{
    cps_engine_changed(engine);
    struct cps_err *err = engine->ops->feed(engine, item);
    cps_tap_flush_(&engine->tap);
    return err ? err : cps_mem_failed(engine->mem) ? cps_err_nomem() : NULL;
}

bool cps_engine_answered(const struct cps_engine *engine, const struct cps_item *item)
{
    return item->kind != CPS_ITEM_READ || !((engine->answer ^ item->host.value) & item->host.mask);
}

void cps_engine_changed(struct cps_engine *engine)
{
    if (engine->host.read)
        cps_mem_host_changed(engine->mem);
}

bool cps_engine_waits_for(const struct cps_engine *engine, enum cps_stop stop, struct cps_wait *ret)
{
    bool waits = engine->ops->waits_for && stop > CPS_STOP_BUDGET && stop != CPS_STOP_NOMEM;
    *ret = waits ? engine->wait : (struct cps_wait){0};
    return waits;
}

/* A caller who runs a waiting engine again, until it can go on, gets one event. */
static void report_wait(struct cps_engine *engine, enum cps_stop stop)
{
    const struct cps_wait last = engine->wait;
    struct cps_wait *wait = &engine->wait;
    *wait = (struct cps_wait){0};
    if (!engine->ops->waits_for || !engine->ops->waits_for(engine, stop, wait) ||
        (engine->wait_packets == engine->packets && last.what == wait->what &&
         last.core == wait->core && last.address == wait->address && last.iova == wait->iova &&
         last.header == wait->header))
        return;
    engine->wait_packets = engine->packets;
    const struct cps_event event = cps_event_make(CPS_EV_WAIT, wait->what, engine->who[wait->core],
                                                  wait->pc, wait->address, (uint32_t)wait->value);
    cps_tap_put_(&engine->tap, event, CPS_EV_WAIT);
}

enum cps_stop cps_engine_run(struct cps_engine *engine, uint64_t ticks)
{
    cps_engine_changed(engine);
    enum cps_stop stop = engine->ops->run(engine, ticks);
    if (CPS_UNLIKELY(stop > CPS_STOP_BUDGET))
        report_wait(engine, stop);
    if (engine->tap.pending)
        cps_tap_flush_(&engine->tap);
    return CPS_UNLIKELY(cps_mem_failed(engine->mem)) ? CPS_STOP_NOMEM : stop;
}

void cps_engine_interrupt(struct cps_engine *engine, bool (*asked)(void *context), void *context)
{
    engine->asked = asked;
    engine->asked_context = context;
}

void cps_engine_work(struct cps_engine *engine, cps_work_fn *work, void *context)
{
    engine->work = work;
    engine->work_context = context;
    engine->work_failed = NULL; /* of a clone: the text is not its own */
}

void cps_engine_watch(struct cps_engine *engine, uint32_t offset)
{
    if (engine->ops->watch)
        engine->ops->watch(engine, offset);
}

enum cps_stop cps_engine_boot(struct cps_engine *engine, uint64_t ticks)
{
    const struct cps_item init = {.kind = CPS_ITEM_INIT};
    enum cps_stop stop = cps_engine_run(engine, ticks);
    if (stop != CPS_STOP_IDLE)
        return stop;
    struct cps_err *err = cps_engine_feed(engine, &init);
    stop = !err                         ? cps_engine_run(engine, ticks)
           : err->code == CPS_ERR_NOMEM ? CPS_STOP_NOMEM
                                        : CPS_STOP_FAULT;
    cps_err_free(err);
    return stop;
}

unsigned cps_stop_reason(enum cps_stop stop)
{
    static const uint8_t reasons[] = {
        [CPS_STOP_IDLE] = CPS_REASON_DONE,
        [CPS_STOP_BUDGET] = CPS_REASON_LIMIT,
        [CPS_STOP_DEADLOCK] = CPS_REASON_DEADLOCK,
        [CPS_STOP_FAULT] = CPS_REASON_FAULT,
        [CPS_STOP_BAD_PACKET] = CPS_REASON_BAD_PACKET,
        [CPS_STOP_NOMEM] = CPS_REASON_FAULT, /* for whoever wants an END even so */
    };
    return reasons[stop];
}

void cps_engine_end(struct cps_engine *engine, enum cps_stop stop)
{
    const struct cps_event end = cps_event_make(CPS_EV_END, cps_stop_reason(stop), CPS_CPU_NONE, 0,
                                                engine->instructions, (uint32_t)engine->packets);
    cps_tap_put_(&engine->tap, end, CPS_EV_END);
    cps_tap_flush_(&engine->tap);
}

struct cps_where cps_engine_where(const struct cps_engine *engine, unsigned core)
{
    return engine->ops->where(engine, core);
}

const struct cps_file *cps_engine_file(const struct cps_engine *engine, char sigil)
{
    for (unsigned i = 0; i < engine->ops->files; i++) {
        if (engine->ops->file[i].sigil == sigil)
            return &engine->ops->file[i];
    }
    return NULL;
}

static bool exists(const struct cps_engine *engine, struct cps_location place)
{
    const struct cps_file *file = cps_engine_file(engine, place.file);
    return file && place.number < file->count && place.core < engine->cores;
}

bool cps_engine_get(struct cps_engine *engine, struct cps_location place, uint64_t *ret)
{
    *ret = 0;
    cps_engine_changed(engine);
    return exists(engine, place) && engine->ops->get(engine, place, ret);
}

bool cps_engine_set(struct cps_engine *engine, struct cps_location place, uint64_t value)
{
    if (!exists(engine, place) || !engine->ops->set(engine, place, value))
        return false;
    engine->changes++;
    return true;
}

/* Code after the @p size bytes that are there, up to @p most; how many there are then. */
static uint32_t code_bytes(struct cps_engine *engine, unsigned core, uint32_t pc, uint32_t most,
                           uint8_t *bytes, uint32_t size)
{
    unsigned unit = cps_isa_unit(engine->ops->isa);
    uint64_t word = 0;
    for (; size < most; size += unit) {
        const struct cps_location at = {(uint8_t)core, CPS_FILE_CODE, pc + size / unit};
        if (!cps_engine_get(engine, at, &word))
            break;
        for (unsigned i = 0; i < unit; i++)
            bytes[size + i] = (uint8_t)(word >> 8 * i);
    }
    return size;
}

bool cps_engine_decode(struct cps_engine *engine, unsigned core, uint32_t pc, uint8_t *bytes,
                       struct cps_insn *ret)
{
    uint32_t size = 0;
    uint32_t most = 16;
    for (;; most *= 4) {
        size = code_bytes(engine, core, pc, most, bytes, size);
        if (size)
            cps_decode_bytes(engine->ops->isa, engine->gen, bytes, size, ret);
        if (size < most || ret->length < size || most >= CPS_INSN_BYTES)
            return size != 0;
    }
}

void cps_engine_explain(const struct cps_engine *engine, enum cps_stop stop, struct cps_buf *out)
{
    engine->ops->explain(engine, stop, out);
}

void cps_engine_cover(struct cps_engine *engine, unsigned core, struct cps_cover *counts,
                      uint32_t count)
{
    if (engine->ops->cover)
        engine->ops->cover(engine, core, counts, count);
}
