/* SPDX-License-Identifier: MIT
 * Coverage of scripts: a line for people, and lcov's form against their listing. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/shown.h"
#include "tools/explain/cover/cover.h"

/* Sums over the instructions of a script. */
struct sums {
    uint32_t instructions, executed, branches, taken, passed;
};

static void add(struct sums *sums, const struct cps_isa *isa, const struct cps_insn *insn,
                const struct cps_cover *at)
{
    bool branch = cps_insn_flow(isa, insn) == CPS_FLOW_BRANCH;
    sums->instructions++;
    sums->executed += at->run != 0;
    sums->branches += branch;
    sums->taken += branch && at->taken;
    sums->passed += branch && at->run > at->taken;
}

void cover_script(const char *name, enum cps_gen gen, const struct cps_buf *code,
                  const struct cps_cover *cover, struct cps_buf *out)
{
    const struct cps_isa *isa = cps_gen_isa(gen);
    const uint8_t *bytes = (const uint8_t *)cps_buf_text(code);
    struct sums sums = {0};
    struct cps_insn insn;
    for (size_t at = 0; at < code->size; at += insn.length) {
        cps_decode_bytes(isa, gen, bytes + at, code->size - at, &insn);
        add(&sums, isa, &insn, &cover[at / cps_isa_unit(isa)]);
    }
    cps_buf_printf(out,
                   "%5" PRIu32 " of %5" PRIu32 " instructions, %" PRIu32 " taken and %" PRIu32
                   " passed of %" PRIu32 " branches  ",
                   sums.executed, sums.instructions, sums.taken, sums.passed, sums.branches);
    cps_shown_put_(out, name);
    cps_buf_str(out, "\n");
}

/* The place that a line of a listing says behind its instruction: "; 001c". */
static bool place_of(const char *line, size_t length, uint32_t *ret)
{
    const char *comment = memchr(line, ';', length);
    char *end = NULL;
    if (!comment || comment == line || length - (size_t)(comment - line) < 6)
        return false;
    *ret = (uint32_t)strtoul(comment + 2, &end, 16);
    return end == comment + 6;
}

void cover_script_lcov(const struct cps_cover *cover, uint32_t count, const char *listing,
                       const char *text, struct cps_buf *out)
{
    uint32_t place = 0;
    unsigned number = 1;
    cps_buf_printf(out, "TN:\nSF:%s\n", listing);
    for (const char *line = text; *line; number++) {
        size_t length = strcspn(line, "\n");
        if (place_of(line, length, &place) && place < count)
            cps_buf_printf(out, "DA:%u,%" PRIu64 "\n", number, cover[place].run);
        line += length + (line[length] == '\n');
    }
    cps_buf_str(out, "end_of_record\n");
}
