/* SPDX-License-Identifier: MIT
 * Stored results. A verdict depends on the handler's code in both revisions, on the registers that
 * are live after it, and on which constants and private registers are taken for the same: it holds
 * for any two images that agree in these. What a stream shows depends on the whole images, and is
 * shown again. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpscope.h"
#include "tools/run/cachedir.h"
#include "tools/run/files.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/prove/task.h"
#include "trace/out/outfile.h"

#define ENTRY_VERSION 5 /* change it whenever a result is another one */
#define MOST_BYTES    ((size_t)1 << 20)

/* ---- Keys ---- */

struct part_key {
    struct cps_fw_hash hash[2][CPS_FW_TABLE_SIZE];
};

static void put_digest(const struct cps_fw_hash *hash, struct cps_buf *out)
{
    cps_buf_str(out, hash->present ? " " : " none");
    for (unsigned i = 0; i < sizeof(hash->digest) && hash->present; i++)
        cps_buf_printf(out, "%02x", hash->digest[i]);
}

static void put_part(const struct code *code, struct cps_buf *out)
{
    for (unsigned i = 0; i < 2; i++)
        cps_buf_printf(out, " %" PRIx64 " %" PRIx64, code->side[i].live_at_end,
                       code->side[i].live_at_return);
    for (uint32_t new = 0; new < CONTROL_COUNT; new ++) {
        if (code->scratch[new] != new)
            cps_buf_printf(out, " %x:%x", code->scratch[new], new);
    }
}

static void make_key(const struct prove *prove, struct prove_task *task, const char *program,
                     const char *names, const struct part_key *part)
{
    const struct prove_handler *h = prove_handler_of(prove, task);
    const struct code *code = &prove->part[task->part].code;
    unsigned id = h->id[0];
    CPS_BUF out = {0};
    cps_buf_printf(&out, "prove %d %s %s", ENTRY_VERSION, program, names);
    cps_buf_printf(&out, " %u %u %u %u %d %d", (unsigned)code->side[0].fw->gen,
                   (unsigned)code->side[0].fw->layout, (unsigned)code->side[0].part->role, id,
                   h->added, h->removed);
    for (unsigned i = 0; i < 2 && !prove_is_bootstrap(h); i++)
        put_digest(&part->hash[i][id], &out);
    put_part(code, &out);
    if (prove_is_bootstrap(h) || h->alone || part->hash[0][id].open || part->hash[1][id].open)
        cps_buf_str(&out, prove->images); /* not all of its code is known */
    else
        prove_moved(&prove->part[task->part], h, &out);
    if (prove_depends_on_data(&prove->part[task->part], h))
        cps_buf_printf(&out, " %s", code->data.digest);
    cache_hash(tool_text(&out), out.size, task->key);
}

static struct cps_err *hash_images(struct prove *prove)
{
    char text[3 * 64 + 1] = "";
    size_t size = 2 * 64;
    for (unsigned i = 0; i < 2; i++) {
        char hash[65];
        const struct cps_fw *fw = prove->stage.fw[i];
        cache_hash((const char *)fw->words, fw->count * sizeof(uint32_t), hash);
        memcpy(text + 64 * i, hash, 65);
    }
    if (*prove->stage.partner) {
        CPS_TRY(cps_sha256_file(prove->stage.partner, text + size));
        size += 64;
    }
    cache_hash(text, size, prove->images);
    return NULL;
}

struct cps_err *prove_keys(struct prove *prove)
{
    char program[65];
    char names[65] = "";
    CPS_TRY(cps_sha256_file("/proc/self/exe", program));
    if (prove->config->rnn)
        CPS_TRY(files_digest(prove->config->rnn, ".xml", names));
    CPS_TRY(hash_images(prove));
    struct part_key *key = tool_alloc(1, sizeof(*key));
    for (size_t i = 0; i < prove->tasks; i++) {
        struct prove_task *task = &prove->task[i];
        for (unsigned k = 0; k < 2 && (!i || task->part != task[-1].part); k++) {
            const struct code_side *side = &prove->part[task->part].code.side[k];
            tool_must(cps_fw_handler_hashes(side->fw, side->part, key->hash[k]));
        }
        make_key(prove, task, program, names, key);
    }
    free(key);
    return NULL;
}

