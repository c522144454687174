/* SPDX-License-Identifier: MIT
 * Fuzz target: logs of mmiotrace. What becomes a run file is one that the product reads, and whose
 * script has the bytes of an upload. */
#include <stdlib.h>
#include <string.h>

#include "fw/nv/script/script.h"
#include "isa/base/le.h"
#include "tools/explain/mmio/mmio.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool good)
{
    if (!good)
        __builtin_trap();
}

/* The words of the script are written one behind the other, somewhere. */
static bool is_uploaded(const struct mmio_log *log, const struct cps_buf *code)
{
    size_t words = code->size / 4;
    for (size_t i = 0; i + words <= log->count; i++) {
        size_t same = 0;
        while (same < words && cps_le32((const uint8_t *)code->data + same * 4) ==
                                   (uint32_t)log->access[i + same].value)
            same++;
        if (same == words)
            return true;
    }
    return false;
}

static void check(const struct mmio_log *log, const struct cps_buf *text)
{
    struct cps_script script = {0};
    struct cps_err *err =
        cps_script_parse("fuzz.run", text->data, text->size, &cps_isa_hwsq, 0, &script);
    expect(!err && script.step_count && script.code.size && script.code.size % 4 == 0);
    expect(is_uploaded(log, &script.code));
    cps_script_deinit(&script);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cps_stream *stream = NULL;
    struct mmio_log log = {0};
    CPS_BUF text = {0};
    struct cps_err *err = cps_stream_open_memory("fuzz.mmio", data, size, &stream);
    if (!err)
        err = mmio_read(stream, CPS_G92, &log);
    if (!err)
        err = mmio_compose(&log, CPS_G92, "fuzz.mmio", &text);
    if (!err)
        check(&log, &text);
    cps_err_free(err);
    cps_stream_close(stream);
    free(log.access);
    return 0;
}
