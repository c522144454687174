/* SPDX-License-Identifier: MIT
 * The debug adapter: memory and code. Code has the addresses where its image lies in GPU memory. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/face/dap/dap_private.h"
#include "tools/face/debugger/expr.h"
#include "tools/face/debugger/look.h"
#include "trace/out/json.h"

#define FAR (INT64_C(1) << 62)

#define MAX_READ ((int64_t)1 << 20)
#define MAX_CODE 65536

void dap_put_hex(struct json_object *to, const char *key, uint64_t value, int digits)
{
    char text[24];
    snprintf(text, sizeof(text), "0x%0*llx", digits, (unsigned long long)value);
    cps_json_text(to, key, text);
}

struct cps_err *dap_reference(struct json_object *arguments, const char *key, uint64_t *ret)
{
    const char *text = cps_json_get_text(arguments, key, NULL);
    char *end = NULL;
    uint64_t address = text ? strtoull(text, &end, 0) : 0;
    if (!text || end == text || *end)
        return cps_err_new(CPS_ERR_INPUT, "%s: expected \"0x...\"", key);
    *ret = address + (uint64_t)cps_json_get_int(arguments, "offset", 0);
    return NULL;
}

/* Code that lies in the memory of the GPU has its addresses there; images of one file overlap: the
 * last that begins before the address. */
static bool find_image(const struct dap *d, uint64_t address, unsigned *core, int64_t *pc)
{
    const struct session *s = &d->debugger->session;
    const struct cps_afuc *afuc = session_afuc(s);
    uint64_t nearest = UINT64_MAX;
    for (unsigned i = 0; i < session_engine(s)->cores; i++) {
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

bool dap_has_code(const struct dap *d, unsigned core, int64_t pc)
{
    struct cps_engine *engine = session_engine(&d->debugger->session);
    uint64_t word = 0;
    return pc >= 0 &&
           cps_engine_get(engine, (struct cps_place){(uint8_t)core, CPS_FILE_CODE, (uint64_t)pc},
                          &word);
}

bool dap_find_code(const struct dap *d, uint64_t address, unsigned *core, int64_t *pc)
{
    const struct cps_engine *engine = session_engine(&d->debugger->session);
    if (session_afuc(&d->debugger->session))
        return find_image(d, address, core, pc);
    *core = (unsigned)(address >> 32);
    *pc = (int64_t)(address & 0xffffffff) / cps_isa_unit(engine->ops->isa);
    return *core < engine->cores && dap_has_code(d, *core, *pc);
}

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put_base64(struct cps_buf *out, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += 3) {
        uint32_t word = (uint32_t)bytes[i] << 16 |
                        (i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0) |
                        (i + 2 < size ? bytes[i + 2] : 0);
        char text[4] = {digits[word >> 18], digits[word >> 12 & 63],
                        i + 1 < size ? digits[word >> 6 & 63] : '=',
                        i + 2 < size ? digits[word & 63] : '='};
        cps_buf_add(out, text, 4);
    }
}

/* Bytes from @p at on; stops in front of a dword that nobody stored. */
static int64_t read_bytes(const struct session *s, uint64_t at, uint8_t *to, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const struct cps_place place = {0, expr_memory(s), at + (uint64_t)i};
        uint64_t word = 0;
        bool known = cps_engine_get(session_engine(s), place, &word);
        if (!known)
            return i;
        to[i] = (uint8_t)(word >> 8 * ((at + (uint64_t)i) % 4));
    }
    return count;
}

struct cps_err *dap_read_memory(struct dap *d, struct json_object *arguments,
                                struct json_object *body)
{
    uint64_t at = 0;
    int64_t count = dap_number(arguments, "count", 0);
    CPS_BUF text = {0};
    CPS_TRY(dap_reference(arguments, "memoryReference", &at));
    if (count < 0 || count > MAX_READ)
        return cps_err_new(CPS_ERR_INPUT, "count %" PRId64 ": expected at most %" PRId64, count,
                           MAX_READ);
    CPS_FREE uint8_t *bytes = malloc((size_t)count + 1);
    if (!bytes)
        return cps_err_nomem();
    int64_t got = read_bytes(&d->debugger->session, at, bytes, count);
    put_base64(&text, bytes, (size_t)got);
    dap_put_hex(body, "address", at, 1);
    cps_json_buf(body, "data", &text);
    cps_json_int(body, "unreadableBytes", count - got);
    return NULL;
}

/* @return bytes, or -1 for what is not base64 */
static int64_t get_base64(const char *text, uint8_t *to)
{
    uint32_t word = 0;
    unsigned bits = 0;
    int64_t size = 0;
    for (; *text && *text != '='; text++) {
        const char *digit = strchr(digits, *text);
        if (!digit)
            return -1;
        word = word << 6 | (uint32_t)(digit - digits);
        bits += 6;
        if (bits < 8)
            continue;
        bits -= 8;
        to[size++] = (uint8_t)(word >> bits);
    }
    return text[strspn(text, "=")] ? -1 : size;
}

