/* SPDX-License-Identifier: MIT
 * The one place that decides what a file is. */
#include "tools/run/file_kind.h"

#include "fw/image/mbn.h"
#include "fw/nv/rom/rom.h"
#include "fw/nv/script/script.h"
#include "isa/base/le.h"
#include "tools/run/files.h"
#include "trace/capture/capture.h"
#include "trace/capture/mmiotrace.h"
#include "trace/form/trace.h"

/* The file's first dword is not part of the image. The second has the id, and before it the type
 * of the processor, which a5xx does not have. */
static bool is_firmware(const uint8_t *data, size_t size)
{
    if (size < 8 || cps_le32(data))
        return false;
    uint32_t word = cps_le32(data + 4);
    const struct cps_target *target = cps_target_find(word >> 12 & 0xfff);
    return target && word >> 24 == (target->gen == CPS_A5XX ? 0 : 1);
}

enum file_kind file_kind(const uint8_t *data, size_t size)
{
    if (cps_is_script(data, size))
        return FILE_SCRIPT;
    if (cps_mmiotrace_recognise_(data, size))
        return FILE_MMIOTRACE;
    if (cps_capture_format(data, size))
        return cps_capture_is_hang(data, size) ? FILE_HANG : FILE_CAPTURE;
    if (cps_trace_recognise(data, size))
        return FILE_TRACE;
    if (cps_rom_probe_(data, size))
        return FILE_VBIOS;
    if (cps_mbn_probe(data, size))
        return FILE_FOREIGN;
    return is_firmware(data, size) ? FILE_FIRMWARE : FILE_UNKNOWN;
}

enum file_kind file_kind_at(const char *path)
{
    struct cps_stream *stream = NULL;
    const uint8_t *data = NULL;
    size_t size = 0;
    if (!files_is_regular(path))
        return FILE_UNKNOWN;
    struct cps_err *err = cps_stream_open(path, &stream);
    if (!err)
        err = cps_stream_peek(stream, 64, &data, &size);
    enum file_kind ret = err ? FILE_UNKNOWN : file_kind(data, size);
    cps_err_free(err);
    cps_stream_close(stream);
    return ret;
}
