/* SPDX-License-Identifier: MIT
 * What the units of the naive model of VP1 share. */
#ifndef TESTS_VP1_MODEL_UNIT_H
#define TESTS_VP1_MODEL_UNIT_H

#include "tests/model/vp1_model.h"

typedef uint32_t u32;

/* What the scalar unit puts on its path to the vector unit of the same bundle. */
struct vp1_model_path {
    int factor[4]; /* 10 bits with their sign */
    int is_valid;
    int vc, is_zero_flags, transform;
};

static inline u32 bits(u32 word, int low, int count)
{
    u32 result = 0;
    for (int i = 0; i < count; i++)
        if (word & ((u32)1 << (low + i)))
            result |= (u32)1 << i;
    return result;
}

static inline int32_t signed_bits(u32 word, int low, int count)
{
    int32_t result = (int32_t)bits(word, low, count);
    if (bits(word, low + count - 1, 1))
        result -= (int32_t)1 << count;
    return result;
}

/* Byte @p i of a word. */
static inline int byte_at(u32 word, int i, int is_signed)
{
    int value = (int)bits(word, 8 * i, 8);
    return is_signed && value >= 128 ? value - 256 : value;
}

static inline u32 word_of(const uint8_t *bytes)
{
    return bytes[0] + 256 * (u32)bytes[1] + 65536 * (u32)bytes[2] + 16777216 * (u32)bytes[3];
}

/* Whether an opcode is in a list of two digits each, with a space behind them. */
static inline int is_in(u32 op, const char *list)
{
    for (; *list; list += 3) {
        u32 high = (u32)(list[0] <= '9' ? list[0] - '0' : list[0] - 'a' + 10);
        u32 low = (u32)(list[1] <= '9' ? list[1] - '0' : list[1] - 'a' + 10);
        if (op == 16 * high + low)
            return 1;
    }
    return 0;
}

/* The register that a flag of $c[COND] chooses beside @p number, or a count of 0 to 3 (flag 4). */
u32 vp1_model_chosen(const struct vp1_model *m, u32 word, u32 number);

/* $a31 stays 0. */
void vp1_model_write_a(struct vp1_model *m, u32 number, u32 value);
void vp1_model_scalar(struct vp1_model *m, u32 word);
void vp1_model_move(struct vp1_model *m, u32 word);
struct vp1_model_path vp1_model_send(const struct vp1_model *m, u32 word);
void vp1_model_address(struct vp1_model *m, u32 word);
void vp1_model_vector(struct vp1_model *m, u32 word, const struct vp1_model_path *path);
/* Component @p i of a word of the multiplying family; sets $va, and says whether @p ret goes to
 * $v[DST]. */
int vp1_model_mad(struct vp1_model *m, u32 word, const struct vp1_model_path *path, int i,
                  uint8_t *ret);
/* Bit @p i of the mask that chooses between factors. */
int vp1_model_mask(const struct vp1_model *m, u32 word, const struct vp1_model_path *path, int i);

#endif
