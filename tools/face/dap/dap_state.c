/* SPDX-License-Identifier: MIT
 * The debug adapter: processors, stacks, registers, expressions. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/face/dap/dap_private.h"
#include "tools/face/debugger/expr.h"
#include "tools/face/debugger/look.h"
#include "isa/base/pm4.h"
#include "trace/out/json.h"

/* Most registers of a kind that are looked through. */
#define MAX_LISTED 0x40000u
#define FRAMES     64 /* of a core, for frame ids */

uint64_t dap_code_address(const struct dap *d, unsigned core, uint32_t pc)
{
    const struct session *s = &d->debugger->session;
    if (session_afuc(s))
        return cps_afuc_image_iova(session_afuc(s), core) + 4 * (uint64_t)pc;
    return (uint64_t)core << 32 | (uint64_t)pc * cps_isa_unit(session_engine(s)->ops->isa);
}

void dap_put_source(const struct dap *d, unsigned core, uint32_t pc, struct json_object *to)
{
    const char *file = NULL;
    uint32_t line = 0;
    bool known = look_source(&d->debugger->session, core, pc, &file, &line);
    CPS_FREE char *path = known ? realpath(file, NULL) : NULL;
    if (!path && (!known || errno != ENOMEM)) {
        dap_put_listing(d, core, pc, to);
        return;
    }
    struct json_object *source = json_object_new_object();
    const char *slash = strrchr(file, '/');
    if (!path)
        cps_json_add(to, "source", NULL);
    cps_json_text(source, "name", slash ? slash + 1 : file);
    cps_json_text(source, "path", path);
    cps_json_add(to, "source", source);
    cps_json_int(to, "line", (int64_t)line - d->lines_from_0);
}

struct cps_err *dap_threads(struct dap *d, struct json_object *arguments, struct json_object *body)
{
    struct json_object *list = json_object_new_array();
    struct session *s = &d->debugger->session;
    (void)arguments;
    for (unsigned i = 0; i < session_engine(s)->cores; i++) {
        struct json_object *thread = json_object_new_object();
        cps_json_int(thread, "id", i + 1);
        cps_json_text(thread, "name", session_core_name(s, i));
        cps_json_append(list, thread);
    }
    cps_json_add(body, "threads", list);
    return NULL;
}

static void add_frame(struct dap *d, unsigned core, unsigned index, uint32_t pc,
                      struct json_object *list)
{
    struct json_object *frame = json_object_new_object();
    CPS_BUF name = {0};
    session_place(&d->debugger->session, core, pc, &name);
    cps_json_int(frame, "id", (int64_t)core * FRAMES + index + 1);
    if (!name.size && !name.failed)
        cps_buf_printf(&name, "%s 0x%04" PRIx32, session_core_name(&d->debugger->session, core),
                       pc);
    cps_json_buf(frame, "name", &name);
    cps_json_int(frame, "line", 0);
    dap_put_source(d, core, pc, frame);
    cps_json_int(frame, "column", cps_json_get(frame, "source") && !d->columns_from_0);
    dap_put_hex(frame, "instructionPointerReference", dap_code_address(d, core, pc), 1);
    cps_json_append(list, frame);
}

/* Streams that led here, as frames that are only for reading. */
static void add_stream(unsigned core, unsigned index, const char *name,
                       const struct cps_position *at, struct json_object *list)
{
    struct json_object *frame = json_object_new_object();
    char text[96];
    snprintf(text, sizeof(text), "%s 0x%" PRIx64 ", %" PRIu32 " of %" PRIu32 " dwords read", name,
             at->iova, at->consumed, at->dwords);
    cps_json_int(frame, "id", (int64_t)core * FRAMES + index + 1);
    cps_json_text(frame, "name", text);
    cps_json_int(frame, "line", 0);
    cps_json_int(frame, "column", 0);
    cps_json_text(frame, "presentationHint", "label");
    cps_json_append(list, frame);
}

