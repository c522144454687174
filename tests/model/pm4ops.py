# SPDX-License-Identifier: MIT
"""The packets of PM4 that the tests' own walker knows: name, opcode, and what each does to registers.

Facts from Mesa's rnndb (registers/adreno/adreno_pm4.xml) and src/freedreno/decode/cffdec.c. cpscope's
tables are not used on purpose, so that a mistake there is not repeated here."""

# What a packet means for the walk.
WALK = "walk"    # the walker follows it: streams, groups, modes, conditions, writes that it predicts
DRAW = "draw"    # executes the groups that are set (cffdec.c: load_all_groups)
NONE = "none"    # writes no register that the stream names; the firmware may write its own
WRITES = "writes"    # writes registers with values that the walker does not predict

# name, opcode, meaning, generations (empty: all from a6xx on), what is known of it
ROWS = (
    ("CP_NOP", 0x10, NONE, "", "its payload is nothing"),
    ("CP_INDIRECT_BUFFER", 0x3f, WALK, "", "calls a stream one level down"),
    ("CP_INDIRECT_BUFFER_CHAIN", 0x57, WALK, "", "goes on in another stream of the same level"),
    ("CP_CONTEXT_REG_BUNCH", 0x5c, WALK, "", "pairs of register and value"),
    ("CP_CONTEXT_REG_BUNCH2", 0x5d, WALK, "78", "the older name of the next"),
    ("CP_NON_CONTEXT_REG_BUNCH", 0x5d, WALK, "78", "two words, then pairs"),
    ("CP_SET_DRAW_STATE", 0x43, WALK, "", "sets groups"),
    ("CP_SET_MODE", 0x63, WALK, "", "bit 0: groups are executed where they are set"),
    ("CP_SET_MARKER", 0x65, WALK, "", "the render mode"),
    ("CP_THREAD_CONTROL", 0x17, WALK, "78", "which of BR and BV execute what follows"),
    ("CP_COND_REG_EXEC", 0x47, WALK, "", "skips dwords"),
    ("CP_COND_EXEC", 0x44, WALK, "", "skips dwords"),
    ("CP_REG_TEST", 0x39, WALK, "", "sets a bit of the predicate"),
    ("CP_MEM_WRITE", 0x3d, WALK, "", "memory, which may be a stream"),

    ("CP_DRAW_INDX", 0x22, DRAW, "", ""),
    ("CP_DRAW_AUTO", 0x24, DRAW, "", ""),
    ("CP_DRAW_INDIRECT", 0x28, DRAW, "", ""),
    ("CP_DRAW_INDX_INDIRECT", 0x29, DRAW, "", ""),
    ("CP_DRAW_INDIRECT_MULTI", 0x2a, DRAW, "", ""),
    ("CP_DRAW_INDX_OFFSET", 0x38, DRAW, "", ""),
    ("CP_RUN_OPENCL", 0x31, DRAW, "78", ""),
    ("CP_EXEC_CS", 0x33, DRAW, "", ""),
    ("CP_EXEC_CS_INDIRECT", 0x41, DRAW, "", ""),

    ("CP_RECORD_PFP_TIMESTAMP", 0x11, NONE, "", "memory"),
    ("CP_WAIT_MEM_WRITES", 0x12, NONE, "", "waits"),
    ("CP_WAIT_FOR_ME", 0x13, NONE, "", "waits"),
    ("CP_WAIT_MEM_GTE", 0x14, NONE, "6", "waits"),
    ("CP_WAIT_TIMESTAMP", 0x14, NONE, "78", "waits"),
    ("CP_GLOBAL_TIMESTAMP", 0x15, NONE, "78", "on-chip time stamp"),
    ("CP_LOCAL_TIMESTAMP", 0x16, NONE, "78", "on-chip time stamp"),
    ("CP_RESOURCE_LIST", 0x18, NONE, "78", "on-chip table of resources"),
    ("CP_DRAW_PRED_ENABLE_GLOBAL", 0x19, NONE, "", "state of the firmware"),
    ("CP_DRAW_PRED_ENABLE_LOCAL", 0x1a, NONE, "", "state of the firmware"),
    ("CP_BV_BR_COUNT_OPS", 0x1b, NONE, "78", "counters between BR and BV, waits"),
    ("CP_MODIFY_TIMESTAMP", 0x1c, NONE, "78", "on-chip time stamp"),
    ("CP_SKIP_IB2_ENABLE_GLOBAL", 0x1d, NONE, "", "state of the firmware: visibility is all here"),
    ("CP_RESET_CONTEXT_STATE", 0x1f, NONE, "78", "on-chip time stamps and resources"),
    ("CP_SKIP_IB2_ENABLE_LOCAL", 0x23, NONE, "", "state of the firmware: visibility is all here"),
    ("CP_WAIT_FOR_IDLE", 0x26, NONE, "", "waits"),
    ("CP_BLIT", 0x2c, NONE, "", "starts the 2D engine; executes no group (cffdec.c)"),
    ("CP_SET_SUBDRAW_SIZE", 0x35, NONE, "", "state of the firmware"),
    ("CP_CCHE_INVALIDATE", 0x3a, NONE, "78", "a cache"),
    ("CP_WAIT_REG_MEM", 0x3c, NONE, "", "waits"),
    ("CP_REG_TO_MEM", 0x3e, NONE, "", "memory"),
    ("CP_INTERRUPT", 0x40, NONE, "", "an interrupt"),
    ("CP_EVENT_WRITE", 0x46, NONE, "6", "an event: the firmware's own registers, memory"),
    ("CP_EVENT_WRITE7", 0x46, NONE, "78", "an event: the firmware's own registers, memory"),
    ("CP_MEM_TO_SCRATCH_MEM", 0x49, NONE, "78", "on-chip memory"),
    ("CP_REG_TO_SCRATCH", 0x4a, NONE, "", "on-chip scratch"),
    ("CP_DRAW_PRED_SET", 0x4e, NONE, "", "state of the firmware"),
    ("CP_SET_AMBLE", 0x55, NONE, "", "names a stream that only a context switch executes"),
    ("CP_WHERE_AM_I", 0x62, NONE, "", "memory"),
    ("CP_SET_VISIBILITY_OVERRIDE", 0x64, NONE, "", "state of the firmware: visibility is all here"),
    ("CP_CONTEXT_SWITCH_YIELD", 0x6b, NONE, "", "memory, preemption"),
    ("CP_PREEMPT_DISABLE", 0x6c, NONE, "6", "preemption"),
    ("CP_SCOPE_CNTL", 0x6c, NONE, "78", "preemption"),
    ("CP_WAIT_TWO_REGS", 0x70, NONE, "6", "waits"),
    ("CP_REG_TO_MEM_OFFSET_REG", 0x72, NONE, "", "memory"),
    ("CP_MEM_TO_MEM", 0x73, NONE, "", "memory"),
    ("CP_REG_TO_MEM_OFFSET_MEM", 0x74, NONE, "", "memory"),
    ("CP_MEMCPY", 0x75, NONE, "", "memory"),

    ("CP_REG_RMW", 0x21, WRITES, "", "the value depends on the register"),
    ("CP_SET_BIN_DATA5_OFFSET", 0x2e, WRITES, "", "registers of visibility streams"),
    ("CP_SET_BIN_DATA5", 0x2f, WRITES, "", "registers of visibility streams"),
    ("CP_LOAD_STATE6_GEOM", 0x32, WRITES, "", "registers through which state is loaded"),
    ("CP_LOAD_STATE6_FRAG", 0x34, WRITES, "", "registers through which state is loaded"),
    ("CP_LOAD_STATE6", 0x36, WRITES, "", "registers through which state is loaded"),
    ("CP_MEM_TO_REG", 0x42, WRITES, "", "values from memory"),
    ("CP_COND_WRITE5", 0x45, WRITES, "", "a register or memory, by a condition"),
    ("CP_SCRATCH_TO_REG", 0x4d, WRITES, "", "values from on-chip scratch"),
    ("CP_SMMU_TABLE_UPDATE", 0x53, WRITES, "", "page table registers, where it is allowed"),
    ("CP_SET_PSEUDO_REG", 0x56, WRITES, "", "some of them are registers"),
    ("CP_REG_WRITE", 0x6d, WRITES, "6", "some registers are changed on the way"),
)

# The words in front of the pairs of the packets that hold pairs: cffdec.c drops two of 0x5d.
PAIRS = {0x5c: ("bunch", 0), 0x5d: ("nonctx", 2)}

NUMBERS = {}    # name to opcode
for _row in ROWS:
    NUMBERS.setdefault(_row[0], _row[1])


def describe(generation):
    """Opcode to (name, meaning, knowledge) for generation 6, 7 or 8."""
    return {op: (name, meaning, known) for name, op, meaning, gens, known in ROWS
            if not gens or str(generation) in gens}


def odd_parity(value):
    """The bit that makes the number of ones odd."""
    return bin(value).count("1") & 1 ^ 1


def header7(opcode, count):
    return 7 << 28 | odd_parity(opcode) << 23 | opcode << 16 | odd_parity(count) << 15 | count


def header4(register, count):
    return 4 << 28 | odd_parity(register) << 27 | register << 8 | odd_parity(count) << 7 | count
