/* SPDX-License-Identifier: MIT
 * Registers that each pipe has for itself, apertures into those of others, and CP_PROTECT in the
 * two levels of a8xx. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/lib/engine_bench.h"

/* How a layout numbers what the programs here use (D: adreno_control_regs.xml; F: a740 0038..0057,
 * gen80000 070 0014..0019 and 007e). */
static const struct numbers {
    enum cps_layout layout;
    const char *head;
    uint32_t marker; /* first word of BV's image */
    uint32_t code;   /* GPU register with the image's address */
    unsigned read_count, read, write_address, write, aperture, bv_base, bv_start;
} layouts[] = {
    {CPS_LAYOUT_A7XX, HEAD_A7XX, 0x01740002, 0x830, 0x38, 0x39, 0x36, 0x37, 0xd4, 0xd6, 0xd8},
    {CPS_LAYOUT_A7XX_GEN3, "[01520001]\n[01000000]\n", 0x01520002, 0x830, 0x1a, 0x1b, 0x18, 0x19,
     0x1c, 0x80, 0x82},
    {CPS_LAYOUT_A8XX, "[01500001]\n[01000000]\n", 0x01500002, 0x816, 0x1a, 0x1b, 0x18, 0x19, 0x1c,
     0x80, 0x82},
};
enum { A7XX, GEN3, A8XX };

static void put_code(struct cps_buf *out, const struct numbers *n, const char *br, const char *bv,
                     uint32_t start)
{
    cps_buf_printf(
        out,
        "mov $04, 0x2\ncwrite $04, [$00 + 0x%x]\nmov $05, 0x%x\ncwrite $05, [$00 + 0x%x]\n"
        "mov $03, $regdata\nmov $04, $regdata\nadd $03, $03, %u\ncwrite $03, [$00 + 0x%x]\n"
        "cwrite $04, [$00 + 0x%x]\nmov $05, 0x1\ncwrite $05, [$00 + 0x%x]\n",
        n->read_count, n->code, n->read, 4 * start, n->bv_base, n->bv_base + 1, n->bv_start);
    /* BV goes first: BR waits for shared scratch 0x2f0. */
    cps_buf_printf(out,
                   "w: cread $02, [$00 + 0x2f0]\nbreq $02, 0x0, #w\nnop\n%swaitin\nmov $01, $data\n"
                   ".section BV\n[%08x]\n[01000000]\n%smov $02, 0x1\ncwrite $02, [$00 + 0x2f0]\n",
                   br, n->marker, bv);
}

/* BR and BV, of which BV runs to its end first. */
static struct bench *pipes(const struct numbers *n, const char *br, const char *bv)
{
    CPS_BUF code = {0};
    put_code(&code, n, br, bv, 0);
    struct cps_asm probe = bench_code(n->head, cps_buf_text(&code), cps_layout_gen(n->layout));
    uint32_t start = bench_section(&probe, n->marker);
    free(probe.words);
    cps_buf_clear(&code);
    put_code(&code, n, br, bv, start);
    struct bench *b = bench_afuc(n->layout, n->head, cps_buf_text(&code), CPS_CPU_BV, start);
    assert_int_equal(cps_engine_run(b->engine, 100000), CPS_STOP_IDLE);
    return b;
}

static uint32_t general(const struct bench *b, unsigned number)
{
    return machine_value(b->engine, 0, CPS_FILE_GENERAL, number);
}

/* "$REG := register OFFSET of the pipe that the aperture has in 13:12", as a740 0015..0019 reads.
 */
static void put_read(struct cps_buf *out, const struct numbers *n, unsigned reg, uint32_t aperture,
                     uint32_t offset)
{
    cps_buf_printf(out,
                   "mov $0a, 0x%x << 16\nor $0a, $0a, 0x%x\ncwrite $0a, [$00 + 0x%x]\n"
                   "mov $0a, 0x%x\ncwrite $0a, [$00 + 0x%x]\nmov $%02x, $regdata\n",
                   aperture >> 16, aperture & 0xffff, n->aperture, offset, n->read, reg);
}

