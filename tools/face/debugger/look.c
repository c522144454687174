/* SPDX-License-Identifier: MIT
 * A stopped machine as text. */
#include "tools/face/debugger/look.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/run/files.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/form/text.h"

#define MAX_SOURCE ((size_t)16 << 20) /* bytes of a source file */

/* Labels are asked for by address; the text lives until the next question. */
struct labels {
    const struct session *session;
    unsigned core;
    struct cps_buf text;
};

static const char *find_label(void *context, uint32_t target)
{
    struct labels *l = context;
    cps_buf_clear(&l->text);
    session_place(l->session, l->core, target, &l->text);
    return l->text.size ? cps_buf_text(&l->text) : NULL;
}

void look_pc(const struct session *s, unsigned core, uint32_t pc, struct cps_buf *out)
{
    cps_buf_printf(out, "%04" PRIx32 " ", pc);
    session_place(s, core, pc, out);
}

void look_insn(const struct session *s, unsigned core, uint32_t pc, struct cps_buf *out)
{
    struct cps_engine *engine = session_engine(s);
    struct labels labels = {s, core, {0}};
    const struct cps_print_names names = {.names = session_names(s, core),
                                          .label = find_label,
                                          .context = &labels,
                                          .scheme = s->scheme};
    uint8_t bytes[CPS_INSN_BYTES];
    struct cps_insn insn;
    if (cps_engine_decode(engine, core, pc, bytes, &insn))
        cps_print(engine->ops->isa, &insn, pc, &names, out);
    out->failed = out->failed || labels.text.failed;
    cps_buf_deinit(&labels.text);
}

/* "=> 0104 2883003f  and ...": a breakpoint has a "*". Handlers and the user's labels are on a line
 * of their own. Of long instructions the units are shown byte by byte. */
static void code_line(const struct session *s, unsigned core, uint32_t at, uint32_t units,
                      struct cps_buf *out)
{
    struct cps_where where = cps_engine_where(session_engine(s), core);
    unsigned digits = 2 * cps_isa_unit(session_engine(s)->ops->isa);
    const struct cps_debug_point *point = point_at(s, core, at, true);
    CPS_BUF name = {0};
    session_place(s, core, at, &name);
    if (name.size && !strchr(tool_text(&name), '+'))
        cps_buf_printf(out, "%s:\n", cps_buf_text(&name));
    cps_buf_printf(out, "%s%c %04" PRIx32 " ",
                   at == where.pc                  ? "=>"
                   : at == where.npc && where.slot ? "->"
                                                   : "  ",
                   point ? '*' : ' ', at);
    for (uint32_t i = 0; i < units; i++)
        cps_buf_printf(out, "%s%0*" PRIx64, i && digits > 2 ? " " : "", (int)digits,
                       session_value(s, core, CPS_FILE_CODE, at + i));
    if (digits == 2)
        cps_buf_printf(out, "%*s", (int)(2 * (5 - (units < 5 ? units : 5))), "");
    cps_buf_str(out, "  ");
    look_insn(s, core, at, out);
    cps_buf_str(out, "\n");
}

/* Where to begin so that @p before instructions are before @p pc. Long ones are found from the
 * beginning of the code; a unit inside of one begins at itself. */
static uint32_t first_line(const struct session *s, unsigned core, uint32_t pc, unsigned before)
{
    unsigned count = 0;
    uint32_t at = 0;
    if (cps_isa_is_regular(session_engine(s)->ops->isa))
        return pc < before ? 0 : pc - before;
    for (; at < pc && session_has_code(s, core, at); at += session_length(s, core, at))
        count++;
    if (at != pc)
        return pc;
    for (at = 0; count > before; count--)
        at += session_length(s, core, at);
    return at;
}

void look_code(const struct session *s, unsigned core, uint32_t pc, unsigned before, unsigned after,
               struct cps_buf *out)
{
    uint32_t at = first_line(s, core, pc, before);
    for (unsigned shown = 0; shown <= after && session_has_code(s, core, at); shown += at > pc) {
        uint32_t units = session_length(s, core, at);
        code_line(s, core, at, units, out);
        at += units;
    }
}

