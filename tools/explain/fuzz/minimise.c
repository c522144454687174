/* SPDX-License-Identifier: MIT
 * Cases without what a finding does not need: packets go, then words become 0. */
#include "tools/explain/fuzz/fuzz.h"

#include "tools/cmd/terminal/oom.h"
#include <string.h>

#include "isa/base/pm4.h"
#include "isa/base/within.h"
#include "tools/explain/reduce/reduce.h"

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

/* Without what is out. */
static void leave_out(struct shrink *s, const bool *out)
{
    if (s->words)
        clear_words(s, out);
    else
        leave_packets(s, out);
}

static struct cps_err *holds(struct ddmin_test *test, const bool *out, bool *ret)
{
    struct shrink *s = (struct shrink *)test;
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

void minimise(struct run *run, const struct suspect *suspect, struct fuzz_case *edited)
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
