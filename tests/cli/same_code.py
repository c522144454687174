#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A pair whose capture looks at no changed code is not run, and everything is as if it had been. Firmware
files are changed here, word by word, and runs are counted. Usage: same_code.py CPSCOPE"""
import json
import os
import random
import re
import struct
import subprocess
import tempfile

import make
import tap
from scene import CPSCOPE
from tree import DEMO

CORPUS = os.environ.get("CPSCOPE_CORPUS", "")
FILES = ["results.json", "index.html", "results.xml", "results.tap"]
IMAGE = 0x1fffff0000000  # where the emulator puts an image
NOP, MEM_WRITE, UNUSED = 0x10, 0x3d, 0x22


class Firmware:
    def __init__(self, path):
        self.words = list(struct.unpack("<%dI" % (os.path.getsize(path) // 4), open(path, "rb").read()))
        self.table = 1 + (self.words[2] & 0xffffff)  # of the demo: the file has a dword in front of the image

    def write(self, path, changes):
        """@changes: word of the image -> value."""
        words = list(self.words)
        for at, value in changes.items():
            words[at + 1] = value
        open(path, "wb").write(struct.pack("<%dI" % len(words), *words))


class Scene:
    def __init__(self, folder):
        self.folder, self.count = folder, 0
        make.firmware(CPSCOPE, self.path("demo"), open(DEMO).read())
        self.demo = Firmware(self.path("demo.fw"))
        listing = open(self.path("demo.afuc")).read()
        assert "jumptbl" in listing

    def path(self, name):
        return os.path.join(self.folder, name)

    def regress(self, manifest, out, *args):
        open(self.path("m.txt"), "w").write("# cpscope-manifest 1\n" + manifest)
        done = subprocess.run([CPSCOPE, "regress", "m.txt", "-o", out, *args], cwd=self.folder,
                              capture_output=True, text=True, timeout=300)
        assert done.returncode in (0, 1, 4), done.stderr
        counts = re.search(r"(\d+) runs emulated, (\d+) from the cache, (\d+) not made", done.stderr)
        return [int(n) for n in counts.groups()], done

    def pairs(self, out):
        return json.load(open(self.path(out + "/results.json")))["pairs"]

    def same_bytes(self, a, b):
        for name in FILES:
            x, y = (open(self.path(out + "/" + name), "rb").read() for out in (a, b))
            assert x == y, "%s of %s and %s" % (name, a, b)

    def compare(self, changes, *packets):
        """The demo's firmware and one with @changes over one capture: runs made in a fresh cache for the
        second firmware, and its pair. A run without cache has the same bytes."""
        self.demo.write(self.path("changed.fw"), changes)
        return self.compare_files("demo.fw", "changed.fw", *packets)

    def compare_files(self, old, new, *packets):
        self.count += 1
        name = "n%d" % self.count
        open(self.path(name + ".pm4"), "w").write(make.pm4(*packets))
        manifest = "firmware old %s\nfirmware new %s\nbaseline old\ncapture %s.pm4\n" % (old, new, name)
        (made, _, same), _ = self.regress(manifest, name + "-cold", "--cache", name + "-cache")
        (warm, _, _), _ = self.regress(manifest, name + "-warm", "--cache", name + "-cache")
        (all_made, _, none), _ = self.regress(manifest, name + "-none", "--no-cache")
        assert warm == 0 and all_made == 2 and none == 0 and made + same == 2, (made, same, warm)
        for out in ("-warm", "-none"):
            self.same_bytes(name + "-cold", name + out)
        pair = [p for p in self.pairs(name + "-cold") if p["firmware"] == "new"][0]
        assert pair.get("same_code", False) == (same == 1), pair
        return made - 1, pair


def other(word):
    """Another instruction: a bit of an immediate or of a register."""
    return word ^ 1


def handler(s, packet):
    return s.demo.words[s.demo.table + packet]


def unreached(s):
    made, pair = s.compare({handler(s, MEM_WRITE): other(s.demo.words[1 + handler(s, MEM_WRITE)])}, "CP_NOP 0x1")
    assert made == 0 and pair["status"] == "pass", pair


def executed(s):
    at = handler(s, MEM_WRITE) + 2
    made, pair = s.compare({at: other(s.demo.words[1 + at])}, "CP_MEM_WRITE 0x200000 0x0 0x1234")
    assert made == 1 and "same_code" not in pair, pair


def moved(s, words, value=None):
    """A revision with words put in where nothing comes by, in front of most handlers. CP_SET_VISIBILITY_OVERRIDE writes
    @value to a register: an operand, "ADDRESS" for the number of a word of code that moves along."""
    files = []
    for name, put_in in (("still", 0), ("moved", words)):
        source = open(DEMO).read().replace("\nCP_CONTEXT_REG_BUNCH:", "\nCP_REG_RMW:\n" + "        nop\n" * put_in +
                                           "        waitin\n        mov $01, $data\n\nCP_CONTEXT_REG_BUNCH:")
        if value:
            at = "0x%x" % (0x60 + put_in)  # of the code behind what was put in
            source = source.replace("CP_SET_VISIBILITY_OVERRIDE:\n", "").replace(
                "\nCP_NOP:", "\nCP_SET_VISIBILITY_OVERRIDE:\n        mov $addr, 0x8a00\n        mov $data, %s\n"
                "        (rep)mov $00, $data\n        waitin\n        mov $01, $data\n\nCP_NOP:" % value.replace("ADDRESS", at))
        make.firmware(CPSCOPE, s.path(name), source)
        files.append(name + ".fw")
    return s.compare_files(*files, "CP_SET_VISIBILITY_OVERRIDE 0x1" if value else "CP_MEM_WRITE 0x200000 0x0 0x1234")


def moved_code(s):
    """Code that moved is run, and passes: program counters are no difference."""
    for words in (1, 8):
        made, pair = moved(s, words)
        assert made == 1 and pair["status"] == "pass" and "same_code" not in pair, (words, pair)


def moved_number(s):
    """The counter-example to taking constants for addresses: both images have the same code but for a constant, which is
    the number of a word and of its partner, and which the run writes to a register."""
    made, pair = moved(s, 8, "ADDRESS")
    assert made == 1 and pair["status"] == "differs", pair


def left_by_boot(s):
    """The counter-example to looking at code alone: what runs behind the boot is the same, word for word, and a register
    still holds where the boot found the packet table."""
    made, pair = moved(s, 8, "$05")
    assert made == 1 and pair["status"] == "differs", pair


def entry(packet):
    def case(s):
        at = s.demo.table - 1 + packet
        made, pair = s.compare({at: handler(s, 0)}, "CP_NOP 0x1")
        used = packet == NOP
        assert made == used and pair["status"] == ("differs" if used else "pass"), pair
    return case


def boot(s):
    """The version of the image is a word that the boot reads and does not keep; that of a constant it does."""
    at = next(i for i, word in enumerate(s.demo.words) if i > 3 and i < 0x30 and word & 0xffff == 0x4)
    made, pair = s.compare({at - 1: s.demo.words[at] ^ 2}, "CP_NOP 0x1")
    assert made == 1 and "same_code" not in pair, pair


def read_as_memory(s):
    """CP_MEM_TO_REG of a word of the image: that word counts, its neighbour does not."""
    at = handler(s, 0)  # where nothing comes by
    load = "CP_MEM_TO_REG 0x00008a00 0x%x 0x%x" % (IMAGE + 4 * at & 0xffffffff, IMAGE >> 32)
    made, pair = s.compare({at: other(s.demo.words[1 + at])}, load)
    assert made == 1 and pair["status"] == "differs", pair
    made, pair = s.compare({at + 1: other(s.demo.words[2 + at])}, load)
    assert made == 0 and pair["status"] == "pass", pair


def from_history(s):
    """Without a baseline: a revision that differs from yesterday's where nothing comes by takes its results."""
    at = handler(s, MEM_WRITE)
    s.demo.write(s.path("today.fw"), {at: other(s.demo.words[1 + at])})
    for i, packets in enumerate((["CP_NOP 0x1"], ["CP_MEM_WRITE 0x200000 0x0 0x1234"])):
        open(s.path("h%d.pm4" % i), "w").write(make.pm4(*packets))
    manifest = "firmware a %s\ncapture h?.pm4\n"
    assert s.regress(manifest % "demo.fw", "h", "--cache", "h-cache")[0] == [2, 0, 0]
    assert s.regress(manifest % "today.fw", "h", "--cache", "h-cache")[0] == [1, 0, 1]
    s.regress(manifest % "today.fw", "h-none", "--no-cache")
    s.same_bytes("h", "h-none")


