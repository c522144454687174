/* SPDX-License-Identifier: MIT
 * Results as a table, as JSON, and as pages. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "isa/base/shown.h"
#include "tools/explain/prove/task.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/render/html.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/out/outfile.h"

static const char *text_of(struct json_object *result, const char *key)
{
    return cps_json_get_text(result, key, "");
}

enum verdict prove_verdict(struct json_object *result)
{
    unsigned i = 0;
    while (i < VERDICT_COUNT && strcmp(text_of(result, "verdict"), verdict_name(i)) != 0)
        i++;
    return i;
}

size_t prove_count(const struct prove *prove, enum verdict verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < prove->tasks; i++)
        count += prove_verdict(prove->task[i].result) == verdict;
    return count;
}

/* ---- JSON ---- */

/* Constants that are the same address, and private registers that have other numbers. */
static void put_partners(const struct prove *prove, struct json_object *root)
{
    struct json_object *addresses = cps_json_new_array(root, "addresses");
    struct json_object *registers = cps_json_new_array(root, "private_registers");
    for (unsigned part = 0; part < prove->parts; part++) {
        const struct code *code = &prove->part[part].code;
        const char *role = cps_fw_role_name(code->side[0].part->role);
        for (size_t i = 0; i < code->moved_count; i++) {
            const struct moved *moved = &code->moved[i];
            doc_row(addresses, "processor=%s old=%u new=%u old_value=%u new_value=%u", role,
                    moved->at[0], moved->at[1], moved->value[0], moved->value[1]);
        }
        for (uint32_t new = 0; new < CONTROL_COUNT; new ++) {
            if (code->scratch[new] != new && code->voted[new])
                doc_row(registers, "processor=%s old=%u new=%u", role, code->scratch[new], new);
        }
    }
}

static struct json_object *contradiction_of(struct json_object *result)
{
    return cps_json_get(cps_json_get(result, "cross_check"), "contradiction");
}

size_t prove_contradictions(const struct prove *prove)
{
    size_t count = 0;
    for (size_t i = 0; i < prove->tasks; i++)
        count += contradiction_of(prove->task[i].result) != NULL;
    return count;
}

/* Of all handlers. */
struct checked {
    uint64_t runs, reached;
    size_t handlers, not_reached;
};

static struct checked count_checked(const struct prove *prove)
{
    struct checked all = {0};
    for (size_t i = 0; i < prove->tasks; i++) {
        struct json_object *check = cps_json_get(prove->task[i].result, "cross_check");
        if (!check)
            continue;
        uint64_t reached = (uint64_t)cps_json_get_int(check, "reached", 0);
        all.runs += (uint64_t)cps_json_get_int(check, "runs", 0);
        all.reached += reached;
        all.handlers++;
        all.not_reached += !reached;
    }
    return all;
}

struct json_object *prove_results(const struct prove *prove)
{
    struct json_object *root = doc_new();
    struct checked all = count_checked(prove);
    doc_put(root, "format=%s old=%s new=%s", "cpscope-prove 1", prove->stage.fw[0]->name,
            prove->stage.fw[1]->name);
    struct json_object *counts = cps_json_new_object(root, "counts");
    for (unsigned i = 0; i < VERDICT_COUNT; i++)
        cps_json_uint(counts, verdict_name(i), prove_count(prove, i));
    if (prove->interrupted)
        cps_json_bool(root, "interrupted", true);
    doc_put(cps_json_new_object(root, "cross_check"),
            "handlers=%zu runs=%" PRIu64 " reached=%" PRIu64 " not_reached=%zu contradictions=%zu",
            all.handlers, all.runs, all.reached, all.not_reached, prove_contradictions(prove));
    struct json_object *list = cps_json_new_array(root, "invariants");
    uint32_t gen = cps_gen_bit(prove->stage.fw[0]->gen);
#define INVARIANT(gens, reg, mask, most, text, evidence) \
    if ((gens)&gen)                                      \
        cps_json_append(list, json_object_new_string(text));
#include "tools/explain/prove/invariant.def"
    put_partners(prove, root);
    list = cps_json_new_array(root, "handlers");
    for (size_t i = 0; i < prove->tasks; i++) {
        if (prove->task[i].result)
            cps_json_append(list, json_object_get(prove->task[i].result));
    }
    return root;
}

