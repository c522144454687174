#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tests' own walker of PM4 streams and its comparison with traces, without any firmware: small
streams whose writes are written down here by hand, and traces with a mistake in them.
Usage: walker.py"""
import os
import sys

import pm4compare
import pm4ops
import pm4random
import pm4table
import pm4text
import pm4walk
import tap
from tree import ROOT

HEAD = "# cpscope-pm4 1\nchip 0x43050a01\n"
GROUPS = """
buffer 0x2000 a
    reg 0x8818 0xa
buffer 0x3000 b
    reg 0x8819 0xb
submit frame
"""


def walk(packets, rest="submit frame\n", processor=pm4walk.BR):
    return pm4walk.walk(HEAD + "buffer 0x1000 frame\n" + packets + "\n" + rest, processor)


def writes(packets, rest="submit frame\n", processor=pm4walk.BR):
    """Places and values, and that nothing was left undecided."""
    walker = walk(packets, rest, processor)
    assert not walker.problems and not walker.undecided, (walker.problems, walker.undecided)
    return [(write.at, write.value) for write in walker.writes]


def expect(found, wanted):
    assert found == wanted, "found %s, expected %s" % (found, wanted)


def headers_have_odd_parity():
    expect(hex(pm4ops.header7(0x10, 0)), "0x70108000")     # words of real streams
    expect(hex(pm4ops.header7(0x3f, 3)), "0x70bf8003")
    expect(hex(pm4ops.header4(0x885, 1)), "0x48088501")


def type_4_writes_registers_in_a_row():
    expect(writes("reg 0x8820 1 2\n.word 0x48088501 7"), [(0x8820, 1), (0x8821, 2), (0x885, 7)])


def bunches_write_pairs():
    expect(writes("CP_CONTEXT_REG_BUNCH 0x8820 1 0x8810 2"), [(0x8820, 1), (0x8810, 2)])
    expect(writes("CP_NON_CONTEXT_REG_BUNCH 1 0 0x8820 1 0x8810 2"), [(0x8820, 1), (0x8810, 2)])


def streams_are_called_three_levels_down():
    walker = walk("CP_INDIRECT_BUFFER @second #second\nreg 0x10 1",
                  "buffer 0x2000 second\nCP_INDIRECT_BUFFER @third #third\nreg 0x11 2\n"
                  "buffer 0x3000 third\nreg 0x12 3\nsubmit frame\n")
    expect([(write.at, write.packet.level, write.packet.iova) for write in walker.writes],
           [(0x12, "ib3", 0x3000), (0x11, "ib2", 0x2010), (0x10, "ib1", 0x1010)])


def chain_stays_on_its_level():
    walker = walk("CP_INDIRECT_BUFFER_CHAIN @more #more", "buffer 0x2000 more\nreg 0x11 2\nsubmit frame\n")
    expect([(write.at, write.packet.level) for write in walker.writes], [(0x11, "ib1")])


def groups_wait_for_the_draw_in_the_order_of_numbers():
    expect(writes("CP_SET_DRAW_STATE 0x01700002 @b 0x00700002 @a\nreg 0x10 1\nCP_DRAW_INDX_OFFSET 4 1 3",
                  GROUPS), [(0x10, 1), (0x8818, 0xa), (0x8819, 0xb)])


def groups_need_their_mode_and_are_dropped_else():
    packets = "CP_SET_MARKER %d\nCP_SET_DRAW_STATE 0x00400002 @a 0x01300002 @b\nCP_DRAW_INDX_OFFSET 4 1 3\n" \
        "CP_SET_MARKER 1\nCP_DRAW_INDX_OFFSET 4 1 3"
    for marker, wanted in ((1, [(0x8818, 0xa)]), (2, [(0x8819, 0xb)]), (4, [(0x8819, 0xb)]),
                           (6, [(0x8819, 0xb)])):
        expect(writes(packets % marker, GROUPS), wanted)


def the_same_group_is_executed_again_only_if_dirty_or_disabled_between():
    again = "CP_SET_DRAW_STATE 0x00700002 @a\nCP_DRAW_INDX_OFFSET 4 1 3\n%s\nCP_SET_DRAW_STATE 0x007%d0002 @a\n" \
        "CP_DRAW_INDX_OFFSET 4 1 3"
    once = [(0x8818, 0xa)]
    expect(writes(again % ("", 0), GROUPS), once)
    expect(writes(again % ("", 1), GROUPS), once * 2)
    expect(writes(again % ("CP_SET_DRAW_STATE 0x00720000 0 0", 0), GROUPS), once * 2)
    expect(writes(again % ("CP_SET_DRAW_STATE 0x00040000 0 0", 0), GROUPS), once * 2)


def what_becomes_of_dirty_words_that_were_replaced_is_not_decided():
    setting = "CP_SET_DRAW_STATE 0x00700002 @a\nCP_DRAW_INDX_OFFSET 4 1 3\n"
    problems = walk(setting + "CP_SET_DRAW_STATE 0x00710002 @b 0x00700002 @a\nCP_DRAW_INDX_OFFSET 4 1 3", GROUPS).problems
    assert len(problems) == 1 and "dirty words" in problems[0], problems


def disabled_groups_are_not_executed():
    for header in ("0x00720002", "0x00700000", "0x00040002"):
        expect(writes("CP_SET_DRAW_STATE 0x00700002 @a %s @a\nCP_DRAW_INDX_OFFSET 4 1 3" % header, GROUPS), [])


def set_mode_executes_groups_where_they_are_set():
    expect(writes("CP_SET_MODE 1\nCP_SET_DRAW_STATE 0x00700002 @a\nreg 0x10 1", GROUPS), [(0x8818, 0xa), (0x10, 1)])


def threads_execute_their_own_packets():
    packets = "reg 0x10 1\nCP_THREAD_CONTROL 1\nreg 0x11 2\nCP_THREAD_CONTROL 2\nreg 0x12 3\n" \
        "CP_THREAD_CONTROL 0x80000003\nreg 0x13 4"
    expect(writes(packets), [(0x10, 1), (0x11, 2), (0x13, 4)])
    expect(writes(packets, processor=pm4walk.BV), [(0x10, 1), (0x12, 3), (0x13, 4)])


def conditions_skip_dwords():
    body = "reg 0x10 1\nreg 0x11 2"
    sysmem = "CP_SET_MARKER 1\nCP_COND_REG_EXEC 0x%x 2\n" + body
    expect(writes(sysmem % 0x38000000), [(0x10, 1), (0x11, 2)])
    expect(writes(sysmem % 0x36000000), [(0x11, 2)])
    thread = "CP_COND_REG_EXEC 0x54000000 2\n" + body      # BR
    expect(writes(thread), [(0x10, 1), (0x11, 2)])
    expect(writes(thread, processor=pm4walk.BV), [(0x11, 2)])
    predicate = "CP_REG_TEST 0x80000000 0x2 %d\nCP_COND_REG_EXEC 0x10040000 2\n" + body
    expect(writes(predicate % 2), [(0x10, 1), (0x11, 2)])
    expect(writes(predicate % 0), [(0x11, 2)])
    memory = "CP_COND_EXEC @a @b %d 2\n" + body            # a: not 0, b: not above the reference (pm4ops.FIRMWARE)
    data = "buffer 0x2000 a\n.word 1\nbuffer 0x3000 b\n.word 0xffffffff\nsubmit frame\n"
    expect(writes(memory % 0, data), [(0x10, 1), (0x11, 2)])
    expect(writes(memory % 0xffffffff, data), [(0x10, 1), (0x11, 2)])
    expect(writes(memory % 0xfffffffe, data), [(0x11, 2)])
    compare = "reg 0x20 5 %d\nCP_COND_REG_EXEC 0x20000020 0x21 2\n" + body
    expect(writes(compare % 5)[2:], [(0x10, 1), (0x11, 2)])
    expect(writes(compare % 6)[2:], [(0x11, 2)])
    number = "reg 0x20 5\nCP_COND_REG_EXEC 0x40000020 %d 2\n" + body
    expect(writes(number % 5)[1:], [(0x10, 1), (0x11, 2)])
    expect(writes(number % 4)[1:], [(0x11, 2)])
    tested = "reg 0x20 0x40\nCP_REG_TEST 0x0c%x00020\nCP_COND_REG_EXEC 0x100c0000 2\n" + body    # predicate bit 3
    expect(writes(tested % 6)[1:], [(0x10, 1), (0x11, 2)])
    expect(writes(tested % 7)[1:], [(0x11, 2)])


MEMORY = "buffer 0x2000 a\n.word 7 0xfffffff0 0x80000001 4\nbuffer 0xfffffffc b\n.word 0 0 0\nsubmit frame\n"


def registers_are_read_modified_and_written():
    start = "reg 0x20 0x12345678 0xf0 3\n"
    for packet, value in (("0x04000020 0xffff 0x3", 0x56783), ("0x24000020 0xffff 0x20", 0x567a0),
                          ("0x1f000020 0xffffffff 0", 0x091a2b3c), ("0x80000020 0x21 0", 0x70), ("0x40000020 0xff 0x21", 0xf8),
                          ("0xe0000020 0x21 0x22", 0x73), ("0x20000020 0xffffffff 0xedcba988", 0)):
        expect(writes(start + "CP_REG_RMW " + packet)[3:], [(0x20, value)])
    scratch = start + "CP_REG_TO_SCRATCH 0x00100020\nCP_REG_RMW 0x00080001 0xff 0x100\nCP_SCRATCH_TO_REG 0x00100030"
    expect(writes(scratch)[3:], [(0x30, 0x178)])


def memory_is_summed():
    for packet, wanted in (("0 0x3000 0 @a", [(0x3000, 7)]), ("0x1 0x3000 0 @a", [(0x3000, 0xfffffff9)]),
                           ("0x2 0x3000 0 @a 0x200c 0", [(0x3000, 3)]), ("0x4 0x3000 0 @a @a 0x200c 0", [(0x3000, 10)]),
                           ("0x20000000 0x3000 0 @a 0x2004 0", [(0x3000, 0xfffffff7), (0x3004, 0x7ffffff1)]),
                           ("0x20000001 0x3000 0 0x200c 0 @a", [(0x3000, 3), (0x3004, 0xfffffff0)])):
        data = MEMORY.replace("4\nb", "4 0\nb")
        expect(writes("CP_MEM_TO_MEM " + packet, data), wanted)


def registers_go_to_memory_across_4_gib_and_are_added():
    start = "reg 0x20 1 2 0xffffffff 0x10\n"
    for packet, wanted in (("0x20 @b", [(0xfffffffc, 1)]), ("0x00080020 @b", [(0xfffffffc, 1), (0x100000000, 2)]),
                           ("0x80080021 @a", [(0x2000, 9), (0x2004, 0xffffffef)]),
                           ("0xc0000022 @a", [(0x2000, 6), (0x2004, 1)]), ("0x40040020 0x2004 0", [(0x2000, 1), (0x2004, 2)])):
        expect(writes(start + "CP_REG_TO_MEM " + packet, MEMORY)[4:], wanted)
    expect(writes(start + "CP_REG_TO_MEM_OFFSET_REG 0x21 @a 0x23", MEMORY)[4:], [(0x2010, 2)])
    expect(writes(start + "CP_REG_TO_MEM_OFFSET_REG 0x21 @a 0x23 0x20", MEMORY)[4:], [(0x100002010, 2)])
    expect(writes(start + "CP_REG_TO_MEM_OFFSET_MEM 0x21 @b 0x200c 0", MEMORY)[4:], [(0x100000000, 2)])


def memory_goes_to_registers_and_memory():
    expect(writes("CP_MEM_TO_REG 0x00100020 @a", MEMORY), [(0x20, 7), (0x21, 0xfffffff0)])
    expect(writes("CP_MEM_TO_REG 0x40100020 0x2004 0", MEMORY), [(0x20, 0xffffffc0), (0x21, 4)])
    expect(writes("CP_MEM_TO_REG 0x00140020 @a", MEMORY), [(0x20, 7), (0x20, 0xfffffff0)])
    expect(writes("CP_MEMCPY 2 @a @b", MEMORY), [(0xfffffffc, 7), (0x100000000, 0xfffffff0)])
    expect(writes("CP_MEM_WRITE 0x2003 0 1 2", MEMORY), [(0x2000, 1), (0x2004, 2)])


def conditional_writes_compare_masked_values():
    for function, passes in enumerate(("", "lt le ne", "eq lt le", "eq", "lt gt ne", "eq gt ge", "gt ne")):
        for name, reference in (("lt", 8), ("eq", 7), ("gt", 6)):
            found = writes("CP_COND_WRITE5 0x11%d @a %d 0xf 0x3000 0 9" % (function, reference), MEMORY)
            expect(found, [(0x3000, 9)] if not function or name in passes else [])
    expect(writes("CP_COND_WRITE5 0x13 0x2004 0 0xf0 0xff 0x20 0 9", MEMORY), [(0x20, 9)])
    expect(writes("CP_COND_WRITE5 0x19 0x2004 0 1 0xffffffff 0x20 0 9", MEMORY), [(0x20, 9)])    # -16 is below 1, by sign


def events_write_what_they_say():
    expect(writes("CP_EVENT_WRITE7 0x08000016 @a 5", MEMORY), [(0x2000, 5)])
    expect(writes("CP_EVENT_WRITE7 0x08100016 @a 5 6", MEMORY), [(0x2000, 5), (0x2004, 6)])
    expect(writes("reg 0x20 3 4\nCP_EVENT_WRITE7 0x08400016 @a 0x20 2", MEMORY)[2:], [(0x2000, 3), (0x2004, 4)])
    expect(writes("CP_EVENT_WRITE7 0x08300016 @a", MEMORY), [(0x2000, None), (0x2004, None)])
    onchip = "CP_EVENT_WRITE7 0x09000016 3 0 5\nCP_COND_WRITE5 0x33 3 0 5 0xff 0x20 0 9"
    expect(writes(onchip), [(0x20, 9)])


def what_was_never_told_stays_open():
    expect(writes("CP_REG_TO_MEM 0x20 @a\nCP_MEM_TO_REG 0x21 @a", MEMORY), [(0x2000, None), (0x21, None)])
    expect(writes("CP_REG_RMW 0x20 1 1"), [(0x20, None)])


def waits_know_whether_they_hold():
    for packet, waits in (("CP_WAIT_REG_MEM 0x13 @a 7 0xffffffff 0", False), ("CP_WAIT_REG_MEM 0x13 @a 8 0xffffffff 0", True),
                          ("CP_WAIT_REG_MEM 0x3 0x77 0 8 0xffffffff 0", None), ("CP_WAIT_TIMESTAMP 0 0x2004 0 0xffffffef", False),
                          ("CP_WAIT_TIMESTAMP 0 0x2004 0 0xfffffff1", True), ("CP_WAIT_TIMESTAMP 1 @a 7 0xffffffef", False),
                          ("CP_WAIT_TIMESTAMP 1 @a 8 0xfffffff0", True)):
        expect(walk(packet, MEMORY).packets[0].waits, waits)


def bins_are_repeated_with_their_prefix():
    prefix = "buffer 0x2000 p\nreg 0x30 1\nreg 0x30 2\nsubmit frame\n"
    walker = walk("CP_START_BIN 2 @p 2 2\nreg 0x20 7\nCP_END_BIN\nreg 0x21 8", prefix)
    expect([(write.at, write.value, write.packet.level) for write in walker.writes],
           [(0x30, 1, "ib2"), (0x20, 7, "ib1"), (0x30, 2, "ib1"), (0x20, 7, "ib1"), (0x21, 8, "ib1")])


def streams_of_chance_leave_nothing_open_but_times():
    for generation, processors in pm4walk.PROCESSORS.items():
        for seed in range(12):
            text = pm4random.Maker(generation, seed).text()
            expect(pm4random.Maker(generation, seed).text(), text)
            for _, processor in processors:
                walker = pm4walk.walk(text, processor)
                assert not walker.problems and not walker.undecided, (generation, seed, walker.problems, walker.undecided)
                clocks = [write for write in walker.writes if write.value is None]
                assert all(write.packet.name in ("CP_RECORD_PFP_TIMESTAMP", "CP_EVENT_WRITE", "CP_EVENT_WRITE7")
                           for write in clocks), (generation, seed)


def streams_of_chance_have_every_packet_that_is_said_to_be_generated():
    for generation in pm4walk.PROCESSORS:
        names = set()
        for seed in range(40):
            names |= {words[0] for words in map(str.split, pm4random.Maker(generation, seed).text().splitlines()) if words}
        wanted = {row[0] for row in pm4ops.ROWS if str(generation) in row[3] and row[0] in pm4random.GENERATED}
        if generation == 5:
            wanted -= pm4random.NOT_ON_A5XX
        assert wanted <= names, (generation, wanted - names)


def the_page_has_the_table_of_packets():
    page = os.path.join(ROOT, "docs", "testing.md")
    with open(page, encoding="utf-8") as file:
        text = file.read()
    for table in (pm4table.packet_table(), pm4table.open_table(), pm4table.firmware_table()):
        assert table in text, "docs/testing.md needs\n" + table


def what_is_not_understood_is_listed():
    for packets, text in ((".word 0x70ff0001 1", "opcode 0x7f"), ("CP_REG_RMW 1 2", "too few"),
                          (".word 0x12345678", "no header"), ("CP_SET_MARKER 10", "0xa"),
                          ("CP_COND_REG_EXEC 0x10000000 0", "mode 1"), (".word 0x70bf8003 0 8 1", "not held"),
                          (".word 0x40001082 1", "behind the end"), ("CP_SET_DRAW_STATE 0x00780002 @a", "at once")):
        problems = walk(packets, GROUPS).problems
        assert len(problems) == 1 and text in problems[0], (packets, problems)


def packets_in_front_move_no_dword():
    text = pm4text.put_in_front(HEAD + "buffer 0x1000 frame\n    reg 0x10 1\nsubmit frame\n",
                                "CP_THREAD_CONTROL 1\nCP_SET_MARKER 1\n")
    walker = pm4walk.walk(text)
    expect([(write.packet.iova, write.at) for write in walker.writes], [(0x1000, 0x10)])
    expect((walker.mode, walker.thread, walker.packets[0].iova), (pm4walk.SYSMEM, 1, 0x1000 - 16))


TRACE = """# cpscope-trace 1
# processors yes
sqe REG 0x0812 0x00000004 data ; of the boot
bv PKT ib1 0x0000000000001000 0x48088502 ; not ours
sqe PKT ib1 0x0000000000001000 0x48088502 ; type4
sqe REG 0x0885 0x00000001 user ; pc=0x0001
sqe REG 0x0886 0x00000002 user ; pc=0x0001
sqe PKT ib1 0x000000000000100c 0x70268000 ; CP_WAIT_FOR_IDLE
sqe REG 0xd600 0x00000000 data ; pc=0x0002
sqe PKT ib1 0x0000000000001010 0x40001001 ; type4
sqe REG 0x0010 0x00000003 data ; pc=0x0001
END done 3 100
"""


def traces_with_a_mistake_are_refused():
    expected = walk(".word 0x48088502 1 2\n.word 0x70268000\n.word 0x40001001 3")
    good = pm4compare.compare(TRACE, expected)
    expect(good.memory, 0)
    expect((good.problems, good.matched, dict(good.paths)), ([], 3, {"user": 2, "data": 1}))
    expect(dict(good.extras), {("(boot)", 0x812, "data"): 1, ("opcode 0x26", 0xd600, "data"): 1})
    second = "sqe REG 0x0886 0x00000002 user ; pc=0x0001\n"
    for old, new in ((second, ""), (second, second * 2), ("0x0886 0x00000002", "0x0886 0x00000003"),
                     ("0x0886 0x00000002 user", "0x0886 0x00000002 ctrl"), ("END done", "END deadlock"),
                     ("END done 3 100\n", ""), (second, "sqe PROT 0x0886 0x00000002\n"),
                     ("ib1 0x0000000000001010", "ib2 0x0000000000001010"), ("bv", "sqe"),
                     ("sqe PKT ib1 0x000000000000100c 0x70268000 ; CP_WAIT_FOR_IDLE\n", "")):
        assert old in TRACE, old
        assert pm4compare.compare(TRACE.replace(old, new), expected).problems, (old, new)
    longer = walk(".word 0x48088502 1 2\n.word 0x70268000\n.word 0x40001001 3\n.word 0x40001001 3")
    assert pm4compare.compare(TRACE, longer).problems


def traces_of_one_processor_have_no_names():
    text = TRACE.replace("# processors yes\n", "").replace("bv ", "# ").replace("sqe ", "")
    expect(pm4compare.compare(text, walk(".word 0x48088502 1 2\n.word 0x70268000\n.word 0x40001001 3")).problems, [])


MEMORY_TRACE = """# cpscope-trace 1
PKT ib1 0x0000000000001000 0x703d0004 ; CP_MEM_WRITE
MEMW 0x00000000fffffffc 0x00000001 nrt ; pc=0x0001
MEMW 0x0000000100000000 0x00000002 nrt ; pc=0x0001
PKT ib1 0x0000000000001014 0x70bc8006 ; CP_WAIT_REG_MEM
PKT ib1 0x0000000000001030 0x70a18003 ; CP_REG_RMW
REG 0x0020 0x00000003 user ; pc=0x0001
END done 3 100
"""


def traces_with_a_mistake_in_memory_are_refused():
    expected = walk("CP_MEM_WRITE 0xfffffffc 0 1 2\nCP_WAIT_REG_MEM 0x13 0xfffffffc 0 1 0xff 0\nCP_REG_RMW 0x20 0 3")
    good = pm4compare.compare(MEMORY_TRACE, expected)
    expect((good.problems, good.matched, good.memory, good.open), ([], 1, 2, 1))
    second = "MEMW 0x0000000100000000 0x00000002 nrt ; pc=0x0001\n"
    wait = "0x70bc8006 ; CP_WAIT_REG_MEM\n"
    for old, new in ((second, ""), (second, second * 2), ("0x0000000100000000", "0x0000000000000000"),
                     ("0x00000002 nrt", "0x00000003 nrt"), (wait, wait + second), ("REG 0x0020", "REG 0x0021"),
                     (wait, wait + "ASSUME wait 0x00000000fffffffc 0x00000001\n"), (wait, wait + "REG 0x0077 0x00000001 user\n"),
                     ("END", "REG 0x0020 0x00000003 user\nEND")):
        assert old in MEMORY_TRACE, old
        assert pm4compare.compare(MEMORY_TRACE.replace(old, new), expected).problems, (old, new)


TESTS = (headers_have_odd_parity, type_4_writes_registers_in_a_row, bunches_write_pairs,
         streams_are_called_three_levels_down, chain_stays_on_its_level,
         groups_wait_for_the_draw_in_the_order_of_numbers, groups_need_their_mode_and_are_dropped_else,
         the_same_group_is_executed_again_only_if_dirty_or_disabled_between,
         what_becomes_of_dirty_words_that_were_replaced_is_not_decided, disabled_groups_are_not_executed,
         set_mode_executes_groups_where_they_are_set, threads_execute_their_own_packets, conditions_skip_dwords,
         registers_are_read_modified_and_written, memory_is_summed, registers_go_to_memory_across_4_gib_and_are_added,
         memory_goes_to_registers_and_memory, conditional_writes_compare_masked_values, events_write_what_they_say,
         what_was_never_told_stays_open, waits_know_whether_they_hold, bins_are_repeated_with_their_prefix,
         what_is_not_understood_is_listed, packets_in_front_move_no_dword, traces_with_a_mistake_are_refused,
         traces_of_one_processor_have_no_names, traces_with_a_mistake_in_memory_are_refused,
         streams_of_chance_leave_nothing_open_but_times,
         streams_of_chance_have_every_packet_that_is_said_to_be_generated, the_page_has_the_table_of_packets)


if __name__ == "__main__":
    sys.exit(tap.run([(test.__name__.replace("_", " "), test) for test in TESTS]))
