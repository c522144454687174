// The packet: head, payload, what it did.

const MOST_EFFECTS = 400, MOST_WORDS = 200;
let showsControl = false;

const isEffect = kind => isWrite(kind) || kind === REGR || kind === MEMR || kind === PROT || kind === IRQ || kind === ASSUME ||
    kind === UNMODELLED || kind === CTRL;

const effectsOf = p => rowsOf(p, i => isEffect(E.kind[i]));
function effectName(row) {
    const kind = E.kind[row];
    if (kind === MEMW || kind === MEMR)
        return hex(addressOfRow(row));
    if (kind === ASSUME)
        return meta.assumed[E.sub[row]] + " " + (keyName(E.addr[row]) || hex(addressOfRow(row)));
    if (kind === UNMODELLED)
        return meta.places[E.sub[row]] + " " + hex(addressOfRow(row));
    if (kind === IRQ)
        return String(E.value[row]);
    return keyName(nameKey(kind, E.addr[row], processorOfRow(row))) || hex(E.addr[row] & 0x3ffff, 4);
}
const PREFIX = {[REGR]: "read", [PIPE]: "pipe", [CTRL]: "control", [MEMW]: "memory", [MEMR]: "read", [PROT]: "forbidden", [IRQ]: "interrupt",
    [ASSUME]: "assumed", [UNMODELLED]: "not modelled"};
const hasRegister = kind => kind === REG || kind === PIPE || kind === CTRL || kind === REGR || kind === PROT;
function effectFields(row) {
    return hasRegister(E.kind[row]) ? registerFields(nameKey(E.kind[row], E.addr[row], processorOfRow(row)), E.value[row]) : [];
}
function pathText(row) {
    const kind = E.kind[row];
    if (kind === REG)
        return ({data: "privileged", user: "checked", ctrl: "control"})[meta.paths[E.sub[row]]] || meta.paths[E.sub[row]];
    return kind === MEMW || kind === MEMR ? meta.vias[E.sub[row]] : PREFIX[kind] || "";
}

// Details of the selected row.
function effectDetail(row) {
    const value = E.value[row], fields = effectFields(row);
    const key = nameKey(E.kind[row], E.addr[row], processorOfRow(row));
    const whole = hasRegister(E.kind[row]) ? wholeText(key, value) : "";
    const canAsk = isWrite(E.kind[row]) || E.kind[row] === CTRL;
    return div("detail", fields.length ? bitStrip(fields, value) : null, fields.length ? fieldTable(fields) : null,
        div("actions", canAsk ? button("action", () => go({side: "why", pane: "code"}), "Why this value ", kbd("w")) : null,
            span("fact", "path ", span("val", pathText(row))), span("fact", "decimal ", span("val", thousands(value))),
            whole ? span("fact", "is ", span("val", whole)) : null));
}

function effectRow(row, number) {
    const kind = E.kind[row], isHere = at.row === row;
    const key = hasRegister(kind) ? nameKey(kind, E.addr[row], processorOfRow(row)) : 0;
    const whole = hasRegister(kind) ? wholeText(key, E.value[row]) : "";
    const place = hasRegister(kind) && keyName(key) ? span("at", hex(E.addr[row] & 0x3ffff, 4)) : null;
    const line = role(link(fragment({row}), "line effect" + (isHere ? " here" : "") + (kind === ASSUME ? " amb" : kind === PROT ? " bad" : ""),
        role(span("num", String(number)), "cell"),
        role(span("what", span("id", PREFIX[kind] && kind !== REG ? span("sort", PREFIX[kind] + " ") : "", effectName(row), place ? " " : "", place),
            ...fieldLine(effectFields(row)), whole ? span("field", span("val", whole)) : "",
            kind === MEMW || kind === MEMR ? bufferField(addressOfRow(row), packetOfRow(row)) : addressOfPair(row, packetOfRow(row))), "cell"),
        role(span("value", kind === IRQ ? "" : hex(E.value[row], 8)), "cell"), role(span("pc", bare(E.pc[row], 4)), "cell")), "row");
    line.addEventListener("click", event => {
        event.preventDefault();
        go(isHere ? {event: null} : {row});
    });
    return isHere ? [line, effectDetail(row)] : [line];
}

// Writes in their order; those beyond the limit are counted.
function effectList(rows, from) {
    const list = role(div("lines"), "table", {"aria-label": "what the packet did"});
    const start = Math.max(0, Math.min(rows.indexOf(at.row) - MOST_EFFECTS / 2, rows.length - MOST_EFFECTS));
    if (start > 0)
        list.append(div("note", plural(start, "effect") + " before these"));
    rows.slice(start, start + MOST_EFFECTS).forEach((row, i) => list.append(...effectRow(row, from + start + i)));
    if (rows.length > start + MOST_EFFECTS)
        list.append(div("note", plural(rows.length - start - MOST_EFFECTS, "more effect")));
    return list;
}

function heading(title, note, ...more) {
    return div("head2", h("h2", "", title), span("note", note), ...more);
}

function didSection(p, title, note) {
    const all = effectsOf(p), shown = showsControl ? all : all.filter(i => E.kind[i] !== CTRL || i === at.row);
    const control = all.filter(i => E.kind[i] === CTRL).length;
    const toggleControl = control ? button("link", () => {
        showsControl = !showsControl;
        paintPacket();
    }, (showsControl ? "hide " : "show ") + plural(control, "control-register write")) : null;
    const parts = [heading(title, note, toggleControl)];
    parts.push(shown.length ? effectList(shown, 1) : div("empty", "Nothing outside the processor."));
    return parts;
}

