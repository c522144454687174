#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every firmware image of the corpus: what it is taken for, whether it comes back from its listing,
boots, runs three packets and the real capture of its generation, which places are not modelled then, and that
it is whole, and is not when it is cut anywhere.

Whatever ends in .fw under $CPSCOPE_CORPUS/firmware is an image; nothing here lists them. A place that is
not modelled and that EXPLAINED does not explain is a failure, and so is an explanation that no image needs.

Usage: images.py CPSCOPE [--table], which prints the figures as Markdown, and no tests."""
import collections
import glob
import gzip
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

import tap

# Chips (kernel: the catalogue of GPUs) and processors by id of the image, as what was published about them
# says (kernel, Mesa); a5xx has a file for each, an AQE has its SQE's id. Others run as their generation does.
CHIPS = {0x5ff: ("a5xx", "gpu 540", "pfp|me"), 0x6ee: ("a6xx", "chip 0x06030002", "sqe"),
         0x6dd: ("a6xx", "chip 0x06050002", "sqe"), 0x6dc: ("a6xx", "chip 0x06060001", "sqe lpac"),
         0x7aa: ("a6xx", "chip 0x06030002", "sqe"), 0x710: ("a7xx", "chip 0x07010000", "sqe"),
         0x730: ("a7xx", "chip 0x07030001", "sqe bv lpac"), 0x740: ("a7xx", "chip 0x43050a01", "sqe bv lpac"),
         0x520: ("a7xx", "chip 0x43051401", "sqe bv lpac"), 0x500: ("a8xx", "chip 0x44050a31", "sqe bv lpac dde")}
# The processors that run a part of an image.
RUNS = {"dde": ("dde_br", "dde_bv")}

CLOUDS, TRIANGLE = "fd-clouds.rd.gz", "dEQP-VK.draw.indirect_draw.indexed.indirect_draw_count.triangle_list.rd.gz"
CAPTURES = {"a5xx": ["compute-a540.rd.gz"], "a6xx": [CLOUDS, TRIANGLE], "a7xx": ["a750-ycbcr.pm4"],
            "a8xx": ["a840-ycbcr-tail.pm4"]}
NO_CAPTURE = {0x7aa: "of a702 there is none"}
# What a chip does not have, and its capture does. D: has_cp_reg_write of Mesa's freedreno_devices.py; the
# packet's entry in a660's table is that of packets that there are not (094: 00ee).
REG_WRITE, NOP_OF_3 = 0x706d8003, 0x70108003
REFUSED = {0x6dc: REG_WRITE}

# Space, number, whose runs (a generation, the id of an image, or a capture), what it is read for and where.
EXPLAINED = [
    ("gpu", 0x833, "a5xx", "PFP 0986 drops it: a read behind a write to 0xa890, so that it has arrived"),
    ("gpu", 0x841, "a6xx", "CP_CHICKEN_DBG, which the driver may set: with bit 2 set a680 003e writes controls 0x0a4 and 0x0a5"),
    ("ctrl", 0x03b, "0x6dd", "a650 0162 waits until it and a word of CP_SQE_STAT are less than 4 together: events under way, here none"),
    ("gpu", 0x802, "0x6dc", "CP_RB_CNTL, which the driver sets: a660 112 00ec takes the size of the ring from 5:0"),
    ("gpu", 0x813, "a7xx", "a740 001b, AQE 000f: with bit 0 set more scratch survives the boot; 1:0 go to 31:30 of the APRIV_CNTLs"),
    ("gpu", 0xdf1, "a7xx", "a740 0042: 0 or not selects bits 31:29 of shared scratch 0x238 (gen3: 0x278); nobody here knows its name"),
    ("gpu", 0x844, "a7xx", "CP_APRIV_CNTL, which the driver sets: a740 0048 gives it to BV and LPAC, too"),
    ("gpu", 0x802, "a7xx", "CP_RB_CNTL, which the driver sets: a740 00fd takes the size of the ring from 5:0"),
    ("gpu", 0x832, "0x520", "0145: where 15:4 are not 0, bits are added; a8xx has that code for CP_SQE_ICACHE_CNTL"),
    ("gpu", 0xa62, "0x520", "014d: the same of BV"),
    ("gpu", 0xb2b, "0x520", "0155: the same of LPAC"),
    ("gpu", 0x27841, "0x520", "015e keeps it in shared scratch 0x27e; of a block outside of the command processor"),
    ("gpu", 0x823, "a8xx", "077 0022, AQE 0014: what 0x813 is on a7xx"),
    ("gpu", 0xdf1, "a8xx", "077 002e: selects bit 31 of shared scratch 0x278, as on a7xx"),
    ("gpu", 0x84d, "a8xx", "CP_APRIV_CNTL of BR's pipe, which the driver sets: 077 0035 gives it to the others"),
    ("gpu", 0x8b0, "a8xx", "CP_SQE_ICACHE_CNTL of the pipe: 077 01b8, where 15:4 are not 0, bits are added"),
    ("gpu", 0x958, "a8xx", "CP_RESERVED_REG[0], which the driver may set: 077 01df keeps it in scratch"),
    ("gpu", 0x27841, "a8xx", "077 01eb takes 27:16 and 1:0: which slices there are"),
    ("gpu", 0x802, "a8xx", "CP_RB_CNTL: 077 026f, as on a7xx"),
    ("gpu", 0x27887, "0x700", "gen80100 0217 takes 3:0, counts the bits and finds the lowest: of a block outside of the command processor"),
    ("ctrl", 0x1b0, "0x700", "gen80100 20d8 waits while bit 3 is set, and saves 2:1; the boot writes 2:1, here nothing sets bit 3"),
    ("stream", 0x1d92000, CLOUDS, "a submission whose buffer the capture does not hold"),
] + [("mem", 0x1d65800 + 4 * i, CLOUDS, "sizes of visibility streams, which binning writes: CP_SET_BIN_DATA5 reads them (a680 032e)")
     for i in range(4)]

# Words that are no instruction whole and are between instructions, by generation: mask, match, what is known.
UNDECODED = [
    ("a5xx", 0xf8008000, 0xa8000000, "store with bit 12, in packet 0x79 of the ME, which no driver sends"),
    ("a5xx", 0xf8008000, 0xb0000000, "load with bit 12, in packet 0x78"),
    ("a6xx", 0xffffffff, 0x42101003, "data: a630 207 1fdf makes 0x2060..0x20df the shader at SP_CS_BASE"),
    ("a7xx", 0xf8008000, 0xb0000000, "load with one of bits 13:12, in the AQE only: 0cff, 121b"),
    ("a7xx", 0xf800b000, 0xa0009000, "storep with bit 12: gen70500 24f5 at 0x1c, BV 1ca6 at 0x1d, so perhaps bytes"),
    ("a7xx", 0xf800b000, 0xb0009000, "loadp with bit 12: gen70500 24fb"),
    ("a8xx", 0xf8008000, 0xb0000000, "the same: AQE 0b59, 0ce9"),
    ("a8xx", 0xffffffff, 0x41643219, "data: gen80100 35ce reads 0x1d words from 0x35af, BV 295b from 0x293c"),
]

STREAM = """# cpscope-pm4 1
%s
buffer 0x00100000 frame
    CP_NOP 0x1 0x2
    CP_WAIT_FOR_IDLE
    CP_MEM_WRITE 0x00200000 0x0 0x5ca1ab1e