def damaged_lists(s):
    """A list of executed code that is cut, or nonsense, is no list: the pair runs."""
    for text in (b"", b"0" * 64, b"\xff" * 300, b"0" * 64 + b" " + b"0" * 64 + b" 0:fffffff;7.7f\n",
                 b"0" * 64 + b" " + b"0" * 64 + b" 0:1,;\n", b"0" * 64 + b" " + b"0" * 64 + b" x\n" * 9999):
        for at, _, names in os.walk(s.path("h-cache")):
            for name in names:
                if name.endswith(".code"):
                    open(os.path.join(at, name), "wb").write(text)
        at = handler(s, MEM_WRITE)
        s.count += 1
        s.demo.write(s.path("d.fw"), {at: s.count << 24})
        made, _ = s.regress("firmware a d.fw\ncapture h0.pm4\n", "d", "--cache", "h-cache")
        assert made == [1, 0, 0], made


def wrong_list(s):
    """A list that leads to a result of other code is not believed: the entry says what it looked at."""
    at = handler(s, MEM_WRITE)
    for i, change in enumerate(({}, {at: s.demo.words[1 + at] ^ 4})):
        s.demo.write(s.path("w%d.fw" % i), change)
        assert s.regress("firmware a w%d.fw\ncapture h1.pm4\n" % i, "w", "--cache", "w-cache")[0] == [1, 0, 0]
    files = {name: os.path.join(folder, name) for folder, _, names in os.walk(s.path("w-cache")) for name in names}
    index, = (path for name, path in files.items() if name.endswith(".code"))
    second, first = (line.split(" ") for line in open(index).read().splitlines())
    open(index, "w").write("%s %s %s\n" % (first[0], second[1], second[2]))
    os.unlink(files[second[0] + ".cpt"])
    made, _ = s.regress("firmware a w1.fw\ncapture h1.pm4\n", "w", "--cache", "w-cache")
    assert made == [1, 0, 0], made


