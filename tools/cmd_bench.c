/* SPDX-License-Identifier: MIT
 * cpscope bench: how fast the emulator is, each figure next to its yardstick, as medians of
 * interleaved rounds. docs/performance.md says what they mean. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/bench/bench.h"
#include "tools/report/report.h"
#include "trace/json.h"

int cmd_bench(const struct cps_options *opt);

#define ROUNDS 7

static const struct figure figures[] = {
    {"alu-loop", "instructions/s", bench_alu, bench_alu_native, "the loop in C"},
    {"reg-write-60", "writes/s", bench_writes_60, bench_native_60, "the copying in C"},
    {"reg-write-2", "writes/s", bench_writes_2, bench_native_2, "the copying in C"},
    {"trace-cpt", "s", bench_run_cpt, bench_run_silent, "the run without events"},
    {"run-rd-gz", "s", bench_run_silent, bench_inflate, "inflating the file"},
    {"boot", "s", bench_boot_clone, bench_boot_whole, "loading and booting, CPU time"},
    {"regress-2-jobs", "pairs/s", bench_regress_2, bench_regress_1, "1 job"},
    {"peak-memory", "bytes", bench_peak, bench_peak_allowed, "64 MiB + live buffers"},
};
#define COUNT (sizeof(figures) / sizeof(figures[0]))

/* What came out, by round. */
struct result {
    double value[ROUNDS];
    double yardstick[ROUNDS];
};

double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof(*values), by_value);
    return values[ROUNDS / 2];
}

static struct json_object *to_json(const struct figure *figure, double value, double yardstick)
{
    struct json_object *row = json_object_new_object();
    cps_json_text(row, "name", figure->name);
    cps_json_double(row, "value", value);
    cps_json_text(row, "unit", figure->unit);
    cps_json_double(row, "yardstick", yardstick);
    cps_json_text(row, "against", figure->against);
    cps_json_double(row, "ratio", yardstick > 0 ? value / yardstick : 0);
    return row;
}

/* With the prefix that leaves one to three digits in front of the point. */
static void print_scaled(double value)
{
    static const char prefix[] = "num kMG";
    unsigned i = 3;
    for (; value < 1 && value > 0 && i; i--)
        value *= 1e3;
    for (; value >= 1e3 && i + 1 < sizeof(prefix) - 1; i++)
        value /= 1e3;
    printf("%7.1f %c", value, prefix[i]);
}

static void print_row(const struct figure *figure, double value, double yardstick)
{
    printf("%-19s ", figure->name);
    print_scaled(value);
    printf("%-14s ratio %7.4f  against ", figure->unit, yardstick > 0 ? value / yardstick : 0);
    print_scaled(yardstick);
    printf(", %s\n", figure->against);
}

static struct cps_err *report(struct result *results, bool json)
{
    struct json_object *list = json_object_new_array();
    for (unsigned i = 0; i < COUNT; i++) {
        double value = median(results[i].value);
        double yardstick = median(results[i].yardstick);
        cps_json_append(list, to_json(&figures[i], value, yardstick));
        if (!json)
            print_row(&figures[i], value, yardstick);
    }
    struct json_object *root = json_object_new_object();
    cps_json_add(root, "figures", list);
    if (json)
        return report_json(root);
    json_object_put(root);
    return NULL;
}

static struct cps_err *measure(struct bench *bench, struct result *results)
{
    CPS_TRY(bench_prepare(bench));
    play_boot(&bench->play);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < COUNT; i++) {
            results[i].value[round] = figures[i].measure(bench);
            results[i].yardstick[round] = figures[i].yardstick(bench);
        }
    }
    return NULL;
}

int cmd_bench(const struct cps_options *opt)
{
    struct cps_options with_demo = *opt;
    with_demo.demo = true;
    struct bench bench = {0};
    struct result results[COUNT];
    struct cps_err *err = play_open(&bench.play, &with_demo, NULL);
    if (!err)
        err = measure(&bench, results);
    if (!err)
        err = report(results, opt->json);
    bench_clean(&bench);
    play_close(&bench.play);
    return err ? report_error(err) : 0;
}
