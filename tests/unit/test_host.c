/* SPDX-License-Identifier: MIT
 * An engine with a host: whose memory and whose registers, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fw/fw.h"
#include "tests/bench.h"

#define BASE UINT64_C(0x100000000)
#define SIZE (4 * CPS_HOST_PAGE)

/* A host with some memory, and what it was asked. */
struct hosted {
    struct cps_sink sink; /* first */
    uint8_t memory[SIZE];
    uint64_t read_at[16];
    unsigned reads, writes, register_reads, register_writes, unmodelled;
    uint32_t written, reg;
    bool refuses;
    struct cps_engine *engine;
    struct cps_asm program;
};

static bool host_read(void *context, uint64_t iova, uint8_t *to)
{
    struct hosted *b = context;
    b->read_at[b->reads++ % 16] = iova;
    if (iova < BASE || iova >= BASE + SIZE)
        return false;
    memcpy(to, b->memory + (iova - BASE), CPS_HOST_PAGE);
    return true;
}

static bool host_write(void *context, uint64_t iova, const uint8_t *from, uint32_t size)
{
    struct hosted *b = context;
    b->writes++;
    if (!b->refuses)
        memcpy(b->memory + (iova - BASE), from, size);
    return !b->refuses;
}

static bool host_read_register(void *context, uint32_t offset, uint32_t *ret)
{
    struct hosted *b = context;
    b->register_reads++;
    *ret = offset == 0x8810 ? b->reg : *ret;
    return offset == 0x8810;
}

static bool host_write_register(void *context, uint32_t offset, uint32_t value)
{
    struct hosted *b = context;
    b->register_writes++;
    b->written = value;
    if (offset == 0x8812) { /* the device writes memory while the processor runs */
        b->memory[0x1010] = 0x99;
        cps_engine_changed(b->engine);
    }
    return offset == 0x8810;
}

static void note(struct cps_sink *sink, const struct cps_event *event, size_t count)
{
    struct hosted *b = (struct hosted *)sink;
    for (size_t i = 0; i < count; i++)
        b->unmodelled += cps_event_kind(&event[i]) == CPS_EV_UNMODELLED;
}

static const struct cps_host host = {
    NULL, host_read, host_write, host_read_register, host_write_register, NULL};

/* Starts firmware that is @p code, and then waits for packets. */
static void start(struct hosted *b, const char *code)
{
    CPS_BUF text = {0};
    cps_buf_printf(&text, "[016ee001]\n[01000000]\n%swaitin\nmov $01, $data\n", code);
    assert_null(cps_assemble("test", text.data, text.size, CPS_A6XX, &b->program));
    struct cps_config config = {.layout = CPS_LAYOUT_A6XX,
                                .words = b->program.words + 1,
                                .count = b->program.count - 1,
                                .image = {{CPS_CPU_SQE, 0}},
                                .image_count = 1,
                                .host = host};
    config.host.context = b;
    b->sink.put = note;
    assert_null(cps_engine_create(&config, &b->engine));
    cps_engine_sink(b->engine, &b->sink, UINT32_C(1) << CPS_EV_UNMODELLED);
}

static void stop(struct hosted *b)
{
    cps_engine_destroy(b->engine);
    free(b->program.words);
}

static uint32_t host_word(const struct hosted *b, uint64_t iova)
{
    uint32_t value = 0;
    memcpy(&value, b->memory + (iova - BASE), 4);
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
    static struct hosted b;
    (void)state;
    b.memory[0x1010] = 0x11;
    b.memory[0x1014] = 0x14;
    start(&b, READS);
    assert_int_equal(b.reads, 0); /* the image is the engine's */
    assert_int_equal(cps_engine_run(b.engine, 10000), CPS_STOP_IDLE);
    assert_int_equal(b.reads, 1);
    assert_true(b.read_at[0] == BASE + 0x1000);
    assert_int_equal(machine_value(b.engine, 0, CPS_FILE_GENERAL, 3), 0x11);
    assert_int_equal(machine_value(b.engine, 0, CPS_FILE_GENERAL, 4), 0x14);
    stop(&b);
}

static void writes_go_through_in_order(void **state)
{
    static struct hosted b;
    (void)state;
    start(&b, WRITES("0x1"));
    assert_int_equal(cps_engine_run(b.engine, 10000), CPS_STOP_IDLE);
    assert_int_equal(b.writes, 2);
    assert_int_equal(host_word(&b, BASE + 0x2008), 0x55);
    assert_int_equal(host_word(&b, BASE + 0x200c), 0x66);
    stop(&b);
}

static void a_refused_write_is_a_fault(void **state)
{
    static struct hosted b;
    (void)state;
    b.refuses = true;
    start(&b, WRITES("0x1"));
    assert_int_equal(cps_engine_run(b.engine, 10000), CPS_STOP_FAULT);
    assert_int_equal(host_word(&b, BASE + 0x2008), 0);
    stop(&b);
}

static void memory_that_the_host_has_not_is_the_engines(void **state)
{
    static struct hosted b;
    (void)state;
    start(&b, WRITES("0x2"));
    assert_int_equal(cps_engine_run(b.engine, 10000), CPS_STOP_IDLE);
    assert_int_equal(b.writes, 0);
    assert_int_equal(machine_memory(b.engine, 2 * BASE + 0x200c, NULL), 0x66);
    stop(&b);
}

