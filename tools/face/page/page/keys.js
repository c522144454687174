// Keys: none with Ctrl, Alt or Meta; none while a field has the focus.

const KEYS = [
    [["ArrowDown"], "↓", "next packet", () => goBeside(1)],
    [["ArrowUp"], "↑", "previous packet", () => goBeside(-1)],
    [["ArrowRight"], "→", "open", () => openHere(true)],
    [["ArrowLeft"], "←", "close, or the parent", () => openHere(false)],
    [["PageDown"], "PgDn", "a page of packets down", () => goBy(15)],
    [["PageUp"], "PgUp", "a page of packets up", () => goBy(-15)],
    [["Home"], "Home", "first packet", () => goBy(-Infinity)],
    [["End"], "End", "last packet", () => goBy(Infinity)],
    [["j"], "j", "next write", () => goWrite(1)],
    [["k"], "k", "previous write", () => goWrite(-1)],
    [["w"], "w", "why this value", askWhy],
    [["]"], "]", "next draw, dispatch, blit or resolve", () => goDraw(1)],
    [["["], "[", "previous one", () => goDraw(-1)],
    [["s"], "s", "state, and back", () => go({view: at.view === "state" ? "packet" : "state"})],
    [["d"], "d", "difference, and back", () => meta.diff && go({view: at.view === "diff" ? "packet" : "diff"})],
    [["n"], "n", "next difference", () => goDiffer(1)],
    [["p"], "p", "previous difference", () => goDiffer(-1)],
    [["v"], "v", "path or steps", () => go({side: at.side === "path" ? "steps" : "path", pane: "code"})],
    [["/"], "/", "search", () => $("q").focus()],
    [["g"], "g", "go to a packet by its number", () => {
        $("q").focus();
        $("q").value = "#";
    }],
    [["y"], "y", "copy the link", () => copyLink()],
    [["+", "="], "+", "zoom in", () => zoom(0.5, middleTime())],
    [["-"], "−", "zoom out", () => zoom(2, middleTime())],
    [["0"], "0", "the whole time", () => wholeTimeline()],
    [["t"], "t", "light, dark, as the system", () => nextTheme()],
    [["Escape"], "Esc", "one level back", () => back()],
    [["?"], "?", "these keys", () => showHelp()],
];

function goBeside(step) {
    if (at.q.trim()) {
        preview(chosen + step);
        return;
    }
    const p = packetBeside(step);
    if (p >= 0)
        go({packet: p, event: null});
}
function goBy(step) {
    const last = visible.length - 1, from = rowOf.get(nodeOf[at.packet]) || 0;
    const target = Math.max(0, Math.min(last, from + step)), way = step > 0 ? -1 : 1;
    for (let i = target; i >= 0 && i <= last; i += way)
        if (T.type[visible[i]] === PACKET) {
            go({packet: T.ref[visible[i]], event: null});
            return;
        }
}
function openHere(isOpen) {
    const node = nodeOf[at.packet];
    if (node < 0)
        return;
    const hasBelow = T.end[node] > node + 1;
    if (hasBelow && !!T.open[node] !== isOpen) {
        toggle(node);
        return;
    }
    if (isOpen)
        return;
    let parent = T.parent[node];
    while (parent >= 0 && T.type[parent] !== PACKET) {
        if (T.type[parent] === FOLD || T.type[parent] === GROUP)
            T.open[parent] = 0;
        parent = T.parent[parent];
    }
    if (parent >= 0)
        go({packet: T.ref[parent], event: null});
}
function goWrite(step) {
    const rows = shownEffects();
    if (!rows.length)
        return;
    const i = rows.indexOf(at.row);
    go({row: rows[i < 0 ? step > 0 ? 0 : rows.length - 1 : Math.max(0, Math.min(rows.length - 1, i + step))]});
}
function askWhy() {
    if (at.row < 0 && shownEffects().length)
        at.row = shownEffects()[0];
    if (at.view === "state")
        stateWhy = true;
    go({side: at.side === "why" ? "path" : "why", pane: "code", view: at.view === "diff" ? "packet" : at.view});
}
function goDraw(step) {
    if (!draws.length)
        return;
    const here = isDraw(at.packet) || at.view === "state" ? at.draw : step > 0 ? at.draw : at.draw + 1;
    const draw = Math.max(0, Math.min(draws.length - 1, here + step));
    go({draw, packet: draws[draw], event: null});
}
async function goDiffer(step) {
    if (!await readChanges())
        return;
    const p = differBeside(step);
    if (p >= 0)
        go({packet: p, event: null, view: "diff"});
}
const middleTime = () => at.packet >= 0 && P.time[at.packet] >= time.from && P.time[at.packet] <= time.to ? P.time[at.packet] : (time.from + time.to) / 2;

function back() {
    if ($("help").open)
        $("help").close();
    else if (at.q.trim())
        setQuery("");
    else if (at.side !== "path")
        go({side: "path"});
    else if (at.row >= 0)
        go({event: null});
    else if (at.view !== "packet")
        go({view: "packet"});
    else if (isPhone())
        showPane("tree");
}
function nextTheme() {
    const root = document.documentElement, order = {undefined: "light", light: "dark", dark: undefined};
    const next = order[root.dataset.theme];
    if (next)
        root.dataset.theme = next;
    else
        delete root.dataset.theme;
    say("theme: " + (next || "as the system"));
    paintTimeline();
}
function showHelp() {
    const list = $("key-list");
    if (!list.children.length)
        for (const [, key, text] of KEYS)
            list.append(div("", kbd(key), " " + text));
    if ($("help").open)
        $("help").close();
    else
        $("help").showModal();
}
function makeKeys() {
    document.addEventListener("keydown", event => {
        const focus = document.activeElement;
        if (event.ctrlKey || event.altKey || event.metaKey || focus && /^(INPUT|TEXTAREA|SELECT)$/.test(focus.tagName))
            return;
        if ($("help").open && event.key !== "?" && event.key !== "Escape")
            return;
        if (focus && focus.closest("#code, #middle > section") && /^(Page|Home|End)/.test(event.key))
            return; // they scroll what has the focus
        const key = KEYS.find(([keys]) => keys.includes(event.key));
        if (!key)
            return;
        event.preventDefault();
        key[3]();
    });
}
