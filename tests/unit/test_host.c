/* SPDX-License-Identifier: MIT
 * An engine with a host: whose memory and whose registers, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/engine_bench.h"

#define BASE UINT64_C(0x100000000)
#define SIZE (4 * CPS_HOST_PAGE)

/* A host with some memory, and what it was asked. */
struct device {
    uint8_t memory[SIZE];
    uint64_t read_at[16];
    unsigned reads, writes, register_reads, register_writes;
    uint32_t written, reg;
    bool refuses;
    struct bench *bench;
};

static bool host_read(void *context, uint64_t iova, uint8_t *to)
{
    struct device *d = context;
    d->read_at[d->reads++ % 16] = iova;
    if (iova < BASE || iova >= BASE + SIZE)
        return false;
    memcpy(to, d->memory + (iova - BASE), CPS_HOST_PAGE);
    return true;
}

static bool host_write(void *context, uint64_t iova, const uint8_t *from, uint32_t size)
{
    struct device *d = context;
    d->writes++;
    if (!d->refuses)
        memcpy(d->memory + (iova - BASE), from, size);
    return !d->refuses;
}

static bool host_read_register(void *context, uint32_t offset, uint32_t *ret)
{
    struct device *d = context;
    d->register_reads++;
    *ret = offset == 0x8810 ? d->reg : *ret;
    return offset == 0x8810;
}

static bool host_write_register(void *context, uint32_t offset, uint32_t value)
{
    struct device *d = context;
    d->register_writes++;
    d->written = value;
    if (offset == 0x8812) { /* the device writes memory while the processor runs */
        d->memory[0x1010] = 0x99;
        cps_engine_changed(d->bench->engine);
    }
    return offset == 0x8810;
}

static const struct cps_host host = {.read = host_read,
                                     .write = host_write,
                                     .read_register = host_read_register,
                                     .write_register = host_write_register};

/* Starts firmware that is @p code, and then waits for packets. */
static void start(struct device *d, const char *code)
{
    struct cps_asm program = bench_code(HEAD_A6XX, code, CPS_A6XX);
    struct cps_config config = {.layout = CPS_LAYOUT_A6XX,
                                .words = program.words + 1,
                                .count = program.count - 1,
                                .image = {{CPS_CPU_SQE, 0}},
                                .image_count = 1,
                                .host = host};
    config.host.context = d;
    d->bench = bench_create(&config);
    d->bench->program[0] = program;
}

static void stop(struct device *d)
{
    bench_free(d->bench);
}

static uint32_t host_word(const struct device *d, uint64_t iova)
{
    uint32_t value = 0;
    memcpy(&value, d->memory + (iova - BASE), 4);
    return value;
}

/* Dwords from 0x100001010 and the one behind it into $03 and $04. */
#define READS                                                                                \
    "mov $02, 0x1010\ncwrite $02, [$00 + @MEM_READ_ADDR]\nmov $02, 0x1\ncwrite $02, [$00 + " \
    "@MEM_READ_ADDR+0x1]\nmov $02, 0x1\ncwrite $02, [$00 + @MEM_READ_DWORDS]\nmov $03, "     \
    "$memdata\nmov $02, 0x1014\ncwrite $02, [$00 + @MEM_READ_ADDR]\nmov $02, 0x1\ncwrite "   \
    "$02, [$00 + @MEM_READ_DWORDS]\nmov $04, $memdata\n"
/* 0x55 to high << 32 | 0x2008, and 0x66 behind it. */
#define WRITES(high)                                                                    \
    "mov $addr, 0xa0 << 24\nmov $data, 0x2008\nmov $addr, 0xa1 << 24\nmov $data, " high \
    "\nmov $addr, 0xa2 << 24\nmov $data, 0x55\nmov $addr, 0xa2 << 24\nmov $data, 0x66\n"

