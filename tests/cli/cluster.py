#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The scripts of docs/cluster.md, taken out of it and run: under a Slurm cluster of one node that
lives in a temporary folder, and under GNU parallel. What they merge must be the bytes of one run.

Usage: cluster.py CPSCOPE
"""
import ctypes
import getpass
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import machine
import make
from tap import plan, report, skip
from scene import CPSCOPE
from tree import DEMO, ROOT

PAGE = os.path.join(ROOT, "docs", "cluster.md")
SLURM = ["munged", "slurmctld", "slurmd", "sbatch", "sinfo", "scontrol"]
PATH = os.pathsep.join([os.path.dirname(os.path.abspath(CPSCOPE)), os.environ["PATH"],
                        "/usr/sbin", "/sbin"])
CAPTURES = 20
START_SECONDS, JOB_SECONDS = 20, 40
CONFIGURATION = """ClusterName=cpscope
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={scratch}/munge.socket
CredType=cred/munge
SlurmctldPort={ctld_port}
SlurmdPort={slurmd_port}
SlurmctldPidFile={scratch}/slurmctld.pid
SlurmdPidFile={scratch}/slurmd.pid
StateSaveLocation={scratch}/state
SlurmdSpoolDir={scratch}/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,sched_min_interval=100000,bf_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
"""
# Stands in for ssh: "ssh HOST -- COMMAND..." notes the machine, and runs the command in an
# environment as empty as sshd's.
SSH = """#!/bin/sh
echo "$1" >>%s/machines
shift 2
cd / && exec env -i HOME="$HOME" SHELL=/bin/sh PATH=/usr/bin:/bin sh -c "$*"
"""

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
prctl = ctypes.CDLL(None).prctl


def write(path, text, mode=0o644):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def missing(programs):
    lacks = [name for name in programs if not shutil.which(name, path=PATH)]
    return "no " + ", ".join(lacks) if lacks else None


def make_corpus(scratch):
    make.revisions(CPSCOPE, DEMO, scratch, *make.EVENT_CMD)
    os.mkdir(os.path.join(scratch, "rd"))
    for i in range(CAPTURES):
        packet = "CP_NOP 0x1" if i % 3 else make.EVENT
        write(os.path.join(scratch, "rd", "cap%02d.pm4" % i), make.pm4("reg 0x8810 %d" % i, packet))
    write(os.path.join(scratch, "manifest"), "# cpscope-manifest 1\nfirmware old old.fw\n"
          "firmware new new.fw\nbaseline old\ncapture rd/*.pm4\n")


def take_scripts(scratch):
    """Each block of shell that a file name in backquotes goes before."""
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    scripts = {}
    for text, block in re.findall(r"((?:(?!```).)*)```sh\n(.*?)```", page, re.S):
        name = re.findall(r"`([\w.]+\.(?:sh|sbatch))`", text)[-1]
        scripts[name] = block
        write(os.path.join(scratch, name), block, 0o755)
    return scripts


def environment(scratch, out):
    return dict(os.environ, PATH=PATH, MANIFEST=os.path.join(scratch, "manifest"),
                OUT=os.path.join(scratch, out), CACHE=os.path.join(scratch, "cache-" + out))


def run_script(scratch, name, out, **more):
    return subprocess.run([os.path.join(scratch, name)], cwd=scratch, capture_output=True, text=True,
                          env=dict(environment(scratch, out), **more), timeout=JOB_SECONDS)


def contents(folder):
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    paths = [os.path.join(folder, name) for name in names]
    return {os.path.basename(path): open(path, "rb").read() for path in paths if os.path.isfile(path)}


def check(scratch, name, done, out):
    said = done.stdout + done.stderr
    for log, text in contents(os.path.join(scratch, out)).items():
        said += "%s: %s" % (log, text.decode(errors="replace"))
    report("%s ends with the status of the whole" % name, done.returncode == 1, said)
    merged, whole = (contents(os.path.join(scratch, *path)) for path in ((out, "report"), ("whole",)))
    report("%s gives the bytes of one run" % name, len(whole) == 4 and merged == whole, said)


class Cluster:
    """munged, slurmctld and slurmd in one folder; none of them outlives the "with"."""

    def __init__(self, scratch):
        self.scratch, self.started = scratch, []
        self.why = None
        self.env = dict(os.environ, PATH=PATH, SLURM_CONF=os.path.join(scratch, "slurm.conf"))

    def daemon(self, *command):
        log = open(os.path.join(self.scratch, command[0] + ".log"), "w", encoding="utf-8")
        with log:
            self.started.append(subprocess.Popen(
                command, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                cwd=self.scratch, start_new_session=True,
                preexec_fn=lambda: prctl(PR_SET_PDEATHSIG, signal.SIGKILL)))  # whatever ends us

    def configure(self):
        ports = []
        for _ in range(2):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                ports.append(probe.getsockname()[1])
        for name in ("state", "spool"):
            os.mkdir(os.path.join(self.scratch, name))
        with open(os.path.join(self.scratch, "munge.key"), "wb") as key:
            key.write(os.urandom(128))
        os.chmod(key.name, 0o600)
        self.host = socket.gethostname().split(".")[0]
        write(self.env["SLURM_CONF"], CONFIGURATION.format(
            host=self.host, user=getpass.getuser(), scratch=self.scratch, ctld_port=ports[0],
            slurmd_port=ports[1]))

    def __enter__(self):
        try:
            self.configure()
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        at = self.scratch
        self.daemon("munged", "--foreground", "--force", "--socket=%s/munge.socket" % at,
                    "--key-file=%s/munge.key" % at, "--pid-file=%s/munge.pid" % at,
                    "--log-file=%s/munge.log" % at, "--seed-file=%s/munge.seed" % at)
        self.wait(lambda: os.path.exists(at + "/munge.socket"))
        self.daemon("slurmctld", "-D", "-f", self.env["SLURM_CONF"])
        self.daemon("slurmd", "-D", "-f", self.env["SLURM_CONF"], "-N", self.host)
        if not self.wait(self.idle):
            self.why = "the one-node cluster did not start: " + self.last_words()

    def wait(self, what):
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and all(p.poll() is None for p in self.started):
            if what():
                return True
            time.sleep(0.1)
        return False

    def idle(self):
        done = subprocess.run(["sinfo", "-h", "-o", "%t"], env=self.env, capture_output=True, text=True)
        return done.stdout.strip() == "idle"

    def last_words(self):
        words = []
        for name in ("munged", "slurmctld", "slurmd"):
            path = os.path.join(self.scratch, name + ".log")
            if os.path.exists(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    words += [line.strip() for line in file if "error" in line or "fatal" in line][-2:]
        return "; ".join(words) or "no reason given"

    def ours(self):
        """Processes that have our configuration in their environment: also steps of jobs."""
        mark = ("SLURM_CONF=" + self.env["SLURM_CONF"]).encode()
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/environ" % pid, "rb") as file:
                    if mark in file.read().split(b"\0"):
                        found.append(int(pid))
            except OSError:
                pass  # gone, or not ours to read
        return found

    def __exit__(self, *_):
        for step in (signal.SIGTERM, signal.SIGKILL):
            for process in reversed(self.started):
                if process.poll() is None:
                    process.send_signal(step)
            for process in self.started:
                try:
                    process.wait(timeout=5)
                except subprocess.TimeoutExpired:
                    pass
        for pid in self.ours():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        while True:
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                return


def test_slurm(scratch):
    why = missing(SLURM)
    if why or not machine.is_root():
        skip("Slurm", why or "slurmd wants root")
        return
    folder = os.path.join(scratch, "cluster")
    os.mkdir(folder)
    with Cluster(folder) as cluster:
        if cluster.why:
            skip("Slurm", cluster.why)
            return
        done = run_script(scratch, "submit.sh", "slurm", SLURM_CONF=cluster.env["SLURM_CONF"])
        check(scratch, "Slurm", done, "slurm")
        shares = [n for n in os.listdir(os.path.join(scratch, "slurm")) if re.match(r"shard-\d$", n)]
        report("Slurm ran four shares", len(shares) == 4, shares)
        done = run_script(scratch, "submit.sh", "slurm", SLURM_CONF=cluster.env["SLURM_CONF"],
                          MANIFEST="/nowhere")
        report("shares that fail leave no report and status 3", done.returncode == 3 and
               not os.path.exists(os.path.join(scratch, "slurm", "report")), done)
    report("no process of the cluster is left", not cluster.ours(), cluster.ours())


def test_parallel(scratch):
    if missing(["parallel"]):
        skip("GNU parallel", "no parallel")
        return
    quiet = {"PARALLEL_HOME": os.path.join(scratch, ".parallel")}
    os.mkdir(quiet["PARALLEL_HOME"])
    write(os.path.join(quiet["PARALLEL_HOME"], "will-cite"), "")
    check(scratch, "GNU parallel", run_script(scratch, "local.sh", "local", **quiet), "local")
    write(os.path.join(scratch, "ssh"), SSH % scratch, 0o755)
    done = run_script(scratch, "ssh.sh", "remote", PARALLEL_SSH=os.path.join(scratch, "ssh"), **quiet)
    check(scratch, "GNU parallel over ssh", done, "remote")
    with open(os.path.join(scratch, "machines"), encoding="utf-8") as file:
        machines = set(file.read().split())
    report("on both machines", machines == {"node1", "node2"}, machines)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # through every "with"
    prctl(PR_SET_CHILD_SUBREAPER, 1)  # steps of jobs detach themselves: so we can wait for them
    with tempfile.TemporaryDirectory() as scratch:
        make_corpus(scratch)
        scripts = take_scripts(scratch)
        report("docs/cluster.md shows the scripts", sorted(scripts) == [
            "local.sh", "merge.sh", "regress.sbatch", "share.sh", "ssh.sh", "submit.sh"],
            sorted(scripts))
        subprocess.run([CPSCOPE, "regress", os.path.join(scratch, "manifest"), "--no-cache", "-o",
                        os.path.join(scratch, "whole")], capture_output=True)
        test_parallel(scratch)
        test_slurm(scratch)
    plan()


main()
