/* SPDX-License-Identifier: MIT
 * Pipe registers of afuc: Mesa's adreno_pipe_regs.xml has those from 0x80 on of a6xx and a7xx but
 * 0xa3 to 0xa5 and 0xec, which are the firmware's (6ee 1cab, 740 0c23 and 02f9); those of the ME of
 * a5xx are a530's (afuc-machine, 4). Not made from emu/afuc/control/pipe.def.
 *
 * PIPE(name, a5xx, a6xx, a7xx, acts)  numbers, 0: there is none; a7xx is also a8xx
 *   acts  1: naming it in $addr is what it is for, it takes no data */
/* clang-format off */
PIPE(WAIT_FOR_IDLE,     0,    0x80, 0x87, 1)
PIPE(WFI_PEND_DECR,     0,    0x81, 0x81, 1)
PIPE(QUERY_PEND_DECR,   0,    0x82, 0x82, 1)
PIPE(WAIT_MEM_WRITES,   0xc4, 0x84, 0x84, 1)
PIPE(NRT_ADDR,          0,    0xa0, 0xa0, 0)
PIPE(NRT_ADDR_HI,       0,    0xa1, 0xa1, 0)
PIPE(NRT_DATA,          0,    0xa2, 0xa2, 0)
PIPE(NRT_KIND,          0,    0xa3, 0,    0)
PIPE(ONCHIP_INDEX,      0,    0,    0xa4, 0)
PIPE(ONCHIP_WAIT,       0,    0,    0xa5, 0)
PIPE(EVENT_CMD,         0,    0xe7, 0xe7, 0)
PIPE(EVENT_TS_ADDR,     0,    0xe8, 0xe8, 0)
PIPE(EVENT_TS_ADDR_HI,  0,    0xe9, 0xe9, 0)
PIPE(EVENT_TS_CTRL,     0,    0xea, 0xea, 0)
PIPE(EVENT_TS_DATA,     0,    0xeb, 0xeb, 0)
PIPE(EVENT_TS_DATA_HI,  0,    0,    0xec, 0)
PIPE(CONTEXT_START,     0xc1, 0,    0,    1)
PIPE(CONTEXT_END,       0xc2, 0,    0,    1)
PIPE(CONTEXT_START_2D,  0xc5, 0,    0,    1)
PIPE(CONTEXT_END_2D,    0xc6, 0,    0,    1)
PIPE(EVENT,             0xc7, 0,    0,    1)
PIPE(READ_COUNT,        0xe1, 0,    0,    0)
PIPE(CHECKPOINT_0,      0xf0, 0,    0,    0)
PIPE(CHECKPOINT_1,      0xf1, 0,    0,    0)
PIPE(CHECKPOINT_2,      0xf2, 0,    0,    0)
PIPE(CHECKPOINT_3,      0xf3, 0,    0,    0)
PIPE(CHECKPOINT_4,      0xf4, 0,    0,    0)
PIPE(IB1_RECORD_0,      0xf5, 0,    0,    0)
PIPE(IB1_RECORD_1,      0xf6, 0,    0,    0)
PIPE(IB1_RECORD_2,      0xf7, 0,    0,    0)
PIPE(IB1_RECORD_3,      0xf8, 0,    0,    0)
PIPE(IB2_RECORD_0,      0xf9, 0,    0,    0)
PIPE(IB2_RECORD_1,      0xfa, 0,    0,    0)
PIPE(IB2_RECORD_2,      0xfb, 0,    0,    0)
PIPE(IB2_RECORD_3,      0xfc, 0,    0,    0)
#undef PIPE
/* clang-format on */
