/* SPDX-License-Identifier: MIT
 * Why code did not run: nothing leads there, its packet did not come, its processor did nothing, or
 * a branch before it went the other way each time. */
#include "tools/explain/cover/cover.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fw/image/place.h"
#include "fw/image/walk.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/out/json.h"

/* Nodes for a word: more do not fit into the delay slots of any program. */
#define NODES 16u

/* What prove found of this firmware and another one. */
struct proofs {
    struct json_object *handlers; /* NULL: nothing */
    const char *side;             /* "old" or "new": which of the two this one is */
};

enum reason {
    REASON_NOWHERE,
    REASON_PROCESSOR,
    REASON_PACKET,
    REASON_BRANCH,
    REASON_BEHIND,
    REASONS,
};

static const char *const reason_names[REASONS] = {
    "no branch, table entry or constant leads there",
    "the processor ran nothing",
    "the packet did not come",
    "a branch went the other way each time",
    "it follows code that did not run",
};

/* The lead to a dword that nothing leads to. */
enum { NOWHERE = UINT32_MAX - 1 };

struct part {
    const struct cps_fw *fw;
    const struct cps_fw_part *part;
    const struct cps_cover *cover; /* of the part */
    uint32_t count;
    uint32_t *from; /* the dword that leads to each; CPS_FW_NONE: a table or a constant */
    bool ran;
};

static bool is_code(const struct part *p, uint32_t at)
{
    return cover_kind(p->fw, p->part->start + at) & COVER_CODE;
}

static bool has_run(const struct part *p, uint32_t at)
{
    return at < NOWHERE && p->cover[at].run;
}

/* The first lead, but rather one that ran: that is the branch that went the other way. */
static void note_lead(void *context, uint32_t from, uint32_t to)
{
    struct part *p = context;
    if (p->from[to] == NOWHERE || (has_run(p, from) && !has_run(p, p->from[to])))
        p->from[to] = from;
}

static struct cps_err *follow_from(struct part *p, struct cps_fw_walk *walk, uint32_t at)
{
    if (at >= p->count)
        return NULL;
    note_lead(p, CPS_FW_NONE, at);
    return cps_fw_walk_from_(walk, at, NULL);
}

static struct cps_err *follow_all(struct part *p, struct cps_fw_walk *walk)
{
    CPS_TRY(follow_from(p, walk, 0));
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++)
        CPS_TRY(follow_from(p, walk, cps_fw_handler(p->fw, p->part, id)));
    CPS_TRY(cps_fw_walk_(walk));
    if (walk->count < walk->most)
        return NULL;
    return cps_err_new(CPS_ERR_INPUT, "%s: branches in delay slots lead to more than %zu places",
                       p->fw->name, walk->most);
}

static bool is_handler(const struct part *p, uint32_t at)
{
    unsigned id = 0;
    while (id < CPS_FW_TABLE_SIZE && cps_fw_handler(p->fw, p->part, id) != at)
        id++;
    return id < CPS_FW_TABLE_SIZE;
}

static enum reason reason_of(const struct part *p, uint32_t at)
{
    return !p->ran                    ? REASON_PROCESSOR
           : p->from[at] == NOWHERE   ? REASON_NOWHERE
           : is_handler(p, at)        ? REASON_PACKET
           : !has_run(p, p->from[at]) ? REASON_BEHIND
                                      : REASON_BRANCH;
}

static void put_branch(const struct part *p, const struct cps_names *names, uint32_t at,
                       struct cps_buf *out)
{
    struct cps_insn insn;
    uint32_t from = p->from[at];
    const struct cps_print_names print = {.names = names};
    cps_decode(&cps_isa_afuc, p->fw->gen, p->fw->words[p->part->start + from], &insn);
    cps_buf_printf(out, "%04" PRIx32 " ", from);
    cps_print(&cps_isa_afuc, &insn, from, &print, out);
    uint32_t target = 0;
    const struct cps_cover *ran = &p->cover[from];
    bool branch = cps_insn_flow(&cps_isa_afuc, &insn) == CPS_FLOW_BRANCH;
    bool there = cps_insn_target(&cps_isa_afuc, &insn, from, &target) && target == at;
    if (branch && there && !ran->taken)
        cps_buf_str(out, " never branched");
    else if (branch && !there && ran->taken == ran->run)
        cps_buf_str(out, " always branched");
    else
        cps_buf_str(out, " did not come here");
}

/* The verdict of prove on the handler: its rows have the start in either revision. */
static void put_proof(const struct part *p, const struct proofs *proofs, uint32_t start,
                      struct cps_buf *out)
{
    for (size_t i = 0; i < cps_json_count(proofs->handlers); i++) {
        struct json_object *h = json_object_array_get_idx(proofs->handlers, i);
        if (!strcmp(cps_json_get_text(h, "processor", ""), cps_fw_role_name(p->part->role)) &&
            cps_json_get_int(h, proofs->side, -1) == start)
            cps_buf_printf(out, "; prove: %s", cps_json_get_text(h, "verdict", "?"));
    }
}

