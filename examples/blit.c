/* SPDX-License-Identifier: MIT
 * A plugin for `cpscope run` and `cpscope device`: the 2D engine of a6xx, a7xx and a8xx for linear
 * surfaces. It executes copies, fills, and blits without scaling, so that programs that only
 * transfer get the bytes that a GPU would store.
 *
 *     cpscope device --launch libblit.so -- PROGRAM
 *
 * What it leaves out is counted, by reason; a line on stderr at the end has the counts.
 *
 * Registers and their fields: the register database (RB_A2D_*, GRAS_A2D_*, TPL1_A2D_*). Facts of
 * turnip's tu_clear_blit.cc: what a fill's colour holds for each intermediate format; source
 * coordinates are inclusive; a pitch in TPL1_A2D_SRC_TEXTURE_PITCH begins at bit 3. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/run/plugin.h"

/* ---- formats ---- */

enum type { UNORM, SNORM, FLOAT, UINT, SINT, RAW };

/* Bits of the channels X, Y, Z, W; RAW formats are only copied. */
struct format {
    uint8_t code, type, bits[4];
};

/* enum a6xx_format of the register database. */
static const struct format formats[] = {
    {0x02, UNORM, {0, 0, 0, 8}},
    {0x03, UNORM, {8}},
    {0x04, SNORM, {8}},
    {0x05, UINT, {8}},
    {0x06, SINT, {8}},
    {0x08, UNORM, {4, 4, 4, 4}},
    {0x0a, UNORM, {5, 5, 5, 1}},
    {0x0c, RAW, {16}},
    {0x0e, UNORM, {5, 6, 5}},
    {0x0f, UNORM, {8, 8}},
    {0x10, SNORM, {8, 8}},
    {0x11, UINT, {8, 8}},
    {0x12, SINT, {8, 8}},
    {0x15, UNORM, {16}},
    {0x16, SNORM, {16}},
    {0x17, FLOAT, {16}},
    {0x18, UINT, {16}},
    {0x19, SINT, {16}},
    {0x30, UNORM, {8, 8, 8, 8}},
    {0x32, SNORM, {8, 8, 8, 8}},
    {0x33, UINT, {8, 8, 8, 8}},
    {0x34, SINT, {8, 8, 8, 8}},
    {0x35, RAW, {32}},
    {0x36, UNORM, {10, 10, 10, 2}},
    {0x37, UNORM, {10, 10, 10, 2}},
    {0x3a, UINT, {10, 10, 10, 2}},
    {0x3b, SINT, {10, 10, 10, 2}},
    {0x42, RAW, {32}},
    {0x43, UNORM, {16, 16}},
    {0x44, SNORM, {16, 16}},
    {0x45, FLOAT, {16, 16}},
    {0x46, UINT, {16, 16}},
    {0x47, SINT, {16, 16}},
    {0x4a, FLOAT, {32}},
    {0x4b, UINT, {32}},
    {0x4c, SINT, {32}},
    {0x60, UNORM, {16, 16, 16, 16}},
    {0x61, SNORM, {16, 16, 16, 16}},
    {0x62, FLOAT, {16, 16, 16, 16}},
    {0x63, UINT, {16, 16, 16, 16}},
    {0x64, SINT, {16, 16, 16, 16}},
    {0x67, FLOAT, {32, 32}},
    {0x68, UINT, {32, 32}},
    {0x69, SINT, {32, 32}},
    {0x82, FLOAT, {32, 32, 32, 32}},
    {0x83, UINT, {32, 32, 32, 32}},
    {0x84, SINT, {32, 32, 32, 32}},
};

static const struct format *find_format(uint32_t code)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (formats[i].code == code)
            return &formats[i];
    }
    return NULL;
}

static unsigned bytes_of(const struct format *format)
{
    return (unsigned)(format->bits[0] + format->bits[1] + format->bits[2] + format->bits[3]) / 8;
}

static uint32_t mask_of(unsigned bits)
{
    return bits < 32 ? (1u << bits) - 1 : UINT32_MAX;
}

/* Channels from the lowest bit on, by enum a3xx_color_swap; those that a format lacks are left out.
 */