static void memory_is_read_a_page_at_a_time(void **state)
{
    static struct device d;
    (void)state;
    d.memory[0x1010] = 0x11;
    d.memory[0x1014] = 0x14;
    start(&d, READS);
    assert_int_equal(d.reads, 0); /* the image is the engine's */
    assert_int_equal(cps_engine_run(d.bench->engine, 10000), CPS_STOP_IDLE);
    assert_int_equal(d.reads, 1);
    assert_true(d.read_at[0] == BASE + 0x1000);
    assert_int_equal(machine_value(d.bench->engine, 0, CPS_FILE_GENERAL, 3), 0x11);
    assert_int_equal(machine_value(d.bench->engine, 0, CPS_FILE_GENERAL, 4), 0x14);
    stop(&d);
}

static void writes_go_through_in_order(void **state)
{
    static struct device d;
    (void)state;
    start(&d, WRITES("0x1"));
    assert_int_equal(cps_engine_run(d.bench->engine, 10000), CPS_STOP_IDLE);
    assert_int_equal(d.writes, 2);
    assert_int_equal(host_word(&d, BASE + 0x2008), 0x55);
    assert_int_equal(host_word(&d, BASE + 0x200c), 0x66);
    stop(&d);
}

static void a_refused_write_is_a_fault(void **state)
{
    static struct device d;
    (void)state;
    d.refuses = true;
    start(&d, WRITES("0x1"));
    assert_int_equal(cps_engine_run(d.bench->engine, 10000), CPS_STOP_FAULT);
    assert_int_equal(host_word(&d, BASE + 0x2008), 0);
    stop(&d);
}

static void memory_that_the_host_has_not_is_the_engines(void **state)
{
    static struct device d;
    (void)state;
    start(&d, WRITES("0x2"));
    assert_int_equal(cps_engine_run(d.bench->engine, 10000), CPS_STOP_IDLE);
    assert_int_equal(d.writes, 0);
    assert_int_equal(machine_memory(d.bench->engine, 2 * BASE + 0x200c, NULL), 0x66);
    stop(&d);
}

static void changes_between_runs_are_seen(void **state)
{
    static struct device d;
    bool known = false;
    (void)state;
    start(&d, WRITES("0x1"));
    assert_int_equal(cps_engine_run(d.bench->engine, 10000), CPS_STOP_IDLE);
    d.memory[0x2008] = 0x77;
    assert_int_equal(machine_memory(d.bench->engine, BASE + 0x2008, &known), 0x77);
    assert_int_equal(machine_memory(d.bench->engine, BASE + 0x200c, &known), 0x66);
    assert_true(known);
    machine_memory(d.bench->engine, BASE + SIZE, &known);
    assert_false(known);
    machine_forget(d.bench->engine); /* a submission that is over: what the host has stays */
    assert_int_equal(machine_memory(d.bench->engine, BASE + 0x2008, &known), 0x77);
    stop(&d);
}

static void changes_within_a_run_are_seen_when_told(void **state)
{
    static struct device d;
    (void)state;
    d.memory[0x1010] = 0x11;
    start(&d, READS "mov $addr, 0x8812\nmov $data, 0x1\n" READS);
    assert_int_equal(cps_engine_run(d.bench->engine, 10000), CPS_STOP_IDLE);
    assert_int_equal(machine_value(d.bench->engine, 0, CPS_FILE_GENERAL, 3), 0x99);
    assert_int_equal(d.reads, 2);
    stop(&d);
}

static void contents_of_an_item_go_to_the_host(void **state)
{
    static struct device d;
    static const uint8_t bytes[6] = {1, 2, 3, 4, 5, 6};
    (void)state;
    start(&d, "");
    assert_null(
        machine_load(d.bench->engine, BASE + 0xffe, bytes, sizeof(bytes))); /* over two pages */
    assert_memory_equal(d.memory + 0xffe, bytes, sizeof(bytes));
    d.refuses = true;
    struct cps_err *err = machine_load(d.bench->engine, BASE + 0xffe, bytes, sizeof(bytes));
    assert_non_null(err);
    cps_err_free(err);
    stop(&d);
}

