/* SPDX-License-Identifier: MIT
 * Stored bytes, hashed as they pass, decompressed if their magic says so. */
#include "trace/capture/source.h"

#include <nettle/sha2.h>
#include <string.h>
#include <zlib.h>
#ifdef CPS_HAVE_ZSTD
#include <zstd.h>
#endif

#include "isa/base/infile.h"

#define RAW_BYTES 65536u

enum codec { CODEC_PLAIN, CODEC_GZIP, CODEC_ZSTD };

struct cps_source {
    char *name;
    struct cps_infile file; /* of fd -1: memory */
    const uint8_t *memory;
    size_t memory_size;
    enum codec codec;
    uint8_t raw[RAW_BYTES]; /* as stored; [raw_at, raw_end) is not consumed */
    size_t raw_at, raw_end;
    uint64_t raw_offset; /* of raw[raw_end] in the file */
    bool raw_done;       /* nothing more to read */
    bool frame_open;     /* inside a gzip member or zstd frame */
    bool done;           /* no more decompressed bytes, or a defect */
    bool hashing;
    struct sha256_ctx hash; /* of the bytes before raw_offset */
    z_stream zlib;
    bool zlib_ready;
#ifdef CPS_HAVE_ZSTD
    ZSTD_DStream *zstd;
#endif
};

/* Reads behind what raw[] holds. */
static struct cps_err *read_raw(struct cps_source *s)
{
    size_t room = RAW_BYTES - s->raw_end;
    size_t got = s->memory_size < room ? s->memory_size : room;
    if (s->file.fd >= 0) {
        CPS_TRY(cps_infile_read_(&s->file, s->raw + s->raw_end, room, &got));
    } else {
        memcpy(s->raw + s->raw_end, s->memory, got);
        s->memory += got;
        s->memory_size -= got;
    }
    if (s->hashing)
        sha256_update(&s->hash, got, s->raw + s->raw_end);
    s->raw_done = got == 0;
    s->raw_end += got;
    s->raw_offset += got;
    return NULL;
}

static struct cps_err *refill_raw(struct cps_source *s)
{
    if (s->raw_at < s->raw_end || s->raw_done)
        return NULL;
    s->raw_at = s->raw_end = 0;
    return read_raw(s);
}

static struct cps_err *corrupt(const struct cps_source *s, const char *what)
{
    return cps_err_input(s->name, s->raw_offset - (s->raw_end - s->raw_at), "%s", what);
}

static struct cps_err *open_plain(struct cps_source *s, uint8_t *to, size_t *size)
{
    *size = s->raw_end - s->raw_at;
    memcpy(to, s->raw + s->raw_at, *size);
    s->raw_at = s->raw_end;
    s->done = *size == 0;
    return NULL;
}

/* One step of inflate; a file may hold several members in a row. */
static struct cps_err *open_gzip(struct cps_source *s, uint8_t *to, size_t *size)
{
    z_stream *z = &s->zlib;
    if (s->raw_at == s->raw_end) {
        s->done = true;
        return s->frame_open ? corrupt(s, "gzip data ends in the middle of a member") : NULL;
    }
    if (!s->frame_open && inflateReset(z) != Z_OK)
        return cps_err_nomem();
    s->frame_open = true;
    z->next_in = s->raw + s->raw_at;
    z->avail_in = (uInt)(s->raw_end - s->raw_at);
    z->next_out = to;
    z->avail_out = SOURCE_BYTES;
    int status = inflate(z, Z_NO_FLUSH);
    s->raw_at = s->raw_end - z->avail_in;
    *size = SOURCE_BYTES - z->avail_out;
    if (status == Z_STREAM_END)
        s->frame_open = false;
    else if (status == Z_MEM_ERROR)
        return cps_err_nomem();
    else if (status != Z_OK && status != Z_BUF_ERROR)
        return corrupt(s, "corrupt gzip data");
    return NULL;
}

static struct cps_err *open_zstd(struct cps_source *s, uint8_t *to, size_t *size)
{
#ifdef CPS_HAVE_ZSTD
    ZSTD_inBuffer in = {s->raw + s->raw_at, s->raw_end - s->raw_at, 0};
    ZSTD_outBuffer out = {to, SOURCE_BYTES, 0};
    size_t status = ZSTD_decompressStream(s->zstd, &out, &in);
    if (ZSTD_isError(status))
        return corrupt(s, "corrupt zstd data");
    if (!in.pos && !out.pos && s->raw_at == s->raw_end) {
        s->done = true;
        return s->frame_open ? corrupt(s, "zstd data ends in the middle of a frame") : NULL;
    }
    s->raw_at += in.pos;
    *size = out.pos;
    s->frame_open = status != 0;
    return NULL;
#else
    (void)to;
    (void)size;
    return cps_err_new(CPS_ERR_UNSUPPORTED,
                       "%s: zstd-compressed, but cpscope was built without zstd", s->name);
#endif
}

