/* SPDX-License-Identifier: MIT
 * Reads rnndb XML (Mesa's and the kernel's register database) with expat. Only what gives names
 * is looked at; documentation, imports and domains of other layouts are skipped. */
#include <errno.h>
#include <expat.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "isa/base/infile.h"
#include "isa/names/rnn_store.h"

#define MAX_BYTES   ((size_t)64 << 20) /* of a file; the largest real one has 1 MB */
#define CHUNK_BYTES 16384u

/* Its numbers are, in part, not the GPU's: where both have a name, the GPU's is meant. */
static const char gmu_file[] = "a6xx_gmu.xml";

enum kind { OTHER, DOMAIN, ARRAY, STRIPE, REGISTER, BITSET, BITFIELD, ENUM, VALUE };

/* An open XML element. What is not set by its own attributes is inherited from its parent. */
struct frame {
    enum kind kind;
    const char *domain; /* the domain or enum around, or NULL: not one that gives names */
    uint8_t chips;      /* generations in which it exists */
    const char *varset; /* what `variants` means here: an enum, or NULL: generations */
    struct cps_rnn_when when;
    bool is_packet;  /* the words behind a packet's header */
    bool is_indexed; /* an array, or a register with a length */
    bool is_wide;
    bool is_value; /* a register that is one field itself, the first of its fields */
    bool has_own;  /* a register with fields of its own beside those that its type may have */
    bool has_registers;
    const char *name;
    const char *type;
    uint32_t offset, stride, length;
    uint32_t first_field;
};

struct reader {
    struct cps_rnn *rnn;
    XML_Parser parser;
    const char *file;
    bool is_gmu;
    struct cps_err *err; /* the first one; then expat has been told to stop */
    unsigned depth;
    unsigned repeats; /* depth of the array that the row in hand repeats with, or 0 */
    struct frame frame[CPS_RNN_MAX_DEPTH + 1]; /* [0] stands for the file */
};

static CPS_PRINTF(2, 3) void fail(struct reader *reader, const char *format, ...)
{
    if (reader->err)
        return;
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    reader->err = cps_err_new(CPS_ERR_INPUT, "%s: line %lu: %s", reader->file,
                              (unsigned long)XML_GetCurrentLineNumber(reader->parser), message);
    XML_StopParser(reader->parser, XML_FALSE);
}

/* A table refused to grow: too much input, or no memory. */
static void fail_full(struct reader *reader)
{
    if (reader->rnn->names == CPS_RNN_MAX_NAMES)
        fail(reader, "more than %u names", CPS_RNN_MAX_NAMES);
    if (reader->err)
        return;
    reader->err = cps_err_nomem();
    XML_StopParser(reader->parser, XML_FALSE);
}

static const char *attribute(const char **attributes, const char *name)
{
    for (; attributes[0]; attributes += 2) {
        if (!strcmp(attributes[0], name))
            return attributes[1];
    }
    return NULL;
}

/* A number attribute, decimal or 0x...; `fallback` if it is missing. */
static uint32_t number(struct reader *reader, const char **attributes, const char *name,
                       uint32_t fallback)
{
    const char *text = attribute(attributes, name);
    if (!text)
        return fallback;
    bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, is_hex ? 16 : 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || value > UINT32_MAX) {
        fail(reader, "%s=\"%.40s\" is not a 32-bit number", name, text);
        return fallback;
    }
    return (uint32_t)value;
}

/* A copy of a text attribute, or NULL if it is missing. */
static const char *text(struct reader *reader, const char **attributes, const char *name)
{
    const char *value = attribute(attributes, name);
    if (!value)
        return NULL;
    if (strlen(value) > CPS_RNN_MAX_LENGTH) {
        fail(reader, "%s=\"%.40s...\" is longer than %u bytes", name, value, CPS_RNN_MAX_LENGTH);
        return NULL;
    }
    const char *copy = cps_rnn_copy_(reader->rnn, value);
    if (!copy)
        fail_full(reader);
    return copy;
}

