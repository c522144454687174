/* SPDX-License-Identifier: MIT
 * cpscope profile: what firmware spends its instructions on, over a capture. */
#include <string.h>

#include "tools/cmd/options/opt.h"
#include "isa/base/within.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/terminal/report.h"
#include "tools/cmd/terminal/text.h"
#include "tools/explain/profile/profile.h"
#include "tools/explain/summary/summary.h"
#include "tools/run/account.h"

int cmd_profile(const struct cps_options *opt);

static struct cps_err *play(const struct cps_options *opt, struct play *play,
                            struct cps_stream **capture, struct profile *profile)
{
    const char *path = opt->arg_count ? opt->arg[0] : opt->run.demo ? NULL : play_nothing;
    CPS_TRY(play_stream(path, capture));
    CPS_TRY(play_read_dump(play, *capture));
    play->boot_only = path == play_nothing;
    CPS_TRY(play_open(play, &opt->run, opt->arg_count ? opt->arg[0] : NULL));
    if (opt->symbols)
        CPS_TRY(cps_fw_symbols_load(play->fw, opt->symbols));
    profile_begin(profile, play);
    return play_run(play, *capture);
}

static struct cps_err *write_profile(const struct cps_options *opt, struct profile *profile)
{
    static const struct {
        const char *word;
        void (*put)(const struct profile *profile, struct cps_buf *out);
    } forms[] = {
#define FORM(word) {#word, profile_##word},
#include "tools/explain/profile/form.def"
    };
    size_t i = 0;
    CPS_BUF text = {0};
    while (opt->to && i + 1 < sizeof(forms) / sizeof(forms[0]) && strcmp(opt->to, forms[i].word))
        i++;
    profile_finish(profile);
    (opt->json ? profile_json : forms[i].put)(profile, &text);
    if (!opt->output || !strcmp(opt->output, "-"))
        return report_text(&text);
    return cps_outfile_whole(opt->output, tool_text(&text), text.size);
}

int cmd_profile(const struct cps_options *opt)
{
    struct play_account account;
    struct cps_stream *capture = NULL;
    if (opt->arg_count > 1)
        return report_usage("profile takes one capture, found a second one");
    if (!opt->run.fw_count && !opt->run.demo)
        return report_usage("profile needs --fw FILE and a capture (\"-\" is stdin), or --demo");
    if (opt->json && opt->to)
        return report_usage("profile takes --json or --to, not both");
    struct play *player = tool_alloc(1, sizeof(*player));
    struct profile *profile = tool_alloc(1, sizeof(*profile));
    struct cps_err *err = tool_err(play(opt, player, &capture, profile));
    /* What ran before a capture was cut is a profile of that much. */
    if (!err || player->executed)
        err = cps_err_first_(err, write_profile(opt, profile));
    cps_stream_close(capture);
    if (!err)
        err = play_account_take(player, &account);
    int status = err ? report_error(err)
                     : summary_print_stop(&account, opt->arg_count ? opt->arg[0] : "demo.pm4");
    profile_deinit(profile);
    play_close(player);
    free(profile);
    free(player);
    return status;
}
