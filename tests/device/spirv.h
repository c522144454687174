/* SPDX-License-Identifier: MIT
 * Shaders with an empty main, written as instructions of SPIR-V 1.0 (its specification has the
 * numbers). Drivers compile them; a virtual GPU does not run them. */
#ifndef TESTS_DEVICE_SPIRV_H
#define TESTS_DEVICE_SPIRV_H

#include <stdint.h>

/* An instruction: its length and number in one word, then its operands. */
#define OP(number, ...)                                                                      \
    ((uint32_t)(1 + sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)) << 16 | (number)), \
        __VA_ARGS__
#define OP_ALONE(number) (1u << 16 | (number))

#define HEADER        0x07230203, 0x00010000, 0, 16, 0
#define CAPABILITY(n) OP(17, n)
#define MEMORY_MODEL  OP(14, 0, 1)
#define MAIN          0x6e69616d, 0 /* "main" */
#define VOID          1
#define FUNCTION_TYPE 2
#define ENTRY         3
#define BODY                                                                                      \
    OP(19, VOID), OP(33, FUNCTION_TYPE, VOID), OP(54, VOID, ENTRY, 0, FUNCTION_TYPE), OP(248, 4), \
        OP_ALONE(253), OP_ALONE(56)

enum { IN_VERTEX, IN_CONTROL, IN_EVALUATION, IN_GEOMETRY, IN_FRAGMENT, IN_COMPUTE };

static const uint32_t spirv_vertex[] = {HEADER, CAPABILITY(1), MEMORY_MODEL,
                                        OP(15, IN_VERTEX, ENTRY, MAIN), BODY};
static const uint32_t spirv_control[] = {HEADER,
                                         CAPABILITY(3),
                                         MEMORY_MODEL,
                                         OP(15, IN_CONTROL, ENTRY, MAIN),
                                         OP(16, ENTRY, 26, 3), /* OutputVertices */
                                         BODY};
static const uint32_t spirv_evaluation[] = {HEADER,
                                            CAPABILITY(3),
                                            MEMORY_MODEL,
                                            OP(15, IN_EVALUATION, ENTRY, MAIN),
                                            OP(16, ENTRY, 22), /* Triangles */
                                            OP(16, ENTRY, 1),  /* SpacingEqual */
                                            OP(16, ENTRY, 5),  /* VertexOrderCcw */
                                            BODY};
static const uint32_t spirv_geometry[] = {HEADER,
                                          CAPABILITY(2),
                                          MEMORY_MODEL,
                                          OP(15, IN_GEOMETRY, ENTRY, MAIN),
                                          OP(16, ENTRY, 22),    /* Triangles */
                                          OP(16, ENTRY, 0, 1),  /* Invocations */
                                          OP(16, ENTRY, 29),    /* OutputTriangleStrip */
                                          OP(16, ENTRY, 26, 3), /* OutputVertices */
                                          BODY};
static const uint32_t spirv_fragment[] = {HEADER,
                                          CAPABILITY(1),
                                          MEMORY_MODEL,
                                          OP(15, IN_FRAGMENT, ENTRY, MAIN),
                                          OP(16, ENTRY, 7), /* OriginUpperLeft */
                                          BODY};
static const uint32_t spirv_compute[] = {HEADER,
                                         CAPABILITY(1),
                                         MEMORY_MODEL,
                                         OP(15, IN_COMPUTE, ENTRY, MAIN),
                                         OP(16, ENTRY, 17, 1, 1, 1), /* LocalSize */
                                         BODY};
/* Writes its position to buffer 0, of 16 bytes a vertex. */
static const uint32_t spirv_feedback[] = {HEADER,
                                          CAPABILITY(1),
                                          CAPABILITY(53), /* TransformFeedback */
                                          MEMORY_MODEL,
                                          OP(15, IN_VERTEX, ENTRY, MAIN, 8),
                                          OP(16, ENTRY, 11), /* Xfb */
                                          OP(71, 8, 11, 0),  /* BuiltIn Position */
                                          OP(71, 8, 36, 0),  /* XfbBuffer */
                                          OP(71, 8, 37, 16), /* XfbStride */
                                          OP(71, 8, 35, 0),  /* Offset */
                                          OP(22, 5, 32),     /* float */
                                          OP(23, 6, 5, 4),   /* vec4 */
                                          OP(32, 7, 3, 6),   /* pointer to an output */
                                          OP(43, 5, 9, 0),   /* 0.0 */
                                          OP(44, 6, 10, 9, 9, 9, 9),
                                          OP(59, 7, 8, 3),
                                          OP(19, VOID),
                                          OP(33, FUNCTION_TYPE, VOID),
                                          OP(54, VOID, ENTRY, 0, FUNCTION_TYPE),
                                          OP(248, 4),
                                          OP(62, 8, 10),
                                          OP_ALONE(253),
                                          OP_ALONE(56)};

#endif
