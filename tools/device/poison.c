/* SPDX-License-Identifier: MIT
 * See poison.h. Words that a wait polls are left out, and data (not streams) that is read after a
 * client has ended a wait: both are how clients and the GPU talk. */
#include "tools/device/poison.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "isa/base/le.h"
#include "isa/base/list.h"
#include "tools/device/kgsl.h"
#include "trace/event/event.h"
#include "trace/event/launch.h"

enum { HOLD = 20 * 1000000, MOST_PRINTED = 32, LEVELS = 8, PROCESSORS = CPS_CPU_COUNT };
/* Bytes of pages that are kept. */
#define MOST_KEPT (UINT64_C(1) << 30)

struct copy {
    unsigned refs;
    uint8_t bytes[DEVICE_PAGE];
};
struct page {
    uint64_t iova;
    struct copy *copy; /* NULL: nothing was ever written there */
};
struct device_snapshot {
    unsigned refs;
    struct device_poison *poison;
    struct page *list; /* by address, ascending */
    size_t count;
    uint64_t time; /* of the device's writes */
};

/* Where a processor is. */
struct reader {
    struct {
        uint64_t begin, end, at;
    } level[LEVELS];
    unsigned depth;
    uint32_t header, word[3];
    uint64_t packet;
    bool in_memory; /* of clients */
};

/* When the GPU wrote a word last. */
struct written {
    uint64_t key; /* context and number of the word; 0: free */
    uint64_t time;
};

struct device_poison {
    struct cps_sink sink; /* first */
    struct device *device;
    uint64_t released; /* submissions before this number may begin */
    uint64_t kept;     /* bytes */
    bool full;
    struct written *written;
    size_t written_count, written_room; /* a power of two */
    uint64_t time;
    struct reader reader[PROCESSORS];
    bool talked; /* a client ended a wait of the job */
    uint64_t last_job;
    uint64_t *told; /* addresses with the kind in bits 63:60 */
    size_t told_count;
};

/* ---- what was written by the GPU ---- */

static uint64_t key_of(const struct device_poison *poison, uint64_t iova)
{
    const struct device_job *job = poison->device->gpu.job;
    return (job ? (uint64_t)job->file->context << 46 : 0) | iova >> 2 | UINT64_C(1) << 63;
}

static struct written *find_written(const struct device_poison *poison, uint64_t key)
{
    size_t at = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20);
    while (poison->written[at & (poison->written_room - 1)].key &&
           poison->written[at & (poison->written_room - 1)].key != key)
        at++;
    return &poison->written[at & (poison->written_room - 1)];
}

static bool grow_written(struct device_poison *poison)
{
    struct written *old = poison->written;
    size_t room = poison->written_room;
    struct written *list = calloc(room ? 2 * room : 1024, sizeof(*list));
    if (!list)
        return false;
    poison->written = list;
    poison->written_room = room ? 2 * room : 1024;
    for (size_t i = 0; i < room; i++) {
        if (old[i].key)
            *find_written(poison, old[i].key) = old[i];
    }
    free(old);
    return true;
}

void device_poison_wrote(struct device_poison *poison, uint64_t iova, uint32_t size)
{
    if (!poison)
        return;
    poison->time++;
    for (uint64_t at = iova & ~UINT64_C(3); at < iova + size; at += 4) {
        if (2 * (poison->written_count + 1) > poison->written_room && !grow_written(poison))
            return;
        uint64_t key = key_of(poison, at);
        struct written *written = find_written(poison, key);
        poison->written_count += !written->key;
        *written = (struct written){key, poison->time};
    }
}

static bool wrote_since(const struct device_poison *poison, uint64_t iova, uint64_t time)
{
    return poison->written_room && find_written(poison, key_of(poison, iova))->time > time;
}

/* ---- snapshots ---- */

void device_snapshot_unref(struct device_snapshot *snapshot)
{
    if (!snapshot || --snapshot->refs)
        return;
    for (size_t i = 0; i < snapshot->count; i++) {
        struct copy *copy = snapshot->list[i].copy;
        if (copy && !--copy->refs) {
            snapshot->poison->kept -= sizeof(*copy);
            free(copy);
        }
    }
    free(snapshot->list);
    free(snapshot);
}

