// Search: packets, writes and code by name, number, value, address.

const MOST_RESULTS = 5000;
let results = [], resultCounts = {}, resultList = null, chosen = -1, needle = "";

// A query is a test over packets, rows or both.
function parseQuery(text) {
    const q = text.trim(), number = s => /^(0x[0-9a-f]+|\d+)$/i.test(s) ? Number(s) : /^[0-9a-f]+$/i.test(s) ? parseInt(s, 16) : NaN;
    if (/^#\d+$/.test(q))
        return {packet: p => p === Number(q.slice(1))};
    if (q[0] === "=" && number(q.slice(1)) >= 0)
        return {row: i => E.value[i] === number(q.slice(1)), writes: true, words: number(q.slice(1))};
    if (q[0] === "@" && /^@(0x)?[0-9a-f]+$/i.test(q)) {
        const a = parseInt(q.slice(1).replace(/^0x/i, ""), 16);
        return {packet: p => a >= address(p) && a <= address(p) + 4 * dwords(p), row: i => (E.kind[i] === MEMW || E.kind[i] === MEMR) && addressOfRow(i) === a};
    }
    if (/^pc:[0-9a-f]+$/i.test(q))
        return {pc: parseInt(q.slice(3), 16)};
    if (q === "is:work")
        return {packet: isDraw};
    if (meta.kinds.includes(q.slice(3)) && q.startsWith("is:"))
        return {packet: p => isDraw(p) && drawOf.get(p).kind === q.slice(3)};
    if (q === "is:assumed")
        return {packet: p => P.assumed[p]};
    if (q === "is:different")
        return {packet: p => changes && changes.of.has(p)};
    if (/^0x[0-9a-f]{1,5}$/i.test(q)) {
        const reg = Number(q);
        return {row: i => hasRegister(E.kind[i]) && E.kind[i] !== CTRL && (E.addr[i] & 0x3ffff) === reg, writes: true};
    }
    return nameQuery(q.toLowerCase());
}
// Names are looked up once per name, not per packet.
function nameQuery(q) {
    const keys = new Set(Object.keys(names.registers).filter(key => key < CONTROL_BASE && keyName(key).toLowerCase().includes(q)).map(Number));
    const codes = new Set(Object.keys(meta.opcodes).filter(id => meta.opcodes[id].toLowerCase().includes(q)).map(Number));
    needle = q;
    return {packet: p => type(p) === 7 ? codes.has(opcode(p)) : type(p) === 4 && keys.has(firstRegister(p)),
        row: i => isWrite(E.kind[i]) && E.kind[i] !== MEMW && keys.has(nameKey(E.kind[i], E.addr[i], 0)), writes: true, notFirst: true};
}

function runQuery(query) {
    const found = [];
    const counts = {packet: 0, write: 0, word: 0};
    const add = (kind, p, row) => {
        counts[kind]++;
        if (found.length < MOST_RESULTS)
            found.push([kind, p, row]);
    };
    for (let p = 0; p < P.n; p++) {
        const isFound = query.packet && query.packet(p);
        if (isFound)
            add("packet", p, -1);
        if (query.words !== undefined && words(p).includes(query.words))
            add("word", p, -1);
        if (query.pc !== undefined && rowsOf(p, i => E.pc[i] === query.pc).length)
            add("packet", p, -1);
        if (!query.row || isFound && query.notFirst)
            continue;
        for (let i = P.first[p], end = packetEnd(p); i < end; i++)
            if (isEffect(E.kind[i]) && (!query.writes || E.kind[i] !== CTRL) && query.row(i))
                add("write", p, i);
    }
    return [found, counts];
}

// The match underlined.
function matched(text) {
    const i = needle ? text.toLowerCase().indexOf(needle) : -1;
    return i < 0 ? [text] : [text.slice(0, i), h("u", "", text.slice(i, i + needle.length)), text.slice(i + needle.length)];
}
function resultPlace(p) {
    const s = P.submission[p];
    return "packet " + p + (s === NONE ? " · boot" : " · submission " + meta.submissions[s][0]) + " › " + (LEVELS[P.level[p]] || "?") +
        (meta.processors.length > 1 ? " › " + meta.processors[processorOf(p)].name : "");
}
function fillResult(row, i) {
    const [kind, p, event] = results[i];
    row.className = "row result" + (i === chosen ? " here" : "");
    const value = kind === "write" ? hex(E.value[event]) : summaryOf(p);
    const name = kind === "write" ? effectName(event) : packetName(p);
    row.append(div("first", span("name", ...matched(name)), span("value", value)), div("second", (kind === "write" ? "write in " : kind === "word" ? "payload of " : "") + resultPlace(p)));
    row.index = i;
    role(row, "option", {"aria-selected": String(i === chosen)});
    row.id = "r" + i;
}
function preview(i) {
    if (i < 0 || i >= results.length)
        return;
    chosen = i;
    const [, p, row] = results[i];
    resultList.show(i);
    $("results").setAttribute("aria-activedescendant", "r" + i);
    $("q").setAttribute("aria-activedescendant", "r" + i);
    go(row >= 0 ? {packet: p, row} : {packet: p, event: null});
}

async function search(text) {
    if (text.trim() === "is:different" && meta.diff)
        await readChanges();
    at.q = text;
    const isOn = text.trim() !== "";
    document.body.classList.toggle("searching", isOn);
    $("tree").hidden = isOn;
    $("results").hidden = !isOn;
    needle = "";
    chosen = -1;
    if (isOn) {
        [results, resultCounts] = runQuery(parseQuery(text));
        resultList.resize(results.length);
        $("results").scrollTop = 0;
    }
    $("hints").hidden = !isOn || results.length > 0;
    paintCounts();
    keepPlace();
    if (!isOn)
        showInTree(true);
}
function paintCounts() {
    const box = $("counts");
    if (at.q.trim()) {
        const parts = [["packet", "packet"], ["write", "write"], ["word", "word"]].filter(([k]) => resultCounts[k]).map(([k, word]) => plural(resultCounts[k], word));
        const all = Object.values(resultCounts).reduce((a, b) => a + b, 0);
        box.replaceChildren(span("strong", plural(all, "place")), span("note", parts.join(", ") + (all > MOST_RESULTS ? ", the first 5\u202f000 listed" : "")), span("fill"),
            button("link", () => setQuery(""), "clear"), kbd("Esc"));
    } else if (at.view === "diff" && changes) {
        paintDiffCounts(box);
    } else {
        const count = meta.submissions.length;
        const counts = [plural(count, "submission"), ...countDraws()].join(", ");
        box.replaceChildren(span("strong", plural(P.n, "packet")), span("note", counts));
        if (meta.diff && isPhone())
            box.append(span("fill"), button("link", () => go({view: "diff"}), "Difference"));
        if (meta.why)
            box.append(span("tag bad", "! stopped"));
        box.title = meta.why || counts;
    }
}
function setQuery(text) {
    $("q").value = text;
    search(text);
}
function makeSearch() {
    let timer = 0;
    $("q").addEventListener("input", () => {
        clearTimeout(timer);
        timer = setTimeout(() => {
            search($("q").value);
            if ($("q").value && isPhone())
                showPane("tree");
        }, 120);
    });
    $("q").addEventListener("keydown", event => {
        if (event.key === "Escape") {
            setQuery("");
            $("q").blur();
        } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            preview(Math.max(0, chosen + (event.key === "ArrowDown" ? 1 : -1)));
        } else if (event.key === "Enter") {
            preview(Math.max(0, chosen));
            $("q").blur();
        }
    });
    resultList = new List($("results"), () => 44, fillResult);
    $("results").addEventListener("click", event => {
        const row = event.target.closest(".row");
        if (row) {
            preview(row.index);
            go({pane: "packet"});
        }
    });
}
