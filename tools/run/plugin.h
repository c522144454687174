/* SPDX-License-Identifier: MIT
 * Plugins of `--launch PLUGIN.so[:ARGS]`: shared objects that do the work that firmware launches
 * (emu/work.h), in `cpscope run` and `cpscope device`. A plugin needs this header and no library:
 *
 *     #include <cpscope/tools/run/plugin.h>
 *     CPS_PLUGIN(open_it, do_work, close_it);
 *
 *     cc -shared -fPIC plugin.c $(pkg-config --cflags cpscope) -o plugin.so
 *
 * examples/ of the source has two. All functions are called in one thread. */
#ifndef CPS_PLUGIN_H
#define CPS_PLUGIN_H

#include "../../emu/work.h"
#include "../../trace/event/event.h"

CPS_C_BEGIN

/** Grows with every change of struct cps_plugin, cps_plugin_host or cps_work. A plugin of another
 * version is refused. */
#define CPS_PLUGIN_VERSION 1u

/** What a plugin may ask for; it lives until the plugin is closed. */
struct cps_plugin_host {
    /** The GPU's generation: 5 to 8. */
    uint32_t generation;
    /** The caller's own. */
    void *context;
    /**
     * The number of a GPU register, in dwords, from its name in the register database of the
     * generation: "SP_CS_BASE".
     * @return false, and 0, if nothing is called so
     */
    bool (*find)(const struct cps_plugin_host *host, const char *name, uint32_t *offset);
    /** `work` also gets each write to a register, as CPS_WORK_REGISTER.
     * @return false if there are too many: 64 */
    bool (*watch)(const struct cps_plugin_host *host, uint32_t offset);
};

/** A plugin: what its symbol `cps_plugin` is. */
struct cps_plugin {
    /** CPS_PLUGIN_VERSION. */
    uint32_t version;
    /**
     * Called once, before the firmware boots.
     * @param host    what it may ask for
     * @param args    the text after the colon of `--launch`, "" if there is none
     * @param plugin  gets what the other functions get; NULL at first
     * @return NULL, or why it failed: a text that lives until `close` returns, which is then
     * called, too
     */
    const char *(*open)(const struct cps_plugin_host *host, const char *args, void **plugin);
    /** Called at each launch, @p context being the plugin. A failure ends the run. */
    cps_work_fn *work;
    /** Called once, at the end. May be NULL. */
    void (*close)(void *plugin);
};

/** Defines the plugin, with a semicolon after it. */
#define CPS_PLUGIN(open, work, close) \
    CPS_PUBLIC const struct cps_plugin cps_plugin = {CPS_PLUGIN_VERSION, open, work, close}

CPS_C_END

#endif
