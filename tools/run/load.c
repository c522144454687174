/* SPDX-License-Identifier: MIT
 * Loading: firmware or a script, the engine for it, names. */
#include "tools/run/play.h"
#include "isa/base/within.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cpscope.h"
#include "fw/demo/demo.h"
#include "tools/run/code.h"
#include "tools/run/dump.h"
#include "tools/run/replay.h"

unsigned play_revisions(const struct cps_run_config *config)
{
    struct cps_fw *fw = NULL;
    if (config->fw_count == 1 || config->fw_count == 4)
        return config->fw_count == 1 ? 1 : 2;
    if (config->fw_count != 2)
        return 0;
    cps_err_free(cps_fw_load(config->fw[0], config->gen, &fw));
    unsigned each = fw ? cps_gen_row(fw->gen)->files : 1;
    cps_fw_destroy(fw);
    return 2 / each;
}

void play_side(const struct cps_run_config *config, unsigned sides, unsigned side,
               struct cps_run_config *ret)
{
    unsigned each = config->fw_count / sides;
    *ret = *config;
    ret->fw_count = each;
    for (unsigned i = 0; i < each; i++)
        ret->fw[i] = config->fw[side * each + i];
}

/* a5xx: the PFP and the ME come as two files in any order. */
static struct cps_err *load_pair(struct play *play)
{
    const struct cps_run_config *config = play->config;
    if (config->fw_count < 2)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s: this is the %s of a5xx, expected the files of both processors: "
                           "--fw PFP --fw ME",
                           play->fw->name, cps_fw_role_name(play->fw->part[0].role));
    CPS_TRY(cps_fw_load(config->fw[1], config->gen, &play->me));
    if (play->fw->part[0].role == CPS_FW_ME) {
        struct cps_fw *me = play->fw;
        play->fw = play->me;
        play->me = me;
        play->me_first = true;
    }
    if (play->fw->gen == CPS_A5XX && play->me->gen == CPS_A5XX &&
        play->fw->part[0].role == CPS_FW_PFP && play->me->part[0].role == CPS_FW_ME)
        return NULL;
    if (play->fw->gen == CPS_A5XX && play->me->gen == CPS_A5XX)
        return cps_err_new(
            CPS_ERR_INPUT, "%s and %s are both the %s of a5xx, expected its PFP and its ME (pm4)",
            play->fw->name, play->me->name, cps_fw_role_name(play->fw->part[0].role));
    return cps_err_new(CPS_ERR_INPUT, "%s and %s: expected one PFP and one ME (pm4) of a5xx",
                       play->fw->name, play->me->name);
}

static struct cps_err *load_firmware(struct play *play)
{
    const struct cps_run_config *config = play->config;
    bool demo = config->demo && !config->fw_count;
    if (play->fw)
        return NULL; /* the caller has made it */
    if (!demo && !config->fw_count)
        return cps_err_new(CPS_ERR_USAGE, "expected firmware");
    CPS_TRY(demo
                ? cps_fw_parse("demo_sqe.fw", cps_demo_fw, cps_demo_fw_size, config->gen, &play->fw)
                : cps_fw_load(config->fw[0], config->gen, &play->fw));
    CPS_TRY(cps_chip_id_check(&config->chip_id, play->fw));
    if (cps_gen_row(play->fw->gen)->files > 1)
        return load_pair(play);
    if (config->fw_count > 1)
        return cps_err_new(CPS_ERR_INPUT, "%s: %s firmware is one file, found a second one: %s",
                           play->fw->name, cps_gen_name(play->fw->gen), config->fw[1]);
    return NULL;
}

static struct cps_err *build_engine(struct play *play)
{
    struct cps_config config = {.gen = play->gen, .policy = play->policy, .host = play->host};
    if (play->fw) {
        /* What its firmware says of the engine. */
        uint32_t low = 0;
        uint32_t high = 0;
        cps_config_firmware(&config, play->fw, play->me);
        const struct cps_chip_id *chip = &play->config->chip_id;
        if (chip->given)
            config.chip = chip->id;
        config.has_variant = chip->has_variant;
        if (chip->has_variant)
            config.variant = chip->variant;
        /* A hardware dump says where the firmware's image lay. */
        if (play->dump && dump_reg(play->dump, 0x830, &low) && dump_reg(play->dump, 0x831, &high))
            config.instr_iova = (uint64_t)high << 32 | low;
    }
    CPS_TRY(cps_engine_create(&config, &play->engine));
    if (play->equip)
        play->equip(play);
    return NULL;
}