static const char *const level_names[] = {"ring", "IB1", "IB2", "IB3", "draw state"};

struct cps_err *dap_stack_trace(struct dap *d, struct json_object *arguments,
                                struct json_object *body)
{
    unsigned core = 0;
    unsigned index = 0;
    const struct session *s = &d->debugger->session;
    struct json_object *all = json_object_new_array();
    struct json_object *list = cps_json_new_array(body, "stackFrames");
    struct cps_err *err = dap_thread(d, arguments, &core);
    d->unseen = false;
    d->shown_core = core;
    struct cps_where where = cps_engine_where(session_engine(s), core);
    for (; !err && index <= where.depth; index++)
        add_frame(d, core, index,
                  index ? (uint32_t)session_value(s, core, CPS_FILE_STACK, index - 1) : where.pc,
                  all);
    for (unsigned level = CPS_LEVEL_SDS + 1; !err && session_afuc(s) && level--;) {
        struct cps_position at = cps_afuc_position(session_afuc(s), core, level);
        if (at.active)
            add_stream(core, index++, level_names[level], &at, all);
    }
    if (!cps_json_complete(all))
        cps_json_append(list, NULL);
    size_t total = cps_json_count(all);
    int64_t first = dap_number(arguments, "startFrame", 0);
    int64_t levels = dap_number(arguments, "levels", 0);
    for (int64_t i = first > 0 ? first : 0;
         i < (int64_t)total && (levels <= 0 || i < first + levels); i++)
        cps_json_append(list, json_object_get(json_object_array_get_idx(all, (size_t)i)));
    cps_json_int(body, "totalFrames", (int64_t)total);
    json_object_put(all);
    return err;
}

static struct cps_err *frame_core(const struct dap *d, struct json_object *arguments, unsigned *ret)
{
    int64_t id = dap_number(arguments, "frameId", 0);
    unsigned count = session_engine(&d->debugger->session)->cores;
    *ret = id ? (unsigned)((id - 1) / FRAMES) : d->debugger->session.core;
    if (id < 0 || *ret >= count)
        return cps_err_new(CPS_ERR_INPUT, "frameId %" PRId64 " is not known", id);
    return NULL;
}

/* Whether the engine has anything of a kind, and not so much that nobody can list it. */
static bool has_space(const struct session *s, enum dap_space space)
{
    static const char files[] = {
        [DAP_CONTROL] = CPS_FILE_CONTROL, [DAP_SQE] = CPS_FILE_SQE, [DAP_GPU] = CPS_FILE_REGISTER};
    if (space == DAP_GENERAL)
        return true;
    if (space == DAP_PACKET || space == DAP_STREAMS)
        return session_afuc(s) != NULL;
    const struct cps_file *file = cps_engine_file(session_engine(s), files[space]);
    return file && file->count <= MAX_LISTED;
}

struct cps_err *dap_scopes(struct dap *d, struct json_object *arguments, struct json_object *body)
{
    static const char *const names[] = {
        "Registers", "Control registers", "SQE registers", "GPU registers", "Packet", "Streams"};
    unsigned core = 0;
    CPS_TRY(frame_core(d, arguments, &core));
    struct json_object *list = json_object_new_array();
    for (unsigned space = 0; space < DAP_SPACES; space++) {
        if (!has_space(&d->debugger->session, (enum dap_space)space))
            continue;
        struct json_object *scope = json_object_new_object();
        cps_json_text(scope, "name", names[space]);
        cps_json_int(scope, "variablesReference", 1 + (int64_t)core * DAP_SPACES + space);
        cps_json_bool(scope, "expensive", space == DAP_GPU || space == DAP_CONTROL);
        if (space == DAP_GENERAL)
            cps_json_text(scope, "presentationHint", "registers");
        cps_json_append(list, scope);
    }
    cps_json_add(body, "scopes", list);
    return NULL;
}

