/* SPDX-License-Identifier: MIT
 * Scripts as files: which form they have, and their listing. */
#include "fw/nv/script/private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "isa/base/le.h"
#include "isa/base/shown.h"
#include "fw/image/private.h"

/* Before the version. */
static const char magic[] = CPS_SCRIPT_HEAD " ";

bool cps_is_script(const void *bytes, size_t size)
{
    return size >= sizeof(magic) - 1 && !memcmp(bytes, magic, sizeof(magic) - 1);
}

/* The bytes of the UTF-8 character at @p bytes; 0 if it is none. */
static size_t utf8(const uint8_t *bytes, size_t size)
{
    char copy[5] = "";
    uint32_t ignored = 0;
    memcpy(copy, bytes, size < 4 ? size : 4);
    return cps_utf8_(copy, &ignored);
}

/* Every script that ends has a byte that no text has: exit of HWSQ and VP1, zero words of SEQ.
 * Other pieces of code are told by bytes that are no UTF-8; comments of a source may be of any
 * encoding. */
static bool is_text(const uint8_t *bytes, size_t size)
{
    bool comment = false;
    for (size_t i = 0, length; i < size; i += length) {
        bool blank = bytes[i] >= '\t' && bytes[i] <= '\r';
        if ((bytes[i] < ' ' && !blank) || bytes[i] == 0x7f || bytes[i] == 0xff)
            return false;
        comment = (comment || bytes[i] == ';') && bytes[i] != '\n';
        length = utf8(bytes + i, size - i);
        if (!length && !comment)
            return false;
        length = length ? length : 1;
    }
    return size > 0;
}

static struct cps_err *take_bytes(const char *name, const void *bytes, size_t size,
                                  struct cps_script *script)
{
    unsigned unit = cps_isa_unit(cps_gen_isa(script->gen));
    cps_buf_clear(&script->code);
    if (size > CPS_SCRIPT_MAX_BYTES)
        return cps_err_input(name, CPS_SCRIPT_MAX_BYTES, "file goes on, expected at most %zu bytes",
                             CPS_SCRIPT_MAX_BYTES);
    if (!size)
        return cps_err_input(name, 0, "file is empty, expected a script");
    if (size % unit)
        return cps_err_input(name, size - size % unit, "%zu bytes at the end, expected whole words",
                             size % unit);
    cps_buf_add(&script->code, bytes, size);
    return script->code.failed ? cps_err_nomem() : NULL;
}

struct cps_err *cps_script_take_code_(const char *name, const void *bytes, size_t size,
                                      struct cps_script *script)
{
    cps_buf_clear(&script->code);
    return is_text(bytes, size) ? cps_script_assemble(name, bytes, size, script->gen, &script->code)
                                : take_bytes(name, bytes, size, script);
}

static struct cps_err *begin(const char *name, unsigned gen, struct cps_script *ret)
{
    *ret = (struct cps_script){.name = strdup(name), .gen = (enum cps_gen)gen};
    return ret->name ? NULL : cps_err_nomem();
}

static struct cps_err *no_chip(const char *name)
{
    return cps_err_new(CPS_ERR_INPUT,
                       "%s: the chip is unknown, expected --chip, --seq-abi or a run file", name);
}

struct cps_err *cps_script_raw(const char *name, const void *bytes, size_t size, unsigned gen,
                               struct cps_script *ret)
{
    CPS_TRY(begin(name, gen, ret));
    return gen ? take_bytes(name, bytes, size, ret) : no_chip(name);
}

struct cps_err *cps_script_parse(const char *name, const void *bytes, size_t size,
                                 const struct cps_isa *isa, unsigned gen, struct cps_script *ret)
{
    CPS_TRY(begin(name, gen, ret));
    if (cps_is_script(bytes, size))
        return cps_script_run_file_(bytes, size, isa, gen, ret);
    if (!cps_isa_has_code(isa))
        return cps_err_input(name, 0, "%s runs no script, expected a run file (\"%s\")",
                             cps_isa_name(isa), CPS_SCRIPT_HEAD " " CPS_SCRIPT_VERSION);
    if (!gen)
        return no_chip(name);
    return cps_script_take_code_(name, bytes, size, ret);
}

