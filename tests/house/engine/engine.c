/* SPDX-License-Identifier: MIT
 * The test engine: a sum and a count that scripts are executed on. What a sixth engine needs is
 * this folder, its rows in target.def and its name in engine.c. */
#include <stddef.h>

#include "emu/nv/nv.h"
#include "tests/house/engine/counter.h"

#define WORDS 256u

extern const struct cps_isa cps_isa_counter;

struct counter {
    uint32_t sum, count;
    uint32_t pc, next, words;
    uint8_t running, slot; /* slot: what stands at pc is one */
    uint32_t code[WORDS];
};

static struct counter *counter_of(const struct nv *e)
{
    return e->state;
}

static void *next_script(struct nv *e)
{
    return counter_of(e)->running ? counter_of(e) : NULL;
}

static bool waits(const struct nv *e, const void *who)
{
    (void)e;
    (void)who;
    return false;
}

static void perform(struct nv *e, struct counter *s, enum counter_op op, uint32_t imm,
                    uint32_t *after)
{
    switch (op) {
    case COUNTER_SET:
        s->count = imm;
        break;
    case COUNTER_ADD:
        s->sum += imm;
        break;
    case COUNTER_PUT:
        cps_bus_write(e, imm, s->sum, &(struct cps_by){CPS_CPU_CNT, CPS_PATH_POKE, s->pc});
        break;
    case COUNTER_LOOP:
        *after = --s->count ? imm : *after;
        break;
    default:
        s->running = 0;
    }
}

static enum cps_stop execute(struct nv *e, void *who)
{
    struct counter *s = who;
    uint32_t pc = s->pc;
    uint32_t after = s->next + 1;
    uint32_t before[2] = {s->sum, s->count};
    struct cps_insn insn;
    cps_decode(&cps_isa_counter, CPS_CNT, s->code[pc], &insn);
    perform(e, s, insn.op, s->code[pc] & 0xffffff, &after);
    e->engine.instructions++;
    nv_step_(e, CPS_CPU_CNT, pc, before, (uint32_t[2]){s->sum, s->count}, 2);
    s->pc = s->next;
    s->next = after;
    s->slot = cps_insn_has_slot(&cps_isa_counter, &insn);
    s->running = s->running && s->pc < s->words;
    return CPS_STOP_IDLE;
}

static struct cps_where where(const struct nv *e, unsigned core)
{
    const struct counter *s = counter_of(e);
    (void)core;
    return (struct cps_where){.pc = s->pc, .npc = s->next, .started = s->running, .slot = s->slot};
}

static bool set_pc(struct nv *e, unsigned core, bool next, uint32_t pc)
{
    struct counter *s = counter_of(e);
    (void)core;
    if (pc >= s->words)
        return false;
    s->pc = next ? s->pc : pc;
    s->next = next ? pc : pc + 1;
    return true;
}

static bool get_code(struct nv *e, uint64_t at, uint64_t *ret)
{
    *ret = at < counter_of(e)->words ? counter_of(e)->code[at] : 0;
    return at < counter_of(e)->words;
}

static bool put_code(struct nv *e, uint64_t at, uint64_t value)
{
    if (at >= counter_of(e)->words)
        return false;
    counter_of(e)->code[at] = (uint32_t)value;
    return true;
}

static struct cps_err *load(struct nv *e, const struct cps_item *item)
{
    struct counter *s = counter_of(e);
    if (item->code.size > sizeof(s->code))
        return cps_err_new(CPS_ERR_INPUT, "%zu bytes of code, expected at most %zu",
                           item->code.size, sizeof(s->code));
    s->words = (uint32_t)(item->code.size / 4);
    for (uint32_t i = 0; i < s->words; i++)
        s->code[i] = nv_word_(item, 4 * i);
    s->pc = s->sum = s->count = 0;
    s->next = 1;
    s->slot = 0;
    s->running = s->words != 0;
    return NULL;
}

static const struct cps_reg regs[] = {
    NV_VALUE(struct counter, "sum", sum),
    NV_VALUE(struct counter, "count", count),
};
static const struct cps_file files[] = {
    NV_FILE_VALUES,
    {CPS_FILE_PC, 32, 1, "pc", 2},
    {CPS_FILE_CODE, 32, 1, "code", WORDS},
    NV_FILE_REGISTERS,
};

static const struct nv_kind kind = {
    .state_size = sizeof(struct counter),
    .loop = {.next = next_script, .waits = waits, .execute = execute},
    .who = {CPS_CPU_CNT},
    .load = load,
    .where = where,
    .set_pc = set_pc,
    .code = get_code,
    .set_code = put_code,
};

NV_ENGINE(counter);
