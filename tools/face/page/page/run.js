// The run: its events, sorted by processor, so that a packet is a range of rows.

const SUBMIT = 0, PKT = 1, REG = 2, REGR = 3, PIPE = 4, CTRL = 5, MEMW = 6, MEMR = 7, PROT = 8, IRQ = 9, STEP = 10, STEPX = 11, ASSUME = 12,
    UNMODELLED = 13, WORD = 19; // kinds of trace/event/event.def
const RING = 0, SDS = 4, INTERNAL = 5; // levels
const NONE = 0xffffffff;

let meta = null, payload = new Uint32Array(0);
const P = {n: 0}, E = {n: 0};

// Rows that an event becomes: of steps one for each register that changed, at least one for an instruction.
function rowsFor(kind, value) {
    if (kind < REG || kind > UNMODELLED)
        return 0;
    if (kind !== STEP && kind !== STEPX)
        return 1;
    let count = 0;
    for (let mask = value; mask; mask &= mask - 1)
        count++;
    return kind === STEP ? Math.max(1, count) : count;
}

// Gives each processor its range of rows, packets and words; returns where each begins, by the processor's number.
function makeRoom(kind, who, value) {
    const next = new Map(meta.processors.map(c => [c.who, {row: 0, packet: 0, word: 0}]));
    for (let i = 0; i < kind.length; i++) {
        const to = next.get(who[i]);
        if (!to)
            continue;
        to.row += rowsFor(kind[i], value[i]);
        to.packet += kind[i] === PKT;
        to.word += kind[i] === WORD;
    }
    const all = {row: 0, packet: 0, word: 0};
    for (const c of meta.processors) {
        const to = next.get(c.who);
        for (const key of ["row", "packet", "word"])
            [to[key], all[key]] = [all[key], all[key] + to[key]];
        c.rows = [to.row, all.row];
        c.packets = [to.packet, all.packet];
    }
    [E.n, P.n, payload] = [all.row, all.packet, new Uint32Array(all.word)];
    for (const column of ["pc", "addr", "value"])
        E[column] = new Uint32Array(E.n);
    E.kind = new Uint8Array(E.n);
    E.sub = new Uint8Array(E.n);
    E.high = new Map();
    for (const column of ["level", "low", "high", "header", "submission", "time", "first", "word"])
        P[column] = new Uint32Array(P.n + 1);
    [P.first[P.n], P.word[P.n]] = [E.n, all.word];
    return next;
}

function addRow(i, kind, sub, pc, addr, value) {
    E.kind[i] = kind;
    E.sub[i] = sub;
    E.pc[i] = pc;
    E.addr[i] = addr;
    E.value[i] = value;
}

function readRun(bytes) {
    const c = new Columns(bytes), n = meta.events, kind = c.u8(n), sub = c.u8(n), who = c.u8(n);
    const pc = c.u32(n, true), low = c.u32(n), high = c.u32(n), value = c.u32(n);
    const sorted = kind.slice().sort(); // all columns but the kinds themselves are in this order
    const next = makeRoom(sorted, who, value);
    const starts = Array.from({length: WORD + 1}, (_, k) => sorted.indexOf(k));
    let time = 0, submission = NONE;
    meta.submissions = []; // [index, address, dwords, time]
    for (const type of kind) {
        const i = starts[type]++, to = next.get(who[i]);
        if (type === SUBMIT)
            submission = meta.submissions.push([value[i], low[i] + high[i] * 0x100000000, pc[i], time]) - 1;
        else if (to && type === PKT) {
            const p = to.packet++;
            [P.level[p], P.low[p], P.high[p], P.header[p]] = [sub[i], low[i], high[i], value[i]];
            [P.submission[p], P.time[p], P.first[p], P.word[p]] = [submission, time, to.row, to.word];
        } else if (to && type === WORD)
            payload[to.word++] = value[i];
        else if (to && (type === STEP || type === STEPX)) {
            let part = type, left = 2;
            if (type === STEP && !value[i])
                addRow(to.row++, STEP, sub[i], pc[i], 0, 0);
            for (let register = 0; register < 32; register++)
                if (value[i] >>> register & 1) {
                    addRow(to.row++, part, sub[i], pc[i], register, left === 2 ? low[i] : left === 1 ? high[i] : 0);
                    part = STEPX;
                    left--;
                }
        } else if (to && rowsFor(type, 0)) {
            if (high[i])
                E.high.set(to.row, high[i]);
            addRow(to.row++, type, sub[i], pc[i], low[i], value[i]);
        }
        time += type !== WORD;
    }
    P.time[P.n] = meta.time = time;
}
