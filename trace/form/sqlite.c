/* SPDX-License-Identifier: MIT
 * A trace as a database of SQLite, written only. It is made in a file without a name, in one
 * transaction, and becomes the output when it is whole; memory does not grow with it. */
#include "trace/form/forms.h"

#ifdef CPS_HAVE_SQLITE
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "isa/base/pm4.h"
#include "trace/capture/buffers.h"
#include "trace/event/launch.h"
#include "trace/form/sqlite_schema.h"

#define CACHE_KIB "8192"

/* Tables whose rows are made here. */
enum table {
    HEAD,
    SUBMISSIONS,
    PACKETS,
    WORDS,
    WRITES,
    READS,
    MEMORY,
    ASSUMPTIONS,
    OTHERS,
    NAMES,
    FIELDS,
    DRAWS,
    BUFFERS,
    ADDRESSES,
    TABLES
};
static const char *const table_names[TABLES] = {
    "head",        "submissions", "packets", "words",  "writes", "reads",   "memory",
    "assumptions", "others",      "names",   "fields", "draws",  "buffers", "addresses"};

/* A processor's packet, whose row is made when it is over. */
struct packet {
    struct cps_event event;
    int64_t id; /* 0: there is none */
    int64_t number, submission;
    int64_t writes, reads, memory, steps;
};

/* Draws and the like of a processor. */
struct draws {
    struct cps_launches launches;
    int64_t packet, event, submission; /* of the one that is open */
    int64_t before;                    /* last packet of the one before; 0: there is none */
};

struct database {
    sqlite3 *db;
    sqlite3_stmt *insert[TABLES]; /* made with the first row */
    struct cps_spool spool;
    int code;        /* SQLITE_OK, or of the first failure */
    char reason[96]; /* its message */
    bool stepping;   /* STEP events are recorded */
    int64_t submission, packets;
    struct packet packet[CPS_CPU_COUNT];
    struct draws draws[CPS_CPU_COUNT];
    int64_t words_of;     /* packet */
    int64_t words_event;  /* its event */
    struct cps_buf value; /* text of a word */
};

/* ---- rows ---- */

#define NONE INT64_MIN /* NULL in a column of numbers */

/* A value of a row. */
struct cell {
    const char *text; /* NULL: the number */
    int64_t number;   /* NONE: NULL */
};
#define TEXT(value)   \
    {                 \
        (value), NONE \
    }
#define NUMBER(value)          \
    {                          \
        NULL, (int64_t)(value) \
    }

#define INSERT(d, which, ...)                                \
    insert((d), (which), (const struct cell[]){__VA_ARGS__}, \
           sizeof((const struct cell[]){__VA_ARGS__}) / sizeof(struct cell))

/* Keeps what went wrong first. Returns whether @p code is none of that. */
static bool check(struct database *d, int code)
{
    bool good = code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW;
    if (!good && d->code == SQLITE_OK) {
        d->code = code;
        snprintf(d->reason, sizeof(d->reason), "%s", sqlite3_errstr(code));
    }
    return good;
}

static struct cps_err *failure_of(const struct database *d)
{
    if (d->code == SQLITE_OK)
        return NULL;
    if (d->code == SQLITE_NOMEM)
        return cps_err_nomem();
    return cps_err_new(CPS_ERR_OS, "the database cannot be made: %s", d->reason);
}

static void execute(struct database *d, const char *sql)
{
    if (d->code == SQLITE_OK)
        check(d, sqlite3_exec(d->db, sql, NULL, NULL, NULL));
}

static void prepare_insert(struct database *d, enum table which, unsigned count)
{
    CPS_BUF sql = {0};
    cps_buf_printf(&sql, "INSERT OR REPLACE INTO %s VALUES (?", table_names[which]);
    while (--count)
        cps_buf_str(&sql, ", ?");
    cps_buf_str(&sql, ")");
    if (sql.failed)
        check(d, SQLITE_NOMEM);
    else
        check(d, sqlite3_prepare_v2(d->db, sql.data, -1, &d->insert[which], NULL));
}

/* Adds a row; nothing after a failure. */
static void insert(struct database *d, enum table which, const struct cell *cell, unsigned count)
{
    if (d->code == SQLITE_OK && !d->insert[which])
        prepare_insert(d, which, count);
    sqlite3_stmt *statement = d->insert[which];
    if (d->code != SQLITE_OK)
        return;
    for (unsigned i = 0; i < count; i++) {
        int column = (int)i + 1;
        if (cell[i].text)
            check(d, sqlite3_bind_text(statement, column, cell[i].text, -1, SQLITE_TRANSIENT));
        else if (cell[i].number == NONE)
            check(d, sqlite3_bind_null(statement, column));
        else
            check(d, sqlite3_bind_int64(statement, column, cell[i].number));
    }
    check(d, sqlite3_step(statement));
    sqlite3_reset(statement);
}

