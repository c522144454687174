/* SPDX-License-Identifier: MIT
 * Numbers of the format of KGSL snapshots beside those of snapshot.def, for the reader and for the
 * tests' writer. Private to trace/. */
#ifndef CPS_SNAPSHOT_H
#define CPS_SNAPSHOT_H

#include <stdint.h>

#define CPS_SNAPSHOT_MAGIC   0x504d0002u /* the low half is the version */
#define CPS_SNAPSHOT_SECTION 0xabcdu
#define CPS_SNAPSHOT_NAME    64u
/* In front of one register in REGS_V2, of a range in MVC. */
#define CPS_SNAPSHOT_SINGLE 0x80000000u

/* The ids of sections: CPS_SNAPSHOT_REGS. */
#define SECTION(id, name, read) CPS_SNAPSHOT_##name = id,
enum cps_snapshot_id {
#include "trace/capture/snapshot.def"
};

/** Types of debug sections that are cpscope's own: for what the format has no place for. Those who
 * do not know them pass over them, as over any type. docs/formats.md says what they hold. */
enum cps_snapshot_own {
    CPS_SNAPSHOT_OWN_TEXT = 0x43505301, /* "CPS" */
    CPS_SNAPSHOT_OWN_NOTE,
    CPS_SNAPSHOT_OWN_GMU,
    CPS_SNAPSHOT_OWN_NAME,
};

#endif
