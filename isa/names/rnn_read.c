/* SPDX-License-Identifier: MIT
 * Reads rnndb XML: Adreno's (Mesa's and the kernel's) and NVIDIA's (envytools'). expat makes a tree
 * of a file; one walk takes the names from it, and passes over documentation and domains of other
 * layouts.
 *
 * NVIDIA's has files that import each other, ranges of chips ("NV17:NV20 NV25-"), groups of
 * registers that arrays use, registers of bytes, stripes with names, and values in fields. A layout
 * is of several chips; a row is kept if one of them has it. Facts: envytools, rnn/rnn.c and
 * rnn/rnndec.c (MIT). */
#include "isa/names/rnn_read.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "isa/base/within.h"
#include "isa/base/list.h"

/* Elements of an array of NVIDIA's, nested ones multiplied: more of them are windows to memory. */
#define NV_ELEMENTS 4096u
/* Elements that groups repeat, in all; a real tree needs a hundredth. */
#define NV_REPEATS 500000u
/* Files that import each other. */
#define NV_IMPORTS 16u

enum kind { OTHER, DOMAIN, ARRAY, STRIPE, REGISTER, BITSET, BITFIELD, ENUM, VALUE, GROUP };

/* An open element. What is not set by its own attributes is inherited from its parent. */
struct frame {
    enum kind kind;
    const struct cps_rnn_node *node;
    const char *domain; /* the domain or enum around, or NULL: not one that gives names */
    uint8_t chips;      /* generations in which it exists */
    uint32_t members;   /* NVIDIA: the layout's chips that have it, a bit each */
    const char *varset; /* what `variants` means here: an enum, or NULL: generations */
    struct cps_rnn_when when;
    bool is_packet;  /* the words after a packet's header */
    bool is_indexed; /* an array, or a register with a length */
    bool is_wide;
    bool is_value; /* a register that is one field itself, the first of its fields */
    bool has_own;  /* a register with fields of its own beside those that its type may have */
    bool has_registers;
    const char *name;
    const char *type;
    uint32_t offset, stride, length;
    uint32_t first_field;
    uint32_t field; /* the index of the field that it is */
    uint32_t width; /* of a register, in bits */
};

struct reader {
    struct cps_rnn *rnn;
    const char *file;
    bool is_gmu;
    struct cps_err *err; /* the first one, which ends the reading */
    uint32_t line;
    unsigned depth;
    unsigned repeats; /* depth of the array that the current row repeats with, or 0 */
    struct frame frame[CPS_RNN_MAX_DEPTH + 1]; /* [0] is the file */
};

static CPS_PRINTF(2, 3) void fail(struct reader *r, const char *format, ...)
{
    va_list args;
    if (r->err)
        return;
    va_start(args, format);
    r->err = cps_err_within_(cps_err_vnew_(CPS_ERR_INPUT, format, args), "%s: line %u", r->file,
                             (unsigned)r->line);
    va_end(args);
}

/* Something could not be added: too much input, or no memory. */
static void fail_full(struct reader *r)
{
    if (!r->err && r->rnn->names < CPS_RNN_MAX_NAMES)
        r->err = cps_err_nomem();
    fail(r, "more than %u names", CPS_RNN_MAX_NAMES);
}

/* ---- attributes ---- */

static const char *attribute(const struct frame *frame, const char *name)
{
    for (const char **at = frame->node->attributes; at[0]; at += 2) {
        if (!strcmp(at[0], name))
            return at[1];
    }
    return NULL;
}

/* A number, decimal or 0x...; `fallback` if it is missing. */
static uint32_t number(struct reader *r, const struct frame *frame, const char *name,
                       uint32_t fallback)
{
    const char *text = attribute(frame, name);
    if (!text)
        return fallback;
    bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, is_hex ? 16 : 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || value > UINT32_MAX) {
        fail(r, "%s=\"%.40s\" is not a 32-bit number", name, text);
        return fallback;
    }
    return (uint32_t)value;
}

