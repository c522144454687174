/* SPDX-License-Identifier: MIT
 * Policies: every row of policy.def as text and back, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/policy.h"

/* A generation of each engine. */
static const struct {
    enum cps_gen gen;
    const char *name;
    unsigned engine;
} engines[] = {
    {CPS_A6XX, "afuc", CPS_ON_AFUC},   {CPS_G80, "hwsq", CPS_ON_HWSQ},
    {CPS_SEQ_OLD, "seq", CPS_ON_SEQ},  {CPS_VP1_NV44, "vp1", CPS_ON_VP1},
    {CPS_NV3T, "pfifo", CPS_ON_PFIFO},
};
#define ENGINES (sizeof(engines) / sizeof(engines[0]))

static uint64_t value_of(const struct cps_policy *policy, const struct cps_policy_row *row)
{
    uint64_t value;
    memcpy(&value, (const char *)policy + row->offset, sizeof(value));
    return value;
}

static void expect_error(const char *text, enum cps_gen gen, const char *said)
{
    struct cps_policy policy = cps_policy_default();
    const struct cps_policy before = policy;
    struct cps_err *err = cps_policy_parse(text, gen, &policy);
    assert_non_null(err);
    assert_int_equal(err->code, CPS_ERR_SYNTAX);
    assert_non_null(strstr(err->message, said));
    assert_memory_equal(&policy, &before, sizeof(policy));
    cps_err_free(err);
}

/* "name=word" in every engine: the value where it has a meaning, and there it comes back as text.
 */
static void check_word(const struct cps_policy_row *row, const char *word, uint64_t value)
{
    CPS_BUF setting = {0};
    cps_buf_printf(&setting, "%s=%s", row->name, word);
    for (size_t i = 0; i < ENGINES; i++) {
        struct cps_policy policy = cps_policy_default();
        struct cps_policy again = policy;
        CPS_BUF text = {0};
        if (!(row->engines & engines[i].engine)) {
            expect_error(cps_buf_text(&setting), engines[i].gen, cps_buf_text(&setting));
            continue;
        }
        assert_null(cps_policy_parse(cps_buf_text(&setting), engines[i].gen, &policy));
        assert_int_equal(value_of(&policy, row), value);
        cps_policy_text(&policy, engines[i].gen, &text);
        bool named = strstr(cps_buf_text(&text), cps_buf_text(&setting)) != NULL;
        assert_true(named == (!row->late || value != row->initial));
        assert_null(cps_policy_parse(cps_buf_text(&text), engines[i].gen, &again));
        assert_memory_equal(&policy, &again, sizeof(policy));
    }
}

static void check_words(const struct cps_policy_row *row)
{
    uint64_t value = 0;
    for (const char *at = row->words; *at; value++) {
        char word[32] = "";
        size_t length = strcspn(at, " ");
        assert_true(length < sizeof(word));
        memcpy(word, at, length);
        check_word(row, word, value);
        at += length + strspn(at + length, " ");
    }
    assert_true(value > 1 && row->initial < value);
}

static void test_rows(void **state)
{
    size_t count = 0;
    const struct cps_policy_row *rows = cps_policy_rows(&count);
    const struct cps_policy initial = cps_policy_default();
    (void)state;
    assert_int_equal(count * sizeof(uint64_t), sizeof(struct cps_policy));
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(cps_policy_row(rows[i].name, strlen(rows[i].name)), &rows[i]);
        assert_int_equal(value_of(&initial, &rows[i]), rows[i].initial);
        assert_true(rows[i].engines && !(rows[i].engines & ~(unsigned)CPS_ON_ALL));
        if (*rows[i].words != '#') {
            check_words(&rows[i]);
            continue;
        }
        if (rows[i].words[1])
            continue; /* test_places */
        check_word(&rows[i], "0", 0);
        check_word(&rows[i], "4294967295", UINT32_MAX);
    }
}

