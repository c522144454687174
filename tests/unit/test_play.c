/* SPDX-License-Identifier: MIT
 * The feeder and the loop: what a list of items keeps, and what running one comes to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/cmd/options/opt.h"
#include "tests/lib/scratch.h"
#include "tools/run/play.h"
#include "tools/run/record.h"

static void a_list_owns_what_its_items_point_to(void **state)
{
    struct feed feed = {0};
    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        uint8_t bytes[4] = {(uint8_t)i, (uint8_t)(i >> 8), 3, 4};
        const struct cps_item item = {.kind = CPS_ITEM_DATA,
                                      .buffer = {.iova = i, .size = 4, .data = bytes}};
        assert_null(feed_add(&feed, &item));
        memset(bytes, 0xff, sizeof(bytes));
    }
    assert_int_equal(feed.count, 300);
    for (unsigned i = 0; i < 300; i++) {
        const struct cps_item *item = feed_item(&feed, i);
        assert_int_equal(item->buffer.iova, i);
        assert_int_equal(item->buffer.data[0] | item->buffer.data[1] << 8, i);
    }
    assert_null(feed_item(&feed, 300));
    feed_deinit(&feed);
    assert_int_equal(feed.count, 0);
}

static void shared_items_are_not_copied(void **state)
{
    struct feed feed = {0};
    const uint8_t bytes[4] = {1, 2, 3, 4};
    const struct cps_item item = {.kind = CPS_ITEM_DATA, .buffer = {.size = 4, .data = bytes}};
    (void)state;
    assert_null(feed_add_shared(&feed, &item));
    assert_ptr_equal(feed_item(&feed, 0)->buffer.data, bytes);
    feed_deinit(&feed);
}

static void submissions_are_numbered_in_their_order(void **state)
{
    struct feed feed = {0};
    const struct cps_item submit = {.kind = CPS_ITEM_SUBMIT, .stream = {.index = 77}};
    const struct cps_item chip = {.kind = CPS_ITEM_CHIP};
    (void)state;
    assert_null(feed_add(&feed, &submit));
    assert_null(feed_add(&feed, &chip));
    assert_null(feed_add(&feed, &submit));
    assert_int_equal(feed.submissions, 2);
    assert_int_equal(feed_item(&feed, 0)->stream.index, 0);
    assert_int_equal(feed_item(&feed, 2)->stream.index, 1);
    feed_deinit(&feed);
}

/* A buffer without contents, a section's name, a note, text and a block move no engine. */
static void items_that_say_nothing_to_an_engine_are_left_out(void **state)
{
    static const int silent[] = {CPS_ITEM_SECTION, CPS_ITEM_TEXT, CPS_ITEM_NOTE, CPS_ITEM_BUFFER,
                                 CPS_ITEM_BLOCK};
    struct feed feed = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
        struct cps_item item = {0};
        item.kind = silent[i];
        assert_null(feed_add(&feed, &item));
    }
    assert_int_equal(feed.count, 0);
    feed_deinit(&feed);
}

/* Two of four reads are not as expected, in lines 6 and 7; the third looks at other bits. */
static const char run_file[] = "# cpscope-script 1\n"
                               "engine pfifo\n"
                               "chip nv1\n"
                               "write PFIFO_INTR_ENABLE 0x110\n"
                               "read PFIFO_INTR_ENABLE 0x110\n"
                               "read PFIFO_INTR_ENABLE 0x111\n"
                               "read PFIFO_INTR_ENABLE 0x000\n"
                               "read PFIFO_INTR_ENABLE 0x100 0xf00\n";

static void open_options(struct cps_options *options, char *path)
{
    static char engine[] = "--engine";
    static char pfifo[] = "pfifo";
    static char *argv[3];
    argv[0] = engine;
    argv[1] = pfifo;
    argv[2] = path;
    assert_int_equal(opt_parse(OPT_SHIFT_RUN, 3, argv, options), 0);
}

