# SPDX-License-Identifier: MIT
"""A browser for tests: Chromium through chromedriver, spoken to in plain HTTP and JSON."""
import base64
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import machine

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key that the standard gives an element

# Not through a proxy that the environment may name.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def missing():
    """What is not installed, or None."""
    if not shutil.which("chromedriver"):
        return "no chromedriver"
    return None if shutil.which("chromium") or shutil.which("google-chrome") else "no chromium"


class Browser:
    """One headless window. Used with "with", so that nothing stays behind."""

    def __init__(self, scratch, size=(1280, 800)):
        self.scratch, self.size, self.session = scratch, size, None

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # through __exit__
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        for line in self.driver.stdout:
            found = re.search(r"successfully on port (\d+)", line)
            if found:
                break
        self.base = "http://127.0.0.1:%s/session" % found.group(1)
        arguments = ["--headless=new", "--window-size=%d,%d" % self.size, "--disable-gpu",
                     "--user-data-dir=" + os.path.join(self.scratch, "profile")]
        if machine.is_root():
            arguments.append("--no-sandbox")  # Chromium refuses to run as root with it
        wanted = {"goog:chromeOptions": {"args": arguments},
                  "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        answer = self.send("POST", "", {"capabilities": {"alwaysMatch": wanted}})
        self.session = answer["sessionId"]
        self.base += "/" + self.session

    def __exit__(self, *_):
        try:
            if self.session:
                self.send("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()

    def send(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            with OPENER.open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"].split("\n")[0]) from None

    def open(self, url):
        self.send("POST", "/url", {"url": url})

    def find(self, css):
        found = self.send("POST", "/elements", {"using": "css selector", "value": css})
        return [item[ELEMENT] for item in found]

    def shown(self, css):
        return [e for e in self.find(css) if self.send("GET", "/element/%s/displayed" % e)]

    def text(self, element):
        return self.send("GET", "/element/%s/text" % element)

    def click(self, element):
        self.send("POST", "/element/%s/click" % element, {})

    def link(self, text, css="a"):
        """The first visible link of that text."""
        return next(e for e in self.shown(css) if self.text(e) == text)

    def rect(self, element):
        return self.send("GET", "/element/%s/rect" % element)

    def keys(self, *keys):
        actions = [{"type": t, "value": k} for k in keys for t in ("keyDown", "keyUp")]
        self.send("POST", "/actions", {"actions": [{"type": "key", "id": "k", "actions": actions}]})

    def run(self, script):
        return self.send("POST", "/execute/sync", {"script": script, "args": []})

    def resize(self, width, height):
        self.send("POST", "/window/rect", {"width": width, "height": height})

    def devtools(self, command, **parameters):
        return self.send("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def log(self, kind):
        return self.send("POST", "/se/log", {"type": kind})

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.send("GET", "/screenshot")))