/* A text that is not too long, or NULL if it is missing. */
static const char *text_of(struct reader *r, const struct frame *frame, const char *name)
{
    const char *value = attribute(frame, name);
    if (!value || strlen(value) <= CPS_RNN_MAX_LENGTH)
        return value;
    fail(r, "%s=\"%.40s...\" is longer than %u bytes", name, value, CPS_RNN_MAX_LENGTH);
    return NULL;
}

static const char *required_name(struct reader *r, const struct frame *frame)
{
    const char *name = text_of(r, frame, "name");
    if (!name)
        fail(r, "an element that needs a name has none");
    return name;
}

/* ---- rows ---- */

/* Adds a register or value, whose full name is known; @p name lives as long as the tables. */
static void add_row(struct reader *r, const char *name, uint32_t at)
{
    const struct frame *frame = &r->frame[r->depth];
    struct cps_rnn *rnn = r->rnn;
    /* Outermost arrays of packets repeat as they are: some last as long as the packet does. */
    const struct frame *array = r->repeats ? &r->frame[r->repeats] : NULL;
    if (!name || rnn->names == CPS_RNN_MAX_NAMES || !CPS_LIST_ROOM(rnn->rows, rnn->row_count)) {
        fail_full(r);
        return;
    }
    rnn->names++;
    rnn->rows[rnn->row_count] = (struct cps_rnn_row){
        .row = {.name = name,
                .number = at,
                .order = rnn->row_count,
                .first_field = frame->first_field,
                .field_count = rnn->read_count - frame->first_field,
                .stride = array ? (uint16_t)array->stride : 0,
                .length = array ? (uint16_t)array->length : 0,
                .chips = frame->chips,
                .wide = frame->is_wide,
                .is_gmu = r->is_gmu},
        .domain = frame->domain,
        .type = frame->type,
        .has_own = frame->has_own,
        .when = frame->when,
    };
    rnn->row_count++;
}

/* Expands the arrays around a register, outermost first: "ARRAY[i].INNER[j].NAME". Each leaf is
 * a row, so the limit on names bounds the work however arrays are nested. NVIDIA's stripes are
 * arrays, too; one without a name gives its index to what is in it. */
static void expand(struct reader *r, unsigned level, const char *prefix, const char *indices,
                   uint32_t base)
{
    bool nv = r->rnn->is_nv;
    while (level < r->depth && r->frame[level].kind != ARRAY &&
           (!nv || r->frame[level].kind != STRIPE))
        level++;
    const struct frame *frame = &r->frame[level];
    if (frame->is_packet && level < r->depth && !r->repeats) {
        r->repeats = level;
        expand(r, level + 1, prefix, "", base + frame->offset);
        r->repeats = 0;
        return;
    }
    bool passes_on = nv && !frame->name;
    for (uint32_t i = 0; i < frame->length && !r->err; i++) {
        char name[CPS_RNN_MAX_LENGTH + 1];
        char own[16] = "";
        if (frame->is_indexed)
            snprintf(own, sizeof(own), "[%u]", (unsigned)i);
        int size = snprintf(name, sizeof(name), "%s%s%s%s%s", passes_on ? "" : prefix,
                            frame->name ? frame->name : "", indices, own,
                            level < r->depth && !passes_on ? "." : "");
        uint32_t at = base + frame->offset + i * frame->stride;
        if (size < 0 || (size_t)size >= sizeof(name))
            fail(r, "a name is longer than %u bytes", CPS_RNN_MAX_LENGTH);
        else if (level == r->depth)
            add_row(r, cps_rnn_copy_(r->rnn, name), at);
        else
            expand(r, level + 1, passes_on ? prefix : name, passes_on ? name : "", at);
    }
}

/* A bit field, or the one value that a register is. */
static struct cps_rnn_field field_of(struct reader *r, const struct frame *frame, uint32_t low,
                                     uint32_t high, const char *name)
{
    uint32_t radix = number(r, frame, "radix", 0);
    uint32_t shift = number(r, frame, "shr", 0);
    if (low > high || high > 63)
        fail(r, "bits %u to %u are not a bit field", low, high);
    if (radix > 63 || shift > 63)
        fail(r, "radix %u, shr %u, expected at most 63", radix, shift);
    return (struct cps_rnn_field){
        .field = {.name = name,
                  .low = (uint8_t)low,
                  .high = (uint8_t)high,
                  .chips = frame->chips,
                  .type = {.radix = (uint8_t)radix,
                           .shift = (uint8_t)shift,
                           .selects = attribute(frame, "addvariant")}},
        .type = text_of(r, frame, "type"),
        .when = frame->when,
    };
}

