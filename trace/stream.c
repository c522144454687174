/* SPDX-License-Identifier: MIT
 * Bytes from a file, stdin or memory, decompressed if their magic says so. */
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#ifdef CPS_HAVE_ZSTD
#include <zstd.h>
#endif

#define RAW_BYTES  65536u
#define LOOK_BYTES 4096u
#define OPEN_BYTES 65536u /* decompressed, at least what cps_stream_peek() promises */

enum codec { CODEC_PLAIN, CODEC_GZIP, CODEC_ZSTD };

struct cps_stream {
    char *name;
    int fd; /* -1: memory */
    const uint8_t *memory;
    size_t memory_size;
    enum codec codec;
    uint8_t raw[RAW_BYTES]; /* as stored; [raw_at, raw_end) is not consumed */
    size_t raw_at, raw_end;
    uint64_t raw_offset; /* of raw[raw_end] in the file */
    bool raw_done;       /* nothing more to read */
    bool frame_open;     /* inside a gzip member or zstd frame */
    uint8_t open[OPEN_BYTES + LOOK_BYTES];
    size_t open_at, open_end;
    bool open_done;
    uint64_t offset;
    z_stream zlib;
    bool zlib_ready;
#ifdef CPS_HAVE_ZSTD
    ZSTD_DStream *zstd;
#endif
};

/* Reads behind what raw[] holds. */
static struct cps_err *read_raw(struct cps_stream *s)
{
    size_t room = RAW_BYTES - s->raw_end;
    ssize_t got = 0;
    if (s->fd < 0) {
        got = (ssize_t)(s->memory_size < room ? s->memory_size : room);
        memcpy(s->raw + s->raw_end, s->memory, (size_t)got);
        s->memory += got;
        s->memory_size -= (size_t)got;
    } else {
        do
            got = read(s->fd, s->raw + s->raw_end, room);
        while (got < 0 && errno == EINTR);
        if (got < 0)
            return cps_err_os(s->name, "read");
    }
    s->raw_done = got == 0;
    s->raw_end += (size_t)got;
    s->raw_offset += (uint64_t)got;
    return NULL;
}

static struct cps_err *refill_raw(struct cps_stream *s)
{
    if (s->raw_at < s->raw_end || s->raw_done)
        return NULL;
    s->raw_at = s->raw_end = 0;
    return read_raw(s);
}

static struct cps_err *corrupt(const struct cps_stream *s, const char *what)
{
    return cps_err_input(s->name, s->raw_offset - (s->raw_end - s->raw_at), "%s", what);
}

static struct cps_err *open_plain(struct cps_stream *s)
{
    size_t size = s->raw_end - s->raw_at;
    memcpy(s->open, s->raw + s->raw_at, size);
    s->raw_at = s->raw_end;
    s->open_end = size;
    s->open_done = size == 0;
    return NULL;
}

/* One step of inflate; a file may hold several members in a row. */
static struct cps_err *open_gzip(struct cps_stream *s)
{
    z_stream *z = &s->zlib;
    if (s->raw_at == s->raw_end) {
        s->open_done = true;
        return s->frame_open ? corrupt(s, "gzip data ends in the middle of a member") : NULL;
    }
    if (!s->frame_open && inflateReset(z) != Z_OK)
        return cps_err_nomem();
    s->frame_open = true;
    z->next_in = s->raw + s->raw_at;
    z->avail_in = (uInt)(s->raw_end - s->raw_at);
    z->next_out = s->open;
    z->avail_out = OPEN_BYTES;
    int status = inflate(z, Z_NO_FLUSH);
    s->raw_at = s->raw_end - z->avail_in;
    s->open_end = OPEN_BYTES - z->avail_out;
    if (status == Z_STREAM_END)
        s->frame_open = false;
    else if (status == Z_MEM_ERROR)
        return cps_err_nomem();
    else if (status != Z_OK && status != Z_BUF_ERROR)
        return corrupt(s, "corrupt gzip data");
    return NULL;
}

static struct cps_err *open_zstd(struct cps_stream *s)
{
#ifdef CPS_HAVE_ZSTD
    ZSTD_inBuffer in = {s->raw + s->raw_at, s->raw_end - s->raw_at, 0};
    ZSTD_outBuffer out = {s->open, OPEN_BYTES, 0};
    size_t status = ZSTD_decompressStream(s->zstd, &out, &in);
    if (ZSTD_isError(status))
        return corrupt(s, "corrupt zstd data");
    if (!in.pos && !out.pos && s->raw_at == s->raw_end) {
        s->open_done = true;
        return s->frame_open ? corrupt(s, "zstd data ends in the middle of a frame") : NULL;
    }
    s->raw_at += in.pos;
    s->open_end = out.pos;
    s->frame_open = status != 0;
    return NULL;
#else
    return cps_err_new(CPS_ERR_UNSUPPORTED,
                       "%s: zstd-compressed, but cpscope was built without zstd", s->name);
#endif
}

