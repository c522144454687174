/* SPDX-License-Identifier: MIT
 * VP1's register files, as `mov` and as the host see them: number 32 * selector + index for both.
 */
#include <string.h>

#include "isa/base/le.h"
#include "emu/nv/vp1/vp1.h"

#define VIEW UINT32_C(0xf000)

/* What a row's `own` says: rights of `mov` and of the host, and whether it is known. */
enum { NO, RO, RW, OWN, RIGHTS = 3, HOST = 2, KNOWN = 4 };

/* ---- special registers ---- */

static struct vp1 *vp1_at(const struct cps_access *at)
{
    return vp1_of_(nv_of_(at));
}

static uint32_t read_mode(const struct cps_access *at)
{
    return vp1_at(at)->run == VP1_SWITCH ? 0 : 0x80001000;
}

static uint32_t read_csreq(const struct cps_access *at)
{
    return vp1_at(at)->run == VP1_SWITCH ? 4 : 0;
}

static uint32_t read_status(const struct cps_access *at)
{
    return vp1_at(at)->run != VP1_IDLE;
}

static uint32_t read_base(const struct cps_access *at)
{
    return vp1_at(at)->sr[VP1_SR_BASE];
}

static uint32_t read_tick(const struct cps_access *at)
{
    return (uint32_t)(nv_of_(at)->bus.clock - vp1_at(at)->tick_from);
}

/* The word that each unit had last, before the bundle at hand. */
static uint32_t read_words(const struct cps_access *at)
{
    return vp1_at(at)->last[at->number - VP1_SR_WORDS];
}

static uint32_t read_pc(const struct cps_access *at)
{
    return vp1_at(at)->pc;
}

static uint32_t read_loop(const struct cps_access *at)
{
    return vp1_at(at)->now.l[at->index];
}

static void write_tick(const struct cps_access *at)
{
    vp1_at(at)->tick_from = nv_of_(at)->bus.clock - at->value;
}

/* By the host: nobody knows what becomes of the program. */
static bool is_kept(const struct cps_access *at)
{
    cps_bus_unknown(nv_of_(at), CPS_UNKNOWN_VP1_CONTROL, at->by, at->number);
    return vp1_at(at)->run == VP1_IDLE;
}

static void write_pc(const struct cps_access *at)
{
    if (is_kept(at))
        vp1_at(at)->pc = at->value & at->row->mask;
}

static void write_state(const struct cps_access *at)
{
    if (is_kept(at))
        vp1_at(at)->sr[VP1_SR_STATE] = at->value & at->row->mask;
}

static void write_loop(const struct cps_access *at)
{
    vp1_at(at)->now.l[at->index] = (uint16_t)at->value;
}