static void add_field(struct reader *r, struct cps_rnn_field field)
{
    if (!r->err && !cps_rnn_add_field_(r->rnn, field))
        fail_full(r);
}

/* ---- NVIDIA's chips, values and files ---- */

static void add_chip(struct reader *r, const char *name, const char *value)
{
    if (r->rnn->nv.chip_count == CPS_RNN_MAX_ELEMENTS)
        fail(r, "more than %u chips", CPS_RNN_MAX_ELEMENTS);
    else if (name && !cps_rnn_add_chip_(r->rnn, name, value))
        fail_full(r);
}

/* The field that the open element is, or the one of a register that has no fields: its index. */
static uint32_t value_field(struct reader *r, struct frame *owner)
{
    if (owner->kind == REGISTER && !owner->is_value) {
        if (r->rnn->read_count != owner->first_field)
            return UINT32_MAX; /* it has fields */
        add_field(r, (struct cps_rnn_field){.field = {.name = "",
                                                      .high = (uint8_t)(owner->width - 1),
                                                      .chips = owner->chips},
                                            .when = owner->when});
        owner->is_value = true;
        owner->field = owner->first_field;
    }
    return owner->field;
}

/* Values of a field or register become an enumeration with a name that no other has. */
static void add_inline_value(struct reader *r, struct frame *frame)
{
    struct frame *owner = &r->frame[r->depth - 1];
    bool holds = owner->kind == BITFIELD || owner->kind == REGISTER;
    if (!holds || !attribute(frame, "value"))
        return;
    uint32_t at = value_field(r, owner);
    if (r->err || at >= r->rnn->read_count)
        return;
    struct cps_rnn_field *field = &r->rnn->read_fields[at];
    if (!field->type) {
        char name[32];
        snprintf(name, sizeof(name), " values %u", r->rnn->nv.enums++);
        field->type = cps_rnn_copy_(r->rnn, name);
        if (!field->type)
            fail_full(r);
    }
    const char *name = text_of(r, frame, "name");
    if (!name || r->err || field->type[0] != ' ')
        return;
    frame->domain = field->type;
    frame->first_field = r->rnn->read_count;
    add_row(r, name, number(r, frame, "value", 0));
}

/* Whether the arrays around the open register make few enough rows of it. */
static bool is_table(const struct reader *r)
{
    uint32_t count = 1;
    for (unsigned level = 1; level <= r->depth; level++) {
        const struct frame *frame = &r->frame[level];
        if (frame->kind != ARRAY && frame->kind != STRIPE && frame->kind != REGISTER)
            continue;
        if (frame->length > NV_ELEMENTS)
            return false;
        count *= frame->length;
        if (count > NV_ELEMENTS)
            return false;
    }
    return true;
}

/* Paths are counted from the tree; none leads out of it. A part of a tree may lack the file with
 * the authors. */
static void import_file(struct reader *r, struct frame *frame)
{
    struct cps_rnn_nv *nv = &r->rnn->nv;
    const char *name = text_of(r, frame, "file");
    CPS_BUF path = {0};
    if (!name || *name == '/' || strstr(name, "..")) {
        fail(r, "import of \"%.40s\", expected a file of the tree", name ? name : "");
        return;
    }
    for (size_t i = 0; i < nv->file_count; i++) {
        if (!strcmp(nv->file[i], name))
            return;
    }
    if (!nv->dir)
        return;
    if (!CPS_LIST_ROOM(nv->file, nv->file_count)) {
        fail_full(r);
        return;
    }
    nv->file[nv->file_count++] = name;
    if (nv->imports == NV_IMPORTS) {
        fail(r, "files import each other more than %u deep", NV_IMPORTS);
        return;
    }
    cps_buf_printf(&path, "%s/%s", nv->dir, name);
    bool absent = !path.failed && access(cps_buf_text(&path), F_OK) && errno == ENOENT;
    if (absent && strcmp(name, "copyright.xml") != 0)
        fail(r, "import of \"%.100s\", which is not in the tree", name);
    if (absent)
        return;
    nv->imports++;
    r->err = path.failed ? cps_err_nomem() : cps_rnn_read_file_(r->rnn, cps_buf_text(&path));
    nv->imports--;
}

