/* SPDX-License-Identifier: MIT
 * Stored bytes, hashed as they pass; a thread may do both ahead. */
#include "isa/base/stored.h"

#include <nettle/sha2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "isa/base/cleanup.h"
#include "isa/base/infile.h"
#include "isa/base/handoff.h"

#define BLOCK_BYTES 65536u
#define PEEK_BYTES  4u
#define SMALL       4u /* blocks: less is over before a thread has begun */
#define AHEAD       8u /* blocks */

struct cps_stored {
    struct cps_infile file; /* of fd -1: memory */
    const uint8_t *memory;
    size_t memory_size;
    bool hashing;
    struct sha256_ctx hash; /* of all that was read */
    struct cps_handoff
        *ring;           /* of blocks, or NULL; the thread reads and hashes while there is one */
    struct cps_err *err; /* what ended the thread's work */
    bool ahead;          /* a thread may start */
    bool held;           /* a block of the ring */
    unsigned blocks;     /* so far, up to SMALL */
    size_t at, end;      /* of block[]: read and not taken */
    uint8_t block[BLOCK_BYTES];
};

static struct cps_err *read_some(struct cps_stored *s, uint8_t *to, size_t room, size_t *size)
{
    size_t some = s->memory_size < room ? s->memory_size : room;
    if (s->file.fd >= 0) {
        CPS_TRY(cps_infile_read_(&s->file, to, room, size));
    } else {
        memcpy(to, s->memory, some);
        s->memory += some;
        s->memory_size -= some;
        *size = some;
    }
    if (s->hashing)
        sha256_update(&s->hash, *size, to);
    return NULL;
}

/* The thread. */
static void read_ahead(struct cps_handoff *ring, void *argument)
{
    struct cps_stored *s = argument;
    uint8_t *block = NULL;
    size_t size = 1;
    while (size && !s->err && (block = cps_handoff_room_(ring))) {
        size = 0;
        s->err = read_some(s, block, BLOCK_BYTES, &size);
        if (size)
            cps_handoff_put_(ring, size);
    }
    cps_handoff_close_(ring);
}

static struct cps_err *next_of_ring(struct cps_stored *s, const uint8_t **data, size_t *size)
{
    if (s->held)
        cps_handoff_done_(s->ring);
    *data = cps_handoff_next_(s->ring, size);
    s->held = *data;
    return s->held ? NULL : CPS_TAKE(s->err);
}

static void start_ahead(struct cps_stored *s)
{
    if (!s->ahead || s->blocks++ < SMALL)
        return;
    s->ahead = false;
    s->ring = cps_handoff_start_(AHEAD, BLOCK_BYTES, read_ahead, s);
}

static void end_ahead(struct cps_stored *s)
{
    cps_handoff_end_(s->ring);
    s->ring = NULL;
    s->ahead = s->held = false;
    cps_err_free(CPS_TAKE(s->err));
}

static struct cps_err *create(struct cps_stored **ret)
{
    struct cps_stored *s = calloc(1, sizeof(*s));
    if (!s)
        return cps_err_nomem();
    s->file.fd = -1;
    *ret = s;
    return NULL;
}

struct cps_err *cps_stored_open_(const char *path, const char *name, struct cps_stored **ret)
{
    struct cps_infile file;
    CPS_TRY(cps_infile_open_(path, &file));
    struct cps_err *err = create(ret);
    if (err) {
        cps_infile_close_(&file);
        return err;
    }
    (*ret)->file = file;
    (*ret)->file.name = name;
    return NULL;
}

struct cps_err *cps_stored_open_memory_(const void *data, size_t size, struct cps_stored **ret)
{
    CPS_TRY(create(ret));
    (*ret)->memory = data;
    (*ret)->memory_size = size;
    return NULL;
}

void cps_stored_close_(struct cps_stored *stored)
{
    if (!stored)
        return;
    end_ahead(stored);
    cps_infile_close_(&stored->file);
    free(stored);
}

/* The system keeps the position, so that no thread has to be asked. */
bool cps_stored_share_(const struct cps_stored *stored, uint64_t *at, uint64_t *size)
{
    struct stat info;
    *at = *size = 0;
    if (stored->file.fd < 0)
        return true;
    off_t position = stored->file.regular ? lseek(stored->file.fd, 0, SEEK_CUR) : -1;
    if (position < 0 || fstat(stored->file.fd, &info) || info.st_size < position)
        return false;
    *at = (uint64_t)position;
    *size = (uint64_t)info.st_size;
    return true;
}

struct cps_err *cps_stored_peek_(struct cps_stored *stored, const uint8_t **data, size_t *size)
{
    size_t got = 1;
    while (stored->end - stored->at < PEEK_BYTES && got) { /* pipes may begin with one byte */
        CPS_TRY(read_some(stored, stored->block + stored->end, BLOCK_BYTES - stored->end, &got));
        stored->end += got;
    }
    *data = stored->block + stored->at;
    *size = stored->end - stored->at;
    return NULL;
}

struct cps_err *cps_stored_next_(struct cps_stored *stored, const uint8_t **data, size_t *size)
{
    *size = 0;
    if (stored->at == stored->end) {
        start_ahead(stored);
        if (stored->ring)
            return next_of_ring(stored, data, size);
        stored->at = stored->end = 0;
        CPS_TRY(read_some(stored, stored->block, BLOCK_BYTES, &stored->end));
    }
    *data = stored->block + stored->at;
    *size = stored->end - stored->at;
    stored->at = stored->end;
    return NULL;
}

struct cps_err *cps_stored_read_(struct cps_stored *stored, uint8_t *to, size_t room, size_t *size)
{
    size_t left = stored->end - stored->at;
    if (!left)
        return read_some(stored, to, room, size);
    *size = left < room ? left : room;
    memcpy(to, stored->block + stored->at, *size);
    stored->at += *size;
    return NULL;
}

bool cps_stored_hash_(struct cps_stored *stored)
{
    if (!stored->file.regular)
        return false;
    sha256_init(&stored->hash);
    sha256_update(&stored->hash, stored->end, stored->block);
    stored->hashing = true;
    return true;
}

bool cps_stored_hashes_(const struct cps_stored *stored)
{
    return stored->hashing;
}

void cps_stored_ahead_(struct cps_stored *stored)
{
    stored->ahead = true;
}

struct cps_err *cps_stored_sha256_(struct cps_stored *stored, char ret[65])
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    end_ahead(stored);
    for (size_t got = 1; got;)
        CPS_TRY(read_some(stored, stored->block, BLOCK_BYTES, &got));
    sha256_digest(&stored->hash, SHA256_DIGEST_SIZE, digest);
    for (unsigned i = 0; i < sizeof(digest); i++) {
        ret[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        ret[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    ret[64] = '\0';
    return NULL;
}
