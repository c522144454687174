/* SPDX-License-Identifier: MIT
 * What a listing remarks behind instructions of constants. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/lib/fwcheck.h"

/* What a constant is for is said of what the code in front of it leaves in a register, and of
 * nothing else: behind a call and its slot all is unknown again, but $00. */
static void remarks_are_of_what_is_known(void **state)
{
    static const struct {
        const char *code;
        bool is_said; /* of the last instruction, which register of the GPU it selects */
    } rows[] = {
        {"or $usraddr, $00, 0x8e07", true},
        {"mov $05, 0x8e00\nor $usraddr, $05, 0x7", true},
        {"mov $05, 0x8e00\nadd $usraddr, $05, 0x7", true},
        {"mov $05, 0x8e07\nand $usraddr, $05, 0xffff", false},
        {"or $usraddr, $05, 0x8e07", false},
        {"and $05, $05, 0x1\nor $usraddr, $05, 0x8e07", false},
        {"add $05, $06, 0x1\nor $usraddr, $05, 0x8e07", false},
        {"mov $05, 0x0\nand $05, $05, 0x1\nor $usraddr, $05, 0x8e07", false},
        {"mov $05, 0x8e00\ncall #there\nor $usraddr, $05, 0x7", true},
        {"mov $05, 0x8e00\ncall #there\nnop\nor $usraddr, $05, 0x7", false},
        {"mov $05, 0x8e00\nnop\nnop\nnop\nor $usraddr, $05, 0x7", true},
        {"call #there\nnop\nor $usraddr, $00, 0x8e07", true},
        {"call #there\nnop\nmov $05, 0x8e00\nnop\nor $usraddr, $05, 0x7", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CPS_BUF source = {0}, text = {0};
        cps_buf_printf(
            &source,
            "; a6xx microcode\n[016ee001]\n[#jumptbl]\n%s\nthere:\nret\nnop\njumptbl:\n.jumptbl\n",
            rows[i].code);
        struct cps_fw *fw = fwcheck_assemble(cps_buf_text(&source), CPS_A6XX, 0);
        assert_non_null(fw);
        assert_null(cps_fw_listing(fw, NULL, &text));
        const char *line = strstr(text.data, "$usraddr");
        assert_non_null(line);
        const char *said = strstr(line, "RB_CCU_CNTL");
        if ((said && said < strchr(line, '\n')) != rows[i].is_said || (!rows[i].is_said && said))
            fail_msg("%s: %.100s", rows[i].code, line);
        cps_fw_destroy(fw);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remarks_are_of_what_is_known),
    };
    return cmocka_run_group_tests_name("remarks", tests, NULL, NULL);
}
