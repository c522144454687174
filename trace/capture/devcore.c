/* SPDX-License-Identifier: MIT
 * Reads the kernel's devcoredump of a crashed GPU: text in a small subset of YAML, line by line.
 * What has no blank in front of it begins a section; "- " begins an entry of one. */
#include "trace/capture/devcore.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "isa/base/lex.h"

/* clang-format off */
static const char *const section_name[CPS_DEVCORE_SECTION_COUNT] = {
    [CPS_DEVCORE_RINGS]         = "ringbuffer",
    [CPS_DEVCORE_BUFFERS]       = "bos",
    [CPS_DEVCORE_REGISTERS]     = "registers",
    [CPS_DEVCORE_GMU_REGISTERS] = "registers-gmu",
    [CPS_DEVCORE_INDEXED]       = "indexed-registers",
    [CPS_DEVCORE_SHADER_BLOCKS] = "shader-blocks",
    [CPS_DEVCORE_CLUSTERS]      = "clusters",
    [CPS_DEVCORE_DEBUGBUS]      = "debugbus",
    [CPS_DEVCORE_FAULT]         = "fault-info",
    [CPS_DEVCORE_GMU_LOG]       = "gmu-log",
    [CPS_DEVCORE_GMU_HFI]       = "gmu-hfi",
    [CPS_DEVCORE_GMU_DEBUG]     = "gmu-debug",
};
/* clang-format on */

/* The key that names the entry of a section. */
static const char *const name_key[CPS_DEVCORE_SECTION_COUNT] = {
    [CPS_DEVCORE_INDEXED] = "regs-name",
    [CPS_DEVCORE_CLUSTERS] = "cluster-name",
};

/* A number that an entry can state, and where it goes. With 63 bits no range can wrap. */
static const struct key {
    enum cps_devcore_section section;
    const char *name;
    size_t member;
    int64_t limit;
} keys[] = {
    {CPS_DEVCORE_RINGS, "id", offsetof(struct cps_devcore_entry, id), UINT32_MAX},
    {CPS_DEVCORE_RINGS, "iova", offsetof(struct cps_devcore_entry, iova), INT64_MAX},
    {CPS_DEVCORE_RINGS, "size", offsetof(struct cps_devcore_entry, size), INT64_MAX},
    {CPS_DEVCORE_RINGS, "rptr", offsetof(struct cps_devcore_entry, rptr), UINT32_MAX},
    {CPS_DEVCORE_RINGS, "wptr", offsetof(struct cps_devcore_entry, wptr), UINT32_MAX},
    {CPS_DEVCORE_RINGS, "last-fence", offsetof(struct cps_devcore_entry, last_fence), UINT32_MAX},
    {CPS_DEVCORE_RINGS, "retired-fence", offsetof(struct cps_devcore_entry, retired_fence),
     UINT32_MAX},
    {CPS_DEVCORE_BUFFERS, "iova", offsetof(struct cps_devcore_entry, iova), INT64_MAX},
    {CPS_DEVCORE_BUFFERS, "size", offsetof(struct cps_devcore_entry, size), INT64_MAX},
    {CPS_DEVCORE_INDEXED, "dwords", offsetof(struct cps_devcore_entry, dwords), UINT32_MAX},
    {CPS_DEVCORE_CLUSTERS, "context", offsetof(struct cps_devcore_entry, context), INT_MAX},
};

/* The error that something else was expected @p at a place of the line. */
static struct cps_err *malformed(const struct cps_devcore *d, const char *at, const char *expected)
{
    int shown = 0;
    while (shown < 24 && isprint((unsigned char)at[shown]))
        shown++;
    return cps_err_input(cps_stream_name(d->lines.stream),
                         d->lines.offset + d->lines.indent + (uint64_t)(at - d->lines.text),
                         shown ? "\"%.*s\", expected %s" : "end of line%.*s, expected %s", shown,
                         at, expected);
}

static bool matches(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && !memcmp(text, word, length);
}

/* A number that fills the rest of the line. Kernels print fences with a sign. */
static struct cps_err *read_number(struct cps_devcore *d, const char *at, int64_t limit,
                                   uint64_t *ret)
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