/* 0x8810 is the host's, 0x980 a register that behaves, 0x8811 nobody's. */
#define READ_REGISTER(number, to)                                          \
    "mov $02, 0x1\ncwrite $02, [$00 + @REG_READ_DWORDS]\nmov $05, " number \
    "\ncwrite $05, [$00 + @REG_READ_ADDR]\nmov " to ", $regdata\n"

static void registers_are_offered_to_the_host_first(void **state)
{
    static struct device d;
    (void)state;
    d.reg = 0x1234;
    start(&d,
          READ_REGISTER("0x8810", "$03") READ_REGISTER("0x980", "$04")
              READ_REGISTER("0x8811", "$06") READ_REGISTER(
                  "0x8811",
                  "$07") "mov $addr, 0x8810\nmov $data, 0x5\nmov $addr, 0x8811\nmov $data, 0x6\n");
    assert_int_equal(cps_engine_run(d.bench->engine, 10000), CPS_STOP_IDLE);
    assert_int_equal(d.register_reads, 4);
    assert_int_equal(machine_value(d.bench->engine, 0, CPS_FILE_GENERAL, 3), 0x1234);
    assert_int_not_equal(machine_value(d.bench->engine, 0, CPS_FILE_GENERAL, 4), 0);
    assert_int_equal(machine_value(d.bench->engine, 0, CPS_FILE_GENERAL, 6), 0);
    assert_int_equal(bench_count(d.bench, CPS_EV_UNMODELLED), 1); /* 0x8811, once */
    assert_int_equal(d.register_writes, 2);
    assert_int_equal(d.written, 6);
    assert_int_equal(machine_value(d.bench->engine, 0, CPS_FILE_REGISTER, 0x8811), 6);
    d.bench->notes = 2; /* that, and the clock of 0x980 */
    stop(&d);
}

static void access(struct device *d, enum cps_item_kind kind, uint32_t addr, uint32_t value,
                   unsigned size, bool good)
{
    const struct cps_item item = {
        .kind = kind,
        .host = {CPS_HOST_REG, (uint8_t)size, addr, value, 0, 0},
    };
    struct cps_err *err = cps_engine_feed(d->bench->engine, &item);
    assert_true(!err == good);
    cps_err_free(err);
}

static void ring_registers_move_the_ring(void **state)
{
    static struct device d;
    (void)state;
    start(&d, "");
    access(&d, CPS_ITEM_WRITE, 0x800, 0x3000, 4, true);
    access(&d, CPS_ITEM_WRITE, 0x801, 0x1, 4, true);
    access(&d, CPS_ITEM_WRITE, 0x802, 0x3, 4, true);
    struct cps_position at = cps_afuc_position(cps_afuc_of(d.bench->engine), 0, CPS_LEVEL_RB);
    assert_true(at.iova == BASE + 0x3000);
    assert_int_equal(at.dwords, 16);
    access(&d, CPS_ITEM_WRITE, 0x806, 5, 4, true);
    access(&d, CPS_ITEM_WRITE, 0x807, 5, 4, true);
    assert_int_equal(cps_engine_run(d.bench->engine, 10000), CPS_STOP_IDLE);
    access(&d, CPS_ITEM_READ, 0x806, 0, 0, true);
    assert_int_equal(d.bench->engine->answer, 5);
    access(&d, CPS_ITEM_READ, 0x802, 0, 0, true);
    assert_int_equal(d.bench->engine->answer, 3);
    access(&d, CPS_ITEM_WRITE, 0x802, 0x3f, 4, false); /* larger than any */
    access(&d, CPS_ITEM_WRITE, 0x807, 0, 2, false);    /* half a register */
    access(&d, CPS_ITEM_READ, 0x40000, 0, 0, false);   /* none */
    stop(&d);
}

