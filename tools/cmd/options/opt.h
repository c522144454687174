/* SPDX-License-Identifier: MIT
 * The command line as a plain struct. */
#ifndef CPS_OPT_H
#define CPS_OPT_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/run/config.h"
#include "tools/run/files.h"

#define OPT_MAX_ROWS 200

/** As --chip-id takes it: "0x30000000" or "0x70000000:0x4000"; false if @p text is none. */
bool opt_chip_id(const char *text, struct cps_chip_id *ret);
/** The same as text. */
void opt_chip_id_text(const struct cps_chip_id *chip, char ret[32]);

/** Everything that options say. Texts point into argv. */
struct cps_options {
    const char *from;
    struct cps_run_config run; /**< firmware, engine, chip, policies, limits */
    const char *output;
    const char *events;
    const char *symbols;
    const char *to;
    const char *dump;
    const char *signals;
    const char *mask;
    struct file_paths search;  /**< of --search, --known, --counts */
    struct file_paths fw_path; /**< see files_firmware() */
    bool update;
    bool unreached;
    const char *proofs;
    long jobs;
    const char *names;
    const char *style;
    long threads; /**< -1: as many as help */
    const char *shard;
    const char *cache;
    const char *cases;
    bool no_cache;
    bool no_code;
    bool merge;
    long draw;             /**< -1: none */
    long against;          /**< -1: none */
    const char *processor; /**< NULL: the one that draws */
    bool changed;
    const char *draws;  /**< as decode takes --draw; NULL: all */
    const char *packet; /**< the same of --packet, --register, --level */
    const char *registers;
    const char *level;
    const char *address;
    const char *colour; /**< NULL: auto */
    bool no_pager;
    bool summary;
    uint64_t offset;  /**< byte of a file */
    uint64_t length;  /**< bytes of a file from there on; 0: all */
    long cross_check; /**< -1: the default; 0: none */
    uint64_t execs;   /**< 0: no limit */
    uint64_t seed;
    uint64_t time; /**< seconds; 0: no limit */
    const char *oracles;
    const char *script;
    bool batch;
    bool screen;
    bool dap;
    const char *root;   /**< of --root */
    const char *record; /**< of device */
    const char *record_dir;
    const char *launch;  /**< PLUGIN.so[:ARGS], or NULL */
    const char *dumps;   /**< folder of hang dumps, NULL: none */
    uint64_t hang_after; /**< milliseconds */
    bool old_kernel;
    bool kgsl, poison;
    bool idle;
    bool step;
    const char *listen; /**< NULL: no; "": where it is usual */
    bool listen_wait;
    bool all;
    bool state;
    bool json;
    bool debug;
    bool help;
    bool version;
    bool quiet;
    bool given[OPT_MAX_ROWS]; /**< options that were given, by row of opt.def */
    char **arg;               /**< positional arguments, inside argv */
    unsigned arg_count;
};

/** Commands as bits, for the option rows. */
enum opt_command {
#define COMMAND(id, ...) OPT_SHIFT_##id,
#include "tools/cmd/options/opt.def"
    OPT_COMMANDS, /**< how many there are */
};

/**
 * Parses @p argv (without program and command) for command number @p command; positional
 * arguments are gathered at the front of @p argv.
 * @return 0, or 2 after one line on stderr
 */
int opt_parse(unsigned command, int argc, char **argv, struct cps_options *ret);
/** What options say that were not given. @param arg  positional arguments, of which there are none
 */
struct cps_options opt_none(char **arg);
/** What an option takes, for callers that are no command line. */
enum opt_form { OPT_FLAG, OPT_TEXT, OPT_LIST, OPT_NUMBER };
/** The @p index'th option of a command by name; NULL behind the last. */
const char *opt_form(unsigned command, unsigned index, enum opt_form *ret);
/** Takes one as "--NAME VALUE" is taken; of a list one item. @param value  NULL: a flag
 * @return NULL, or CPS_ERR_USAGE */
CPS_MUST_USE struct cps_err *opt_take(unsigned command, const char *name, const char *value,
                                      struct cps_options *ret);
/** Checks all that were taken as opt_parse() does. */
CPS_MUST_USE struct cps_err *opt_taken(unsigned command, const struct cps_options *opt);
/** Complains about a command that there is none of; returns 2. */
int opt_unknown_command(const char *name);
/** Prints the help of one command, or the list of commands for -1, to stdout. */
int opt_help(int command);
/** Whether the option of that name was given. */
bool opt_given(const struct cps_options *opt, const char *name);
/** Reads a number with k, M or G behind it. */
bool opt_count(const char *text, uint64_t *ret);
/** How many threads may work at a time, at least 1: what was asked for; else 1 on one processor,
 * and on more one each to hash what is stored, to decompress, to emulate and to write: the system
 * shares processors better than a thread that does two of them. */
unsigned opt_threads(const struct cps_options *opt);
/** Checks options against the engine of @p path, which a command found out by looking into it: that
 * each has a meaning for it, and that --engine, --chip, --seq-abi and --gen name no other.
 * @return 0, or 2 after one line on stderr */
int opt_check_file(const struct cps_options *opt, enum cps_gen gen, const char *path);
/** Number of the command called @p name, or -1. */
int opt_command(const char *name);

/** Prints the topic of `help` that @p arg begins with, a TOPIC row; false if it is none.
 * @param[out] ret  0, or 2 after one line on stderr */
bool opt_document(int count, char **arg, int *ret);

#endif