static struct cps_err *read_name(struct cps_devcore *d, const char *at)
{
    size_t length = strlen(at);
    if (!length || length >= sizeof(d->entry.name))
        return malformed(d, at, "a name of at most 63 characters");
    memcpy(d->entry.name, at, length + 1);
    d->entry.context = CPS_DEVCORE_UNKNOWN;
    return NULL;
}

/* Newer kernels print the name of a buffer, padded with blanks; it is only there to be shown, so
 * that one that is too long is cut. */
static void read_buffer_name(struct cps_devcore *d, const char *at)
{
    size_t length = strnlen(at, sizeof(d->entry.name) - 1);
    while (length && at[length - 1] == ' ')
        length--;
    memcpy(d->entry.name, at, length);
    d->entry.name[length] = '\0';
}

/* "key: value" or "- key: value". Unknown keys, and those behind the contents, are passed over. */
static struct cps_err *read_key(struct cps_devcore *d)
{
    const char *text = d->lines.text;
    const char *at = *text == '-' ? cps_lex_blank(text + 1) : text;
    size_t length = strcspn(at, ":");
    const char *value = cps_lex_blank(at + length + (at[length] == ':'));
    const char *wanted = name_key[d->section];
    if (d->entry.given)
        return NULL;
    if (wanted && matches(at, length, wanted))
        return read_name(d, value);
    if (d->entry.open && matches(at, length, "data") && !strncmp(value, "!!ascii85", 9))
        return cps_devcore_data_(d);
    if (d->entry.open && d->section == CPS_DEVCORE_BUFFERS && matches(at, length, "name"))
        read_buffer_name(d, value);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (keys[i].section == d->section && matches(at, length, keys[i].name))
            return read_number(d, value, keys[i].limit,
                               (uint64_t *)((char *)&d->entry + keys[i].member));
    }
    return NULL;
}

/* Moves *at behind @p word, if that is what stands there behind blanks. */
static bool accept(const char **at, const char *word)
{
    *at = cps_lex_blank(*at);
    if (strncmp(*at, word, strlen(word)) != 0)
        return false;
    *at += strlen(word);
    return true;
}

/* "- { offset: 0x2000, value: 0x00001000 }", the offset in bytes. */
static struct cps_err *read_register(struct cps_devcore *d)
{
    const struct cps_devcore_entry *e = &d->entry;
    const char *at = d->lines.text;
    int64_t offset = 0;
    int64_t value = 0;
    if (!accept(&at, "-") || !accept(&at, "{") || !accept(&at, "offset:"))
        return malformed(d, at, "\"- { offset:\"");
    const char *number = at = cps_lex_blank(at);
    if (!cps_lex_number(&at, &offset) || offset > UINT32_MAX || offset % 4)
        return malformed(d, number, "a multiple of 4 in 32 bits");
    if (!accept(&at, ",") || !accept(&at, "value:"))
        return malformed(d, at, "\", value:\"");
    number = at = cps_lex_blank(at);
    if (!cps_lex_number(&at, &value) || value > UINT32_MAX)
        return malformed(d, number, "a number of 32 bits");
    if (!accept(&at, "}") || *cps_lex_blank(at))
        return malformed(d, at, "\"}\"");
    struct cps_item item = {.kind = CPS_ITEM_REGISTER};
    item.reg.offset = (uint32_t)offset / 4;
    item.reg.value = (uint32_t)value;
    item.reg.section = e->name[0] ? e->name : section_name[d->section];
    item.reg.context = e->context == CPS_DEVCORE_UNKNOWN ? -1 : (int)e->context;
    return cps_devcore_give_(d, &item);
}

static struct cps_err *give_text(struct cps_devcore *d)
{
    struct cps_item item = {.kind = CPS_ITEM_TEXT, .text = {d->lines.text, d->lines.size, false}};
    return cps_devcore_give_(d, &item);
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

static struct cps_err *read_revision(struct cps_devcore *d, const char *value)
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
    return cps_devcore_give_(d, &item);
}

/* An unknown section has no name that would live long enough, so its line is given as text. */
static struct cps_err *begin_section(struct cps_devcore *d, size_t length)
{
    struct cps_item item = {.kind = CPS_ITEM_SECTION};
    for (unsigned i = 1; i < CPS_DEVCORE_SECTION_COUNT; i++) {
        if (matches(d->lines.text, length, section_name[i]))
            d->section = (enum cps_devcore_section)i;
    }
    d->seen |= 1u << d->section;
    item.section.name = section_name[d->section];
    item.section.type = d->section;
    CPS_TRY(cps_devcore_give_(d, &item));
    return d->section == CPS_DEVCORE_NO_SECTION ? give_text(d) : NULL;
}

