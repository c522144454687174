/* SPDX-License-Identifier: MIT
 * The debug adapter: processors, stacks, registers with their fields, expressions; and two requests
 * of this adapter's own, "why" and "state". */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/face/dap/dap_private.h"
#include "tools/run/files.h"
#include "tools/cmd/render/doc.h"
#include "tools/explain/stream/state.h"

/* Most registers of a kind that are looked through, and that have references to their fields. */
#define MAX_LISTED 0x40000u
#define FRAMES     64 /* of a core, for frame ids */

/* Spaces of variables: what they are called, and the registers that they list. */
static const struct {
    const char *name;
    char file;        /* 0: no registers that are numbered */
    const char *sign; /* of an expression; NULL: nothing of it can be written */
} spaces[DAP_SPACES] = {
    [DAP_GENERAL] = {"Registers", 0, ""},
    [DAP_CONTROL] = {"Control registers", CPS_FILE_CONTROL, "@"},
    [DAP_SQE] = {"SQE registers", CPS_FILE_SQE, "%"},
    [DAP_GPU] = {"GPU registers", CPS_FILE_REGISTER, "reg:"},
    [DAP_PACKET] = {"Packet", 0, NULL},
    [DAP_STREAMS] = {"Streams", 0, NULL},
};

static uint32_t word_at(const struct dap *d, unsigned core, char file, uint64_t number)
{
    return (uint32_t)session_value(d->session, core, file, number);
}

/* ---- processors, stacks ---- */

struct cps_err *dap_threads(struct dap *d)
{
    struct json_object *list = cps_json_new_array(d->out, "threads");
    for (unsigned i = 0; i < session_engine(d->session)->cores; i++)
        doc_row(list, "id=%u name=%s", i + 1, session_core_name(d->session, i));
    return NULL;
}

/* Leaves of a list what the client asked for; @p count 0: all from @p first on. */
static void keep_part(struct json_object *list, int64_t first, int64_t count)
{
    int64_t size = (int64_t)cps_json_count(list);
    int64_t from = first < 0 ? 0 : first < size ? first : size;
    int64_t end = count > 0 && count < size - from ? from + count : size;
    json_object_array_del_idx(list, (size_t)end, (size_t)(size - end));
    json_object_array_del_idx(list, 0, (size_t)from);
}

static const char *const level_names[] = {"ring", "IB1", "IB2", "IB3", "draw state"};

/* "0x...00, 3 of 7 dwords read" of a stream that a core is in; nothing of others. */
static void put_stream(const struct dap *d, unsigned core, unsigned level, struct cps_buf *out)
{
    struct cps_position at = cps_afuc_position(session_afuc(d->session), core, level);
    if (at.active)
        cps_buf_printf(out, "0x%" PRIx64 ", %" PRIu32 " of %" PRIu32 " dwords read", at.iova,
                       at.consumed, at.dwords);
}

/* Calls, then the streams that led here, as frames that are only for reading. */
struct cps_err *dap_stack_trace(struct dap *d)
{
    const struct session *s = d->session;
    unsigned core = 0;
    unsigned index = 0;
    struct json_object *list = cps_json_new_array(d->out, "stackFrames");
    CPS_TRY(dap_thread(d, &core));
    d->unseen = false;
    d->shown_core = core;
    struct cps_where where = cps_engine_where(session_engine(s), core);
    for (; index <= where.depth; index++) {
        uint32_t pc = index ? word_at(d, core, CPS_FILE_STACK, index - 1) : where.pc;
        CPS_BUF name = {0};
        session_place(d->session, core, pc, &name);
        if (!name.size)
            cps_buf_printf(&name, "%s 0x%04" PRIx32, session_core_name(d->session, core), pc);
        struct json_object *frame =
            doc_row(list, "id=%u name=%p line=%d", core * FRAMES + index + 1, &name, 0);
        dap_put_source(d, core, pc, frame);
        doc_put(frame, "column=%d instructionPointerReference=%" PRIx64,
                cps_json_get(frame, "source") && !d->columns_from_0, dap_code_address(d, core, pc));
    }
    for (unsigned level = CPS_LEVEL_SDS + 1; session_afuc(s) && level--;) {
        CPS_BUF name = {0};
        cps_buf_printf(&name, "%s ", level_names[level]);
        size_t empty = name.size;
        put_stream(d, core, level, &name);
        if (strlen(tool_text(&name)) > empty)
            doc_row(list, "id=%u name=%p line=%d column=%d presentationHint=label",
                    core * FRAMES + ++index, &name, 0, 0);
    }
    doc_put(d->out, "totalFrames=%zu", cps_json_count(list));
    keep_part(list, dap_number(d->in, "startFrame", 0), dap_number(d->in, "levels", 0));
    return NULL;
}