def mutants(s):
    """120 images, each with a word changed: no pair that is said to be the same differs."""
    rng = random.Random(4)
    lines = []
    image = len(s.demo.words) - 1
    for i in range(120):
        at = rng.randrange(image) if i % 4 else s.demo.table - 1 + rng.randrange(128)
        change = rng.choice([1, 2, 1 << rng.randrange(32), rng.getrandbits(32)])
        s.demo.write(s.path("x%d.fw" % i), {at: s.demo.words[1 + at] ^ change})
        lines.append("firmware x%d x%d.fw\n" % (i, i))
    packets = ["reg 0x8800 0x1 0x2", "CP_NOP 0x1", "CP_MEM_WRITE 0x200000 0x0 0x1", "CP_WAIT_FOR_IDLE",
               "CP_EVENT_WRITE 0x31", "CP_REG_TO_MEM 0x8a00 0x200100 0x0", "CP_WAIT_FOR_ME", make.EVENT,
               "CP_INDIRECT_BUFFER 0x%x 0x%x 0x4" % (IMAGE + 0x80 & 0xffffffff, IMAGE >> 32),
               "CP_MEM_TO_REG 0x00808a00 0x%x 0x%x" % (IMAGE + 0x100 & 0xffffffff, IMAGE >> 32)]
    for i, packet in enumerate(packets):
        open(s.path("x%d.pm4" % i), "w").write(make.pm4("CP_NOP 0x2", packet, "CP_NOP 0x3"))
    manifest = "firmware old demo.fw\n" + "".join(lines) + "baseline old\nlimit 1M\ncapture x?.pm4\n"
    (made, _, _), _ = s.regress(manifest, "x-none", "--no-cache", "--jobs", "2")
    (less, _, same), _ = s.regress(manifest, "x-cold", "--cache", "x-cache", "--jobs", "2")
    s.same_bytes("x-none", "x-cold")
    pairs = s.pairs("x-none")
    base = {p["capture"]: p["status"] for p in pairs if p["firmware"] == "old"}  # one capture ends in the error loop
    wrong = [p for p in pairs if p.get("same_code") and (p["differences"] or p["status"] != base[p["capture"]])]
    assert not wrong and sorted(set(base.values())) == ["pass", "stopped"], wrong[:2]
    marked = sum(p.get("same_code", False) for p in pairs)
    assert made == 121 * len(packets) and less + same == made and 300 < marked <= same, (made, less, same, marked)
    return "%d of %d pairs not run" % (same, made)