/* Gets more decompressed bytes behind those that were not consumed yet. */
static struct cps_err *refill(struct cps_stream *s)
{
    s->open_at = s->open_end = 0;
    while (!s->open_end && !s->open_done) {
        CPS_TRY(refill_raw(s));
        if (s->codec == CODEC_PLAIN)
            CPS_TRY(open_plain(s));
        else if (s->codec == CODEC_GZIP)
            CPS_TRY(open_gzip(s));
        else
            CPS_TRY(open_zstd(s));
    }
    return NULL;
}

static struct cps_err *start_codec(struct cps_stream *s)
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

static struct cps_err *open_file(struct cps_stream *s, const char *path)
{
    struct stat info;
    if (!strcmp(path, "-")) {
        s->fd = dup(STDIN_FILENO);
        return s->fd < 0 ? cps_err_os("(stdin)", "read") : NULL;
    }
    s->fd = open(path, O_RDONLY);
    if (s->fd < 0)
        return cps_err_os(path, "open");
    if (fstat(s->fd, &info) == 0 && S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        return cps_err_os(path, "read");
    }
    return NULL;
}

static struct cps_err *create(const char *name, struct cps_stream **ret)
{
    struct cps_stream *s = calloc(1, sizeof(*s));
    if (!s)
        return cps_err_nomem();
    s->fd = -1;
    s->name = strdup(name);
    *ret = s;
    return s->name ? NULL : cps_err_nomem();
}

struct cps_err *cps_stream_open(const char *path, struct cps_stream **ret)
{
    struct cps_stream *s = NULL;
    struct cps_err *err = create(strcmp(path, "-") ? path : "(stdin)", &s);
    if (!err)
        err = open_file(s, path);
    if (!err)
        err = start_codec(s);
    if (err)
        cps_stream_close(s);
    else
        *ret = s;
    return err;
}

struct cps_err *cps_stream_open_memory(const char *name, const void *data, size_t size,
                                       struct cps_stream **ret)
{
    struct cps_stream *s = NULL;
    struct cps_err *err = create(name, &s);
    if (!err) {
        s->memory = data;
        s->memory_size = size;
        err = start_codec(s);
    }
    if (err)
        cps_stream_close(s);
    else
        *ret = s;
    return err;
}

void cps_stream_close(struct cps_stream *s)
{
    if (!s)
        return;
    if (s->fd >= 0)
        close(s->fd);
    if (s->zlib_ready)
        inflateEnd(&s->zlib);
#ifdef CPS_HAVE_ZSTD
    ZSTD_freeDStream(s->zstd);
#endif
    free(s->name);
    free(s);
}

const char *cps_stream_name(const struct cps_stream *s)
{
    return s->name;
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
        if (s->open_at == s->open_end)
            CPS_TRY(refill(s));
        size_t some = s->open_end - s->open_at;
        if (!some)
            break;
        some = some < size - done ? some : size - done;
        if (to)
            memcpy(to + done, s->open + s->open_at, some);
        s->open_at += some;
        s->offset += some;
        done += some;
    }
    *ret = done;
    return NULL;
}

/* Reads once more and puts what was left in front of it: pipes may give a few bytes first and a
 * full buffer then, for which the array has room. */
static struct cps_err *extend(struct cps_stream *s)
{
    uint8_t left[LOOK_BYTES];
    size_t size = s->open_end - s->open_at;
    memcpy(left, s->open + s->open_at, size);
    s->open_at = s->open_end;
    CPS_TRY(refill(s));
    memmove(s->open + size, s->open, s->open_end);
    memcpy(s->open, left, size);
    s->open_end += size;
    return NULL;
}

struct cps_err *cps_stream_peek(struct cps_stream *s, size_t size, const uint8_t **data,
                                size_t *ret)
{
    size = size < LOOK_BYTES ? size : LOOK_BYTES;
    if (s->open_at == s->open_end)
        CPS_TRY(refill(s));
    while (s->open_end - s->open_at < size && !s->open_done)
        CPS_TRY(extend(s));
    *data = s->open + s->open_at;
    *ret = s->open_end - s->open_at;
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
        CPS_TRY(cps_stream_read(s, NULL, rest < RAW_BYTES ? (size_t)rest : RAW_BYTES, &got));
        done += got;
    }
    *ret = done;
    return NULL;
}

struct cps_err *cps_stream_read_all(struct cps_stream *s, size_t limit, uint8_t **data, size_t *ret)
{
    size_t capacity = 65536;
    size_t size = 0;
    CPS_FREE uint8_t *bytes = malloc(capacity);
    for (size_t got = 1; bytes && got;) {
        CPS_TRY(cps_stream_read(s, bytes + size, capacity - size, &got));
        size += got;
        if (size > limit)
            return cps_err_input(s->name, limit, "larger than %zu bytes, expected the end", limit);
        if (size < capacity)
            continue;
        uint8_t *more = realloc(bytes, capacity * 2);
        if (!more)
            return cps_err_nomem();
        bytes = more;
        capacity *= 2;
    }
    if (!bytes)
        return cps_err_nomem();
    *data = CPS_TAKE(bytes);
    *ret = size;
    return NULL;
}