bool look_source(const struct session *s, unsigned core, uint32_t pc, const char **file,
                 uint32_t *line)
{
    unsigned part = 0;
    const struct cps_fw *fw = session_fw(s, core, &part);
    const struct cps_fw_line *found = fw ? cps_fw_line_at(fw, part, pc) : NULL;
    if (!found)
        return false;
    *file = fw->debug.files[found->file];
    *line = found->line;
    return true;
}

/* The path is out of the firmware: it may name anything. */
void look_source_text(const struct session *s, unsigned core, uint32_t pc, struct cps_buf *out)
{
    const char *path = NULL;
    uint32_t wanted = 0;
    CPS_FREE char *text = NULL;
    struct cps_err *err = NULL;
    if (look_source(s, core, pc, &path, &wanted) && files_is_regular(path))
        err = files_text(path, MAX_SOURCE, &text);
    char *at = text;
    char *line = NULL;
    for (uint32_t i = 0; text && i < wanted && (i == 0 || line); i++)
        line = files_line(&at);
    if (line)
        cps_buf_printf(out, "%" PRIu32 "\t%s\n", wanted, line);
    cps_err_free(err);
    look_code(s, core, pc, 0, 0, out);
}

/* Which part of the input the run is in. */
static void put_part(const struct session *s, const struct cps_debug_location *place,
                     struct cps_buf *out)
{
    const struct cps_item *item = session_item(s);
    if (!play_is_script(&s->play) && place->submission)
        cps_buf_printf(out, "submission %" PRIu32 ": ", place->submission - 1);
    else if (!play_is_script(&s->play))
        cps_buf_str(out, s->play.dump && item && item->kind == CPS_ITEM_RING ? "ring: " : "boot: ");
    else if (item && item->line)
        cps_buf_printf(out, "line %" PRIu32 ": ", item->line);
    else
        cps_buf_str(out, item && item->kind == CPS_ITEM_END ? "after the host: " : "start: ");
}

void look_where(const struct session *s, unsigned core, struct cps_buf *out)
{
    struct cps_where where = cps_engine_where(session_engine(s), core);
    struct cps_debug_location place = cps_debug_location(s->debug);
    const char *file = NULL;
    uint32_t line = 0;
    cps_buf_printf(out, "step %" PRIu64 ", event %" PRIu64 ", ", place.step, place.event);
    put_part(s, &place, out);
    cps_buf_printf(out, "%s ", session_core_name(s, core));
    if (!where.started) {
        cps_buf_str(out, play_is_script(&s->play) ? "is idle\n" : "is not started\n");
        return;
    }
    look_pc(s, core, where.pc, out);
    if (look_source(s, core, where.pc, &file, &line))
        cps_buf_printf(out, ", %s:%" PRIu32, file, line);
    if (where.slot)
        cps_buf_printf(out, ", delay slot of a branch to %04" PRIx32, where.npc);
    cps_buf_str(out, "\n");
}

static char values_file(const struct session *s)
{
    return cps_engine_file(session_engine(s), CPS_FILE_GENERAL) ? CPS_FILE_GENERAL
                                                                : CPS_FILE_SCALAR;
}

static unsigned values_count(const struct session *s)
{
    const struct cps_file *file = cps_engine_file(session_engine(s), values_file(s));
    return !file ? 0 : file->count < LOOK_VALUES ? (unsigned)file->count : LOOK_VALUES;
}

void look_read(const struct session *s, unsigned core, struct look_values *ret)
{
    for (unsigned i = 0; i < values_count(s); i++)
        ret->value[i] = session_value(s, core, values_file(s), i);
}

/* "$02", "$rem", or the name of the engine's value. */
static const char *value_name(const struct session *s, unsigned i, char text[8])
{
    static const char *const ports[] = {"$sp ", "$lr ", "$rem", "$addr", "$usraddr"};
    if (values_file(s) != CPS_FILE_GENERAL)
        return session_engine(s)->ops->reg[i].name;
    if (i >= 0x1a)
        return ports[i - 0x1a];
    snprintf(text, 8, "$%02x", i);
    return text;
}