submit frame
"""

Run = collections.namedtuple("Run", "status trace said end unmodelled")
Image = collections.namedtuple("Image", "path name id version gen parts")


class Corpus:
    """What runs on what; knows the command, the folders and a folder for itself."""

    def __init__(self, cpscope, folder, scratch):
        self.cpscope, self.folder, self.scratch = cpscope, folder, scratch
        self.runs = 0

    def call(self, *words):
        return subprocess.run([self.cpscope, *words], timeout=120, capture_output=True, check=False)

    def images(self):
        paths = sorted(glob.glob(os.path.join(self.folder, "firmware", "*.fw")))
        return [self.identify(path) for path in paths]

    def identify(self, path):
        done = self.call("info", "--json", path)
        assert done.returncode == 0, "%s: %s" % (path, done.stderr.decode())
        info = json.loads(done.stdout)["files"][0]
        parts = [part["name"] for part in info["processors"]]
        return Image(path, os.path.basename(path), info["id"], info["version"], info["generation"], parts)

    def file(self, name):
        self.runs += 1
        return os.path.join(self.scratch, "%d-%s" % (self.runs, name))

    def write(self, name, text):
        path = self.file(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run(self, image, stream, *options):
        """The image, and of a5xx the other one, over a stream, or without one its boot."""
        flags = [word for path in self.needed(image) for word in ("--fw", path)]
        out = self.file("out.txt")
        done = self.call("run", *flags, *([stream] if stream else []), "-o", out, *options)
        assert done.returncode in (0, 4), done.stderr.decode()
        with open(out, encoding="utf-8") as file:
            trace = file.read()
        end = re.search(r"(?m)^END (\S+)", trace)
        places = re.findall(r"(?m)^(?:\w+ )?UNMODELLED (\S+) (0x\S+)", trace)
        return Run(done.returncode, trace, done.stderr.decode(), end.group(1) if end else "no end",
                   sorted({(space, int(number, 16)) for space, number in places}))

    def needed(self, image):
        if image.gen != "a5xx":
            return [image.path]
        others = [other.path for other in self.images() if other.gen == "a5xx" and other.parts != image.parts]
        if not others:
            raise tap.Skip("the other file of a5xx is not there")
        return [image.path, others[0]]

    def capture(self, image, name):
        """The path of a capture, for this image's chip."""
        path = os.path.join(self.folder, "captures", name)
        if not os.path.isfile(path):
            return None
        if not name.endswith(".pm4"):
            return path
        with open(path, encoding="utf-8") as file:
            return self.write(name, re.sub(r"(?m)^chip .*$", chip_of(image), file.read()))