static void registers_of_clusters_are_each_pipes_own(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        CPS_BUF br = {0};
        cps_buf_str(&br, "mov $addr, 0x8800\nmov $data, 0x11\n");
        put_read(&br, &layouts[i], 5, 0x1000, 0x8800);
        put_read(&br, &layouts[i], 6, 0x2000, 0x8800);
        put_read(&br, &layouts[i], 7, 0x2000, 0x8801);
        put_read(&br, &layouts[i], 8, 0x1000, 0x8801);
        struct bench *b = pipes(&layouts[i], cps_buf_text(&br),
                                "mov $addr, 0x8800\nmov $data, 0x22\nmov $data, 0x33\n");
        assert_int_equal(general(b, 5), 0x11);
        assert_int_equal(general(b, 6), 0x22);
        assert_int_equal(general(b, 7), 0x33);
        assert_int_equal(general(b, 8), 0);
        b->notes = 1; /* BR reads what nobody wrote */
        bench_free(b);
    }
}

/* The driver writes most of them once, for all pipes. */
static void what_a_pipe_did_not_write_it_has_from_br(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        CPS_BUF br = {0};
        cps_buf_str(&br, "mov $addr, 0x8802\nmov $data, 0x44\n");
        put_read(&br, &layouts[i], 5, 0x2000, 0x8802);
        struct bench *b = pipes(&layouts[i], cps_buf_text(&br), "");
        assert_int_equal(general(b, 5), 0x44);
        assert_int_equal(bench_count(b, CPS_EV_UNMODELLED), 0);
        bench_free(b);
    }
}

/* D: a8xx has CP registers per pipe (names end in _PIPE), earlier chips have one of each. */
static void registers_of_the_command_processor_are_per_pipe_on_a8xx_only(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        CPS_BUF br = {0};
        cps_buf_str(&br, "mov $addr, 0x883\nmov $data, 0x11\n");
        put_read(&br, &layouts[i], 5, 0x1000, 0x883);
        put_read(&br, &layouts[i], 6, 0x2000, 0x883);
        put_read(&br, &layouts[i], 7, 0x2000, 0xe00);
        struct bench *b =
            pipes(&layouts[i], cps_buf_text(&br),
                  "mov $addr, 0x883\nmov $data, 0x22\nmov $addr, 0xe00\nmov $data, 0x33\n");
        assert_int_equal(general(b, 5), 0x11);
        assert_int_equal(general(b, 6), i == A8XX ? 0x22 : 0x11);
        assert_int_equal(general(b, 7), 0x33); /* of no pipe anywhere */
        bench_free(b);
    }
}

/* REG_WRITE goes where the aperture points, the pipe's own data does not. */
static void the_aperture_redirects_reg_write_alone(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        const struct numbers *n = &layouts[i];
        CPS_BUF br = {0};
        cps_buf_printf(
            &br,
            "mov $addr, 0x8800\nmov $data, 0x11\nmov $0a, 0x2000\ncwrite $0a, [$00 + 0x%x]\n"
            "mov $0a, 0x8800\ncwrite $0a, [$00 + 0x%x]\nmov $0a, 0x55\ncwrite $0a, [$00 + 0x%x]\n"
            "mov $addr, 0x8801\nmov $data, 0x66\n",
            n->aperture, n->write_address, n->write);
        put_read(&br, n, 5, 0x1000, 0x8800);
        put_read(&br, n, 6, 0x2000, 0x8800);
        put_read(&br, n, 7, 0x1000, 0x8801);
        struct bench *b = pipes(n, cps_buf_text(&br), "mov $addr, 0x8801\nmov $data, 0x77\n");
        assert_int_equal(general(b, 5), 0x11);
        assert_int_equal(general(b, 6), 0x55);
        assert_int_equal(general(b, 7), 0x66);
        bench_free(b);
    }
}

/* A reader of the trace must see whose register it was: 38:36 are the pipe where it is another one.
 */