static struct cps_err *start_codec(struct cps_source *s)
{
    static const uint8_t gzip[] = {0x1f, 0x8b};
    static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    while (s->raw_end < sizeof(zstd) && !s->raw_done) /* pipes may begin with a single byte */
        CPS_TRY(read_raw(s));
    if (s->raw_end >= sizeof(gzip) && !memcmp(s->raw, gzip, sizeof(gzip))) {
        s->codec = CODEC_GZIP;
        s->zlib_ready = inflateInit2(&s->zlib, 15 + 16) == Z_OK;
        if (!s->zlib_ready)
            return cps_err_nomem();
    } else if (s->raw_end >= sizeof(zstd) && !memcmp(s->raw, zstd, sizeof(zstd))) {
        s->codec = CODEC_ZSTD;
#ifdef CPS_HAVE_ZSTD
        s->zstd = ZSTD_createDStream();
        if (!s->zstd)
            return cps_err_nomem();
#endif
    }
    return NULL;
}

static struct cps_err *create(const char *name, struct cps_source **ret)
{
    struct cps_source *s = calloc(1, sizeof(*s));
    if (!s)
        return cps_err_nomem();
    s->file.fd = -1;
    s->name = strdup(name);
    *ret = s;
    return s->name ? NULL : cps_err_nomem();
}

struct cps_err *cps_source_open_(const char *path, struct cps_source **ret)
{
    struct cps_source *s = NULL;
    struct cps_err *err = create(strcmp(path, "-") ? path : "(stdin)", &s);
    if (!err)
        err = cps_infile_open_(path, &s->file);
    if (!err) {
        s->file.name = s->name; /* the path may go */
        err = start_codec(s);
    }
    if (err)
        cps_source_close_(s);
    else
        *ret = s;
    return err;
}

struct cps_err *cps_source_open_memory_(const char *name, const void *data, size_t size,
                                        struct cps_source **ret)
{
    struct cps_source *s = NULL;
    struct cps_err *err = create(name, &s);
    if (!err) {
        s->memory = data;
        s->memory_size = size;
        err = start_codec(s);
    }
    if (err)
        cps_source_close_(s);
    else
        *ret = s;
    return err;
}

void cps_source_close_(struct cps_source *s)
{
    if (!s)
        return;
    cps_infile_close_(&s->file);
    if (s->zlib_ready)
        inflateEnd(&s->zlib);
#ifdef CPS_HAVE_ZSTD
    ZSTD_freeDStream(s->zstd);
#endif
    free(s->name);
    free(s);
}

const char *cps_source_name_(const struct cps_source *s)
{
    return s->name;
}

bool cps_source_works_(const struct cps_source *s)
{
    return s->codec != CODEC_PLAIN || s->hashing;
}

static struct cps_err *step(struct cps_source *s, uint8_t *to, size_t *size)
{
    CPS_TRY(refill_raw(s));
    if (s->codec == CODEC_PLAIN)
        return open_plain(s, to, size);
    return s->codec == CODEC_GZIP ? open_gzip(s, to, size) : open_zstd(s, to, size);
}

struct cps_err *cps_source_next_(struct cps_source *s, uint8_t *to, size_t *size)
{
    struct cps_err *err = NULL;
    *size = 0;
    while (!*size && !s->done && !err)
        err = step(s, to, size);
    s->done = s->done || err;
    return err;
}

bool cps_source_hash_(struct cps_source *s)
{
    if (!s->file.regular)
        return false;
    sha256_init(&s->hash);
    sha256_update(&s->hash, s->raw_end, s->raw);
    s->hashing = true;
    return true;
}

struct cps_err *cps_source_sha256_(struct cps_source *s, char ret[65])
{
    uint8_t digest[32];
    s->done = true;
    while (!s->raw_done) {
        s->raw_at = s->raw_end = 0;
        CPS_TRY(read_raw(s));
    }
    sha256_digest(&s->hash, SHA256_DIGEST_SIZE, digest);
    for (unsigned i = 0; i < sizeof(digest); i++) {
        ret[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        ret[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    ret[64] = '\0';
    return NULL;
}