static const char *processor_of(const struct cps_event *event)
{
    unsigned who = cps_event_who(event);
    return who == CPS_CPU_NONE || who >= CPS_CPU_COUNT ? NULL : cps_processor_name(who);
}

static struct packet *packet_of(struct database *d, const struct cps_event *event)
{
    unsigned who = cps_event_who(event);
    return who < CPS_CPU_COUNT ? &d->packet[who] : &d->packet[CPS_CPU_NONE];
}

/* ---- packets and their words ---- */

static void end_packet(struct cps_trace_writer *w, struct packet *open)
{
    struct database *d = w->state;
    const struct cps_event *event = &open->event;
    struct cps_pm4 p = cps_pm4_decode_any(event->value);
    if (!open->id)
        return;
    bool type4 = p.kind == CPS_PM4_TYPE4;
    bool type7 = p.kind == CPS_PM4_TYPE7;
    INSERT(d, PACKETS, NUMBER(open->id), NUMBER(open->number), NUMBER(open->submission),
           TEXT(processor_of(event)), TEXT(cps_event_sub_word(CPS_EV_PKT, cps_event_sub(event))),
           NUMBER(event->addr), NUMBER(event->value),
           NUMBER(type4   ? 4
                  : type7 ? 7
                          : NONE),
           NUMBER(type7 ? p.opcode : NONE), NUMBER(type4 ? p.reg : NONE),
           NUMBER(type4 || type7 ? p.count : NONE),
           TEXT(cps_named_packet_(cps_named_by_(w, event), event->value)),
           NUMBER(cps_event_pc(event)), NUMBER(open->writes), NUMBER(open->reads),
           NUMBER(open->memory), NUMBER(d->stepping ? open->steps : NONE));
    open->id = 0;
}

static void begin_packet(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct database *d = w->state;
    struct packet *open = packet_of(d, event);
    end_packet(w, open);
    *open = (struct packet){.event = *event,
                            .id = ++d->packets,
                            .number = (int64_t)w->count,
                            .submission = d->submission};
    d->words_of = d->packets;
    d->words_event = (int64_t)w->count;
}

static void begin_word(void *context, const struct cps_event *word)
{
    struct database *d = ((struct cps_trace_writer *)context)->state;
    (void)word;
    cps_buf_clear(&d->value);
}

/* Registers have addresses of their own, once they are written. */
static void put_word_value(void *context, const struct cps_value *value)
{
    struct cps_trace_writer *w = context;
    struct database *d = w->state;
    size_t size = d->value.size;
    uint64_t address = 0;
    bool is_register = cps_pm4_decode_any(w->words.packet.value).kind == CPS_PM4_TYPE4;
    if (!is_register && cps_value_address(value, &address))
        INSERT(d, ADDRESSES, NUMBER(d->words_event), NUMBER(d->words_of), TEXT(NULL), TEXT("word"),
               NUMBER(value->number), NUMBER(address), TEXT(NULL));
    cps_buf_str(&d->value, size ? " " : "");
    if (!cps_value_line(value, &d->value) && d->value.size > size)
        d->value.data[d->value.size = size] = '\0';
}

static void end_word(void *context, const struct cps_event *word)
{
    struct database *d = ((struct cps_trace_writer *)context)->state;
    if (d->value.failed)
        check(d, SQLITE_NOMEM);
    INSERT(d, WORDS, NUMBER(d->words_of), NUMBER(word->addr), NUMBER(word->value),
           TEXT(d->value.size ? cps_buf_text(&d->value) : NULL));
}

/* ---- draws, dispatches, blits and resolves, numbered as everywhere ---- */

