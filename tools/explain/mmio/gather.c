/* SPDX-License-Identifier: MIT
 * What of a log is of the engine. */
#include <stdlib.h>
#include <string.h>

#include "isa/base/list.h"
#include "tools/explain/mmio/mmio.h"

#define VENDOR_NVIDIA 0x10deu
#define BAR_MEMORY    0xfu /* bits of a region's start that are 0 for 32-bit memory */

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

enum mmio_kind mmio_kind(enum cps_gen gen, uint64_t address)
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
