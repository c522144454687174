// Where a value comes from: backwards over the steps, from the write to a word of the payload, a constant, or
// whatever else the firmware took it from.

const MOST_STEPS = 24;

// The step that an effect belongs to follows it.
function stepOf(row) {
    const end = meta.processors[processorOfRow(row)].rows[1];
    for (let i = row; meta.steps && i < end; i++)
        if (E.kind[i] === STEP)
            return E.pc[i] === E.pc[row] ? i : -1;
    return -1;
}
// The last row of a kind before another one that passes a test; -1: none.
function rowBefore(row, test) {
    const start = meta.processors[processorOfRow(row)].rows[0];
    for (let i = row - 1; i >= start; i--)
        if (test(i))
            return i;
    return -1;
}
// The last value that a register got before a row.
function registerBefore(reg, row) {
    const set = rowBefore(row, i => (E.kind[i] === STEP || E.kind[i] === STEPX) && E.addr[i] === reg);
    return set < 0 ? 0 : E.value[set];
}
// The last step before a row whose instruction has the register for its destination. A step only says what
// changed: the same value again is a definition, too.
function definitionOf(reg, row) {
    const processor = processorOfRow(row), start = meta.processors[processor].rows[0];
    for (let i = row - 1; i >= start; i--) {
        if (E.kind[i] === STEPX && E.addr[i] === reg || E.kind[i] === STEP && E.addr[i] === reg) {
            while (E.kind[i] === STEPX)
                i--;
            return i;
        }
        if (E.kind[i] !== STEP)
            continue;
        const insn = insnAt(processor, E.pc[i]);
        if (insn && insn.dst === reg)
            return i;
    }
    return -1;
}
const stepEnd = step => {
    let i = step + 1;
    while (i < E.n && E.kind[i] === STEPX)
        i++;
    return i;
};
// What an instruction left in a register.
function valueAfter(reg, step) {
    return registerBefore(reg, stepEnd(step));
}

// Effects of the same instruction before one: which of a repeated move it is.
function ordinalOf(row) {
    let ordinal = 0;
    for (let i = row - 1; i >= 0 && E.kind[i] !== STEP && E.kind[i] !== STEPX; i--)
        ordinal += E.kind[i] === E.kind[row] && E.pc[i] === E.pc[row];
    return ordinal;
}

// An end: the word that a step took from the stream.
function payloadEnd(step, ordinal, value) {
    const p = packetOfRow(step);
    if (p < 0)
        return {title: "Word of the stream", value};
    const left = registerBefore(REM, step), w = words(p);
    const number = dwords(p) - left + ordinal;
    if (number < 0 || number >= w.length)
        return {title: number === -1 ? "Header of the packet" : "Word of the stream", value, packet: p};
    return {title: "Word " + number + " of the payload", value: w[number], packet: p, word: number, kind: "payload"};
}
// An end: what a step read from memory, or from a register.
function readEnd(kind, step, value) {
    const isMemory = kind === MEMR, title = isMemory ? "Word of memory" : "Register that was read";
    const read = rowBefore(step, i => E.kind[i] === kind && (value === null || E.value[i] === value));
    const note = read < 0 ? "" : isMemory ? "at " + hex(addressOfRow(read)) : registerName(E.addr[read] & 0x3ffff);
    return read < 0 ? {title, value} : {title, value: E.value[read], note, kind: isMemory ? "memory" : "register"};
}

// The source of an instruction's value: {end}, or {reg} to go on with, and another input.
function inputOf(insn, step, ordinal, value) {
    const regs = [insn.src1, insn.src2].filter(r => r > 0);
    if (regs.includes(DATA)) {
        const first = insn.xmov && insn.dst !== DATA && insn.dst >= REM ? ordinal * 2 + 1 : ordinal;
        return {end: payloadEnd(step, first, value)};
    }
    if (regs.includes(MEMDATA))
        return {end: readEnd(MEMR, step, regs.length === 1 ? value : null)};
    if (regs.includes(REGDATA))
        return {end: readEnd(REGR, step, regs.length === 1 ? value : null)};
    if (!regs.length)
        return {end: {title: "Constant of the firmware", value, kind: "constant"}};
    const read = regs.map(reg => ({reg, value: registerBefore(reg, step)}));
    const [a, b] = read;
    const isSwapped = b && a.value !== value && (b.value === value || !a.value && b.value);
    return isSwapped ? {...b, other: a} : {...a, other: b && b.reg !== a.reg ? b : null};
}