static void open_group(struct reader *r, struct frame *frame)
{
    struct cps_rnn_nv *nv = &r->rnn->nv;
    if (!text_of(r, frame, "name") || nv->repeating)
        fail(r, nv->repeating ? "a group inside a group" : "a group has no name");
    else if (!CPS_LIST_ROOM(nv->group, nv->group_count))
        fail_full(r);
    else
        nv->group[nv->group_count++] = frame->node;
}

static void walk(struct reader *r, const struct cps_rnn_node *node);

/* A group that comes later gives no names here. */
static void use_group(struct reader *r, struct frame *frame)
{
    struct cps_rnn_nv *nv = &r->rnn->nv;
    const char *name = attribute(frame, "name");
    nv->repeating++;
    for (size_t i = 0; name && i < nv->group_count; i++) {
        const struct frame group = {.node = nv->group[i]};
        if (strcmp(attribute(&group, "name"), name) != 0)
            continue;
        for (const struct cps_rnn_node *at = group.node->child; at && !r->err; at = at->next)
            walk(r, at);
    }
    nv->repeating--;
}

/* ---- elements ---- */

/* Spaces of registers, and packets; other domains describe memory. */
static void open_domain(struct reader *r, struct frame *frame)
{
    const char *name = text_of(r, frame, "name");
    frame->is_packet = name && !strncmp(name, "CP_", 3);
    frame->domain = name ? cps_names_domain_(r->rnn->layout, name) : NULL;
    if (r->rnn->is_nv && name && strcmp(name, "NV_MMIO") != 0)
        frame->domain = NULL; /* objects, commands: nothing here has numbers of them */
}

/* Offset and repetition, common to arrays and registers. */
static void open_place(struct reader *r, struct frame *frame)
{
    uint32_t stride = r->rnn->is_nv ? frame->width / 8 : 1; /* there, offsets count bytes */
    frame->offset = number(r, frame, "offset", 0);
    frame->stride = number(r, frame, "stride", stride);
    frame->length = number(r, frame, "length", 1);
    if (r->rnn->is_nv)
        return;
    /* None is refused as well: empty arrays around each other would be work without rows. */
    if (frame->length < 1 || frame->length > CPS_RNN_MAX_ELEMENTS)
        fail(r, "length %u, expected 1 to %u", frame->length, CPS_RNN_MAX_ELEMENTS);
    if (frame->is_packet && (frame->stride < 1 || frame->stride > CPS_RNN_MAX_ELEMENTS))
        fail(r, "stride %u, expected 1 to %u", frame->stride, CPS_RNN_MAX_ELEMENTS);
}

/* Adreno's stripes are only conditions. */
static void open_array(struct reader *r, struct frame *frame)
{
    if (frame->kind == STRIPE && !r->rnn->is_nv)
        return;
    frame->name = text_of(r, frame, "name");
    open_place(r, frame);
    frame->is_indexed = frame->length > 1 || !r->rnn->is_nv;
}

/* An array without registers is registers of its own name. */
static void close_array(struct reader *r, struct frame *frame)
{
    if (frame->has_registers || !frame->domain || frame->is_packet || !frame->name || r->rnn->is_nv)
        return;
    frame->is_wide = frame->stride == 2;
    frame->first_field = r->rnn->read_count;
    expand(r, 1, "", "", 0);
}

