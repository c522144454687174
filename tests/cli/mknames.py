#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The build's program that makes arrays of the tables of names: what it makes of small ones, and what it refuses. Usage: mknames.py MKNAMES"""
import subprocess

import tap
from scene import CPSCOPE as MKNAMES
from scene import path

COLORS = "color\t0\t\t\tRED\ncolor\t2\t\t\tBLUE\n"
SPACE = ("SPACE\t0x10\t64\tA6XX\tHIGH\tgmu\tON:0,C:1-2:color!,N:4-7:uint<<5\n"
         "SPACE\t5\t32\tA7XX-\tLOW\t?color=BLUE\tX:0-31:fixed.14@A6XX,Y:3?color=RED\n"
         "SPACE\t0+3*100\t\t\tREP\n")
# Written from table.h. Of a row: number, order, its fields, how it repeats, condition, generations (bit 0: a2xx), width, GMU.
# Of a field: bits, generations, type and its table, condition. Tables stand in the order of their names, "SPACE" first.
MADE = """\
static const struct cps_name_field fields[] = {
    {"ON", 0, 0, 0xff, {1, 0, 0, 0, 0}, {0, 0x0}},
    {"C", 1, 2, 0xff, {0, 0, 0, 1, 2}, {0, 0x0}},
    {"N", 4, 7, 0xff, {2, 0, 5, 0, 0}, {0, 0x0}},
    {"X", 0, 31, 0x10, {5, 14, 0, 0, 0}, {0, 0x0}},
    {"Y", 3, 3, 0xff, {1, 0, 0, 0, 0}, {2, 0x1}},
};
static const struct cps_name_row rows0[] = {
    {"RED", 0x0, 0, 0, 0, 0, 0, {0, 0x0}, 0xff, 0, 0},
    {"BLUE", 0x2, 1, 0, 0, 0, 0, {0, 0x0}, 0xff, 0, 0},
};
static const uint32_t by_name0[] = {
1,0,};
static const struct cps_name_row rows1[] = {
    {"REP", 0x0, 2, 5, 0, 3, 100, {0, 0x0}, 0xff, 0, 0},
    {"LOW", 0x5, 1, 3, 2, 0, 0, {2, 0x4}, 0xe0, 0, 0},
    {"HIGH", 0x10, 0, 0, 3, 0, 0, {0, 0x0}, 0x10, 1, 1},
};
static const uint32_t by_name1[] = {
2,1,0,};
static const struct cps_name_table tables[] = {
    {"SPACE", rows1, by_name1, fields, 3},
    {"color", rows0, by_name0, fields, 2},
};
const struct cps_name_source cps_name_built_in_ = {tables, 2};
"""
KINDS = ["hex", "bool", "uint", "int", "float", "fixed", "ufixed", "address", "regid", "reg"]
REFUSED = [
    ("D\t\t\t\tN\n", 1, "a row needs a number"),
    ("D\t0x100000000\t\t\tN\n", 1, "a row needs a number"),
    ("# a comment\nD\t1x\t\t\tN\n", 2, "a row needs a number"),
    ("D\t1+2*3x\t\t\tN\n", 1, "a row needs a number"),
    ("D\t1\n", 1, "a row needs a name"),
    ("D\t0+0*3\t\t\tN\n", 1, "a row repeats as +DISTANCE*TIMES"),
    ("D\t0+3\t\t\tN\n", 1, "a row repeats as +DISTANCE*TIMES"),
    ("D\t0\t\t\tN\t\tF\n", 1, "a field must be NAME:low-high"),
    ("D\t0\t\t\tN\t\tF:3-2\n", 1, "a field has bad bits"),
    ("D\t0\t\t\tN\t\tF:64\n", 1, "a field has bad bits"),
    ("D\t0\t\t\tN\t\tF:1x\n", 1, "a field has bad bits"),
    ("D\t0\t\t\tN\t\tF:0-1:nothing\n", 1, "a field's type is no word and no enumeration"),
    (COLORS + "D\t0\t\t\tN\t\tF:0?color\n", 3, "a condition must be ENUM=VALUE"),
    (COLORS + "D\t0\t\t\tN\t\tF:0?color=GREEN\n", 3, "a condition has no such value"),
    ("D\t0\t\t\tN", 1, "line too long or without end"),
    ("#%s\n" % ("x" * 4094), 1, "line too long or without end"),
]


def made(text):
    return subprocess.run([MKNAMES, path("names.tsv", text)], capture_output=True, text=True, timeout=60)


def good(text):
    done = made(text)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


def expect_refused(text, line, what):
    done = made(text)
    assert done.returncode == 1, done.returncode
    assert done.stderr == "%s: line %d: %s\n" % (path("names.tsv"), line, what), (text[-80:], done.stderr)


def arrays():
    text = good("# a comment\n" + COLORS + SPACE)
    head, body = text.split("\n", 1)
    assert head.startswith("/*") and body == '#include "isa/names/table.h"\n' + MADE, text


def kinds():
    text = good("D\t0\t\t\tN\t\t" + ",".join("F:0-1:" + kind for kind in KINDS) + "\n")
    for number, kind in enumerate(KINDS):
        assert text.count('    {"F", 0, 1, 0xff, {%d, 0, 0, 0, 0}, {0, 0x0}},\n' % number) == 1, kind


def largest():
    """What is taken of what is refused when it is larger."""
    assert '{"N", 0xffffffff, ' in good("D\t0xffffffff\t\t\tN\n")
    assert '{"F", 63, 63, ' in good("D\t0\t\t\tN\t\tF:63\n")
    good("#%s\nD\t0\t\t\tN\n" % ("x" * 4093))


def refused():
    for row in REFUSED:
        expect_refused(*row)


def rows():
    text = "".join("D\t%d\t\t\tN\n" % number for number in range(8192))
    assert good(text).count('{"N", ') == 8192
    expect_refused(text + "D\t0\t\t\tN\n", 8193, "too many rows in a domain")


def domains():
    text = "".join("D%d\t0\t\t\tN\n" % number for number in range(512))
    assert "cps_name_built_in_ = {tables, 512};" in good(text)
    expect_refused(text + "D\t0\t\t\tN\n", 513, "too many domains")


def fields():
    text = "".join("D\t%d\t\t\tN\t\t%s\n" % (number, ",".join(["F:1"] * 512)) for number in range(32))
    assert good(text).count('{"F", ') == 16384
    expect_refused(text + "D\t0\t\t\tN\t\tF:1\n", 33, "too many fields")


tap.run([("arrays of small tables", arrays), ("a field has the kind of its type", kinds), ("the largest numbers are taken", largest),
         ("what is wrong is said with its line", refused), ("8,192 rows in a domain", rows), ("512 domains", domains),
         ("16,384 fields", fields)])
