/* SPDX-License-Identifier: MIT
 * A trace as a database of SQLite, written only. It is made in a file without a name, in one
 * transaction, and becomes the output when it is whole; memory does not grow with it. */
#include "trace/form/forms.h"

#ifdef CPS_HAVE_SQLITE
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "isa/base/pm4.h"
#include "trace/form/named.h"
#include "trace/form/sqlite.h"
#include "trace/form/spool.h"
#include "trace/form/words.h"

#define CACHE_KIB "8192"
#define NOWHERE   INT64_MIN /* NULL in a column of numbers */

/* A processor's packet, whose row is made when it is over. */
struct open_packet {
    struct cps_event event;
    int64_t id; /* 0: there is none */
    int64_t number, submission;
    int64_t writes, reads, memory, steps;
};

struct database {
    sqlite3 *db;
    sqlite3_stmt *insert[DB_INSERTS];
    struct cps_spool spool;
    int code;        /* SQLITE_OK, or of the first failure */
    char reason[96]; /* its message */
    bool stepping;   /* STEP events are recorded */
    int64_t submission, packets;
    struct open_packet packet[CPS_CPU_COUNT];
    struct cps_words words;
    int64_t words_of;     /* packet */
    struct cps_buf value; /* text of a word */
};

/* What happened first is what is told. */
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

/* A value of a row. */
struct cell {
    const char *text; /* NULL: the number */
    int64_t number;   /* NOWHERE: NULL */
};
#define TEXT(value)      \
    {                    \
        (value), NOWHERE \
    }
#define NUMBER(value)          \
    {                          \
        NULL, (int64_t)(value) \
    }

static void insert(struct database *d, enum db_insert which, const struct cell *cell,
                   unsigned count)
{
    sqlite3_stmt *statement = d->insert[which];
    if (d->code != SQLITE_OK)
        return;
    for (unsigned i = 0; i < count; i++) {
        int column = (int)i + 1;
        if (cell[i].text)
            check(d, sqlite3_bind_text(statement, column, cell[i].text, -1, SQLITE_TRANSIENT));
        else if (cell[i].number == NOWHERE)
            check(d, sqlite3_bind_null(statement, column));
        else
            check(d, sqlite3_bind_int64(statement, column, cell[i].number));
    }
    check(d, sqlite3_step(statement));
    sqlite3_reset(statement);
}
#define INSERT(d, which, ...)                                \
    insert((d), (which), (const struct cell[]){__VA_ARGS__}, \
           sizeof((const struct cell[]){__VA_ARGS__}) / sizeof(struct cell))

static const char *processor_of(const struct cps_event *event)
{
    unsigned who = cps_event_who(event);
    return who == CPS_CPU_NONE || who >= CPS_CPU_COUNT ? NULL : cps_processor_name(who);
}

static struct open_packet *packet_of(struct database *d, const struct cps_event *event)
{
    unsigned who = cps_event_who(event);
    return who < CPS_CPU_COUNT ? &d->packet[who] : &d->packet[CPS_CPU_NONE];
}

static int64_t id_of(const struct open_packet *packet)
{
    return packet->id ? packet->id : NOWHERE;
}

static void end_packet(struct cps_trace_writer *w, struct open_packet *open)
{
    struct database *d = w->state;
    const struct cps_event *event = &open->event;
    struct cps_pm4 p = cps_pm4_decode_any(event->value);
    if (!open->id)
        return;
    bool type4 = p.kind == CPS_PM4_TYPE4;
    bool type7 = p.kind == CPS_PM4_TYPE7;
    INSERT(d, DB_PACKET, NUMBER(open->id), NUMBER(open->number), NUMBER(open->submission),
           TEXT(processor_of(event)), TEXT(cps_event_sub_word(CPS_EV_PKT, cps_event_sub(event))),
           NUMBER(event->addr), NUMBER(event->value),
           NUMBER(type4   ? 4
                  : type7 ? 7
                          : NOWHERE),
           NUMBER(type7 ? p.opcode : NOWHERE), NUMBER(type4 ? p.reg : NOWHERE),
           NUMBER(type4 || type7 ? p.count : NOWHERE),
           TEXT(cps_named_packet_(cps_named_by_(w, event), event->value)),
           NUMBER(cps_event_pc(event)), NUMBER(open->writes), NUMBER(open->reads),
           NUMBER(open->memory), NUMBER(d->stepping ? open->steps : NOWHERE));
    open->id = 0;
}

