/* SPDX-License-Identifier: MIT
 * cpscope step for scripts: forwards, and backwards by doing it again from the start, which is the
 * same each time. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "isa/base/le.h"
#include "isa/base/lex.h"
#include "tools/play/job.h"
#include "tools/report/names.h"
#include "tools/peer/peer.h"
#include "tools/step/prompt.h"
#include "tools/report/report.h"

#define MAX_BREAKS 32u

struct stepper {
    const struct cps_options *opt;
    const struct cps_isa *isa;
    unsigned gen;
    enum cps_scheme scheme;
    struct peer peer;
    struct job job; /* its events */
    struct cps_names *names[CPS_CPU_COUNT];
    uint64_t at[MAX_BREAKS];
    unsigned breaks;
    struct cps_buf out;
    bool quit;
};

static uint64_t step_of(const struct stepper *s)
{
    return peer_steps(&s->peer);
}

/* The slot that goes on next, as an index; 0 for engines without slots. */
static unsigned slot_of(const struct stepper *s)
{
    return s->isa == &cps_isa_hwsq && !cps_engine_reg(s->peer.engine, 1) &&
           cps_engine_reg(s->peer.engine, 6);
}

/* Without code, the line of the run file that is next. */
static uint64_t pc_of(const struct stepper *s)
{
    const struct cps_script_step *next = peer_has_code(&s->peer) ? NULL : peer_next(&s->peer);
    if (!peer_has_code(&s->peer))
        return next ? next->line : 0;
    return cps_engine_reg(s->peer.engine, slot_of(s) * 5);
}

static bool is_over(const struct stepper *s)
{
    return !s->peer.paused;
}

static void keep_events(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    job_keep((struct job *)((char *)sink - offsetof(struct job, sink)), events, count);
}

/* As at the start: nothing has happened. */
static struct cps_err *restart(struct stepper *s)
{
    peer_close(&s->peer);
    job_deinit(&s->job);
    s->job.sink.put = keep_events;
    s->peer = (struct peer){.trace = &s->job.sink,
                            .kinds = UINT32_MAX & ~(1u << CPS_EV_STEP | 1u << CPS_EV_STEPX),
                            .limit = s->opt->limit};
    return peer_open(&s->peer, s->isa, s->gen, s->opt->arg[0], s->opt);
}

static struct cps_err *go_to(struct stepper *s, uint64_t step)
{
    if (step < step_of(s))
        CPS_TRY(restart(s));
    return peer_go(&s->peer, step);
}

/* Where the code lies that the file has. */
static uint32_t code_start(const struct stepper *s)
{
    for (size_t i = 0; i < s->peer.script.step_count; i++) {
        if (s->peer.script.step[i].what == CPS_DO_UPLOAD)
            return s->peer.script.step[i].addr;
    }
    return 0;
}

/* A step of the host's as text, as a run file has it. */
static void put_host_step(struct stepper *s, const struct cps_script_step *step)
{
    static const char *const words[] = {[CPS_DO_READ] = "read",
                                        [CPS_DO_UPLOAD] = "upload",
                                        [CPS_DO_WAIT] = "wait",
                                        [CPS_DO_RUN] = "run",
                                        [CPS_DO_OBJECT] = "object"};
    static const char *const writes[] = {"", "write8", "write16", "", "write"};
    const struct cps_names *names = s->names[peer_processor(s->peer.script.gen)];
    const char *name =
        step->where == CPS_AT_REG ? cps_name(names, CPS_SPACE_GPU, step->addr, NULL) : NULL;
    bool is_write = step->what == CPS_DO_WRITE;
    cps_buf_printf(&s->out, "line %u  %s", step->line,
                   is_write ? writes[step->size] : words[step->what]);
    if (step->what == CPS_DO_OBJECT)
        cps_buf_printf(&s->out, " %" PRIu32, step->mask);
    if (step->what == CPS_DO_WAIT)
        cps_buf_printf(&s->out, " %" PRIu64, step->ticks);
    if (is_write || step->what == CPS_DO_READ || step->what == CPS_DO_OBJECT)
        cps_buf_printf(&s->out, " %s0x%06" PRIx32 " 0x%08" PRIx32, peer_where(step), step->addr,
                       step->value);
    if (step->what == CPS_DO_READ && step->mask != UINT32_MAX)
        cps_buf_printf(&s->out, " 0x%08" PRIx32, step->mask);
    if (name)
        cps_buf_printf(&s->out, " ; %s", name);
}