void look_registers(const struct session *s, unsigned core, unsigned width,
                    const struct look_values *before, struct cps_buf *out)
{
    enum { VALUE_WIDTH = 11 }; /* without its name */
    struct look_values now = {{0}};
    char text[8];
    bool general = values_file(s) == CPS_FILE_GENERAL;
    unsigned first = general; /* $00 is 0, $data no register */
    unsigned end = general ? 0x1f : values_count(s);
    unsigned longest = general ? 3 : 0;
    look_read(s, core, &now);
    for (unsigned i = first; i < end && !general; i++) {
        unsigned length = (unsigned)strlen(value_name(s, i, text));
        longest = length > longest ? length : longest;
    }
    unsigned columns = width / (longest + VALUE_WIDTH);
    columns = columns ? columns : 1;
    for (unsigned i = first; i < end; i++)
        cps_buf_printf(out, "%c%-*s %08" PRIx64 "%s",
                       before && before->value[i] != now.value[i] ? '*' : ' ', (int)longest,
                       value_name(s, i, text), now.value[i],
                       (i + 1 - first) % columns && i + 1 < end ? " " : "\n");
}

static void put_streams(const struct session *s, unsigned core, struct cps_buf *out)
{
    static const char *const levels[] = {"ring", "ib1", "ib2", "ib3", "sds"};
    cps_buf_str(out, "packet  ");
    look_packet(s, core, out);
    for (unsigned level = CPS_LEVEL_SDS + 1; level--;) {
        struct cps_position at = cps_afuc_position(session_afuc(s), core, level);
        if (!at.active)
            continue;
        cps_buf_printf(out, "%-6s  0x%016" PRIx64, levels[level], at.iova);
        if (cps_buffers_at(s->play.buffers, session_submission(s), at.iova))
            cps_buffers_put(s->play.buffers, session_submission(s), at.iova, out);
        cps_buf_printf(out, ", %" PRIu32 " of %" PRIu32 " dwords read\n", at.consumed, at.dwords);
    }
}

void look_backtrace(const struct session *s, unsigned core, struct cps_buf *out)
{
    struct cps_where where = cps_engine_where(session_engine(s), core);
    for (unsigned i = 0; i <= where.depth; i++) {
        uint32_t pc = i ? (uint32_t)session_value(s, core, CPS_FILE_STACK, i - 1) : where.pc;
        cps_buf_printf(out, "#%u  ", i);
        look_pc(s, core, pc, out);
        cps_buf_str(out, "\n");
    }
    if (session_afuc(s))
        put_streams(s, core, out);
}

void look_event(const struct session *s, const struct cps_event *event, uint32_t submission,
                struct cps_buf *out)
{
    bool many = play_has_processors_of(&s->play, session_engine(s));
    unsigned kind = cps_event_kind(event);
    cps_text_event(out, event, s->play.names[cps_event_who(event) % CPS_CPU_COUNT], many);
    if (play_is_script(&s->play) || (kind != CPS_EV_MEMW && kind != CPS_EV_MEMR))
        return;
    out->size -= out->size && out->data[out->size - 1] == '\n';
    cps_buffers_put(s->play.buffers, submission, event->addr, out);
    cps_buf_str(out, "\n");
}

void look_events(const struct session *s, unsigned count, struct cps_buf *out)
{
    uint64_t end = cps_debug_location(s->debug).event;
    uint64_t first = end < count ? 0 : end - count;
    uint64_t before = first;
    struct cps_event event;
    uint32_t submission = session_event_before(s, CPS_EV_SUBMIT, &before, &event) ? event.value : 0;
    for (uint64_t i = first; i < end; i++) {
        if (!cps_debug_event(s->debug, i, &event))
            continue;
        if (cps_event_kind(&event) == CPS_EV_SUBMIT)
            submission = event.value;
        cps_buf_printf(out, "%8" PRIu64 "  ", i);
        look_event(s, &event, submission, out);
    }
}

/* What a run that a point stopped is called, and its event. */
static void put_point_stop(const struct session *s, const struct cps_debug_stop *stop,
                           struct cps_buf *out)
{
    const struct cps_debug_point *p = cps_debug_find(s->debug, stop->point);
    const struct typed_point *typed = p ? p->context : NULL;
    cps_buf_printf(out, "%s %d%s%s\n", p ? point_noun(p) : "watchpoint", stop->point,
                   typed ? ", " : "", typed ? typed->text : "");
    if (!stop->has_event)
        return;
    cps_buf_str(out, "  ");
    look_event(s, &stop->event, session_submission(s), out);
}

