/* SPDX-License-Identifier: MIT
 * Descriptions of files, as trees (tools/cmd/render/doc.h). The member ".layout" is the layout of
 * the text; a description that failed has none, or is complete as far as the file is. */
#ifndef CPS_INFO_H
#define CPS_INFO_H

#include "fw/fw.h"
#include "fw/nv/script/script.h"
#include "trace/capture/capture.h"
#include "trace/capture/stream.h"
#include "tools/run/run.h"

struct json_object;

struct play;
/** Room for the name of a packet that has none. */
#define INFO_NAME_SIZE 16
/** Largest image of other processors that is described, in bytes; modem images have 100 MiB. */
#define INFO_IMAGE_LIMIT ((size_t)512 << 20)

/** The name of packet @p id, else "UNKNn" (decimal), made in @p scratch. */
const char *info_packet_name(const struct cps_names *names, unsigned id,
                             char scratch[INFO_NAME_SIZE]);

/** What a capture holds: container @p format, chip, sections, buffers, submits, packet mix.
 * @param json  rows of buffers and submits for JSON, which take much memory; else lines of text */
CPS_MUST_USE struct cps_err *info_capture(struct cps_stream *stream, const char *format, bool json,
                                          struct json_object *to);
/** Where a hardware dump's processor hung. @p run  has the firmware whose code to show, if any */
CPS_MUST_USE struct cps_err *info_dump(struct cps_stream *stream, const struct cps_run_config *run,
                                       struct json_object *to);
/** Lists the firmware that ran when the dump @p path was taken. With a firmware file in @p config
 * that is the whole image, with words marked that are not the hardware's own; else the lines of the
 * instruction cache, with the holes between them. */
CPS_MUST_USE struct cps_err *info_dump_listing(const char *path,
                                               const struct cps_run_config *config, const char *rnn,
                                               struct cps_buf *out);
/** What a firmware holds: id, generation, version, processors, packet table. Destroys @p fw. */
CPS_MUST_USE struct cps_err *info_firmware(struct cps_fw *fw, struct json_object *to);
/** What a script or a run file of a host holds. */
void info_script(const struct cps_script *script, struct json_object *to);
/** What a trace holds: head, events by kind, end. */
CPS_MUST_USE struct cps_err *info_trace(struct cps_stream *stream, struct json_object *to);
/** Whether a file is a VBIOS by its first bytes; stdin, which cannot be read twice, is taken for
 * none, and so is what cannot be read. */
bool info_is_rom(const char *path);
/** What a VBIOS holds: images, chip, tables, init scripts, scripts of HWSQ. */
CPS_MUST_USE struct cps_err *info_rom(struct cps_stream *stream, struct json_object *to);
/** Appends the listing of a VBIOS. @p gen  of HWSQ; 0: that of the VBIOS */
CPS_MUST_USE struct cps_err *info_rom_listing(struct cps_stream *stream, unsigned gen,
                                              const char *rnn_dir, struct cps_buf *out);
/** What the headers of Qualcomm's ELF images say, and which of their files are there. */
CPS_MUST_USE struct cps_err *info_mbn(struct cps_stream *stream, struct json_object *to);

/** Adds the code around the program counter: ".code", lines with all of it, and "code" with the
 * words that are known. Where the dump's cache cannot be read, the code is that of the given
 * firmware, for people only. */
void info_put_code_(const struct play *play, uint32_t pc_of_hang, const struct cps_names *names,
                    struct json_object *to);

#endif
