/* SPDX-License-Identifier: MIT
 * A closer look at suspects. Firmware itself writes many registers that are under CP_PROTECT while
 * it executes a packet; it is a finding only if the stream decides on what is written where. That
 * is found out by experiment: words of the stream are changed, and the case runs again. */
#include "tools/explain/fuzz/fuzz.h"

#include "isa/base/pm4.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/capture/pm4walk.h"

#define MOST_WORDS 24u /* of a packet's payload */
#define MANY_BITS  8u  /* of a register: what a stream decides on; less is a mode or a number */
#define LONG       20u /* times the limit of a case */

struct proof {
    struct run *run;
    const struct suspect *suspect;
    struct fuzz_case changed;
    uint32_t value;   /* that the unchanged case writes */
    uint32_t control; /* bits that the stream has changed */
    bool moved;       /* it has chosen another register */
};

static bool same_writer(const struct suspect *a, const struct suspect *b)
{
    return a->raised == b->raised && a->pc == b->pc && a->who == b->who && a->side == b->side &&
           oracle_packet(a->header) == oracle_packet(b->header);
}

static void observe(struct proof *p)
{
    bool there = false;
    bool other = false;
    run_one(p->run, p->suspect->side, &p->changed, p->run->limit);
    for (unsigned i = 0; i < p->run->suspects; i++) {
        const struct suspect *s = &p->run->suspect[i];
        bool same = same_writer(s, p->suspect);
        bool here = same && s->place == p->suspect->place;
        p->control |= here ? s->value ^ p->value : 0;
        there |= here;
        other |= same && !here;
    }
    p->moved |= !there && other;
}

static bool is_proved(const struct proof *p)
{
    return p->moved || (unsigned)__builtin_popcount(p->control) >= MANY_BITS;
}

/* Small changes lead to a register next to it, others show which bits of a value matter. It is
 * tried until another register is met: that a stream decides on the value says less. */
static void change(struct proof *p, unsigned stream, uint32_t from, uint32_t to)
{
    static const uint32_t masks[] = {1, 2, 0x55555555, 0xaaaaaaaa};
    uint32_t *word = p->changed.stream[stream].word;
    for (unsigned k = 0; k < 4 && !p->moved; k++) {
        for (uint32_t i = from; i < to; i++)
            word[i] ^= masks[k];
        observe(p);
        for (uint32_t i = from; i < to; i++)
            word[i] ^= masks[k];
    }
}

/* The first such operation: the ME of a5xx has no addresses for what the PFP sends it. */
static bool find_operation(const struct fuzz_case *input, uint32_t header, struct case_packet *ret)
{
    for (unsigned i = 0; i < input->streams; i++) {
        for (uint32_t at = 0; at < input->stream[i].count; at += ret->length) {
            *ret = case_packet_at(input, i, at);
            if (oracle_packet(input->stream[i].word[at]) == oracle_packet(header))
                return true;
        }
    }
    return false;
}

/* The packet that writes it; false: it lies in no stream of the case. */
static bool find_packet(const struct fuzz_case *input, const struct suspect *suspect,
                        struct case_packet *ret)
{
    uint64_t iova = suspect->iova;
    for (unsigned i = 0; i < input->streams; i++) {
        const struct case_stream *s = &input->stream[i];
        if (iova < s->iova || iova >= s->iova + 4 * (uint64_t)s->count)
            continue;
        *ret = case_packet_at(input, i, (uint32_t)((iova - s->iova) / 4));
        return true;
    }
    return suspect->who == CPS_CPU_ME && find_operation(input, suspect->header, ret);
}

static void prove_control(struct proof *p, const struct fuzz_case *input)
{
    struct case_packet packet;
    case_copy(&p->changed, input);
    if (!find_packet(input, p->suspect, &packet))
        return;
    run_one(p->run, p->suspect->side, input, p->run->limit);
    const struct suspect *now = run_suspect(p->run, oracle_raised(p->suspect));
    p->value = now ? now->value : p->suspect->value;
    uint32_t end = packet.length < 1 + MOST_WORDS ? packet.length : 1 + MOST_WORDS;
    for (uint32_t i = 1; i < end && !p->moved; i++)
        change(p, packet.stream, packet.at + i, packet.at + i + 1);
    for (unsigned i = 0; i < input->streams && !p->moved; i++) {
        if (i != packet.stream)
            change(p, i, 0, input->stream[i].count);
    }
}

/* Calls of the submitted stream become CP_NOPs: the called packets are there themselves. */
static void leave_calls(struct fuzz_case *changed)
{
    struct case_stream *s = &changed->stream[0];
    for (uint32_t at = 0; at < s->count; at += case_packet_at(changed, 0, at).length) {
        struct cps_pm4 head = cps_pm4_decode(s->word[at]);
        if (head.kind == CPS_PM4_TYPE7 && pm4_is_call_(head.opcode))
            s->word[at] = cps_pm4_type7(PM4_CP_NOP, head.count);
    }
}

/* The packet, or its whole stream, in the submitted one: before all others, after them, or alone.
 */
static bool put_there(struct fuzz_case *changed, const struct fuzz_case *input,
                      const struct case_packet *packet, bool whole, unsigned way)
{
    const struct case_stream *from = &input->stream[packet->stream];
    struct case_stream *first = &changed->stream[0];
    uint32_t at = whole ? 0 : packet->at;
    case_copy(changed, input);
    case_remove(&changed->stream[packet->stream], packet->at, packet->length);
    if (whole)
        leave_calls(changed);
    if (way == 2)
        first->count = 0;
    return case_insert(first, way == 1 ? first->count : 0, &from->word[at],
                       whole ? from->count : packet->length);
}

