/* SPDX-License-Identifier: MIT
 * Both revisions run from the same random state. A run begins where a stream brings the packet to
 * its handler; registers then get random values, equal in both. The packet and those after it are
 * executed, and their events compared. */
#include "tools/explain/prove/task.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpscope.h"
#include "emu/afuc/core/core.h"
#include "isa/base/pm4.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/fuzz/random.h"
#include "trace/form/text.h"

#define MOST_POKES     1024u
#define MOST_READS     64u /* GPU registers that runs were seen to read */
#define MOST_FOLLOWERS 8u
#define FOLLOWER_WORDS 8u
#define NOP            0x10u

/* Where the words lie that payloads point to, and the packets that follow. */
enum { POOL = 0x00180000, POOL_WORDS = 64, FOLLOWERS = 0x00190000 };

struct trial {
    const struct prove *prove;
    const struct prove_part *part;
    const struct prove_handler *handler;
    struct twins twins;
    bool preempts;     /* the handler is that of the hardware's request */
    bool random_state; /* no jump goes where a register says */
    uint8_t follower[CPS_FW_TABLE_SIZE];
    unsigned followers;
    uint32_t read[MOST_READS]; /* GPU registers */
    unsigned reads;
    /* Of one run. */
    struct rng rng;
    enum place_at place;
    struct stage_packet packet;
    struct twins_poke poke[MOST_POKES];
    unsigned pokes;
    struct cps_buf text;
};

/* ---- Random words ---- */

/* Numbers, bits, addresses of the pool, registers and anything. */
static uint32_t random_word(struct rng *rng)
{
    uint32_t kind = rng_below(rng, 100);
    if (kind < 15)
        return 0;
    if (kind < 30)
        return rng_below(rng, 16);
    if (kind < 40)
        return UINT32_C(1) << rng_below(rng, 32);
    if (kind < 55)
        return POOL + 4 * rng_below(rng, POOL_WORDS);
    if (kind < 65)
        return rng_below(rng, 0x10000);
    return kind < 70 ? UINT32_MAX : rng_word(rng);
}

static uint32_t random_length(struct rng *rng)
{
    static const uint8_t most[] = {4, 12, 12, 40};
    return rng_below(rng, most[rng_below(rng, sizeof(most))]);
}

static uint8_t random_follower(struct trial *t)
{
    bool quiet = !t->followers || (t->twins.preempt && rng_chance(&t->rng, 97));
    return quiet ? NOP : t->follower[rng_below(&t->rng, t->followers)];
}

static void put_random_packet(struct trial *t)
{
    uint8_t id = random_follower(t);
    uint32_t count = rng_below(&t->rng, FOLLOWER_WORDS + 1);
    uint32_t header = id == 4 ? cps_pm4_type4(0x8810, count) : cps_pm4_type7(id, count);
    cps_buf_printf(&t->text, "    .word 0x%08" PRIx32, header);
    for (uint32_t i = 0; i < count; i++)
        cps_buf_printf(&t->text, " 0x%08" PRIx32, random_word(&t->rng));
    cps_buf_str(&t->text, "\n");
}

/* The packet in its place, then others that show what it leaves behind. */
static void make_stream(struct trial *t)
{
    const struct prove_handler *h = t->handler;
    bool asked = t->preempts && rng_chance(&t->rng, 75);
    t->twins.preempt = asked ? 1 + rng_below(&t->rng, MOST_FOLLOWERS / 2) : 0;
    t->twins.other_ring = t->twins.preempt + 1 + rng_below(&t->rng, MOST_FOLLOWERS / 2);
    t->place = asked ? AT_IB1 : (enum place_at)rng_below(&t->rng, PLACES);
    t->packet = (struct stage_packet){.id = asked ? NOP : h->id[rng_below(&t->rng, h->ids)]};
    t->packet.count = random_length(&t->rng);
    for (uint32_t i = 0; i < t->packet.count; i++)
        t->packet.word[i] = random_word(&t->rng);
    if (rng_chance(&t->rng, 50)) {
        t->packet.next = random_follower(t);
        t->packet.next_count = (uint8_t)rng_below(&t->rng, FOLLOWER_WORDS);
    }
    cps_buf_clear(&t->text);
    stage_text(t->part->code.side[0].fw->gen, t->twins.who, t->place, &t->packet, &t->text);
    cps_buf_printf(&t->text, "buffer 0x%08x pool\n    .word", (unsigned)POOL);
    for (unsigned i = 0; i < POOL_WORDS; i++)
        cps_buf_printf(&t->text, " 0x%08" PRIx32, random_word(&t->rng));
    cps_buf_printf(&t->text, "\nbuffer 0x%08x followers\n    CP_NOP 0x4\n", (unsigned)FOLLOWERS);
    for (unsigned i = 0; i < MOST_FOLLOWERS; i++)
        put_random_packet(t);
    cps_buf_str(&t->text, t->place == AT_RING            ? "ring followers\n"
                          : t->twins.who == CPS_CPU_LPAC ? "submit followers lpac\n"
                                                         : "submit followers\n");
}

