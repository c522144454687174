/* SPDX-License-Identifier: MIT
 * The firmware that ran when a hardware dump was taken. */
#include "tools/run/code.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tools/run/play.h"
#include "trace/out/json.h"

/* Whether the user's firmware has each cached word. */
static bool is_same(const struct cps_fw_icache *cache, const struct cps_fw *fw)
{
    const struct cps_fw_part *part = &fw->part[0];
    for (uint32_t at = 0; at < cache->count; at++) {
        bool known = cache->mark[at] == CPS_FW_HARDWARE;
        if (known && (at >= part->size || fw->words[part->start + at] != cache->word[at]))
            return false;
    }
    return true;
}

static struct cps_err *recover(struct code *code, struct cps_fw **fw)
{
    struct cps_fw *own = NULL;
    CPS_TRY(cps_fw_recover_(&code->cache, *fw, &own));
    code->recovered = true;
    cps_fw_destroy(*fw);
    *fw = own;
    return NULL;
}

static void count_steps(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct code *code = (struct code *)sink;
    for (size_t i = 0; i < count; i++) {
        uint32_t pc = cps_event_pc(&events[i]);
        bool own = cps_event_who(&events[i]) == CPS_CPU_SQE;
        if (own && cps_event_kind(&events[i]) == CPS_EV_STEP && pc < code->cache.count)
            code->executed[code->cache.mark[pc]]++;
    }
}

/* What the dump holds, which may be less than it takes. */
static struct cps_err *read_cache(const struct dump *dump, bool is_known, struct code *code)
{
    const struct dump_block *block = dump_block(dump, "CP_UCODE_DBG");
    struct cps_err *err = NULL;
    if (!is_known)
        cps_buf_str(&code->why, "the layout of the instruction cache in this generation's dumps is "
                                "unknown");
    else if (!block)
        cps_buf_str(&code->why, "the dump has no CP_UCODE_DBG, expected the firmware's "
                                "instruction cache there");
    else
        err = cps_fw_icache_read_(block->words, block->count, &code->cache);
    if (err && err->code == CPS_ERR_INPUT) {
        cps_buf_str(&code->why, err->message);
        cps_err_free(CPS_TAKE(err));
    }
    return !err && code->why.failed ? cps_err_nomem() : err;
}

struct cps_err *code_recover(const struct dump *dump, struct cps_fw **fw, struct code **ret)
{
    struct code *code = calloc(1, sizeof(*code));
    *ret = code;
    if (!code)
        return cps_err_nomem();
    code->steps.put = count_steps;
    bool is_known = *fw && !dump->policy.size ? (*fw)->gen == CPS_A6XX : dump_has_layouts(dump);
    CPS_TRY(read_cache(dump, is_known, code));
    code->same = *fw && !code->why.size && dump_has_table(dump, *fw) && is_same(&code->cache, *fw);
    if (!*fw || code->why.size || code->same)
        return NULL;
    if ((*fw)->gen == CPS_A6XX)
        return recover(code, fw);
    cps_buf_str(&code->why, "the dump's firmware is another one, which is only recovered of a6xx");
    return code->why.failed ? cps_err_nomem() : NULL;
}

void code_put_choice(const struct play *play, struct cps_buf *out)
{
    const struct code *code = play->code;
    const char *name = play->fw->name;
    if (play->dump->cut.size)
        cps_buf_printf(out, "warning: %s\n", cps_buf_text(&play->dump->cut));
    if (!code)
        cps_buf_printf(out, "runs %s unchanged: --no-recover\n", name);
    else if (code->recovered)
        cps_buf_printf(out,
                       "runs the dump's own firmware: %" PRIu32 " words of the dump, %" PRIu32
                       " of %s, %" PRIu32 " unknown\n",
                       code_words(code, CPS_FW_HARDWARE), code_words(code, CPS_FW_DONOR), name,
                       code_words(code, CPS_FW_UNKNOWN));
    else if (code->same)
        cps_buf_printf(out, "runs %s: the dump's firmware matches it\n", name);
    else
        cps_buf_printf(out, "runs %s as given: %s\n", name, cps_buf_text(&code->why));
}

/* Which firmware a dump runs, and that the dump is cut. */
static struct cps_err *print_choice(const struct play *play)
{
    CPS_BUF text = {0};
    code_put_choice(play, &text);
    if (text.failed)
        return cps_err_nomem();
    fputs(cps_buf_text(&text), stderr);
    return NULL;
}

struct cps_err *code_open(struct play *play)
{
    struct cps_err *err = NULL;
    if (!play->as_given && !play->config->no_recover)
        err = code_recover(play->dump, &play->fw, &play->code);
    if (err && err->code == CPS_ERR_INPUT) {
        struct cps_err *more =
            cps_err_new(CPS_ERR_INPUT, "%s (use --no-recover to run it unchanged)", err->message);
        cps_err_free(err);
        return more;
    }
    return err || play->quiet ? err : print_choice(play);
}

void code_free(struct code *code)
{
    if (!code)
        return;
    cps_fw_icache_deinit_(&code->cache);
    cps_buf_deinit(&code->why);
    free(code);
}

uint32_t code_words(const struct code *code, enum cps_fw_mark mark)
{
    uint32_t count = 0;
    for (uint32_t at = 0; at < code->cache.count; at++)
        count += code->cache.mark[at] == mark;
    return count;
}

void code_print(const struct code *code, FILE *out)
{
    const uint64_t *ran = code->executed;
    if (code->why.size)
        fprintf(out, "# cannot recover the dump's firmware: %s\n", cps_buf_text(&code->why));
    if (!code->recovered)
        return;
    fprintf(out,
            "# replayed firmware: recovered from the dump; %" PRIu32 " words of the dump, %" PRIu32
            " of the given file, %" PRIu32 " unknown\n",
            code_words(code, CPS_FW_HARDWARE), code_words(code, CPS_FW_DONOR),
            code_words(code, CPS_FW_UNKNOWN));
    fprintf(out,
            "# instructions executed: %" PRIu64 " of the dump, %" PRIu64
            " of the given file, %" PRIu64 " unknown\n",
            ran[CPS_FW_HARDWARE], ran[CPS_FW_DONOR], ran[CPS_FW_UNKNOWN]);
}

struct json_object *code_json(const struct code *code)
{
    static const char *const names[] = {
        [CPS_FW_UNKNOWN] = "unknown", [CPS_FW_DONOR] = "donor", [CPS_FW_HARDWARE] = "hardware"};
    struct json_object *to = json_object_new_object();
    struct json_object *words = json_object_new_object();
    struct json_object *ran = json_object_new_object();
    for (unsigned mark = 0; mark < 3; mark++) {
        cps_json_uint(words, names[mark], code_words(code, mark));
        cps_json_uint(ran, names[mark], code->executed[mark]);
    }
    cps_json_bool(to, "recovered", code->recovered);
    if (code->why.size)
        cps_json_buf(to, "why", &code->why);
    cps_json_add(to, "words", words);
    cps_json_add(to, "executed", ran);
    return to;
}