/* Why it ends; then what the host missed, where it is done. */
static void put_end(const struct session *s, struct cps_buf *out)
{
    const struct cps_debug_location place = cps_debug_location(s->debug);
    cps_buf_str(out, s->live                    ? "the end: the program has ended\n"
                     : play_is_script(&s->play) ? "the end: the host is done\n"
                     : s->play.feed.until       ? "the end: the hardware got no further\n"
                                                : "the end: every submission is done\n");
    if (!place.missed)
        return;
    play_put_misses(place.missed, out);
    cps_buf_str(out, place.missed == 1 ? ": " : ", the first: ");
    play_put_miss(&s->play, s->play.feed.item + place.missed_item, place.missed_answer, out);
}

/* What it waits for, where it cannot go on. */
static void put_reason(const struct session *s, enum cps_stop stop, struct cps_buf *out)
{
    struct cps_engine *copy = stop == CPS_STOP_DEADLOCK ? session_stuck(s) : NULL;
    play_explain(&s->play, copy ? copy : session_engine(s), stop, out);
    cps_engine_destroy(copy);
    cps_buf_str(out, "\n");
    if (s->live)
        cps_buf_str(out, "hang: the next move ends the submission with an error\n");
}

void look_stop(const struct session *s, const struct cps_debug_stop *stop, struct cps_buf *out)
{
    static const struct {
        const char *text;
        enum cps_stop explained; /* 0: no */
    } reasons[] = {
        [CPS_WHY_GONE] = {"", 0},
        [CPS_WHY_START] = {"", 0},
        [CPS_WHY_DEADLOCK] =
            {"deadlock: every processor waits for something that nothing will change\n",
             CPS_STOP_DEADLOCK},
        [CPS_WHY_FAULT] = {"fault\n", CPS_STOP_FAULT},
        [CPS_WHY_BAD_PACKET] = {"bad packet: the firmware rejected it and is spinning\n",
                                CPS_STOP_BAD_PACKET},
        [CPS_WHY_INTERRUPTED] = {"interrupted\n", 0},
        [CPS_WHY_NOMEM] = {"out of memory\n", 0},
    };
    const struct cps_err *refused = cps_debug_refused(s->debug);
    if (stop->reason == CPS_WHY_POINT) {
        put_point_stop(s, stop, out);
    } else if (stop->reason == CPS_WHY_END) {
        put_end(s, out);
    } else if (stop->reason == CPS_WHY_START) {
        cps_buf_str(out, cps_debug_oldest(s->debug)
                             ? "the oldest place: older submissions are forgotten\n"
                             : "the start of the run: nothing to go back to\n");
    } else if (stop->reason == CPS_WHY_REFUSED) {
        cps_buf_printf(out, "rejected: %s%s", refused ? refused->message : "", refused ? "\n" : "");
    } else if (stop->reason == CPS_WHY_INTERRUPTED && s->limited) {
        cps_buf_printf(out, "limit: %" PRIu64 " instructions in one command\n", s->limit);
    } else {
        cps_buf_str(out, reasons[stop->reason].text);
        if (!reasons[stop->reason].explained)
            return;
        put_reason(s, reasons[stop->reason].explained, out);
    }
}

void look_memory(const struct session *s, char file, uint64_t iova, uint32_t dwords,
                 struct cps_buf *out)
{
    bool in_capture = file == CPS_FILE_MEMORY && !play_is_script(&s->play);
    const struct cps_buffer *before = NULL;
    for (uint32_t i = 0; i < dwords; i++) {
        const struct cps_location at = {0, file, iova + 4 * (uint64_t)i};
        uint64_t value = 0;
        if (i % 4 == 0)
            cps_buf_printf(out, "%016" PRIx64 ":", at.number);
        if (cps_engine_get(session_engine(s), at, &value))
            cps_buf_printf(out, " %08" PRIx64, value);
        else
            cps_buf_str(out, " ........");
        if (i % 4 != 3 && i + 1 < dwords)
            continue;
        uint64_t line = iova + 4 * (uint64_t)(i - i % 4);
        const struct cps_buffer *buffer =
            cps_buffers_at(s->play.buffers, session_submission(s), line);
        if (in_capture && (i < 4 || buffer != before))
            cps_buffers_put(s->play.buffers, session_submission(s), line, out);
        before = buffer;
        cps_buf_str(out, "\n");
    }
}
