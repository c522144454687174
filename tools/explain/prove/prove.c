/* SPDX-License-Identifier: MIT
 * From places to handlers. A place is equal if, from any one state of both, all paths have the same
 * effects up to places that are equal: what holds along all of them holds for every number of turns
 * of every loop. A handler that does not begin at such a place is followed from its beginning, with
 * what its paths know, up to places that are. */
#include "tools/explain/prove/prove.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fw/image/icache.h"
#include "fw/image/walk.h"
#include "tools/cmd/terminal/oom.h"

#define EFFORT      3000000u /* of z3's steps, per query */
#define QUERIES     20000u   /* of a handler that is followed */
#define MOST_NODES  65536u   /* of a handler: more are not looked at for being the same */
#define MOST_ROUNDS 4u       /* of places that fell with others */
#define PER_CONTEXT 64u      /* comparisons that share one: terms go with it */

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[VERDICT_COUNT] = {
        "same code", "equal",    "equal except for waits", "equal within a bound",
        "different", "undecided"};
    return names[verdict];
}

static struct prove_handler *handler_at(struct prove_part *part, uint32_t old, uint32_t new)
{
    for (size_t i = 0; i < part->handlers; i++) {
        if (part->handler[i].pc[0] == old && part->handler[i].pc[1] == new)
            return &part->handler[i];
    }
    TOOL_ROOM(part->handler, part->handlers);
    part->handler[part->handlers] = (struct prove_handler){.pc = {old, new}};
    return &part->handler[part->handlers++];
}

/* No handler begins in the image's header. */
static bool is_handler(const struct code_side *side, unsigned id)
{
    return side->table[id] >= 2 && side->table[id] < side->count;
}

#define BOOT_BEGINS 2u /* after the header, which runs as nops (F: all images) */

static void list_handlers(struct prove_part *part)
{
    const struct code_side *a = &part->code.side[0];
    const struct code_side *b = &part->code.side[1];
    uint32_t none[2] = {cps_fw_default_handler_(a->table), cps_fw_default_handler_(b->table)};
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        bool has[2] = {is_handler(a, id), is_handler(b, id)};
        if (!has[0] && !has[1])
            continue;
        struct prove_handler *handler = handler_at(part, a->table[id], b->table[id]);
        handler->id[handler->ids++] = (uint8_t)id;
        handler->alone = has[0] != has[1];
        handler->added = !has[0] || (a->table[id] == none[0] && b->table[id] != none[1]);
        handler->removed = !has[1] || (a->table[id] != none[0] && b->table[id] == none[1]);
    }
    if (!part->handlers)
        return;
    struct prove_handler *boot = handler_at(part, BOOT_BEGINS, BOOT_BEGINS);
    if (!boot->ids)
        boot->id[boot->ids++] = PROVE_BOOTSTRAP;
}

struct cps_err *prove_part_init(const struct cps_fw *old, const struct cps_fw *new, unsigned part,
                                struct prove_part *ret)
{
    *ret = (struct prove_part){0};
    CPS_TRY(code_init(old, new, part, &ret->code));
    ret->proven = tool_alloc((size_t)ret->code.side[0].count + 1, sizeof(*ret->proven));
    list_handlers(ret);
    return NULL;
}

void prove_part_deinit(struct prove_part *part)
{
    code_deinit(&part->code);
    free(part->handler);
    free(part->proven);
    *part = (struct prove_part){0};
}

/* A place and where its paths lead. */
struct place {
    uint32_t pc;
    uint32_t proven; /* PROVEN_*, as far as its own paths go */
    uint32_t *child;
    size_t children;
};

struct places {
    struct prove_part *part;
    struct place *place;
    size_t count;
    bool *listed;  /* by dword of the old revision */
    bool *refused; /* the same: places that are not equal by their own paths */
    bool *same;    /* the same: all that they lead to is the same code */
};

static void add_place(struct places *p, uint32_t pc)
{
    uint32_t count = p->part->code.side[0].count;
    if (pc >= count || p->listed[pc] || p->part->code.pairs.partner[0][pc] == CPS_FW_ALONE)
        return;
    p->listed[pc] = true;
    TOOL_ROOM(p->place, p->count);
    p->place[p->count++] = (struct place){.pc = pc};
}

