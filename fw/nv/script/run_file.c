/* SPDX-License-Identifier: MIT
 * Run files: a script with its host and its chip, one line a fact (docs/engines/). */
#include <stdio.h>
#include <string.h>

#include "isa/base/lex.h"
#include "isa/base/list.h"
#include "isa/base/within.h"
#include "isa/names/words.h"
#include "fw/asm/asm.h"
#include "fw/image/private.h"
#include "fw/nv/script/private.h"

struct reader {
    struct cps_asm_text text;
    const struct cps_isa *isa;
    struct cps_script *to;
    struct cps_names *names; /* see open_names() */
    const char *at;          /* in the statement */
    struct cps_err *err;     /* of a file that it names, or memory: ends the reading */
    bool has_gen, has_code;
    bool lost; /* for another engine, an unknown chip: what follows would be misread */
    unsigned objects;
};

/* Notes an error; always false. */
static bool expected(struct reader *r, const char *what)
{
    r->at = cps_lex_blank(r->at);
    return cps_asm_error_(&r->text, (size_t)(r->at - r->text.statement), "expected %s", what);
}

static bool at_end(struct reader *r)
{
    r->at = cps_lex_blank(r->at);
    return !*r->at;
}

static bool end(struct reader *r)
{
    return at_end(r) || expected(r, "the end of the line");
}

/* The next word up to a blank; its length, 0 at the end of the line. */
static size_t word(struct reader *r, const char **ret)
{
    r->at = cps_lex_blank(r->at);
    *ret = r->at;
    return strcspn(r->at, " \t");
}

static bool take_word(struct reader *r, const char *want)
{
    const char *found = NULL;
    size_t length = word(r, &found);
    if (length != strlen(want) || memcmp(found, want, length) != 0)
        return false;
    r->at = found + length;
    return true;
}

static bool number(struct reader *r, uint64_t most, const char *what, uint64_t *ret)
{
    const char *at = cps_lex_blank(r->at);
    int64_t value = 0;
    if (!cps_lex_number(&at, &value) || (uint64_t)value > most)
        return expected(r, what);
    r->at = at;
    *ret = (uint64_t)value;
    return true;
}

static bool number32(struct reader *r, const char *what, uint32_t *ret)
{
    uint64_t value = 0;
    bool good = number(r, UINT32_MAX, what, &value);
    *ret = (uint32_t)value;
    return good;
}

/* A number of a space, or its name. @p also: how one more is called, NULL: none is */
static bool named(struct reader *r, enum cps_space space, const char *what, const char *also,
                  uint32_t *ret)
{
    const char *found = NULL;
    size_t length = word(r, &found);
    if (!r->names)
        return expected(r, "a chip first");
    if (length && cps_name_number(r->names, space, found, length, ret)) {
        r->at = found + length;
        return true;
    }
    CPS_BUF known = {0};
    cps_buf_str(&known, what);
    if (space != CPS_SPACE_GPU) /* of registers there are too many */
        cps_names_words_(r->names, space, &known);
    if (also)
        cps_buf_printf(&known, ", or %s", also);
    return number32(r, cps_buf_text(&known), ret);
}

static bool address(struct reader *r, uint32_t *ret)
{
    static const char what[] = "a register's name, or its byte address, a multiple of 4";
    r->at = cps_lex_blank(r->at);
    const char *start = r->at;
    if (!named(r, CPS_SPACE_GPU, what, NULL, ret))
        return false;
    if (*ret % 4 == 0)
        return true;
    r->at = start;
    return expected(r, what);
}

static bool add_step(struct reader *r, struct cps_script_step step)
{
    struct cps_script *to = r->to;
    step.line = r->text.number;
    if (!CPS_LIST_ROOM(to->step, to->step_count)) {
        r->err = cps_err_nomem();
        return false;
    }
    to->step[to->step_count++] = step;
    return true;
}