/* ---- Entries ---- */

static bool entry_path(const struct prove *prove, const struct prove_task *task, char ret[4096])
{
    return prove->cache && cache_path(prove->cache, task->key, ".prove", ret);
}

static struct json_object *read_entry(const char *path, const char *key)
{
    struct json_object *entry = NULL;
    CPS_FREE char *text = cache_read(path, MOST_BYTES);
    if (text)
        cps_err_free(cps_json_parse(text, strlen(text), &entry));
    if (entry && (strcmp(cps_json_get_text(entry, "key", ""), key) != 0 ||
                  !cps_json_member(entry, "result", json_type_object))) {
        json_object_put(entry);
        entry = NULL;
    }
    return entry;
}

/* Whether a stream that showed the difference of these handlers in other images does here. */
static bool shows_again(const struct prove *prove, const struct prove_task *task,
                        struct json_object *result)
{
    struct json_object *witness = cps_json_get(result, "witness");
    struct stage_answer shown;
    if (!witness || !witness_replay(&prove->part[task->part], &prove->stage, witness, &shown))
        return false;
    cps_json_bool(witness, "control_registers_only", shown.hidden);
    cps_json_text(witness, "event", shown.text);
    return true;
}

/* Images are aligned as wholes: what is the same code in some may only be equal in others. */
static bool keeps_promise(const struct prove *prove, const struct prove_task *task,
                          struct json_object *result)
{
    if (prove_verdict(result) > VERDICT_EQUAL)
        return prove_verdict(result) == VERDICT_BOUNDED;
    bool same = prove_same_code(&prove->part[task->part], prove_handler_of(prove, task));
    cps_json_text(result, "verdict", verdict_name(same ? VERDICT_SAME_CODE : VERDICT_EQUAL));
    return true;
}

/* A result of the same handlers in other images, as one of these; or NULL. */
static struct json_object *adapt(const struct prove *prove, const struct prove_task *task,
                                 struct json_object *result)
{
    const struct prove_handler *h = prove_handler_of(prove, task);
    if (!keeps_promise(prove, task, result) && !shows_again(prove, task, result))
        return NULL;
    prove_put_packets(prove, task->part, h, result);
    cps_json_uint(result, "old", h->pc[0]);
    cps_json_uint(result, "new", h->pc[1]);
    return cps_json_complete(result) ? json_object_get(result) : NULL;
}

/* Whether a result was cross-checked as this run would: on these images, as often. */
static bool is_checked(const struct prove *prove, struct json_object *entry,
                       struct json_object *result)
{
    if (!crosscheck_applies(result))
        return true;
    return !strcmp(cps_json_get_text(entry, "images", ""), prove->images) &&
           cps_json_get_int(entry, "cross_check", -1) == (int64_t)prove->runs;
}

void prove_recall(struct prove *prove)
{
    char path[4096];
    for (size_t i = 0; i < prove->tasks; i++) {
        struct prove_task *task = &prove->task[i];
        struct json_object *entry =
            entry_path(prove, task, path) ? read_entry(path, task->key) : NULL;
        struct json_object *result = cps_json_get(entry, "result");
        if (!strcmp(cps_json_get_text(entry, "images", ""), prove->images))
            task->result = json_object_get(result);
        else if (entry)
            task->result = adapt(prove, task, result);
        task->unchecked = task->result && !is_checked(prove, entry, task->result);
        if (task->unchecked)
            json_object_object_del(task->result, "cross_check");
        json_object_put(entry);
    }
}

void prove_keep(const struct prove *prove, const struct prove_task *task,
                struct json_object *result)
{
    char path[4096];
    if (!entry_path(prove, task, path))
        return;
    struct json_object *entry = doc_new();
    doc_put(entry, "key=%s images=%s cross_check=%u", task->key, prove->images, prove->runs);
    cps_json_add(entry, "result", json_object_get(result));
    CPS_BUF text = {0};
    cps_json_put(&text, entry, JSON_C_TO_STRING_PLAIN);
    cps_err_free(cache_write(path, &text)); /* what cannot be kept is found out again */
    json_object_put(entry);
}
