/* SPDX-License-Identifier: MIT
 * Bytes from a source, by any number at a time; a thread may get the blocks ahead. */
#include "trace/capture/stream.h"

#include <string.h>
#include <sys/stat.h>

#include "isa/base/list.h"
#include "trace/capture/formats.h"
#include "isa/base/handoff.h"
#include "isa/base/source.h"

#define LOOK_BYTES  4096u
#define SKIP_BYTES  65536u
#define FIRST_READ  (64u << 10)
#define BLOCK_BYTES (LOOK_BYTES + SOURCE_BYTES)
#define SMALL       1u /* blocks: less is over before a thread has begun */
#define AHEAD       8u /* blocks */

struct cps_stream {
    struct cps_source *source;  /* the thread's while there is one */
    struct cps_handoff *ring;   /* of blocks as below, or NULL */
    struct cps_err *err;        /* what ended the thread's work */
    bool ahead;                 /* a thread may start */
    bool held;                  /* the bytes lie in a block of the ring */
    unsigned blocks;            /* so far, up to SMALL */
    uint8_t *at, *end;          /* decompressed and not consumed */
    uint64_t offset;            /* of at */
    const char *rnn;            /* directory, or NULL */
    uint8_t block[BLOCK_BYTES]; /* LOOK_BYTES of room for what is put in front, then bytes */
};

/* The thread. */
static void read_ahead(struct cps_handoff *ring, void *argument)
{
    struct cps_stream *s = argument;
    uint8_t *block = NULL;
    size_t size = 1;
    while (size && (block = cps_handoff_room_(ring))) {
        s->err = cps_source_next_(s->source, block + LOOK_BYTES, &size);
        size = s->err ? 0 : size;
        if (size)
            cps_handoff_put_(ring, size);
    }
    cps_handoff_close_(ring);
}

static void start_ahead(struct cps_stream *s)
{
    if (!s->ahead || s->blocks++ < SMALL)
        return;
    s->ahead = false;
    if (cps_source_works_(s->source))
        s->ring = cps_handoff_start_(AHEAD, BLOCK_BYTES, read_ahead, s);
}

static struct cps_err *next_of_ring(struct cps_stream *s)
{
    size_t size = 0;
    if (s->held)
        cps_handoff_done_(s->ring);
    uint8_t *block = cps_handoff_next_(s->ring, &size);
    s->held = block;
    s->at = (block ? block : s->block) + LOOK_BYTES;
    s->end = s->at + size;
    return block ? NULL : CPS_TAKE(s->err);
}

/* Gets the next block when the one before is consumed; at the end, it is empty. */
static struct cps_err *refill(struct cps_stream *s)
{
    size_t size = 0;
    start_ahead(s);
    if (s->ring)
        return next_of_ring(s);
    s->at = s->end = s->block + LOOK_BYTES;
    CPS_TRY(cps_source_next_(s->source, s->at, &size));
    s->end += size;
    return NULL;
}

/* Takes the source over, or gives its error back. */
static struct cps_err *create(struct cps_err *err, struct cps_source *source,
                              struct cps_stream **ret)
{
    if (err)
        return err;
    struct cps_stream *s = calloc(1, sizeof(*s));
    if (!s) {
        cps_source_close_(source);
        return cps_err_nomem();
    }
    s->source = source;
    s->at = s->end = s->block + LOOK_BYTES;
    *ret = s;
    return NULL;
}

struct cps_err *cps_stream_open(const char *path, struct cps_stream **ret)
{
    struct cps_source *source = NULL;
    struct cps_err *err = cps_source_open_(path, &source);
    return create(err, source, ret);
}

struct cps_err *cps_stream_open_memory(const char *name, const void *data, size_t size,
                                       struct cps_stream **ret)
{
    struct cps_source *source = NULL;
    struct cps_err *err = cps_source_open_memory_(name, data, size, &source);
    return create(err, source, ret);
}

static void end_ahead(struct cps_stream *s)
{
    cps_handoff_end_(s->ring);
    s->ring = NULL;
    s->ahead = s->held = false;
    s->at = s->end = s->block + LOOK_BYTES;
    cps_err_free(CPS_TAKE(s->err));
}

void cps_stream_close(struct cps_stream *s)
{
    if (!s)
        return;
    end_ahead(s);
    cps_source_close_(s->source);
    free(s);
}

void cps_stream_read_in_thread(struct cps_stream *s)
{
    s->ahead = true;
}

bool cps_stream_hash(struct cps_stream *s)
{
    return cps_source_hash_(s->source);
}

