/* SPDX-License-Identifier: MIT
 * Reads the kernel's devcoredump of a crashed GPU: text in a small subset of YAML, line by line.
 * What has no blank in front of it begins a section; "- " begins an entry of one. */
#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "isa/base/le.h"
#include "isa/base/lex.h"
#include "isa/base/list.h"
#include "trace/capture/ascii85.h"
#include "trace/capture/formats.h"
#include "trace/capture/lines.h"

#define CHUNK_DWORDS 8192u      /* dwords of contents in one item */
#define UNKNOWN      UINT64_MAX /* no number in the file is that large */

#define SECTION(id, name, key) id,
enum section {
#include "trace/capture/devcore.def"
    SECTIONS
};

/* What the lines of the current entry have said so far. */
struct entry {
    uint64_t iova, size, id, rptr, wptr, last_fence, retired_fence, dwords, context;
    char name[64];
    bool open;  /* there is one */
    bool given; /* and the sink knows */
};

struct devcore {
    struct cps_reading r; /* first */
    struct cps_lines lines;
    enum section section;
    unsigned seen; /* sections, a bit each */
    bool cut;      /* the file ends within an entry */
    struct entry entry;
    uint64_t size, done; /* bytes of the contents being read: stated, given */
    bool bad, excess;    /* they are damaged; there are more of them than stated */
    uint32_t *block;     /* words of a block */
    size_t block_count, block_capacity;
    uint32_t words[CHUNK_DWORDS];
};

static const struct {
    const char *name; /* NULL: none */
    const char *key;  /* that names its entries, or NULL */
} sections[SECTIONS] = {
#define SECTION(id, name, key) {name, key},
#include "trace/capture/devcore.def"
};

static const struct {
    enum section section;
    const char *name;
    size_t member;
    int64_t limit;
} keys[] = {
#define KEY(section, name, member, limit) {section, name, offsetof(struct entry, member), limit},
#include "trace/capture/devcore.def"
};

static const struct {
    const char *dumped, *name;
} block_names[] = {
#define BLOCK(dumped, name) {dumped, name},
#include "trace/capture/devcore.def"
};

/* ---- entries: rings, buffers, blocks ---- */

static struct cps_err *next_line(struct devcore *d)
{
    CPS_TRY(cps_lines_start_(&d->lines));
    d->r.offset = d->lines.offset;
    return NULL;
}

static struct cps_err *give_ring(struct devcore *d)
{
    const struct entry *e = &d->entry;
    struct cps_item item = {.kind = CPS_ITEM_RING};
    item.ring.id = (uint32_t)e->id;
    item.ring.iova = e->iova;
    item.ring.size = e->size;
    item.ring.rptr = (uint32_t)e->rptr;
    item.ring.wptr = (uint32_t)e->wptr;
    item.ring.last_fence = (uint32_t)e->last_fence;
    item.ring.retired_fence = (uint32_t)e->retired_fence;
    return cps_reading_give_(&d->r, &item);
}

static struct cps_err *give_block(struct devcore *d)
{
    struct cps_item item = {.kind = CPS_ITEM_BLOCK};
    item.block.name = d->entry.name;
    for (size_t i = 0; i < sizeof(block_names) / sizeof(block_names[0]); i++) {
        if (!strcmp(block_names[i].dumped, d->entry.name))
            item.block.name = block_names[i].name;
    }
    item.block.words = d->block_count ? d->block : NULL;
    item.block.count = d->block_count;
    item.block.size = (size_t)d->entry.dwords;
    return cps_reading_give_(&d->r, &item);
}

/* Kernels print all of these before the contents; what is missing was cut off or never there. */
static bool is_complete(const struct devcore *d)
{
    const struct entry *e = &d->entry;
    if (d->section == INDEXED)
        return e->name[0] && e->dwords != UNKNOWN;
    return e->iova != UNKNOWN && e->size != UNKNOWN;
}

