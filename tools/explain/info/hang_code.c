/* SPDX-License-Identifier: MIT
 * The code around the place where a processor hung. */
#include "fw/image/place.h"
#include "isa/isa.h"
#include "tools/cmd/render/doc.h"
#include "tools/explain/info/info.h"
#include "tools/run/code.h"
#include "tools/run/dump.h"
#include "tools/run/play.h"
#include "trace/out/json.h"

enum { BEFORE = 6, AFTER = 6 };

static const char *const sources[] = {
    [CPS_FW_UNKNOWN] = "unknown",
    [CPS_FW_DONOR] = "from the given firmware",
    [CPS_FW_HARDWARE] = "hardware",
};

void info_put_code_(const struct play *play, uint32_t pc_of_hang, const struct cps_names *names,
                    struct json_object *to)
{
    const struct code *code = play->code;
    const struct cps_fw *fw = play->fw;
    const struct cps_fw_icache *cache = &code->cache;
    struct cps_fw_icache given = {.mark = NULL};
    bool is_whole = code->recovered; /* there is a word for each place */
    doc_put(to, ".why_no_code?=%s", cps_buf_text(&code->why));
    if (!cache->lines) {
        if (!fw || !dump_has_table(play->dump, fw))
            return;
        given.word = fw->words + fw->part[0].start;
        given.count = fw->part[0].size;
        cache = &given;
        is_whole = true;
    } else {
        doc_put(to, ".lines_of_cache=%u", cache->lines);
    }
    struct json_object *rows = cache->lines ? cps_json_new_array(to, "code") : NULL;
    struct json_object *lines = cps_json_new_array(to, ".code");
    doc_put(to, ".donor=%s", is_whole ? fw->name : NULL);
    uint32_t first = pc_of_hang < BEFORE ? 0 : pc_of_hang - BEFORE; /* it may be any word */
    first = first > UINT32_MAX - BEFORE - AFTER ? UINT32_MAX - BEFORE - AFTER : first;
    for (uint32_t i = 0; i <= BEFORE + AFTER; i++) {
        uint32_t pc = first + i;
        CPS_BUF text = {0};
        struct cps_print_names print = {.names = names};
        struct cps_insn insn;
        struct json_object *row = doc_row(lines, ".is_here?=%d pc=%u", pc == pc_of_hang, pc);
        bool is_inside = pc < cache->count;
        unsigned mark = !is_inside ? CPS_FW_UNKNOWN : cache->mark ? cache->mark[pc] : CPS_FW_DONOR;
        if (mark != CPS_FW_HARDWARE && !(is_whole && is_inside))
            continue;
        cps_decode(&cps_isa_afuc, dump_gen(play->dump), cache->word[pc], &insn);
        cps_print(&cps_isa_afuc, &insn, pc, &print, &text);
        doc_put(row, "word=%u instruction=%p from=%s", cache->word[pc], &text, sources[mark]);
        if (rows)
            cps_json_append(rows, json_object_get(row));
    }
}
