/* SPDX-License-Identifier: MIT
 * Cases without what a finding does not need: packets go, then words become 0. */
#include "tools/explain/fuzz/fuzz.h"

#include <string.h>

#include "isa/base/pm4.h"
#include "isa/base/within.h"
#include "tools/explain/reduce/reduce.h"

struct shrink {
    struct ddmin_test test; /* first */
    struct run *run;
    const struct suspect *suspect;
    uint64_t key;
    const struct fuzz_case *whole;
    struct case_packet packet[CASE_PACKETS];
    unsigned packets;
    struct fuzz_case less;
    bool words; /* things are words and not packets */
};

/* Streams without the packets that are out; what names them says how long they are now. */
static void leave_packets(struct shrink *s, const bool *out)
{
    uint32_t was[CASE_STREAMS] = {0};
    case_copy(&s->less, s->whole);
    for (unsigned i = 0; i < s->whole->streams; i++)
        was[i] = s->whole->stream[i].count;
    for (unsigned i = s->packets; i-- > 0;) {
        const struct case_packet *packet = &s->packet[i];
        if (out[i])
            case_remove(&s->less.stream[packet->stream], packet->at, packet->length);
    }
    case_fit(&s->less, was);
}

/* Things are words that stand behind headers. */
static void clear_words(struct shrink *s, const bool *out)
{
    unsigned thing = 0;
    case_copy(&s->less, s->whole);
    for (unsigned i = 0; i < s->packets; i++) {
        uint32_t *word = &s->less.stream[s->packet[i].stream].word[s->packet[i].at];
        for (uint32_t k = 1; k < s->packet[i].length; k++) {
            if (out[thing++])
                word[k] = 0;
        }
    }
}

static struct cps_err *holds(struct ddmin_test *test, const bool *out, bool *ret)
{
    struct shrink *s = (struct shrink *)test;
    bool same = false;
    (s->words ? clear_words : leave_packets)(s, out);
    *ret = false;
    CPS_TRY(run_case(s->run, &s->less));
    const struct suspect *found = run_suspect(s->run, s->key);
    if (!found)
        return NULL;
    struct suspect copy = *found;
    CPS_TRY(run_prove(s->run, &s->less, &copy, &same));
    *ret = same && copy.oracle == s->suspect->oracle;
    return NULL;
}

static struct cps_err *pass(struct shrink *s, struct fuzz_case *edited, unsigned things)
{
    CPS_FREE bool *out = calloc((size_t)things + 1, sizeof(*out));
    if (!out)
        return cps_err_nomem();
    CPS_TRY(ddmin(&s->test, things, out));
    (s->words ? clear_words : leave_packets)(s, out);
    case_copy(edited, &s->less);
    s->packets = case_list(edited, s->packet);
    return NULL;
}

/* Streams without words are not needed, but for the first. */
static void drop_empty(struct fuzz_case *edited)
{
    unsigned kept = 1;
    for (unsigned i = 1; i < edited->streams; i++) {
        if (edited->stream[i].count)
            edited->stream[kept++] = edited->stream[i];
    }
    edited->streams = kept;
}

static struct cps_err *shrink(struct shrink *s, struct fuzz_case *edited)
{
    CPS_FREE struct fuzz_case *whole = malloc(sizeof(*whole));
    unsigned words = 0;
    if (!whole)
        return cps_err_nomem();
    case_copy(whole, edited);
    s->whole = whole;
    s->packets = case_list(edited, s->packet);
    CPS_TRY(pass(s, edited, s->packets));
    case_copy(whole, edited);
    for (unsigned i = 0; i < s->packets; i++)
        words += s->packet[i].length - 1;
    s->words = true;
    CPS_TRY(pass(s, edited, words));
    drop_empty(edited);
    return NULL;
}

struct cps_err *minimise(struct run *run, const struct suspect *suspect, struct fuzz_case *edited)
{
    struct shrink *s = calloc(1, sizeof(*s));
    if (!s)
        return cps_err_nomem();
    s->test.holds = holds;
    s->run = run;
    s->suspect = suspect;
    s->key = oracle_raised(suspect);
    struct cps_err *err = shrink(s, edited);
    free(s);
    return err;
}
