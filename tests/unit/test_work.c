/* SPDX-License-Identifier: MIT
 * Work that firmware launches, done by a function of the program: when it is called, what it reads
 * and writes, how it fails, and who calls it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/engine_bench.h"

#define BASE UINT64_C(0x100002000)

/* What the function was called with, and what it does. */
struct worker {
    uint32_t calls, kinds[4], values[4];
    uint32_t scratch, unwritten;
    bool was_written, was_read, unmapped;
    const char *fails;
    bool maps;
    uint8_t memory[CPS_HOST_PAGE]; /* of the host, at BASE */
};

static const char *do_work(void *context, const struct cps_work *work)
{
    struct worker *w = context;
    uint8_t bytes[7] = {0};
    w->kinds[w->calls % 4] = work->kind;
    w->values[w->calls++ % 4] = work->value;
    assert_int_equal(work->generation, 6);
    assert_int_equal(work->processor, CPS_CPU_SQE);
    w->was_written = work->get(work, 0xa9b4, &w->scratch);
    assert_false(work->get(work, 0xa9b6, &w->unwritten));
    assert_false(work->get(work, UINT32_MAX, &w->unwritten));
    if (w->maps) {
        uint64_t size = 4;
        uint8_t *data = work->map(work, BASE + 0x10, &size);
        assert_non_null(data);
        assert_int_equal(size, CPS_HOST_PAGE - 0x10);
        data[0]++;
        return w->fails;
    }
    w->was_read = work->read(work, BASE + 9, bytes, sizeof(bytes));
    bytes[0]++;
    assert_true(work->write(work, BASE + 0x11, bytes, sizeof(bytes)));
    return w->fails;
}

/* Memory as NRT writes leave it: 0x04030201 0x08070605 from BASE + 8 on; a kernel starts; what is
 * at BASE + 0x10 goes to $03. */
#define BYTES                                                                                      \
    "mov $addr, 0xa0 << 24\nmov $data, 0x2008\nmov $addr, 0xa1 << 24\nmov $data, 0x1\n"            \
    "mov $02, 0x0201\nmov $04, 0x0403 << 16\nor $02, $02, $04\nmov $addr, 0xa2 << 24\nmov $data, " \
    "$02\n"                                                                                        \
    "mov $02, 0x0605\nmov $04, 0x0807 << 16\nor $02, $02, $04\nmov $addr, 0xa2 << 24\nmov $data, " \
    "$02\n"
#define KERNEL "mov $addr, 0xa9b4\nmov $data, 0x77\nmov $addr, 0x9841\nmov $data, 0x5\n"
#define READS(low)                                                                            \
    "mov $02, " low "\ncwrite $02, [$00 + @MEM_READ_ADDR]\nmov $02, 0x1\ncwrite $02, [$00 + " \
    "@MEM_READ_ADDR+0x1]\nmov $02, 0x1\ncwrite $02, [$00 + @MEM_READ_DWORDS]\nmov $03, "      \
    "$memdata\n"

static struct bench *start(const char *code, const struct cps_host *host)
{
    struct cps_asm program = bench_code(HEAD_A6XX, code, CPS_A6XX);
    struct cps_config config = {.layout = CPS_LAYOUT_A6XX,
                                .words = program.words + 1,
                                .count = program.count - 1,
                                .image = {{CPS_CPU_SQE, 0}},
                                .image_count = 1};
    if (host)
        config.host = *host;
    struct bench *bench = bench_create(&config);
    bench->program[0] = program;
    return bench;
}

static void a_launch_calls_and_the_firmware_sees_what_was_stored(void **state)
{
    struct worker w = {0};
    struct bench *bench = start(BYTES KERNEL READS("0x2010"), NULL);
    (void)state;
    cps_engine_work(bench->engine, do_work, &w);
    assert_int_equal(cps_engine_run(bench->engine, 10000), CPS_STOP_IDLE);
    assert_int_equal(w.calls, 1);
    assert_int_equal(w.kinds[0], CPS_WORK_DISPATCH);
    assert_int_equal(w.values[0], 5);
    assert_true(w.was_written && w.was_read);
    assert_int_equal(w.scratch, 0x77);
    /* Bytes 02 to 08 went to 0x11 as 03 03 04: the byte before them is 0. */
    assert_int_equal(machine_value(bench->engine, 0, CPS_FILE_GENERAL, 3), 0x04030300);
    bench_free(bench);
}

static void registers_that_are_watched_call_at_each_write(void **state)
{
    struct worker w = {0};
    struct bench *bench = start(BYTES KERNEL "mov $addr, 0xa9b4\nmov $data, 0x78\n", NULL);
    (void)state;
    cps_engine_work(bench->engine, do_work, &w);
    cps_engine_watch(bench->engine, 0xa9b4);
    cps_engine_watch(bench->engine, UINT32_MAX);
    assert_int_equal(cps_engine_run(bench->engine, 10000), CPS_STOP_IDLE);
    assert_int_equal(w.calls, 3);
    assert_int_equal(w.kinds[0], CPS_WORK_REGISTER);
    assert_int_equal(w.kinds[1], CPS_WORK_DISPATCH);
    assert_int_equal(w.values[2], 0x78);
    bench_free(bench);
}

