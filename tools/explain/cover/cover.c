/* SPDX-License-Identifier: MIT
 * Firmware coverage as a table and as lcov's tracefile. */
#include "tools/explain/cover/cover.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fw/image/place.h"
#include "trace/out/json.h"
#include "isa/base/shown.h"
#include "isa/base/within.h"
#include "trace/out/outfile.h"

/* What an instruction is, whether it ran or not: COVER_CODE, COVER_BRANCH. */
static unsigned kind_of(const struct cps_fw *fw, uint32_t at)
{
    struct cps_insn insn;
    cps_decode(&cps_isa_afuc, fw->gen, fw->words[at], &insn);
    bool is_code = insn.enc && !insn.unclaimed && insn.op != CPS_AFUC_NOP;
    bool is_branch = cps_insn_flow(&cps_isa_afuc, &insn) == CPS_FLOW_BRANCH;
    return (is_code ? COVER_CODE : 0) | (is_branch ? COVER_BRANCH : 0);
}

static bool is_code(const struct cps_fw *fw, uint32_t at)
{
    return kind_of(fw, at) & COVER_CODE;
}

static bool is_branch(const struct cps_fw *fw, uint32_t at)
{
    return kind_of(fw, at) & COVER_BRANCH;
}

static int by_number(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x;
    uint32_t b = *(const uint32_t *)y;
    return a < b ? -1 : a > b;
}

