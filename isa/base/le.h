/* SPDX-License-Identifier: MIT
 * Little-endian words in byte buffers: the one way to touch raw file contents. */
#ifndef CPS_LE_H
#define CPS_LE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A piece of memory that may be read but is not owned. */
struct cps_bytes {
    const uint8_t *data;
    size_t size; /**< bytes */
};

/** The 32-bit word at @p bytes, which need not be aligned. The caller has checked the length. */
static inline uint32_t cps_le32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

/** As cps_le32(), of 64 bits. */
static inline uint64_t cps_le64(const uint8_t *bytes)
{
    return cps_le32(bytes) | (uint64_t)cps_le32(bytes + 4) << 32;
}

/** Stores @p value at @p bytes, least significant byte first. */
static inline void cps_put_le32(uint8_t *bytes, uint32_t value)
{
    bytes[0] = (uint8_t)value;
    bytes[1] = (uint8_t)(value >> 8);
    bytes[2] = (uint8_t)(value >> 16);
    bytes[3] = (uint8_t)(value >> 24);
}

/** Reads the word at byte @p offset of @p from; false, and @p ret untouched, if it lies outside. */
static inline bool cps_rd32(struct cps_bytes from, size_t offset, uint32_t *ret)
{
    if (offset > from.size || from.size - offset < 4)
        return false;
    *ret = cps_le32(from.data + offset);
    return true;
}

/** As cps_rd32(), of 16 bits. */
static inline bool cps_rd16(struct cps_bytes from, size_t offset, uint16_t *ret)
{
    if (offset > from.size || from.size - offset < 2)
        return false;
    *ret = (uint16_t)(from.data[offset] | from.data[offset + 1] << 8);
    return true;
}

/** As cps_rd32(), of a byte. */
static inline bool cps_rd8(struct cps_bytes from, size_t offset, uint8_t *ret)
{
    if (offset >= from.size)
        return false;
    *ret = from.data[offset];
    return true;
}

#endif
