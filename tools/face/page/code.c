/* SPDX-License-Identifier: MIT
 * The firmware's listing for the page: of the functions of which an instruction ran. */
#include "tools/face/page/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/out/json.h"

/* ---- the listing, by dword ---- */

enum { MOST_LABELS = 200 }; /* bytes */

/* Where the lines go, as they are read. */
struct reading {
    const struct cps_fw *fw;
    struct view_listing *to;
    unsigned part;
    struct cps_buf label; /* of the function that begins with the next instruction */
    bool blank;           /* the line before was: a function begins */
};

/* All names that packets share a handler by; UNKN is for packets without one. */
static void take_label(struct reading *r, const char *line, size_t size)
{
    bool is_first = !r->label.size || !strncmp(r->label.data, "UNKN", 4);
    if (!r->blank || r->label.size > MOST_LABELS || (r->label.size && !strncmp(line, "UNKN", 4)))
        return;
    if (is_first)
        cps_buf_clear(&r->label);
    cps_buf_printf(&r->label, "%s%.*s", is_first ? "" : " ", (int)size - 1, line);
}

/* Ends a text in place, without blanks. */
static const char *cut_text(char *from, char *end)
{
    while (end > from && end[-1] == ' ')
        end--;
    *end = '\0';
    return from;
}

/* "        mov $02, $data    ; 0cb7 981f1006  remark" */
static void take_instruction(struct reading *r, char *line, char *end)
{
    uint32_t pc = 0;
    char *mark = strchr(line, ';');
    int used = 0;
    if (!mark || sscanf(mark, "; %" SCNx32 " %*8x%n", &pc, &used) < 1 || !used)
        return;
    uint32_t at = r->fw->part[r->part].start + pc;
    if (at >= r->to->count || r->to->line[at].text)
        return;
    char *rest = mark + used + strspn(mark + used, " ");
    r->to->line[at] = (struct view_line){cut_text(line + 8, mark), cut_text(rest, end),
                                         r->label.size ? tool_strdup(tool_text(&r->label)) : NULL};
    cps_buf_clear(&r->label);
}

struct cps_err *view_listing(const struct cps_fw *fw, const char *rnn, struct view_listing *ret)
{
    struct reading reading = {.fw = fw, .to = ret};
    *ret = (struct view_listing){.line = tool_alloc(fw->count + 1, sizeof(*ret->line)),
                                 .count = fw->count};
    CPS_TRY(cps_fw_listing(fw, rnn, &ret->text));
    tool_text(&ret->text);
    for (char *line = ret->text.data, *end; line && *line; line = end) {
        end = line + strcspn(line, "\n");
        bool more = *end != '\0';
        *end = '\0';
        size_t size = strlen(line);
        bool is_label = size && line[size - 1] == ':';
        if (!strncmp(line, ".section ", 9) && reading.part + 1 < reading.fw->part_count)
            reading.part++;
        else if (!strncmp(line, "        ", 8))
            take_instruction(&reading, line, line + size);
        else if (is_label)
            take_label(&reading, line, size);
        reading.blank = !size || (reading.label.size && is_label);
        end += more;
    }
    cps_buf_deinit(&reading.label);
    return NULL;
}

void view_listing_deinit(struct view_listing *listing)
{
    for (uint32_t i = 0; listing->line && i < listing->count; i++)
        free(listing->line[i].function);
    free(listing->line);
    cps_buf_deinit(&listing->text);
}

/* ---- registers of an instruction, for the origin of values ---- */

static int64_t field(const struct cps_insn *insn, enum cps_afuc_field which)
{
    return insn->enc ? cps_insn_field(&cps_isa_afuc, insn, which, -1) : -1;
}

/* The letter of what the page has to know of an instruction. */
static const char *sort_of(const struct cps_insn *insn)
{
    switch (insn->enc ? insn->op : CPS_AFUC_NOP) {
    case CPS_AFUC_MOVI:
        return "i";
    case CPS_AFUC_CREAD:
        return "r";
    case CPS_AFUC_CWRITE:
        return "w";
    case CPS_AFUC_SREAD:
        return "R";
    case CPS_AFUC_SWRITE:
        return "W";
    case CPS_AFUC_LOAD:
    case CPS_AFUC_LOADP:
        return "l";
    case CPS_AFUC_STORE:
    case CPS_AFUC_STOREP:
        return "s";
    default:
        return field(insn, CPS_AFUC_F_DST) >= 0 ? "a" : "b";
    }
}