/* ---- Random state ---- */

static void add_poke(struct trial *t, char file, uint32_t number)
{
    if (t->pokes < MOST_POKES)
        t->poke[t->pokes++] = (struct twins_poke){file, number, 0, random_word(&t->rng)};
}

/* Bits that an invariant bounds keep what the machine has there. */
static uint32_t kept_bits(enum cps_gen gen, unsigned number)
{
    uint32_t kept = 0;
#define INVARIANT(gens, reg, mask, most, text, evidence)        \
    if (((gens)&cps_gen_bit(gen)) && number == (unsigned)(reg)) \
        kept |= (mask);
#include "tools/explain/prove/invariant.def"
    return kept;
}

/* Not $sp, $lr and $rem, which hold return addresses and the rest of the packet. */
static void make_state(struct trial *t)
{
    static const uint8_t densities[] = {0, 10, 40, 100};
    unsigned density = densities[rng_below(&t->rng, sizeof(densities))];
    enum cps_gen gen = t->part->code.side[0].fw->gen;
    t->pokes = 0;
    if (!t->random_state)
        return;
    for (unsigned i = 1; i < R_SP; i++) {
        if (!rng_chance(&t->rng, density))
            continue;
        add_poke(t, CPS_FILE_GENERAL, i);
        t->poke[t->pokes - 1].keep = kept_bits(gen, i);
    }
    for (uint32_t i = 0; i < CONTROL_COUNT; i++) {
        if (t->twins.plain[i] && rng_chance(&t->rng, density))
            add_poke(t, CPS_FILE_CONTROL, i);
    }
    for (unsigned i = 0; i < t->reads; i++) {
        if (rng_chance(&t->rng, 50))
            add_poke(t, CPS_FILE_REGISTER, t->read[i]);
    }
}

static void note_reads(struct trial *t, const struct record *record)
{
    for (size_t i = 0; i < record->count && t->reads < MOST_READS; i++) {
        const struct cps_event *event = &record->event[i];
        unsigned at = 0;
        if (cps_event_kind(event) != CPS_EV_REGR || event->addr >= UINT32_MAX)
            continue;
        while (at < t->reads && t->read[at] != (uint32_t)event->addr)
            at++;
        if (at == t->reads)
            t->read[t->reads++] = (uint32_t)event->addr;
    }
}

/* ---- What comes of it ---- */

static void put_pokes(struct json_object *to, const char *key, const struct trial *t, char file)
{
    struct json_object *object = cps_json_new_object(to, key);
    for (unsigned i = 0; i < t->pokes; i++) {
        char name[24];
        if (t->poke[i].file != file)
            continue;
        snprintf(name, sizeof(name), file == CPS_FILE_GENERAL ? "$%02x" : "0x%03x",
                 t->poke[i].number);
        cps_json_uint(object, name, t->poke[i].value);
    }
}

static void put_contradiction(const struct trial *t, unsigned run, const char *event,
                              struct json_object *to)
{
    struct json_object *found = cps_json_new_object(to, "contradiction");
    doc_put(found, "run=%u event=%s place=%s", run, event, stage_place(t->place));
    if (t->twins.preempt) { /* as --inject has it */
        char inject[64];
        snprintf(inject, sizeof(inject), "preempt@1:%" PRIu32 ",switch@1:%" PRIu32,
                 t->twins.preempt, t->twins.other_ring);
        cps_json_text(found, "inject", inject);
    }
    struct json_object *words = cps_json_new_array(found, "packet_words");
    for (uint32_t i = 0; i < t->packet.count; i++)
        cps_json_append(words, json_object_new_int64(t->packet.word[i]));
    put_pokes(found, "registers", t, CPS_FILE_GENERAL);
    put_pokes(found, "control_registers", t, CPS_FILE_CONTROL);
    put_pokes(found, "gpu_registers", t, CPS_FILE_REGISTER);
    cps_json_buf(found, "text", &t->text);
}