/* Ends the entry before; @p open says that another begins. */
static struct cps_err *next_entry(struct cps_devcore *d, bool open)
{
    CPS_TRY(cps_devcore_entry_(d));
    cps_devcore_reset_(d, open);
    return NULL;
}

/* A line without indentation ends the section before it. */
static struct cps_err *read_top(struct cps_devcore *d)
{
    const char *text = d->lines.text;
    size_t length = strcspn(text, ":");
    CPS_TRY(next_entry(d, false));
    d->section = CPS_DEVCORE_NO_SECTION;
    if (!strcmp(text, "---"))
        return NULL;
    if (!text[length])
        return cps_devcore_note_(d, "warning: a line that is no section and no value is ignored");
    if (!text[length + 1])
        return begin_section(d, length);
    if (matches(text, length, "revision"))
        return read_revision(d, cps_lex_blank(text + length + 1));
    return give_text(d);
}

static struct cps_err *read_line(struct cps_devcore *d)
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
    case CPS_DEVCORE_FAULT:
        return give_text(d);
    case CPS_DEVCORE_REGISTERS:
    case CPS_DEVCORE_GMU_REGISTERS:
    case CPS_DEVCORE_CLUSTERS:
        return strchr(d->lines.text, '{') ? read_register(d) : read_key(d);
    case CPS_DEVCORE_RINGS:
    case CPS_DEVCORE_BUFFERS:
    case CPS_DEVCORE_INDEXED:
        if (d->lines.text[0] == '-')
            CPS_TRY(next_entry(d, true));
        return read_key(d);
    default:
        return NULL;
    }
}

/* What the kernel prints behind the section at hand, whose headings are there also where nothing
 * stands below them. */
static void put_missing(const struct cps_devcore *d, struct cps_buf *out)
{
    const char *between = "the rest of it";
    for (unsigned i = CPS_DEVCORE_RINGS; i <= CPS_DEVCORE_DEBUGBUS; i++) {
        if (d->seen >> i & 1)
            continue;
        cps_buf_printf(out, "%s, %s", between, section_name[i]);
        between = "";
    }
    cps_buf_str(out, *between ? between : "");
}

/* That the file ends too early, where, and what is missing therefore: the kernel ends the dumps of
 * a6xx and later with the heading "debugbus:". */
static struct cps_err *tell_end(struct cps_devcore *d)
{
    unsigned late = 1u << CPS_DEVCORE_GMU_REGISTERS | 1u << CPS_DEVCORE_SHADER_BLOCKS;
    bool headless = d->section && (d->seen & late) && !(d->seen >> CPS_DEVCORE_DEBUGBUS & 1);
    const char *name = d->entry.open ? d->entry.name : "";
    CPS_BUF text = {0};
    if (!d->lines.ended && !d->cut && !headless)
        return NULL;
    cps_buf_printf(&text, "the file is cut in line %llu, in %s%s%s%s: missing are ",
                   (unsigned long long)d->lines.number,
                   section_name[d->section] ? section_name[d->section] : "its head",
                   *name ? " (" : "", name, *name ? ")" : "");
    put_missing(d, &text);
    if (text.failed)
        return cps_err_nomem();
    struct cps_item item = {.kind = CPS_ITEM_NOTE, .text = {text.data, text.size, true}};
    return cps_devcore_give_(d, &item);
}

struct cps_err *cps_devcore_read_(struct cps_stream *stream,
                                  const struct cps_capture_limits *limits,
                                  struct cps_item_sink *sink)
{
    struct cps_devcore *d = calloc(1, sizeof(*d));
    if (!d)
        return cps_err_nomem();
    d->limits = limits;
    d->sink = sink;
    d->lines.stream = stream;
    d->lines.may_end = true;
    cps_devcore_reset_(d, false);
    struct cps_err *err = cps_lines_start_(&d->lines);
    while (!err && !d->lines.done) {
        err = read_line(d);
        if (!err)
            err = cps_lines_start_(&d->lines);
    }
    if (!err)
        err = cps_devcore_entry_(d);
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
