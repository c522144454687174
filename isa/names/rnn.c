/* SPDX-License-Identifier: MIT
 * Reads rnndb XML (Mesa's and the kernel's register database) with expat. Only what gives names
 * is looked at; documentation, imports and domains of other layouts are skipped. */
#include <errno.h>
#include <expat.h>
#include <stdarg.h>
#include <stdio.h>

#include "isa/nv/rnn_nv.h"

#define CHUNK_BYTES 16384u

/* Its numbers are, in part, not the GPU's: where both have a name, the GPU's is meant. */
static const char gmu_file[] = CPS_RNN_GMU_FILE;

void cps_rnn_fail_(struct reader *reader, const char *format, ...)
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
void cps_rnn_fail_full_(struct reader *reader)
{
    if (reader->rnn->names == CPS_RNN_MAX_NAMES)
        cps_rnn_fail_(reader, "more than %u names", CPS_RNN_MAX_NAMES);
    if (reader->err)
        return;
    reader->err = cps_err_nomem();
    XML_StopParser(reader->parser, XML_FALSE);
}

const char *cps_rnn_attribute_(const char **attributes, const char *name)
{
    for (; attributes[0]; attributes += 2) {
        if (!strcmp(attributes[0], name))
            return attributes[1];
    }
    return NULL;
}

/* A number attribute, decimal or 0x...; `fallback` if it is missing. */
uint32_t cps_rnn_number_(struct reader *reader, const char **attributes, const char *name,
                         uint32_t fallback)
{
    const char *text = cps_rnn_attribute_(attributes, name);
    if (!text)
        return fallback;
    bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, is_hex ? 16 : 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || value > UINT32_MAX) {
        cps_rnn_fail_(reader, "%s=\"%.40s\" is not a 32-bit number", name, text);
        return fallback;
    }
    return (uint32_t)value;
}

/* A copy of a text attribute, or NULL if it is missing. */
const char *cps_rnn_text_(struct reader *reader, const char **attributes, const char *name)
{
    const char *value = cps_rnn_attribute_(attributes, name);
    if (!value)
        return NULL;
    if (strlen(value) > CPS_RNN_MAX_LENGTH) {
        cps_rnn_fail_(reader, "%s=\"%.40s...\" is longer than %u bytes", name, value,
                      CPS_RNN_MAX_LENGTH);
        return NULL;
    }
    const char *copy = cps_rnn_copy_(reader->rnn, value);
    if (!copy)
        cps_rnn_fail_full_(reader);
    return copy;
}

/* The place of a bit field, or of the one value that a register is. */
static struct cps_rnn_field place(struct reader *reader, const char **attributes, uint32_t low,
                                  uint32_t high, const char *name)
{
    uint32_t radix = cps_rnn_number_(reader, attributes, "radix", 0);
    uint32_t shift = cps_rnn_number_(reader, attributes, "shr", 0);
    if (low > high || high > 63)
        cps_rnn_fail_(reader, "bits %u to %u are not a bit field", low, high);
    if (radix > 63 || shift > 63)
        cps_rnn_fail_(reader, "radix %u, shr %u, expected at most 63", radix, shift);
    const struct frame *frame = &reader->frame[reader->depth];
    return (struct cps_rnn_field){
        .field = {.name = name,
                  .low = (uint8_t)low,
                  .high = (uint8_t)high,
                  .chips = frame->chips,
                  .type = {.radix = (uint8_t)radix,
                           .shift = (uint8_t)shift,
                           .selects = cps_rnn_attribute_(attributes, "addvariant")}},
        .type = cps_rnn_text_(reader, attributes, "type"),
        .when = frame->when,
    };
}

static void add_field(struct reader *reader, const struct cps_rnn_field *field)
{
    if (!reader->err && !cps_rnn_add_field_(reader->rnn, field))
        cps_rnn_fail_full_(reader);
}

static const char *required_name(struct reader *reader, const char **attributes)
{
    const char *name = cps_rnn_text_(reader, attributes, "name");
    if (!name)
        cps_rnn_fail_(reader, "an element that needs a name has none");
    return name;
}

/* Emits one register or value, whose full name is now known. */
void cps_rnn_named_row_(struct reader *reader, const char *name, uint32_t at)
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
        cps_rnn_fail_full_(reader);
}