static void events_name_the_pipe_of_an_aperture(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        CPS_BUF br = {0};
        put_read(&br, &layouts[i], 5, 0x2000, 0x8800);
        put_read(&br, &layouts[i], 6, 0x1000, 0x8800);
        struct bench *b =
            pipes(&layouts[i], cps_buf_text(&br), "mov $addr, 0x8800\nmov $data, 0x22\n");
        unsigned own = 0;
        unsigned others = 0;
        for (const struct cps_event *e = b->event; e < b->event + b->count; e++) {
            unsigned kind = cps_event_kind(e);
            own += (kind == CPS_EV_REG || kind == CPS_EV_REGR) && e->addr == 0x8800;
            others += kind == CPS_EV_REGR && e->addr == (UINT64_C(2) << 36 | 0x8800);
        }
        assert_int_equal(others, 1);
        assert_int_equal(own, 2); /* BV's write, BR's read */
        b->notes = 1;             /* BR has no value */
        bench_free(b);
    }
}

/* "register OFFSET of the pipe that the aperture has := VALUE", as 0016..0019 writes. */
static void put_write(struct cps_buf *out, const struct numbers *n, uint32_t aperture,
                      uint32_t offset, uint32_t value)
{
    cps_buf_printf(out,
                   "mov $0a, 0x%x << 16\nor $0a, $0a, 0x%x\ncwrite $0a, [$00 + 0x%x]\n"
                   "mov $0a, 0x%x\ncwrite $0a, [$00 + 0x%x]\nmov $0a, 0x%x\n"
                   "cwrite $0a, [$00 + 0x%x]\n",
                   aperture >> 16, aperture & 0xffff, n->aperture, offset, n->write_address, value,
                   n->write);
}

static void a_write_for_all_pipes_reaches_those_with_a_value_of_their_own(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        CPS_BUF br = {0};
        put_write(&br, &layouts[i], 0x2000, 0x8800, 0x11);
        put_write(&br, &layouts[i], 0, 0x8800, 0x22);
        put_read(&br, &layouts[i], 5, 0x2000, 0x8800);
        put_read(&br, &layouts[i], 6, 0x1000, 0x8800);
        struct bench *b = pipes(&layouts[i], cps_buf_text(&br), "");
        assert_int_equal(general(b, 5), 0x22);
        assert_int_equal(general(b, 6), 0x22);
        bench_free(b);
    }
}

/* Four bits of a8xx name sixteen, of which eight are there (D: enum adreno_pipe). */
static void pipes_that_are_not_there_are_not_modelled(void **state)
{
    (void)state;
    CPS_BUF br = {0};
    put_write(&br, &layouts[A8XX], 0xa000, 0x8800, 0x11);
    struct bench *b = pipes(&layouts[A8XX], cps_buf_text(&br), "");
    const struct cps_event *unknown = bench_find(b, CPS_EV_UNMODELLED, CPS_PLACE_GPU, 0);
    const struct cps_event *write = bench_find(b, CPS_EV_REG, CPS_PATH_CTRL, 0);
    assert_true(unknown && unknown->addr == 0x8800);
    assert_true(write && write->addr == 0x8800);
    b->notes = 1;
    bench_free(b);
}

/* A port behind the aperture of another port would lead round in circles. */
static void ports_are_not_reached_through_apertures(void **state)
{
    (void)state;
    for (unsigned port = 0x019; port <= 0x01b; port += 2) {
        CPS_BUF br = {0};
        put_write(&br, &layouts[A8XX], 0x80001000, port, 0x11);
        struct bench *b = pipes(&layouts[A8XX], cps_buf_text(&br), "");
        const struct cps_event *unknown = bench_find(b, CPS_EV_UNMODELLED, CPS_PLACE_CONTROL, 0);
        assert_true(unknown && unknown->addr == port);
        b->notes = 1;
        bench_free(b);
    }
}

/* gen80000 070 0012..0019 writes control 0x074 of BR so (0x9a001000), 0221 that of BV (0x9a002000);
 * a7xx has no such bit. */
