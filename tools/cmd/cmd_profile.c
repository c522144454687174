/* SPDX-License-Identifier: MIT
 * cpscope profile: what firmware spends its instructions on, over a capture. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/within.h"
#include "tools/run/account.h"
#include "tools/explain/profile/profile.h"
#include "tools/cmd/terminal/report.h"
#include "tools/cmd/terminal/text.h"
#include "trace/out/json.h"

int cmd_profile(const struct cps_options *opt);

typedef struct cps_err *form_fn(const struct profile *profile, struct cps_buf *out);

static struct cps_err *put_json(const struct profile *profile, struct cps_buf *out)
{
    struct json_object *json = profile_json(profile);
    cps_json_put(out, json, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
    cps_buf_str(out, "\n");
    json_object_put(json);
    return out->failed ? cps_err_nomem() : NULL;
}

static const struct form {
    const char *word;
    form_fn *put;
} forms[] = {
#define FORM(word) {#word, profile_##word},
#include "tools/explain/profile/form.def"
};

static form_fn *form_of(const struct cps_options *opt)
{
    size_t i = 0;
    if (opt->json)
        return put_json;
    while (opt->to && i + 1 < sizeof(forms) / sizeof(forms[0]) && strcmp(opt->to, forms[i].word))
        i++;
    return forms[i].put;
}

static struct cps_err *play(const struct cps_options *opt, struct play *play,
                            struct cps_stream **capture, struct profile *profile)
{
    const char *path = opt->arg_count ? opt->arg[0] : opt->demo ? NULL : play_nothing;
    CPS_TRY(play_stream(path, capture));
    CPS_TRY(play_read_dump(play, *capture));
    play->boot_only = path == play_nothing;
    CPS_TRY(play_open(play, opt, opt->arg_count ? opt->arg[0] : NULL));
    if (opt->symbols)
        CPS_TRY(cps_fw_symbols_load(play->fw, opt->symbols));
    profile_begin(profile, play);
    return play_run(play, *capture);
}

/* What ran before a capture was cut is a profile of that much. */
static struct cps_err *write(const struct cps_options *opt, const struct profile *profile,
                             form_fn *put)
{
    CPS_BUF text = {0};
    CPS_TRY(put(profile, &text));
    if (!opt->output || !strcmp(opt->output, "-"))
        return report_text(&text);
    return cps_outfile_whole(opt->output, cps_buf_text(&text), text.size);
}

static struct cps_err *execute(const struct cps_options *opt, struct play *player,
                               struct profile *profile, form_fn *put)
{
    struct cps_stream *capture = NULL;
    struct cps_err *err = play(opt, player, &capture, profile);
    bool nomem = err && err->code == CPS_ERR_NOMEM;
    if (!nomem && (!err || player->executed)) {
        struct cps_err *late = profile_finish(profile);
        err = cps_err_first_(err, late ? late : write(opt, profile, put));
    }
    cps_stream_close(capture);
    return err;
}

int cmd_profile(const struct cps_options *opt)
{
    form_fn *put = form_of(opt);
    if (opt->arg_count > 1)
        return report_usage("profile takes one capture, found a second one");
    if (!opt->fw_count && !opt->demo)
        return report_usage("profile needs --fw FILE and a capture (\"-\" is stdin), or --demo");
    if (opt->json && opt->to)
        return report_usage("profile takes --json or --to, not both");
    struct play *player = calloc(1, sizeof(*player));
    struct profile *profile = calloc(1, sizeof(*profile));
    struct cps_err *err = player && profile ? NULL : cps_err_nomem();
    if (!err)
        err = execute(opt, player, profile, put);
    struct play_account account;
    if (!err)
        err = play_account_take(player, &account);
    int status = err ? report_error(err)
                     : play_account_tell(&account, opt->arg_count ? opt->arg[0] : "demo.pm4");
    if (profile)
        profile_deinit(profile);
    if (player)
        play_close(player);
    free(profile);
    free(player);
    return status;
}
