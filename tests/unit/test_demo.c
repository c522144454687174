/* SPDX-License-Identifier: MIT
 * The demo that is built into the command: the firmware is a loadable image whose table has the
 * handlers it promises, and one and the same for everything else. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "fw/demo/demo.h"
#include "tests/lib/fwcheck.h"

static int load(void **state)
{
    struct cps_fw *fw = NULL;
    struct cps_err *err = cps_fw_parse("demo", cps_demo_fw, cps_demo_fw_size, 0, &fw);
    cps_err_free(err);
    *state = fw;
    return err ? -1 : 0;
}

static int unload(void **state)
{
    cps_fw_destroy(*state);
    return 0;
}

static void test_image(void **state)
{
    const struct cps_fw *fw = *state;
    assert_int_equal(fw->id, 0x6ee);
    assert_int_equal(fw->version, 0x001);
    assert_int_equal(fw->gen, CPS_A6XX);
    assert_int_equal(fw->part_count, 1);
    assert_int_equal(fw->part[0].role, CPS_FW_SQE);
    assert_int_not_equal(fw->part[0].table, CPS_FW_NONE);
    assert_true(fwcheck_listing(fw));
}

static void test_handlers(void **state)
{
    static const uint8_t handled[] = {0x02, 0x03, 0x04, 0x0a, 0x10, 0x12, 0x13, 0x26,
                                      0x38, 0x3c, 0x3d, 0x3e, 0x3f, 0x42, 0x43, 0x46,
                                      0x48, 0x4a, 0x4c, 0x4d, 0x5c, 0x63, 0x65};
    static const uint8_t fatal[] = {0x00, 0x01, 0x05, 0x06, 0x0f, 0x27, 0x60, 0x7f};
    const struct cps_fw *fw = *state;
    uint32_t error = cps_fw_handler(fw, &fw->part[0], 0x7e);
    assert_true(error > 0 && error < fw->part[0].table);
    for (size_t i = 0; i < sizeof(handled); i++)
        assert_int_not_equal(cps_fw_handler(fw, &fw->part[0], handled[i]), error);
    for (size_t i = 0; i < sizeof(fatal); i++)
        assert_int_equal(cps_fw_handler(fw, &fw->part[0], fatal[i]), error);
}

/* Every waitin takes the header in its delay slot: without that the handler sees it as payload. */
static void test_waitin_delay_slots(void **state)
{
    const struct cps_fw *fw = *state;
    unsigned count = 0;
    for (uint32_t pc = 0; pc + 1 < fw->part[0].table; pc++) {
        struct cps_insn insn;
        cps_decode(&cps_isa_afuc, fw->gen, fw->words[pc], &insn);
        if (insn.op != CPS_AFUC_WAITIN)
            continue;
        assert_int_equal(fw->words[pc + 1], 0x981f0806); /* mov $01, $data */
        count++;
    }
    assert_true(count > 10);
}

static void test_stream(void **state)
{
    (void)state;
    assert_true(cps_demo_pm4_size > 0);
    assert_null(memchr(cps_demo_pm4, '\0', cps_demo_pm4_size));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_image),
        cmocka_unit_test(test_handlers),
        cmocka_unit_test(test_waitin_delay_slots),
        cmocka_unit_test(test_stream),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
