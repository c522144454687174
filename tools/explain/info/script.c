/* SPDX-License-Identifier: MIT
 * cpscope info for scripts: how long, what is in it, how long it waits. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "emu/nv/nv.h"
#include "tools/explain/info/info.h"
#include "isa/base/le.h"
#include "tools/run/play.h"
#include "tools/cmd/terminal/report.h"
#include "tools/explain/info/script_text.h"
#include "trace/out/json.h"

struct facts {
    uint64_t instructions;
    uint64_t literals;                /* of them, what is no instruction or not as its row has it */
    uint64_t waits;                   /* ticks that waits for time sum up to */
    uint64_t bundles;                 /* 0: the engine has none */
    uint64_t by_op[CPS_VP1_OP_COUNT]; /* VP1 has the most operations */
    uint64_t by_do[CPS_DO_OBJECT + 1];
    uint64_t checks, memory; /* reads with expected values, words to memory */
};

static bool begins_bundle(const struct cps_isa *isa, const uint8_t *bytes, size_t at)
{
    return isa == &cps_isa_vp1 &&
           !(at && cps_insn_joins(isa, (uint32_t)(at / 4), cps_le32(bytes + at - 4),
                                  cps_le32(bytes + at)));
}

static void gather_host(const struct cps_script *script, struct facts *ret)
{
    for (size_t i = 0; i < script->step_count; i++) {
        const struct cps_script_step *step = &script->step[i];
        bool memory = step->what == CPS_DO_WRITE && step->where != CPS_AT_REG;
        ret->by_do[step->what] += !memory;
        ret->memory += memory;
        ret->checks += step->what == CPS_DO_READ && step->mask;
    }
}

static void gather(const struct cps_script *script, struct facts *ret)
{
    const struct cps_isa *isa = cps_gen_isa(script->gen);
    const uint8_t *bytes = (const uint8_t *)cps_buf_text(&script->code);
    struct cps_insn insn;
    for (size_t at = 0; at < script->code.size; at += insn.length) {
        cps_decode_bytes(isa, script->gen, bytes + at, script->code.size - at, &insn);
        ret->instructions++;
        ret->bundles += begins_bundle(isa, bytes, at);
        ret->literals += !insn.enc || insn.misfit || insn.unclaimed;
        ret->by_op[insn.op]++;
        ret->waits += cps_script_ticks(script->gen, &insn);
    }
}

/* Operations of one name are one line: `read` has three. */
static uint64_t count_of(const struct cps_isa *isa, const struct facts *f, unsigned op, bool *first)
{
    uint64_t count = 0;
    *first = true;
    for (unsigned i = 1; i < CPS_VP1_OP_COUNT; i++) {
        if (strcmp(cps_op_name(isa, i), cps_op_name(isa, op)) != 0)
            continue;
        *first = *first && i >= op;
        count += f->by_op[i];
    }
    return count;
}

static bool is_plausible(const struct cps_script *script)
{
    return cps_seq_plausible(cps_buf_text(&script->code), script->code.size);
}

static void print_text(const struct cps_script *script, const struct facts *f)
{
    const struct cps_isa *isa = cps_gen_isa(script->gen);
    info_name(script->name);
    printf(": script for %s, %s\n", cps_isa_name(isa), cps_gen_name(script->gen));
    printf("  %zu bytes", script->code.size);
    if (isa == &cps_isa_hwsq)
        printf(" for a code RAM of %" PRIu32, cps_hwsq_ram(script->gen));
    printf(", %" PRIu64 " instructions, %" PRIu64 " not as the table has them\n", f->instructions,
           f->literals);
    if (f->bundles)
        printf("  %" PRIu64 " bundles\n", f->bundles);
    else
        printf("  waits for time sum up to %" PRIu64 " %s\n", f->waits,
               isa == &cps_isa_hwsq ? "clocks of PTIMER" : "ns");
    if (isa == &cps_isa_seq)
        printf("  %s\n", is_plausible(script) ? "what decoders of traces take for a script"
                                              : "not what decoders of traces take for a script");
    if (script->step_count || script->change_count)
        printf("  %zu steps of the host, %zu changes on the timeline\n", script->step_count,
               script->change_count);
    for (unsigned op = 1; op < CPS_VP1_OP_COUNT; op++) {
        bool first = false;
        uint64_t count = count_of(isa, f, op, &first);
        if (first && count && *cps_op_name(isa, op))
            printf("  %-10s %8" PRIu64 "\n", cps_op_name(isa, op), count);
    }
}