/* ---- Text ---- */

/* "CP_NOP", "CP_DRAW_INDX and 1 more", or "error_handler of 52 packets". */
static void put_packets(struct json_object *result, struct cps_buf *out)
{
    struct json_object *packets = cps_json_get(result, "packets");
    size_t count = cps_json_count(packets);
    if (*text_of(result, "name")) {
        cps_buf_printf(out, "%s of %zu packets", text_of(result, "name"), count);
        return;
    }
    struct json_object *first = count ? json_object_array_get_idx(packets, 0) : NULL;
    cps_buf_str(out, first ? json_object_get_string(first) : "?");
    if (count > 1)
        cps_buf_printf(out, " and %zu more", count - 1);
}

#define MOST_SHOWN 8u

/* The first items of an array, as it is shown. @return whether there are more */
static bool put_first(struct json_object *to, const char *key, struct json_object *from)
{
    struct json_object *list = cps_json_new_array(to, key);
    for (size_t i = 0; i < cps_json_count(from) && i < MOST_SHOWN; i++)
        cps_json_append(list, json_object_get(json_object_array_get_idx(from, i)));
    return cps_json_count(from) > MOST_SHOWN;
}

/* A handler for people: what a stream shows, or else what the difference depends on: control
 * registers that must read as they do not here, and handlers that may read what is left; runs that
 * tested the verdict, and the one that contradicts it. */
static const char row_layout[] =
    "{result>{processor}:{.title}: {verdict}{bound? of {bound} turns}{handler?, {handler}}"
    "{why?: {why}}\n{.different?"
    "{witness>    shown from {place} with{.words* 0x{.:x}}{.more_words? ...}"
    "{.words! no payload}{inject?, --inject {inject}}\n"
    "    {event}{control_registers_only? (only control registers differ)}\n}"
    "{witness!    unconfirmed: {reached?no stream that was run shows it}{reached!{not_reached}}\n"
    "{.controls?    it differs where control registers read"
    "{.controls/,/ 0x{number:03x} = 0x{value:x}}{.more_controls?, ...}\n}"
    "{.readers?    may be read by{.readers/,/ {.}}{.more_readers? and {.more_readers} more}}"
    "{.has_readers?\n}}}"
    "{cross_check>    cross-check: {runs} runs, {.reached?{reached} reached the handler}"
    "{.reached!not reached}\n"
    "{contradiction>    contradicted by run {run}: {event}\n}}}";

static void put_row(struct json_object *result, bool all, struct cps_buf *out)
{
    enum verdict verdict = prove_verdict(result);
    struct json_object *state = cps_json_get(result, "state");
    struct json_object *values = cps_json_get(state, "control_reads");
    struct json_object *numbers = cps_json_get(state, "control_numbers");
    struct json_object *readers = cps_json_get(result, "read_by");
    struct json_object *words = cps_json_get(cps_json_get(result, "witness"), "packet_words");
    CPS_BUF title = {0};
    if (verdict <= VERDICT_EQUAL && !all && !contradiction_of(result))
        return;
    put_packets(result, &title);
    struct json_object *row = doc_new();
    doc_put(row, ".title=%p .different?=%d .has_readers?=%d .reached?=%d", &title,
            verdict == VERDICT_DIFFERENT, readers != NULL,
            cps_json_get_int(cps_json_get(result, "cross_check"), "reached", 0) != 0);
    cps_json_bool(row, ".more_words", put_first(row, ".words", words));
    if (put_first(row, ".readers", readers))
        doc_put(row, ".more_readers=%zu", cps_json_count(readers) - MOST_SHOWN);
    struct json_object *controls = cps_json_new_array(row, ".controls");
    for (size_t i = 0; i < cps_json_count(numbers) && i < MOST_SHOWN; i++)
        doc_row(controls, "number=%u value=%u",
                (unsigned)json_object_get_int64(json_object_array_get_idx(numbers, i)),
                (unsigned)json_object_get_int64(json_object_array_get_idx(values, i)));
    cps_json_bool(row, ".more_controls", cps_json_count(numbers) > MOST_SHOWN);
    cps_json_add(row, "result", json_object_get(result));
    doc_text(row, row_layout, out);
    json_object_put(row);
}