def chip_of(image):
    return CHIPS[image.id][1] if image.id in CHIPS else next(row[1] for row in CHIPS.values() if row[0] == image.gen)


def writes(trace, who="sqe", paths="user|nrt"):
    """What a processor wrote to registers and memory by the path of streams: (REG or MEMW, where, value, path)."""
    return re.findall(r"(?m)^(?:%s )?(REG|MEMW) (0x\S+) (0x\S+) (%s)\b" % (who, paths), trace)


def provenance(corpus):
    """Id and version by file, as whoever collected them noted."""
    path = os.path.join(corpus.folder, "firmware", "PROVENANCE.tsv")
    if not os.path.isfile(path):
        return {}
    with open(path, encoding="utf-8") as file:
        rows = [line.split("\t") for line in file if line.count("\t") > 2 and not line.startswith(("#", "file\t"))]
    return {row[0]: (int(row[1], 16), int(row[2], 16)) for row in rows}


def check_identity(corpus, image):
    """@return what it is taken for"""
    noted = provenance(corpus).get(image.name)
    assert not noted or noted == (image.id, image.version), "noted as 0x%x, 0x%x" % noted
    name = re.match(r"(?:a|gen)(\d)", image.name)
    assert not name or image.gen == "a%sxx" % name.group(1), "%s by its name" % name.group(0)
    if "_aqe" in image.name:
        assert image.parts == ["aqe"], image.parts
    elif image.id in CHIPS:
        gen, _, parts = CHIPS[image.id]
        assert image.gen == gen, gen
        assert " ".join(image.parts) in parts.split("|"), image.parts
    return image.gen


def check_round_trip(corpus, image):
    """With the names that are built in, and with those of a register database of another age.
    @return the listing, and how many gave the same bytes"""
    found = None
    databases = [folder for folder in ("rnndb", "rnndb-2025-11/registers") if os.path.isdir(os.path.join(corpus.folder, folder))]
    for options in [[]] + [["--rnn", os.path.join(corpus.folder, folder)] for folder in databases]:
        listing, again = corpus.file("listing.afuc"), corpus.file("again.fw")
        for words in (("disasm", image.path, "-o", listing, *options), ("asm", listing, "-o", again)):
            done = corpus.call(*words)
            assert done.returncode == 0, done.stderr.decode()
        with open(image.path, "rb") as a, open(again, "rb") as b:
            assert a.read() == b.read(), "the listing gives other bytes, options: %s" % " ".join(options)
        with open(listing, encoding="utf-8") as file:
            found = found or file.read()
    return found, "same bytes" + (", also by %d other databases" % len(databases) if databases else "")