static void begin_packet(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct database *d = w->state;
    struct open_packet *open = packet_of(d, event);
    end_packet(w, open);
    *open = (struct open_packet){.event = *event,
                                 .id = ++d->packets,
                                 .number = (int64_t)w->count,
                                 .submission = d->submission};
}

static void begin_word(void *context, const struct cps_event *word)
{
    struct database *d = context;
    (void)word;
    cps_buf_clear(&d->value);
}

static void put_value(void *context, const struct cps_value *value)
{
    struct database *d = context;
    size_t size = d->value.size;
    cps_buf_str(&d->value, size ? " " : "");
    if (!cps_value_line(value, &d->value) && d->value.size > size)
        d->value.data[d->value.size = size] = '\0';
}

static void end_word(void *context, const struct cps_event *word)
{
    struct database *d = context;
    if (d->value.failed)
        check(d, SQLITE_NOMEM);
    INSERT(d, DB_WORD, NUMBER(d->words_of), NUMBER(word->addr), NUMBER(word->value),
           TEXT(d->value.size ? cps_buf_text(&d->value) : NULL));
}

static void put_words(struct cps_trace_writer *w)
{
    struct database *d = w->state;
    const struct cps_words_form form = {begin_word, put_value, end_word, d};
    unsigned who = cps_event_who(&d->words.packet);
    cps_words_lines_(&d->words, who < CPS_CPU_COUNT ? w->names[who] : NULL, &form);
}

/* A word that belongs to no packet before it stands alone, without meaning. */
static void put_lone_word(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct database *d = w->state;
    INSERT(d, DB_WORD, NUMBER(packet_of(d, event)->id), NUMBER(event->addr), NUMBER(event->value),
           TEXT(NULL));
}

/* The word of a space in tables, of kinds that are about registers. */
static const char *space_of(unsigned kind)
{
    switch (kind) {
    case CPS_EV_REG:
    case CPS_EV_REGR:
        return "gpu";
    case CPS_EV_PIPE:
        return "pipe";
    case CPS_EV_CTRL:
        return "ctrl";
    case CPS_EV_SQE:
        return "sqe";
    case CPS_EV_PROT:
        return "prot";
    case CPS_EV_METHOD:
        return "method";
    default:
        return NULL;
    }
}

/* Which copy of a register: the bits above its number, if there are any. */
static int64_t copy_of(const struct cps_event *event)
{
    return event->addr >> 32 ? (int64_t)(event->addr >> 32) : NOWHERE;
}

static void put_write(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct database *d = w->state;
    struct open_packet *packet = packet_of(d, event);
    unsigned kind = cps_event_kind(event);
    packet->writes++;
    INSERT(d, DB_WRITE, NUMBER(w->count), NUMBER(id_of(packet)), TEXT(processor_of(event)),
           TEXT(space_of(kind)), NUMBER(cps_event_place(event)), NUMBER(copy_of(event)),
           NUMBER(event->value),
           TEXT(kind == CPS_EV_REG ? cps_event_sub_word(kind, cps_event_sub(event)) : NULL),
           NUMBER(cps_event_pc(event)));
}

static void put_read(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct database *d = w->state;
    struct open_packet *packet = packet_of(d, event);
    packet->reads++;
    INSERT(d, DB_READ, NUMBER(w->count), NUMBER(id_of(packet)), TEXT(processor_of(event)),
           TEXT(space_of(cps_event_kind(event))), NUMBER(cps_event_place(event)),
           NUMBER(copy_of(event)), NUMBER(event->value), NUMBER(cps_event_pc(event)));
}

