/* SPDX-License-Identifier: MIT
 * VP1's register files, as `mov` and as the host see them: number 32 * selector + index for both.
 */
#include <string.h>

#include "isa/base/le.h"
#include "emu/nv/vp1/vp1.h"

#define VIEW UINT32_C(0xf000)

enum access { NO, RO, RW };

/* ---- special registers ---- */

static uint32_t read_mode(const struct nv *e, uint32_t number)
{
    (void)number;
    return vp1_of_(e)->run == VP1_SWITCH ? 0 : 0x80001000;
}

static uint32_t read_csreq(const struct nv *e, uint32_t number)
{
    (void)number;
    return vp1_of_(e)->run == VP1_SWITCH ? 4 : 0;
}

static uint32_t read_status(const struct nv *e, uint32_t number)
{
    (void)number;
    return vp1_of_(e)->run != VP1_IDLE;
}

static uint32_t read_base(const struct nv *e, uint32_t number)
{
    (void)number;
    return vp1_of_(e)->sr[VP1_SR_BASE];
}

static uint32_t read_tick(const struct nv *e, uint32_t number)
{
    (void)number;
    return (uint32_t)(cps_bus_clock(e->bus) - vp1_of_(e)->tick_from);
}

/* A unit without an instruction shows the words that the measurements saw. */
static uint32_t read_words(const struct nv *e, uint32_t number)
{
    static const uint32_t seen[] = {0xdf000000, 0x4fffffff, 0xbf000007, 0xef0001ff};
    const struct vp1 *s = vp1_of_(e);
    uint32_t unit = number - VP1_SR_WORDS;
    return s->units >> unit & 1 ? s->word[unit] : seen[unit];
}

static uint32_t read_pc(const struct nv *e, uint32_t number)
{
    (void)number;
    return vp1_of_(e)->pc;
}

static uint32_t read_state(const struct nv *e, uint32_t number)
{
    (void)number;
    return vp1_of_(e)->run == VP1_IDLE ? 2 : 8;
}

static uint32_t read_loop(const struct nv *e, uint32_t number)
{
    return vp1_of_(e)->now.l[number & 3];
}

#define read_STORED NULL

static const struct row {
    uint8_t first, last;
    uint32_t gens;
    uint8_t isa, host; /* enum access */
    uint32_t mask, initial;
    uint32_t (*read)(const struct nv *e, uint32_t number);
    bool known;
} rows[] = {
#define VP1_SR(first, last, gens, isa, host, mask, initial, read, known, evidence) \
    {first, last, gens, isa, host, mask, initial, read_##read, known},
#include "emu/nv/vp1/sr.def"
};

static const struct row *find_row(const struct nv *e, uint32_t number)
{
    uint32_t bit = cps_gen_bit(cps_bus_gen(e->bus));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (number >= rows[i].first && number <= rows[i].last && rows[i].gens & bit)
            return &rows[i];
    }
    return NULL;
}

static void doubt(struct nv *e, const struct row *row, uint32_t number, const struct cps_access *by)
{
    if (!row->known)
        cps_bus_unknown(e->bus, CPS_UNKNOWN_VP1_REGISTER, by, number);
}

static uint32_t read_special(struct nv *e, uint32_t number, bool host, const struct cps_access *by)
{
    const struct row *row = find_row(e, number);
    if (!row || (host ? row->host : row->isa) == NO)
        return 0;
    doubt(e, row, number, by);
    return row->read ? row->read(e, number) : vp1_of_(e)->sr[number];
}

static void store_special(struct nv *e, uint32_t number, uint32_t value)
{
    struct vp1 *s = vp1_of_(e);
    const struct row *row = find_row(e, number);
    if (row->read == read_tick)
        s->tick_from = cps_bus_clock(e->bus) - value;
    else if (row->read == read_loop)
        s->now.l[number & 3] = (uint16_t)value;
    else
        s->sr[number] = value & row->mask;
}

static void write_special(struct nv *e, uint32_t number, uint32_t value, bool host,
                          const struct cps_access *by)
{
    const struct row *row = find_row(e, number);
    if (!host && number == VP1_SR_EXIT) {
        vp1_of_(e)->ends = 1;
        vp1_of_(e)->sr[number] = value & row->mask;
        return;
    }
    if (!row || (host ? row->host : row->isa) != RW)
        return;
    doubt(e, row, number, by);
    store_special(e, number, value);
}

void vp1_file_reset_(struct nv *e)
{
    struct vp1 *s = vp1_of_(e);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (uint32_t number = rows[i].first; number <= rows[i].last; number++)
            s->sr[number] = rows[i].initial;
    }
    for (unsigned i = 0; i < 4; i++)
        s->now.c[i] = 0x8000;
}

/* ---- all files ---- */

/* Where a register of a plain file lies; NULL if the selector has none, or @p index is behind its
 * end. */