static void bit_31_of_a8xx_reaches_control_registers(void **state)
{
    (void)state;
    for (unsigned i = GEN3; i <= A8XX; i++) {
        CPS_BUF br = {0};
        cps_buf_str(
            &br,
            "mov $0a, 0x9a00 << 16\nor $0a, $0a, 0x2000\ncwrite $0a, [$00 + 0x01c]\n"
            "mov $0a, 0x74\ncwrite $0a, [$00 + 0x018]\nmov $0a, 0x80\ncwrite $0a, [$00 + 0x019]\n");
        put_read(&br, &layouts[i], 5, 0x9a002000, 0x74);
        put_read(&br, &layouts[i], 6, 0x9a001000, 0x74);
        struct bench *b = pipes(&layouts[i], cps_buf_text(&br), "");
        bool reached = i == A8XX;
        assert_int_equal(machine_value(b->engine, 1, CPS_FILE_CONTROL, 0x74), reached ? 0x80 : 0);
        assert_int_equal(machine_value(b->engine, 0, CPS_FILE_CONTROL, 0x74), 0);
        assert_int_equal(bench_count(b, CPS_EV_REG) == 0, reached);
        assert_int_equal(general(b, 5), 0x80);
        assert_int_equal(general(b, 6), reached ? 0 : 0x80); /* GPU register 0x74, of no pipe */
        bench_free(b);
    }
}

/* gen80000 AQE 0009: 27:24 of CHIP_ID are the processor's pipe. */
static void identities_of_late_chips_name_the_pipe(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct bench *b =
            pipes(&layouts[i], "cread $05, [$00 + 0x000]\n", "cread $05, [$00 + 0x000]\n");
        for (unsigned core = 0; core < 2; core++)
            assert_int_equal(machine_value(b->engine, core, CPS_FILE_GENERAL, 5) >> 24 & 15,
                             i == A7XX ? 0 : core + 1);
        bench_free(b);
    }
}

/* ---- CP_PROTECT of a8xx (D: the kernel's a8xx_set_cp_protect(), its register database) ---- */

enum { CONTROL = 0x84e, GLOBAL = 0x850, PIPE = 0x8a0 };
enum { ON = 3, OPEN = 8 };

static const struct protect {
    const char *claim;
    uint32_t control, entry_at, entry, target;
    bool forbidden;
} protects[] = {
    {"a global entry forbids its first register", ON, GLOBAL, 3u << 18 | 0x600, 0x600, true},
    {"and its last", ON, GLOBAL, 3u << 18 | 0x600, 0x603, true},
    {"but not the next", ON, GLOBAL, 3u << 18 | 0x600, 0x604, false},
    {"there are 64 global entries", ON, GLOBAL + 63, 0x600, 0x600, true},
    {"and no 65th", ON, GLOBAL + 64, 0x600, 0x600, false},
    {"the pipe's own entries forbid, too", ON, PIPE, 0x600, 0x600, true},
    {"of those there are 16", ON, PIPE + 15, 0x600, 0x600, true},
    {"and no 17th", ON, PIPE + 16, 0x600, 0x600, false},
    {"the pipe's last is open-ended with bit 3", ON | OPEN, PIPE + 15, 0x600, 0x12008, true},
    {"and is not without it", ON, PIPE + 15, 0x600, 0x12008, false},
    {"the pipe's last but one never is", ON | OPEN, PIPE + 14, 0x600, 0x12008, false},
    {"nor is the last global one", ON | OPEN, GLOBAL + 63, 0x600, 0x12008, false},
    {"nothing is forbidden while protection is off", 2, GLOBAL, 0x600, 0x600, false},
    {"a6xx's switch is none of a8xx", 0, 0x84f, 3, 0x600, false},
};