static struct cps_err *frame_core(const struct dap *d, unsigned *ret)
{
    int64_t id = dap_number(d->in, "frameId", 0);
    *ret = id ? (unsigned)((id - 1) / FRAMES) : d->session->core;
    if (id < 0 || *ret >= session_engine(d->session)->cores)
        return cps_err_new(CPS_ERR_INPUT, "frameId %" PRId64 " is not known", id);
    return NULL;
}

/* Whether the engine has anything of a kind, and not too much to list. */
static bool has_space(const struct session *s, unsigned space)
{
    const struct cps_file *file = cps_engine_file(session_engine(s), spaces[space].file);
    if (spaces[space].file)
        return file && file->count <= MAX_LISTED;
    return space == DAP_GENERAL || session_afuc(s);
}

struct cps_err *dap_scopes(struct dap *d)
{
    unsigned core = 0;
    CPS_TRY(frame_core(d, &core));
    struct json_object *list = cps_json_new_array(d->out, "scopes");
    for (unsigned space = 0; space < DAP_SPACES; space++) {
        if (!has_space(d->session, space))
            continue;
        doc_row(list, "name=%s variablesReference=%u expensive?=%d presentationHint?=%s",
                spaces[space].name, 1 + core * DAP_SPACES + space,
                space == DAP_GPU || space == DAP_CONTROL, space == DAP_GENERAL ? "registers" : "");
    }
    return NULL;
}

/* ---- variables ---- */

static void add_variable(struct json_object *list, const char *name, const char *evaluate,
                         const char *value, int64_t children)
{
    doc_row(list, "name=%s value=%s evaluateName=%s variablesReference=%" PRId64, name, value,
            evaluate, children);
}

static void add_word(const struct dap *d, unsigned core, const char *name, char file,
                     uint64_t number, struct json_object *list)
{
    CPS_BUF text = {0};
    cps_buf_hex(&text, word_at(d, core, file, number), 8);
    add_variable(list, name, name, tool_text(&text), 0);
}

static void list_general(const struct dap *d, unsigned core, struct json_object *list)
{
    static const char *const ports[] = {"$sp", "$lr", "$rem", "$addr", "$usraddr"};
    const struct cps_engine *engine = session_engine(d->session);
    if (cps_engine_file(engine, CPS_FILE_PC)) {
        add_word(d, core, "$pc", CPS_FILE_PC, 0, list);
        add_word(d, core, "$npc", CPS_FILE_PC, 1, list);
    }
    for (unsigned i = 0; i < engine->ops->regs; i++)
        add_word(d, core, engine->ops->reg[i].name, CPS_FILE_SCALAR, i, list);
    for (unsigned i = 1; i < 0x1f && cps_engine_file(engine, CPS_FILE_GENERAL); i++) {
        char name[8];
        snprintf(name, sizeof(name), "$%02x", i);
        add_word(d, core, i < 0x1a ? name : ports[i - 0x1a], CPS_FILE_GENERAL, i, list);
    }
}

