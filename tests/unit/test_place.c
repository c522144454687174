/* SPDX-License-Identifier: MIT
 * How places are called: each rank of the rule (fw/image/place.h) beats the ones behind it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "fw/image/icache.h"
#include "fw/image/place.h"
#include "isa/base/cleanup.h"
#include "tests/lib/fwcheck.h"

enum { BV = 1, TYPE4 = 4, NOP = 0x10, DRAW_OFFSET = 0x38 };

static const char source[] = "[01740168]\n[#jumptbl]\nmov $02, 0x1\nmov $02, 0x2\n"
                             "UNKN0: UNKN1: CP_MEM_WRITE: mov $02, 0x4\nmov $02, 0x5\n"
                             "UNKN2: UNKN3: PKT4: mov $02, 0x6\n"
                             "CP_INTERRUPT: CP_NOP: mov $02, 0x7\n"
                             "UNKN7: CP_DRAW_INDX: CP_DRAW_INDX_OFFSET: mov $02, 0x8\nnop\n"
                             "UNKN6: IN_GMU_INTERRUPT: mov $02, 0xa\n"
                             "UNKN8: UNKN12: mov $02, 0xb\n"
                             "jumptbl: .jumptbl\n"
                             ".section BV\n[01740139]\n[#jumptbl]\nnop\n"
                             "UNKN0: CP_NOP: nop\njumptbl: .jumptbl\n";

static const struct {
    const char *name;
    int running;
    unsigned part;
    uint32_t pc;
} places[] = {
    {"bootstrap", CPS_FW_NO_PACKET, 0, 0},
    {"bootstrap+0x3", NOP, 0, 3},
    {"error_handler", CPS_FW_NO_PACKET, 0, 4},
    {"error_handler+0x1", 0x3d, 0, 5}, /* CP_MEM_WRITE is refused: it does not run */
    {"PKT4", CPS_FW_NO_PACKET, 0, 6},
    {"UNKN2", 2, 0, 6},
    {"CP_NOP", CPS_FW_NO_PACKET, 0, 7},
    {"CP_INTERRUPT", 0x40, 0, 7},
    {"CP_DRAW_INDX", CPS_FW_NO_PACKET, 0, 8},
    {"CP_DRAW_INDX+0x1", NOP, 0, 9}, /* its handler is another one: it only comes by */
    {"CP_DRAW_INDX_OFFSET+0x1", DRAW_OFFSET, 0, 9},
    {"IN_GMU_INTERRUPT", CPS_FW_NO_PACKET, 0, 10},
    {"UNKN8", CPS_FW_NO_PACKET, 0, 11},
    {"UNKN12", 12, 0, 11},
    {"CP_NOP", CPS_FW_NO_PACKET, BV, 3}, /* nops are no error, though entry 0 is theirs */
    {"bootstrap+0x2", CPS_FW_NO_PACKET, BV, 2},
};

static struct cps_names *names_of(const struct cps_fw *fw)
{
    struct cps_names *names = NULL;
    assert_null(cps_names_create(fw->layout, NULL, &names));
    return names;
}

static void expect(const struct cps_fw *fw, const struct cps_names *names, unsigned part,
                   uint32_t pc, int running, const char *name)
{
    CPS_BUF text = {0};
    cps_fw_place_put_(fw, &fw->part[part], names, pc, running, &text);
    assert_string_equal(cps_buf_text(&text), name);
}

static void test_names(void **state)
{
    struct cps_fw *fw = fwcheck_assemble(source, CPS_A7XX, 0);
    struct cps_names *names = names_of(fw);
    (void)state;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        expect(fw, names, places[i].part, places[i].pc, places[i].running, places[i].name);
    cps_names_destroy(names);
    cps_fw_destroy(fw);
}

static void add(struct cps_fw *fw, const char *text)
{
    assert_null(cps_fw_symbols_parse(fw, "s.txt", text, strlen(text)));
}