static const struct page *find_page(const struct device_snapshot *snapshot, uint64_t iova)
{
    size_t low = 0;
    size_t high = snapshot ? snapshot->count : 0;
    iova -= iova % DEVICE_PAGE;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (snapshot->list[middle].iova < iova)
            low = middle + 1;
        else
            high = middle;
    }
    return snapshot && low < snapshot->count && snapshot->list[low].iova == iova
               ? &snapshot->list[low]
               : NULL;
}

/* Shares a page with the snapshot before, if it is the same. */
static bool keep_page(struct device_snapshot *snapshot, const struct device_snapshot *before,
                      uint64_t iova, const uint8_t *bytes)
{
    struct device_poison *poison = snapshot->poison;
    const struct page *old = find_page(before, iova);
    struct page page = {.iova = iova};
    if (!CPS_LIST_ROOM(snapshot->list, snapshot->count))
        return false;
    if (bytes && old && old->copy && !memcmp(old->copy->bytes, bytes, DEVICE_PAGE)) {
        page.copy = old->copy;
        page.copy->refs++;
    } else if (bytes) {
        page.copy = poison->kept < MOST_KEPT ? malloc(sizeof(*page.copy)) : NULL;
        if (!page.copy)
            return false;
        page.copy->refs = 1;
        memcpy(page.copy->bytes, bytes, DEVICE_PAGE);
        poison->kept += sizeof(*page.copy);
    }
    snapshot->list[snapshot->count++] = page;
    return true;
}

/* Pages of a buffer from @p offset on; those that nothing has touched are holes of its file. */
static bool keep_range(struct device_snapshot *snapshot, const struct device_snapshot *before,
                       struct device_bo *bo, uint64_t offset, uint64_t iova, uint64_t size)
{
    const uint8_t *data = device_bo_data(bo);
    off_t next = -1;
    for (uint64_t at = 0; data && at < size; at += DEVICE_PAGE) {
        off_t here = (off_t)(bo->base + offset + at);
        if (next < here)
            next = lseek(bo->memfd, here, SEEK_DATA);
        next = next < 0 ? INT64_MAX : next;
        if (!keep_page(snapshot, before, iova + at, next == here ? data + offset + at : NULL))
            return false;
        if (next == here)
            next = -1;
    }
    return true;
}

static int compare_pages(const void *a, const void *b)
{
    uint64_t left = ((const struct page *)a)->iova;
    uint64_t right = ((const struct page *)b)->iova;
    return (left > right) - (left < right);
}

static bool keep_memory(struct device_snapshot *snapshot, const struct device_snapshot *before,
                        struct device_file *file)
{
    bool good = true;
    for (size_t i = 0; i < file->space.count; i++) {
        const struct device_mapping *mapping = &file->space.list[i];
        if (mapping->bo)
            good &= keep_range(snapshot, before, mapping->bo, mapping->offset, mapping->iova,
                               mapping->size);
    }
    for (size_t i = 0; file->kgsl && i < file->kgsl->count; i++) {
        const struct kgsl_memory *memory = &file->kgsl->list[i];
        uint64_t iova = memory->bo && !memory->gpuaddr ? kgsl_address(file->kgsl, memory) : 0;
        if (iova)
            good &= keep_range(snapshot, before, memory->bo, 0, iova, memory->bo->size);
    }
    if (snapshot->count)
        qsort(snapshot->list, snapshot->count, sizeof(*snapshot->list), compare_pages);
    return good;
}

void device_poison_submit(struct device_poison *poison, struct device_job *job)
{
    if (!poison || !job->cmd_count)
        return;
    struct device_snapshot *snapshot = calloc(1, sizeof(*snapshot));
    job->came = device_now();
    if (!snapshot) {
        poison->full = true;
        return;
    }
    *snapshot = (struct device_snapshot){.refs = 2, .poison = poison, .time = poison->time};
    poison->full |= !keep_memory(snapshot, job->file->snapshot, job->file);
    device_snapshot_unref(job->file->snapshot);
    job->file->snapshot = job->snapshot = snapshot;
}

/* ---- holding back ---- */