/* Registers of a space that hold something, of the GPU those that were written. */
static void list_space(const struct dap *d, unsigned core, enum dap_space kind,
                       struct json_object *list)
{
    char file = spaces[kind].file;
    const struct session *s = d->session;
    const struct cps_names *names = session_names(s, core);
    const struct cps_file *row = cps_engine_file(session_engine(s), file);
    for (uint32_t i = 0; row && i < row->count && i < MAX_LISTED; i++) {
        unsigned part = 0;
        const char *name = cps_name(names, look_space(file), i, &part);
        uint32_t value = word_at(d, core, file, i);
        CPS_BUF number = {0};
        CPS_BUF label = {0};
        CPS_BUF text = {0};
        if (file == CPS_FILE_REGISTER && session_afuc(s) ? !cps_afuc_reg_written(session_afuc(s), i)
                                                         : !value)
            continue;
        cps_buf_printf(&number, "%s0x%" PRIx32, spaces[kind].sign, i);
        cps_buf_printf(&label, part ? "%s+0x%x" : "%s", name ? name : tool_text(&number), part);
        cps_buf_printf(&text, "0x%08" PRIx32 "  ", value);
        size_t empty = text.size;
        cps_name_fields(names, look_space(file), i, value, &text);
        bool has_fields = text.size > empty;
        if (!has_fields)
            text.data[text.size = empty - 2] = '\0';
        add_variable(list, tool_text(&label), cps_buf_text(&number), tool_text(&text),
                     has_fields && core < 8
                         ? DAP_FIELDS + ((int64_t)core << 20) + ((int64_t)kind << 18) + i
                         : 0);
    }
}

/* The lines of the packet at hand, each a variable: its first word is the name. */
static void list_packet(const struct dap *d, unsigned core, struct json_object *list)
{
    CPS_BUF text = {0};
    char *state = NULL;
    look_packet(d->session, core, &text);
    if (!*tool_text(&text))
        return;
    for (char *line = strtok_r(text.data, "\n", &state); line;
         line = strtok_r(NULL, "\n", &state)) {
        line += strspn(line, " ");
        size_t length = strcspn(line, " ");
        char *value = line + length + strspn(line + length, " ");
        line[length] = '\0';
        add_variable(list, line, NULL, value, 0);
    }
}

static void list_streams(const struct dap *d, unsigned core, struct json_object *list)
{
    for (unsigned level = 0; session_afuc(d->session) && level <= CPS_LEVEL_SDS; level++) {
        CPS_BUF text = {0};
        put_stream(d, core, level, &text);
        if (text.size)
            add_variable(list, level_names[level], NULL, tool_text(&text), 0);
    }
}

static void add_field(void *context, const struct cps_value *value)
{
    CPS_BUF text = {0};
    CPS_BUF name = {0};
    cps_value_put(value, &text);
    if (value->name && *value->name)
        cps_buf_str(&name, value->name);
    else if (value->name)
        cps_buf_str(&name, value->word ? value->word : "value");
    else
        cps_buf_printf(&name, "bits %u to %u", value->low, value->high);
    add_variable(context, tool_text(&name), NULL, tool_text(&text), 0);
}

static struct cps_err *unknown_reference(int64_t reference)
{
    return cps_err_new(CPS_ERR_INPUT, "variablesReference %" PRId64 " is not known", reference);
}

/* The fields of a register, enumerations by name. */
static struct cps_err *list_fields(struct dap *d, int64_t reference)
{
    int64_t at = reference - DAP_FIELDS;
    unsigned core = (unsigned)(at >> 20);
    unsigned space = (unsigned)(at >> 18) & 3;
    uint32_t number = (uint32_t)(at % MAX_LISTED);
    if (core >= session_engine(d->session)->cores || space == DAP_GENERAL)
        return unknown_reference(reference);
    cps_name_values(session_names(d->session, core), look_space(spaces[space].file), number,
                    word_at(d, core, spaces[space].file, number), add_field,
                    cps_json_new_array(d->out, "variables"));
    return NULL;
}

static struct cps_err *read_reference(const struct dap *d, unsigned *core, enum dap_space *space)
{
    int64_t number = dap_number(d->in, "variablesReference", 0);
    if (number < 1 || number > (int64_t)session_engine(d->session)->cores * DAP_SPACES)
        return unknown_reference(number);
    *core = (unsigned)((number - 1) / DAP_SPACES);
    *space = (enum dap_space)((number - 1) % DAP_SPACES);
    return NULL;
}