/* Variables of one answer, of which the client may have asked for a part. */
struct listing {
    const struct dap *dap;
    unsigned core;
    struct json_object *list;
    int64_t skip, left;
};

static void add(struct listing *l, const char *name, const char *evaluate,
                const struct cps_buf *value, int64_t children)
{
    if (l->skip-- > 0 || l->left == 0)
        return;
    l->left--;
    struct json_object *variable = json_object_new_object();
    cps_json_text(variable, "name", name);
    cps_json_buf(variable, "value", value);
    if (evaluate)
        cps_json_text(variable, "evaluateName", evaluate);
    cps_json_int(variable, "variablesReference", children);
    cps_json_append(l->list, variable);
}

static void add_word(struct listing *l, const char *name, const char *evaluate, uint32_t value,
                     const struct cps_buf *more, int64_t children)
{
    CPS_BUF text = {0};
    cps_buf_printf(&text, "0x%08" PRIx32 "%s", value, more && more->size ? "  " : "");
    if (more)
        cps_buf_join(&text, more);
    add(l, name, evaluate, &text, children);
}

static uint32_t word_at(const struct listing *l, char file, uint64_t number)
{
    return (uint32_t)session_value(&l->dap->debugger->session, l->core, file, number);
}

static void list_scalars(struct listing *l)
{
    const struct cps_engine_ops *ops = session_engine(&l->dap->debugger->session)->ops;
    for (unsigned i = 0; i < ops->regs; i++)
        add_word(l, ops->reg[i].name, ops->reg[i].name, word_at(l, CPS_FILE_SCALAR, i), NULL, 0);
}

static void list_general(struct listing *l)
{
    static const char *const ports[] = {"$sp", "$lr", "$rem", "$addr", "$usraddr"};
    const struct cps_engine *engine = session_engine(&l->dap->debugger->session);
    if (cps_engine_file(engine, CPS_FILE_PC)) {
        add_word(l, "$pc", "$pc", word_at(l, CPS_FILE_PC, 0), NULL, 0);
        add_word(l, "$npc", "$npc", word_at(l, CPS_FILE_PC, 1), NULL, 0);
    }
    list_scalars(l);
    for (unsigned i = 1; i < 0x1f && cps_engine_file(engine, CPS_FILE_GENERAL); i++) {
        char name[8];
        snprintf(name, sizeof(name), "$%02x", i);
        const char *shown = i < 0x1a ? name : ports[i - 0x1a];
        add_word(l, shown, shown, word_at(l, CPS_FILE_GENERAL, i), NULL, 0);
    }
}

static bool is_shown(const struct session *s, char file, uint32_t number, uint32_t value)
{
    if (file == CPS_FILE_REGISTER && session_afuc(s))
        return cps_afuc_reg_written(session_afuc(s), number);
    return value != 0;
}

/* Registers of a space that hold something. */
static void list_space(struct listing *l, enum dap_space kind)
{
    static const struct {
        enum cps_space space;
        char file;
        const char *sign;
    } kinds[] = {[DAP_CONTROL] = {CPS_SPACE_CONTROL, CPS_FILE_CONTROL, "@"},
                 [DAP_SQE] = {CPS_SPACE_SQE, CPS_FILE_SQE, "%"},
                 [DAP_GPU] = {CPS_SPACE_GPU, CPS_FILE_REGISTER, "reg:"}};
    enum cps_space space = kinds[kind].space;
    char file = kinds[kind].file;
    const char *sign = kinds[kind].sign;
    const struct session *s = &l->dap->debugger->session;
    const struct cps_file *row = cps_engine_file(session_engine(s), file);
    for (uint32_t i = 0; row && i < row->count && i < MAX_LISTED; i++) {
        unsigned part = 0;
        const char *name = cps_name(session_names(s, l->core), space, i, &part);
        uint32_t value = word_at(l, file, i);
        CPS_BUF number = {0};
        CPS_BUF label = {0};
        CPS_BUF fields = {0};
        if (!is_shown(s, file, i, value))
            continue;
        cps_buf_printf(&number, "%s0x%" PRIx32, sign, i);
        cps_buf_printf(&label, part ? "%s+0x%x" : "%s", name ? name : cps_buf_text(&number), part);
        cps_name_fields(session_names(s, l->core), space, i, value, &fields);
        fields.failed = fields.failed || number.failed || label.failed;
        add_word(l, cps_buf_text(&label), cps_buf_text(&number), value, &fields,
                 fields.size ? dap_fields_reference(l->dap, l->core, kind, i) : 0);
    }
}

