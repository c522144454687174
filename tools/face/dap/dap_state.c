/* SPDX-License-Identifier: MIT
 * The debug adapter: processors, stacks, registers with their fields, expressions; and two requests
 * of this adapter's own, "why" and "state". */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/face/dap/dap_private.h"
#include "tools/run/files.h"
#include "tools/explain/stream/state.h"
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
    for (unsigned i = 0; i < session_engine(d->session)->cores; i++) {
        struct json_object *thread = json_object_new_object();
        cps_json_int(thread, "id", i + 1);
        cps_json_text(thread, "name", session_core_name(d->session, i));
        cps_json_append(list, thread);
    }
    return NULL;
}

static struct json_object *new_frame(unsigned core, unsigned index, const struct cps_buf *name)
{
    struct json_object *frame = json_object_new_object();
    cps_json_int(frame, "id", (int64_t)core * FRAMES + index + 1);
    cps_json_buf(frame, "name", name);
    cps_json_int(frame, "line", 0);
    return frame;
}

static struct json_object *call_frame(struct dap *d, unsigned core, unsigned index, uint32_t pc)
{
    CPS_BUF name = {0};
    session_place(d->session, core, pc, &name);
    if (!name.size)
        cps_buf_printf(&name, "%s 0x%04" PRIx32, session_core_name(d->session, core), pc);
    struct json_object *frame = new_frame(core, index, &name);
    dap_put_source(d, core, pc, frame);
    cps_json_int(frame, "column", cps_json_get(frame, "source") && !d->columns_from_0);
    dap_put_hex(frame, "instructionPointerReference", dap_code_address(d, core, pc), 1);
    return frame;
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

/* Streams that led here, as frames that are only for reading. */
static struct json_object *stream_frame(unsigned core, unsigned index, const struct cps_buf *name)
{
    struct json_object *frame = new_frame(core, index, name);
    cps_json_int(frame, "column", 0);
    cps_json_text(frame, "presentationHint", "label");
    return frame;
}

struct cps_err *dap_stack_trace(struct dap *d)
{
    const struct session *s = d->session;
    unsigned core = 0;
    unsigned index = 0;
    struct json_object *list = cps_json_new_array(d->out, "stackFrames");
    struct cps_err *err = dap_thread(d, &core);
    struct json_object *all = json_object_new_array();
    d->unseen = false;
    d->shown_core = core;
    struct cps_where where = cps_engine_where(session_engine(s), core);
    for (; !err && index <= where.depth; index++)
        cps_json_append(all,
                        call_frame(d, core, index,
                                   index ? word_at(d, core, CPS_FILE_STACK, index - 1) : where.pc));
    for (unsigned level = CPS_LEVEL_SDS + 1; !err && session_afuc(s) && level--;) {
        CPS_BUF name = {0};
        cps_buf_printf(&name, "%s ", level_names[level]);
        size_t empty = name.size;
        put_stream(d, core, level, &name);
        if (name.size > empty)
            cps_json_append(all, stream_frame(core, index++, &name));
    }
    size_t total = cps_json_count(all);
    int64_t first = dap_number(d->in, "startFrame", 0);
    int64_t levels = dap_number(d->in, "levels", 0);
    for (int64_t i = first > 0 ? first : 0;
         i < (int64_t)total && (levels <= 0 || i < first + levels); i++)
        cps_json_append(list, json_object_get(json_object_array_get_idx(all, (size_t)i)));
    cps_json_int(d->out, "totalFrames", (int64_t)total);
    json_object_put(all);
    return err;
}

static struct cps_err *frame_core(const struct dap *d, unsigned *ret)
{
    int64_t id = dap_number(d->in, "frameId", 0);
    *ret = id ? (unsigned)((id - 1) / FRAMES) : d->session->core;
    if (id < 0 || *ret >= session_engine(d->session)->cores)
        return cps_err_new(CPS_ERR_INPUT, "frameId %" PRId64 " is not known", id);
    return NULL;
}

/* Whether the engine has anything of a kind, and not so much that nobody can list it. */
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
        struct json_object *scope = json_object_new_object();
        cps_json_text(scope, "name", spaces[space].name);
        cps_json_int(scope, "variablesReference", 1 + (int64_t)core * DAP_SPACES + space);
        cps_json_bool(scope, "expensive", space == DAP_GPU || space == DAP_CONTROL);
        if (space == DAP_GENERAL)
            cps_json_text(scope, "presentationHint", "registers");
        cps_json_append(list, scope);
    }
    return NULL;
}

