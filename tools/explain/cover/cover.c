/* SPDX-License-Identifier: MIT
 * Firmware coverage as a table and as lcov's tracefile. */
#include "tools/explain/cover/cover.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fw/image/place.h"
#include "isa/base/shown.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/out/outfile.h"

unsigned cover_kind(const struct cps_fw *fw, uint32_t at)
{
    struct cps_insn insn;
    cps_decode(&cps_isa_afuc, fw->gen, fw->words[at], &insn);
    bool is_code = insn.enc && !insn.unclaimed && insn.op != CPS_AFUC_NOP;
    bool is_branch = cps_insn_flow(&cps_isa_afuc, &insn) == CPS_FLOW_BRANCH;
    return (is_code ? COVER_CODE : 0) | (is_branch ? COVER_BRANCH : 0);
}

/* ---- Handlers ---- */

static int by_number(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x;
    uint32_t b = *(const uint32_t *)y;
    return a < b ? -1 : a > b;
}

/* The starts of the handlers of a part, sorted, each once, and the end of its code after them. */
static unsigned find_starts(const struct cps_fw *fw, const struct cps_fw_part *part,
                            uint32_t ret[CPS_FW_TABLE_SIZE + 2])
{
    unsigned count = 0;
    ret[count++] = 0;
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        uint32_t handler = cps_fw_handler(fw, part, id);
        if (handler != CPS_FW_NONE)
            ret[count++] = handler;
    }
    qsort(ret, count, sizeof(*ret), by_number);
    unsigned kept = 1;
    for (unsigned i = 1; i < count; i++) {
        if (ret[i] != ret[kept - 1])
            ret[kept++] = ret[i];
    }
    ret[kept] = part->table != CPS_FW_NONE ? part->table : part->size;
    return kept;
}

/* Appends the name of the handler, and the next packet with a name that shares it. */
static void put_handler(const struct cps_fw *fw, const struct cps_fw_part *part,
                        const struct cps_names *names, uint32_t start, struct cps_buf *out)
{
    uint32_t table[CPS_FW_TABLE_SIZE];
    CPS_BUF best = {0};
    cps_fw_table_of_(fw, part, table);
    cps_fw_place_put_(fw, part, names, start, CPS_FW_NO_PACKET, &best);
    cps_buf_str(out, tool_text(&best));
    for (unsigned shown = 0; start && shown < 2;) {
        CPS_BUF name = {0};
        int id = cps_fw_packet_at_(table, names, start, CPS_FW_NO_PACKET);
        if (id < 0)
            return;
        table[id] = CPS_FW_NONE;
        cps_fw_packet_put_(names, (unsigned)id, &name);
        if (!strcmp(tool_text(&name), best.data))
            continue;
        cps_buf_str(out, ", ");
        cps_buf_str(out, shown++ ? "..." : name.data);
    }
}

struct json_object *cover_handlers(const struct cps_fw *fw, const struct cps_names *names,
                                   const struct cps_cover *cover)
{
    struct json_object *ret = tool_json(json_object_new_array());
    for (const struct cps_fw_part *part = fw->part; part < fw->part + fw->part_count; part++) {
        uint32_t start[CPS_FW_TABLE_SIZE + 2];
        unsigned count = find_starts(fw, part, start);
        for (unsigned i = 0; i < count && start[i] < part->size; i++) {
            uint32_t end = start[i + 1] < part->size ? start[i + 1] : part->size;
            CPS_BUF name = {0};
            CPS_BUF digits = {0};
            cps_buf_printf(&name, "%04" PRIx32 " ", start[i]);
            put_handler(fw, part, names, start[i], &name);
            if (fw->part_count > 1)
                cps_buf_printf(&name, " (%s)", cps_fw_role_name(part->role));
            for (uint32_t at = part->start + start[i]; at < part->start + end; at++) {
                const struct cps_cover *c = &cover[at];
                const char digit =
                    (char)('0' + (c->run ? COVER_RUN : 0) + (c->taken ? COVER_TAKEN : 0) +
                           (c->run > c->taken ? COVER_NOT_TAKEN : 0) + cover_kind(fw, at));
                cps_buf_add(&digits, &digit, 1);
            }
            doc_row(ret, "handler=%p digits=%p", &name, &digits);
        }
    }
    return ret;
}

/* ---- lcov's tracefile, and beside it the listing that it counts ---- */

/* Writes the listing, and begins the tracefile. */
static struct cps_err *begin_file(const char *path, const struct cps_buf *listing,
                                  struct cps_buf *out)
{
    CPS_BUF name = {0};
    if (strpbrk(path, "\r\n"))
        return cps_err_new(CPS_ERR_INPUT,
                           "%s: a line break in the name, which lcov's format has no way "
                           "to write; expected another one",
                           path);
    cps_buf_printf(&name, "%s.asm", path);
    CPS_TRY(cps_outfile_whole(tool_text(&name), tool_text(listing), listing->size));
    CPS_FREE char *full = realpath(name.data, NULL);
    tool_need(full || errno != ENOMEM);
    cps_buf_printf(out, "TN:\nSF:%s\n", full ? full : name.data);
    return NULL;
}

static struct cps_err *end_file(const char *path, struct cps_buf *out)
{
    cps_buf_str(out, "end_of_record\n");
    return cps_outfile_whole(path, tool_text(out), out->size);
}

/* The dword that a line of the listing shows, from its commentary "; 01a3 2a450003"; parts follow
 * each other. */
static bool read_address(const char *line, size_t length, uint32_t *ret)
{
    for (size_t i = 0; i + 15 <= length; i++) {
        char *end = NULL;
        if (line[i] != ';' || line[i + 1] != ' ')
            continue;
        *ret = (uint32_t)strtoul(line + i + 2, &end, 16);
        return end == line + i + 6 && *end == ' ';
    }
    return false;
}