/* The lines of a text, each a variable: its first word is the name. */
static void list_lines(struct listing *l, char *text)
{
    char *state = NULL;
    for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
        line += strspn(line, " ");
        size_t length = strcspn(line, " ");
        char *value = line + length + strspn(line + length, " ");
        line[length] = '\0';
        const struct cps_buf rest = {.data = value, .size = strlen(value)};
        add(l, line, NULL, &rest, 0);
    }
}

static void list_packet(struct listing *l)
{
    CPS_BUF text = {0};
    look_packet(&l->dap->debugger->session, l->core, &text);
    if (text.failed)
        cps_json_append(l->list, NULL);
    else if (text.size)
        list_lines(l, text.data);
}

static void list_streams(struct listing *l)
{
    const struct cps_afuc *afuc = session_afuc(&l->dap->debugger->session);
    for (unsigned level = 0; afuc && level <= CPS_LEVEL_SDS; level++) {
        struct cps_position at = cps_afuc_position(afuc, l->core, level);
        CPS_BUF text = {0};
        cps_buf_printf(&text, "0x%" PRIx64 ", %" PRIu32 " of %" PRIu32 " dwords read", at.iova,
                       at.consumed, at.dwords);
        if (at.active)
            add(l, level_names[level], NULL, &text, 0);
    }
}

static struct cps_err *reference(const struct dap *d, struct json_object *arguments, unsigned *core,
                                 enum dap_space *space)
{
    int64_t number = dap_number(arguments, "variablesReference", 0);
    unsigned count = session_engine(&d->debugger->session)->cores;
    if (number < 1 || number > (int64_t)count * DAP_SPACES)
        return cps_err_new(CPS_ERR_INPUT, "variablesReference %" PRId64 " is not known", number);
    *core = (unsigned)((number - 1) / DAP_SPACES);
    *space = (enum dap_space)((number - 1) % DAP_SPACES);
    return NULL;
}

struct cps_err *dap_variables(struct dap *d, struct json_object *arguments,
                              struct json_object *body)
{
    enum dap_space space = DAP_GENERAL;
    struct listing l = {.dap = d, .skip = dap_number(arguments, "start", 0)};
    int64_t count = dap_number(arguments, "count", 0);
    l.left = count > 0 ? count : INT64_MAX;
    if (dap_number(arguments, "variablesReference", 0) >= DAP_FIELDS)
        return dap_fields(d, arguments, body);
    CPS_TRY(reference(d, arguments, &l.core, &space));
    l.list = json_object_new_array();
    switch (space) {
    case DAP_GENERAL:
        list_general(&l);
        break;
    case DAP_CONTROL:
    case DAP_SQE:
    case DAP_GPU:
        list_space(&l, space);
        break;
    case DAP_PACKET:
        list_packet(&l);
        break;
    default:
        list_streams(&l);
    }
    cps_json_add(body, "variables", l.list);
    return NULL;
}

/* Writes what an expression names; the answer is its value then. */
static struct cps_err *assign(struct dap *d, unsigned core, const char *place, const char *value,
                              struct json_object *body)
{
    uint64_t stored = 0;
    if (!place || !value)
        return cps_err_new(CPS_ERR_INPUT, "expected a name or expression, and \"value\"");
    CPS_TRY(expr_assign(&d->debugger->session, core, place, value, &stored));
    dap_put_hex(body, "value", stored, 8);
    return NULL;
}