static const uint8_t orders[4][4] = {{0, 1, 2, 3}, {2, 1, 0, 3}, {3, 0, 1, 2}, {3, 2, 1, 0}};

/* Copies bits between a texel and its channels. @p store  to the texel */
static void pack(const struct format *format, unsigned swap, uint8_t *texel, uint32_t channel[4],
                 bool store)
{
    unsigned at = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned c = orders[swap][i];
        uint64_t word = 0;
        unsigned size = (at % 8 + format->bits[c] + 7) / 8;
        memcpy(&word, texel + at / 8, size);
        if (store) {
            word &= ~((uint64_t)mask_of(format->bits[c]) << at % 8);
            word |= (uint64_t)(channel[c] & mask_of(format->bits[c])) << at % 8;
            memcpy(texel + at / 8, &word, size);
        } else {
            channel[c] = (uint32_t)(word >> at % 8) & mask_of(format->bits[c]);
        }
        at += format->bits[c];
    }
}

/* ---- numbers ---- */

static float float_of_half(uint32_t half)
{
    uint32_t exponent = half >> 10 & 31;
    float mantissa = (float)(half & 0x3ff);
    float value = !exponent        ? ldexpf(mantissa, -24)
                  : exponent == 31 ? (half & 0x3ff ? NAN : INFINITY)
                                   : ldexpf(mantissa + 1024, (int)exponent - 25);
    return half >> 15 ? -value : value;
}

/* To the nearest, ties to even. */
static uint32_t half_of_float(float value)
{
    uint32_t sign = signbit(value) ? 0x8000 : 0;
    int exponent = 0;
    value = fabsf(value);
    if (isnan(value))
        return sign | 0x7e00;
    if (value >= 65520)
        return sign | 0x7c00;
    frexpf(value, &exponent);
    if (value < ldexpf(1, -14))
        return sign | (uint32_t)nearbyintf(ldexpf(value, 24));
    /* A mantissa that is rounded up to 2048 carries into the exponent. */
    return sign + ((uint32_t)(exponent + 13) << 10) +
           (uint32_t)nearbyintf(ldexpf(value, 11 - exponent));
}

static float linear_of_srgb(float value)
{
    return value <= 0.04045f ? value / 12.92f : powf((value + 0.055f) / 1.055f, 2.4f);
}

static float srgb_of_linear(float value)
{
    return value <= 0.0031308f ? value * 12.92f : 1.055f * powf(value, 1 / 2.4f) - 0.055f;
}

static int32_t sign_extend(uint32_t value, unsigned bits)
{
    return (int32_t)(value << (32 - bits)) >> (32 - bits);
}

static float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* The number that a channel of some bits stands for. */
static float number_of(unsigned type, unsigned bits, uint32_t value)
{
    switch (type) {
    case UNORM:
        return (float)value * (1.0f / (float)mask_of(bits));
    case SNORM:
        return fmaxf((float)sign_extend(value, bits) * (1.0f / (float)mask_of(bits - 1)), -1);
    default:
        return bits == 16 ? float_of_half(value) : float_of_bits(value);
    }
}

static uint32_t channel_of(unsigned type, unsigned bits, float number)
{
    uint32_t value;
    switch (type) {
    case UNORM:
        return (uint32_t)nearbyintf(fminf(fmaxf(number, 0), 1) * (float)mask_of(bits));
    case SNORM:
        return (uint32_t)(int32_t)nearbyintf(fminf(fmaxf(number, -1), 1) *
                                             (float)mask_of(bits - 1));
    default:
        memcpy(&value, &number, sizeof(value));
        return bits == 16 ? half_of_float(number) : value;
    }
}

/* ---- registers ---- */

