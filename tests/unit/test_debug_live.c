/* SPDX-License-Identifier: MIT
 * The debugging core on a list of items that grows: the end of a run is not for ever, what the host
 * stores while the firmware waits belongs to the run, and what is forgotten is not asked for. */
#include "tests/lib/debug_scene.h"
#include "emu/debug/debug.h"

#include <stdlib.h>

/* Fetches a word of the stream, or idles. */
static const char wait_text[] = "[016ee001]\n[01000000]\n"
                                "waitin\n"
                                "mov $01, $data\n";

enum { MOST = 64 };

struct list {
    struct cps_item item[MOST];
    uint64_t count, least; /* least: the first that may still be asked for */
};

static const struct cps_item *list_item(void *context, uint64_t index)
{
    struct list *list = context;
    assert_true(index >= list->least);
    return index < list->count ? &list->item[index] : NULL;
}

static const uint32_t words[] = {0x70100001, 1, 0x70100001, 2};

static void add_data(struct list *list, const void *bytes, uint64_t size)
{
    list->item[list->count++] = (struct cps_item){
        .kind = CPS_ITEM_DATA, .buffer = {.iova = 0x200000, .size = size, .data = bytes}};
}

static void add_stream(struct list *list)
{
    add_data(list, words, sizeof(words));
    list->item[list->count++] =
        (struct cps_item){.kind = CPS_ITEM_SUBMIT, .stream = {.iova = 0x200000, .dwords = 4}};
}

static struct cps_debug *open_list(struct list *list)
{
    struct cps_asm program = bench_assemble(wait_text, CPS_A6XX);
    const struct cps_config config = {.layout = CPS_LAYOUT_A6XX,
                                      .words = program.words + 1,
                                      .count = program.count - 1,
                                      .image = {{CPS_CPU_SQE, 0}},
                                      .image_count = 1};
    const struct cps_feeder feeder = {list_item, list, 0};
    struct cps_engine *engine = NULL;
    struct cps_debug *debug = NULL;
    assert_null(cps_engine_create(&config, &engine));
    assert_null(cps_debug_create(engine, &feeder, &debug));
    free(program.words);
    return debug;
}

static uint64_t memory(struct cps_debug *debug, uint64_t iova)
{
    uint64_t value = 0;
    cps_engine_get(cps_debug_engine(debug), (struct cps_location){0, CPS_FILE_MEMORY, iova},
                   &value);
    return value;
}

static void the_end_is_as_far_as_the_list_goes(void **state)
{
    (void)state;
    struct list list = {0};
    struct cps_debug *debug = open_list(&list);
    assert_int_equal(cps_debug_run(debug, CPS_GO_ON, 0).reason, CPS_WHY_END);
    add_stream(&list);
    assert_int_equal(cps_debug_run(debug, CPS_GO_SUBMIT, 0).reason, CPS_WHY_GONE);
    assert_int_equal(cps_debug_location(debug).submission, 1);
    assert_int_equal(cps_debug_run(debug, CPS_GO_ON, 0).reason, CPS_WHY_END);
    add_stream(&list);
    assert_int_equal(cps_debug_run(debug, CPS_GO_SUBMIT, 0).reason, CPS_WHY_GONE);
    assert_int_equal(cps_debug_location(debug).submission, 2);
    cps_debug_destroy(debug);
}

static void what_the_host_feeds_is_fed_again_at_its_step(void **state)
{
    (void)state;
    static const uint32_t late[] = {5};
    struct list list = {0};
    struct cps_debug *debug = open_list(&list);
    add_stream(&list);
    assert_int_equal(cps_debug_run(debug, CPS_GO_SUBMIT, 0).reason, CPS_WHY_GONE);
    uint64_t step = cps_debug_location(debug).step;
    add_data(&list, late, sizeof(late));
    assert_null(cps_debug_feed(debug));
    assert_int_equal(cps_debug_location(debug).fed, 3);
    assert_int_equal(memory(debug, 0x200000), 5);
    cps_debug_goto_step(debug, step - 1);
    cps_debug_goto_step(debug, step);
    assert_int_equal(cps_debug_location(debug).fed, 3);
    assert_int_equal(memory(debug, 0x200000), 5);
    /* It is no change of the user's. */
    struct cps_debug *twin = NULL;
    struct cps_err *err = cps_debug_twin(debug, true, &twin);
    assert_non_null(err);
    cps_err_free(err);
    cps_debug_restart(debug, step);
    assert_int_equal(memory(debug, 0x200000), 5);
    /* A change before it: then it comes when the engine is idle. */
    cps_debug_goto_step(debug, step - 1);
    const struct cps_edit edit = {.place = {0, CPS_FILE_GENERAL, 6}, .value = 1};
    assert_null(cps_debug_edit(debug, &edit));
    cps_debug_goto_step(debug, step);
    assert_int_equal(memory(debug, 0x200000), words[0]);
    assert_int_equal(cps_debug_location(debug).fed, 2);
    cps_debug_destroy(debug);
}

static void what_is_forgotten_is_not_asked_for(void **state)
{
    (void)state;
    struct list list = {0};
    struct cps_debug *debug = open_list(&list);
    for (unsigned i = 0; i < 4; i++) {
        add_stream(&list);
        assert_int_equal(cps_debug_run(debug, CPS_GO_ON, 0).reason, CPS_WHY_END);
    }
    assert_int_equal(cps_debug_oldest(debug), 0);
    assert_int_equal(cps_debug_forget(debug, 100), 0); /* later than the debugger is */
    uint64_t here = cps_debug_location(debug).step;
    list.least = cps_debug_forget(debug, 5);
    assert_true(list.least >= 5);
    assert_int_equal(cps_debug_oldest(debug), here);
    add_stream(&list);
    assert_int_equal(cps_debug_run(debug, CPS_GO_ON, 0).reason, CPS_WHY_END);
    assert_int_equal(cps_debug_back(debug, CPS_GO_ON, 0).reason, CPS_WHY_START);
    assert_int_equal(cps_debug_location(debug).step, here);
    assert_int_equal(cps_debug_run(debug, CPS_GO_ON, 0).reason, CPS_WHY_END);
    assert_int_equal(cps_debug_goto_step(debug, 1).reason, CPS_WHY_START);
    assert_int_equal(cps_debug_goto_event(debug, 0).reason, CPS_WHY_START);
    assert_int_equal(cps_debug_location(debug).step, here);
    cps_debug_destroy(debug);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_is_as_far_as_the_list_goes),
        cmocka_unit_test(what_the_host_feeds_is_fed_again_at_its_step),
        cmocka_unit_test(what_is_forgotten_is_not_asked_for),
    };
    return cmocka_run_group_tests_name("debug live", tests, NULL, NULL);
}