/* Registers are reported once by each processor, memory and streams each time. */
static void note_place(struct play *play, const struct cps_event *event)
{
    unsigned place = cps_event_sub(event);
    unsigned i = 0;
    while (i < play->place_count &&
           (play->place[i].place != place || play->place[i].number != event->addr))
        i++;
    if (i == PLAY_MAX_PLACES)
        return;
    if (i == play->place_count)
        play->place[play->place_count++] = (struct play_unmodelled){place, event->addr, 0};
    play->place[i].count++;
}

/* The first event from @p i on whose kind is one of a set; most are not. */
static size_t find_kind(const struct cps_event *events, size_t i, size_t count, uint32_t kinds)
{
    while (i < count && !(kinds >> (events[i].head & 31) & 1))
        i++;
    return i;
}

/* Keeps what the summary says, and hands on what the trace records. */
static void take_events(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct play *play = (struct play *)((char *)sink - offsetof(struct play, sink));
    size_t from = 0;
    uint32_t noted = play->extra | 1u << CPS_EV_UNMODELLED | 1u << CPS_EV_ASSUME;
    uint32_t drop = noted & ~play->kinds;
    struct cps_sink *trace = play->muted ? NULL : play->trace;
    for (size_t i = 0; (i = find_kind(events, i, count, noted)) < count; i++) {
        unsigned kind = cps_event_kind(&events[i]);
        if (!(play->extra >> kind & 1)) {
            /* What the summary says of an event. */
            const struct cps_event *event = &events[i];
            if (cps_event_kind(event) == CPS_EV_UNMODELLED)
                note_place(play, event);
            if (cps_event_unknown(event))
                play->unknown[event->addr]++;
        } else if (play->watcher)
            play->watcher->put(play->watcher, &events[i], 1);
        if (!(drop >> kind & 1))
            continue;
        if (trace && i > from)
            trace->put(trace, events + from, i - from);
        from = i + 1;
    }
    if (trace && count > from)
        trace->put(trace, events + from, count - from);
}

struct cps_err *play_check_gpu(const struct play *play)
{
    unsigned generation = cps_gpu_generation(play->gpu);
    bool same = !play->gpu || generation == cps_gen_row(play->fw->gen)->number;
    if (play->config->as && play->config->as != play->fw->gen)
        return cps_err_new(CPS_ERR_INPUT, "--as %s: the firmware %s is %s",
                           cps_gen_name((enum cps_gen)play->config->as), play->fw->name,
                           cps_gen_name(play->fw->gen));
    if (same || play->config->as)
        return NULL;
    return cps_err_new(CPS_ERR_MISMATCH,
                       play->gpu < 1000
                           ? "the capture is from a GPU of generation a%uxx (id %" PRIu64
                             "), the firmware %s is %s (use --as %s to run it anyway)"
                           : "the capture is from a GPU of generation a%uxx (chip id 0x%" PRIx64
                             "), the firmware %s is %s (use --as %s to run it anyway)",
                       generation, play->gpu, play->fw->name, cps_gen_name(play->fw->gen),
                       cps_gen_name(play->fw->gen));
}

/* "preempt@0:5,gmu@1:0", in order. */
static struct cps_err *inject(struct play *play)
{
    static const char *const kinds[] = {[CPS_INJECT_PREEMPT] = "preempt@",
                                        [CPS_INJECT_SWITCH] = "switch@",
                                        [CPS_INJECT_GMU] = "gmu@"};
    const char *at = play->config->inject;
    while (at && *at) {
        unsigned kind = CPS_INJECT_PREEMPT;
        while (kind < CPS_INJECT_GMU && strncmp(at, kinds[kind], strlen(kinds[kind])))
            kind++;
        unsigned submission = 0;
        unsigned packet = 0;
        int length = 0;
        bool good = !strncmp(at, kinds[kind], strlen(kinds[kind]));
        at += good ? strlen(kinds[kind]) : 0;
        good = good && sscanf(at, "%u:%u%n", &submission, &packet, &length) == 2;
        at += length;
        if (!good || (*at && *at != ',') ||
            !cps_afuc_inject(cps_afuc_of(play->engine), kind, submission, packet))
            return cps_err_new(CPS_ERR_INPUT,
                               "--inject %s: expected up to 64 of preempt@SUBMIT:PACKET, "
                               "switch@SUBMIT:PACKET or gmu@SUBMIT:PACKET, with commas between",
                               play->config->inject);
        at += *at == ',';
    }
    return NULL;
}

