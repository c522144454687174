/* SPDX-License-Identifier: MIT
 * Values that may differ between two traces. */
#include "trace/event/mask.h"

#include <stdlib.h>
#include <string.h>

#include "isa/base/list.h"
#include "trace/event/event_words.h"

static const struct {
    const char *word;
    int what;
    int space; /* of names; -1: none */
} kinds[] = {
    {"reg:", CPS_MASK_REG, CPS_SPACE_GPU},       {"pipe:", CPS_MASK_PIPE, CPS_SPACE_PIPE},
    {"ctrl:", CPS_MASK_CTRL, CPS_SPACE_CONTROL}, {"mem:", CPS_MASK_MEM, -1},
    {"pkt:", CPS_MASK_PKT, CPS_SPACE_PACKET},    {"sqe:", CPS_MASK_SQE, CPS_SPACE_SQE},
};

/* A number, or a name up to one of "-/,". Dashes do not occur in names. */
static bool parse_place(const char **at, int space, const struct cps_names *names, uint64_t *ret)
{
    char *end = NULL;
    if (**at >= '0' && **at <= '9') {
        *ret = strtoull(*at, &end, 0);
        *at = end;
        return true;
    }
    uint32_t number = 0;
    size_t length = strcspn(*at, "-/,");
    if (space < 0 || !names || !length ||
        !cps_name_number(names, (enum cps_space)space, *at, length, &number))
        return false;
    *ret = number;
    *at += length;
    return true;
}

/* One rule; what was expected, or NULL. */
static const char *parse_rule(const char **at, const struct cps_names *names,
                              struct cps_mask_rule *ret)
{
    unsigned i = 0;
    while (i < sizeof(kinds) / sizeof(kinds[0]) &&
           strncmp(*at, kinds[i].word, strlen(kinds[i].word)) != 0)
        i++;
    if (i == sizeof(kinds) / sizeof(kinds[0]))
        return "reg:, pipe:, ctrl:, sqe:, mem: or pkt:";
    *at += strlen(kinds[i].word);
    ret->what = kinds[i].what;
    ret->bits = ~0u;
    if (!parse_place(at, kinds[i].space, names, &ret->first))
        return "a number or a name";
    ret->last = ret->first;
    if (**at == '-') {
        ++*at;
        const char *last = *at;
        if (!parse_place(at, kinds[i].space, names, &ret->last))
            return "the end of the range";
        if (ret->last < ret->first) {
            *at = last;
            return "an end before the range's start";
        }
    }
    if (**at == '/') {
        char *end = NULL;
        ret->bits = (uint32_t)strtoul(*at + 1, &end, 0);
        if (end == *at + 1)
            return "the bits that may differ";
        *at = end;
    }
    return !**at || **at == ',' ? NULL : "',' or the end";
}

struct cps_err *cps_mask_add(struct cps_mask *mask, const char *text, const struct cps_names *names)
{
    const char *at = text;
    while (*at) {
        if (!CPS_LIST_ROOM(mask->rule, mask->count))
            return cps_err_nomem();
        const char *expected = parse_rule(&at, names, &mask->rule[mask->count]);
        if (expected)
            return cps_err_new(CPS_ERR_SYNTAX, "mask \"%s\", at \"%s\": expected %s", text, at,
                               expected);
        mask->count++;
        at += *at == ',';
    }
    return NULL;
}

void cps_mask_deinit(struct cps_mask *mask)
{
    free(mask->rule);
    *mask = (struct cps_mask){0};
}

static bool is_of_kind(const struct cps_event *event, int what)
{
    unsigned kind = cps_event_kind(event);
    unsigned i = 0;
    while (kinds[i].what != what)
        i++;
    return what == CPS_MASK_MEM ? kind == CPS_EV_MEMR || kind == CPS_EV_MEMW
                                : kinds[i].space == (int)cps_event_space_(kind);
}

uint32_t cps_mask_bits(const struct cps_mask *mask, const struct cps_event *event, int id)
{
    uint32_t bits = 0;
    uint64_t at = cps_event_place(event);
    for (unsigned i = 0; i < mask->count; i++) {
        const struct cps_mask_rule *rule = &mask->rule[i];
        bool covers =
            rule->what == CPS_MASK_PKT
                ? id >= 0 && (uint64_t)id >= rule->first && (uint64_t)id <= rule->last
                : is_of_kind(event, (int)rule->what) && at >= rule->first && at <= rule->last;
        bits |= covers ? rule->bits : 0;
    }
    return bits;
}
