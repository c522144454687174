#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each test runs at one time: it is in one of the suites everyday, ci and long. Usage: suites.py MESON BUILD"""
import json
import subprocess
import sys

import tap

WHEN = {"everyday", "ci", "long"}


def main():
    meson, build = sys.argv[1:]
    tests = json.loads(subprocess.check_output([meson, "introspect", "--tests", build]))
    suites = {test["name"]: [suite.split(":")[-1] for suite in test["suite"]] for test in tests}
    wrong = ["%s: %s" % (name, ", ".join(words)) for name, words in suites.items() if len(WHEN & set(words)) != 1]
    tap.report("every test is in one of everyday, ci and long", not wrong, "\n".join(wrong))
    heavy = [name for name, words in suites.items() if "heavy" in words and "ci" not in words]
    tap.report("heavy tests are of .ci/run", not heavy, "\n".join(heavy))
    tap.report("no two tests have the same name", len(suites) == len(tests), "%d tests" % len(tests))
    tap.plan()


main()
