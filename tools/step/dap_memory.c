/* SPDX-License-Identifier: MIT
 * The debug adapter: memory and code. Code has the addresses where its image lies in GPU memory. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/step/dap_private.h"
#include "tools/debug/look.h"

#define MAX_READ ((int64_t)1 << 20)
#define MAX_CODE 65536

struct cps_err *dap_reference(struct json_object *arguments, const char *key, uint64_t *ret)
{
    const char *text = dap_text(arguments, key);
    char *end = NULL;
    uint64_t address = text ? strtoull(text, &end, 0) : 0;
    if (!text || end == text || *end)
        return cps_err_new(CPS_ERR_INPUT, "%s: expected \"0x...\"", key);
    *ret = address + (uint64_t)dap_int(arguments, "offset", 0);
    return NULL;
}

bool dap_find_code(const struct dap *d, uint64_t address, unsigned *core, int64_t *pc)
{
    struct cps_machine *m = session_machine(&d->repl->session);
    uint64_t nearest = UINT64_MAX;
    for (unsigned i = 0; i < cps_machine_core_count(m); i++) {
        uint64_t base = cps_machine_image_iova(m, i);
        uint64_t size = 4 * (uint64_t)cps_machine_image_size(m, i);
        uint64_t distance = address - base;
        if (distance >= size || distance >= nearest)
            continue;
        nearest = distance; /* images of one file overlap: the last that begins before it */
        *core = i;
        *pc = (int64_t)(distance / 4);
    }
    return nearest != UINT64_MAX;
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
static int64_t read_bytes(struct cps_machine *m, uint64_t at, uint8_t *to, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        bool known = false;
        uint32_t word = cps_machine_memory(m, at + (uint64_t)i, &known);
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
    int64_t count = dap_int(arguments, "count", 0);
    CPS_BUF text = {0};
    CPS_TRY(dap_reference(arguments, "memoryReference", &at));
    if (count < 0 || count > MAX_READ)
        return cps_err_new(CPS_ERR_INPUT, "count %" PRId64 ": expected at most %" PRId64, count,
                           MAX_READ);
    CPS_FREE uint8_t *bytes = malloc((size_t)count + 1);
    if (!bytes)
        return cps_err_nomem();
    int64_t got = read_bytes(session_machine(&d->repl->session), at, bytes, count);
    put_base64(&text, bytes, (size_t)got);
    dap_put_hex(body, "address", at, 1);
    dap_put_text(body, "data", cps_buf_text(&text));
    dap_put_int(body, "unreadableBytes", count - got);
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
    struct session *s = &d->repl->session;
    for (int64_t i = 0; i < size;) {
        uint64_t dword = (at + (uint64_t)i) & ~UINT64_C(3);
        uint32_t value = cps_machine_memory(session_machine(s), dword, NULL);
        for (; i < size && ((at + (uint64_t)i) & ~UINT64_C(3)) == dword; i++) {
            unsigned shift = 8 * (unsigned)((at + (uint64_t)i) % 4);
            value = (value & ~(0xffu << shift)) | (uint32_t)bytes[i] << shift;
        }
        const struct cps_edit edit = {
            .what = CPS_EDIT_MEMORY, .core = 0, .number = dword, .value = value};
        CPS_TRY(cps_debug_edit(s->debug, &edit));
    }
    return NULL;
}

struct cps_err *dap_write_memory(struct dap *d, struct json_object *arguments,
                                 struct json_object *body)
{
    uint64_t at = 0;
    const char *text = dap_text(arguments, "data");
    CPS_TRY(dap_reference(arguments, "memoryReference", &at));
    CPS_FREE uint8_t *bytes = malloc(text ? strlen(text) + 1 : 1);
    if (!bytes)
        return cps_err_nomem();
    int64_t size = text ? get_base64(text, bytes) : -1;
    if (size < 0 || size > MAX_READ)
        return cps_err_new(CPS_ERR_INPUT, "data: expected base64 of at most 1 MiB");
    CPS_TRY(write_bytes(d, at, bytes, size));
    dap_put_int(body, "bytesWritten", size);
    return NULL;
}

static struct json_object *instruction(struct dap *d, unsigned core, int64_t pc)
{
    struct session *s = &d->repl->session;
    struct json_object *row = json_object_new_object();
    bool inside = pc >= 0 && pc < cps_machine_image_size(session_machine(s), core);
    uint64_t address = dap_code_address(d, core, 0) + 4 * (uint64_t)pc;
    dap_put_hex(row, "address", address, 1);
    if (!inside) {
        dap_put_text(row, "instruction", "");
        dap_put_text(row, "presentationHint", "invalid");
        return row;
    }
    CPS_BUF text = {0};
    CPS_BUF name = {0};
    char bytes[12];
    uint32_t word = cps_machine_word(session_machine(s), core, (uint32_t)pc);
    look_insn(s, core, (uint32_t)pc, &text);
    session_place(s, core, (uint32_t)pc, &name);
    snprintf(bytes, sizeof(bytes), "%08" PRIx32, word);
    dap_put_text(row, "instructionBytes", bytes);
    dap_put_text(row, "instruction", cps_buf_text(&text));
    if (!strchr(cps_buf_text(&name), '+'))
        dap_put_text(row, "symbol", cps_buf_text(&name));
    struct json_object *place = json_object_new_object();
    struct json_object *source = NULL;
    dap_put_source(d, core, (uint32_t)pc, place);
    if (json_object_object_get_ex(place, "source", &source)) {
        json_object_object_add(row, "location", json_object_get(source));
        dap_put_int(row, "line", dap_int(place, "line", 0));
    }
    json_object_put(place);
    return row;
}

struct cps_err *dap_disassemble(struct dap *d, struct json_object *arguments,
                                struct json_object *body)
{
    uint64_t at = 0;
    unsigned core = d->repl->session.core;
    int64_t pc = 0;
    int64_t count = dap_int(arguments, "instructionCount", 0);
    CPS_TRY(dap_reference(arguments, "memoryReference", &at));
    if (count < 0 || count > MAX_CODE)
        return cps_err_new(CPS_ERR_INPUT, "instructionCount %" PRId64 ": expected at most %d",
                           count, MAX_CODE);
    if (!dap_find_code(d, at, &core, &pc))
        pc = (int64_t)(at - dap_code_address(d, core, 0)) / 4;
    pc += dap_int(arguments, "instructionOffset", 0);
    struct json_object *list = json_object_new_array();
    for (int64_t i = 0; i < count; i++)
        json_object_array_add(list, instruction(d, core, pc + i));
    json_object_object_add(body, "instructions", list);
    return NULL;
}
