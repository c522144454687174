/* SPDX-License-Identifier: MIT
 * Expands the operations of isa/nv/vp1.def: those of a kind for which ROW_KIND(id, meaning...) is
 * defined, nothing of the others. Without a guard: each expansion includes it again. */
#ifndef ROW_S
#define ROW_S(...)
#endif
#ifndef ROW_V
#define ROW_V(...)
#endif
#ifndef ROW_A
#define ROW_A(...)
#endif
#ifndef ROW_B
#define ROW_B(...)
#endif
#ifndef ROW_STOP
#define ROW_STOP(...)
#endif
#ifndef ROW_FULL
#define ROW_FULL(...)
#endif
#ifndef ROW_FULLZ
#define ROW_FULLZ(...)
#endif
#ifndef ROW_PART
#define ROW_PART(...)
#endif
#ifndef ROW_SBYTE
#define ROW_SBYTE(...)
#endif
#ifndef ROW_UBYTE
#define ROW_UBYTE(...)
#endif
#ifndef ROW_VS
#define ROW_VS(...)
#endif
#ifndef ROW_VU
#define ROW_VU(...)
#endif
#ifndef ROW_VSH
#define ROW_VSH(...)
#endif
#ifndef ROW_VLOG
#define ROW_VLOG(...)
#endif
#ifndef ROW_MAD
#define ROW_MAD(...)
#endif
#ifndef ROW_LRP
#define ROW_LRP(...)
#endif
#ifndef ROW_ACCESS
#define ROW_ACCESS(...)
#endif
#ifndef ROW_IF
#define ROW_IF(...)
#endif
#define OP(id, text, kind, flow, ...) ROW_##kind(id, __VA_ARGS__)
#include "isa/nv/vp1.def"
#undef ROW_S
#undef ROW_V
#undef ROW_A
#undef ROW_B
#undef ROW_STOP
#undef ROW_FULL
#undef ROW_FULLZ
#undef ROW_PART
#undef ROW_SBYTE
#undef ROW_UBYTE
#undef ROW_VS
#undef ROW_VU
#undef ROW_VSH
#undef ROW_VLOG
#undef ROW_MAD
#undef ROW_LRP
#undef ROW_ACCESS
#undef ROW_IF