/* ---- variables ---- */

/* Those of one answer, of which the client may have asked for a part. */
struct listing {
    const struct dap *dap;
    unsigned core;
    struct json_object *list;
    int64_t skip, left;
};

static void add_variable(struct listing *l, const char *name, const char *evaluate,
                         const char *value, int64_t children)
{
    if (l->skip-- > 0 || l->left == 0)
        return;
    l->left--;
    struct json_object *variable = json_object_new_object();
    cps_json_text(variable, "name", name);
    cps_json_text(variable, "value", value);
    if (evaluate)
        cps_json_text(variable, "evaluateName", evaluate);
    cps_json_int(variable, "variablesReference", children);
    cps_json_append(l->list, variable);
}

static void add_word(struct listing *l, const char *name, char file, uint64_t number)
{
    CPS_BUF text = {0};
    cps_buf_hex(&text, word_at(l->dap, l->core, file, number), 8);
    add_variable(l, name, name, tool_text(&text), 0);
}

static void list_general(struct listing *l)
{
    static const char *const ports[] = {"$sp", "$lr", "$rem", "$addr", "$usraddr"};
    const struct cps_engine *engine = session_engine(l->dap->session);
    if (cps_engine_file(engine, CPS_FILE_PC)) {
        add_word(l, "$pc", CPS_FILE_PC, 0);
        add_word(l, "$npc", CPS_FILE_PC, 1);
    }
    for (unsigned i = 0; i < engine->ops->regs; i++)
        add_word(l, engine->ops->reg[i].name, CPS_FILE_SCALAR, i);
    for (unsigned i = 1; i < 0x1f && cps_engine_file(engine, CPS_FILE_GENERAL); i++) {
        char name[8];
        snprintf(name, sizeof(name), "$%02x", i);
        add_word(l, i < 0x1a ? name : ports[i - 0x1a], CPS_FILE_GENERAL, i);
    }
}

/* Registers of a space that hold something, of the GPU those that were written. */
static void list_space(struct listing *l, enum dap_space kind)
{
    char file = spaces[kind].file;
    const struct session *s = l->dap->session;
    const struct cps_file *row = cps_engine_file(session_engine(s), file);
    for (uint32_t i = 0; row && i < row->count && i < MAX_LISTED; i++) {
        unsigned part = 0;
        const char *name = cps_name(session_names(s, l->core), look_space(file), i, &part);
        uint32_t value = word_at(l->dap, l->core, file, i);
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
        cps_name_fields(session_names(s, l->core), look_space(file), i, value, &text);
        bool has_fields = text.size > empty;
        if (!has_fields)
            text.data[text.size = empty - 2] = '\0';
        add_variable(l, tool_text(&label), cps_buf_text(&number), tool_text(&text),
                     has_fields && l->core < 8
                         ? DAP_FIELDS + ((int64_t)l->core << 20) + ((int64_t)kind << 18) + i
                         : 0);
    }
}

/* The lines of the packet at hand, each a variable: its first word is the name. */
static void list_packet(struct listing *l)
{
    CPS_BUF text = {0};
    char *state = NULL;
    look_packet(l->dap->session, l->core, &text);
    if (!*tool_text(&text))
        return;
    for (char *line = strtok_r(text.data, "\n", &state); line;
         line = strtok_r(NULL, "\n", &state)) {
        line += strspn(line, " ");
        size_t length = strcspn(line, " ");
        char *value = line + length + strspn(line + length, " ");
        line[length] = '\0';
        add_variable(l, line, NULL, value, 0);
    }
}