/* Expands the arrays around a register, outermost first: "ARRAY[i].INNER[j].NAME". Each leaf is
 * a row, so the limit on names bounds the work however arrays are nested. NVIDIA's stripes are
 * arrays, too; one without a name gives its index to what is in it. */
static void expand(struct reader *reader, unsigned level, const char *prefix, const char *indices,
                   uint32_t base)
{
    bool nv = reader->rnn->nv;
    while (level < reader->depth && reader->frame[level].kind != ARRAY &&
           (!nv || reader->frame[level].kind != STRIPE))
        level++;
    const struct frame *frame = &reader->frame[level];
    if (frame->is_packet && level < reader->depth && !reader->repeats) {
        reader->repeats = level;
        expand(reader, level + 1, prefix, "", base + frame->offset);
        reader->repeats = 0;
        return;
    }
    bool passes_on = nv && !frame->name;
    for (uint32_t i = 0; i < frame->length && !reader->err; i++) {
        char name[CPS_RNN_MAX_LENGTH + 1];
        char own[16] = "";
        if (frame->is_indexed)
            snprintf(own, sizeof(own), "[%u]", (unsigned)i);
        int size = snprintf(name, sizeof(name), "%s%s%s%s%s", passes_on ? "" : prefix,
                            frame->name ? frame->name : "", indices, own,
                            level < reader->depth && !passes_on ? "." : "");
        uint32_t at = base + frame->offset + i * frame->stride;
        if (size < 0 || (size_t)size >= sizeof(name))
            cps_rnn_fail_(reader, "a name is longer than %u bytes", CPS_RNN_MAX_LENGTH);
        else if (level == reader->depth)
            cps_rnn_named_row_(reader, name, at);
        else
            expand(reader, level + 1, passes_on ? prefix : name, passes_on ? name : "", at);
    }
}

/* Spaces of registers, and packets; other domains describe what stands in memory. */
static void open_domain(struct reader *reader, struct frame *frame, const char **attributes)
{
    const char *name = cps_rnn_text_(reader, attributes, "name");
    frame->is_packet = name && !strncmp(name, "CP_", 3);
    frame->domain = name ? cps_names_domain_(reader->rnn->layout, name) : NULL;
    if (reader->rnn->nv && name && strcmp(name, "NV_MMIO") != 0)
        frame->domain = NULL; /* objects, commands: nothing here has numbers of them */
}

/* Offset and repetition, common to arrays and registers. */
static void open_place(struct reader *reader, struct frame *frame, const char **attributes)
{
    frame->offset = cps_rnn_number_(reader, attributes, "offset", 0);
    uint32_t stride = reader->rnn->nv ? frame->width / 8 : 1; /* there, offsets count bytes */
    frame->stride = cps_rnn_number_(reader, attributes, "stride", stride);
    frame->length = cps_rnn_number_(reader, attributes, "length", 1);
    if (reader->rnn->nv)
        return;
    /* None is refused as well: empty arrays around each other would be work without rows. */
    if (frame->length < 1 || frame->length > CPS_RNN_MAX_ELEMENTS)
        cps_rnn_fail_(reader, "length %u, expected 1 to %u", frame->length, CPS_RNN_MAX_ELEMENTS);
    if (frame->is_packet && (frame->stride < 1 || frame->stride > CPS_RNN_MAX_ELEMENTS))
        cps_rnn_fail_(reader, "stride %u, expected 1 to %u", frame->stride, CPS_RNN_MAX_ELEMENTS);
}

static void open_array(struct reader *reader, struct frame *frame, const char **attributes)
{
    frame->name = cps_rnn_text_(reader, attributes, "name");
    open_place(reader, frame, attributes);
    frame->is_indexed = frame->length > 1 || !reader->rnn->nv;
}

/* Adreno's only stand for a condition. */
static void open_stripe(struct reader *reader, struct frame *frame, const char **attributes)
{
    if (reader->rnn->nv)
        open_array(reader, frame, attributes);
}

/* An array without registers stands for registers of its own name. */
static void close_array(struct reader *reader, struct frame *frame)
{
    if (frame->has_registers || !frame->domain || frame->is_packet || !frame->name ||
        reader->rnn->nv)
        return;
    frame->is_wide = frame->stride == 2;
    frame->first_field = reader->rnn->read_count;
    expand(reader, 1, "", "", 0);
}

