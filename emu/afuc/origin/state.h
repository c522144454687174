/* SPDX-License-Identifier: MIT
 * What the files of the observer share. Private to emu/afuc/origin/. */
#ifndef CPS_ORIGIN_STATE_H
#define CPS_ORIGIN_STATE_H

#include "emu/afuc/control/control.h"
#include "emu/afuc/queue/queue.h"
#include "emu/afuc/origin/origin.h"
#include "emu/mem_state.h"

/** General registers of the general interpreter, and the carry after them. */
enum { TAG_CARRY = R_COUNT, TAG_GENERAL };
#define GPU_FILES (PIPE_COUNT + 1) /* the machine's, those of pipes; a5xx: the other context's */
#define PAGE_BITS 10               /* words of a page of tags */

/** A FIFO of nodes beside struct fifo. */
struct tag_fifo {
    uint32_t node[FIFO_WORDS];
    uint32_t head, count;
};

/** Nodes beside a core's state. */
struct core_tags {
    uint32_t general[TAG_GENERAL];
    uint32_t control[CONTROL_COUNT];
    uint32_t sqe[SQE_COUNT];
    uint32_t meq[MEQ_WORDS];
    struct tag_fifo memdata, regdata;
    uint32_t stream[LEVEL_COUNT][QUEUE_DEPTH]; /* STREAM nodes by place in the queue */
    uint32_t group[GROUP_COUNT];
    uint32_t group_word[3];
    uint32_t packet; /* that it is at */
};

struct tag_page {
    struct held held; /* first */
    uint32_t node[1u << PAGE_BITS];
};

/** A value that an instruction reads or writes. */
struct flow {
    uint32_t node;
    uint32_t value;
    unsigned target; /* of writes: general register, or R_ADDR.. */
};

/** One tick of a core: its state before, and what it did. */
struct tick {
    struct afuc_core *core;
    struct core_tags *tags;
    const struct afuc_uop *uop;
    uint32_t pc;
    uint32_t r[R_COUNT];
    uint32_t carry;
    uint32_t level, injected, meq_head, side_end, peeking;
    uint32_t head, pos; /* of the level's queue */
    uint32_t meq_tail;  /* of the core that this one sends words to */
    uint32_t tail[2][LEVEL_COUNT];
    struct flow out[8]; /* values that left through a port, in order */
    unsigned outs, next_out, last_out;
    uint32_t read;    /* node of the last MEMR, REGR */
    uint32_t assumed; /* node of the last ASSUME */
    bool done;
};

/** An event of the tick, and the node that it got. */
struct seen_event {
    struct cps_event event;
    uint32_t node;
    bool taken; /* REGR: by a FIFO */
};

struct origin {
    struct cps_sink sink; /* first */
    struct cps_afuc *machine;
    struct origin_node *node;
    uint32_t count, room, most, enough; /* enough: sweep when there are that many */
    bool cut;
    struct core_tags *core[MAX_CORES];
    uint32_t *gpu[GPU_FILES];
    uint32_t shared[SHARED_COUNT];
    struct pages memory; /* of struct tag_page */
    uint32_t *kept;
    uint32_t kept_count;
    struct origin_block *block;
    uint32_t block_count, block_first; /* first: of what memory holds now */
    struct seen_event *event;          /* of this tick */
    size_t events;
    bool inside; /* a tick */
    uint32_t kinds;
    uint64_t number;
    origin_seen *seen;
    void *context;
    uint32_t *number_of; /* during a sweep, of each node: whether it stays, then its new number */
    struct tick t;
};

static inline struct origin_node *node_(const struct origin *o, uint32_t node)
{
    return &o->node[node];
}
/** @p node if it says @p value, else 0. */
static inline uint32_t if_value_(const struct origin *o, uint32_t node, uint32_t value)
{
    return node && o->node[node].value == value ? node : 0;
}

/* run.c */
/** A node of the tick; 0 if memory is short, and the machine stops for that. */
uint32_t origin_new_(struct origin *o, unsigned kind, uint32_t value, uint64_t place);

/* place.c */
struct core_tags *origin_core_(struct origin *o, unsigned who);
/** Beside a GPU register, as an event of @p core names it; NULL if memory is short. */
uint32_t *origin_gpu_(struct origin *o, const struct afuc_core *core, uint64_t place, bool control);
uint32_t *origin_control_tag_(struct origin *o, struct core_tags *tags,
                              const struct afuc_core *core, uint32_t number);
void origin_set_memory_(struct origin *o, uint64_t iova, uint32_t node);
void origin_forget_memory_(struct origin *o);
/** Registers and all that processors hold begin anew. */
void origin_forget_processors_(struct origin *o);
/** Bytes that somebody else has stored: what the firmware stored there is gone. */
void origin_forget_range_(struct origin *o, uint64_t iova, uint64_t size);
/** Calls @p each for every place that holds a node. */
void origin_places_(struct origin *o, void (*each)(struct origin *o, uint32_t *node));
void origin_free_places_(struct origin *o);

/* tick.c */
void origin_fifo_put_(struct tag_fifo *fifo, uint32_t node);
/** Makes the tags of a FIFO as many as its words are, after a tick. */
void origin_fifo_match_(struct origin *o, struct tag_fifo *tags, const struct fifo *fifo);
/** What the instruction of a tick that ran did to registers, and which values left. */
void origin_effects_(struct origin *o, struct tick *t);

/* effect.c */
/** Takes the tick's events: the node of each goes to whoever wants it. */
void origin_reads_(struct origin *o, struct tick *t);
void origin_writes_(struct origin *o, struct tick *t);
void origin_host_event_(struct origin *o, const struct cps_event *event);
/** Streams, groups and words that the tick has sent on. */
void origin_calls_(struct origin *o, struct tick *t);

#endif
