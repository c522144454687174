// The firmware's side: the path that ran, or each step of it.

const GAP = 24, FEW = 2; // instructions that did not run: begin a new range; are shown

const stepsOf = p => rowsOf(p, i => E.kind[i] === STEP);
// Rows of a packet, and of its continuation after its groups.
function rangesOf(p) {
    return [p, continuationOf(p)].filter(q => q >= 0).map(q => [P.first[q], packetEnd(q)]);
}

// Instructions that ran: pc to [times, order of the first].
function ranOf(p) {
    const ran = new Map();
    let steps = 0;
    rangesOf(p).forEach(([from, end], part) => {
        let taken = part ? 2 : 0; // the header of what ends the last group is not the packet's own
        for (let i = from; i < end; i++) {
            if (E.kind[i] !== STEP || taken-- > 0)
                continue;
            steps++;
            const seen = ran.get(E.pc[i]);
            if (seen)
                seen[0]++;
            else
                ran.set(E.pc[i], [1, ran.size]);
        }
    });
    return {ran, steps};
}

// Ranges of code, split at functions and long gaps, in the order in which they were entered.
function codeRanges(ran, processor) {
    const ranges = [];
    let last = null;
    for (const pc of [...ran.keys()].sort((a, b) => a - b)) {
        const insn = insnAt(processor, pc), start = insn ? insn.start : -1;
        if (last && last.start === start && pc - last.to <= GAP)
            last.to = pc;
        else
            ranges.push(last = {from: pc, to: pc, start, order: Infinity});
        last.order = Math.min(last.order, ran.get(pc)[1]);
    }
    return ranges.sort((a, b) => a.order - b.order);
}

function codeRow(processor, pc, times, effect) {
    const insn = insnAt(processor, pc);
    const isHere = effect !== undefined && at.row >= 0 && E.pc[at.row] === pc && processorOfRow(at.row) === processor && effect.includes(at.row);
    const row = role(div("code" + (times ? " ran" : " skipped") + (isHere ? " here" : "")), "row");
    row.append(span("dot", effect ? "●" : ""), span("pc", bare(pc, 4)),
        span("text", insn ? insn.text || (meta.code ? "" : "not in the page: --no-code") : "", insn && insn.comment ? span("remark", "  " + insn.comment) : null),
        span("times", times > 1 ? "× " + thousands(times) : ""));
    if (effect) {
        const a = link(fragment({row: effect[0]}), "over");
        a.setAttribute("aria-label", "effect of " + bare(pc, 4));
        row.prepend(a);
    }
    return row;
}

function skippedRows(box, processor, from, to, few) {
    const rows = [];
    for (let pc = from; pc < to; pc++)
        rows.push(codeRow(processor, pc, 0));
    if (rows.length <= few) {
        box.append(...rows);
        return;
    }
    const fold = button("fold", () => fold.replaceWith(...rows), "⋯ " + plural(rows.length, "instruction") + " did not run");
    box.append(fold);
}

function paintPath(box, p) {
    const {ran, steps} = ranOf(p), processor = processorOf(p);
    const effects = new Map();
    for (const q of [p, continuationOf(p)])
        for (const i of q >= 0 ? effectsOf(q) : [])
            if (E.kind[i] !== CTRL)
                effects.set(E.pc[i], (effects.get(E.pc[i]) || []).concat(i));
    $("code-count").textContent = plural(steps, "step") + ", " + plural(ran.size, "instruction");
    const ranges = codeRanges(ran, processor);
    const out = [];
    for (const range of ranges) {
        let count = 0;
        const part = div("range");
        for (let pc = range.from, before = pc; pc <= range.to; pc++) {
            const seen = ran.get(pc);
            if (!seen)
                continue;
            skippedRows(part, processor, before, pc, FEW);
            part.append(codeRow(processor, pc, seen[0], effects.get(pc)));
            before = pc + 1;
            count++;
        }
        const isHeader = range.order === 0 && count === 2 && ranges.length > 1;
        out.push(h("h3", "func", span("id", placeOf(processor, range.from)), isHeader ? span("note", "takes the header") : ""), part);
    }
    if (!meta.steps)
        out.push(div("empty", "The page has no steps: record them with --events all, or narrow the run with -s N."));
    else if (!steps)
        out.push(div("empty", "No instruction ran for this packet."));
    box.replaceChildren(...out);
    const here = box.querySelector(".code.here");
    if (here && !isInside(box, here))
        here.scrollIntoView({block: "center"});
    else if (!here && at.fresh)
        box.scrollTop = 0;
}
function isInside(box, element) {
    const outer = box.getBoundingClientRect(), inner = element.getBoundingClientRect();
    return inner.top >= outer.top && inner.bottom <= outer.bottom;
}

// ---- steps ----

let stepList = null;

function fillStep(row, i, step) {
    const processor = processorOfRow(step), insn = insnAt(processor, E.pc[step]);
    const changed = [];
    for (let k = step; k < E.n && (k === step || E.kind[k] === STEPX); k++)
        if (E.addr[k])
            changed.push("$" + bare(E.addr[k], 2) + " = " + hex(E.value[k]));
    row.className = "row step";
    row.append(span("num", thousands(i)), span("pc", bare(E.pc[step], 4)), span("text", insn ? insn.text : ""), span("changed", changed.join("  ")));
}
function paintSteps(box, p) {
    const stepRows = [p, continuationOf(p)].filter(q => q >= 0).flatMap(stepsOf);
    $("code-count").textContent = plural(stepRows.length, "step");
    if (!stepRows.length) {
        stepList = null;
        box.replaceChildren(div("empty", meta.steps ? "No instruction ran for this packet." : "The page has no steps: record them with --events all, or narrow the run with -s N."));
        return;
    }
    const inner = div("steps");
    box.replaceChildren(inner);
    stepList = new List(inner, () => 20, (row, i) => fillStep(row, i, stepRows[i]));
    stepList.resize(stepRows.length);
    if (at.row >= 0) {
        const i = stepRows.findIndex(step => step >= at.row);
        if (i >= 0)
            stepList.show(i, true);
    }
}

function paintCode() {
    const box = $("code"), p = at.packet;
    for (const name of ["path", "steps", "why"])
        $("side-" + name).setAttribute("aria-selected", String(at.side === name));
    $("code-count").textContent = "";
    if (p < 0)
        box.replaceChildren();
    else if (at.side === "why")
        paintWhy(box);
    else if (at.side === "steps")
        paintSteps(box, p);
    else
        paintPath(box, p);
}
