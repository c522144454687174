/* SPDX-License-Identifier: MIT
 * Init scripts: where they are, and how far their operations are known. Both ways of a condition
 * are walked, as nothing is executed. */
#include <stdlib.h>

#include "fw/nv/rom/private.h"
#include "isa/base/list.h"

enum {
    GROUPS = ROM_OP_GROUPS,
    END = ROM_OP_END,
    CALL = ROM_OP_CALL,
    JUMP = ROM_OP_JUMP,
    SUB = ROM_OP_SUB,
    WRITE = ROM_OP_WRITE,
    SEQUENCE = ROM_OP_SEQUENCE,
    MASKED = ROM_OP_MASKED,
    MACRO = ROM_OP_MACRO,
    CHOICE = ROM_OP_CHOICE,
};

static const struct rom_op ops[] = {
#define INIT(...) {__VA_ARGS__},
#include "fw/nv/rom/init.def"
};

enum mark {
    MARK_OP = 1,     /* an operation begins here, which a script has */
    MARK_SCRIPT = 2, /* a script begins here */
};

struct walker {
    struct cps_rom *rom;
    const struct rom_init *init;
    uint8_t *marks; /* per byte of the file: each operation is walked over once */
};

const struct rom_op *cps_rom_op_(uint8_t op)
{
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        if (ops[i].op == op)
            return &ops[i];
    }
    return NULL;
}

size_t cps_rom_op_size_(const struct cps_rom *rom, size_t at, unsigned *items)
{
    const struct rom_op *row = at < rom->size ? cps_rom_op_(rom->bytes[at]) : NULL;
    size_t left = rom->size - at;
    *items = 0;
    if (!row || row->size > left)
        return 0;
    if (row->item)
        *items = row->count ? rom->bytes[at + row->count] : 1;
    if (row->flags & GROUPS)
        *items *= rom->groups;
    size_t size = row->size + (size_t)row->item * *items;
    return size > left ? 0 : size;
}

static struct cps_err *add_script(struct walker *w, enum cps_rom_origin origin, unsigned number,
                                  size_t offset)
{
    struct cps_rom *rom = w->rom;
    struct cps_rom_script script = {.origin = origin, .number = number, .offset = offset};
    if (offset < rom->size && w->marks[offset] & MARK_SCRIPT)
        return NULL;
    if (!CPS_LIST_ROOM(rom->script, rom->script_count))
        return cps_err_nomem();
    if (offset < rom->size)
        w->marks[offset] |= MARK_SCRIPT;
    rom->script[rom->script_count++] = script;
    return NULL;
}

/* Script @p number of the table; old tables have two. */
static struct cps_err *add_numbered(struct walker *w, enum cps_rom_origin origin, unsigned number)
{
    uint16_t offset = 0;
    size_t table = w->init->pointer[ROM_INIT_SCRIPTS];
    if (!table || number >= w->init->most ||
        !cps_rd16(rom_bytes(w->rom), table + number * 2u, &offset) || !offset)
        return NULL;
    return add_script(w, origin, number, offset);
}

/* What the operation at @p at leads to. */
static struct cps_err *follow(struct walker *w, size_t script, const struct rom_op *row, size_t at)
{
    uint16_t offset = 0;
    if (row->flags & SUB)
        return add_numbered(w, CPS_ROM_SUB, w->rom->bytes[at + 1]);
    if (!(row->flags & (CALL | JUMP)) || !cps_rd16(rom_bytes(w->rom), at + 1, &offset))
        return NULL;
    return add_script(w, row->flags & CALL ? CPS_ROM_CALL : CPS_ROM_JUMP, (unsigned)script, offset);
}

static struct cps_err *walk(struct walker *w, size_t index)
{
    struct cps_rom *rom = w->rom;
    struct cps_rom_script script = rom->script[index]; /* the list may move */
    size_t at = script.offset;
    struct cps_err *err = NULL;
    script.end = at < rom->size ? CPS_ROM_DONE : CPS_ROM_OUTSIDE;
    for (bool done = script.end == CPS_ROM_OUTSIDE; !done && !err;) {
        unsigned items = 0;
        const struct rom_op *row = at < rom->size ? cps_rom_op_(rom->bytes[at]) : NULL;
        size_t size = cps_rom_op_size_(rom, at, &items);
        bool joined = at < rom->size && w->marks[at] & MARK_OP;
        if (!size || joined) {
            script.end = joined                   ? CPS_ROM_JOINED
                         : at < rom->size && !row ? CPS_ROM_UNKNOWN
                                                  : CPS_ROM_CUT;
            break;
        }
        w->marks[at] |= MARK_OP;
        script.count++;
        done = row->flags & END;
        err = follow(w, index, row, at);
        at += size;
    }
    script.size = script.end == CPS_ROM_OUTSIDE ? 0 : at - script.offset;
    rom->script[index] = script;
    return err;
}