/* The step of a line, or the next one behind it; how many lines on the one behind that is. */
static uint32_t put_line(struct stepper *s, uint64_t line)
{
    const struct cps_script *script = &s->peer.script;
    size_t i = 0;
    while (i < script->step_count && script->step[i].line < line)
        i++;
    if (i == script->step_count)
        return 0;
    put_host_step(s, &script->step[i]);
    return (uint32_t)(script->step[i].line + 1 - line);
}

/* Whether the word at byte @p at of the file, unit @p pc, executes with the one before it. */
static bool joins(const struct stepper *s, uint64_t at, uint64_t pc)
{
    const struct cps_buf *code = &s->peer.script.code;
    const uint8_t *word = (const uint8_t *)code->data + at;
    return s->isa == &cps_isa_vp1 && at + 4 <= code->size &&
           cps_insn_joins(s->isa, (uint32_t)pc, cps_le32(word - 4), cps_le32(word));
}

/* The instruction at @p pc as text, or the bundle; its length in units, 0 if the file has none
 * there. */
static uint32_t put_instruction(struct stepper *s, uint64_t pc)
{
    if (!peer_has_code(&s->peer))
        return put_line(s, pc);
    const struct cps_buf *code = &s->peer.script.code;
    const struct cps_print_names names = {.names = s->names[peer_processor(s->peer.script.gen)],
                                          .scheme = s->scheme};
    unsigned unit = cps_isa_unit(s->isa);
    uint64_t at = pc * unit - code_start(s);
    uint64_t end = pc;
    struct cps_insn insn;
    if (pc * unit < code_start(s) || at >= code->size)
        return 0;
    cps_buf_printf(&s->out, "%04" PRIx64 "  ", pc);
    do {
        cps_decode_bytes(s->isa, s->peer.script.gen, (const uint8_t *)code->data + at,
                         code->size - at, &insn);
        cps_buf_str(&s->out, end == pc ? "" : " + ");
        cps_print(s->isa, &insn, (uint32_t)end, &names, &s->out);
        at += insn.length;
        end += insn.length / unit;
    } while (joins(s, at, end));
    return (uint32_t)(end - pc);
}

static void show(struct stepper *s)
{
    cps_buf_printf(&s->out, "step %" PRIu64 ", tick %" PRIu64 ", ", step_of(s),
                   cps_bus_clock(s->peer.engine->bus));
    if (is_over(s))
        cps_buf_printf(&s->out, "%s%s%s",
                       cps_event_sub_word(CPS_EV_END, cps_stop_reason(s->peer.stop)),
                       *s->peer.why ? " " : "", s->peer.why);
    else if (!peer_has_code(&s->peer))
        put_host_step(s, peer_next(&s->peer));
    else if (!put_instruction(s, pc_of(s)))
        cps_buf_printf(&s->out, "%04" PRIx64, pc_of(s));
    cps_buf_str(&s->out, "\n");
}

/* ---- commands ---- */

static struct cps_err *read_number(const char *text, uint64_t fallback, uint64_t *ret)
{
    int64_t value = 0;
    *ret = fallback;
    if (!*text)
        return NULL;
    if (!cps_lex_number(&text, &value) || *cps_lex_blank(text))
        return cps_err_new(CPS_ERR_SYNTAX, "expected a number, found \"%s\"", text);
    *ret = (uint64_t)value;
    return NULL;
}

static struct cps_err *do_step(struct stepper *s, const char *arguments)
{
    uint64_t count = 0;
    CPS_TRY(read_number(arguments, 1, &count));
    CPS_TRY(go_to(s, step_of(s) + count));
    show(s);
    return NULL;
}

static struct cps_err *do_rstep(struct stepper *s, const char *arguments)
{
    uint64_t count = 0;
    CPS_TRY(read_number(arguments, 1, &count));
    CPS_TRY(go_to(s, count < step_of(s) ? step_of(s) - count : 0));
    show(s);
    return NULL;
}

static struct cps_err *do_go_step(struct stepper *s, const char *arguments)
{
    uint64_t step = 0;
    CPS_TRY(read_number(arguments, 0, &step));
    CPS_TRY(go_to(s, step));
    show(s);
    return NULL;
}

static bool at_break(const struct stepper *s)
{
    for (unsigned i = 0; i < s->breaks; i++) {
        if (s->at[i] == pc_of(s))
            return true;
    }
    return false;
}

static struct cps_err *do_go_on(struct stepper *s, const char *arguments)
{
    (void)arguments;
    do {
        CPS_TRY(go_to(s, s->breaks ? step_of(s) + 1 : UINT64_MAX));
    } while (!is_over(s) && !at_break(s));
    show(s);
    return NULL;
}