struct cps_err *dap_variables(struct dap *d)
{
    enum dap_space space = DAP_GENERAL;
    unsigned core = 0;
    int64_t reference = dap_number(d->in, "variablesReference", 0);
    if (reference >= DAP_FIELDS)
        return list_fields(d, reference);
    CPS_TRY(read_reference(d, &core, &space));
    struct json_object *list = cps_json_new_array(d->out, "variables");
    if (space == DAP_GENERAL)
        list_general(d, core, list);
    else if (space == DAP_PACKET)
        list_packet(d, core, list);
    else if (space == DAP_STREAMS)
        list_streams(d, core, list);
    else
        list_space(d, core, space, list);
    keep_part(list, dap_number(d->in, "start", 0), dap_number(d->in, "count", 0));
    return NULL;
}

/* ---- expressions ---- */

/* Writes what an expression names; the answer is its value then. */
static struct cps_err *assign_value(struct dap *d, unsigned core, const char *place)
{
    uint64_t stored = 0;
    const char *value = dap_text(d, "value");
    if (!place || !value)
        return cps_err_new(CPS_ERR_INPUT, "expected a name or expression, and \"value\"");
    CPS_TRY(expr_assign(d->session, core, place, value, &stored));
    doc_put(d->out, "value=%8" PRIx64, stored);
    return NULL;
}

struct cps_err *dap_set_variable(struct dap *d)
{
    unsigned core = 0;
    enum dap_space space = DAP_GENERAL;
    const char *name = dap_text(d, "name");
    CPS_BUF place = {0};
    CPS_TRY(read_reference(d, &core, &space));
    const char *sign = spaces[space].sign;
    if (!sign || !name)
        return cps_err_new(CPS_ERR_INPUT, "%s cannot be written", name ? name : "(no name)");
    bool signed_already = !strncmp(name, sign, strlen(sign));
    cps_buf_printf(&place, "%s%s", signed_already ? "" : sign, name);
    return assign_value(d, core, tool_text(&place));
}

struct cps_err *dap_set_expression(struct dap *d)
{
    unsigned core = 0;
    CPS_TRY(frame_core(d, &core));
    return assign_value(d, core, dap_text(d, "expression"));
}

struct cps_err *dap_evaluate(struct dap *d)
{
    unsigned core = 0;
    uint64_t value = 0;
    const char *text = dap_text(d, "expression");
    CPS_TRY(frame_core(d, &core));
    if (!text)
        return cps_err_new(CPS_ERR_INPUT, "evaluate: expected \"expression\"");
    if (!strcmp(cps_json_get_text(d->in, "context", ""), "repl")) {
        /* A command of the debugger; the client is told behind the answer what it did. One that
         * failed may have moved: `source` runs several. */
        struct debugger *r = d->debugger;
        d->typed = true;
        d->moves = r->moves;
        struct cps_err *err = command_run(r, text);
        if (!err)
            cps_json_text(d->out, "result", tool_text(&r->out));
        else if (r->out.size)
            dap_output(d, &r->out);
        cps_json_int(d->out, "variablesReference", 0);
        cps_buf_clear(&r->out);
        return err;
    }
    CPS_TRY(expr_eval(d->session, core, NULL, text, &value));
    doc_put(d->out, "result=%8" PRIx64 " memoryReference=%" PRIx64 " variablesReference=%d", value,
            value, 0);
    return NULL;
}

struct cps_err *dap_completions(struct dap *d)
{
    struct json_object *list = cps_json_new_array(d->out, "targets");
    int64_t first = d->columns_from_0 ? 0 : 1;
    int64_t column = dap_number(d->in, "column", first) - first;
    CPS_FREE char *line = tool_strdup(cps_json_get_text(d->in, "text", ""));
    CPS_BUF all = {0};
    if (column >= 0 && (size_t)column < strlen(line))
        line[column] = '\0';
    size_t start = command_complete(d->debugger, line, &all);
    char *at = all.data;
    const char *candidate = NULL;
    for (unsigned i = 0; i < 100 && (candidate = files_line(&at)); i++) {
        doc_row(list, "label=%s start=%" PRId64 " length=%zu", candidate, (int64_t)start + first,
                strlen(line) - start);
    }
    return NULL;
}