static bool do_engine(struct reader *r)
{
    CPS_BUF what = {0};
    if (take_word(r, cps_isa_name(r->isa)))
        return end(r);
    r->lost = true;
    cps_buf_printf(&what, "%s, the engine that is asked for", cps_isa_name(r->isa));
    return expected(r, cps_buf_text(&what));
}

/* Around scripts, events are as the chip numbers them, not as SEQ's conditions do, and registers
 * are on all chips where G92 has them. PFIFO's are not: first the chip has to be known. */
static struct cps_err *open_names(struct reader *r)
{
    bool code = cps_isa_has_code(r->isa);
    if (r->names || (!code && !r->to->gen))
        return NULL;
    return cps_names_create(code ? CPS_LAYOUT_G92 : cps_gen_layout(r->to->gen), NULL, &r->names);
}

/* A line "chip g92" or "abi new": @p key, and the word of a generation. */
static bool do_gen(struct reader *r, const char *key, const char *article)
{
    const struct cps_gen_row *first = cps_gen_keyed(key, cps_isa_name(r->isa));
    if (first->isa != r->isa) {
        /* "chip" of an engine that has an ABI, or the other way round. */
        CPS_BUF what = {0};
        unsigned gen = 1;
        while (cps_gen_isa((enum cps_gen)gen) != r->isa)
            gen++;
        cps_buf_printf(&what, "%s (", cps_gen_row((enum cps_gen)gen)->key);
        cps_gen_words(r->isa, &what);
        cps_buf_printf(&what, "), which %s has instead", cps_isa_name(r->isa));
        r->at = r->text.statement;
        r->lost = true;
        return expected(r, cps_buf_text(&what));
    }
    const char *found = NULL;
    char name[24];
    size_t length = word(r, &found);
    enum cps_gen gen = CPS_GEN_NONE;
    snprintf(name, sizeof(name), "%.*s", (int)(length > 15 ? 15 : length), found);
    if (first->isa != r->isa || !cps_chip_parse(r->isa, name, &gen) || r->has_gen) {
        CPS_BUF what = {0};
        cps_buf_printf(&what, "%s (", article);
        cps_chip_expected(first->isa, name, &what);
        cps_buf_str(&what, ")");
        r->lost = true;
        return expected(r, r->has_gen ? "one chip" : cps_buf_text(&what));
    }
    r->at = found + length;
    r->has_gen = true;
    if (!r->to->gen) { /* the command line has the last word */
        r->to->gen = gen;
        r->err = open_names(r);
    }
    return !r->err && end(r);
}

static bool do_chip(struct reader *r)
{
    return do_gen(r, "chip", "a chip");
}

static bool do_abi(struct reader *r)
{
    return do_gen(r, "abi", "an ABI");
}

static bool add_policy(struct reader *r, const char *found, size_t length)
{
    struct cps_script *to = r->to;
    struct cps_buf *text = &to->policy;
    cps_buf_str(text, text->size ? " " : "");
    struct cps_script_word word = {.at = text->size,
                                   .line = r->text.number,
                                   .column = (uint32_t)(found - r->text.statement) + 1};
    cps_buf_add(text, found, length);
    if (!CPS_LIST_ROOM(to->policy_word, to->policy_count)) {
        r->err = cps_err_nomem();
        return false;
    }
    to->policy_word[to->policy_count++] = word;
    return true;
}

static bool do_policy(struct reader *r)
{
    const char *found = NULL;
    for (size_t length; (length = word(r, &found)); r->at = found + length) {
        if (!memchr(found, '=', length))
            return expected(r, "NAME=WORD");
        if (!add_policy(r, found, length))
            return false;
    }
    return true;
}

