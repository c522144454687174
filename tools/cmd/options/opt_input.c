/* SPDX-License-Identifier: MIT
 * Which files a command takes: one that is certainly of another kind is refused by what it is,
 * before a reader looks for what it expects. */
#include <string.h>

#include "tools/cmd/options/opt_engine.h"
#include "tools/cmd/options/opt_table.h"
#include "tools/run/file_kind.h"

enum {
    CAPTURES = FILE_CAPTURE | FILE_HANG,
    KNOWN = CAPTURES | FILE_TRACE | FILE_FIRMWARE, /* what is refused in a wrong place */
};

/* What the arguments of a command may be. KNOWN: whatever they are, its own code decides. */
static unsigned kinds_taken(unsigned command, const struct cps_options *opt)
{
    switch (1 << command) {
    case RUN:
    case STEP:
    case PROFILE:
    case COVER:
    case DECODE:
    case STATE:
    case REDUCE:
    case WHY:
        return CAPTURES;
    case VIEW:
        return CAPTURES | FILE_TRACE;
    case DIFF:
        return opt->run.fw_count ? CAPTURES : FILE_TRACE;
    case CHECK:
        return FILE_TRACE;
    case CONVERT: /* several files are wrong usage */
        return opt->arg_count == 1 ? CAPTURES | FILE_TRACE : KNOWN;
    case DISASM:
        return opt->arg_count == 1 ? FILE_FIRMWARE : KNOWN;
    default:
        return KNOWN;
    }
}

static const char *expected_text(unsigned kinds)
{
    return kinds & FILE_FIRMWARE                        ? "firmware"
           : kinds & FILE_TRACE && kinds & FILE_CAPTURE ? "a capture or a trace"
           : kinds & FILE_TRACE                         ? "a trace"
                                                        : "a capture";
}

static struct cps_err *check_kind(const char *path, unsigned taken)
{
    enum file_kind kind = taken == KNOWN ? FILE_UNKNOWN : file_kind_at(path);
    if (!(kind & KNOWN) || kind & taken)
        return NULL;
    const char *found = kind == FILE_TRACE      ? "a trace"
                        : kind == FILE_FIRMWARE ? "firmware"
                        : kind == FILE_HANG     ? "a hang dump"
                                                : "a capture";
    const char *use =
        kind == FILE_TRACE      ? "`info`, `diff`, `check` and `convert` take traces"
        : kind == FILE_FIRMWARE ? taken & FILE_TRACE && !(taken & FILE_CAPTURE)
                                      ? "`diff --fw OLD --fw NEW` compares firmware"
                                      : "name it with --fw; `info` and `disasm` take it, too"
        : kind == FILE_HANG ? "`info` describes it, `run` replays it, `disasm --from` lists its "
                              "firmware"
                            : "`decode` prints it, `run --fw FW CAPTURE` runs firmware over it";
    return cps_err_new(CPS_ERR_INPUT, "%s: this is %s, expected %s: %s", path, found,
                       expected_text(taken), use);
}

struct cps_err *opt_check_inputs(unsigned command, const struct cps_options *opt)
{
    unsigned taken = kinds_taken(command, opt);
    unsigned count = 1 << command == WHY && opt->arg_count ? 1 : opt->arg_count;
    if (opt->run.engine && strcmp(opt->run.engine, "afuc") != 0)
        return NULL;
    for (unsigned i = 0; i < opt->run.fw_count && !opt->run.gen; i++)
        CPS_TRY(check_kind(opt->run.fw[i], FILE_FIRMWARE));
    for (unsigned i = 0; i < count && !(taken == FILE_FIRMWARE && opt->run.gen); i++)
        CPS_TRY(check_kind(opt->arg[i], taken));
    return NULL;
}
