/* SPDX-License-Identifier: MIT
 * A log of mmiotrace: the accesses of HWSQ in it, and these as lines of a run file. */
#include "tools/explain/mmio/mmio.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fw/nv/script/script.h"
#include "isa/base/le.h"
#include "isa/base/list.h"

#define VENDOR_NVIDIA 0x10deu
#define BAR_MEMORY    0xfu /* bits of a region's start that are 0 for 32-bit memory */
#define TICK_NS       32u  /* of HWSQ's clock */
#define WINDOW_NEW    0x80000u
#define WINDOW_OLD    0x1400u
#define RAM_BYTES     0x200u
#define DEBUG_6       0x1098u
#define ENABLE        0x18u /* what drivers set in it */
#define COLUMN        56
#define PER_LINE      8u  /* words */
#define STORED        32u /* registers that are watched */

/* What an access of a register means for the run file. */
enum mmio_kind {
    MMIO_NONE,    /* not of the engine */
    MMIO_STORED,  /* it holds what was written; what it holds before that is set */
    MMIO_WRITTEN, /* a read gives what was written last, by the host or a script that ran since */
    MMIO_OTHER,   /* what a read gives does not follow from the trace */
    MMIO_STATUS,
    MMIO_TRIGGER,
    MMIO_CODE,
};

/* Rows of emu/nv/reg.def, of which only those of HWSQ's chips matter here. */
static const struct row {
    const char *device;
    uint64_t gens;
    uint32_t first, last;
    const char *read, *write;
} rows[] = {
#define NV_REG(device, gens, first, last, read, write, evidence) \
    {#device, gens, first, last, #read, #write},
#include "emu/nv/reg.def"
};

static enum mmio_kind kind_of(const struct row *row)
{
    static const struct {
        const char *read, *write;
        enum mmio_kind kind;
    } kinds[] = {
        {"STORED", "STORED", MMIO_STORED}, {"status", "NONE", MMIO_STATUS},
        {"NONE", "trigger", MMIO_TRIGGER}, {"code", "code", MMIO_CODE},
        {"entry", "entry", MMIO_WRITTEN},  {"entry_high", "entry_high", MMIO_WRITTEN},
        {"flags", "flags", MMIO_WRITTEN},  {"events", "NONE", MMIO_OTHER},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (!strcmp(row->read, kinds[i].read) && !strcmp(row->write, kinds[i].write))
            return kinds[i].kind;
    }
    return MMIO_NONE; /* the timer: it runs on its own */
}

/* What a register of a chip is. */
static enum mmio_kind mmio_kind(enum cps_gen gen, uint64_t address)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool mine = !strcmp(rows[i].device, "HWSQ") || !strcmp(rows[i].device, "BUS");
        if (mine && rows[i].gens & cps_gen_mask(gen) && address >= rows[i].first &&
            address < (uint64_t)rows[i].last + 4)
            return kind_of(&rows[i]);
    }
    return MMIO_NONE;
}

struct gather {
    struct cps_mmio_sink sink;
    struct mmio_log *to;
    const char *name;
    uint64_t bar, size; /* the board's registers; size 0: no board yet */
};

static struct gather *gather_of(struct cps_mmio_sink *sink)
{
    return (struct gather *)((char *)sink - offsetof(struct gather, sink));
}

/* The first board of NVIDIA's with registers and memory, as envytools' demmio takes them; a
 * board's sound device has no second region. */
static struct cps_err *on_device(struct cps_mmio_sink *sink, const struct cps_mmio_device *device)
{
    struct gather *g = gather_of(sink);
    if (g->size || device->vendor != VENDOR_NVIDIA || !device->bar[0] ||
        device->bar[0] & BAR_MEMORY || !device->bar[1] || device->bar[1] & 1)
        return NULL;
    g->bar = device->bar[0];
    g->size = device->size[0];
    g->to->vendor = device->vendor;
    g->to->device = device->device;
    g->to->chip = cps_nvchip_pci_(device->vendor, device->device);
    return NULL;
}

static struct cps_err *on_lost(struct cps_mmio_sink *sink, uint64_t line)
{
    struct gather *g = gather_of(sink);
    g->to->lost = g->to->lost ? g->to->lost : line;
    return NULL;
}

/* Register 0 names the chip, whatever the PCI id is. */
static void take_chip(struct gather *g, const struct cps_mmio_access *access)
{
    const struct cps_nvchip *chip = NULL;
    if (!access->write && access->size == 4)
        chip = cps_nvchip_(cps_nvchip_number_((uint32_t)access->value));
    if (!chip)
        return;
    g->to->chip = chip;
    g->to->by_register = true;
}

