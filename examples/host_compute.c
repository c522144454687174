/* SPDX-License-Identifier: MIT
 * A plugin for `cpscope run` and `cpscope device`: compute shaders run as functions of this
 * machine. At each dispatch it reads the registers that the firmware wrote, finds the function of
 * the shader in a table, and calls it for each workgroup.
 *
 *     cpscope device --launch libhost_compute.so:TABLE -- PROGRAM
 *
 * TABLE is a file of lines, in which # begins a comment:
 *
 *     object PATH             a shared object with functions of type host_kernel (host_compute.h)
 *     at ADDRESS NAME         the shader at an address is function NAME
 *     code BYTES HASH NAME    so is one whose first BYTES bytes have this FNV-1a hash of 64 bits
 *     any NAME                so is every other shader
 *     skip                    every other shader does nothing; without it, one is an error
 *
 * The error has the line that the table lacks. Numbers are as in C; PATH is relative to the working
 * directory. A program that compiles its kernels as it runs appends their lines: when a shader has
 * none, the lines that are new are read. Shaders of a6xx, a7xx and a8xx; constants are those of
 * CP_LOAD_STATE6. */
#include "host_compute.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/run/plugin.h"

enum {
    CONSTANTS = 4 * 1024,     /* words: CONSTLEN and DST_OFF count four of them */
    MOST_CODE = 1 << 20,      /* bytes that are hashed */
    MOST_GROUPS = 1 << 28,    /* of a dispatch */
    RANGES = 64,              /* that are copied for a dispatch */
    MOST_RANGE = 256 << 20,   /* bytes of one */
    INSTR_UNIT = 128,         /* bytes that SP_CS_INSTR_SIZE counts (turnip) */
    STATE_CONSTANTS = 1,      /* ST_CONSTANTS of the register database */
    STATE_INDIRECT = 2,       /* SS6_INDIRECT */
    STATE_BLOCK_COMPUTE = 13, /* SB6_CS_SHADER */
};

enum reg { BASE, INSTR_SIZE, LOCAL, GROUPS, LOAD, LOAD_ADDRESS, LOAD_DATA, REGS };
static const char *const names[REGS] = {"SP_CS_BASE",
                                        "SP_CS_INSTR_SIZE",
                                        "SP_CS_NDRANGE_0",
                                        "SP_CS_KERNEL_GROUP_X",
                                        "HLSQ_LOAD_STATE_FRAG_CMD",
                                        "HLSQ_LOAD_STATE_FRAG_EXT_SRC_ADDR",
                                        "HLSQ_LOAD_STATE_FRAG_DATA"};

/* A line of the table. */
struct row {
    enum { AT, CODE, ANY } kind;
    uint64_t address, size, hash;
    host_kernel *kernel;
};

/* Memory that was copied, and as it was. */
struct range {
    uint64_t iova, size;
    uint8_t *data, *old;
};

struct compute {
    uint32_t reg[REGS];
    FILE *table;
    long read; /* bytes of the table */
    struct row *row;
    size_t rows;
    void **object;
    size_t objects;
    bool skips;
    uint32_t constants[CONSTANTS];
    uint32_t next, left; /* constants that are loaded through the port */
    struct range range[RANGES];
    unsigned ranges;
    const struct cps_work *work; /* the dispatch */
    uint64_t dispatches, groups, skipped;
    char why[1024 + 512];
};

/* ---- the table ---- */

static const char *fail(struct compute *compute, const char *what, const char *of)
{
    snprintf(compute->why, sizeof(compute->why), "%s: %s", of, what);
    return compute->why;
}

static bool grow(void **list, size_t count, size_t size)
{
    void *more = realloc(*list, (count + 1) * size);
    *list = more ? more : *list;
    return more != NULL;
}