static void changes_between_runs_are_seen(void **state)
{
    static struct hosted b;
    bool known = false;
    (void)state;
    start(&b, WRITES("0x1"));
    assert_int_equal(cps_engine_run(b.engine, 10000), CPS_STOP_IDLE);
    b.memory[0x2008] = 0x77;
    assert_int_equal(machine_memory(b.engine, BASE + 0x2008, &known), 0x77);
    assert_int_equal(machine_memory(b.engine, BASE + 0x200c, &known), 0x66);
    assert_true(known);
    machine_memory(b.engine, BASE + SIZE, &known);
    assert_false(known);
    machine_forget(b.engine); /* a submission that is over: what the host has stays */
    assert_int_equal(machine_memory(b.engine, BASE + 0x2008, &known), 0x77);
    stop(&b);
}

static void changes_within_a_run_are_seen_when_told(void **state)
{
    static struct hosted b;
    (void)state;
    b.memory[0x1010] = 0x11;
    start(&b, READS "mov $addr, 0x8812\nmov $data, 0x1\n" READS);
    assert_int_equal(cps_engine_run(b.engine, 10000), CPS_STOP_IDLE);
    assert_int_equal(machine_value(b.engine, 0, CPS_FILE_GENERAL, 3), 0x99);
    assert_int_equal(b.reads, 2);
    stop(&b);
}

static void contents_of_an_item_go_to_the_host(void **state)
{
    static struct hosted b;
    static const uint8_t bytes[6] = {1, 2, 3, 4, 5, 6};
    (void)state;
    start(&b, "");
    assert_null(machine_load(b.engine, BASE + 0xffe, bytes, sizeof(bytes))); /* over two pages */
    assert_memory_equal(b.memory + 0xffe, bytes, sizeof(bytes));
    b.refuses = true;
    struct cps_err *err = machine_load(b.engine, BASE + 0xffe, bytes, sizeof(bytes));
    assert_non_null(err);
    cps_err_free(err);
    stop(&b);
}

/* 0x8810 is the host's, 0x980 a register that behaves, 0x8811 nobody's. */
#define READ_REGISTER(number, to)                                          \
    "mov $02, 0x1\ncwrite $02, [$00 + @REG_READ_DWORDS]\nmov $05, " number \
    "\ncwrite $05, [$00 + @REG_READ_ADDR]\nmov " to ", $regdata\n"

static void registers_are_offered_to_the_host_first(void **state)
{
    static struct hosted b;
    (void)state;
    b.reg = 0x1234;
    start(&b,
          READ_REGISTER("0x8810", "$03") READ_REGISTER("0x980", "$04")
              READ_REGISTER("0x8811", "$06") READ_REGISTER(
                  "0x8811",
                  "$07") "mov $addr, 0x8810\nmov $data, 0x5\nmov $addr, 0x8811\nmov $data, 0x6\n");
    assert_int_equal(cps_engine_run(b.engine, 10000), CPS_STOP_IDLE);
    assert_int_equal(b.register_reads, 4);
    assert_int_equal(machine_value(b.engine, 0, CPS_FILE_GENERAL, 3), 0x1234);
    assert_int_not_equal(machine_value(b.engine, 0, CPS_FILE_GENERAL, 4), 0);
    assert_int_equal(machine_value(b.engine, 0, CPS_FILE_GENERAL, 6), 0);
    assert_int_equal(b.unmodelled, 1); /* 0x8811, once */
    assert_int_equal(b.register_writes, 2);
    assert_int_equal(b.written, 6);
    assert_int_equal(machine_value(b.engine, 0, CPS_FILE_REGISTER, 0x8811), 6);
    stop(&b);
}

static void access(struct hosted *b, enum cps_item_kind kind, uint32_t addr, uint32_t value,
                   unsigned size, bool good)
{
    const struct cps_item item = {
        .kind = kind,
        .host = {CPS_HOST_REG, (uint8_t)size, addr, value, 0, 0},
    };
    struct cps_err *err = cps_engine_feed(b->engine, &item);
    assert_true(!err == good);
    cps_err_free(err);
}

static void ring_registers_move_the_ring(void **state)
{
    static struct hosted b;
    (void)state;
    start(&b, "");
    access(&b, CPS_ITEM_WRITE, 0x800, 0x3000, 4, true);
    access(&b, CPS_ITEM_WRITE, 0x801, 0x1, 4, true);
    access(&b, CPS_ITEM_WRITE, 0x802, 0x3, 4, true);
    struct cps_position at = cps_afuc_position(cps_afuc_of(b.engine), 0, CPS_LEVEL_RB);
    assert_true(at.iova == BASE + 0x3000);
    assert_int_equal(at.dwords, 16);
    access(&b, CPS_ITEM_WRITE, 0x806, 5, 4, true);
    access(&b, CPS_ITEM_WRITE, 0x807, 5, 4, true);
    assert_int_equal(cps_engine_run(b.engine, 10000), CPS_STOP_IDLE);
    access(&b, CPS_ITEM_READ, 0x806, 0, 0, true);
    assert_int_equal(b.engine->answer, 5);
    access(&b, CPS_ITEM_READ, 0x802, 0, 0, true);
    assert_int_equal(b.engine->answer, 3);
    access(&b, CPS_ITEM_WRITE, 0x802, 0x3f, 4, false); /* larger than any */
    access(&b, CPS_ITEM_WRITE, 0x807, 0, 2, false);    /* half a register */
    access(&b, CPS_ITEM_READ, 0x40000, 0, 0, false);   /* none */
    stop(&b);
}

static void what_has_no_host_refuses_one(void **state)
{
    static struct hosted b;
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
    start(&b, "");
    err = cps_engine_clone(b.engine, &engine);
    assert_int_equal(err->code, CPS_ERR_UNSUPPORTED);
    cps_err_free(err);
    assert_null(engine);
    stop(&b);
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
        cmocka_unit_test(what_has_no_host_refuses_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