bool cps_seq_plausible(const void *bytes, size_t size)
{
    const struct cps_bytes words = {bytes, size};
    uint32_t header = 0;
    if (!cps_rd32(words, 0, &header) || !header || header & 0xfc00ffc0)
        return false;
    for (size_t at = 0; cps_rd32(words, at, &header) && header;) {
        uint32_t length = header >> 16;
        if ((header & 0xffff) > 0x3c || !length || length > 0x3ff || length > (size - at) / 4)
            return false;
        at += (size_t)length * 4;
    }
    return true;
}

void cps_script_deinit(struct cps_script *script)
{
    free(script->name);
    free(script->step);
    free(script->change);
    free(script->policy_word);
    cps_buf_deinit(&script->code);
    cps_buf_deinit(&script->policy);
    *script = (struct cps_script){0};
}

uint64_t cps_script_ticks(enum cps_gen gen, const struct cps_insn *insn)
{
    const struct cps_isa *isa = cps_gen_isa(gen);
    if (insn->misfit)
        return 0;
    if (isa == &cps_isa_hwsq && insn->op == CPS_HWSQ_WAIT)
        return ((uint64_t)insn->operand[0] << 2 * insn->operand[1]) * 0x20;
    if (isa == &cps_isa_seq && (insn->op == CPS_SEQ_WAIT || insn->op == CPS_SEQ_WAITS))
        return (uint64_t)insn->operand[0];
    return 0;
}

/* ---- listing ---- */

#define COMMENT_COLUMN 40
/* Bytes of an instruction whose text is a statement that the assembler takes. */
#define MAX_STATEMENT 144u

struct lister {
    const struct cps_isa *isa;
    enum cps_gen gen;
    const uint8_t *bytes;
    size_t size;
    struct cps_names *names;
    enum cps_scheme scheme;
    uint8_t *marks; /* per unit: 1 an instruction begins here, 2 something branches here */
    char label[16];
};

static const char *label_at(void *context, uint32_t target)
{
    struct lister *l = context;
    if (target >= l->size / cps_isa_unit(l->isa) || l->marks[target] != 3)
        return NULL;
    snprintf(l->label, sizeof(l->label), "l%04x", (unsigned)target);
    return l->label;
}

/* Calls @p each for every instruction, from the first byte on. */
static void walk(struct lister *l,
                 void (*each)(struct lister *l, const struct cps_insn *insn, uint32_t at,
                              struct cps_buf *out),
                 struct cps_buf *out)
{
    struct cps_insn insn;
    for (size_t at = 0; at < l->size; at += insn.length) {
        cps_decode_bytes(l->isa, l->gen, l->bytes + at, l->size - at, &insn);
        each(l, &insn, (uint32_t)(at / cps_isa_unit(l->isa)), out);
    }
}

static void mark(struct lister *l, const struct cps_insn *insn, uint32_t at, struct cps_buf *out)
{
    uint32_t target = 0;
    (void)out;
    l->marks[at] |= 1;
    if (cps_insn_target(l->isa, insn, at, &target) && target < l->size / cps_isa_unit(l->isa) &&
        !insn->misfit)
        l->marks[target] |= 2;
}

/* The operand that may be a register's number. */
static unsigned register_field(const struct cps_isa *isa)
{
    return isa == &cps_isa_hwsq  ? (unsigned)CPS_HWSQ_F_IMM32
           : isa == &cps_isa_seq ? (unsigned)CPS_SEQ_F_P0
           : isa == &cps_isa_vp1 ? (unsigned)CPS_VP1_F_IMM
                                 : 0;
}

