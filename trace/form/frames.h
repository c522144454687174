/* SPDX-License-Identifier: MIT
 * What a processor is in, told from its events: the stream, the packet, and where steps are
 * recorded and the code is known, the calls. A stream that a call waits for, as a draw waits for
 * its draw state, is inside of the call. Private to trace/ and tools/. */
#ifndef CPS_FRAMES_H
#define CPS_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/isa.h"
#include "trace/event/event.h"

/** Frames that can be open; what is deeper counts for the last one. */
#define CPS_FRAMES_MOST_ 64u

/** What a frame is; its `key` is of this kind. */
enum cps_frame_kind {
    CPS_FRAME_LEVEL,     /**< a stream: CPS_LEVEL_* */
    CPS_FRAME_BOOT,      /**< what runs before the first packet; no key */
    CPS_FRAME_PACKET,    /**< its header */
    CPS_FRAME_CALL,      /**< the dword that the function begins at */
    CPS_FRAME_INTERRUPT, /**< what hardware entered: the same */
};

struct cps_frame {
    uint8_t kind; /**< enum cps_frame_kind */
    bool ended;   /**< of a stream: its end has come */
    uint32_t key;
    uint32_t site; /**< of a call: its dword */
    uint32_t back; /**< of a call or an interrupt: the dword that it returns to */
    uint64_t user; /**< the user's */
    uint64_t own;  /**< the user's, too */
};

/** An instruction that goes somewhere. */
struct cps_frames_branch {
    uint32_t pc;
    uint8_t flow;  /**< as cps_flow_code(); 0: there is none */
    uint8_t slots; /**< instructions that still run before it does */
};

/** A processor. Zero-initialised has not begun. */
struct cps_frames {
    struct cps_frame frame[CPS_FRAMES_MOST_];
    unsigned depth;
    unsigned packet;                         /**< 1 + index of the innermost packet, or 0 */
    uint32_t pc;                             /**< of the last step */
    bool stepped;                            /**< there was one */
    struct cps_frames_branch branch, second; /**< those that have not gone yet */
};

/** Who is told of frames that open, which are on top then, and close, which are not any more. */
struct cps_frames_user {
    void (*opened)(void *context, struct cps_frames *frames, struct cps_frame *frame);
    void (*closed)(void *context, struct cps_frames *frames, struct cps_frame *frame);
    void *context;
};

/** Opens the frame of the boot, if nothing has happened yet. */
void cps_frames_begin_(struct cps_frames *frames, const struct cps_frames_user *user);
/** Takes a PKT. */
void cps_frames_packet_(struct cps_frames *frames, const struct cps_frames_user *user,
                        const struct cps_event *packet);
/** Takes a STEP at @p pc. @param flow  of the instruction there, as cps_flow_code() */
void cps_frames_step_(struct cps_frames *frames, const struct cps_frames_user *user, uint32_t pc,
                      uint8_t flow);
/** Closes all but the outermost @p depth frames. */
void cps_frames_close_(struct cps_frames *frames, const struct cps_frames_user *user,
                       unsigned depth);

#endif
