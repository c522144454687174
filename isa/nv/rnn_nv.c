/* SPDX-License-Identifier: MIT
 * NVIDIA's part of reading rnndb. */
#include "isa/nv/rnn_nv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "isa/base/list.h"
#include "isa/nv/nvchip.h"

/* An element of a group, or the end of one. */
struct event {
    const char *name; /* NULL: the end of the last one that is open */
    size_t first;     /* of words: its attributes and their values, then NULL */
};
/* Events of a group; one that is defined again goes on behind the others. */
struct group {
    const char *name;
    size_t first, end;
};

struct cps_rnn_nv {
    struct cps_rnn *rnn;
    const char *dir; /* where imports are looked for, NULL: nowhere */
    const char **files;
    size_t file_count;
    unsigned imports;  /* that are open */
    const char **chip; /* names, in the enumeration's order */
    size_t chip_count;
    size_t member[CPS_RNN_NV_CHIPS]; /* the layout's chips among them */
    unsigned member_count;
    struct event *event;
    size_t event_count;
    const char **word;
    size_t word_count;
    struct group *group;
    size_t group_count;
    unsigned kept;      /* depth inside the group that is being kept, 0: none is */
    size_t repeats;     /* events that were repeated */
    unsigned repeating; /* groups that are open, one inside the other */
    unsigned enums;     /* made for values in fields */
};

struct cps_err *cps_rnn_nv_create_(struct cps_rnn *rnn)
{
    rnn->nv = calloc(1, sizeof(*rnn->nv));
    if (!rnn->nv)
        return cps_err_nomem();
    rnn->nv->rnn = rnn;
    return NULL;
}

void cps_rnn_nv_destroy_(struct cps_rnn_nv *nv)
{
    if (!nv)
        return;
    free(nv->files);
    free(nv->chip);
    free(nv->event);
    free(nv->word);
    free(nv->group);
    free(nv);
}

static const char *copy(struct reader *reader, const char *text)
{
    const char *ret = cps_rnn_copy_(reader->rnn, text);
    if (!ret)
        cps_rnn_fail_full_(reader);
    return ret;
}

/* ---- chips ---- */

/* The chip of a name or, where the enumeration says it, of a number. */
static const struct cps_nvchip *find_chip(const char *name, const char *value)
{
    return value ? cps_nvchip_((unsigned)strtoul(value, NULL, 0)) : cps_nvchip_word_(name);
}

/* SEQ runs on PDAEMON, which all chips have from GT215 on. */
static bool is_member(const struct cps_rnn_nv *nv, const struct cps_nvchip *chip)
{
    enum cps_gen gen = cps_layout_gen(nv->rnn->layout);
    if (cps_gen_isa(gen) == &cps_isa_seq)
        return nv->member_count || (chip && chip->id == 0xa3);
    return chip && (chip->hwsq == gen || chip->vp1 == gen || chip->pfifo == gen);
}

void cps_rnn_nv_chip_(struct reader *reader, const char **attributes)
{
    struct cps_rnn_nv *nv = reader->rnn->nv;
    const char *name = cps_rnn_text_(reader, attributes, "name");
    if (!name)
        return;
    if (is_member(nv, find_chip(name, cps_rnn_attribute_(attributes, "value"))) &&
        nv->member_count < CPS_RNN_NV_CHIPS)
        nv->member[nv->member_count++] = nv->chip_count;
    if (nv->chip_count == CPS_RNN_MAX_ELEMENTS)
        cps_rnn_fail_(reader, "more than %u chips", CPS_RNN_MAX_ELEMENTS);
    else if (!CPS_LIST_ROOM(nv->chip, nv->chip_count))
        cps_rnn_fail_full_(reader);
    else
        nv->chip[nv->chip_count++] = name;
}

/* The chip of a name in a range; false if the enumeration has it not. */
static bool chip_index(const struct cps_rnn_nv *nv, const char *name, size_t length, size_t *ret)
{
    for (*ret = 0; *ret < nv->chip_count; ++*ret) {
        const char *chip = nv->chip[*ret];
        if (strlen(chip) == length && !memcmp(chip, name, length))
            return true;
    }
    return false;
}

/* "NV17" one chip, "NV17:NV20" without the last, "NV17-NV20" with it, "NV17-", ":NV20". */
static bool read_range(const struct cps_rnn_nv *nv, const char *text, size_t length, size_t *first,
                       size_t *end)
{
    size_t split = strcspn(text, ":- ");
    split = split < length ? split : length;
    *first = 0;
    *end = nv->chip_count;
    if (split && !chip_index(nv, text, split, first))
        return false;
    if (split == length) {
        *end = *first + 1;
        return true;
    }
    size_t rest = length - split - 1;
    if (rest && !chip_index(nv, text + split + 1, rest, end))
        return false;
    *end += rest && text[split] == '-';
    return true;
}

