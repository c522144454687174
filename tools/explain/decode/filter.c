/* SPDX-License-Identifier: MIT
 * Which packets are shown. */
#define _GNU_SOURCE /* memmem() */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "isa/base/pm4.h"
#include "isa/base/within.h"
#include "tools/cmd/options/opt_near.h"
#include "tools/explain/decode/decode.h"
#include "tools/explain/stream/state.h"

enum { WORD = sizeof(((struct decode_wanted *)NULL)->name) };

/* ---- Reading ---- */

/* Takes the next item of a list with commas. False: there is none; *list is NULL at its end */
static bool next_item(const char **list, const char **item, size_t *length)
{
    if (!*list)
        return false;
    *item = *list;
    *length = strcspn(*item, ",");
    *list = (*item)[*length] ? *item + *length + 1 : NULL;
    return true;
}

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
static bool read_range(const char *text, size_t length, uint64_t most, struct decode_range *ret)
{
    const char *dots = memmem(text, length, "..", 2);
    size_t before = dots ? (size_t)(dots - text) : length;
    size_t after = dots ? length - before - 2 : 0;
    *ret = (struct decode_range){true, 0, most};
    if (!dots && !read_number(text, length, &ret->last))
        return false;
    if (!dots)
        ret->first = ret->last;
    return length > 2 * (dots != NULL) &&
           (!dots || !before || read_number(text, before, &ret->first)) &&
           (!after || read_number(dots + 2, after, &ret->last)) && ret->first <= ret->last &&
           ret->last <= most;
}

static bool is_in(const struct decode_range *range, uint64_t value)
{
    return !range->given || (value >= range->first && value <= range->last);
}

static bool copy_word(char ret[WORD], const char *text, size_t length)
{
    if (length >= WORD)
        return false;
    memcpy(ret, text, length);
    ret[length] = '\0';
    return length != 0;
}

/* "NAME:FIELD=VALUE", of which the last two may be absent. */
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
    const char *colon = memchr(text, ':', left);
    size_t name = colon ? (size_t)(colon - text) : left;
    if (colon && !copy_word(ret->field, colon + 1, left - name - 1))
        return false;
    return read_range(text, name, UINT32_MAX, &ret->number) || copy_word(ret->name, text, name);
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

static struct cps_err *read_registers(const char *list, struct decode_filter *ret)
{
    const char *item;
    size_t length;
    while (next_item(&list, &item, &length)) {
        if (ret->registers + 1 >= DECODE_REGISTERS)
            return cps_err_new(CPS_ERR_USAGE, "--register takes at most %u of them",
                               DECODE_REGISTERS / 2);
        struct decode_wanted *wanted = &ret->wanted[ret->registers++];
        if (!read_wanted(item, length, wanted))
            return cps_err_new(CPS_ERR_USAGE,
                               "--register %.*s: expected NAME, 0xNUMBER or 0xFIRST..0xLAST, "
                               "followed by :FIELD and =VALUE",
                               (int)length, item);
        ret->registers += has_dotted_field(wanted, wanted + 1);
    }
    return NULL;
}

struct cps_err *decode_filter_read(const struct decode_selection *from, struct decode_filter *ret)
{
    const char *item;
    size_t length;
    *ret = (struct decode_filter){.packet = from->packet, .submit = from->submit};
    if (from->draws && !read_range(from->draws, strlen(from->draws), UINT32_MAX, &ret->draws))
        return cps_err_new(CPS_ERR_USAGE, "--draw %s: expected N, N..M, N.. or ..M", from->draws);
    for (const char *list = from->packet; next_item(&list, &item, &length);) {
        if (!length || length >= WORD)
            return cps_err_new(CPS_ERR_USAGE, "--packet %.*s: expected names of 1 to 63 characters",
                               (int)length, item);
    }
    CPS_TRY(read_registers(from->registers, ret));
    if (from->address &&
        !read_range(from->address, strlen(from->address), UINT64_MAX, &ret->address))
        return cps_err_new(CPS_ERR_USAGE, "--address %s: expected A, A..B, A.. or ..B",
                           from->address);
    for (const char *list = from->level; next_item(&list, &item, &length);) {
        for (unsigned i = CPS_LEVEL_RB; i <= CPS_LEVEL_INT; i++) {
            const char *word = cps_event_sub_word(CPS_EV_PKT, i);
            if (strlen(word) == length && !strncmp(word, item, length))
                ret->levels |= 1u << i;
        }
    }
    return NULL;
}

/* ---- Names ---- */

/* Whether a name is like a pattern of `*` and `?`: brackets are those of arrays, unlike in a shell.
 * If the rest of the pattern fails, the last star takes one character more. */
static bool is_like(const char *pattern, size_t length, const char *name)
{
    const char *end = pattern + length, *star = NULL, *from = name;
    while (*name) {
        if (pattern < end && *pattern == '*') {
            star = ++pattern;
            from = name;
        } else if (pattern < end && (*pattern == '?' || toupper((unsigned char)*pattern) ==
                                                            toupper((unsigned char)*name))) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star;
            name = ++from;
        } else {
            return false;
        }
    }
    while (pattern < end && *pattern == '*')
        pattern++;
    return pattern == end;
}

