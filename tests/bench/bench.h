/* SPDX-License-Identifier: MIT
 * What the program `bench` measures: samples, taken in turns, and figures made of two of them each
 * (figure.def). docs/performance.md explains them.
 *
 *   main.c      the command line, and the rounds
 *   input.c     which capture, and which firmware
 *   files.c     the files that commands are measured on
 *   loop.c      samples of the interpreter alone, on made-up work
 *   memory.c    samples of a machine and of the walker on items in memory
 *   library.c   samples of reading and decompressing, in process and by other programs
 *   command.c   samples of whole commands
 *   report.c    medians and ratios, printed */
#ifndef CPS_BENCH_H
#define CPS_BENCH_H

#include "tools/cmd/options/opt.h"
#include "tests/bench/walker.h"
#include "tools/run/play.h"

/** A path, and what of it is left to the name of a file in the directory. */
#define BENCH_PATH 4096
#define BENCH_NAME 64
/** Rounds without --rounds, and at most. */
#define BENCH_ROUNDS      7
#define BENCH_MOST_ROUNDS 99

/** What samples are divided into; BENCH_NONE: the sample is the figure. */
enum bench_count {
    BENCH_NONE,
    BENCH_ONE,
    BENCH_HALF,
    BENCH_INSTRUCTIONS, /**< of the machine, over all copies of the input */
    BENCH_PACKETS,
    BENCH_WRITES,         /**< of registers */
    BENCH_WALKER_PACKETS, /**< of the walker, over the same */
    BENCH_WALKER_WRITES,
    BENCH_PAIRS, /**< of `regress` */
    BENCH_EXECS, /**< of `fuzz` */
    BENCH_COUNTS,
};

enum bench_sample {
#define SAMPLE(id, ...) BENCH_##id,
#include "tests/bench/figure.def"
    BENCH_SAMPLES,
};

/** How a process ended. */
struct bench_child {
    bool good;
    double cpu;   /**< seconds, user and system */
    double wall;  /**< seconds */
    double bytes; /**< most it had in memory */
};

/** What is measured, and on what. */
struct bench {
    const char *cpscope;               /**< the program that runs whole commands */
    bool json;                         /**< print one JSON object instead of text */
    struct cps_options with;           /**< the firmware, given or chosen */
    char capture[4096];                /**< its path, given or chosen; "": the built-in stream */
    char chosen[4096];                 /**< firmware that was found for it; else "" */
    char dir[BENCH_PATH - BENCH_NAME]; /**< a directory of its own, removed at the end */
    char large[3][BENCH_PATH];         /**< in it: many copies, as enum bench_form */
    char small[BENCH_PATH];            /**< one copy, of what is built in a piece */
    bool has_zst;
    char firmware[CPS_RUN_MAX_FW][BENCH_PATH]; /**< names in it of what runs */
    unsigned firmwares;
    char manifest[BENCH_PATH], script[BENCH_PATH], report[BENCH_PATH];
    bool gzip, zstd;           /**< whether these programs are installed */
    struct feed feed;          /**< one copy */
    uint64_t copies;           /**< of the input in a round */
    uint64_t bytes;            /**< of one copy as .rd */
    uint64_t live;             /**< most bytes of buffers that a submission has */
    struct play play;          /**< booted, and fed since */
    struct cps_engine *booted; /**< as it was then; owned */
    struct walker walker;
    double count[BENCH_COUNTS];
    double peak; /**< of the last run into a .cpt */
};

/** The forms of the large file. */
enum bench_form { BENCH_RD, BENCH_GZ, BENCH_ZST };

/** A figure: a sample beside another one. */
struct bench_figure {
    const char *name;
    const char *unit; /**< SI base units: "instructions/s", "s", "bytes" */
    enum bench_sample sample;
    enum bench_count count;
    enum bench_sample yardstick;
    enum bench_count yardstick_count;
    const char *against; /**< what the yardstick is, for people */
};

/** Chooses the input and the firmware, and reads one copy. @return NULL, CPS_ERR_NOMEM,
 * CPS_ERR_OS, or CPS_ERR_INPUT as readers */
CPS_MUST_USE struct cps_err *bench_choose(struct bench *bench);
/** Reads a capture into a list of items. @return also CPS_ERR_INPUT: it is too large for that */
CPS_MUST_USE struct cps_err *bench_gather(struct cps_stream *stream, struct feed *ret);
/** Opens the input, as often as wanted; @p built_in gets what it points to, of so many
 * submissions. */
CPS_MUST_USE struct cps_err *bench_open(struct bench *bench, unsigned submissions,
                                        struct cps_buf *built_in, struct cps_stream **ret);
/** Firmware below @p corpus for a GPU: of its own name before one of its generation.
 * @param gpu  its number, 0: any @return false if there is none */
bool bench_find_firmware(const char *corpus, uint64_t gpu, char ret[4096]);

/** Boots, counts what the machine and the walker do with a copy, and says how many copies there
 * are to be. @return also CPS_ERR_INPUT: the machine does not reach the end */
CPS_MUST_USE struct cps_err *bench_count_work(struct bench *bench);
/** Makes the directory and its files. */
CPS_MUST_USE struct cps_err *bench_prepare(struct bench *bench);
void bench_clean(struct bench *bench);

/** Runs a program to its end, found in PATH, with nothing at its stdin and its output thrown away.
 */
struct bench_child bench_run(const char *path, const char *const arguments[]);
/** Seconds of the monotonic clock, and of this thread's CPU time. */
double bench_now(void);
double bench_cpu(void);
/** So many a second; 0 where no time was seen to pass: a sample that could not be had. */
double bench_rate(double count, double seconds);

/** The figures, and the index of one by its name; -1: there is none. */
extern const struct bench_figure bench_figures[];
extern const unsigned bench_figure_count;
/** Prints those of @p wanted; @p samples has @p rounds values each, which are sorted. */
void bench_report(const struct bench *bench, const bool *wanted,
                  double (*samples)[BENCH_MOST_ROUNDS], unsigned rounds);

/** The samples: what figure.def says, in its unit; 0: it could not be had. */
#define SAMPLE(id, function) double function(struct bench *bench);
#include "tests/bench/figure.def"

#endif
