# SPDX-License-Identifier: MIT
"""The rules of Chrome's "Trace Event Format", as its document and Perfetto's page about it have them, for the events that
a trace of packets needs: duration (B, E), instant (i), counter (C) and metadata (M) events of a JSON object."""
import collections
import json

PHASES = "BEiCM"
META = ("process_name", "thread_name", "process_sort_index", "thread_sort_index")


class Slice:
    def __init__(self, event, path):
        self.name, self.begin, self.end, self.args, self.path = event["name"], event["ts"], None, event.get("args", {}), path


class Trace:
    def __init__(self, text):
        whole = json.loads(text)
        assert isinstance(whole["traceEvents"], list) and whole.get("displayTimeUnit", "ms") in ("ms", "ns")
        self.slices, self.instants = collections.defaultdict(list), collections.defaultdict(list)
        self.counters, self.tracks, self.processes = collections.defaultdict(list), {}, {}
        self.open, self.time = collections.defaultdict(list), {}
        for event in whole["traceEvents"]:
            self.check(event)
            getattr(self, event["ph"])(event)
        assert not any(self.open.values()), "slices that never end: %s" % self.open
        used = set(self.slices) | set(self.instants)
        assert used == set(self.tracks), (used, self.tracks)

    def check(self, event):
        assert event["ph"] in PHASES and isinstance(event["pid"], int), event
        assert event["ph"] == "E" or (isinstance(event["name"], str) and event["name"]), event
        assert isinstance(event.get("args", {}), dict), event
        if event["ph"] == "M":
            return
        assert isinstance(event["ts"], (int, float)) and event["ts"] >= 0, event
        if event["ph"] == "C":
            return
        track = event["pid"], event["tid"]
        assert isinstance(event["tid"], int) and event["tid"] > 0
        assert event["ts"] >= self.time.get(track, 0), "time goes back: %s" % event
        self.time[track] = event["ts"]

    def track(self, event):
        return event["pid"], event["tid"]

    def B(self, event):
        stack = self.open[self.track(event)]
        new = Slice(event, [one.name for one in stack] + [event["name"]])
        stack.append(new)
        self.slices[self.track(event)].append(new)

    def E(self, event):
        stack = self.open[self.track(event)]
        assert stack, "an end without a beginning: %s" % event
        stack.pop().end = event["ts"]

    def i(self, event):
        assert event.get("s", "t") in "gpt", event
        stack = self.open[self.track(event)]
        self.instants[self.track(event)].append((event["ts"], event["name"], event.get("cat"), event.get("args", {}),
                                                 [one.name for one in stack]))

    def C(self, event):
        assert event["args"] and all(isinstance(value, (int, float)) for value in event["args"].values()), event
        self.counters[event["pid"], event["name"]].append((event["ts"], event["args"]))

    def M(self, event):
        assert event["name"] in META, event
        if event["name"] == "thread_name":
            assert self.track(event) not in self.tracks, "two names: %s" % event
            self.tracks[self.track(event)] = event["args"]["name"]
        elif event["name"] == "process_name":
            self.processes[event["pid"]] = event["args"]["name"]

    def named(self, name):
        """The track of a name."""
        return next(track for track, called in self.tracks.items() if called == name)