void device_poison_release(struct device_poison *poison)
{
    if (poison)
        poison->released = poison->device->next_job;
}

bool device_poison_holds(const struct device_poison *poison, const struct device_job *job)
{
    return poison && job->cmd_count && job->number >= poison->released &&
           poison->device->job_count < 64 && device_now() - job->came < HOLD;
}

/* ---- findings ---- */

enum kind { REWRITTEN = 1, FREED, NEVER_WRITTEN, AHEAD };

static bool is_new(struct device_poison *poison, enum kind kind, uint64_t iova)
{
    uint64_t key = (uint64_t)kind << 60 | iova;
    for (size_t i = 0; i < poison->told_count; i++) {
        if (poison->told[i] == key)
            return false;
    }
    if (poison->told_count >= 4096 || !CPS_LIST_ROOM(poison->told, poison->told_count))
        return false;
    poison->told[poison->told_count++] = key;
    return true;
}

static void tell(struct device_poison *poison, const struct reader *reader, enum kind kind,
                 uint64_t iova, const char *what)
{
    struct device *device = poison->device;
    char why[400];
    if (!is_new(poison, kind, iova) || ++device->counts.poisoned > MOST_PRINTED)
        return;
    const struct cps_names *names = device->gpu.play->names[reader - poison->reader];
    const char *name = cps_packet_name_(names, reader->header);
    snprintf(why, sizeof(why), "submission %" PRIu64 ", %s at 0x%" PRIx64 ": %s",
             device->gpu.job->number + 1, name ? name : "packet", reader->packet, what);
    device->poisoned(device, why);
}

static void check_word(struct device_poison *poison, const struct reader *reader, uint64_t iova,
                       uint32_t value, bool stream)
{
    struct device *device = poison->device;
    const struct device_job *job = device->gpu.job;
    char what[256];
    char freed[160];
    if (!job || !job->snapshot)
        return;
    if (device_freed_find(device, job, iova, freed, sizeof(freed))) {
        snprintf(what, sizeof(what), "fetches 0x%" PRIx64 ": %s", iova, freed);
        tell(poison, reader, FREED, iova & ~(DEVICE_PAGE - 1), what);
        return;
    }
    const struct page *page = find_page(job->snapshot, iova);
    if (!page || wrote_since(poison, iova, job->snapshot->time))
        return;
    if (!page->copy && !stream) {
        device->counts.unwritten += is_new(poison, NEVER_WRITTEN, iova);
        return;
    }
    if (!page->copy) {
        snprintf(what, sizeof(what),
                 "fetches 0x%" PRIx64 ", which nothing had written when it came", iova);
        tell(poison, reader, NEVER_WRITTEN, iova & ~(DEVICE_PAGE - 1), what);
        return;
    }
    uint32_t old = cps_le32(page->copy->bytes + iova % DEVICE_PAGE);
    if (old == value || (!stream && poison->talked))
        return;
    snprintf(what, sizeof(what),
             "%s 0x%" PRIx64 " = 0x%08" PRIx32 ", which was 0x%08" PRIx32
             " when the submission came",
             stream ? "fetches" : "reads", iova, value, old);
    tell(poison, reader, REWRITTEN, iova, what);
}

/* ---- events ---- */

/* Packets that poll memory until somebody writes it. */
static bool polls(uint32_t header)
{
    enum { WAIT_MEM_GTE = 0x14, WAIT_REG_MEM = 0x3c, COND_WRITE5 = 0x45, WAIT_TWO_REGS = 0x70 };
    uint32_t op = header >> 16 & 0x7f;
    return header >> 28 == 7 &&
           (op == WAIT_MEM_GTE || op == WAIT_REG_MEM || op == COND_WRITE5 || op == WAIT_TWO_REGS);
}

static void open_stream(struct reader *reader, unsigned level, uint64_t begin, uint64_t dwords)
{
    reader->depth = level;
    reader->level[level].begin = reader->level[level].at = begin;
    reader->level[level].end = begin + 4 * dwords;
}

