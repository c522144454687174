/* SPDX-License-Identifier: MIT
 * rnndb XML of a test's own, in a folder that is there while it is read. */
#ifndef TESTS_RNNTEXT_H
#define TESTS_RNNTEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "isa/isa.h"

#define DATABASE(text) "<?xml version=\"1.0\"?>\n<database>\n" text "</database>\n"
#define A6XX(text)                                                                           \
    DATABASE("<domain name=\"A6XX\" width=\"32\" prefix=\"variant\" varset=\"chip\">\n" text \
             "</domain>\n")

static inline void write_file(const char *dir, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) >= 0, 1);
    fclose(file);
}

static inline void remove_file(const char *dir, const char *name)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    remove(path);
}

/* Opens the names of a directory that holds one file. */
static inline struct cps_err *open_text(enum cps_layout layout, const char *name, const char *text,
                                        struct cps_names **ret)
{
    char dir[] = "/tmp/cpscope-rnn-XXXXXX";
    assert_non_null(mkdtemp(dir));
    write_file(dir, name, text);
    struct cps_err *err = cps_names_create(layout, dir, ret);
    remove_file(dir, name);
    rmdir(dir);
    return err;
}

static inline struct cps_names *open_good(enum cps_layout layout, const char *name,
                                          const char *text)
{
    struct cps_names *names = NULL;
    struct cps_err *err = open_text(layout, name, text, &names);
    if (err)
        fail_msg("%s", err->message);
    return names;
}

static inline void expect_fields(const struct cps_names *names, uint32_t number, uint32_t value,
                                 const char *expected)
{
    CPS_BUF text = {0};
    cps_name_fields(names, CPS_SPACE_GPU, number, value, &text);
    assert_string_equal(cps_buf_text(&text), expected);
}

#endif
