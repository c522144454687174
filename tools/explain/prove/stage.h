/* SPDX-License-Identifier: MIT
 * Both revisions booted in the emulator, and streams that bring a packet to a place in it. Private
 * to tools/explain/prove/. */
#ifndef CPS_PROVE_STAGE_H
#define CPS_PROVE_STAGE_H

#include "tools/run/record.h"
#include "tools/explain/prove/joint.h"
#include "trace/form/diff.h"

/** Where a stream puts a packet. */
enum place_at { AT_IB1, AT_IB2, AT_IB3, AT_GROUP, AT_RING, PLACES };
/** "IB1", "a draw-state group": for people. */
const char *stage_place(enum place_at place);

struct stage_packet;

/** What a stream does before its packet: packets in IB1, registers, words of memory. */
#define SETUP_MOST 16u
struct stage_setup {
    struct stage_packet *packet; /**< at the front of the first buffer */
    unsigned packets;
    uint32_t reg[SETUP_MOST], reg_value[SETUP_MOST];
    unsigned regs;
    uint64_t mem[SETUP_MOST]; /**< addresses */
    uint32_t mem_value[SETUP_MOST];
    unsigned mems;
};
/** Takes what a difference read from registers and memory; words that lie where streams do, and a
 * second value for the same place, are left out. Packets stay. */
void stage_setup_words(const struct difference *difference, struct stage_setup *ret);

/** A packet with its payload. */
struct stage_packet {
    uint8_t id; /**< as the packet table has it: 4 is type 4 */
    uint32_t count;
    uint32_t word[WITNESS_MOST];
    const struct stage_setup *setup; /**< or NULL */
    uint32_t front;                  /**< dwords of it in front of the packet, in IB1 */
    uint8_t next;                    /**< a packet behind it, 0: none, */
    uint8_t next_count;              /**< and how many words it has, all 1 */
};
/** A packet in a stream: its header and, except in the ring, its address. */
struct stage_mark {
    uint32_t header;
    uint64_t iova;   /**< 0: any */
    char inject[24]; /**< what the stream runs with, as `--inject` has it; "": nothing */
};
bool stage_is_marked(const struct stage_mark *mark, const struct cps_event *event);
struct stage_mark stage_mark(enum cps_processor who, enum place_at place,
                             const struct stage_packet *packet);
/** Gives a packet what stands in front of it. */
void stage_set_up(struct stage_packet *packet, const struct stage_setup *setup);

#define STAGE_PATH 4096

struct stage {
    const struct cps_run_config *config;
    struct cps_fw *fw[2];
    const char *path[2];
    char partner[STAGE_PATH]; /**< the other processor's file of a5xx; "": there is none */
    struct record_boot boot[2];
    struct cps_mask mask;
    struct cps_names *names[CPS_CPU_COUNT];
    uint32_t kinds;
};

/** Boots both. @return an error if one does not come through its boot. The caller calls
 * stage_deinit() in any case */
CPS_MUST_USE struct cps_err *stage_init(const struct cps_run_config *config, struct stage *ret);
void stage_deinit(struct stage *stage);

/** Boots one side. @param inject  as `--inject` has it; or NULL @param ret  unbooted if the partner
 * is missing; the caller calls record_boot_deinit() */
CPS_MUST_USE struct cps_err *stage_boot(const struct stage *stage, unsigned side,
                                        const char *inject, struct record_boot *ret);
/** What `--fw` names for a run of one side. */
void stage_firmware(const struct stage *stage, unsigned side, const char *ret[2]);
/** The chip that streams are for. */
struct cps_item stage_chip(enum cps_gen gen);
/** Appends the first lines of PM4 text. */
void stage_head(enum cps_gen gen, struct cps_buf *out);
/** Appends the stream as PM4 text. */
void stage_text(enum cps_gen gen, enum cps_processor who, enum place_at place,
                const struct stage_packet *packet, struct cps_buf *out);
/** Where core @p who of side @p side stands when it begins with the packet's handler.
 * @param ret  gets whether it ever does: ret->known
 * @return NULL, CPS_ERR_NOMEM, or what the stream's reader says */
CPS_MUST_USE struct cps_err *stage_world(const struct stage *stage, unsigned side,
                                         enum cps_processor who, uint32_t pc, enum place_at place,
                                         const struct stage_packet *packet, struct world *ret);

/** A borrowed firmware in the state of a boot, until stage_return(), also after an error. */
CPS_MUST_USE struct cps_err *stage_borrow(const struct cps_run_config *config,
                                          const struct record_boot *boot, struct play **ret);
void stage_return(struct play *play, const struct record_boot *boot);
/** A register of a core; 0: there is none. */
uint32_t stage_value(const struct play *play, unsigned core, char file, uint32_t number);
bool stage_find_core(const struct cps_engine *engine, enum cps_processor who, unsigned *ret);

/** What is waited for: a packet's handler on a processor. */
struct stage_watch {
    struct cps_sink sink; /**< first */
    struct stage_mark mark;
    enum cps_processor who;
    uint32_t pc;
    bool seen;           /**< the packet was dispatched */
    struct world *world; /**< gets where the handler begins; known: it has begun */
};
/** Runs until it begins. @return CPS_STOP_BUDGET if it does, or after @p most_ticks */
enum cps_stop stage_run_until(struct play *play, struct stage_watch *watch, uint32_t most_ticks);

/* ---- compare.c ---- */

/** Words that a switch of contexts stores and that differ whatever ran before it: return addresses,
 * and what revisions keep otherwise. */
#define STAGE_CONTEXT 256u
struct stage_context {
    uint64_t address[STAGE_CONTEXT];
    unsigned count;
};
/** Finds them, with packets that do nothing. */
CPS_MUST_USE struct cps_err *stage_context(const struct stage *stage, const char *inject,
                                           struct stage_context *ret);
bool stage_is_context(const struct stage_context *context, uint64_t address);
/** Gives an event of the new revision the number that its private control register has in the old
 * one. */
void stage_renumber(const struct code *code, struct cps_event *event);
/** Leaves a description of how both runs ended, if differently. @return whether they did */
bool stage_ends_differ(const struct record record[2], char *ret, size_t size);

/** What a processor of both revisions does differently with a stream, first, from its packet on. */
struct stage_answer {
    bool different;
    bool hidden; /**< only in control registers */
    char text[200];
};
/** @param code  says what private control registers and addresses of the new revision are in the
 * old one
 * @param text  PM4 text @param mark  the packet from which on they are compared */
CPS_MUST_USE struct cps_err *stage_compare(const struct stage *stage, enum cps_processor who,
                                           const struct code *code, const struct cps_buf *text,
                                           const struct stage_mark *mark, struct stage_answer *ret);
/** The same of the boots, which both have come through. @param ret_known  gets whether the boots
 * are kept, and the processor does anything in them */
void stage_compare_boots(const struct stage *stage, enum cps_processor who, const struct code *code,
                         bool *ret_known, struct stage_answer *ret);

#endif