// ---- payload ----

function groupRows(p) {
    const w = words(p), rows = [];
    const flags = [[16, "dirty"], [17, "disable"], [18, "disable all"], [19, "immediate"], [20, "binning"], [21, "GMEM"], [22, "system memory"]];
    for (let i = 0; i + 2 < w.length; i += 3) {
        const said = flags.filter(([bit]) => w[i] >> bit & 1).map(f => f[1]).join(", ");
        rows.push([i, [span("field group", span("key", "group "), span("val", String(w[i] >> 24 & 31))),
            span("field size", span("val", plural(w[i] & 0xffff, "dword"))), said ? span("field", span("key", said)) : "",
            bufferField(w[i + 1] + w[i + 2] * 0x100000000, p)],
            hex(w[i + 1] + w[i + 2] * 0x100000000)]);
    }
    return rows;
}
function wordRows(p) {
    const w = words(p), byWord = new Map();
    for (const value of payloadValues(p)) {
        if (!byWord.has(value.number))
            byWord.set(value.number, []);
        byWord.get(value.number).push(value);
    }
    const rows = [];
    for (let i = 0; i < w.length && rows.length < MOST_WORDS; i++) {
        const values = byWord.get(i) || [];
        const isPair = values.some(v => v.high > 31) && i + 1 < w.length;
        const said = values.length === 1 && values[0].whole ? [span("field", span("key", values[0].name), " ", span("val", values[0].text))]
            : fieldLine(values);
        rows.push([i, [...said, ...values.filter(v => v.isAddress).map(v => bufferField(v.bits, p))], isPair ? hex(w[i] + w[i + 1] * 0x100000000) : hex(w[i], 8)]);
        i += isPair;
    }
    return rows;
}
function payloadSection(p) {
    const w = words(p);
    if (type(p) === 4)
        return []; // its writes say it
    if (!w.length) {
        const why = P.level[p] === RING ? "The ring of the emulator: its words are not in the capture."
            : P.level[p] === INTERNAL ? "Made by the hardware." : dwords(p) ? "The stream that holds it was not captured." : "It has none.";
        return dwords(p) || P.level[p] === INTERNAL ? [heading("Payload", plural(dwords(p), "dword")), div("empty", why)] : [];
    }
    const rows = opcode(p) === OP_SET_DRAW_STATE ? groupRows(p) : wordRows(p);
    const list = role(div("lines"), "table", {"aria-label": "payload"});
    for (const [number, fields, value] of rows.slice(0, MOST_WORDS))
        list.append(role(div("line", role(span("num", String(number)), "cell"), role(span("what", ...fields), "cell"),
            role(span("value", value), "cell")), "row"));
    const said = rows.length ? rows[rows.length - 1][0] + 1 : 0;
    if (w.length > said + 2)
        list.append(div("note", plural(w.length - said, "more word")));
    return [heading("Payload", plural(w.length, "dword")), list];
}

// ---- the whole ----

const LEVELS = ["ring", "IB1", "IB2", "IB3", "SDS", "internal"];

function fact(key, value) {
    return span("fact", key ? key + " " : "", span("val", value));
}
function packetHead(p) {
    return [div("head1", h("h1", "", packetName(p)), isDraw(p) ? span("tag draw " + drawOf.get(p).kind, drawName(p)) : null,
        P.assumed[p] || continuationOf(p) >= 0 && P.assumed[continuationOf(p)] ? span("tag amb", "≈ assumed") : null,
        P.bad[p] ? span("tag bad", "! forbidden") : null,
        changes && changes.of.has(p) ? link(fragment({view: "diff"}), "tag chg", "≠ " + plural(changes.of.get(p)[1], "difference")) : null,
        span("buttons", draws.length ? button("action", () => go({view: "state"}), "State ", kbd("s")) : null,
            button("action", copyLink, "Link ", kbd("y")))),
    div("facts", span("fact", "type " + type(p) + ", " + (LEVELS[P.level[p]] || "?")), fact("packet", String(p)), fact("at", hex(address(p))),
        fact("header", hex(P.header[p], 8)), fact("time", thousands(P.time[p])))];
}
function paintPacket() {
    const box = $("packet"), p = at.packet;
    if (p < 0) {
        box.replaceChildren(div("empty", "No packet ran." + (meta.why ? " " + meta.why : "")));
        return;
    }
    const next = continuationOf(p), steps = meta.steps ? ", " + plural(stepsOf(p).length, "instruction") : "";
    const parts = [...packetHead(p), ...payloadSection(p), ...didSection(p, "What it did", plural(P.writes[p], "write") + steps)];
    if (next >= 0) {
        const rows = effectsOf(next).filter(i => E.kind[i] !== CTRL || showsControl || i === at.row);
        parts.push(heading("After its " + plural(countBelow(nodeOf[p], GROUP), "draw-state group"), ""));
        parts[parts.length - 1].lastChild.append("recorded in ", link(fragment({packet: next, event: null}), "", "packet " + next), ", IN_IB_END");
        parts.push(effectList(rows, 1));
    }
    box.replaceChildren(...parts);
    const here = box.querySelector(".effect.here");
    if (here && at.reveal)
        here.scrollIntoView({block: "nearest"});
}

// Rows of effects that `j` and `k` go through.
function shownEffects() {
    const next = continuationOf(at.packet);
    return [at.packet, next].filter(p => p >= 0).flatMap(effectsOf).filter(i => isWrite(E.kind[i]) || showsControl && E.kind[i] === CTRL);
}
