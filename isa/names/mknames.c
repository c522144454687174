/* SPDX-License-Identifier: MIT
 * Build-time generator: turns the name tables (*.tsv) into const C arrays, sorted for binary
 * search. Usage: mknames FILE.tsv... [pm4.def] > names.c; of pm4.def the rows are compiled in. */
#include <stdio.h>
#include <stdlib.h>

#include "isa/names/table.h"
#include "isa/packet.h"

enum { MAX_ROWS = 8192, MAX_FIELDS = 16384, MAX_TABLES = 512, MAX_LINE = 4096, COLUMNS = 7 };

struct table {
    const char *domain;
    struct cps_name_row *rows;
    size_t count;
};

struct tables {
    struct table table[MAX_TABLES];
    size_t count;
    struct cps_name_field field[MAX_FIELDS];
    uint32_t field_count;
};

static const char *file_name;
static unsigned line_number;

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "%s: line %u: %s\n", file_name, line_number, what);
    exit(1);
}

static void *allocate(size_t size)
{
    void *memory = calloc(1, size);
    if (!memory)
        fail("out of memory");
    return memory;
}

static char *copy(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(allocate(size), text, size);
}

/* Cuts `text` at `mark`; what is after it, or NULL. */
static char *cut(char *text, char mark)
{
    char *found = strchr(text, mark);
    if (found)
        *found++ = '\0';
    return found;
}

static size_t find_table(struct tables *tables, const char *domain)
{
    for (size_t i = 0; i < tables->count; i++) {
        if (!strcmp(tables->table[i].domain, domain))
            return i;
    }
    if (tables->count == MAX_TABLES)
        fail("too many domains");
    struct table *table = &tables->table[tables->count];
    table->domain = copy(domain);
    table->rows = allocate(MAX_ROWS * sizeof(*table->rows));
    return tables->count++;
}

/* The enumeration called so, which must have come in an earlier file. */
static uint16_t find_values(struct tables *tables, const char *domain)
{
    size_t index = find_table(tables, domain);
    if (!tables->table[index].count)
        fail("a field's type is no word and no enumeration");
    return (uint16_t)(index + 1);
}

/* "ENUM=VALUE". */
static struct cps_name_when parse_when(struct tables *tables, char *text)
{
    char *value = cut(text, '=');
    if (!value)
        fail("a condition must be ENUM=VALUE");
    struct cps_name_when when = {.values = find_values(tables, text)};
    const struct table *table = &tables->table[when.values - 1];
    for (size_t i = 0; i < table->count; i++) {
        if (!strcmp(table->rows[i].name, value) && table->rows[i].number < 32)
            when.mask |= 1u << table->rows[i].number;
    }
    if (!when.mask)
        fail("a condition has no such value");
    return when;
}

/* "fixed.4", "uint<<5", "ENUM!". */
static struct cps_name_type parse_type(struct tables *tables, char *text)
{
    struct cps_name_type type = {.selects = cut(text, '!')};
    char *shift = strstr(text, "<<");
    if (shift) {
        type.shift = (uint8_t)atoi(shift + 2);
        *shift = '\0';
    }
    unsigned kind = cps_name_kind_parse_(text, &type.radix);
    if (kind < CPS_KIND_COUNT)
        type.kind = (uint8_t)kind;
    else
        type.values = find_values(tables, text);
    return type;
}

/* "NAME:low-high:type?condition@variants", where all after low may be missing. */
static struct cps_name_field parse_field(struct tables *tables, char *text)
{
    char *chips = cut(text, '@');
    char *when = cut(text, '?');
    char *bits = cut(text, ':');
    if (!bits)
        fail("a field must be NAME:low-high");
    char *type = cut(bits, ':');
    unsigned long low = strtoul(bits, &bits, 10);
    unsigned long high = *bits == '-' ? strtoul(bits + 1, &bits, 10) : low;
    if (*bits || low > high || high > 63)
        fail("a field has bad bits");
    struct cps_name_field field = {copy(text), (uint8_t)low, (uint8_t)high,
                                   cps_chips_parse_(chips ? chips : ""), .type = {0}};
    if (type)
        field.type = parse_type(tables, type);
    else if (low == high)
        field.type.kind = CPS_KIND_BOOL;
    if (when)
        field.when = parse_when(tables, when);
    return field;
}

/* Cuts a line at its tabs; columns that are missing at the end are empty. */
static void split(char *line, char *column[COLUMNS])
{
    static char empty[1];
    line[strcspn(line, "\r\n")] = '\0';
    for (size_t i = 0; i < COLUMNS; i++) {
        column[i] = line ? line : empty;
        line = cut(column[i], '\t');
    }
}

/* "5" or, of words that repeat, "0+3*100". */
static void parse_number(char *text, struct cps_name_row *row)
{
    char *end;
    unsigned long number = strtoul(text, &end, 0);
    if (!*text || number > UINT32_MAX)
        fail("a row needs a number");
    row->number = (uint32_t)number;
    if (*end == '+') {
        row->stride = (uint16_t)strtoul(end + 1, &end, 10);
        if (*end != '*' || !row->stride)
            fail("a row repeats as +DISTANCE*TIMES");
        row->length = (uint16_t)strtoul(end + 1, &end, 10);
    }
    if (*end)
        fail("a row needs a number");
}

