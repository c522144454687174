/* SPDX-License-Identifier: MIT
 * Options and the engine that they are for: the column `engines` of opt.def, the values of --chip
 * and --seq-abi, and policies. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/cmd/options/opt_table.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/cmd/terminal/report.h"
#include "tools/run/file_kind.h"

_Static_assert(OPTION_COUNT <= OPT_MAX_ROWS, "rows of opt.def");

void opt_run_file_text(struct cps_buf *out)
{
    cps_buf_str(out, "this is a run file, expected --engine ");
    cps_engines_text((unsigned)CPS_ON_ALL & ~(unsigned)CPS_ON_AFUC, " or ", out);
}

struct cps_err *opt_check_run_file(const struct cps_options *opt)
{
    CPS_BUF text = {0};
    if (opt->run.engine || opt->run.fw_count || opt->run.demo || !opt->arg_count ||
        file_kind_at(opt->arg[0]) != FILE_SCRIPT)
        return NULL;
    opt_run_file_text(&text);
    return cps_err_new(CPS_ERR_USAGE, "%s: %s", opt->arg[0], cps_buf_text(&text));
}

void opt_engine_name(enum cps_gen gen, char ret[24])
{
    snprintf(ret, 24, "%s:%s", cps_isa_name(cps_gen_isa(gen)), cps_gen_row(gen)->word);
}

enum cps_style opt_style(const struct cps_options *opt)
{
    static const char *const words[] = {
#define STYLE(id, word, ...) [CPS_STYLE_##id] = (word),
#include "isa/style.def"
    };
    unsigned style = 0;
    while (opt->style && style < CPS_STYLE_COUNT && strcmp(opt->style, words[style]) != 0)
        style++;
    return (enum cps_style)style;
}

enum cps_scheme opt_scheme(const struct cps_options *opt)
{
    return opt->names && !strcmp(opt->names, "envytools") ? CPS_NAMES_ENVYTOOLS
                                                          : CPS_NAMES_MEASURED;
}

bool opt_takes_engine(unsigned command)
{
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        if (options[i].commands >> command & 1 &&
            options[i].offset == offsetof(struct cps_options, run.engine))
            return true;
    }
    return false;
}

/* Its column, and the engines whose generations it says (target.def). */
static unsigned engines_of(const struct option *option)
{
    unsigned engines = option->engines;
    for (unsigned gen = 1; gen < CPS_GEN_COUNT; gen++) {
        if (!strcmp(cps_gen_row((enum cps_gen)gen)->option, option->name))
            engines |= cps_engines_of((enum cps_gen)gen);
    }
    return engines;
}

static struct cps_err *check_rows(const struct cps_options *opt, const char *engine)
{
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        CPS_BUF others = {0};
        if (!opt->given[i] || engines_of(&options[i]) & cps_engines_named(engine))
            continue;
        cps_engines_text(engines_of(&options[i]), " and ", &others);
        if (others.failed)
            return cps_err_nomem();
        return cps_err_new(CPS_ERR_USAGE, "--%s has no meaning for --engine %s, only for %s",
                           options[i].name, engine, cps_buf_text(&others));
    }
    return NULL;
}

/* Options for the engine called @p engine. @p gen  gets its chip or ABI if an option says it */
static struct cps_err *check_engine(const struct cps_options *opt, const char *engine,
                                    unsigned *gen)
{
    struct cps_run_config with_engine = opt->run;
    const struct cps_isa *isa = NULL;
    with_engine.engine = engine;
    *gen = 0;
    CPS_TRY(check_rows(opt, engine));
    if (cps_run_is_script(&with_engine))
        CPS_TRY(cps_run_script_engine(&with_engine, &isa, gen));
    struct cps_policy policy = cps_policy_default();
    struct cps_err *err = cps_run_policy_for(&opt->run, cps_engines_named(engine), &policy);
    if (err && err->code == CPS_ERR_NOMEM)
        return err;
    struct cps_err *ret =
        err ? cps_err_new(CPS_ERR_USAGE, "--engine %s: %s", engine, err->message) : NULL;
    cps_err_free(err);
    return ret;
}

static const char *engine_of(enum cps_gen gen)
{
    return cps_isa_name(cps_gen_isa(gen));
}

static struct cps_err *check_file(const struct cps_options *opt, enum cps_gen gen, const char *path)
{
    unsigned wanted = 0;
    if (opt->run.engine && strcmp(opt->run.engine, engine_of(gen)) != 0)
        return cps_err_new(CPS_ERR_USAGE, "--engine %s: %s is of %s", opt->run.engine, path,
                           engine_of(gen));
    CPS_TRY(check_engine(opt, engine_of(gen), &wanted));
    wanted = wanted ? wanted : opt->run.gen;
    if (!wanted || wanted == gen)
        return NULL;
    const char *option = opt->run.gen ? "gen" : opt_given(opt, "seq-abi") ? "seq-abi" : "chip";
    return cps_err_new(CPS_ERR_USAGE, "--%s: expected %s, %s is of %s", option,
                       cps_gen_name((enum cps_gen)wanted), path, cps_gen_name(gen));
}

int opt_check_file(const struct cps_options *opt, enum cps_gen gen, const char *path)
{
    return report_result(check_file(opt, gen, path));
}

/* Two sides that --fw names: an engine's chip or ABI says everything, files are afuc's. */
static struct cps_err *check_sides(const struct cps_options *opt)
{
    for (unsigned i = 0; i < opt->run.fw_count; i++) {
        unsigned gen = cps_named_engine(opt->run.fw[i]);
        unsigned ignored = 0;
        if (!gen && opt->run.engine && strcmp(opt->run.engine, "afuc") != 0)
            return cps_err_new(CPS_ERR_USAGE,
                               "--engine %s: expected a chip or ABI of it, found --fw %s",
                               opt->run.engine, opt->run.fw[i]);
        CPS_TRY(gen ? check_file(opt, (enum cps_gen)gen, opt->run.fw[i])
                    : check_engine(opt, "afuc", &ignored));
    }
    return NULL;
}

struct cps_err *opt_check(unsigned command, const struct cps_options *opt)
{
    unsigned ignored = 0;
    bool is_diff = 1u << command == DIFF;
    for (unsigned i = 0; i < opt->run.fw_count; i++)
        CPS_TRY(cps_named_engine_check(opt->run.fw[i]));
    if (!opt_takes_engine(command))
        return NULL;
    if (is_diff && opt->run.fw_count)
        return check_sides(opt);
    if (is_diff && !opt->run.engine) /* the traces say it: opt_check_file() */
        return NULL;
    return check_engine(opt, opt->run.engine ? opt->run.engine : "afuc", &ignored);
}
