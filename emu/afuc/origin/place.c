/* SPDX-License-Identifier: MIT
 * Which node is beside which place: registers of processors and of the GPU, memory by pages. */
#include "emu/afuc/origin/state.h"

#include <stdlib.h>
#include <string.h>

struct core_tags *origin_core_(struct origin *o, unsigned who)
{
    for (unsigned i = 0; i < o->machine->engine.cores; i++) {
        if (o->machine->core[i].who == who)
            return o->core[i];
    }
    return NULL;
}

/* The event's place says the other context of a5xx in bit 32; which pipe's bank it is follows from
 * the core, as where it was stored did. */
static unsigned gpu_file(const struct origin *o, const struct afuc_core *core, uint64_t place,
                         bool control)
{
    uint32_t at = 0;
    if (o->machine->engine.gen == CPS_A5XX)
        return place >> 32 & 1 ? PIPE_COUNT : 0;
    unsigned pipe = control ? bank_aperture_(core) % PIPE_COUNT : core->pipe;
    return bank_of_(o->machine, pipe, (uint32_t)place & (GPU_REGS - 1), &at) ? pipe : 0;
}

uint32_t *origin_gpu_(struct origin *o, const struct afuc_core *core, uint64_t place, bool control)
{
    unsigned file = core ? gpu_file(o, core, place, control) : 0;
    if (!o->gpu[file])
        o->gpu[file] = calloc(GPU_REGS, sizeof(**o->gpu));
    if (!o->gpu[file]) {
        cps_mem_fail(o->machine->engine.mem);
        return NULL;
    }
    return &o->gpu[file][place & (GPU_REGS - 1)];
}

uint32_t origin_register_(const struct origin *o, uint32_t offset)
{
    uint32_t newest = 0;
    for (unsigned i = 0; i < GPU_FILES && offset < GPU_REGS; i++) {
        if (o->gpu[i] && o->gpu[i][offset] > newest && (i == 0 || i == PIPE_COUNT || !newest))
            newest = o->gpu[i][offset];
    }
    return newest;
}

uint32_t *origin_control_tag_(struct origin *o, struct core_tags *tags,
                              const struct afuc_core *core, uint32_t number)
{
    uint32_t shared = afuc_control_number_(core, CTL_SHARED_SCRATCH);
    if (number - shared < SHARED_COUNT)
        return &o->shared[number - shared];
    return &tags->control[number % CONTROL_COUNT];
}

uint32_t origin_control_(const struct origin *o, unsigned core, unsigned number)
{
    return *origin_control_tag_((struct origin *)(uintptr_t)o, o->core[core],
                                &o->machine->core[core], number % CONTROL_COUNT);
}

static uint32_t *memory_tag(const struct origin *o, uint64_t iova)
{
    struct tag_page *page = (struct tag_page *)pages_find_(&o->memory, iova >> (PAGE_BITS + 2));
    return page ? &page->node[iova >> 2 & ((1u << PAGE_BITS) - 1)] : NULL;
}

uint32_t origin_memory_(const struct origin *o, uint64_t iova)
{
    const uint32_t *tag = memory_tag(o, iova);
    return tag ? *tag : 0;
}

void origin_set_memory_(struct origin *o, uint64_t iova, uint32_t node)
{
    uint32_t *tag = memory_tag(o, iova);
    if (!tag && node) {
        struct tag_page *page = pages_room_(&o->memory) ? calloc(1, sizeof(*page)) : NULL;
        if (!page) {
            cps_mem_fail(o->machine->engine.mem);
            return;
        }
        pages_put_(&o->memory, iova >> (PAGE_BITS + 2), &page->held);
        tag = memory_tag(o, iova);
    }
    if (tag)
        *tag = node;
}

void origin_forget_range_(struct origin *o, uint64_t iova, uint64_t size)
{
    const uint64_t bytes = UINT64_C(4) << PAGE_BITS;
    uint64_t end = iova + size < iova ? UINT64_MAX : iova + size;
    for (uint64_t at = iova & ~UINT64_C(3); at < end;) {
        uint32_t *tag = memory_tag(o, at);
        uint64_t step = tag ? 4 : bytes - at % bytes;
        if (tag)
            *tag = 0;
        at = end - at > step ? at + step : end;
    }
}

static bool drop_page(void *context, struct held *held)
{
    (void)context;
    free(held);
    return false;
}

void origin_forget_memory_(struct origin *o)
{
    pages_sift_(&o->memory, drop_page, NULL);
}

void origin_forget_processors_(struct origin *o)
{
    for (unsigned i = 0; i < MAX_CORES; i++) {
        if (o->core[i])
            memset(o->core[i], 0, sizeof(*o->core[i]));
    }
    for (unsigned i = 0; i < GPU_FILES; i++) {
        free(o->gpu[i]);
        o->gpu[i] = NULL;
    }
    memset(o->shared, 0, sizeof(o->shared));
}

static void each_of(struct origin *o, uint32_t *node, size_t count,
                    void (*each)(struct origin *o, uint32_t *node))
{
    for (size_t i = 0; i < count; i++)
        each(o, &node[i]);
}

void origin_places_(struct origin *o, void (*each)(struct origin *o, uint32_t *node))
{
    for (unsigned i = 0; i < o->machine->engine.cores; i++) {
        struct core_tags *tags = o->core[i];
        each_of(o, tags->general, TAG_GENERAL, each);
        each_of(o, tags->control, CONTROL_COUNT, each);
        each_of(o, tags->sqe, SQE_COUNT, each);
        each_of(o, tags->meq, MEQ_WORDS, each);
        each_of(o, tags->memdata.node, FIFO_WORDS, each);
        each_of(o, tags->regdata.node, FIFO_WORDS, each);
        each_of(o, tags->stream[0], LEVEL_COUNT * QUEUE_DEPTH, each);
        each_of(o, tags->group, GROUP_COUNT, each);
        each_of(o, tags->group_word, 3, each);
        each_of(o, &tags->packet, 1, each);
    }
    each_of(o, o->shared, SHARED_COUNT, each);
    for (unsigned i = 0; i < GPU_FILES; i++)
        each_of(o, o->gpu[i], o->gpu[i] ? GPU_REGS : 0, each);
    for (size_t i = 0; i < o->memory.used; i++)
        each_of(o, ((struct tag_page *)o->memory.entry[i].held)->node, 1u << PAGE_BITS, each);
    each_of(o, o->kept, o->kept_count, each);
}

void origin_free_places_(struct origin *o)
{
    origin_forget_memory_(o);
    pages_deinit_(&o->memory);
    for (unsigned i = 0; i < GPU_FILES; i++)
        free(o->gpu[i]);
    for (unsigned i = 0; i < MAX_CORES; i++)
        free(o->core[i]);
}

uint64_t origin_ring_(const struct origin *o)
{
    return o->machine->ring_iova;
}

uint64_t origin_ring_bytes_(const struct origin *o)
{
    return 4 * (uint64_t)o->machine->ring_dwords;
}
