/* SPDX-License-Identifier: MIT
 * The format of devcoredumps: their reader, between its two halves. devcore.c knows lines and
 * sections, devcore_entry.c the entries of rings, buffers and blocks and their contents. Private
 * to trace/. */
#ifndef CPS_DEVCORE_H
#define CPS_DEVCORE_H

#include "trace/capture/formats.h"
#include "trace/capture/lines.h"

#define CPS_DEVCORE_CHUNK   8192u      /* dwords of contents in one item */
#define CPS_DEVCORE_UNKNOWN UINT64_MAX /* no number in the file is that large */

enum cps_devcore_section {
    CPS_DEVCORE_NO_SECTION,
    CPS_DEVCORE_RINGS,
    CPS_DEVCORE_BUFFERS,
    CPS_DEVCORE_REGISTERS,
    CPS_DEVCORE_GMU_REGISTERS,
    CPS_DEVCORE_INDEXED,
    CPS_DEVCORE_SHADER_BLOCKS,
    CPS_DEVCORE_CLUSTERS,
    CPS_DEVCORE_DEBUGBUS,
    CPS_DEVCORE_FAULT,
    CPS_DEVCORE_GMU_LOG,
    CPS_DEVCORE_GMU_HFI,
    CPS_DEVCORE_GMU_DEBUG,
    CPS_DEVCORE_SECTION_COUNT,
};

/** What the lines of the current entry have said so far. */
struct cps_devcore_entry {
    uint64_t iova, size, id, rptr, wptr, last_fence, retired_fence, dwords, context;
    char name[64];
    bool open;  /* there is one */
    bool given; /* and the sink knows */
};

struct cps_devcore {
    const struct cps_capture_limits *limits;
    struct cps_item_sink *sink;
    struct cps_lines lines;
    enum cps_devcore_section section;
    unsigned seen; /* sections, a bit each */
    bool cut;      /* the file ends within an entry */
    struct cps_devcore_entry entry;
    uint64_t total;      /* contents so far */
    uint64_t size, done; /* bytes of the contents being read: stated, given */
    bool bad, excess;    /* they are damaged; there are more of them than stated */
    uint32_t *block;     /* words of a block */
    size_t block_count, block_capacity;
    uint32_t words[CPS_DEVCORE_CHUNK];
    uint8_t bytes[4 * CPS_DEVCORE_CHUNK];
};

/** Hands an item or a note to the sink, with the offset of the line. */
CPS_MUST_USE struct cps_err *cps_devcore_give_(struct cps_devcore *d, struct cps_item *item);
CPS_MUST_USE struct cps_err *cps_devcore_note_(struct cps_devcore *d, const char *text);
/** Begins an entry (@p open), or ends the last one of a section. */
void cps_devcore_reset_(struct cps_devcore *d, bool open);
/** Hands the entry out once: when its contents begin, for a block when they end, or without any. */
CPS_MUST_USE struct cps_err *cps_devcore_entry_(struct cps_devcore *d);
/** Reads the contents behind a data key, whose line has been read. */
CPS_MUST_USE struct cps_err *cps_devcore_data_(struct cps_devcore *d);

#endif