uint32_t cps_rnn_nv_members_(const struct cps_rnn_nv *nv, const char *text)
{
    uint32_t mask = 0;
    if (!nv->chip_count)
        return UINT32_MAX;
    for (size_t length = 0; *text; text += length) {
        size_t first = 0;
        size_t end = 0;
        text += strspn(text, " ");
        length = strcspn(text, " ");
        if (!length || !read_range(nv, text, length, &first, &end))
            continue;
        for (unsigned i = 0; i < nv->member_count; i++)
            mask |= (uint32_t)(nv->member[i] >= first && nv->member[i] < end) << i;
    }
    return mask;
}

/* ---- groups ---- */

static struct group *find_group(struct cps_rnn_nv *nv, const char *name, size_t from)
{
    for (; from < nv->group_count; from++) {
        if (!strcmp(nv->group[from].name, name))
            return &nv->group[from];
    }
    return NULL;
}

static bool add_word(struct cps_rnn_nv *nv, const char *word)
{
    if (!CPS_LIST_ROOM(nv->word, nv->word_count))
        return false;
    nv->word[nv->word_count++] = word;
    return true;
}

/* Adds an element, or an end for NULL; counts as a name, so that there are not too many. */
static void add_event(struct reader *reader, const char *name, const char **attributes)
{
    struct cps_rnn_nv *nv = reader->rnn->nv;
    struct event event = {name ? copy(reader, name) : NULL, nv->word_count};
    bool good = reader->rnn->names < CPS_RNN_MAX_NAMES && CPS_LIST_ROOM(nv->event, nv->event_count);
    reader->rnn->names += good;
    for (; good && name && *attributes; attributes++) {
        const char *word = cps_rnn_copy_(reader->rnn, *attributes);
        good = word && add_word(nv, word);
    }
    if (!good || !add_word(nv, NULL)) {
        cps_rnn_fail_full_(reader);
        return;
    }
    nv->event[nv->event_count++] = event;
    nv->group[nv->group_count - 1].end = nv->event_count;
}

bool cps_rnn_nv_keep_(struct reader *reader, const char *name, const char **attributes)
{
    struct cps_rnn_nv *nv = reader->rnn->nv;
    if (!nv->kept)
        return false;
    nv->kept += name ? 1 : -1;
    if (nv->kept)
        add_event(reader, name, attributes);
    return nv->kept;
}

static void open_group(struct reader *reader, const char **attributes)
{
    struct cps_rnn_nv *nv = reader->rnn->nv;
    struct group group = {cps_rnn_text_(reader, attributes, "name"), nv->event_count,
                          nv->event_count};
    if (!group.name || nv->repeating)
        cps_rnn_fail_(reader, nv->repeating ? "a group inside a group" : "a group has no name");
    else if (!CPS_LIST_ROOM(nv->group, nv->group_count))
        cps_rnn_fail_full_(reader);
    else
        nv->group[nv->group_count++] = group;
    nv->kept = !reader->err;
}

static void repeat(struct reader *reader, struct group group)
{
    struct cps_rnn_nv *nv = reader->rnn->nv;
    nv->repeating++;
    for (size_t i = group.first; i < group.end && !reader->err; i++) {
        const struct event event = nv->event[i]; /* the list may move */
        if (++nv->repeats > CPS_RNN_NV_REPEATS)
            cps_rnn_fail_(reader, "groups repeat more than %u elements", CPS_RNN_NV_REPEATS);
        else if (event.name)
            cps_rnn_start_(reader, event.name, nv->word + event.first);
        else
            cps_rnn_end_(reader, ""); /* which one, the reader knows by its depth */
    }
    nv->repeating--;
}

/* A group that comes later gives no names here. */
static void use_group(struct reader *reader, const char **attributes)
{
    struct cps_rnn_nv *nv = reader->rnn->nv;
    const char *name = cps_rnn_attribute_(attributes, "name");
    for (size_t i = 0; name && !reader->err; i++) {
        struct group *group = find_group(nv, name, i);
        if (!group)
            break;
        i = (size_t)(group - nv->group);
        repeat(reader, *group);
    }
}

/* ---- files ---- */

/* Whether a file is read for the first time; notes that it is. */
static bool is_new(struct reader *reader, const char *name)
{
    struct cps_rnn_nv *nv = reader->rnn->nv;
    for (size_t i = 0; i < nv->file_count; i++) {
        if (!strcmp(nv->files[i], name))
            return false;
    }
    if (!CPS_LIST_ROOM(nv->files, nv->file_count))
        cps_rnn_fail_full_(reader);
    else
        nv->files[nv->file_count++] = name;
    return !reader->err;
}

/* Paths are counted from the tree; none leads out of it. Who wrote the files is in one of them,
 * which a part of a tree need not have. */
