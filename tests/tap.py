# SPDX-License-Identifier: MIT
"""Runs a table of cases and says what became of each, as the Test Anything Protocol has it."""
import sys


class Skip(Exception):
    """Raised by a case that cannot run here; the text says why."""


def run(cases):
    """@cases: (name, function without arguments). A case that returns a text has it added to its name."""
    print("1..%d" % len(cases))
    failed = 0
    for number, (name, case) in enumerate(cases, 1):
        try:
            more = case()
            print("ok %d - %s%s" % (number, name, ", " + more if more else ""), flush=True)
        except Skip as why:
            print("ok %d - %s # SKIP %s" % (number, name, why), flush=True)
        except Exception as error:  # whatever it is, the next case runs
            failed += 1
            text = str(error) if isinstance(error, AssertionError) else repr(error)
            print("not ok %d - %s\n# %s" % (number, name, text[:3000].replace("\n", "\n# ")), flush=True)
    sys.exit(failed > 0)