/* Hands the entry out once: when its contents begin, for a block when they end, or without any. */
static struct cps_err *give_entry(struct devcore *d)
{
    struct entry *e = &d->entry;
    if (!e->open || e->given)
        return NULL;
    e->given = true;
    d->cut |= !is_complete(d) && d->lines.done;
    if (d->cut || (d->lines.ended && d->section == INDEXED))
        return NULL; /* the words that a block lacks would be taken for zeros */
    if (!is_complete(d))
        return cps_reading_note_(&d->r, "warning: an entry without name or address, or size, is "
                                        "ignored");
    if (d->section == INDEXED)
        return give_block(d);
    if (d->section == RINGS)
        return give_ring(d);
    struct cps_item item = {.kind = CPS_ITEM_BUFFER,
                            .buffer = {.iova = e->iova, .size = e->size, .data = NULL}};
    item.buffer.name = e->name[0] ? e->name : NULL;
    item.buffer.name_size = strlen(e->name);
    return cps_reading_give_(&d->r, &item);
}

/* Begins an entry (@p open), or ends the last one of a section. */
static void reset_entry(struct devcore *d, bool open)
{
    d->entry = (struct entry){
        .iova = UNKNOWN, .size = UNKNOWN, .dwords = UNKNOWN, .context = UNKNOWN, .open = open};
    d->block_count = 0;
}

/* ---- their contents ---- */

static struct cps_err *begin_contents(struct devcore *d)
{
    d->bad = d->excess = false;
    d->block_count = 0;
    d->done = 0;
    d->size = is_complete(d) ? 4 * d->entry.dwords : 0;
    if (d->section == INDEXED)
        return NULL;
    CPS_TRY(give_entry(d));
    d->size = is_complete(d) ? d->entry.size : 0;
    if (d->size > d->r.limits->buffer_bytes || d->size > d->r.limits->total_bytes - d->r.total)
        return cps_err_input(cps_stream_name(d->lines.stream), d->lines.offset,
                             "contents of 0x%llx bytes, expected at most 0x%llx, 0x%llx in all",
                             (unsigned long long)d->size,
                             (unsigned long long)d->r.limits->buffer_bytes,
                             (unsigned long long)d->r.limits->total_bytes);
    d->r.total += d->size;
    return NULL;
}

static struct cps_err *give_words(struct devcore *d, size_t count)
{
    uint64_t rest = d->size - d->done;
    size_t size = 4 * count < rest ? 4 * count : (size_t)rest;
    for (size_t i = 0; i < count; i++)
        cps_put_le32(d->r.bytes + 4 * i, d->words[i]);
    struct cps_item item = {
        .kind = CPS_ITEM_DATA,
        .buffer = {.iova = d->entry.iova + d->done, .size = size, .data = d->r.bytes}};
    d->done += size;
    return cps_reading_give_(&d->r, &item);
}

/* Takes the words just decoded, as far as there is room for them. */
static struct cps_err *take_words(struct devcore *d, size_t count)
{
    uint64_t room = (d->size - d->done + 3) / 4;
    if (d->section == INDEXED && room > CPS_BLOCK_LIMIT - d->block_count)
        room = CPS_BLOCK_LIMIT - d->block_count;
    d->excess |= count > room;
    count = count < room ? count : (size_t)room;
    if (!count || d->section != INDEXED)
        return count ? give_words(d, count) : NULL;
    if (!CPS_LIST_RESERVE(d->block, d->block_capacity, d->block_count + count))
        return cps_err_nomem();
    memcpy(d->block + d->block_count, d->words, count * sizeof(*d->words));
    d->block_count += count;
    d->done += 4 * (uint64_t)count;
    return NULL;
}

static struct cps_err *read_data_line(struct devcore *d, struct cps_ascii85 *decoder)
{
    const char *text = NULL;
    size_t size = 0;
    bool stuck = d->bad;
    bool blank = true;
    while (!stuck) {
        size_t used = 0;
        CPS_TRY(cps_lines_piece_(&d->lines, &text, &size));
        size_t made = cps_ascii85_decode_(decoder, text, size, d->words, CHUNK_DWORDS, &used);
        cps_lines_take_(&d->lines, used);
        CPS_TRY(take_words(d, made));
        stuck = !size || (used < size && made < CHUNK_DWORDS);
    }
    CPS_TRY(cps_lines_end_(&d->lines, &blank));
    if (blank || d->bad)
        return NULL;
    d->bad = true;
    return cps_reading_note_(
        &d->r, "warning: a character that is not ascii85; the data after it is ignored");
}

