/* SPDX-License-Identifier: MIT
 * Names for the commentary of a trace. */
#include "tools/run/names.h"

#include <stdlib.h>
#include <string.h>

#define MOST_REGISTER 0x3ffffu

#include "cpscope.h"

/* The processors of a5xx run one role each, which no other generation has. */
static bool is_early(enum cps_fw_role role)
{
    return role == CPS_FW_PFP || role == CPS_FW_ME;
}

/* Of scripts everybody from the host on: only one engine is in a trace. Else who runs a part of
 * firmware. */
static bool makes_events(enum cps_gen gen, unsigned who)
{
    if (!cps_gen_is_afuc(gen))
        return who >= CPS_CPU_HOST;
    for (unsigned i = 0; i < 2 * CPS_FW_ROLE_COUNT; i++) {
        enum cps_fw_role role = (enum cps_fw_role)(i / 2);
        if (who != CPS_CPU_NONE && cps_role_processor(role, i % 2) == who)
            return is_early(role) == (gen == CPS_A5XX);
    }
    return false;
}

struct cps_err *trace_names(const struct cps_trace_head *head, const char *rnn,
                            struct cps_names *names[CPS_CPU_COUNT])
{
    for (unsigned who = 0; who < CPS_CPU_COUNT; who++) {
        enum cps_layout layout = who == CPS_CPU_ME ? CPS_LAYOUT_A5XX_ME : head->layout;
        if (makes_events(head->gen, who))
            CPS_TRY(cps_names_create(layout, rnn, &names[who]));
    }
    return NULL;
}

void trace_names_free(struct cps_names *names[CPS_CPU_COUNT])
{
    for (unsigned i = 0; i < CPS_CPU_COUNT; i++)
        cps_names_destroy(names[i]);
}

static const struct cps_names *any_names(struct cps_names *const names[CPS_CPU_COUNT])
{
    for (unsigned i = 0; i < CPS_CPU_COUNT; i++) {
        if (names[i])
            return names[i];
    }
    return NULL;
}

static bool register_of(const struct cps_names *names, const char *name, uint32_t *ret)
{
    char *end = NULL;
    if (names && cps_name_number(names, CPS_SPACE_GPU, name, strlen(name), ret))
        return true;
    unsigned long number = strtoul(name, &end, 0);
    *ret = (uint32_t)number;
    return name[0] >= '0' && name[0] <= '9' && !*end && number <= MOST_REGISTER;
}

struct cps_err *trace_signals(const char *list, enum cps_trace_form form,
                              struct cps_names *const names[CPS_CPU_COUNT],
                              struct cps_trace_writer *writer)
{
    if (list && form != CPS_FORM_VCD)
        return cps_err_new(CPS_ERR_USAGE, "--signals is for .vcd: -o NAME.vcd, or --to vcd");
    while (list) {
        size_t size = strcspn(list, ",");
        CPS_FREE char *name = strndup(list, size);
        uint32_t number = 0;
        if (!name)
            return cps_err_nomem();
        if (!register_of(any_names(names), name, &number))
            return cps_err_new(CPS_ERR_USAGE,
                               "--signals: no GPU register is called '%s'; expected a name or a "
                               "number, with commas between them",
                               name);
        CPS_TRY(cps_trace_writer_signal(writer, name, number));
        list = list[size] ? list + size + 1 : NULL;
    }
    return NULL;
}