static void put_json(const struct cps_script *script, const struct facts *f, struct json_object *to)
{
    const struct cps_isa *isa = cps_gen_isa(script->gen);
    struct json_object *mix = json_object_new_object();
    cps_json_text(to, "kind", "script");
    cps_json_text(to, "engine", cps_isa_name(isa));
    cps_json_text(to, "chip", cps_gen_name(script->gen));
    cps_json_uint(to, "bytes", script->code.size);
    if (isa == &cps_isa_hwsq)
        cps_json_uint(to, "code_ram", cps_hwsq_ram(script->gen));
    if (isa == &cps_isa_seq)
        cps_json_bool(to, "plausible", is_plausible(script));
    cps_json_uint(to, "instructions", f->instructions);
    cps_json_uint(to, "literals", f->literals);
    if (f->bundles)
        cps_json_uint(to, "bundles", f->bundles);
    cps_json_uint(to, "wait_ticks", f->waits);
    cps_json_uint(to, "host_steps", script->step_count);
    cps_json_uint(to, "changes", script->change_count);
    for (unsigned op = 1; op < CPS_VP1_OP_COUNT; op++) {
        bool first = false;
        uint64_t count = count_of(isa, f, op, &first);
        if (first && count && *cps_op_name(isa, op))
            cps_json_uint(mix, cps_op_name(isa, op), count);
    }
    cps_json_add(to, "operations", mix);
}

/* Without code there is only the host. */
static void print_host(const struct cps_script *script, const struct facts *f)
{
    info_name(script->name);
    printf(": host accesses for %s, %s\n", cps_isa_name(cps_gen_isa(script->gen)),
           cps_gen_name(script->gen));
    printf("  %" PRIu64 " writes and %" PRIu64 " reads of registers and memory, %" PRIu64
           " with expected values\n",
           f->by_do[CPS_DO_WRITE], f->by_do[CPS_DO_READ], f->checks);
    printf("  %" PRIu64 " words into memory, %" PRIu64 " objects, %zu changes on the timeline\n",
           f->memory, f->by_do[CPS_DO_OBJECT], script->change_count);
}

static void put_host(const struct cps_script *script, const struct facts *f, struct json_object *to)
{
    cps_json_text(to, "kind", "host accesses");
    cps_json_text(to, "engine", cps_isa_name(cps_gen_isa(script->gen)));
    cps_json_text(to, "chip", cps_gen_name(script->gen));
    cps_json_uint(to, "writes", f->by_do[CPS_DO_WRITE]);
    cps_json_uint(to, "reads", f->by_do[CPS_DO_READ]);
    cps_json_uint(to, "checks", f->checks);
    cps_json_uint(to, "memory_words", f->memory);
    cps_json_uint(to, "objects", f->by_do[CPS_DO_OBJECT]);
    cps_json_uint(to, "changes", script->change_count);
}

struct cps_err *info_script(const struct cps_options *opt, const char *path,
                            const struct cps_isa *isa, unsigned gen, struct json_object *json)
{
    CPS_CLEANUP(cps_script_deinit) struct cps_script script = {0};
    struct facts facts = {0};
    CPS_TRY(script_load(opt, path, isa, gen, &script));
    bool code = cps_isa_has_code(isa);
    gather_host(&script, &facts);
    if (code)
        gather(&script, &facts);
    if (json)
        (code ? put_json : put_host)(&script, &facts, json);
    else
        (code ? print_text : print_host)(&script, &facts);
    return NULL;
}
