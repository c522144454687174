// Difference of two revisions: writes and code side by side.

const SAME = 0, CHANGED = 1, OLD_ONLY = 2, NEW_ONLY = 3, LONG_RUN = 5;
let diffAll = false;

async function readChanges() {
    if (!changes && meta.diff) {
        const read = await jsonSection("diff");
        read.of = new Map(read.packets.filter(row => row[0] >= 0).map(row => [row[0], row]));
        read.list = [...read.of.keys()].sort((a, b) => a - b);
        changes = read;
    }
    return changes;
}
function paintDiffCounts(box) {
    const choose = (all, text) => segment(diffAll === all, () => {
        diffAll = all;
        filterTree(diffAll ? null : p => changes.of.has(p));
        paintCounts();
        showInTree(true);
    }, text);
    box.replaceChildren(choose(false, "Differ " + thousands(changes.list.length)), choose(true, "All " + thousands(P.n)), span("fill"), span("note", plural(changes.total, "difference")));
}
function differBeside(step) {
    const list = changes ? changes.list : [];
    const here = step > 0 ? list.find(p => p > at.packet) : [...list].reverse().find(p => p < at.packet);
    return here === undefined ? -1 : here;
}

// Digits that differ are marked.
function digits(mine, other) {
    const a = bare(mine, 8), b = bare(other, 8), out = span("digits", "0x");
    for (let i = 0; i < 8; i++)
        out.append(a[i] === b[i] ? a[i] : h("mark", "", a[i]));
    return out;
}
function writeCell(side, row, processor) {
    const [mark, kindAndSub] = row, kind = kindAndSub & 15;
    const [addr, value, pc] = side ? row.slice(5, 8) : row.slice(2, 5);
    const isMine = mark === CHANGED || mark === (side ? NEW_ONLY : OLD_ONLY);
    if (addr < 0)
        return role(div("dcell none"), "cell");
    const other = mark === CHANGED ? side ? row[3] : row[6] : value;
    const name = kind === MEMW ? hex(addr) : keyName(nameKey(kind, addr, processor)) || hex(addr % 0x40000, 4);
    return role(div("dcell" + (isMine ? side ? " new" : " old" : ""), span("sign", isMine ? side ? "+" : "−" : ""),
        span("sort", kind === PIPE ? "pipe" : kind === MEMW ? "mem" : "reg"), span("text", name + " ", digits(value, other)), span("pc", bare(pc, 4))), "cell");
}
function codeCell(side, row) {
    const [mark] = row, pc = row[side ? 3 : 1], text = row[side ? 4 : 2];
    const isMine = mark !== SAME;
    if (pc < 0)
        return role(div("dcell none"), "cell");
    return role(div("dcell code-cell" + (isMine ? side ? " new" : " old" : ""), span("sign", isMine ? side ? "+" : "−" : ""), span("pc", bare(pc, 4)), span("text", text)), "cell");
}
// Both columns; long runs of equal rows are folded.
function sides(rows, cell) {
    const table = role(div("sides"), "table");
    table.append(div("dhead", span("tag old", "− old"), " " + meta.old.replace(/\.fw$/, "")), div("dhead", span("tag chg", "+ new"), " " + meta.firmware.replace(/\.fw$/, "")));
    for (let i = 0; i < rows.length;) {
        let end = i;
        while (end < rows.length && rows[end][0] === SAME)
            end++;
        if (end - i > LONG_RUN) {
            const hidden = rows.slice(i + (i ? 2 : 0), end - (end < rows.length ? 2 : 0));
            const lines = list => list.flatMap(row => [cell(0, row), cell(1, row)]);
            if (i)
                table.append(...lines(rows.slice(i, i + 2)));
            const fold = button("fold", () => fold.replaceWith(...lines(hidden)), "⋯ " + plural(hidden.length, "equal row"));
            table.append(fold);
            if (end < rows.length)
                table.append(...lines(rows.slice(end - 2, end)));
            i = end;
            continue;
        }
        end = Math.max(end, i + 1);
        for (; i < end; i++)
            table.append(cell(0, rows[i]), cell(1, rows[i]));
    }
    return table;
}
function totals() {
    const by = new Map();
    for (const [p, row] of changes.of)
        by.set(packetName(p), (by.get(packetName(p)) || 0) + row[1]);
    const box = div("totals");
    for (const [name, count] of [...by].sort((a, b) => b[1] - a[1]).slice(0, 40))
        box.append(div("total", link(fragment({view: "diff", packet: [...changes.of.keys()].find(p => packetName(p) === name), event: null}), "id", name), span("value", thousands(count))));
    return box;
}
function paintDiff() {
    const box = $("diff"), p = at.packet;
    if (!changes) {
        box.replaceChildren(div("empty", "There is one revision only."));
        return;
    }
    const row = changes.of.get(p);
    const move = (step, text, key) => moveButton(differBeside(step) >= 0, {packet: differBeside(step), view: "diff"}, text, key);
    const head = [div("head1", h("h1", "", p >= 0 ? packetName(p) : ""), row ? span("tag chg", plural(row[1], "difference")) : span("tag", "no difference"), span("buttons", move(-1, "Previous ", "p"), move(1, "Next ", "n"))),
        div("facts", span("fact", plural(changes.total, "difference") + " in " + thousands(changes.list.length) + " of " + plural(P.n, "packet")), p >= 0 ? fact("packet", String(p)) : null, p >= 0 ? fact("at", hex(address(p))) : null)];
    const parts = [];
    if (row) {
        const rows = changes.handlers[row[3] + "." + row[4]] || [], differ = rows.filter(r => r[0] !== SAME).length;
        parts.push(heading("Writes", ""), sides(row[2], (side, r) => writeCell(side, r, processorOf(p))));
        parts.push(heading("Code of the handler", packetName(p) + (differ ? ", " + plural(differ, "row") + (differ === 1 ? " differs" : " differ") : ": it is equal; the difference is in code that it calls")));
        if (rows.length && meta.code)
            parts.push(sides(rows, codeCell));
    }
    parts.push(heading("By packet", "differences"), totals());
    box.replaceChildren(...head, ...parts);
    box.scrollTop = 0;
}
