/* SPDX-License-Identifier: MIT
 * Shipped firmware under $CPSCOPE_CORPUS/firmware: what is found in it is what is known about it,
 * every word is explained, and the listing assembles to the same file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/fwcheck.h"

/* What the files that we know must turn out to be. */
static const struct {
    const char *file;
    uint32_t id, version;
    enum cps_layout layout;
    unsigned unexplained; /* words that a row of the table explains only in part */
    unsigned part_count;
    struct cps_fw_part part[3];
} known[] = {
    {"a530_pfp.fw", 0x5ff, 0x087, CPS_LAYOUT_A5XX_PFP, 0, 1, {{CPS_FW_PFP, 0, 0xf80, 0xf00}}},
    {"a530_pm4.fw", 0x5ff, 0x063, CPS_LAYOUT_A5XX_ME, 2, 1, {{CPS_FW_ME, 0, 0x131c, 0x129c}}},
    {"a680_sqe.fw", 0x6ee, 0x201, CPS_LAYOUT_A6XX, 0, 1, {{CPS_FW_SQE, 0, 0x1fb1, 0x1f31}}},
    {"a740_sqe.fw",
     0x740,
     0x168,
     CPS_LAYOUT_A7XX,
     0,
     3,
     {{CPS_FW_SQE, 0, 0x24d8, 0x2458},
      {CPS_FW_BV, 0x24d8, 0x1bf8, 0x1b78},
      {CPS_FW_LPAC, 0x40d0, 0x8cc, 0x848}}},
};

static bool same_part(const struct cps_fw_part *a, const struct cps_fw_part *b)
{
    return a->role == b->role && a->start == b->start && a->size == b->size && a->table == b->table;
}

/* Nearly all words in front of the tables are code. */
static unsigned count_unexplained(const struct cps_fw *fw)
{
    unsigned count = 0;
    for (unsigned i = 0; i < fw->part_count; i++) {
        const struct cps_fw_part *part = &fw->part[i];
        for (uint32_t pc = 0; pc < part->table && pc < part->size; pc++) {
            struct cps_insn insn;
            cps_decode(&cps_isa_afuc, fw->gen, fw->words[part->start + pc], &insn);
            count += insn.enc && insn.unclaimed;
        }
    }
    return count;
}

static bool is_as_known(const struct cps_fw *fw, size_t k)
{
    bool ok = fw->id == known[k].id && fw->version == known[k].version &&
              fw->layout == known[k].layout && fw->part_count == known[k].part_count &&
              !fw->assumed && count_unexplained(fw) == known[k].unexplained;
    for (unsigned i = 0; ok && i < fw->part_count; i++)
        ok = same_part(&fw->part[i], &known[k].part[i]);
    return ok;
}

static void check(const char *directory, size_t k)
{
    CPS_BUF path = {0};
    struct cps_fw *fw = NULL;
    cps_buf_printf(&path, "%s/firmware/%s", directory, known[k].file);
    struct cps_err *err = cps_fw_load(cps_buf_text(&path), 0, &fw);
    if (err && err->code == CPS_ERR_OS) {
        printf("ok %zu - %s # SKIP not in the corpus\n", k + 1, known[k].file);
    } else {
        bool ok = !err && is_as_known(fw, k) && fwcheck_listing(fw);
        printf("%s %zu - %s\n", ok ? "ok" : "not ok", k + 1, known[k].file);
        if (err)
            printf("# %s\n", err->message);
    }
    cps_err_free(err);
    cps_fw_destroy(fw);
}

int main(void)
{
    const char *directory = getenv("CPSCOPE_CORPUS");
    size_t count = sizeof(known) / sizeof(known[0]);
    if (!directory) {
        printf("1..0 # SKIP CPSCOPE_CORPUS is not set\n");
        return 0;
    }
    printf("1..%zu\n", count);
    for (size_t k = 0; k < count; k++)
        check(directory, k);
    return 0;
}
