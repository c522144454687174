# SPDX-License-Identifier: MIT
"""Where two images of a6xx firmware differ, worked out from their words alone: for chain.py. It shares no code with the
product. Places are dword offsets, as everywhere."""
import struct

HEADER = 2      # version, and where the packet table is
PACKETS = 128   # entries of that table, behind the code


class Image:
    def __init__(self, path):
        data = open(path, "rb").read()
        self.words = list(struct.unpack("<%dI" % (len(data) // 4), data))[1:]
        self.table = self.words[1] & 0xffff
        self.code = self.words[:self.table]
        self.packets = self.words[self.table:self.table + PACKETS]


def target(word, at):
    """Where a branch, a call or preemptleave leads to, or None."""
    if 0xc0 <= word >> 24 < 0xd0:
        return at + ((word & 0xffff) ^ 0x8000) - 0x8000
    return word & 0xffff if word >> 24 in (0xd4, 0xe0) else None


def address(word):
    """What a mov loads, if that may be the address of a dword of an image: as it is, or in bytes."""
    value = word & 0xffff
    return value if word >> 27 == 0x11 and word >> 21 & 0x1f in (0, 2) and 16 <= value < 0x4000 else None


def key(word, at):
    if at < HEADER:
        return -1 - at
    moves = target(word, at) is not None or address(word) is not None
    return (word & ~0xffff) + (1 << 32) if moves else word


def partners(a, b):
    """Pairs (i, j) of a longest common subsequence of two lists: Myers' algorithm."""
    ends, trace = {1: 0}, []
    for d in range(len(a) + len(b) + 1):
        trace.append(dict(ends))
        for k in range(-d, d + 1, 2):
            down = k == -d or (k != d and ends[k - 1] < ends[k + 1])
            x = ends[k + 1] if down else ends[k - 1] + 1
            while x < len(a) and x - k < len(b) and a[x] == b[x - k]:
                x += 1
            ends[k] = x
            if x >= len(a) and x - k >= len(b):
                return walk_back(trace, len(a), len(b))
    return []


def walk_back(trace, x, y):
    pairs = []
    for d in range(len(trace) - 1, -1, -1):
        ends, k = trace[d], x - y
        before = k + 1 if k == -d or (k != d and ends[k - 1] < ends[k + 1]) else k - 1
        start = ends[before]
        while x > start and y > start - before and x and y:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        x, y = start, start - before
    return pairs[::-1]


def leads_there(a_to_b, size_a, in_b, size_b, i, j):
    """Whether @i and @j are one place: what was taken out or put in there does not count."""
    while i < size_a and i not in a_to_b:
        i += 1
    while j < size_b and j not in in_b:
        j += 1
    return a_to_b.get(i) == j or (i - size_a == j - size_b and i >= size_a)


def changed_words(a, b):
    """Offsets of the changed words of each image: what has no partner, and what leads or points elsewhere."""
    pairs = partners([key(w, i) for i, w in enumerate(a.code)], [key(w, i) for i, w in enumerate(b.code)])
    a_to_b = dict(pairs)
    in_b = set(a_to_b.values())

    def same(i, j):
        return leads_there(a_to_b, a.table, in_b, b.table, i, j)
    old = set(range(HEADER, a.table)) - set(a_to_b)
    new = set(range(HEADER, b.table)) - in_b
    for i, j in pairs:
        x, y = a.code[i], b.code[j]
        if i < HEADER:
            continue
        to, points = (target(x, i), target(y, j)), (address(x), address(y))
        if (to[0] is not None and not same(*to)) or (None not in points and x != y and not same(*points)):
            old.add(i)
            new.add(j)
    tables = [n for n in range(PACKETS) if not same(a.packets[n], b.packets[n])]
    return old, new, tables, a_to_b


def stretches(offsets):
    ret = []
    for at in sorted(offsets):
        if ret and at == ret[-1][-1] + 1:
            ret[-1].append(at)
        else:
            ret.append([at])
    return ret


def places(a, b):
    """[(offsets in the old image, offsets in the new one)], one for each stretch; packets whose handler differs."""
    old, new, packets, a_to_b = changed_words(a, b)
    b_to_a = {j: i for i, j in a_to_b.items()}
    found = {}
    for run in stretches(old):     # known by the partner in front of it
        found.setdefault(next(i for i in range(run[0], -1, -1) if i in a_to_b and i not in old), [[], []])[0] = run
    for run in stretches(new):
        found.setdefault(next(b_to_a[j] for j in range(run[0], -1, -1) if j in b_to_a and j not in new), [[], []])[1] = run
    return [tuple(found[at]) for at in sorted(found)], packets


def leads_nowhere(image, offsets):
    """Nobody branches, calls or falls into @offsets, and no packet has its handler there. The last instruction in front of
    them is the delay slot of a jump, and no word of the code is the number of one of them."""
    first = min(offsets)
    before = image.code[first - 2]
    reached = {target(w, i) for i, w in enumerate(image.code) if i not in offsets} | set(image.packets)
    constants = {address(w) for i, w in enumerate(image.code) if i not in offsets}
    return before >> 16 == 0xc800 and not (reached | constants) & set(offsets)