void prove_table(const struct prove *prove, bool all, struct cps_buf *out)
{
    for (size_t i = 0; i < prove->tasks; i++) {
        if (prove->task[i].result)
            put_row(prove->task[i].result, all, out);
    }
    cps_buf_printf(out, "%zu handlers:", prove->tasks);
    for (unsigned i = 0; i < VERDICT_COUNT; i++)
        cps_buf_printf(out, "%s %zu %s", i ? "," : "", prove_count(prove, i), verdict_name(i));
    struct checked checked = count_checked(prove);
    if (checked.handlers)
        cps_buf_printf(out, "; cross-check: %" PRIu64 " runs, %zu handlers not reached",
                       checked.runs, checked.not_reached);
    if (prove_contradictions(prove))
        cps_buf_printf(out, ", %zu CONTRADICTED", prove_contradictions(prove));
    cps_buf_str(out, prove->interrupted ? "; interrupted, run again to continue\n" : "\n");
}

/* ---- Pages and files ---- */

/* A name for files: processor and packet, of the table's own letters. */
void prove_file_name(struct json_object *result, struct cps_buf *out)
{
    struct json_object *packets = cps_json_get(result, "packets");
    const char *name = text_of(result, "name");
    if (!*name && cps_json_count(packets))
        name = json_object_get_string(json_object_array_get_idx(packets, 0));
    cps_buf_printf(out, "%s-", text_of(result, "processor"));
    for (; *name; name++) {
        bool plain = strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
                            *name) != NULL;
        cps_buf_printf(out, "%c", plain ? *name : '_');
    }
}

static struct cps_err *write_file(const char *dir, const char *name, const char *end,
                                  const struct cps_buf *text)
{
    char path[4096];
    if (snprintf(path, sizeof(path), "%s/%s%s", dir, name, end) >= (int)sizeof(path))
        return cps_err_new(CPS_ERR_INPUT, "%s: the path is too long", dir);
    return cps_outfile_whole(path, tool_text(text), text->size);
}

static const char *cell_class(struct json_object *result)
{
    enum verdict verdict = prove_verdict(result);
    return verdict <= VERDICT_EQUAL ? "pass" : verdict == VERDICT_DIFFERENT ? "differs" : "stopped";
}

static void put_code(const struct prove *prove, unsigned side, struct json_object *result,
                     const struct prove_part *part, struct cps_buf *out)
{
    const struct code_side *code = &part->code.side[side];
    const char *key = side ? "new" : "old";
    uint32_t first = (uint32_t)cps_json_get_int(result, key, 0);
    CPS_BUF text = {0};
    for (uint32_t at = first; at < code->count && at < first + 64; at++) {
        struct cps_insn insn;
        const struct cps_print_names names = {.names = prove->stage.names[CPS_CPU_SQE]};
        cps_decode(&cps_isa_afuc, code->fw->gen, code->fw->words[code->part->start + at], &insn);
        bool changed =
            side ? code->partner[at] == CPS_FW_ALONE || !part->code.same[code->partner[at]]
                 : !part->code.same[at];
        cps_buf_printf(&text, "%c %04" PRIx32 "  ", changed ? side ? '+' : '-' : ' ', at);
        cps_print(&cps_isa_afuc, &insn, at, &names, &text);
        cps_buf_str(&text, "\n");
    }
    html_wrap(out, "<h3>Code of the ", side ? "new" : "old",
              " revision, from where it begins</h3>\n");
    html_pre(out, tool_text(&text));
}

/* A stream on a page and in a file of its own. @p from  its `text` */
static struct cps_err *put_stream(const char *title, struct json_object *from, const char *dir,
                                  const char *name, const char *end, struct cps_buf *out)
{
    CPS_BUF text = {0};
    html_wrap(out, "<h2>", title, "</h2>\n");
    html_pre(out, text_of(from, "text"));
    cps_buf_str(&text, text_of(from, "text"));
    return write_file(dir, name, end, &text);
}

