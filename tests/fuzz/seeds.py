#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Seeds of every fuzz target: valid files of each feature, in the form that the target takes. The same each time.

Usage: seeds.py CPSCOPE SOURCE_ROOT OUT [STAMP]; the seeds of TARGET are in OUT/TARGET. With --real in front, those
that CPSCOPE_CORPUS has are in OUT, too (never in the build of others)."""
import gzip
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), name) for name in ("lib", "model")]
import cptread
import make
import mkcorpus
import mkmmio
import mkrnn
import mkrom
import seedtext as text

RUNS = {"reclock": ("hwsq", 1), "pause": ("seq", 4), "vp1": ("vp1", None), "pfifo-nv1": ("pfifo", 6), "pfifo-nv3": ("pfifo", 7)}
CODE = {"hwsq": ("reclock", ["--chip", "g80"]), "seq": ("pause", ["--seq-abi", "new"]), "vp1": ("vp1", ["--chip", "g80"])}


class Maker:
    def __init__(self, cpscope, root, out, work):
        self.cpscope, self.root, self.out, self.work = os.path.abspath(cpscope), root, out, work

    def put(self, target, name, data):
        folder = os.path.join(self.out, target)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())

    def get(self, *path):
        with open(os.path.join(self.root, *path), "rb") as file:
            return file.read()

    def run(self, *args, status=(0,)):
        done = subprocess.run([self.cpscope, *args], cwd=self.work, capture_output=True, timeout=300)
        assert done.returncode in status, (args, done.returncode, done.stderr)
        return done.stdout

    def made(self, *args, name="made", status=(0,)):
        """The file that `cpscope ... -o FILE` writes."""
        path = os.path.join(self.work, name)
        self.run(*args, "-o", path, status=status)
        return self.get(path)

    def snapshot(self, dump):
        path = os.path.join(self.work, "made.snapshot")
        make.write_snapshot(self.cpscope, dump, path)
        return self.get(path)

    def scratch(self, name, data):
        path = os.path.join(self.work, name)
        with open(path, "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())
        return path


def devices(m):
    rows = re.findall(r"^IOCTL\(\w+, 0x\w+, (\w+),", m.get("tools/device/ioctl.def").decode(), re.M)

    def head(kind, size, row=0, context=0):
        return struct.pack("<HHIiHH16s", 1, kind, size, 0, row, 0, struct.pack("<I", context))

    def send(data, client=0, fds=b""):  # action 3 and up: as many descriptors
        long = len(data) > 255
        data += bytes(-len(data) % 16) if long else b""
        return bytes([client | (3 + len(fds)) << 2 | long << 7, len(data) // (16 if long else 1)]) + fds + data

    def ioctl(name, words, *pieces, context=1, fds=b""):
        body = b"".join(struct.pack("<II", len(piece), 0) + piece + bytes(-len(piece) % 8) for piece in pieces)
        words = words + [0] * (len(words) % 2)
        body = make.dwords(words) + body
        return send(head(3, len(body), rows.index(name), context) + body, fds=fds)

    opened = send(head(1, 0)) + bytes([2 << 2])
    read = bytes([2 << 2])
    buffer = ioctl("GEM_NEW", [8192, 0, 0x20000, 0]) + read + ioctl("GEM_INFO", [1, 1, 0, 0, 0, 0]) + read
    m.put("deviceproto", "open", opened + send(head(2, 0, 0, 1), 1))
    m.put("deviceproto", "buffer", opened + buffer + send(head(4, 16, 0, 1) + struct.pack("<QQ", 1 << 32, 4096)) + read +
          ioctl("GEM_CLOSE", [1, 0]))
    m.put("deviceproto", "name", opened + buffer + ioctl("GEM_INFO", [1, 2, 1, 0, 5, 0], b"names") + read +
          ioctl("GEM_INFO", [1, 3, 1, 0, 32, 0]) + read + ioctl("SET_PARAM", [16, 12, 1, 0, 4, 0], b"prog"))
    m.put("deviceproto", "prime", opened + buffer + ioctl("PRIME_TO_FD", [1, 0, 0]) + read + ioctl("PRIME_TO_HANDLE", [0, 0, 0], fds=b"\4"))
    m.put("deviceproto", "submit", opened + buffer + ioctl("SUBMIT", [0x20000010, 0, 1, 1, 1, 0, 1, 0, 0xffffffff, 0, 0, 0, 0, 0, 0, 0, 16, 0],
          make.dwords([3, 1, 0, 0]), make.dwords([1, 0, 0, 16, 0, 0, 0, 0]), b"", b"") + read + ioctl("WAIT_FENCE", [1, 0, 0, 0, 0, 0, 0, 0]))
    m.put("deviceproto", "sync", opened + ioctl("SYNCOBJ_CREATE", [0, 1]) + read + ioctl("SYNCOBJ_WAIT", [1, 0, 0, 0, 1, 0, 0, 0, 0, 0], make.dwords([1])) +
          read + ioctl("SYNCOBJ_TO_FD", [1, 1, 0, 0, 0, 0]) + read + ioctl("SYNC_MERGE", [0] * 12, fds=b"\4\4"))
    m.put("deviceproto", "bind", opened + ioctl("SET_PARAM", [16, 22, 1, 0, 0, 0]) + read + ioctl("QUEUE_NEW", [2, 0, 0]) + read + buffer +
          ioctl("VM_BIND", [0, 2, 0, 1] + [0] * 6 + [16, 40] + [0] * 10, b"", b"", make.dwords([1, 1, 0, 0, 0, 1, 4096, 0, 0, 0] * 2)))
    node = bytes([opened[0] | 0x40]) + opened[1:]
    m.put("deviceproto", "kgsl", node + ioctl("KGSL_OBJECT_ALLOC", [8192, 0] + [0] * 10) + read + ioctl("KGSL_CONTEXT_NEW", [0x12, 0]) + read +
          ioctl("KGSL_OBJECT_INFO", [0] * 10 + [1, 0]) + read + ioctl("KGSL_COMMAND", [0] * 16 + [1, 0]) + read + ioctl("KGSL_WAIT", [1, 1, 1]) + read +
          ioctl("KGSL_EVENT", [2, 1, 1, 0, 0, 2, 4, 0]) + read + ioctl("SYNC_MERGE", [0] * 12, fds=b"\4\4"))
    # fuzz_deviceioctl: action, client and context, and what the action takes.
    start = bytes([1, 0, 1, 1, 2, 0, 0x01, 2, 0, 0x11])
    stream = bytes([3, 0, 0, 3, 24, 80, 1, 7, 24, 84, 1, 9, 3])
    wait = bytes([3, 0, 0, 2, 6 * 8 + 1, 16 + 3, 0, 1, 1, 5, 0])
    m.put("deviceioctl", "run", start + stream + bytes([4, 0, 4, 12, 0, 0, 8, 0, 8, 0]))
    m.put("deviceioctl", "wait", start + wait + bytes([4, 0, 4, 7, 0, 10]) * 3 + bytes([8, 0]) * 20)
    m.put("deviceioctl", "bind", bytes([1, 0, 7, 0, 2, 0, 1, 2, 0, 2]) + bytes([6, 0, 1, 0, 6, 0, 5, 0x31, 6, 0, 2, 1]) + stream +
          bytes([5, 0, 0, 12, 0, 2, 8, 0, 6, 0, 0, 0]))
    # KGSL: an object and a context of each kind, streams and structures in memory of the process.
    kgsl = bytes([0x41, 0, 1, 1]) + b"".join(bytes([14, 0, choice]) for choice in (0x01, 0x12, 0x23, 0x34, 0x81))
    m.put("deviceioctl", "kgsl-run", kgsl + bytes([15, 0, 2, 24, 76, 0, 7, 24, 76, 0, 9, 0, 1, 1]) * 3 + bytes([8, 0]) * 4)
    m.put("deviceioctl", "kgsl-wait", kgsl + bytes([15, 0, 1, 6 * 8 + 1, 16 + 3, 76, 0, 1, 1, 5, 0, 1, 1]) + bytes([15, 0, 1, 24, 76, 0, 7, 0x40, 1, 2]) +
          bytes([8, 0]) * 20)
    m.put("deviceioctl", "kgsl-bind", kgsl + bytes([13, 0, 0, 8, 0, 0, 80, 0, 81, 0, 1, 1]) +
          bytes([9, 0, rows.index("KGSL_BIND_RANGES"), 76, 0, 1, 53, 10, 0, 0, 0]) + bytes([8, 0]))
    for i, name in enumerate(rows):
        if name.startswith("KGSL_"):
            m.put("deviceioctl", "kgsl-row-" + name[5:].lower(), kgsl + bytes([13, 0, 0, 30]) + bytes([1, 0, 76, 0] * 8) +
                  bytes([9, 0, i]) + bytes([76, 0] * 20) + bytes([9, 0, i]) + bytes([1, 0] * 20) + bytes([8, 0]))
        m.put("deviceioctl", "row-" + name.lower(), start + bytes([9, 0, i]) + bytes([1, 1, 0, 0] * 20) + bytes([9, 0, i]) + bytes([1] * 60))


def captures(m):
    words = make.type7(0x10) + make.type7(0x10, 1, 2) + make.type4(0x8810, 1, 2, 3)
    data = make.dwords(words)
    sections = b"".join(make.section(kind, b"payload " * 2) for kind in (0, 4, 5, 7, 8, 9, 10, 11, 15, 16, 17, 99))
    rd = {"plain": make.capture(words),
          "short-addresses": make.chip(630) + make.section(3, make.dwords([0x1000, len(data)])) +
          make.section(12, data) + make.section(6, make.dwords([0x1000, len(words)])),
          "all": make.dwords([0xffffffff] * 2) + make.section(1, b"a test\0\0") + make.section(2, b"cmd\0") +
          make.section(14, make.dwords([0x43050a01, 0])) + sections + make.section(12, b"lost") +
          make.buffer(0x100000, data) + make.submit(0x100000, 4) + make.buffer(0x200000, data) + make.submit(0x200000, 2),
          "large": make.chip(540) + make.buffer(0x100000, data * 3000) + make.submit(0x100000, 7)}
    for name, file in rd.items():
        m.put("rd", name + ".rd", file)
        m.put("rd", name + ".rd.gz", gzip.compress(file, mtime=0))
        m.put("rd", name + ".rd.zst", cptread.zstd(file))
    dumps = {"dump": text.devcoredump(), "dump-crlf": text.damaged_dump(), "kernel": text.devcoredump()[4:]}
    for name, dump in dumps.items():
        m.put("rd", name, dump)
        if dump.startswith("---"):
            m.put("devcore", name, dump[4:])
    snapshots = text.snapshots()
    snapshots.update({name + "-made": m.snapshot(m.scratch(name, dump)) for name, dump in dumps.items()})
    for name, data in snapshots.items():
        m.put("snapshot", name, data[4:])
        m.put("rd", name + ".snapshot", data)
    pm4 = {"demo": m.get("fw/demo/demo.pm4"), "a7xx": m.get("tests/corpus/streams/a7xx.pm4"),
           "memory": m.get("tests/corpus/streams/memory.pm4"),
           "all": make.pm4(".word 0xdeadd00d 0x0", "CP_NOP 0x1 @frame #frame", "reg 0x8810 1 2 ; x") + "reset\nchip 0x06030002\n",
           "ring": make.pm4("CP_INDIRECT_BUFFER 0x00100000 0 1").replace("submit frame", "start CP_SCRATCH[2].REG 0x7\ninit\nring frame")}
    for name, data in pm4.items():
        data = data if isinstance(data, bytes) else data.encode()
        m.put("rd", name + ".pm4", data)
        m.put("pm4text", name, data.split(b"\n", 1)[1])


def noise(count, first=0):
    """Words of every kind."""
    return b"".join(struct.pack("<I", (i + 1000 * first) * 0x9e3779b1 & 0xffffffff) for i in range(count))


def firmware(m):
    sources = {"demo": (2, m.get("fw/demo/demo_sqe.afuc").decode())}
    sources.update({"gen%d" % gen: (gen, source) for gen, source in text.ASSEMBLY.items()})
    for name, (gen, source) in sources.items():
        path = m.scratch(name + ".afuc", source)
        gen_word = ["--gen", "a%dxx" % (4 + gen)]
        m.put("asm", name, bytes([gen]) + source.encode())
        fw = m.made("asm", path, *gen_word, name=name + ".fw")
        m.put("fw", name, bytes([gen]) + fw)
        # The listing of noise names instructions that no source here has.
        noisy = fw + noise(400)
        m.put("fw", name + "-noise", bytes([gen]) + noisy)
        m.put("asm", name + "-noise", bytes([gen]) + m.run("disasm", *gen_word, m.scratch("noise.fw", noisy)))
        if "elf" in sys.argv:
            m.put("elf", name, m.made("asm", "-g", path, *gen_word))
    m.put("envy", "hwsq", "1start: nop; wait 2 shl 2 // 8 us\n.equ #a 0x10\n/* b */ewait #HEAD0_VBLANK 1\ndata (#a << 4 | 3)\naddr #start\n.b8 1 -1\n"
          ".align 4\n.section #c 0x100\nset1 #FB_PAUSE\n_d: exit\n.skip 2\n.size 9\n00000000: 7f                 exit\n")
    m.put("envy", "vp1", "3mov $r1 0x5\nadd $r1 $c0 $r1 (slct $c1 zf $r0d)\nx: bra loop $l1 $c1 $l0 #x\nvmul u rn int -0x1 lo # s $v1 s $v4\n"
          "00000000: 65080005     mov $r1 0x5\n")
    m.put("mmiotrace", "g80", mkmmio.g80().text())
    for name, rom in (("bit", mkrom.nv43()[0]), ("bmp", mkrom.nv17()[0])):
        m.put("rom", name, rom[:0x200])
        m.put("rom", name + "-whole", rom)
    m.put("mbn", "mdt", text.elf32(text.SEGMENTS))
    m.put("mbn", "mbn", text.elf32(text.SEGMENTS, split=False))
    m.put("mbn", "mbn64", text.elf64(text.SEGMENTS))
    m.put("mbn", "none", text.elf32([]))
    m.put("rnn", "tree", text.RNN)
    m.put("rnn", "nvidia", mkrnn.whole())


def scripts(m):
    for name, (_, gen) in RUNS.items():
        data = m.get("tests/scripts", name + ".run")
        if gen is not None:
            m.put("script", name, bytes([gen, 1]) + data.split(b"\n", 1)[1])
    for engine, (name, options) in CODE.items():
        source = m.get("tests/scripts", name + ".run").decode().split("\ncode\n")[1]
        code = m.made("asm", "--engine", engine, *options, m.scratch("code", source))
        if engine != "vp1":
            m.put("script", engine + "-code", bytes([RUNS[name][1], 0]) + source.encode())
            m.put("script", engine + "-bytes", bytes([RUNS[name][1], 0]) + code)
        head = {"hwsq": 10, "seq": 1, "vp1": 17}[engine]
        for variant in range(4):
            front = bytes((variant * 37 + i * 5) % 256 for i in range(head))
            m.put(engine, "%s%d" % (name, variant), front + code)
            m.put(engine, "noise%d" % variant, front + noise(200, variant))
    m.put("hwsq", "again", text.HWSQ_AGAIN)
    # What a host does to PFIFO: enables, then objects and methods of two channels.
    acts = [(1 << 4, 0x2140, 0x110), (1 << 4, 0x3200, 1), (1 << 4, 0x3240, 1), (1 << 4 | 3, 0x2000, 0x80000001),
            (1 << 4 | 3, 0x2400, 5), (0, 0x3204, 0), (2 << 2, 0x800, 0x80000000), (1 << 4 | 3, 0x10100, 7), (0xff, 0, 0)]
    records = b"".join(struct.pack("<II", kind | addr << 8 & 0xffffffff, value) for kind, addr, value in acts)
    for chip in range(3):
        m.put("pfifo", "chip%d" % chip, bytes([chip, chip]) + records * 3)


def pfifo_acts(m, name, lines):
    """A run file as what the target takes: its words in RAMIN, then its accesses as the trace has them."""
    acts = []
    for at, values in re.findall(r"^write ramin (0x\w+)((?: 0x\w+)+)", m.get("tests/scripts", name + ".run").decode(), re.M):
        acts += [(2 << 2, int(at, 16) + 4 * i, int(value, 16)) for i, value in enumerate(values.split())]
    for kind, addr, value in re.findall(r"^host (REGR?) (0x\w+) (0x\w+)", lines.decode(), re.M):
        acts.append(((4 if kind == "REG" else 0) << 2, int(addr, 16), int(value, 16)))
    records = b"".join(struct.pack("<II", kind | addr << 8 & 0xffffffff, value) for kind, addr, value in acts)
    for chip in range(3):
        m.put("pfifo", "%s-%d" % (name, chip), bytes([chip, 0]) + records)


def traces(m):
    runs = {"demo": ["--demo"], "all": ["--demo", "--events", "all"]}
    for name, (engine, _) in RUNS.items():
        runs[name] = ["--engine", engine, os.path.join(m.root, "tests/scripts", name + ".run"), "--events", "all"]
    for name, args in runs.items():
        lines = m.made("run", *args, name="x.trace")
        if name.startswith("pfifo"):
            pfifo_acts(m, name, lines)
        if len(lines) > 60000:
            lines = b"\n".join(lines.split(b"\n")[:700]) + b"\n"
        whole = m.scratch("x.trace", lines)
        m.put("trace", name + ".trace", b"\0" + lines)
        m.put("trace", name + ".jsonl", b"\0" + m.made("convert", whole, name="x.jsonl", status=(0, 3)))
        cpt = m.made("run", *args, name="x.cpt")
        put_cpt(m, name, cpt)


def put_cpt(m, name, file):
    """The whole file, and the first events of its first frame without what surrounds them."""
    m.put("cptfile", name, file)
    at = 16 + struct.unpack_from("<I", file, 8)[0]
    _, events, size, packed = struct.unpack_from("<4I", file, at)
    raw = cptread.unzstd(file[at + 16:at + 16 + packed], size)
    m.put("cpt", name, bytes([min(events, 255)]) + raw[:4000])


def tools(m):
    for i, rules in enumerate(text.MASKS):
        m.put("mask", "mask%d" % i, rules)
    for name, stream in text.DAP.items():
        m.put("dap", name, b"\1" + stream)
        m.put("dap", name + "-launch", b"\0" + stream)
    for name, stream in text.LSP.items():
        m.put("lsp", name, b"\0" + stream)
        m.put("lsp", name + "-begun", b"\1" + stream)
    m.put("manifest", "all", text.MANIFEST)
    m.put("manifest", "least", "# cpscope-manifest 1\nfirmware a a.fw\ncapture c.rd\n")
    mkcorpus.make(m.cpscope, os.path.join(m.root, "fw/demo/demo_sqe.afuc"), m.work, 11)
    for name, args in (("whole", []), ("shard1", ["--shard", "1/2"]), ("shard2", ["--shard", "2/2"])):
        m.run("regress", "manifest.txt", "--no-cache", "-o", name, *args, status=(0, 1))
        m.put("results", name, m.get(m.work, name, "results.json"))
        m.put("results", name + "-interrupted", m.get(m.work, name, "results.json").replace(
            b"{", b'{"interrupted":true,', 1))


def real(m, corpus):
    """Captures, dumps, images and XML of $CPSCOPE_CORPUS."""
    for name in sorted(os.listdir(os.path.join(corpus, "captures"))):
        data = m.get(corpus, "captures", name)
        m.put("rd", "real-" + name, data)
        if name.endswith(".devcore"):
            m.put("devcore", "real-" + name, data[4:])
            m.put("snapshot", "real-" + name, m.snapshot(os.path.join(corpus, "captures", name))[4:])
    for name in sorted(os.listdir(os.path.join(corpus, "firmware"))):
        if name.endswith(".fw"):
            m.put("fw", "real-" + name, b"\0" + m.get(corpus, "firmware", name))
    for name in sorted(os.listdir(os.path.join(corpus, "rnndb"))):
        m.put("rnn", "real-" + name, m.get(corpus, "rnndb", name))


def main():
    words = [word for word in sys.argv[1:] if word not in ("--real", "elf", "zstd")]
    cpscope, root, out = words[:3]
    shutil.rmtree(out, ignore_errors=True)
    with tempfile.TemporaryDirectory() as work:
        m = Maker(cpscope, os.path.abspath(root), os.path.abspath(out), work)
        for step in [captures, devices, firmware, scripts, traces, tools] if "zstd" in sys.argv else [captures, devices, firmware, scripts]:
            step(m)
        if "--real" in sys.argv and os.environ.get("CPSCOPE_CORPUS"):
            real(m, os.environ["CPSCOPE_CORPUS"])
    if len(words) > 3:
        with open(words[3], "w", encoding="utf-8") as stamp:
            stamp.write("made\n")


main()
