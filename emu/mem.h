/* SPDX-License-Identifier: MIT
 * Sparse GPU memory over the full 64-bit address space, in copy-on-write pages of 4 KiB.
 *
 * Memory knows which dwords anybody ever stored, so that a read of what the capture does not hold
 * can be told apart from a stored zero. It does not know buffers, events or cores. */
#ifndef CPS_MEM_H
#define CPS_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/host.h"
#include "isa/base/err.h"

#define CPS_PAGE_BYTES CPS_HOST_PAGE
#define CPS_PAGE_WORDS (CPS_PAGE_BYTES / 4u)

/** Bytes that pages may take where nobody says another limit: all that reads captures takes the
 * same ones. */
#define CPS_MEM_LIMIT (UINT64_C(4) << 30)

struct cps_mem;

/** @param limit  largest number of bytes that pages may take */
CPS_MUST_USE struct cps_err *cps_mem_create(uint64_t limit, struct cps_mem **ret);
void cps_mem_destroy(struct cps_mem *mem);
/** A copy that shares all pages until one side writes them. */
CPS_MUST_USE struct cps_err *cps_mem_clone(struct cps_mem *mem, struct cps_mem **ret);
/** Makes @p mem, a clone of @p from, its clone again. */
CPS_MUST_USE struct cps_err *cps_mem_restore(struct cps_mem *mem, struct cps_mem *from);
/** From now on pages that nobody keeps are those of @p host, which outlives the memory, where it
 * has some, and stores go through to it. Such memory cannot be cloned. */
void cps_mem_host(struct cps_mem *mem, const struct cps_host *host);
/** The host has changed its memory: what was read of it is read again when it is needed. */
void cps_mem_host_changed(struct cps_mem *mem);
/** Forgets every page except those that were stored while `keep` was set. */
void cps_mem_forget(struct cps_mem *mem);
/** Pages written from now on survive cps_mem_forget() (ring, firmware image), or not. */
void cps_mem_keep(struct cps_mem *mem, bool keep);

/** Copies @p size bytes to @p iova; wraps at 2^64. Fails only with CPS_ERR_NOMEM: that of
 * cps_err_nomem(), or one about the limit. */
CPS_MUST_USE struct cps_err *cps_mem_load(struct cps_mem *mem, uint64_t iova, const uint8_t *data,
                                          uint64_t size);

/** Copies @p size bytes from @p iova to @p to, 0 where nothing is stored; wraps at 2^64.
 * @return whether all of it is stored */
bool cps_mem_save(struct cps_mem *mem, uint64_t iova, uint8_t *to, uint64_t size);
/** Whether the host, if there is one, has the memory at @p iova. */
bool cps_mem_is_hosted(struct cps_mem *mem, uint64_t iova);

/** The dword at @p iova (low two bits ignored); 0 where nothing is stored.
 * @param[out] known  whether it was ever stored; may be NULL */
uint32_t cps_mem_read(struct cps_mem *mem, uint64_t iova, bool *known);
/** Stores a dword; false if the limit on memory is reached, or the host refuses it. */
bool cps_mem_write(struct cps_mem *mem, uint64_t iova, uint32_t value);

/**
 * The stored dwords from @p iova to the end of its page, for streams.
 * @param[out] count  how many consecutive ones are known; 0 and NULL if not even the first
 * @return valid until anything but a read changes cps_mem_epoch(): a read may make a page, and
 * leaves all others where they are
 */
const uint32_t *cps_mem_window(struct cps_mem *mem, uint64_t iova, uint32_t *count);
/** Whether two memories share what they hold of the page of @p iova, as a clone does until one of
 * them stores there. False: they may still be equal. */
bool cps_mem_shares(const struct cps_mem *a, const struct cps_mem *b, uint64_t iova);
/** A number that changes whenever a window may have become stale; valid as long as @p mem. */
const uint64_t *cps_mem_epoch(const struct cps_mem *mem);
/** Counts stores that changed a value, and all loads: equal counts mean equal contents. */
uint64_t cps_mem_changes(const struct cps_mem *mem);
/** Bytes of pages now, shared or not. */
uint64_t cps_mem_bytes(const struct cps_mem *mem);
/** True once per unknown dword: whether a read of it should be reported now. */
bool cps_mem_report(struct cps_mem *mem, uint64_t iova);

/** Whether the computer's own memory was short since it was created or cloned, for what an engine
 * stores here or anywhere else: what the engine did since is no result. The limit is none of it. */
bool cps_mem_failed(const struct cps_mem *mem);
/** Makes it so: another part of the engine got no memory. */
void cps_mem_fail(struct cps_mem *mem);

#endif
