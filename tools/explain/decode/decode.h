/* SPDX-License-Identifier: MIT
 * A capture as text, packet by packet: of a walk without firmware or of a run, which are events
 * alike.
 *
 *   packet.c   events gathered to packets
 *   filter.c   which packets are shown
 *   text.c     packets as people read them
 *   json.c     packets as JSON Lines
 *   summary.c  all of them counted */
#ifndef CPS_DECODE_H
#define CPS_DECODE_H

#include "trace/event/launch.h"
#include "tools/explain/stream/walk.h"
#include "trace/capture/buffers.h"
#include "trace/form/words.h"

struct json_object;

/* ---- packet.c ---- */

/** A packet, with the events until the next one of its processor. */
struct decode_packet {
    struct cps_event head;    /**< PKT: where, its level, its header, its processor */
    const char *name;         /**< of type 7; NULL: it has none, or is of type 4 */
    struct cps_words words;   /**< after the header, as far as they came */
    struct cps_event *effect; /**< everything else */
    size_t effects, effect_room;
    uint32_t submission;         /**< from 0 */
    uint32_t draw;               /**< that it is part of, or leads to, from 0 */
    enum cps_launch_kind starts; /**< CPS_LAUNCH_NONE: it starts no work */
    unsigned depth;              /**< of its stream: 0 for the ring */
    int group;                   /**< draw-state group that its stream is; -1: none is known */
    bool is_first;               /**< of its stream, since another one ran */
};

/** Takes a packet that is over; it is valid during the call. */
typedef void decode_packet_fn(void *context, const struct decode_packet *packet);

/** Gathers packets. */
struct decode {
    struct cps_sink sink;           /**< first: give it events in the order of the run */
    struct cps_names *const *names; /**< by processor */
    decode_packet_fn *each;
    void *context;
    struct decode_packet open[CPS_CPU_COUNT]; /**< of each processor, while `is_open` */
    bool is_open[CPS_CPU_COUNT];
    struct cps_launches launches; /**< of the processor that draws */
    uint64_t group[WALK_GROUPS];  /**< where each draw-state group lay last */
    unsigned
        level[CPS_CPU_COUNT]; /**< of the packet before, and of the stream that groups ran in */
    unsigned below[CPS_CPU_COUNT];
    uint64_t next[CPS_CPU_COUNT]; /**< where the stream goes on */
    uint32_t submission;
};

/** @param decode  zero but for `names`, `each` and `context`
 * @param draws   the processor that draws
 * @param kinds   as cps_launches_init_() */
void decode_init(struct decode *decode, unsigned draws, uint32_t kinds);
/** The run is over: packets that are open are, too. */
void decode_end(struct decode *decode);
void decode_deinit(struct decode *decode);

/** Gives each word of a packet a line of @p form, with the values that begin in it. */
void decode_packet_words(const struct decode_packet *packet, const struct cps_names *names,
                         const struct cps_words_form *form);

/* ---- filter.c ---- */

#define DECODE_REGISTERS 32

/** Numbers from `first` to `last`. */
struct decode_range {
    bool given; /**< else all */
    uint64_t first, last;
};

/** A register that is looked for. */
struct decode_wanted {
    char name[64]; /**< pattern with `*` and `?`, or "": `number` counts */
    struct decode_range number;
    char field[64]; /**< or "" */
    char value[64]; /**< of the field, or of the register; "": any */
    bool again;     /**< another reading of the text of the one before */
};

/** Options that select packets; NULL: all. */
struct decode_selection {
    const char *packet;    /**< patterns of names with commas between */
    const char *registers; /**< "NAME:FIELD=VALUE" or numbers, with commas between */
    const char *address;   /**< of bytes: "A", "A..B", "A.." or "..B" */
    const char *draws;     /**< the same of draws */
    const char *level;     /**< words of PKT with commas between */
    long submit;           /**< -1: all */
};

