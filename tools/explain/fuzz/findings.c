/* SPDX-License-Identifier: MIT
 * Findings: proved, minimal, written, and proved once more from the file; the trace of a file. */
#include "tools/explain/fuzz/fuzz.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fw/image/place.h"
#include "isa/base/pm4.h"
#include "isa/base/within.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/reduce/reduce.h"
#include "tools/run/cachedir.h"
#include "trace/form/text.h"
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

/* ---- Minimal cases: packets go, then words become 0 ---- */

struct shrink {
    struct ddmin_test test; /* first */
    struct run *run;
    const struct suspect *suspect;
    const struct fuzz_case *whole;
    struct case_packet packet[CASE_PACKETS];
    unsigned packets;
    struct fuzz_case less;
    bool words; /* things are words and not packets */
};

/* Without packets that are out: packets that name a stream say how long it is now. Or without
 * words, which are those after headers. */
static void leave_out(struct shrink *s, const bool *out)
{
    uint32_t was[CASE_STREAMS] = {0};
    unsigned thing = 0;
    case_copy(&s->less, s->whole);
    for (unsigned i = 0; i < s->packets && s->words; i++) {
        uint32_t *word = &s->less.stream[s->packet[i].stream].word[s->packet[i].at];
        for (uint32_t k = 1; k < s->packet[i].length; k++) {
            if (out[thing++])
                word[k] = 0;
        }
    }
    if (s->words)
        return;
    for (unsigned i = 0; i < s->whole->streams; i++)
        was[i] = s->whole->stream[i].count;
    for (unsigned i = s->packets; i-- > 0;) {
        const struct case_packet *packet = &s->packet[i];
        if (out[i])
            case_remove(&s->less.stream[packet->stream], packet->at, packet->length);
    }
    case_fit(&s->less, was);
}

static struct cps_err *holds(struct ddmin_test *test, const bool *out, bool *ret)
{
    struct shrink *s = (struct shrink *)test;
    *ret = false;
    if (s->run->interrupted && *s->run->interrupted)
        return NULL; /* as small as it is by now */
    leave_out(s, out);
    run_case(s->run, &s->less);
    const struct suspect *found = run_suspect(s->run, oracle_raised(s->suspect));
    struct suspect copy = found ? *found : *s->suspect;
    *ret = found && run_prove(s->run, &s->less, &copy) && copy.oracle == s->suspect->oracle;
    return NULL;
}

static void shrink(struct shrink *s, struct fuzz_case *edited, unsigned things)
{
    CPS_FREE bool *out = tool_alloc((size_t)things + 1, sizeof(*out));
    struct fuzz_case *whole = tool_alloc(1, sizeof(*whole));
    case_copy(whole, edited);
    s->whole = whole;
    tool_must(ddmin(&s->test, things, out));
    leave_out(s, out);
    case_copy(edited, &s->less);
    s->packets = case_list(edited, s->packet);
    free(whole);
}

static void minimise(struct run *run, const struct suspect *suspect, struct fuzz_case *edited)
{
    struct shrink *s = tool_alloc(1, sizeof(*s));
    unsigned words = 0;
    unsigned kept = 1; /* streams: those without words are not needed, but for the first */
    s->test.holds = holds;
    s->run = run;
    s->suspect = suspect;
    s->packets = case_list(edited, s->packet);
    shrink(s, edited, s->packets);
    for (unsigned i = 0; i < s->packets; i++)
        words += s->packet[i].length - 1;
    s->words = true;
    shrink(s, edited, words);
    for (unsigned i = 1; i < edited->streams; i++) {
        if (edited->stream[i].count)
            edited->stream[kept++] = edited->stream[i];
    }
    edited->streams = kept;
    free(s);
}

/* ---- Files ---- */

struct tracer {
    struct play play;
    struct cps_run_config config;
    struct cps_stream *stream;
    struct cps_trace_head head;
    struct cps_trace_writer *writer;
    struct cps_outfile *out;
};

static const char *base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static struct cps_err *make_head(struct tracer *t, const char *input)
{
    const struct play *play = &t->play;
    char hash[3][65] = {""};
    CPS_BUF policy = {0};
    CPS_TRY(cps_sha256_file(play->fw->name, hash[0]));
    if (play->me)
        CPS_TRY(cps_sha256_file(play->me->name, hash[1]));
    CPS_TRY(cps_sha256_file(input, hash[2]));
    cps_policy_text(&play->policy, play->gen, &policy);
    const struct cps_trace_header header = {
        .gen = play->gen,
        .firmware = {{base(play->fw->name), hash[0]},
                     {play->me ? base(play->me->name) : "", hash[1]}},
        .firmware_count = play->me ? 2 : 1,
        .capture = {base(input), hash[2]},
        .policy = tool_text(&policy),
        .events = "default"};
    return cps_trace_head_make(&header, play->fw->layout, play_has_processors(play), &t->head);
}

static struct cps_err *run_file(struct tracer *t, const char *input, const char *output)
{
    CPS_TRY(cps_stream_open(input, &t->stream));
    CPS_TRY(play_open(&t->play, &t->config, NULL));
    CPS_TRY(make_head(t, input));
    CPS_TRY(cps_outfile_open(output, &t->out));
    CPS_TRY(cps_trace_writer_create(CPS_FORM_TEXT, t->out, &t->head, t->play.names, &t->writer));
    t->play.trace = cps_trace_writer_sink(t->writer);
    return play_run(&t->play, t->stream);
}

struct cps_err *trace_case(const struct cps_run_config *config, uint64_t limit, const char *input,
                           const char *output)
{
    struct tracer *t = tool_alloc(1, sizeof(*t));
    t->config = *config;
    t->config.limit = limit;
    cps_text_classes("default", &t->play.kinds);
    struct cps_err *err = run_file(t, input, output);
    if (t->writer)
        err = cps_err_first_(err, cps_trace_writer_finish(t->writer));
    if (t->out && !err)
        err = cps_outfile_commit(t->out);
    else
        cps_outfile_abort(t->out);
    cps_trace_head_deinit(&t->head);
    play_close(&t->play);
    cps_stream_close(t->stream);
    free(t);
    return err;
}

/* What a fresh boot makes of the file. */
struct replay {
    struct run run;
    struct protection protection;
    const struct suspect *suspect;
    bool same;
};

static struct cps_err *replay_case(void *context, const struct fuzz_case *input)
{
    struct replay *r = context;
    run_case(&r->run, input);
    const struct suspect *found = run_suspect(&r->run, oracle_raised(r->suspect));
    struct suspect copy = found ? *found : *r->suspect;
    if (found)
        r->same = run_prove(&r->run, input, &copy) && copy.oracle == r->suspect->oracle;
    return NULL;
}

static struct cps_err *confirm(const struct fuzz *fuzz, const struct finding *f, const char *path,
                               bool *ret)
{
    struct replay *r = tool_alloc(1, sizeof(*r));
    struct case_taken taken = {0};
    r->suspect = &f->suspect;
    r->run.limit = fuzz->limit;
    r->run.oracles = fuzz->oracles;
    struct cps_err *err = run_open(&r->run, &fuzz->config, fuzz->sides, &r->protection);
    if (!err)
        err = corpus_read(path, NULL, NULL, &taken, replay_case, r);
    run_close(&r->run);
    *ret = r->same;
    free(r);
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
