/* SPDX-License-Identifier: MIT
 * One debugging session: the input is read once and kept, so that going back can feed it again. */
#include "tools/face/debugger/session.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "fw/image/place.h"
#include "tools/run/code.h"
#include "tools/run/config.h"
#include "tools/run/interrupt.h"
#include "tools/run/replay.h"
#include "trace/event/launch.h"

static struct cps_err *read_input(struct session *s)
{
    struct cps_stream *stream = NULL;
    struct cps_err *err = NULL;
    /* the bootstrap alone is fine, too */
    bool has_capture = !s->live && (s->capture || s->config->demo);
    s->play.quiet = true; /* session_opened() tells it */
    if (has_capture && !cps_run_is_script(s->config))
        CPS_TRY(play_stream(s->capture, &stream));
    if (stream || s->live)
        err = cps_buffers_create(&s->play.buffers);
    if (stream && !err)
        err = play_read_dump(&s->play, stream);
    if (!err)
        err = play_open(&s->play, s->config, s->capture);
    if (!err && s->live)
        err = s->live->open(s->live, s);
    if (!err)
        err = play_gather(&s->play, stream);
    cps_stream_close(stream);
    return err;
}

static bool any_started(const struct session *s)
{
    unsigned i = 0;
    while (i < session_engine(s)->cores && !cps_engine_where(session_engine(s), i).started)
        i++;
    return i < session_engine(s)->cores;
}

/* A script to its first instruction, and to where it was before if there is none. A dump to the
 * position of the hardware, or to the ring that hung if no place of the replay is it. A capture to
 * the submission asked for; an earlier stop shows itself when the user looks. */
static void go_to_start(struct session *s)
{
    uint32_t wanted = s->config->submit > 0 ? (uint32_t)s->config->submit : 0;
    struct cps_debug_stop stop = {.reason = CPS_WHY_GONE};
    if (play_is_script(&s->play)) {
        bool has_code = cps_isa_has_code(session_engine(s)->ops->isa);
        while (has_code && stop.reason == CPS_WHY_GONE && !any_started(s))
            stop = cps_debug_run(s->debug, CPS_GO_FEED, 0);
        if (has_code && !any_started(s))
            cps_debug_goto_step(s->debug, 0);
    } else if (s->play.dump) {
        while (stop.reason == CPS_WHY_GONE && cps_debug_location(s->debug).fed < s->play.feed.count)
            stop = cps_debug_run(s->debug, CPS_GO_FEED, 0);
        if (stop.reason == CPS_WHY_GONE && s->play.replay->place.by != HANG_NOWHERE)
            cps_debug_run(s->debug, CPS_GO_ON, 0);
    } else if (s->play.feed.submissions || s->live) {
        do {
            stop = session_run(s, CPS_GO_SUBMIT, 0);
        } while (stop.reason == CPS_WHY_GONE && cps_debug_location(s->debug).submission <= wanted);
    }
}

void session_count_instructions(struct session *s, uint64_t instructions)
{
    s->spent += instructions;
    s->limited = s->limited || (s->limit && s->spent > s->limit);
}

static bool is_wanted(const struct session_live *live)
{
    struct pollfd one = {live->listener, POLLIN, 0};
    return interrupted || (live->listener >= 0 && poll(&one, 1, 0) == 1);
}

bool session_interrupted(struct session *s)
{
    return s->limited || (s->live && is_wanted(s->live)) || (s->interrupt && *s->interrupt);
}

static bool count_interrupt(void *context)
{
    session_count_instructions(context, CPS_DEBUG_INTERRUPT);
    return session_interrupted(context);
}

/* Packets that start work, as `state` numbers them: of the processor that draws. */
static bool is_launch(void *context, struct cps_engine *engine, const struct cps_event *packet)
{
    const struct session *s = context;
    const struct cps_names *names = s->play.names[cps_event_who(packet)];
    const struct cps_location after = {0, CPS_FILE_MEMORY, packet->addr + 4};
    uint64_t word = 0;
    if (cps_event_who(packet) != cps_gen_row(engine->gen)->draws)
        return false;
    cps_engine_get(engine, after, &word);
    return cps_launch_kind_of_(names, packet->value, (const uint32_t[]){(uint32_t)word}, 1) !=
           CPS_LAUNCH_NONE;
}