/* All of them, from docs/: what each is about, its words from 0 on, and what it is by default. */
static const struct literal {
    const char *name;
    size_t offset;
    unsigned engines;
    const char *words[4]; /* NULL: a number */
    uint64_t initial;
} literals[] = {
#define AT(member) offsetof(struct cps_policy, member)
    {"abort-in-wait", AT(abort_in_wait), CPS_ON_HWSQ | CPS_ON_SEQ, {"clean", "illegal", "stop"}, 0},
    {"unset", AT(unset), CPS_ON_HWSQ | CPS_ON_SEQ, {"keep", "clear"}, 0},
    {"bad-ip", AT(bad_ip), CPS_ON_HWSQ | CPS_ON_SEQ, {"after", "at"}, 0},
    {"fb-delay", AT(fb_delay), CPS_ON_HWSQ | CPS_ON_SEQ, {NULL}, 8},
    {"waits",
     AT(waits),
     CPS_ON_AFUC | CPS_ON_HWSQ | CPS_ON_SEQ,
     {"satisfy", "stop", "registers"},
     0},
    {"visibility", AT(visibility), CPS_ON_AFUC, {"all", "none", "captured"}, 0},
    {"samples", AT(samples), CPS_ON_AFUC, {NULL}, 0},
    {"clock", AT(clock), CPS_ON_AFUC, {"packets", "instructions", "host"}, 0},
    {"clock-start", AT(clock_start), CPS_ON_AFUC, {NULL}, 0},
    {"prefetch", AT(prefetch), CPS_ON_AFUC, {"off", "on"}, 0},
    {"ring", AT(ring), CPS_ON_AFUC, {"calls", "msm"}, 0},
    {"preempt", AT(preempt), CPS_ON_AFUC, {"off", "on"}, 0},
    {"seq-script", AT(seq_script), CPS_ON_SEQ, {NULL}, 0x400},
    {"seq-out", AT(seq_out), CPS_ON_SEQ, {NULL}, 0xfc00},
    {"seq-stack", AT(seq_stack), CPS_ON_SEQ, {NULL}, 0},
    {"cost", AT(cost), CPS_ON_HWSQ | CPS_ON_SEQ | CPS_ON_VP1, {NULL}, 0},
    {"spin", AT(spin), CPS_ON_HWSQ | CPS_ON_SEQ, {NULL}, 1000000},
    {"pull", AT(pull), CPS_ON_PFIFO, {"push", "run"}, 0},
    {"graph", AT(graph), CPS_ON_PFIFO, {"follow", "wait"}, 0},
    {"software-bind", AT(software_bind), CPS_ON_PFIFO, {"keep", "update"}, 0},
    {"nv3t-pointer", AT(nv3t_pointer), CPS_ON_PFIFO, {"seven", "six"}, 0},
    {"dma-header", AT(dma_header), CPS_ON_PFIFO, {"error", "drop"}, 0},
    {"mov-flags", AT(mov_flags), CPS_ON_VP1, {"keep", "clear"}, 0},
};
enum { LITERALS = sizeof(literals) / sizeof(literals[0]) };

static uint64_t member(const struct cps_policy *policy, const struct literal *literal)
{
    uint64_t value;
    memcpy(&value, (const char *)policy + literal->offset, sizeof(value));
    return value;
}

/* Sets it to a word, or a number, for one engine; then everything else is as before. */
static void set_only(const struct literal *literal, const char *word, uint64_t value,
                     enum cps_gen gen)
{
    CPS_BUF setting = {0};
    struct cps_policy policy = cps_policy_default();
    cps_buf_printf(&setting, "%s=%s", literal->name, word);
    assert_null(cps_policy_parse(cps_buf_text(&setting), gen, &policy));
    for (size_t i = 0; i < LITERALS; i++)
        assert_int_equal(member(&policy, &literals[i]),
                         &literals[i] == literal ? value : literals[i].initial);
}

static void test_literal_list(void **state)
{
    size_t count = 0;
    const struct cps_policy_row *rows = cps_policy_rows(&count);
    (void)state;
    assert_int_equal(count, LITERALS);
    for (size_t i = 0; i < LITERALS; i++) {
        const struct literal *literal = &literals[i];
        unsigned words = 0;
        for (size_t e = 0; e < ENGINES; e++) {
            if (!(literal->engines & engines[e].engine)) {
                expect_error(literal->name, engines[e].gen, "expected ");
                continue;
            }
            for (words = 0; words < 4 && literal->words[words]; words++)
                set_only(literal, literal->words[words], words, engines[e].gen);
            if (!words)
                set_only(literal, "76", 76, engines[e].gen);
        }
        unsigned blanks = 0;
        for (const char *at = rows[i].words; *at; at++)
            blanks += *at == ' ';
        assert_int_equal(words, words ? blanks + 1 : 0);
        assert_string_equal(rows[i].name, literal->name);
        assert_int_equal(rows[i].engines, literal->engines);
    }
}

