# SPDX-License-Identifier: MIT
"""Where files of the source tree are."""
import os

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(TESTS)
SCRIPTS = os.path.join(TESTS, "scripts")
STREAMS = os.path.join(TESTS, "corpus", "streams")
GOLDEN = os.path.join(TESTS, "cli", "golden")
GROW = os.path.join(TESTS, "cli", "grow.py")
DEMO = os.path.join(ROOT, "fw", "demo", "demo_sqe.afuc")
DEMO_STREAM = os.path.join(ROOT, "fw", "demo", "demo.pm4")
FRAME = os.path.join(ROOT, "docs", "frame.pm4")
