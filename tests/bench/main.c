/* SPDX-License-Identifier: MIT
 * How fast the emulator is: each figure next to its yardstick, as medians of interleaved rounds.
 * Usage: bench [--rounds N] [--figures NAME,...] [--capture FILE] [--fw FILE]... [--json] CPSCOPE
 * docs/performance.md explains the figures. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/bench.h"
#include "tools/cmd/options/opt.h"

#define MOST_FIGURES 64

enum status { DONE = 0, USAGE = 2, FAILED = 3 };

static double (*const sample[])(struct bench *bench) = {
#define SAMPLE(id, function) function,
#include "tests/bench/figure.def"
};

struct choice {
    unsigned rounds;
    bool wanted[MOST_FIGURES];
};

static int find_figure(const char *name)
{
    for (unsigned i = 0; i < bench_figure_count; i++) {
        if (!strcmp(bench_figures[i].name, name))
            return (int)i;
    }
    fprintf(stderr, "bench: --figures %s: expected", name);
    for (unsigned i = 0; i < bench_figure_count; i++)
        fprintf(stderr, "%s %s", i ? "," : "", bench_figures[i].name);
    fputc('\n', stderr);
    return -1;
}

static bool choose_figures(char *list, bool *wanted)
{
    memset(wanted, 0, MOST_FIGURES * sizeof(*wanted));
    for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
        int figure = find_figure(name);
        if (figure < 0)
            return false;
        wanted[figure] = true;
    }
    return true;
}

static bool choose_rounds(const char *word, unsigned *ret)
{
    char *end = NULL;
    unsigned long rounds = strtoul(word, &end, 10);
    *ret = (unsigned)rounds;
    if (*word && !*end && rounds > 0 && rounds <= BENCH_MOST_ROUNDS)
        return true;
    fprintf(stderr, "bench: --rounds %s: expected 1 to %u\n", word, BENCH_MOST_ROUNDS);
    return false;
}

static bool read_arguments(int argc, char **argv, struct bench *bench, struct choice *choice)
{
    static const struct option options[] = {
        {"rounds", required_argument, NULL, 'r'},  {"figures", required_argument, NULL, 'g'},
        {"capture", required_argument, NULL, 'c'}, {"fw", required_argument, NULL, 'f'},
        {"json", no_argument, NULL, 'j'},          {NULL, 0, NULL, 0},
    };
    bool good = true;
    for (int letter; good && (letter = getopt_long(argc, argv, "j", options, NULL)) != -1;) {
        if (letter == 'r')
            good = choose_rounds(optarg, &choice->rounds);
        else if (letter == 'g')
            good = choose_figures(optarg, choice->wanted);
        else if (letter == 'c')
            snprintf(bench->capture, sizeof(bench->capture), "%s", optarg);
        else if (letter == 'f' && bench->with.run.fw_count < CPS_RUN_MAX_FW)
            bench->with.run.fw[bench->with.run.fw_count++] = optarg;
        else if (letter == 'j')
            bench->json = true;
        else
            good = false;
    }
    bench->cpscope = argv[optind];
    if (good && optind + 1 != argc)
        fprintf(stderr, "usage: bench [OPTION]... CPSCOPE\n");
    return good && optind + 1 == argc;
}

static void measure(struct bench *bench, const struct choice *choice,
                    double (*samples)[BENCH_MOST_ROUNDS])
{
    bool needed[BENCH_SAMPLES] = {false};
    for (unsigned i = 0; i < bench_figure_count; i++) {
        needed[bench_figures[i].sample] |= choice->wanted[i];
        needed[bench_figures[i].yardstick] |= choice->wanted[i];
    }
    for (unsigned round = 0; round < choice->rounds; round++) {
        for (unsigned i = 0; i < BENCH_SAMPLES; i++)
            samples[i][round] = needed[i] ? sample[i](bench) : 0;
    }
}

static struct cps_err *run(struct bench *bench, const struct choice *choice)
{
    static double samples[BENCH_SAMPLES][BENCH_MOST_ROUNDS];
    CPS_TRY(bench_choose(bench));
    CPS_TRY(bench_count_work(bench));
    CPS_TRY(bench_prepare(bench));
    measure(bench, choice, samples);
    bench_report(bench, choice->wanted, samples, choice->rounds);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct bench bench;
    struct choice choice = {.rounds = BENCH_ROUNDS};
    memset(choice.wanted, true, sizeof(choice.wanted));
    bench.with = opt_none(NULL);
    if (!read_arguments(argc, argv, &bench, &choice))
        return USAGE;
    struct cps_err *err = run(&bench, &choice);
    bench_clean(&bench);
    if (err)
        fprintf(stderr, "bench: %s\n", err->message);
    int status = err ? FAILED : DONE;
    cps_err_free(err);
    return status;
}
