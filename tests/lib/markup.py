# SPDX-License-Identifier: MIT
"""Reads a page of HTML strictly: what is open is closed, in its order, and tables are made of rows of cells. A browser puts
such mistakes right as it likes, and a text search does not see them."""
import html.parser

VOID = {"meta", "link", "br", "input", "img", "hr"}
INSIDE = {"tr": {"table", "thead", "tbody"}, "td": {"tr"}, "th": {"tr"}, "thead": {"table"}, "tbody": {"table"}, "li": {"ul"},
          "summary": {"details"}, "figcaption": {"figure"}}
ONLY_ELEMENTS = {"table", "thead", "tbody", "tr", "ul", "html"}
TEXT_ONLY = {"title", "summary", "progress", "figcaption"}


class Node:
    def __init__(self, tag, attributes=()):
        self.tag, self.attributes, self.children = tag, dict(attributes), []

    @property
    def text(self):
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def all(self, tag, **attributes):
        """Elements of the name in it that have the attributes, in order; "_" behind an attribute's name is left out."""
        found = []
        for child in self.children:
            if isinstance(child, str):
                continue
            if child.tag == tag and all(child.attributes.get(name.rstrip("_")) == value for name, value in attributes.items()):
                found.append(child)
            found += child.all(tag, **attributes)
        return found

    def one(self, tag, **attributes):
        found = self.all(tag, **attributes)
        assert len(found) == 1, (tag, attributes, len(found))
        return found[0]

    def rows(self):
        """The texts of a table's cells, by row."""
        return [[cell.text for cell in row.children if not isinstance(cell, str)] for row in self.all("tr")]


class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = [Node("")]

    def handle_starttag(self, tag, attributes):
        if tag == "li" and self.open[-1].tag == "li":
            self.open.pop()
        above = self.open[-1]
        assert above.tag in INSIDE.get(tag, {above.tag}), self.place("<%s> in <%s>" % (tag, above.tag))
        assert above.tag not in TEXT_ONLY, self.place("<%s> in <%s>" % (tag, above.tag))
        assert tag != "a" or all(node.tag != "a" for node in self.open), self.place("a link in a link")
        assert len(dict(attributes)) == len(attributes), self.place("an attribute twice")
        node = Node(tag, attributes)
        above.children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_endtag(self, tag):
        if tag == "ul" and self.open[-1].tag == "li":
            self.open.pop()
        assert self.open[-1].tag == tag, self.place("</%s> where <%s> is open" % (tag, self.open[-1].tag))
        self.open.pop()

    def handle_data(self, data):
        tag = self.open[-1].tag
        assert tag not in ONLY_ELEMENTS or not data.strip(), self.place("text in <%s>: %s" % (tag, data))
        self.open[-1].children.append(data)

    def place(self, what):
        return "line %d, column %d: %s" % (*self.getpos(), what)


def read(path):
    """The tree of a page. Its links lead to what it has, and no id is there twice."""
    reader = Reader()
    with open(path, encoding="utf-8") as file:
        reader.feed(file.read())
    reader.close()
    assert len(reader.open) == 1, "never closed: <%s>" % reader.open[-1].tag
    root = reader.open[0]
    names = [node.attributes["id"] for node in every(root) if "id" in node.attributes]
    assert len(set(names)) == len(names), [name for name in names if names.count(name) > 1]
    for link in root.all("a"):
        assert link.attributes["href"][0] == "#" and link.attributes["href"][1:] in names, link.attributes
    return root


def every(node):
    for child in node.children:
        if not isinstance(child, str):
            yield child
            yield from every(child)
