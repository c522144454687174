# SPDX-License-Identifier: MIT
"""Cases about replays of hang dumps that a model of the hardware leaves in the middle of a capture (tests/lib/hang_scene.py):
the same for real firmware on a real capture (hang_replay.py) and for the demo's on a stream of ours (hang_demo.py)."""
import json
import os
import re
import subprocess

import hang_scene
from hang_scene import Scene


class Bench:
    """A capture, the firmware that runs it and another revision of that, both as paths, and places in the capture."""
    times = 4  # draws that look alike

    def __init__(self, cpscope, folder, places):
        """@places: by name (iova, times, steps) as Scene has them; "stream" and its size in dwords; "waits" with the program
        counter and the word there."""
        self.cpscope, self.folder = cpscope, folder
        self.__dict__.update(places)
        self.trace, self.dump = os.path.join(folder, "t"), os.path.join(folder, "scene.devcore")
        self.command("run", "--submit", "0", "--prefetch", "on", "--events", "all", "--fw", self.own, self.capture,
                     "-o", self.trace, status=0)

    def command(self, *arguments, status=None, text=None):
        done = subprocess.run([self.cpscope, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=120, input=text, check=False)
        assert status is None or done.returncode == status, (done.returncode, done.stdout[-2000:], done.stderr)
        return done

    def scene(self, times=2, steps=1, iova=None, **more):
        return Scene(self.trace, self.own, self.capture, 0, (iova or self.draw_end, times, steps), **more)

    def replay(self, scene, firmware=None, status=0, without=(), options=()):
        scene.write(self.dump, without)
        return self.command("run", *options, "--fw", firmware or self.own, self.dump, "-o", os.devnull,
                            status=status).stdout


def counts(text):
    """Verdicts by group."""
    groups = {}
    for name, rest in re.findall(r"^# ([a-z ]+): (\d+ equal.*)$", text, re.M):
        groups[name] = {verdict: int(count) for count, verdict in re.findall(r"(\d+) ([a-z ]+)", rest)}
    return groups


def nothing_differs(bench, text, **least):
    groups = counts(text)
    assert all(groups[name]["different"] == 0 for name in groups), text
    for name, count in {**bench.least, **{name.replace("fetched", "fetched words"): n for name, n in least.items()}}.items():
        assert groups[name]["equal"] >= count, (name, text)
    assert groups["queued writes"]["equal"] == 24, text


def place_is_found(bench):
    """Four draws have the same three headers and the same IB2: the words of IB1 tell them apart."""
    for times in range(bench.times):
        for steps in (1, 2):
            text = bench.replay(bench.scene(times, steps))
            assert "matched by packet headers, queues and program counter; 1 match\n" in text, text
            nothing_differs(bench, text)


def in_ib1(bench):
    text = bench.replay(bench.scene(0, 1, bench.in_ib1, queued=0))
    assert "matched by packet headers, queues and program counter; 1 match\n" in text, text
    assert counts(text)["in all"]["different"] == 0, text


def in_a_group(bench):
    """A draw-state group that runs four times: the IB1 tells which draw it was."""
    for times in range(bench.times):
        text = bench.replay(bench.scene(times, 1, bench.in_group), bench.near)
        assert "matched by packet headers, queues and program counter; 1 match\n" in text, text
        assert counts(text)["in all"]["different"] == 0, text


def without_boot(bench):
    """A ring that has come round: the replay begins behind the last fence that came."""
    text = bench.replay(bench.scene(history=True), bench.near, status=None)
    assert "from dword 104 (the end of the last retired submission) to 108, fence 7 retired, 8 submitted" in text, text
    assert "matched by packet headers, queues and program counter; 1 match\n" in text, text
    nothing_differs(bench, text)


def near_revision(bench):
    """The firmware is recovered from what is cached and another revision, and runs to the same place."""
    text = bench.replay(bench.scene(), bench.near)
    assert "# replayed firmware: recovered from the dump; %d words of the dump" % bench.cached in text, text
    assert "matched by packet headers, queues and program counter; 1 match\n" in text, text
    nothing_differs(bench, text)


def without_queues(bench):
    """Without CP_ROQ several of the draws look alike: the first is taken, how many there are is said."""
    text = bench.replay(bench.scene(), status=1, without=("CP_ROQ",))
    assert "program counter; %d matches\n" % bench.alike in text, text
    text = bench.replay(bench.scene(), status=4, without=("CP_SQE_STAT",))
    assert "position of the hardware unknown, nothing compared" in text and not counts(text)["in all"]["equal"], text


def nowhere(bench):
    """A packet that the replay does not come by is no place, and that is an error."""
    scene = bench.scene()
    scene.model.headers[-1] ^= 0x00100000
    assert "position of the hardware not found" in bench.replay(scene, status=1)


def queues_are_checked(bench):
    """A value that nobody wrote, and a write that is missing from the middle of its queue."""
    scene = bench.scene()
    pipe, offset, value, context = scene.queues["PS"][3]
    scene.queues["PS"][3] = (pipe, offset, value ^ 0x10, context)
    text = bench.replay(scene, status=1)
    assert "PS[3].0x%04x 0x%08x 0x00000000 different: the replay does not write it there" % (
        offset, value ^ 0x10) in text, text
    assert counts(text)["queued writes"]["equal"] == 23, text
    scene = bench.scene()
    gone = scene.queues["PS"].pop(3)
    text = bench.replay(scene, status=1)
    assert re.search(r"^PS\.0x%04x .* different: the queue does not hold it" % gone[1], text, re.M), text
    scene = bench.scene()
    pipe, offset, value, context = scene.queues["PS"][3]
    scene.queues["PS"][3] = (pipe, offset, value, 1 - context)
    assert counts(bench.replay(scene))["queued writes"]["bank"] == 1


def banks_are_checked(bench):
    """One bit of one register of one context; and the value of the other context."""
    def changed(change):
        scene = bench.scene(queued=0)
        text, clusters = [], scene.clusters
        scene.clusters = lambda: change(clusters())
        text = bench.replay(scene, status=None, options=("--all",))
        return text
    first = re.search(r"CLUSTER_GRAS\n    - context: 0\n      - { offset: (0x\w+), value: (0x\w+) }",
                      bench.scene().clusters())
    offset, value = int(first.group(1), 16) // 4, int(first.group(2), 16)
    text = changed(lambda t: t.replace(first.group(0), first.group(0).replace(
        first.group(2), "0x%08x" % (value ^ 1 << 31)), 1))
    assert "GRAS.0x%04x.context0 0x%08x 0x%08x different" % (offset, value ^ 1 << 31, value) in text, text[-3000:]
    assert counts(text)["cluster registers"]["different"] == 1


def damaged_pool(bench):
    """Queues whose blocks or sizes make no sense are not compared, with words and an error."""
    whole = hang_scene.pool
    chunks = (len(bench.scene().queues["PS"]) + 1) // 2
    for change, said in (({0x2018 + 5: 7}, "CP_MEMPOOL: the queue of PS has chunks 0x%x, expected 0x7" % chunks),
                         ({0x2000: 5}, "CP_MEMPOOL: the pool's size is 0x5 blocks, expected 0x80 or 0x30"),
                         ({0x1800 + 7 * 8 + 5: 0xffff, 0x1800 + 5 * 8 + 5: 0x7fffd},
                          "CP_MEMPOOL: the queue of PS has a block 0xffff, expected 0x7f")):
        def pool(queues):
            words = whole(queues)
            for at, value in change.items():
                words[at] = value
            return words
        hang_scene.pool = pool
        try:
            text = bench.replay(bench.scene(), status=4)
        finally:
            hang_scene.pool = whole
        assert said in text and "queued writes" not in counts(text), text


def debugged(bench):
    """The debugger opens where the hardware stood, and goes back from there; so does the adapter for editors."""
    scene = bench.scene(0, bench.waits["steps"], bench.waits["iova"])
    scene.write(bench.dump)
    moves = "info registers\nrpacket\nprint $01\ncontinue\nprint $01\n"
    done = subprocess.run([bench.cpscope, "step", "--fw", bench.near, bench.dump], input=moves, stdout=subprocess.PIPE,
                          text=True, timeout=60, check=False).stdout
    opened, _, rest = done.partition("\n> ")
    assert opened.startswith("position of the hardware, matched by packet headers, queues and program counter; 1 match\n"), done
    assert "sqe %04x" % bench.waits["pc"] in opened and "=>  %04x %08x" % (bench.waits["pc"], bench.waits["word"]) in opened, opened
    assert [rest.count("0x%08x = " % word) for word in bench.waits["headers"]] == [1, 1], rest

    with subprocess.Popen([bench.cpscope, "step", "--dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as adapter:
        seen = []

        def ask(seq, command, **arguments):
            text = json.dumps({"seq": seq, "type": "request", "command": command, "arguments": arguments}).encode()
            adapter.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
            adapter.stdin.flush()
            while not seen or seen[-1].get("request_seq") != seq:
                length = int(adapter.stdout.readline().split(b":")[1])
                adapter.stdout.readline()
                seen.append(json.loads(adapter.stdout.read(length)))
            assert seen[-1]["success"], seen[-1]
            return seen[-1]["body"]

        def pc(seq):
            frame = ask(seq, "stackTrace", threadId=1)["stackFrames"][0]
            return int(frame["instructionPointerReference"], 16) % 0x10000 // 4
        ask(1, "initialize", adapterID="cpscope")
        ask(2, "launch", fw=bench.near, capture=bench.dump)
        ask(3, "configurationDone")
        assert pc(4) == bench.waits["pc"]
        ask(5, "stepBack", threadId=1, granularity="instruction")
        assert pc(6) == bench.waits["pc"] - 1
        adapter.stdin.close()
    said = [message["body"]["output"] for message in seen if message.get("event") == "output"]
    assert "matched by packet headers, queues and program counter; 1 match" in said[0], said


def reduced(bench):
    """Hangs that wait, in IB1 and in a draw-state group, become jobs of a few packets that come to the same place."""
    for iova, steps, most in ((bench.waits["iova"], bench.waits["steps"], 1), (bench.in_group, 1, 8)):
        bench.scene(1 if iova == bench.in_group else 0, steps, iova).write(bench.dump)
        small = os.path.join(bench.folder, "small.pm4")
        said = bench.command("reduce", "--no-cache", "--fw", bench.own, bench.dump, "-o", small, status=0).stdout
        packets = re.search(r"^packets +(\d+) +(\d+)$", said, re.M)
        assert packets and int(packets[1]) > bench.packets and int(packets[2]) <= most, said


def hostile_values(bench):
    """Numbers that cannot be are refused or left out: no access outside, no endless output, no pass."""
    def changed(old, new, scene=None):
        (scene or bench.scene()).write(bench.dump)
        text = open(bench.dump, encoding="ascii").read()
        assert old in text, old
        open(bench.dump, "w", encoding="ascii").write(text.replace(old, new, 1))
    for old, new in (("    size: 32768", "    size: 17179869184"), ("    size: 32768", "    size: 32766"),
                     ("    wptr: 13", "    wptr: 9000")):
        changed(old, new)
        refused = bench.command("run", "--fw", bench.own, bench.dump, status=3)
        assert refused.stderr.count("\n") == 1, refused.stderr
        assert "the dump's ring has" in refused.stderr or "contents of 0x400000000 bytes" in refused.stderr, refused.stderr
        assert bench.command("info", bench.dump).returncode in (0, 3)
    for pc in (0xfffffff9, 0xffffffff, 0x7fffffff):
        scene = bench.scene()
        scene.pc = pc
        scene.write(bench.dump)
        told = bench.command("info", bench.dump, status=0).stdout
        assert told.count("the dump does not hold it") == 13, told
        assert "code" in json.loads(bench.command("info", "--json", bench.dump, status=0).stdout)["files"][0]["hang"]
    scene = bench.scene()
    scene.streams()
    scene.regs.update({0x928: 0xfffffffc, 0x929: 0xffffffff, 0x92a: 0x3ff})
    scene.streams = lambda: None
    text = bench.replay(scene, status=None, options=("--all",))
    bench.command("info", bench.dump, status=0)
    assert re.search(r"^ib1.consumed \S+ \S+ (equal|no value)", text, re.M), text


def checked_or_not(bench):
    """What was not compared is no pass: a stream that the dump lacks, a register with a value that nobody wrote."""
    scene = bench.scene()
    for iova in range(bench.stream[0], bench.stream[0] + bench.stream[1] * 4, 4):
        scene.words.pop(iova)
    text = bench.replay(scene, status=4)
    assert "# 1 indirect buffers are missing from the dump\n" in text, text
    scene = bench.scene()
    waiting = scene.queues["PS"][0][1]
    scene.regs[waiting] = 0x00abcdef
    clusters = scene.clusters
    scene.clusters = lambda: re.sub(r"      - . offset: 0x%06x.*\n" % (4 * waiting), "", clusters())
    text = bench.replay(scene, status=1)
    assert re.search(r"^0x%04x 0x00abcdef .* different$" % waiting, text, re.M), text
    text = bench.replay(scene, status=None, without=("CP_MEMPOOL",), options=("--all",))
    assert re.search(r"^0x%04x 0x00abcdef .* no value: unknown without the contents of the queues" % waiting, text, re.M), text


def other_processors(bench):
    """BV and LPAC of a7xx are shown as far as their blocks are known; of the cache, nothing is guessed."""
    scene = bench.scene()
    blocks = {"CP_BV_SQE_STAT_ADDR": [0x123] + scene.status()[1:], "CP_SQE_AC_STAT_ADDR": [0x45] + scene.status()[1:]}
    scene.write(bench.dump, more=blocks)
    text = open(bench.dump, encoding="ascii").read().replace("630 (6.3.0.2)", "740 (7.4.0.1)")
    open(bench.dump, "w", encoding="ascii").write(text)
    told = bench.command("info", bench.dump, status=0).stdout
    for part in ("bv at 0x0123, if its block has the layout of the SQE's", "lpac at 0x0045, if",
                 "the layout of the instruction cache in this generation's dumps is unknown"):
        assert part in told, told
    refused = bench.command("run", "--fw", bench.own, bench.dump, status=3)
    assert "740" in refused.stderr, refused.stderr