struct cps_err *dap_set_variable(struct dap *d, struct json_object *arguments,
                                 struct json_object *body)
{
    static const char *const signs[] = {"", "@", "%", "reg:", NULL, NULL};
    unsigned core = 0;
    enum dap_space space = DAP_GENERAL;
    const char *name = cps_json_get_text(arguments, "name", NULL);
    CPS_BUF place = {0};
    CPS_TRY(reference(d, arguments, &core, &space));
    if (!signs[space] || !name)
        return cps_err_new(CPS_ERR_INPUT, "%s cannot be written", name ? name : "(no name)");
    bool signed_already = !strncmp(name, signs[space], strlen(signs[space]));
    cps_buf_printf(&place, "%s%s", signed_already ? "" : signs[space], name);
    if (place.failed)
        return cps_err_nomem();
    return assign(d, core, cps_buf_text(&place), cps_json_get_text(arguments, "value", NULL), body);
}

struct cps_err *dap_set_expression(struct dap *d, struct json_object *arguments,
                                   struct json_object *body)
{
    unsigned core = 0;
    CPS_TRY(frame_core(d, arguments, &core));
    return assign(d, core, cps_json_get_text(arguments, "expression", NULL),
                  cps_json_get_text(arguments, "value", NULL), body);
}

/* A command of the debugger; the client is told behind the answer what it did. One that failed may
 * have moved: `source` runs several. */
static struct cps_err *run_command(struct dap *d, const char *line, struct json_object *body)
{
    struct debugger *r = d->debugger;
    d->typed = true;
    d->moves = r->moves;
    struct cps_err *err = command_run(r, line);
    if (!err)
        cps_json_buf(body, "result", &r->out);
    else if (r->out.size)
        dap_output(d, &r->out);
    cps_json_int(body, "variablesReference", 0);
    cps_buf_clear(&r->out);
    return err;
}

struct cps_err *dap_evaluate(struct dap *d, struct json_object *arguments, struct json_object *body)
{
    unsigned core = 0;
    uint64_t value = 0;
    const char *text = cps_json_get_text(arguments, "expression", NULL);
    const char *context = cps_json_get_text(arguments, "context", NULL);
    CPS_TRY(frame_core(d, arguments, &core));
    if (!text)
        return cps_err_new(CPS_ERR_INPUT, "evaluate: expected \"expression\"");
    if (context && !strcmp(context, "repl"))
        return run_command(d, text, body);
    CPS_TRY(expr_eval(&d->debugger->session, core, NULL, text, &value));
    dap_put_hex(body, "result", value, 8);
    dap_put_hex(body, "memoryReference", value, 1);
    cps_json_int(body, "variablesReference", 0);
    return NULL;
}

struct cps_err *dap_completions(struct dap *d, struct json_object *arguments,
                                struct json_object *body)
{
    struct json_object *list = cps_json_new_array(body, "targets");
    const char *text = cps_json_get_text(arguments, "text", NULL);
    int64_t first = d->columns_from_0 ? 0 : 1;
    int64_t column = dap_number(arguments, "column", first) - first;
    CPS_FREE char *line = strdup(text ? text : "");
    size_t start = 0;
    if (!line)
        return cps_err_nomem();
    if (column >= 0 && (size_t)column < strlen(line))
        line[column] = '\0';
    for (unsigned i = 0; i < 100; i++) {
        CPS_FREE char *candidate = command_complete(d->debugger, line, i, &start);
        struct json_object *target = candidate ? json_object_new_object() : NULL;
        if (!target)
            break;
        cps_json_text(target, "label", candidate);
        cps_json_int(target, "start", (int64_t)start + first);
        cps_json_int(target, "length", (int64_t)(strlen(line) - start));
        cps_json_append(list, target);
    }
    return NULL;
}