/* Where the handlers of a part begin, sorted, each once, and its end behind them. */
static unsigned starts_of(const struct cps_fw *fw, const struct cps_fw_part *part,
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

/* What the handler is called, and the next packet with a name that shares it. */
static void put_handler(const struct cps_fw *fw, const struct cps_fw_part *part,
                        const struct cps_names *names, uint32_t start, struct cps_buf *out)
{
    uint32_t table[CPS_FW_TABLE_SIZE];
    CPS_BUF best = {0};
    cps_fw_table_of_(fw, part, table);
    cps_fw_place_put_(fw, part, names, start, CPS_FW_NO_PACKET, &best);
    cps_buf_join(out, &best);
    for (unsigned shown = 0; start && shown < 2;) {
        CPS_BUF name = {0};
        int id = cps_fw_packet_at_(table, names, start, CPS_FW_NO_PACKET);
        if (id < 0)
            return;
        table[id] = CPS_FW_NONE;
        cps_fw_packet_put_(names, (unsigned)id, &name);
        out->failed = out->failed || name.failed;
        if (!strcmp(cps_buf_text(&name), cps_buf_text(&best)))
            continue;
        cps_buf_str(out, ", ");
        cps_buf_str(out, shown++ ? "..." : cps_buf_text(&name));
    }
}

static char digit_of(const struct cps_fw *fw, uint32_t at, const struct cps_cover *c)
{
    return (char)('0' + (c->run ? COVER_RUN : 0) + (c->taken ? COVER_TAKEN : 0) +
                  (c->run > c->taken ? COVER_NOT_TAKEN : 0) + kind_of(fw, at));
}

static void add_handler(const struct cps_fw *fw, const struct cps_fw_part *part,
                        const struct cps_names *names, const struct cps_cover *cover,
                        const uint32_t *start, struct json_object *to)
{
    struct json_object *handler = json_object_new_object();
    CPS_BUF name = {0};
    CPS_BUF digits = {0};
    cps_buf_printf(&name, "%04" PRIx32 " ", *start);
    put_handler(fw, part, names, *start, &name);
    if (fw->part_count > 1)
        cps_buf_printf(&name, " (%s)", cps_fw_role_name(part->role));
    for (uint32_t at = part->start + start[0]; at < part->start + start[1]; at++) {
        const char digit = digit_of(fw, at, &cover[at]);
        cps_buf_add(&digits, &digit, 1);
    }
    cps_json_buf(handler, "handler", &name);
    cps_json_buf(handler, "digits", &digits);
    cps_json_append(to, handler);
}

struct json_object *cover_handlers(const struct cps_fw *fw, const struct cps_names *names,
                                   const struct cps_cover *cover)
{
    struct json_object *ret = json_object_new_array();
    for (unsigned p = 0; p < fw->part_count; p++) {
        const struct cps_fw_part *part = &fw->part[p];
        uint32_t start[CPS_FW_TABLE_SIZE + 2];
        unsigned count = starts_of(fw, part, start);
        for (unsigned i = 0; i < count && start[i] < part->size; i++) {
            if (start[i + 1] > part->size)
                start[i + 1] = part->size;
            add_handler(fw, part, names, cover, &start[i], ret);
        }
    }
    return ret;
}

/* The dword that a line of the listing shows, from its commentary "; 01a3 2a450003"; parts follow
 * each other. */
static bool line_address(const char *line, size_t length, uint32_t *ret)
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

static void put_line(const struct cps_fw *fw, const struct cps_cover *cover, unsigned number,
                     uint32_t at, struct cps_buf *out)
{
    const struct cps_cover *c = &cover[at];
    cps_buf_printf(out, "DA:%u,%" PRIu64 "\n", number, c->run);
    if (!is_branch(fw, at))
        return;
    if (c->run)
        cps_buf_printf(out, "BRDA:%u,0,0,%" PRIu64 "\nBRDA:%u,0,1,%" PRIu64 "\n", number, c->taken,
                       number, c->run - c->taken);
    else
        cps_buf_printf(out, "BRDA:%u,0,0,-\nBRDA:%u,0,1,-\n", number, number);
}

size_t cover_lines(const struct cps_fw *fw, const char *text, uint32_t *ret)
{
    size_t number = 1;
    unsigned part = 0;
    for (const char *line = text; *line; number++) {
        size_t length = strcspn(line, "\n");
        uint32_t at = 0;
        if (!strncmp(line, ".section", 8) && part + 1 < fw->part_count)
            part++;
        bool shown = fw->part_count && line_address(line, length, &at) &&
                     at < fw->part[part].size && is_code(fw, fw->part[part].start + at);
        ret[number] = shown ? fw->part[part].start + at : UINT32_MAX;
        line += length + (line[length] == '\n');
    }
    return number;
}

/* A handler is what lcov calls a function; its name stands in front of the first comma. */
static void put_function(const struct cps_fw *fw, const struct cps_fw_part *part,
                         const struct cps_names *names, uint32_t start, size_t line, uint64_t run,
                         struct cps_buf *out)
{
    CPS_BUF name = {0};
    if (fw->part_count > 1)
        cps_buf_printf(&name, "%s:", cps_fw_role_name(part->role));
    put_handler(fw, part, names, start, &name);
    int length = (int)strcspn(cps_buf_text(&name), ",\r\n");
    out->failed = out->failed || name.failed;
    cps_buf_printf(out, "FN:%zu,%.*s\nFNDA:%" PRIu64 ",%.*s\n", line, length, cps_buf_text(&name),
                   run, length, cps_buf_text(&name));
}

static void put_functions(const struct cps_fw *fw, const struct cps_names *names,
                          const struct cps_cover *cover, const uint32_t *dword, size_t lines,
                          struct cps_buf *out)
{
    for (unsigned p = 0; p < fw->part_count; p++) {
        const struct cps_fw_part *part = &fw->part[p];
        uint32_t start[CPS_FW_TABLE_SIZE + 2];
        unsigned count = starts_of(fw, part, start), i = 0;
        for (size_t line = 1; line < lines; line++) {
            uint32_t at = dword[line] - part->start;
            if (dword[line] == UINT32_MAX || at >= part->size)
                continue;
            while (i + 1 < count && start[i + 1] <= at)
                i++;
            if (i < count && start[i] <= at) /* it may begin with padding */
                put_function(fw, part, names, start[i++], line, cover[dword[line]].run, out);
        }
    }
}

void cover_lcov(const struct cps_fw *fw, const struct cps_names *names,
                const struct cps_cover *cover, const char *listing, const char *text,
                struct cps_buf *out)
{
    uint32_t *dword = calloc(strlen(text) + 2, sizeof(*dword));
    size_t lines = dword ? cover_lines(fw, text, dword) : 0;
    out->failed = out->failed || !dword;
    cps_buf_printf(out, "TN:\nSF:%s\n", listing);
    put_functions(fw, names, cover, dword, lines, out);
    for (size_t number = 1; number < lines; number++) {
        if (dword[number] != UINT32_MAX)
            put_line(fw, cover, (unsigned)number, dword[number], out);
    }
    cps_buf_str(out, "end_of_record\n");
    free(dword);
}

/* ---- Scripts: a line for people, and lcov's form against their listing ---- */

/* Sums over the instructions of a script. */
struct sums {
    uint32_t instructions, executed, branches, taken, passed;
};

static void add(struct sums *sums, const struct cps_isa *isa, const struct cps_insn *insn,
                const struct cps_cover *at)
{
    bool branch = cps_insn_flow(isa, insn) == CPS_FLOW_BRANCH;
    sums->instructions++;
    sums->executed += at->run != 0;
    sums->branches += branch;
    sums->taken += branch && at->taken;
    sums->passed += branch && at->run > at->taken;
}

void cover_script(const char *name, enum cps_gen gen, const struct cps_buf *code,
                  const struct cps_cover *cover, struct cps_buf *out)
{
    const struct cps_isa *isa = cps_gen_isa(gen);
    const uint8_t *bytes = (const uint8_t *)cps_buf_text(code);
    struct sums sums = {0};
    struct cps_insn insn;
    for (size_t at = 0; at < code->size; at += insn.length) {
        cps_decode_bytes(isa, gen, bytes + at, code->size - at, &insn);
        add(&sums, isa, &insn, &cover[at / cps_isa_unit(isa)]);
    }
    cps_buf_printf(out,
                   "%5" PRIu32 " of %5" PRIu32 " instructions, %" PRIu32 " taken and %" PRIu32
                   " passed of %" PRIu32 " branches  ",
                   sums.executed, sums.instructions, sums.taken, sums.passed, sums.branches);
    cps_shown_put_(out, name);
    cps_buf_str(out, "\n");
}

/* The place that a line of a listing says behind its instruction: "; 001c". */
static bool place_of(const char *line, size_t length, uint32_t *ret)
{
    const char *comment = memchr(line, ';', length);
    char *end = NULL;
    if (!comment || comment == line || length - (size_t)(comment - line) < 6)
        return false;
    *ret = (uint32_t)strtoul(comment + 2, &end, 16);
    return end == comment + 6;
}

void cover_script_lcov(const struct cps_cover *cover, uint32_t count, const char *listing,
                       const char *text, struct cps_buf *out)
{
    uint32_t place = 0;
    unsigned number = 1;
    cps_buf_printf(out, "TN:\nSF:%s\n", listing);
    for (const char *line = text; *line; number++) {
        size_t length = strcspn(line, "\n");
        if (place_of(line, length, &place) && place < count)
            cps_buf_printf(out, "DA:%u,%" PRIu64 "\n", number, cover[place].run);
        line += length + (line[length] == '\n');
    }
    cps_buf_str(out, "end_of_record\n");
}

/* ---- Files: lcov's tracefile, and the disassembly that it counts, beside it ---- */

struct cps_err *cover_write_text(const char *path, const struct cps_buf *text)
{
    return text->failed ? cps_err_nomem() : cps_outfile_whole(path, cps_buf_text(text), text->size);
}

struct cps_err *cover_write_listing(const char *output, const struct cps_buf *listing, char **ret)
{
    CPS_BUF name = {0};
    if (strpbrk(output, "\r\n"))
        return cps_err_new(CPS_ERR_INPUT,
                           "%s: a line break in the name, which lcov's form has no way "
                           "to write; expected another one",
                           output);
    cps_buf_printf(&name, "%s.asm", output);
    if (name.failed)
        return cps_err_nomem();
    CPS_TRY(cover_write_text(name.data, listing));
    *ret = realpath(name.data, NULL);
    if (!*ret && errno != ENOMEM)
        *ret = CPS_TAKE(name.data);
    return *ret ? NULL : cps_err_nomem();
}

struct cps_err *cover_write(const struct cps_fw *fw, const struct cps_names *names,
                            const struct cps_cover *cover, const struct cps_buf *listing,
                            const char *path)
{
    CPS_BUF info = {0};
    CPS_FREE char *full = NULL;
    CPS_TRY(cover_write_listing(path, listing, &full));
    cover_lcov(fw, names, cover, full, cps_buf_text(listing), &info);
    return cover_write_text(path, &info);
}