/* The place of a bit field, or of the one value that a register is. */
static struct cps_rnn_field place(struct reader *reader, const char **attributes, uint32_t low,
                                  uint32_t high, const char *name)
{
    uint32_t radix = number(reader, attributes, "radix", 0);
    uint32_t shift = number(reader, attributes, "shr", 0);
    if (low > high || high > 63)
        fail(reader, "bits %u to %u are not a bit field", low, high);
    if (radix > 63 || shift > 63)
        fail(reader, "radix %u, shr %u, expected at most 63", radix, shift);
    const struct frame *frame = &reader->frame[reader->depth];
    return (struct cps_rnn_field){
        .field = {.name = name,
                  .low = (uint8_t)low,
                  .high = (uint8_t)high,
                  .chips = frame->chips,
                  .type = {.radix = (uint8_t)radix,
                           .shift = (uint8_t)shift,
                           .selects = attribute(attributes, "addvariant")}},
        .type = text(reader, attributes, "type"),
        .when = frame->when,
    };
}

static void add_field(struct reader *reader, const struct cps_rnn_field *field)
{
    if (!reader->err && !cps_rnn_add_field_(reader->rnn, field))
        fail_full(reader);
}

static const char *required_name(struct reader *reader, const char **attributes)
{
    const char *name = text(reader, attributes, "name");
    if (!name)
        fail(reader, "an element that needs a name has none");
    return name;
}

/* Emits one register or value, whose full name is now known. */
static void add_row(struct reader *reader, const char *name, uint32_t at)
{
    struct frame *frame = &reader->frame[reader->depth];
    struct cps_rnn_row row = {
        .row = {.name = cps_rnn_copy_(reader->rnn, name),
                .number = at,
                .first_field = frame->first_field,
                .field_count = reader->rnn->read_count - frame->first_field,
                .chips = frame->chips,
                .wide = frame->is_wide,
                .is_gmu = reader->is_gmu},
        .domain = frame->domain,
        .type = frame->type,
        .has_own = frame->has_own,
        .when = frame->when,
    };
    /* Outermost arrays of packets repeat as they are: some last as long as the packet does. */
    const struct frame *array = reader->repeats ? &reader->frame[reader->repeats] : NULL;
    row.row.stride = array ? (uint16_t)array->stride : 0;
    row.row.length = array ? (uint16_t)array->length : 0;
    if (!row.row.name || !cps_rnn_add_row_(reader->rnn, &row))
        fail_full(reader);
}

/* Expands the arrays around a register, outermost first: "ARRAY[i].INNER[j].NAME". Each leaf is
 * a row, so the limit on names bounds the work however arrays are nested. */
static void expand(struct reader *reader, unsigned level, const char *prefix, uint32_t base)
{
    while (level < reader->depth && reader->frame[level].kind != ARRAY)
        level++;
    const struct frame *frame = &reader->frame[level];
    if (frame->is_packet && level < reader->depth && !reader->repeats) {
        reader->repeats = level;
        expand(reader, level + 1, prefix, base + frame->offset);
        reader->repeats = 0;
        return;
    }
    char name[CPS_RNN_MAX_LENGTH + 1];
    for (uint32_t i = 0; i < frame->length && !reader->err; i++) {
        const char *dot = level < reader->depth ? "." : "";
        const char *own = frame->name ? frame->name : "";
        int size = frame->is_indexed
                       ? snprintf(name, sizeof(name), "%s%s[%u]%s", prefix, own, (unsigned)i, dot)
                       : snprintf(name, sizeof(name), "%s%s", prefix, own);
        uint32_t at = base + frame->offset + i * frame->stride;
        if (size < 0 || (size_t)size >= sizeof(name))
            fail(reader, "a name is longer than %u bytes", CPS_RNN_MAX_LENGTH);
        else if (level < reader->depth)
            expand(reader, level + 1, name, at);
        else
            add_row(reader, name, at);
    }
}

/* Spaces of registers, and packets; other domains describe what stands in memory. */
static void open_domain(struct reader *reader, struct frame *frame, const char **attributes)
{
    const char *name = text(reader, attributes, "name");
    frame->is_packet = name && !strncmp(name, "CP_", 3);
    frame->domain = name ? cps_names_domain_(reader->rnn->layout, name) : NULL;
}

