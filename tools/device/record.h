/* SPDX-License-Identifier: MIT
 * Records what clients submit as `.rd`, so that `run` of the recording gives the trace of the live
 * run.
 *
 * A submission is collected in memory and written when it has ended: its memory is that from before
 * it ran, and which holes the firmware touches is known only afterwards. The file appears, whole,
 * when it is closed.
 *
 * Threads: one at a time. */
#ifndef CPS_DEVICE_RECORD_H
#define CPS_DEVICE_RECORD_H

#include <stdint.h>

#include "emu/policy.h"
#include "isa/base/err.h"

/** Most bytes of memory of one submission. */
#define DEVICE_RECORD_LIMIT (UINT64_C(1) << 30)

struct device_record;

/**
 * Starts a recording.
 * @param path     ".gz" and ".zst" at its end ask for compression
 * @param chip_id  as CPS_ITEM_CHIP has it, and @p gpu_id; 0: unknown
 * @param policy   the engine's policy, which a `run` of the recording takes over
 * @param gen      of the engine
 * @param ret      the caller ends it with device_record_close() or device_record_abort()
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_OS, or CPS_ERR_UNSUPPORTED: built without that compression
 */
CPS_MUST_USE struct cps_err *device_record_open(const char *path, uint64_t chip_id, uint32_t gpu_id,
                                                const struct cps_policy *policy, enum cps_gen gen,
                                                struct device_record **ret);
/** A submission begins. @param context  its address space, from 1, as stream.context of struct
 * cps_item. @param comm  name of the client, for readers: may be NULL */
void device_record_begin(struct device_record *record, uint32_t context, const char *comm);
/** Memory of the submission, as it is before the submission runs: a whole buffer, or the part of it
 * at @p iova that is no hole. Parts of a buffer may come in any order, and none twice. */
void device_record_memory(struct device_record *record, uint64_t iova, const void *data,
                          uint64_t size);
/** The same, with what the firmware gets to see: @p page has CPS_HOST_PAGE bytes. Then the
 * recording holds also what the client wrote after device_record_begin(). */
void device_record_read(struct device_record *record, uint64_t iova, const void *page);
/** The firmware writes: to be called from cps_host.write, where device_record_read() is. */
void device_record_wrote(struct device_record *record, uint64_t iova, const void *data,
                         uint32_t size);
/** The engine stopped in a wait, and is going to be run again because memory has changed. Pages
 * that device_record_read() gets from now on, and that neither it nor device_record_wrote() has had
 * with these contents, are recorded as that change. */
void device_record_resume(struct device_record *record);
/** A stream of the submission, in the order in which they run. Where device_record_resume() is
 * used, to be called when it is fed to the engine. */
void device_record_stream(struct device_record *record, uint64_t iova, uint32_t dwords);
/** The submission hung, and the GPU is reset. @param reason  CPS_REASON_*
 * @param ticks  the engine's since the last stream was fed
 * @param fence  the driver had written its fence */
void device_record_hang(struct device_record *record, unsigned reason, uint64_t ticks, bool fence);
/**
 * The submission has run, and @p seqno is its fence: writes it.
 * @return NULL; CPS_ERR_NOMEM, or CPS_ERR_INPUT for a submission beyond DEVICE_RECORD_LIMIT: the
 * submission is left out, and every call after that does nothing and returns NULL
 */
CPS_MUST_USE struct cps_err *device_record_end(struct device_record *record, uint32_t seqno);
/** Writes the file and frees the recording; NULL is fine. A submission that has not ended is left
 * out. @return NULL, CPS_ERR_OS or CPS_ERR_NOMEM: then there is no file */
CPS_MUST_USE struct cps_err *device_record_close(struct device_record *record);
/** Frees it and leaves no file; NULL is fine. */
void device_record_abort(struct device_record *record);

#endif