static bool is_number_wanted(const struct decode_wanted *wanted, const struct cps_names *names,
                             uint32_t number)
{
    if (!wanted->name[0])
        return is_in(&wanted->number, number);
    const char *name = cps_name(names, CPS_SPACE_GPU, number, NULL);
    return name && is_like(wanted->name, strlen(wanted->name), name);
}

/* A pattern that some name has to be like, and the name nearest to it. */
struct sought {
    char upper[WORD];
    bool found;
    struct near near;
    char word[WORD]; /* that name */
};

static struct sought seek(const char *pattern, size_t length)
{
    struct sought ret = {.found = false};
    for (size_t i = 0; i < length && i + 1 < sizeof(ret.upper); i++)
        ret.upper[i] = (char)toupper((unsigned char)pattern[i]);
    return ret;
}

static void try_name(struct sought *s, const char *name)
{
    size_t length = strlen(s->upper);
    s->found = s->found || is_like(s->upper, length, name);
    near_try(s->upper, length, name, strlen(name), &s->near);
    if (s->near.word == name) { /* which may not stay */
        snprintf(s->word, sizeof(s->word), "%s", name);
        s->near.word = s->word;
    }
}

/* @param field  NULL: the name of no field */
static struct cps_err *report_unknown(const struct sought *s, const char *option, const char *name,
                                      size_t length, const char *field)
{
    char mean[96];
    return cps_err_new(CPS_ERR_USAGE, "--%s %.*s%s%s: this GPU has no such name%s", option,
                       (int)length, name, field ? ":" : "", field ? field : "",
                       near_text(&s->near, "", mean, sizeof(mean)));
}

static struct cps_err *check_packet(const char *pattern, size_t length,
                                    struct cps_names *const *names)
{
    struct sought s = seek(pattern, length);
    try_name(&s, "type4");
    for (unsigned who = 0; who < CPS_CPU_COUNT; who++) {
        for (uint32_t id = 0; names[who] && id < 128; id++) {
            char number[8];
            const char *name = cps_name(names[who], CPS_SPACE_PACKET, id, NULL);
            snprintf(number, sizeof(number), "0x%02" PRIx32, id);
            s.found = s.found || is_like(pattern, length, number);
            if (name)
                try_name(&s, name);
        }
    }
    return s.found ? NULL : report_unknown(&s, "packet", pattern, length, NULL);
}

static void try_field(void *context, const struct cps_value *value)
{
    if (value->name && value->name[0])
        try_name(context, value->name);
}

static struct cps_err *check_register(const struct decode_wanted *wanted,
                                      struct cps_names *const *names)
{
    size_t length = strlen(wanted->name);
    struct sought reg = seek(wanted->name, length);
    struct sought field = seek(wanted->field, strlen(wanted->field));
    for (unsigned who = 0; who < CPS_CPU_COUNT; who++) {
        for (uint32_t number = 0; names[who] && number < STATE_REGISTERS; number++) {
            const char *name = cps_name(names[who], CPS_SPACE_GPU, number, NULL);
            if (name && length)
                try_name(&reg, name);
            if (name && wanted->field[0] && is_number_wanted(wanted, names[who], number))
                cps_name_values(names[who], CPS_SPACE_GPU, number, 0, try_field, &field);
        }
    }
    if (length && !reg.found)
        return report_unknown(&reg, "register", wanted->name, length, NULL);
    return !wanted->field[0] || field.found
               ? NULL
               : report_unknown(&field, "register", wanted->name, length, wanted->field);
}

struct cps_err *decode_filter_check(const struct decode_filter *filter,
                                    struct cps_names *const names[CPS_CPU_COUNT])
{
    const char *item;
    size_t length;
    for (const char *list = filter->packet; next_item(&list, &item, &length);)
        CPS_TRY(check_packet(item, length, names));
    for (unsigned i = 0; i < filter->registers; i++) {
        /* one text may have two readings, of which one has to be right */
        bool twice = i + 1 < filter->registers && filter->wanted[i + 1].again;
        struct cps_err *err = check_register(&filter->wanted[i], names);
        struct cps_err *other = err && twice ? check_register(&filter->wanted[i + 1], names) : NULL;
        if (err && (!twice || other))
            return cps_err_first_(err, other);
        cps_err_free(err);
        i += twice;
    }
    return NULL;
}

static bool has_name(const struct decode_filter *filter, const struct decode_packet *packet)
{
    struct cps_pm4 pm4 = cps_pm4_decode_any(packet->head.value);
    bool is_type4 = pm4.kind == CPS_PM4_TYPE4;
    char number[8];
    const char *item;
    size_t length;
    bool found = !filter->packet;
    snprintf(number, sizeof(number), "0x%02x", (unsigned)pm4.opcode);
    for (const char *list = filter->packet; !found && next_item(&list, &item, &length);)
        found = is_type4 ? is_like(item, length, "type4") || is_like(item, length, "PKT4")
                         : (packet->name && is_like(item, length, packet->name)) ||
                               is_like(item, length, number);
    return found;
}

