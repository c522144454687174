/* SPDX-License-Identifier: MIT
 * The hang dump of a run that has stopped early. Its ring has no fences: the dump gets one in front
 * of the submission that ran, because the memory of those before is gone. */
#include <string.h>

#include "emu/afuc/afuc.h"
#include "tools/run/coredump.h"
#include "tools/run/play.h"

/* Definitions of now that no later one repeats. */
static bool is_listed(const struct cps_buffers *buffers, size_t index)
{
    const struct cps_buffer *buffer = cps_buffers_get(buffers, index);
    return buffer->until == UINT32_MAX && buffer->kind != CPS_BUFFER_RING;
}

struct buffer_list {
    const struct cps_buffers *buffers;
    size_t next; /* definition after the one that was given last */
};

static bool next_buffer(void *context, size_t index, struct coredump_buffer *ret)
{
    struct buffer_list *list = context;
    (void)index; /* asked in order */
    while (list->next < cps_buffers_count(list->buffers)) {
        size_t at = list->next++;
        const struct cps_buffer *buffer = cps_buffers_get(list->buffers, at);
        if (!is_listed(list->buffers, at))
            continue;
        *ret = (struct coredump_buffer){.iova = buffer->iova,
                                        .size = buffer->last - buffer->iova + 1,
                                        .name = buffer->name,
                                        .name_size = buffer->name ? strlen(buffer->name) : 0,
                                        .dumped = true};
        return true;
    }
    return false;
}

/* As GPU id and chip id; without either, what the generation is called. */
static void put_chip(const struct play *play, struct coredump_config *to)
{
    uint32_t gpu = (uint32_t)play->gpu;
    if (!gpu)
        gpu = 100 * cps_gen_row(play->gen)->number;
    to->gpu_id = gpu < 1000 ? gpu : 0;
    to->chip_id = gpu < 1000 ? (gpu / 100) << 24 | (gpu / 10 % 10) << 16 | (gpu % 10) << 8 : gpu;
}

struct cps_err *play_write_dump(struct play *play, const char *input, const char *path)
{
    struct cps_outfile *out = NULL;
    struct cps_afuc *machine = cps_afuc_of(play->engine);
    struct buffer_list list = {play->buffers, 0};
    struct coredump_config config = {
        .comm = "cpscope", .cmdline = input, .context = &list, .buffer = next_buffer};
    if (!machine)
        return cps_err_new(CPS_ERR_USAGE, "--dump: %s leaves no hang dump, only firmware does",
                           play->engine->ops->name);
    struct cps_position at = cps_afuc_position(machine, 0, CPS_LEVEL_RB);
    const struct coredump_ring ring = {.iova = at.iova,
                                       .dwords = at.dwords,
                                       .wptr = cps_afuc_ring_end_(machine, 0),
                                       .last_fence = play->submissions,
                                       .retired_fence =
                                           play->executed > 1 ? play->submissions - 1 : 0,
                                       .forgets = play->executed > 1,
                                       .begin = play->ring_begin};
    CPS_BUF stop = {0};
    play_explain(play, play->engine, play->stop, &stop);
    config.stop = cps_buf_text(&stop);
    config.ticks = play->engine->clock - play->ring_clock;
    config.begin = play->ring_begin;
    put_chip(play, &config);
    config.ring = &ring;
    config.ring_count = 1;
    CPS_TRY(cps_outfile_open(path, &out));
    struct cps_err *err = coredump_write(play->engine, &config, out);
    if (!err)
        return cps_outfile_commit(out);
    cps_outfile_abort(out);
    return err;
}