enum reg {
    BLT_CNTL,
    SRC_XMIN,
    SRC_XMAX,
    SRC_YMIN,
    SRC_YMAX,
    DEST_TL,
    DEST_BR,
    SCISSOR_TL,
    SCISSOR_BR,
    SRC_INFO,
    SRC_BASE,
    SRC_PITCH,
    SRC_OFFSET, /* a7xx on: in texels */
    DST_INFO,
    DST_BASE,
    DST_PITCH,
    COLOUR,
    CLEAR_TARGET, /* a7xx on: tile memory or memory */
    CLEAR,
    CLEAR_TL,
    CLEAR_BR,
    CLEAR_INFO,
    CLEAR_BASE,
    CLEAR_PITCH,
    CLEAR_COLOUR,
    REGS
};
static const char *const names[REGS] = {
    "RB_A2D_BLT_CNTL",
    "GRAS_A2D_SRC_XMIN",
    "GRAS_A2D_SRC_XMAX",
    "GRAS_A2D_SRC_YMIN",
    "GRAS_A2D_SRC_YMAX",
    "GRAS_A2D_DEST_TL",
    "GRAS_A2D_DEST_BR",
    "GRAS_A2D_SCISSOR_TL",
    "GRAS_A2D_SCISSOR_BR",
    "TPL1_A2D_SRC_TEXTURE_INFO",
    "TPL1_A2D_SRC_TEXTURE_BASE",
    "TPL1_A2D_SRC_TEXTURE_PITCH",
    "TPL1_A2D_BLT_CNTL",
    "RB_A2D_DEST_BUFFER_INFO",
    "RB_A2D_DEST_BUFFER_BASE",
    "RB_A2D_DEST_BUFFER_PITCH",
    "RB_A2D_CLEAR_COLOR_DW0",
    "RB_CLEAR_TARGET",
    "RB_RESOLVE_OPERATION",
    "RB_RESOLVE_CNTL_1",
    "RB_RESOLVE_CNTL_2",
    "RB_RESOLVE_SYSTEM_BUFFER_INFO",
    "RB_RESOLVE_SYSTEM_BUFFER_BASE",
    "RB_RESOLVE_SYSTEM_BUFFER_PITCH",
    "RB_RESOLVE_CLEAR_COLOR_DW0",
};

enum skip { TILED, COMPRESSED, MULTISAMPLED, SCALED, ROTATED, FORMAT, TILE_MEMORY, SKIPS };
static const char *const reasons[SKIPS] = {"tiled",         "compressed (UBWC)", "multisampled",
                                           "scaled",        "rotated",           "of other formats",
                                           "of tile memory"};

struct blit {
    uint32_t reg[REGS];
    uint64_t copies, fills, bytes, skipped[SKIPS];
    uint64_t draws, dispatches; /* which are left out */
};

struct surface {
    const struct format *format;
    uint64_t base;
    uint32_t pitch;
    unsigned swap, bytes;
    bool srgb;
};

/* A rectangle of texels, both ends in it. */
struct rectangle {
    int32_t x0, y0, x1, y1;
};

/* All about one operation. */
struct operation {
    struct surface from, to;
    struct rectangle source, target;
    bool fill, flip_x, flip_y;
    uint32_t mask, colour[4];
};

static uint32_t value_of(const struct blit *blit, const struct cps_work *work, enum reg reg,
                         unsigned index)
{
    uint32_t value = 0;
    if (blit->reg[reg])
        work->get(work, blit->reg[reg] + index, &value);
    return value;
}

static uint64_t address_of(const struct blit *blit, const struct cps_work *work, enum reg reg)
{
    return (uint64_t)value_of(blit, work, reg, 1) << 32 | value_of(blit, work, reg, 0);
}

static struct rectangle corners_of(uint32_t first, uint32_t last)
{
    return (struct rectangle){first & 0x3fff, first >> 16 & 0x3fff, last & 0x3fff,
                              last >> 16 & 0x3fff};
}

/* Fields that both INFO registers have. @return why it is skipped, or SKIPS */
static enum skip take_surface(uint32_t info, struct surface *ret)
{
    ret->format = find_format(info & 0xff);
    ret->swap = info >> 10 & 3;
    ret->srgb = info >> 13 & 1;
    if (info >> 8 & 3)
        return TILED;
    if (info >> 12 & 1)
        return COMPRESSED;
    if (info >> 14 & 3)
        return MULTISAMPLED;
    if (!ret->format)
        return FORMAT;
    ret->bytes = bytes_of(ret->format);
    return SKIPS;
}

/* A fill's channel, as the intermediate format (a6xx_2d_ifmt) has it: UNORM8 has the byte that is
 * stored, also of SRGB and SNORM. */