static void put_stretch(const struct part *p, const struct cps_names *names,
                        const struct proofs *proofs, uint32_t at, uint32_t end, struct cps_buf *out)
{
    enum reason reason = reason_of(p, at);
    uint32_t start = 0; /* of the last handler at or before the place */
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        uint32_t handler = cps_fw_handler(p->fw, p->part, id);
        start = handler != CPS_FW_NONE && handler <= at && handler > start ? handler : start;
    }
    cps_buf_printf(out, "%s %04" PRIx32 "..%04" PRIx32 " ", cps_fw_role_name(p->part->role), at,
                   end - 1);
    cps_fw_place_put_(p->fw, p->part, names, start, CPS_FW_NO_PACKET, out);
    cps_buf_str(out, ": ");
    if (reason == REASON_BRANCH)
        put_branch(p, names, at, out);
    else if (reason == REASON_BEHIND && p->from[at] != CPS_FW_NONE)
        cps_buf_printf(out, "after %04" PRIx32 ", which did not run", p->from[at]);
    else
        cps_buf_str(out, reason_names[reason]);
    if (start)
        put_proof(p, proofs, start, out);
    cps_buf_str(out, "\n");
}

/* One stretch has one reason: it ends where something else leads to, too. */
static uint32_t end_of(const struct part *p, uint32_t at)
{
    enum reason reason = reason_of(p, at);
    uint32_t end = at + 1;
    while (end < p->count && !p->cover[end].run &&
           (!is_code(p, end) || (reason == REASON_NOWHERE || reason == REASON_PROCESSOR
                                     ? reason_of(p, end) == reason
                                     : p->from[end] >= at && p->from[end] < end)))
        end++;
    while (end > at + 1 && !is_code(p, end - 1))
        end--;
    return end;
}

static void print_part(const struct part *p, const struct cps_names *names,
                       const struct proofs *proofs, uint64_t words[REASONS], struct cps_buf *out)
{
    for (uint32_t at = 2; at < p->count;) { /* after the header */
        if (p->cover[at].run || !is_code(p, at)) {
            at++;
            continue;
        }
        uint32_t end = end_of(p, at);
        words[reason_of(p, at)] += end - at;
        put_stretch(p, names, proofs, at, end, out);
        at = end;
    }
}

/* Whether all handlers begin where one side of the results has them. Rows of packets that the
 * process died over, or that one revision alone has, contain less. */
static bool is_side(const struct cps_fw *fw, struct json_object *handlers, const char *side)
{
    for (size_t i = 0; i < cps_json_count(handlers); i++) {
        struct json_object *h = json_object_array_get_idx(handlers, i);
        int64_t at = cps_json_get_int(h, side, -1);
        bool found = at <= 2 || at == CPS_FW_NONE; /* 2: the bootstrap, of all images */
        for (unsigned k = 0; k < fw->part_count * CPS_FW_TABLE_SIZE && !found; k++) {
            const struct cps_fw_part *part = &fw->part[k / CPS_FW_TABLE_SIZE];
            found = cps_fw_handler(fw, part, k % CPS_FW_TABLE_SIZE) == at &&
                    !strcmp(cps_fw_role_name(part->role), cps_json_get_text(h, "processor", ""));
        }
        if (!found)
            return false;
    }
    return true;
}

static struct cps_err *follow_part(struct part *p)
{
    struct cps_fw_walk walk;
    cps_fw_walk_init_(p->fw, p->part, NODES * ((size_t)p->count + 1), &walk);
    walk.guess = true;
    walk.lead = note_lead;
    walk.context = p;
    struct cps_err *err = follow_all(p, &walk);
    cps_fw_walk_deinit_(&walk);
    return err;
}

struct cps_err *unreached_print(const struct cps_fw *fw, const struct cps_names *names,
                                const struct cps_cover *cover, struct json_object *results,
                                struct cps_buf *out)
{
    uint64_t words[REASONS] = {0};
    struct proofs proofs = {.handlers = cps_json_get(results, "handlers"), .side = "old"};
    if (!is_side(fw, proofs.handlers, "old"))
        proofs.side = "new";
    if (!is_side(fw, proofs.handlers, proofs.side))
        return cps_err_new(CPS_ERR_INPUT,
                           "its handlers are not where those of %s are; expected results "
                           "about this firmware",
                           fw->name);
    for (unsigned i = 0; i < fw->part_count; i++) {
        struct part p = {.fw = fw, .part = &fw->part[i], .cover = cover + fw->part[i].start};
        p.count = cps_fw_code_end_(p.part);
        CPS_FREE uint32_t *from = tool_alloc((size_t)p.count + 1, sizeof(*from));
        p.from = from;
        for (uint32_t at = 0; at < p.count; at++) {
            from[at] = NOWHERE;
            p.ran = p.ran || p.cover[at].run;
        }
        CPS_TRY(follow_part(&p));
        print_part(&p, names, &proofs, words, out);
    }
    cps_buf_str(out, "words that did not run:\n");
    for (unsigned i = 0; i < REASONS; i++)
        cps_buf_printf(out, "%7" PRIu64 "  %s\n", words[i], reason_names[i]);
    return NULL;
}
