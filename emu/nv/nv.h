/* SPDX-License-Identifier: MIT
 * What the NVIDIA engines have in common. Private to
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
    struct cps_reg_index *inner; /* rows that the engine looks up itself; NULL: none */
    void *state;                 /* of kind->state_size plain bytes: a copy is a checkpoint */
    struct cps_item host; /* the access, wait or run under way; its kind is TEXT when none is */
    uint64_t wait_end;    /* of a wait, in ticks of the bus */
};

/* What the loop of an engine asks of it. @p who  whose turn it is: a slot, the script */
struct nv_loop {
    void *(*next)(struct nv *e); /* whose turn it is; NULL: there is nothing to do */
    bool (*waits)(const struct nv *e, const void *who);
    /* Lets time pass until the wait is over. IDLE: it is; else how the run stops */
    enum cps_stop (*wait)(struct nv *e, void *who);
    /* One instruction, which it counts in engine.instructions. IDLE: go on */
    enum cps_stop (*execute)(struct nv *e, void *who);
};

/* What one NVIDIA engine is, beside its row in engine.c. Members that it does not need are NULL. */
struct nv_kind {
    size_t state_size;
    struct cps_reg_table rows;         /* of reg.def: what the bus finds */
    const struct cps_reg_table *inner; /* registers that those lead to; NULL: none */
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
    /* Whether an access to a register is one to memory; NULL: none is. */
    bool (*memory)(const struct nv *e, uint32_t addr, bool write);
    /* Appends what a core that hangs hangs on, if there is more to say than that. */
    void (*hangs)(const struct nv *e, unsigned core, struct cps_buf *out);
    /* Whether a script ended by a check of its own, and the host did not look: when the host is
     * done, that is how the run ends. */
    bool (*failed)(const struct nv *e);
    struct cps_where (*where)(const struct nv *e, unsigned core);
    bool (*set_pc)(struct nv *e, unsigned core, bool next, uint32_t pc);
    /* A unit of code, and a return address. */
    bool (*code)(struct nv *e, uint64_t at, uint64_t *ret);
    bool (*set_code)(struct nv *e, uint64_t at, uint64_t value);
    uint32_t (*back)(const struct nv *e, unsigned level);
};

/* Of a register's handler. */
static inline struct nv *nv_of_(const struct cps_access *at)
{
    return at->device;
}
static inline const struct nv_kind *nv_kind_(const struct nv *e)
{
    return e->engine.ops->kind;
}
/* Whether there are instructions; else what the host does are the steps. */
static inline bool nv_has_code_(const struct nv *e)
{
    return cps_isa_has_code(e->engine.ops->isa);
}

#endif