/* A dword at a time, so that going back and forward again writes them again. */
static struct cps_err *write_bytes(struct dap *d, uint64_t at, const uint8_t *bytes, int64_t size)
{
    struct session *s = &d->debugger->session;
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

struct cps_err *dap_write_memory(struct dap *d, struct json_object *arguments,
                                 struct json_object *body)
{
    uint64_t at = 0;
    const char *text = cps_json_get_text(arguments, "data", NULL);
    CPS_TRY(dap_reference(arguments, "memoryReference", &at));
    CPS_FREE uint8_t *bytes = malloc(text ? strlen(text) + 1 : 1);
    if (!bytes)
        return cps_err_nomem();
    int64_t size = text ? get_base64(text, bytes) : -1;
    if (size < 0 || size > MAX_READ)
        return cps_err_new(CPS_ERR_INPUT, "data: expected base64 of at most 1 MiB");
    CPS_TRY(write_bytes(d, at, bytes, size));
    cps_json_int(body, "bytesWritten", size);
    return NULL;
}

void dap_put_bytes(const struct dap *d, unsigned core, uint32_t pc, struct cps_buf *out)
{
    const struct session *s = &d->debugger->session;
    int width = 2 * (int)cps_isa_unit(session_engine(s)->ops->isa);
    for (uint32_t i = 0; i < session_length(s, core, pc); i++)
        cps_buf_printf(out, "%0*" PRIx64, width,
                       session_value(s, core, CPS_FILE_CODE, (uint64_t)pc + i));
}

static struct json_object *instruction(struct dap *d, unsigned core, int64_t pc)
{
    struct session *s = &d->debugger->session;
    struct json_object *row = json_object_new_object();
    bool inside = dap_has_code(d, core, pc);
    unsigned unit = cps_isa_unit(session_engine(s)->ops->isa);
    uint64_t address = dap_code_address(d, core, 0) + (uint64_t)unit * (uint64_t)pc;
    dap_put_hex(row, "address", address, 1);
    if (!inside) {
        cps_json_text(row, "instruction", "");
        cps_json_text(row, "presentationHint", "invalid");
        return row;
    }
    CPS_BUF text = {0};
    CPS_BUF name = {0};
    CPS_BUF bytes = {0};
    look_insn(s, core, (uint32_t)pc, &text);
    session_place(s, core, (uint32_t)pc, &name);
    dap_put_bytes(d, core, (uint32_t)pc, &bytes);
    cps_json_buf(row, "instructionBytes", &bytes);
    cps_json_buf(row, "instruction", &text);
    if (name.failed || (name.size && !strchr(cps_buf_text(&name), '+')))
        cps_json_buf(row, "symbol", &name);
    struct json_object *place = json_object_new_object();
    struct json_object *source = NULL;
    dap_put_source(d, core, (uint32_t)pc, place);
    if (!cps_json_complete(place))
        cps_json_add(row, "location", NULL);
    if (json_object_object_get_ex(place, "source", &source)) {
        cps_json_add(row, "location", json_object_get(source));
        cps_json_int(row, "line", dap_number(place, "line", 0));
    }
    json_object_put(place);
    return row;
}

/* The instruction @p count behind the one at @p pc, or in front of it. Where instructions have
 * several lengths, those in front are found from the beginning of the code. */
static int64_t moved(const struct dap *d, unsigned core, int64_t pc, int64_t count)
{
    const struct session *s = &d->debugger->session;
    int64_t index = 0;
    int64_t at = 0;
    if (cps_isa_is_regular(session_engine(s)->ops->isa))
        return pc + count;
    for (; count > 0; count--)
        pc += dap_has_code(d, core, pc) ? session_length(s, core, (uint32_t)pc) : 1;
    if (!count)
        return pc;
    for (; at < pc && dap_has_code(d, core, at); index++)
        at += session_length(s, core, (uint32_t)at);
    if (index + count < 0)
        return index + count; /* in front of the code */
    for (at = 0, index += count; index; index--)
        at += session_length(s, core, (uint32_t)at);
    return at;
}

struct cps_err *dap_disassemble(struct dap *d, struct json_object *arguments,
                                struct json_object *body)
{
    uint64_t at = 0;
    unsigned core = d->debugger->session.core;
    int64_t pc = 0;
    int64_t count = dap_number(arguments, "instructionCount", 0);
    CPS_TRY(dap_reference(arguments, "memoryReference", &at));
    if (count < 0 || count > MAX_CODE)
        return cps_err_new(CPS_ERR_INPUT, "instructionCount %" PRId64 ": expected at most %d",
                           count, MAX_CODE);
    if (!dap_find_code(d, at, &core, &pc))
        pc = (int64_t)(at - dap_code_address(d, core, 0)) /
             cps_isa_unit(session_engine(&d->debugger->session)->ops->isa);
    pc = pc > FAR ? FAR : pc < -FAR ? -FAR : pc; /* no code is there, and more can be added */
    pc = moved(d, core, pc, dap_number(arguments, "instructionOffset", 0));
    struct json_object *list = json_object_new_array();
    for (int64_t i = 0; i < count; i++) {
        cps_json_append(list, instruction(d, core, pc));
        pc = moved(d, core, pc, 1);
    }
    cps_json_add(body, "instructions", list);
    return NULL;
}
