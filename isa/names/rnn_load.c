/* SPDX-License-Identifier: MIT
 * Which files of a tree are read: those of Adreno by their names, NVIDIA's from the one that
 * imports the others. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "isa/base/source.h"
#include "isa/nv/rnn_nv.h"

#define MAX_BYTES ((size_t)64 << 20) /* of a file; the largest real one has 1 MB */

/* What these define is used by the others; alone they are no database. */
static const char *const shared_files[] = {"adreno_common.xml", "a6xx_enums.xml", "a7xx_enums.xml",
                                           "a8xx_enums.xml", NULL};
static const char *const a5xx_files[] = {"a5xx.xml", NULL};
static const char *const later_files[] = {"a6xx.xml", CPS_RNN_GMU_FILE, "a7xx.xml", "a8xx.xml",
                                          NULL};
static const char *const all_files[] = {"adreno_control_regs.xml", "adreno_pipe_regs.xml",
                                        "adreno_pm4.xml", NULL};

/* Reads DIR/NAME or DIR/adreno/NAME; counts it in `found` if it is there. */
static struct cps_err *load_file(struct cps_rnn *rnn, const char *dir, const char *name,
                                 unsigned *found)
{
    static const char *const places[] = {"", "adreno/"};
    for (unsigned i = 0; i < 2; i++) {
        CPS_BUF path = {0};
        cps_buf_printf(&path, "%s/%s%s", dir, places[i], name);
        if (path.failed)
            return cps_err_nomem();
        if (access(cps_buf_text(&path), F_OK) && (errno == ENOENT || errno == ENOTDIR))
            continue;
        CPS_FREE uint8_t *data = NULL;
        size_t size = 0;
        CPS_TRY(cps_source_all_(cps_buf_text(&path), MAX_BYTES, &data, &size));
        CPS_TRY(cps_rnn_parse_(rnn, cps_buf_text(&path), data, size));
        *found += 1;
        return NULL;
    }
    return NULL;
}

static struct cps_err *load_list(struct cps_rnn *rnn, const char *dir, const char *const *names,
                                 unsigned *found)
{
    for (; *names; names++)
        CPS_TRY(load_file(rnn, dir, *names, found));
    return NULL;
}

static struct cps_err *load(struct cps_rnn *rnn, const char *dir)
{
    if (rnn->nv) {
        CPS_TRY(cps_rnn_nv_load_(rnn, dir));
        return cps_rnn_finish_(rnn);
    }
    bool is_a5xx = cps_layout_gen(rnn->layout) == CPS_A5XX;
    const char *const *own_files = is_a5xx ? a5xx_files : later_files;
    unsigned ignored = 0;
    unsigned found = 0;
    CPS_TRY(load_list(rnn, dir, shared_files, &ignored));
    CPS_TRY(load_list(rnn, dir, own_files, &found));
    CPS_TRY(load_list(rnn, dir, all_files, &found));
    if (!found)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s: no rnndb XML here: expected %s, %s, %s or %s, or adreno/ with them",
                           dir, own_files[0], all_files[0], all_files[1], all_files[2]);
    return cps_rnn_finish_(rnn);
}

struct cps_err *cps_rnn_load_(enum cps_layout layout, const char *dir, struct cps_rnn **ret)
{
    struct cps_rnn *rnn = NULL;
    CPS_TRY(cps_rnn_create_(layout, &rnn));
    struct cps_err *err = load(rnn, dir);
    if (err) {
        cps_rnn_destroy_(rnn);
        return err;
    }
    *ret = rnn;
    return NULL;
}
