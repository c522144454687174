/* SPDX-License-Identifier: MIT
 * Plugins that are wrong, and one that counts. Built as: a plugin; -DNO_PLUGIN without its symbol;
 * -DVERSION=99 of another version. Arguments: "refuse" at open, "fail" at the first launch; else a
 * line "plugin: ..." on stderr at the end. */
#include <stdio.h>
#include <string.h>

#include "tools/run/plugin.h"

#ifndef VERSION
#define VERSION CPS_PLUGIN_VERSION
#endif

static struct counts {
    bool fails;
    uint32_t generation, base, kind[16], unwritten;
} counts;

static const char *open_counts(const struct cps_plugin_host *host, const char *args, void **plugin)
{
    *plugin = &counts;
    counts.fails = !strcmp(args, "fail");
    counts.generation = host->generation;
    if (host->find(host, "NO_SUCH_REGISTER", &counts.unwritten) ||
        !host->find(host, host->generation > 5 ? "SP_CS_BASE" : "SP_CS_CTRL_REG0", &counts.base))
        return "the names of registers are wrong";
    for (unsigned i = 0; i < 64; i++) {
        if (!host->watch(host, counts.base))
            return "64 registers are too many to watch";
    }
    if (host->watch(host, counts.base))
        return "65 registers can be watched";
    return strcmp(args, "refuse") ? NULL : "not today";
}

static const char *count_work(void *context, const struct cps_work *work)
{
    struct counts *c = context;
    c->kind[work->kind & 15]++;
    return c->fails ? "no such work" : NULL;
}

static void close_counts(void *context)
{
    const struct counts *c = context;
    fprintf(stderr, "plugin: a%uxx, 0x%x, %u draws, %u dispatches, %u writes\n",
            (unsigned)c->generation, (unsigned)c->base, (unsigned)c->kind[CPS_WORK_DRAW],
            (unsigned)c->kind[CPS_WORK_DISPATCH], (unsigned)c->kind[CPS_WORK_REGISTER]);
}

#ifndef NO_PLUGIN
CPS_PUBLIC const struct cps_plugin cps_plugin = {VERSION, open_counts, count_work, close_counts};
#endif