/* The packet is still the processor's last when it proves to have been a draw. */
static void take_step(struct database *d, struct draws *draws, enum cps_launch_step step)
{
    const struct cps_launch *launch = &draws->launches.last;
    unsigned who = draws->launches.who;
    const struct packet *packet = &d->packet[who];
    if (step == CPS_LAUNCH_BEGINS) {
        draws->packet = packet->id;
        draws->event = packet->number;
        draws->submission = packet->submission;
        return;
    }
    INSERT(d, DRAWS, NUMBER(draws->packet), NUMBER(draws->event), NUMBER(draws->submission),
           TEXT(who == CPS_CPU_NONE ? NULL : cps_processor_name(who)),
           TEXT(cps_event_sub_word(CPS_EV_PKT, cps_event_sub(&launch->packet))), TEXT(launch->name),
           TEXT(cps_launch_kind_text_(launch->kind)),
           NUMBER(launch->number == CPS_LAUNCH_UNNUMBERED ? NONE : (int64_t)launch->number),
           NUMBER(packet->id), NUMBER(draws->before ? draws->before : NONE));
    draws->before = packet->id;
}

/* Adds the row of a draw that is over before @p event; NULL: the trace ends. */
static void put_draws(struct database *d, const struct cps_event *event)
{
    unsigned kind = event ? cps_event_kind(event) : CPS_EV_END;
    bool is_everyones = kind == CPS_EV_SUBMIT || kind == CPS_EV_END;
    unsigned first = is_everyones ? 0 : cps_event_who(event);
    unsigned last = is_everyones ? CPS_CPU_COUNT - 1 : first;
    for (unsigned who = first; who <= last && who < CPS_CPU_COUNT; who++) {
        struct draws *draws = &d->draws[who];
        enum cps_launch_step step;
        while ((step = event ? cps_launches_take_(&draws->launches, event)
                             : cps_launches_end_(&draws->launches)) != CPS_LAUNCH_INSIDE)
            take_step(d, draws, step);
    }
}

/* ---- events ---- */

/* The word of a space in tables, of kinds that are about registers. */
static const char *space_of(unsigned kind)
{
    return kind == CPS_EV_REG || kind == CPS_EV_REGR ? "gpu" : cps_event_class_(kind);
}

/* A row that begins with an event's number, packet and processor, and ends with its pc. */
#define INSERT_EVENT(w, table, event, ...)                                       \
    INSERT(d, table, NUMBER((w)->count), NUMBER(packet->id ? packet->id : NONE), \
           TEXT(processor_of(event)), __VA_ARGS__, NUMBER(cps_event_pc(event)))

static void put_event(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct database *d = w->state;
    struct packet *packet = packet_of(d, event);
    unsigned kind = cps_event_kind(event);
    /* Which copy of a register: the bits above its number, if there are any. */
    int64_t copy = event->addr >> 32 ? (int64_t)(event->addr >> 32) : NONE;
    const char *sub = strchr(cps_event_columns_(kind), 's')
                          ? cps_event_sub_word(kind, cps_event_sub(event))
                          : NULL;
    const char *unknown = cps_event_unknown(event);
    switch (kind) {
    case CPS_EV_SUBMIT:
        d->submission = event->value;
        INSERT(d, SUBMISSIONS, NUMBER(event->value), NUMBER(w->count), NUMBER(event->addr),
               NUMBER(cps_event_pc(event)));
        break;
    case CPS_EV_PKT:
        begin_packet(w, event);
        break;
    case CPS_EV_WORD: /* it belongs to no packet before it: alone, without meaning */
        INSERT(d, WORDS, NUMBER(packet->id), NUMBER(event->addr), NUMBER(event->value), TEXT(NULL));
        break;
    case CPS_EV_REG:
    case CPS_EV_PIPE:
    case CPS_EV_CTRL:
    case CPS_EV_SQE:
    case CPS_EV_PROT:
    case CPS_EV_METHOD:
        packet->writes++;
        INSERT_EVENT(w, WRITES, event, TEXT(space_of(kind)), NUMBER(cps_event_place(event)),
                     NUMBER(copy), NUMBER(event->value), TEXT(sub));
        break;
    case CPS_EV_REGR:
        packet->reads++;
        INSERT_EVENT(w, READS, event, TEXT(space_of(kind)), NUMBER(cps_event_place(event)),
                     NUMBER(copy), NUMBER(event->value));
        break;
    case CPS_EV_MEMW:
    case CPS_EV_MEMR:
        packet->memory++;
        INSERT_EVENT(w, MEMORY, event, TEXT(kind == CPS_EV_MEMW ? "write" : "read"),
                     NUMBER(event->addr), NUMBER(event->value), TEXT(sub));
        break;
    case CPS_EV_STEP:
        d->stepping = true;
        packet->steps++;
        break;
    case CPS_EV_STEPX:
    case CPS_EV_TICK:
        break;
    case CPS_EV_ASSUME:
    case CPS_EV_UNMODELLED:
        INSERT_EVENT(w, ASSUMPTIONS, event, TEXT(cps_event_class_(kind)),
                     TEXT(unknown ? unknown : sub), NUMBER(event->addr), NUMBER(event->value));
        break;
    default:
        INSERT_EVENT(w, OTHERS, event, TEXT(cps_event_keyword(kind)), TEXT(sub),
                     NUMBER(event->addr), NUMBER(event->value));
        break;
    }
}