static void test_refused_values(void **state)
{
    size_t count = 0;
    const struct cps_policy_row *rows = cps_policy_rows(&count);
    static const char *const bad[] = {"", "maybe", "4294967296", "1x", "=", "stop2"};
    (void)state;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
            CPS_BUF setting = {0};
            enum cps_gen gen = CPS_A6XX;
            for (size_t e = 0; e < ENGINES; e++)
                gen = rows[i].engines & engines[e].engine ? engines[e].gen : gen;
            cps_buf_printf(&setting, "%s=%s", rows[i].name, bad[k]);
            expect_error(cps_buf_text(&setting), gen,
                         strcmp(rows[i].words, "#") == 0 ? "expected a number of 32 bits"
                         : *rows[i].words == '#'         ? "expected a multiple of 4 from "
                                                         : rows[i].words);
        }
    }
}

/* Words of PDAEMON's data memory, which has 64 KiB; 0 as OUT's place says that there is no OUT
 * (envytools, docs/hw/pm/seq: scratch). */
static void test_places(void **state)
{
    static const struct {
        const char *text, *error; /* NULL: it is taken */
    } rows[] = {
        {"seq-script=0", NULL},
        {"seq-script=65532", NULL},
        {"seq-script=0xfffc", NULL},
        {"seq-script=3", "policy seq-script=3: expected a multiple of 4 from 0 to 65532"},
        {"seq-script=65534", "expected a multiple of 4 from 0 to 65532"},
        {"seq-script=65536", "expected a multiple of 4 from 0 to 65532"},
        {"seq-out=4", NULL},
        {"seq-out=65532", NULL},
        {"seq-out=0", "policy seq-out=0: expected a multiple of 4 from 4 to 65532"},
        {"seq-out=2", "expected a multiple of 4 from 4 to 65532"},
        {"seq-out=0x10000", "expected a multiple of 4 from 4 to 65532"},
        {"seq-stack=0", NULL},
        {"seq-stack=65532", NULL},
        {"seq-stack=1", "policy seq-stack=1: expected a multiple of 4 from 0 to 65532"},
        {"seq-stack=99999999", "expected a multiple of 4 from 0 to 65532"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cps_policy policy = cps_policy_default();
        if (rows[i].error)
            expect_error(rows[i].text, CPS_SEQ_OLD, rows[i].error);
        else
            assert_null(cps_policy_parse(rows[i].text, CPS_SEQ_OLD, &policy));
    }
}

static void test_refused_names(void **state)
{
    (void)state;
    expect_error("colour=red", CPS_A6XX,
                 "policy colour=red: expected waits, visibility, samples, clock, clock-start, "
                 "prefetch, ring or preempt, with =WORD");
    expect_error("waits", CPS_A6XX, "policy waits: expected waits");
    expect_error("=stop", CPS_A6XX, "policy =stop: expected waits");
    expect_error("waitsx=stop", CPS_A6XX, "expected waits");
    expect_error(
        "visibility=none", CPS_NV17,
        "expected abort-in-wait, unset, bad-ip, fb-delay, waits, cost or spin, with =WORD");
    expect_error("cost=1 waits=stop", CPS_VP1_G80, "policy waits=stop: expected cost or mov-flags");
    expect_error("cost=1", CPS_NV1,
                 "expected pull, graph, software-bind, nv3t-pointer or dma-header");
    expect_error("waits=stop prefetch=maybe", CPS_A7XX, "policy prefetch=maybe: expected off on");
}

/* Heads of traces hold these bytes. */
static void test_text(void **state)
{
    static const struct {
        enum cps_gen gen;
        const char *text;
    } rows[] = {
        {CPS_A5XX, "waits=satisfy visibility=all prefetch=off"},
        {CPS_A8XX, "waits=satisfy visibility=all prefetch=off"},
        {CPS_G92, "abort-in-wait=clean unset=keep bad-ip=after fb-delay=8 waits=satisfy cost=0 "
                  "spin=1000000"},
        {CPS_SEQ_NEW, "abort-in-wait=clean unset=keep bad-ip=after fb-delay=8 waits=satisfy "
                      "seq-script=1024 seq-out=64512 seq-stack=0 cost=0 spin=1000000"},
        {CPS_VP1_NV41, "cost=0 mov-flags=keep"},
        {CPS_NV1, "pull=push graph=follow software-bind=keep nv3t-pointer=seven "
                  "dma-header=error"},
    };
    const struct cps_policy policy = cps_policy_default();
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CPS_BUF text = {0};
        cps_policy_text(&policy, rows[i].gen, &text);
        assert_string_equal(cps_buf_text(&text), rows[i].text);
    }
}