static struct cps_err *on_access(struct cps_mmio_sink *sink, const struct cps_mmio_access *access)
{
    struct gather *g = gather_of(sink);
    struct mmio_log *to = g->to;
    if (!g->size || access->address < g->bar || access->address - g->bar >= g->size) {
        to->foreign++;
        return NULL;
    }
    struct cps_mmio_access kept = *access;
    kept.address -= g->bar;
    if (!kept.address && !to->by_register)
        take_chip(g, &kept);
    if (!mmio_kind(CPS_G92, kept.address)) { /* it has all registers that others have */
        to->others++;
        return NULL;
    }
    if (kept.size != 4 || kept.address % 4) {
        to->odd++;
        return NULL;
    }
    if (to->count == MMIO_MAX_ACCESSES)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s:%llu: access of HWSQ number %zu, expected no more than that",
                           g->name, (unsigned long long)access->line, to->count + 1);
    if (!CPS_LIST_ROOM(to->access, to->count))
        return cps_err_nomem();
    to->access[to->count++] = kept;
    return NULL;
}

struct cps_err *mmio_read(struct cps_stream *stream, unsigned gen, struct mmio_log *ret)
{
    struct gather g = {
        .sink = {on_device, on_access, on_lost}, .to = ret, .name = cps_stream_name(stream)};
    *ret = (struct mmio_log){0};
    CPS_TRY(cps_mmiotrace_read_(stream, &g.sink));
    if (!g.size)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s: no line PCIDEV of an NVIDIA board (10de) with registers and memory",
                           g.name);
    if (!gen && !ret->chip)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s: neither a read of register 0 nor the PCI id %04x:%04x says the "
                           "chip, expected --chip",
                           g.name, ret->vendor, ret->device);
    if (!gen && !ret->chip->hwsq)
        return cps_err_new(CPS_ERR_INPUT, "%s: %s has no HWSQ, expected --chip", g.name,
                           ret->chip->name);
    return NULL;
}

/* ---- what registers hold ---- */

struct composer {
    const struct mmio_log *log;
    enum cps_gen gen;
    struct cps_names *names;
    struct cps_buf *out;
    struct cps_buf code; /* of the first upload */
    uint32_t code_at;    /* byte of the code RAM */
    bool has_code;
    bool running[2];        /* slots, as far as the host knows */
    bool started[2];        /* ever */
    uint64_t then;          /* time of the access in the last line */
    uint32_t known[STORED]; /* registers that hold what the host wrote */
    unsigned known_count;
    bool code_known[RAM_BYTES / 4];
};

static uint32_t ram_byte(uint64_t address)
{
    uint64_t byte = address >= WINDOW_NEW ? address - WINDOW_NEW : address - WINDOW_OLD;
    return (uint32_t)byte & (RAM_BYTES - 1);
}

static bool is_known(const struct composer *c, uint32_t address)
{
    if (mmio_kind(c->gen, address) == MMIO_CODE)
        return c->code_known[ram_byte(address) / 4];
    for (unsigned i = 0; i < c->known_count; i++) {
        if (c->known[i] == address)
            return true;
    }
    return false;
}

static void note_written(struct composer *c, uint32_t address)
{
    if (mmio_kind(c->gen, address) == MMIO_CODE)
        c->code_known[ram_byte(address) / 4] = true;
    else if (!is_known(c, address) && c->known_count < STORED)
        c->known[c->known_count++] = address;
}

/* ---- lines ---- */

static bool any_running(const struct composer *c)
{
    return c->running[0] || c->running[1];
}

static void put_register(const struct composer *c, uint32_t address)
{
    const char *name = cps_name(c->names, CPS_SPACE_GPU, address, NULL);
    if (name)
        cps_buf_str(c->out, name);
    else
        cps_buf_printf(c->out, "0x%06" PRIx32, address);
}

static void put_remark(const struct composer *c, size_t line, const char *text, uint64_t number)
{
    cps_buf_str(c->out, " ");
    cps_buf_pad(c->out, line, COLUMN);
    cps_buf_printf(c->out, "; line %" PRIu64 "%s\n", number, text);
}

/* While a script runs, time passes between what the host does. */
static void put_time(struct composer *c, const struct cps_mmio_access *access)
{
    uint64_t ticks = access->ns > c->then ? (access->ns - c->then) / TICK_NS : 0;
    if (any_running(c) && ticks)
        cps_buf_printf(c->out, "wait %" PRIu64 "\n", ticks);
    c->then = access->ns;
}

static void put_write(struct composer *c, const struct cps_mmio_access *access)
{
    uint32_t address = (uint32_t)access->address;
    put_time(c, access);
    size_t line = c->out->size;
    cps_buf_str(c->out, "write ");
    put_register(c, address);
    cps_buf_printf(c->out, " 0x%08" PRIx64, access->value);
    put_remark(c, line, "", access->line);
    note_written(c, address);
}