struct cps_err *cps_stream_sha256(struct cps_stream *s, char ret[65])
{
    end_ahead(s);
    return cps_source_sha256_(s->source, ret);
}

const char *cps_stream_name(const struct cps_stream *s)
{
    return cps_source_name_(s->source);
}

void cps_stream_set_rnn(struct cps_stream *s, const char *rnn_dir)
{
    s->rnn = rnn_dir;
}

const char *cps_stream_rnn(const struct cps_stream *s)
{
    return s->rnn;
}

bool cps_stream_share_(const struct cps_stream *s, uint64_t *at, uint64_t *size)
{
    return cps_source_share_(s->source, at, size);
}

uint64_t cps_stream_offset(const struct cps_stream *s)
{
    return s->offset;
}

struct cps_err *cps_stream_read(struct cps_stream *s, void *data, size_t size, size_t *ret)
{
    uint8_t *to = data;
    size_t done = 0;
    while (done < size) {
        if (s->at == s->end)
            CPS_TRY(refill(s));
        size_t some = (size_t)(s->end - s->at);
        if (!some)
            break;
        some = some < size - done ? some : size - done;
        if (to)
            memcpy(to + done, s->at, some);
        s->at += some;
        s->offset += some;
        done += some;
    }
    *ret = done;
    return NULL;
}

struct cps_err *cps_stream_view_(struct cps_stream *s, uint8_t *room, size_t size,
                                 const uint8_t **data, size_t *ret)
{
    if (s->at == s->end)
        CPS_TRY(refill(s));
    *data = room;
    if ((size_t)(s->end - s->at) < size)
        return cps_stream_read(s, room, size, ret);
    *data = s->at;
    *ret = size;
    s->at += size;
    s->offset += size;
    return NULL;
}

/* Gets one more block and puts what was left in front of it; false at the end. */
static struct cps_err *extend(struct cps_stream *s, bool *more)
{
    uint8_t left[LOOK_BYTES];
    size_t size = (size_t)(s->end - s->at);
    memcpy(left, s->at, size);
    CPS_TRY(refill(s));
    *more = s->at < s->end;
    s->at -= size;
    memcpy(s->at, left, size);
    return NULL;
}

struct cps_err *cps_stream_peek(struct cps_stream *s, size_t size, const uint8_t **data,
                                size_t *ret)
{
    bool more = true;
    size = size < LOOK_BYTES ? size : LOOK_BYTES;
    while ((size_t)(s->end - s->at) < size && more)
        CPS_TRY(extend(s, &more));
    *data = s->at;
    *ret = (size_t)(s->end - s->at);
    if (*ret > size)
        *ret = size;
    return NULL;
}

struct cps_err *cps_stream_skip(struct cps_stream *s, uint64_t size, uint64_t *ret)
{
    uint64_t done = 0;
    size_t got = 1;
    while (done < size && got) {
        uint64_t rest = size - done;
        CPS_TRY(cps_stream_read(s, NULL, rest < SKIP_BYTES ? (size_t)rest : SKIP_BYTES, &got));
        done += got;
    }
    *ret = done;
    return NULL;
}

struct cps_err *cps_stream_read_all(struct cps_stream *s, size_t limit, uint8_t **data, size_t *ret)
{
    size_t capacity = 0;
    size_t size = 0;
    CPS_FREE uint8_t *bytes = NULL;
    for (size_t got = 1; got;) {
        if (!CPS_LIST_RESERVE(bytes, capacity, size + FIRST_READ))
            return cps_err_nomem();
        CPS_TRY(cps_stream_read(s, bytes + size, capacity - size, &got));
        size += got;
        if (size > limit)
            return cps_err_input(cps_stream_name(s), limit,
                                 "larger than %zu bytes, expected the end", limit);
    }
    bytes[size] = '\0'; /* there is room: nothing more was read into it */
    *data = CPS_TAKE(bytes);
    *ret = size;
    return NULL;
}

struct cps_err *cps_stream_read_file(const char *path, size_t limit, uint8_t **data, size_t *ret)
{
    return cps_source_all_(path, limit, data, ret);
}

struct cps_err *cps_sha256_file(const char *path, char ret[65])
{
    struct stat info;
    struct cps_source *source = NULL;
    if (!strcmp(path, "-") || (stat(path, &info) == 0 && !S_ISREG(info.st_mode))) {
        strcpy(ret, "unknown");
        return NULL;
    }
    CPS_TRY(cps_source_open_(path, &source));
    struct cps_err *err = NULL;
    if (cps_source_hash_(source))
        err = cps_source_sha256_(source, ret);
    else
        strcpy(ret, "unknown"); /* another one has taken its place */
    cps_source_close_(source);
    return err;
}
