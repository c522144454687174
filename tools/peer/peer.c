/* SPDX-License-Identifier: MIT
 * Which engine for scripts is meant; assembling and listing for it. */
#include "tools/peer/peer.h"

#include <stdio.h>
#include <string.h>

#include "tools/report/report.h"
#include "trace/outfile.h"
#include "trace/capture/stream.h"

bool peer_wanted(const struct cps_options *opt)
{
    return opt->engine && strcmp(opt->engine, "afuc") != 0;
}

/* The row of an engine's first generation; NULL if no engine of scripts is called @p name. */
static const struct cps_gen_row *find_engine(const char *name)
{
    for (unsigned gen = 1; gen < CPS_GEN_COUNT; gen++) {
        const struct cps_gen_row *row = cps_gen_row((enum cps_gen)gen);
        if (!cps_gen_is_afuc((enum cps_gen)gen) && !strcmp(cps_isa_name(row->isa), name))
            return row;
    }
    return NULL;
}

static int expected_word(const struct cps_gen_row *engine, const char *word)
{
    CPS_BUF words = {0};
    cps_gen_words(engine->isa, &words);
    return report_usage("--%s %s: expected %s", engine->option, word, cps_buf_text(&words));
}

int peer_usage(const struct cps_options *opt, const struct cps_isa **isa, unsigned *gen)
{
    char name[24] = "";
    enum cps_gen found = CPS_GEN_NONE;
    const struct cps_gen_row *engine = find_engine(opt->engine);
    *gen = 0;
    if (!engine)
        return report_usage("--engine %s: expected afuc, hwsq, seq, pfifo or vp1", opt->engine);
    *isa = engine->isa;
    bool has_abi = !strcmp(engine->option, "seq-abi");
    const char *word = has_abi ? opt->seq_abi : opt->chip;
    if (has_abi && opt->chip)
        return report_usage("%s has no --chip, but --seq-abi", opt->engine);
    if (!has_abi && opt->seq_abi)
        return report_usage("%s has no --seq-abi", opt->engine);
    if (!word)
        return 0;
    snprintf(name, sizeof(name), "%s%s", engine->prefix, word);
    if (!cps_gen_parse(name, &found) || cps_gen_isa(found) != *isa)
        return expected_word(engine, word);
    *gen = found;
    return 0;
}

unsigned peer_firmware(const char *path)
{
    const char *slash = strrchr(path, '/');
    for (unsigned gen = 1; gen < CPS_GEN_COUNT; gen++) {
        char name[24];
        peer_firmware_name((enum cps_gen)gen, name);
        if (!cps_gen_is_afuc((enum cps_gen)gen) && !strcmp(slash ? slash + 1 : path, name))
            return gen;
    }
    return 0;
}

void peer_firmware_name(enum cps_gen gen, char ret[24])
{
    snprintf(ret, 24, "%s:%s", cps_isa_name(cps_gen_isa(gen)), cps_gen_row(gen)->word);
}

int peer_scheme(const struct cps_options *opt, enum cps_scheme *ret)
{
    bool envytools = opt->names && !strcmp(opt->names, "envytools");
    *ret = envytools ? CPS_NAMES_ENVYTOOLS : CPS_NAMES_SEED;
    if (!opt->names || envytools || !strcmp(opt->names, "seed"))
        return 0;
    return report_usage("--names %s: expected seed or envytools", opt->names);
}

/* A file with everything in it. */
static struct cps_err *read_all(const char *path, uint8_t **data, size_t *size)
{
    struct cps_stream *stream = NULL;
    CPS_TRY(cps_stream_open(path, &stream));
    struct cps_err *err = cps_stream_read_all(stream, 64u << 20, data, size);
    cps_stream_close(stream);
    return err;
}

struct cps_err *peer_load(const char *path, const struct cps_isa *isa, unsigned gen,
                          struct cps_script *ret)
{
    CPS_FREE uint8_t *data = NULL;
    size_t size = 0;
    CPS_TRY(read_all(path, &data, &size));
    return cps_script_parse(path, data, size, isa, gen, ret);
}

static struct cps_err *write_all(const char *path, const struct cps_buf *bytes)
{
    struct cps_outfile *out = NULL;
    if (bytes->failed)
        return cps_err_nomem();
    CPS_TRY(cps_outfile_open(path, &out));
    cps_outfile_write(out, cps_buf_text(bytes), bytes->size);
    return cps_outfile_commit(out);
}

static struct cps_err *assemble(const struct cps_options *opt, unsigned gen)
{
    CPS_FREE uint8_t *text = NULL;
    CPS_BUF bytes = {0};
    size_t size = 0;
    CPS_TRY(read_all(opt->arg[0], &text, &size));
    CPS_TRY(cps_script_assemble(opt->arg[0], (const char *)text, size, gen, &bytes));
    return write_all(opt->output, &bytes);
}

int peer_asm(const struct cps_options *opt)
{
    const struct cps_isa *isa = NULL;
    unsigned gen = 0;
    int status = peer_usage(opt, &isa, &gen);
    if (!status && opt->debug)
        status = report_usage("scripts have no ELF form");
    if (!status && !cps_isa_has_code(isa))
        status = report_usage("%s has no code to assemble", opt->engine);
    if (status)
        return status;
    struct cps_err *err = assemble(opt, gen);
    return err ? report_error(err) : 0;
}

static struct cps_err *list(const struct cps_options *opt, const struct cps_isa *isa, unsigned gen,
                            enum cps_scheme scheme, struct cps_script *script)
{
    CPS_BUF text = {0};
    CPS_TRY(peer_load(opt->arg[0], isa, gen, script));
    CPS_TRY(cps_script_listing(script->gen, cps_buf_text(&script->code), script->code.size,
                               opt->rnn, scheme, &text));
    return write_all(opt->output ? opt->output : "-", &text);
}

int peer_disasm(const struct cps_options *opt)
{
    CPS_CLEANUP(cps_script_deinit) struct cps_script script = {0};
    const struct cps_isa *isa = NULL;
    unsigned gen = 0;
    enum cps_scheme scheme = CPS_NAMES_SEED;
    int status = peer_usage(opt, &isa, &gen);
    if (!status && !cps_isa_has_code(isa))
        status = report_usage("%s has no code to disassemble", opt->engine);
    if (!status)
        status = peer_scheme(opt, &scheme);
    if (status)
        return status;
    struct cps_err *err = list(opt, isa, gen, scheme, &script);
    return err ? report_error(err) : 0;
}