/* A packet that the end of its group cuts after @p kept words takes the mark there, and words of
 * the stream that comes next: as words of its own they follow it on level IB1, too. */
static bool put_cut(struct fuzz_case *changed, const struct fuzz_case *input,
                    const struct case_packet *packet, uint32_t kept, unsigned next)
{
    const uint32_t mark = cps_pm4_type7(PM4_IN_IB_END, 0);
    const struct case_stream *after = &input->stream[next];
    struct case_stream *first = &changed->stream[0];
    case_copy(changed, input);
    case_remove(&changed->stream[packet->stream], packet->at, packet->length);
    first->count = 0;
    return next && next != packet->stream && kept < packet->length &&
           case_insert(first, 0, after->word, after->count) && case_insert(first, 0, &mark, 1) &&
           case_insert(first, 0, &input->stream[packet->stream].word[packet->at], kept);
}

/* Level IB1 is where every stream begins. Packets before this one may have set a mode, and handlers
 * take words after it. */
static bool writes_everywhere(struct proof *p, const struct fuzz_case *input)
{
    enum { MOST_KEPT = 4 };
    struct case_packet packet;
    bool writes = p->suspect->level == CPS_LEVEL_IB1;
    if (writes || !find_packet(input, p->suspect, &packet))
        return writes;
    unsigned cuts = p->suspect->level == CPS_LEVEL_SDS ? MOST_KEPT * input->streams : 0;
    for (unsigned i = 0; i < 6 + cuts && !writes; i++) {
        unsigned cut = i - 6;
        if (i < 6 ? !put_there(&p->changed, input, &packet, i >= 3, i % 3)
                  : !put_cut(&p->changed, input, &packet, 1 + cut % MOST_KEPT, cut / MOST_KEPT))
            continue;
        run_one(p->run, p->suspect->side, &p->changed, p->run->limit);
        for (unsigned k = 0; k < p->run->suspects; k++) {
            const struct suspect *s = &p->run->suspect[k];
            writes |= same_writer(s, p->suspect) && s->place == p->suspect->place &&
                      (i < 6 || s->level == CPS_LEVEL_IB1);
        }
    }
    return writes;
}

static bool prove_write(struct run *run, const struct fuzz_case *input, struct suspect *suspect)
{
    struct proof *proof = tool_alloc(1, sizeof(*proof));
    proof->run = run;
    proof->suspect = suspect;
    prove_control(proof, input);
    bool good = is_proved(proof);
    if (good && !proof->moved && suspect->raised != ORACLE_PRIVILEGED)
        suspect->oracle = writes_everywhere(proof, input) ? ORACLE_EXPOSED : ORACLE_PROTECTED;
    free(proof);
    return good && run->oracles >> suspect->oracle & 1;
}

/* Whether a longer look may find something that is asked for. */
static bool could_be(const struct run *run, enum oracle kind)
{
    const uint32_t reads = 1u << ORACLE_WAITS | 1u << ORACLE_ENDLESS;
    return run->oracles & (kind == ORACLE_WAITS  ? reads
                           : kind == ORACLE_HALT ? 1u << ORACLE_HALT
                                                 : reads | 1u << ORACLE_HANG);
}

/* Of what does not end: what it does, for a while and after a long time. */
static bool prove_hang(struct run *run, const struct fuzz_case *input, struct suspect *suspect)
{
    struct run_side *side = &run->side[suspect->side];
    unsigned core = 0;
    run_one(run, suspect->side, input, run->limit);
    cps_afuc_trouble(cps_afuc_of(side->engine), &core);
    if (!could_be(run, circle_kind(side, core)))
        return false;
    run_one(run, suspect->side, input, LONG * run->limit);
    enum cps_trouble trouble = cps_afuc_trouble(cps_afuc_of(side->engine), &core);
    if (trouble != CPS_TROUBLE_WAITS || (side->stop == CPS_STOP_BUDGET && side->goes_on))
        return false;
    suspect->oracle = side->stop == CPS_STOP_BUDGET ? ORACLE_ENDLESS : circle_kind(side, core);
    return run->oracles >> suspect->oracle & 1;
}

/* After an error that firmware reports, a bad jump of its own code does not count. */
static bool prove_astray(struct run *run, const struct fuzz_case *input,
                         const struct suspect *suspect)
{
    struct run_side *side = &run->side[suspect->side];
    unsigned core = 0;
    bool reported = false;
    run_one(run, suspect->side, input, 0);
    for (uint64_t i = 0; i < run->limit && !side->log.depth && !reported; i++) {
        side->log.count = 0;
        side->stop = cps_engine_run(side->engine, 1);
        if (side->stop != CPS_STOP_BUDGET)
            break;
        reported = cps_afuc_trouble(cps_afuc_of(side->engine), &core) == CPS_TROUBLE_REPORTED;
    }
    return !reported;
}

bool run_prove(struct run *run, const struct fuzz_case *input, struct suspect *suspect)
{
    switch (suspect->raised) {
    case ORACLE_PRIVILEGED:
    case ORACLE_PROTECTED:
    case ORACLE_READ_ONLY:
        return prove_write(run, input, suspect);
    case ORACLE_HANG:
        return prove_hang(run, input, suspect);
    case ORACLE_STACK_OVER:
    case ORACLE_STACK_UNDER:
    case ORACLE_JUMP:
    case ORACLE_ILLEGAL:
        return prove_astray(run, input, suspect);
    case ORACLE_ENDING: /* both get time to end */
        for (unsigned i = 0; i < run->sides; i++)
            run_one(run, i, input, LONG * run->limit);
        return judge_endings_differ(run);
    case ORACLE_DIFFERENCE:
        return !run_is_clock(run, input);
    default:
        return true;
    }
}
