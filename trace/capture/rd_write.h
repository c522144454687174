/* SPDX-License-Identifier: MIT
 * Writes `.rd`: from items, or from a capture of any format.
 *
 * Threads: one at a time may use a writer; there is no other state beside the arguments. */
#ifndef CPS_RD_WRITE_H
#define CPS_RD_WRITE_H

#include "capture.h"
#include "../out/outfile.h"

CPS_C_BEGIN

/** A text section that begins so holds policies as cps_policy_parse() reads them, with which the
 * capture is to be run: a recording of a live run has one, as the first text. */
#define CPS_RD_POLICY "cpscope policy "
/** A text section of this form begins a submission, which lasts up to the next one, and says its
 * stream.context and fence.seqno. Without such texts a submission ends where buffers follow a
 * stream. */
#define CPS_RD_SUBMISSION "cpscope submission context=%u seqno=%u"
/** This text section, and the sections CONTEXT (4) after it, belong to the submission before: while
 * its last stream waited for memory, the client changed it. Each has address low, length, address
 * high, and the contents. Other readers know no payload of that type and pass over it; buffers
 * after a stream would begin the next submission to them. */
#define CPS_RD_RESUME "cpscope resume"
/** A text section that begins so is before a stream, and has its stream.ticks, decimal. */
#define CPS_RD_TICKS "cpscope ticks="
/** A text section of this form ends a submission that hung, and says why (CPS_REASON_*) and whether
 * the driver had written its fence: CPS_ITEM_RECOVER. */
#define CPS_RD_RECOVER "cpscope recover reason=%u fence=%u"

/**
 * The policies that a capture names.
 * @param data  the first bytes of a file, decompressed
 * @param size  how many; 1024 are enough
 * @param ret   gets the bytes of the text
 * @return the text, not NUL-terminated, in @p data; NULL: it names none, or is no `.rd`
 */
CPS_PUBLIC const char *cps_rd_policy(const uint8_t *data, size_t size, size_t *ret);

/** Writes `.rd`. */
struct cps_rd_writer;
/**
 * Starts to write.
 * @param out   where to: the caller commits it after cps_rd_close()
 * @param name  of the output: ".gz" and ".zst" at its end ask for compression, in frames of about
 *              4 MiB of sections each, so that it can be read from the middle
 * @param ret   gets the writer, which cps_rd_close() frees
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_UNSUPPORTED when built without what the compression needs
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_rd_open(struct cps_outfile *out, const char *name,
                                                    struct cps_rd_writer **ret);
/**
 * Writes an item: CPS_ITEM_CHIP, _TEXT, _BUFFER, _DATA (of the buffer before it, or of one of its
 * own) and _SUBMIT have sections, others none. Readers forget all buffers at the first one after a
 * stream: each submission brings all its memory.
 * @param w     the writer
 * @param item  any; what it points to is copied
 * @return NULL, or CPS_ERR_UNSUPPORTED for a ring or a stream of LPAC. Want of memory and of disk
 *         are reported by cps_rd_close() and cps_outfile_commit()
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_rd_item(struct cps_rd_writer *w,
                                                    const struct cps_item *item);
/** Hands all that was written to the output, as a frame of its own. */
CPS_PUBLIC void cps_rd_flush(struct cps_rd_writer *w);
/**
 * Writes the rest and frees the writer.
 * @param w  NULL is fine
 * @return NULL or CPS_ERR_NOMEM
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_rd_close(struct cps_rd_writer *w);

/**
 * Reads a capture and writes it as `.rd`.
 * @param in    the capture
 * @param out   where to; the caller commits it
 * @param name  of the output: ".gz" and ".zst" at its end ask for compression. `.zst` is a sequence
 *              of frames of at most 4 MiB of sections each, so that it can be read from the middle
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_OS or CPS_ERR_INPUT as cps_capture_read(), or
 *         CPS_ERR_UNSUPPORTED when built without what the compression needs; CPS_ERR_INPUT also for
 *         the first defect that did not stop the reader: then everything else has been written
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_rd_write(struct cps_stream *in, struct cps_outfile *out,
                                                     const char *name);

CPS_C_END

#endif
