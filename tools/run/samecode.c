/* SPDX-License-Identifier: MIT
 * Whether a run would be the same with another firmware. */
#include "tools/run/samecode.h"

#include <inttypes.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

#include "emu/afuc/seen.h"
#include "tools/run/cachedir.h"
#include "tools/run/record.h"

static void put_hash(void *to, const void *data, size_t size)
{
    sha256_update(to, size, data);
}

static void hash_end(struct sha256_ctx *hash, char ret[65])
{
    uint8_t digest[32];
    sha256_digest(hash, SHA256_DIGEST_SIZE, digest);
    cache_digits(digest, ret);
}

/* Events have no bytes without a value, and counters neither. */
static void put_boot(const struct record *boot, struct sha256_ctx *hash)
{
    const uint64_t counts[] = {boot->count, boot->cover_count};
    put_hash(hash, counts, sizeof(counts));
    if (boot->count)
        put_hash(hash, boot->event, boot->count * sizeof(*boot->event));
    if (boot->cover)
        put_hash(hash, boot->cover, boot->cover_count * sizeof(*boot->cover));
}

struct cps_err *same_base_of(const struct play *play, const struct record *boot,
                             struct same_base *ret)
{
    struct cps_afuc *machine = cps_afuc_of(play->engine);
    struct sha256_ctx hash;
    *ret = (struct same_base){0};
    if (!machine || !play->fw || play->dump)
        return NULL;
    sha256_init(&hash);
    CPS_TRY(afuc_state_(machine, put_hash, &hash));
    put_boot(boot, &hash);
    for (unsigned core = 0; core < play->engine->cores; core++) {
        for (unsigned id = 0; id < 128; id++)
            ret->table[core][id] = cps_afuc_packet_table(machine, core, id);
    }
    hash_end(&hash, ret->hash);
    return NULL;
}

struct cps_err *same_begin(const struct play *play, const struct same_base *base, uint8_t **ret)
{
    struct cps_afuc *machine = cps_afuc_of(play->engine);
    *ret = NULL;
    if (!base->hash[0] || !machine || play->dump)
        return NULL;
    uint8_t *seen = calloc((size_t)play->fw->count + 1, 1);
    if (!seen)
        return cps_err_nomem();
    if (afuc_seen_begin_(machine, seen, play->fw->count))
        *ret = seen;
    else
        free(seen);
    return NULL;
}

/* The next list of "A:B," or "A.B," up to @p end; false at the end, or if it is none. */
static bool next_pair(const char **at, char between, char end, uint32_t *a, uint32_t *b)
{
    char *behind = NULL;
    if (!**at || **at == end)
        return false;
    *a = (uint32_t)strtoul(*at, &behind, 16);
    if (*behind != between)
        return false;
    *b = (uint32_t)strtoul(behind + 1, &behind, 16);
    *at = behind + (*behind == ',');
    return true;
}

/* Of the words and the entries that @p what names. False if an image has no such words. */
static bool hash_what(const char *what, const struct cps_fw *fw, const struct same_base *base,
                      char ret[65])
{
    struct sha256_ctx hash;
    const char *at = what;
    uint32_t a = 0, b = 0;
    sha256_init(&hash);
    put_hash(&hash, what, strlen(what));
    while (next_pair(&at, ':', ';', &a, &b)) {
        if (a > fw->count || b > fw->count - a)
            return false;
        put_hash(&hash, fw->words + a, b * sizeof(*fw->words));
    }
    if (*at++ != ';')
        return false;
    while (next_pair(&at, '.', '\0', &a, &b))
        put_hash(&hash, &base->table[a % CPS_MAX_CORES][b % 128], sizeof(uint32_t));
    hash_end(&hash, ret);
    return !*at;
}

/* The word behind the image is no word: an image of the same size has none there, either. */
static void put_words(const uint8_t *seen, uint32_t count, struct cps_buf *out)
{
    const uint8_t *at = seen;
    while ((at = memchr(at, 1, (size_t)(seen + count - at)))) {
        uint32_t first = (uint32_t)(at - seen);
        uint32_t i = first;
        while (i < count && seen[i])
            i++;
        cps_buf_printf(out, "%s%" PRIx32 ":%" PRIx32, out->size ? "," : "", first, i - first);
        at = seen + i;
    }
}

static void put_entries(const struct play *play, struct cps_buf *out)
{
    const char *comma = "";
    cps_buf_str(out, ";");
    for (unsigned core = 0; core < play->engine->cores; core++) {
        for (unsigned id = 0; id < 128; id++) {
            if (!afuc_seen_entry_(cps_afuc_of(play->engine), id))
                continue;
            cps_buf_printf(out, "%s%x.%x", comma, core, id);
            comma = ",";
        }
    }
}

struct cps_err *same_end(const struct play *play, const struct same_base *base, uint8_t *seen,
                         struct same_code *ret)
{
    CPS_BUF what = {0};
    *ret = (struct same_code){0};
    if (!seen)
        return NULL;
    bool whole = afuc_seen_end_(cps_afuc_of(play->engine));
    put_words(seen, play->fw->count, &what);
    put_entries(play, &what);
    free(seen);
    if (what.failed)
        return cps_err_nomem();
    if (!whole || !hash_what(cps_buf_text(&what), play->fw, base, ret->hash))
        return NULL;
    ret->what = strdup(cps_buf_text(&what));
    if (!ret->what)
        return cps_err_nomem();
    memcpy(ret->base, base->hash, sizeof(ret->base));
    return NULL;
}

void same_code_deinit(struct same_code *code)
{
    free(code->what);
    *code = (struct same_code){0};
}

bool same_code_holds(const struct same_code *code, const struct same_base *base,
                     const struct cps_fw *fw)
{
    char hash[65];
    return code->what && code->base[0] && fw && !strcmp(code->base, base->hash) &&
           hash_what(code->what, fw, base, hash) && !strcmp(code->hash, hash);
}