static uint32_t *plain(struct vp1 *s, struct vp1_regs *regs, uint32_t selector, uint32_t index,
                       bool g80, uint32_t *mask)
{
    *mask = UINT32_MAX;
    switch (selector) {
    case VP1_SEL_R:
        return &regs->r[index];
    case VP1_SEL_X:
    case VP1_SEL_X + 1:
        return &regs->x[32 * (selector - VP1_SEL_X) + index];
    case VP1_SEL_D:
        *mask = 0x1ffff;
        return g80 ? &regs->d[index & 7] : NULL;
    case VP1_SEL_Z:
        *mask = s->run != VP1_SWITCH ? 0 : index & 1 ? UINT32_MAX : UINT32_MAX >> 1;
        return &regs->z[index & 1];
    case VP1_SEL_Y:
        return g80 ? &regs->y[index & 15] : NULL;
    default:
        return NULL;
    }
}

static uint32_t read_component(const struct vp1_regs *regs, uint32_t component, uint32_t index)
{
    return cps_le32(regs->v[index] + 4 * component);
}

static void write_component(struct vp1_regs *regs, uint32_t component, uint32_t index,
                            uint32_t value)
{
    cps_put_le32(regs->v[index] + 4 * component, value);
}

bool vp1_read_file_(struct nv *e, uint32_t selector, uint32_t index, uint32_t *ret)
{
    struct vp1 *s = vp1_of_(e);
    const struct cps_access by = vp1_access_(e);
    uint32_t mask = 0;
    const uint32_t *reg = plain(s, &s->old, selector, index, vp1_is_g80_(e), &mask);
    if (reg)
        *ret = *reg & mask;
    else if (selector < 4)
        *ret = read_component(&s->old, selector, index);
    else if (selector == VP1_SEL_L)
        *ret = s->old.l[index & 3];
    else if (selector >= VP1_SEL_SR && selector < VP1_SEL_L)
        *ret = read_special(e, 32 * (selector - VP1_SEL_SR) + index, false, &by);
    else if (selector == VP1_SEL_C)
        *ret = index < 4 ? s->old.c[index] : 0;
    else
        return false;
    return true;
}

void vp1_write_file_(struct nv *e, uint32_t selector, uint32_t index, uint32_t value)
{
    struct vp1 *s = vp1_of_(e);
    const struct cps_access by = vp1_access_(e);
    uint32_t mask = 0;
    uint32_t *reg = plain(s, &s->now, selector, index, vp1_is_g80_(e), &mask);
    if (reg && mask)
        *reg = value & mask;
    else if (selector < 4 || selector == VP1_SEL_V2)
        write_component(&s->now, selector & 3, index, value);
    else if (selector >= VP1_SEL_SR && selector <= VP1_SEL_L)
        write_special(e, 32 * (selector - VP1_SEL_SR) + index, value, false, &by);
}

/* ---- the host's view ---- */

uint32_t vp1_view_read_(struct nv *e, uint32_t addr, const struct cps_access *by)
{
    struct vp1 *s = vp1_of_(e);
    uint32_t selector = (addr - VIEW) / 0x80;
    uint32_t index = addr / 4 % 32;
    uint32_t mask = 0;
    bool hidden =
        selector == VP1_SEL_Z || selector == VP1_SEL_Y || (selector == VP1_SEL_D && index >= 8);
    const uint32_t *reg = plain(s, &s->now, selector, index, vp1_is_g80_(e), &mask);
    if (selector < 4)
        return read_component(&s->now, selector, index);
    if (selector >= VP1_SEL_SR && selector <= VP1_SEL_L)
        return read_special(e, 32 * (selector - VP1_SEL_SR) + index, true, by);
    if (selector == VP1_SEL_C)
        return index < 4 ? s->now.c[index] : 0;
    if (selector == VP1_SEL_A)
        return s->now.a[index];
    if (!reg && !hidden)
        cps_bus_unknown(e->bus, CPS_UNKNOWN_VP1_REGISTER, by, addr);
    return reg && !hidden ? *reg : 0;
}

void vp1_view_write_(struct nv *e, uint32_t addr, uint32_t value, const struct cps_access *by)
{
    struct vp1 *s = vp1_of_(e);
    uint32_t selector = (addr - VIEW) / 0x80;
    uint32_t index = addr / 4 % 32;
    uint32_t mask = 0;
    bool hidden =
        selector == VP1_SEL_Z || selector == VP1_SEL_Y || (selector == VP1_SEL_D && index >= 8);
    uint32_t *reg = plain(s, &s->now, selector, index, vp1_is_g80_(e), &mask);
    if (reg && !hidden)
        *reg = value & mask;
    else if (selector < 4)
        write_component(&s->now, selector, index, value);
    else if (selector >= VP1_SEL_SR && selector <= VP1_SEL_L)
        write_special(e, 32 * (selector - VP1_SEL_SR) + index, value, true, by);
    else if (selector == VP1_SEL_A && index < 31)
        s->now.a[index] = value;
    else if (!reg && !hidden && selector != VP1_SEL_A && selector != VP1_SEL_C)
        cps_bus_unknown(e->bus, CPS_UNKNOWN_VP1_REGISTER, by, addr);
}
