# SPDX-License-Identifier: MIT
"""Where a line of the product could be wrong: places in C and .def text, each with one small change.

The kinds are those of Offutt's sufficient operators (constants, relations, arithmetic and logic), with deleted
statements, negated conditions, swapped arguments and rows of tables. Nothing here knows a compiler: a change that does
not compile is no mutant, and the runner takes the next."""
import random
import re
from dataclasses import dataclass

TOKEN = re.compile(r"""
    (?P<comment> /\*.*?\*/ | //[^\n]* )
  | (?P<directive> (?m:^)[ \t]*\#(?:[^\n\\]|\\.)*(?:\\\n(?:[^\n\\]|\\.)*)* )
  | (?P<string> "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' )
  | (?P<number> 0[xX][0-9a-fA-F]+[uUlL]* | \d+\.\d+ | \d+[uUlL]* )
  | (?P<word> [A-Za-z_]\w* )
  | (?P<op> <<= | >>= | \.\.\. | -> | \+\+ | -- | && | \|\| | << | >> | [<>=!+\-*/%&|^]= | [-+*/%&|^<>=!~?:;,.(){}\[\]] )
""", re.X | re.S)

# What becomes of an operator between two operands.
OPERATORS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+",
             "<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "|", "%": "/", "/": "*",
             "+=": "-=", "-=": "+=", "|=": "&=", "&=": "|=", "<<=": ">>=", ">>=": "<<="}
FLIPPED = {"true": "false", "false": "true"}
NOT_CALLS = ("if", "while", "for", "switch", "return", "sizeof", "else", "do", "case", "goto", "default", "offsetof")
# Statements that only free or say something to the compiler: what they leave undone is what sanitizers look for.
TYPES = ("static", "const", "struct", "enum", "union", "unsigned", "signed", "int", "char", "bool", "void", "typedef",
         "extern", "inline", "long", "short")


@dataclass(frozen=True)
class Site:
    """A change: the bytes from begin to end of the file's text become new."""
    path: str
    line: int
    begin: int
    end: int
    kind: str
    old: str
    new: str


@dataclass
class Token:
    kind: str
    text: str
    begin: int
    end: int
    macro: bool = False


MACRO = re.compile(r"[ \t]*#[ \t]*define[ \t]+\w+\([^)]*\)")


def tokens_of(text):
    found = []
    at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            at += 1
            continue
        if match.lastgroup == "directive":
            found += tokens_of_macro(match.group(), match.start())
        elif match.lastgroup != "comment":
            found.append(Token(match.lastgroup, match.group(), match.start(), match.end()))
        at = match.end()
    return found


def tokens_of_macro(text, begin):
    """Those of a macro with arguments, which is a piece of a function; of one that is whole."""
    head = MACRO.match(text)
    if not head or any(text.count(a) != text.count(b) for a, b in ("()", "{}", "[]")):
        return []
    at = begin + head.end()
    return [Token(t.kind, t.text, t.begin + at, t.end + at, True) for t in tokens_of(text[head.end():])]


def operand_ends(token):
    return token.kind in ("number", "word") and token.text not in NOT_CALLS or token.text in (")", "]")


def operand_begins(token):
    return token.kind in ("number", "word", "string") or token.text in ("(", "-", "~", "!", "*", "&")


