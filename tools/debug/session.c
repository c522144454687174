/* SPDX-License-Identifier: MIT
 * One debugging session: the capture is read once and kept, so that going back can feed it again.
 */
#include "tools/debug/session.h"

#include <stdlib.h>
#include <string.h>

#include "fw/demo/demo.h"
#include "tools/report/diffreport.h"
#include "trace/form/text.h"

/* Grows an array by one in steps of powers of two. */
static void *room_for(void *array, size_t count, size_t size)
{
    bool full = !count || (count >= 16 && !(count & (count - 1)));
    return full ? realloc(array, (count ? count * 2 : 16) * size) : array;
}

static struct cps_err *keep_data(struct session *s, const struct cps_item *item)
{
    struct session_data *data = room_for(s->data, s->data_count, sizeof(*data));
    if (!data)
        return cps_err_nomem();
    s->data = data;
    data += s->data_count;
    *data = (struct session_data){.forget = s->forget_next};
    s->forget_next = false;
    if (item) {
        data->iova = item->buffer.iova;
        data->size = item->buffer.size;
        data->bytes = malloc(item->buffer.size + 1);
        if (!data->bytes)
            return cps_err_nomem();
        memcpy(data->bytes, item->buffer.data, item->buffer.size);
    }
    s->data_count++;
    return NULL;
}

static struct cps_err *keep_feed(struct session *s, const struct cps_item *item)
{
    struct session_feed *feed = room_for(s->feed, s->feed_count, sizeof(*feed));
    if (!feed)
        return cps_err_nomem();
    s->feed = feed;
    if (s->forget_next)
        CPS_TRY(keep_data(s, NULL));
    feed[s->feed_count++] = (struct session_feed){.first = s->open_first,
                                                  .count = s->data_count - s->open_first,
                                                  .iova = item->stream.iova,
                                                  .dwords = item->stream.dwords};
    s->open_first = s->data_count;
    return NULL;
}

static struct cps_err *take_item(struct cps_item_sink *items, const struct cps_item *item)
{
    struct session *s = (struct session *)items;
    switch (item->kind) {
    case CPS_ITEM_CHIP:
        if (!s->rig.gpu)
            s->rig.gpu = item->chip.gpu_id ? item->chip.gpu_id : item->chip.chip_id & 0xffffffff;
        return rig_check_gpu(&s->rig);
    case CPS_ITEM_RESET:
        s->forget_next = true;
        return NULL;
    case CPS_ITEM_DATA:
        return keep_data(s, item);
    case CPS_ITEM_SUBMIT:
        return keep_feed(s, item);
    default:
        return NULL;
    }
}

/* Memory that the machine's limit does not hold stays unknown, and reads of it are reported. */
static bool feed(void *context, struct cps_machine *machine, uint32_t index)
{
    const struct session *s = context;
    if (index >= s->feed_count)
        return false;
    const struct session_feed *f = &s->feed[index];
    for (size_t i = f->first; i < f->first + f->count; i++) {
        if (s->data[i].forget)
            cps_machine_forget(machine);
        cps_err_free(cps_machine_load(machine, s->data[i].iova, s->data[i].bytes, s->data[i].size));
    }
    cps_machine_submit(machine, index, f->iova, f->dwords);
    return true;
}

static struct cps_err *read_capture(struct session *s)
{
    const struct cps_options *opt = s->opt;
    struct cps_stream *stream = NULL;
    if (!opt->arg_count && !opt->demo)
        return NULL; /* the bootstrap alone can be stepped, too */
    CPS_TRY(opt->arg_count
                ? cps_stream_open(opt->arg[0], &stream)
                : cps_stream_open_memory("demo.pm4", cps_demo_pm4, cps_demo_pm4_size, &stream));
    struct cps_err *err = cps_capture_read(stream, NULL, &s->items);
    cps_stream_close(stream);
    return err;
}

/* To the submission asked for; an earlier stop shows itself when the user looks. */
static void go_to_start(struct session *s)
{
    uint32_t wanted = s->opt->submit > 0 ? (uint32_t)s->opt->submit : 0;
    struct cps_debug_stop stop = {.reason = CPS_WHY_GONE};
    while (s->feed_count && stop.reason == CPS_WHY_GONE) {
        stop = cps_debug_run(s->debug, CPS_GO_SUBMIT, 0);
        if (cps_debug_place(s->debug).submission > wanted)
            break;
    }
}

