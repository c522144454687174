# SPDX-License-Identifier: MIT
"""A client of the language server over pipes. What answers must hold is checked from the published
specification (Language Server Protocol 3.17)."""
import json
import re
import subprocess
from scene import CPSCOPE


HIERARCHICAL = {"textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
                                 "hover": {"contentFormat": ["plaintext"]}}}


def frame(message):
    text = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(text), text)


def position(text, offset, encoding="utf-16-le"):
    """Of a character of a Python text."""
    before = re.split("\r\n|\n|\r", text[:offset])
    unit = 1 if encoding == "utf-8" else 2
    return {"line": len(before) - 1, "character": len(before[-1].encode(encoding)) // unit}


def cut(text, span, encoding="utf-16-le"):
    """What a range of a text without line ends but "\n" holds."""
    lines = text.split("\n")
    start, end = span["start"], span["end"]
    unit = 1 if encoding == "utf-8" else 2
    line = lines[start["line"]].encode(encoding)
    assert start["line"] == end["line"], span
    return line[start["character"] * unit:end["character"] * unit].decode(encoding)


class Client:
    def __init__(self, *args):
        self.process = subprocess.Popen([CPSCOPE, "lsp", *args], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.id, self.notes, self.texts = 0, [], {}

    def write(self, message):
        self.process.stdin.write(frame(message))
        self.process.stdin.flush()

    def receive(self):
        header = self.process.stdout.readline()
        match = re.fullmatch(rb"Content-Length: (\d+)\r\n", header)
        assert match and self.process.stdout.readline() == b"\r\n", header
        message = json.loads(self.process.stdout.read(int(match.group(1))))
        assert message["jsonrpc"] == "2.0", message
        return message

    def notify(self, method, params=None):
        self.write({"jsonrpc": "2.0", "method": method, "params": params or {}})

    def reply(self, method, params=None, name=None):
        self.id += 1
        name = name or self.id
        self.write({"jsonrpc": "2.0", "id": name, "method": method, "params": params})
        while True:
            message = self.receive()
            if "method" not in message:
                assert message["id"] == name and ("result" in message) != ("error" in message), message
                return message
            self.notes.append(message)

    def ask(self, method, params=None):
        message = self.reply(method, params)
        assert "result" in message, message
        return message["result"]

    def refuse(self, method, params=None):
        message = self.reply(method, params)
        assert "error" in message and message["error"]["message"], message
        return message["error"]["code"]

    def note(self, method):
        """The next notification of that name, which may be there already."""
        while True:
            for i, message in enumerate(self.notes):
                if message["method"] == method:
                    return self.notes.pop(i)["params"]
            message = self.receive()
            assert "method" in message, message
            self.notes.append(message)

    def start(self, capabilities=HIERARCHICAL, **options):
        params = {"processId": None, "rootUri": None, "capabilities": capabilities}
        if options:
            params["initializationOptions"] = {k.replace("_", "-"): v for k, v in options.items()}
        self.can = self.ask("initialize", params)["capabilities"]
        self.notify("initialized")
        self.encoding = {"utf-16": "utf-16-le", "utf-8": "utf-8"}[self.can["positionEncoding"]]
        return self

    def open(self, text, uri="file:///a.asm", language="cpsasm"):
        self.texts[uri] = text
        self.notify("textDocument/didOpen", {"textDocument": {
            "uri": uri, "languageId": language, "version": 1, "text": text}})
        return self.errors(uri)

    def errors(self, uri="file:///a.asm"):
        params = self.note("textDocument/publishDiagnostics")
        assert params["uri"] == uri, params
        for d in params["diagnostics"]:
            assert d["severity"] == 1 and d["source"] == "cpscope" and d["message"], d
        return params["diagnostics"]

    def change(self, *changes, uri="file:///a.asm", version=2):
        self.notify("textDocument/didChange", {
            "textDocument": {"uri": uri, "version": version}, "contentChanges": list(changes)})
        return self.errors(uri)

    def at(self, needle, inside=1, uri="file:///a.asm", nth=0):
        """Parameters with the place `inside` characters behind the start of the text's nth needle."""
        offset = [m.start() for m in re.finditer(re.escape(needle), self.texts[uri])][nth] + inside
        return {"textDocument": {"uri": uri}, "position": position(self.texts[uri], offset, self.encoding)}

    def hover(self, needle, inside=1, **where):
        result = self.ask("textDocument/hover", self.at(needle, inside, **where))
        return result and result["contents"]["value"]

    def completion(self, needle, inside, **where):
        result = self.ask("textDocument/completion", self.at(needle, inside, **where))
        return {item["label"]: item for item in result["items"]}

    def close(self, status=0):
        if status == 0:
            assert self.ask("shutdown") is None
        self.notify("exit")
        out, err = self.process.communicate(timeout=120)
        assert self.process.returncode == status and not out and not err, (self.process.returncode, err)
