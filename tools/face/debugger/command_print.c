/* SPDX-License-Identifier: MIT
 * The debugger's commands that show values: print, x, display. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/face/debugger/command.h"

enum { MOST = 65536, MOST_SHOWN = 64 };

static void put_binary(struct cps_buf *out, uint64_t value)
{
    unsigned bit = 63;
    while (bit && !(value >> bit & 1))
        bit--;
    cps_buf_str(out, "0b");
    for (bit++; bit--;)
        cps_buf_str(out, value >> bit & 1 ? "1" : "0");
}

/* As `print` writes it. */
static void put_value(const struct debugger *r, uint64_t value, char letter, struct cps_buf *out)
{
    switch (letter) {
    case 'd':
        cps_buf_printf(out, "%" PRId64, (int64_t)value);
        break;
    case 'u':
        cps_buf_printf(out, "%" PRIu64, value);
        break;
    case 't':
        put_binary(out, value);
        break;
    case 'o':
        cps_buf_printf(out, "0%" PRIo64, value);
        break;
    case 'a':
        cps_buf_printf(out, "0x%" PRIx64 " ", value);
        session_place(&r->session, r->session.core, (uint32_t)value, out);
        break;
    case 'x':
        cps_buf_printf(out, "0x%08" PRIx64, value);
        break;
    default:
        cps_buf_printf(out, "0x%08" PRIx64 " = %" PRIu64, value, value);
    }
}

/* Reads "/8xw" before arguments, which move after it and blanks. @param letters  that are known.
 * @param form  has the defaults; gets what is given */
static struct cps_err *read_form(const char **arguments, const char *letters,
                                 struct command_form *form)
{
    const char *text = *arguments;
    size_t digits = *text == '/' ? strspn(text + 1, "0123456789") : 0;
    unsigned long count = digits ? strtoul(text + 1, NULL, 10) : 1;
    const char *at = text + 1 + digits;
    if (*text != '/')
        return NULL;
    if (digits && (count < 1 || count > MOST || !form->count))
        return cps_err_new(
            CPS_ERR_SYNTAX,
            form->count ? "%s: expected a number from 1 to 65536" : "%s: expected no number", text);
    form->count = digits ? (uint32_t)count : form->count;
    for (; *at && *at != ' ' && *at != '\t'; at++) {
        if (strchr("wg", *at) && form->size)
            form->size = *at;
        else if (strchr(letters, *at))
            form->letter = *at;
        else
            return cps_err_new(CPS_ERR_SYNTAX, "\"%c\" of %s: expected one of %s%s", *at, text,
                               letters, form->size ? ", w or g" : "");
    }
    *arguments = cps_lex_blank(at);
    return NULL;
}

/* ---- print ---- */

struct cps_err *command_put_print(struct debugger *r, const char *text, char letter,
                                  struct cps_buf *out)
{
    const struct session *s = &r->session;
    uint64_t value = 0;
    struct cps_location place;
    CPS_TRY(expr_eval(s, s->core, NULL, text, &value));
    put_value(r, value, letter, out);
    if (expr_place(s, s->core, text, &place) && place.file == CPS_FILE_REGISTER) {
        CPS_BUF fields = {0};
        cps_name_fields(session_names(s, s->core), CPS_SPACE_GPU, (uint32_t)place.number,
                        (uint32_t)value, &fields);
        cps_buf_str(out, fields.size ? "  " : "");
        cps_buf_join(out, &fields);
        format_register64(s, s->core, (uint32_t)place.number, out);
    }
    cps_buf_str(out, "\n");
    return NULL;
}

struct cps_err *command_print_(struct debugger *r, struct command_args *args)
{
    struct command_form form = {0};
    CPS_TRY(read_form(&args->text, "xduota", &form));
    return command_put_print(r, args->text, form.letter, &r->out);
}

/* ---- x ---- */

/* Values in another form than dwords of eight digits. */
static void put_values(struct debugger *r, const struct command_form *form, uint64_t at,
                       struct cps_buf *out)
{
    const struct session *s = &r->session;
    unsigned size = form->size == 'g' ? 8 : 4;
    char file = expr_memory(s);
    for (uint32_t i = 0; i < form->count; i++, at += size) {
        uint64_t value = session_value(s, 0, file, at);
        if (size == 8)
            value |= session_value(s, 0, file, at + 4) << 32;
        if (i % (16 / size) == 0)
            cps_buf_printf(out, "%s%016" PRIx64 ":", i ? "\n" : "", at);
        cps_buf_str(out, " ");
        if (form->letter == 'x')
            cps_buf_hex(out, value, 16);
        else
            put_value(r, form->letter == 'd' && size == 4 ? (uint64_t)(int32_t)value : value,
                      form->letter, out);
    }
    cps_buf_str(out, "\n");
}

