/* SPDX-License-Identifier: MIT
 * Which packets are shown. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "isa/base/pm4.h"
#include "isa/base/within.h"
#include "tools/explain/decode/decode.h"
#include "tools/cmd/options/opt.h"
#include "tools/cmd/options/opt_near.h"
#include "tools/explain/stream/state.h"

/* ---- What options say ---- */

static bool read_number(const char *text, size_t length, uint64_t *ret)
{
    char copy[24];
    char *end = NULL;
    if (!length || length >= sizeof(copy) || !isdigit((unsigned char)text[0]))
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    bool is_hex = copy[0] == '0' && (copy[1] == 'x' || copy[1] == 'X');
    errno = 0;
    unsigned long long value = strtoull(copy, &end, is_hex ? 16 : 10);
    *ret = value;
    return !*end && errno != ERANGE;
}

/* "N", "N..M", "N..", "..M", of numbers up to @p most. */
static bool read_range(const char *text, size_t length, uint64_t most, uint64_t *first,
                       uint64_t *last)
{
    const char *dots = NULL;
    for (size_t i = 0; i + 1 < length && !dots; i++)
        dots = text[i] == '.' && text[i + 1] == '.' ? text + i : NULL;
    *first = 0;
    *last = most;
    if (!dots) {
        bool is_number = read_number(text, length, first);
        *last = *first;
        return is_number && *first <= most;
    }
    size_t before = (size_t)(dots - text), behind = length - before - 2;
    return before + behind && (!before || read_number(text, before, first)) &&
           (!behind || read_number(dots + 2, behind, last)) && *first <= *last && *last <= most;
}

static bool copy_word(char ret[64], const char *text, size_t length)
{
    if (length >= 64)
        return false;
    memcpy(ret, text, length);
    ret[length] = '\0';
    return length != 0;
}

/* Whether a name is like a pattern of `*` and `?`: brackets are those of arrays, other than in a
 * shell. The last star that was passed takes one character more where what is behind it fails. */
