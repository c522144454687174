// State of the registers at the end of a draw: a loop over the writes of its processor up to there.

const BLOCKS = {RB: "Render backend", PC: "Primitive control", GRAS: "Rasterizer", CP: "Command processor", HLSQ: "Shader sequencer",
    SP: "Shader processor", VFD: "Vertex fetch", VPC: "Varyings", TPL1: "Texture", UCHE: "Cache", VSC: "Visibility streams", RBBM: "Bus",
    VBIF: "Memory bus", GBIF: "Memory bus", A2D: "2D", TEX: "Texture"};
let showsAll = false, stateItems = [], stateList = null, stateWhy = false;

// The last write to each register up to a row.
function writtenUntil(processor, end) {
    const last = new Map();
    for (let i = meta.processors[processor].rows[0]; i < end; i++)
        if (E.kind[i] === REG)
            last.set(E.addr[i], i);
    return last;
}
function drawEnd(draw) {
    return packetEnd(drawOf.get(draws[draw]).last);
}
function drawBefore(draw) {
    for (let i = draw - 1; i >= 0; i--)
        if (processorOf(draws[i]) === processorOf(draws[draw]))
            return i;
    return -1;
}

// Rows of registers, sorted: {addr, row, before, how}.
function stateOf(draw) {
    const processor = processorOf(draws[draw]), before = drawBefore(draw);
    const now = writtenUntil(processor, drawEnd(draw));
    const then = before >= 0 ? writtenUntil(processor, drawEnd(before)) : new Map();
    return [...now].sort((a, b) => a[0] - b[0]).map(([addr, row]) => {
        const old = then.get(addr);
        const how = old === undefined ? "+" : E.value[old] !== E.value[row] ? "≠" : old !== row ? "written, same" : "";
        return {addr, row, before: old, how, upper: now.get(addr + 1)};
    });
}
const isChange = item => item.how === "≠" || item.how === "+";
function blockOf(addr) {
    const prefix = /^([A-Z0-9]+?)_/.exec(keyName(addr & 0x3ffff));
    return prefix && (BLOCKS[prefix[1]]) ? prefix[1] : "other";
}

function stateBlocks(rows) {
    const blocks = new Map();
    for (const item of rows) {
        const name = blockOf(item.addr);
        if (!blocks.has(name))
            blocks.set(name, {name, items: [], changed: 0});
        blocks.get(name).items.push(item);
        blocks.get(name).changed += isChange(item);
    }
    return [...blocks.values()].sort((a, b) => (a.name === "other") - (b.name === "other") || b.changed - a.changed || (a.name < b.name ? -1 : 1));
}

function stateRow(item, draw) {
    const {row, before, how} = item, key = item.addr & 0x3ffff, value = E.value[row];
    const pipe = item.addr > 0x3ffff ? " bank " + (item.addr >>> 18) : "";
    const difference = before === undefined ? 0 : (E.value[before] ^ value) >>> 0;
    const changed = isChange(item);
    const a = link(fragment({view: "state", draw, row}), "over");
    a.setAttribute("aria-label", "why " + registerName(key));
    a.addEventListener("click", event => {
        event.preventDefault();
        stateWhy = true;
        go({view: "state", draw, row, side: "why", pane: "state"});
    });
    const packet = packetOfRow(row), whole = wholeText(key, value);
    return role(div("srow" + (changed ? " changed" : "") + (at.row === row ? " here" : ""), a, role(span("how", changed ? how : ""), "cell"),
        role(span("reg", registerName(key), keyName(key) ? span("at", " " + hex(key, 4) + pipe) : pipe), "cell"),
        role(span("value", hex(value, 8)), "cell"), role(span("before", before === undefined ? "not written" : how === "≠" ? hex(E.value[before], 8) : how === "" ? "same" : how), "cell"),
        role(span("fields", ...fieldLine(registerFields(key, value), difference), whole ? span("field", span("val", whole)) : "",
            item.upper !== undefined && isLowerHalf(key) ? addressField(value, E.value[item.upper], draws[draw]) : ""), "cell"),
        role(span("by", packet >= 0 ? link(fragment({view: "packet", packet, row}), "", String(packet)) : "boot"), "cell")), "row");
}

function stateHead(draw, rows) {
    const p = draws[draw], changed = rows.filter(isChange).length;
    const choose = (all, text) => segment(showsAll === all, () => {
        showsAll = all;
        paintState();
    }, text);
    const move = (to, text, key) => {
        const b = moveButton(to >= 0 && to < draws.length, {view: "state", draw: to}, text, key);
        b.setAttribute("aria-label", text === "‹ " ? "previous draw" : "next draw");
        return b;
    };
    return div("state-head", div("head1", h("h2", "", "State at " + drawName(p)),
        span("note mono", packetName(p) + " · packet " + p + " · " + summaryOf(p)), span("buttons", choose(false, "Changed " + changed), choose(true, "All " + rows.length),
            move(draw - 1, "‹ ", "["), move(draw + 1, "› ", "]"))));
}
function paintState() {
    const box = $("state");
    if (!draws.length) {
        box.replaceChildren(div("empty", "No draw ran."));
        return;
    }
    const draw = Math.max(0, Math.min(at.draw < 0 ? 0 : at.draw, draws.length - 1)), rows = stateOf(draw), blocks = stateBlocks(rows);
    const before = drawBefore(draw), chips = div("chips");
    const body = role(div("state-body"), "table", {"aria-label": "registers"});
    const title = (name, text) => role(span(name, text), "columnheader");
    body.append(role(div("srow titles", title("how", ""), title("reg", "register"), title("value", "value"),
        title("before", before >= 0 ? "at " + drawName(draws[before]) : "before"), title("fields", "fields"), title("by", "written by")), "row"));
    for (const block of blocks) {
        const items = showsAll ? block.items : block.items.filter(isChange);
        if (!items.length)
            continue;
        const head = div("block", h("h3", "", block.name === "other" ? "Other" : block.name), span("note", (BLOCKS[block.name] ? BLOCKS[block.name] + "  " : "") + block.changed + " of " + block.items.length + " changed"));
        chips.append(button("chip", () => head.scrollIntoView({block: "start"}), block.name + " ", span("chg", String(block.changed))));
        body.append(head, ...items.map(item => stateRow(item, draw)));
    }
    if (!body.querySelector(".block"))
        body.append(div("empty", "No register changed since the previous draw."));
    const head = stateHead(draw, rows);
    head.append(chips);
    const top = box.scrollTop;
    box.replaceChildren(head, body);
    box.scrollTop = at.fresh ? 0 : top;
    document.body.classList.toggle("state-why", stateWhy && at.row >= 0);
}
