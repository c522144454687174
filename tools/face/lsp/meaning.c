/* SPDX-License-Identifier: MIT
 * What instructions, registers and numbers mean: the rows of the tables that the assembler and the
 * emulator are made of. */
#include <inttypes.h>
#include <string.h>

#include "isa/base/lex.h"
#include "isa/sets/syntax.h"
#include "tools/face/lsp/private.h"

/* ---- instructions ---- */

static bool is_called(const struct cps_syntax *syntax, const char *word, size_t length)
{
    return strlen(syntax->mnemonic) == length && !memcmp(syntax->mnemonic, word, length);
}

static bool has_slot(const struct cps_isa *isa, unsigned op)
{
    enum cps_flow flow = cps_op_flow(isa, op);
    return (isa == &cps_isa_afuc || isa == &cps_isa_vp1) && flow != CPS_FLOW_NEXT &&
           flow != CPS_FLOW_SKIP && flow != CPS_FLOW_END;
}

/* What an expression of a row says; "": nothing, it is that of a jump, which is always taken. */
static const char *lead_of(enum cps_flow flow)
{
    return flow == CPS_FLOW_JUMP     ? ""
           : flow == CPS_FLOW_BRANCH ? "branches if "
           : flow == CPS_FLOW_CALLIF ? "calls if "
                                     : "result: ";
}

static void put_meaning(const struct lsp *l, const struct cps_isa *isa, unsigned op,
                        struct cps_buf *out)
{
    CPS_BUF text = {0};
    bool is_expression = cps_syntax_meaning_(isa, op, &text);
    const char *lead = is_expression ? lead_of(cps_op_flow(isa, op)) : "";
    if (!is_expression || *lead)
        cps_buf_printf(out, l->markdown ? "\n%s`%s`\n" : "  %s%s\n", lead, cps_buf_text(&text));
    if (*lead && isa == &cps_isa_afuc)
        cps_buf_str(out, "\na and b are the sources in their order.\n");
    if (has_slot(isa, op) && !strstr(cps_buf_text(&text), "delay slot"))
        cps_buf_str(out, "\nThe instruction behind it stands in its delay slot, and runs first.\n");
    out->failed |= text.failed;
}

/* Generations of the set that have the word. */
static void put_others(const struct cps_isa *isa, const char *word, size_t length,
                       struct cps_buf *out)
{
    for (enum cps_gen gen = CPS_GEN_NONE + 1; gen < CPS_GEN_COUNT; gen++) {
        bool has = false;
        struct cps_syntax row;
        for (size_t i = 0; cps_gen_isa(gen) == isa && i < cps_syntax_count_(isa); i++)
            has |= cps_syntax_(isa, gen, i, &row) && is_called(&row, word, length);
        if (has)
            cps_buf_printf(out, " %s", cps_gen_name(gen));
    }
}

void lsp_mean_instruction(const struct lsp *l, enum cps_gen gen, const char *word, size_t length,
                          struct cps_buf *out)
{
    const struct cps_isa *isa = cps_gen_isa(gen);
    unsigned last = 0;
    CPS_BUF others = {0};
    for (size_t i = 0; i < cps_syntax_count_(isa); i++) {
        struct cps_syntax row;
        CPS_BUF text = {0};
        if (!cps_syntax_(isa, gen, i, &row) || !is_called(&row, word, length))
            continue;
        if (last && last != row.op)
            put_meaning(l, isa, last, out);
        if (last != row.op)
            lsp_put_head(l, out, "%s, %s", row.mnemonic, cps_gen_name(gen));
        cps_syntax_put_(isa, i, &text);
        lsp_put_code(l, out, cps_buf_text(&text));
        out->failed |= text.failed;
        last = row.op;
    }
    if (last)
        put_meaning(l, isa, last, out);
    put_others(isa, word, length, &others);
    if (!last && others.size)
        lsp_put_head(l, out, "%.*s: not of %s, but of%s", (int)length, word, cps_gen_name(gen),
                     cps_buf_text(&others));
}

/* ---- registers ---- */

struct fields {
    struct lsp *lsp;
    const struct cps_names *names;
    enum cps_space space;
    uint32_t number;
    struct cps_buf *out;
};

struct spelt {
    const char *field;
    struct cps_buf *out;
    bool found;
};

static void put_spelt(void *context, const struct cps_value *value)
{
    struct spelt *s = context;
    if (!value->name || strcmp(value->name, s->field) != 0 || !value->text || !value->bits ||
        strlen(value->text) == 0)
        return;
    cps_buf_printf(s->out, " %" PRIu64 "=%s", value->bits, value->text);
}

/* Names of a small field's values, but for 0, which says whether it has some. */
static void put_values(const struct fields *f, const struct cps_value *value, struct cps_buf *out)
{
    enum { WIDEST = 4 };
    unsigned width = (unsigned)value->high - value->low + 1;
    struct spelt spelt = {value->name, out, false};
    if (width > WIDEST || value->high > 31)
        return;
    if (value->text)
        cps_buf_printf(out, " 0=%s", value->text);
    for (uint32_t i = 1; i < UINT32_C(1) << width && (width > 1 || value->text); i++)
        cps_name_values(f->names, f->space, f->number, i << value->low, put_spelt, &spelt);
}

static void put_field(void *context, const struct cps_value *value)
{
    const struct fields *f = context;
    CPS_BUF text = {0};
    if (!value->name || !*value->name)
        return;
    cps_buf_printf(&text, "%u", value->high);
    if (value->low != value->high)
        cps_buf_printf(&text, ":%u", value->low);
    cps_buf_printf(&text, " %s", value->name);
    put_values(f, value, &text);
    lsp_put_code(f->lsp, f->out, cps_buf_text(&text));
    f->out->failed |= text.failed;
}