/* [pc, word, text, comment, function, sort, dst, src1, src2, base, rep | xmov << 1 | peek << 3] */
static void put_insn(uint32_t pc, uint32_t word, const struct view_line *line, enum cps_gen gen,
                     struct json_object *list)
{
    struct cps_insn insn;
    cps_decode(&cps_isa_afuc, gen, word, &insn);
    int64_t xmov = field(&insn, CPS_AFUC_F_XMOV);
    int64_t flags = (field(&insn, CPS_AFUC_F_REP) > 0) | (xmov < 0 ? 0 : (xmov & 3) << 1) |
                    (field(&insn, CPS_AFUC_F_PEEK) > 0) << 3;
    doc_array(list, "%u %u %s %s %s %s %d %d %d %d %d", pc, word, line->text, line->comment,
              line->function ? line->function : "", sort_of(&insn),
              (int)field(&insn, CPS_AFUC_F_DST), (int)field(&insn, CPS_AFUC_F_SRC1),
              (int)field(&insn, CPS_AFUC_F_SRC2), (int)field(&insn, CPS_AFUC_F_BASE), (int)flags);
}

/* ---- what ran ---- */

static void mark_ran(const struct view_run *run, const struct cps_fw *fw, uint8_t *ran)
{
    const struct record *record = &run->side->record;
    const struct cps_fw_part *parts[CPS_CPU_COUNT] = {NULL};
    for (unsigned i = 0; i < run->processors; i++) {
        unsigned who = run->processor[i].who;
        if (play_part(run->side->fw, run->side->me, who, &parts[who]) != fw)
            parts[who] = NULL;
    }
    for (size_t i = 0; i < record->count; i++) {
        const struct cps_fw_part *part = parts[cps_event_who(&record->event[i])];
        uint32_t pc = cps_event_pc(&record->event[i]);
        if (part && view_is_row(&record->event[i]) && pc < part->size)
            ran[part->start + pc] = 1;
    }
}

/* Functions of a part in which something ran. */
static void put_part(const struct cps_fw *fw, const struct cps_fw_part *part,
                     const struct view_listing *listing, const uint8_t *ran, bool text,
                     struct json_object *to)
{
    for (uint32_t from = 0, end; from < part->size; from = end) {
        bool any = ran[part->start + from];
        for (end = from + 1; end < part->size && !listing->line[part->start + end].function; end++)
            any = any || ran[part->start + end];
        for (uint32_t pc = from; any && pc < end; pc++) {
            uint32_t at = part->start + pc;
            const struct view_line *line = &listing->line[at];
            if (line->text && text)
                put_insn(pc, fw->words[at], line, fw->gen, to);
            else if (line->text)
                doc_array(to, "%u %u %s %s %s", pc, 0u, "", "",
                          line->function ? line->function : "");
        }
    }
}

static struct cps_err *put_image(const struct view_run *run, const struct cps_fw *fw, bool text,
                                 struct json_object *to)
{
    struct view_listing listing = {0};
    CPS_FREE uint8_t *ran = tool_alloc(fw->count + 1, 1);
    struct cps_err *err = view_listing(fw, run->side->config.rnn, &listing);
    mark_ran(run, fw, ran);
    for (unsigned i = 0; !err && i < fw->part_count; i++) {
        struct json_object *rows = json_object_new_array();
        put_part(fw, &fw->part[i], &listing, ran, text, rows);
        cps_json_append(to, rows);
    }
    view_listing_deinit(&listing);
    return err;
}

struct cps_err *view_code(const struct view_run *run, bool text, struct json_object *to)
{
    struct json_object *parts = cps_json_new_array(to, "parts");
    CPS_TRY(put_image(run, run->side->fw, text, parts));
    return run->side->me ? put_image(run, run->side->me, text, parts) : NULL;
}
