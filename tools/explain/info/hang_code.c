/* SPDX-License-Identifier: MIT
 * The code at a hang: of the dump's own instruction cache, or of a firmware file, or of both. */
#include "tools/explain/info/hang.h"

#include <inttypes.h>

#include "isa/base/shown.h"
#include "tools/cmd/render/doc.h"
#include "trace/out/json.h"

enum { BEFORE = 6, AFTER = 6 };

/* What is shown. */
struct view {
    const struct hang *hang;
    const struct cps_fw_icache *cache; /* of the dump; `mark` NULL: a firmware file is shown */
    bool whole;                        /* there is a word for each place */
    struct json_object *rows;          /* of what somebody knows */
    struct cps_buf lines;
};

static void put_line(struct view *v, uint32_t pc)
{
    static const char *const marks[] = {
        [CPS_FW_UNKNOWN] = "unknown",
        [CPS_FW_DONOR] = "from the given firmware",
        [CPS_FW_HARDWARE] = "hardware",
    };
    CPS_BUF text = {0};
    struct cps_print_names names = {.names = v->hang->names};
    struct cps_insn insn;
    const char *arrow = pc == v->hang->pc ? "=>" : "  ";
    bool is_inside = pc < v->cache->count;
    unsigned mark = !is_inside       ? CPS_FW_UNKNOWN
                    : v->cache->mark ? v->cache->mark[pc]
                                     : CPS_FW_DONOR;
    if (mark != CPS_FW_HARDWARE && !(v->whole && is_inside)) {
        cps_buf_printf(&v->lines, "  %s %04" PRIx32 " --------  (the dump does not hold it)\n",
                       arrow, pc);
        return;
    }
    cps_decode(&cps_isa_afuc, CPS_A6XX, v->cache->word[pc], &insn);
    cps_print(&cps_isa_afuc, &insn, pc, &names, &text);
    cps_buf_printf(&v->lines, "  %s %04" PRIx32 " %08" PRIx32 "  %s", arrow, pc, v->cache->word[pc],
                   cps_buf_text(&text));
    if (mark != CPS_FW_HARDWARE)
        cps_buf_printf(&v->lines, "  (%s)", marks[mark]);
    cps_buf_str(&v->lines, "\n");
    if (v->rows)
        doc_row(v->rows, "pc=%u word=%u instruction=%s from=%s", pc, v->cache->word[pc],
                cps_buf_text(&text), marks[mark]);
}

/* The window; a program counter may be any word. */
static void put_window(struct view *v)
{
    const struct cps_fw *fw = v->hang->play->fw;
    uint32_t first = v->hang->pc < BEFORE ? 0 : v->hang->pc - BEFORE;
    first = first > UINT32_MAX - BEFORE - AFTER ? UINT32_MAX - BEFORE - AFTER : first;
    if (v->cache->lines)
        cps_buf_printf(&v->lines,
                       "  code of the dump's instruction cache, %" PRIu32 " lines of 8 words%s",
                       v->cache->lines, v->whole ? "; missing lines are from " : "");
    else
        cps_buf_str(&v->lines, "  code of ");
    if (v->whole)
        cps_shown_put_(&v->lines, fw->name);
    cps_buf_str(&v->lines, "\n");
    for (uint32_t i = 0; i <= BEFORE + AFTER; i++)
        put_line(v, first + i);
}

/* Where the dump's cache cannot be read, the code is that of its firmware, if that was given: for
 * people only. */
void hang_code_put(const struct hang *hang, struct json_object *to)
{
    const struct code *code = hang->play->code;
    const struct cps_fw *fw = hang->play->fw;
    struct cps_fw_icache given = {.mark = NULL};
    struct view v = {.hang = hang, .cache = &code->cache, .whole = code->recovered};
    if (code->why.size)
        cps_buf_printf(&v.lines, "  %s\n", cps_buf_text(&code->why));
    if (code->cache.lines) {
        v.rows = cps_json_new_array(to, "code");
        put_window(&v);
    } else if (fw && dump_has_table(hang->dump, fw)) {
        given.word = fw->words + fw->part[0].start;
        given.count = fw->part[0].size;
        v.cache = &given;
        v.whole = true;
        put_window(&v);
    }
    cps_json_buf(to, ".code", &v.lines);
    cps_buf_deinit(&v.lines);
}
