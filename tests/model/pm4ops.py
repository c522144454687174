# SPDX-License-Identifier: MIT
"""The packets of PM4 that the tests' own walker knows: name, opcode, and what each does to registers and memory.

Facts from Mesa's rnndb (registers/adreno/adreno_pm4.xml), src/freedreno/decode/cffdec.c and the drivers' use of the
packets. cpscope's tables are not used on purpose, so that a mistake there is not repeated here."""

# What a packet means for the walk.
WALK = "walk"    # the walker follows it: streams, groups, modes, conditions; it writes nothing itself
DATA = "data"    # the walker predicts each register and each dword of memory that it writes (pm4data.py)
DRAW = "draw"    # executes the groups that are set (cffdec.c: load_all_groups)
NONE = "none"    # writes nothing that the stream names; the firmware may write registers of its own
OPEN = "open"    # writes registers or memory, and no document says which values, or they come from outside the stream

# name, opcode, meaning, generations, what is known of it
ROWS = (
    ("CP_NOP", 0x10, NONE, "5678", "its payload is nothing"),
    ("CP_INDIRECT_BUFFER", 0x3f, WALK, "5678", "calls a stream one level down"),
    ("CP_INDIRECT_BUFFER_CHAIN", 0x57, WALK, "678", "goes on in another stream of the same level"),
    ("CP_SET_DRAW_STATE", 0x43, WALK, "5678", "sets groups; a5xx: only what disables them"),
    ("CP_SET_MODE", 0x63, WALK, "678", "bit 0: groups are executed where they are set"),
    ("CP_SET_MARKER", 0x65, WALK, "678", "the render mode"),
    ("CP_THREAD_CONTROL", 0x17, WALK, "78", "which of BR and BV execute what follows"),
    ("CP_COND_REG_EXEC", 0x47, WALK, "5678", "skips dwords; a5xx: by the predicate, by two registers"),
    ("CP_COND_EXEC", 0x44, WALK, "5678", "skips dwords"),
    ("CP_REG_TEST", 0x39, WALK, "5678", "sets a bit of the predicate"),
    ("CP_START_BIN", 0x50, WALK, "678", "repeats what follows for each bin, behind a stream of its own; from a650 on"),
    ("CP_END_BIN", 0x51, WALK, "678", "the end of what is repeated"),
    ("CP_WAIT_REG_MEM", 0x3c, WALK, "5678", "goes on at once if its comparison holds; else the run assumes a value"),
    ("CP_WAIT_MEM_GTE", 0x14, WALK, "56", "signed; as above"),
    ("CP_WAIT_TIMESTAMP", 0x14, WALK, "78", "as above, on-chip or in memory"),
    ("CP_WAIT_TWO_REGS", 0x70, WALK, "56", "goes on if the first is not 0 or the second is not the reference"),
    ("CP_TEST_TWO_MEMS", 0x71, WALK, "56", "the kernel's lock: goes on if the first is 0 or the second not the reference"),

    ("CP_CONTEXT_REG_BUNCH", 0x5c, DATA, "5678", "pairs of register and value"),
    ("CP_CONTEXT_REG_BUNCH2", 0x5d, DATA, "78", "the older name of the next"),
    ("CP_NON_CONTEXT_REG_BUNCH", 0x5d, DATA, "78", "two words, then pairs"),
    ("CP_REG_RMW", 0x21, DATA, "5678", "and, rotate, or or add, with registers or numbers"),
    ("CP_MEM_WRITE", 0x3d, DATA, "5678", "memory, which may be a stream"),
    ("CP_MEM_TO_MEM", 0x73, DATA, "5678", "a sum of up to three, each negated or not, of 32 or 64 bits"),
    ("CP_MEMCPY", 0x75, DATA, "678", "dwords, from memory to memory"),
    ("CP_REG_TO_MEM", 0x3e, DATA, "5678", "as many as it says, added to memory or not, of 32 or 64 bits"),
    ("CP_REG_TO_MEM_OFFSET_REG", 0x72, DATA, "678", "the same, at an address that registers or scratch move"),
    ("CP_REG_TO_MEM_OFFSET_MEM", 0x74, DATA, "678", "the same, at an address that memory moves"),
    ("CP_MEM_TO_REG", 0x42, DATA, "5678", "as many as it says, shifted by 2 or not"),
    ("CP_COND_WRITE5", 0x45, DATA, "5678", "a register or memory, by a comparison"),
    ("CP_REG_TO_SCRATCH", 0x4a, DATA, "5678", "the processor's scratch, which the walker keeps"),
    ("CP_SCRATCH_TO_REG", 0x4d, DATA, "5678", "registers, from scratch"),
    ("CP_SCRATCH_WRITE", 0x4c, DATA, "56", "scratch"),
    ("CP_MEM_TO_SCRATCH_MEM", 0x49, DATA, "78", "on-chip memory that CP_REG_TEST reads"),
    ("CP_EVENT_WRITE", 0x46, DATA, "56", "memory: the value of a time stamp event; the registers are the firmware's own"),
    ("CP_EVENT_WRITE7", 0x46, DATA, "78", "memory: one or two words, registers, a time; the registers are its own"),
    ("CP_RECORD_PFP_TIMESTAMP", 0x11, DATA, "5678", "memory: two dwords of a clock, whose values stay open"),

    ("CP_DRAW_INDX", 0x22, DRAW, "678", ""),
    ("CP_DRAW_AUTO", 0x24, DRAW, "678", ""),
    ("CP_DRAW_INDIRECT", 0x28, DRAW, "5678", ""),
    ("CP_DRAW_INDX_INDIRECT", 0x29, DRAW, "5678", ""),
    ("CP_DRAW_INDIRECT_MULTI", 0x2a, DRAW, "678", ""),
    ("CP_DRAW_INDX_OFFSET", 0x38, DRAW, "5678", ""),
    ("CP_RUN_OPENCL", 0x31, DRAW, "78", ""),
    ("CP_EXEC_CS", 0x33, DRAW, "5678", ""),
    ("CP_EXEC_CS_INDIRECT", 0x41, DRAW, "5678", ""),

    ("CP_WAIT_MEM_WRITES", 0x12, NONE, "5678", "waits"),
    ("CP_WAIT_FOR_ME", 0x13, NONE, "5678", "waits"),
    ("CP_GLOBAL_TIMESTAMP", 0x15, NONE, "78", "on-chip time stamp"),
    ("CP_LOCAL_TIMESTAMP", 0x16, NONE, "78", "on-chip time stamp"),
    ("CP_RESOURCE_LIST", 0x18, NONE, "78", "on-chip table of resources"),
    ("CP_DRAW_PRED_ENABLE_GLOBAL", 0x19, NONE, "678", "state of the firmware"),
    ("CP_DRAW_PRED_ENABLE_LOCAL", 0x1a, NONE, "678", "state of the firmware"),
    ("CP_BV_BR_COUNT_OPS", 0x1b, NONE, "78", "counters between BR and BV, waits"),
    ("CP_MODIFY_TIMESTAMP", 0x1c, NONE, "78", "on-chip time stamp"),
    ("CP_SKIP_IB2_ENABLE_GLOBAL", 0x1d, NONE, "5678", "state of the firmware: visibility is all here"),
    ("CP_RESET_CONTEXT_STATE", 0x1f, NONE, "78", "on-chip time stamps and resources"),
    ("CP_SKIP_IB2_ENABLE_LOCAL", 0x23, NONE, "5678", "state of the firmware: visibility is all here"),
    ("CP_WAIT_FOR_IDLE", 0x26, NONE, "5678", "waits"),
    ("CP_BLIT", 0x2c, NONE, "5678", "starts the 2D engine; executes no group (cffdec.c)"),
    ("CP_SET_SUBDRAW_SIZE", 0x35, NONE, "5678", "state of the firmware"),
    ("CP_CCHE_INVALIDATE", 0x3a, NONE, "78", "a cache"),
    ("CP_INTERRUPT", 0x40, NONE, "5678", "an interrupt"),
    ("CP_DRAW_PRED_SET", 0x4e, NONE, "678", "state of the firmware"),
    ("CP_SET_AMBLE", 0x55, NONE, "678", "names a stream that only a context switch executes"),
    ("CP_SET_VISIBILITY_OVERRIDE", 0x64, NONE, "5678", "state of the firmware: visibility is all here"),
    ("CP_PREEMPT_ENABLE_LOCAL", 0x6a, NONE, "5", "preemption"),
    ("CP_PREEMPT_DISABLE", 0x6c, NONE, "6", "preemption"),
    ("CP_SCOPE_CNTL", 0x6c, NONE, "78", "preemption"),

    ("CP_SET_BIN_DATA5_OFFSET", 0x2e, OPEN, "678", "registers of visibility streams"),
    ("CP_SET_BIN_DATA5", 0x2f, OPEN, "678", "registers of visibility streams"),
    ("CP_LOAD_STATE4", 0x30, OPEN, "5", "registers through which state is loaded"),
    ("CP_LOAD_STATE6_GEOM", 0x32, OPEN, "678", "registers through which state is loaded"),
    ("CP_LOAD_STATE6_FRAG", 0x34, OPEN, "678", "registers through which state is loaded"),
    ("CP_LOAD_STATE6", 0x36, OPEN, "678", "registers through which state is loaded"),
    ("CP_PERFCOUNTER_ACTION", 0x50, OPEN, "5", "no document says what its words are"),
    ("CP_SMMU_TABLE_UPDATE", 0x53, OPEN, "5678", "page table registers, where it is allowed"),
    ("CP_SET_PSEUDO_REG", 0x56, OPEN, "678", "some of them are registers, and no document says which numbers they have"),
    ("CP_WHERE_AM_I", 0x62, OPEN, "678", "memory: a position in the ring, of which a stream knows nothing"),
    ("CP_CONTEXT_SWITCH_YIELD", 0x6b, OPEN, "5678", "memory, preemption: what is written when is in no document"),
    ("CP_SET_RENDER_MODE", 0x6c, OPEN, "5", "names and sizes of save areas; its registers are the firmware's own"),
    ("CP_REG_WRITE", 0x6d, OPEN, "6", "the register, but those that the firmware tracks later or changed"),
    ("CP_COMPUTE_CHECKPOINT", 0x6e, OPEN, "5", "a place to save to, a stream to restore with"),
)

