/* SPDX-License-Identifier: MIT
 * The debug adapter: code that no file is the source of, as a source of its own. Each processor has
 * a listing, whose reference is its thread's number: an instruction a line, so that a line of a
 * regular instruction set is a dword of the image. */
#include <inttypes.h>
#include <string.h>

#include "tools/face/dap/dap_private.h"
#include "tools/face/debugger/look.h"
#include "trace/out/json.h"

/* The instruction behind @p pc. */
static uint32_t behind(const struct dap *d, unsigned core, uint32_t pc)
{
    return pc + session_length(&d->debugger->session, core, pc);
}

static bool is_regular(const struct dap *d)
{
    return cps_isa_is_regular(session_engine(&d->debugger->session)->ops->isa);
}

/* The line of the instruction at @p pc, or that it is a part of, from 1. */
static int64_t line_of(const struct dap *d, unsigned core, uint32_t pc)
{
    int64_t line = 1;
    uint32_t at = 0;
    if (is_regular(d))
        return (int64_t)pc + 1;
    for (; dap_has_code(d, core, at) && behind(d, core, at) <= pc; line++)
        at = behind(d, core, at);
    return line;
}

struct cps_err *dap_listing_pc(const struct dap *d, unsigned core, int64_t line, uint32_t *ret)
{
    uint32_t at = is_regular(d) && line > 0 ? (uint32_t)line - 1 : 0;
    for (int64_t i = 1; !is_regular(d) && i < line && dap_has_code(d, core, at); i++)
        at = behind(d, core, at);
    if (line < 1 || !dap_has_code(d, core, at))
        return cps_err_new(CPS_ERR_INPUT, "line %" PRId64 ": %s has no code there", line,
                           session_core_name(&d->debugger->session, core));
    *ret = at;
    return NULL;
}

static struct json_object *describe(const struct dap *d, unsigned core)
{
    struct json_object *source = json_object_new_object();
    CPS_BUF name = {0};
    cps_buf_printf(&name, "%s.asm", session_core_name(&d->debugger->session, core));
    cps_json_buf(source, "name", &name);
    cps_json_int(source, "sourceReference", (int64_t)core + 1);
    cps_json_text(source, "origin", "listing");
    return source;
}

void dap_put_listing(const struct dap *d, unsigned core, uint32_t pc, struct json_object *to)
{
    if (!dap_has_code(d, core, pc))
        return;
    cps_json_add(to, "source", describe(d, core));
    cps_json_int(to, "line", line_of(d, core, pc) - d->lines_from_0);
}

static bool is_empty(struct json_object *source, const char *key)
{
    const char *text = cps_json_get_text(source, key, NULL);
    return !text || !*text;
}

struct cps_err *dap_find_listing(const struct dap *d, struct json_object *arguments,
                                 struct dap_listing *ret)
{
    struct json_object *source = cps_json_get(arguments, "source");
    unsigned cores = session_engine(&d->debugger->session)->cores;
    int64_t number = dap_number(source, "sourceReference", 0);
    number = number ? number : dap_number(arguments, "sourceReference", 0);
    *ret = (struct dap_listing){number != 0, (unsigned)(number - 1)};
    if (number < 0 || number > cores)
        return cps_err_new(CPS_ERR_INPUT, "sourceReference %" PRId64 ": expected 1 to %u", number,
                           cores);
    if (!number && is_empty(source, "path") && is_empty(source, "name"))
        *ret = (struct dap_listing){true, d->shown_core};
    return NULL;
}

/* Names are out of the firmware, and may hold anything; a line is a line. */
static void put_label(const struct session *s, unsigned core, uint32_t pc, struct cps_buf *out)
{
    CPS_BUF name = {0};
    session_place(s, core, pc, &name);
    if (!name.size || strchr(cps_buf_text(&name), '+'))
        cps_buf_clear(&name);
    for (size_t i = 0; i < name.size; i++)
        name.data[i] = (unsigned char)name.data[i] < ' ' ? '?' : name.data[i];
    if (name.size)
        cps_buf_str(&name, ":");
    out->failed = out->failed || name.failed;
    cps_buf_printf(out, "%-28s ", cps_buf_text(&name));
}

static void put_line(struct dap *d, unsigned core, uint32_t pc, struct cps_buf *out)
{
    struct session *s = &d->debugger->session;
    put_label(s, core, pc, out);
    cps_buf_printf(out, "%04" PRIx32 " ", pc);
    dap_put_bytes(d, core, pc, out);
    cps_buf_str(out, "  ");
    look_insn(s, core, pc, out);
    cps_buf_str(out, "\n");
}

struct cps_err *dap_source(struct dap *d, struct json_object *arguments, struct json_object *body)
{
    struct dap_listing found;
    CPS_BUF text = {0};
    CPS_TRY(dap_find_listing(d, arguments, &found));
    if (!found.is)
        return cps_err_new(CPS_ERR_INPUT, "source: expected \"sourceReference\"; open files by "
                                          "their path");
    for (uint32_t pc = 0; dap_has_code(d, found.core, pc); pc = behind(d, found.core, pc))
        put_line(d, found.core, pc, &text);
    cps_json_buf(body, "content", &text);
    cps_json_text(body, "mimeType", "text/x-asm");
    return NULL;
}

struct cps_err *dap_loaded_sources(struct dap *d, struct json_object *arguments,
                                   struct json_object *body)
{
    struct json_object *list = json_object_new_array();
    (void)arguments;
    for (unsigned i = 0; i < session_engine(&d->debugger->session)->cores; i++) {
        if (dap_has_code(d, i, 0))
            cps_json_append(list, describe(d, i));
    }
    cps_json_add(body, "sources", list);
    return NULL;
}
