# SPDX-License-Identifier: MIT
"""The tests of a build folder, as meson lists them, run one at a time without meson.

A test passes where its status is 0 and no line of its TAP says otherwise. A test that was skipped says nothing."""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
from dataclasses import dataclass, field

PASS, FAIL, SKIP, LATE = "pass", "fail", "skip", "late"
# What a program that went wild may take of memory before it is stopped, not counting what browsers only reserve; None: no limit.
memory = 6 << 30    # pylint: disable=invalid-name


@dataclass
class Test:
    name: str
    suites: list
    command: list
    env: dict
    workdir: str
    tap: bool
    needs: list = field(default_factory=list)    # targets for ninja
    seconds: float = 0.0


def introspect(build, what):
    return json.loads(subprocess.check_output(["meson", "introspect", "--" + what, build]))


def tests_of(build):
    """All tests, with the targets that each needs, as ninja calls them. No two have the same name, by which results know them."""
    outputs = {}
    for target in introspect(build, "targets"):
        for name in target["filename"]:
            outputs[target["id"]] = outputs.get(target["id"], []) + [os.path.relpath(name, build)]
    made = {os.path.join(build, path) for paths in outputs.values() for path in paths}
    found = []
    for row in introspect(build, "tests"):
        needs = [path for target in row["depends"] for path in outputs.get(target, [])]
        needs += [os.path.relpath(word, build) for word in row["cmd"] if word in made]
        found.append(Test(row["name"], [s.split(":")[-1] for s in row["suite"]], row["cmd"], row["env"],
                          row["workdir"] or build, row["protocol"] == "tap", sorted(set(needs))))
    assert len({test.name for test in found}) == len(found), "two tests have the same name"
    return found


def limit(processor):
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):    # what a shell's background job, or nohup, ignores
        signal.signal(number, signal.SIG_DFL)
    if processor:
        resource.setrlimit(resource.RLIMIT_CPU, (processor, processor + 1))
    if memory:
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def verdict(test, status, out):
    text = out.decode(errors="replace")
    if status == 77 or test.tap and re.search(r"(?m)^1\.\.0", text):
        return SKIP
    if status != 0 or test.tap and re.search(r"(?m)^\s*not ok\b|^Bail out!", text):
        return FAIL
    return PASS


def run(test, env, seconds, scratch, processor=None):
    """The verdict of one test, the processor's seconds that it took, what it printed. Ends what it left running. No process
    of the test gets more than the processor's seconds: an endless loop ends soon, however busy the machine is."""
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(scratch)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(test.command, cwd=test.workdir, env={**env, **test.env, "TMPDIR": scratch},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          start_new_session=True, preexec_fn=lambda: limit(processor)) as process:
        try:
            out, _ = process.communicate(timeout=seconds)
            said = verdict(test, process.returncode, out)
        except subprocess.TimeoutExpired:
            said, out = LATE, b""
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    shutil.rmtree(scratch, ignore_errors=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return said, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, out