static void protection_of_a8xx_has_two_levels(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(protects) / sizeof(protects[0]); i++) {
        const struct protect *p = &protects[i];
        CPS_BUF code = {0};
        cps_buf_printf(
            &code, "mov $03, 0x%x << 16\nor $03, $03, 0x%x\nmov $usraddr, $03\nmov $data, 0x55\n",
            p->target >> 16, p->target & 0xffff);
        struct bench *b =
            bench_afuc(CPS_LAYOUT_A8XX, layouts[A8XX].head, cps_buf_text(&code), 0, 0);
        machine_set(b->engine, CPS_FILE_REGISTER, CONTROL, p->control);
        machine_set(b->engine, CPS_FILE_REGISTER, p->entry_at, p->entry);
        assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_IDLE);
        uint32_t value = machine_value(b->engine, 0, CPS_FILE_REGISTER, p->target);
        if (bench_count(b, CPS_EV_PROT) != p->forbidden ||
            bench_count(b, CPS_EV_IRQ) != p->forbidden || (value == 0x55) == p->forbidden)
            fail_msg("%s", p->claim);
        bench_free(b);
    }
}

/* Switch and entries of a pipe are registers of that pipe: BV's do not bind BR. */
static void each_pipe_of_a8xx_is_protected_by_its_own_entries(void **state)
{
    static const char try[] = "mov $usraddr, 0x600\nmov $data, 0x55\n";
    CPS_BUF bv = {0};
    (void)state;
    cps_buf_printf(&bv, "mov $addr, 0x84e\nmov $data, 0x3\nmov $addr, 0x8a0\nmov $data, 0x600\n%s",
                   try);
    struct bench *b = pipes(&layouts[A8XX], try, cps_buf_text(&bv));
    const struct cps_event *dropped = bench_find(b, CPS_EV_PROT, 0, 0);
    assert_int_equal(bench_count(b, CPS_EV_PROT), 1);
    assert_non_null(dropped);
    assert_int_equal(cps_event_who(dropped), CPS_CPU_BV);
    assert_int_equal(machine_value(b->engine, 0, CPS_FILE_REGISTER, 0x600), 0x55);
    bench_free(b);
}

/* The host's own write goes to all pipes, as one with an aperture of 0 does. */
static void a_write_of_the_host_reaches_pipes_with_a_value_of_their_own(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct bench *b =
            pipes(&layouts[i], "", "mov $addr, 0x8800\nmov $data, 0x22\nmov $data, 0x33\n");
        const struct cps_item write = {.kind = CPS_ITEM_WRITE,
                                       .host = {CPS_HOST_REG, 4, 0x8800, 0x44, 0, 0}};
        assert_int_equal(machine_value(b->engine, 1, CPS_FILE_REGISTER, 0x8800), 0x22);
        assert_null(cps_engine_feed(b->engine, &write));
        for (unsigned core = 0; core < 2; core++)
            assert_int_equal(machine_value(b->engine, core, CPS_FILE_REGISTER, 0x8800), 0x44);
        assert_int_equal(machine_value(b->engine, 1, CPS_FILE_REGISTER, 0x8801), 0x33);
        bench_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_of_clusters_are_each_pipes_own),
        cmocka_unit_test(what_a_pipe_did_not_write_it_has_from_br),
        cmocka_unit_test(registers_of_the_command_processor_are_per_pipe_on_a8xx_only),
        cmocka_unit_test(the_aperture_redirects_reg_write_alone),
        cmocka_unit_test(events_name_the_pipe_of_an_aperture),
        cmocka_unit_test(a_write_for_all_pipes_reaches_those_with_a_value_of_their_own),
        cmocka_unit_test(pipes_that_are_not_there_are_not_modelled),
        cmocka_unit_test(ports_are_not_reached_through_apertures),
        cmocka_unit_test(bit_31_of_a8xx_reaches_control_registers),
        cmocka_unit_test(identities_of_late_chips_name_the_pipe),
        cmocka_unit_test(protection_of_a8xx_has_two_levels),
        cmocka_unit_test(each_pipe_of_a8xx_is_protected_by_its_own_entries),
        cmocka_unit_test(a_write_of_the_host_reaches_pipes_with_a_value_of_their_own),
    };
    return cmocka_run_group_tests_name("bank", tests, NULL, NULL);
}
