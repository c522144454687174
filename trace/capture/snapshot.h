/* SPDX-License-Identifier: MIT
 * The format of KGSL snapshots: their reader, between its parts. snapshot.c knows the file and its
 * sections, snapshot_memory.c rings, buffers and texts, snapshot_regs.c registers and blocks, and
 * snapshot.def says what the numbers mean, also to the writer. Private to trace/. */
#ifndef CPS_SNAPSHOT_H
#define CPS_SNAPSHOT_H

#include "trace/capture/formats.h"

#define CPS_SNAPSHOT_MAGIC   0x504d0002u /* the low half is the version */
#define CPS_SNAPSHOT_SECTION 0xabcdu
#define CPS_SNAPSHOT_CHUNK   32768u /* bytes of contents in one item, at most */
#define CPS_SNAPSHOT_NAME    64u
/* In front of one register in REGS_V2, of a range in MVC. */
#define CPS_SNAPSHOT_SINGLE 0x80000000u

/* The ids of sections: CPS_SNAPSHOT_REGS. */
#define SECTION(id, name, read) CPS_SNAPSHOT_##name = id,
enum cps_snapshot_id {
#include "trace/capture/snapshot.def"
};

/** Types of debug sections that are cpscope's own: for what the format has no place for. Those who
 * do not know them pass over them, as over any type. docs/formats.md says what they hold. */
enum cps_snapshot_own {
    CPS_SNAPSHOT_OWN_TEXT = 0x43505301, /* "CPS" */
    CPS_SNAPSHOT_OWN_NOTE,
    CPS_SNAPSHOT_OWN_GMU,
    CPS_SNAPSHOT_OWN_NAME,
};

struct cps_snapshot {
    struct cps_stream *stream;
    const struct cps_capture_limits *limits;
    struct cps_item_sink *sink;
    uint64_t offset;     /* of the section */
    const char *label;   /* its name */
    uint32_t id, number; /* and which one of the file it is */
    uint32_t size, left; /* with its header; of its payload, what is not read yet */
    uint64_t total;      /* contents so far */
    struct {
        uint32_t number; /* of the section that it is about */
        uint32_t words[2];
        char name[CPS_SNAPSHOT_NAME];
    } own;           /* what the last section OWN_NAME said */
    bool texts;      /* there were own texts, which say more than section OS */
    bool unknown;    /* there was a section of unknown type */
    bool done;       /* the last section was read */
    uint32_t *block; /* words of a block */
    size_t block_capacity;
    uint8_t bytes[CPS_SNAPSHOT_CHUNK];
};

/* Readers of the payload of a section. */
#define SECTION(id, name, read) struct cps_err *cps_snapshot_##read##_(struct cps_snapshot *s);
#include "trace/capture/snapshot.def"

/** Hands an item or a note to the sink, with the offset of the section. */
CPS_MUST_USE struct cps_err *cps_snapshot_give_(struct cps_snapshot *s, struct cps_item *item);
CPS_MUST_USE struct cps_err *cps_snapshot_note_(struct cps_snapshot *s, const char *text);
/** Takes the next @p size bytes of the section, all of which must be there. */
CPS_MUST_USE struct cps_err *cps_snapshot_take_(struct cps_snapshot *s, void *to, size_t size);
/** Passes over what is left of the section. */
CPS_MUST_USE struct cps_err *cps_snapshot_pass_(struct cps_snapshot *s);
/** Whether what is left of the section has room for @p count entries of @p each bytes. */
CPS_MUST_USE struct cps_err *cps_snapshot_room_(const struct cps_snapshot *s, uint64_t count,
                                                unsigned each);
/** The error that the section says something that cannot be. */
CPS_MUST_USE struct cps_err *cps_snapshot_bad_(const struct cps_snapshot *s, const char *format,
                                               ...) CPS_PRINTF(2, 3);
/** Whether a section OWN_NAME stood in front of this one. */
static inline bool cps_snapshot_named_(const struct cps_snapshot *s)
{
    return s->own.number == s->number;
}

#endif