/* The enumerators are the positions of the words. */
static void test_names_of_numbers(void **state)
{
    struct cps_policy policy = cps_policy_default();
    (void)state;
    assert_int_equal(policy.waits, CPS_WAITS_SATISFY);
    assert_int_equal(policy.visibility, CPS_VISIBILITY_ALL);
    assert_false(policy.prefetch);
    assert_null(cps_policy_parse("  waits=stop   visibility=none prefetch=on ", CPS_A6XX, &policy));
    assert_int_equal(policy.waits, CPS_WAITS_STOP);
    assert_int_equal(policy.visibility, CPS_VISIBILITY_NONE);
    assert_int_equal(policy.prefetch, CPS_PREFETCH_ON);
    assert_null(cps_policy_parse("visibility=all visibility=captured", CPS_A6XX, &policy));
    assert_int_equal(policy.visibility, CPS_VISIBILITY_CAPTURED);
    assert_null(cps_policy_parse("", CPS_A6XX, &policy));
}

/* A list for several engines, as manifests have it. */
static void test_several_engines(void **state)
{
    struct cps_policy policy = cps_policy_default();
    (void)state;
    assert_null(cps_policy_parse_for("prefetch=on cost=3 pull=run", CPS_ON_ALL, &policy));
    assert_true(policy.prefetch && policy.cost == 3 && policy.pull == CPS_PULL_RUN);
    struct cps_err *err =
        cps_policy_parse_for("cost=3 pull=run", CPS_ON_AFUC | CPS_ON_VP1, &policy);
    assert_string_equal(
        err->message,
        "policy pull=run: expected waits, visibility, samples, clock, clock-start, prefetch, "
        "ring, preempt, cost or mov-flags, with =WORD");
    cps_err_free(err);
}

static void test_engines(void **state)
{
    CPS_BUF text = {0};
    (void)state;
    for (size_t i = 0; i < ENGINES; i++) {
        assert_int_equal(cps_engines_named(engines[i].name), engines[i].engine);
        assert_int_equal(cps_engines_of(engines[i].gen), engines[i].engine);
    }
    assert_int_equal(cps_engines_named("vp9"), 0);
    cps_engines_text(CPS_ON_PFIFO, " and ", &text);
    cps_buf_str(&text, "; ");
    cps_engines_text(CPS_ON_ALL & ~CPS_ON_SEQ, " and ", &text);
    assert_string_equal(cps_buf_text(&text), "pfifo; afuc, hwsq, pfifo and vp1");
}

/* Of a value that is not one 40 characters are shown, of a number's as of a word's. */
static void test_long_values(void **state)
{
    static const struct {
        const char *name;
        enum cps_gen gen;
    } rows[] = {{"cost", CPS_VP1_NV44}, {"waits", CPS_A6XX}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        for (int length = 39; length <= 42; length++) {
            CPS_BUF setting = {0}, said = {0};
            cps_buf_printf(&setting, "%s=%.*s", rows[i].name, length,
                           "1234567890abcdefghij1234567890ABCDEFGHIJKLMN");
            cps_buf_printf(&said, "policy %s=%.*s: expected ", rows[i].name,
                           length > 40 ? 40 : length,
                           "1234567890abcdefghij1234567890ABCDEFGHIJKLMN");
            expect_error(cps_buf_text(&setting), rows[i].gen, cps_buf_text(&said));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_literal_list),
        cmocka_unit_test(test_refused_values),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_refused_names),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_names_of_numbers),
        cmocka_unit_test(test_several_engines),
        cmocka_unit_test(test_engines),
        cmocka_unit_test(test_long_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
