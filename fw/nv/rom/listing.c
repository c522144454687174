/* SPDX-License-Identifier: MIT
 * VBIOS images as text: scripts of HWSQ as assembly, init scripts as remarks. */
#include <inttypes.h>
#include <stdlib.h>

#include "fw/nv/rom/private.h"
#include "fw/nv/script/script.h"

#define COLUMN 34 /* of an init operation's name */
#define SHOWN  8u /* bytes of one that are shown before it */

/* An operand: its letter says how many bytes, and how they are written. */
static void put_operand(const uint8_t *at, char letter, struct cps_buf *out)
{
    if (letter == 'r')
        cps_buf_printf(out, "%06" PRIx32, cps_le32(at));
    else if (letter == 'w')
        cps_buf_printf(out, "0x%08" PRIx32, cps_le32(at));
    else if (letter == 'h')
        cps_buf_printf(out, "0x%04x", (unsigned)at[0] | (unsigned)at[1] << 8);
    else
        cps_buf_printf(out, letter == 'd' ? "%u" : "0x%02x", (unsigned)at[0]);
}

/* "R[{r1}] {w5}": a text of init.def, whose operands lie within the operation. */
static void put_text(const char *text, const uint8_t *at, struct cps_buf *out)
{
    while (*text) {
        if (*text != '{') {
            cps_buf_add(out, text++, 1);
            continue;
        }
        char letter = text[1];
        char *end = NULL;
        put_operand(at + strtoul(text + 2, &end, 10), letter, out);
        text = end + 1;
    }
}

static void put_op(const struct cps_rom *rom, size_t at, struct cps_buf *out)
{
    unsigned items = 0;
    const struct rom_op *row = cps_rom_op_(rom->bytes[at]);
    size_t size = cps_rom_op_size_(rom, at, &items);
    size_t line = out->size;
    cps_buf_printf(out, "; %04zx", at);
    for (size_t i = 0; i < size && i < SHOWN; i++)
        cps_buf_printf(out, " %02x", rom->bytes[at + i]);
    cps_buf_str(out, size > SHOWN ? ".. " : " ");
    cps_buf_pad(out, line, COLUMN);
    cps_buf_printf(out, "%s%s", row->name, *row->text ? " " : "");
    put_text(row->text, rom->bytes + at, out);
    cps_buf_str(out, "\n");
    for (unsigned i = 0; i < items; i++) {
        size_t item = at + row->size + (size_t)row->item * i;
        line = out->size;
        cps_buf_printf(out, "; %04zx ", item);
        cps_buf_pad(out, line, COLUMN + 2);
        put_text(row->item_text, rom->bytes + item, out);
        cps_buf_str(out, "\n");
    }
}

static void put_script(const struct cps_rom *rom, size_t index, struct cps_buf *out)
{
    const struct cps_rom_script *script = &rom->script[index];
    size_t end = script->offset + script->size;
    unsigned items = 0;
    cps_buf_str(out, "\n; ");
    cps_rom_script_name_(rom, index, out);
    cps_buf_printf(out, " at 0x%zx:\n", script->offset);
    for (size_t at = script->offset; at < end; at += cps_rom_op_size_(rom, at, &items))
        put_op(rom, at, out);
    if (script->end == CPS_ROM_UNKNOWN)
        cps_buf_printf(out,
                       "; %04zx %02x: no source knows this operation, so that what follows is "
                       "not listed\n",
                       end, rom->bytes[end]);
    else if (script->end != CPS_ROM_DONE)
        cps_buf_printf(out, "; %04zx: %s\n", end, cps_rom_end_text_(script->end));
}

static void put_hwsq_head(const struct cps_rom *rom, const struct cps_rom_hwsq *script,
                          struct cps_buf *out)
{
    if (script->written) {
        cps_buf_str(out, "\n; HWSQ script that ");
        cps_rom_script_name_(rom, script->number, out);
        cps_buf_printf(out, " writes, at 0x%zx to 0x%zx", script->offset, script->end);
    } else {
        cps_buf_printf(out, "\n; HWSQ script %u, at 0x%zx to 0x%zx", script->number, script->offset,
                       script->end);
    }
    cps_buf_printf(out, ", for register 0x%06" PRIx32, script->address);
    if (script->has_entry)
        cps_buf_printf(out, ", ENTRY_POINT 0x%08" PRIx32, script->entry);
    cps_buf_str(out, "\n");
}

struct cps_err *cps_rom_listing_(const struct cps_rom *rom, enum cps_gen gen, const char *rnn_dir,
                                 struct cps_buf *out)
{
    cps_buf_printf(out, "; %s hwsq\n; %zu HWSQ scripts, %zu init scripts\n", cps_gen_row(gen)->word,
                   rom->hwsq_count, rom->script_count);
    for (size_t i = 0; i < rom->hwsq_count; i++) {
        const struct cps_rom_hwsq *script = &rom->hwsq[i];
        put_hwsq_head(rom, script, out);
        CPS_TRY(cps_script_listing(gen, script->code.data, script->code.size, rnn_dir,
                                   CPS_NAMES_MEASURED, out));
    }
    for (size_t i = 0; i < rom->script_count; i++)
        put_script(rom, i, out);
    return out->failed ? cps_err_nomem() : NULL;
}