static struct cps_err *run_all(struct trial *t, unsigned runs, struct json_object *to)
{
    uint64_t reached = 0;
    struct twins_answer answer = {0};
    unsigned run = 0;
    for (; run < runs && !answer.different; run++) {
        /* The seed follows from the handler and the number of the run. */
        unsigned role = (unsigned)t->part->code.side[0].part->role;
        t->rng.state = rng_mix((uint64_t)role << 40 | (uint64_t)t->handler->id[0] << 32 | run);
        make_stream(t);
        make_state(t);
        tool_text(&t->text);
        CPS_TRY(twins_run(&t->twins, &t->text, &t->packet, t->poke, t->pokes, &answer));
        reached += answer.reached;
        note_reads(t, &t->twins.record[0]);
    }
    cps_json_uint(to, "runs", run);
    cps_json_uint(to, "reached", reached);
    if (answer.different)
        put_contradiction(t, run - 1, answer.text, to);
    return NULL;
}

static bool is_listed(const struct trial *t, unsigned id)
{
    const struct code_side *side = &t->part->code.side[0];
    for (unsigned i = 0; i < t->followers; i++) {
        if (cps_fw_handler(side->fw, side->part, t->follower[i]) ==
            cps_fw_handler(side->fw, side->part, id))
            return true;
    }
    return false;
}

/* Packets whose handlers have the same code wherever it lies, and do not jump where a register
 * says: a difference that shows in them was there before. */
static void find_followers(struct trial *t)
{
    struct cps_fw_hash hash[2][CPS_FW_TABLE_SIZE];
    for (unsigned i = 0; i < 2; i++) {
        const struct code_side *side = &t->part->code.side[i];
        tool_must(cps_fw_handler_hashes(side->fw, side->part, hash[i]));
    }
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        t->twins.steady[id] = cps_fw_hash_same(&hash[0][id], &hash[1][id]);
        if (t->twins.steady[id] && !is_listed(t, id))
            t->follower[t->followers++] = (uint8_t)id;
    }
    for (unsigned i = 0; i < t->handler->ids; i++)
        t->twins.tested[t->handler->id[i] % CPS_FW_TABLE_SIZE] = true;
    unsigned id = t->handler->id[0] % CPS_FW_TABLE_SIZE;
    char name[48];
    prove_packet_name(t->prove, (unsigned)(t->part - t->prove->part), id, name);
    t->preempts = !strcmp(name, "IN_PREEMPT");
    t->random_state = !hash[0][id].open && !hash[1][id].open;
    if (t->random_state)
        twins_find_code(&t->twins);
}

struct cps_err *crosscheck_task(const struct prove *prove, const struct prove_task *task,
                                struct json_object *result)
{
    struct json_object *to = cps_json_new_object(result, "cross_check");
    struct trial *t = tool_alloc(1, sizeof(*t));
    struct cps_err *err = NULL;
    t->prove = prove;
    t->part = &prove->part[task->part];
    t->handler = prove_handler_of(prove, task);
    twins_init(&prove->stage, &t->part->code, t->handler->pc,
               prove_verdict(result) == VERDICT_WAITS, &t->twins);
    if (prove_is_bootstrap(t->handler)) {
        bool known = false;
        struct stage_answer answer;
        stage_compare_boots(&prove->stage, t->twins.who, &t->part->code, &known, &answer);
        cps_json_uint(to, "runs", 1);
        cps_json_uint(to, "reached", known);
        if (known && answer.different)
            cps_json_text(cps_json_new_object(to, "contradiction"), "event", answer.text);
    } else {
        find_followers(t);
        err = run_all(t, prove->runs, to);
    }
    twins_deinit(&t->twins);
    cps_buf_deinit(&t->text);
    free(t);
    return err;
}