/* Offset and repetition, common to arrays and registers. */
static void open_place(struct reader *reader, struct frame *frame, const char **attributes)
{
    frame->offset = number(reader, attributes, "offset", 0);
    frame->stride = number(reader, attributes, "stride", 1);
    frame->length = number(reader, attributes, "length", 1);
    /* None is refused as well: empty arrays around each other would be work without rows. */
    if (frame->length < 1 || frame->length > CPS_RNN_MAX_ELEMENTS)
        fail(reader, "length %u, expected 1 to %u", frame->length, CPS_RNN_MAX_ELEMENTS);
    if (frame->is_packet && (frame->stride < 1 || frame->stride > CPS_RNN_MAX_ELEMENTS))
        fail(reader, "stride %u, expected 1 to %u", frame->stride, CPS_RNN_MAX_ELEMENTS);
}

static void open_array(struct reader *reader, struct frame *frame, const char **attributes)
{
    frame->name = text(reader, attributes, "name");
    frame->is_indexed = true;
    open_place(reader, frame, attributes);
}

/* An array without registers stands for registers of its own name. */
static void close_array(struct reader *reader, struct frame *frame)
{
    if (frame->has_registers || !frame->domain || frame->is_packet || !frame->name)
        return;
    frame->is_wide = frame->stride == 2;
    frame->first_field = reader->rnn->read_count;
    expand(reader, 1, "", 0);
}

/* A register that says what it holds is one field; fields of its own come behind it and count. */
static void open_value_of(struct reader *reader, struct frame *frame, const char **attributes)
{
    bool is_bit = attribute(attributes, "pos");
    frame->type = text(reader, attributes, "type");
    if (!frame->type && !is_bit && !attribute(attributes, "high"))
        return;
    uint32_t low = number(reader, attributes, "low", number(reader, attributes, "pos", 0));
    uint32_t last = is_bit ? low : frame->is_wide ? 63 : 31;
    struct cps_rnn_field field =
        place(reader, attributes, low, number(reader, attributes, "high", last), "");
    add_field(reader, &field);
    frame->is_value = true;
}

static void open_register(struct reader *reader, struct frame *frame, const char **attributes)
{
    frame->name = required_name(reader, attributes);
    open_place(reader, frame, attributes);
    frame->is_indexed = frame->length > 1;
    frame->first_field = reader->rnn->read_count;
    open_value_of(reader, frame, attributes);
    for (unsigned level = 1; level < reader->depth; level++)
        reader->frame[level].has_registers = true;
}

static void open_register64(struct reader *reader, struct frame *frame, const char **attributes)
{
    frame->is_wide = true;
    open_register(reader, frame, attributes);
}

static void close_register(struct reader *reader, struct frame *frame)
{
    bool has_fields = reader->rnn->read_count > frame->first_field + 1;
    if (frame->is_value && has_fields) {
        frame->first_field++;
        frame->has_own = true;
    }
    if (frame->domain)
        expand(reader, 1, "", 0);
}

static void open_bitset(struct reader *reader, struct frame *frame, const char **attributes)
{
    frame->name = required_name(reader, attributes);
    frame->first_field = reader->rnn->read_count;
}

static void close_bitset(struct reader *reader, struct frame *frame)
{
    struct cps_rnn_bitset bitset = {frame->name, frame->first_field,
                                    reader->rnn->read_count - frame->first_field};
    if (!cps_rnn_add_bitset_(reader->rnn, &bitset))
        fail_full(reader);
}

static void open_bitfield(struct reader *reader, struct frame *frame, const char **attributes)
{
    uint32_t pos = number(reader, attributes, "pos", 0);
    uint32_t low = number(reader, attributes, "low", pos);
    uint32_t high = number(reader, attributes, "high", low);
    const char *name = required_name(reader, attributes);
    struct cps_rnn_field field = place(reader, attributes, low, high, name ? name : "");
    /* Offsets of registers have 18 bits, and are plain numbers in rnndb. */
    if (frame->is_packet && low == 0 && high == 17 && name && !strstr(name, "SCRATCH"))
        field.field.type.kind = CPS_KIND_REG;
    add_field(reader, &field);
}

