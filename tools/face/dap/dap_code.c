/* SPDX-License-Identifier: MIT
 * The debug adapter: memory and code. Code has the addresses where its image lies in GPU memory.
 * Code that no file is the source of is a source of its own: each processor has a listing, whose
 * reference is its thread's number, an instruction a line, so that a line of a regular instruction
 * set is a dword of the image. */
#include <errno.h>
#include <inttypes.h>
#include <nettle/base64.h>
#include <stdlib.h>
#include <string.h>

#include "tools/face/dap/dap_private.h"
#include "tools/cmd/render/doc.h"

#define FAR (INT64_C(1) << 62)

#define MAX_READ ((int64_t)1 << 20)
#define MAX_CODE 65536

static unsigned unit_of(const struct dap *d)
{
    return cps_isa_unit(session_engine(d->session)->ops->isa);
}

static bool has_code(const struct dap *d, unsigned core, int64_t pc)
{
    return pc >= 0 && session_has_code(d->session, core, (uint64_t)pc);
}

/* ---- addresses ---- */

uint64_t dap_code_address(const struct dap *d, unsigned core, int64_t pc)
{
    const struct cps_afuc *afuc = session_afuc(d->session);
    uint64_t base = afuc ? cps_afuc_image_iova(afuc, core) : (uint64_t)core << 32;
    return base + unit_of(d) * (uint64_t)pc;
}

bool dap_find_code(const struct dap *d, uint64_t address, unsigned *core, int64_t *pc)
{
    if (session_afuc(d->session)) {
        /* Images of one file overlap: the last that begins before the address. */
        const struct cps_afuc *afuc = session_afuc(d->session);
        uint64_t nearest = UINT64_MAX;
        for (unsigned i = 0; i < session_engine(d->session)->cores; i++) {
            uint64_t size = 4 * (uint64_t)cps_afuc_image_size(afuc, i);
            uint64_t distance = address - cps_afuc_image_iova(afuc, i);
            if (distance >= size || distance >= nearest)
                continue;
            nearest = distance;
            *core = i;
            *pc = (int64_t)(distance / 4);
        }
        return nearest != UINT64_MAX;
    }
    *core = (unsigned)(address >> 32);
    *pc = (int64_t)(address & 0xffffffff) / unit_of(d);
    return *core < session_engine(d->session)->cores && has_code(d, *core, *pc);
}

struct cps_err *dap_reference(struct json_object *arguments, const char *key, uint64_t *ret)
{
    const char *text = cps_json_get_text(arguments, key, "");
    char *end = NULL;
    uint64_t address = strtoull(text, &end, 0);
    if (end == text || *end)
        return cps_err_new(CPS_ERR_INPUT, "%s: expected \"0x...\"", key);
    *ret = address + (uint64_t)cps_json_get_int(arguments, "offset", 0);
    return NULL;
}

/* ---- memory ---- */

/* Bytes of base64, also without the "=" at its end; -1: it is none. */
static int64_t get_base64(const char *text, uint8_t *to)
{
    struct base64_decode_ctx context;
    size_t length = strcspn(text, "= \t\r\n");
    size_t size = BASE64_DECODE_LENGTH(length);
    base64_decode_init(&context);
    bool good = !text[length + strspn(text + length, "=")] &&
                base64_decode_update(&context, &size, to, length, text);
    return good ? (int64_t)size : -1;
}

/* Up to the first dword that was never stored. */
struct cps_err *dap_read_memory(struct dap *d)
{
    uint64_t at = 0;
    int64_t got = 0;
    int64_t count = dap_number(d->in, "count", 0);
    CPS_TRY(dap_reference(d->in, "memoryReference", &at));
    if (count < 0 || count > MAX_READ)
        return cps_err_new(CPS_ERR_INPUT, "count %" PRId64 ": expected at most %" PRId64, count,
                           MAX_READ);
    CPS_FREE uint8_t *bytes = tool_alloc((size_t)count, 1);
    for (; got < count; got++) {
        const struct cps_location place = {0, expr_memory(d->session), at + (uint64_t)got};
        uint64_t word = 0;
        if (!cps_engine_get(session_engine(d->session), place, &word))
            break;
        bytes[got] = (uint8_t)(word >> 8 * (place.number % 4));
    }
    CPS_FREE char *text = tool_alloc(BASE64_ENCODE_RAW_LENGTH((size_t)got) + 1, 1);
    base64_encode_raw(text, (size_t)got, bytes);
    doc_put(d->out, "address=%" PRIx64 " data=%s unreadableBytes=%" PRId64, at, text, count - got);
    return NULL;
}

