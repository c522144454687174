/* SPDX-License-Identifier: MIT
 * GPU registers that something behind them answers, or that the machine has set before the firmware
 * starts: of all others the first read is UNMODELLED. From the register databases of the
 * generations and from what firmware does with them (the rows of unit/test_pipe.c say what); not
 * made from emu/afuc/control/gpu.def.
 *
 * GPU(name, layouts, first, last) */
/* clang-format off */
GPU(CP_RB_BASE,                 BOTH | A7XX | GEN3,        0x00800, 0x00801)
GPU(CP_RB_RPTR_WR,              BOTH | A7XX | GEN3,        0x00803, 0x00803)
GPU(CP_RB_RPTR,                 BOTH | A7XX | GEN3,        0x00806, 0x00806)
GPU(CP_RB_WPTR,                 BOTH | A7XX | GEN3,        0x00807, 0x00807)
GPU(CP_RB_RPTR_BV,              A7XX | GEN3,               0x00a66, 0x00a66)
GPU(CP_COMMAND,                 BOTH | A7XX | GEN3,        0x00833, 0x00833)
GPU(CP_MRB_IOVA,                BOTH | A7XX | GEN3,        0x00931, 0x00932)
GPU(CP_MRB_DWORDS,              BOTH | A7XX | GEN3,        0x00933, 0x00933)
GPU(CP_MRB_SIZE,                BOTH | A7XX | GEN3,        0x00946, 0x00946)
GPU(CP_MRB_WORDS,               BOTH | A7XX | GEN3,        0x0094c, 0x0094c)
GPU(CP_ALWAYS_ON_COUNTER,       BOTH | A7XX | GEN3,        0x00980, 0x00981)
GPU(CP_ALWAYS_ON_CONTEXT,       BOTH | A7XX | GEN3,        0x00982, 0x00983)
GPU(CP_ALWAYS_ON_COUNTER_A8XX,  A8XX,                      0x008e7, 0x008e8)
GPU(CP_ALWAYS_ON_CONTEXT_A8XX,  A8XX,                      0x008e9, 0x008ea)
GPU(GMU_ALWAYS_ON_COUNTER,      SQES,                      0x1f888, 0x1f889)
GPU(SMMU_STALL_ACK,             SQES | A5XX,               0x03801, 0x03801)
GPU(SMMU_STALL_ACK_OTHERS,      SQES,                      0x03c46, 0x03c46)
GPU(RBBM_GBIF_HALT_ACK,         BOTH | A7XX | GEN3,        0x00017, 0x00017)
GPU(RBBM_GBIF_HALT_ACK_A8XX,    A8XX,                      0x0000b, 0x0000b)
GPU(RBBM_PERFCTR_SRAM_INIT_STATUS, BOTH | A7XX | GEN3,     0x0050f, 0x0050f)
GPU(RBBM_PERFCTR_SRAM_INIT_STATUS_A8XX, A8XX,              0x0019f, 0x0019f)
GPU(CP_SQE_STAT_DATA,           SQES,                      0x00909, 0x00909)
GPU(CP_BV_SQE_STAT_DATA,        A7XX | GEN3,               0x00a88, 0x00a88)
GPU(VSC_STATE,                  SQES,                      0x00c38, 0x00c57)
GPU(VSC_PRIM_STRM_SIZE,         SQES,                      0x00c58, 0x00c77)
GPU(VSC_DRAW_STRM_SIZE,         SQES,                      0x00c78, 0x00c97)
GPU(PC_INITIATORS,              BOTH | A7XX | GEN3,        0x09840, 0x09842)
GPU(PC_2D_EVENT_CMD,            BOTH,                      0x09c00, 0x09c00)
GPU(PC_INITIATORS_A8XX,         A8XX,                      0x09800, 0x09802)
GPU(PC_INITIATORS_A5XX,         A5XX,                      0x0e3a0, 0x0e3a2)
GPU(PC_INITIATORS_A5XX_1,       A5XX,                      0x0eba0, 0x0eba2)
GPU(PC_2D_EVENT_CMD_A5XX,       A5XX,                      0x02080, 0x02080)
GPU(PC_2D_EVENT_CMD_A5XX_1,     A5XX,                      0x02480, 0x02480)
GPU(RBBM_PIPESTAT,              BOTH | A7XX | GEN3,        0x00540, 0x00555)
GPU(RBBM_PIPESTAT_A8XX,         A8XX,                      0x00380, 0x0039b)
GPU(BARRIER_DONE,               A8XX,                      0x001a2, 0x001a2)
GPU(BARRIER_BUSY,               A8XX,                      0x005c5, 0x005c5)
GPU(CP_ME_READ,                 A5XX,                      0x0080d, 0x0080f)
GPU(CP_ME_WRITE,                A5XX,                      0x00810, 0x00812)
GPU(CP_ME_STAMP,                A5XX,                      0x00813, 0x00816)
GPU(CP_ME_PENDING,              A5XX,                      0x00b15, 0x00b16)
GPU(CP_LPAC_SQE_CNTL,           BOTH,                      0x00b81, 0x00b81)
/* CP_PROTECT's switch only asks whether it is on. */
GPU(CP_PFP_INSTR_BASE,          A5XX,                      0x00835, 0x00836)
GPU(CP_ME_INSTR_BASE,           A5XX,                      0x00838, 0x00839)
GPU(CP_SQE_INSTR_BASE,          BOTH | A7XX | GEN3,        0x00830, 0x00831)
GPU(CP_SQE_INSTR_BASE_A8XX,     A8XX,                      0x00816, 0x00817)
#undef GPU
/* clang-format on */