// The write to a control register that a read got its value from.
function controlBefore(number, step, value) {
    const row = rowBefore(step, i => E.kind[i] === CTRL && E.addr[i] === number);
    return row >= 0 && E.value[row] === value ? row : -1;
}

// An item of the chain for the instruction of a step.
function itemOf(step, insn, value) {
    return {step, insn, value, packet: packetOfRow(step)};
}

// Follows a register that a step reads, up to its end or the most items.
function followRegister(chain, reg, step, most) {
    let ordinal = 0;
    for (;;) {
        const definition = definitionOf(reg, step), processor = processorOfRow(step);
        const insn = definition >= 0 && insnAt(processor, E.pc[definition]);
        if (!insn)
            return {title: reg === REM ? "Words left of the packet" : "Before the first step", value: registerBefore(reg, step)};
        if (chain.length >= most)
            return {title: "Cut after " + thousands(chain.length) + " steps", cut: {reg, step}, kind: "cut"};
        const value = valueAfter(reg, definition), item = itemOf(definition, insn, value);
        chain.push(item);
        const next = sourceOf(item, insn, definition, ordinal, value, chain);
        if (next.end)
            return next.end;
        [reg, step, ordinal] = [next.reg, next.step, 0];
    }
}

// One step back: through control registers, too.
function sourceOf(item, insn, step, ordinal, value, chain) {
    if (insn.sort === "i")
        return {end: {title: "Constant of the firmware", value, kind: "constant"}};
    if (insn.sort === "l")
        return {end: readEnd(MEMR, step, value)};
    if (insn.sort === "R")
        return {end: {title: "SQE register that was read", value, note: hex(insn.base, 4), kind: "register"}};
    if (insn.sort === "r")
        return throughControl(item, insn, step, value, chain);
    const input = inputOf(insn, step, ordinal, value);
    if (!input.end) {
        item.took = input;
        item.other = input.other;
        return {reg: input.reg, step};
    }
    return input;
}
function throughControl(item, insn, step, value, chain) {
    const number = insn.base + (insn.src1 > 0 ? registerBefore(insn.src1, step) : 0) & 0xfff;
    const written = controlBefore(number, step, value);
    item.note = "control register " + hex(number, 4) + (written >= 0 ? ", written before" : "");
    const writer = written >= 0 ? stepOf(written) : -1;
    const by = writer >= 0 && insnAt(processorOfRow(step), E.pc[writer]);
    if (!by)
        return {end: {title: "Control register that hardware set", value, note: keyName(nameKey(CTRL, number, processorOfRow(step))) || hex(number, 4), kind: "hardware"}};
    const next = itemOf(writer, by, E.value[written]);
    chain.push(next);
    return writtenBy(next, by, writer, written);
}
// What the instruction of a write took for its value.
function writtenBy(item, insn, step, row) {
    if (insn.sort === "w" || insn.sort === "s" || insn.sort === "W") {
        const reg = insn.src2;
        if (reg === DATA)
            return {end: payloadEnd(step, ordinalOf(row), E.value[row])};
        if (reg === MEMDATA)
            return {end: readEnd(MEMR, step, E.value[row])};
        if (reg === REGDATA)
            return {end: readEnd(REGR, step, E.value[row])};
        if (reg <= 0)
            return {end: {title: "Constant of the firmware", value: E.value[row], kind: "constant"}};
        item.took = {reg, value: registerBefore(reg, step)};
        return {reg, step};
    }
    return sourceOf(item, insn, step, ordinalOf(row), E.value[row], []);
}

// The chain that ends in a write: {items, end}.
function whyOf(row, most) {
    const step = stepOf(row), processor = processorOfRow(row);
    const insn = step >= 0 && insnAt(processor, E.pc[row]);
    if (!insn || !meta.code)
        return {items: [], end: {title: meta.code ? "The page has no steps" : "The page has no code", value: E.value[row]}};
    const items = [itemOf(step, insn, E.value[row])];
    const next = writtenBy(items[0], insn, step, row);
    const end = next.end || followRegister(items, next.reg, next.step, most);
    return {items, end};
}

