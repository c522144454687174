/* SPDX-License-Identifier: MIT
 * The embedded firmware in an engine, booted, for tests that need any engine. Include it behind
 * cmocka.h. */
#ifndef TESTS_DEMO_ENGINE_H
#define TESTS_DEMO_ENGINE_H

#include "cpscope.h"
#include "fw/demo/demo.h"

/** The caller destroys it. */
static inline struct cps_engine *booted(void)
{
    struct cps_fw *fw = NULL;
    struct cps_engine *engine = NULL;
    struct cps_config config = {.policy = cps_policy_default()};
    assert_null(cps_fw_parse("demo", cps_demo_fw, cps_demo_fw_size, 0, &fw));
    config.gen = fw->gen;
    cps_config_firmware(&config, fw, NULL);
    assert_null(cps_engine_create(&config, &engine));
    assert_int_equal(cps_engine_boot(engine, 1000000), CPS_STOP_IDLE);
    cps_fw_destroy(fw);
    return engine;
}

#endif
