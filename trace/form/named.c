/* SPDX-License-Identifier: MIT
 * What the numbers of an event are called. */
#include "trace/form/named.h"

#include "isa/base/pm4.h"

const struct cps_names *cps_named_by_(const struct cps_trace_writer *w,
                                      const struct cps_event *event)
{
    unsigned who = cps_event_who(event);
    return who < CPS_CPU_COUNT ? w->names[who] : NULL;
}

enum cps_space cps_named_space_(const struct cps_event *event)
{
    switch (cps_event_kind(event)) {
    case CPS_EV_REG:
    case CPS_EV_REGR:
    case CPS_EV_PROT:
        return CPS_SPACE_GPU;
    case CPS_EV_CTRL:
        return CPS_SPACE_CONTROL;
    case CPS_EV_PIPE:
        return CPS_SPACE_PIPE;
    case CPS_EV_SQE:
        return CPS_SPACE_SQE;
    default:
        return CPS_SPACE_COUNT;
    }
}

static void add_value(void *context, const struct cps_value *value)
{
    cps_json_value(context, value);
}

void cps_named_fields_(struct json_object *to, const struct cps_names *names, enum cps_space space,
                       const struct cps_event *event)
{
    struct json_object *fields = json_object_new_object();
    cps_name_values(names, space, (uint32_t)event->addr, event->value, add_value, fields);
    if (fields && !json_object_object_length(fields))
        json_object_put(fields);
    else
        cps_json_add(to, "fields", fields);
}

const char *cps_named_packet_(const struct cps_names *names, uint32_t header)
{
    struct cps_pm4 packet = cps_pm4_decode_any(header);
    if (!names || packet.kind == CPS_PM4_BAD)
        return NULL;
    return packet.kind == CPS_PM4_TYPE7 ? cps_name(names, CPS_SPACE_PACKET, packet.opcode, NULL)
                                        : cps_name(names, CPS_SPACE_GPU, packet.reg, NULL);
}