static void write_event(struct cps_trace_writer *w, const struct cps_event *event)
{
    put_draws(w->state, event);
    if (!cps_words_wait_(w, event))
        put_event(w, event);
}

/* ---- names and fields of the registers that occur ---- */

static enum cps_space space_called(const char *word)
{
    for (unsigned kind = 0; word && kind < CPS_EV_COUNT; kind++) {
        if (!strcmp(word, space_of(kind)))
            return cps_event_space_(kind);
    }
    return CPS_SPACE_COUNT;
}

static const struct cps_names *names_called(const struct cps_trace_writer *w, const char *processor)
{
    unsigned who = processor ? cps_processor_by_name_(processor, strlen(processor)) : CPS_CPU_COUNT;
    return who < CPS_CPU_COUNT ? w->names[who] : NULL;
}

/* A register, or a value of one, as a query gives it. */
struct found {
    struct database *d;
    const char *processor, *space;
    int64_t reg, value;
};

static void put_field(void *context, const struct cps_value *value)
{
    const struct found *f = context;
    CPS_BUF text = {0};
    cps_value_put(value, &text);
    if (text.failed)
        check(f->d, SQLITE_NOMEM);
    INSERT(f->d, FIELDS, TEXT(f->processor), TEXT(f->space), NUMBER(f->reg), NUMBER(f->value),
           TEXT(value->name ? value->name : "no-name"), NUMBER(value->low), NUMBER(value->high),
           NUMBER(value->bits), TEXT(cps_buf_text(&text)));
}

static void put_name(const struct found *f, const struct cps_names *names, enum cps_space space)
{
    unsigned half = 0;
    char full[256];
    const char *name = cps_name(names, space, (uint32_t)f->reg, &half);
    if (!name)
        return;
    snprintf(full, sizeof(full), half ? "%s+0x%x" : "%s", name, half);
    INSERT(f->d, NAMES, TEXT(f->processor), TEXT(f->space), NUMBER(f->reg), TEXT(full));
}

/* Adds names of the registers that a query finds, or fields where it has their values, too. */
static void put_known(struct cps_trace_writer *w, const char *sql)
{
    struct database *d = w->state;
    sqlite3_stmt *query = NULL;
    if (d->code != SQLITE_OK || !check(d, sqlite3_prepare_v2(d->db, sql, -1, &query, NULL)))
        return;
    int code = SQLITE_ROW;
    while (d->code == SQLITE_OK && (code = sqlite3_step(query)) == SQLITE_ROW) {
        struct found f = {d, (const char *)sqlite3_column_text(query, 0),
                          (const char *)sqlite3_column_text(query, 1),
                          sqlite3_column_int64(query, 2), 0};
        enum cps_space space = space_called(f.space);
        const struct cps_names *names = names_called(w, f.processor);
        if (!names || space == CPS_SPACE_COUNT)
            continue;
        if (sqlite3_column_count(query) == 3) {
            put_name(&f, names, space);
            continue;
        }
        f.value = sqlite3_column_int64(query, 3);
        cps_name_values(names, space, (uint32_t)f.reg, (uint32_t)f.value, put_field, &f);
    }
    check(d, code);
    sqlite3_finalize(query);
}

/* ---- buffers of the capture, and which of them an address lies in ---- */