uint32_t *cover_lines(const struct cps_fw *fw, const struct cps_buf *listing, size_t *count)
{
    uint32_t *ret = tool_alloc(listing->size + 2, sizeof(*ret));
    const struct cps_fw_part *part = fw->part;
    size_t number = 1;
    for (const char *line = tool_text(listing); *line; number++) {
        size_t length = strcspn(line, "\n");
        uint32_t at = 0;
        if (!strncmp(line, ".section", 8) && part + 1 < fw->part + fw->part_count)
            part++;
        bool shown = fw->part_count && read_address(line, length, &at) && at < part->size &&
                     cover_kind(fw, part->start + at) & COVER_CODE;
        ret[number] = shown ? part->start + at : UINT32_MAX;
        line += length + (line[length] == '\n');
    }
    *count = number;
    return ret;
}

/* A handler is lcov's function; its name ends before the first comma. */
static void put_functions(const struct cps_fw *fw, const struct cps_names *names,
                          const struct cps_cover *cover, const uint32_t *dword, size_t lines,
                          struct cps_buf *out)
{
    for (const struct cps_fw_part *part = fw->part; part < fw->part + fw->part_count; part++) {
        uint32_t start[CPS_FW_TABLE_SIZE + 2];
        unsigned count = find_starts(fw, part, start), i = 0;
        for (size_t line = 1; line < lines; line++) {
            CPS_BUF name = {0};
            uint32_t at = dword[line] - part->start;
            if (dword[line] == UINT32_MAX || at >= part->size)
                continue;
            while (i + 1 < count && start[i + 1] <= at)
                i++;
            if (i >= count || start[i] > at) /* it may begin with padding */
                continue;
            if (fw->part_count > 1)
                cps_buf_printf(&name, "%s:", cps_fw_role_name(part->role));
            put_handler(fw, part, names, start[i++], &name);
            int length = (int)strcspn(tool_text(&name), ",\r\n");
            cps_buf_printf(out, "FN:%zu,%.*s\nFNDA:%" PRIu64 ",%.*s\n", line, length, name.data,
                           cover[dword[line]].run, length, name.data);
        }
    }
}

struct cps_err *cover_write(const struct cps_fw *fw, const struct cps_names *names,
                            const struct cps_cover *cover, const struct cps_buf *listing,
                            const char *path)
{
    CPS_BUF out = {0};
    size_t lines = 0;
    CPS_TRY(begin_file(path, listing, &out));
    CPS_FREE uint32_t *dword = cover_lines(fw, listing, &lines);
    put_functions(fw, names, cover, dword, lines, &out);
    for (size_t number = 1; number < lines; number++) {
        if (dword[number] == UINT32_MAX)
            continue;
        const struct cps_cover *c = &cover[dword[number]];
        bool is_branch = cover_kind(fw, dword[number]) & COVER_BRANCH;
        cps_buf_printf(&out, "DA:%zu,%" PRIu64 "\n", number, c->run);
        if (is_branch && c->run)
            cps_buf_printf(&out, "BRDA:%zu,0,0,%" PRIu64 "\nBRDA:%zu,0,1,%" PRIu64 "\n", number,
                           c->taken, number, c->run - c->taken);
        else if (is_branch)
            cps_buf_printf(&out, "BRDA:%zu,0,0,-\nBRDA:%zu,0,1,-\n", number, number);
    }
    return end_file(path, &out);
}

/* ---- Scripts ---- */

void cover_script(const char *name, enum cps_gen gen, const struct cps_buf *code,
                  const struct cps_cover *cover, struct cps_buf *out)
{
    const struct cps_isa *isa = cps_gen_isa(gen);
    const uint8_t *bytes = (const uint8_t *)tool_text(code);
    unsigned instructions = 0, executed = 0, branches = 0, taken = 0, passed = 0;
    struct cps_insn insn;
    for (size_t at = 0; at < code->size; at += insn.length) {
        const struct cps_cover *c = &cover[at / cps_isa_unit(isa)];
        cps_decode_bytes(isa, gen, bytes + at, code->size - at, &insn);
        bool is_branch = cps_insn_flow(isa, &insn) == CPS_FLOW_BRANCH;
        instructions++;
        executed += c->run != 0;
        branches += is_branch;
        taken += is_branch && c->taken;
        passed += is_branch && c->run > c->taken;
    }
    cps_buf_printf(out, "%5u of %5u instructions, %u taken and %u passed of %u branches  ",
                   executed, instructions, taken, passed, branches);
    cps_shown_put_(out, name);
    cps_buf_str(out, "\n");
}

/* The place that a line of a script's listing has after its instruction: "; 001c". */
static bool read_place(const char *line, size_t length, uint32_t *ret)
{
    const char *comment = memchr(line, ';', length);
    char *end = NULL;
    if (!comment || comment == line || length - (size_t)(comment - line) < 6)
        return false;
    *ret = (uint32_t)strtoul(comment + 2, &end, 16);
    return end == comment + 6;
}

struct cps_err *cover_write_script(const struct cps_cover *cover, uint32_t count,
                                   const struct cps_buf *listing, const char *path)
{
    CPS_BUF out = {0};
    uint32_t place = 0;
    unsigned number = 1;
    CPS_TRY(begin_file(path, listing, &out));
    for (const char *line = cps_buf_text(listing); *line; number++) {
        size_t length = strcspn(line, "\n");
        if (read_place(line, length, &place) && place < count)
            cps_buf_printf(&out, "DA:%u,%" PRIu64 "\n", number, cover[place].run);
        line += length + (line[length] == '\n');
    }
    return end_file(path, &out);
}