static void parse_line(struct tables *tables, char *line)
{
    char *column[COLUMNS];
    split(line, column);
    struct table *table = &tables->table[find_table(tables, column[0])];
    if (table->count == MAX_ROWS)
        fail("too many rows in a domain");
    if (!*column[4])
        fail("a row needs a name");
    struct cps_name_row *row = &table->rows[table->count];
    parse_number(column[1], row);
    row->name = copy(column[4]);
    row->order = (uint32_t)table->count;
    row->first_field = tables->field_count;
    for (char *field = strtok(column[6], ","); field; field = strtok(NULL, ",")) {
        if (tables->field_count == MAX_FIELDS)
            fail("too many fields");
        tables->field[tables->field_count++] = parse_field(tables, field);
    }
    row->field_count = tables->field_count - row->first_field;
    row->chips = cps_chips_parse_(column[3]);
    row->wide = !strcmp(column[2], "64");
    row->is_gmu = !strcmp(column[5], "gmu");
    if (*column[5] == '?')
        row->when = parse_when(tables, column[5] + 1);
    table->count++;
}

static void add_packets(struct tables *tables)
{
    struct table *table = &tables->table[find_table(tables, "adreno_pm4_type3_packets")];
    for (size_t i = 0; i < cps_packet_count_; i++) {
        const struct cps_packet_row *packet = &cps_packet_rows_[i];
        if (packet->chips)
            table->rows[table->count++] = (struct cps_name_row){.name = packet->name,
                                                                .number = packet->opcode,
                                                                .order = (uint32_t)i,
                                                                .chips = packet->chips};
    }
}

/* Where table number @p values - 1 is among the sorted ones, from 1: fields and rows name it by
 * that; 0 is none. */
static uint16_t place[MAX_TABLES + 1];

static void set_places(const struct tables *tables)
{
    for (size_t i = 0; i < tables->count; i++) {
        for (size_t k = 0; k < tables->count; k++) {
            if (strcmp(tables->table[k].domain, tables->table[i].domain) <= 0)
                place[i + 1]++;
        }
    }
}

static void print_rows(const struct table *table, size_t number)
{
    printf("static const struct cps_name_row rows%zu[] = {\n", number);
    for (size_t i = 0; i < table->count; i++) {
        const struct cps_name_row *row = &table->rows[i];
        printf("    {\"%s\", 0x%x, %u, %u, %u, %u, %u, {%u, 0x%x}, 0x%x, %d, %d},\n", row->name,
               row->number, row->order, row->first_field, row->field_count, row->stride,
               row->length, place[row->when.values], row->when.mask, row->chips, row->wide,
               row->is_gmu);
    }
    printf("};\n");
}

static void print_by_name(const struct table *table, size_t number)
{
    const struct cps_name_row **sorted = allocate(table->count * sizeof(*sorted));
    for (size_t i = 0; i < table->count; i++)
        sorted[i] = &table->rows[i];
    qsort(sorted, table->count, sizeof(*sorted), cps_row_by_name_);
    printf("static const uint32_t by_name%zu[] = {\n", number);
    for (size_t i = 0; i < table->count; i++)
        printf("%u,%s", (unsigned)(sorted[i] - table->rows), i % 16 == 15 ? "\n" : "");
    printf("};\n");
    free(sorted);
}

static void print_fields(const struct tables *tables)
{
    printf("static const struct cps_name_field fields[] = {\n");
    for (size_t i = 0; i < tables->field_count; i++) {
        const struct cps_name_field *field = &tables->field[i];
        const struct cps_name_type *type = &field->type;
        printf("    {\"%s\", %u, %u, 0x%x, {%u, %u, %u, %d, %u}, {%u, 0x%x}},\n", field->name,
               field->low, field->high, field->chips, type->kind, type->radix, type->shift,
               type->selects, place[type->values], place[field->when.values], field->when.mask);
    }
    printf("};\n");
}

static void print_tables(struct tables *tables)
{
    printf("/* Made by mknames from isa/names. */\n#include \"isa/names/table.h\"\n");
    size_t order[MAX_TABLES] = {0};
    set_places(tables);
    for (size_t i = 0; i < tables->count; i++)
        order[place[i + 1] - 1] = i;
    print_fields(tables);
    for (size_t i = 0; i < tables->count; i++) {
        struct table *table = &tables->table[i];
        qsort(table->rows, table->count, sizeof(*table->rows), cps_row_order_);
        print_rows(table, i);
        print_by_name(table, i);
    }
    printf("static const struct cps_name_table tables[] = {\n");
    for (size_t i = 0; i < tables->count; i++)
        printf("    {\"%s\", rows%zu, by_name%zu, fields, %zu},\n", tables->table[order[i]].domain,
               order[i], order[i], tables->table[order[i]].count);
    printf("};\nconst struct cps_name_source cps_name_built_in_ = {tables, %zu};\n", tables->count);
}

int main(int argc, char **argv)
{
    static struct tables tables;
    for (int i = 1; i < argc; i++) {
        if (strstr(argv[i], "pm4.def"))
            add_packets(&tables);
        else {
            const char *name = argv[i];
            char line[MAX_LINE];
            file_name = name;
            line_number = 0;
            FILE *file = fopen(name, "r");
            if (!file)
                fail("cannot open");
            while (fgets(line, sizeof(line), file)) {
                line_number++;
                if (!strchr(line, '\n'))
                    fail("line too long or without end");
                if (line[0] != '#')
                    parse_line(&tables, line);
            }
            fclose(file);
        }
    }
    print_tables(&tables);
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
