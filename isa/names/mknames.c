/* SPDX-License-Identifier: MIT
 * Build-time generator: turns the name tables (*.tsv) into const C arrays, sorted for binary
 * search. Usage: mknames FILE.tsv... > names.c */
#include <stdio.h>
#include <stdlib.h>

#include "isa/names/table.h"

enum { MAX_ROWS = 8192, MAX_FIELDS = 16384, MAX_TABLES = 32, MAX_LINE = 2048, COLUMNS = 7 };

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

static struct table *find_table(struct tables *tables, const char *domain)
{
    for (size_t i = 0; i < tables->count; i++) {
        if (!strcmp(tables->table[i].domain, domain))
            return &tables->table[i];
    }
    if (tables->count == MAX_TABLES)
        fail("too many domains");
    struct table *table = &tables->table[tables->count++];
    table->domain = copy(domain);
    table->rows = allocate(MAX_ROWS * sizeof(*table->rows));
    return table;
}

/* "NAME:low-high@variants", where high and variants may be missing. */
static struct cps_name_field parse_field(char *text)
{
    char *chips = strchr(text, '@');
    if (chips)
        *chips++ = '\0';
    char *bits = strchr(text, ':');
    if (!bits)
        fail("a field must be NAME:low-high");
    *bits++ = '\0';
    unsigned long low = strtoul(bits, &bits, 10);
    unsigned long high = *bits == '-' ? strtoul(bits + 1, &bits, 10) : low;
    if (*bits || low > high || high > 63)
        fail("a field has bad bits");
    return (struct cps_name_field){copy(text), (uint8_t)low, (uint8_t)high,
                                   cps_chips_parse_(chips ? chips : "")};
}

static uint32_t parse_fields(struct tables *tables, char *text)
{
    uint32_t before = tables->field_count;
    for (char *field = strtok(text, ","); field; field = strtok(NULL, ",")) {
        if (tables->field_count == MAX_FIELDS)
            fail("too many fields");
        tables->field[tables->field_count++] = parse_field(field);
    }
    return tables->field_count - before;
}

/* Cuts a line at its tabs; columns that are missing at the end are empty. */
static void split(char *line, char *column[COLUMNS])
{
    static char empty[1];
    line[strcspn(line, "\r\n")] = '\0';
    for (size_t i = 0; i < COLUMNS; i++) {
        column[i] = line ? line : empty;
        char *tab = line ? strchr(line, '\t') : NULL;
        if (tab)
            *tab++ = '\0';
        line = tab;
    }
}

static void parse_line(struct tables *tables, char *line)
{
    char *column[COLUMNS];
    split(line, column);
    struct table *table = find_table(tables, column[0]);
    if (table->count == MAX_ROWS)
        fail("too many rows in a domain");
    char *end;
    unsigned long number = strtoul(column[1], &end, 0);
    if (!*column[1] || *end || number > UINT32_MAX || !*column[4])
        fail("a row needs a number and a name");
    uint32_t first_field = tables->field_count;
    table->rows[table->count] = (struct cps_name_row){
        .name = copy(column[4]),
        .number = (uint32_t)number,
        .order = (uint32_t)table->count,
        .first_field = first_field,
        .field_count = parse_fields(tables, column[6]),
        .chips = cps_chips_parse_(column[3]),
        .wide = !strcmp(column[2], "64"),
        .is_gmu = !strcmp(column[5], "gmu"),
    };
    table->count++;
}

static void parse_file(struct tables *tables, const char *name)
{
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
            parse_line(tables, line);
    }
    fclose(file);
}

static void print_rows(const struct table *table, size_t number)
{
    printf("static const struct cps_name_row rows%zu[] = {\n", number);
    for (size_t i = 0; i < table->count; i++) {
        const struct cps_name_row *row = &table->rows[i];
        printf("    {\"%s\", 0x%x, %u, %u, %u, 0x%x, %d, %d},\n", row->name, row->number,
               row->order, row->first_field, row->field_count, row->chips, row->wide, row->is_gmu);
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
        printf("    {\"%s\", %u, %u, 0x%x},\n", field->name, field->low, field->high, field->chips);
    }
    printf("};\n");
}

static void print_tables(struct tables *tables)
{
    printf("/* Made by mknames from isa/names. */\n#include \"isa/names/table.h\"\n");
    print_fields(tables);
    for (size_t i = 0; i < tables->count; i++) {
        struct table *table = &tables->table[i];
        qsort(table->rows, table->count, sizeof(*table->rows), cps_row_order_);
        print_rows(table, i);
        print_by_name(table, i);
    }
    printf("const struct cps_name_table cps_name_tables_[] = {\n");
    for (size_t i = 0; i < tables->count; i++)
        printf("    {\"%s\", rows%zu, by_name%zu, fields, %zu},\n", tables->table[i].domain, i, i,
               tables->table[i].count);
    printf("};\nconst size_t cps_name_table_count_ = %zu;\n", tables->count);
}

int main(int argc, char **argv)
{
    static struct tables tables;
    for (int i = 1; i < argc; i++)
        parse_file(&tables, argv[i]);
    print_tables(&tables);
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