/* A dword at a time, so that going back and forward again writes them again. */
static struct cps_err *write_bytes(struct session *s, uint64_t at, const uint8_t *bytes,
                                   int64_t size)
{
    for (int64_t i = 0; i < size;) {
        uint64_t dword = (at + (uint64_t)i) & ~UINT64_C(3);
        char file = expr_memory(s);
        uint32_t value = (uint32_t)session_value(s, 0, file, dword);
        for (; i < size && ((at + (uint64_t)i) & ~UINT64_C(3)) == dword; i++) {
            unsigned shift = 8 * (unsigned)((at + (uint64_t)i) % 4);
            value = (value & ~(0xffu << shift)) | (uint32_t)bytes[i] << shift;
        }
        const struct cps_edit edit = {
            .what = CPS_EDIT_PLACE, .place = {0, file, dword}, .value = value};
        CPS_TRY(cps_debug_edit(s->debug, &edit));
    }
    return NULL;
}

struct cps_err *dap_write_memory(struct dap *d)
{
    uint64_t at = 0;
    const char *text = dap_text(d, "data");
    CPS_TRY(dap_reference(d->in, "memoryReference", &at));
    CPS_FREE uint8_t *bytes = tool_alloc(text ? strlen(text) : 0, 1);
    int64_t size = text ? get_base64(text, bytes) : -1;
    if (size < 0 || size > MAX_READ)
        return cps_err_new(CPS_ERR_INPUT, "data: expected base64 of at most 1 MiB");
    CPS_TRY(write_bytes(d->session, at, bytes, size));
    cps_json_int(d->out, "bytesWritten", size);
    return NULL;
}

/* ---- listings ---- */

/* Lines of a listing are from 1. Where instructions have several lengths they are counted from the
 * beginning of the code; where there is no code, each unit is a line. */
static int64_t line_of(const struct dap *d, unsigned core, int64_t pc)
{
    int64_t at = 0;
    int64_t line = 1;
    if (cps_isa_is_regular(session_engine(d->session)->ops->isa))
        return pc + 1;
    for (; at < pc && has_code(d, core, at); line++) {
        int64_t next = at + session_length(d->session, core, (uint32_t)at);
        if (next > pc) /* a part of this one */
            return line;
        at = next;
    }
    return line + pc - at;
}

static int64_t pc_of(const struct dap *d, unsigned core, int64_t line)
{
    int64_t at = 0;
    if (cps_isa_is_regular(session_engine(d->session)->ops->isa))
        return line - 1;
    for (; line > 1 && has_code(d, core, at); line--)
        at += session_length(d->session, core, (uint32_t)at);
    return at + line - 1;
}

struct cps_err *dap_listing_pc(const struct dap *d, unsigned core, int64_t line, uint32_t *ret)
{
    int64_t at = pc_of(d, core, line);
    if (line < 1 || !has_code(d, core, at))
        return cps_err_new(CPS_ERR_INPUT, "line %" PRId64 ": %s has no code there", line,
                           session_core_name(d->session, core));
    *ret = (uint32_t)at;
    return NULL;
}

static void describe_listing(const struct dap *d, unsigned core, struct json_object *to)
{
    CPS_BUF name = {0};
    cps_buf_printf(&name, "%s.asm", session_core_name(d->session, core));
    doc_put(to, "name=%p sourceReference=%u origin=listing", &name, core + 1);
}

void dap_put_listing(const struct dap *d, unsigned core, uint32_t pc, struct json_object *to)
{
    if (!has_code(d, core, pc))
        return;
    describe_listing(d, core, cps_json_new_object(to, "source"));
    doc_put(to, "line=%" PRId64, line_of(d, core, pc) - d->lines_from_0);
}

void dap_put_source(const struct dap *d, unsigned core, uint32_t pc, struct json_object *to)
{
    const char *file = NULL;
    uint32_t line = 0;
    bool known = look_source(d->session, core, pc, &file, &line);
    CPS_FREE char *path = known ? realpath(file, NULL) : NULL;
    tool_need(path || !known || errno != ENOMEM);
    if (!path) {
        dap_put_listing(d, core, pc, to);
        return;
    }
    const char *slash = strrchr(file, '/');
    doc_put(cps_json_new_object(to, "source"), "name=%s path=%s", slash ? slash + 1 : file, path);
    doc_put(to, "line=%" PRId64, (int64_t)line - d->lines_from_0);
}

struct cps_err *dap_find_listing(const struct dap *d, bool *is, unsigned *core)
{
    struct json_object *source = cps_json_get(d->in, "source");
    unsigned cores = session_engine(d->session)->cores;
    int64_t number = dap_number(source, "sourceReference", 0);
    number = number ? number : dap_number(d->in, "sourceReference", 0);
    if (number < 0 || number > cores)
        return cps_err_new(CPS_ERR_INPUT, "sourceReference %" PRId64 ": expected 1 to %u", number,
                           cores);
    bool is_last =
        !*cps_json_get_text(source, "path", "") && !*cps_json_get_text(source, "name", "");
    *is = number || is_last;
    *core = number ? (unsigned)(number - 1) : d->shown_core;
    return NULL;
}

