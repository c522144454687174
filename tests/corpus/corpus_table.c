/* SPDX-License-Identifier: MIT
 * The packet table that a real bootstrap loads equals the one that fw/ finds without running it. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/lib/engine_bench.h"
#include "fw/fw.h"

static struct cps_err *boot(const struct cps_fw *fw, unsigned *different)
{
    struct cps_engine *machine = NULL;
    struct cps_config config = {.layout = fw->layout,
                                .words = fw->words,
                                .count = fw->count,
                                .image = {{CPS_CPU_SQE, fw->part[0].start}},
                                .image_count = 1};
    CPS_TRY(cps_engine_create(&config, &machine));
    *different = cps_engine_boot(machine, 1000000) == CPS_STOP_IDLE ? 0 : 1000;
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++)
        *different += cps_afuc_packet_table(cps_afuc_of(machine), 0, id) !=
                      cps_fw_handler(fw, &fw->part[0], id);
    cps_engine_destroy(machine);
    return NULL;
}

int main(void)
{
    const char *directory = getenv("CPSCOPE_CORPUS");
    CPS_BUF path = {0};
    struct cps_fw *fw = NULL;
    unsigned different = 1;
    if (!directory) {
        printf("1..0 # SKIP CPSCOPE_CORPUS is not set\n");
        return 0;
    }
    cps_buf_printf(&path, "%s/firmware/a680_sqe.fw", directory);
    struct cps_err *err = cps_fw_load(cps_buf_text(&path), 0, &fw);
    if (!err)
        err = boot(fw, &different);
    printf("1..1\n%sok 1 - the bootstrap loads the table that the file holds\n",
           different ? "not " : "");
    if (err)
        printf("# %s\n", err->message);
    else if (different)
        printf("# %u entries differ\n", different);
    cps_err_free(err);
    cps_fw_destroy(fw);
    return 0;
}
