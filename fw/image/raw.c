/* SPDX-License-Identifier: MIT
 * Raw `.fw` files: one dword that the kernel drops, then the image. Programs with symbols and
 * lines, which tell what a raw file leaves to be found out. And which other forms of firmware files
 * there are. */
#include <string.h>

#include "fw/image/mbn.h"
#include "fw/image/private.h"
#include "isa/base/le.h"

/* The leading dword, the version word and the word with the table's offset. */
#define MIN_BYTES 12u
#define MAX_BYTES (((size_t)CPS_FW_MAX_WORDS + 1) * 4)

static struct cps_err *check_size(const char *name, size_t size)
{
    if (size == 0)
        return cps_err_input(name, 0, "file is empty, expected a firmware image");
    if (size > MAX_BYTES)
        return cps_err_input(name, MAX_BYTES, "file goes on, expected at most %zu bytes",
                             MAX_BYTES);
    if (size % 4)
        return cps_err_input(name, size - size % 4, "%zu bytes at the end, expected whole dwords",
                             size % 4);
    if (size < MIN_BYTES)
        return cps_err_input(name, size,
                             "file ends, expected a zero dword, a version and a table offset");
    return NULL;
}

static void guard_destroy(struct cps_fw **fw)
{
    cps_fw_destroy(*fw);
}

/* Fills all but the name, and takes the lists over. */
static struct cps_err *take_program(struct cps_fw *fw, struct cps_program *program, unsigned gen)
{
    fw->words = CPS_TAKE(program->image.words);
    fw->lead = fw->words[0];
    fw->count = program->image.count - 1;
    memmove(fw->words, fw->words + 1, 4 * (size_t)fw->count);
    fw->debug = program->debug;
    program->debug = (struct cps_fw_debug){0};
    CPS_TRY(cps_fw_identify_(fw, gen ? gen : program->gen));
    memcpy(fw->part, program->part, sizeof(fw->part));
    fw->part_count = program->part_count;
    /* The header's word wins, as in raw files; sections also tell of tables that no header notes.
     */
    for (unsigned i = 0; i < fw->part_count; i++) {
        struct cps_fw_part *part = &fw->part[i];
        uint32_t table = cps_fw_find_table_(fw, fw->gen, part->start);
        if (table != CPS_FW_NONE && table <= part->size && part->size - table >= CPS_FW_TABLE_SIZE)
            part->table = table;
    }
    fw->part[0].role = cps_fw_first_role_(fw);
    CPS_TRY(cps_fw_measure_(fw));
    return cps_fw_debug_packets_(fw, &fw->debug);
}

static struct cps_err *take_elf(struct cps_fw *fw, const uint8_t *bytes, size_t size, unsigned gen)
{
    CPS_CLEANUP(cps_program_deinit) struct cps_program program = {0};
    CPS_TRY(cps_elf_read(fw->name, bytes, size, &program));
    if (program.image.count * 4 < MIN_BYTES)
        return cps_err_input(fw->name, size, "image of %u words, expected at least 2",
                             program.image.count - 1);
    return take_program(fw, &program, gen);
}

struct cps_err *cps_fw_parse(const char *name, const void *bytes, size_t size, unsigned gen,
                             struct cps_fw **ret)
{
    CPS_CLEANUP(guard_destroy) struct cps_fw *fw = calloc(1, sizeof(*fw));
    if (fw)
        fw->name = strdup(name);
    if (!fw || !fw->name)
        return cps_err_nomem();
    if (cps_mbn_probe(bytes, size))
        return cps_err_input(name, 0,
                             "this is an ELF image of another processor of the chip, expected "
                             "firmware of Adreno's command processors");
    if (cps_is_elf(bytes, size))
        CPS_TRY(take_elf(fw, bytes, size, gen));
    else {
        /* Takes the words over; what they mean comes later. */
        CPS_TRY(check_size(fw->name, size));
        fw->words = malloc(size - 4);
        if (!fw->words)
            return cps_err_nomem();
        fw->lead = cps_le32(bytes);
        fw->count = (uint32_t)(size / 4 - 1);
        for (uint32_t i = 0; i < fw->count; i++)
            fw->words[i] = cps_le32(bytes + 4 + 4 * (size_t)i);
        CPS_TRY(cps_fw_identify_(fw, gen));
        cps_fw_split_(fw);
        CPS_TRY(cps_fw_measure_(fw));
    }
    *ret = CPS_TAKE(fw);
    return NULL;
}

void cps_fw_destroy(struct cps_fw *fw)
{
    if (!fw)
        return;
    free(fw->name);
    free(fw->words);
    free(fw->assumed);
    free(fw->incomplete);
    cps_fw_debug_deinit(&fw->debug);
    free(fw);
}
