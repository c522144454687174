/* SPDX-License-Identifier: MIT
 * The configuration of a run: policies, the chip, and engines that run scripts. */
#include "tools/run/config.h"

#include <string.h>
#include <unistd.h>

#include "fw/fw.h"

struct cps_run_config cps_run_config_default(void)
{
    return (struct cps_run_config){.limit = 100000000, .submit = -1};
}

void cps_run_set_policy(struct cps_run_config *config, const char *text)
{
    config->policy[0] = (struct cps_run_policy){NULL, text};
    config->policy_count = text != NULL;
}

struct cps_err *cps_run_policy_for(const struct cps_run_config *config, unsigned engines,
                                   struct cps_policy *ret)
{
    for (unsigned i = 0; i < config->policy_count && i < CPS_RUN_MAX_POLICY; i++) {
        const struct cps_run_policy *policy = &config->policy[i];
        CPS_BUF text = {0};
        cps_buf_printf(&text, "%s%s%s", policy->name ? policy->name : "", policy->name ? "=" : "",
                       policy->text);
        if (text.failed)
            return cps_err_nomem();
        CPS_TRY(cps_policy_parse_for(cps_buf_text(&text), engines, ret));
    }
    return NULL;
}

struct cps_err *cps_run_apply_policy(const struct cps_run_config *config, enum cps_gen gen,
                                     struct cps_policy *ret)
{
    return cps_run_policy_for(config, config->policy_mixed ? CPS_ON_ALL : cps_engines_of(gen), ret);
}

struct cps_err *cps_chip_id_check(const struct cps_chip_id *chip, const struct cps_fw *fw)
{
    if (chip->given && fw->gen == CPS_A5XX)
        return cps_err_new(CPS_ERR_USAGE, "--chip-id: %s is %s, which has no CHIP_ID", fw->name,
                           cps_gen_name(fw->gen));
    if (chip->has_variant && fw->gen == CPS_A6XX)
        return cps_err_new(CPS_ERR_USAGE,
                           "--chip-id: %s is %s, which has no CHIP_VARIANT, expected an ID alone",
                           fw->name, cps_gen_name(fw->gen));
    return NULL;
}

bool cps_run_is_script(const struct cps_run_config *config)
{
    return config->engine && strcmp(config->engine, "afuc") != 0;
}

/* The row of an engine's first generation; NULL if no engine of scripts is called @p name. */
static const struct cps_gen_row *find_engine(const char *name)
{
    for (unsigned gen = 1; gen < CPS_GEN_COUNT; gen++) {
        const struct cps_gen_row *row = cps_gen_row((enum cps_gen)gen);
        if (!cps_gen_is_afuc((enum cps_gen)gen) && !strcmp(cps_isa_name(row->isa), name))
            return row;
    }
    return NULL;
}

struct cps_err *cps_run_script_engine(const struct cps_run_config *config,
                                      const struct cps_isa **isa, unsigned *gen)
{
    enum cps_gen found = CPS_GEN_NONE;
    const struct cps_gen_row *engine = find_engine(config->engine);
    *gen = 0;
    if (!engine)
        return cps_err_new(CPS_ERR_USAGE, "engine %s: expected afuc, hwsq, seq, vp1 or pfifo",
                           config->engine);
    *isa = engine->isa;
    if (!config->chip)
        return NULL;
    if (!cps_chip_parse(*isa, config->chip, &found)) {
        CPS_BUF words = {0};
        cps_chip_expected(*isa, config->chip, &words);
        return words.failed ? cps_err_nomem()
                            : cps_err_new(CPS_ERR_USAGE, "--%s %s: expected %s", engine->option,
                                          config->chip, cps_buf_text(&words));
    }
    *gen = found;
    return NULL;
}

/* The engine before the colon of "hwsq:g92", NULL if it is none. @p word  gets the rest */
static const struct cps_gen_row *engine_in(const char *path, const char **word)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *colon = strchr(name, ':');
    char engine[24] = "";
    if (!colon || (size_t)(colon - name) >= sizeof(engine))
        return NULL;
    memcpy(engine, name, (size_t)(colon - name));
    *word = colon + 1;
    return find_engine(engine);
}

unsigned cps_named_engine(const char *path)
{
    const char *word = NULL;
    enum cps_gen found = CPS_GEN_NONE;
    const struct cps_gen_row *row = engine_in(path, &word);
    return row && cps_chip_parse(row->isa, word, &found) ? found : CPS_GEN_NONE;
}

bool cps_run_wants_script(const struct cps_run_config *config)
{
    return cps_run_is_script(config) || (config->fw_count && cps_named_engine(config->fw[0]));
}

struct cps_err *cps_named_engine_check(const char *path)
{
    const char *word = NULL;
    const struct cps_gen_row *row = engine_in(path, &word);
    CPS_BUF words = {0};
    if (!row || cps_named_engine(path) || !access(path, F_OK))
        return NULL;
    cps_chip_expected(row->isa, word, &words);
    if (words.failed)
        return cps_err_nomem();
    return cps_err_new(CPS_ERR_USAGE, "%s: expected %s", path, cps_buf_text(&words));
}
