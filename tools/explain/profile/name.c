/* SPDX-License-Identifier: MIT
 * What frames are called: packets by name, functions by their symbol or place. */
#include <inttypes.h>
#include <string.h>

#include "tools/explain/profile/profile.h"

const char *profile_firmware(const struct profile *p, unsigned who)
{
    uint32_t part = 0;
    const struct cps_fw *fw = play_image(p->play, who, &part);
    return fw ? fw->name : p->play->fw->name;
}

uint32_t profile_line(const struct profile *p, unsigned who, uint32_t pc)
{
    uint32_t part = 0;
    const struct cps_fw *fw = play_image(p->play, who, &part);
    const struct cps_fw_line *line = fw ? cps_fw_line_at(fw, part, pc) : NULL;
    return line ? line->line : 0;
}

void profile_packet_name(const struct profile *p, unsigned who, uint32_t key, struct cps_buf *out)
{
    const struct cps_names *names = p->play->names[who];
    const char *name =
        key < PROFILE_TYPE4 && names ? cps_name(names, CPS_SPACE_PACKET, key, NULL) : NULL;
    if (name)
        cps_buf_str(out, name);
    else if (key == PROFILE_NONE)
        cps_buf_str(out, "boot");
    else if (key >= PROFILE_TYPE4)
        cps_buf_str(out, key == PROFILE_TYPE4 ? "type4" : "bad");
    else
        cps_buf_printf(out, "UNKN%" PRIu32, key);
}

/* Labels and handlers have names, other functions their place. */
static void function_name(const struct profile *p, const struct profile_node *node,
                          struct cps_buf *out)
{
    if (node->kind == PROFILE_INTERRUPT)
        cps_buf_str(out, "interrupt:");
    size_t before = out->size;
    play_function(p->play, node->who, node->key, out);
    if (out->size == before)
        cps_buf_printf(out, "fn_%04" PRIx32, node->key);
}

void profile_name(const struct profile *p, const struct profile_node *node, struct cps_buf *out)
{
    switch ((enum profile_kind)node->kind) {
    case PROFILE_ROOT:
        break;
    case PROFILE_PROCESSOR:
        cps_buf_str(out, cps_processor_name(node->who));
        break;
    case PROFILE_LEVEL:
        cps_buf_str(out, cps_event_sub_word(CPS_EV_PKT, node->key));
        break;
    case PROFILE_BOOT:
        cps_buf_str(out, "boot");
        break;
    case PROFILE_PACKET:
        profile_packet_name(p, node->who, node->key, out);
        break;
    case PROFILE_CALL:
    case PROFILE_INTERRUPT:
        function_name(p, node, out);
        break;
    }
}