static bool has_handler(const struct cps_fw *fw, unsigned packet)
{
    uint32_t table[CPS_FW_TABLE_SIZE];
    bool own[CPS_FW_TABLE_SIZE];
    cps_fw_table_of_(fw, &fw->part[0], table);
    cps_fw_own_handlers_(table, own);
    return own[packet];
}

/* The interrupt of the GMU is a packet, which firmware without the handler would refuse as bad. */
static struct cps_err *check_gmu(const struct play *play)
{
    enum { IN_GMU_INTERRUPT = 0x0b };
    const char *list = play->fw ? play->config->inject : NULL;
    if (!list || !strstr(list, "gmu@") || has_handler(play->fw, IN_GMU_INTERRUPT))
        return NULL;
    return cps_err_new(CPS_ERR_INPUT,
                       "--inject %s: %s has no handler of the GMU's interrupt, packet 0x%02x", list,
                       play->fw->name, IN_GMU_INTERRUPT);
}

bool play_has_processors(const struct play *play)
{
    return play_has_processors_of(play, play->engine);
}

/* The policy of a run file, word by word: a mistake is said with its place. */
static struct cps_err *script_policy(struct play *play)
{
    const struct cps_script *script = &play->script;
    for (size_t i = 0; i < script->policy_count; i++) {
        const struct cps_script_word *word = &script->policy_word[i];
        const char *at = cps_buf_text(&script->policy) + word->at;
        CPS_BUF one = {0};
        cps_buf_add(&one, at, strcspn(at, " "));
        if (one.failed)
            return cps_err_nomem();
        CPS_TRY(cps_err_within_(cps_policy_parse(cps_buf_text(&one), play->gen, &play->policy),
                                "%s:%u:%u", script->name, (unsigned)word->line,
                                (unsigned)word->column));
    }
    return NULL;
}

struct cps_err *play_check_recover(const struct play *play, const struct cps_run_config *config,
                                   const char *input)
{
    if (!config->no_recover || play->dump)
        return NULL;
    return cps_err_new(CPS_ERR_USAGE, "--no-recover: %s is no hang dump", input);
}

/* The words of a recording, then those of the options. */
static struct cps_err *input_policy(struct play *play, const char *input)
{
    const char *words = cps_buf_text(&play->recorded);
    if (play->recorded.failed)
        return cps_err_nomem();
    if (play->recorded.size)
        CPS_TRY(cps_err_within_(cps_policy_parse(words, play->gen, &play->policy), "%s",
                                input ? input : "the capture"));
    return cps_run_apply_policy(play->config, play->gen, &play->policy);
}

