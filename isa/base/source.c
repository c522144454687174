/* SPDX-License-Identifier: MIT
 * Stored bytes, hashed as they pass, and decompressed if their magic says so. */
#include "isa/base/source.h"

#include <nettle/sha2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#ifdef CPS_HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef CPS_HAVE_XZ
#include <lzma.h>
#endif

#include "isa/base/infile.h"
#include "isa/base/list.h"

/* What decompressing may cost, whatever a file asks for: `xz -9` needs 65 MiB. libzstd has a limit
 * of its own, windows of 128 MiB; gzip needs 32 KiB. */
#define XZ_MEMORY (UINT64_C(128) << 20)

#define BLOCK_BYTES 65536u

enum codec { CODEC_PLAIN, CODEC_GZIP, CODEC_ZSTD, CODEC_XZ };

struct cps_source {
    char *name;
    struct cps_infile file; /* of fd -1: memory */
    const uint8_t *memory;
    size_t memory_size;
    bool hashing;
    struct sha256_ctx hash; /* of all that was read */
    enum codec codec;
    const uint8_t *raw; /* as stored, and not consumed: of `block` */
    size_t raw_size;
    uint64_t offset; /* of raw[raw_size] in the file */
    bool frame_open; /* inside a gzip member or zstd frame */
    bool full;       /* the last block was: zlib may have more without more to read */
    bool done;       /* no more decompressed bytes, or a defect */
    z_stream zlib;
    bool zlib_ready;
#ifdef CPS_HAVE_ZSTD
    ZSTD_DStream *zstd;
#endif
#ifdef CPS_HAVE_XZ
    lzma_stream xz;
#endif
    size_t block_size; /* what was read into it last */
    uint8_t block[BLOCK_BYTES];
};

static struct cps_err *read_some(struct cps_source *s, uint8_t *to, size_t room, size_t *size)
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
    s->offset += *size;
    return NULL;
}

static struct cps_err *refill_raw(struct cps_source *s)
{
    if (s->raw_size)
        return NULL;
    s->raw = s->block;
    CPS_TRY(read_some(s, s->block, BLOCK_BYTES, &s->block_size));
    s->raw_size = s->block_size;
    return NULL;
}

static struct cps_err *corrupt(const struct cps_source *s, const char *what)
{
    return cps_err_input(s->name, s->offset - s->raw_size, "%s", what);
}

static void consume(struct cps_source *s, size_t size)
{
    s->raw += size;
    s->raw_size -= size;
}