def closing(tokens, at):
    """The index of what closes the bracket at `at`, or None."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    depth = 0
    for i in range(at, len(tokens)):
        if tokens[i].kind == "op" and tokens[i].text in pairs:
            depth += 1
        elif tokens[i].kind == "op" and tokens[i].text in pairs.values():
            depth -= 1
            if depth == 0:
                return i
    return None


def bodies(tokens):
    """For each token, whether it stands in the body of a function."""
    inside = [token.macro for token in tokens]
    i = 0
    while i < len(tokens):
        if tokens[i].text == "{" and i and tokens[i - 1].text == ")":
            end = closing(tokens, i)
            for k in range(i, (end or len(tokens) - 1) + 1):
                inside[k] = True
            i = (end or len(tokens)) + 1
        elif tokens[i].text == "{":
            end = closing(tokens, i)
            i = (end or len(tokens)) + 1
        else:
            i += 1
    return inside


def changed_number(text, rng):
    match = re.fullmatch(r"(0[xX])?([0-9a-fA-F]+)([uUlL]*)", text)
    if not match:
        return None
    value = int(match.group(2), 16 if match.group(1) else 10)
    new = {0: 1, 1: rng.choice((0, 2))}.get(value, value + rng.choice((-1, 1)))
    digits = "%0*x" % (len(match.group(2)), new) if match.group(1) else str(new)
    return (match.group(1) or "") + digits + match.group(3)


def statement_end(tokens, at):
    """The index of the semicolon of a call or an assignment that begins at `at`, or None."""
    depth = 0
    for i in range(at, len(tokens)):
        text = tokens[i].text
        if text in ("(", "[", "{"):
            depth += 1
        elif text in (")", "]", "}"):
            depth -= 1
            if depth < 0:
                return None
        elif text == ";" and depth == 0:
            return i
    return None


def arguments(tokens, at, end):
    """The first and last token of each argument between the brackets `at` and `end`."""
    parts, start, depth = [], at + 1, 0
    for i in range(at + 1, end + 1):
        if tokens[i].text in ("(", "[", "{"):
            depth += 1
        elif tokens[i].text in (")", "]", "}") and i < end:
            depth -= 1
        elif (tokens[i].text == "," and depth == 0) or i == end:
            if i > start:
                parts.append((start, i - 1))
            start = i + 1
    return parts


class Finder:
    def __init__(self, path, text, rng):
        self.path, self.text, self.rng = path, text, rng
        self.tokens = tokens_of(text)
        self.inside = bodies(self.tokens)
        self.found = []

    def add(self, kind, first, last, new):
        begin, end = first.begin, last.end
        self.found.append(Site(self.path, self.text.count("\n", 0, begin) + 1, begin, end, kind,
                               self.text[begin:end], new))

    def constant(self, i):
        new = changed_number(self.tokens[i].text, self.rng)
        if new:
            self.add("constant", self.tokens[i], self.tokens[i], new)

    def operator(self, i):
        token = self.tokens[i]
        if token.text not in OPERATORS or i + 1 == len(self.tokens):
            return
        before, behind = self.tokens[i - 1], self.tokens[i + 1]
        if operand_ends(before) and operand_begins(behind) and before.text not in TYPES:
            self.add("operator", token, token, OPERATORS[token.text])

    def condition(self, i):
        if self.tokens[i].text not in ("if", "while") or self.tokens[i + 1].text != "(":
            return
        end = closing(self.tokens, i + 1)
        if end:
            first, last = self.tokens[i + 1], self.tokens[end]
            self.add("condition", first, last, "(!%s)" % self.text[first.begin:last.end])

    def deleted(self, i):
        """A call or an assignment that is a statement; declarations stay."""
        token, before, behind = self.tokens[i], self.tokens[i - 1], self.tokens[i + 1]
        if before.text not in (";", "{", "}", ")") or token.kind != "word" or token.text in NOT_CALLS + TYPES:
            return
        if behind.kind == "word" or token.text in ("break", "continue"):
            return
        end = statement_end(self.tokens, i)
        if end and (behind.text == "(" or any(t.text in ("=", "+=", "-=", "|=", "&=") for t in self.tokens[i:end])):
            if not re.match(r"\w+\s*\*\s*\w+\s*=", self.text[token.begin:]):
                self.add("deleted", token, self.tokens[end], ";")

    def swapped(self, i):
        if self.tokens[i].kind != "word" or self.tokens[i].text in NOT_CALLS or self.tokens[i + 1].text != "(":
            return
        end = closing(self.tokens, i + 1)
        parts = arguments(self.tokens, i + 1, end) if end else []
        if len(parts) < 2:
            return
        at = self.rng.randrange(len(parts) - 1)
        (a, b), (c, d) = parts[at], parts[at + 1]
        first, second = (self.text[self.tokens[x].begin:self.tokens[y].end] for x, y in ((a, b), (c, d)))
        if first != second and "\n" not in first + second:
            self.add("swapped", self.tokens[a], self.tokens[d], second + ", " + first)

    def in_c(self):
        for i, token in enumerate(self.tokens[:-1]):
            if token.kind == "number":
                self.constant(i)
            if not self.inside[i] or i == 0:
                continue
            if token.text in FLIPPED:
                self.add("constant", token, token, FLIPPED[token.text])
            self.operator(i)
            self.condition(i)
            self.deleted(i)
            self.swapped(i)
        return self.found

    def in_table(self):
        """Rows: a number, an operator of an expression, one of several flags, or the row."""
        i = 0
        while i + 1 < len(self.tokens):
            end = closing(self.tokens, i + 1) if self.tokens[i + 1].text == "(" else None
            if self.tokens[i].kind != "word" or not end:
                i += 1
                continue
            self.add("row", self.tokens[i], self.tokens[end], "")
            for k in range(i + 2, end):
                if self.tokens[k].kind == "number":
                    self.constant(k)
                elif self.tokens[k].text == "|" and self.tokens[k + 1].kind == "word":
                    self.add("row", self.tokens[k], self.tokens[k + 1], "")
                else:
                    self.operator(k)
            i = end + 1
        return self.found


def sites_of(path, text, seed):
    """All changes of a file, in the order of its text. The same seed gives the same changes."""
    finder = Finder(path, text, random.Random("%s %s" % (seed, path)))
    return finder.in_table() if path.endswith(".def") else finder.in_c()