static void list_streams(struct listing *l)
{
    for (unsigned level = 0; session_afuc(l->dap->session) && level <= CPS_LEVEL_SDS; level++) {
        CPS_BUF text = {0};
        put_stream(l->dap, l->core, level, &text);
        if (text.size)
            add_variable(l, level_names[level], NULL, tool_text(&text), 0);
    }
}

static void add_field(void *context, const struct cps_value *value)
{
    struct json_object *field = json_object_new_object();
    CPS_BUF text = {0};
    CPS_BUF name = {0};
    cps_value_put(value, &text);
    if (value->name && *value->name)
        cps_buf_str(&name, value->name);
    else if (value->name)
        cps_buf_str(&name, value->word ? value->word : "value");
    else
        cps_buf_printf(&name, "bits %u to %u", value->low, value->high);
    cps_json_buf(field, "name", &name);
    cps_json_buf(field, "value", &text);
    cps_json_int(field, "variablesReference", 0);
    cps_json_append(context, field);
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
    struct listing l = {.dap = d, .skip = dap_number(d->in, "start", 0)};
    int64_t count = dap_number(d->in, "count", 0);
    int64_t reference = dap_number(d->in, "variablesReference", 0);
    l.left = count > 0 ? count : INT64_MAX;
    if (reference >= DAP_FIELDS)
        return list_fields(d, reference);
    CPS_TRY(read_reference(d, &l.core, &space));
    l.list = cps_json_new_array(d->out, "variables");
    if (space == DAP_GENERAL)
        list_general(&l);
    else if (space == DAP_PACKET)
        list_packet(&l);
    else if (space == DAP_STREAMS)
        list_streams(&l);
    else
        list_space(&l, space);
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
    dap_put_hex(d->out, "value", stored, 8);
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

/* A command of the debugger; the client is told behind the answer what it did. One that failed may
 * have moved: `source` runs several. */
static struct cps_err *run_command(struct dap *d, const char *line)
{
    struct debugger *r = d->debugger;
    d->typed = true;
    d->moves = r->moves;
    struct cps_err *err = command_run(r, line);
    if (!err)
        cps_json_buf(d->out, "result", &r->out);
    else if (r->out.size)
        dap_output(d, &r->out);
    cps_json_int(d->out, "variablesReference", 0);
    cps_buf_clear(&r->out);
    return err;
}

struct cps_err *dap_evaluate(struct dap *d)
{
    unsigned core = 0;
    uint64_t value = 0;
    const char *text = dap_text(d, "expression");
    CPS_TRY(frame_core(d, &core));
    if (!text)
        return cps_err_new(CPS_ERR_INPUT, "evaluate: expected \"expression\"");
    if (!strcmp(cps_json_get_text(d->in, "context", ""), "repl"))
        return run_command(d, text);
    CPS_TRY(expr_eval(d->session, core, NULL, text, &value));
    dap_put_hex(d->out, "result", value, 8);
    dap_put_hex(d->out, "memoryReference", value, 1);
    cps_json_int(d->out, "variablesReference", 0);
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
        struct json_object *target = json_object_new_object();
        cps_json_text(target, "label", candidate);
        cps_json_int(target, "start", (int64_t)start + first);
        cps_json_int(target, "length", (int64_t)(strlen(line) - start));
        cps_json_append(list, target);
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
    cps_json_text(d->out, "exceptionId", protect ? "protect" : names[stop->reason]);
    cps_json_buf(d->out, "description", &text);
    cps_json_text(d->out, "breakMode", "always");
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
    cps_json_buf(d->out, "text", &lines);
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
 * of `cpscope state --json`: of the capture as it was launched, so that what was changed since then
 * has no part in it. */
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