/* "script FILE": beside the run file. */
static bool do_script(struct reader *r)
{
    const char *slash = strrchr(r->to->name, '/');
    CPS_BUF path = {0};
    CPS_FREE uint8_t *bytes = NULL;
    size_t size = 0;
    r->at = cps_lex_blank(r->at);
    r->lost = !r->to->gen;
    if (!*r->at || r->has_code || !r->to->gen)
        return expected(r, r->has_code ? "one script" : *r->at ? "a chip first" : "a file's name");
    uint32_t column = (uint32_t)(r->at - r->text.statement) + 1;
    if (*r->at != '/' && slash)
        cps_buf_add(&path, r->to->name, (size_t)(slash - r->to->name) + 1);
    cps_buf_str(&path, r->at);
    r->has_code = true;
    r->err = cps_err_within_(cps_fw_read_file_(cps_buf_text(&path), &bytes, &size), "%s:%u:%u",
                             r->to->name, (unsigned)r->text.number, (unsigned)column);
    if (!r->err)
        r->err = cps_script_take_code_(cps_buf_text(&path), bytes, size, r->to);
    return !r->err;
}

/* "code": all lines after are assembly. What is before them becomes blank, so that errors
 * name the lines of this file. */
static bool do_code(struct reader *r)
{
    size_t size = (size_t)(r->text.end - r->text.start);
    size_t start = (size_t)(r->text.next - r->text.start);
    CPS_FREE char *copy = malloc(size + 1);
    r->lost = true; /* what follows is assembly */
    if (!end(r) || r->has_code || !r->to->gen)
        return r->text.error_count ? false
                                   : expected(r, r->has_code ? "one script" : "a chip first");
    if (!copy) {
        r->err = cps_err_nomem();
        return false;
    }
    memcpy(copy, r->text.start, size);
    for (size_t i = 0; i < start; i++)
        copy[i] = copy[i] == '\n' ? '\n' : ' ';
    r->has_code = true;
    r->text.next = r->text.end;
    r->err = cps_script_assemble(r->to->name, copy, size, r->to->gen, &r->to->code);
    return !r->err;
}

static bool do_out(struct reader *r)
{
    r->to->has_out = true;
    while (!at_end(r)) {
        if (r->to->out_count == CPS_SCRIPT_MAX_OUT)
            return expected(r, "at most 255 words");
        if (!number32(r, "a word", &r->to->out[r->to->out_count]))
            return false;
        r->to->out_count++;
    }
    return true;
}

/* Keeps the order of changes at one tick. */
static bool add_change(struct reader *r, struct cps_script_change change)
{
    struct cps_script *to = r->to;
    size_t at = to->change_count;
    change.line = r->text.number;
    if (!CPS_LIST_ROOM(to->change, at)) {
        r->err = cps_err_nomem();
        return false;
    }
    for (; at && to->change[at - 1].tick > change.tick; at--)
        to->change[at] = to->change[at - 1];
    to->change[at] = change;
    to->change_count++;
    return true;
}

/* PGRAPH is after the events of the chip, and only SEQ asks for it. */
static bool event(struct reader *r, uint32_t *ret)
{
    const char *idle = r->isa == &cps_isa_seq ? "PGRAPH_IDLE" : NULL;
    bool graph = idle && take_word(r, idle);
    const char *start = r->at = cps_lex_blank(r->at);
    *ret = graph ? CPS_EVENT_PGRAPH_IDLE : 0;
    if (!graph && !named(r, CPS_SPACE_EVENT, "an event's number or name", idle, ret))
        return false;
    if (graph || *ret < 32)
        return true;
    r->at = start;
    return expected(r, "an event below 32");
}

static bool change(struct reader *r, uint64_t tick)
{
    struct cps_script_change c = {.tick = tick, .is_event = take_word(r, "event")};
    if (!c.is_event && !take_word(r, "reg"))
        return expected(r, "event or reg");
    if (c.is_event ? !event(r, &c.number) : !address(r, &c.number))
        return false;
    if (!number32(r, c.is_event ? "0 or 1" : "a value of 32 bits", &c.value))
        return false;
    if (c.is_event && c.value > 1)
        return expected(r, "an event below 32 with value 0 or 1");
    return end(r) && add_change(r, c);
}

