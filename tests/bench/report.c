/* SPDX-License-Identifier: MIT
 * What came out: medians, and their ratios, beside what ran. */
#include "tests/bench/bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/out/json.h"

const struct bench_figure bench_figures[] = {
#define FIGURE(name, unit, sample, count, yardstick, yardstick_count, against)                \
    {name,   unit, BENCH_##sample, BENCH_##count, BENCH_##yardstick, BENCH_##yardstick_count, \
     against},
#include "tests/bench/figure.def"
};
const unsigned bench_figure_count = sizeof(bench_figures) / sizeof(bench_figures[0]);

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* One side of a figure; 0: it could not be had. */
static double median(const struct bench *b, double *values, unsigned rounds, enum bench_count count)
{
    qsort(values, rounds, sizeof(*values), by_value);
    double value = values[rounds / 2];
    if (values[0] <= 0) /* it failed in one round */
        return 0;
    return count ? b->count[count] / value : value;
}

static const char *against(const struct bench *b, const struct bench_figure *figure)
{
    if ((figure->yardstick == BENCH_GZIP || figure->yardstick == BENCH_WALL_GZIP) && !b->gzip)
        return "zlib in process: there is no gzip";
    if (figure->yardstick == BENCH_ZSTD && !b->zstd)
        return "libzstd in process: there is no zstd";
    return figure->against;
}

/* Members without a value are null. */
static void put_number(struct json_object *to, const char *key, double value)
{
    if (value > 0)
        cps_json_add(to, key, json_object_new_double(value));
    else
        cps_json_null(to, key);
}

static struct json_object *figure_json(const struct bench *b, const struct bench_figure *figure,
                                       double value, double yardstick)
{
    struct json_object *row = json_object_new_object();
    cps_json_text(row, "name", figure->name);
    put_number(row, "value", value);
    cps_json_text(row, "unit", figure->unit);
    put_number(row, "yardstick", yardstick);
    cps_json_text(row, "against", against(b, figure));
    put_number(row, "ratio", yardstick > 0 ? value / yardstick : 0);
    return row;
}

static const char *input_name(const struct bench *b)
{
    return b->capture[0] ? b->capture : "built in";
}

static void input_json(const struct bench *b, unsigned rounds, struct json_object *root)
{
    struct json_object *input = cps_json_new_object(root, "input");
    cps_json_text(input, "capture", input_name(b));
    cps_json_text(input, "firmware", b->play.fw->name);
    cps_json_uint(input, "copies", b->copies);
    cps_json_uint(input, "bytes", b->bytes * b->copies);
    cps_json_uint(input, "instructions", (uint64_t)b->count[BENCH_INSTRUCTIONS]);
    cps_json_uint(input, "packets", (uint64_t)b->count[BENCH_PACKETS]);
    cps_json_uint(input, "register_writes", (uint64_t)b->count[BENCH_WRITES]);
    cps_json_uint(input, "walker_packets", (uint64_t)b->count[BENCH_WALKER_PACKETS]);
    cps_json_uint(input, "walker_register_writes", (uint64_t)b->count[BENCH_WALKER_WRITES]);
    cps_json_uint(root, "rounds", rounds);
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

static void print_figure(const struct bench *b, const struct bench_figure *figure, double value,
                         double yardstick)
{
    printf("%-19s ", figure->name);
    if (value <= 0 || yardstick <= 0) {
        printf("      -  not measured: against %s\n", against(b, figure));
        return;
    }
    print_scaled(value);
    printf("%-14s ratio %7.4f  against ", figure->unit, value / yardstick);
    print_scaled(yardstick);
    printf(", %s\n", against(b, figure));
}

static void print_input(const struct bench *b)
{
    const double *count = b->count;
    CPS_BUF text = {0};
    cps_buf_printf(&text, "capture   %s, %" PRIu64 " copies, %.1f MB\nfirmware  %s\n",
                   input_name(b), b->copies, (double)(b->bytes * b->copies) * 1e-6,
                   b->play.fw->name);
    fputs(cps_buf_text(&text), stdout);
    printf("in it     %.2f M instructions, %.2f M packets (walker: %.0f %%), %.2f M register "
           "writes (walker: %.0f %%)\n",
           count[BENCH_INSTRUCTIONS] * 1e-6, count[BENCH_PACKETS] * 1e-6,
           100 * count[BENCH_WALKER_PACKETS] / count[BENCH_PACKETS], count[BENCH_WRITES] * 1e-6,
           100 * count[BENCH_WALKER_WRITES] / count[BENCH_WRITES]);
}

void bench_report(const struct bench *b, const bool *wanted, double (*samples)[BENCH_MOST_ROUNDS],
                  unsigned rounds)
{
    struct json_object *root = json_object_new_object();
    input_json(b, rounds, root);
    struct json_object *list = cps_json_new_array(root, "figures");
    if (!b->json)
        print_input(b);
    for (unsigned i = 0; i < bench_figure_count; i++) {
        const struct bench_figure *f = &bench_figures[i];
        if (!wanted[i])
            continue;
        double value = median(b, samples[f->sample], rounds, f->count);
        double yardstick = median(b, samples[f->yardstick], rounds, f->yardstick_count);
        cps_json_append(list, figure_json(b, f, value, yardstick));
        if (!b->json)
            print_figure(b, f, value, yardstick);
    }
    if (b->json)
        puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY));
    json_object_put(root);
}