static const char *open_object(struct compute *compute, const char *path)
{
    if (!grow((void **)&compute->object, compute->objects, sizeof(*compute->object)))
        return "no memory";
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        return dlerror();
    compute->object[compute->objects++] = object;
    return NULL;
}

static host_kernel *find_kernel(const struct compute *compute, const char *name)
{
    host_kernel *kernel = NULL;
    for (size_t i = 0; i < compute->objects && !kernel; i++) {
        void *symbol = dlsym(compute->object[i], name);
        memcpy(&kernel, &symbol, sizeof(kernel)); /* ISO C has no such conversion */
    }
    return kernel;
}

static const char *read_line(struct compute *compute, char *line)
{
    char word[2][256] = {"", ""};
    struct row row = {.kind = ANY};
    char end = 0;
    line[strcspn(line, "#\n")] = '\0';
    if (sscanf(line, "%255s", word[0]) != 1)
        return NULL;
    if (!strcmp(word[0], "skip")) {
        compute->skips = true;
        return NULL;
    }
    if (sscanf(line, " object %255s %c", word[1], &end) == 1)
        return open_object(compute, word[1]);
    if (sscanf(line, " at %" SCNi64 " %255s %c", (int64_t *)&row.address, word[1], &end) == 2)
        row.kind = AT;
    else if (sscanf(line, " code %" SCNi64 " %" SCNx64 " %255s %c", (int64_t *)&row.size, &row.hash,
                    word[1], &end) == 3)
        row.kind = CODE;
    else if (sscanf(line, " any %255s %c", word[1], &end) != 1)
        return fail(compute, "expected object, at, code, any or skip", line);
    row.kernel = find_kernel(compute, word[1]);
    if (!row.kernel)
        return fail(compute, "no such function in the objects before it", line);
    if (row.kind == CODE && (!row.size || row.size > MOST_CODE))
        return fail(compute, "expected 1 to 1048576 bytes", line);
    if (!grow((void **)&compute->row, compute->rows, sizeof(row)))
        return "no memory";
    compute->row[compute->rows++] = row;
    return NULL;
}

/* The lines that are new. A last line without an end may get one later. */
static const char *read_lines(struct compute *compute, bool all)
{
    char line[1024];
    const char *why = NULL;
    if (fseek(compute->table, compute->read, SEEK_SET))
        return "the table of kernels cannot be read again";
    while (!why && fgets(line, sizeof(line), compute->table)) {
        if (!all && !strchr(line, '\n') && feof(compute->table))
            break;
        why = read_line(compute, line);
        compute->read = ftell(compute->table);
    }
    return why;
}

static const char *read_table(struct compute *compute, const char *path)
{
    compute->table = fopen(path, "r");
    return compute->table ? read_lines(compute, true)
                          : fail(compute, "cannot be opened, expected a table of kernels", path);
}

/* ---- shaders ---- */

static uint32_t value_of(const struct compute *compute, enum reg reg, unsigned index)
{
    uint32_t value = 0;
    compute->work->get(compute->work, compute->reg[reg] + index, &value);
    return value;
}

static uint64_t address_of(const struct compute *compute, enum reg reg)
{
    return (uint64_t)value_of(compute, reg, 1) << 32 | value_of(compute, reg, 0);
}

/* FNV-1a; 0 if there is no memory. */
static uint64_t hash_code(const struct compute *compute, uint64_t iova, uint64_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    uint8_t *code = malloc((size_t)size);
    if (!code)
        return 0;
    compute->work->read(compute->work, iova, code, size);
    for (uint64_t i = 0; i < size; i++)
        hash = (hash ^ code[i]) * UINT64_C(0x100000001b3);
    free(code);
    return hash;
}

static host_kernel *choose_kernel(const struct compute *compute, uint64_t iova)
{
    uint64_t size = 0;
    uint64_t hash = 0;
    for (size_t i = 0; i < compute->rows; i++) {
        const struct row *row = &compute->row[i];
        if (row->kind == CODE && row->size != size) {
            size = row->size;
            hash = hash_code(compute, iova, size);
        }
        if (row->kind == ANY || (row->kind == AT && row->address == iova) ||
            (row->kind == CODE && row->hash == hash))
            return row->kernel;
    }
    return NULL;
}

