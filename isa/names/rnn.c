/* SPDX-License-Identifier: MIT
 * The tables that rnndb XML is read into: growing, resolving, sorting; and which files of a tree
 * are read: those of Adreno by their names, NVIDIA's from the one that imports the others. */
#include <errno.h>
#include <unistd.h>

#include "isa/base/list.h"
#include "isa/base/source.h"
#include "isa/names/rnn_read.h"

struct cps_err *cps_rnn_create_(enum cps_layout layout, struct cps_rnn **ret)
{
    struct cps_rnn *rnn = calloc(1, sizeof(*rnn));
    if (!rnn)
        return cps_err_nomem();
    rnn->layout = layout;
    rnn->is_nv = !cps_gen_is_afuc(cps_layout_gen(layout));
    *ret = rnn;
    return NULL;
}

void cps_rnn_destroy_(struct cps_rnn *rnn)
{
    if (!rnn)
        return;
    for (uint32_t i = 0; i < rnn->table_count; i++) {
        free((void *)rnn->tables[i].rows);
        free((void *)rnn->tables[i].by_name);
    }
    free(rnn->tables);
    cps_rnn_free_all_(rnn);
    free(rnn->rows);
    free(rnn->read_fields);
    free(rnn->fields);
    free(rnn->bitsets);
    free(rnn->nv.file);
    free(rnn->nv.chip);
    free(rnn->nv.group);
    free(rnn);
}

const struct cps_name_source *cps_rnn_source_(const struct cps_rnn *rnn)
{
    return &rnn->source;
}

bool cps_rnn_add_field_(struct cps_rnn *rnn, struct cps_rnn_field field)
{
    if (rnn->names == CPS_RNN_MAX_NAMES || !CPS_LIST_ROOM(rnn->read_fields, rnn->read_count))
        return false;
    rnn->names++;
    rnn->read_fields[rnn->read_count++] = field;
    return true;
}

/* Where a bit set is defined twice, the first definition sorts first. */
static int compare_bitsets(const void *left, const void *right)
{
    const struct cps_rnn_bitset *a = left;
    const struct cps_rnn_bitset *b = right;
    int order = strcmp(a->name, b->name);
    uint32_t end_a = a->first_field + a->field_count;
    uint32_t end_b = b->first_field + b->field_count;
    return order ? order : end_a < end_b ? -1 : end_a > end_b;
}

