#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tests' own walker of PM4 streams and its comparison with traces, without any firmware: small
streams whose writes are written down here by hand, and traces with a mistake in them.
Usage: walker.py"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "model"))
import pm4compare
import pm4ops
import pm4text
import pm4walk
import tap

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
    """Registers and values, and that nothing was left undecided."""
    walker = walk(packets, rest, processor)
    assert not walker.problems, walker.problems
    return [(write.register, write.value) for write in walker.writes]


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
    expect([(write.register, write.level, write.iova) for write in walker.writes],
           [(0x12, "ib3", 0x3000), (0x11, "ib2", 0x2010), (0x10, "ib1", 0x1010)])


def chain_stays_on_its_level():
    walker = walk("CP_INDIRECT_BUFFER_CHAIN @more #more", "buffer 0x2000 more\nreg 0x11 2\nsubmit frame\n")
    expect([(write.register, write.level) for write in walker.writes], [(0x11, "ib1")])


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
    memory = "CP_COND_EXEC @a @b %d 2\n" + body            # a: not 0, b: below the reference
    data = "buffer 0x2000 a\n.word 1\nbuffer 0x3000 b\n.word 0xffffffff\nsubmit frame\n"
    expect(writes(memory % 0, data), [(0x10, 1), (0x11, 2)])
    expect(writes(memory % 0xfffffffe, data), [(0x11, 2)])


def what_is_not_understood_is_listed():
    for packets, text in ((".word 0x70ff0001 1", "opcode 0x7f"), ("CP_REG_RMW 1 2 3", "CP_REG_RMW"),
                          (".word 0x12345678", "no header"), ("CP_SET_MARKER 10", "0xa"),
                          ("CP_COND_REG_EXEC 0x10000000 0", "mode 1"), (".word 0x70bf8003 0 8 1", "not held"),
                          (".word 0x40001082 1", "behind the end"), ("CP_SET_DRAW_STATE 0x00780002 @a", "at once")):
        problems = walk(packets, GROUPS).problems
        assert len(problems) == 1 and text in problems[0], (packets, problems)


def packets_in_front_move_no_dword():
    text = pm4text.put_in_front(HEAD + "buffer 0x1000 frame\n    reg 0x10 1\nsubmit frame\n",
                                "CP_THREAD_CONTROL 1\nCP_SET_MARKER 1\n")
    walker = pm4walk.walk(text)
    expect([(write.iova, write.register) for write in walker.writes], [(0x1000, 0x10)])
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


TESTS = (headers_have_odd_parity, type_4_writes_registers_in_a_row, bunches_write_pairs,
         streams_are_called_three_levels_down, chain_stays_on_its_level,
         groups_wait_for_the_draw_in_the_order_of_numbers, groups_need_their_mode_and_are_dropped_else,
         the_same_group_is_executed_again_only_if_dirty_or_disabled_between, disabled_groups_are_not_executed,
         set_mode_executes_groups_where_they_are_set, threads_execute_their_own_packets, conditions_skip_dwords,
         what_is_not_understood_is_listed, packets_in_front_move_no_dword, traces_with_a_mistake_are_refused,
         traces_of_one_processor_have_no_names)


if __name__ == "__main__":
    sys.exit(tap.run([(test.__name__.replace("_", " "), test) for test in TESTS]))
