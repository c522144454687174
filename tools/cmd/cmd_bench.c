/* SPDX-License-Identifier: MIT
 * cpscope bench: how fast the emulator is, each figure next to its yardstick, as medians of
 * interleaved rounds. docs/performance.md says what they mean. */
#include <string.h>

#include "isa/base/buf.h"
#include "tools/bench/bench.h"
#include "tools/cmd/terminal/report.h"

int cmd_bench(const struct cps_options *opt);

#define MOST_FIGURES 64

static double (*const sample[])(struct bench *bench) = {
#define SAMPLE(id, function) function,
#include "tools/bench/figure.def"
};

/* Those of "NAME,...", which were checked when they were taken. */
static void choose(const char *list, bool *wanted)
{
    memset(wanted, !list, MOST_FIGURES * sizeof(*wanted));
    while (list && *list) {
        size_t length = strcspn(list, ",");
        for (unsigned i = 0; i < bench_figure_count; i++)
            wanted[i] |= strlen(bench_figures[i].name) == length &&
                         !strncmp(bench_figures[i].name, list, length);
        list += length + (list[length] == ',');
    }
}

static void measure(struct bench *bench, const bool *wanted, double (*samples)[BENCH_MOST_ROUNDS],
                    unsigned rounds)
{
    bool needed[BENCH_SAMPLES] = {false};
    for (unsigned i = 0; i < bench_figure_count; i++) {
        needed[bench_figures[i].sample] |= wanted[i];
        needed[bench_figures[i].yardstick] |= wanted[i];
    }
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < BENCH_SAMPLES; i++)
            samples[i][round] = needed[i] ? sample[i](bench) : 0;
    }
}

static struct cps_err *run(struct bench *bench, const bool *wanted, unsigned rounds)
{
    static double samples[BENCH_SAMPLES][BENCH_MOST_ROUNDS];
    CPS_TRY(bench_choose(bench));
    CPS_TRY(bench_count_work(bench));
    CPS_TRY(bench_prepare(bench));
    measure(bench, wanted, samples, rounds);
    return bench_report(bench, wanted, samples, rounds);
}

int cmd_bench(const struct cps_options *opt)
{
    bool wanted[MOST_FIGURES];
    struct bench bench = {.opt = opt};
    unsigned rounds = opt->rounds ? (unsigned)opt->rounds : BENCH_ROUNDS;
    choose(opt->figures, wanted);
    if (rounds > BENCH_MOST_ROUNDS)
        return report_usage("--rounds %u: expected at most %u", rounds, BENCH_MOST_ROUNDS);
    struct cps_err *err = run(&bench, wanted, rounds);
    bench_clean(&bench);
    return err ? report_error(err) : 0;
}
