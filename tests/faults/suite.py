# SPDX-License-Identifier: MIT
"""What the scripts that go through the scene's commands have in common: their arguments, and their loop."""
import argparse
import os
import tempfile

from faults import Runner, Tally
from cases import Scene, cases


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("cpscope", type=os.path.abspath)
    parser.add_argument("inject", type=os.path.abspath)
    parser.add_argument("--long", action="store_true", help="every call, every byte, 1,000 signals")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only the first case of N")
    parser.add_argument("--only", default="", help="only cases whose name has this text")
    parser.add_argument("--stacks", action="store_true", help="where the calls are that failed")
    return parser.parse_args()


def chosen(found, args):
    """The cases that run."""
    return [case for case in found if args.only in case.name][::args.every]


def open_scene(args, body):
    """Calls @body with a runner in a new scene."""
    with tempfile.TemporaryDirectory(prefix="scene-") as folder:
        scene = Scene(args.cpscope, folder)
        runner = Runner(args.cpscope, args.inject, scene.folder)
        try:
            body(runner)
        finally:
            runner.close()


def run(title, one, wanted=lambda case: True):
    """@one: (faults, what went wrong) of a case, from the runner, the case, the arguments and a seed."""
    args = arguments()
    tally = Tally(title)

    def body(runner):
        seeds = {case.name: seed for seed, case in enumerate(cases())}
        for case in chosen(filter(wanted, cases()), args):
            tally.case(case.name, *one(runner, case, args, seeds[case.name]))

    open_scene(args, body)
    tally.end()
