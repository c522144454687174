/* SPDX-License-Identifier: MIT
 * The index of registers that behave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "emu/reg.h"

#define COUNT(array) (sizeof(array) / sizeof(array[0]))
#define ROW(bits, low, n, ...)                                    \
    {                                                             \
        .gens = (bits), .first = (low), .count = (n), __VA_ARGS__ \
    }

static struct cps_reg_index *index_of(const struct cps_reg_row *rows, size_t count, uint64_t gens)
{
    const struct cps_reg_table table = {rows, count};
    struct cps_reg_index *index = NULL;
    assert_null(cps_reg_index_create_(&table, 1, gens, &index));
    return index;
}

/* What tables with small numbers and with large ones must both do. */
static void check_bounds(uint32_t base)
{
    const struct cps_reg_row rows[] = {
        ROW(1, base + 0x40, 3, .stride = 4),
        ROW(1, base + 0x10, 1, .stride = 1),
        ROW(1, base + 0x11, 4, .stride = 1),
    };
    struct cps_reg_index *index = index_of(rows, COUNT(rows), 1);
    assert_null(cps_reg_find_(index, base + 0x0f));
    assert_ptr_equal(cps_reg_find_(index, base + 0x10), &rows[1]);
    assert_ptr_equal(cps_reg_find_(index, base + 0x11), &rows[2]);
    assert_ptr_equal(cps_reg_find_(index, base + 0x14), &rows[2]);
    assert_null(cps_reg_find_(index, base + 0x15));
    assert_null(cps_reg_find_(index, base + 0x3f));
    assert_ptr_equal(cps_reg_find_(index, base + 0x40), &rows[0]);
    for (uint32_t between = 0x41; between < 0x44; between++)
        assert_null(cps_reg_find_(index, base + between));
    assert_ptr_equal(cps_reg_find_(index, base + 0x48), &rows[0]);
    assert_null(cps_reg_find_(index, base + 0x49));
    assert_null(cps_reg_find_(index, base + 0x4c));
    assert_null(cps_reg_find_(index, UINT32_MAX));
    assert_null(cps_reg_find_(index, base ? base - 1 : 0));
    cps_reg_index_unref_(index);
}

static void registers_begin_and_end_where_their_row_says(void **state)
{
    (void)state;
    check_bounds(0);
    check_bounds(0x1000);
    check_bounds(UINT32_C(0xfffff000));
}

static void the_last_number_of_all_can_have_a_row(void **state)
{
    const struct cps_reg_row rows[] = {ROW(1, UINT32_MAX, 1, .stride = 1)};
    struct cps_reg_index *index = index_of(rows, COUNT(rows), 1);
    (void)state;
    assert_ptr_equal(cps_reg_find_(index, UINT32_MAX), &rows[0]);
    assert_null(cps_reg_find_(index, UINT32_MAX - 1));
    cps_reg_index_unref_(index);
}

/* As PFIFO's addresses and data do. */
static void rows_may_lie_between_the_registers_of_another(void **state)
{
    const struct cps_reg_row rows[] = {
        ROW(1, 0x3304, 32, .stride = 8),
        ROW(1, 0x3300, 32, .stride = 8),
        ROW(1, 0x3400, 1, .stride = 4),
    };
    struct cps_reg_index *index = index_of(rows, COUNT(rows), 1);
    (void)state;
    for (uint32_t i = 0; i < 32; i++) {
        assert_ptr_equal(cps_reg_find_(index, 0x3300 + 8 * i), &rows[1]);
        assert_ptr_equal(cps_reg_find_(index, 0x3304 + 8 * i), &rows[0]);
        assert_null(cps_reg_find_(index, 0x3302 + 8 * i));
    }
    assert_ptr_equal(cps_reg_find_(index, 0x3400), &rows[2]);
    assert_null(cps_reg_find_(index, 0x3404));
    cps_reg_index_unref_(index);
}

static void only_rows_of_the_generation_are_found(void **state)
{
    const uint64_t last = UINT64_C(1) << 63;
    const struct cps_reg_row rows[] = {
        ROW(1, 0x2000, 1, .stride = 4),
        ROW(2 | last, 0x2000, 2, .stride = 4),
        ROW(0, 0x3000, 1, .stride = 4),
    };
    (void)state;
    struct cps_reg_index *first = index_of(rows, COUNT(rows), 1);
    struct cps_reg_index *other = index_of(rows, COUNT(rows), last);
    struct cps_reg_index *none = index_of(rows, COUNT(rows), 4);
    assert_ptr_equal(cps_reg_find_(first, 0x2000), &rows[0]);
    assert_null(cps_reg_find_(first, 0x2004));
    assert_ptr_equal(cps_reg_find_(other, 0x2000), &rows[1]);
    assert_ptr_equal(cps_reg_find_(other, 0x2004), &rows[1]);
    assert_null(cps_reg_find_(none, 0x2000));
    assert_null(cps_reg_find_(none, 0x3000));
    assert_null(cps_reg_find_(none, 0));
    cps_reg_index_unref_(first);
    cps_reg_index_unref_(other);
    cps_reg_index_unref_(none);
}