static void put_memory(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct database *d = w->state;
    struct open_packet *packet = packet_of(d, event);
    unsigned kind = cps_event_kind(event);
    packet->memory++;
    INSERT(d, DB_MEMORY, NUMBER(w->count), NUMBER(id_of(packet)), TEXT(processor_of(event)),
           TEXT(kind == CPS_EV_MEMW ? "write" : "read"), NUMBER(event->addr), NUMBER(event->value),
           TEXT(cps_event_sub_word(kind, cps_event_sub(event))), NUMBER(cps_event_pc(event)));
}

static void put_rest(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct database *d = w->state;
    unsigned kind = cps_event_kind(event);
    const char *word = cps_event_unknown(event);
    bool assumed = kind == CPS_EV_ASSUME || kind == CPS_EV_UNMODELLED;
    if (!word && strchr(cps_event_columns_(kind), 's'))
        word = cps_event_sub_word(kind, cps_event_sub(event));
    INSERT(d, assumed ? DB_ASSUMPTION : DB_OTHER, NUMBER(w->count),
           NUMBER(id_of(packet_of(d, event))), TEXT(processor_of(event)),
           TEXT(kind == CPS_EV_ASSUME       ? "assume"
                : kind == CPS_EV_UNMODELLED ? "unmodelled"
                                            : cps_event_keyword(kind)),
           TEXT(word), NUMBER(event->addr), NUMBER(event->value), NUMBER(cps_event_pc(event)));
}

static void put_submission(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct database *d = w->state;
    d->submission = event->value;
    INSERT(d, DB_SUBMISSION, NUMBER(event->value), NUMBER(w->count), NUMBER(event->addr),
           NUMBER(cps_event_pc(event)));
}

static void put_event(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct database *d = w->state;
    switch (cps_event_kind(event)) {
    case CPS_EV_SUBMIT:
        put_submission(w, event);
        break;
    case CPS_EV_PKT:
        begin_packet(w, event);
        d->words_of = d->packets;
        break;
    case CPS_EV_WORD:
        put_lone_word(w, event);
        break;
    case CPS_EV_REG:
    case CPS_EV_PIPE:
    case CPS_EV_CTRL:
    case CPS_EV_SQE:
    case CPS_EV_PROT:
    case CPS_EV_METHOD:
        put_write(w, event);
        break;
    case CPS_EV_REGR:
        put_read(w, event);
        break;
    case CPS_EV_MEMW:
    case CPS_EV_MEMR:
        put_memory(w, event);
        break;
    case CPS_EV_STEP:
        d->stepping = true;
        packet_of(d, event)->steps++;
        break;
    case CPS_EV_STEPX:
    case CPS_EV_TICK:
        break;
    default:
        put_rest(w, event);
        break;
    }
}

static void write_event(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct database *d = w->state;
    if (d->words.count && cps_event_kind(event) != CPS_EV_WORD)
        put_words(w);
    if (cps_words_take_(&d->words, event))
        return;
    put_words(w);
    put_event(w, event);
}

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
        INSERT(d, DB_HEAD, TEXT(cps_buf_text(&line)), TEXT(value ? value : ""));
    }
}

static int number_of_space(const char *word)
{
    static const struct {
        const char *word;
        enum cps_space space;
    } spaces[] = {{"gpu", CPS_SPACE_GPU},
                  {"prot", CPS_SPACE_GPU},
                  {"pipe", CPS_SPACE_PIPE},
                  {"ctrl", CPS_SPACE_CONTROL},
                  {"sqe", CPS_SPACE_SQE}};
    for (size_t i = 0; word && i < sizeof(spaces) / sizeof(spaces[0]); i++) {
        if (!strcmp(word, spaces[i].word))
            return (int)spaces[i].space;
    }
    return -1;
}