static struct cps_err *load_input(struct session *s)
{
    CPS_TRY(read_input(s));
    if (s->symbols && s->play.fw)
        CPS_TRY(cps_fw_symbols_load(s->play.fw, s->symbols));
    if (s->config->submit > 0 && (uint64_t)s->config->submit >= s->play.feed.submissions)
        return cps_err_new(CPS_ERR_INPUT, "--submit %ld: the capture has %u submissions",
                           s->config->submit, s->play.feed.submissions);
    const struct cps_feeder feeder = {feed_item, &s->play.feed, s->play.feed.until};
    CPS_TRY(cps_debug_create(CPS_TAKE(s->play.engine), &feeder, &s->debug));
    cps_debug_interrupt(s->debug, count_interrupt, s);
    if (session_afuc(s))
        cps_debug_tally(s->debug, is_launch, s);
    return NULL;
}

struct cps_err *session_open_at(struct session *s, uint64_t clock)
{
    CPS_TRY(load_input(s));
    for (bool moves = true; moves && session_engine(s)->clock < clock;) {
        uint64_t step = cps_debug_location(s->debug).step;
        cps_debug_goto_step(s->debug, step + (clock - session_engine(s)->clock));
        moves = cps_debug_location(s->debug).step > step && !count_interrupt(s);
    }
    return cps_debug_nomem(s->debug) ? cps_err_nomem() : NULL;
}

struct cps_err *session_open(struct session *s)
{
    CPS_TRY(load_input(s));
    go_to_start(s);
    s->start = cps_debug_location(s->debug).step;
    return cps_debug_nomem(s->debug) ? cps_err_nomem() : NULL;
}

/* A hang after which the GPU was reset is shown first: a move that begins there goes on. */
static bool recovers(struct session *s, uint64_t began, struct cps_debug_stop *stop)
{
    const struct cps_item *next = feed_item(&s->play.feed, cps_debug_location(s->debug).fed);
    if (!session_hangs(stop) || !session_gives_up(s, began) || !next ||
        next->kind != CPS_ITEM_RECOVER)
        return false;
    struct cps_err *err = cps_debug_feed(s->debug);
    s->hung_at = 0;
    if (err)
        stop->reason = CPS_WHY_NOMEM;
    cps_err_free(err);
    return !err;
}

static bool goes_on(struct session *s, uint64_t began, struct cps_debug_stop *stop)
{
    return recovers(s, began, stop) || (s->live && s->live->more(s->live, stop));
}

struct cps_debug_stop session_run(struct session *s, enum cps_debug_go go, unsigned core)
{
    struct cps_debug_stop stop = s->hung;
    uint64_t began = cps_debug_location(s->debug).step;
    if (s->live)
        s->live->began = began;
    if (s->hung_at && began == s->hung_at)
        goes_on(s, began, &stop);
    do {
        stop = cps_debug_run(s->debug, go, core);
    } while (goes_on(s, began, &stop));
    if (session_hangs(&stop)) {
        s->hung = stop;
        s->hung_at = cps_debug_location(s->debug).step;
    }
    return stop;
}

void session_opened(const struct session *s, struct cps_buf *out)
{
    if (!s->play.replay)
        return;
    hang_place_text(&s->play.replay->place, out);
    cps_buf_str(out, "\n");
    code_put_choice(&s->play, out);
}

void session_close(struct session *s)
{
    cps_debug_destroy(s->debug);
    play_close(&s->play);
}

uint64_t session_value(const struct session *s, unsigned core, char file, uint64_t number)
{
    uint64_t value = 0;
    cps_engine_get(session_engine(s), (struct cps_location){(uint8_t)core, file, number}, &value);
    return value;
}

bool session_has_code(const struct session *s, unsigned core, uint64_t pc)
{
    uint64_t word = 0;
    return cps_engine_get(session_engine(s),
                          (struct cps_location){(uint8_t)core, CPS_FILE_CODE, pc}, &word);
}

