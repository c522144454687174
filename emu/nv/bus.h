/* SPDX-License-Identifier: MIT
 * The bus of the NVIDIA engines: registers by byte address, the timer, events, HWSQ's flags, and
 * the timeline of what the rest of the chip does. It does not know which engine is on it: an
 * engine's registers are rows (reg.def) whose handlers it brings.
 *
 * Time is a count of ticks, 32 ns for HWSQ (a clock of PTIMER) and 1 ns for SEQ. It passes only
 * when somebody says so, so two runs are the same. */
#ifndef CPS_BUS_H
#define CPS_BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/policy.h"
#include "emu/reg.h"
#include "trace/event/event.h"

struct cps_bus;
struct nv;

/* Names in the columns of reg.def that are no handlers. */
#define read_NONE    cps_reg_read_none_
#define write_NONE   cps_reg_write_none_
#define read_STORED  NULL
#define write_STORED NULL
/** A row of reg.def. */
#define NV_ROW(bits, low, high, rd, wr) \
    CPS_REG_ROW(bits, low, ((high) - (low)) / 4 + 1, 4, .read = read_##rd, .write = write_##wr)

/** Creates the bus of @p nv with its own registers and those of @p rows, whose handlers replace the
 * store; also on error the caller destroys @p ret. @param limit  bytes of memory; 0: the default */
CPS_MUST_USE struct cps_err *cps_bus_create_(struct nv *nv, struct cps_reg_table rows,
                                             uint64_t limit, struct cps_bus **ret);
/** The same for a copy of an engine. */
CPS_MUST_USE struct cps_err *cps_bus_clone_(const struct cps_bus *from, struct nv *nv,
                                            struct cps_bus **ret);
void cps_bus_destroy_(struct cps_bus *bus);

enum cps_gen cps_bus_gen(const struct cps_bus *bus);
const struct cps_policy *cps_bus_policy_(const struct cps_bus *bus);

/** Emits a TICK if time has passed since the last one. */
void cps_bus_tell_time_(struct cps_bus *bus);
/** Appends what the engine stopped for and where, if it did. */
void cps_bus_why_(const struct cps_bus *bus, struct cps_buf *out);
/** How often a kind of event happened, recorded or not. */
uint64_t cps_bus_count(const struct cps_bus *bus, unsigned kind);
/** Emits an event, after a TICK if time has passed since the last one. */
void cps_bus_put(struct cps_bus *bus, unsigned kind, unsigned sub, const struct cps_by *by,
                 uint64_t addr, uint32_t value);
/** Says that what no source says was decided, once for each place in a row. */
void cps_bus_unknown(struct cps_bus *bus, enum cps_unknown what, const struct cps_by *by,
                     uint32_t detail);
/** The same where it stops the script. */
void cps_bus_unknown_stop_(struct cps_bus *bus, enum cps_unknown what, const struct cps_by *by);

/** Whether something did. */
bool cps_bus_stopped_(const struct cps_bus *bus);

/** A register access with all its effects and events. The low two bits of @p addr are reported and
 * ignored. A read of what nobody wrote gives 0 after an UNMODELLED event. */
uint32_t cps_bus_read(struct cps_bus *bus, uint32_t addr, const struct cps_by *by);
void cps_bus_write(struct cps_bus *bus, uint32_t addr, uint32_t value, const struct cps_by *by);
/** A write of some bytes of a word: a bit of @p lanes each, bit 0 the lowest; @p value has them in
 * their places. The event has the address of the first one and by->path. */
void cps_bus_write_lanes(struct cps_bus *bus, uint32_t addr, unsigned lanes, uint32_t value,
                         const struct cps_by *by);
/** Whether somebody only looks: a read has no effect then. */
bool cps_bus_quiet_(const struct cps_bus *bus);
/** For handlers of a range with holes: as if the device was not there. */
uint32_t cps_bus_read_plain_(const struct cps_access *at);
void cps_bus_write_plain_(const struct cps_access *at);
/** Memories beside the registers, by byte address; no effects, no events. */
enum cps_bus_memory {
    CPS_MEMORY_RAMIN = 1, /**< the memory of NVIDIA's engines on the card */
    CPS_MEMORY_HOST = 2,  /**< the host's, by physical address */
    CPS_MEMORY_PROGRAM,   /**< what VP1 fetches its program from */
    CPS_MEMORY_VRAM,      /**< the card's, by its own addresses; RAMIN at its end is kept apart */
};
uint32_t cps_bus_peek(struct cps_bus *bus, enum cps_bus_memory memory, uint32_t addr, bool *known);
void cps_bus_poke(struct cps_bus *bus, enum cps_bus_memory memory, uint32_t addr, uint32_t value);
/** A write of the host's that is no event of the run: code, and values from the timeline. */
void cps_bus_load(struct cps_bus *bus, uint32_t addr, uint32_t value);
/** What the hardware behind a register sees, with the flags that are forced. No effects, no events.
 */
uint32_t cps_bus_effective(struct cps_bus *bus, uint32_t addr);
/** A register as it is stored; no effects. */
uint32_t cps_bus_stored_(struct cps_bus *bus, uint32_t addr);

/** Ticks since the start, and nanoseconds. */
uint64_t cps_bus_clock(const struct cps_bus *bus);
uint64_t cps_bus_ns_(const struct cps_bus *bus);
/** No engine lets time pass this tick: the host acts there. UINT64_MAX at first. */
void cps_bus_until(struct cps_bus *bus, uint64_t tick);
uint64_t cps_bus_limit_(const struct cps_bus *bus);
/** Lets time pass up to @p tick and does what the timeline has until then. */
void cps_bus_advance(struct cps_bus *bus, uint64_t tick);
/** When the timeline or the memory controller change something next; UINT64_MAX: never. */
uint64_t cps_bus_next_(const struct cps_bus *bus);
/** At a tick, an event or a register gets a value; calls are in order of ticks.
 * @return NULL or CPS_ERR_NOMEM */
CPS_MUST_USE struct cps_err *cps_bus_schedule(struct cps_bus *bus, uint64_t tick, bool is_event,
                                              uint32_t number, uint32_t value);

/** The events, bit n is event n. */
uint32_t cps_bus_events(const struct cps_bus *bus);
/** Whether PGRAPH is idle: CPS_EVENT_PGRAPH_IDLE, which EVENTS does not show. */
bool cps_bus_graph_idle_(const struct cps_bus *bus);
/** The rest of the chip, which is not there, would have given event @p number this value. */
void cps_bus_assume_event_(struct cps_bus *bus, unsigned number, bool value,
                           const struct cps_by *by);
/** HWSQ's flags: values, and which override. */
struct cps_flags {
    uint32_t value, enable;
};
struct cps_flags cps_bus_flags_(const struct cps_bus *bus);
void cps_bus_set_flags_(struct cps_bus *bus, struct cps_flags flags, const struct cps_by *by);
/** Whether flag 16 requests the pause. */
bool cps_bus_pausing_(const struct cps_bus *bus);
/** Whether it is known what flag @p number forces on this chip. */
bool cps_bus_flag_known_(const struct cps_bus *bus, unsigned number);

#endif