static void work_that_fails_is_a_fault_with_its_reason(void **state)
{
    struct worker w = {.fails = "no such kernel"};
    struct bench *bench = start(BYTES KERNEL, NULL);
    CPS_BUF why = {0};
    unsigned core = 0;
    (void)state;
    cps_engine_work(bench->engine, do_work, &w);
    assert_int_equal(cps_engine_run(bench->engine, 10000), CPS_STOP_FAULT);
    cps_engine_explain(bench->engine, CPS_STOP_FAULT, &why);
    assert_non_null(
        strstr(cps_buf_text(&why), ": the work that it launched failed: no such kernel"));
    assert_int_equal(cps_afuc_trouble(cps_afuc_of(bench->engine), &core), CPS_TROUBLE_WORK);
    assert_string_equal(bench->engine->work_failed, "no such kernel");
    assert_int_equal(cps_engine_run(bench->engine, 10000), CPS_STOP_FAULT);
    assert_int_equal(w.calls, 1);
    bench_free(bench);
}

static void clones_do_no_work(void **state)
{
    struct worker w = {0};
    struct bench *bench = start(BYTES KERNEL, NULL);
    struct cps_engine *clone = NULL;
    (void)state;
    cps_engine_work(bench->engine, do_work, &w);
    assert_null(cps_engine_clone(bench->engine, &clone));
    assert_int_equal(cps_engine_run(clone, 10000), CPS_STOP_IDLE);
    assert_int_equal(w.calls, 0);
    assert_int_equal(clone->launches[CPS_WORK_DISPATCH], 1);
    /* Who gave the clone a function keeps it when the clone begins anew. */
    cps_engine_work(clone, do_work, &w);
    assert_null(cps_engine_restore(&clone, bench->engine));
    assert_int_equal(cps_engine_run(clone, 10000), CPS_STOP_IDLE);
    assert_int_equal(w.calls, 1);
    cps_engine_destroy(clone);
    bench_free(bench);
}

/* ---- a host's memory ---- */

static bool host_read(void *context, uint64_t iova, uint8_t *to)
{
    struct worker *w = context;
    if (iova != BASE)
        return false;
    memcpy(to, w->memory, CPS_HOST_PAGE);
    return true;
}

static bool host_write(void *context, uint64_t iova, const uint8_t *from, uint32_t size)
{
    struct worker *w = context;
    memcpy(w->memory + (iova - BASE), from, size);
    return true;
}

static void *host_map(void *context, uint64_t iova, uint64_t *size)
{
    struct worker *w = context;
    if (iova - BASE >= CPS_HOST_PAGE)
        return NULL;
    *size = CPS_HOST_PAGE - (iova - BASE);
    return w->memory + (iova - BASE);
}

static const char *write_beyond(void *context, const struct cps_work *work)
{
    struct worker *w = context;
    uint8_t bytes[64] = {1};
    uint64_t size = 8;
    memset(bytes, 1, sizeof(bytes));
    assert_null(work->map(work, BASE + CPS_HOST_PAGE, &size));
    w->unmapped = !work->write(work, BASE + CPS_HOST_PAGE - 32, bytes, sizeof(bytes));
    assert_false(work->read(work, BASE + CPS_HOST_PAGE - 32, bytes, sizeof(bytes)));
    assert_int_equal(bytes[31], 1);
    assert_int_equal(bytes[32], 0);
    return NULL;
}

static void memory_of_a_host_is_written_and_read_again(void **state)
{
    struct worker w = {.maps = true};
    const struct cps_host host = {
        .context = &w, .read = host_read, .write = host_write, .map = host_map};
    struct bench *bench = start(READS("0x2010") KERNEL READS("0x2010"), &host);
    (void)state;
    w.memory[0x10] = 0x41;
    cps_engine_work(bench->engine, do_work, &w);
    assert_int_equal(cps_engine_run(bench->engine, 10000), CPS_STOP_IDLE);
    assert_int_equal(machine_value(bench->engine, 0, CPS_FILE_GENERAL, 3), 0x42);
    bench_free(bench);
    bench = start(KERNEL, &host);
    cps_engine_work(bench->engine, write_beyond, &w);
    assert_int_equal(cps_engine_run(bench->engine, 10000), CPS_STOP_IDLE);
    assert_true(w.unmapped);
    assert_int_equal(w.memory[CPS_HOST_PAGE - 1], 1); /* what is before it is stored */
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_calls_and_the_firmware_sees_what_was_stored),
        cmocka_unit_test(registers_that_are_watched_call_at_each_write),
        cmocka_unit_test(work_that_fails_is_a_fault_with_its_reason),
        cmocka_unit_test(clones_do_no_work),
        cmocka_unit_test(memory_of_a_host_is_written_and_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