static struct cps_err *write_page(const struct prove *prove, const struct prove_task *task,
                                  const char *dir)
{
    struct json_object *result = task->result;
    struct json_object *witness = cps_json_get(result, "witness");
    struct json_object *found = contradiction_of(result);
    struct json_object *state = cps_json_get(result, "state");
    CPS_BUF name = {0};
    CPS_BUF out = {0};
    CPS_BUF row = {0};
    prove_file_name(result, &name);
    html_head(&out, tool_text(&name));
    html_wrap(&out, "<main>\n<h1>", tool_text(&name), "</h1>\n");
    put_row(result, true, &row);
    html_pre(&out, tool_text(&row));
    if (witness)
        CPS_TRY(put_stream("The stream that shows it", witness, dir, name.data, ".pm4", &out));
    if (found && cps_json_get(found, "text")) {
        CPS_TRY(put_stream("The stream of the run that contradicts the verdict", found, dir,
                           name.data, ".cross-check.pm4", &out));
        cps_buf_str(&out, "<h2>That run's random state</h2>\n");
        html_pre(&out, cps_json_print(found, JSON_C_TO_STRING_PRETTY));
    }
    if (state) {
        cps_buf_str(&out, "<h2>The state that the solver found</h2>\n");
        html_pre(&out, cps_json_print(state, JSON_C_TO_STRING_PRETTY));
    }
    for (unsigned i = 0; i < 2; i++)
        put_code(prove, i, result, &prove->part[task->part], &out);
    cps_buf_str(&out, "</main></body></html>\n");
    return write_file(dir, name.data, ".html", &out);
}

static bool has_page(struct json_object *result)
{
    return contradiction_of(result) || (result && prove_verdict(result) > VERDICT_EQUAL);
}

static const char index_layout[] =
    "<main>\n<h1>cpscope prove</h1>\n<p>{old} and {new}</p>\n"
    "{interrupted?<p class=\"note\">Interrupted: handlers are missing.</p>\n}"
    "<table><tr><th>processor</th><th>packet</th><th>verdict</th><th>why</th>"
    "<th>what a stream shows</th></tr>\n"
    "{handlers*<tr><th>{processor}</th><td>{packets}</td><td class=\"{class}\">"
    "{page?<a href=\"{page}.html\">{verdict}</a>}{page!{verdict}}</td><td>{why}</td>"
    "<td>{event}</td></tr>\n}</table>\n</main>";

static void put_index(const struct prove *prove, struct cps_buf *out)
{
    struct json_object *root = doc_new();
    struct json_object *list = cps_json_new_array(root, "handlers");
    doc_put(root, "old=%s new=%s interrupted?=%d", prove->stage.fw[0]->name,
            prove->stage.fw[1]->name, prove->interrupted);
    for (size_t i = 0; i < prove->tasks; i++) {
        struct json_object *result = prove->task[i].result;
        CPS_BUF page = {0};
        CPS_BUF packets = {0};
        if (!result)
            continue;
        prove_file_name(result, &page);
        put_packets(result, &packets);
        doc_row(list, "processor=%s packets=%p page=%s class=%s verdict=%s why=%s event=%s",
                text_of(result, "processor"), &packets, has_page(result) ? tool_text(&page) : NULL,
                cell_class(result), text_of(result, "verdict"), text_of(result, "why"),
                text_of(cps_json_get(result, "witness"), "event"));
    }
    doc_page(root, "cpscope prove", index_layout, out);
    json_object_put(root);
}

struct cps_err *prove_write(const struct prove *prove, const char *dir)
{
    CPS_BUF page = {0};
    CPS_BUF json = {0};
    if (mkdir(dir, 0777) && errno != EEXIST)
        return cps_err_os(dir, "create");
    for (size_t i = 0; i < prove->tasks; i++) {
        if (has_page(prove->task[i].result))
            CPS_TRY(write_page(prove, &prove->task[i], dir));
    }
    struct json_object *root = prove_results(prove);
    cps_json_put(&json, root, JSON_C_TO_STRING_PRETTY);
    cps_buf_str(&json, "\n");
    json_object_put(root);
    put_index(prove, &page);
    CPS_TRY(write_file(dir, "index", ".html", &page));
    return write_file(dir, "results", ".json", &json);
}