/* A register with a type is one field; fields of its own come after it and count. */
static void open_register(struct reader *r, struct frame *frame)
{
    frame->is_wide = frame->width == 64 && !r->rnn->is_nv; /* whose number + 1 is its upper half */
    frame->name = required_name(r, frame);
    open_place(r, frame);
    frame->is_indexed = frame->length > 1;
    frame->first_field = frame->field = r->rnn->read_count;
    frame->type = text_of(r, frame, "type");
    bool is_bit = attribute(frame, "pos");
    if (frame->type || is_bit || attribute(frame, "high")) {
        uint32_t low = number(r, frame, "low", number(r, frame, "pos", 0));
        uint32_t high = number(r, frame, "high", is_bit ? low : frame->width - 1);
        add_field(r, field_of(r, frame, low, high, ""));
        frame->is_value = true;
    }
    for (unsigned level = 1; level < r->depth; level++)
        r->frame[level].has_registers = true;
}

static void close_register(struct reader *r, struct frame *frame)
{
    if (frame->is_value && r->rnn->read_count > frame->first_field + 1) {
        frame->first_field++;
        frame->has_own = true;
    }
    if (frame->domain && (!r->rnn->is_nv || is_table(r)))
        expand(r, 1, "", "", 0);
}

static void open_bitset(struct reader *r, struct frame *frame)
{
    frame->name = required_name(r, frame);
    frame->first_field = r->rnn->read_count;
}

static void close_bitset(struct reader *r, struct frame *frame)
{
    struct cps_rnn *rnn = r->rnn;
    if (rnn->names == CPS_RNN_MAX_NAMES || !CPS_LIST_ROOM(rnn->bitsets, rnn->bitset_count)) {
        fail_full(r);
        return;
    }
    rnn->names++;
    rnn->bitsets[rnn->bitset_count++] = (struct cps_rnn_bitset){
        frame->name, frame->first_field, rnn->read_count - frame->first_field};
}

static void open_bitfield(struct reader *r, struct frame *frame)
{
    uint32_t low = number(r, frame, "low", number(r, frame, "pos", 0));
    uint32_t high = number(r, frame, "high", low);
    const char *name = required_name(r, frame);
    frame->field = r->rnn->read_count;
    struct cps_rnn_field field = field_of(r, frame, low, high, name ? name : "");
    /* Offsets of registers have 18 bits, and are plain numbers in rnndb. */
    if (frame->is_packet && low == 0 && high == 17 && name && !strstr(name, "SCRATCH"))
        field.field.type.kind = CPS_KIND_REG;
    add_field(r, field);
}

static void open_enum(struct reader *r, struct frame *frame)
{
    frame->domain = text_of(r, frame, "name");
}

static void open_value(struct reader *r, struct frame *frame)
{
    bool is_wanted = r->frame[r->depth - 1].kind == ENUM && frame->domain;
    if (r->rnn->is_nv && is_wanted && !strcmp(frame->domain, "chipset"))
        add_chip(r, text_of(r, frame, "name"), attribute(frame, "value"));
    else if (r->rnn->is_nv && !is_wanted)
        add_inline_value(r, frame);
    if (!is_wanted || !attribute(frame, "value"))
        return;
    frame->first_field = r->rnn->read_count;
    const char *name = required_name(r, frame);
    uint32_t value = number(r, frame, "value", 0);
    if (!r->err)
        add_row(r, name, value);
}

static const struct element {
    const char *name;
    enum kind kind;
    void (*open)(struct reader *, struct frame *);
    void (*close)(struct reader *, struct frame *);
    uint32_t width; /* of a register */
    bool only_nv;
} elements[] = {
    {"domain", DOMAIN, open_domain, NULL, 0, false},
    {"array", ARRAY, open_array, close_array, 0, false},
    {"stripe", STRIPE, open_array, NULL, 0, false},
    {"reg8", REGISTER, open_register, close_register, 8, true},
    {"reg16", REGISTER, open_register, close_register, 16, true},
    {"reg32", REGISTER, open_register, close_register, 32, false},
    {"reg64", REGISTER, open_register, close_register, 64, false},
    {"bitset", BITSET, open_bitset, close_bitset, 0, false},
    {"bitfield", BITFIELD, open_bitfield, NULL, 0, false},
    {"enum", ENUM, open_enum, NULL, 0, false},
    {"value", VALUE, open_value, NULL, 0, false},
    {"import", OTHER, import_file, NULL, 0, true},
    {"group", GROUP, open_group, NULL, 0, true},
    {"use-group", OTHER, use_group, NULL, 0, true},
};

