/* SPDX-License-Identifier: MIT
 * Buffers of the capture in a trace's database, and functions for the statements that say which of
 * them an address lies in. */
#include <string.h>

#include "isa/base/pm4.h"
#include "trace/capture/buffers.h"
#include "trace/form/sqlite.h"

void cps_db_put_address_(struct database *d, const struct cps_value *value)
{
    uint64_t address = 0;
    bool is_register = cps_pm4_decode_any(d->words.packet.value).kind == CPS_PM4_TYPE4;
    if (is_register || !cps_value_address(value, &address))
        return; /* registers have rows of their own, once they are written */
    DB_INSERT(d, DB_ADDRESS, DB_NUMBER(d->words_event), DB_NUMBER(d->words_of),
              DB_NUMBER(value->number), DB_NUMBER(address));
}

/* address_half(processor, register): cps_name_address_half(). */
static void address_half(sqlite3_context *context, int count, sqlite3_value **value)
{
    const struct cps_trace_writer *w = sqlite3_user_data(context);
    const char *processor = (const char *)sqlite3_value_text(value[0]);
    const struct cps_names *names = NULL;
    (void)count;
    for (unsigned who = 0; processor && who < CPS_CPU_COUNT; who++) {
        if (!strcmp(processor, cps_processor_name(who)))
            names = w->names[who];
    }
    sqlite3_result_int(context,
                       (int)cps_name_address_half(names, (uint32_t)sqlite3_value_int64(value[1])));
}

/* buffer_at(submission, address): the number of the row in `buffers`, or NULL. */
static void buffer_at(sqlite3_context *context, int count, sqlite3_value **value)
{
    const struct cps_trace_writer *w = sqlite3_user_data(context);
    bool is_boot = sqlite3_value_type(value[0]) == SQLITE_NULL;
    uint32_t submission = is_boot ? 0 : (uint32_t)sqlite3_value_int64(value[0]);
    const struct cps_buffer *buffer =
        cps_buffers_at(w->buffers, submission, (uint64_t)sqlite3_value_int64(value[1]));
    (void)count;
    if (buffer)
        sqlite3_result_int64(context, buffer - cps_buffers_get(w->buffers, 0));
    else
        sqlite3_result_null(context);
}

static void put_buffer(struct database *d, size_t id, const struct cps_buffer *buffer)
{
    int64_t last = buffer->until == UINT32_MAX ? DB_NULL : (int64_t)buffer->until - 1;
    DB_INSERT(d, DB_BUFFER, DB_NUMBER(id), DB_NUMBER(buffer->number),
              DB_TEXT(cps_buffer_kind_text(buffer->kind)), DB_TEXT(buffer->name),
              DB_NUMBER(buffer->iova), DB_NUMBER(buffer->last - buffer->iova + 1),
              DB_NUMBER(buffer->held), DB_NUMBER(buffer->from), DB_NUMBER(last));
}

void cps_db_put_buffers_(struct cps_trace_writer *w)
{
    static const struct {
        const char *name;
        void (*function)(sqlite3_context *context, int count, sqlite3_value **value);
    } functions[] = {{"address_half", address_half}, {"buffer_at", buffer_at}};
    struct database *d = w->state;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]) && d->code == SQLITE_OK; i++)
        cps_db_check_(d, sqlite3_create_function(d->db, functions[i].name, 2,
                                                 SQLITE_UTF8 | SQLITE_DETERMINISTIC, w,
                                                 functions[i].function, NULL, NULL));
    for (size_t i = 0; i < cps_buffers_count(w->buffers); i++)
        put_buffer(d, i, cps_buffers_get(w->buffers, i));
}
