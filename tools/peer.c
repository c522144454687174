/* SPDX-License-Identifier: MIT
 * Which engine for scripts is meant; assembling and listing for it. */
#include "peer.h"

#include <stdio.h>
#include <string.h>

#include "report.h"
#include "trace/outfile.h"
#include "trace/stream.h"

static const struct {
    const struct cps_isa *isa;
    const char *chips; /* of --chip, or of --seq-abi */
} peers[] = {
    {&cps_isa_hwsq, "nv17, nv41, g80 or g92"},
    {&cps_isa_seq, "old or new"},
    {&cps_isa_pfifo, "nv1, nv3 or nv3t"},
};
enum { PEERS = sizeof(peers) / sizeof(peers[0]) };

bool peer_wanted(const struct cps_options *opt)
{
    return opt->engine && strcmp(opt->engine, "afuc") != 0;
}

/* PEERS: none is called so. */
static unsigned find_peer(const char *name)
{
    unsigned i = 0;
    while (i < PEERS && strcmp(cps_isa_name(peers[i].isa), name) != 0)
        i++;
    return i;
}

int peer_usage(const struct cps_options *opt, const struct cps_isa **isa, unsigned *gen)
{
    char name[24] = "";
    enum cps_gen found = CPS_A6XX;
    unsigned peer = find_peer(opt->engine);
    *gen = 0;
    if (peer == PEERS)
        return report_usage("--engine %s: expected afuc, hwsq, seq or pfifo", opt->engine);
    *isa = peers[peer].isa;
    bool seq = *isa == &cps_isa_seq;
    const char *word = seq ? opt->seq_abi : opt->chip;
    if (seq ? opt->chip != NULL : opt->seq_abi != NULL)
        return report_usage(seq ? "seq has no --chip, but --seq-abi" : "%s has no --seq-abi",
                            opt->engine);
    if (!word)
        return 0;
    snprintf(name, sizeof(name), "%s%s", seq ? "seq-" : "", word);
    if (!cps_gen_parse(name, &found) || cps_gen_isa(found) != *isa)
        return report_usage("--%s %s: expected %s", seq ? "seq-abi" : "chip", word,
                            peers[peer].chips);
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
    const struct cps_isa *isa = cps_gen_isa(gen);
    const char *name = cps_gen_name(gen);
    snprintf(ret, 24, "%s:%s", cps_isa_name(isa), isa == &cps_isa_seq ? name + 4 : name);
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
                            struct cps_script *script)
{
    CPS_BUF text = {0};
    CPS_TRY(peer_load(opt->arg[0], isa, gen, script));
    CPS_TRY(cps_script_listing(script->gen, cps_buf_text(&script->code), script->code.size,
                               opt->rnn, &text));
    return write_all(opt->output ? opt->output : "-", &text);
}

int peer_disasm(const struct cps_options *opt)
{
    CPS_CLEANUP(cps_script_deinit) struct cps_script script = {0};
    const struct cps_isa *isa = NULL;
    unsigned gen = 0;
    int status = peer_usage(opt, &isa, &gen);
    if (!status && !cps_isa_has_code(isa))
        status = report_usage("%s has no code to disassemble", opt->engine);
    if (status)
        return status;
    struct cps_err *err = list(opt, isa, gen, &script);
    return err ? report_error(err) : 0;
}