static uint32_t colour_of(const struct surface *to, unsigned channel, unsigned ifmt, uint32_t value)
{
    enum { UNORM8, UNORM8_SRGB, SNORM8, FLOAT16, FLOAT32 };
    const unsigned bits = to->format->bits[channel];
    const unsigned type = to->format->type;
    if (ifmt > FLOAT32 || type == RAW || type == UINT || type == SINT || !bits)
        return value;
    if (ifmt == FLOAT16)
        return channel_of(type, bits, float_of_half(value & 0xffff));
    if (ifmt == FLOAT32)
        return channel_of(type, bits, float_of_bits(value));
    return bits == 8 ? value : channel_of(type, bits, (float)(value & 0xff) / 255);
}

/* An integer in a channel of fewer bits, as Vulkan's software driver has it. */
static uint32_t saturate(const struct format *source, const struct format *target, unsigned c,
                         uint32_t value)
{
    const uint32_t most = mask_of(target->bits[c]);
    if (source->type == UINT)
        return value < most ? value : most;
    const int64_t number = sign_extend(value, source->bits[c]);
    const int64_t low = -((int64_t)most + 1) / 2;
    return (uint32_t)(number < low ? low : number > -1 - low ? -1 - low : number);
}

/* What a texel becomes in another format. */
static void convert(const struct operation *op, const uint8_t *from, uint32_t channel[4])
{
    const struct format *source = op->from.format;
    const struct format *target = op->to.format;
    pack(source, op->from.swap, (uint8_t *)(uintptr_t)from, channel, false);
    for (unsigned c = 0; c < 4; c++) {
        bool coloured = c < 3;
        bool whole = source->type >= UINT;
        float number = coloured ? 0 : 1;
        if (!target->bits[c])
            continue;
        if (whole) {
            channel[c] = source->bits[c] ? saturate(source, target, c, channel[c]) : !coloured;
            continue;
        }
        if (source->bits[c])
            number = number_of(source->type, source->bits[c], channel[c]);
        if (op->from.srgb && coloured && source->bits[c])
            number = linear_of_srgb(number);
        if (op->to.srgb && coloured)
            number = srgb_of_linear(fminf(fmaxf(number, 0), 1));
        channel[c] = channel_of(target->type, target->bits[c], number);
    }
}

/* @return why it is skipped, or SKIPS */
static enum skip take_operation(const struct blit *blit, const struct cps_work *work,
                                struct operation *op)
{
    enum { ROTATE_180 = 2, HFLIP = 4, VFLIP = 5 };
    const uint32_t cntl = value_of(blit, work, BLT_CNTL, 0);
    const uint32_t rotate = cntl & 7;
    *op = (struct operation){.fill = cntl >> 7 & 1, .mask = cntl >> 20 & 15};
    op->to.base = address_of(blit, work, DST_BASE);
    op->to.pitch = (value_of(blit, work, DST_PITCH, 0) & 0xffff) << 6;
    op->target = corners_of(value_of(blit, work, DEST_TL, 0), value_of(blit, work, DEST_BR, 0));
    enum skip skip = take_surface(value_of(blit, work, DST_INFO, 0), &op->to);
    if (skip != SKIPS)
        return skip;
    for (unsigned c = 0; op->fill && c < 4; c++)
        op->colour[c] = colour_of(&op->to, c, cntl >> 24 & 7, value_of(blit, work, COLOUR, c));
    if (op->fill)
        return SKIPS;
    skip = take_surface(value_of(blit, work, SRC_INFO, 0), &op->from);
    if (skip != SKIPS)
        return skip;
    op->from.base = address_of(blit, work, SRC_BASE) +
                    (value_of(blit, work, SRC_OFFSET, 0) >> 16 & 63) * op->from.bytes;
    op->from.pitch = value_of(blit, work, SRC_PITCH, 0) >> 3 & 0x1fffff;
    op->source = (struct rectangle){(int32_t)value_of(blit, work, SRC_XMIN, 0) >> 8,
                                    (int32_t)value_of(blit, work, SRC_YMIN, 0) >> 8,
                                    (int32_t)value_of(blit, work, SRC_XMAX, 0) >> 8,
                                    (int32_t)value_of(blit, work, SRC_YMAX, 0) >> 8};
    op->flip_x = rotate == HFLIP || rotate == ROTATE_180;
    op->flip_y = rotate == VFLIP || rotate == ROTATE_180;
    if (rotate && !op->flip_x && !op->flip_y)
        return ROTATED;
    if (op->source.x1 - op->source.x0 != op->target.x1 - op->target.x0 ||
        op->source.y1 - op->source.y0 != op->target.y1 - op->target.y0 || op->source.x0 < 0 ||
        op->source.y0 < 0)
        return SCALED;
    /* Numbers, integers and signed integers do not mix. */
    const unsigned types[2] = {op->from.format->type, op->to.format->type};
    bool plain = types[0] >= UINT ? types[0] == types[1] && types[0] != RAW : types[1] < UINT;
    return op->from.format->code == op->to.format->code || plain ? SKIPS : FORMAT;
}