/* Whether words in a row are in a row in the other revision, too: else code was inserted. */
static bool in_order(const struct code *code, uint32_t from, uint32_t to)
{
    const uint32_t *partner = code->pairs.partner[0];
    return to >= CPS_FW_AT_DISPATCH ||
           (to < code->side[0].count && partner[to] - partner[from] == to - from);
}

/* `same` covers branch targets; code that is reached without a branch has to follow here as it does
 * there. A jump to the address in a register is not looked at. */
static bool is_same_node(const struct code *code, const struct cps_fw_walk *walk,
                         const struct cps_fw_node *node)
{
    bool in_slot = node->npc != node->pc + 1;
    bool same = code->same[node->pc] && !code_slot_branches(&code->side[0], node->pc) &&
                (in_slot || in_order(code, node->pc, node->npc));
    for (unsigned k = 0; k < node->count && same; k++) {
        uint32_t next = node->next[k];
        bool known = next == CPS_FW_AT_DISPATCH || next == CPS_FW_AT_RETURN;
        if (next >= CPS_FW_AT_DISPATCH)
            same = known;
        else if (walk->node[next].pc != node->npc) /* after a call, or setsecure */
            same = in_order(code, node->pc, walk->node[next].pc);
    }
    return same;
}

/* Whether all that code at a place of the old revision can reach is the same in the new one.
 * @param reached  by dword of the old revision: gets where runs may stand that it reaches, if it
 * is; or NULL */
static bool is_same_from(const struct prove_part *part, uint32_t pc, bool *reached)
{
    struct cps_fw_walk walk;
    bool same = true;
    cps_fw_walk_init_(part->code.side[0].fw, part->code.side[0].part, MOST_NODES, &walk);
    tool_must(cps_fw_walk_from_(&walk, pc, NULL));
    tool_must(cps_fw_walk_(&walk));
    for (size_t i = 0; i < walk.count && same; i++)
        same = is_same_node(&part->code, &walk, &walk.node[i]);
    for (size_t i = 0; i < walk.count && same && reached; i++)
        reached[walk.node[i].pc] |= walk.node[i].npc == walk.node[i].pc + 1;
    cps_fw_walk_deinit_(&walk);
    return same;
}

static void try_place(struct places *p, struct joint *j, size_t at)
{
    uint32_t pc = p->place[at].pc;
    if (p->same[pc]) {
        p->place[at].proven = PROVEN_EQUAL;
        return;
    }
    joint_compare(j, pc, p->part->code.pairs.partner[0][pc], NULL);
    uint32_t proven = j->verdict == VERDICT_WAITS   ? PROVEN_WAITS(j->waits.side[0], j->waits.pc[0])
                      : j->verdict == VERDICT_EQUAL ? PROVEN_EQUAL
                                                    : PROVEN_NOT;
    p->place[at].proven = proven;
    p->place[at].children = j->children;
    p->place[at].child = CPS_TAKE(j->child);
    for (size_t i = 0; i < p->place[at].children && proven; i++)
        add_place(p, p->place[at].child[i]);
}

/* Tries the places from @p fresh on, and again those before that fell with others, now without
 * them: their paths go through, which know more than a place does. */
static void try_places(struct places *p, size_t fresh)
{
    struct joint j = {0};
    unsigned tried = 0;
    for (size_t i = 0; i < p->count; i++) {
        bool fell = p->place[i].proven && !p->part->proven[p->place[i].pc];
        if (i < fresh && !fell)
            continue;
        if (tried++ % PER_CONTEXT == 0) {
            joint_deinit(&j);
            joint_init(&p->part->code, EFFORT, &j);
            j.refused = p->refused;
        }
        free(CPS_TAKE(p->place[i].child));
        p->place[i].children = 0;
        try_place(p, &j, i);
    }
    joint_deinit(&j);
}

/* A place falls with any that its paths lead to, and waits where one of them does.
 * @return whether one fell that is equal by its own paths */