/* ---- constants ---- */

/* CP_LOAD_STATE6: 13:0 where to, 15:14 what, 17:16 from where, 21:18 whose, 31:22 how many vec4. */
static void load_constants(struct compute *compute, uint32_t command)
{
    const uint32_t first = 4 * (command & 0x3fff);
    uint32_t count = 4 * (command >> 22);
    compute->left = 0;
    if ((command >> 14 & 3) != STATE_CONSTANTS || (command >> 18 & 15) != STATE_BLOCK_COMPUTE ||
        first >= CONSTANTS)
        return;
    count = count < CONSTANTS - first ? count : CONSTANTS - first;
    if ((command >> 16 & 3) == STATE_INDIRECT) {
        compute->work->read(compute->work, address_of(compute, LOAD_ADDRESS),
                            compute->constants + first, count * sizeof(uint32_t));
    } else {
        compute->next = first;
        compute->left = count;
    }
}

static void take_register(struct compute *compute)
{
    if (compute->work->offset == compute->reg[LOAD]) {
        load_constants(compute, compute->work->value);
    } else if (compute->left) {
        compute->constants[compute->next++] = compute->work->value;
        compute->left--;
    }
}

/* ---- memory ---- */

static bool copy_range(struct compute *compute, uint64_t iova, uint64_t size)
{
    struct range *range = &compute->range[compute->ranges];
    if (compute->ranges == RANGES || size > MOST_RANGE)
        return false;
    *range = (struct range){iova, size, malloc((size_t)size), malloc((size_t)size)};
    bool good =
        range->data && range->old && compute->work->read(compute->work, iova, range->data, size);
    if (!good) {
        free(range->data);
        free(range->old);
        return false;
    }
    memcpy(range->old, range->data, (size_t)size);
    compute->ranges++;
    return true;
}

/* The host's own memory if it can be had; else a copy, which is stored in the end. */
static void *find_memory(const struct host_group *group, uint64_t iova, uint64_t size)
{
    struct compute *compute = group->context;
    uint64_t room = size ? size : UINT64_MAX;
    void *data = compute->work->map(compute->work, iova, &room);
    if (data && room >= size)
        return data;
    for (unsigned i = 0; i < compute->ranges; i++) {
        const struct range *range = &compute->range[i];
        if (iova >= range->iova && iova - range->iova < range->size)
            return size <= range->size - (iova - range->iova) ? range->data + (iova - range->iova)
                                                              : NULL;
        if (range->iova >= iova && range->iova - iova < size)
            return NULL;
    }
    return size && copy_range(compute, iova, size) ? compute->range[compute->ranges - 1].data
                                                   : NULL;
}

/* Only what has changed: other bytes may be somebody else's. */
static void store_ranges(struct compute *compute)
{
    for (unsigned i = 0; i < compute->ranges; i++) {
        struct range *range = &compute->range[i];
        for (uint64_t at = 0; at < range->size;) {
            uint64_t end = at;
            while (end < range->size && range->data[end] != range->old[end])
                end++;
            if (end > at)
                compute->work->write(compute->work, range->iova + at, range->data + at, end - at);
            at = end + 1;
        }
        free(range->data);
        free(range->old);
    }
    compute->ranges = 0;
}

/* ---- dispatches ---- */