/* From a7xx on the resolve engine also clears memory. Its colour is packed as the format has it,
 * without the swap. */
static enum skip take_clear(const struct blit *blit, const struct cps_work *work,
                            struct operation *op)
{
    enum { CLEAR_TYPE = 2 };
    const uint32_t operation = value_of(blit, work, CLEAR, 0);
    const uint32_t info = value_of(blit, work, CLEAR_INFO, 0);
    uint32_t word[4];
    *op = (struct operation){.fill = true, .mask = operation >> 4 & 15};
    if (!blit->reg[CLEAR_TARGET] || value_of(blit, work, CLEAR_TARGET, 0) ||
        (operation & 3) != CLEAR_TYPE)
        return TILE_MEMORY;
    op->to.base = address_of(blit, work, CLEAR_BASE);
    op->to.pitch = (value_of(blit, work, CLEAR_PITCH, 0) & 0xffff) << 6;
    op->target = corners_of(value_of(blit, work, CLEAR_TL, 0), value_of(blit, work, CLEAR_BR, 0));
    /* The fields in the order of the 2D engine. */
    enum skip skip = take_surface((info >> 7 & 0xff) | (info & 3) << 8 | (info >> 5 & 3) << 10 |
                                      (info >> 2 & 1) << 12 | (info >> 3 & 3) << 14,
                                  &op->to);
    for (unsigned i = 0; i < 4; i++)
        word[i] = value_of(blit, work, CLEAR_COLOUR, i);
    if (skip == SKIPS)
        pack(op->to.format, 0, (uint8_t *)word, op->colour, false);
    return skip;
}

/* The part of an operation's target that a scissor leaves. */
static void cut(const struct blit *blit, const struct cps_work *work, struct operation *op)
{
    const struct rectangle all = op->target;
    struct rectangle *part = &op->target;
    const struct rectangle by =
        corners_of(value_of(blit, work, SCISSOR_TL, 0), value_of(blit, work, SCISSOR_BR, 0));
    if (!(value_of(blit, work, BLT_CNTL, 0) >> 16 & 1))
        return;
    part->x0 = part->x0 > by.x0 ? part->x0 : by.x0;
    part->y0 = part->y0 > by.y0 ? part->y0 : by.y0;
    part->x1 = part->x1 < by.x1 ? part->x1 : by.x1;
    part->y1 = part->y1 < by.y1 ? part->y1 : by.y1;
    op->source.x0 += op->flip_x ? all.x1 - part->x1 : part->x0 - all.x0;
    op->source.y0 += op->flip_y ? all.y1 - part->y1 : part->y0 - all.y0;
}

static uint64_t place_of(const struct surface *surface, int32_t x, int32_t y)
{
    return surface->base + (uint64_t)(uint32_t)y * surface->pitch +
           (uint64_t)(uint32_t)x * surface->bytes;
}

/* One row of texels. @p from  those of the source, or NULL; @p to  those of the target as they are
 */