static bool lower_places(struct places *p)
{
    uint32_t *proven = p->part->proven;
    bool again = true;
    bool fell = false;
    for (size_t i = 0; i < p->count; i++)
        proven[p->place[i].pc] = p->place[i].proven;
    while (again) {
        again = false;
        for (size_t i = 0; i < p->count; i++) {
            uint32_t *own = &proven[p->place[i].pc];
            for (size_t k = 0; k < p->place[i].children; k++) {
                uint32_t child = proven[p->place[i].child[k]];
                if ((*own && !child) || (*own == PROVEN_EQUAL && child > PROVEN_EQUAL)) {
                    *own = child;
                    again = true;
                }
            }
        }
    }
    for (size_t i = 0; i < p->count; i++) {
        p->refused[p->place[i].pc] = !p->place[i].proven;
        fell |= p->place[i].proven && !proven[p->place[i].pc];
    }
    return fell;
}

/* First places that are the same code with all that they lead to, which need no comparison: they
 * are equal. Then where handlers begin. */
static void list_places(struct places *p)
{
    const struct prove_part *part = p->part;
    const struct code *code = &part->code;
    size_t words = (size_t)code->side[0].count + 1;
    p->listed = tool_alloc(words, sizeof(*p->listed));
    p->refused = tool_alloc(words, sizeof(*p->refused));
    p->same = tool_alloc(words, sizeof(*p->same));
    for (size_t i = 0; i < part->handlers; i++) {
        const struct prove_handler *h = &part->handler[i];
        if (prove_is_aligned(part, h))
            is_same_from(part, h->pc[0], p->same);
    }
    for (uint32_t pc = 0; pc < code->side[0].count; pc++) {
        if (p->same[pc] && (code->side[0].cut[pc] || code->side[0].poll[pc]))
            add_place(p, pc);
    }
    for (size_t i = 0; i < part->handlers; i++) {
        const struct prove_handler *h = &part->handler[i];
        if (prove_is_aligned(part, h))
            add_place(p, h->pc[0]);
    }
}

void prove_places(struct prove_part *part)
{
    struct places p = {.part = part};
    bool fell = true;
    list_places(&p);
    for (unsigned round = 0, fresh = 0; round < MOST_ROUNDS && fell; round++) {
        try_places(&p, fresh);
        fresh = (unsigned)p.count;
        fell = lower_places(&p);
    }
    for (size_t i = 0; i < p.count; i++)
        free(p.place[i].child);
    free(p.place);
    free(p.listed);
    free(p.refused);
    free(p.same);
}

/* "only the new revision waits for control register 0x069, at 0cc3". */
static void tell_wait(struct prove_handler *h, const struct code *code, unsigned side, uint32_t pc)
{
    const struct afuc_uop *uop = &code->side[side].image->uop[pc];
    bool on_the_spot = afuc_row_(uop->code)->act == ACT_CONDITION;
    size_t size = strlen(h->why);
    snprintf(h->why + size, sizeof(h->why) - size,
             "%sonly the %s revision waits for control register 0x%03x, at %04x", size ? "; " : "",
             side ? "new" : "old", (unsigned)(on_the_spot ? uop[1].imm : uop->imm), (unsigned)pc);
}

bool prove_same_code(const struct prove_part *part, const struct prove_handler *h)
{
    return prove_is_aligned(part, h) && is_same_from(part, h->pc[0], NULL);
}

void prove_moved(const struct prove_part *part, const struct prove_handler *h, struct cps_buf *out)
{
    bool *seen = tool_alloc((size_t)part->code.side[0].count + 1, sizeof(*seen));
    code_reach(&part->code.side[0], &h->pc[0], 1, seen);
    for (size_t i = 0; i < part->code.moved_count; i++) {
        const struct moved *moved = &part->code.moved[i];
        if (seen[moved->at[0]])
            cps_buf_printf(out, " %x=%x", moved->value[0], moved->value[1]);
    }
    free(seen);
}

/* Whether the image's version, or what else is in its first two words but where the table is, is
 * another one: the boot reads them. */
