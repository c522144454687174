/* SPDX-License-Identifier: MIT
 * What the NVIDIA engines share: the bus, the host that drives them, and one loop. Private to
 * emu/nv/ and its tests.
 *
 * An engine here is a struct of plain bytes, rows for the registers it is reached by (reg.def), and
 * a struct nv_kind. The host feeds it through the bus: while the host acts, no script runs; scripts
 * run in a wait, a run, at the end, or while the host is stalled. */
#ifndef CPS_NV_H
#define CPS_NV_H

#include "emu/tap.h"
#include "emu/nv/bus.h"

struct nv {
    struct cps_engine engine; /* first */
    struct cps_bus *bus;
    void *state;          /* of kind->state_size plain bytes: a copy is a checkpoint */
    struct cps_item host; /* the access, wait or run under way; its kind is TEXT when none is */
    uint64_t wait_end;    /* of a wait, in ticks of the bus */
};

/* What the loop of an engine asks of it. @p who  whose turn it is: a slot, the script */
struct nv_loop {
    void *(*next)(struct nv *e); /* whose turn it is; NULL: there is nothing to do */
    bool (*waits)(const struct nv *e, const void *who);
    /* Lets time pass until the wait is over. IDLE: it is; else how the run stops */
    enum cps_stop (*wait)(struct nv *e, void *who);
    /* One instruction. IDLE: go on */
    enum cps_stop (*execute)(struct nv *e, void *who);
};

/* What one NVIDIA engine is, beside its row in engine.c. Members that it does not need are NULL. */
struct nv_kind {
    size_t state_size;
    const struct cps_bus_row *rows;
    size_t row_count;
    struct nv_loop loop;
    uint8_t who[2]; /* enum cps_processor of its cores */
    /* How many cores; NULL: one. */
    unsigned (*cores)(enum cps_gen gen);
    /* The state, which is zero, as after power-on. */
    void (*reset)(struct nv *e);
    /* In front of a run: the host may have done something about what holds it. */
    void (*begin)(struct nv *e);
    /* A script goes where the engine fetches it. */
    struct cps_err *(*load)(struct nv *e, const struct cps_item *item);
    struct cps_where (*where)(const struct nv *e, unsigned core);
    bool (*set_pc)(struct nv *e, unsigned core, bool next, uint32_t pc);
    /* A unit of code, and a return address. */
    bool (*code)(struct nv *e, uint64_t at, uint64_t *ret);
    bool (*set_code)(struct nv *e, uint64_t at, uint64_t value);
    uint32_t (*back)(const struct nv *e, unsigned level);
};

/* What the rows of all NVIDIA engines have in common. */
#define NV_OPS                                                                          \
    .create = nv_create_, .destroy = nv_destroy_, .clone = nv_clone_, .feed = nv_feed_, \
    .run = nv_run_, .where = nv_where_, .get = nv_get_, .set = nv_set_, .explain = nv_explain_

struct cps_err *nv_create_(const struct cps_engine_ops *ops, const struct cps_config *config,
                           struct cps_engine **ret);
void nv_destroy_(struct cps_engine *engine);
struct cps_err *nv_clone_(struct cps_engine *from, struct cps_engine **ret);
struct cps_err *nv_feed_(struct cps_engine *engine, const struct cps_item *item);
enum cps_stop nv_run_(struct cps_engine *engine, uint64_t ticks);
void nv_explain_(const struct cps_engine *engine, enum cps_stop stop, struct cps_buf *out);
/* view.c */
struct cps_where nv_where_(const struct cps_engine *engine, unsigned core);
bool nv_get_(struct cps_engine *engine, struct cps_place place, uint64_t *ret);
bool nv_set_(struct cps_engine *engine, struct cps_place place, uint64_t value);

static inline const struct nv_kind *nv_kind_(const struct nv *e)
{
    return e->engine.ops->kind;
}
/* Whether there are instructions; else what the host does are the steps. */
static inline bool nv_has_code_(const struct nv *e)
{
    return cps_isa_has_code(e->engine.ops->isa);
}

/* loop.c */
/* Lets the engine run up to @p budget instructions or the bus's `until`. */
enum cps_stop nv_loop_(struct nv *e, uint64_t budget);
/* How waiting ended: as it should, at its deadline, or not at all. */
enum cps_await { CPS_AWAIT_MET, CPS_AWAIT_LATE, CPS_AWAIT_HELD };
/* Lets time pass until @p holds, or to the tick @p deadline; asks whenever something has changed.
 */
enum cps_await nv_await_(struct nv *e, bool (*holds)(struct nv *e, const void *who),
                         const void *who, uint64_t deadline);
/* How a run stops that only the host can help: DEADLOCK, or BUDGET if it acts later. */
enum cps_stop nv_held_(struct nv *e);
/* Values that a STEP event of HWSQ and SEQ may show, as $00, $01 and so on. */
#define CPS_STEP_REGS 4u
/* Emits the STEP of an instruction at @p pc that changed registers, @p count of them and at most
 * 32, from @p before to @p after. */
void nv_step_(struct nv *e, unsigned who, uint32_t pc, const uint32_t *before,
              const uint32_t *after, unsigned count);

/* host.c */
/* Begins what the host does; false if it must wait until the engine lets it. */
struct cps_err *nv_host_begin_(struct nv *e, const struct cps_item *item);
/* Goes on with what the host does. */
enum cps_stop nv_host_run_(struct nv *e, uint64_t ticks);
/* The word at byte @p at of a script, filled up. */
uint32_t nv_word_(const struct cps_item *item, size_t at);
/* Whether a read or write of the host would stall now: G80 and later, memory paused. */
bool nv_host_stalled_(const struct nv *e);

#endif
