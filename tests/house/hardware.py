# SPDX-License-Identifier: MIT
"""`help hardware` prints every row of every table, with its evidence. The rows are read here a second time, by a
parser of its own. Usage: hardware.py CPSCOPE"""
import json
import os
import re
import subprocess

import tap
from scene import CPSCOPE
from tree import ROOT

TABLES = {  # name: file, macro
    "control": ("emu/afuc/control/ctrl.def", "CTRL"), "kept": ("emu/afuc/control/storage.def", "STORAGE"),
    "pipe": ("emu/afuc/control/pipe.def", "PIPE_REG"),
    "gpu": ("emu/afuc/control/gpu.def", "GPU_REG"), "nvidia": ("emu/nv/reg.def", "NV_REG"),
    "flags": ("emu/nv/hwsq_flag.def", "HWSQ_FLAG"), "pfifo": ("emu/nv/pfifo.def", "PFIFO_REG"),
    "pushes": ("emu/nv/pfifo.def", "PFIFO_PUSH"), "vp1": ("emu/nv/vp1/sr.def", "VP1_SR"),
    "unknown": ("trace/event/event.def", "UNKNOWN"), "policies": ("emu/policy.def", "POLICY(?:_NUMBER)?"),
    "events": ("trace/event/event.def", "EVENT"), "words": ("trace/event/event.def", "SUB"),
    "generations": ("isa/target.def", "GEN"), "layouts": ("isa/target.def", "LAYOUT"),
    "roles": ("isa/target.def", "ROLE"), "chips": ("isa/target.def", "TARGET"), "gpus": ("isa/target.def", "GPU_CHIP"),
    "names": ("isa/nv/nvchip.def", "NV_CHIP"), "workarounds": ("isa/target.def", "WORKAROUND"),
}


def said(*words):
    return subprocess.run([CPSCOPE, "help", "hardware", *words], capture_output=True, text=True, check=True).stdout


def columns(file, macro):
    """Per row of the file its columns: a text is what its string literals hold together."""
    text = open(os.path.join(ROOT, file)).read()
    text = re.sub(r'\bCTL\("(\w+)"\)', r'"\1_CONTROL_REG"', text)  # the one macro around a text
    text = re.sub(r'\bPOLICY_WORD\(\w+, "', r'POLICY_WORD(" ', text)
    text = re.sub(r"/\*.*?\*/", lambda comment: " " * len(comment[0]), text, flags=re.S)
    for start in re.finditer(r"^%s\(" % macro, text, re.M):
        found, depth, at = [""], 1, start.end()
        for token in re.finditer(r'"(?:\\.|[^"\\])*"|[^"]', text[at:]):
            depth += {"(": 1, ")": -1}.get(token[0], 0)
            if not depth:
                break
            if token[0] == "," and depth == 1:
                found.append("")
            else:
                found[-1] += token[0]
        literals = [re.findall(r'"((?:\\.|[^"\\])*)"', column) for column in found]
        yield ["".join(parts).replace('\\"', '"').replace("\\\\", "\\") if parts else " ".join(column.split())
               for column, parts in zip(found, literals)]


def every_row(name):
    def case():
        wanted = list(columns(*TABLES[name]))
        rows = json.loads(said(name, "--json"))["hardware"][name]
        text = " ".join(said(name).split())
        assert wanted and len(rows) == len(wanted), (len(rows), len(wanted))
        for row, cells in zip(rows, wanted):
            values = list(row.values())
            assert len(values) == len(cells), (row, cells)
            for i, (value, cell) in enumerate(zip(values, cells)):
                if cell == "AS":  # the number of the layout in front
                    assert value == values[i - 1] != "-", (name, row)
                    continue
                # Generations have names instead of macros, and what is absent has a dash.
                named = re.fullmatch(r"G\w*(?: \| G\w+)*|0|NULL|NA|PKT|EVT|NVM", cell)
                assert value == cell or (named and value), (name, value, cell)
            assert " ".join(cells[-1].split()) in text or cells[-1] == "NULL", cells
        return "%d rows" % len(wanted)
    return case


def names_all():
    listed = re.findall(r"^  (\w+) +(\d+) rows: ", said(), re.M)
    assert listed == [(name, str(len(list(columns(*TABLES[name]))))) for name in TABLES], listed
    assert list(json.loads(said("--json"))["hardware"]) == list(TABLES)
    assert all("\n%s: " % name in "\n" + said("all") for name in TABLES)


def has_evidence():
    """Rows about hardware say why they are believed."""
    for name in ("control", "pipe", "gpu", "nvidia", "flags", "pfifo", "vp1", "chips", "gpus", "workarounds"):
        for row in json.loads(said(name, "--json"))["hardware"][name]:
            assert row["evidence"], (name, row)


def fits():
    wide = [line for line in said("all").splitlines() if len(line) > 80]
    assert not wide, wide


def generations():
    rows = {row["register"]: row for row in json.loads(said("gpu", "--json"))["hardware"]["gpu"]}
    assert rows["STALL_ACK_A5"]["generations"] == "a5xx" and rows["VSC_STATE"]["generations"] == "a6xx a7xx a8xx", rows
    rows = [row for row in json.loads(said("nvidia", "--json"))["hardware"]["nvidia"] if row["first"] == "0x001578"]
    assert rows[0]["chips"] == "nv41 g80 g92 seq", rows


def refuses():
    done = subprocess.run([CPSCOPE, "help", "hardware", "nothing"], capture_output=True, text=True)
    assert done.returncode == 2 and not done.stdout and done.stderr.count("\n") == 1, done


tap.run([("'help hardware %s' prints every row of %s" % (name, TABLES[name][0]), every_row(name)) for name in TABLES] +
        [("the list names every table with its number of rows", names_all),
         ("every row about hardware has its evidence", has_evidence),
         ("lines fit into 80 columns where there is no terminal", fits),
         ("masks of generations are printed as names", generations),
         ("a table that is not there is a usage error", refuses)])
