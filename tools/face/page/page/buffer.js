// Buffers of the capture, by the addresses in them: "[buf 3 +0x40]", as other commands print it.

const bufferCache = new Map(); // by submission: {kind, number, name, first, last}, the newest first

function buffersOf(submission) {
    if (!bufferCache.has(submission)) {
        const valid = meta.buffers.filter(row => row[5] <= submission && submission < row[6]);
        bufferCache.set(submission, valid.reverse().map(([kind, number, name, first, last]) =>
            ({kind, number, name, first: Number(first), last: Number(last)})));
    }
    return bufferCache.get(submission);
}
// Of the capture, in which a packet ran.
function submissionOf(p) {
    const row = p >= 0 ? meta.submissions[P.submission[p]] : undefined;
    return row ? row[0] : 0;
}
function bufferText(where, p) {
    const all = buffersOf(submissionOf(p)), found = all.find(b => b.first <= where && where <= b.last);
    if (found)
        return "[" + found.kind + " " + found.number + (found.name ? " \"" + found.name + "\"" : "") + " +" + hex(where - found.first) + "]";
    return all.length && where ? "[no buf]" : "";
}
function bufferField(where, p) {
    const text = bufferText(where, p);
    return text ? span("field buffer", span("key", text)) : "";
}

// A register that holds the lower half of an address, with the value of the upper half beside it.
const isLowerHalf = key => names.registers[key] !== undefined && names.registers[key][3] === 1;
function addressField(low, high, p) {
    const where = high * 0x100000000 + low;
    return span("field buffer", span("val", hex(where)), " ", span("key", bufferText(where, p)));
}
// Of a row that writes one, if the next one writes the rest.
function addressOfPair(row, p) {
    const isPair = E.kind[row] === REG && row + 1 < E.n && E.kind[row + 1] === REG && E.addr[row + 1] === E.addr[row] + 1;
    return isPair && isLowerHalf(nameKey(REG, E.addr[row], 0)) ? addressField(E.value[row], E.value[row + 1], p) : "";
}