# Where firmware does something else than the documents say, or where they leave it open and all firmware of the corpus agrees:
# packet, generations, the document, the firmware, its code. The walker follows the firmware.
FIRMWARE = (
    ("CP_COND_EXEC", "5678", "executes if the second dword is below the reference, signed",
     "equal is enough, and what counts is the sign of the difference of 32 bits", "a680_sqe 0858 to 085a"),
    ("CP_WAIT_TWO_REGS", "56", "waits for the first register to not be 0", "waits for it to be 0",
     "a680_sqe 06b2, a660_sqe-094 and a650_sqe-089 the same"),
    ("CP_WAIT_REG_MEM", "5678", "SIGNED_COMPARE", "the sign of the difference of 32 bits: not a signed comparison if they are far apart",
     "a680_sqe 08dc to 08e0, a530_pm4 079c to 07a0"),
    ("CP_COND_WRITE5", "5678", "SIGNED_COMPARE", "as CP_WAIT_REG_MEM", "the same function"),
    ("CP_COND_WRITE5", "78", "POLL_ON_CHIP", "of the number of the word three bits count", "a740_sqe 0e32, 1042"),
    ("CP_WAIT_MEM_GTE", "56", "signed", "the sign of the difference", "a680_sqe 087e, 087f"),
    ("CP_REG_TO_MEM", "5678", "64B", "an odd count is one more, and the address is rounded down to 8 bytes; the _OFFSET ones, too",
     "a680_sqe 05d6 to 05dc"),
    ("CP_REG_TO_MEM_OFFSET_REG", "678", "one or two offsets", "the second is the high half of the first", "a740_sqe 08fa to 08fc"),
    ("CP_MEM_TO_REG", "5678", "bit 18 is not described", "it keeps the register number where it is; from a6xx on not beside bit 31, "
     "whose wait loses the word", "a680_sqe 066c to 066f, 0925; a740_sqe 09bb to 09bd, 0c78"),
    ("CP_DRAW_INDIRECT", "678", "a draw", "a draw of nothing executes no group; what is generated draws something", "a680_sqe 041d, 0c87"),
    ("CP_START_BIN", "78", "prefixes are executed in an IB2", "the first is; those of later bins are queued on level 1",
     "a740_sqe 0ef6, 0f1b to 0f20"),
    ("CP_CONTEXT_REG_BUNCH", "5", "pairs", "at least one pair, else the words of the next packets are taken; numbers get the bank",
     "a530_pm4 0414 to 0416"),
    ("CP_COND_REG_EXEC", "7", "REG_COMPARE: two registers", "a730 reads the second from on-chip memory all the same; not generated there",
     "a730_sqe-142 0bb8 to 0bbb"),
)

# The words in front of the pairs of the packets that hold pairs: cffdec.c drops two of 0x5d.
PAIRS = {0x5c: ("bunch", 0), 0x5d: ("nonctx", 2)}

NUMBERS = {}    # name to opcode
for _row in ROWS:
    NUMBERS.setdefault(_row[0], _row[1])
NUMBERS["CP_INDIRECT_BUFFER_PFE"] = 0x3f


def describe(generation):
    """Opcode to (name, meaning, knowledge) for generation 5, 6, 7 or 8."""
    return {op: (name, meaning, known) for name, op, meaning, gens, known in ROWS if str(generation) in gens}


def odd_parity(value):
    """The bit that makes the number of ones odd."""
    return bin(value).count("1") & 1 ^ 1


def header7(opcode, count):
    return 7 << 28 | odd_parity(opcode) << 23 | opcode << 16 | odd_parity(count) << 15 | count


def header4(register, count):
    return 4 << 28 | odd_parity(register) << 27 | register << 8 | odd_parity(count) << 7 | count
