/* SPDX-License-Identifier: MIT
 * The words of a packet, gathered and taken apart, and what the numbers of an event are called. */
#include "isa/base/list.h"
#include "trace/form/forms.h"

bool cps_words_take_(struct cps_words *words, const struct cps_event *event)
{
    unsigned kind = cps_event_kind(event);
    if (kind == CPS_EV_PKT)
        words->packet = *event;
    if (kind != CPS_EV_WORD || cps_event_who(event) != cps_event_who(&words->packet) ||
        (uint32_t)event->addr != words->count ||
        words->count >= cps_pm4_decode_any(words->packet.value).count || /* of a damaged trace */
        !CPS_LIST_RESERVE(words->event, words->event_room, words->count + 1) ||
        !CPS_LIST_RESERVE(words->value, words->value_room, words->count + 1))
        return false;
    words->event[words->count] = *event;
    words->value[words->count++] = event->value;
    return true;
}

/* Gives values of a register the number of its word. */
struct of_word {
    cps_value_fn *each;
    void *context;
    uint32_t number;
    bool is_said; /* one of them is the whole register */
};

static void look_for_whole(void *context, const struct cps_value *value)
{
    struct of_word *w = context;
    w->is_said |= value->name && !value->name[0];
}

static void put_of_word(void *context, const struct cps_value *value)
{
    struct of_word *w = context;
    struct cps_value renumbered = *value;
    renumbered.number = w->number;
    w->each(w->context, &renumbered);
}

/* A register of 64 bits whose both halves are there: its values are those of the lower word. */
static bool pair_values(const struct cps_words *words, const struct cps_names *names,
                        uint32_t first, uint32_t i, struct of_word *w)
{
    uint64_t value = words->value[i];
    if (i + 1 >= words->count)
        return false;
    value |= (uint64_t)words->value[i + 1] << 32;
    return cps_name_values64(names, CPS_SPACE_GPU, first + i, value, put_of_word, w);
}

/* What type 4 writes: the register, unless it is one value, which says so itself, then its fields.
 */
static void register_values(const struct cps_words *words, const struct cps_names *names,
                            uint32_t first, cps_value_fn *each, void *context)
{
    for (uint32_t i = 0; i < words->count; i++) {
        struct of_word w = {each, context, i, false};
        unsigned half = 0;
        if (pair_values(words, names, first, i, &w)) {
            i++;
            continue;
        }
        const char *name = cps_name(names, CPS_SPACE_GPU, first + i, &half);
        const struct cps_value whole = {.word = half ? NULL : name,
                                        .number = i,
                                        .name = "",
                                        .high = 31,
                                        .bits = words->value[i]};
        cps_name_values(names, CPS_SPACE_GPU, first + i, words->value[i], look_for_whole, &w);
        if (!w.is_said)
            each(context, &whole);
        cps_name_values(names, CPS_SPACE_GPU, first + i, words->value[i], put_of_word, &w);
    }
}

/* Which line is open, of `words`. */
struct lines {
    const struct cps_words *words;
    const struct cps_words_form *form;
    size_t open; /* 1 + its number, or 0 */
};

/* Closes lines, and opens the next ones, until the one of word `number` is open. */
static void advance(struct lines *lines, size_t number)
{
    const struct cps_words_form *form = lines->form;
    while (lines->open <= number) {
        if (lines->open)
            form->end(form->context, &lines->words->event[lines->open - 1]);
        if (lines->open++ < lines->words->count)
            form->begin(form->context, &lines->words->event[lines->open - 1]);
    }
}

static void put_value(void *context, const struct cps_value *value)
{
    struct lines *lines = context;
    advance(lines, value->number);
    lines->form->value(lines->form->context, value);
}

void cps_words_lines_(struct cps_words *words, const struct cps_names *names,
                      const struct cps_words_form *form)
{
    struct lines lines = {words, form, 0};
    struct cps_pm4 packet = cps_pm4_decode_any(words->packet.value);
    /* What one processor of firmware hands to another has the opcode, but words of its own. */
    bool is_internal = cps_event_sub(&words->packet) == CPS_LEVEL_INT;
    if (!words->count)
        return;
    if (names && packet.kind == CPS_PM4_TYPE4)
        register_values(words, names, packet.reg, put_value, &lines);
    else if (names && packet.kind == CPS_PM4_TYPE7 && !is_internal)
        cps_packet_values(names, packet.opcode, words->value, words->count, put_value, &lines);
    advance(&lines, words->count);
    words->count = 0;
}

struct cps_pm4 cps_packet_header_(const struct cps_event *packet)
{
    return cps_event_sub(packet) == CPS_LEVEL_INT ? cps_pm4_decode_any(packet->value)
                                                  : cps_pm4_decode(packet->value);
}

void cps_words_free_(struct cps_words *words)
{
    free(words->event);
    free(words->value);
}

void cps_words_flush_(struct cps_trace_writer *w)
{
    cps_words_lines_(&w->words, cps_named_by_(w, &w->words.packet), &w->on_words);
}

bool cps_words_wait_(struct cps_trace_writer *w, const struct cps_event *event)
{
    if (cps_event_kind(event) != CPS_EV_WORD)
        cps_words_flush_(w);
    bool waits = cps_words_take_(&w->words, event);
    if (!waits)
        cps_words_flush_(w);
    return waits;
}

/* ---- names ---- */

const struct cps_names *cps_named_by_(const struct cps_trace_writer *w,
                                      const struct cps_event *event)
{
    unsigned who = cps_event_who(event);
    return who < CPS_CPU_COUNT ? w->names[who] : NULL;
}

const char *cps_named_register_(const struct cps_names *names, const struct cps_event *event)
{
    enum cps_space space = cps_event_space_(cps_event_kind(event));
    return names && space != CPS_SPACE_COUNT ? cps_name(names, space, (uint32_t)event->addr, NULL)
                                             : NULL;
}

static void add_value(void *context, const struct cps_value *value)
{
    cps_json_value(context, value);
}

void cps_named_fields_(struct json_object *to, const struct cps_names *names,
                       const struct cps_event *event)
{
    enum cps_space space = cps_event_space_(cps_event_kind(event));
    if (!names || space == CPS_SPACE_COUNT)
        return;
    struct json_object *fields = json_object_new_object();
    cps_name_values(names, space, (uint32_t)event->addr, event->value, add_value, fields);
    if (fields && !json_object_object_length(fields))
        json_object_put(fields);
    else
        cps_json_add(to, "fields", fields);
}

const char *cps_named_packet_(const struct cps_names *names, uint32_t header)
{
    struct cps_pm4 packet = cps_pm4_decode_any(header);
    if (!names || packet.kind == CPS_PM4_BAD)
        return NULL;
    return packet.kind == CPS_PM4_TYPE7 ? cps_name(names, CPS_SPACE_PACKET, packet.opcode, NULL)
                                        : cps_name(names, CPS_SPACE_GPU, packet.reg, NULL);
}