/* The kernel leaves out zeros at the end of the contents. After damage nothing is known. */
static struct cps_err *end_contents(struct devcore *d, const struct cps_ascii85 *decoder)
{
    d->bad |= d->lines.ended;
    if (decoder->count && !d->bad) {
        d->bad = true;
        CPS_TRY(
            cps_reading_note_(&d->r, "warning: the last ascii85 group is incomplete and dropped"));
    }
    if (d->excess)
        CPS_TRY(cps_reading_note_(
            &d->r, "warning: more data than stated, or than fits; the rest is dropped"));
    if (d->section == INDEXED)
        return give_entry(d);
    memset(d->words, 0, sizeof(d->words));
    while (!d->bad && d->done < d->size) {
        uint64_t rest = (d->size - d->done + 3) / 4;
        CPS_TRY(give_words(d, rest < CHUNK_DWORDS ? (size_t)rest : CHUNK_DWORDS));
    }
    return NULL;
}

/* The contents stand on the lines that are further to the right than their key. */
static struct cps_err *read_data(struct devcore *d)
{
    struct cps_ascii85 decoder = {0};
    unsigned indent = d->lines.indent;
    CPS_TRY(begin_contents(d));
    CPS_TRY(next_line(d));
    d->cut |= d->lines.done;
    if (d->lines.done)
        return NULL;
    if (d->lines.indent <= indent) {
        d->bad = true;
        CPS_TRY(cps_reading_note_(&d->r, "warning: data are announced, but there are none"));
    }
    while (!d->lines.done && d->lines.indent > indent) {
        CPS_TRY(read_data_line(d, &decoder));
        CPS_TRY(next_line(d));
    }
    return end_contents(d, &decoder);
}

/* ---- lines ---- */

/* The error that something else was expected @p at a place of the line. */
static struct cps_err *malformed(const struct devcore *d, const char *at, const char *expected)
{
    int shown = 0;
    while (shown < 24 && isprint((unsigned char)at[shown]))
        shown++;
    return cps_err_input(cps_stream_name(d->lines.stream),
                         d->lines.offset + d->lines.indent + (uint64_t)(at - d->lines.text),
                         shown ? "\"%.*s\", expected %s" : "end of line%.*s, expected %s", shown,
                         at, expected);
}

/* A number that fills the rest of the line. Kernels print fences with a sign. */
static struct cps_err *read_number(struct devcore *d, const char *at, int64_t limit, uint64_t *ret)
{
    const char *end = at;
    int64_t value = 0;
    bool negative = limit == UINT32_MAX && *at == '-' && isdigit((unsigned char)at[1]);
    end += negative;
    if (!cps_lex_number(&end, &value) || *cps_lex_blank(end) || value > limit)
        return malformed(d, at, limit == INT64_MAX ? "a number" : "a number of 32 bits");
    *ret = negative ? (uint32_t)-value : (uint64_t)value;
    return NULL;
}

static struct cps_err *read_name(struct devcore *d, const char *at)
{
    size_t length = strlen(at);
    if (!length || length >= sizeof(d->entry.name))
        return malformed(d, at, "a name of at most 63 characters");
    memcpy(d->entry.name, at, length + 1);
    d->entry.context = UNKNOWN;
    return NULL;
}

/* Newer kernels print the name of a buffer, padded with blanks; it is only there to be shown, so
 * that one that is too long is cut. */
static void read_buffer_name(struct devcore *d, const char *at)
{
    size_t length = strnlen(at, sizeof(d->entry.name) - 1);
    while (length && at[length - 1] == ' ')
        length--;
    memcpy(d->entry.name, at, length);
    d->entry.name[length] = '\0';
}

/* "key: value" or "- key: value". Unknown keys, and those behind the contents, are passed over. */
static struct cps_err *read_key(struct devcore *d)
{
    const char *text = d->lines.text;
    const char *at = *text == '-' ? cps_lex_blank(text + 1) : text;
    size_t length = strcspn(at, ":");
    const char *value = cps_lex_blank(at + length + (at[length] == ':'));
    const char *wanted = sections[d->section].key;
    if (d->entry.given)
        return NULL;
    if (wanted && cps_lex_is(at, length, wanted))
        return read_name(d, value);
    if (d->entry.open && cps_lex_is(at, length, "data") && !strncmp(value, "!!ascii85", 9))
        return read_data(d);
    if (d->entry.open && d->section == BUFFERS && cps_lex_is(at, length, "name"))
        read_buffer_name(d, value);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (keys[i].section == d->section && cps_lex_is(at, length, keys[i].name))
            return read_number(d, value, keys[i].limit,
                               (uint64_t *)((char *)&d->entry + keys[i].member));
    }
    return NULL;
}