static void import(struct reader *reader, const char **attributes)
{
    struct cps_rnn_nv *nv = reader->rnn->nv;
    const char *name = cps_rnn_text_(reader, attributes, "file");
    CPS_BUF path = {0};
    if (!name || *name == '/' || strstr(name, "..")) {
        cps_rnn_fail_(reader, "import of \"%.40s\", expected a file of the tree", name ? name : "");
        return;
    }
    if (!nv->dir || !is_new(reader, name))
        return;
    if (nv->imports == CPS_RNN_NV_IMPORTS) {
        cps_rnn_fail_(reader, "files import each other more than %u deep", CPS_RNN_NV_IMPORTS);
        return;
    }
    cps_buf_printf(&path, "%s/%s", nv->dir, name);
    bool absent = !path.failed && access(cps_buf_text(&path), F_OK) && errno == ENOENT;
    if (absent && !strcmp(name, "copyright.xml"))
        return;
    if (absent) {
        cps_rnn_fail_(reader, "import of \"%.100s\", which is not in the tree", name);
        return;
    }
    nv->imports++;
    struct cps_err *err =
        path.failed ? cps_err_nomem() : cps_rnn_read_file_(reader->rnn, cps_buf_text(&path));
    nv->imports--;
    if (!err)
        return;
    reader->err = err;
    XML_StopParser(reader->parser, XML_FALSE);
}

struct cps_err *cps_rnn_nv_load_(struct cps_rnn *rnn, const char *dir)
{
    static const char *const places[] = {"", "/rnndb"};
    static const char *const roots[] = {"nv_mmio.xml", "root.xml"};
    for (unsigned i = 0; i < 4; i++) {
        CPS_BUF base = {0};
        CPS_BUF path = {0};
        cps_buf_printf(&base, "%s%s", dir, places[i / 2]);
        cps_buf_printf(&path, "%s/%s", cps_buf_text(&base), roots[i % 2]);
        if (base.failed || path.failed)
            return cps_err_nomem();
        if (access(cps_buf_text(&path), F_OK) && (errno == ENOENT || errno == ENOTDIR))
            continue;
        rnn->nv->dir = cps_buf_text(&base);
        struct cps_err *err = cps_rnn_read_file_(rnn, cps_buf_text(&path));
        rnn->nv->dir = NULL;
        return err;
    }
    return cps_err_new(CPS_ERR_INPUT,
                       "%s: no rnndb XML of NVIDIA's here: expected %s or %s, or rnndb/ with them",
                       dir, roots[0], roots[1]);
}

/* ---- elements ---- */

bool cps_rnn_nv_open_(struct reader *reader, struct frame *frame, const char *name,
                      const char **attributes)
{
    if (!strcmp(name, "import"))
        import(reader, attributes);
    else if (!strcmp(name, "group"))
        open_group(reader, attributes);
    else if (!strcmp(name, "use-group") && frame->members)
        use_group(reader, attributes);
    else
        return false;
    return true;
}

/* The field that the open element is, or the one of a register that has no fields: its index. */
static uint32_t value_field(struct reader *reader, struct frame *owner)
{
    if (owner->kind == REGISTER && !owner->is_value) {
        if (reader->rnn->read_count != owner->first_field)
            return UINT32_MAX; /* it has fields */
        struct cps_rnn_field field = {
            .field = {.name = "", .high = (uint8_t)(owner->width - 1), .chips = owner->chips},
            .when = owner->when};
        if (!cps_rnn_add_field_(reader->rnn, &field))
            cps_rnn_fail_full_(reader);
        owner->is_value = true;
        owner->field = owner->first_field;
    }
    return owner->field;
}

/* Inline values are an enumeration of a name that no other has. */
void cps_rnn_nv_value_(struct reader *reader, const char **attributes)
{
    struct frame *frame = &reader->frame[reader->depth];
    struct frame *owner = &reader->frame[reader->depth - 1];
    bool holds = owner->kind == BITFIELD || owner->kind == REGISTER;
    if (!holds || !cps_rnn_attribute_(attributes, "value"))
        return;
    uint32_t at = value_field(reader, owner);
    if (reader->err || at >= reader->rnn->read_count)
        return;
    struct cps_rnn_field *field = &reader->rnn->read_fields[at];
    if (!field->type) {
        char name[32];
        snprintf(name, sizeof(name), " values %u", reader->rnn->nv->enums++);
        field->type = copy(reader, name);
    }
    const char *name = cps_rnn_text_(reader, attributes, "name");
    if (!name || field->type[0] != ' ')
        return;
    frame->domain = field->type;
    frame->first_field = reader->rnn->read_count;
    cps_rnn_named_row_(reader, name, cps_rnn_number_(reader, attributes, "value", 0));
}

bool cps_rnn_nv_is_table_(const struct reader *reader)
{
    uint32_t count = 1;
    for (unsigned level = 1; level <= reader->depth; level++) {
        const struct frame *frame = &reader->frame[level];
        if (frame->kind != ARRAY && frame->kind != STRIPE && frame->kind != REGISTER)
            continue;
        if (frame->length > CPS_RNN_NV_ELEMENTS)
            return false;
        count *= frame->length;
        if (count > CPS_RNN_NV_ELEMENTS)
            return false;
    }
    return true;
}