/* What is known of a control register: a row of ctrl.def or storage.def. */
struct known {
    uint16_t number[CPS_LAYOUT_COUNT];
    unsigned count;
    const char *read, *write, *evidence;
};

enum { NO_NUMBER = 0xffff, SAME_NUMBER = 0xfffe };
#define AS_OR(base, own) ((own) == SAME_NUMBER ? (base) : (own))
/* The .def files' own words for them go out of scope with the files. */
#define NUMBERS(pfp, me, g6, a660, g7, gen3, a8)                                        \
    {                                                                                   \
        [CPS_LAYOUT_A5XX_PFP] = pfp, [CPS_LAYOUT_A5XX_ME] = me, [CPS_LAYOUT_A6XX] = g6, \
        [CPS_LAYOUT_A660] = AS_OR(g6, a660), [CPS_LAYOUT_A7XX] = g7,                    \
        [CPS_LAYOUT_A7XX_GEN3] = gen3, [CPS_LAYOUT_A8XX] = AS_OR(gen3, a8)              \
    }

static const struct known controls[] = {
#define CTRL(id, pfp, me, g6, a660, g7, gen3, a8, n, rd, wr, evidence) \
    {NUMBERS(pfp, me, g6, a660, g7, gen3, a8), n, #rd, #wr, evidence},
#include "emu/afuc/ctrl.def"
#define STORAGE(g6, a660, g7, gen3, a8, n, use, evidence) \
    {NUMBERS(NO_NUMBER, NO_NUMBER, g6, a660, g7, gen3, a8), n, #use, NULL, evidence},
#include "emu/afuc/storage.def"
};

static const struct {
    uint32_t gens, first, last;
    const char *read, *write, *evidence;
} gpu_registers[] = {
#define GPU_REG(id, gens, first, last, rd, wr, evidence) {gens, first, last, #rd, #wr, evidence},
#include "emu/afuc/gpu.def"
};

static void put_known(const char *read, const char *write, const char *evidence,
                      struct cps_buf *out)
{
    cps_buf_printf(out, "\nHere: read %s", read);
    if (write)
        cps_buf_printf(out, ", write %s", write);
    cps_buf_printf(out, ". Evidence %s\n", evidence);
}

static void put_control(enum cps_layout layout, uint32_t number, struct cps_buf *out)
{
    for (size_t i = 0;
         cps_gen_is_afuc(cps_layout_gen(layout)) && i < sizeof(controls) / sizeof(controls[0]);
         i++) {
        const struct known *k = &controls[i];
        if (k->number[layout] != NO_NUMBER && number - k->number[layout] < k->count)
            put_known(k->read, k->write, k->evidence, out);
    }
}

static void put_gpu(enum cps_layout layout, uint32_t number, struct cps_buf *out)
{
    enum cps_gen gen = cps_layout_gen(layout);
    for (size_t i = 0; cps_gen_is_afuc(gen) && i < sizeof(gpu_registers) / sizeof(gpu_registers[0]);
         i++) {
        if (gpu_registers[i].gens & cps_gen_bit(gen) && number >= gpu_registers[i].first &&
            number <= gpu_registers[i].last)
            put_known(gpu_registers[i].read, gpu_registers[i].write, gpu_registers[i].evidence,
                      out);
    }
}

static const char *const space_names[CPS_SPACE_COUNT] = {
    [CPS_SPACE_GPU] = "GPU register", [CPS_SPACE_CONTROL] = "control register",
    [CPS_SPACE_SQE] = "SQE register", [CPS_SPACE_PIPE] = "pipe register",
    [CPS_SPACE_PACKET] = "packet",    [CPS_SPACE_EVENT] = "event",
    [CPS_SPACE_FLAG] = "flag"};

void lsp_mean_register(struct lsp *l, enum cps_layout layout, enum cps_space space,
                       const char *word, size_t length, struct cps_buf *out)
{
    const struct cps_names *names = lsp_names(l, layout);
    struct fields fields = {l, names, space, 0, out};
    uint32_t *number = &fields.number;
    if (!names || !cps_name_number(names, space, word, length, number))
        return;
    lsp_put_head(l, out, "%.*s: %s 0x%03" PRIx32, (int)length, word, space_names[space], *number);
    if (!cps_name_values64(names, space, *number, 0, put_field, &fields))
        cps_name_values(names, space, *number, 0, put_field, &fields);
    if (space == CPS_SPACE_CONTROL)
        put_control(layout, *number, out);
    else if (space == CPS_SPACE_GPU)
        put_gpu(layout, *number, out);
}

void lsp_mean_number(struct lsp *l, enum cps_layout layout, const char *word, size_t length,
                     struct cps_buf *out)
{
    enum { MOST = 20, REGISTERS = 0x40000, PACKETS = 128 };
    const struct cps_names *names = lsp_names(l, layout);
    char text[MOST + 1] = "";
    const char *at = text;
    unsigned index = 0;
    int64_t value = 0;
    memcpy(text, word, length < MOST ? length : 0);
    if (!names || !cps_lex_number(&at, &value) || *at)
        return;
    lsp_put_head(l, out, "0x%" PRIx64 " = %" PRId64, (uint64_t)value, value);
    const char *name =
        value < REGISTERS ? cps_name(names, CPS_SPACE_GPU, (uint32_t)value, &index) : NULL;
    if (name)
        cps_buf_printf(out, "GPU register %s%s\n", name, index ? "+0x1" : "");
    name = value < PACKETS ? cps_name(names, CPS_SPACE_PACKET, (uint32_t)value, &index) : NULL;
    if (name)
        cps_buf_printf(out, "\npacket %s\n", name);
}