/* A register that says what it holds is one field; fields of its own come behind it and count. */
static void open_value_of(struct reader *reader, struct frame *frame, const char **attributes)
{
    bool is_bit = cps_rnn_attribute_(attributes, "pos");
    frame->type = cps_rnn_text_(reader, attributes, "type");
    if (!frame->type && !is_bit && !cps_rnn_attribute_(attributes, "high"))
        return;
    uint32_t low =
        cps_rnn_number_(reader, attributes, "low", cps_rnn_number_(reader, attributes, "pos", 0));
    uint32_t last = is_bit ? low : frame->width - 1;
    struct cps_rnn_field field =
        place(reader, attributes, low, cps_rnn_number_(reader, attributes, "high", last), "");
    add_field(reader, &field);
    frame->is_value = true;
}

static void open_register(struct reader *reader, struct frame *frame, const char **attributes)
{
    frame->is_wide =
        frame->width == 64 && !reader->rnn->nv; /* whose number + 1 is its upper half */
    frame->name = required_name(reader, attributes);
    open_place(reader, frame, attributes);
    frame->is_indexed = frame->length > 1;
    frame->first_field = frame->field = reader->rnn->read_count;
    open_value_of(reader, frame, attributes);
    for (unsigned level = 1; level < reader->depth; level++)
        reader->frame[level].has_registers = true;
}

static void close_register(struct reader *reader, struct frame *frame)
{
    bool has_fields = reader->rnn->read_count > frame->first_field + 1;
    if (frame->is_value && has_fields) {
        frame->first_field++;
        frame->has_own = true;
    }
    if (frame->domain && (!reader->rnn->nv || cps_rnn_nv_is_table_(reader)))
        expand(reader, 1, "", "", 0);
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
        cps_rnn_fail_full_(reader);
}

static void open_bitfield(struct reader *reader, struct frame *frame, const char **attributes)
{
    uint32_t pos = cps_rnn_number_(reader, attributes, "pos", 0);
    uint32_t low = cps_rnn_number_(reader, attributes, "low", pos);
    uint32_t high = cps_rnn_number_(reader, attributes, "high", low);
    const char *name = required_name(reader, attributes);
    frame->field = reader->rnn->read_count;
    struct cps_rnn_field field = place(reader, attributes, low, high, name ? name : "");
    /* Offsets of registers have 18 bits, and are plain numbers in rnndb. */
    if (frame->is_packet && low == 0 && high == 17 && name && !strstr(name, "SCRATCH"))
        field.field.type.kind = CPS_KIND_REG;
    add_field(reader, &field);
}

static void open_enum(struct reader *reader, struct frame *frame, const char **attributes)
{
    frame->domain = cps_rnn_text_(reader, attributes, "name");
}

static void open_value(struct reader *reader, struct frame *frame, const char **attributes)
{
    bool is_wanted = reader->frame[reader->depth - 1].kind == ENUM && frame->domain;
    if (reader->rnn->nv && is_wanted && !strcmp(frame->domain, "chipset"))
        cps_rnn_nv_chip_(reader, attributes);
    else if (reader->rnn->nv && !is_wanted)
        cps_rnn_nv_value_(reader, attributes);
    if (!is_wanted || !cps_rnn_attribute_(attributes, "value"))
        return;
    frame->first_field = reader->rnn->read_count;
    const char *name = required_name(reader, attributes);
    uint32_t value = cps_rnn_number_(reader, attributes, "value", 0);
    if (!reader->err)
        cps_rnn_named_row_(reader, name, value);
}

static const struct element {
    const char *name;
    enum kind kind;
    void (*open)(struct reader *, struct frame *, const char **attributes);
    void (*close)(struct reader *, struct frame *);
    uint32_t width; /* of a register; only NVIDIA has small ones */
} elements[] = {
    {"domain", DOMAIN, open_domain, NULL, 0},
    {"array", ARRAY, open_array, close_array, 0},
    {"stripe", STRIPE, open_stripe, NULL, 0},
    {"reg8", REGISTER, open_register, close_register, 8},
    {"reg16", REGISTER, open_register, close_register, 16},
    {"reg32", REGISTER, open_register, close_register, 32},
    {"reg64", REGISTER, open_register, close_register, 64},
    {"bitset", BITSET, open_bitset, close_bitset, 0},
    {"bitfield", BITFIELD, open_bitfield, NULL, 0},
    {"enum", ENUM, open_enum, NULL, 0},
    {"value", VALUE, open_value, NULL, 0},
};