/* Also the first of all registers, and the last. */
static void every_write_of_a_register_is_offered_to_the_host(void **state)
{
    static struct device d;
    (void)state;
    start(&d, "mov $addr, $00\nmov $data, 0x5\nmov $02, 0x3 << 16\nor $addr, $02, 0xffff\n"
              "mov $data, 0x6\n");
    for (unsigned i = 0; i < 10 && !d.register_writes; i++)
        assert_int_equal(cps_engine_run(d.bench->engine, 1), CPS_STOP_BUDGET);
    assert_int_equal(d.written, 5);
    assert_int_equal(cps_engine_run(d.bench->engine, 10000), CPS_STOP_IDLE);
    assert_int_equal(d.register_writes, 2);
    assert_int_equal(d.written, 6);
    stop(&d);
}

/* Words of the ring that the core has already in view are not those at the new place. */
static void a_read_pointer_that_is_moved_moves_what_is_read_next(void **state)
{
    static const uint32_t words[] = {0x11, 0x22, 0x33, 0x44, 0x55};
    static struct device d;
    (void)state;
    start(&d, "mov $03, $data\nmov $04, $data\nmov $05, $data\n");
    cps_engine_sink(d.bench->engine, NULL, 0);
    assert_true(machine_ring(d.bench->engine, words, 5));
    for (unsigned i = 0; i < 10 && !machine_value(d.bench->engine, 0, CPS_FILE_GENERAL, 3); i++)
        assert_int_equal(cps_engine_run(d.bench->engine, 1), CPS_STOP_BUDGET);
    assert_int_equal(machine_value(d.bench->engine, 0, CPS_FILE_GENERAL, 3), 0x11);
    access(&d, CPS_ITEM_WRITE, 0x806, 3, 4, true);
    assert_int_equal(cps_engine_run(d.bench->engine, 2), CPS_STOP_BUDGET);
    assert_int_equal(machine_value(d.bench->engine, 0, CPS_FILE_GENERAL, 4), 0x44);
    assert_int_equal(machine_value(d.bench->engine, 0, CPS_FILE_GENERAL, 5), 0x55);
    stop(&d);
}

static void what_has_no_host_refuses_one(void **state)
{
    static struct device d;
    struct cps_engine *engine = NULL;
    struct cps_config config = {.gen = CPS_G92, .host = host};
    (void)state;
    struct cps_err *err = cps_engine_create(&config, &engine);
    assert_int_equal(err->code, CPS_ERR_UNSUPPORTED);
    cps_err_free(err);
    config = (struct cps_config){.layout = CPS_LAYOUT_A6XX, .host = {.read = host_read}};
    err = cps_engine_create(&config, &engine);
    assert_int_equal(err->code, CPS_ERR_INPUT);
    cps_err_free(err);
    start(&d, "");
    err = cps_engine_clone(d.bench->engine, &engine);
    assert_int_equal(err->code, CPS_ERR_UNSUPPORTED);
    cps_err_free(err);
    assert_null(engine);
    stop(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_read_a_page_at_a_time),
        cmocka_unit_test(writes_go_through_in_order),
        cmocka_unit_test(a_refused_write_is_a_fault),
        cmocka_unit_test(memory_that_the_host_has_not_is_the_engines),
        cmocka_unit_test(changes_between_runs_are_seen),
        cmocka_unit_test(changes_within_a_run_are_seen_when_told),
        cmocka_unit_test(contents_of_an_item_go_to_the_host),
        cmocka_unit_test(registers_are_offered_to_the_host_first),
        cmocka_unit_test(ring_registers_move_the_ring),
        cmocka_unit_test(every_write_of_a_register_is_offered_to_the_host),
        cmocka_unit_test(a_read_pointer_that_is_moved_moves_what_is_read_next),
        cmocka_unit_test(what_has_no_host_refuses_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