static bool do_at(struct reader *r)
{
    uint64_t tick = 0;
    return number(r, INT64_MAX, "a tick", &tick) && change(r, tick);
}

static bool do_set(struct reader *r)
{
    r->at = r->text.statement; /* the keyword says what */
    return change(r, 0);
}

/* "[ramin | memory | bar1 | bar2] ADDRESS" */
static bool place(struct reader *r, struct cps_script_step *ret)
{
    static const struct {
        const char *word;
        enum cps_script_where where;
        const struct cps_isa *isa;
    } words[] = {{"ramin", CPS_AT_RAMIN, &cps_isa_pfifo},
                 {"memory", CPS_AT_MEMORY, &cps_isa_pfifo},
                 {"bar1", CPS_AT_BAR1, &cps_isa_hwsq},
                 {"bar2", CPS_AT_BAR2, &cps_isa_hwsq}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (!take_word(r, words[i].word))
            continue;
        if (words[i].isa != r->isa)
            return expected(r, "a register: this engine has no such memory");
        ret->where = words[i].where;
        break;
    }
    return address(r, &ret->addr);
}

static bool in_memory(struct reader *r, const struct cps_script_step *step)
{
    return step->where != CPS_AT_RAMIN || step->addr < CPS_SCRIPT_RAMIN_BYTES ||
           expected(r, "words in the first 1 MiB of RAMIN");
}

/* "write PLACE VALUE...": several go one after the other. */
static bool do_write(struct reader *r)
{
    struct cps_script_step step = {.what = CPS_DO_WRITE, .size = 4};
    if (!place(r, &step))
        return false;
    do {
        if (!in_memory(r, &step) || !number32(r, "a value of 32 bits", &step.value) ||
            !add_step(r, step))
            return false;
        step.addr += 4;
    } while (!at_end(r) && step.addr);
    return step.addr || end(r); /* no address follows the last one */
}

/* "write8 ADDRESS VALUE", and write16: at any byte. */
static bool write_part(struct reader *r, uint8_t size, uint32_t most, const char *what)
{
    struct cps_script_step step = {.what = CPS_DO_WRITE, .size = size};
    uint64_t value = 0;
    if (!named(r, CPS_SPACE_GPU, "a register's name, or its byte address", NULL, &step.addr) ||
        !number(r, most, what, &value))
        return false;
    step.value = (uint32_t)value;
    return end(r) && add_step(r, step);
}

static bool do_write8(struct reader *r)
{
    return write_part(r, 1, 0xff, "a value of 8 bits");
}

static bool do_write16(struct reader *r)
{
    return write_part(r, 2, 0xffff, "a value of 16 bits");
}

/* "object CHANNEL HANDLE CONTEXT" */
static bool do_object(struct reader *r)
{
    struct cps_script_step step = {.what = CPS_DO_OBJECT};
    uint64_t channel = 0;
    if (r->objects++ == CPS_SCRIPT_MAX_OBJECTS)
        return expected(r, "at most 256 objects");
    if (!number(r, 127, "a channel below 128", &channel))
        return false;
    step.mask = (uint32_t)channel;
    return number32(r, "a handle", &step.addr) && number32(r, "a context", &step.value) && end(r) &&
           add_step(r, step);
}

/* "read PLACE [VALUE [MASK]]" */
static bool do_read(struct reader *r)
{
    struct cps_script_step step = {.what = CPS_DO_READ};
    if (!place(r, &step) || !in_memory(r, &step))
        return false;
    if (!at_end(r)) {
        step.mask = UINT32_MAX;
        if (!number32(r, "the value that is expected", &step.value))
            return false;
    }
    if (!at_end(r) && !number32(r, "the bits that count", &step.mask))
        return false;
    return end(r) && add_step(r, step);
}

static bool do_upload(struct reader *r)
{
    struct cps_script_step step = {.what = CPS_DO_UPLOAD};
    return (at_end(r) || number32(r, "a byte of the code RAM", &step.addr)) && end(r) &&
           add_step(r, step);
}

