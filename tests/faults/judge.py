# SPDX-License-Identifier: MIT
"""What may come of a run that was disturbed, knowing what comes of the same run otherwise."""
import json
import re
import xml.etree.ElementTree

# Of short memory: our own word, that of libc about a file, and what a thread needs.
MEMORY = ("out of memory", "Cannot allocate memory", "cannot start a thread")


def words_of(err):
    """Lines of stderr, but for what says that a convenience was lost, and counts of work done."""
    return [line for line in err.splitlines()
            if "going on without" not in line and not re.match(r"\d+ (runs emulated|cases/s in)", line)]


def lines_of_error(err):
    return [line for line in words_of(err) if line.startswith("cpscope: ")]


def honest_end(case, usual, got, words):
    """Status 3, one line, and what was written until then is the beginning of what would have been."""
    lines = lines_of_error(got.err)
    extra = [line for line in words_of(got.err) if line not in lines and line not in usual.err.splitlines()]
    new = [line for line in lines if line not in lines_of_error(usual.err)]
    if extra and not (extra and usual.err and any(l.startswith(extra[-1]) for l in usual.err.splitlines())):
        return "status", "stderr says more: " + extra[0]
    if len(new) != 1:
        return "status", "%d lines of error, expected one: %s" % (len(new), got.err[-300:])
    if words and not any(word in new[0] for word in words):
        return "status", "an error of another kind: " + new[0]
    if case.several:
        known = {line.rstrip(b",") for line in usual.out.splitlines()}
        strange = [line for line in got.out.splitlines() if line.rstrip(b",") not in known | {b"[", b"]"}]
        return ("lost", "stdout has another line: %r" % strange[0]) if strange else None
    if not usual.out.startswith(got.out) and not case.session:
        return "lost", "stdout is not the beginning of what it usually is: %r" % got.out[-200:]
    return None


def honest_survey(got, words):
    """Status 3, and a line for each file that failed."""
    lines = lines_of_error(got.err)
    if not lines or lines != words_of(got.err):
        return "status", "3 with these words: " + got.err[-300:]
    if words and not any(word in line for word in words for line in lines):
        return "status", "an error of another kind: " + lines[0]
    return ("lost", "stdout has no end: %r" % got.out[-200:]) if got.out and not got.out.endswith(b"\n") else None


def whole(name, data):
    """Whether a file of a report has its end."""
    text = data.decode("utf-8", "replace")
    if name.endswith(".json"):
        return text.endswith("}\n") and isinstance(json.loads(text), dict)
    if name.endswith(".xml"):
        return xml.etree.ElementTree.fromstring(text) is not None
    if name.endswith(".tap"):
        plan = re.search(r"^1\.\.(\d+)$", text, re.M)
        return plan and len(re.findall(r"^(?:not )?ok ", text, re.M)) == int(plan[1])
    return not name.endswith(".html") or text.rstrip().endswith("</html>")


def judge_pairs(usual, got):
    """Each pair is as usual, or has failed and says why; with status 0 none has. Every file is whole."""
    for name, data in got.files.items():
        try:
            if not whole(name, data):
                return "lost", "%s has no end" % name
        except (ValueError, xml.etree.ElementTree.ParseError) as error:
            return "lost", "%s: %s" % (name, error)
    report = got.files.get("report/results.json")
    if report is None:
        return ("lost", "status %d without a report" % got.status) if got.status != 3 else None
    rows = {(row.get("firmware"), row.get("capture")): row for row in json.loads(report).get("pairs", [])}
    failed = 0
    for row in json.loads(usual.files["report/results.json"])["pairs"]:
        now = rows.get((row["firmware"], row["capture"]))
        if now is None:
            return "lost", "the pair %s %s is missing, status %d" % (row["firmware"], row["capture"], got.status)
        if now != row and (now.get("status") in (None, "pass", "differs") or not now.get("reason")):
            return "lost", "the pair %s %s is another: %s" % (row["firmware"], row["capture"], now)
        failed += now != row
    return ("status", "0 although a pair failed") if failed and got.status == 0 else None


def judge_matrix(case, usual, got):
    for name in got.files:
        if name not in usual.files and not name.endswith(".cpt"):
            return "leftover", name
    if got.status not in (usual.status, 3, 4):
        return "status", "%d, expected %d, 3 or 4: %s" % (got.status, usual.status, got.err[-300:])
    if got.status == 3 and not lines_of_error(got.err):
        return "status", "3 without a line of error: %s" % got.err[-200:]
    return judge_pairs(usual, got)


def judge_death(got, before):
    """The solver has crashed: its task is undecided, the status says that not all was checked, and every file is whole."""
    for name, data in got.files.items():
        if name not in before and not whole(name, data):
            return "lost", "%s is not whole" % name
    return None


def judge_files(case, usual, got, before):
    for name, data in got.files.items():
        if case.cache and name.startswith(case.cache):
            if name not in usual.files:
                return "leftover", name
            continue
        if name not in usual.files and name not in before:
            return "leftover", name
        if case.survey and got.status == 3 and whole(name, data):
            continue  # it says which of the files failed
        if data not in (usual.files.get(name), before.get(name)):
            return "lost", "%s is neither whole nor absent (%d bytes)" % (name, len(data))
    if got.status == usual.status:
        for name, data in usual.files.items():
            if not (case.cache and name.startswith(case.cache)) and got.files.get(name) != data:
                return "lost", "%s is missing although the status is %d" % (name, got.status)
    return None


def judge(case, usual, got, before=None, words=MEMORY):
    """None, or (kind, text): kind is "status", "leftover" or "lost". @words: one of them is in the error."""
    if got.status == -1000:
        return "status", "it hangs"
    if got.status < 0 or "Sanitizer" in got.err:
        return "status", "signal %d %s" % (-got.status, got.err[-500:])
    if case.matrix:
        return judge_matrix(case, usual, got)
    if case.fragile and got.status == 4 and (b"the process that compared it died" in got.out):
        return judge_death(got, before or {})
    said = any(word.encode() in got.out or word in got.err for word in words)
    if got.status not in (usual.status, 3) and not (case.session and said):
        return "status", "%d, expected %d or 3: %s" % (got.status, usual.status, got.err[-300:])
    wrong = judge_files(case, usual, got, before or {})
    if wrong:
        return wrong
    if case.session and said:
        return None
    if case.survey and got.status == 3:
        return honest_survey(got, words)
    if got.status == 3 and (usual.status != 3 or got.out != usual.out or got.err != usual.err):
        return honest_end(case, usual, got, words)
    if got.out != usual.out:
        return "lost", "status %d and other output" % got.status
    more = [line for line in words_of(got.err) if line not in usual.err.splitlines()]
    less = [line for line in words_of(usual.err) if line not in got.err.splitlines()]
    if less or any(not line.startswith("cpscope: ") for line in more):
        return "lost", "status %d and other words on stderr: %s" % (got.status, (less + more)[0])
    return None


def judge_again(case, usual, again):
    """The run behind the one that was disturbed: what became of that must not show."""
    if again.status != usual.status:
        return "lost", "the next run: status %d, expected %d: %s" % (again.status, usual.status, again.err[-200:])
    for name, data in usual.files.items():
        if not (case.cache and name.startswith(case.cache)) and again.files.get(name) != data:
            return "lost", "the next run: %s is another" % name
    # A firmware whose baseline failed runs by itself, and its result is kept.
    left = [name for name in again.files if name not in usual.files and
            not (case.cache and name.startswith(case.cache) and name.endswith(".cpt"))]
    return ("leftover", "the next run: " + left[0]) if left else None