static void reads_that_are_missed_are_counted_and_named_by_line(void **state)
{
    char path[64];
    char expected[96];
    struct cps_options options;
    struct play *play = calloc(1, sizeof(*play));
    (void)state;
    assert_non_null(play);
    open_options(&options, (char *)(uintptr_t)scratch_file(path, run_file));
    assert_null(play_open(play, &options.run, path));
    assert_true(play_is_script(play));
    assert_null(play_run(play, NULL));
    assert_int_equal(play->stop, CPS_STOP_IDLE);
    assert_int_equal(play->misses, 2);
    const char *first = cps_buf_text(&play->missed);
    snprintf(expected, sizeof(expected), "%s:6: ", path);
    assert_ptr_equal(strstr(first, expected), first);
    assert_non_null(strstr(first, "reads 0x00000110, expected 0x00000111"));
    const char *second = strchr(first, '\n') + 1;
    snprintf(expected, sizeof(expected), "%s:7: ", path);
    assert_ptr_equal(strstr(second, expected), second);
    assert_int_equal(strlen(strchr(second, '\n')), 1);
    play_close(play);
    free(play);
    remove(path);
}

/* The items of a run file are its lines: what goes back feeds the same again. */
static void gathered_items_are_the_lines_of_the_run_file(void **state)
{
    char path[64];
    struct cps_options options;
    struct play *play = calloc(1, sizeof(*play));
    unsigned line = 4;
    (void)state;
    assert_non_null(play);
    open_options(&options, (char *)(uintptr_t)scratch_file(path, run_file));
    assert_null(play_open(play, &options.run, path));
    assert_null(play_gather(play, NULL));
    for (size_t i = 0; i < play->feed.count; i++) {
        const struct cps_item *item = &play->feed.item[i];
        if (item->kind != CPS_ITEM_READ && item->kind != CPS_ITEM_WRITE)
            continue;
        assert_int_equal(item->kind, line == 4 ? CPS_ITEM_WRITE : CPS_ITEM_READ);
        assert_int_equal(item->line, line++);
    }
    assert_int_equal(line, 9);
    play_close(play);
    free(play);
    remove(path);
}

static void a_missed_read_makes_a_record_that_is_not_good(void **state)
{
    char path[64];
    struct cps_options options;
    struct record record = {0};
    (void)state;
    open_options(&options, (char *)(uintptr_t)scratch_file(path, run_file));
    const struct record_setup setup = {.config = &options.run, .kinds = UINT32_MAX};
    const char *const engine[2] = {"pfifo:nv1", NULL};
    assert_null(record_run(&setup, engine, path, NULL, &record));
    assert_int_equal(record.misses, 2);
    assert_int_equal(record.account.stop, CPS_STOP_IDLE);
    assert_false(record_is_good(&record));
    assert_non_null(strstr(record.missed, ":6: "));
    assert_true(record.count > 0);
    assert_int_equal(cps_event_kind(&record.event[record.count - 1]), CPS_EV_END);
    record_deinit(&record);
    remove(path);
}

static void events_are_kept_in_any_portions(void **state)
{
    struct record record = {0};
    struct cps_event events[1000];
    (void)state;
    for (unsigned i = 0; i < 1000; i++)
        events[i] = cps_event_make(CPS_EV_REG, 0, 0, 0, i, i);
    for (size_t size = 0; size < 1000; size++)
        record_keep(&record, events, size);
    assert_false(record.lost);
    assert_int_equal(record.count, 999 * 1000 / 2);
    assert_int_equal(record.event[record.count - 1].addr, 998);
    record_deinit(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_owns_what_its_items_point_to),
        cmocka_unit_test(shared_items_are_not_copied),
        cmocka_unit_test(submissions_are_numbered_in_their_order),
        cmocka_unit_test(items_that_say_nothing_to_an_engine_are_left_out),
        cmocka_unit_test(reads_that_are_missed_are_counted_and_named_by_line),
        cmocka_unit_test(gathered_items_are_the_lines_of_the_run_file),
        cmocka_unit_test(a_missed_read_makes_a_record_that_is_not_good),
        cmocka_unit_test(events_are_kept_in_any_portions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