def hidden(s):
    """Rows without changed code can be shown, and are not at first; those that differ are."""
    page = open(s.path("x-none/index.html")).read()
    box = re.search(r'<input class="filter" type="checkbox" id="f-same"( checked)?>', page)
    assert box and not box.group(1), box
    s.compare({handler(s, MEM_WRITE): 1}, "CP_NOP 0x1")
    page = open(s.path("n%d-none/index.html" % s.count)).read()
    assert page.count('<tr class="row-same">') == 1 and page.count("row-pass\">") == 0, page[:100]


def real(files, capture):
    """A real image, some of whose words are changed."""
    def case(s):
        if not CORPUS:
            raise tap.Skip("CPSCOPE_CORPUS is not set")
        paths = [os.path.join(CORPUS, "firmware", name) for name in files]
        first = Firmware(paths[0])
        rng = random.Random(5)
        rest = " ".join(paths[1:])
        manifest = "firmware old %s %s\nbaseline old\ncapture %s\n" % (paths[0], rest, os.path.join(CORPUS, "captures", capture))
        for i in range(12):
            at = rng.randrange(0x40, len(first.words) - 1)
            first.write(s.path("r%d.fw" % i), {at: first.words[1 + at] ^ 1})
            manifest += "firmware r%d r%d.fw %s\n" % (i, i, rest)
        (made, _, _), _ = s.regress(manifest, "r-none", "--no-cache", "--jobs", "2")
        (less, _, same), _ = s.regress(manifest, "r-cold", "--cache", "r-cache", "--jobs", "2")
        s.same_bytes("r-none", "r-cold")
        wrong = [p for p in s.pairs("r-none") if p.get("same_code") and p["status"] != "pass"]
        assert not wrong and less + same == made == 13 and same > 0, (wrong, made, less, same)
        return "%d of 12 not run" % same
    return case


CASES = [
    ("a change that the capture does not enter is not run", unreached),
    ("a change in executed code is run", executed),
    ("a changed entry of a packet that the capture has is run", entry(NOP)),
    ("a changed entry of another packet is not", entry(UNUSED)),
    ("a boot that leaves another state is run", boot),
    ("code that moved is run, and passes", moved_code),
    ("a constant that is a word's number here and its partner's there is a difference", moved_number),
    ("code that only moved behaves otherwise by what the boot left", left_by_boot),
    ("a word of the image that is read as memory counts, its neighbour does not", read_as_memory),
    ("what another revision executed before is taken from the cache", from_history),
    ("damaged lists of executed code cost a run, and nothing else", damaged_lists),
    ("a list that leads to another result is not believed", wrong_list),
    ("120 changed images: what is not run gives the bytes of a run", mutants),
    ("the report hides what did not change", hidden),
    ("a real a630: what is not run gives the bytes of a run", real(["a630_sqe-190.fw"], "fd-clouds.rd.gz")),
    ("a real a540 with two images", real(["a530_pfp.fw", "a530_pm4.fw"], "compute-a540.rd.gz")),
    ("a real a740 with several processors", real(["a740_sqe.fw"], "a750-ycbcr.pm4")),
]

with tempfile.TemporaryDirectory() as folder:
    scene = Scene(folder)
    tap.run([(name, lambda case=case: case(scene)) for name, case in CASES])