static const char *run_kernel(struct compute *compute, host_kernel *kernel)
{
    const uint32_t local = value_of(compute, LOCAL, 0);
    struct host_group group = {
        .size = {(local >> 2 & 0x3ff) + 1, (local >> 12 & 0x3ff) + 1, (local >> 22) + 1},
        .constants = compute->constants,
        .constant_count = CONSTANTS,
        .context = compute,
        .memory = find_memory};
    const char *why = NULL;
    for (unsigned i = 0; i < 3; i++)
        group.count[i] = value_of(compute, GROUPS, i);
    if (!group.count[0] || !group.count[1] || !group.count[2])
        return NULL;
    if (group.count[0] > MOST_GROUPS / group.count[1] ||
        group.count[0] * group.count[1] > MOST_GROUPS / group.count[2])
        return "more than 2^28 workgroups";
    uint32_t *id = group.id;
    for (id[2] = 0; !why && id[2] < group.count[2]; id[2]++) {
        for (id[1] = 0; !why && id[1] < group.count[1]; id[1]++) {
            for (id[0] = 0; !why && id[0] < group.count[0]; id[0]++) {
                why = kernel(&group);
                compute->groups++;
            }
        }
    }
    store_ranges(compute);
    return why;
}

static const char *do_dispatch(struct compute *compute)
{
    const uint64_t iova = address_of(compute, BASE);
    uint64_t size = (uint64_t)value_of(compute, INSTR_SIZE, 0) * INSTR_UNIT;
    host_kernel *kernel = choose_kernel(compute, iova);
    const char *why = kernel ? NULL : read_lines(compute, false);
    compute->dispatches++;
    if (why)
        return why;
    if (!kernel)
        kernel = choose_kernel(compute, iova);
    if (kernel)
        return run_kernel(compute, kernel);
    compute->skipped++;
    if (compute->skips)
        return NULL;
    size = !size ? INSTR_UNIT : size < MOST_CODE ? size : MOST_CODE;
    snprintf(compute->why, sizeof(compute->why),
             "no function for the shader at 0x%" PRIx64 ", expected a line such as: code %" PRIu64
             " 0x%016" PRIx64 " NAME",
             iova, size, hash_code(compute, iova, size));
    return compute->why;
}

/* ---- the plugin ---- */

static const char *open_compute(const struct cps_plugin_host *host, const char *args, void **plugin)
{
    struct compute *compute = calloc(1, sizeof(*compute));
    *plugin = compute;
    if (!compute)
        return "no memory";
    if (host->generation < 6)
        return "expected a6xx, a7xx or a8xx";
    for (unsigned i = 0; i < REGS; i++) {
        if (!host->find(host, names[i], &compute->reg[i]))
            return fail(compute, "no such register", names[i]);
    }
    if (host->generation > 6) {
        /* The register database has no names for what CP_LOAD_STATE6_FRAG writes there: firmware of
         * a740 181, gen70900 181 and gen80000 077. */
        compute->reg[LOAD] = 0xa9fa;
        compute->reg[LOAD_ADDRESS] = 0xa9fb;
        compute->reg[LOAD_DATA] = 0xa9fe;
    }
    host->watch(host, compute->reg[LOAD]);
    host->watch(host, compute->reg[LOAD_DATA]);
    return read_table(compute, args);
}

static const char *do_work(void *context, const struct cps_work *work)
{
    struct compute *compute = context;
    compute->work = work;
    if (work->kind == CPS_WORK_REGISTER)
        take_register(compute);
    return work->kind == CPS_WORK_DISPATCH ? do_dispatch(compute) : NULL;
}

static void close_compute(void *context)
{
    struct compute *compute = context;
    if (!compute)
        return;
    if (compute->dispatches)
        fprintf(stderr,
                "host_compute: %" PRIu64 " dispatches, %" PRIu64 " workgroups, %" PRIu64
                " dispatches skipped\n",
                compute->dispatches, compute->groups, compute->skipped);
    for (size_t i = 0; i < compute->objects; i++)
        dlclose(compute->object[i]);
    if (compute->table)
        fclose(compute->table);
    free(compute->object);
    free(compute->row);
    free(compute);
}

CPS_PLUGIN(open_compute, do_work, close_compute);
