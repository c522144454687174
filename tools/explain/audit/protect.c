/* SPDX-License-Identifier: MIT
 * CP_PROTECT, tried: each packet writes a register twice, once when an entry forbids it. */
#include "tools/explain/audit/audit.h"

#include <inttypes.h>
#include <string.h>

#include "isa/target.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"

enum {
    A6 = CPS_GEN_BIT(A6XX),
    A78 = CPS_GEN_BIT(A7XX) | CPS_GEN_BIT(A8XX),
    A678 = A6 | A78,
    ALL = A678 | CPS_GEN_BIT(A5XX),
};

/* Values and an address that nothing else writes or is at. */
#define VALUE  0x53c0a000u
#define BEFORE 0x53c0b000u
#define AFTER  0x53c0b001u
#define DATA   0x00400000u

static const struct writer {
    const char *name;
    uint32_t gens;
    const char *lines;
} writers[] = {
#define WRITER(name, gens, lines, evidence) {name, gens, lines},
#include "tools/explain/audit/writer.def"
};

/* The first level is the ring. */
static const struct level {
    const char *word, *style; /* members of a row */
    uint32_t gens;
    unsigned depth;
    bool group;
} levels[] = {
#define LEVEL(id, word, gens, depth, group) {word, "." word, gens, depth, group},
#include "tools/explain/audit/writer.def"
};

enum { LEVELS = sizeof(levels) / sizeof(levels[0]) };

/* What a packet does with a register whose number is out of the packet. */
enum way {
    WAY_NONE,      /* this generation has no such level */
    WAY_SILENT,    /* nothing is written, protected or not */
    WAY_CHECKED,   /* it takes the path that the hardware checks */
    WAY_TESTED,    /* it asks first, and writes nothing */
    WAY_LIFTED,    /* that path, on the ring, while the protected mode does not check the ring */
    WAY_UNCHECKED, /* it writes what is protected */
    WAY_UNDECIDED, /* the run did not come so far */
    WAY_COUNT,
};
static const struct {
    const char *word, *style;
} ways[WAY_COUNT] = {{"-", "skipped"},        {"nothing", "skipped"}, {"checked", "pass"},
                     {"tested", "pass"},      {"lifted", "pass"},     {"unchecked", "stopped"},
                     {"undecided", "differs"}};

void protect_levels(struct json_object *list)
{
    for (unsigned i = 0; i < LEVELS; i++)
        cps_json_append(list, json_object_new_string(levels[i].word));
}

/* The switch of CP_PROTECT, its first entry, and an entry that forbids to write one register (D:
 * register database). The registers are ordinary ones, of the render backend. */
struct protection {
    uint32_t control, first, entry;
    uint32_t target, marker;
};

static struct protection protection_of(enum cps_gen gen)
{
    if (gen == CPS_A5XX)
        return (struct protection){0x8a0, 0x880, UINT32_C(1) << 29 | 0xe142 << 2, 0xe142, 0xe143};
    return (struct protection){gen == CPS_A8XX ? 0x84e : 0x84f, 0x850, 0x8818, 0x8818, 0x8819};
}

/* The packets of a row, with markers around them. @return their dwords */
static unsigned put_lines(const struct protection *p, const char *lines, struct cps_buf *out)
{
    unsigned dwords = 5; /* the markers, and the first packet's header */
    cps_buf_printf(out, "    reg 0x%04" PRIx32 " 0x%x\n    ", p->marker, BEFORE);
    for (const char *at = lines; *at; at++) {
        bool variable = *at == '$';
        /* Of type 4 the first word is part of the header. */
        dwords -= (at == lines || at[-1] == '\n') && !strncmp(at, "reg ", 4);
        at += variable;
        if (!variable)
            cps_buf_add(out, at, 1);
        else if (*at == 'R')
            cps_buf_printf(out, "0x%04" PRIx32, p->target);
        else if (*at == 'C')
            cps_buf_printf(out, "0x%08" PRIx32, 1u << 19 | p->target);
        else if (*at == 'V')
            cps_buf_printf(out, "0x%08x", VALUE);
        else
            cps_buf_printf(out, "0x%08x 0x0", DATA);
        dwords += *at == ' ' || *at == '\n' || (variable && *at == 'D');
    }
    cps_buf_printf(out, "\n    reg 0x%04" PRIx32 " 0x%x\n", p->marker, AFTER);
    return dwords;
}

/* A draw-state group, and what executes it: draws, on a8xx CP_RUN_OPENCL (docs/audit.md). */
static void put_group(enum cps_gen gen, const struct protection *p, const char *lines,
                      struct cps_buf *out)
{
    bool marked = gen != CPS_A5XX; /* which has neither of the two packets */
    cps_buf_str(out, "buffer 0x00300000 group\n");
    unsigned dwords = put_lines(p, lines, out);
    cps_buf_printf(out,
                   "buffer 0x00100000 b1\n%s"
                   "    CP_SET_DRAW_STATE 0x0070%04x @group\n%s"
                   "    CP_DRAW_INDX_OFFSET 0x84 0x1 0x3\n"
                   "submit b1\n",
                   marked ? "    CP_SET_MARKER 0x1\n" : "", dwords,
                   marked ? "    CP_RUN_OPENCL 0x0\n" : "");
}

static void put_buffers(const struct protection *p, const char *lines, unsigned depth,
                        struct cps_buf *out)
{
    for (unsigned i = 1; i < depth; i++)
        cps_buf_printf(out, "buffer 0x%08x b%u\n    CP_INDIRECT_BUFFER @b%u #b%u\n",
                       0x00100000 + i * 0x10000, i, i + 1, i + 1);
    cps_buf_printf(out, "buffer 0x%08x b%u\n", 0x00100000 + depth * 0x10000, depth);
    put_lines(p, lines, out);
    cps_buf_str(out, depth ? "submit b1\n" : "init\nring b0\n");
}