uint32_t session_length(const struct session *s, unsigned core, uint32_t pc)
{
    uint8_t bytes[CPS_INSN_BYTES];
    struct cps_insn insn;
    struct cps_engine *engine = session_engine(s);
    if (!cps_engine_decode(engine, core, pc, bytes, &insn))
        return 1;
    uint32_t units = insn.length / cps_isa_unit(engine->ops->isa);
    return units ? units : 1;
}

const struct cps_item *session_item(const struct session *s)
{
    uint64_t fed = cps_debug_location(s->debug).fed;
    return fed ? &s->play.feed.item[fed - 1] : NULL;
}

struct cps_engine *session_stuck(const struct session *s)
{
    struct cps_engine *copy = NULL;
    struct cps_err *err = cps_engine_clone(session_engine(s), &copy);
    if (!err)
        cps_engine_run(copy, 4u << 20);
    cps_err_free(err);
    return err ? NULL : copy;
}

uint32_t session_submission(const struct session *s)
{
    uint32_t fed = cps_debug_location(s->debug).submission;
    return fed ? fed - 1 : 0;
}

const struct cps_fw *session_fw(const struct session *s, unsigned core, unsigned *part)
{
    const struct cps_fw_part *found = NULL;
    const struct cps_fw *fw =
        s->play.fw ? play_part(s->play.fw, s->play.me, session_engine(s)->who[core], &found) : NULL;
    *part = fw ? (unsigned)(found - fw->part) : 0;
    return fw;
}

struct cps_names *session_names(const struct session *s, unsigned core)
{
    return s->play.names[session_engine(s)->who[core]];
}

void session_place(const struct session *s, unsigned core, uint32_t pc, struct cps_buf *out)
{
    const struct cps_afuc *afuc = session_afuc(s);
    int running = cps_fw_header_packet_(afuc ? cps_afuc_header(afuc, core, 0) : 0);
    play_place(&s->play, session_engine(s)->who[core], pc, running, out);
}

/* The user's labels win over the handlers of packets. */
bool session_find_place(const struct session *s, unsigned core, const char *name, size_t length,
                        uint32_t *ret)
{
    const char *plus = memchr(name, '+', length);
    size_t base = plus ? (size_t)(plus - name) : length;
    char *end = (char *)name + length;
    uint32_t offset = plus ? (uint32_t)strtoull(plus + 1, &end, 0) : 0;
    unsigned part = 0;
    const struct cps_fw *fw = session_fw(s, core, &part);
    uint32_t table[CPS_FW_TABLE_SIZE];
    if (!fw || end != name + length)
        return false;
    for (size_t i = 0; i < fw->debug.symbol_count; i++) {
        const struct cps_fw_symbol *symbol = &fw->debug.symbols[i];
        if (symbol->part != part || strlen(symbol->name) != base ||
            memcmp(symbol->name, name, base) != 0)
            continue;
        *ret = symbol->dword + offset;
        return true;
    }
    cps_fw_table_of_(fw, &fw->part[part], table);
    uint32_t handler = cps_fw_handler_find_(table, session_names(s, core), name, base);
    *ret = handler + offset;
    return handler != CPS_FW_NONE;
}

const char *session_core_name(const struct session *s, unsigned core)
{
    return cps_processor_name(session_engine(s)->who[core]);
}

int session_find_core(const struct session *s, const char *name)
{
    int i = (int)session_engine(s)->cores - 1;
    while (i >= 0 && strcmp(session_core_name(s, (unsigned)i), name) != 0)
        i--;
    return i;
}

bool session_event_before(const struct session *s, enum cps_event_kind kind, uint64_t *number,
                          struct cps_event *ret)
{
    while (*number && cps_debug_event(s->debug, --*number, ret)) {
        if (cps_event_kind(ret) == kind)
            return true;
    }
    return false;
}

bool session_last_packet(const struct session *s, unsigned core, struct cps_event *ret)
{
    uint64_t number = cps_debug_location(s->debug).event;
    while (session_event_before(s, CPS_EV_PKT, &number, ret)) {
        if (cps_event_who(ret) == session_engine(s)->who[core])
            return true;
    }
    return false;
}
