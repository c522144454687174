/* SPDX-License-Identifier: MIT
 * NVIDIA's chips in rnndb: which of them a layout is of, and ranges of them. */
#include "isa/base/list.h"
#include "isa/names/rnn_read.h"
#include "isa/nv/nvchip.h"

/* SEQ runs on PDAEMON, which all chips have from GT215 on. */
static bool is_member(const struct cps_rnn *rnn, const struct cps_nvchip *chip)
{
    enum cps_gen gen = cps_layout_gen(rnn->layout);
    if (cps_gen_isa(gen) == &cps_isa_seq)
        return rnn->nv.member_count || (chip && chip->id == 0xa3);
    return chip && (chip->hwsq == gen || chip->vp1 == gen || chip->pfifo == gen);
}

bool cps_rnn_add_chip_(struct cps_rnn *rnn, const char *name, const char *value)
{
    struct cps_rnn_nv *nv = &rnn->nv;
    const struct cps_nvchip *chip =
        value ? cps_nvchip_((unsigned)strtoul(value, NULL, 0)) : cps_nvchip_word_(name);
    if (is_member(rnn, chip) && nv->member_count < CPS_RNN_NV_CHIPS)
        nv->member[nv->member_count++] = nv->chip_count;
    if (!CPS_LIST_ROOM(nv->chip, nv->chip_count))
        return false;
    nv->chip[nv->chip_count++] = name;
    return true;
}

/* The place of a chip in the enumeration; false if it is not in it. */
static bool find_chip(const struct cps_rnn_nv *nv, const char *name, size_t length, size_t *ret)
{
    for (*ret = 0; *ret < nv->chip_count; ++*ret) {
        const char *chip = nv->chip[*ret];
        if (strlen(chip) == length && !memcmp(chip, name, length))
            return true;
    }
    return false;
}

/* "NV17" one chip, "NV17:NV20" without the last, "NV17-NV20" with it, "NV17-", ":NV20". */
static bool read_range(const struct cps_rnn_nv *nv, const char *text, size_t length, size_t *first,
                       size_t *end)
{
    size_t split = strcspn(text, ":- ");
    split = split < length ? split : length;
    *first = 0;
    *end = nv->chip_count;
    if (split && !find_chip(nv, text, split, first))
        return false;
    if (split == length) {
        *end = *first + 1;
        return true;
    }
    size_t rest = length - split - 1;
    if (rest && !find_chip(nv, text + split + 1, rest, end))
        return false;
    *end += rest && text[split] == '-';
    return true;
}

uint32_t cps_rnn_chips_in_(const struct cps_rnn_nv *nv, const char *text)
{
    uint32_t mask = 0;
    if (!nv->chip_count)
        return UINT32_MAX;
    for (size_t length = 0; *text; text += length) {
        size_t first = 0;
        size_t end = 0;
        text += strspn(text, " ");
        length = strcspn(text, " ");
        if (!length || !read_range(nv, text, length, &first, &end))
            continue;
        for (unsigned i = 0; i < nv->member_count; i++)
            mask |= (uint32_t)(nv->member[i] >= first && nv->member[i] < end) << i;
    }
    return mask;
}