/* "- { offset: 0x2000, value: 0x00001000 }", the offset in bytes. */
static struct cps_err *read_register(struct devcore *d)
{
    const struct entry *e = &d->entry;
    const char *at = d->lines.text;
    int64_t offset = 0;
    int64_t value = 0;
    if (!cps_lex_take(&at, "-") || !cps_lex_take(&at, "{") || !cps_lex_take(&at, "offset:"))
        return malformed(d, cps_lex_blank(at), "\"- { offset:\"");
    const char *number = at = cps_lex_blank(at);
    if (!cps_lex_number(&at, &offset) || offset > UINT32_MAX || offset % 4)
        return malformed(d, number, "a multiple of 4 in 32 bits");
    if (!cps_lex_take(&at, ",") || !cps_lex_take(&at, "value:"))
        return malformed(d, cps_lex_blank(at), "\", value:\"");
    number = at = cps_lex_blank(at);
    if (!cps_lex_number(&at, &value) || value > UINT32_MAX)
        return malformed(d, number, "a number of 32 bits");
    if (!cps_lex_take(&at, "}") || *cps_lex_blank(at))
        return malformed(d, cps_lex_blank(at), "\"}\"");
    struct cps_item item = {.kind = CPS_ITEM_REGISTER};
    item.reg.offset = (uint32_t)offset / 4;
    item.reg.value = (uint32_t)value;
    item.reg.section = e->name[0] ? e->name : sections[d->section].name;
    item.reg.context = e->context == UNKNOWN ? -1 : (int)e->context;
    return cps_reading_give_(&d->r, &item);
}

static struct cps_err *give_text(struct devcore *d)
{
    struct cps_item item = {.kind = CPS_ITEM_TEXT, .text = {d->lines.text, d->lines.size, false}};
    return cps_reading_give_(&d->r, &item);
}

/* "(6.3.0.2)" or "(43050a01)"; old kernels may have nothing there. */
static bool read_chip_id(const char *at, uint64_t *ret)
{
    int64_t part = 0;
    char *end = NULL;
    if (!*at)
        return true;
    if (*at++ != '(' || !isxdigit((unsigned char)*at))
        return false;
    if (!strchr(at, '.')) {
        *ret = strtoull(at, &end, 16);
        return *end == ')' && *ret <= UINT32_MAX;
    }
    for (int i = 0; i < 4; i++) {
        if ((i && *at++ != '.') || !cps_lex_number(&at, &part) || part > 255)
            return false;
        *ret = *ret << 8 | (uint64_t)part;
    }
    return *at == ')';
}

static struct cps_err *read_revision(struct devcore *d, const char *value)
{
    const char *at = value;
    int64_t number = 0;
    struct cps_item item = {.kind = CPS_ITEM_CHIP};
    if (!cps_lex_number(&at, &number) || number > UINT32_MAX)
        return malformed(d, value, "a GPU number such as 630");
    item.chip.gpu_id = (uint32_t)number;
    at = cps_lex_blank(at);
    if (!read_chip_id(at, &item.chip.chip_id))
        return malformed(d, at, "a chip id such as (6.3.0.2)");
    return cps_reading_give_(&d->r, &item);
}

/* An unknown section has no name that would live long enough, so its line is given as text. */
static struct cps_err *begin_section(struct devcore *d, size_t length)
{
    struct cps_item item = {.kind = CPS_ITEM_SECTION};
    for (unsigned i = 1; i < SECTIONS; i++) {
        if (cps_lex_is(d->lines.text, length, sections[i].name))
            d->section = (enum section)i;
    }
    d->seen |= 1u << d->section;
    item.section.name = sections[d->section].name;
    item.section.type = d->section;
    CPS_TRY(cps_reading_give_(&d->r, &item));
    return d->section == NO_SECTION ? give_text(d) : NULL;
}

/* Ends the entry before; @p open says that another begins. */
static struct cps_err *next_entry(struct devcore *d, bool open)
{
    CPS_TRY(give_entry(d));
    reset_entry(d, open);
    return NULL;
}