/* Bit 0 starts, bit 1 is 1 for slot A; of one slot, A is all there is. */
static void note_trigger(struct composer *c, uint32_t value)
{
    unsigned slot = c->gen == CPS_G92 || value & 2 ? 0 : 1;
    c->running[slot] = value & 1;
    c->started[slot] = c->started[slot] || value & 1;
}

/* Bits of STATUS that the sources know, of slots that ran. */
static uint32_t status_mask(const struct composer *c)
{
    uint32_t slot = c->gen == CPS_G92 ? 0x5ff : c->gen == CPS_NV17 ? 0x1ff : 0x3ff;
    return (c->started[0] ? slot : 0) | (c->started[1] ? slot << 16 : 0);
}

/* The host sees that a script ended: up to there it runs. */
static bool note_status(struct composer *c, uint32_t value)
{
    bool ended = false;
    for (unsigned slot = 0; slot < 2; slot++) {
        bool runs = value >> (8 + 16 * slot) & 1;
        ended = ended || (c->running[slot] && !runs);
        c->running[slot] = c->running[slot] && runs;
    }
    return ended;
}

static void put_read(struct composer *c, const struct cps_mmio_access *access, bool expect,
                     uint32_t mask)
{
    CPS_BUF remark = {0};
    size_t line = c->out->size;
    cps_buf_str(c->out, "read ");
    put_register(c, (uint32_t)access->address);
    if (expect)
        cps_buf_printf(c->out, " 0x%08" PRIx64, access->value & mask);
    else
        cps_buf_printf(&remark, ": gave 0x%08" PRIx64, access->value);
    if (expect && ~mask)
        cps_buf_printf(c->out, " 0x%08" PRIx32, mask);
    put_remark(c, line, cps_buf_text(&remark), access->line);
    c->out->failed |= remark.failed;
}

static void do_read(struct composer *c, const struct cps_mmio_access *access)
{
    uint32_t address = (uint32_t)access->address;
    enum mmio_kind kind = mmio_kind(c->gen, address);
    if (kind == MMIO_STATUS) {
        if (note_status(c, (uint32_t)access->value)) {
            cps_buf_str(c->out, "run\n");
            c->then = access->ns;
        }
        uint32_t mask = status_mask(c);
        put_read(c, access, mask && !any_running(c), mask);
        return;
    }
    if (kind == MMIO_STORED && !is_known(c, address)) {
        size_t line = c->out->size;
        cps_buf_str(c->out, "reg ");
        put_register(c, address);
        cps_buf_printf(c->out, " 0x%08" PRIx64, access->value);
        put_remark(c, line, ": what the first read gave", access->line);
        note_written(c, address);
    }
    bool follows = kind == MMIO_STORED ||
                   ((kind == MMIO_WRITTEN || kind == MMIO_CODE) && is_known(c, address));
    put_read(c, access, follows && !any_running(c), UINT32_MAX);
}

/* ---- uploads ---- */

/* How many accesses from @p at on write words of the code at successive addresses. */
static size_t run_length(const struct composer *c, size_t at)
{
    const struct cps_mmio_access *first = &c->log->access[at];
    size_t count = 0;
    for (; at + count < c->log->count; count++) {
        const struct cps_mmio_access *access = &c->log->access[at + count];
        if (!access->write || access->address != first->address + count * 4 ||
            mmio_kind(c->gen, access->address) != MMIO_CODE)
            break;
    }
    return count;
}

/* The script again: it is uploaded as it was. */
static bool is_script(const struct composer *c, const struct cps_mmio_access *access, size_t count)
{
    if (ram_byte(access->address) != c->code_at || count * 4 != c->code.size)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (cps_le32((const uint8_t *)c->code.data + i * 4) != access[i].value)
            return false;
    }
    return true;
}

/* What is written over the script: its listing as remarks, then the words. */
static struct cps_err *put_words(struct composer *c, const struct cps_mmio_access *access,
                                 size_t count)
{
    CPS_BUF bytes = {0};
    CPS_BUF text = {0};
    for (size_t i = 0; i < count; i++) {
        uint8_t word[4];
        cps_put_le32(word, (uint32_t)access[i].value);
        cps_buf_add(&bytes, (const char *)word, 4);
    }
    if (bytes.failed)
        return cps_err_nomem();
    CPS_TRY(cps_script_listing(c->gen, bytes.data, bytes.size, NULL, CPS_NAMES_MEASURED, &text));
    size_t length = 0;
    for (const char *line = cps_buf_text(&text); *line; line += length + (line[length] == '\n')) {
        length = strcspn(line, "\n");
        cps_buf_printf(c->out, ";%.*s\n", (int)length, line);
    }
    for (size_t i = 0; i < count; i++) {
        if (i % PER_LINE == 0)
            cps_buf_printf(c->out, "%swrite 0x%06" PRIx64, i ? "\n" : "", access[i].address);
        cps_buf_printf(c->out, " 0x%08" PRIx64, access[i].value);
    }
    cps_buf_str(c->out, "\n");
    return NULL;
}

