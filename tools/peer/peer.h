/* SPDX-License-Identifier: MIT
 * The engines that run scripts (HWSQ, SEQ, VP1) or what a host does to them (PFIFO): which one is
 * meant, and what commands do with it. */
#ifndef CPS_PEER_H
#define CPS_PEER_H

#include "emu/engine.h"
#include "fw/script/script.h"
#include "tools/opt.h"
#include "trace/form/text.h"

/** Whether the options name another engine than afuc. */
bool peer_wanted(const struct cps_options *opt);
/** Which one: its instruction set, and its chip or ABI, 0 if a file has to say it.
 * @return 0, or 2 after one line on stderr */
int peer_usage(const struct cps_options *opt, const struct cps_isa **isa, unsigned *gen);

/**
 * The chip or ABI that a name such as "hwsq:g92" or "seq:old" stands for where firmware is named,
 * with or without folders in front; 0 if it is none.
 */
unsigned peer_firmware(const char *path);
/** The other way round: "hwsq:g92". */
void peer_firmware_name(enum cps_gen gen, char ret[24]);

/** Reads a script file, or stdin for "-". @p gen  0: as the file says; the caller calls
 * cps_script_deinit() in any case */
CPS_MUST_USE struct cps_err *peer_load(const char *path, const struct cps_isa *isa, unsigned gen,
                                       struct cps_script *ret);

/** A script on its engine. Zero-initialised but for what peer_open() sets; the caller calls
 * peer_close() in any case. */
struct peer {
    struct cps_sink sink; /* first */
    struct cps_script script;
    struct cps_policy policy;
    struct cps_engine *engine;
    struct cps_sink *trace; /**< where recorded events go on to, or NULL */
    uint32_t kinds;         /**< what `trace` wants */
    uint64_t limit;         /**< instructions */
    enum cps_stop stop;
    bool ended;      /**< nothing more can be done: a fault, or the limit */
    uint64_t target; /**< steps after which peer_go() comes back */
    bool paused;     /**< it did so */
    size_t at;       /**< the host's step that is next, or under way */
    bool waiting;    /**< one that waits up to this tick */
    uint64_t wait_end;
    uint64_t unknown[CPS_UNKNOWN_COUNT];
    struct cps_buf missed; /**< a line for each read that was not as expected */
    uint64_t misses;
    char why[96]; /**< where and on what it stands after a stop, else "" */
};

/** Loads a script and builds its engine. @p gen  0: as the file says
 * @param opt  its policies win over those of the file */
CPS_MUST_USE struct cps_err *peer_open(struct peer *peer, const struct cps_isa *isa, unsigned gen,
                                       const char *path, const struct cps_options *opt);
/** Whether the engine executes code; else what its host does are the steps. */
bool peer_has_code(const struct peer *peer);
/** Instructions since the start, or steps of the host's. */
uint64_t peer_steps(const struct peer *peer);
/** "", "ramin " or "memory ": where a step of the host's leads. */
const char *peer_where(const struct cps_script_step *step);
/** What the host does next, or NULL. */
const struct cps_script_step *peer_next(const struct peer *peer);
/** Does what the run file says, or the usual, up to @p steps since the start; the engine then
 * stands where it does. */
CPS_MUST_USE struct cps_err *peer_go(struct peer *peer, uint64_t steps);
/** The same up to the end, with the END event. */
CPS_MUST_USE struct cps_err *peer_play(struct peer *peer);
void peer_close(struct peer *peer);
/** The processor whose names a mask or a summary uses. */
unsigned peer_processor(enum cps_gen gen);
/** What happened: text on stderr, or a JSON object on stdout. */
void peer_summary(const struct peer *peer, bool json);

/** Whose names of registers --names asks for. @return 0, or 2 after one line on stderr */
int peer_scheme(const struct cps_options *opt, enum cps_scheme *ret);

/** The commands, with the exit status of a command. */
int peer_run(const struct cps_options *opt);
int peer_step(const struct cps_options *opt);
int peer_asm(const struct cps_options *opt);
int peer_disasm(const struct cps_options *opt);

#endif
