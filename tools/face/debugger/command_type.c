/* SPDX-License-Identifier: MIT
 * `ptype`: what a register or a packet is made of. */
#include <inttypes.h>
#include <string.h>

#include "tools/face/debugger/command.h"

enum { MOST_VALUES = 8 }; /* bits of a field whose values are tried for names */

enum { MOST_WORDS = 64 }; /* of a packet */

/* What a register or a packet's words are. Which names a field's values have the tables tell only
 * as answers: each value that it can have is asked for. */
struct subject {
    const struct cps_names *names;
    enum cps_space space; /* CPS_SPACE_PACKET: `number` is an opcode */
    uint32_t number;
    const struct cps_value *wanted; /* whose value's name is asked for */
    const char *text;               /* the answer */
    struct cps_buf *out;
    uint32_t words; /* of a packet, shown so far */
    bool any;
};

static void take_text(void *context, const struct cps_value *value)
{
    struct subject *s = context;
    if (value->low == s->wanted->low && value->high == s->wanted->high &&
        (s->space != CPS_SPACE_PACKET || value->number == s->wanted->number))
        s->text = value->text;
}

static void find_text(struct subject *s, uint32_t bits)
{
    uint32_t words[MOST_WORDS] = {0};
    s->text = NULL;
    if (s->space != CPS_SPACE_PACKET) {
        cps_name_values(s->names, s->space, s->number, bits, take_text, s);
        return;
    }
    words[s->wanted->number] = bits;
    cps_packet_values(s->names, s->number, words, MOST_WORDS, take_text, s);
}

static void put_values(const struct subject *subject, const struct cps_value *value)
{
    struct subject s = *subject;
    unsigned bits = value->high - value->low + 1u;
    s.wanted = value;
    for (uint32_t i = 0; bits <= MOST_VALUES && value->high < 32 && i < 1u << bits; i++) {
        find_text(&s, i << value->low);
        if (s.text)
            cps_buf_printf(s.out, "           0x%-3" PRIx32 " %s\n", i, s.text);
    }
}

static void put_field(struct subject *s, const struct cps_value *value)
{
    if (value->low == value->high)
        cps_buf_printf(s->out, "      %2u", value->low);
    else
        cps_buf_printf(s->out, "  %2u:%-2u ", value->high, value->low);
    cps_buf_printf(s->out, "  %s", *value->name ? value->name : "the value");
    if (value->is_address)
        cps_buf_str(s->out, ", an address");
    if (value->shift)
        cps_buf_printf(s->out, ", shifted left by %u", value->shift);
    cps_buf_str(s->out, "\n");
    put_values(s, value);
}

/* Bits that no field has are left out. */
static void take_field(void *context, const struct cps_value *value)
{
    struct subject *s = context;
    if (!value->name)
        return;
    s->any = true;
    put_field(s, value);
}

/* Words without a name say nothing. Of those that depend on a field of the packet these are the
 * ones that 0 selects. */
static void take_word(void *context, const struct cps_value *value)
{
    struct subject *s = context;
    if (!value->name || value->number >= MOST_WORDS || (!*value->name && !value->word))
        return;
    s->any = true;
    if (s->words <= value->number)
        cps_buf_printf(s->out, "  [%" PRIu32 "] %s\n", value->number,
                       value->word ? value->word : "");
    s->words = value->number + 1;
    put_field(s, value);
}

static void put_register(char file, const char *text, struct subject *s)
{
    unsigned half = 0;
    const char *name = cps_name(s->names, s->space, s->number, &half);
    if (file != CPS_FILE_REGISTER)
        cps_buf_printf(s->out, "%c", file);
    cps_buf_printf(s->out, "0x%04" PRIx32 " %s", s->number, name ? name : text);
    cps_buf_str(s->out, half ? ", its upper half\n" : "\n");
    cps_name_values(s->names, s->space, s->number, 0, take_field, s);
    if (!s->any)
        cps_buf_str(s->out, "  no fields are known\n");
}

static void put_packet(const char *text, struct subject *s)
{
    static const uint32_t none[MOST_WORDS];
    cps_buf_printf(s->out, "%s, type 7, opcode 0x%02" PRIx32 "\n", text, s->number);
    cps_packet_values(s->names, s->number, none, MOST_WORDS, take_word, s);
    if (!s->any)
        cps_buf_str(s->out, "  no words are known\n");
}

struct cps_err *command_ptype_(struct debugger *r, struct command_args *args)
{
    const struct session *session = &r->session;
    struct subject s = {
        .names = session_names(session, session->core), .space = CPS_SPACE_COUNT, .out = &r->out};
    struct cps_location place;
    if (s.names && expr_place(session, session->core, args->text, &place))
        s.space = look_space(place.file);
    if (s.space != CPS_SPACE_COUNT) {
        s.number = (uint32_t)place.number;
        put_register(place.file, args->text, &s);
        return NULL;
    }
    s.space = CPS_SPACE_PACKET;
    if (!s.names || !*args->text ||
        !cps_name_number(s.names, s.space, args->text, strlen(args->text), &s.number))
        return cps_err_new(
            CPS_ERR_SYNTAX,
            "ptype %s: expected a register (@CONTROL, %%SQE, of the GPU) or a packet", args->text);
    put_packet(args->text, &s);
    return NULL;
}