static bool is_like(const char *pattern, const char *name)
{
    const char *star = NULL, *from = name;
    while (*name) {
        if (*pattern == '*') {
            star = ++pattern;
            from = name;
        } else if (*pattern == '?' ||
                   toupper((unsigned char)*pattern) == toupper((unsigned char)*name)) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star;
            name = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

static bool read_wanted(const char *text, size_t length, struct decode_wanted *ret)
{
    const char *equals = memchr(text, '=', length);
    size_t left = equals ? (size_t)(equals - text) : length;
    uint64_t value = 0;
    *ret = (struct decode_wanted){0};
    if (equals && !copy_word(ret->value, equals + 1, length - left - 1))
        return false;
    if (equals && read_number(equals + 1, length - left - 1, &value) && value > UINT32_MAX)
        return false; /* each half of a register of 64 bits is written by itself */
    if (read_range(text, left, UINT32_MAX, &ret->first, &ret->last))
        return true;
    const char *colon = memchr(text, ':', left);
    size_t name = colon ? (size_t)(colon - text) : left;
    if (colon && !copy_word(ret->field, colon + 1, left - name - 1))
        return false;
    return (read_range(text, name, UINT32_MAX, &ret->first, &ret->last) && name) ||
           copy_word(ret->name, text, name);
}

/* "RB_MRT[0].CONTROL" is a register, "RB_CNTL.BINW" one and its field: both are looked for. */
static bool has_dotted_field(const struct decode_wanted *from, struct decode_wanted *ret)
{
    const char *dot = from->field[0] ? NULL : strrchr(from->name, '.');
    *ret = *from;
    ret->again = true;
    return dot && copy_word(ret->field, dot + 1, strlen(dot + 1)) &&
           copy_word(ret->name, from->name, (size_t)(dot - from->name));
}

static struct cps_err *read_registers(const char *text, struct decode_filter *ret)
{
    while (text) {
        size_t length = strcspn(text, ",");
        if (ret->registers + 1 >= DECODE_REGISTERS)
            return cps_err_new(CPS_ERR_USAGE, "--register takes at most %u of them",
                               DECODE_REGISTERS / 2);
        struct decode_wanted *wanted = &ret->wanted[ret->registers++];
        if (read_wanted(text, length, wanted))
            ret->registers += has_dotted_field(wanted, wanted + 1);
        else
            return cps_err_new(CPS_ERR_USAGE,
                               "--register %.*s: expected NAME, 0xNUMBER or 0xFIRST..0xLAST, "
                               "followed by :FIELD and =VALUE",
                               (int)length, text);
        text = text[length] ? text + length + 1 : NULL;
    }
    return NULL;
}

/* Words that were checked when they were taken. */
static void read_levels(const char *text, uint32_t *ret)
{
    while (text) {
        size_t length = strcspn(text, ",");
        for (unsigned i = CPS_LEVEL_RB; i <= CPS_LEVEL_INT; i++) {
            const char *word = cps_event_sub_word(CPS_EV_PKT, i);
            if (strlen(word) == length && !strncmp(word, text, length))
                *ret |= 1u << i;
        }
        text = text[length] ? text + length + 1 : NULL;
    }
}

static struct cps_err *check_names(const char *patterns)
{
    while (patterns) {
        size_t length = strcspn(patterns, ",");
        char one[64];
        if (!copy_word(one, patterns, length))
            return cps_err_new(CPS_ERR_USAGE, "--packet %.*s: expected names of 1 to 63 characters",
                               (int)length, patterns);
        patterns = patterns[length] ? patterns + length + 1 : NULL;
    }
    return NULL;
}

static struct cps_err *read_address(const char *text, struct decode_filter *ret)
{
    ret->has_address = text != NULL;
    if (text &&
        !read_range(text, strlen(text), UINT64_MAX, &ret->first_address, &ret->last_address))
        return cps_err_new(CPS_ERR_USAGE, "--address %s: expected A, A..B, A.. or ..B", text);
    return NULL;
}

struct cps_err *decode_filter_read(const struct cps_options *opt, struct decode_filter *ret)
{
    *ret = (struct decode_filter){
        .packet = opt->packet, .submit = opt->run.submit, .has_draw = opt->draws != NULL};
    if (opt->draws &&
        !read_range(opt->draws, strlen(opt->draws), UINT32_MAX, &ret->first_draw, &ret->last_draw))
        return cps_err_new(CPS_ERR_USAGE, "--draw %s: expected N, N..M, N.. or ..M", opt->draws);
    CPS_TRY(check_names(opt->packet));
    CPS_TRY(read_registers(opt->registers, ret));
    CPS_TRY(read_address(opt->address, ret));
    read_levels(opt->level, &ret->levels);
    return NULL;
}

static bool wants_number(const struct decode_wanted *wanted, const struct cps_names *names,
                         uint32_t register_number)
{
    unsigned half = 0;
    if (!wanted->name[0])
        return register_number >= wanted->first && register_number <= wanted->last;
    const char *name = cps_name(names, CPS_SPACE_GPU, register_number, &half);
    return name && is_like(wanted->name, name);
}

/* ---- Names that no packet and no register has ---- */

/* One that is looked for, and the nearest to it. */
struct sought {
    const char *what;    /* of the message */
    const char *pattern; /* or NULL: by number */
    char upper[64];
    bool found;
    struct near near;
    char word[64];
};

static void sought_begin(struct sought *s, const char *what, const char *pattern)
{
    *s = (struct sought){.what = what, .pattern = pattern};
    for (size_t i = 0; pattern[i] && i + 1 < sizeof(s->upper); i++)
        s->upper[i] = (char)toupper((unsigned char)pattern[i]);
}

static void sought_try(struct sought *s, const char *name)
{
    s->found = s->found || is_like(s->pattern, name);
    near_try(s->upper, strlen(s->upper), name, strlen(name), &s->near);
    if (s->near.word == name) { /* which may not stay */
        snprintf(s->word, sizeof(s->word), "%s", name);
        s->near.word = s->word;
    }
}

static struct cps_err *not_found(const struct sought *s)
{
    char mean[96];
    return cps_err_new(CPS_ERR_USAGE, "--%s: this GPU has no such name%s", s->what,
                       near_text(&s->near, "", mean, sizeof(mean)));
}

static struct cps_err *check_packet(const char *pattern, struct cps_names *const *names)
{
    char what[80];
    char text[8];
    struct sought s;
    snprintf(what, sizeof(what), "packet %s", pattern);
    sought_begin(&s, what, pattern);
    sought_try(&s, "type4");
    for (unsigned who = 0; who < CPS_CPU_COUNT; who++) {
        for (uint32_t id = 0; names[who] && id < 128; id++) {
            const char *name = cps_name(names[who], CPS_SPACE_PACKET, id, NULL);
            snprintf(text, sizeof(text), "0x%02" PRIx32, id);
            s.found = s.found || is_like(pattern, text);
            if (name)
                sought_try(&s, name);
        }
    }
    return s.found ? NULL : not_found(&s);
}

static void try_field(void *context, const struct cps_value *value)
{
    if (value->name && value->name[0])
        sought_try(context, value->name);
}

/* Registers, and the fields of those that are meant. @p field  has no pattern where none is */
static void try_registers(const struct decode_wanted *wanted, const struct cps_names *names,
                          struct sought *reg, struct sought *field)
{
    for (uint32_t number = 0; names && number < STATE_REGISTERS; number++) {
        const char *name = cps_name(names, CPS_SPACE_GPU, number, NULL);
        if (name && wanted->name[0])
            sought_try(reg, name);
        if (name && wanted->field[0] && wants_number(wanted, names, number))
            cps_name_values(names, CPS_SPACE_GPU, number, 0, try_field, field);
    }
}

static struct cps_err *check_register(const struct decode_wanted *wanted,
                                      struct cps_names *const *names)
{
    char text[2][160];
    struct sought reg, field;
    snprintf(text[0], sizeof(text[0]), "register %s", wanted->name);
    snprintf(text[1], sizeof(text[1]), "register %s:%s", wanted->name, wanted->field);
    sought_begin(&reg, text[0], wanted->name);
    sought_begin(&field, text[1], wanted->field);
    for (unsigned who = 0; who < CPS_CPU_COUNT; who++)
        try_registers(wanted, names[who], &reg, &field);
    if (wanted->name[0] && !reg.found)
        return not_found(&reg);
    return !wanted->field[0] || field.found ? NULL : not_found(&field);
}

/* One text may have two readings, of which one has to be right. */
static struct cps_err *check_registers(const struct decode_filter *filter,
                                       struct cps_names *const *names)
{
    for (unsigned i = 0; i < filter->registers; i++) {
        bool twice = i + 1 < filter->registers && filter->wanted[i + 1].again;
        struct cps_err *err = check_register(&filter->wanted[i], names);
        struct cps_err *other = err && twice ? check_register(&filter->wanted[i + 1], names) : NULL;
        bool good = !err || (twice && !other);
        if (!good)
            return cps_err_first_(err, other);
        cps_err_free(err);
        i += twice;
    }
    return NULL;
}

struct cps_err *decode_filter_check(const struct decode_filter *filter,
                                    struct cps_names *const names[CPS_CPU_COUNT])
{
    for (const char *at = filter->packet; at;) {
        size_t length = strcspn(at, ",");
        char one[64];
        copy_word(one, at, length);
        CPS_TRY(check_packet(one, names));
        at = at[length] ? at + length + 1 : NULL;
    }
    return check_registers(filter, names);
}

/* ---- Packets ---- */

static bool like(const char *patterns, const char *name)
{
    while (patterns) {
        size_t length = strcspn(patterns, ",");
        char one[64];
        if (copy_word(one, patterns, length) && is_like(one, name))
            return true;
        patterns = patterns[length] ? patterns + length + 1 : NULL;
    }
    return false;
}

static bool has_name(const struct decode_filter *filter, const struct decode_packet *packet)
{
    struct cps_pm4 pm4 = cps_pm4_decode_any(packet->head.value);
    char number_text[8];
    if (!filter->packet)
        return true;
    if (pm4.kind == CPS_PM4_TYPE4)
        return like(filter->packet, "type4");
    snprintf(number_text, sizeof(number_text), "0x%02x", (unsigned)pm4.opcode);
    return (packet->name && like(filter->packet, packet->name)) ||
           like(filter->packet, number_text);
}

/* ---- Registers ---- */

/* What is looked for among the values of a packet or register. */
struct look {
    const struct decode_filter *filter;
    const struct cps_names *names;
    const struct decode_wanted *wanted; /* of a register */
    bool found;
};

static bool same_value(const char *wanted, const struct cps_value *value)
{
    CPS_BUF text = {0};
    uint64_t bits = 0;
    if (read_number(wanted, strlen(wanted), &bits))
        return value->bits == bits;
    cps_value_put(value, &text);
    return !strcasecmp(cps_buf_text(&text), wanted);
}

static void look_at(void *context, const struct cps_value *value)
{
    struct look *look = context;
    const char *field = look->wanted->field;
    bool is_it = value->name && (!field[0] ? !value->name[0] : !strcasecmp(value->name, field));
    if (is_it && (!look->wanted->value[0] || same_value(look->wanted->value, value)))
        look->found = true;
}

static bool wants(const struct decode_wanted *wanted, const struct cps_names *names,
                  uint32_t register_number, const uint32_t *value)
{
    struct look look = {.wanted = wanted};
    uint64_t whole = 0;
    if (!wants_number(wanted, names, register_number))
        return false;
    if (!wanted->value[0] && !wanted->field[0])
        return true;
    if (!value)
        return false;
    if (!wanted->field[0] && read_number(wanted->value, strlen(wanted->value), &whole))
        return *value == whole;
    cps_name_values(names, CPS_SPACE_GPU, register_number, *value, look_at, &look);
    return look.found;
}

bool decode_filter_register(const struct decode_filter *filter, const struct cps_names *names,
                            uint32_t register_number, const uint32_t *value)
{
    for (unsigned i = 0; i < filter->registers; i++) {
        if (wants(&filter->wanted[i], names, register_number, value))
            return true;
    }
    return !filter->registers;
}

static void look_at_written(void *context, uint32_t register_number, const uint32_t *value)
{
    struct look *w = context;
    if (!value) /* what is written, only firmware says */
        w->found |= decode_filter_register(w->filter, w->names, register_number, NULL);
}

static bool writes_one(const struct decode_filter *filter, const struct cps_names *names,
                       const struct decode_packet *packet)
{
    struct look w = {filter, names, NULL, !filter->registers};
    for (size_t i = 0; i < packet->effects && !w.found; i++) {
        const struct cps_event *e = &packet->effect[i];
        uint32_t value = e->value;
        w.found = cps_event_kind(e) == CPS_EV_REG &&
                  decode_filter_register(filter, names, (uint32_t)cps_event_place(e), &value);
    }
    if (!w.found)
        stream_walk_registers(names, packet->head.value, packet->word, packet->words,
                              look_at_written, &w);
    return w.found;
}

/* ---- Addresses ---- */

static void look_at_address(void *context, const struct cps_value *value)
{
    struct look *a = context;
    uint64_t at = value->bits << value->shift;
    a->found |=
        value->is_address && at >= a->filter->first_address && at <= a->filter->last_address;
}

/* Whether a packet names an address in the range, or firmware reads or writes there for it. */
static bool has_address(const struct decode_filter *filter, const struct cps_names *names,
                        const struct decode_packet *packet)
{
    struct look a = {filter, names, NULL, !filter->has_address};
    struct cps_pm4 pm4 = cps_pm4_decode_any(packet->head.value);
    if (a.found)
        return true;
    bool is_internal = cps_event_sub(&packet->head) == CPS_LEVEL_INT; /* with words of its own */
    if (pm4.kind == CPS_PM4_TYPE7 && !is_internal)
        cps_packet_values(names, pm4.opcode, packet->word, packet->words, look_at_address, &a);
    for (size_t i = 0; pm4.kind == CPS_PM4_TYPE4 && i + 1 < packet->words; i++)
        cps_name_values64(names, CPS_SPACE_GPU, pm4.reg + (uint32_t)i,
                          (uint64_t)packet->word[i + 1] << 32 | packet->word[i], look_at_address,
                          &a);
    for (size_t i = 0; i < packet->effects && !a.found; i++) {
        const struct cps_event *e = &packet->effect[i];
        bool is_access = cps_event_kind(e) == CPS_EV_MEMR || cps_event_kind(e) == CPS_EV_MEMW;
        a.found = is_access && e->addr >= filter->first_address && e->addr <= filter->last_address;
    }
    return a.found;
}

bool decode_filter_takes(const struct decode_filter *filter, const struct cps_names *names,
                         const struct decode_packet *packet)
{
    bool is_draw = !filter->has_draw ||
                   (packet->draw >= filter->first_draw && packet->draw <= filter->last_draw);
    bool is_submission = filter->submit < 0 || packet->submission == (uint32_t)filter->submit;
    bool is_level = !filter->levels || filter->levels >> cps_event_sub(&packet->head) & 1;
    return is_draw && is_submission && is_level && has_name(filter, packet) &&
           has_address(filter, names, packet) && writes_one(filter, names, packet);
}
