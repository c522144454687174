/* SPDX-License-Identifier: MIT
 * What a processor waits for, read off code in which each kind of waiting stands once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/lib/fwcheck.h"
#include "tools/run/hang/hang.h"

/* Loops as firmware of a6xx has them (F: 6ee 0e01, 00c5, 0d1c). */
static const char source[] = "; a6xx microcode\n[016ee000]\n[#jumptbl]\n"
                             "cread $05, [$00 + @WFI_PEND_CTR]\n"
                             "wfi: brne $05, 0x00, #wfi\n"
                             "cread $05, [$00 + @WFI_PEND_CTR]\n"
                             "error: jump #error\n"
                             "nop\n"
                             "next: waitin\n"
                             "mov $01, $data\n"
                             "payload: mov $02, $data\n"
                             "memory: mov $03, $memdata\n"
                             "register: mov $03, $regdata\n"
                             "polled: cwrite $06, [$00 + @REG_READ_ADDR]\n"
                             "mov $04, $regdata\n"
                             "and $04, $04, 0x0001\n"
                             "breq $04, 0x00, #polled\n"
                             "nop\n"
                             "words: load $07, [$08 + 0x000]\n"
                             "brne $07, 0x01, #words\n"
                             "nop\n"
                             "count: sub $09, $09, 0x0001\n"
                             "brne $09, 0x00, #count\n"
                             "nop\n"
                             "nothing: add $02, $02, 0x0001\n"
                             "ret\n"
                             "nop\n"
                             "left: cread $05, [$00 + @WFI_PEND_CTR]\n"
                             "breq $05, 0x00, #out\n"
                             "nop\n"
                             "jump #left\n"
                             "nop\n"
                             "turn: add $02, $02, 0x0001\n"
                             "breq $02, 0x00, #out\n"
                             "nop\n"
                             "jump #turn\n"
                             "nop\n"
                             "round: add $02, $02, 0x0001\n"
                             "jump #round\n"
                             "nop\n"
                             "either: sub $09, $09, 0x0001\n"
                             "breq $09, 0x00, #out\n"
                             "nop\n"
                             "load $07, [$08 + 0x000]\n"
                             "brne $07, 0x01, #out\n"
                             "nop\n"
                             "jump #either\n"
                             "nop\n"
                             "out: mov $02, 0x0000\n"
                             "again: load $07, [$08 + 0x000]\n"
                             "brne $07, 0x01, #again\n"
                             "nop\n"
                             "cread $07, [$00 + @WFI_PEND_CTR]\n"
                             ".align 32\njumptbl:\n.jumptbl #error\n";

static const struct {
    const char *name;
    uint32_t pc;
    enum hang_wait_for what;
    uint32_t number;
} waits[] = {
    {"a counter, at the branch", 0x03, HANG_WAIT_CONTROL, 0x38},
    {"a counter, in the delay slot", 0x04, HANG_WAIT_CONTROL, 0x38},
    {"nothing: the error loop", 0x05, HANG_WAIT_SELF, 0},
    {"a packet", 0x07, HANG_WAIT_PACKET, 0},
    {"its payload", 0x09, HANG_WAIT_STREAM, 0},
    {"a word of memory, once", 0x0a, HANG_WAIT_MEMDATA, 0},
    {"a register, once", 0x0b, HANG_WAIT_REGDATA, 0},
    {"a register that is asked for again and again", 0x0d, HANG_WAIT_REGISTER, 0x884},
    {"the same, at the branch", 0x0f, HANG_WAIT_REGISTER, 0x884},
    {"a word of memory", 0x12, HANG_WAIT_MEMORY, 0},
    {"a loop that counts", 0x14, HANG_WAIT_LOOP, 0},
    {"no wait", 0x17, HANG_WAIT_UNKNOWN, 0},
    {"a counter, in a loop that a branch leaves", 0x1a, HANG_WAIT_CONTROL, 0x38},
    {"the same, at the jump's slot", 0x1e, HANG_WAIT_CONTROL, 0x38},
    {"a loop that a branch leaves when it has counted", 0x1f, HANG_WAIT_LOOP, 0},
    {"a loop that nothing leaves", 0x24, HANG_WAIT_LOOP, 0},
    {"a word of memory, in a loop that counts, too", 0x2a, HANG_WAIT_MEMORY, 0},
    {"behind it", 0x2f, HANG_WAIT_UNKNOWN, 0},
    {"a word of memory, whatever is read behind the loop", 0x31, HANG_WAIT_MEMORY, 0},
};

struct scene {
    struct cps_fw *fw;
    struct cps_fw_icache cache;
    struct dump_block stat;
    uint32_t words[8];
};

static void setup(struct scene *s)
{
    *s = (struct scene){.fw = fwcheck_assemble(source, CPS_A6XX, 0), .words = {[6] = 0x40884}};
    assert_non_null(s->fw);
    s->stat.words = s->words;
    s->stat.count = 8;
    s->cache = (struct cps_fw_icache){.word = s->fw->words, .count = s->fw->count};
    s->cache.mark = malloc(s->fw->count);
    assert_non_null(s->cache.mark);
    memset(s->cache.mark, CPS_FW_HARDWARE, s->fw->count);
}

static void teardown(struct scene *s)
{
    free(s->cache.mark);
    cps_fw_destroy(s->fw);
}

static void each_kind_of_waiting_is_told(void **state)
{
    struct scene s;
    (void)state;
    setup(&s);
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
        struct hang_wait wait;
        hang_wait_of(&s.cache, CPS_A6XX, &s.stat, waits[i].pc, &wait);
        if (wait.what != waits[i].what || wait.number != waits[i].number)
            fail_msg("%s: kind %d, number 0x%x", waits[i].name, (int)wait.what, wait.number);
    }
    teardown(&s);
}

static void code_that_is_not_there_says_nothing(void **state)
{
    struct scene s;
    (void)state;
    setup(&s);
    memset(s.cache.mark, CPS_FW_UNKNOWN, s.fw->count);
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
        struct hang_wait wait;
        hang_wait_of(&s.cache, CPS_A6XX, &s.stat, waits[i].pc, &wait);
        assert_int_equal(wait.what, HANG_WAIT_UNKNOWN);
    }
    s.cache.mark[0x04] = CPS_FW_HARDWARE; /* the slot alone, without its branch */
    struct hang_wait wait;
    hang_wait_of(&s.cache, CPS_A6XX, NULL, 0x04, &wait);
    assert_int_equal(wait.what, HANG_WAIT_UNKNOWN);
    hang_wait_of(&s.cache, CPS_A6XX, NULL, UINT32_MAX, &wait);
    assert_int_equal(wait.what, HANG_WAIT_UNKNOWN);
    teardown(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_waiting_is_told),
        cmocka_unit_test(code_that_is_not_there_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
