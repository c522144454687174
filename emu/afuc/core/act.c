/* SPDX-License-Identifier: MIT
 * The rows of isa/afuc.def by micro-operation. */
#include "emu/afuc/core/act.h"

/* Columns of rows ACT; a row OP that names none does not compile. */
enum {
#define DST                          (INT32_C(1) << R_USRADDR)
#define CARRY                        (INT32_C(1) << R_ADDR)
#define CONTROL                      INT32_C(1)
#define BIT(number)                  (INT32_C(1) << (number))
#define ACT(id, kind, reads, writes) READS_##id = (reads), WRITES_##id = (writes),
#include "isa/afuc.def"
};

static const struct afuc_row rows[UOP_COUNT] = {
#define OP(id, text, kind, flow, act, ...) ROW_##kind(id, flow, act, #__VA_ARGS__)
#define ROW(act, id, flow, data, text)                                         \
    {                                                                          \
        act, CPS_AFUC_##id, CPS_FLOW_##flow, text, READS_##data, WRITES_##data \
    }
#define ROW_ALU(id, flow, data, text)                            \
    [UOP_##id##_RR] = ROW(ACT_EXPRESSION, id, flow, data, text), \
    [UOP_##id##_RI] = ROW(ACT_EXPRESSION, id, flow, data, text), \
    [UOP_##id##_ANY] = ROW(ACT_EXPRESSION, id, flow, data, text),
#define ROW_IF(id, flow, data, text)  [UOP_##id] = ROW(ACT_CONDITION, id, flow, data, text),
#define ROW_OWN(id, flow, data, text) [UOP_##id] = ROW(ACT_##data, id, flow, data, text),
#include "isa/afuc.def"
    [UOP_ILLEGAL] = {ACT_ILLEGAL, CPS_AFUC_NONE, CPS_FLOW_END, "", 0, 0},
};

const struct afuc_row *afuc_row_(unsigned code)
{
    return &rows[code == UOP_BULK ? UOP_OR_ANY : code];
}

/* An expression finds only what its row ACT says that it reads and writes: d and carry are declared
 * for it or are not. */
uint32_t afuc_evaluate_(unsigned code, uint32_t a, uint32_t b, uint32_t old, uint32_t *flag)
{
    uint32_t value = 0;
    uint64_t t = 0;
    switch (code == UOP_BULK ? UOP_OR_ANY : code) {
#define OP(id, text, kind, flow, act, ...) VALUE_##kind(id, act, __VA_ARGS__)
#define VALUE_ALU(id, act, ...) \
    case UOP_##id##_RR:         \
    case UOP_##id##_RI:         \
    case UOP_##id##_ANY: {      \
        HAS_##act;              \
        value = (__VA_ARGS__);  \
        GIVES_##act;            \
        break;                  \
    }
#define VALUE_IF(id, act, ...)      \
    case UOP_##id:                  \
        value = (__VA_ARGS__) != 0; \
        break;
#define VALUE_OWN(id, act, meaning)
#define HAS_PLAIN
#define HAS_OLD_DST   const uint32_t d = old
#define HAS_CARRY_IN  const uint32_t carry = *flag
#define HAS_CARRY_OUT uint32_t carry
#define GIVES_PLAIN
#define GIVES_OLD_DST
#define GIVES_CARRY_IN
#define GIVES_CARRY_OUT *flag = carry
#include "isa/afuc.def"
    default:
        break;
    }
    (void)t;
    return value;
}