struct cps_err *play_open(struct play *play, const struct cps_run_config *config, const char *input)
{
    play->items.item = play_take_item_;
    play->sink.put = take_events;
    play->config = config;
    if (cps_run_wants_script(config)) {
        /* The chip or ABI, where options and not firmware say it. */
        const struct cps_isa *isa = NULL;
        unsigned gen = play->config->fw_count ? cps_named_engine(play->config->fw[0]) : 0;
        if (gen)
            isa = cps_gen_isa((enum cps_gen)gen);
        else
            CPS_TRY(cps_run_script_engine(play->config, &isa, &gen));
        if (!input)
            return cps_err_new(CPS_ERR_INPUT, "expected a script");
        CPS_TRY(play_load_script(input, isa, gen, &play->script));
        play->gen = play->script.gen;
    } else {
        CPS_TRY(load_firmware(play));
        if (input || config->demo)
            CPS_TRY(play_check_recover(play, config, input ? input : "the demo's capture"));
        if (play->dump)
            CPS_TRY(code_open(play));
        play->gen = play->fw->gen;
    }
    play->policy = cps_policy_default();
    play->policy.prefetch =
        play->dump && play->fw ? CPS_PREFETCH_ON : CPS_PREFETCH_OFF; /* as hardware does it */
    if (play->dump && play->dump->policy.size) /* an emulator's dump says how it ran */
        CPS_TRY(cps_err_within_(
            cps_policy_parse(cps_buf_text(&play->dump->policy), play->gen, &play->policy),
            "the dump's policy"));
    CPS_TRY(script_policy(play));
    CPS_TRY(input_policy(play, input));
    CPS_TRY(build_engine(play));
    CPS_TRY(inject(play));
    CPS_TRY(check_gmu(play));
    /* Every processor numbers its own control registers; only a5xx has two layouts in one engine.
     */
    enum cps_layout first = play->fw ? play->fw->layout : cps_gen_layout(play->gen);
    for (unsigned i = 0; i < play->engine->cores; i++) {
        unsigned who = play->engine->who[i];
        enum cps_layout layout = who == CPS_CPU_ME ? CPS_LAYOUT_A5XX_ME : first;
        CPS_TRY(cps_names_create(layout, play->config->rnn, &play->names[who]));
    }
    if (!play->fw)
        CPS_TRY(cps_names_create(first, play->config->rnn, &play->names[CPS_CPU_HOST]));
    return play->fw ? NULL : play_script_items(play);
}

void play_watch_replay(struct play *play)
{
    if (!play->dump)
        return;
    play->extra |= 1u << CPS_EV_STEP | 1u << CPS_EV_STEPX;
    play->watcher = play->code ? &play->code->steps : NULL;
}

void play_close(struct play *play)
{
    cps_engine_destroy(play->engine);
    for (unsigned i = 0; i < CPS_CPU_COUNT; i++)
        cps_names_destroy(play->names[i]);
    cps_fw_destroy(play->me);
    cps_fw_destroy(play->fw);
    cps_script_deinit(&play->script);
    feed_deinit(&play->feed);
    replay_free(play->replay);
    code_free(play->code);
    cps_buffers_destroy(play->buffers);
    if (play->dump)
        dump_deinit(play->dump);
    free(play->dump);
    cps_buf_deinit(&play->recorded);
    cps_buf_deinit(&play->missed);
    cps_buf_deinit(&play->hung);
}

struct cps_err *play_restart(struct play *play)
{
    cps_engine_destroy(play->engine);
    play->engine = NULL;
    play->begun = play->booted = play->stopped = false;
    play->place_count = 0;
    CPS_TRY(build_engine(play));
    return inject(play);
}

struct cps_err *play_adopt(struct play *play, struct cps_engine *booted)
{
    cps_engine_destroy(play->engine);
    play->engine = NULL;
    CPS_TRY(cps_engine_clone(booted, &play->engine));
    play->begun = play->booted = true;
    play->stop = CPS_STOP_IDLE;
    play_watch(play);
    return NULL;
}

struct cps_err *play_borrow(struct play *play, const struct cps_run_config *config,
                            struct play *from, struct cps_engine *state)
{
    play->items.item = play_take_item_;
    play->sink.put = take_events;
    play->config = config;
    CPS_TRY(from->engine ? cps_engine_restore(&from->engine, state)
                         : cps_engine_clone(state, &from->engine));
    play->fw = from->fw;
    play->me = from->me;
    play->gen = from->gen;
    play->policy = from->policy;
    play->engine = CPS_TAKE(from->engine);
    CPS_TRY(input_policy(play, NULL));
    play->engine->policy = play->policy;
    return NULL;
}

/* The next run is not this one's to watch or to count. */
void play_return(struct play *play, struct play *to)
{
    cps_engine_sink(play->engine, NULL, 0);
    for (unsigned i = 0; i < play->engine->cores; i++)
        cps_engine_cover(play->engine, i, NULL, 0);
    to->engine = CPS_TAKE(play->engine);
    play->fw = play->me = NULL;
}

void play_watch(struct play *play)
{
    cps_engine_sink(play->engine, &play->sink,
                    play->kinds | play->extra | 1u << CPS_EV_UNMODELLED | 1u << CPS_EV_ASSUME);
}
