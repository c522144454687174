/* SPDX-License-Identifier: MIT
 * The device around a command processor, as functions of the program that embeds it: its memory,
 * its registers, its interrupt line. An engine that has a host is one part of a model of a device;
 * one without (all members NULL) has memory and registers of its own, and is fed from captures.
 *
 * Only engines of Adreno have a host; others refuse one with CPS_ERR_UNSUPPORTED. This header knows
 * no engines.
 *
 * What such a program does:
 *   1. put struct cps_host into the struct cps_config of cps_engine_create();
 *   2. write the ring and its buffers into its own memory, at the addresses that the GPU sees;
 *   3. write CP_RB_BASE, CP_RB_CNTL and CP_RB_WPTR as a driver does: cps_engine_feed() with a
 *      CPS_ITEM_WRITE each, `host.where` CPS_HOST_REG, `host.addr` the number of the register;
 *   4. cps_engine_run(): fences arrive in its memory, interrupts in its function.
 *
 * Threads: every function is called from within cps_engine_feed(), _run(), _get() or _set(), in the
 * thread of their caller. It must not call functions of the same engine, but cps_engine_changed().
 */
#ifndef CPS_HOST_H
#define CPS_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "../isa/base/cleanup.h"

CPS_C_BEGIN

/** Bytes that are read at a time: a page of GPU memory, whose address is a multiple of this. */
#define CPS_HOST_PAGE 4096u

/** The functions; each may be NULL, and then the engine does that itself. */
struct cps_host {
    /** What every function gets; the engine does not look at it. */
    void *context;
    /**
     * Reads GPU memory: CPS_HOST_PAGE bytes at @p iova, a multiple of CPS_HOST_PAGE, go to @p to.
     * The engine keeps the page until the end of the run, or until cps_engine_changed().
     * @return false if the host has no memory there: then the engine has it, empty at first
     */
    bool (*read)(void *context, uint64_t iova, uint8_t *to);
    /**
     * Writes GPU memory which `read` has given: @p size bytes, at most CPS_HOST_PAGE, from @p from
     * to @p iova. Writes come in the order in which the firmware makes them, one dword each.
     * @return false if it cannot be written: the run ends with CPS_STOP_FAULT
     */
    bool (*write)(void *context, uint64_t iova, const uint8_t *from, uint32_t size);
    /**
     * Reads a GPU register for the firmware. @p offset  its number, in dwords
     * @return false if the register is not the host's: the engine answers; else true, and the
     * value in @p ret
     */
    bool (*read_register)(void *context, uint32_t offset, uint32_t *ret);
    /**
     * The firmware writes a GPU register: the engine has stored the value already, and the event
     * REG has been emitted. @p offset  its number, in dwords
     * @return false if the register is not the host's: the engine does what it knows of it
     */
    bool (*write_register)(void *context, uint32_t offset, uint32_t value);
    /** The processor raises interrupt @p number, a bit of RBBM_INT_0_STATUS: 20 is
     * CP_CACHE_FLUSH_TS, the fence. The event IRQ says the same. */
    void (*interrupt)(void *context, unsigned number);
    /** The time for the policy clock=host, in ticks of the host's choice: what CP_ALWAYS_ON_COUNTER
     * reads, and events store as time stamps. It should not go back. */
    uint64_t (*clock)(void *context);
    /** The firmware has made @p ttbr0 the page table, at an SMMU whose registers are modelled
     * (a6xx, a7xx): pages are read anew. With policy `ring=msm` bits 47:12 are the context of the
     * submission. */
    void (*page_table)(void *context, uint64_t ttbr0);
    /**
     * For functions that do launched work (emu/work.h): the host's own memory at @p iova, which the
     * caller reads and writes until its function returns; then the engine reads pages again.
     * @param size  the bytes that are wanted; gets how many follow in a row, perhaps more
     * @return NULL if there is none, or it is not in a row
     */
    void *(*map)(void *context, uint64_t iova, uint64_t *size);
};

CPS_C_END

#endif