/* One step of inflate; a file may hold several members in a row. */
static struct cps_err *open_gzip(struct cps_source *s, uint8_t *to, size_t *size)
{
    z_stream *z = &s->zlib;
    if (!s->raw_size && !s->full) {
        s->done = true;
        return s->frame_open ? corrupt(s, "gzip data ends in the middle of a member") : NULL;
    }
    if (!s->frame_open && inflateReset(z) != Z_OK)
        return cps_err_nomem();
    s->frame_open = true;
    z->next_in = (z_const Bytef *)s->raw;
    z->avail_in = (uInt)s->raw_size;
    z->next_out = to;
    z->avail_out = SOURCE_BYTES;
    int status = inflate(z, Z_NO_FLUSH);
    consume(s, s->raw_size - z->avail_in);
    *size = SOURCE_BYTES - z->avail_out;
    s->full = status == Z_OK && !z->avail_out;
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
    ZSTD_inBuffer in = {s->raw, s->raw_size, 0};
    ZSTD_outBuffer out = {to, SOURCE_BYTES, 0};
    size_t status = ZSTD_decompressStream(s->zstd, &out, &in);
    if (ZSTD_isError(status))
        return corrupt(s, "corrupt zstd data");
    if (!in.pos && !out.pos && !s->raw_size) {
        s->done = true;
        return s->frame_open ? corrupt(s, "zstd data ends in the middle of a frame") : NULL;
    }
    consume(s, in.pos);
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

/* One step; a file may hold several streams, and padding between and after them. */
static struct cps_err *open_xz(struct cps_source *s, uint8_t *to, size_t *size)
{
#ifdef CPS_HAVE_XZ
    bool at_end = !s->raw_size;
    s->xz.next_in = s->raw;
    s->xz.avail_in = s->raw_size;
    s->xz.next_out = to;
    s->xz.avail_out = SOURCE_BYTES;
    lzma_ret status = lzma_code(&s->xz, at_end ? LZMA_FINISH : LZMA_RUN);
    consume(s, s->raw_size - s->xz.avail_in);
    *size = SOURCE_BYTES - s->xz.avail_out;
    s->done = status == LZMA_STREAM_END;
    switch (status) {
    case LZMA_OK:
    case LZMA_STREAM_END:
        return NULL;
    case LZMA_MEM_ERROR:
        return cps_err_nomem();
    case LZMA_MEMLIMIT_ERROR:
        return corrupt(s, "xz data needs more than 128 MiB of memory, expected less");
    case LZMA_BUF_ERROR:
        return corrupt(s, "xz data ends in the middle of a stream");
    default:
        return corrupt(s, "corrupt xz data");
    }
#else
    (void)to;
    (void)size;
    return cps_err_new(CPS_ERR_UNSUPPORTED, "%s: xz-compressed, but cpscope was built without xz",
                       s->name);
#endif
}

static bool begins_with(const struct cps_source *s, const char *magic)
{
    return s->raw_size >= strlen(magic) && !memcmp(s->raw, magic, strlen(magic));
}

static struct cps_err *start_codec(struct cps_source *s)
{
    enum { LONGEST = 4 }; /* magic */
    s->raw = s->block;
    for (size_t got = 1; s->raw_size < LONGEST && got; s->raw_size += got) /* of a pipe */
        CPS_TRY(read_some(s, s->block + s->raw_size, BLOCK_BYTES - s->raw_size, &got));
    s->block_size = s->raw_size;
    if (begins_with(s, "\x1f\x8b")) {
        s->codec = CODEC_GZIP;
        s->zlib_ready = inflateInit2(&s->zlib, 15 + 16) == Z_OK;
        return s->zlib_ready ? NULL : cps_err_nomem();
    }
    if (begins_with(s, "\x28\xb5\x2f\xfd")) {
        s->codec = CODEC_ZSTD;
#ifdef CPS_HAVE_ZSTD
        s->zstd = ZSTD_createDStream();
        return s->zstd ? NULL : cps_err_nomem();
#endif
    }
    if (begins_with(s, "\xfd"
                       "7zX")) {
        s->codec = CODEC_XZ;
#ifdef CPS_HAVE_XZ
        if (lzma_stream_decoder(&s->xz, XZ_MEMORY, LZMA_CONCATENATED) != LZMA_OK)
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
    *ret = s;
    s->file.fd = -1;
    s->name = strdup(name);
    return s->name ? NULL : cps_err_nomem();
}

/* Hands an open source over, or releases it. */
static struct cps_err *begin(struct cps_err *err, struct cps_source *s, struct cps_source **ret)
{
    if (!err)
        err = start_codec(s);
    if (err)
        cps_source_close_(s);
    else
        *ret = s;
    return err;
}

struct cps_err *cps_source_open_(const char *path, struct cps_source **ret)
{
    struct cps_source *s = NULL;
    struct cps_err *err = create(strcmp(path, "-") ? path : "(stdin)", &s);
    if (!err)
        err = cps_infile_open_(path, &s->file);
    if (!err)
        s->file.name = s->name;
    return begin(err, s, ret);
}

struct cps_err *cps_source_open_memory_(const char *name, const void *data, size_t size,
                                        struct cps_source **ret)
{
    struct cps_source *s = NULL;
    struct cps_err *err = create(name, &s);
    if (!err) {
        s->memory = data;
        s->memory_size = size;
    }
    return begin(err, s, ret);
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
#ifdef CPS_HAVE_XZ
    lzma_end(&s->xz);
#endif
    free(s->name);
    free(s);
}

const char *cps_source_name_(const struct cps_source *s)
{
    return s->name;
}

bool cps_source_share_(const struct cps_source *s, uint64_t *at, uint64_t *size)
{
    struct stat info;
    *at = *size = 0;
    if (s->file.fd < 0)
        return true;
    /* The system keeps the position, so that no thread has to be asked. */
    off_t position = s->file.regular ? lseek(s->file.fd, 0, SEEK_CUR) : -1;
    if (position < 0 || fstat(s->file.fd, &info) || info.st_size < position)
        return false;
    *at = (uint64_t)position;
    *size = (uint64_t)info.st_size;
    return true;
}

bool cps_source_works_(const struct cps_source *s)
{
    return s->codec != CODEC_PLAIN || s->hashing;
}

static struct cps_err *step(struct cps_source *s, uint8_t *to, size_t *size)
{
    if (s->codec == CODEC_PLAIN) {
        if (s->raw_size) { /* what the magic was looked for in */
            *size = s->raw_size;
            memcpy(to, s->raw, *size);
            consume(s, *size);
            return NULL;
        }
        CPS_TRY(read_some(s, to, SOURCE_BYTES, size));
        s->done = *size == 0;
        return NULL;
    }
    CPS_TRY(refill_raw(s));
    return s->codec == CODEC_GZIP   ? open_gzip(s, to, size)
           : s->codec == CODEC_ZSTD ? open_zstd(s, to, size)
                                    : open_xz(s, to, size);
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
    sha256_update(&s->hash, s->block_size, s->block);
    s->hashing = true;
    return true;
}

struct cps_err *cps_source_sha256_(struct cps_source *s, char ret[65])
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    s->done = true;
    for (size_t got = 1; got;)
        CPS_TRY(read_some(s, s->block, BLOCK_BYTES, &got));
    sha256_digest(&s->hash, SHA256_DIGEST_SIZE, digest);
    for (unsigned i = 0; i < sizeof(digest); i++) {
        ret[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        ret[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    ret[64] = '\0';
    return NULL;
}

/* Reads at least a byte more than allowed, so that endless files end as too large ones. The last
 * round, which gets nothing, leaves room for the NUL. */
static struct cps_err *read_all(struct cps_source *s, size_t limit, uint8_t **data, size_t *ret)
{
    size_t size = 0;
    size_t room = 0;
    CPS_FREE uint8_t *bytes = NULL;
    for (size_t got = 1; got; size += got) {
        if (!CPS_LIST_RESERVE(bytes, room, size + SOURCE_BYTES))
            return cps_err_nomem();
        CPS_TRY(cps_source_next_(s, bytes + size, &got));
        if (size + got > limit)
            return cps_err_input(s->name, limit, "file goes on, expected at most %zu bytes", limit);
    }
    bytes[size] = '\0';
    *data = CPS_TAKE(bytes);
    *ret = size;
    return NULL;
}

struct cps_err *cps_source_all_(const char *path, size_t limit, uint8_t **data, size_t *ret)
{
    struct cps_source *source = NULL;
    CPS_TRY(cps_source_open_(path, &source));
    struct cps_err *err = read_all(source, limit, data, ret);
    cps_source_close_(source);
    return err;
}