static bool same_header(const struct code *code)
{
    const uint32_t *a = code->side[0].fw->words + code->side[0].part->start;
    const uint32_t *b = code->side[1].fw->words + code->side[1].part->start;
    uint32_t table[2] = {code->side[0].part->table, code->side[1].part->table};
    return a[0] == b[0] && (a[1] ^ table[0]) == (b[1] ^ table[1]);
}

bool prove_depends_on_data(const struct prove_part *part, const struct prove_handler *h)
{
    const struct code *code = &part->code;
    bool depends = prove_is_bootstrap(h) && (code->data.words || !same_header(code));
    for (unsigned i = 0; i < 2 && !depends && code->data.words; i++)
        depends = code_reads_image(&code->side[i], h->pc[i]);
    return depends;
}

static void tell_data(struct prove_handler *h, const struct code *code)
{
    h->verdict = VERDICT_UNDECIDED;
    if (!code->data.words) {
        snprintf(h->why, sizeof(h->why), "it reads the image's first two words, which differ");
        return;
    }
    uint32_t at = code->data.word[0];
    snprintf(h->why, sizeof(h->why),
             "it may read data of the image, of which %zu words differ; the first is at %04x%s",
             code->data.words, (unsigned)(at & ~(uint32_t)PC_ALONE),
             at & PC_ALONE ? " of the new revision" : "");
}

/* One comparison of a handler from its beginning. @param visits  joint.most_visits
 * @return whether paths were left out */
static bool follow(const struct prove_part *part, struct prove_handler *h, unsigned visits)
{
    struct joint j = {0};
    joint_init(&part->code, EFFORT, &j);
    j.follow = true;
    j.proven = part->proven;
    j.most_queries = visits ? QUERIES / 4 : QUERIES;
    j.most_visits = visits;
    joint_compare(&j, h->pc[0], h->pc[1], NULL);
    h->verdict = j.verdict;
    h->bound = j.bound;
    if (h->verdict == VERDICT_DIFFERENT) {
        h->has_difference = true;
        h->difference = j.difference;
        snprintf(h->why, sizeof(h->why), "%s", j.difference.text);
    } else if (h->verdict == VERDICT_UNDECIDED) {
        snprintf(h->why, sizeof(h->why), "%s", j.why);
    } else if (h->verdict == VERDICT_WAITS) {
        h->why[0] = '\0';
        for (unsigned i = 0; i < j.waits.count; i++)
            tell_wait(h, j.code, j.waits.side[i], j.waits.pc[i]);
    }
    bool pruned = j.pruned || (visits && j.verdict == VERDICT_UNDECIDED);
    joint_deinit(&j);
    return pruned;
}

/* By the code alone, as if all data were the same. */
static void compare_code(const struct prove_part *part, struct prove_handler *h)
{
    /* First with few paths through each place, which soon come to where something differs; only a
     * walk that leaves none out proves that nothing does. */
    static const unsigned visits[] = {1, 4, 16, 0};
    uint32_t proven = part->proven[h->pc[0]];
    bool pruned = true;
    if (prove_same_code(part, h)) {
        h->verdict = VERDICT_SAME_CODE;
    } else if (proven && prove_is_aligned(part, h)) {
        h->verdict = proven == PROVEN_EQUAL ? VERDICT_EQUAL : VERDICT_WAITS;
        if (proven > PROVEN_EQUAL)
            tell_wait(h, &part->code, proven_side(proven), proven_pc(proven));
    } else {
        for (unsigned i = 0; i < sizeof(visits) / sizeof(visits[0]) && pruned; i++)
            pruned = follow(part, h, visits[i]) && h->verdict != VERDICT_DIFFERENT;
    }
}

void prove_handler(const struct prove_part *part, struct prove_handler *h)
{
    if (h->alone) {
        h->verdict = VERDICT_DIFFERENT;
        snprintf(h->why, sizeof(h->why), "only the %s revision has a handler",
                 h->added ? "new" : "old");
        return;
    }
    compare_code(part, h);
    if (prove_depends_on_data(part, h) && h->verdict < VERDICT_DIFFERENT)
        tell_data(h, &part->code);
}