def check_words(image, listing, used):
    """Single words between instructions. @return how many there are"""
    rows = re.findall(r"(?m)^ +(\S.*?) *; ([0-9a-f]{4,}) ([0-9a-f]{8})\b", listing)
    plain = [text.startswith("[") and not text.startswith("[#") for text, _, _ in rows]
    words = [(int(rows[i][2], 16), rows[i][1]) for i in range(4, len(rows) - 1)
             if plain[i] and not any((plain[i - 1], plain[i + 1], plain[i - 2]))]
    unknown = []
    for word, at in words:
        found = {row for row in UNDECODED if row[0] == image.gen and word & row[1] == row[2]}
        used |= found
        # Data that looks like nothing, and the version words of parts.
        if not found and word >> 24 > 1:
            unknown.append("%08x at %s" % (word, at))
    assert not unknown, "no instruction: " + ", ".join(unknown)
    return len([word for word, _ in words if word >> 24 > 1])


def check_boot(image, run):
    """@return which of the image's processors did something"""
    parts = ["pfp", "me"] if image.gen == "a5xx" else image.parts
    whos = [who for part in parts for who in RUNS.get(part, (part,))]
    several = len(whos) > 1
    idle = [who for who in whos if several and not re.search(r"(?m)^%s (CTRL|PKT) " % who, run.trace)]
    assert not idle, "never ran: " + " ".join(idle)
    assert re.search(r"(?m)^(\w+ )?PKT rb ", run.trace), "the ring was not read"
    return " ".join(whos)


def check_stream(image, run):
    assert (run.status, run.end) == (0, "done"), run.said
    writer = "me" if image.gen == "a5xx" else "sqe"
    found = {(where, value) for kind, where, value, _ in writes(run.trace, r"\w+") if kind == "MEMW"}
    assert found == {("0x0000000000200000", "0x5ca1ab1e")}, found
    assert [kind for kind, _, _, _ in writes(run.trace, writer)] == ["MEMW"], "who wrote it"
    return "done"


def check_aqe(corpus, image, listing):
    """An AQE alone boots until it waits for what its SQE would send: the instruction there reads $data. What is
    submitted to it is refused. @return the run, how far it booted, and what became of the packets"""
    run = corpus.run(image, None, "-e", "default,ctrl")
    assert (run.status, run.end) == (0, "done"), run.said
    assert re.search(r"(?m)^aqe CTRL ", run.trace), "it did nothing"
    done = corpus.call("step", "--fw", image.path, "-x", corpus.write("go.dbg", "continue\n"))
    at = re.findall(r"(?m)^=> +([0-9a-f]{4}) ", done.stdout.decode())[-1]
    row = re.search(r"(?m)^(.*); %s " % at, listing)
    assert "$data" in row.group(1), row.group(0)
    done = corpus.call("run", "--fw", image.path, corpus.write("three.pm4", STREAM % chip_of(image)), "-o", corpus.file("no.txt"))
    assert done.returncode == 3 and b"executes no command streams" in done.stderr, done.stderr.decode()
    return run, "up to 0x" + at, "refused"


def check_capture(image, run):
    """@return how it went"""
    packets = len(re.findall(r"(?m)^(?:\w+ )?PKT ", run.trace))
    if image.id in REFUSED and run.end == "bad-packet":
        assert re.search(r"packet 0x%08x " % REFUSED[image.id], run.said), run.said.splitlines()[-1]
        return "refuses packet 0x%08x, %d packets" % (REFUSED[image.id], packets)
    assert (run.status, run.end) == (0, "done"), run.said.splitlines()[-1]
    return "done, %d packets" % packets


