/* SPDX-License-Identifier: MIT
 * The command line as a plain struct. */
#ifndef CPS_OPT_H
#define CPS_OPT_H

#include <stdbool.h>
#include <stdint.h>

#define OPT_MAX_FW 8
/** Where the system has vendor firmware. */
#define OPT_FW_DIR     "/lib/firmware/qcom"
#define OPT_MAX_SEARCH 16

/** Everything that options say. Texts point into argv. */
struct cps_options {
    const char *fw[OPT_MAX_FW];
    unsigned fw_count;
    const char *output;
    const char *events;
    const char *symbols;
    const char *rnn;
    const char *to;
    const char *mask;
    const char *search[OPT_MAX_SEARCH];
    unsigned search_count;
    bool update;
    long jobs;
    const char *engine;
    const char *chip;
    const char *seq_abi;
    const char *names;
    long threads; /**< -1: as many as help */
    const char *policy;
    const char *shard;
    const char *cache;
    bool no_cache;
    bool merge;
    const char *inject;
    const char *script;
    bool screen;
    bool dap;
    uint64_t limit;
    long submit;    /**< -1: all */
    unsigned gen;   /**< enum cps_gen, 0: find out */
    int waits;      /**< enum cps_waits */
    int visibility; /**< enum cps_visibility */
    int prefetch;   /**< 0 off, 1 on */
    bool json;
    bool demo;
    bool native;
    bool debug;
    char **arg; /**< positional arguments, inside argv */
    unsigned arg_count;
};

/** Commands as bits, for the option rows. */
enum opt_command {
#define COMMAND(id, ...) OPT_SHIFT_##id,
#include "tools/opt.def"
};

/**
 * Parses @p argv (without program and command) for command number @p command; positional
 * arguments are gathered at the front of @p argv.
 * @return 0, or 2 after one line on stderr
 */
int opt_parse(unsigned command, int argc, char **argv, struct cps_options *ret);
/** Prints the help of one command, or the list of commands for -1, to stdout. */
void opt_help(int command);
/** Reads a number with k, M or G behind it. */
bool opt_count(const char *text, uint64_t *ret);
/** How many threads may work at a time, at least 1: what was asked for; else 1 on one processor,
 * and on more one each to read, to emulate and to write: the system shares processors better than a
 * thread that does two of them. */
unsigned opt_threads(const struct cps_options *opt);
/** Sets waits, visibility and prefetch as a text like "waits=stop prefetch=on" has them, words that
 * are missing to what traces are made with by default. NULL is no words. */
void opt_policy(const char *text, struct cps_options *ret);
/** Number of the command called @p name, or -1. */
int opt_command(const char *name);

/** Prints the manual page ("man") or completion for a shell ("bash", "zsh", "fish"); false for any
 * other word. */
bool opt_document(const char *form);

#endif