static const struct element *find_element(const struct reader *r, const char *name)
{
    for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++) {
        if (!strcmp(elements[i].name, name) && (!elements[i].only_nv || r->rnn->is_nv))
            return &elements[i];
    }
    return NULL;
}

/* Narrows what is inherited by the element's own varset and variants. NVIDIA's varset may be its
 * prefix. */
static void inherit(struct reader *r, const struct cps_rnn_node *node, const struct frame *parent,
                    struct frame *frame)
{
    bool nv = r->rnn->is_nv;
    *frame = (struct frame){.node = node,
                            .domain = parent->domain,
                            .chips = parent->chips,
                            .members = parent->members,
                            .varset = parent->varset,
                            .when = parent->when,
                            .is_packet = parent->is_packet,
                            .length = 1};
    const char *prefix = nv ? attribute(frame, "prefix") : NULL;
    const char *varset = attribute(frame, "varset");
    const char *variants = attribute(frame, "variants");
    const char *from = !varset && prefix && strcmp(prefix, "none") != 0 ? "prefix" : "varset";
    varset = attribute(frame, from);
    if (varset)
        frame->varset =
            strcmp(varset, nv ? "chipset" : "chip") != 0 ? text_of(r, frame, from) : NULL;
    if (variants && frame->varset)
        frame->when = (struct cps_rnn_when){frame->varset, text_of(r, frame, "variants")};
    else if (variants && nv)
        frame->members &= cps_rnn_chips_in_(&r->rnn->nv, variants);
    else if (variants)
        frame->chips &= cps_chips_parse_(variants);
}

/* In a group, the line stays that of the element that uses it. */
static void walk(struct reader *r, const struct cps_rnn_node *node)
{
    struct cps_rnn_nv *nv = &r->rnn->nv;
    if (!nv->repeating)
        r->line = node->line;
    else if (++nv->repeats > NV_REPEATS)
        fail(r, "groups repeat more than %u elements", NV_REPEATS);
    if (r->depth == CPS_RNN_MAX_DEPTH)
        fail(r, "elements are nested more than %u deep", CPS_RNN_MAX_DEPTH);
    if (r->err)
        return;
    const struct element *element = find_element(r, node->name);
    const struct frame *parent = &r->frame[r->depth++];
    struct frame *frame = &r->frame[r->depth];
    inherit(r, node, parent, frame);
    frame->kind = element ? element->kind : OTHER;
    frame->width = element ? element->width : 0;
    if (!element)
        frame->domain = NULL; /* registers in documentation are examples */
    else if (frame->members || element->open == import_file || element->open == open_group)
        element->open(r, frame);
    const struct cps_rnn_node *child = frame->kind == GROUP ? NULL : node->child;
    for (; child && !r->err; child = child->next)
        walk(r, child);
    r->line = nv->repeating ? r->line : node->end_line;
    if (element && element->close && frame->members && !r->err)
        element->close(r, frame);
    r->depth--;
}

struct cps_err *cps_rnn_parse_(struct cps_rnn *rnn, const char *name, const void *data, size_t size)
{
    CPS_FREE struct reader *r = calloc(1, sizeof(*r));
    struct cps_rnn_node *tree = NULL;
    const char *slash = strrchr(name, '/');
    if (!r)
        return cps_err_nomem();
    r->rnn = rnn;
    r->file = name;
    r->is_gmu = !strcmp(slash ? slash + 1 : name, CPS_RNN_GMU_FILE);
    r->frame[0] = (struct frame){.chips = CPS_CHIPS_ALL, .members = UINT32_MAX};
    CPS_TRY(cps_rnn_tree_(rnn, name, data, size, &tree));
    walk(r, tree);
    return r->err;
}