static bool do_wait(struct reader *r)
{
    struct cps_script_step step = {.what = CPS_DO_WAIT};
    return number(r, INT64_MAX, "a number of ticks", &step.ticks) && end(r) && add_step(r, step);
}

static bool do_run(struct reader *r)
{
    return end(r) && add_step(r, (struct cps_script_step){.what = CPS_DO_RUN});
}

/* Which engines have a use for a keyword. */
enum { CODE = 1, NO_CODE = 2, ANY = CODE | NO_CODE };
static const struct {
    const char *word;
    unsigned engines;
    bool (*read)(struct reader *r);
} keywords[] = {
    {"engine", ANY, do_engine},
    {"chip", ANY, do_chip},
    {"abi", CODE, do_abi},
    {"policy", ANY, do_policy},
    {"script", CODE, do_script},
    {"code", CODE, do_code},
    {"out", CODE, do_out},
    {"at", ANY, do_at},
    {"event", CODE, do_set},
    {"reg", ANY, do_set},
    {"write", ANY, do_write},
    {"write8", NO_CODE, do_write8},
    {"write16", NO_CODE, do_write16},
    {"read", ANY, do_read},
    {"object", NO_CODE, do_object},
    {"upload", CODE, do_upload},
    {"wait", ANY, do_wait},
    {"run", ANY, do_run},
};

static bool read_line(struct reader *r)
{
    r->at = r->text.statement;
    if (at_end(r) || *r->at == '#')
        return true;
    unsigned engine = cps_isa_has_code(r->isa) ? CODE : NO_CODE;
    for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
        if (keywords[i].engines & engine && take_word(r, keywords[i].word))
            return keywords[i].read(r);
    }
    CPS_BUF known = {0};
    for (size_t i = 0; i + 1 < sizeof(keywords) / sizeof(keywords[0]); i++) {
        if (keywords[i].engines & engine)
            cps_buf_printf(&known, "%s%s", known.size ? ", " : "", keywords[i].word);
    }
    cps_buf_str(&known, " or run");
    return expected(r, cps_buf_text(&known));
}

static bool read_head(struct reader *r)
{
    cps_asm_next_(&r->text);
    /* A NUL byte, or memory was short: there is no statement. */
    r->lost = r->text.error_count > 0 || r->text.held.failed;
    if (r->lost)
        return false;
    r->at = r->text.statement + sizeof(CPS_SCRIPT_HEAD) - 1;
    r->lost = !take_word(r, CPS_SCRIPT_VERSION) || !at_end(r);
    return !r->lost || expected(r, "version " CPS_SCRIPT_VERSION " of run files");
}

static void deinit(struct reader *r)
{
    cps_names_destroy(r->names);
    cps_asm_text_deinit_(&r->text);
}

struct cps_err *cps_script_run_file_(const char *text, size_t size, const struct cps_isa *isa,
                                     unsigned gen, struct cps_script *script)
{
    CPS_CLEANUP(deinit) struct reader r = {.isa = isa, .to = script};
    cps_asm_text_init_(&r.text, script->name, text, size);
    r.text.longest = SIZE_MAX; /* of one `write` RAMIN may get a megabyte */
    script->gen = (enum cps_gen)gen;
    CPS_TRY(open_names(&r));
    read_head(&r);
    while (!r.err && !r.lost && cps_asm_next_(&r.text))
        read_line(&r);
    if (r.err)
        return r.err;
    CPS_TRY(cps_asm_errors_(&r.text));
    if (script->policy.failed)
        return cps_err_nomem();
    const char *missing = cps_isa_has_code(isa) ? r.has_code ? NULL : "\"script FILE\" or \"code\""
                          : script->gen         ? NULL
                                                : "\"chip CHIP\"";
    return missing ? cps_err_new(CPS_ERR_SYNTAX, "%s:%u: expected a line %s", script->name,
                                 (unsigned)r.text.number, missing)
                   : NULL;
}