/* Runs up to here once more and remembers the last place to stop at. */
static struct cps_err *do_rgo_on(struct stepper *s, const char *arguments)
{
    uint64_t end = step_of(s);
    uint64_t found = 0;
    (void)arguments;
    CPS_TRY(restart(s));
    CPS_TRY(go_to(s, 0));
    while (step_of(s) + 1 < end && !is_over(s)) {
        CPS_TRY(go_to(s, step_of(s) + 1));
        found = at_break(s) ? step_of(s) : found;
    }
    CPS_TRY(go_to(s, found));
    show(s);
    return NULL;
}

static void put_place(struct stepper *s, uint64_t place)
{
    cps_buf_printf(&s->out, peer_has_code(&s->peer) ? "%04" PRIx64 "\n" : "line %" PRIu64 "\n",
                   place);
}

static struct cps_err *do_do_break(struct stepper *s, const char *arguments)
{
    uint64_t place = 0;
    CPS_TRY(read_number(arguments, pc_of(s), &place));
    if (s->breaks == MAX_BREAKS)
        return cps_err_new(CPS_ERR_SYNTAX, "there are %u breakpoints, expected no more",
                           MAX_BREAKS);
    s->at[s->breaks++] = place;
    cps_buf_printf(&s->out, "breakpoint %u at ", s->breaks);
    put_place(s, place);
    return NULL;
}

static struct cps_err *do_delete(struct stepper *s, const char *arguments)
{
    uint64_t id = 0;
    CPS_TRY(read_number(arguments, 0, &id));
    if (*arguments && (!id || id > s->breaks))
        return cps_err_new(CPS_ERR_SYNTAX, "there is no breakpoint %s", arguments);
    if (*arguments)
        memmove(&s->at[id - 1], &s->at[id], (s->breaks - id) * sizeof(*s->at));
    s->breaks = *arguments ? s->breaks - 1 : 0;
    return NULL;
}

static void put_reg(struct stepper *s, size_t index)
{
    cps_buf_printf(&s->out, "%s = 0x%" PRIx64 "\n", s->peer.engine->ops->regs->reg[index].name,
                   cps_engine_reg(s->peer.engine, index));
}

static struct cps_err *do_print(struct stepper *s, const char *arguments)
{
    const struct cps_regset *regs = s->peer.engine->ops->regs;
    const struct cps_names *names = s->names[peer_processor(s->peer.script.gen)];
    uint32_t named = 0;
    uint64_t addr = 0;
    for (size_t i = 0; i < regs->count; i++) {
        if (!strcmp(regs->reg[i].name, arguments)) {
            put_reg(s, i);
            return NULL;
        }
    }
    if (cps_name_number(names, CPS_SPACE_GPU, arguments, strlen(arguments), &named))
        addr = named;
    else
        CPS_TRY(read_number(arguments, UINT64_MAX, &addr));
    if (addr > UINT32_MAX)
        return cps_err_new(CPS_ERR_SYNTAX, "expected a register's name or address");
    cps_buf_printf(&s->out, "0x%06" PRIx64 " = 0x%08" PRIx32 "\n", addr,
                   cps_bus_effective(s->peer.engine->bus, (uint32_t)addr));
    return NULL;
}

static struct cps_err *do_info(struct stepper *s, const char *arguments)
{
    bool breaks = *arguments == 'b';
    for (unsigned i = 0; breaks && i < s->breaks; i++) {
        cps_buf_printf(&s->out, "%u  ", i + 1);
        put_place(s, s->at[i]);
    }
    for (size_t i = 0; !breaks && i < s->peer.engine->ops->regs->count; i++)
        put_reg(s, i);
    return NULL;
}

static struct cps_err *do_disas(struct stepper *s, const char *arguments)
{
    uint64_t place = pc_of(s);
    uint64_t count = 8;
    int64_t first = 0;
    if (*arguments && !cps_lex_number(&arguments, &first))
        return cps_err_new(CPS_ERR_SYNTAX, "expected a place, found \"%s\"", arguments);
    CPS_TRY(read_number(cps_lex_blank(arguments), count, &count));
    place = first ? (uint64_t)first : place;
    for (uint32_t length = 1; count && length; count--, place += length) {
        cps_buf_str(&s->out, place == pc_of(s) && !is_over(s) ? "=> " : "   ");
        length = put_instruction(s, place);
        cps_buf_str(&s->out, "\n");
    }
    return NULL;
}