/* ---- Registers ---- */

/* The search among the values of a packet or register. */
struct search {
    const struct decode_filter *filter;
    const struct cps_names *names;
    const struct decode_wanted *wanted; /* of a register */
    bool found;
};

static void match_field(void *context, const struct cps_value *value)
{
    struct search *s = context;
    const struct decode_wanted *wanted = s->wanted;
    const char *field = wanted->field;
    CPS_BUF text = {0};
    uint64_t bits = 0;
    if (!value->name || (field[0] ? strcasecmp(value->name, field) != 0 : value->name[0]))
        return;
    if (wanted->value[0] && read_number(wanted->value, strlen(wanted->value), &bits)) {
        s->found |= value->bits == bits;
        return;
    }
    cps_value_put(value, &text);
    s->found |= !wanted->value[0] || !strcasecmp(cps_buf_text(&text), wanted->value);
}

static bool is_wanted(const struct decode_wanted *wanted, const struct cps_names *names,
                      uint32_t number, const uint32_t *value)
{
    struct search s = {.wanted = wanted};
    uint64_t whole = 0;
    if (!is_number_wanted(wanted, names, number))
        return false;
    if (!wanted->value[0] && !wanted->field[0])
        return true;
    if (!value)
        return false;
    if (!wanted->field[0] && read_number(wanted->value, strlen(wanted->value), &whole))
        return *value == whole;
    cps_name_values(names, CPS_SPACE_GPU, number, *value, match_field, &s);
    return s.found;
}

bool decode_filter_register(const struct decode_filter *filter, const struct cps_names *names,
                            uint32_t number, const uint32_t *value)
{
    for (unsigned i = 0; i < filter->registers; i++) {
        if (is_wanted(&filter->wanted[i], names, number, value))
            return true;
    }
    return !filter->registers;
}

static void match_written(void *context, uint32_t number, const uint32_t *value)
{
    struct search *s = context;
    if (!value) /* only firmware knows the value */
        s->found |= decode_filter_register(s->filter, s->names, number, NULL);
}

static bool writes_wanted(const struct decode_filter *filter, const struct cps_names *names,
                          const struct decode_packet *packet)
{
    struct search s = {filter, names, NULL, !filter->registers};
    for (size_t i = 0; i < packet->effects && !s.found; i++) {
        const struct cps_event *e = &packet->effect[i];
        s.found = cps_event_kind(e) == CPS_EV_REG &&
                  decode_filter_register(filter, names, (uint32_t)cps_event_place(e), &e->value);
    }
    if (!s.found)
        stream_walk_registers(names, packet->head.value, packet->words.value, packet->words.count,
                              match_written, &s);
    return s.found;
}

/* ---- Addresses ---- */

static void match_address(void *context, const struct cps_value *value)
{
    struct search *s = context;
    s->found |= value->is_address && is_in(&s->filter->address, value->bits << value->shift);
}

/* Whether a packet names an address in the range, or firmware reads or writes there for it. */
static bool has_address(const struct decode_filter *filter, const struct cps_names *names,
                        const struct decode_packet *packet)
{
    struct search s = {filter, names, NULL, !filter->address.given};
    struct cps_pm4 pm4 = cps_pm4_decode_any(packet->head.value);
    if (s.found)
        return true;
    bool is_internal = cps_event_sub(&packet->head) == CPS_LEVEL_INT; /* with words of its own */
    if (pm4.kind == CPS_PM4_TYPE7 && !is_internal)
        cps_packet_values(names, pm4.opcode, packet->words.value, packet->words.count,
                          match_address, &s);
    for (size_t i = 0; pm4.kind == CPS_PM4_TYPE4 && i + 1 < packet->words.count; i++)
        cps_name_values64(names, CPS_SPACE_GPU, pm4.reg + (uint32_t)i,
                          (uint64_t)packet->words.value[i + 1] << 32 | packet->words.value[i],
                          match_address, &s);
    for (size_t i = 0; i < packet->effects && !s.found; i++) {
        unsigned kind = cps_event_kind(&packet->effect[i]);
        s.found = (kind == CPS_EV_MEMR || kind == CPS_EV_MEMW) &&
                  is_in(&filter->address, packet->effect[i].addr);
    }
    return s.found;
}

bool decode_filter_takes(const struct decode_filter *filter, const struct cps_names *names,
                         const struct decode_packet *packet)
{
    bool is_submission = filter->submit < 0 || packet->submission == (uint32_t)filter->submit;
    bool is_level = !filter->levels || filter->levels >> cps_event_sub(&packet->head) & 1;
    return is_in(&filter->draws, packet->draw) && is_submission && is_level &&
           has_name(filter, packet) && has_address(filter, names, packet) &&
           writes_wanted(filter, names, packet);
}