static void take_packet(struct device_poison *poison, struct reader *reader,
                        const struct cps_event *event)
{
    unsigned level = cps_event_sub(event);
    reader->header = event->value;
    reader->packet = event->addr;
    if (level >= CPS_LEVEL_IB1 && level < CPS_LEVEL_SDS) {
        reader->depth = level;
        reader->level[level].at = event->addr;
    }
    reader->in_memory = level >= CPS_LEVEL_IB1 && level <= CPS_LEVEL_SDS;
    if (reader->in_memory)
        check_word(poison, reader, event->addr, event->value, true);
}

static void take_word(struct device_poison *poison, struct reader *reader,
                      const struct cps_event *event)
{
    enum { CALL = 0x3f, PREFETCHED = 0x37, CHAIN = 0x57 };
    uint32_t op = reader->header >> 28 == 7 ? reader->header >> 16 & 0x7f : 0;
    unsigned level = reader->depth;
    if (event->addr < 3)
        reader->word[event->addr] = event->value;
    if (!reader->in_memory)
        return;
    check_word(poison, reader, reader->packet + 4 * (event->addr + 1), event->value, true);
    if (event->addr != 2 || (op != CALL && op != PREFETCHED && op != CHAIN))
        return;
    uint64_t begin = reader->word[0] | (uint64_t)(reader->word[1] & 0xffff) << 32;
    level += op != CHAIN;
    if (level < CPS_LEVEL_SDS)
        open_stream(reader, level, begin, event->value & 0xfffff);
}

/* The stream writes a word of its own that is still to come: it may have been prefetched. */
static void take_write(struct device_poison *poison, const struct reader *reader,
                       const struct cps_event *event)
{
    char what[160];
    for (unsigned i = CPS_LEVEL_IB1; i <= reader->depth && i < CPS_LEVEL_SDS; i++) {
        uint64_t at = reader->level[i].at;
        if (event->addr <= at || event->addr >= reader->level[i].end || at < reader->level[i].begin)
            continue;
        snprintf(what, sizeof(what),
                 "writes 0x%" PRIx64 ", %" PRIu64
                 " dwords ahead in the stream that is being fetched",
                 event->addr, (event->addr - at) / 4);
        tell(poison, reader, AHEAD, event->addr, what);
    }
}

static void take_events(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct device_poison *poison = (struct device_poison *)sink;
    const struct device_job *job = poison->device->gpu.job;
    if (job && job->number + 1 != poison->last_job) {
        poison->last_job = job->number + 1;
        poison->talked = false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct cps_event *event = &events[i];
        struct reader *reader = &poison->reader[cps_event_who(event) % PROCESSORS];
        switch (cps_event_kind(event)) {
        case CPS_EV_SUBMIT:
            for (unsigned k = 0; k < PROCESSORS; k++)
                open_stream(&poison->reader[k], CPS_LEVEL_IB1, event->addr, cps_event_pc(event));
            break;
        case CPS_EV_PKT:
            take_packet(poison, reader, event);
            break;
        case CPS_EV_WORD:
            take_word(poison, reader, event);
            break;
        case CPS_EV_MEMR:
            if (!polls(reader->header))
                check_word(poison, reader, event->addr & ~UINT64_C(3), event->value, false);
            break;
        case CPS_EV_MEMW:
            if (job)
                take_write(poison, reader, event);
            break;
        case CPS_EV_WAIT:
            poison->talked = true;
            break;
        }
    }
}

uint32_t device_poison_kinds(void)
{
    return 1u << CPS_EV_SUBMIT | 1u << CPS_EV_PKT | 1u << CPS_EV_WORD | 1u << CPS_EV_MEMR |
           1u << CPS_EV_MEMW | 1u << CPS_EV_WAIT;
}

struct cps_sink *device_poison_sink(struct device_poison *poison)
{
    return &poison->sink;
}

struct device_poison *device_poison_new(struct device *device)
{
    struct device_poison *poison = calloc(1, sizeof(*poison));
    if (poison)
        *poison = (struct device_poison){.sink = {take_events}, .device = device};
    return poison;
}

void device_poison_free(struct device_poison *poison)
{
    if (!poison)
        return;
    if (poison->full)
        poison->device->poisoned(poison->device,
                                 "memory of a submission was not kept: it is not checked");
    free(poison->written);
    free(poison->told);
    free(poison);
}
