// Numbers as text, and values taken apart into fields.

const HEX = 0, BOOL = 1, UINT = 2, INT = 3, FLOAT = 4, FIXED = 5, UFIXED = 6, ADDRESS = 7, REGID = 8; // isa/names/table.h
const PIPE_BASE = 1 << 20, CONTROL_BASE = 1 << 21, PROCESSOR_STEP = 1 << 22;

const hex = (value, digits = 1) => "0x" + bare(value, digits);
const bare = (value, digits) => (value >= 0 ? value : value + 0x100000000).toString(16).padStart(digits, "0");
const thousands = value => String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f");
const plural = (count, word) => thousands(count) + " " + word + (count === 1 ? "" : word.endsWith("ch") ? "es" : "s");

// Where a name of a row's register is kept.
function nameKey(kind, addr, processor) {
    if (kind === PIPE)
        return PIPE_BASE + (addr & 0xff);
    return kind === CTRL ? CONTROL_BASE + processor * PROCESSOR_STEP + (addr & 0xfff) : addr & 0x3ffff;
}
function keyName(key) {
    const row = names.registers[key];
    return row ? row[0] + (row[1] ? "+0x1" : "") : "";
}
const registerName = reg => keyName(reg) || hex(reg, 4);

// Digits of a number as a 32-bit float, no more than tell it apart.
function floatText(value) {
    if (!Number.isFinite(value))
        return Number.isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf";
    for (const digits of [6, 9]) {
        const text = String(Number(value.toPrecision(digits)));
        if (Math.fround(Number(text)) === Math.fround(value))
            return /[.e]/.test(text) ? text : text + ".0";
    }
    return String(value);
}
function halfFloat(bits) {
    const sign = bits >> 15 & 1 ? -1 : 1, exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
    if (exponent === 31)
        return fraction ? NaN : sign * Infinity;
    return sign * (exponent ? (1024 + fraction) * 2 ** (exponent - 25) : fraction * 2 ** -24);
}
const floatView = new DataView(new ArrayBuffer(4));
function fullFloat(bits) {
    floatView.setUint32(0, bits);
    return floatView.getFloat32(0);
}

// `bits` of a field, a number below 2^53, as its type is written.
function valueText(bits, [, low, high, kind, radix, shift, texts]) {
    if (texts[bits] !== undefined)
        return texts[bits];
    const width = high - low + 1;
    const signed = bits >= 2 ** (width - 1) ? bits - 2 ** width : bits;
    switch (kind) {
    case BOOL: return width === 1 ? bits ? "yes" : "no" : hex(bits);
    case UINT: return String(bits * 2 ** shift);
    case INT: return String(signed * 2 ** shift);
    case FLOAT: return width === 16 ? floatText(halfFloat(bits)) : width === 32 ? floatText(fullFloat(bits)) : hex(bits);
    case FIXED: return floatText(signed / 2 ** radix);
    case UFIXED: return floatText(bits / 2 ** radix);
    case REGID: return "r" + (bits >> 2) + "." + "xyzw"[bits & 3];
    default: return hex(bits * 2 ** shift);
    }
}
function bitsOf(value, low, high) {
    const width = high - low + 1;
    return Math.floor(value / 2 ** low) % 2 ** width;
}

// Fields of a value: {name, low, high, bits, text, flag}; of bits without a name `name` is "".
function valuesOf(fields, value) {
    let left = fields.length ? value : 0;
    const ret = fields.map(field => {
        const [name, low, high, kind] = field;
        const bits = bitsOf(value, low, high);
        left -= bitsOf(left, low, high) * 2 ** low;
        return {name, low, high, bits, text: valueText(bits, field), flag: kind === BOOL && low === high};
    });
    if (left > 0)
        ret.push({name: "", low: 0, high: 31, bits: left, text: hex(left), flag: false, unnamed: true});
    return ret;
}
function registerValues(key, value) {
    const row = names.registers[key];
    return row ? valuesOf(row[2], value) : [];
}
// Those with a name of their own; a register that is one value has none.
function registerFields(key, value) {
    return registerValues(key, value).filter(f => f.name || f.unnamed);
}
// The value of a register that is one number of a type that is no plain number.
function wholeText(key, value) {
    const row = names.registers[key];
    const field = row && row[2].length === 1 && !row[2][0][0] ? row[2][0] : null;
    return field && ![HEX, BOOL, UINT].includes(field[3]) ? valueText(bitsOf(value, field[1], field[2]), field) : "";
}

// Words of a packet as the source calls them: [{number, word, name, low, high, bits, text, flag}].
function payloadValues(p) {
    const layout = P.layout[p] ? names.layouts[P.layout[p] - 1] : [];
    const w = words(p);
    return layout.filter(field => field[7] < w.length).map(field => {
        const [name, low, high, kind, , , , number, word] = field;
        const value = w[number] + (high > 31 && number + 1 < w.length ? w[number + 1] * 0x100000000 : 0);
        const bits = bitsOf(value, low, high);
        return {number, word, name: name || word, low, high, bits, text: valueText(bits, field),
            flag: kind === BOOL && low === high, whole: !name, isAddress: kind === ADDRESS && high - low === 63};
    });
}
