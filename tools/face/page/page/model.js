// What the file holds: packets P, rows of events E, processors, draws, code.

const REM = 0x1c, MEMDATA = 0x1d, REGDATA = 0x1e, DATA = 0x1f; // from $1c on
const OP_IB_END = 10, OP_SET_DRAW_STATE = 0x43;

let names = null, changes = null;
const code = []; // per part: Map of pc to instruction
let draws = []; // packets that start work, in order of time
let drawIndex = new Map(); // of a packet, among them
let drawOf = new Map(); // of a packet: {kind, number, last}, as `state` counts

// An instruction: row of the section `code` with names.
function instruction(row, func, start) {
    const [pc, word, text, comment, label, sort, dst, src1, src2, base, flags] = row;
    return {pc, word, text, comment, label, func, start, sort: sort || "b", dst, src1, src2, base,
        rep: flags & 1, xmov: flags >> 1 & 3};
}

function readCode(parts) {
    for (const rows of parts) {
        const map = new Map();
        let func = ["bootstrap"], start = 0;
        for (const row of rows) {
            if (row[4])
                [func, start] = [row[4].split(" "), row[0]];
            map.set(row[0], instruction(row, func, start));
        }
        code.push(map);
    }
}

function processorOf(p) {
    return meta.processors.findIndex(c => p < c.packets[1]);
}
function processorOfRow(row) {
    return meta.processors.findIndex(c => row < c.rows[1]);
}
// The rows of a packet end where the next one of its processor begins.
function packetEnd(p) {
    return Math.min(P.first[p + 1], meta.processors[processorOf(p)].rows[1]);
}
function insnAt(processor, pc) {
    const map = code[meta.processors[processor].part];
    return map && map.get(pc);
}
// Handlers that packets share have several names: that of the packet at hand, or the first.
function placeOf(processor, pc) {
    const insn = insnAt(processor, pc), own = at.packet >= 0 ? packetName(at.packet) : "";
    if (!insn)
        return hex(pc, 4);
    return (insn.func.includes(own) && insn.func[0] !== "error_handler" ? own : insn.func[0]) + (pc === insn.start ? "" : "+0x" + (pc - insn.start).toString(16));
}
// The last number from `low` to below `high` that passes a test which no later one passes; low - 1: none.
function lastWhere(low, high, test) {
    while (low < high) {
        const middle = low + high >> 1;
        if (test(middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}
// The packet that a row belongs to; -1: it ran before the first.
function packetOfRow(row) {
    const [from, end] = meta.processors[processorOfRow(row)].packets, p = lastWhere(from, end, i => P.first[i] <= row);
    return p >= from ? p : -1;
}
// Rows of a packet that pass a test.
function rowsOf(p, test) {
    const ret = [];
    for (let i = P.first[p], end = packetEnd(p); i < end; i++)
        if (test(i))
            ret.push(i);
    return ret;
}

// ---- packets ----

const type = p => P.header[p] >>> 28;
const opcode = p => type(p) === 7 ? P.header[p] >> 16 & 127 : -1;
const dwords = p => type(p) === 7 ? P.header[p] & 0x3fff : type(p) === 4 ? P.header[p] & 127 : 0;
const firstRegister = p => P.header[p] >> 8 & 0x3ffff;
const address = p => P.high[p] * 0x100000000 + P.low[p];
const words = p => payload.subarray(P.word[p], P.word[p + 1]);

function packetName(p) {
    if (type(p) === 7)
        return meta.opcodes[opcode(p)] || "UNKN" + opcode(p);
    return type(p) === 4 ? registerName(firstRegister(p)) : "no packet";
}
const isDraw = p => drawOf.has(p);
// "draw 3"; of another processor than the one that is meant "BV resolve 4".
function drawName(p) {
    const {kind, number} = drawOf.get(p), c = processorOf(p);
    return (c === meta.drawing ? "" : meta.processors[c].name + " ") + kind + (number < 0 ? "" : " " + number);
}
function countDraws() {
    return meta.kinds.map(kind => [kind, draws.filter(p => drawOf.get(p).kind === kind).length]).filter(([, n]) => n).map(([kind, n]) => plural(n, kind));
}
const isIb = p => type(p) === 7 && /^CP_INDIRECT_BUFFER/.test(packetName(p));

function fieldText(p, ...wanted) {
    for (const value of payloadValues(p))
        if (wanted.includes(value.name))
            return value.text;
    return "";
}

function summaryOf(p) {
    const w = words(p);
    if (type(p) === 4)
        return dwords(p) > 1 ? "× " + dwords(p) : w.length ? hex(w[0]) : "";
    if (isDraw(p) && drawOf.get(p).kind === "draw") {
        const shape = fieldText(p, "PRIM_TYPE").replace(/^DI_PT_/, "").toLowerCase();
        const count = fieldText(p, "NUM_INDICES"), instances = fieldText(p, "NUM_INSTANCES");
        return shape + (count ? " · " + count + " vertices × " + (instances || 1) : "");
    }
    if (isIb(p) && w.length > 2)
        return hex(w[0] + w[1] * 0x100000000) + " · " + thousands(w[2] & 0xfffff) + " dwords";
    if (opcode(p) === OP_SET_DRAW_STATE)
        return Math.floor(w.length / 3) + (w.length === 3 ? " group" : " groups");
    const word = fieldText(p, "EVENT", "MODE", "MARKER");
    if (/^CP_(EVENT_WRITE|SET_MARKER)/.test(packetName(p)) && word)
        return word.replace(/^RM\d*_/, "").toLowerCase() === "yield" ? "yield" : word;
    return w.length ? hex(w[0]) + (w.length > 1 ? " …" : "") : "";
}

const isWrite = kind => kind === REG || kind === PIPE || kind === MEMW;

function listDraws() {
    drawOf = new Map(meta.draws.map(([p, kind, number, last]) => [p, {kind: meta.kinds[kind], number, last}]));
    draws = [...drawOf.keys()].sort((a, b) => P.time[a] - P.time[b]);
    drawIndex = new Map(draws.map((p, i) => [p, i]));
    P.writes = new Uint32Array(P.n);
    P.assumed = new Uint8Array(P.n);
    P.bad = new Uint8Array(P.n);
    P.streams = new Set(); // that the capture does not hold
}
// Per packet: writes outside of the processor, and marks.
function countPackets() {
    for (let p = 0; p < P.n; p++) {
        for (let i = P.first[p], end = packetEnd(p); i < end; i++) {
            const kind = E.kind[i];
            if (isWrite(kind))
                P.writes[p]++;
            else if (kind === ASSUME)
                P.assumed[p] = 1;
            else if (kind === PROT)
                P.bad[p] = 1;
            else if (kind === UNMODELLED && meta.places[E.sub[i]] === "stream")
                P.streams.add(addressOfRow(i));
        }
    }
}
const addressOfRow = row => (E.high.get(row) || 0) * 0x100000000 + E.addr[row];
