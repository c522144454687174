/* SPDX-License-Identifier: MIT
 * Plugins: dlopen(), the check of their version, and what they may ask for. */
#include "tools/run/launch.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/run/plugin.h"

enum { MOST_WATCHED = 64 };

struct launch {
    struct cps_plugin_host host; /* its context is this */
    struct play *play;
    char *path; /* with a slash, the arguments behind its end */
    void *library;
    const struct cps_plugin *plugin;
    void *instance;
    uint32_t watched[MOST_WATCHED];
    unsigned watched_count;
};

static bool find(const struct cps_plugin_host *host, const char *name, uint32_t *offset)
{
    const struct launch *launch = host->context;
    const struct play *play = launch->play;
    *offset = 0;
    return cps_name_number(play->names[play->engine->who[0]], CPS_SPACE_GPU, name, strlen(name),
                           offset);
}

static bool watch(const struct cps_plugin_host *host, uint32_t offset)
{
    struct launch *launch = host->context;
    if (launch->watched_count == MOST_WATCHED)
        return false;
    launch->watched[launch->watched_count++] = offset;
    cps_engine_watch(launch->play->engine, offset);
    return true;
}

/* The engine of the run is there, or another one is. */
static void equip(struct play *play)
{
    struct launch *launch = play->launch;
    cps_engine_work(play->engine, launch->plugin->work, launch->instance);
    for (unsigned i = 0; i < launch->watched_count; i++)
        cps_engine_watch(play->engine, launch->watched[i]);
}

static struct cps_err *load(struct launch *launch)
{
    launch->library = dlopen(launch->path, RTLD_NOW | RTLD_LOCAL);
    if (!launch->library)
        return cps_err_new(CPS_ERR_INPUT, "--launch: %s", dlerror());
    const struct cps_plugin *plugin = dlsym(launch->library, "cps_plugin");
    if (!plugin)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s: no symbol cps_plugin, expected a plugin (tools/run/plugin.h)",
                           launch->path);
    if (plugin->version != CPS_PLUGIN_VERSION)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s: a plugin of version %" PRIu32 " of the interface, expected %u",
                           launch->path, plugin->version, CPS_PLUGIN_VERSION);
    if (!plugin->open || !plugin->work)
        return cps_err_new(CPS_ERR_INPUT, "%s: cps_plugin has no function %s", launch->path,
                           plugin->open ? "work" : "open");
    launch->plugin = plugin;
    return NULL;
}

static struct cps_err *open_plugin(struct launch *launch, const char *word)
{
    size_t size = strlen(word) + sizeof("./");
    char *args = NULL;
    launch->path = malloc(size);
    if (!launch->path)
        return cps_err_nomem();
    args = strchr(word, ':');
    size_t length = args ? (size_t)(args - word) : strlen(word);
    /* A name without a slash is looked up in the system's folders. */
    snprintf(launch->path, size, "%s%s", memchr(word, '/', length) ? "" : "./", word);
    args = strchr(launch->path, ':');
    if (args)
        *args++ = '\0';
    CPS_TRY(load(launch));
    const char *why = launch->plugin->open(&launch->host, args ? args : "", &launch->instance);
    return why ? cps_err_new(CPS_ERR_INPUT, "%s: %s", launch->path, why) : NULL;
}

struct cps_err *launch_open(const char *word, struct play *play, struct launch **ret)
{
    struct launch *launch = calloc(1, sizeof(*launch));
    if (!launch)
        return cps_err_nomem();
    launch->play = play;
    launch->host = (struct cps_plugin_host){.generation = cps_gen_row(play->gen)->number,
                                            .context = launch,
                                            .find = find,
                                            .watch = watch};
    struct cps_err *err = open_plugin(launch, word);
    if (err) {
        launch_close(launch);
        return err;
    }
    play->launch = launch;
    play->equip = equip;
    equip(play);
    *ret = launch;
    return NULL;
}

struct cps_err *launch_failed(const struct launch *launch)
{
    const char *why = launch ? launch->play->engine->work_failed : NULL;
    return why ? cps_err_new(CPS_ERR_INPUT, "%s: %s", launch->path, why) : NULL;
}

void launch_close(struct launch *launch)
{
    if (!launch)
        return;
    if (launch->plugin && launch->plugin->close)
        launch->plugin->close(launch->instance);
    if (launch->library)
        dlclose(launch->library);
    free(launch->path);
    free(launch);
}
