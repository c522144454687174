/* SPDX-License-Identifier: MIT
 * Whether an image is whole. Dword 1 says where it ends. F, V: in each of 35 images with 15 ids
 * (the corpus, Debian's firmware-qcom-soc of 2023, 2025 and 2026)
 * - of a5xx and a6xx, it has the place of the packet table, with whose last word the image ends;
 * - of a660, of a7xx and later, AQEs included, it has the image's dwords, and the packet table of
 *   the last processor ends 0 to 4 dwords before.
 * Programs made for tests may say neither: of those nothing is said here. */
#include "fw/image/private.h"

/* What dword 1 has as its payload; 0: nothing. */
static uint32_t noted(const struct cps_fw *fw)
{
    uint32_t word = fw->count > 1 ? fw->words[1] : UINT32_MAX;
    return word >> 24 == cps_fw_nop_(fw->gen) >> 24 ? word & 0xffffff : 0;
}

/* Where the last processor's packet table ends. */
static uint32_t end_of_tables(const struct cps_fw *fw)
{
    const struct cps_fw_part *last = &fw->part[fw->part_count - 1];
    return last->start + last->table + CPS_FW_TABLE_SIZE;
}

static void put_missing(const struct cps_fw *fw, struct cps_buf *out)
{
    const struct cps_fw_part *last = &fw->part[fw->part_count - 1];
    uint32_t note = noted(fw);
    bool says_size = fw->layout == CPS_LAYOUT_A660 || cps_gen_since(fw->gen, CPS_A7XX);
    if (!note)
        return;
    if (note > fw->count && says_size)
        cps_buf_printf(out,
                       "the image ends at dword 0x%x, expected 0x%x dwords as its dword 1 says",
                       fw->count, note);
    else if (!says_size && CPS_FW_TABLE_SIZE > (int64_t)fw->count - note)
        cps_buf_printf(out,
                       "the image ends at dword 0x%x, expected 0x%x dwords: its dword 1 says that "
                       "the packet table is at 0x%x",
                       fw->count, note + CPS_FW_TABLE_SIZE, note);
    else if (last->table == CPS_FW_NONE && last->role != CPS_FW_AQE)
        cps_buf_printf(out, "no packet table of the %s was found, expected one",
                       cps_fw_role_name(last->role));
    else if (note == fw->count && last->role != CPS_FW_AQE &&
             fw->count - end_of_tables(fw) >= CPS_FW_ALIGN)
        cps_buf_printf(out,
                       "the dwords from 0x%x to 0x%x, after the packet table of the %s, are no "
                       "image of another processor, expected one",
                       end_of_tables(fw), fw->count, cps_fw_role_name(last->role));
}

struct cps_err *cps_fw_measure_(struct cps_fw *fw)
{
    CPS_BUF text = {0};
    put_missing(fw, &text);
    if (text.failed)
        return cps_err_nomem();
    if (text.size)
        fw->incomplete = CPS_TAKE(text.data);
    return NULL;
}

struct cps_err *cps_fw_check(const struct cps_fw *fw)
{
    return fw->incomplete ? cps_err_input(fw->name, 4 + 4 * (size_t)fw->count, "%s", fw->incomplete)
                          : NULL;
}