/* A line without indentation ends the section before it. */
static struct cps_err *read_top(struct devcore *d)
{
    const char *text = d->lines.text;
    size_t length = strcspn(text, ":");
    CPS_TRY(next_entry(d, false));
    d->section = NO_SECTION;
    if (!strcmp(text, "---"))
        return NULL;
    if (!text[length])
        return cps_reading_note_(&d->r,
                                 "warning: a line that is no section and no value is ignored");
    if (!text[length + 1])
        return begin_section(d, length);
    if (cps_lex_is(text, length, "revision"))
        return read_revision(d, cps_lex_blank(text + length + 1));
    return give_text(d);
}

static struct cps_err *read_line(struct devcore *d)
{
    CPS_TRY(cps_lines_text_(&d->lines));
    if (!d->lines.size)
        return NULL;
    /* Of a line that is cut nobody knows whether it is all there, unless its end says so. */
    if (d->lines.ended && d->lines.text[d->lines.size - 1] != '}')
        return NULL;
    if (!d->lines.indent)
        return read_top(d);
    switch (d->section) {
    case FAULT:
        return give_text(d);
    case REGISTERS:
    case GMU_REGISTERS:
    case CLUSTERS:
        return strchr(d->lines.text, '{') ? read_register(d) : read_key(d);
    case RINGS:
    case BUFFERS:
    case INDEXED:
        if (d->lines.text[0] == '-')
            CPS_TRY(next_entry(d, true));
        return read_key(d);
    default:
        return NULL;
    }
}

/* What the kernel prints behind the section at hand, whose headings are there also where nothing
 * stands below them. */
static void put_missing(const struct devcore *d, struct cps_buf *out)
{
    const char *between = "the rest of it";
    for (unsigned i = RINGS; i <= DEBUGBUS; i++) {
        if (d->seen >> i & 1)
            continue;
        cps_buf_printf(out, "%s, %s", between, sections[i].name);
        between = "";
    }
    cps_buf_str(out, *between ? between : "");
}

/* That the file ends too early, where, and what is missing therefore: the kernel ends the dumps of
 * a6xx and later with the heading "debugbus:". */
static struct cps_err *tell_end(struct devcore *d)
{
    unsigned late = 1u << GMU_REGISTERS | 1u << SHADER_BLOCKS;
    bool headless = d->section && (d->seen & late) && !(d->seen >> DEBUGBUS & 1);
    const char *name = d->entry.open ? d->entry.name : "";
    CPS_BUF text = {0};
    if (!d->lines.ended && !d->cut && !headless)
        return NULL;
    cps_buf_printf(&text, "truncated at line %llu, in %s%s%s%s: missing: ",
                   (unsigned long long)d->lines.number,
                   sections[d->section].name ? sections[d->section].name : "its head",
                   *name ? " (" : "", name, *name ? ")" : "");
    put_missing(d, &text);
    if (text.failed)
        return cps_err_nomem();
    struct cps_item item = {.kind = CPS_ITEM_NOTE, .text = {text.data, text.size, true}};
    return cps_reading_give_(&d->r, &item);
}

struct cps_err *cps_devcore_read_(struct cps_stream *stream,
                                  const struct cps_capture_limits *limits,
                                  struct cps_item_sink *sink)
{
    struct devcore *d = calloc(1, sizeof(*d));
    if (!d)
        return cps_err_nomem();
    d->r.limits = limits;
    d->r.sink = sink;
    d->lines.stream = stream;
    d->lines.may_end = true;
    reset_entry(d, false);
    struct cps_err *err = next_line(d);
    while (!err && !d->lines.done) {
        err = read_line(d);
        if (!err)
            err = next_line(d);
    }
    if (!err)
        err = give_entry(d);
    if (!err)
        err = tell_end(d);
    free(d->block);
    free(d);
    return err;
}

/* The first line is "---", the next "kernel: ..."; what prints a dump may leave out the first. */
bool cps_devcore_recognise_(const uint8_t *data, size_t size)
{
    return (size >= 4 && (!memcmp(data, "---\n", 4) || !memcmp(data, "---\r", 4))) ||
           (size >= 7 && !memcmp(data, "kernel:", 7));
}