static void open_enum(struct reader *reader, struct frame *frame, const char **attributes)
{
    frame->domain = text(reader, attributes, "name");
}

static void open_value(struct reader *reader, struct frame *frame, const char **attributes)
{
    bool is_wanted = reader->frame[reader->depth - 1].kind == ENUM && frame->domain;
    if (!is_wanted || !attribute(attributes, "value"))
        return;
    frame->first_field = reader->rnn->read_count;
    const char *name = required_name(reader, attributes);
    uint32_t value = number(reader, attributes, "value", 0);
    if (!reader->err)
        add_row(reader, name, value);
}

static const struct element {
    const char *name;
    enum kind kind;
    void (*open)(struct reader *, struct frame *, const char **attributes);
    void (*close)(struct reader *, struct frame *);
} elements[] = {
    {"domain", DOMAIN, open_domain, NULL},
    {"array", ARRAY, open_array, close_array},
    {"stripe", STRIPE, NULL, NULL},
    {"reg32", REGISTER, open_register, close_register},
    {"reg64", REGISTER, open_register64, close_register},
    {"bitset", BITSET, open_bitset, close_bitset},
    {"bitfield", BITFIELD, open_bitfield, NULL},
    {"enum", ENUM, open_enum, NULL},
    {"value", VALUE, open_value, NULL},
};

static const struct element *find_element(const char *name)
{
    for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++) {
        if (!strcmp(elements[i].name, name))
            return &elements[i];
    }
    return NULL;
}

/* Narrows what is inherited by the element's own varset and variants. */
static void inherit(struct reader *reader, struct frame *frame, const struct frame *parent,
                    const char **attributes)
{
    *frame = (struct frame){.domain = parent->domain,
                            .chips = parent->chips,
                            .varset = parent->varset,
                            .when = parent->when,
                            .is_packet = parent->is_packet,
                            .length = 1};
    const char *varset = attribute(attributes, "varset");
    const char *variants = attribute(attributes, "variants");
    if (varset)
        frame->varset = strcmp(varset, "chip") != 0 ? text(reader, attributes, "varset") : NULL;
    if (variants && !frame->varset)
        frame->chips &= cps_chips_parse_(variants);
    else if (variants)
        frame->when = (struct cps_rnn_when){frame->varset, text(reader, attributes, "variants")};
}

static void XMLCALL start(void *context, const char *name, const char **attributes)
{
    struct reader *reader = context;
    if (reader->err)
        return;
    if (reader->depth == CPS_RNN_MAX_DEPTH) {
        fail(reader, "elements are nested more than %u deep", CPS_RNN_MAX_DEPTH);
        return;
    }
    struct frame *parent = &reader->frame[reader->depth++];
    struct frame *frame = &reader->frame[reader->depth];
    inherit(reader, frame, parent, attributes);
    const struct element *element = find_element(name);
    if (!element) {
        frame->domain = NULL; /* what stands in documentation is an example */
        return;
    }
    frame->kind = element->kind;
    if (element->open)
        element->open(reader, frame, attributes);
}

static void XMLCALL end(void *context, const char *name)
{
    struct reader *reader = context;
    if (reader->err)
        return;
    const struct element *element = find_element(name);
    if (element && element->close)
        element->close(reader, &reader->frame[reader->depth]);
    reader->depth--;
}

/* rnndb has no document type; refusing one refuses every entity trick with it. */
static void XMLCALL refuse_doctype(void *context, const char *name, const char *system,
                                   const char *public, int has_internal)
{
    (void)name;
    (void)system;
    (void)public;
    (void)has_internal;
    fail(context, "a document type declaration, which rnndb files do not have");
}

/* In pieces, so that it ends soon behind the first error. */
static void feed(struct reader *reader, const uint8_t *data, size_t size)
{
    for (bool is_last = false; !is_last && !reader->err;) {
        size_t some = size < CHUNK_BYTES ? size : CHUNK_BYTES;
        is_last = some == size;
        enum XML_Status status = XML_Parse(reader->parser, (const char *)data, (int)some, is_last);
        enum XML_Error code = XML_GetErrorCode(reader->parser);
        if (status == XML_STATUS_ERROR && code == XML_ERROR_NO_MEMORY && !reader->err)
            reader->err = cps_err_nomem();
        else if (status == XML_STATUS_ERROR)
            fail(reader, "%s", XML_ErrorString(code));
        data += some;
        size -= some;
    }
}

