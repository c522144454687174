/* SPDX-License-Identifier: MIT
 * The firmware that ran when a dump was taken, as far as the dump holds it: the processor's
 * instruction cache with its tags, and the packet table (a6xx: CP_UCODE_DBG). What the cache lacks
 * comes from a near revision, moved to where the dump's code is. Not installed. */
#ifndef CPS_FW_ICACHE_H
#define CPS_FW_ICACHE_H

#include "fw/image/place.h"

/** Images of a6xx are below 0x4000 dwords; tags and donors beyond twice that are damage. */
#define CPS_FW_ICACHE_WORDS 0x8000u

/** How much is known about a word. */
enum cps_fw_mark {
    CPS_FW_UNKNOWN,  /**< a guess: both revisions differ somewhere around it */
    CPS_FW_DONOR,    /**< of the other revision, between places where both agree */
    CPS_FW_HARDWARE, /**< from the cache */
};

/** A place around which a dump's image and the donor differ in length: nobody knows which of the
 * words between two that agree were put in or taken out. */
struct cps_fw_hole {
    uint32_t first, end; /**< unknown words, in the dump's addresses */
    uint32_t gap;        /**< words that the donor lacks */
    uint32_t split;      /**< where they are, or where the donor's further words are left out */
    uint32_t *before;    /**< `end - first` words as they follow what is in front; owned */
    uint32_t *after;     /**< as they lead up to what is after; owned */
};

/** Words by their dword address in the image. */
struct cps_fw_icache {
    uint32_t *word;   /**< at least `count`; 0 where nothing is known; owned */
    uint8_t *mark;    /**< the same, of enum cps_fw_mark; owned */
    uint32_t count;   /**< one after the last known word, or after the recovered image */
    uint32_t lines;   /**< of the running image */
    uint32_t version; /**< what the boot left in scratch 0x100; 0: not known */
    uint32_t table[CPS_FW_TABLE_SIZE];
    struct cps_fw_hole *hole; /**< of a recovered image, in order; owned */
    size_t holes;
};

/**
 * Reads the cache of a dump.
 * @param words  the block CP_UCODE_DBG: sections of 0x1000 dwords (H: dumps of a618 and a630)
 * @param count  how many; the kernel trims zeros at the end
 * @param ret    gets it; cps_fw_icache_deinit_() in any case
 * @return NULL; CPS_ERR_NOMEM; CPS_ERR_INPUT if the tags contradict each other
 */
CPS_MUST_USE struct cps_err *cps_fw_icache_read_(const uint32_t *words, size_t count,
                                                 struct cps_fw_icache *ret);
void cps_fw_icache_deinit_(struct cps_fw_icache *cache);

/** The handler that most of the CPS_FW_TABLE_SIZE entries of @p table share: that of packets which
 * there are not. */
uint32_t cps_fw_default_handler_(const uint32_t *table);
/** Which of the CPS_FW_TABLE_SIZE packets have a handler that is not that one. None is where
 * the image's header is. */
void cps_fw_own_handlers_(const uint32_t *table, bool *ret);
/** The packet whose handler is the last one at or before @p pc; -1 if there is none. */
int cps_fw_handler_before_(const uint32_t *table, uint32_t pc);
/** A word of @p fw without the bits that say where a branch goes. */
uint32_t cps_fw_untargeted_(const struct cps_fw *fw, uint32_t word);
/**
 * Where @p fw has the code that the cache has at @p pc: the one place at which the cached line, and
 * those beside it, have the same instructions but for where branches go.
 * @param ret  gets the dword address in part 0 of @p fw
 * @return false if the cache lacks the line, or there is no such place or more than one
 */
bool cps_fw_icache_locate_(const struct cps_fw_icache *cache, const struct cps_fw *fw, uint32_t pc,
                           uint32_t *ret);

/**
 * Makes the image that the dump's processor ran, with @p donor for what the cache lacks: both are
 * aligned by equal words and by the packet tables, targets of branches are moved along.
 * @param cache  in: what the dump has; out: with all words, and marks
 * @param ret    gets a handle, which the caller destroys
 * @return NULL; CPS_ERR_NOMEM; CPS_ERR_INPUT if the donor is no near revision
 */
CPS_MUST_USE struct cps_err *cps_fw_recover_(struct cps_fw_icache *cache,
                                             const struct cps_fw *donor, struct cps_fw **ret);

/** The word at @p at in a hole if it is split at @p split, between `first` and `end - gap`. */
uint32_t cps_fw_hole_word_(const struct cps_fw_hole *hole, enum cps_gen gen, uint32_t at,
                           uint32_t split);

/** As cps_fw_listing(), of an image that was recovered: what is not the hardware's own is marked in
 * the line's comment, as "(donor)" or "(unknown)". */
CPS_MUST_USE struct cps_err *cps_fw_listing_marked_(const struct cps_fw *fw,
                                                    const struct cps_fw_icache *cache,
                                                    const char *rnn_dir, struct cps_buf *out);

#endif
