/* SPDX-License-Identifier: MIT
 * Findings: proved, minimal, written, and proved once more from the file. */
#include "tools/explain/fuzz/fuzz.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fw/image/place.h"
#include "tools/run/cachedir.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/out/outfile.h"

/* Looks at the same suspect that come to nothing before it is believed to be harmless. */
#define MOST_LOOKS 4u

/* Finer than a finding's: a handler may write one register in several ways. */
static uint64_t doubt_key(const struct suspect *s, uint64_t look)
{
    return rng_mix(oracle_raised(s) ^ (uint64_t)s->pc << 24 ^ (uint64_t)s->place ^
                   (uint64_t)s->level << 60) +
           look;
}

bool findings_wants(const struct findings *f, const struct suspect *suspect)
{
    return !key_map_has(&f->known, oracle_raised(suspect)) &&
           !key_map_has(&f->doubted, doubt_key(suspect, MOST_LOOKS - 1));
}

static void doubt(struct findings *f, const struct suspect *suspect)
{
    for (uint64_t look = 0; look < MOST_LOOKS; look++) {
        if (key_map_add(&f->doubted, doubt_key(suspect, look)))
            return;
    }
}

void findings_deinit(struct findings *f)
{
    free(f->list);
    key_map_deinit(&f->known);
    key_map_deinit(&f->doubted);
    *f = (struct findings){0};
}

/* "CP_SMMU_TABLE_UPDATE", "type4", "packet 0x7e". */
static void name_packet(const struct fuzz *fuzz, const struct suspect *s, char *ret, size_t size)
{
    unsigned id = oracle_packet(s->header);
    const struct play *play = fuzz->run[0].side[s->side].play;
    const char *name = cps_name(play->names[s->who], CPS_SPACE_PACKET, id, NULL);
    if (id == 4)
        snprintf(ret, size, "type4");
    else if (name && id)
        snprintf(ret, size, "%s", name);
    else
        snprintf(ret, size, "packet-%02x", id);
    for (char *c = ret; *c; c++)
        *c = isalnum((unsigned char)*c) || *c == '_' || *c == '-' ? *c : '-';
}

/* Equal keys, equal names, and the other way round. */
static void name_finding(const struct fuzz *fuzz, struct finding *f)
{
    const struct suspect *s = &f->suspect;
    char packet[48];
    name_packet(fuzz, s, packet, sizeof(packet));
    snprintf(f->name, sizeof(f->name), "%s-%s%s-%08" PRIx32, oracle_name(s->oracle), packet,
             s->side ? "-new" : "", (uint32_t)oracle_key(s));
}

static void describe(const struct fuzz *fuzz, struct finding *f)
{
    const struct suspect *s = &f->suspect;
    char packet[48];
    CPS_BUF place = {0};
    bool writes = s->oracle <= ORACLE_EXPOSED;
    play_place(fuzz->run[0].side[s->side].play, s->who, s->pc, cps_fw_header_packet_(s->header),
               &place);
    name_packet(fuzz, s, packet, sizeof(packet));
    snprintf(f->said, sizeof(f->said),
             "%s: %s at level %s of %s%s, %s 0x%04" PRIx32 ", pc=0x%04" PRIx32 " (%s)",
             oracle_name(s->oracle), packet, cps_event_sub_word(CPS_EV_PKT, s->level),
             cps_processor_name(s->who), s->side ? " of the second firmware" : "",
             writes ? "register" : "at", s->place, s->pc, cps_buf_text(&place));
}

/* What a fresh boot makes of the file. */
struct replay_case {
    struct fuzz fuzz; /* first */
    struct run *run;
    const struct suspect *suspect;
    bool same;
};

static struct cps_err *replay_case(struct fuzz *fuzz, const struct fuzz_case *input)
{
    struct replay_case *r = (struct replay_case *)fuzz;
    run_case(r->run, input);
    const struct suspect *found = run_suspect(r->run, oracle_raised(r->suspect));
    if (!found)
        return NULL;
    struct suspect copy = *found;
    r->same = run_prove(r->run, input, &copy) && copy.oracle == r->suspect->oracle;
    return NULL;
}