static const struct cps_rnn_bitset *find_bitset(const struct cps_rnn *rnn, const char *name)
{
    uint32_t low = 0;
    uint32_t high = rnn->bitset_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (strcmp(rnn->bitsets[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < rnn->bitset_count && !strcmp(rnn->bitsets[low].name, name);
    return found ? &rnn->bitsets[low] : NULL;
}

/* Fields of its own, then those of its type, as SP_VS_CNTL_0 has them. */
static bool join_fields(struct cps_rnn *rnn, struct cps_name_row *row,
                        const struct cps_rnn_bitset *bitset)
{
    uint32_t first = rnn->read_count;
    uint32_t own = row->field_count;
    for (uint32_t i = 0; i < own + bitset->field_count; i++) {
        uint32_t from = i < own ? row->first_field + i : bitset->first_field + i - own;
        if (!cps_rnn_add_field_(rnn, rnn->read_fields[from]))
            return false;
    }
    row->first_field = first;
    row->field_count += bitset->field_count;
    return true;
}

/* A register whose type is a bit set has its fields, and not the one that it is itself. False when
 * out of memory or full. */
static bool resolve_bitsets(struct cps_rnn *rnn)
{
    if (rnn->bitset_count)
        qsort(rnn->bitsets, rnn->bitset_count, sizeof(*rnn->bitsets), compare_bitsets);
    for (uint32_t i = 0; i < rnn->row_count; i++) {
        struct cps_rnn_row *row = &rnn->rows[i];
        const struct cps_rnn_bitset *bitset = row->type ? find_bitset(rnn, row->type) : NULL;
        if (bitset && row->has_own && !join_fields(rnn, &row->row, bitset))
            return false;
        if (!bitset || row->has_own)
            continue;
        row->row.first_field = bitset->first_field;
        row->row.field_count = bitset->field_count;
    }
    return true;
}

/* By domain, then as all tables are. */
static int compare_rows(const void *left, const void *right)
{
    const struct cps_rnn_row *a = left;
    const struct cps_rnn_row *b = right;
    int order = strcmp(a->domain, b->domain);
    return order ? order : cps_row_order_(&a->row, &b->row);
}

static bool is_among(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strstr(list, name); at; at = strstr(at + 1, name)) {
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    }
    return false;
}

/* A condition on a varset that is no enumeration holds always: nothing here could decide it. */
static struct cps_name_when resolve_when(const struct cps_rnn *rnn, const struct cps_rnn_when *when)
{
    struct cps_name_when ret = {.values =
                                    when->set ? cps_source_find_(&rnn->source, when->set) : 0};
    const struct cps_name_table *table = ret.values ? &rnn->tables[ret.values - 1] : NULL;
    for (size_t i = 0; table && i < table->count; i++) {
        if (table->rows[i].number < 32 && is_among(when->values, table->rows[i].name))
            ret.mask |= 1u << table->rows[i].number;
    }
    return ret;
}

static void resolve_type(const struct cps_rnn *rnn, const struct cps_rnn_field *from,
                         struct cps_name_field *ret)
{
    static const struct {
        const char *word;
        uint8_t kind;
    } words[] = {{"boolean", CPS_KIND_BOOL},     {"uint", CPS_KIND_UINT},
                 {"int", CPS_KIND_INT},          {"hex", CPS_KIND_HEX},
                 {"float", CPS_KIND_FLOAT},      {"fixed", CPS_KIND_FIXED},
                 {"ufixed", CPS_KIND_UFIXED},    {"address", CPS_KIND_ADDRESS},
                 {"waddress", CPS_KIND_ADDRESS}, {"a3xx_regid", CPS_KIND_REGID}};
    bool is_bit = ret->low == ret->high && ret->name[0];
    if (!from->type) {
        ret->type.kind = ret->type.kind ? ret->type.kind : is_bit ? CPS_KIND_BOOL : CPS_KIND_HEX;
        return;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (!strcmp(words[i].word, from->type)) {
            /* The reader knows which hexadecimal numbers are registers. */
            ret->type.kind = words[i].kind ? words[i].kind : ret->type.kind;
            return;
        }
    }
    ret->type.values = cps_source_find_(&rnn->source, from->type);
}

static bool sort_by_name(const struct cps_name_row *rows, size_t count, uint32_t *by_name)
{
    CPS_FREE const struct cps_name_row **sorted = malloc(count * sizeof(*sorted));
    if (!sorted)
        return false;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &rows[i];
    qsort(sorted, count, sizeof(*sorted), cps_row_by_name_);
    for (size_t i = 0; i < count; i++)
        by_name[i] = (uint32_t)(sorted[i] - rows);
    return true;
}

/* The rows of one domain, which are adjacent, as a table without resolved conditions. */
static struct cps_err *add_table(struct cps_rnn *rnn, const struct cps_rnn_row *first, size_t count)
{
    if (rnn->table_count == UINT16_MAX)
        return cps_err_new(CPS_ERR_INPUT, "rnndb: more than %u domains and enums", UINT16_MAX);
    if (!CPS_LIST_ROOM(rnn->tables, rnn->table_count))
        return cps_err_nomem();
    struct cps_name_row *rows = malloc(count * sizeof(*rows));
    uint32_t *by_name = malloc(count * sizeof(*by_name));
    rnn->tables[rnn->table_count++] = (struct cps_name_table){
        .domain = first->domain, .rows = rows, .by_name = by_name, .fields = rnn->fields};
    if (!rows || !by_name)
        return cps_err_nomem();
    for (size_t i = 0; i < count; i++)
        rows[i] = first[i].row;
    rnn->tables[rnn->table_count - 1].count = count;
    return sort_by_name(rows, count, by_name) ? NULL : cps_err_nomem();
}

static struct cps_err *add_tables(struct cps_rnn *rnn)
{
    if (rnn->row_count)
        qsort(rnn->rows, rnn->row_count, sizeof(*rnn->rows), compare_rows);
    for (uint32_t i = 0, next; i < rnn->row_count; i = next) {
        for (next = i + 1; next < rnn->row_count; next++) {
            if (strcmp(rnn->rows[i].domain, rnn->rows[next].domain) != 0)
                break;
        }
        CPS_TRY(add_table(rnn, &rnn->rows[i], next - i));
    }
    return NULL;
}

/* Conditions and types need the tables of all enumerations. */
static void resolve(struct cps_rnn *rnn)
{
    uint32_t done = 0;
    for (uint32_t i = 0; i < rnn->table_count; i++) {
        struct cps_name_row *rows = (struct cps_name_row *)rnn->tables[i].rows;
        for (size_t k = 0; k < rnn->tables[i].count; k++)
            rows[k].when = resolve_when(rnn, &rnn->rows[done++].when);
    }
    for (uint32_t i = 0; i < rnn->read_count; i++) {
        const struct cps_rnn_field *from = &rnn->read_fields[i];
        resolve_type(rnn, from, &rnn->fields[i]);
        rnn->fields[i].when = resolve_when(rnn, &from->when);
    }
}

struct cps_err *cps_rnn_finish_(struct cps_rnn *rnn)
{
    if (!resolve_bitsets(rnn))
        return rnn->names == CPS_RNN_MAX_NAMES
                   ? cps_err_new(CPS_ERR_INPUT, "more than %u names", CPS_RNN_MAX_NAMES)
                   : cps_err_nomem();
    rnn->fields = malloc((rnn->read_count + 1u) * sizeof(*rnn->fields));
    if (!rnn->fields)
        return cps_err_nomem();
    for (uint32_t i = 0; i < rnn->read_count; i++)
        rnn->fields[i] = rnn->read_fields[i].field;
    CPS_TRY(add_tables(rnn));
    rnn->source = (struct cps_name_source){rnn->tables, rnn->table_count};
    resolve(rnn);
    return NULL;
}

/* ---- files ---- */

/* Bytes of a file; the largest real one has 1 MB. */
#define MAX_BYTES ((size_t)64 << 20)
/* What these define is used by the others; alone they are no database. */
static const char *const shared_files[] = {"adreno_common.xml", "a6xx_enums.xml", "a7xx_enums.xml",
                                           "a8xx_enums.xml", NULL};
static const char *const a5xx_files[] = {"a5xx.xml", NULL};
static const char *const later_files[] = {"a6xx.xml", CPS_RNN_GMU_FILE, "a7xx.xml", "a8xx.xml",
                                          NULL};
static const char *const all_files[] = {"adreno_control_regs.xml", "adreno_pipe_regs.xml",
                                        "adreno_pm4.xml", NULL};

struct cps_err *cps_rnn_read_file_(struct cps_rnn *rnn, const char *path)
{
    CPS_FREE uint8_t *data = NULL;
    size_t size = 0;
    CPS_TRY(cps_source_all_(path, MAX_BYTES, &data, &size));
    return cps_rnn_parse_(rnn, path, data, size);
}

/* Reads DIR/PLACE/NAME if it is there; imports of it are paths from DIR/PLACE. */
static struct cps_err *load_file(struct cps_rnn *rnn, const char *dir, const char *place,
                                 const char *name, bool *found)
{
    CPS_BUF base = {0};
    CPS_BUF path = {0};
    cps_buf_printf(&base, "%s%s", dir, place);
    cps_buf_printf(&path, "%s/%s", cps_buf_text(&base), name);
    if (base.failed || path.failed)
        return cps_err_nomem();
    *found = !access(cps_buf_text(&path), F_OK) || (errno != ENOENT && errno != ENOTDIR);
    rnn->nv.dir = cps_buf_text(&base);
    struct cps_err *err = *found ? cps_rnn_read_file_(rnn, cps_buf_text(&path)) : NULL;
    rnn->nv.dir = NULL;
    return err;
}

/* Counts in @p count those that are there. */
static struct cps_err *load_list(struct cps_rnn *rnn, const char *dir, const char *const *names,
                                 unsigned *count)
{
    for (; *names; names++) {
        bool found = false;
        CPS_TRY(load_file(rnn, dir, "", *names, &found));
        if (!found)
            CPS_TRY(load_file(rnn, dir, "/adreno", *names, &found));
        *count += found;
    }
    return NULL;
}

static struct cps_err *load_adreno(struct cps_rnn *rnn, const char *dir)
{
    bool is_a5xx = cps_layout_gen(rnn->layout) == CPS_A5XX;
    const char *const *own_files = is_a5xx ? a5xx_files : later_files;
    unsigned ignored = 0;
    unsigned count = 0;
    CPS_TRY(load_list(rnn, dir, shared_files, &ignored));
    CPS_TRY(load_list(rnn, dir, own_files, &count));
    CPS_TRY(load_list(rnn, dir, all_files, &count));
    return count ? NULL
                 : cps_err_new(
                       CPS_ERR_INPUT,
                       "%s: no rnndb XML here: expected %s, %s, %s or %s, or adreno/ with them",
                       dir, own_files[0], all_files[0], all_files[1], all_files[2]);
}

static struct cps_err *load_nvidia(struct cps_rnn *rnn, const char *dir)
{
    static const char *const roots[] = {"nv_mmio.xml", "root.xml"};
    bool found = false;
    for (unsigned i = 0; i < 4 && !found; i++)
        CPS_TRY(load_file(rnn, dir, i / 2 ? "/rnndb" : "", roots[i % 2], &found));
    return found ? NULL
                 : cps_err_new(
                       CPS_ERR_INPUT,
                       "%s: no rnndb XML of NVIDIA's here: expected %s or %s, or rnndb/ with them",
                       dir, roots[0], roots[1]);
}

struct cps_err *cps_rnn_load_(enum cps_layout layout, const char *dir, struct cps_rnn **ret)
{
    struct cps_rnn *rnn = NULL;
    CPS_TRY(cps_rnn_create_(layout, &rnn));
    struct cps_err *err = rnn->is_nv ? load_nvidia(rnn, dir) : load_adreno(rnn, dir);
    if (!err)
        err = cps_rnn_finish_(rnn);
    if (err)
        cps_rnn_destroy_(rnn);
    else
        *ret = rnn;
    return err;
}
