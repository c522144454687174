/* SPDX-License-Identifier: MIT
 * Which engine for scripts is meant; assembling and listing for it. */
#include "tools/peer/peer.h"

#include <stdio.h>
#include <string.h>

#include "tools/report/report.h"
#include "trace/outfile.h"
#include "trace/capture/stream.h"

/* How an engine's generations are told apart. */
static const struct kind {
    const struct cps_isa *isa;
    const char *prefix; /* of cps_gen_name(), in front of the option's word */
    bool has_abi;       /* --seq-abi, else --chip */
    const char *words;
} kinds[] = {
    {&cps_isa_hwsq, "", false, "nv17, nv41, g80 or g92"},
    {&cps_isa_seq, "seq-", true, "old or new"},
    {&cps_isa_pfifo, "", false, "nv1, nv3 or nv3t"},
    {&cps_isa_vp1, "vp1-", false, "nv41, nv44 or g80"},
};

bool peer_wanted(const struct cps_options *opt)
{
    return opt->engine && strcmp(opt->engine, "afuc") != 0;
}

static const struct kind *find_kind(const char *name)
{
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (!strcmp(cps_isa_name(kinds[i].isa), name))
            return &kinds[i];
    }
    return NULL;
}

int peer_usage(const struct cps_options *opt, const struct cps_isa **isa, unsigned *gen)
{
    char name[24] = "";
    enum cps_gen found = CPS_A6XX;
    const struct kind *kind = find_kind(opt->engine);
    *gen = 0;
    if (!kind)
        return report_usage("--engine %s: expected afuc, hwsq, seq, pfifo or vp1", opt->engine);
    *isa = kind->isa;
    const char *word = kind->has_abi ? opt->seq_abi : opt->chip;
    if (kind->has_abi && opt->chip)
        return report_usage("%s has no --chip, but --seq-abi", opt->engine);
    if (!kind->has_abi && opt->seq_abi)
        return report_usage("%s has no --seq-abi", opt->engine);
    if (!word)
        return 0;
    snprintf(name, sizeof(name), "%s%s", kind->prefix, word);
    if (!cps_gen_parse(name, &found) || cps_gen_isa(found) != *isa)
        return report_usage("--%s %s: expected %s", kind->has_abi ? "seq-abi" : "chip", word,
                            kind->words);
    *gen = found;
    return 0;
}

unsigned peer_firmware(const char *path)
{
    const char *slash = strrchr(path, '/');
    for (unsigned bit = CPS_NV17; bit <= CPS_NV3T; bit <<= 1) {
        char name[24];
        peer_firmware_name((enum cps_gen)bit, name);
        if (cps_gen_isa((enum cps_gen)bit) != cps_isa_afuc() &&
            !strcmp(slash ? slash + 1 : path, name))
            return bit;
    }
    return 0;
}

void peer_firmware_name(enum cps_gen gen, char ret[24])
{
    const char *engine = cps_isa_name(cps_gen_isa(gen));
    snprintf(ret, 24, "%s:%s", engine, cps_gen_name(gen) + strlen(find_kind(engine)->prefix));
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