static struct cps_err *do_upload(struct composer *c, const struct cps_mmio_access *access,
                                 size_t count)
{
    put_time(c, access);
    c->then = access[count - 1].ns;
    for (size_t i = 0; i < count; i++)
        note_written(c, (uint32_t)access[i].address);
    bool again = c->has_code && is_script(c, access, count);
    for (size_t i = 0; i < count && !c->has_code; i++) {
        uint8_t word[4];
        cps_put_le32(word, (uint32_t)access[i].value);
        cps_buf_add(&c->code, (const char *)word, 4);
    }
    if (!c->has_code || again) {
        c->code_at = ram_byte(access->address);
        c->has_code = true;
        size_t line = c->out->size;
        cps_buf_printf(c->out, c->code_at ? "upload %" PRIu32 : "upload", c->code_at);
        put_remark(c, line, " on", access->line);
        return NULL;
    }
    return put_words(c, access, count);
}

/* ---- all of it ---- */

/* A trace may begin after the engine was enabled. */
static void put_enable(struct composer *c)
{
    if (is_known(c, DEBUG_6))
        return;
    cps_buf_printf(c->out,
                   "reg 0x%06x 0x%08x ; assumed: the log does not touch it before the "
                   "first start\n",
                   DEBUG_6, ENABLE);
    note_written(c, DEBUG_6);
}

static struct cps_err *put_steps(struct composer *c)
{
    struct cps_err *err = NULL;
    for (size_t i = 0; i < c->log->count && !err && !c->out->failed;) {
        const struct cps_mmio_access *access = &c->log->access[i];
        enum mmio_kind kind = mmio_kind(c->gen, access->address);
        size_t run = run_length(c, i);
        i += run ? run : 1;
        if (run) {
            err = do_upload(c, access, run);
        } else if (kind && access->write) {
            if (kind == MMIO_TRIGGER && access->value & 1)
                put_enable(c);
            put_write(c, access);
            if (kind == MMIO_TRIGGER)
                note_trigger(c, (uint32_t)access->value);
        } else if (kind) {
            do_read(c, access);
        }
    }
    return err;
}

static void put_head(const struct composer *c, const char *name)
{
    const struct mmio_log *log = c->log;
    const char *slash = strrchr(name, '/');
    cps_buf_str(c->out, "# cpscope-script 1\n; mmiotrace ");
    for (const char *at = slash ? slash + 1 : name; *at; at++)
        cps_buf_add(c->out, *at >= ' ' && *at < 0x7f ? at : "?", 1);
    cps_buf_printf(c->out, ", board %04" PRIx32 ":%04" PRIx32, log->vendor, log->device);
    if (log->chip)
        cps_buf_printf(c->out, ", %s (%s) by %s", log->chip->name, log->chip->code,
                       log->by_register ? "register 0" : "the PCI id");
    cps_buf_printf(c->out,
                   "\n; left out: %" PRIu64 " accesses of its other registers, %" PRIu64
                   " of other devices and memory",
                   log->others, log->foreign);
    if (log->odd)
        cps_buf_printf(c->out, ", %" PRIu64 " of HWSQ that are not of a word", log->odd);
    cps_buf_str(c->out, "\n");
    if (log->lost)
        cps_buf_printf(c->out, "; incomplete: the tracer lost events, first at line %" PRIu64 "\n",
                       log->lost);
    cps_buf_printf(c->out, "engine hwsq\nchip %s\n\n", cps_gen_row(c->gen)->word);
}

static void deinit(struct composer *c)
{
    cps_names_destroy(c->names);
    cps_buf_deinit(&c->code);
}

struct cps_err *mmio_compose(const struct mmio_log *log, enum cps_gen gen, const char *name,
                             struct cps_buf *out)
{
    CPS_CLEANUP(deinit) struct composer c = {.log = log, .gen = gen, .out = out};
    CPS_TRY(cps_names_create(CPS_LAYOUT_G92, NULL, &c.names)); /* as run files have them */
    put_head(&c, name);
    CPS_TRY(put_steps(&c));
    if (!c.has_code)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s: no upload among %zu accesses of HWSQ's registers, expected writes "
                           "of its code (0x1400 on)",
                           name, log->count);
    cps_buf_str(out, "\ncode\n");
    if (c.code.failed)
        return cps_err_nomem();
    CPS_TRY(cps_script_listing(gen, c.code.data, c.code.size, NULL, CPS_NAMES_MEASURED, out));
    return out->failed ? cps_err_nomem() : NULL;
}
