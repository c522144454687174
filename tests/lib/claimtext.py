# SPDX-License-Identifier: MIT
"""Reads the files of tests/claims. A file is a list of claims:

    claim NAME              what is true, in words with hyphens; a test of that name
    why TEXT                which document says so, or how the value was computed
    gens a6xx a7xx          where it holds; all four without
    KEY TEXT                other lines that a kind of test takes
    KEY                     a section: the lines that follow, further right
        LINE

Lines that begin with "#" are comments. `snippet NAME` in place of `claim` begins sections that claims take over with
`use NAME`, where that stands. A section may stand several times. In sections, "a6xx,a7xx| LINE" is of these generations only."""
import re

GENS = ("a5xx", "a6xx", "a7xx", "a8xx")


class Section:
    """@first, @last: which lines of the file are its body, for those who write it anew."""

    def __init__(self, words, number):
        self.words, self.first, self.last, self.lines = words, number, number, []

    def of(self, gen):
        """Its lines, without those of other generations."""
        found = []
        for line in self.lines:
            head = re.match(r"( *)((?:a[5-8]xx,?)+)\| ?(.*)$", line)
            if not head or gen in head.group(2).split(","):
                found.append(head.group(1) + head.group(3) if head else line)
        return found


class Claim:
    def __init__(self, name, path, number):
        self.name, self.path, self.number, self.sections = name, path, number, []

    def text(self, key, default=""):
        """What stands behind a key, of all of its lines."""
        found = [" ".join(s.words[1:]) for s in self.sections if s.words[0] == key]
        return " ".join(found) if found else default

    def all(self, key):
        return [section for section in self.sections if section.words[0] == key]

    def lines(self, key, gen):
        return [line for section in self.all(key) for line in section.of(gen)]

    def gens(self):
        return self.text("gens").split() or list(GENS)


def read(path, keys):
    """The claims of a file. @keys: what a line or section may begin with."""
    claims, snippets, section = [], {}, None
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file.read().split("\n")):
            words = line.split()
            if not words or line.startswith("#"):
                continue
            if line[0] in " \t":
                assert section, "%s:%d: text in front of a section" % (path, number + 1)
                section.lines.append(line[4:] if line.startswith("    ") else line.strip())
                section.last = number + 1
            elif words[0] in ("claim", "snippet"):
                section = None
                assert len(words) == 2, "%s:%d: expected a name" % (path, number + 1)
                claims.append(Claim(words[1], path, number + 1))
                if words[0] == "snippet":
                    snippets[words[1]] = claims.pop()
                current = snippets.get(words[1]) if words[0] == "snippet" else claims[-1]
            else:
                assert words[0] in keys, "%s:%d: %s: expected one of %s" % (path, number + 1, words[0], ", ".join(keys))
                section = Section(words, number + 1)
                current.sections.append(section)
    return finish(path, claims, snippets)


def finish(path, claims, snippets):
    """Snippets go where they are used; a claim without a reason, or twice, is none."""
    names = [claim.name for claim in claims]
    for claim in claims:
        assert names.count(claim.name) == 1, "%s: %s stands twice" % (path, claim.name)
        assert claim.text("why"), "%s: %s does not say why" % (path, claim.name)
        claim.sections = [own for section in claim.sections
                          for own in (snippets[section.words[1]].sections if section.words[0] == "use" else [section])]
    return claims


def named(claims, names):
    """Those of these names, all without names. A name that no claim has is a mistake."""
    unknown = set(names) - {claim.name for claim in claims}
    assert not unknown, "no claim is called %s" % ", ".join(sorted(unknown))
    return [claim for claim in claims if not names or claim.name in names]


def rewrite(path, section, lines):
    """Puts @lines in place of the section's body."""
    with open(path, encoding="utf-8") as file:
        text = file.read().split("\n")
    text[section.first:section.last] = ["    " + line for line in lines]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(text))
