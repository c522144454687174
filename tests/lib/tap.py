# SPDX-License-Identifier: MIT
"""Says what became of each case, as the Test Anything Protocol has it."""
import sys

number = 0


def report(name, good, detail=""):
    """One result, for scripts that are no table of cases; they end with plan()."""
    global number
    number += 1
    print("%sok %d - %s" % ("" if good else "not ", number, name), flush=True)
    if not good:
        print("# " + str(detail).replace("\n", "\n# "))


def skip(name, why):
    report("%s # SKIP %s" % (name, why.replace("\n", " ")), True)


def relay(name, done):
    """Results that a program printed (subprocess.run()), each below the lines that say why."""
    why = ""
    for line in done.stdout.splitlines():
        good, _, what = line.partition("ok - ")
        if what:
            report(f"{name}: {what}", not good, why + done.stderr)
        why = line + "\n" if line.startswith("#") else ""


def plan():
    print("1..%d" % number)


def finish(results, written, name):
    """Results of goldens: what was @written anew is shown and does not fail. @name: says how a result is called."""
    failed = 0
    for result in results:
        anew = result.claim in written and not result.problem
        failed += not anew and bool(result.problem or result.difference)
        report(name(result), anew or not (result.problem or result.difference), result.difference + result.problem)
        if anew and result.difference:
            print("# written:\n# " + result.difference.replace("\n", "\n# "))
    failed += nothing(results)
    plan()
    sys.exit(failed > 0)


def nothing(cases):
    """Whether there is no case at all, which is reported: a plan of none would count as skipped."""
    if not cases:
        report("there is something to test", False, "no case was found")
    return not cases


class Skip(Exception):
    """Raised by a case that cannot run here; the text says why."""


class Todo(Exception):
    """Raised by a case that fails and is known to; the text says why. Once it does not, take it out."""


def run(cases):
    """@cases: (name, function without arguments). A case that returns a text has it added to its name."""
    print("1..%d" % max(len(cases), 1))
    failed = int(nothing(cases))
    for name, case in cases:
        try:
            more = case()
            report(name + (", " + more if more else ""), True)
        except Skip as why:
            skip(name, str(why))
        except Todo as why:
            report("%s # TODO %s" % (name, str(why).replace("\n", " ")), False)
        except Exception as error:  # whatever it is, the next case runs
            failed += 1
            report(name, False, (str(error) if isinstance(error, AssertionError) else repr(error))[:3000])
    sys.exit(failed > 0)
