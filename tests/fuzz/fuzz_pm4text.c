/* SPDX-License-Identifier: MIT
 * Any text as a PM4 line: what parses is a packet whose header agrees with its length. */
#include <assert.h>
#include <string.h>

#include "pm4.h"
#include "pm4text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct cps_names *names;
    char line[256] = "";
    uint32_t words[64];
    uint32_t count = 0;
    size_t column = 0;
    if (!names && cps_names_create(CPS_LAYOUT_A6XX, NULL, &names))
        return 0;
    memcpy(line, data, size < sizeof(line) - 1 ? size : sizeof(line) - 1);
    const struct cps_pm4text_names context = {names, NULL, NULL};
    struct cps_err *err = cps_pm4text_packet(&context, line, words, 64, &count, &column);
    if (err)
        assert(column <= strlen(line));
    else if (count && !strstr(line, ".word"))
        assert(cps_pm4_decode(words[0]).count == count - 1);
    cps_err_free(err);
    return 0;
}
