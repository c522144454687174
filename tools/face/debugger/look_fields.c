/* SPDX-License-Identifier: MIT
 * Registers of a stopped machine with their fields. */
#include "tools/face/debugger/look.h"

#include <inttypes.h>
#include <string.h>

#include "tools/face/debugger/expr.h"

#define MOST 64u /* registers that were written last */

struct fields {
    const struct session *session;
    struct cps_buf *out;
    const char *before; /* in front of each */
    bool all;           /* also flags that are not set */
};

static void put_field(void *context, const struct cps_value *value)
{
    struct fields *f = context;
    struct cps_buf *out = f->out;
    size_t size = out->size;
    cps_buf_str(out, f->before);
    if (value->name && !value->name[0] && !f->all) /* the register as a whole */
        cps_value_put(value, out);
    else if (f->all && value->is_flag && !value->bits && value->name)
        cps_buf_printf(out, "%s=0", value->name);
    else if (!cps_value_line(value, out))
        out->size = size;
    if (out->size != size)
        cps_buffers_put_value(f->session->play.buffers, session_submission(f->session), value, out);
}

static void put_name(const struct cps_names *names, enum cps_space space, uint32_t number,
                     struct cps_buf *out)
{
    unsigned part = 0;
    const char *name = names ? cps_name(names, space, number, &part) : NULL;
    cps_buf_printf(out, part ? "%s+0x%x" : "%s", name ? name : "-", part);
}

/* "RB_CCU_CNTL 0x8e07 = 10000000", and its fields. */
static void put_register(const struct session *s, const struct cps_names *names,
                         enum cps_space space, char sign, uint32_t number, uint64_t value,
                         struct cps_buf *out)
{
    struct fields f = {s, out, "  ", false};
    put_name(names, space, number, out);
    if (sign)
        cps_buf_printf(out, " %c0x%03" PRIx32, sign, number);
    else
        cps_buf_printf(out, " 0x%04" PRIx32, number);
    cps_buf_printf(out, " = %08" PRIx64, value);
    if (names)
        cps_name_values(names, space, number, (uint32_t)value, put_field, &f);
    cps_buf_str(out, "\n");
}

/* ---- those that were written last ---- */

static bool is_listed(const uint64_t *listed, unsigned count, uint64_t address)
{
    for (unsigned i = 0; i < count; i++) {
        if (listed[i] == address)
            return true;
    }
    return false;
}

static void put_written(const struct session *s, unsigned most, struct cps_buf *out)
{
    uint64_t listed[MOST];
    unsigned count = 0;
    struct cps_event event;
    most = most < MOST ? most : MOST;
    for (uint64_t i = cps_debug_place(s->debug).event;
         count < most && i-- && cps_debug_event(s->debug, i, &event);) {
        if (cps_event_kind(&event) != CPS_EV_REG || is_listed(listed, count, event.addr))
            continue;
        listed[count++] = event.addr;
        if (count == 1)
            cps_buf_str(out, "written last:\n");
        put_register(s, s->play.names[cps_event_who(&event) % CPS_CPU_COUNT], CPS_SPACE_GPU, 0,
                     (uint32_t)(event.addr & 0x3ffff), event.value, out);
    }
    if (!count)
        cps_buf_str(out, "no register was written yet\n");
}

/* ---- registers of the processor ---- */

static void put_space(const struct session *s, unsigned core, enum cps_space space, char sign,
                      const char *title, struct cps_buf *out)
{
    const struct cps_file *file = cps_engine_file(session_engine(s), sign);
    const struct cps_names *names = session_names(s, core);
    for (uint32_t i = 0; file && i < file->count; i++) {
        uint64_t value = session_value(s, core, sign, i);
        if (!value)
            continue;
        if (title)
            cps_buf_printf(out, "%s:\n", title);
        title = NULL;
        put_register(s, names, space, sign, i, value, out);
    }
}

void look_fields(const struct session *s, unsigned core, unsigned most, struct cps_buf *out)
{
    put_written(s, most, out);
    put_space(s, core, CPS_SPACE_CONTROL, CPS_FILE_CONTROL, "control registers", out);
    put_space(s, core, CPS_SPACE_SQE, CPS_FILE_SQE, "registers of the SQE", out);
}

/* ---- one of them ---- */

static enum cps_space space_of(char file)
{
    return file == CPS_FILE_CONTROL    ? CPS_SPACE_CONTROL
           : file == CPS_FILE_SQE      ? CPS_SPACE_SQE
           : file == CPS_FILE_REGISTER ? CPS_SPACE_GPU
                                       : CPS_SPACE_COUNT;
}

bool look_register(const struct session *s, unsigned core, const char *what, struct cps_buf *out)
{
    struct cps_place place;
    struct fields f = {s, out, "\n  ", true};
    if (!expr_place(s, core, what, &place))
        return false;
    uint64_t value = session_value(s, core, place.file, place.number);
    const struct cps_names *names = session_names(s, core);
    enum cps_space space = space_of(place.file);
    cps_buf_printf(out, "%s = %08" PRIx64, what, value);
    if (space == CPS_SPACE_GPU)
        format_register64(s, core, (uint32_t)place.number, out);
    if (space != CPS_SPACE_COUNT && names)
        cps_name_values(names, space, (uint32_t)place.number, (uint32_t)value, put_field, &f);
    cps_buf_str(out, "\n");
    return true;
}