struct cps_err *session_open(struct session *s, const struct cps_options *opt)
{
    const struct cps_feeder feeder = {feed, s, false};
    s->items.item = take_item;
    s->opt = opt;
    CPS_TRY(rig_open(&s->rig, opt));
    CPS_TRY(read_capture(s));
    if (opt->symbols)
        CPS_TRY(cps_fw_symbols_load(s->rig.fw, opt->symbols));
    if (opt->submit > 0 && (uint64_t)opt->submit >= s->feed_count)
        return cps_err_new(CPS_ERR_INPUT, "--submit %ld: the capture has %u submissions",
                           opt->submit, s->feed_count);
    rig_prepare(&s->rig);
    struct cps_machine *machine = s->rig.machine;
    s->rig.machine = NULL;
    CPS_TRY(cps_debug_create(machine, &feeder, &s->debug));
    cps_debug_interrupt(s->debug, s->interrupt);
    go_to_start(s);
    return NULL;
}

void session_close(struct session *s)
{
    cps_debug_destroy(s->debug);
    rig_close(&s->rig);
    for (size_t i = 0; i < s->data_count; i++)
        free(s->data[i].bytes);
    free(s->data);
    free(s->feed);
}

const struct cps_fw *session_fw(const struct session *s, unsigned core,
                                const struct cps_fw_part **part)
{
    enum cps_processor who = cps_machine_core_who(session_machine(s), core);
    const struct diff_side side = {.fw = s->rig.fw, .me = s->rig.me};
    return diff_image(&side, who, part);
}

unsigned session_part(const struct cps_fw *fw, const struct cps_fw_part *part)
{
    return (unsigned)(part - fw->part);
}

struct cps_names *session_names(const struct session *s, unsigned core)
{
    return s->rig.names[cps_machine_core_who(session_machine(s), core)];
}

void session_place(const struct session *s, unsigned core, uint32_t pc, struct cps_buf *out)
{
    const struct cps_fw_part *part = NULL;
    const struct cps_fw *fw = session_fw(s, core, &part);
    uint32_t offset = 0;
    if (!fw)
        return;
    const struct cps_fw_symbol *symbol = cps_fw_symbol_at(fw, session_part(fw, part), pc, &offset);
    if (!symbol) {
        diff_handler_name(fw, part, session_names(s, core), pc, out);
        return;
    }
    cps_buf_str(out, symbol->name);
    if (offset)
        cps_buf_printf(out, "+0x%x", offset);
}

static bool find_handler(const struct session *s, unsigned core, const char *name, size_t length,
                         uint32_t *ret)
{
    const struct cps_fw_part *part = NULL;
    const struct cps_fw *fw = session_fw(s, core, &part);
    uint32_t id = 0;
    if (!fw || !cps_name_number(session_names(s, core), CPS_SPACE_PACKET, name, length, &id))
        return false;
    *ret = cps_fw_handler(fw, part, id & 127);
    return *ret != CPS_FW_NONE;
}

static bool find_symbol(const struct session *s, unsigned core, const char *name, size_t length,
                        uint32_t *ret)
{
    const struct cps_fw_part *part = NULL;
    const struct cps_fw *fw = session_fw(s, core, &part);
    for (size_t i = 0; fw && i < fw->debug.symbol_count; i++) {
        const struct cps_fw_symbol *symbol = &fw->debug.symbols[i];
        if (symbol->part != session_part(fw, part) || strlen(symbol->name) != length ||
            memcmp(symbol->name, name, length) != 0)
            continue;
        *ret = symbol->dword;
        return true;
    }
    return false;
}

bool session_find_place(const struct session *s, unsigned core, const char *name, size_t length,
                        uint32_t *ret)
{
    const char *plus = memchr(name, '+', length);
    size_t base = plus ? (size_t)(plus - name) : length;
    uint64_t offset = 0;
    if (plus) {
        char *end = NULL;
        offset = strtoull(plus + 1, &end, 0);
        if (end != name + length)
            return false;
    }
    if (!find_symbol(s, core, name, base, ret) && !find_handler(s, core, name, base, ret))
        return false;
    *ret += (uint32_t)offset;
    return true;
}

const char *session_core_name(const struct session *s, unsigned core)
{
    return cps_processor_name(cps_machine_core_who(session_machine(s), core));
}

int session_find_core(const struct session *s, const char *name)
{
    for (unsigned i = 0; i < cps_machine_core_count(session_machine(s)); i++) {
        if (!strcmp(session_core_name(s, i), name))
            return (int)i;
    }
    return -1;
}
