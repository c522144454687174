/* SPDX-License-Identifier: MIT
 * cpscope info for scripts: how long, what is in it, how long it waits. */
#include <inttypes.h>
#include <string.h>

#include "emu/nv/nv.h"
#include "tools/explain/info/info.h"
#include "isa/base/le.h"
#include "tools/run/play.h"
#include "tools/cmd/render/doc.h"
#include "trace/out/json.h"

struct facts {
    uint64_t instructions;
    uint64_t literals;                /* of them, what is no instruction or not as its row has it */
    uint64_t waits;                   /* ticks that waits for time sum up to */
    uint64_t bundles;                 /* 0: the engine has none */
    uint64_t by_op[CPS_VP1_OP_COUNT]; /* VP1 has the most operations */
};

static bool begins_bundle(const struct cps_isa *isa, const uint8_t *bytes, size_t at)
{
    return isa == &cps_isa_vp1 &&
           !(at && cps_insn_joins(isa, (uint32_t)(at / 4), cps_le32(bytes + at - 4),
                                  cps_le32(bytes + at)));
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

static const char code_layout[] =
    "{.name:e}: script for {engine}, {chip}\n"
    "  {bytes} bytes{code_ram? for a code RAM of {code_ram}}, {instructions} instructions, "
    "{literals} not as the table has them\n"
    "{bundles?  {bundles} bundles\n}{bundles!  waits for time sum up to {wait_ticks} {.unit}\n}"
    "{.kind?  {.kind}\n}"
    "{.has_host?  {host_steps} steps of the host, {changes} changes on the timeline\n}"
    "{operations*  {@:-10} {.:8}\n}";

/* Without code there is only the host. */
static const char host_layout[] =
    "{.name:e}: host accesses for {engine}, {chip}\n"
    "  {writes} writes and {reads} reads of registers and memory, {checks} with expected values\n"
    "  {memory_words} words into memory, {objects} objects, {changes} changes on the timeline\n";

/* Operations of one name are one number: `read` has three. */
static void put_operations(const struct cps_isa *isa, const struct facts *f, struct json_object *to)
{
    for (unsigned op = 1; op < CPS_VP1_OP_COUNT; op++) {
        const char *name = cps_op_name(isa, op);
        uint64_t count = 0;
        for (unsigned i = op; i < CPS_VP1_OP_COUNT && !cps_json_get(to, name); i++)
            count += strcmp(cps_op_name(isa, i), name) ? 0 : f->by_op[i];
        if (count && *name)
            cps_json_uint(to, name, count);
    }
}

static void put_code(const struct cps_script *script, struct json_object *to)
{
    const struct cps_isa *isa = cps_gen_isa(script->gen);
    struct facts f = {0};
    gather(script, &f);
    doc_put(to, ".layout=%s kind=script engine=%s chip=%s bytes=%zu", code_layout,
            cps_isa_name(isa), cps_gen_name(script->gen), script->code.size);
    if (isa == &cps_isa_hwsq)
        doc_put(to, "code_ram=%" PRIu32, cps_hwsq_ram(script->gen));
    if (isa == &cps_isa_seq) {
        bool plausible = cps_seq_plausible(cps_buf_text(&script->code), script->code.size);
        doc_put(to, "plausible?=%d .kind=%s", plausible,
                plausible ? "what decoders of traces take for a script"
                          : "not what decoders of traces take for a script");
    }
    doc_put(to, "instructions=%" PRIu64 " literals=%" PRIu64, f.instructions, f.literals);
    if (f.bundles)
        doc_put(to, "bundles=%" PRIu64, f.bundles);
    doc_put(to, "wait_ticks=%" PRIu64 " .unit=%s host_steps=%zu changes=%zu .has_host?=%d", f.waits,
            isa == &cps_isa_hwsq ? "clocks of PTIMER" : "ns", script->step_count,
            script->change_count, script->step_count || script->change_count);
    put_operations(isa, &f, cps_json_new_object(to, "operations"));
}

static void put_host(const struct cps_script *script, struct json_object *to)
{
    uint64_t count[CPS_DO_OBJECT + 1] = {0}, checks = 0, words = 0;
    for (size_t i = 0; i < script->step_count; i++) {
        const struct cps_script_step *step = &script->step[i];
        bool is_memory = step->what == CPS_DO_WRITE && step->where != CPS_AT_REG;
        count[step->what] += !is_memory;
        words += is_memory;
        checks += step->what == CPS_DO_READ && step->mask;
    }
    doc_put(to, ".layout=%s kind=%s engine=%s chip=%s writes=%" PRIu64 " reads=%" PRIu64,
            host_layout, "host accesses", cps_isa_name(cps_gen_isa(script->gen)),
            cps_gen_name(script->gen), count[CPS_DO_WRITE], count[CPS_DO_READ]);
    doc_put(to, "checks=%" PRIu64 " memory_words=%" PRIu64 " objects=%" PRIu64 " changes=%zu",
            checks, words, count[CPS_DO_OBJECT], script->change_count);
}

void info_script(const struct cps_script *script, struct json_object *to)
{
    doc_put(to, ".name=%s", script->name);
    if (cps_isa_has_code(cps_gen_isa(script->gen)))
        put_code(script, to);
    else
        put_host(script, to);
}