/* What the place is called, if it is the beginning of something that has a name. */
static void put_symbol(const struct session *s, unsigned core, uint32_t pc, struct cps_buf *out)
{
    session_place(s, core, pc, out);
    if (out->size && strchr(tool_text(out), '+'))
        cps_buf_clear(out);
}

static void put_bytes(const struct dap *d, unsigned core, uint32_t pc, struct cps_buf *out)
{
    for (uint32_t i = 0; i < session_length(d->session, core, pc); i++)
        cps_buf_printf(out, "%0*" PRIx64, (int)(2 * unit_of(d)),
                       session_value(d->session, core, CPS_FILE_CODE, (uint64_t)pc + i));
}

struct cps_err *dap_source(struct dap *d)
{
    bool is = false;
    unsigned core = 0;
    CPS_BUF text = {0};
    CPS_TRY(dap_find_listing(d, &is, &core));
    if (!is)
        return cps_err_new(CPS_ERR_INPUT, "source: expected \"sourceReference\"; open files by "
                                          "their path");
    for (uint32_t pc = 0; has_code(d, core, pc); pc += session_length(d->session, core, pc)) {
        CPS_BUF name = {0};
        put_symbol(d->session, core, pc, &name);
        /* Names are out of the firmware, and may hold anything; a line is a line. */
        for (size_t i = 0; i < name.size; i++)
            name.data[i] = (unsigned char)name.data[i] < ' ' ? '?' : name.data[i];
        cps_buf_str(&name, name.size ? ":" : "");
        cps_buf_printf(&text, "%-28s %04" PRIx32 " ", tool_text(&name), pc);
        put_bytes(d, core, pc, &text);
        cps_buf_str(&text, "  ");
        look_insn(d->session, core, pc, &text);
        cps_buf_str(&text, "\n");
    }
    doc_put(d->out, "content=%p mimeType=text/x-asm", &text);
    return NULL;
}

struct cps_err *dap_loaded_sources(struct dap *d)
{
    struct json_object *list = cps_json_new_array(d->out, "sources");
    for (unsigned i = 0; i < session_engine(d->session)->cores; i++) {
        struct json_object *source = has_code(d, i, 0) ? doc_new() : NULL;
        if (!source)
            continue;
        describe_listing(d, i, source);
        cps_json_append(list, source);
    }
    return NULL;
}

static void add_instruction(const struct dap *d, unsigned core, int64_t pc,
                            struct json_object *list)
{
    struct json_object *row = doc_row(list, "address=%" PRIx64, dap_code_address(d, core, pc));
    if (!has_code(d, core, pc)) {
        doc_put(row, "instruction=%s presentationHint=invalid", "");
        return;
    }
    CPS_BUF text = {0};
    CPS_BUF name = {0};
    CPS_BUF bytes = {0};
    look_insn(d->session, core, (uint32_t)pc, &text);
    put_symbol(d->session, core, (uint32_t)pc, &name);
    put_bytes(d, core, (uint32_t)pc, &bytes);
    doc_put(row, "instructionBytes=%p instruction=%p symbol?=%p", &bytes, &text, &name);
    struct json_object *place = doc_new();
    dap_put_source(d, core, (uint32_t)pc, place);
    struct json_object *source = cps_json_get(place, "source");
    if (source) {
        cps_json_add(row, "location", json_object_get(source));
        doc_put(row, "line=%" PRId64, dap_number(place, "line", 0));
    }
    json_object_put(place);
}

struct cps_err *dap_disassemble(struct dap *d)
{
    uint64_t at = 0;
    unsigned core = d->session->core;
    int64_t pc = 0;
    int64_t count = dap_number(d->in, "instructionCount", 0);
    CPS_TRY(dap_reference(d->in, "memoryReference", &at));
    if (count < 0 || count > MAX_CODE)
        return cps_err_new(CPS_ERR_INPUT, "instructionCount %" PRId64 ": expected at most %d",
                           count, MAX_CODE);
    if (!dap_find_code(d, at, &core, &pc))
        pc = (int64_t)(at - dap_code_address(d, core, 0)) / unit_of(d);
    pc = pc > FAR ? FAR : pc < -FAR ? -FAR : pc; /* no code is there, and more can be added */
    int64_t line = line_of(d, core, pc) + dap_number(d->in, "instructionOffset", 0);
    struct json_object *list = cps_json_new_array(d->out, "instructions");
    for (int64_t i = 0; i < count; i++)
        add_instruction(d, core, pc_of(d, core, line + i), list);
    return NULL;
}