/* Shows memory or instructions. @return where that ended */
static uint64_t put_examined(struct debugger *r, const struct command_form *form, uint64_t at,
                             struct cps_buf *out)
{
    const struct session *s = &r->session;
    if (form->letter == 'i') {
        look_code(s, s->core, (uint32_t)at, 0, form->count - 1, out);
        return command_after(s, (uint32_t)at, form->count);
    }
    at &= ~UINT64_C(3);
    if (form->letter == 'x' && form->size == 'w')
        look_memory(s, expr_memory(s), at, form->count, out);
    else
        put_values(r, form, at, out);
    return at + (uint64_t)form->count * (form->size == 'g' ? 8 : 4);
}

/* Where instructions are: "$pc" is that of the frame. */
static struct cps_err *examined_place(struct debugger *r, const struct command_form *form,
                                      const char *text, uint64_t *ret)
{
    uint32_t pc = 0;
    size_t length = strcmp(text, "$pc") ? strlen(text) : 0;
    if (form->letter != 'i')
        return expr_eval(&r->session, r->session.core, NULL, text, ret);
    CPS_TRY(command_place(r, text, length, &pc));
    *ret = pc;
    return NULL;
}

struct cps_err *command_examine_(struct debugger *r, struct command_args *args)
{
    struct command_form form =
        r->examined.count ? r->examined : (struct command_form){16, 'x', 'w'};
    uint64_t at = r->examined_at;
    if (*args->text == '/')
        form.count = 1; /* as gdb: a form without a number is about one */
    else if (*args->text && r->examined.count)
        form.count = 16;
    CPS_TRY(read_form(&args->text, "xduoti", &form));
    if (*args->text)
        CPS_TRY(examined_place(r, &form, args->text, &at));
    else if (!r->examined.count)
        return cps_err_new(CPS_ERR_SYNTAX, "x: expected an address");
    r->examined = form;
    r->examined_at = put_examined(r, &form, at, &r->out);
    return NULL;
}

/* ---- display ---- */

/* One that cannot be computed here may be elsewhere: its error is shown, and it stays. */
static void put_shown(struct debugger *r, const struct command_shown *shown)
{
    CPS_BUF text = {0};
    uint64_t at = 0;
    struct cps_err *err = NULL;
    const char *outer = r->session.line;
    bool examines = shown->form.count;
    r->session.line = NULL; /* columns are those of its own text */
    cps_buf_printf(&text, "%d: %s%s", shown->id, shown->text, examines ? "\n" : " = ");
    if (examines)
        err = examined_place(r, &shown->form, shown->text, &at);
    else
        err = command_put_print(r, shown->text, shown->form.letter, &text);
    r->session.line = outer;
    if (err)
        cps_buf_printf(&text, "%s\n", err->message);
    else if (examines)
        put_examined(r, &shown->form, at, &text);
    cps_err_free(err);
    cps_buf_join(&r->out, &text);
}

void command_put_shown(struct debugger *r)
{
    for (size_t i = 0; i < r->shown_count; i++)
        put_shown(r, &r->shown[i]);
}

struct cps_err *command_display_(struct debugger *r, struct command_args *args)
{
    uint64_t value = 0;
    if (!*args->text) {
        command_put_shown(r);
        return NULL;
    }
    /* As gdb: with a count, a size or /i it is what `x` would show. */
    bool examines =
        *args->text == '/' && strcspn(args->text, "iwg0123456789") < strcspn(args->text, " \t");
    struct command_form form = {0};
    if (examines)
        form = (struct command_form){1, 'x', 'w'};
    CPS_TRY(read_form(&args->text, examines ? "xduoti" : "xduota", &form));
    if (examines)
        CPS_TRY(examined_place(r, &form, args->text, &value));
    else
        CPS_TRY(expr_eval(&r->session, r->session.core, NULL, args->text, &value));
    if (r->shown_count == MOST_SHOWN)
        return cps_err_new(CPS_ERR_INPUT, "display: expected at most %d of them", MOST_SHOWN);
    TOOL_ROOM(r->shown, r->shown_count);
    r->shown[r->shown_count] =
        (struct command_shown){++r->shown_last, form, tool_strdup(args->text)};
    put_shown(r, &r->shown[r->shown_count++]);
    return NULL;
}

static struct cps_err *drop_shown(struct debugger *r, int64_t id)
{
    for (size_t i = 0; i < r->shown_count; i++) {
        if (r->shown[i].id != id)
            continue;
        free(r->shown[i].text);
        memmove(&r->shown[i], &r->shown[i + 1], (--r->shown_count - i) * sizeof(*r->shown));
        return NULL;
    }
    return cps_err_new(CPS_ERR_SYNTAX, "there is no display %" PRId64 " (info display)", id);
}

struct cps_err *command_undisplay_(struct debugger *r, struct command_args *args)
{
    while (!*args->text && r->shown_count)
        CPS_TRY(drop_shown(r, r->shown[0].id));
    while (*args->text) {
        int64_t id = 0;
        if (!cps_lex_number(&args->text, &id))
            return cps_err_new(CPS_ERR_SYNTAX, "%s: expected the number of a display", args->text);
        CPS_TRY(drop_shown(r, id));
        args->text = cps_lex_blank(args->text);
    }
    return NULL;
}