static const struct cps_reg_row rows[] = {
#define VP1_SR(low, high, bits, isa, host, stored, initial, rd, wr, known, evidence)   \
    CPS_REG_ROW(bits, low, (high) - (low) + 1, 1, .mask = (stored), .read = read_##rd, \
                .own = (isa) | (host) << HOST | (known) << KNOWN, .write = write_##wr),
#include "emu/nv/vp1/sr.def"
};
const struct cps_reg_table vp1_special_ = CPS_REG_TABLE(rows);

static unsigned rights(const struct cps_access *at, bool host)
{
    return at->row ? at->row->own >> (host ? HOST : 0) & RIGHTS : NO;
}

static void doubt(const struct cps_access *at)
{
    if (!(at->row->own >> KNOWN))
        cps_bus_unknown(nv_of_(at), CPS_UNKNOWN_VP1_REGISTER, at->by, at->number);
}

static struct cps_access access_to(struct nv *e, uint32_t number, uint32_t value,
                                   const struct cps_by *by)
{
    const struct cps_reg_row *row = cps_reg_find_(e->inner, number);
    return (struct cps_access){.device = e,
                               .row = row,
                               .number = number,
                               .index = row ? number - row->first : 0,
                               .value = value,
                               .by = by};
}

static uint32_t read_special(struct nv *e, uint32_t number, bool host, const struct cps_by *by)
{
    const struct cps_access at = access_to(e, number, 0, by);
    if (rights(&at, host) == NO)
        return 0;
    doubt(&at);
    bool stored = !at.row->read || (host && rights(&at, host) == OWN);
    return stored ? vp1_of_(e)->sr[number] : at.row->read(&at);
}

static void write_special(struct nv *e, uint32_t number, uint32_t value, bool host,
                          const struct cps_by *by)
{
    const struct cps_access at = access_to(e, number, value, by);
    uint32_t *reg = &vp1_of_(e)->sr[number];
    bool exits = !host && number == VP1_SR_EXIT;
    if (!exits && rights(&at, host) < RW)
        return;
    if (exits)
        vp1_of_(e)->ends = 1;
    else
        doubt(&at);
    if (at.row->write)
        at.row->write(&at);
    else
        *reg = (*reg & ~at.row->mask) | (value & at.row->mask);
}

void vp1_file_initial_(struct vp1 *s, uint32_t first, uint32_t last)
{
#define VP1_SR(low, high, bits, isa, host, mask, initial, ...)                         \
    for (uint32_t i = (low); (initial) && i <= (high) && i >= first && i <= last; i++) \
        s->sr[i] = (initial);
#include "emu/nv/vp1/sr.def"
}

void vp1_file_reset_(struct nv *e)
{
    struct vp1 *s = vp1_of_(e);
    vp1_file_initial_(s, 0, UINT32_MAX);
    for (unsigned i = 0; i < 4; i++)
        s->now.c[i] = 0x8000;
    memcpy(s->last, &s->sr[VP1_SR_WORDS], sizeof(s->last));
}

/* ---- all files ---- */

/* Where a register of a plain file lies; NULL if the selector has none, or @p index is past its
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
    const struct cps_by by = vp1_by_(e);
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
    const struct cps_by by = vp1_by_(e);
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

uint32_t vp1_view_read_(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    struct vp1 *s = vp1_of_(e);
    uint32_t selector = (at->number - VIEW) / 0x80;
    uint32_t index = at->number / 4 % 32;
    uint32_t mask = 0;
    bool hidden =
        selector == VP1_SEL_Z || selector == VP1_SEL_Y || (selector == VP1_SEL_D && index >= 8);
    const uint32_t *reg = plain(s, &s->now, selector, index, vp1_is_g80_(e), &mask);
    if (selector < 4)
        return read_component(&s->now, selector, index);
    if (selector >= VP1_SEL_SR && selector <= VP1_SEL_L)
        return read_special(e, 32 * (selector - VP1_SEL_SR) + index, true, at->by);
    if (selector == VP1_SEL_C)
        return index < 4 ? s->now.c[index] : 0;
    if (selector == VP1_SEL_A)
        return s->now.a[index];
    if (!reg && !hidden)
        cps_bus_unknown(e, CPS_UNKNOWN_VP1_REGISTER, at->by, at->number);
    return reg && !hidden ? *reg : 0;
}

void vp1_view_write_(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    struct vp1 *s = vp1_of_(e);
    uint32_t selector = (at->number - VIEW) / 0x80;
    uint32_t index = at->number / 4 % 32;
    uint32_t mask = 0;
    bool hidden =
        selector == VP1_SEL_Z || selector == VP1_SEL_Y || (selector == VP1_SEL_D && index >= 8);
    uint32_t *reg = plain(s, &s->now, selector, index, vp1_is_g80_(e), &mask);
    if (reg && !hidden)
        *reg = at->value & mask;
    else if (selector < 4)
        write_component(&s->now, selector, index, at->value);
    else if (selector >= VP1_SEL_SR && selector <= VP1_SEL_L)
        write_special(e, 32 * (selector - VP1_SEL_SR) + index, at->value, true, at->by);
    else if (selector == VP1_SEL_A && index < 31)
        s->now.a[index] = at->value;
    else if (!reg && !hidden && selector != VP1_SEL_A && selector != VP1_SEL_C)
        cps_bus_unknown(e, CPS_UNKNOWN_VP1_REGISTER, at->by, at->number);
}
