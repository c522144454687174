#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How much of each parser its fuzz target reaches: lines of its files that the seeds execute, then the seeds with the
changes that the replay makes, then what a fuzz run found. Prints a table of Markdown.

Usage: tests/fuzz/coverage.py [FOLDER], in the root; FOLDER has a folder of found inputs per target. Builds build-coverage.
"""
import glob
import json
import os
import subprocess
import sys

BUILD = "build-coverage"
# target: the files that take its input apart
PARSERS = {
    "rd": ["trace/capture/rd.c", "isa/base/source.c", "trace/capture/stream.c"],
    "snapshot": ["trace/capture/snapshot.c"],
    "devcore": ["trace/capture/devcore.c", "trace/capture/lines.c"],
    "pm4text": ["trace/capture/pm4text.c"],
    "trace": ["trace/form/text_read.c", "trace/form/jsonl.c", "trace/form/head.c"],
    "cptfile": ["trace/form/cpt_file.c", "trace/form/cpt_frame.c"],
    "cpt": ["trace/form/cpt_frame.c"],
    "mask": ["trace/event/mask.c"],
    "asm": ["fw/asm/asm.c", "fw/asm/source.c", "fw/asm/head.c", "isa/sets/parse.c"],
    "fw": ["fw/image/raw.c", "fw/image/identify.c", "fw/listing/listing.c", "isa/sets/decode.c"],
    "elf": ["fw/image/elf.c", "fw/image/dwarf_line.c"],
    "mbn": ["fw/image/mbn.c"],
    "envy": ["fw/nv/envy/assemble.c", "fw/nv/envy/parse.c", "fw/nv/envy/print.c", "fw/nv/envy/table.c"],
    "mmiotrace": ["tools/explain/mmio/mmio.c", "trace/capture/mmiotrace.c"],
    "rom": ["fw/nv/rom/hwsq.c", "fw/nv/rom/init.c", "fw/nv/rom/listing.c", "fw/nv/rom/rom.c", "fw/nv/rom/tables.c"],
    "rnn": ["isa/names/rnn.c", "isa/names/rnn_chips.c", "isa/names/rnn_read.c", "isa/names/rnn_tree.c"],
    "script": ["fw/nv/script/script.c", "fw/nv/script/run_file.c", "fw/asm/script.c"],
    "results": ["tools/explain/regress/results.c"],
    "manifest": ["tools/explain/regress/manifest.c"],
    "dap": ["tools/face/dap/frame.c", "tools/face/dap/dap_wire.c", "tools/face/dap/dap.c", "tools/face/dap/dap_state.c", "tools/face/dap/dap_points.c",
            "tools/face/dap/dap_code.c"],
    "lsp": ["tools/face/lsp/serve.c", "tools/face/lsp/start.c", "tools/face/lsp/document.c", "tools/face/lsp/text.c", "tools/face/lsp/token.c", "tools/face/lsp/place.c",
            "tools/face/lsp/complete.c", "tools/face/lsp/hover.c"],
    "hwsq": ["emu/nv/hwsq.c", "emu/nv/hwsq_op.c"],
    "seq": ["emu/nv/seq.c", "emu/nv/seq_op.c"],
    "vp1": ["emu/nv/vp1/vp1.c", "emu/nv/vp1/scalar.c", "emu/nv/vp1/vector.c", "emu/nv/vp1/branch.c"],
    "pfifo": ["emu/nv/pfifo.c", "emu/nv/pfifo_push.c", "emu/nv/pfifo_pull.c"],
}


def build():
    if not os.path.isdir(BUILD):
        subprocess.run(["meson", "setup", BUILD, "-Dbuildtype=debug", "-Db_coverage=true"], check=True, capture_output=True)
    for target in ("all", "tests/fuzz-seeds.stamp"):
        subprocess.run(["ninja", "-C", BUILD, target], check=True, stdout=subprocess.DEVNULL)


def replay(target, *args):
    """Nothing but this run counts."""
    for path in glob.glob(BUILD + "/**/*.gcda", recursive=True):
        os.unlink(path)
    return subprocess.run([os.path.join(BUILD, "tests", "fuzz_" + target), *args], capture_output=True).returncode


def lines(source):
    """Numbers of the lines that have code, and of those that ran."""
    name = source.split("/", 1)[1].replace("/", "_")
    notes = [path for path in glob.glob("%s/%s/**/%s.gcno" % (BUILD, source.split("/")[0], name), recursive=True)
             if "libcps-" in path]
    assert notes, source
    data = notes[0][:-4] + "gcda"
    text = subprocess.run(["gcov", "--json-format", "--stdout", data if os.path.exists(data) else notes[0]],
                          capture_output=True, check=True).stdout
    all_lines, ran = set(), set()
    for file in json.loads(text)["files"]:
        if file["file"].endswith(source):
            all_lines |= {line["line_number"] for line in file["lines"]}
            ran |= {line["line_number"] for line in file["lines"] if line["count"]}
    return all_lines, ran


def measure(target, *args):
    status = replay(target, *args)
    return {source: lines(source) for source in PARSERS[target]}, status


def main():
    found = sys.argv[1] if len(sys.argv) > 1 else None
    build()
    print("| target | file | lines | seeds | changed seeds |" + (" found by fuzzing |" if found else ""))
    print("| --- | --- | --- | --- | --- |" + (" --- |" if found else ""))
    for target in PARSERS:
        seeds = os.path.join(BUILD, "tests", "fuzz-seeds", target)
        columns = [("-rounds=0", seeds), ("-rounds=2000", seeds)]
        if found:
            columns.append(("-rounds=0", seeds, os.path.join(found, target)))
        results = [measure(target, *args) for args in columns]
        for source in PARSERS[target]:
            shares = ["crash" if status < 0 else "%d %%" % (100 * len(got[source][1]) // len(got[source][0]))
                      for got, status in results]
            print("| %s | `%s` | %d | %s |" % (target, source, len(results[0][0][source][0]), " | ".join(shares)), flush=True)


main()
