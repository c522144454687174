/* SPDX-License-Identifier: MIT
 * Results as a table, as JSON, and as pages. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "isa/base/shown.h"
#include "tools/explain/prove/task.h"
#include "tools/cmd/render/html.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/out/outfile.h"

static const char *text_of(struct json_object *result, const char *key)
{
    return cps_json_get_text(result, key, "");
}

static bool has_verdict(const struct prove_task *task, enum verdict verdict)
{
    return task->result && !strcmp(text_of(task->result, "verdict"), verdict_name(verdict));
}

size_t prove_count(const struct prove *prove, enum verdict verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < prove->tasks; i++)
        count += has_verdict(&prove->task[i], verdict);
    return count;
}

/* ---- JSON ---- */

static void put_moved(const struct prove *prove, struct json_object *root)
{
    struct json_object *list = cps_json_new_array(root, "addresses");
    for (unsigned part = 0; part < prove->parts; part++) {
        const struct code *code = &prove->part[part].code;
        for (size_t i = 0; i < code->moved_count; i++) {
            struct json_object *row = json_object_new_object();
            cps_json_text(row, "processor", cps_fw_role_name(code->side[0].part->role));
            cps_json_uint(row, "old", code->moved[i].at[0]);
            cps_json_uint(row, "new", code->moved[i].at[1]);
            cps_json_uint(row, "old_value", code->moved[i].value[0]);
            cps_json_uint(row, "new_value", code->moved[i].value[1]);
            cps_json_append(list, row);
        }
    }
}