static const struct cps_names *names_called(const struct cps_trace_writer *w, const char *processor)
{
    for (unsigned who = 0; processor && who < CPS_CPU_COUNT; who++) {
        if (!strcmp(processor, cps_processor_name(who)))
            return w->names[who];
    }
    return NULL;
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
    INSERT(f->d, DB_FIELD, TEXT(f->processor), TEXT(f->space), NUMBER(f->reg), NUMBER(f->value),
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
    INSERT(f->d, DB_NAME, TEXT(f->processor), TEXT(f->space), NUMBER(f->reg), TEXT(full));
}

/* Goes through what a query finds: registers, or values where it has a fourth column. */
static void put_known(struct cps_trace_writer *w, const char *sql)
{
    struct database *d = w->state;
    sqlite3_stmt *query = NULL;
    if (d->code != SQLITE_OK || !check(d, sqlite3_prepare_v2(d->db, sql, -1, &query, NULL)))
        return;
    int code = SQLITE_ROW;
    while (d->code == SQLITE_OK && (code = sqlite3_step(query)) == SQLITE_ROW) {
        struct found f = {.d = d,
                          .processor = (const char *)sqlite3_column_text(query, 0),
                          .space = (const char *)sqlite3_column_text(query, 1),
                          .reg = sqlite3_column_int64(query, 2)};
        int space = number_of_space(f.space);
        const struct cps_names *names = names_called(w, f.processor);
        if (!names || space < 0)
            continue;
        if (sqlite3_column_count(query) == 3) {
            put_name(&f, names, (enum cps_space)space);
            continue;
        }
        f.value = sqlite3_column_int64(query, 3);
        cps_name_values(names, (enum cps_space)space, (uint32_t)f.reg, (uint32_t)f.value, put_field,
                        &f);
    }
    check(d, code);
    sqlite3_finalize(query);
}

static void close_database(struct database *d)
{
    for (unsigned i = 0; i < DB_INSERTS; i++) {
        sqlite3_finalize(d->insert[i]);
        d->insert[i] = NULL;
    }
    int code = sqlite3_close(d->db);
    d->db = NULL;
    check(d, code);
}

static void end(struct cps_trace_writer *w)
{
    struct database *d = w->state;
    put_words(w);
    for (unsigned i = 0; i < CPS_CPU_COUNT; i++)
        end_packet(w, &d->packet[i]);
    put_head(d, w->head->text);
    put_known(w, cps_sqlite_registers_);
    put_known(w, cps_sqlite_values_);
    execute(d, cps_sqlite_rest_);
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
    cps_words_free_(&d->words);
    cps_buf_deinit(&d->value);
}

/* The name goes at once: SQLite has the file open then. */
static struct cps_err *open_file(struct database *d)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    CPS_TRY(cps_spool_open_(&d->spool));
    check(d, sqlite3_open_v2(d->spool.path, &d->db, flags, "unix-none"));
    cps_spool_forget_(&d->spool);
    return NULL;
}

static void prepare(struct database *d)
{
    execute(d, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA page_size = 4096;"
               "PRAGMA cache_size = -" CACHE_KIB "; BEGIN");
    execute(d, cps_sqlite_tables_);
    for (unsigned i = 0; i < DB_INSERTS && d->code == SQLITE_OK; i++)
        check(d, sqlite3_prepare_v2(d->db, cps_sqlite_inserts_[i], -1, &d->insert[i], NULL));
}

struct cps_err *cps_sqlite_write_(struct cps_trace_writer *writer)
{
    struct database *d = calloc(1, sizeof(*d));
    if (!d)
        return cps_err_nomem();
    d->spool.fd = -1;
    d->submission = NOWHERE;
    struct cps_err *err = open_file(d);
    if (!err) {
        prepare(d);
        err = failure_of(d);
    }
    if (err) {
        free_database(d);
        free(d);
        return err;
    }
    writer->state = d;
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
