/* SPDX-License-Identifier: MIT
 * The code at a hang. */
#include "tools/explain/info/hang_code.h"

#include <inttypes.h>
#include <stdio.h>

#include "tools/explain/info/info.h"
#include "trace/out/json.h"

enum { BEFORE = 6, AFTER = 6 };

static const char *const mark_words[] = {
    [CPS_FW_UNKNOWN] = "unknown",
    [CPS_FW_DONOR] = "of the revision given",
    [CPS_FW_HARDWARE] = "hardware",
};

static enum cps_fw_mark mark_at(const struct hang_code *h, uint32_t pc)
{
    return pc < h->cache->count ? (enum cps_fw_mark)h->cache->mark[pc] : CPS_FW_UNKNOWN;
}

/* Without a firmware file there are the words of the cache alone. */
static bool is_known(const struct hang_code *h, uint32_t pc)
{
    return mark_at(h, pc) == CPS_FW_HARDWARE || (h->whole && pc < h->cache->count);
}

static struct cps_err *instruction(const struct hang_code *h, uint32_t pc, struct cps_buf *out)
{
    struct cps_print_names names = {.names = h->names};
    struct cps_insn insn;
    cps_decode(&cps_isa_afuc, CPS_A6XX, h->cache->word[pc], &insn);
    cps_print(&cps_isa_afuc, &insn, pc, &names, out);
    return out->failed ? cps_err_nomem() : NULL;
}

static struct cps_err *print_line(const struct hang_code *h, uint32_t pc)
{
    const char *arrow = pc == h->pc ? "=>" : "  ";
    if (!is_known(h, pc)) {
        printf("  %s %04" PRIx32 " --------  (the dump does not hold it)\n", arrow, pc);
        return NULL;
    }
    CPS_BUF text = {0};
    CPS_TRY(instruction(h, pc, &text));
    enum cps_fw_mark mark = mark_at(h, pc);
    printf("  %s %04" PRIx32 " %08" PRIx32 "  %s%s%s%s\n", arrow, pc, h->cache->word[pc],
           cps_buf_text(&text), mark == CPS_FW_HARDWARE ? "" : "  (",
           mark == CPS_FW_HARDWARE ? "" : mark_words[mark], mark == CPS_FW_HARDWARE ? "" : ")");
    return NULL;
}

/* The window; a program counter may be any word. */
static uint32_t first_of(const struct hang_code *h)
{
    uint32_t first = h->pc < BEFORE ? 0 : h->pc - BEFORE;
    return first > UINT32_MAX - BEFORE - AFTER ? UINT32_MAX - BEFORE - AFTER : first;
}

struct cps_err *hang_code_print(const struct hang_code *h)
{
    if (h->cache->lines)
        printf("  code of the dump's instruction cache, %" PRIu32 " lines of 8 words%s",
               h->cache->lines, h->whole ? "; what it lacks is of " : "");
    else
        printf("  code of ");
    if (h->whole)
        info_name(h->fw->name);
    putchar('\n');
    for (uint32_t i = 0; i <= BEFORE + AFTER; i++)
        CPS_TRY(print_line(h, first_of(h) + i));
    return NULL;
}

static struct cps_err *add_rows(const struct hang_code *h, struct json_object *rows)
{
    for (uint32_t i = 0; i <= BEFORE + AFTER; i++) {
        uint32_t pc = first_of(h) + i;
        if (!is_known(h, pc))
            continue;
        CPS_BUF text = {0};
        CPS_TRY(instruction(h, pc, &text));
        struct json_object *row = json_object_new_object();
        cps_json_uint(row, "pc", pc);
        cps_json_uint(row, "word", h->cache->word[pc]);
        cps_json_buf(row, "instruction", &text);
        cps_json_text(row, "from", mark_words[mark_at(h, pc)]);
        cps_json_append(rows, row);
    }
    return NULL;
}

struct cps_err *hang_code_json(const struct hang_code *h, struct json_object *to)
{
    struct json_object *rows = json_object_new_array();
    struct cps_err *err = add_rows(h, rows);
    cps_json_add(to, "code", rows); /* which takes it, whatever happens */
    return err;
}
