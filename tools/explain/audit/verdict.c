/* SPDX-License-Identifier: MIT
 * Verdicts: a case is tried, and its events are looked for. */
#include "tools/explain/audit/verdict.h"

#include <string.h>

#include "isa/base/pm4.h"
#include "isa/base/within.h"
#include "isa/target.h"
#include "tools/explain/audit/identity.h"

const char *verdict_word(enum verdict verdict)
{
    static const char *const words[VERDICT_COUNT] = {"has it not", "has the flaw", "does not apply",
                                                     "undecided"};
    return words[verdict];
}

static struct cps_err *find_handlers(const struct audit_case *c, const struct cps_fw *fw,
                                     struct cps_buf *why)
{
    struct cps_names *names = NULL;
    const char *at = c->packets ? c->packets : "";
    CPS_TRY(cps_names_create(fw->layout, NULL, &names));
    for (size_t length; *(at += strspn(at, " \t")); at += length) {
        length = strcspn(at, " \t");
        if (!why->size && !identity_handles(fw, names, at, length))
            cps_buf_printf(why, "it has no handler for %.*s", (int)length, at);
    }
    cps_names_destroy(names);
    return why->failed ? cps_err_nomem() : NULL;
}

static const struct cps_event *find(const struct probe *probe, const struct case_event *wanted)
{
    for (size_t i = 0; i < probe->record.count; i++) {
        if (case_event_is(wanted, &probe->record.event[i]))
            return &probe->record.event[i];
    }
    return NULL;
}

/* The first event that must not be. */
static const struct cps_event *find_flaw(const struct probe *probe, const struct audit_case *c)
{
    const struct cps_event *first = NULL;
    for (size_t i = 0; i < c->events; i++) {
        const struct cps_event *event = c->event[i].never ? find(probe, &c->event[i]) : NULL;
        if (event && (!first || event < first))
            first = event;
    }
    return first;
}

/* "sds CP_SMMU_TABLE_UPDATE: ": the packet that the processor was in. */
static void put_packet(const struct probe *probe, const struct cps_event *event,
                       struct cps_buf *out)
{
    const struct cps_names *names = probe->play->names[cps_event_who(event) % CPS_CPU_COUNT];
    for (const struct cps_event *pkt = event; pkt-- > probe->record.event;) {
        if (cps_event_kind(pkt) != CPS_EV_PKT || cps_event_who(pkt) != cps_event_who(event))
            continue;
        struct cps_pm4 packet = cps_pm4_decode(pkt->value);
        const char *name = packet.kind == CPS_PM4_TYPE7
                               ? cps_name(names, CPS_SPACE_PACKET, packet.opcode, NULL)
                               : NULL;
        cps_buf_printf(out, "%s %s: ", cps_event_sub_word(CPS_EV_PKT, cps_event_sub(pkt)),
                       name ? name : "packet");
        return;
    }
}

static enum verdict judge(const struct probe *probe, const struct audit_case *c,
                          struct cps_buf *why)
{
    const struct cps_event *flaw = find_flaw(probe, c);
    if (flaw) {
        put_packet(probe, flaw, why);
        probe_text(probe, flaw, why);
        return VERDICT_FLAW;
    }
    if (probe->stopped) {
        cps_buf_join(why, &probe->why);
        return VERDICT_UNDECIDED;
    }
    for (size_t i = 0; i < c->events; i++) {
        const struct case_event *wanted = &c->event[i];
        if (wanted->never || find(probe, wanted))
            continue;
        cps_buf_printf(why, "no %s%s%s", wanted->text, *wanted->why ? ": " : "", wanted->why);
        return VERDICT_UNDECIDED;
    }
    return VERDICT_CLEAN;
}

struct cps_err *verdict_of(const struct audit_case *c, const struct cps_fw *fw, struct probe *probe,
                           enum verdict *ret, struct cps_buf *why)
{
    *ret = VERDICT_NOT_ABOUT;
    if (!(c->gens & cps_gen_bit(fw->gen))) {
        cps_buf_printf(why, "it is of %s", cps_gen_name(fw->gen));
        return why->failed ? cps_err_nomem() : NULL;
    }
    *ret = VERDICT_UNDECIDED;
    if (fw->part[0].table == CPS_FW_NONE) {
        cps_buf_str(why, "it has no packet table: which packets it handles is not known");
        return why->failed ? cps_err_nomem() : NULL;
    }
    CPS_TRY(find_handlers(c, fw, why));
    if (why->size)
        *ret = VERDICT_NOT_ABOUT;
    if (why->size || !probe)
        return NULL;
    uint32_t kinds = case_kinds(c) | UINT32_C(1) << CPS_EV_PKT;
    CPS_TRY(
        cps_err_within_(probe_run(probe, c->name, c->text, c->size, kinds), "case %s", c->name));
    *ret = judge(probe, c, why);
    return why->failed ? cps_err_nomem() : NULL;
}
