/* SPDX-License-Identifier: MIT
 * Fuzz target: headers of foreign images. The magic takes the place of the first four bytes;
 * segments that are said to lie in the file do. */
#include <stdlib.h>
#include <string.h>

#include "fw/image/mbn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct cps_mbn mbn;
    uint8_t *file = size < 4 ? NULL : malloc(size);
    if (!file)
        return 0;
    memcpy(file, data, size);
    memcpy(file, "\177ELF", 4);
    struct cps_err *err = cps_mbn_parse("fuzz.mbn", file, size, &mbn);
    for (unsigned i = 0; !err && i < mbn.segment_count; i++) {
        const struct cps_mbn_segment *segment = &mbn.segment[i];
        if (segment->inside && segment->file_size > size)
            __builtin_trap();
        if (!mbn.split && !cps_mbn_complete(&mbn, i))
            __builtin_trap();
    }
    cps_err_free(err);
    free(file);
    return 0;
}
