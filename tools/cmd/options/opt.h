/* SPDX-License-Identifier: MIT
 * The command line as a plain struct. */
#ifndef CPS_OPT_H
#define CPS_OPT_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/policy.h"

#define OPT_MAX_ROWS 200
#define OPT_MAX_FW   8
/** Where the system has vendor firmware. */
#define OPT_FW_DIR     "/lib/firmware/qcom"
#define OPT_MAX_SEARCH 16
#define OPT_MAX_POLICY 16

/** What the command line or a file says of policies. */
struct opt_policy {
    const char *name; /**< of the one policy that `text` is a word of; NULL: `text` has the names */
    const char *text;
};

/** What --chip-id says. */
struct opt_chip_id {
    bool given, has_variant;
    uint32_t id, variant; /**< what CHIP_ID and CHIP_VARIANT read */
};
/** As --chip-id takes it: "0x30000000" or "0x70000000:0x4000"; false if @p text is none. */
bool opt_chip_id(const char *text, struct opt_chip_id *ret);
/** The same as text. */
void opt_chip_id_text(const struct opt_chip_id *chip, char ret[32]);

/** What was given with an option that may be there several times. */
struct opt_paths {
    const char *path[OPT_MAX_SEARCH];
    unsigned count;
};

/** Everything that options say. Texts point into argv. */
struct cps_options {
    const char *from;
    const char *fw[OPT_MAX_FW];
    unsigned fw_count;
    const char *output;
    const char *events;
    const char *symbols;
    const char *rnn;
    const char *to;
    const char *signals;
    const char *mask;
    struct opt_paths search;  /**< of --search, --known, --counts */
    struct opt_paths fw_path; /**< see files_firmware() */
    bool update;
    bool unreached;
    const char *proofs;
    long jobs;
    const char *engine;
    const char *chip;
    const char *seq_abi;
    const char *names;
    const char *style;
    long threads;                             /**< -1: as many as help */
    struct opt_policy policy[OPT_MAX_POLICY]; /**< in order: later ones win */
    unsigned policy_count;
    bool policy_mixed; /**< they are for several engines, which pass over those of others */
    const char *shard;
    const char *cache;
    const char *cases;
    bool no_cache;
    bool no_recover;
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
    const char *inject;
    const char *script;
    bool batch;
    bool screen;
    bool dap;
    const char *listen; /**< NULL: no; "": where it is usual */
    bool listen_wait;
    uint64_t limit;
    long submit;  /**< -1: all */
    unsigned gen; /**< enum cps_gen, 0: find out */
    unsigned as; /**< enum cps_gen: captures of other generations are run as this one; 0: refused */
    struct opt_chip_id chip_id;
    bool all;
    bool state;
    bool json;
    bool demo;
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
/** Reads the policies that options say over what @p ret holds, for the engine of @p gen.
 * @return NULL, or CPS_ERR_SYNTAX as cps_policy_parse() */
CPS_MUST_USE struct cps_err *opt_apply_policy(const struct cps_options *opt, enum cps_gen gen,
                                              struct cps_policy *ret);
/** Lets options say exactly what @p text like "waits=stop prefetch=on" does, which must outlive
 * them; NULL: nothing. */
void opt_set_policy(struct cps_options *opt, const char *text);
/** Checks options against the engine of @p path, which a command found out by looking into it: that
 * each has a meaning for it, and that --engine, --chip, --seq-abi and --gen name no other.
 * @return 0, or 2 after one line on stderr */
int opt_check_file(const struct cps_options *opt, enum cps_gen gen, const char *path);
struct cps_fw;
/** Whether @p fw has the registers that --chip-id is about.
 * @return NULL, or CPS_ERR_USAGE */
CPS_MUST_USE struct cps_err *opt_check_chip_id(const struct opt_chip_id *chip,
                                               const struct cps_fw *fw);
/** Number of the command called @p name, or -1. */
int opt_command(const char *name);

/** Prints the topic of `help` that @p arg begins with, a TOPIC row; false if it is none.
 * @param[out] ret  0, or 2 after one line on stderr */
bool opt_document(int count, char **arg, int *ret);

#endif