static void put_stream(enum cps_gen gen, const char *lines, const struct level *level, bool protect,
                       struct cps_buf *out)
{
    const struct protection p = protection_of(gen);
    cps_buf_str(out, "# cpscope-pm4 1\n");
    if (protect)
        cps_buf_printf(out, "start 0x%03" PRIx32 " 0x1\nstart 0x%03" PRIx32 " 0x%08" PRIx32 "\n",
                       p.control, p.first, p.entry);
    cps_buf_printf(out, "buffer 0x%08x data\n    .word 0x%08x\n", DATA, VALUE);
    if (level->group)
        put_group(gen, &p, lines, out);
    else
        put_buffers(&p, lines, level->depth, out);
}

/* What one run shows. */
struct seen {
    bool is_done;                    /* the packets around were executed */
    bool stopped;                    /* CP_PROTECT forbade the write */
    const struct cps_event *written; /* the register was written; until the next run */
};

static struct cps_err *probe_write(struct probe *probe, const char *lines,
                                   const struct level *level, bool protect, struct seen *ret)
{
    CPS_BUF text = {0};
    put_stream(probe->play->gen, lines, level, protect, &text);
    CPS_TRY(probe_run(probe, "a packet that writes a register", tool_text(&text), text.size,
                      1u << CPS_EV_REG | 1u << CPS_EV_PROT));
    *ret = (struct seen){false, false, NULL};
    for (size_t i = 0; i < probe->record.count; i++) {
        const struct cps_event *event = &probe->record.event[i];
        bool forbidden = cps_event_kind(event) == CPS_EV_PROT;
        ret->is_done |= event->value == AFTER;
        ret->stopped |= event->value == VALUE && forbidden;
        if (event->value == VALUE && !forbidden && !ret->written)
            ret->written = event;
    }
    return NULL;
}

/* @p why  gets the evidence of a way that is not as it should be */
static struct cps_err *try_one(struct probe *probe, const char *lines, const struct level *level,
                               enum way *ret, struct cps_buf *why)
{
    struct seen open = {0};
    struct seen closed = {0};
    *ret = WAY_NONE;
    if (!(level->gens & cps_gen_bit(probe->play->gen)))
        return NULL;
    CPS_TRY(probe_write(probe, lines, level, false, &open));
    bool writes = open.written;
    if (open.is_done && !probe->why.size)
        CPS_TRY(probe_write(probe, lines, level, true, &closed));
    bool user = closed.written && cps_event_sub(closed.written) == CPS_PATH_USER;
    if (user && level == levels)
        *ret = WAY_LIFTED;
    else if (closed.written)
        *ret = WAY_UNCHECKED;
    else if (closed.is_done && !probe->why.size)
        *ret = closed.stopped ? WAY_CHECKED : writes ? WAY_TESTED : WAY_SILENT;
    else
        *ret = WAY_UNDECIDED;
    if (*ret == WAY_UNCHECKED)
        probe_text(probe, closed.written, why);
    else if (*ret == WAY_UNDECIDED && probe->why.size)
        cps_buf_join(why, &probe->why);
    else if (*ret == WAY_UNDECIDED)
        cps_buf_str(why, "the packet after it was not executed");
    return NULL;
}

static struct cps_err *try_writer(struct probe *probe, const struct writer *writer,
                                  struct json_object *row, unsigned found[WAY_COUNT])
{
    CPS_BUF why = {0};
    for (unsigned i = 0; i < LEVELS; i++) {
        enum way way = WAY_NONE;
        CPS_BUF text = {0};
        CPS_TRY(try_one(probe, writer->lines, &levels[i], &way, &text));
        found[way] += way != WAY_UNCHECKED || i;
        if (text.size && !why.size)
            cps_buf_printf(&why, "%s: %s", levels[i].word, tool_text(&text));
        cps_json_text(row, levels[i].word, ways[way].word);
        cps_json_text(row, levels[i].style, ways[way].style);
    }
    doc_put(row, "why?=%p", &why);
    return NULL;
}

/* Of a5xx either of the two processors. */
static bool is_handled(const struct probe *probe, const struct writer *writer)
{
    const struct play *play = probe->play;
    const struct cps_names *names = play->names[play->engine->who[0]];
    size_t length = strlen(writer->name);
    return (writer->gens & cps_gen_bit(play->gen)) &&
           (strncmp(writer->name, "CP_", 3) ||
            probe_handles(play->fw, names, writer->name, length) ||
            (play->me && probe_handles(play->me, names, writer->name, length)));
}

struct cps_err *protect_try(struct probe *probe, struct audit_file *file)
{
    unsigned found[WAY_COUNT] = {0};
    struct json_object *rows = cps_json_new_array(file->row, "protect");
    if (!probe || file->image->fw->part[0].table == CPS_FW_NONE)
        return NULL;
    for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
        if (is_handled(probe, &writers[i]))
            CPS_TRY(
                try_writer(probe, &writers[i], doc_row(rows, "packet=%s", writers[i].name), found));
    }
    doc_put(file->row, "unchecked=%u undecided=%u", found[WAY_UNCHECKED], found[WAY_UNDECIDED]);
    file->flaws += found[WAY_UNCHECKED];
    file->undecided += found[WAY_UNDECIDED];
    return NULL;
}
