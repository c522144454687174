/* SPDX-License-Identifier: MIT
 * Words that a path reads in a model, and their sources: of $regdata and $memdata the control write
 * before, of loads their offset. A stream can put them there beforehand. */
#include <string.h>

#include "tools/explain/prove/prove.h"

/* Numbers of control registers. */
struct ports {
    uint32_t reg_read, mem_read, mem_count, high;
};

struct sources {
    const struct smt_model *model;
    const struct runner *run;
    struct ports port;
    struct difference *d;
    uint64_t mem;  /* what MEM_READ_ADDR holds */
    uint32_t high; /* what LOAD_STORE_HI holds */
    uint32_t controls, loads;
};

static void begin_memory(struct sources *s, uint32_t first)
{
    for (uint32_t i = first; i < WITNESS_MOST; i++)
        s->d->memdata_at[i] = s->mem + UINT64_C(4) * (i - first);
}

static void control_write(struct sources *s, const struct effect *effect)
{
    uint32_t number = smt_model_word(s->model, effect->word[0]);
    uint32_t value = smt_model_word(s->model, effect->word[1]);
    const uint64_t low = UINT32_MAX;
    if (number == s->port.reg_read) {
        uint32_t first = effect->taken[FROM_REGDATA];
        for (uint32_t i = first; i < WITNESS_MOST; i++)
            s->d->regdata_at[i] = (value & 0x3ffff) + (i - first);
    }
    if (number == s->port.mem_read)
        s->mem = (s->mem & ~low) | value;
    if (number == s->port.mem_read && effect->count > 2)
        s->mem = (s->mem & low) | (uint64_t)smt_model_word(s->model, effect->word[2]) << 32;
    if (number == s->port.mem_read + 1)
        s->mem = (s->mem & low) | (uint64_t)value << 32;
    if (number == s->port.mem_count)
        begin_memory(s, effect->taken[FROM_MEMDATA]);
    if (number == s->port.high)
        s->high = value;
}

/* Of a machine that is known, control registers by a known number are. */
static bool is_heard(const struct sources *s, Z3_ast number)
{
    uint32_t known = 0;
    return !s->run->world || !smt_known(s->run->smt, number, &known);
}

static void take_effect(struct sources *s, const struct effect *effect)
{
    if (effect->kind == EFFECT_CWRITE)
        control_write(s, effect);
    if (effect->kind == EFFECT_CREAD && s->controls < WITNESS_MOST && is_heard(s, effect->word[0]))
        s->d->control_at[s->controls++] = smt_model_word(s->model, effect->word[0]);
    if (effect->kind == EFFECT_LOAD && s->loads < WITNESS_MOST)
        s->d->loaded_at[s->loads++] =
            (uint64_t)s->high << 32 | smt_model_word(s->model, effect->word[1]);
}

static void take_sources(const struct joint *j, const struct state *state, unsigned side,
                         const struct smt_model *model, struct difference *ret)
{
    enum cps_layout layout = j->code->side[0].fw->layout;
    struct sources s = {.model = model, .run = &j->run[side], .d = ret};
    s.port = (struct ports){
        code_control(layout, "REG_READ_ADDR"), code_control(layout, "MEM_READ_ADDR"),
        code_control(layout, "MEM_READ_DWORDS"), code_control(layout, "LOAD_STORE_HI")};
    if (s.run->world && s.port.high < CONTROL_COUNT)
        s.high = s.run->world->control[s.port.high];
    for (unsigned i = 0; i < state->effects; i++) {
        if (s.run->effect[i].kind == EFFECT_BULK) /* words have other names after it */
            return;
        take_effect(&s, &s.run->effect[i]);
    }
}

static uint32_t take_words(const struct joint *j, const struct smt_model *model,
                           const struct state *s, const char *name, enum channel from,
                           uint32_t *ret)
{
    uint32_t count = s->heard[from] < WITNESS_MOST ? s->heard[from] : WITNESS_MOST;
    for (uint32_t i = 0; i < count; i++)
        ret[i] = smt_model_word(model, smt_unknown(&j->smt, name, i));
    return count;
}

void joint_take_model(const struct joint *j, const struct state *s, unsigned side,
                      const struct smt_model *model, struct difference *ret)
{
    for (unsigned i = 1; i < 32; i++)
        ret->r[i] = smt_model_word(model, smt_unknown(&j->smt, "r", i));
    ret->data_count = take_words(j, model, s, "data", FROM_DATA, ret->data);
    ret->regdata_count = take_words(j, model, s, "regdata", FROM_REGDATA, ret->regdata);
    ret->memdata_count = take_words(j, model, s, "memdata", FROM_MEMDATA, ret->memdata);
    ret->control_count = take_words(j, model, s, "control", FROM_CONTROL, ret->control);
    ret->loaded_count = take_words(j, model, s, "memory", FROM_MEMORY, ret->loaded);
    take_sources(j, s, side, model, ret);
}