/* Lines of literals, for what is too long for one statement. */
static void put_literals(const struct lister *l, const struct cps_insn *insn, struct cps_buf *out)
{
    const unsigned unit = cps_isa_unit(l->isa);
    for (uint32_t at = 0; at < insn->length; at += unit) {
        cps_buf_str(out, at / unit % 4 ? " " : at ? "\n        " : "        ");
        cps_buf_printf(out, unit == 4 ? "[%08x]" : "[%02x]",
                       unit == 4 ? (unsigned)cps_le32(insn->bytes + at) : insn->bytes[at]);
    }
}

/* Whether the word is of the same bundle as the one before it. */
static bool joins(const struct lister *l, const struct cps_insn *insn, uint32_t at)
{
    return l->isa == &cps_isa_vp1 && at &&
           cps_insn_joins(l->isa, at, cps_le32(insn->bytes - 4), (uint32_t)insn->word);
}

static void put_line(struct lister *l, const struct cps_insn *insn, uint32_t at,
                     struct cps_buf *out)
{
    const struct cps_print_names names = {
        .names = l->names, .label = label_at, .context = l, .scheme = l->scheme};
    const char *label = label_at(l, at);
    if (label)
        cps_buf_printf(out, "%s:\n", label);
    size_t line = out->size;
    if (insn->length > MAX_STATEMENT) {
        put_literals(l, insn, out);
    } else {
        cps_buf_str(out, joins(l, insn, at) ? "      + " : "        ");
        cps_print(l->isa, insn, at, &names, out);
    }
    cps_buf_str(out, " ");
    cps_buf_pad(out, line, COMMENT_COLUMN);
    cps_buf_printf(out, "; %04x", (unsigned)at);
    /* The register that a whole operand names, for people. */
    unsigned field = register_field(l->isa);
    int64_t number = insn->misfit || !field ? -1 : cps_insn_field(l->isa, insn, field, -1);
    const char *name =
        number >= 0 ? cps_name(l->names, CPS_SPACE_GPU, (uint32_t)number, NULL) : NULL;
    if (name)
        cps_buf_printf(out, " %s", name);
    /* How long a wait of HWSQ takes, for people: SEQ's are nanoseconds as they are there. */
    uint64_t ns = l->isa == &cps_isa_hwsq ? cps_script_ticks(l->gen, insn) * 32 : 0;
    if (ns)
        cps_buf_printf(out, " %" PRIu64 ".%03u us", ns / 1000, (unsigned)(ns % 1000));
    cps_buf_str(out, "\n");
}

static void deinit(struct lister *l)
{
    free(l->marks);
    cps_names_destroy(l->names);
}

/* Whether the assembler would add an end of its own. */
static bool lacks_end(const struct lister *l)
{
    struct cps_insn insn = {0};
    if (l->isa != &cps_isa_seq)
        return false;
    for (size_t at = 0; at < l->size; at += insn.length)
        cps_decode_bytes(l->isa, l->gen, l->bytes + at, l->size - at, &insn);
    return !l->size || insn.length != 4 || insn.word << 32;
}

struct cps_err *cps_script_listing(enum cps_gen gen, const void *bytes, size_t size,
                                   const char *rnn_dir, enum cps_scheme scheme, struct cps_buf *out)
{
    CPS_CLEANUP(deinit)
    struct lister l = {
        .isa = cps_gen_isa(gen), .gen = gen, .bytes = bytes, .size = size, .scheme = scheme};
    CPS_TRY(cps_names_create(cps_gen_layout(gen), rnn_dir, &l.names));
    l.marks = calloc(size + 1, 1);
    if (!l.marks)
        return cps_err_nomem();
    cps_buf_printf(out, "; %s %s\n", cps_gen_name(gen), cps_isa_name(l.isa));
    if (scheme == CPS_NAMES_ENVYTOOLS)
        cps_buf_str(out, "        .names envytools\n");
    walk(&l, mark, out);
    walk(&l, put_line, out);
    if (lacks_end(&l))
        cps_buf_str(out, "        .noend\n");
    return out->failed ? cps_err_nomem() : NULL;
}
