# SPDX-License-Identifier: MIT
"""Reads value change dumps as IEEE 1364-2005, 18.2, has them, and GTKWave's variables of type string beside."""
import collections
import re

Variable = collections.namedtuple("Variable", "scope kind size name")


class Dump:
    def __init__(self, text):
        self.variables, self.changes, self.time, self.timescale = {}, collections.defaultdict(list), None, None
        words, scope = iter(text.split()), []
        for word in words:
            if word == "$enddefinitions":
                assert next(words) == "$end" and not scope
                break
            self.declare(word, self.section(words), scope)
        for word in words:
            if word in ("$dumpvars", "$end"):
                continue
            if word.startswith("#"):
                now = int(word[1:])
                assert self.time is None or now > self.time, "time %d behind %d" % (now, self.time)
                self.time = now
            else:
                self.change(word[0], word[1:], next(words))

    @staticmethod
    def section(words):
        found = []
        for word in words:
            if word == "$end":
                return found
            found.append(word)
        raise AssertionError("a section without $end")

    def declare(self, word, body, scope):
        if word == "$scope":
            scope.append(body[1])
        elif word == "$upscope":
            scope.pop()
        elif word == "$timescale":
            self.timescale = " ".join(body)
        elif word == "$var":
            kind, size, identifier, name = body
            assert kind in ("wire", "string") and identifier not in self.variables and re.fullmatch(r"[!-~]+", identifier), body
            self.variables[identifier] = Variable(".".join(scope), kind, int(size), name)
        else:
            assert word in ("$comment", "$date", "$version"), word

    def change(self, kind, value, identifier):
        variable = self.variables[identifier]
        if kind == "s":
            assert variable.kind == "string"
            value = re.sub(r"\\x(..)", lambda m: chr(int(m[1], 16)), value)
        else:
            assert kind in "bB" and variable.kind == "wire" and (value == "x" or len(value) <= variable.size), (kind, value)
            value = None if value == "x" else int(value, 2)
        assert value is None or self.time is not None, "a value in front of the first time"
        self.changes[variable.scope, variable.name].append((self.time, value))