static void do_row(const struct operation *op, const uint8_t *from, uint8_t *to, uint32_t width)
{
    const bool same = !op->fill && op->from.format->code == op->to.format->code &&
                      op->from.swap == op->to.swap && op->from.srgb == op->to.srgb;
    for (uint32_t x = 0; x < width; x++) {
        const uint8_t *texel =
            from ? from + (size_t)(op->flip_x ? width - 1 - x : x) * op->from.bytes : NULL;
        uint32_t channel[4];
        if (same && op->mask == 15) {
            memcpy(to + (size_t)x * op->to.bytes, texel, op->to.bytes);
            continue;
        }
        uint32_t old[4];
        uint8_t *target = to + (size_t)x * op->to.bytes;
        pack(op->to.format, op->to.swap, target, old, false);
        if (op->fill)
            memcpy(channel, op->colour, sizeof(channel));
        else if (same)
            pack(op->from.format, op->from.swap, (uint8_t *)(uintptr_t)texel, channel, false);
        else
            convert(op, texel, channel);
        for (unsigned c = 0; c < 4; c++)
            channel[c] = op->mask >> c & 1 ? channel[c] : old[c];
        pack(op->to.format, op->to.swap, target, channel, true);
    }
}

/* Row by row: source and target of a hardware blit do not overlap. */
static const char *do_operation(struct blit *blit, const struct cps_work *work,
                                const struct operation *op)
{
    const struct rectangle *target = &op->target;
    if (target->x1 < target->x0 || target->y1 < target->y0)
        return NULL;
    const uint32_t width = (uint32_t)(target->x1 - target->x0) + 1;
    const size_t size = (size_t)width * op->to.bytes;
    uint8_t *from = op->fill ? NULL : malloc((size_t)width * op->from.bytes);
    uint8_t *to = malloc(size);
    const char *why = to && (from || op->fill) ? NULL : "no memory";
    for (int32_t y = target->y0; !why && y <= target->y1; y++) {
        int32_t row = op->flip_y ? target->y1 - y : y - target->y0;
        if (from)
            work->read(work, place_of(&op->from, op->source.x0, op->source.y0 + row), from,
                       (uint64_t)width * op->from.bytes);
        work->read(work, place_of(&op->to, target->x0, y), to, size);
        do_row(op, from, to, width);
        /* As on hardware, a store to unmapped memory is lost. */
        work->write(work, place_of(&op->to, target->x0, y), to, size);
        blit->bytes += size;
    }
    free(from);
    free(to);
    return why;
}

/* ---- the plugin ---- */

static const char *open_blit(const struct cps_plugin_host *host, const char *args, void **plugin)
{
    struct blit *blit = calloc(1, sizeof(*blit));
    *plugin = blit;
    if (!blit)
        return "no memory";
    if (*args)
        return "expected no arguments";
    if (host->generation < 6)
        return "expected a6xx, a7xx or a8xx";
    for (unsigned i = 0; i < REGS; i++) {
        bool optional = (i == SRC_OFFSET || i == CLEAR_TARGET) && host->generation < 7;
        if (!optional && !host->find(host, names[i], &blit->reg[i]))
            return names[i]; /* the names are of another database */
    }
    return NULL;
}

static const char *do_work(void *context, const struct cps_work *work)
{
    struct blit *blit = context;
    struct operation op;
    blit->draws += work->kind <= CPS_WORK_FEEDBACK;
    blit->dispatches += work->kind == CPS_WORK_DISPATCH;
    if (work->kind != CPS_WORK_BLIT && work->kind != CPS_WORK_RESOLVE)
        return NULL;
    enum skip skip =
        work->kind == CPS_WORK_BLIT ? take_operation(blit, work, &op) : take_clear(blit, work, &op);
    if (skip != SKIPS) {
        blit->skipped[skip]++;
        return NULL;
    }
    blit->fills += op.fill;
    blit->copies += !op.fill;
    if (work->kind == CPS_WORK_BLIT)
        cut(blit, work, &op);
    return do_operation(blit, work, &op);
}

static void close_blit(void *context)
{
    struct blit *blit = context;
    if (!blit)
        return;
    fprintf(stderr, "blit: %" PRIu64 " copies, %" PRIu64 " fills, %" PRIu64 " bytes; skipped:",
            blit->copies, blit->fills, blit->bytes);
    for (unsigned i = 0; i < SKIPS; i++)
        fprintf(stderr, " %" PRIu64 " %s,", blit->skipped[i], reasons[i]);
    fprintf(stderr, " %" PRIu64 " draws, %" PRIu64 " dispatches\n", blit->draws, blit->dispatches);
    free(blit);
}

CPS_PLUGIN(open_blit, do_work, close_blit);