/** The same, read: packets for which everything holds. */
struct decode_filter {
    const char *packet;
    struct decode_wanted wanted[DECODE_REGISTERS];
    unsigned registers; /**< 0: all packets */
    struct decode_range address, draws;
    long submit;
    uint32_t levels; /**< bits; 0: all */
};

/** @return NULL, or CPS_ERR_USAGE */
CPS_MUST_USE struct cps_err *decode_filter_read(const struct decode_selection *from,
                                                struct decode_filter *ret);
/** Whether each name of the filter is one that some processor's packets or registers have.
 * @param names  by enum cps_processor; NULL: there is none of it
 * @return NULL, or CPS_ERR_USAGE: one that none has, and the nearest one */
CPS_MUST_USE struct cps_err *decode_filter_check(const struct decode_filter *filter,
                                                 struct cps_names *const names[CPS_CPU_COUNT]);
bool decode_filter_takes(const struct decode_filter *filter, const struct cps_names *names,
                         const struct decode_packet *packet);
/** Whether a register that a packet writes is one of those looked for; true where none is.
 * @param value  NULL: not known */
bool decode_filter_register(const struct decode_filter *filter, const struct cps_names *names,
                            uint32_t number, const uint32_t *value);

/* ---- text.c, json.c, summary.c ---- */

/** Packets on their way into a text. */
struct decode_text {
    struct cps_names *const *names;
    const struct decode_filter *filter;
    struct cps_buffers *const *buffers; /**< of the capture, valid now */
    const struct stream_walk *walk;     /**< the source without firmware, or NULL */
    bool all;                           /**< also writes that the stream itself contains */
    bool colour;
    const char *capture; /**< its name in JSON if there are several; else NULL */
    bool has_processors; /**< more than one: each packet names its own */
    struct cps_buf out;  /**< grows by packet; the caller empties it */
    uint32_t submission; /**< the last one whose head was written, plus 1 */
    uint64_t draw;       /**< the same of draws */
};

void decode_text_packet(struct decode_text *text, const struct decode_packet *packet);
/** Appends the packet as one JSON object and a line break. */
void decode_json_packet(const struct decode_text *text, const struct decode_packet *packet,
                        struct cps_buf *out);

/** Everything that was decoded, counted. Zero-initialised is nothing. */
struct decode_summary {
    const struct cps_names *names; /**< the first packet's; NULL: none was shown */
    uint64_t type4, bad, packets, words, type7[128], launches[CPS_LAUNCH_KINDS];
    struct decode_register {
        uint32_t writes, changes; /**< changes: to another value than before */
        uint32_t first, last;
    } reg[0x40000]; /**< 18 bits of a type 4 header */
};
void decode_summary_packet(struct decode_summary *summary, const struct cps_names *names,
                           const struct decode_filter *filter, const struct decode_packet *packet);
/** Layout of the tree as text. */
#define DECODE_SUMMARY                                                             \
    "{packets} packet{packets~s}, {dwords} dwords, {draw} draw{draw~s}, "          \
    "{dispatch} dispatch{dispatch~es}, {blit} blit{blit~s}, {resolve} "            \
    "resolve{resolve~s}{.skipped?, {skipped} skipped}\n"                           \
    "packets:\n{.type4?{type4:10}  type4\n}"                                       \
    "{type7*{count:10}  {name}{name!packet 0x{opcode:02x}}\n}"                     \
    "{.bad?{bad_headers:10}  not a valid packet header\n}"                         \
    "registers, with how often they were written:\n"                               \
    "{registers*{writes:10}  0x{reg:04x} {name}{name!-}{.half?+1} = 0x{first:08x}" \
    "{.changed? first, 0x{last:08x} last, changed {changes} time{changes~s}}\n}"
/** The counts as a tree (tools/cmd/render/doc.h). */
struct json_object *decode_summary_tree(const struct decode_summary *summary);

#endif