static struct cps_err *confirm(struct fuzz *fuzz, const struct finding *f, const char *path,
                               bool *ret)
{
    struct protection *protection = tool_alloc(1, sizeof(*protection));
    struct run *run = tool_alloc(1, sizeof(*run));
    struct replay_case replay = {.run = run, .suspect = &f->suspect};
    run->limit = fuzz->limit;
    run->oracles = fuzz->oracles;
    struct cps_err *err = run_open(run, &fuzz->opt->run, fuzz->sides, protection);
    if (!err)
        err = corpus_read(&replay.fuzz, path, replay_case);
    run_close(run);
    free(run);
    free(protection);
    *ret = replay.same;
    return err;
}

/* The text, proved, then what a run of it traces. One that does not hold from its file goes. */
static struct cps_err *write_finding(struct fuzz *fuzz, const struct fuzz_case *input,
                                     const struct finding *f, bool *ret)
{
    CPS_BUF text = {0};
    CPS_BUF path = {0};
    *ret = true;
    if (!fuzz->dir)
        return NULL;
    CPS_TRY(corpus_text(fuzz, input, f->said, &text));
    cps_buf_printf(&path, "%s/findings/%s.pm4", fuzz->dir, f->name);
    tool_text(&path);
    cache_make_dirs(path.data, 0777);
    CPS_TRY(cps_outfile_whole(path.data, tool_text(&text), text.size));
    CPS_TRY(confirm(fuzz, f, path.data, ret));
    if (!*ret)
        remove(path.data);
    for (unsigned i = 0; i < fuzz->sides && *ret; i++) {
        CPS_BUF trace = {0};
        cps_buf_printf(&trace, "%s/findings/%s%s", fuzz->dir, f->name, i ? ".new.trace" : ".trace");
        CPS_TRY(
            trace_case(&fuzz->run[0].side[i].config, fuzz->limit, path.data, tool_text(&trace)));
    }
    return NULL;
}

static struct cps_err *keep_finding(struct fuzz *fuzz, const struct fuzz_case *input,
                                    const struct suspect *suspect)
{
    struct findings *all = &fuzz->findings;
    struct finding finding = {.suspect = *suspect, .words = case_words(input)};
    struct case_packet packet[CASE_PACKETS];
    bool good = false;
    finding.packets = case_list(input, packet);
    name_finding(fuzz, &finding);
    describe(fuzz, &finding);
    CPS_TRY(write_finding(fuzz, input, &finding, &good));
    if (!good)
        return NULL;
    TOOL_ROOM(all->list, all->count);
    all->list[all->count++] = finding;
    fuzz->stats.findings = all->count;
    return NULL;
}

static struct cps_err *look_closely(struct fuzz *fuzz, const struct fuzz_case *input,
                                    const struct suspect *suspect)
{
    struct run *run = &fuzz->run[0];
    struct suspect proved = *suspect;
    struct fuzz_case less;
    bool good = run_prove(run, input, &proved);
    /* What has become another oracle's may be known there. */
    if (!good || proved.oracle != proved.raised)
        doubt(&fuzz->findings, good ? &proved : suspect);
    if (!good || !key_map_add(&fuzz->findings.known, oracle_key(&proved)))
        return NULL;
    case_copy(&less, input);
    minimise(run, &proved, &less);
    run_case(run, &less);
    const struct suspect *now = run_suspect(run, oracle_raised(&proved));
    struct suspect last = now ? *now : proved;
    last.oracle = proved.oracle;
    return keep_finding(fuzz, &less, &last);
}

struct cps_err *findings_look(struct fuzz *fuzz, const struct fuzz_case *input,
                              const struct suspect *suspect)
{
    uint64_t before = fuzz->run[0].executed;
    if (!findings_wants(&fuzz->findings, suspect))
        return NULL;
    struct cps_err *err = look_closely(fuzz, input, suspect);
    fuzz->stats.looks += fuzz->run[0].executed - before;
    return err;
}
