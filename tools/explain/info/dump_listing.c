/* SPDX-License-Identifier: MIT
 * A dump's firmware as a listing. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fw/image/place.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/info/info.h"
#include "tools/run/code.h"
#include "tools/run/play.h"

enum { INDENT = 8, COMMENT = 56 };

struct listing {
    const struct cps_fw_icache *cache;
    const struct cps_names *names;
    struct cps_buf *out;
    uint32_t none; /* the handler of packets which there are not */
    enum cps_gen gen;
};

/* The handlers that begin at @p pc, the best name first. Most packets share the one of packets
 * which there are not. */
static void put_handlers(const struct listing *l, uint32_t pc)
{
    uint32_t table[CPS_FW_TABLE_SIZE];
    int id = -1;
    memcpy(table, l->cache->table, sizeof(table));
    if (cps_fw_is_error_handler_(table, pc))
        cps_buf_str(l->out, "\n" CPS_FW_ERROR_HANDLER ":\n");
    else if (pc == l->none)
        cps_buf_str(l->out, "\n; what there is no packet for:\n");
    while (pc != l->none && (id = cps_fw_packet_at_(table, l->names, pc, CPS_FW_NO_PACKET)) >= 0) {
        table[id] = CPS_FW_NONE;
        cps_buf_str(l->out, "\n");
        cps_fw_packet_put_(l->names, (unsigned)id, l->out);
        cps_buf_str(l->out, ":\n");
    }
}

static void put_word(const struct listing *l, uint32_t pc)
{
    struct cps_print_names names = {.names = l->names};
    struct cps_insn insn;
    size_t start = l->out->size;
    cps_decode(&cps_isa_afuc, l->gen, l->cache->word[pc], &insn);
    cps_buf_printf(l->out, "%*s", INDENT, "");
    cps_print(&cps_isa_afuc, &insn, pc, &names, l->out);
    cps_buf_str(l->out, " ");
    cps_buf_pad(l->out, start, COMMENT);
    cps_buf_printf(l->out, "; %04" PRIx32 " %08" PRIx32 "\n", pc, l->cache->word[pc]);
}

static bool is_known(const struct listing *l, uint32_t pc)
{
    return pc < l->cache->count && l->cache->mark[pc] == CPS_FW_HARDWARE;
}

static uint32_t put_hole(const struct listing *l, uint32_t pc)
{
    uint32_t end = pc;
    while (end < l->cache->count && !is_known(l, end))
        end++;
    cps_buf_printf(l->out, "\n; %04" PRIx32 "..%04" PRIx32 ": the dump does not hold it\n", pc,
                   end - 1);
    return end;
}

static struct cps_err *put_cache(const struct cps_fw_icache *cache, enum cps_gen gen,
                                 struct cps_buf *out)
{
    struct cps_names *names = NULL;
    CPS_TRY(cps_names_create(cps_gen_layout(gen), NULL, &names));
    const struct listing l = {cache, names, out, cps_fw_default_handler_(cache->table), gen};
    for (uint32_t pc = 0; pc < cache->count;) {
        if (!is_known(&l, pc)) {
            pc = put_hole(&l, pc);
            continue;
        }
        put_handlers(&l, pc);
        put_word(&l, pc++);
    }
    cps_names_destroy(names);
    return NULL;
}

static void put_head(const struct code *code, const struct dump *dump, struct cps_buf *out)
{
    cps_buf_printf(out,
                   "; The firmware of a hang dump of GPU %" PRIu64 ": %" PRIu32
                   " lines of its instruction cache, %" PRIu32 " words",
                   dump->gpu, code->cache.lines, code_words(code, CPS_FW_HARDWARE));
    if (code->recovered)
        cps_buf_printf(out, ", %" PRIu32 " from the given firmware (donor), %" PRIu32 " unknown",
                       code_words(code, CPS_FW_DONOR), code_words(code, CPS_FW_UNKNOWN));
    cps_buf_printf(out, ".\n; Version word 0x%08" PRIx32 ".\n", code->cache.version);
}

/* With firmware the dump is replayed, because the packets of a replay decide how holes are filled.
 */
static struct cps_err *recover(const char *path, const struct cps_run_config *config,
                               struct play *play)
{
    CPS_BUF not_replayed = {0};
    struct cps_stream *stream = NULL;
    struct cps_fw *none = NULL;
    CPS_TRY(cps_stream_open(path, &stream));
    struct cps_err *err = play_read_dump(play, stream);
    cps_stream_close(stream);
    CPS_TRY(err);
    if (!play->dump)
        return cps_err_input(path, 0, "not a hang dump, expected a devcoredump or KGSL snapshot");
    if (!config->fw_count)
        return code_recover(play->dump, &none, &play->code);
    CPS_TRY(play_replay(play, config, &not_replayed));
    if (!play->code)
        return cps_err_new(CPS_ERR_INPUT, "%s: no firmware of an Adreno SQE", config->fw[0]);
    bool own = play->code->recovered || play->code->same || play->code->why.size;
    return own ? NULL : cps_err_new(CPS_ERR_INPUT, "%s", cps_buf_text(&not_replayed));
}

static struct cps_err *list(const char *path, const char *rnn, const struct play *play,
                            struct cps_buf *out)
{
    const struct code *code = play->code;
    if (code->why.size)
        return cps_err_new(CPS_ERR_INPUT, "%s: %s", path, cps_buf_text(&code->why));
    put_head(code, play->dump, out);
    if (code->recovered)
        return cps_fw_listing_marked_(play->fw, &code->cache, rnn, out);
    return play->fw ? cps_fw_listing(play->fw, rnn, out)
                    : put_cache(&code->cache, dump_gen(play->dump), out);
}

struct cps_err *info_dump_listing(const char *path, const struct cps_run_config *config,
                                  const char *rnn, struct cps_buf *out)
{
    struct play *play = tool_alloc(1, sizeof(*play));
    struct cps_err *err = recover(path, config, play);
    if (!err)
        err = list(path, rnn, play, out);
    play_close(play);
    free(play);
    return err;
}
