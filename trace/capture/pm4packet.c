/* SPDX-License-Identifier: MIT
 * One line of PM4 text to dwords. */
#include <string.h>

#include "isa/base/lex.h"
#include "isa/base/pm4.h"
#include "trace/capture/pm4text.h"

struct line {
    const struct cps_pm4text_names *names;
    const char *text;
    const char *at;
    uint32_t *words;
    uint32_t max;
    uint32_t count;
};

static struct cps_err *expected(const char *what)
{
    return cps_err_new(CPS_ERR_SYNTAX, "expected %s", what);
}

static struct cps_err *too_many(const struct line *l)
{
    return cps_err_new(CPS_ERR_SYNTAX, "expected at most %u dwords in a line, with the header",
                       (unsigned)l->max);
}

static bool put(struct line *l, uint64_t word)
{
    if (l->count == l->max)
        return false;
    l->words[l->count++] = (uint32_t)word;
    return true;
}

/* "@name": address low and high; "#name": size in dwords. */
static struct cps_err *put_reference(struct line *l, char sigil)
{
    uint64_t iova = 0;
    uint32_t dwords = 0;
    size_t length = cps_lex_identifier(l->at + 1);
    if (!length || !l->names->buffer ||
        !l->names->buffer(l->names->context, l->at + 1, length, &iova, &dwords))
        return expected("the name of a buffer");
    l->at += 1 + length;
    bool fits = sigil == '#' ? put(l, dwords) : put(l, iova) && put(l, iova >> 32);
    return fits ? NULL : too_many(l);
}

static struct cps_err *put_values(struct line *l)
{
    for (l->at = cps_lex_blank(l->at); *l->at; l->at = cps_lex_blank(l->at)) {
        int64_t value = 0;
        if (*l->at == '@' || *l->at == '#') {
            CPS_TRY(put_reference(l, *l->at));
        } else if (!cps_lex_number(&l->at, &value) || value > UINT32_MAX) {
            return expected("a 32-bit number, @buffer or #buffer");
        } else if (!put(l, (uint64_t)value)) {
            return too_many(l);
        }
    }
    return NULL;
}

static struct cps_err *put_reg(struct line *l)
{
    uint32_t reg = 0;
    int64_t number = 0;
    l->at = cps_lex_blank(l->at);
    size_t length = strcspn(l->at, " \t");
    bool known = true;
    if (cps_lex_number(&l->at, &number)) {
        known = number <= 0x3ffff;
        reg = (uint32_t)number;
    } else if ((known = cps_name_number(l->names->names, CPS_SPACE_GPU, l->at, length, &reg))) {
        l->at += length;
    }
    if (!known)
        return expected("a register offset up to 0x3ffff or a register's name");
    l->count = 1;
    CPS_TRY(put_values(l));
    if (l->count - 1 > 127)
        return expected("up to 127 values");
    l->words[0] = cps_pm4_type4(reg, l->count - 1);
    return NULL;
}

static struct cps_err *put_packet(struct line *l, size_t length)
{
    uint32_t opcode = 0;
    if (!length || !cps_name_number(l->names->names, CPS_SPACE_PACKET, l->at, length, &opcode))
        return expected("an opcode, reg or .word");
    l->at += length;
    l->count = 1;
    CPS_TRY(put_values(l));
    if (l->count - 1 > 0x3fff)
        return expected("up to 16383 values");
    l->words[0] = cps_pm4_type7(opcode, l->count - 1);
    return NULL;
}

static struct cps_err *parse(struct line *l)
{
    l->at = cps_lex_blank(l->text);
    size_t length = cps_lex_identifier(l->at);
    if (!strncmp(l->at, ".word", 5) && (l->at[5] == ' ' || l->at[5] == '\t')) {
        l->at += 5;
        return put_values(l);
    }
    if (length == 3 && !memcmp(l->at, "reg", 3)) {
        l->at += 3;
        return put_reg(l);
    }
    return put_packet(l, length);
}

struct cps_err *cps_pm4text_packet(const struct cps_pm4text_names *names, const char *line,
                                   uint32_t *words, uint32_t max, uint32_t *count, size_t *column)
{
    struct line l = {.names = names, .text = line, .words = words, .max = max};
    if (!max)
        return too_many(&l);
    struct cps_err *err = parse(&l);
    if (err)
        *column = (size_t)(l.at - l.text);
    else
        *count = l.count;
    return err;
}
