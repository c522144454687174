// Where the reader is: in the fragment of the address, so that it can be passed on.

const at = {packet: -1, row: -1, view: "packet", side: "path", draw: -1, q: "", pane: "tree", fresh: true, reveal: true};

// `change` on top of where we are. A row outside of the packet takes its packet along.
function moved(change) {
    const next = {...at, ...change};
    if (change.event === null)
        next.row = -1;
    if (change.packet !== undefined && change.row === undefined && change.packet !== at.packet)
        next.row = -1;
    if (next.row >= 0 && !belongs(next.row, next.packet) && next.view !== "state")
        next.packet = packetOfRow(next.row);
    if (change.packet === undefined && change.draw !== undefined && change.draw >= 0 && change.draw < draws.length)
        next.packet = draws[change.draw];
    if (change.packet !== undefined && change.draw === undefined)
        next.draw = drawIndex.has(next.packet) ? drawIndex.get(next.packet) : drawBeforePacket(next.packet);
    if (next.view === "state" && next.draw < 0 && draws.length)
        next.draw = 0;
    return next;
}
function belongs(row, p) {
    return p >= 0 && rangesOf(p).some(([from, end]) => row >= from && row < end);
}
// The draw that a packet belongs to, or the last one before it.
function drawBeforePacket(p) {
    return lastWhere(0, draws.length, i => P.time[draws[i]] <= P.time[p]);
}
// A draw by its number, and its processor if that is not the one that is meant; else by its packet.
function drawParts(p) {
    const c = processorOf(p), {number} = drawOf.get(p);
    return number < 0 ? ["packet=" + p] : c === meta.drawing ? ["draw=" + number] : ["draw=" + number, "processor=" + wordOf(c)];
}
const wordOf = c => meta.processors[c].name.toLowerCase().replace(" ", "-");
function drawFrom(number, word) {
    const c = word ? meta.processors.findIndex((_, i) => wordOf(i) === word) : meta.drawing;
    return number < 0 ? -1 : draws.findIndex(p => processorOf(p) === c && drawOf.get(p).number === number);
}
function fragmentOf(place) {
    const parts = [];
    if (place.view === "state" && place.draw >= 0)
        parts.push("view=state", ...drawParts(draws[place.draw]));
    else if (place.packet >= 0)
        parts.push("packet=" + place.packet);
    if (place.view === "diff")
        parts.push("view=diff");
    const first = place.view === "state" && place.draw >= 0 ? draws[place.draw] : place.packet;
    if (place.row >= 0 && first >= 0 && place.row >= P.first[first])
        parts.push("event=" + (place.row - P.first[first]));
    if (place.side !== "path")
        parts.push("side=" + place.side);
    if (place.q.trim())
        parts.push("q=" + encodeURIComponent(place.q));
    return "#" + parts.join("&");
}
const fragment = change => fragmentOf(moved(change));
function keepPlace() {
    history.replaceState(null, "", fragmentOf(at));
}

// What is unknown or out of range is ignored.
function placeFrom(text) {
    const place = {view: "packet", side: "path", row: -1};
    const raw = {};
    for (const part of text.replace(/^#/, "").split("&")) {
        const [key, value = ""] = part.split("=");
        raw[key] = value;
    }
    const number = key => /^\d{1,9}$/.test(raw[key] || "") ? Number(raw[key]) : -1;
    const draw = drawFrom(number("draw"), raw.processor), packet = number("packet"), event = number("event");
    if (["state", "diff"].includes(raw.view) && (raw.view !== "diff" || meta.diff))
        place.view = raw.view;
    if (["steps", "why"].includes(raw.side))
        place.side = raw.side;
    if (packet >= 0 && packet < P.n)
        place.packet = packet;
    if (draw >= 0) {
        place.draw = draw;
        place.packet = draws[draw];
    }
    const first = place.packet === undefined ? at.packet : place.packet;
    if (event >= 0 && first >= 0 && P.first[first] + event < E.n && isEffect(E.kind[P.first[first] + event]))
        place.row = P.first[first] + event;
    try {
        place.q = decodeURIComponent(raw.q || "");
    } catch {
        place.q = "";
    }
    return place;
}

const PANES = ["tree", "packet", "code", "state"];
function showPane(pane) {
    at.pane = pane;
    document.body.dataset.pane = pane;
    for (const name of PANES)
        $("pane-" + name).setAttribute("aria-selected", String(name === pane));
    tree.later();
    resultList.later();
}
async function go(change) {
    const before = {...at};
    if (change.view === "diff")
        await readChanges();
    Object.assign(at, moved(change), {fresh: false, reveal: true});
    at.fresh = at.packet !== before.packet || at.view !== before.view || at.draw !== before.draw;
    if (at.view !== before.view && change.view !== undefined)
        enterView(before.view);
    if (at.view !== "state")
        stateWhy = false;
    const pane = change.pane === "packet" && at.view === "state" ? "state" : change.pane;
    if (pane || change.view)
        showPane(pane || (at.view === "state" ? "state" : at.pane === "tree" ? "packet" : at.pane === "state" ? "packet" : at.pane));
    paintAll();
    keepPlace();
    if (at.packet !== before.packet && at.packet >= 0)
        say(packetName(at.packet) + ", packet " + at.packet + ", " + plural(P.writes[at.packet], "write"));
}
function enterView(from) {
    document.body.dataset.view = at.view;
    for (const name of ["packet", "state", "diff"])
        $("tab-" + name).setAttribute("aria-selected", String(name === at.view));
    if (at.view === "diff" && !diffAll)
        filterTree(p => changes.of.has(p));
    else if (from === "diff")
        filterTree(null);
    paintCounts();
}
function paintAll() {
    $("packet").hidden = at.view !== "packet";
    $("state").hidden = at.view !== "state";
    $("diff").hidden = at.view !== "diff";
    document.body.classList.toggle("state-why", at.view === "state" && stateWhy && at.row >= 0);
    if (at.view === "state")
        paintState();
    else if (at.view === "diff")
        paintDiff();
    if (at.view !== "diff" && (at.view === "packet" || stateWhy || isPhone()))
        paintCode();
    if (at.view === "packet" || isPhone())
        paintPacket();
    if (!at.q.trim())
        showInTree(at.fresh && !rowOnScreen());
    else
        resultList.later();
    showInTimeline();
    paintFoot();
}
function rowOnScreen() {
    const row = rowOf.get(nodeOf[at.packet]);
    const height = tree.height(), top = $("tree").scrollTop;
    return row !== undefined && row * height >= top - height && row * height <= top + $("tree").clientHeight;
}
function paintFoot() {
    $("where").textContent = at.packet >= 0 ? pathOf(at.packet).join(" › ") : "";
    $("where").title = $("where").textContent;
}
async function copyLink() {
    keepPlace();
    try {
        await navigator.clipboard.writeText(location.href);
        say("link copied");
    } catch {
        prompt("The link to this place:", location.href);
    }
}
