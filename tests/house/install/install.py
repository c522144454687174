# SPDX-License-Identifier: MIT
"""What others get: installs into an empty folder and looks at it as a stranger would.
Usage: install.py MESON BUILD CC SANITIZERS VERSION CPSCOPE"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import rebase
import tap
from tree import ROOT as SOURCE

HERE = os.path.dirname(os.path.abspath(__file__))
MESON, BUILD, CC, SANITIZERS, VERSION, CPSCOPE = sys.argv[1:7]
SANITIZE = [] if SANITIZERS == "none" else ["-fsanitize=" + SANITIZERS]
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
SHARE = 0.6
DEMO = [os.path.join(SOURCE, "fw", "demo", name) for name in ("demo_sqe.afuc", "demo.pm4")]
folder = tempfile.TemporaryDirectory()
ROOT = os.path.join(folder.name, "root")


def said(*words, **more):
    done = subprocess.run(words, capture_output=True, text=True, **more)
    assert done.returncode == 0, "%s: %d\n%s%s" % (" ".join(words), done.returncode, done.stdout[-1500:], done.stderr)
    return done.stdout


def found(*endings):
    """Installed files, by their whole paths."""
    return sorted(os.path.join(place, name) for place, _, names in os.walk(ROOT) for name in names
                  if name.endswith(endings))


def include():
    return os.path.dirname(os.path.dirname(next(path for path in found("/cpscope.h", "cpscope.h"))))


def headers():
    return [path for path in found(".h") if "/cpscope/" in path]


def short(path):
    return os.path.relpath(path, include())


def read(path):
    with open(path) as file:
        return file.read()


def library():
    return next(path for path in found("libcpscope.so"))


def pkg_config(*words):
    pc = found(".pc")[0]
    prefix = re.search(r"^prefix=(.*)$", read(pc), re.M).group(1)
    return said("pkg-config", "--define-variable=prefix=" + ROOT + prefix, *words, "cpscope",
                env={**os.environ, "PKG_CONFIG_PATH": os.path.dirname(pc)}).split()


def build(name, *sources, compiler=CC, standard="c11"):
    program = os.path.join(folder.name, name)
    said(*compiler.split(), "-std=" + standard, *STRICT, *SANITIZE, "-o", program, *sources,
         *pkg_config("--cflags", "--libs"))
    return program


def run(program, *words):
    return said(program, *words, env={**os.environ, "LD_LIBRARY_PATH": os.path.dirname(library())})


def declared():
    """Names that public headers declare, with the header and the comment directly above."""
    names = {}
    for path in headers():
        for match in re.finditer(r"(?P<doc>/\*\*(?:[^*]|\*(?!/))*\*/)?\n"
                                 r"(?P<text>CPS_PUBLIC\b[^;{]*?\b(?P<name>cps_\w+)\s*(?:\([^;]*)?;)", read(path)):
            names[match["name"]] = (short(path), match["doc"] or "", match["text"])
    return names


def exported():
    lines = said("nm", "-D", "--defined-only", library()).splitlines()
    return {line.split()[2].split("@")[0] for line in lines if line.split()[1] != "A"}


def installs():
    said(MESON, "install", "-C", BUILD, "--no-rebuild", "--destdir", ROOT)
    assert len(found(".pc")) == 1 and len(headers()) > 20, found(".pc", ".h")
    assert not found(".a"), found(".a")
    for path in ("vim/vimfiles/syntax/cpsasm.vim", "vim/vimfiles/ftdetect/cpscope.vim", "cpscope/vscode/package.json"):
        assert any(name.endswith("/share/" + path) for name in found("." + path.rpartition(".")[2])), path
    assert len(found("libcpscope-client.so")) == 1, found(".so")
    assert os.path.islink(library()) and len(found(".so." + VERSION)) == 1, found(".so." + VERSION)


def compiles_alone(compiler, standard, ending):
    def case():
        if not shutil.which(compiler.split()[0]):
            raise tap.Skip("no " + compiler)
        for path in headers():
            source = os.path.join(folder.name, "alone." + ending)
            with open(source, "w") as file:
                file.write("#include <%s>\nextern int nothing;\n" % short(path))
            said(*compiler.split(), "-std=" + standard, *STRICT, "-fsyntax-only", "-I" + include(), source)
    return case


def requires():
    """What the library itself needs stays behind the library."""
    pc = read(found(".pc")[0])
    assert not re.search(r"^Requires:", pc, re.M), pc
    for name in ("zlib", "nettle", "json-c"):
        assert re.search(r"^Requires.private:.*\b%s\b" % name, pc, re.M), pc
    libs = [word for word in pkg_config("--libs") if word.startswith("-l")]
    assert libs == ["-lcpscope"], libs
    assert said("pkg-config", "--modversion", "cpscope",
                env={**os.environ, "PKG_CONFIG_PATH": os.path.dirname(found(".pc")[0])}).strip() == VERSION


def prefix():
    others = [name for name in exported() if not re.match(r"cps_\w*[a-z0-9]$", name)]
    assert not others, others


def listed():
    """Declared, listed in the version script and exported are the same."""
    script = os.path.join(SOURCE, "cpscope.lds")
    names = sorted(declared())
    text = read(script)
    now = re.sub(r"(global:\n).*?(\n *local:)", lambda m: m[1] + "\n".join("        %s;" % n for n in names) + m[2],
                 text, flags=re.S)
    if now != text and rebase.confirmed("cpscope.lds"):
        with open(script, "w") as file:
            file.write(now)
        text = now
    assert now == text, "it differs from the public headers\n" + rebase.difference("cpscope.lds", text, now)
    assert exported() == set(names), sorted(exported() ^ set(names))


def documented():
    bare = ["%s: %s" % (path, name) for name, (path, doc, _) in sorted(declared().items()) if not doc]
    assert not bare, "without a comment directly above:\n" + "\n".join(bare)


def errors():
    """A function that fails says with which errors."""
    silent = ["%s: %s" % (path, name) for name, (path, doc, text) in sorted(declared().items())
              if "struct cps_err *" in text.split(name)[0] and "const" not in text.split(name)[0]
              and not re.search(r"CPS_ERR_|\bAs cps_|error of @p|\bas (?:for )?cps_\w+\(\)", doc)]
    assert not silent, "without the errors that it returns:\n" + "\n".join(silent)


def threads():
    silent = [short(path) for path in headers() if "CPS_PUBLIC" in read(path) and "hread" not in read(path)]
    assert not silent, silent


def comments(path):
    """Lines that are nothing but comment, and lines that are not blank."""
    count = lines = 0
    inside = False
    for line in map(str.strip, read(path).splitlines()):
        lines += line != ""
        count += line != "" and (inside or (line.startswith("/*") and ("*/" not in line or line.endswith("*/"))))
        inside = "/*" in line.split("*/")[-1] or (inside and "*/" not in line)
    return count, lines


def share():
    counts = {short(path): comments(path) for path in headers()}
    total = sum(c for c, _ in counts.values()) / sum(n for _, n in counts.values())
    assert total >= SHARE, "%.1f %%: %s" % (100 * total, counts)
    return "%.1f %%" % (100 * total)


def outsider():
    out = run(build("outsider", os.path.join(HERE, "outsider.c")), *DEMO)
    assert out == read(os.path.join(HERE, "outsider.txt")), out


def example():
    """The program of docs/library.md, built; its output for the demo."""
    source = os.path.join(folder.name, "example.c")
    with open(source, "w") as file:
        file.write(re.search(r"```c\n(.*?)```", read(os.path.join(SOURCE, "docs", "library.md")), re.S).group(1))
    program = build("example", source)
    firmware = os.path.join(folder.name, "demo.fw")
    said(CPSCOPE, "asm", DEMO[0], "-o", firmware)
    return program, run(program, firmware, DEMO[1])


def example_demo():
    summary = json.loads(said(CPSCOPE, "run", "--demo", "--json"))
    assert example()[1].split(":", 1)[1].split()[0] == str(summary["register_writes"])


def example_dump():
    """The same counts as `cpscope run` prints of the dump."""
    corpus = os.environ.get("CPSCOPE_CORPUS")
    if not corpus:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    words = [os.path.join(corpus, "firmware", "a630_sqe-207.fw"), os.path.join(corpus, "captures", "crash.devcore")]
    out = run(os.path.join(folder.name, "example"), *words)
    printed = subprocess.run([CPSCOPE, "run", "-q", "--fw", *words], capture_output=True, text=True).stdout
    counts = re.search(r"# in all: (\d+ equal, \d+ different)", printed).group(1)
    assert counts in out.splitlines(), (counts, out)


def device():
    out = run(build("device", os.path.join(HERE, "device.c")), DEMO[0])
    assert out == "60 fences, 0 failures\n", out


def device_real():
    corpus = os.environ.get("CPSCOPE_CORPUS")
    if not corpus:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    out = run(os.path.join(folder.name, "device"), os.path.join(corpus, "firmware", "a630_sqe-187.fw"))
    assert out == "60 fences, 0 failures\n", out


def cxx():
    if not shutil.which("c++"):
        raise tap.Skip("no c++")
    source = os.path.join(folder.name, "version.cc")
    with open(source, "w") as file:
        file.write('#include <cpscope/cpscope.h>\n#include <cstdio>\n#include <cstring>\n'
                   'int main() { cps_config config{}; config.policy = cps_policy_default();\n'
                   'std::puts(cps_version()); return std::strcmp(cps_version(), CPS_VERSION); }\n')
    assert run(build("version", source, compiler="c++", standard="c++17")) == VERSION + "\n"


tap.run([
    ("the library installs into an empty folder", installs),
    ("every header compiles alone in C11", compiles_alone(CC, "c11", "c")),
    ("every header compiles alone in C++17, g++", compiles_alone("g++", "c++17", "cc")),
    ("every header compiles alone in C++17, clang++", compiles_alone("clang++", "c++17", "cc")),
    ("one .pc file, whose requirements are private", requires),
    ("no symbol without cps_, none that is private", prefix),
    ("what headers declare is what is exported", listed),
    ("every public function has a comment directly above", documented),
    ("every function that fails says how", errors),
    ("every header says what threads may do", threads),
    ("at least 60 % of the lines of public headers are comments", share),
    ("a program of somebody else's traces and debugs", outsider),
    ("the example of docs/library.md counts what run counts", example_demo),
    ("it compares a hang dump as run does", example_dump),
    ("a device model embeds the processor", device),
    ("the same with firmware of a630", device_real),
    ("a C++ program links", cxx),
])