static void rows_of_several_tables_are_found(void **state)
{
    const struct cps_reg_row one[] = {ROW(1, 0x1310, 2, .stride = 4)};
    const struct cps_reg_row two[] = {ROW(1, 0x1400, 64, .stride = 4),
                                      ROW(1, 0x100, 1, .stride = 4)};
    const struct cps_reg_table tables[] = {CPS_REG_TABLE(one), CPS_REG_TABLE(two)};
    struct cps_reg_index *index = NULL;
    (void)state;
    assert_null(cps_reg_index_create_(tables, 2, 1, &index));
    assert_ptr_equal(cps_reg_find_(index, 0x1314), &one[0]);
    assert_ptr_equal(cps_reg_find_(index, 0x14fc), &two[0]);
    assert_ptr_equal(cps_reg_find_(index, 0x100), &two[1]);
    cps_reg_index_unref_(index);
}

static void check_refused(const struct cps_reg_row *rows, const char *said)
{
    const struct cps_reg_table table = {rows, 2};
    struct cps_reg_index *index = NULL;
    struct cps_err *err = cps_reg_index_create_(&table, 1, 1, &index);
    assert_non_null(err);
    assert_int_equal(err->code, CPS_ERR_INPUT);
    assert_string_equal(err->message, said);
    assert_null(index);
    cps_err_free(err);
}

static void two_rows_with_one_register_are_refused(void **state)
{
    static const struct {
        struct cps_reg_row rows[2];
        const char *said;
    } cases[] = {
        {{ROW(1, 0x10, 4, .stride = 1), ROW(1, 0x13, 1, .stride = 1)},
         "two rows have register 0x13"},
        {{ROW(1, 0x13, 1, .stride = 1), ROW(1, 0x10, 4, .stride = 1)},
         "two rows have register 0x13"},
        {{ROW(1, 0x18, 1, .stride = 4), ROW(1, 0x10, 4, .stride = 4)},
         "two rows have register 0x18"},
        {{ROW(1, 0x2000, 4, .stride = 4), ROW(1, 0x2000, 1, .stride = 4)},
         "two rows have register 0x2000"},
        {{ROW(1, 0x2000, 4, .stride = 4), ROW(3, 0x200c, 9, .stride = 4)},
         "two rows have register 0x200c"},
        {{ROW(1, 0x2004, 1, .stride = 4), ROW(1, 0x2000, 3, .stride = 4)},
         "two rows have register 0x2004"},
        {{ROW(1, 0x2000, 9, .stride = 8), ROW(1, 0x2004, 9, .stride = 4)},
         "two rows have register 0x2004"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        check_refused(cases[i].rows, cases[i].said);
}

static void an_owner_more_keeps_the_index(void **state)
{
    const struct cps_reg_row rows[] = {ROW(1, 7, 1, .stride = 1)};
    struct cps_reg_index *index = index_of(rows, COUNT(rows), 1);
    (void)state;
    cps_reg_index_ref_(index);
    cps_reg_index_unref_(index);
    assert_ptr_equal(cps_reg_find_(index, 7), &rows[0]);
    cps_reg_index_unref_(index);
    cps_reg_index_ref_(NULL);
    cps_reg_index_unref_(NULL);
}

struct device {
    uint32_t other, member[3];
};

static void rows_without_handlers_of_their_own_hold_members_or_nothing(void **state)
{
    const struct cps_reg_row row = ROW(1, 0x20, 3, .member = offsetof(struct device, member));
    struct device device = {1, {2, 3, 4}};
    const struct cps_access at = {.device = &device, .row = &row, .index = 2, .value = 0x44332211};
    (void)state;
    assert_null(row.read);
    assert_null(row.write);
    assert_ptr_equal(cps_reg_member_(&device, &row, 1), &device.member[1]);
    assert_int_equal(cps_reg_read_member_(&at), 4);
    assert_int_equal(cps_reg_read_none_(&at), 0);
    cps_reg_write_none_(&at);
    assert_int_equal(device.member[2], 4);
    cps_reg_write_member_(&at);
    assert_int_equal(device.member[2], 0x44332211);
    assert_int_equal(device.member[1], 3);
}

static void bytes_that_a_write_does_not_bring_stay(void **state)
{
    struct cps_access at = {.value = 0x44332211, .lanes = CPS_LANES_ALL};
    (void)state;
    assert_int_equal(cps_reg_lanes_(&at, 0xddccbbaa), 0x44332211);
    at.lanes = 0;
    assert_int_equal(cps_reg_lanes_(&at, 0xddccbbaa), 0xddccbbaa);
    at.lanes = 9;
    assert_int_equal(cps_reg_lanes_(&at, 0xddccbbaa), 0x44ccbb11);
    at.lanes = 6;
    assert_int_equal(cps_reg_lanes_(&at, 0xddccbbaa), 0xdd3322aa);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_begin_and_end_where_their_row_says),
        cmocka_unit_test(the_last_number_of_all_can_have_a_row),
        cmocka_unit_test(rows_may_lie_between_the_registers_of_another),
        cmocka_unit_test(only_rows_of_the_generation_are_found),
        cmocka_unit_test(rows_of_several_tables_are_found),
        cmocka_unit_test(two_rows_with_one_register_are_refused),
        cmocka_unit_test(an_owner_more_keeps_the_index),
        cmocka_unit_test(rows_without_handlers_of_their_own_hold_members_or_nothing),
        cmocka_unit_test(bytes_that_a_write_does_not_bring_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
