#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every firmware image of the corpus once more, with an id that no row has: it is taken for what it is, by its
code alone, comes back from its listing with names, and runs. Usage: unknown_ids.py CPSCOPE"""
import os
import re
import struct
import sys
import tempfile

import images
import tap

UNKNOWN = 0x364


def with_unknown_id(corpus, image):
    with open(image.path, "rb") as file:
        data = bytearray(file.read())
    word = struct.unpack_from("<I", data, 4)[0]
    struct.pack_into("<I", data, 4, word & ~0xfff000 | UNKNOWN << 12)
    path = corpus.file(image.name)
    with open(path, "wb") as file:
        file.write(data)
    return corpus.identify(path)


def head(listing):
    return listing.splitlines()[0]


def names(listing):
    return re.findall(r"[@%][A-Z_]+[0-9A-Z_]*", listing)


def runs(corpus, image, other, *options):
    """The stream, on the chip that the known image is for. A pair of a5xx needs both images patched alike."""
    stream = corpus.write("three.pm4", images.STREAM % images.chip_of(image))
    out = corpus.file("out.txt")
    done = corpus.call("run", "--fw", other.path, stream, "-o", out, *options)
    assert done.returncode == 0, done.stderr.decode()
    with open(out, encoding="utf-8") as file:
        return file.read()


def check(corpus, image):
    other = with_unknown_id(corpus, image)
    assert other.id == UNKNOWN
    assert (other.gen, other.parts) == (image.gen, image.parts), (other.gen, other.parts)
    known, _ = images.check_round_trip(corpus, image)
    listing, _ = images.check_round_trip(corpus, other)
    assert head(listing) == head(known), head(listing)
    assert names(listing) == names(known), "names of another layout"
    if image.gen == "a5xx" or image.parts == ["aqe"]:
        return head(listing)[2:]
    for options in ((), ("--gen", image.gen)):
        trace = runs(corpus, image, other, *options)
        layout = re.search(r"(?m)^# layout (.*)", trace)
        words = head(known).split()
        assert (layout.group(1) if layout else "microcode") == words[2], layout
        assert re.search(r"(?m)MEMW 0x0000000000200000 0x5ca1ab1e", trace), "the stream did not run"
    return head(listing)[2:]


def main():
    folder = os.environ.get("CPSCOPE_CORPUS")
    if not folder:
        print("1..1")
        tap.skip("unknown ids", "CPSCOPE_CORPUS is not set")
        return
    with tempfile.TemporaryDirectory() as scratch:
        corpus = images.Corpus(sys.argv[1], folder, scratch)
        tap.run([(image.name, lambda image=image: check(corpus, image)) for image in corpus.images()])


if __name__ == "__main__":
    main()
