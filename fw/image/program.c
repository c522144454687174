/* SPDX-License-Identifier: MIT
 * A program with symbols and lines becomes a firmware: what a raw file leaves to be found out is
 * told here. */
#include <string.h>

#include "fw/image/private.h"

void cps_program_deinit(struct cps_program *program)
{
    free(program->image.words);
    cps_fw_debug_deinit(&program->debug);
    *program = (struct cps_program){0};
}

/* The header's word wins, as in raw files; sections also tell of tables that no header notes. */
static void place_tables(struct cps_fw *fw)
{
    for (unsigned i = 0; i < fw->part_count; i++) {
        struct cps_fw_part *part = &fw->part[i];
        uint32_t table = cps_fw_find_table_(fw, fw->gen, part->start);
        if (table != CPS_FW_NONE && table <= part->size && part->size - table >= CPS_FW_TABLE_SIZE)
            part->table = table;
    }
}

struct cps_err *cps_fw_debug_packets_(const struct cps_fw *fw, struct cps_fw_debug *debug)
{
    struct cps_names *names = NULL;
    CPS_TRY(cps_names_create(fw->layout, NULL, &names));
    for (size_t i = 0; i < debug->symbol_count; i++) {
        struct cps_fw_symbol *symbol = &debug->symbols[i];
        unsigned id = 0;
        bool is_packet = cps_fw_packet_(names, symbol->name, strlen(symbol->name), &id);
        symbol->packet = is_packet ? (int)id : -1;
    }
    cps_names_destroy(names);
    return NULL;
}

struct cps_err *cps_fw_take_program_(struct cps_fw *fw, struct cps_program *program, unsigned gen)
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
    place_tables(fw);
    fw->part[0].role = cps_fw_first_role_(fw);
    CPS_TRY(cps_fw_measure_(fw));
    return cps_fw_debug_packets_(fw, &fw->debug);
}