/* Levels of performance have a script of their own in versions 3.0 and 3.5 of their table. */
static struct cps_err *add_levels(struct walker *w)
{
    const struct cps_bytes bytes = rom_bytes(w->rom);
    size_t at = w->init->levels;
    uint32_t head = 0;
    uint16_t extra = 0;
    struct cps_err *err = NULL;
    if (!at || !cps_rd32(bytes, at, &head) || !cps_rd16(bytes, at + 4, &extra))
        return NULL;
    if ((head & 0xff) != 0x30 && (head & 0xff) != 0x35)
        return NULL;
    unsigned count = head >> 16 & 0xff;
    size_t stride = (head >> 24) + (size_t)(extra & 0xff) * (extra >> 8);
    at += head >> 8 & 0xff;
    for (unsigned i = 0; i < count && !err; i++, at += stride) {
        uint16_t offset = 0;
        if (!cps_rd16(bytes, at + 2, &offset)) {
            cps_buf_printf(&w->rom->notes, "level %u of performance: not in the file\n", i);
            break;
        }
        if (offset)
            err = add_script(w, CPS_ROM_MEMORY, i, offset);
    }
    return err;
}

static struct cps_err *walk_all(struct walker *w)
{
    size_t before = w->rom->script_count;
    for (unsigned i = 0; i < w->init->most; i++) {
        CPS_TRY(add_numbered(w, CPS_ROM_INIT, i));
        uint16_t offset = 0;
        if (!cps_rd16(rom_bytes(w->rom), w->init->pointer[ROM_INIT_SCRIPTS] + i * 2u, &offset) ||
            !offset)
            break;
    }
    if (w->init->pointer[ROM_INIT_AFTER])
        CPS_TRY(add_script(w, CPS_ROM_AFTER, 0, w->init->pointer[ROM_INIT_AFTER]));
    CPS_TRY(add_levels(w));
    for (size_t i = before; i < w->rom->script_count; i++)
        CPS_TRY(walk(w, i));
    return NULL;
}

struct cps_err *cps_rom_scripts_(struct cps_rom *rom, const struct rom_init *init)
{
    CPS_FREE uint8_t *marks = calloc(rom->size + 1, 1);
    struct walker w = {rom, init, marks};
    return marks ? walk_all(&w) : cps_err_nomem();
}

const char *cps_rom_end_text_(enum cps_rom_end end)
{
    static const char *const texts[] = {
        [CPS_ROM_DONE] = "ends",
        [CPS_ROM_JOINED] = "continues in another script",
        [CPS_ROM_UNKNOWN] = "reaches an operation that no source documents",
        [CPS_ROM_CUT] = "is cut off by the end of the file",
        [CPS_ROM_OUTSIDE] = "is not in the file",
    };
    return texts[end];
}

void cps_rom_script_name_(const struct cps_rom *rom, size_t index, struct cps_buf *out)
{
    const struct cps_rom_script *script = &rom->script[index];
    switch (script->origin) {
    case CPS_ROM_INIT:
        cps_buf_printf(out, "init script %u", script->number);
        break;
    case CPS_ROM_AFTER:
        cps_buf_str(out, "script after the init scripts");
        break;
    case CPS_ROM_SUB:
        cps_buf_printf(out, "script %u of the table", script->number);
        break;
    case CPS_ROM_CALL:
    case CPS_ROM_JUMP:
        cps_buf_printf(out, "%s of the script at 0x%zx",
                       script->origin == CPS_ROM_CALL ? "subroutine" : "continuation",
                       rom->script[script->number].offset);
        break;
    case CPS_ROM_MEMORY:
        cps_buf_printf(out, "memory script of level %u", script->number);
        break;
    }
}