static const struct element *find_element(const struct reader *reader, const char *name)
{
    for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++) {
        bool is_small = elements[i].width && elements[i].width < 32;
        if (!strcmp(elements[i].name, name) && (!is_small || reader->rnn->nv))
            return &elements[i];
    }
    return NULL;
}

/* Narrows what is inherited by the element's own varset and variants. NVIDIA's varset may be its
 * prefix. */
static void inherit(struct reader *reader, struct frame *frame, const struct frame *parent,
                    const char **attributes)
{
    bool nv = reader->rnn->nv;
    *frame = (struct frame){.domain = parent->domain,
                            .chips = parent->chips,
                            .members = parent->members,
                            .varset = parent->varset,
                            .when = parent->when,
                            .is_packet = parent->is_packet,
                            .length = 1};
    const char *prefix = nv ? cps_rnn_attribute_(attributes, "prefix") : NULL;
    const char *varset = cps_rnn_attribute_(attributes, "varset");
    const char *variants = cps_rnn_attribute_(attributes, "variants");
    const char *from = !varset && prefix && strcmp(prefix, "none") != 0 ? "prefix" : "varset";
    varset = cps_rnn_attribute_(attributes, from);
    if (varset)
        frame->varset = strcmp(varset, nv ? "chipset" : "chip") != 0
                            ? cps_rnn_text_(reader, attributes, from)
                            : NULL;
    if (variants && frame->varset)
        frame->when =
            (struct cps_rnn_when){frame->varset, cps_rnn_text_(reader, attributes, "variants")};
    else if (variants && nv)
        frame->members &= cps_rnn_nv_members_(reader->rnn->nv, variants);
    else if (variants)
        frame->chips &= cps_chips_parse_(variants);
}

void XMLCALL cps_rnn_start_(void *context, const char *name, const char **attributes)
{
    struct reader *reader = context;
    if (reader->err || (reader->rnn->nv && cps_rnn_nv_keep_(reader, name, attributes)))
        return;
    if (reader->depth == CPS_RNN_MAX_DEPTH) {
        cps_rnn_fail_(reader, "elements are nested more than %u deep", CPS_RNN_MAX_DEPTH);
        return;
    }
    struct frame *parent = &reader->frame[reader->depth++];
    struct frame *frame = &reader->frame[reader->depth];
    inherit(reader, frame, parent, attributes);
    const struct element *element = find_element(reader, name);
    frame->element = element;
    if (reader->rnn->nv && cps_rnn_nv_open_(reader, frame, name, attributes))
        return;
    if (!element) {
        frame->domain = NULL; /* what stands in documentation is an example */
        return;
    }
    frame->kind = element->kind;
    frame->width = element->width;
    if (element->open && frame->members)
        element->open(reader, frame, attributes);
}

void XMLCALL cps_rnn_end_(void *context, const char *name)
{
    struct reader *reader = context;
    if (reader->err || (reader->rnn->nv && cps_rnn_nv_keep_(reader, NULL, NULL)))
        return;
    struct frame *frame = &reader->frame[reader->depth];
    (void)name;
    if (frame->element && frame->element->close && frame->members)
        frame->element->close(reader, frame);
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
    cps_rnn_fail_(context, "a document type declaration, which rnndb files do not have");
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
            cps_rnn_fail_(reader, "%s", XML_ErrorString(code));
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
        reader->frame[0] = (struct frame){.chips = CPS_CHIPS_ALL, .members = UINT32_MAX};
        XML_SetUserData(parser, reader);
        XML_SetElementHandler(parser, cps_rnn_start_, cps_rnn_end_);
        XML_SetStartDoctypeDeclHandler(parser, refuse_doctype);
        feed(reader, data, size);
        err = reader->err;
    }
    if (parser)
        XML_ParserFree(parser);
    free(reader);
    return err;
}