static void test_labels(void **state)
{
    struct cps_fw *fw = fwcheck_assemble(source, CPS_A7XX, 0);
    struct cps_names *names = names_of(fw);
    (void)state;
    add(fw, "2 early\n4 refuse\n8 draw\n8 CP_DRAW_INDX\n9 UNKN7\n");
    expect(fw, names, 0, 3, CPS_FW_NO_PACKET, "early+0x1");
    expect(fw, names, 0, 5, 0x3d, "refuse+0x1");
    expect(fw, names, 0, 6, CPS_FW_NO_PACKET, "PKT4"); /* nearer than the label */
    expect(fw, names, 0, 8, CPS_FW_NO_PACKET, "draw");
    expect(fw, names, 0, 8, DRAW_OFFSET, "CP_DRAW_INDX_OFFSET");
    expect(fw, names, 0, 9, DRAW_OFFSET, "UNKN7");
    cps_names_destroy(names);
    cps_fw_destroy(fw);
}

/* What is shown is taken back. */
static void test_find(void **state)
{
    static const struct {
        const char *name;
        uint32_t dword;
    } finds[] = {{"error_handler", 4},       {"UNKN0", 4},
                 {"CP_MEM_WRITE", 4},        {"PKT4", 6},
                 {"CP_DRAW_INDX_OFFSET", 8}, {"UNKN12", 11},
                 {"UNKN128", CPS_FW_NONE},   {"error_handle", CPS_FW_NONE},
                 {"jumptbl", CPS_FW_NONE}};
    struct cps_fw *fw = fwcheck_assemble(source, CPS_A7XX, 0);
    struct cps_names *names = names_of(fw);
    uint32_t table[CPS_FW_TABLE_SIZE];
    (void)state;
    cps_fw_table_of_(fw, &fw->part[0], table);
    for (size_t i = 0; i < sizeof(finds) / sizeof(finds[0]); i++)
        assert_int_equal(cps_fw_handler_find_(table, names, finds[i].name, strlen(finds[i].name)),
                         finds[i].dword);
    cps_fw_table_of_(fw, &fw->part[BV], table);
    assert_int_equal(cps_fw_handler_find_(table, names, "error_handler", 13), CPS_FW_NONE);
    assert_int_equal(cps_fw_header_packet_(0x70380000), CPS_FW_NO_PACKET);
    assert_int_equal(cps_fw_header_packet_(0x70388000), DRAW_OFFSET);
    assert_int_equal(cps_fw_header_packet_(0x48881801), TYPE4);
    cps_names_destroy(names);
    cps_fw_destroy(fw);
}

/* The packet whose handler begins last at or in front of a place. */
static void test_handler_before(void **state)
{
    uint32_t table[CPS_FW_TABLE_SIZE];
    uint32_t rng = 1;
    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        uint32_t pc = (rng = rng * 1664525u + 1013904223u) >> 22;
        int naive = -1;
        for (unsigned i = 0; i < CPS_FW_TABLE_SIZE; i++)
            table[i] = round ? (rng = rng * 1664525u + 1013904223u) >> 20 : pc + 1;
        table[round % CPS_FW_TABLE_SIZE] = round % 2 ? pc : pc + 1;
        for (uint32_t at = 0; at <= pc; at++) {
            for (int i = CPS_FW_TABLE_SIZE; i-- > 0;)
                naive = table[i] == at ? i : naive;
        }
        assert_int_equal(cps_fw_handler_before_(table, pc), naive);
    }
}

static void test_listing(void **state)
{
    static const char *const lines[] = {"\nerror_handler:\nUNKN0:\nUNKN1:\nCP_MEM_WRITE:\n",
                                        "\nPKT4:\nUNKN2:\nUNKN3:\n", "\nCP_NOP:\nCP_INTERRUPT:\n",
                                        "\nCP_DRAW_INDX:\nUNKN7:\nCP_DRAW_INDX_OFFSET:\n"};
    struct cps_fw *fw = fwcheck_assemble(source, CPS_A7XX, 0);
    CPS_BUF text = {0};
    CPS_BUF own = {0};
    (void)state;
    assert_null(cps_fw_listing(fw, NULL, &text));
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        assert_non_null(strstr(cps_buf_text(&text), lines[i]));
    assert_true(fwcheck_listing(fw));
    add(fw, "9 error_handler\n"); /* of the user: another place */
    assert_null(cps_fw_listing(fw, NULL, &own));
    assert_non_null(strstr(cps_buf_text(&own), "\nUNKN0:\nUNKN1:\n"));
    assert_true(fwcheck_listing(fw));
    cps_fw_destroy(fw);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),   cmocka_unit_test(test_labels),
        cmocka_unit_test(test_find),    cmocka_unit_test(test_handler_before),
        cmocka_unit_test(test_listing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