static void put_scratch(const struct prove *prove, struct json_object *root)
{
    struct json_object *list = cps_json_new_array(root, "private_registers");
    for (unsigned part = 0; part < prove->parts; part++) {
        const struct code *code = &prove->part[part].code;
        for (uint32_t new = 0; new < CONTROL_COUNT; new ++) {
            if (code->scratch[new] == new || !code->voted[new])
                continue;
            struct json_object *row = json_object_new_object();
            cps_json_text(row, "processor", cps_fw_role_name(code->side[0].part->role));
            cps_json_uint(row, "old", code->scratch[new]);
            cps_json_uint(row, "new", new);
            cps_json_append(list, row);
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

static void put_invariants(const struct prove *prove, struct json_object *root)
{
    struct json_object *list = cps_json_new_array(root, "invariants");
    uint32_t gen = cps_gen_bit(prove->stage.fw[0]->gen);
#define INVARIANT(gens, reg, mask, most, text, evidence) \
    if ((gens)&gen)                                      \
        cps_json_append(list, json_object_new_string(text));
#include "tools/explain/prove/invariant.def"
}

struct json_object *prove_results(const struct prove *prove)
{
    struct json_object *root = json_object_new_object();
    cps_json_text(root, "format", "cpscope-prove 1");
    cps_json_text(root, "old", prove->stage.fw[0]->name);
    cps_json_text(root, "new", prove->stage.fw[1]->name);
    struct json_object *counts = cps_json_new_object(root, "counts");
    for (unsigned i = 0; i < VERDICT_COUNT; i++)
        cps_json_uint(counts, verdict_name((enum verdict)i), prove_count(prove, (enum verdict)i));
    if (prove->interrupted)
        cps_json_bool(root, "interrupted", true);
    struct checked all = count_checked(prove);
    struct json_object *check = cps_json_new_object(root, "cross_check");
    cps_json_uint(check, "handlers", all.handlers);
    cps_json_uint(check, "runs", all.runs);
    cps_json_uint(check, "reached", all.reached);
    cps_json_uint(check, "not_reached", all.not_reached);
    cps_json_uint(check, "contradictions", prove_contradictions(prove));
    put_invariants(prove, root);
    put_moved(prove, root);
    put_scratch(prove, root);
    struct json_object *list = cps_json_new_array(root, "handlers");
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

static int64_t number_at(struct json_object *array, size_t index)
{
    return json_object_get_int64(json_object_array_get_idx(array, index));
}

/* What the difference hangs on: control registers that must read as they do not here, and handlers
 * that may read what is left. */
static void put_needs(struct json_object *result, struct cps_buf *out)
{
    struct json_object *state = cps_json_get(result, "state");
    struct json_object *values = cps_json_get(state, "control_reads");
    struct json_object *numbers = cps_json_get(state, "control_numbers");
    struct json_object *readers = cps_json_get(result, "read_by");
    size_t count = cps_json_count(numbers);
    for (size_t i = 0; i < count && i < MOST_SHOWN && i < cps_json_count(values); i++)
        cps_buf_printf(out, "%s 0x%03" PRIx64 " = 0x%" PRIx64,
                       i ? "," : "    it differs where control registers read",
                       number_at(numbers, i), number_at(values, i));
    cps_buf_str(out, count > MOST_SHOWN ? ", ...\n" : count ? "\n" : "");
    for (size_t i = 0; i < cps_json_count(readers) && i < MOST_SHOWN; i++)
        cps_buf_printf(out, "%s %s", i ? "," : "    may be read by",
                       json_object_get_string(json_object_array_get_idx(readers, i)));
    if (cps_json_count(readers) > MOST_SHOWN)
        cps_buf_printf(out, " and %zu more", cps_json_count(readers) - MOST_SHOWN);
    cps_buf_str(out, readers ? "\n" : "");
}

static void put_witness(struct json_object *result, struct cps_buf *out)
{
    struct json_object *witness = cps_json_get(result, "witness");
    if (!witness) {
        cps_buf_printf(out, "    unconfirmed: %s\n",
                       cps_json_get_bool(result, "reached", false)
                           ? "no stream that was run shows it"
                           : text_of(result, "not_reached"));
        put_needs(result, out);
        return;
    }
    struct json_object *words = cps_json_get(witness, "packet_words");
    cps_buf_printf(out, "    shown from %s with", text_of(witness, "place"));
    for (size_t i = 0; i < cps_json_count(words) && i < 8; i++)
        cps_buf_printf(out, " 0x%" PRIx64,
                       json_object_get_int64(json_object_array_get_idx(words, i)));
    cps_buf_str(out, cps_json_count(words) > 8   ? " ..."
                     : cps_json_count(words) > 0 ? ""
                                                 : " no payload");
    if (cps_json_get(witness, "inject"))
        cps_buf_printf(out, ", --inject %s", text_of(witness, "inject"));
    cps_buf_str(out, "\n");
    cps_buf_printf(out, "    %s%s\n", text_of(witness, "event"),
                   cps_json_get_bool(witness, "control_registers_only", false)
                       ? " (only control registers differ)"
                       : "");
}

/* Runs that tried the verdict, and the one that contradicts it. */
static void put_check(struct json_object *result, struct cps_buf *out)
{
    struct json_object *check = cps_json_get(result, "cross_check");
    struct json_object *found = cps_json_get(check, "contradiction");
    if (!check)
        return;
    cps_buf_printf(out, "    cross-check: %" PRId64 " runs, ", cps_json_get_int(check, "runs", 0));
    if (cps_json_get_int(check, "reached", 0))
        cps_buf_printf(out, "%" PRId64 " reached the handler\n",
                       cps_json_get_int(check, "reached", 0));
    else
        cps_buf_str(out, "not reached\n");
    if (found)
        cps_buf_printf(out, "    contradicted by run %" PRId64 ": %s\n",
                       cps_json_get_int(found, "run", 0), text_of(found, "event"));
}

static void put_row(struct json_object *result, bool all, struct cps_buf *out)
{
    const char *verdict = text_of(result, "verdict");
    bool equal = !strcmp(verdict, verdict_name(VERDICT_SAME_CODE)) ||
                 !strcmp(verdict, verdict_name(VERDICT_EQUAL));
    if (equal && !all && !contradiction_of(result))
        return;
    cps_buf_printf(out, "%s:", text_of(result, "processor"));
    put_packets(result, out);
    cps_buf_printf(out, ": %s", verdict);
    if (cps_json_get(result, "bound"))
        cps_buf_printf(out, " of %" PRId64 " turns", cps_json_get_int(result, "bound", 0));
    if (*text_of(result, "handler"))
        cps_buf_printf(out, ", %s", text_of(result, "handler"));
    if (*text_of(result, "why"))
        cps_buf_printf(out, ": %s", text_of(result, "why"));
    cps_buf_str(out, "\n");
    if (!strcmp(verdict, verdict_name(VERDICT_DIFFERENT)))
        put_witness(result, out);
    put_check(result, out);
}

void prove_table(const struct prove *prove, bool all, struct cps_buf *out)
{
    for (size_t i = 0; i < prove->tasks; i++) {
        if (prove->task[i].result)
            put_row(prove->task[i].result, all, out);
    }
    cps_buf_printf(out, "%zu handlers:", prove->tasks);
    for (unsigned i = 0; i < VERDICT_COUNT; i++)
        cps_buf_printf(out, "%s %zu %s", i ? "," : "", prove_count(prove, (enum verdict)i),
                       verdict_name((enum verdict)i));
    struct checked checked = count_checked(prove);
    if (checked.handlers)
        cps_buf_printf(out, "; cross-check: %" PRIu64 " runs, %zu handlers not reached",
                       checked.runs, checked.not_reached);
    if (prove_contradictions(prove))
        cps_buf_printf(out, ", %zu CONTRADICTED", prove_contradictions(prove));
    cps_buf_str(out, prove->interrupted ? "; interrupted, run again to go on\n" : "\n");
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

static const char *cell_class(const char *verdict)
{
    if (!strcmp(verdict, verdict_name(VERDICT_DIFFERENT)))
        return "differs";
    return !strcmp(verdict, verdict_name(VERDICT_UNDECIDED)) ||
                   !strcmp(verdict, verdict_name(VERDICT_WAITS)) ||
                   !strcmp(verdict, verdict_name(VERDICT_BOUNDED))
               ? "stopped"
               : "pass";
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
    return contradiction_of(result) ||
           (result && strcmp(cell_class(text_of(result, "verdict")), "pass") != 0);
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
    struct json_object *root = tool_json(json_object_new_object());
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
                cell_class(text_of(result, "verdict")), text_of(result, "verdict"),
                text_of(result, "why"), text_of(cps_json_get(result, "witness"), "event"));
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