static struct cps_err *do_log(struct stepper *s, const char *arguments)
{
    uint64_t count = 0;
    CPS_TRY(read_number(arguments, 10, &count));
    for (size_t i = count < s->job.count ? s->job.count - count : 0; i < s->job.count; i++) {
        const struct cps_event *event = &s->job.event[i];
        cps_text_event(&s->out, event, s->names[cps_event_who(event) % CPS_CPU_COUNT], true);
    }
    return NULL;
}

static struct cps_err *do_quit(struct stepper *s, const char *arguments)
{
    (void)arguments;
    s->quit = true;
    return NULL;
}

static struct cps_err *do_help(struct stepper *s, const char *arguments);

static const struct {
    const char *name, *alias, *arguments;
    struct cps_err *(*run)(struct stepper *s, const char *arguments);
    const char *help;
} rows[] = {
#define ROW(name, alias, arguments, handler, help) {name, alias, arguments, do_##handler, help},
#include "tools/peer/peer_step.def"
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static struct cps_err *do_help(struct stepper *s, const char *arguments)
{
    (void)arguments;
    for (size_t i = 0; i < ROWS; i++)
        cps_buf_printf(&s->out, "%-10s %-3s %-12s %s\n", rows[i].name,
                       rows[i].alias ? rows[i].alias : "", rows[i].arguments, rows[i].help);
    return NULL;
}

static struct cps_err *command(struct stepper *s, char *line)
{
    line[strcspn(line, "\r\n")] = '\0';
    const char *at = cps_lex_blank(line);
    size_t length = strcspn(at, " \t");
    if (!*at || *at == '#')
        return NULL;
    for (size_t i = 0; i < ROWS; i++) {
        const char *alias = rows[i].alias ? rows[i].alias : "";
        if ((strlen(rows[i].name) == length && !memcmp(rows[i].name, at, length)) ||
            (strlen(alias) == length && !memcmp(alias, at, length)))
            return rows[i].run(s, cps_lex_blank(at + length));
    }
    return cps_err_new(CPS_ERR_SYNTAX, "no command is called \"%.*s\"; try help", (int)length, at);
}

static void flush(struct stepper *s)
{
    fputs(cps_buf_text(&s->out), stdout);
    fflush(stdout);
    cps_buf_clear(&s->out);
}

/* Every line is shown in front of what it does; a mistake ends it. */
static struct cps_err *run_lines(struct stepper *s, FILE *in)
{
    char *line = NULL;
    size_t room = 0;
    struct cps_err *err = NULL;
    while (!err && !s->quit && getline(&line, &room, in) > 0) {
        line[strcspn(line, "\r\n")] = '\0';
        cps_buf_printf(&s->out, "> %s\n", line);
        err = command(s, line);
        flush(s);
    }
    free(line);
    return err;
}

static void interact(struct stepper *s)
{
    for (char *line; !s->quit && (line = prompt_line(NULL, "(cpscope) ")); free(line)) {
        struct cps_err *err = command(s, line);
        flush(s);
        if (err)
            printf("%s\n", err->message);
        cps_err_free(err);
    }
}

static struct cps_err *run(struct stepper *s)
{
    CPS_TRY(restart(s));
    const struct cps_trace_head head = {.gen = s->peer.script.gen,
                                        .layout = cps_gen_layout(s->peer.script.gen)};
    CPS_TRY(trace_names(&head, s->opt->rnn, s->names));
    CPS_TRY(go_to(s, 0));
    show(s);
    flush(s);
    if (!s->opt->script) {
        if (!isatty(STDIN_FILENO))
            return run_lines(s, stdin);
        interact(s);
        return NULL;
    }
    FILE *file = fopen(s->opt->script, "r");
    struct cps_err *err = file ? run_lines(s, file) : cps_err_os(s->opt->script, "open");
    if (file)
        fclose(file);
    return err;
}

int peer_step(const struct cps_options *opt)
{
    struct stepper s = {.opt = opt};
    int status = peer_usage(opt, &s.isa, &s.gen);
    if (!status)
        status = peer_scheme(opt, &s.scheme);
    if (!status && (opt->dap || opt->screen))
        status = report_usage("scripts are debugged at the prompt, or with -x FILE");
    if (!status && opt->arg_count != 1)
        status = report_usage("step --engine takes one script");
    if (status)
        return status;
    struct cps_err *err = run(&s);
    trace_names_free(s.names);
    peer_close(&s.peer);
    job_deinit(&s.job);
    cps_buf_deinit(&s.out);
    return err ? report_error(err) : 0;
}