def explain(image, places, tag, used):
    """@return the places that no row explains; notes those that one does"""
    rows = {(row[0], row[1], row[2]) for row in EXPLAINED}
    unknown = []
    for space, number in places:
        found = {(space, number, who) for who in (image.gen, "0x%03x" % image.id, tag)} & rows
        used |= found
        if not found:
            unknown.append("%s 0x%x" % (space, number))
    return unknown


def check_cut(corpus, image):
    """Cut at ten places, the last dword alone among them: info warns where it ends, and nothing runs it.
    @return how many were refused"""
    with open(image.path, "rb") as file:
        data = file.read()
    rng, path = random.Random(image.name), corpus.file("cut.fw")
    ends = [len(data) - 4] + [rng.randrange(5, len(data) // 4) * 4 for _ in range(9)]
    for end in ends:
        with open(path, "wb") as file:
            file.write(data[:end])
        place = "the image ends at dword 0x%x, expected 0x%x dwords" % (end // 4 - 1, len(data) // 4 - 1)
        row = json.loads(corpus.call("info", "--json", path).stdout)["files"][0]
        assert row.get("incomplete", "").startswith(place), row.get("incomplete")
        for words in (["run", "--fw", path], ["audit", path], ["fuzz", "--fw", path, "--execs", "1"]):
            done = corpus.call(*words)
            said = done.stderr.decode()
            assert done.returncode == 3 and said.startswith("cpscope: %s: offset 0x%x: %s" % (path, end, place)), (words, said)
            assert said.count("\n") == 1, said
    return "%d of 10" % len(ends)


def check_image(corpus, image, used):
    """@return the image's row of the table; an assertion says what is wrong"""
    row = {"file": image.name, "id": "0x%03x" % image.id, "version": "%03x" % image.version,
           "taken for": "%s: %s" % (check_identity(corpus, image), " ".join(image.parts))}
    listing, row["round trip"] = check_round_trip(corpus, image)
    row["words not decoded"] = str(check_words(image, listing, used))
    runs = []
    if image.parts == ["aqe"]:
        run, row["boots"], row["three packets"] = check_aqe(corpus, image, listing)
        row["capture"] = "of AQE there is none"
        runs.append(("", run))
    else:
        run = corpus.run(image, corpus.write("three.pm4", STREAM % chip_of(image)), "-e", "default,ctrl")
        row["boots"], row["three packets"] = check_boot(image, run), check_stream(image, run)
        runs.append(("", run))
        how = [NO_CAPTURE[image.id]] if image.id in NO_CAPTURE else []
        for name in CAPTURES.get(image.gen, []) if not how else []:
            path = corpus.capture(image, name)
            if path:
                runs.append((name, corpus.run(image, path)))
                how.append("%s: %s" % (name.split(".")[0], check_capture(image, runs[-1][1])))
        row["capture"] = "; ".join(how) or "not in this corpus"
    unknown = [text for tag, run in runs for text in explain(image, run.unmodelled, tag, used)]
    assert not unknown, "not modelled, and not explained here: " + ", ".join(sorted(set(unknown)))
    places = sorted({place for _, run in runs for place in run.unmodelled})
    row["not modelled"] = ", ".join("%s 0x%x" % place for place in places) or "none"
    return row


def check_explanations(images, used):
    """Rows of images that are here, and of captures that ran."""
    here = {tag for image in images for tag in (image.gen, "0x%03x" % image.id)}
    here |= {row[2] for row in used if len(row) == 3}
    idle = [row for row in EXPLAINED if row[2] in here and row[:3] not in used]
    idle += [(row[0], row[2], row[3]) for row in UNDECODED if row[0] in here and row not in used]
    assert not idle, "nobody needs: " + ", ".join("%s 0x%x %s" % row[:3] for row in idle)
    return "%d rows" % (len(EXPLAINED) + len(UNDECODED))


def check_family(corpus, images, chips, paths):
    """Images of some chips over the captures of their generation: equal writes of BR or the SQE, as far as each
    gets. @chips ids, the first one's first image is what the others are compared with; @paths which writes"""
    images = [image for image in images if image.parts != ["aqe"]]
    first = [image for image in images if image.id == chips[0]]
    others = first[1:] if chips == [chips[0]] else [image for image in images if image.id in chips[1:]]
    if not first or not others:
        raise tap.Skip("not enough images")
    count = 0
    for name in CAPTURES[first[0].gen]:
        path = corpus.capture(first[0], name)
        if not path:
            raise tap.Skip(name + " is missing")
        wanted = writes(corpus.run(first[0], path).trace, paths=paths)
        for image in others:
            run = corpus.run(image, path)
            found = writes(run.trace, paths=paths)
            whole = len(wanted) if run.end == "done" else len(found)
            assert len(found) > 90 and found == wanted[:whole], "%s differs from %s" % (image.name, first[0].name)
            count += len(found)
    return "%d writes" % count


def without_reg_write(corpus, name):
    """A capture as a driver of a660 would have made it, as far as packets go: CP_REG_WRITE is a CP_NOP."""
    with gzip.open(os.path.join(corpus.folder, "captures", name)) as file:
        data = bytearray(file.read())
    at = 0
    while at + 8 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        at += 8
        if kind == size == 0xffffffff:
            continue
        for i in range(at, at + size - 3, 4) if kind == 12 else ():
            if struct.unpack_from("<I", data, i)[0] == REG_WRITE:
                struct.pack_into("<I", data, i, NOP_OF_3)
        at += size
    path = corpus.file(name)
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(data)
    return path


def check_a660_draws(corpus, images):
    """a660 runs what a680 runs, where neither has CP_REG_WRITE in the way."""
    pair = [next((image for image in images if image.id == wanted), None) for wanted in (0x6ee, 0x6dc)]
    path = os.path.join(corpus.folder, "captures", TRIANGLE)
    if None in pair or not os.path.isfile(path):
        raise tap.Skip("an image or the capture is missing")
    stream = without_reg_write(corpus, TRIANGLE)
    a, b = (corpus.run(image, stream) for image in pair)
    assert b.end == "done", b.said.splitlines()[-1]
    assert writes(a.trace) == writes(b.trace), "they write other values"
    return "%d writes" % len(writes(a.trace))


def cases(corpus, images):
    used, rows = set(), []

    def one(image):
        rows.append(check_image(corpus, image, used))
        return "; ".join("%s: %s" % pair for pair in list(rows[-1].items())[1:])

    every = [(image.name, lambda image=image: one(image)) for image in images]
    every += [(image.name + ", cut, is not run", lambda image=image: check_cut(corpus, image)) for image in images]
    every += [("every explanation is needed", lambda: check_explanations(images, used))]
    every += [(name, lambda chips=chips, paths=paths: check_family(corpus, images, chips, paths)) for name, chips, paths in (
        ("images of the a630 family write the same registers, by whatever path", [0x6ee], "user|nrt|data|ctrl|event"),
        ("a650 writes what streams say as the a630 family does", [0x6ee, 0x6dd], "user|nrt"),
        ("a660 does up to CP_REG_WRITE, which it refuses", [0x6ee, 0x6dc], "user|nrt"),
        ("all of a7xx write what the stream says", [0x740, 0x710, 0x730, 0x520], "user|nrt"))]
    every += [("a660 draws as a680 does", lambda: check_a660_draws(corpus, images))]
    return every, rows


def print_table(rows):
    print("| " + " | ".join(rows[0]) + " |")
    print("| " + " | ".join("---" for _ in rows[0]) + " |")
    for row in rows:
        print("| " + " | ".join(row.values()) + " |")


def main():
    folder = os.environ.get("CPSCOPE_CORPUS")
    if not folder:
        print("1..1")
        tap.skip("images", "CPSCOPE_CORPUS is not set")
        return
    with tempfile.TemporaryDirectory() as scratch:
        corpus = Corpus(sys.argv[1], folder, scratch)
        images = corpus.images()
        every, rows = cases(corpus, images)
        if "--table" not in sys.argv:
            tap.run(every)
        for _, case in every[:len(images)]:
            case()
        print_table(rows)


if __name__ == "__main__":
    main()