// ---- painted ----

let whyMost = MOST_STEPS, whyRow = -1, whyOther = null;

function tookText(item) {
    const parts = [];
    if (item.took)
        parts.push("took $" + bare(item.took.reg, 2) + " = " + hex(item.took.value));
    if (item.note)
        parts.push(item.note);
    return parts.join(" · ");
}
function whyItem(item, processor) {
    const note = span("took", tookText(item));
    if (item.other) {
        const {reg, value} = item.other;
        note.append(item.took || item.note ? " · " : "", button("link", () => {
            whyOther = {reg, step: item.step};
            paintCode();
        }, "follow $" + bare(reg, 2) + " = " + hex(value)));
    }
    if (item.packet >= 0 && item.packet !== packetOfRow(whyRow))
        note.append(note.textContent ? " · " : "", "in ", item.packet === at.packet ? "packet " + item.packet : link(fragment({packet: item.packet, event: null}), "", "packet " + item.packet));
    return div("why-item", div("why-head", span("place", placeOf(processor, item.insn.pc)), span("value", hex(item.value, 8))),
        div("why-code", span("pc", bare(item.insn.pc, 4)), " ", item.insn.text), div("why-note", note));
}
function wordsBox(end) {
    const p = end.packet, w = words(p);
    const values = payloadValues(p).filter(v => v.number === end.word);
    const from = Math.max(0, Math.min(end.word - 8, w.length - 24));
    const list = span("words", span("", bare(P.header[p], 8)), from ? " …" : "");
    for (let i = from; i < Math.min(w.length, from + 24); i++)
        list.append(" ", span(i === end.word ? "marked" : "", bare(w[i], 8)));
    if (w.length > from + 24)
        list.append(" …");
    return div("word-box", link(fragment({packet: p, event: null}), "id", packetName(p)), ...fieldLine(values.map(v => ({...v, bits: v.bits || 1}))),
        list, div("note", "at " + hex(address(p) + 4 * (end.word + 1)) + ", packet " + p));
}
function whyEnd(end) {
    const more = end.kind === "cut" ? button("link", () => {
        whyMost += MOST_STEPS;
        paintCode();
    }, "go on") : null;
    return div("why-item end", div("why-head", span("title", end.title), span("value", end.value === undefined || end.value === null ? "" : hex(end.value, 8))),
        end.note ? div("why-note", end.note) : null, more, end.word !== undefined ? wordsBox(end) : null);
}
function paintWhy(box) {
    if (at.row < 0) {
        box.replaceChildren(div("empty", "Choose a write to see where its value comes from."));
        return;
    }
    if (whyRow !== at.row)
        [whyRow, whyMost, whyOther] = [at.row, MOST_STEPS, null];
    const row = at.row, processor = processorOfRow(row), key = nameKey(E.kind[row], E.addr[row], processor);
    const what = E.kind[row] === MEMW ? "memory" : E.kind[row] === PIPE ? "pipe register " + hex(E.addr[row] & 0xff) : E.kind[row] === CTRL ? "control register " + hex(E.addr[row] & 0xfff)
        : "GPU register " + hex(E.addr[row] & 0x3ffff) + ", " + pathText(row) + " path";
    const top = div("why-item first", div("why-head", span("title mono", effectName(row)), span("value", hex(E.value[row], 8))),
        ...fieldLine(hasRegister(E.kind[row]) ? registerFields(key, E.value[row]) : []), div("why-note", what + " · ", link(fragment({packet: packetOfRow(row), row}), "", "packet " + packetOfRow(row))));
    let {items, end} = whyOther ? {items: [], end: null} : whyOf(row, whyMost);
    const back = [];
    if (whyOther) {
        end = followRegister(items, whyOther.reg, whyOther.step, whyMost);
        back.push(button("link back", () => {
            whyOther = null;
            paintCode();
        }, "back to the first input"));
    }
    box.replaceChildren(div("why", top, ...back, ...items.map(item => whyItem(item, processor)), whyEnd(end)));
    box.scrollTop = 0;
    say(effectName(row) + ": " + end.title);
}