static bool is_gmu_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    return !strcmp(slash ? slash + 1 : path, gmu_file);
}

struct cps_err *cps_rnn_parse_(struct cps_rnn *rnn, const char *name, const void *data, size_t size)
{
    struct reader *reader = calloc(1, sizeof(*reader));
    XML_Parser parser = XML_ParserCreate(NULL);
    struct cps_err *err = cps_err_nomem();
    if (reader && parser) {
        reader->rnn = rnn;
        reader->parser = parser;
        reader->file = name;
        reader->is_gmu = is_gmu_file(name);
        reader->frame[0] = (struct frame){.chips = CPS_CHIPS_ALL};
        XML_SetUserData(parser, reader);
        XML_SetElementHandler(parser, start, end);
        XML_SetStartDoctypeDeclHandler(parser, refuse_doctype);
        feed(reader, data, size);
        err = reader->err;
    }
    if (parser)
        XML_ParserFree(parser);
    free(reader);
    return err;
}

/* What these define is used by the others; alone they are no database. */
static const char *const shared_files[] = {"adreno_common.xml", "a6xx_enums.xml", "a7xx_enums.xml",
                                           "a8xx_enums.xml", NULL};
static const char *const a5xx_files[] = {"a5xx.xml", NULL};
static const char *const later_files[] = {"a6xx.xml", gmu_file, "a7xx.xml", "a8xx.xml", NULL};
static const char *const all_files[] = {"adreno_control_regs.xml", "adreno_pipe_regs.xml",
                                        "adreno_pm4.xml", NULL};

/* Reads DIR/NAME or DIR/adreno/NAME; counts it in `found` if it is there. */
static struct cps_err *load_file(struct cps_rnn *rnn, const char *dir, const char *name,
                                 unsigned *found)
{
    static const char *const places[] = {"", "adreno/"};
    for (unsigned i = 0; i < 2; i++) {
        CPS_BUF path = {0};
        cps_buf_printf(&path, "%s/%s%s", dir, places[i], name);
        if (path.failed)
            return cps_err_nomem();
        if (access(cps_buf_text(&path), F_OK) && (errno == ENOENT || errno == ENOTDIR))
            continue;
        CPS_FREE uint8_t *data = NULL;
        size_t size = 0;
        CPS_TRY(cps_infile_all_(cps_buf_text(&path), MAX_BYTES, &data, &size));
        CPS_TRY(cps_rnn_parse_(rnn, cps_buf_text(&path), data, size));
        *found += 1;
        return NULL;
    }
    return NULL;
}

static struct cps_err *load_list(struct cps_rnn *rnn, const char *dir, const char *const *names,
                                 unsigned *found)
{
    for (; *names; names++)
        CPS_TRY(load_file(rnn, dir, *names, found));
    return NULL;
}

static struct cps_err *load(struct cps_rnn *rnn, const char *dir)
{
    bool is_a5xx = cps_layout_gen(rnn->layout) == CPS_A5XX;
    const char *const *own_files = is_a5xx ? a5xx_files : later_files;
    unsigned ignored = 0;
    unsigned found = 0;
    CPS_TRY(load_list(rnn, dir, shared_files, &ignored));
    CPS_TRY(load_list(rnn, dir, own_files, &found));
    CPS_TRY(load_list(rnn, dir, all_files, &found));
    if (!found)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s: no rnndb XML here: expected %s, %s, %s or %s, or adreno/ with them",
                           dir, own_files[0], all_files[0], all_files[1], all_files[2]);
    return cps_rnn_finish_(rnn);
}

struct cps_err *cps_rnn_load_(enum cps_layout layout, const char *dir, struct cps_rnn **ret)
{
    struct cps_rnn *rnn = NULL;
    CPS_TRY(cps_rnn_create_(layout, &rnn));
    struct cps_err *err = load(rnn, dir);
    if (err) {
        cps_rnn_destroy_(rnn);
        return err;
    }
    *ret = rnn;
    return NULL;
}