struct cps_err *dap_exception_info(struct dap *d)
{
    static const char *const names[] = {[CPS_WHY_DEADLOCK] = "deadlock",
                                        [CPS_WHY_FAULT] = "fault",
                                        [CPS_WHY_BAD_PACKET] = "bad-packet"};
    const struct cps_debug_stop *stop = &d->debugger->stop;
    bool protect = stop->has_event && cps_event_kind(&stop->event) == CPS_EV_PROT;
    bool known = stop->reason >= CPS_WHY_DEADLOCK && stop->reason <= CPS_WHY_BAD_PACKET;
    CPS_BUF text = {0};
    if (!known && !protect)
        return cps_err_new(CPS_ERR_INPUT, "there is no exception here");
    look_stop(d->session, stop, &text);
    doc_put(d->out, "exceptionId=%s description=%p breakMode=always",
            protect ? "protect" : names[stop->reason], &text);
    return NULL;
}

/* ---- requests of our own ---- */

/* Where a value comes from. The arguments are `expression`, as the prompt's command `why` has it,
 * and `threadId`, which may be left out; the body is the answer of `cpscope why --json`, with the
 * lines for people as `text`. */
struct cps_err *dap_why(struct dap *d)
{
    struct session *s = d->session;
    const char *text = dap_text(d, "expression");
    unsigned core = s->core;
    CPS_BUF answer = {0};
    CPS_BUF lines = {0};
    struct json_object *found = NULL;
    if (!text)
        return cps_err_new(CPS_ERR_INPUT, "why: expected \"expression\"");
    if (cps_json_get(d->in, "threadId"))
        CPS_TRY(dap_thread(d, &core));
    CPS_TRY(session_why(s, core, text, true, &answer));
    CPS_TRY(session_why(s, core, text, false, &lines));
    CPS_TRY(cps_json_parse(tool_text(&answer), answer.size, &found));
    tool_need(found != NULL);
    cps_json_text(d->out, "text", tool_text(&lines));
    cps_json_add(d->out, "answer", found);
    return NULL;
}

static struct cps_err *put_draws(const struct dap *d, unsigned who, long draw,
                                 struct state_result *result)
{
    CPS_TRY(look_draw(d->session, who, draw, result));
    if (draw < 0)
        state_list_put(result, d->out);
    else if (result->state.now)
        state_put(result, 1, false, d->out);
    else
        return cps_err_new(CPS_ERR_INPUT, "draw %ld: the run made %u of them, counted from 0", draw,
                           result->count);
    doc_strip(d->out);
    return NULL;
}

/* What the registers hold at a draw. The arguments are `draw`, counted from 0, and `threadId` for
 * another processor than the one that draws; without a draw all are listed. The body is the answer
 * of `cpscope state --json`: of the capture as it was launched, without changes since then. */
struct cps_err *dap_draw_state(struct dap *d)
{
    const struct session *s = d->session;
    unsigned who = CPS_CPU_NONE;
    unsigned core = 0;
    int64_t draw = dap_number(d->in, "draw", -1);
    struct state_result result = {0};
    if (!session_afuc(s) || s->play.dump || (!s->capture && !s->config->demo))
        return cps_err_new(CPS_ERR_INPUT, "state: expected firmware and a capture");
    if (cps_json_get(d->in, "draw") && draw < 0)
        return cps_err_new(CPS_ERR_INPUT, "draw %ld: expected a number from 0", (long)draw);
    if (cps_json_get(d->in, "threadId")) {
        CPS_TRY(dap_thread(d, &core));
        who = session_engine(s)->who[core];
    }
    struct cps_err *err = put_draws(d, who, (long)draw, &result);
    state_deinit(&result);
    return err;
}