/* address_half(processor, register): cps_name_address_half(). */
static void address_half(sqlite3_context *context, int count, sqlite3_value **value)
{
    const char *processor = (const char *)sqlite3_value_text(value[0]);
    const struct cps_names *names = names_called(sqlite3_user_data(context), processor);
    (void)count;
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

static void add_function(struct cps_trace_writer *w, const char *name,
                         void (*function)(sqlite3_context *context, int count,
                                          sqlite3_value **value))
{
    struct database *d = w->state;
    if (d->code == SQLITE_OK)
        check(d, sqlite3_create_function(d->db, name, 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, w,
                                         function, NULL, NULL));
}

static void put_buffers(struct cps_trace_writer *w)
{
    for (size_t i = 0; i < cps_buffers_count(w->buffers); i++) {
        const struct cps_buffer *buffer = cps_buffers_get(w->buffers, i);
        int64_t last = buffer->until == UINT32_MAX ? NONE : (int64_t)buffer->until - 1;
        INSERT(w->state, BUFFERS, NUMBER(i), NUMBER(buffer->number),
               TEXT(cps_buffer_kind_text(buffer->kind)), TEXT(buffer->name), NUMBER(buffer->iova),
               NUMBER(buffer->last - buffer->iova + 1), NUMBER(buffer->held), NUMBER(buffer->from),
               NUMBER(last));
    }
}

/* ---- the file, from its beginning to its end ---- */

/* "# key value" */
static void put_head(struct database *d, const char *text)
{
    while (*text && d->code == SQLITE_OK) {
        CPS_BUF line = {0};
        size_t size = strcspn(text, "\n");
        if (size > 2)
            cps_buf_add(&line, text + 2, size - 2);
        text += size + (text[size] != '\0');
        if (line.failed)
            check(d, SQLITE_NOMEM);
        char *value = line.data ? strchr(line.data, ' ') : NULL;
        if (value)
            *value++ = '\0';
        INSERT(d, HEAD, TEXT(cps_buf_text(&line)), TEXT(value ? value : ""));
    }
}

static void close_database(struct database *d)
{
    for (unsigned i = 0; i < TABLES; i++) {
        sqlite3_finalize(d->insert[i]);
        d->insert[i] = NULL;
    }
    check(d, sqlite3_close(CPS_TAKE(d->db)));
}

static void end(struct cps_trace_writer *w)
{
    struct database *d = w->state;
    cps_words_flush_(w);
    put_draws(d, NULL);
    for (unsigned i = 0; i < CPS_CPU_COUNT; i++)
        end_packet(w, &d->packet[i]);
    put_head(d, w->head->text);
    put_known(w, registers);
    put_known(w, values);
    add_function(w, "address_half", address_half);
    add_function(w, "buffer_at", buffer_at);
    put_buffers(w);
    execute(d, addresses);
    execute(d, rest);
    execute(d, "COMMIT");
    close_database(d);
    w->failure = failure_of(d);
    if (!w->failure)
        w->failure = cps_spool_copy_(&d->spool, w->out);
}

static void free_database(void *state)
{
    struct database *d = state;
    if (d->db)
        close_database(d);
    cps_spool_close_(&d->spool);
    cps_buf_deinit(&d->value);
}

/* The file's name goes at once: SQLite has it open then. */
static struct cps_err *open_database(struct database *d)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    d->spool.fd = -1;
    CPS_TRY(cps_spool_open_(&d->spool));
    check(d, sqlite3_open_v2(d->spool.path, &d->db, flags, "unix-none"));
    cps_spool_forget_(&d->spool);
    execute(d, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA page_size = 4096;"
               "PRAGMA cache_size = -" CACHE_KIB "; BEGIN");
    execute(d, tables);
    return failure_of(d);
}

struct cps_err *cps_sqlite_write_(struct cps_trace_writer *writer)
{
    uint32_t kinds = 0;
    bool known = cps_text_classes(writer->head->events, &kinds);
    kinds = known ? kinds : 0;
    bool words = kinds >> CPS_EV_WORD & 1;
    /* Words are rows by their packet and number: without packets they would take each other's. */
    if (words && !(kinds >> CPS_EV_PKT & 1))
        return cps_err_new(CPS_ERR_UNSUPPORTED,
                           "a database holds words by their packets: expected events with pkt "
                           "where payload is one of them");
    struct database *d = calloc(1, sizeof(*d));
    if (!d)
        return cps_err_nomem();
    d->submission = NONE;
    struct cps_err *err = open_database(d);
    if (err) {
        free_database(d);
        free(d);
        return err;
    }
    writer->state = d;
    for (unsigned who = 0; who < CPS_CPU_COUNT; who++)
        cps_launches_init_(&d->draws[who].launches, writer->names[who], who, kinds);
    writer->on_words.begin = begin_word;
    writer->on_words.value = put_word_value;
    writer->on_words.end = end_word;
    writer->event = write_event;
    writer->end = end;
    writer->deinit = free_database;
    return NULL;
}

#else

struct cps_err *cps_sqlite_write_(struct cps_trace_writer *writer)
{
    (void)writer;
    return cps_err_new(CPS_ERR_UNSUPPORTED,
                       "cpscope was built without SQLite, which .db needs: -Dsqlite=enabled");
}

#endif
