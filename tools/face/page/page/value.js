// A value with its fields: in a line, and taken apart bit by bit.

const isIn = (field, changed) => changed && !field.unnamed && field.high < 32 && bitsOf(changed, field.low, field.high) !== 0;

// Equal neighbours as one: DITHER_MODE_MRT0-7 X.
function joined(fields) {
    const ret = [];
    for (const field of fields) {
        const last = ret[ret.length - 1];
        const numbered = /^(.*?)(\d+)$/.exec(field.name);
        if (last && numbered && last.stem === numbered[1] && last.text === field.text && last.flag === field.flag && Number(numbered[2]) === last.to + 1)
            last.to++;
        else
            ret.push({...field, stem: numbered ? numbered[1] : null, to: numbered ? Number(numbered[2]) : 0});
    }
    for (const field of ret)
        if (field.stem !== null && !field.name.endsWith(String(field.to)))
            field.name += "–" + field.to;
    return ret;
}

// Fields that are not zero; single bits by their name alone. `changed` are bits that are new.
function fieldLine(fields, changed) {
    const shown = joined(fields.filter(f => f.bits));
    return shown.map(f => span("field" + (isIn(f, changed) ? " new" : ""), span("key", f.name || "no name"),
        f.flag ? "" : " ", f.flag ? "" : span("val", f.text)));
}

// A strip of 32 bits, cut at the fields, then all of them from the highest.
function bitStrip(fields, value) {
    const strip = role(span("strip"), "img", {"aria-label": "bits " + value.toString(2).padStart(32, "0")});
    const ends = new Set(fields.filter(f => !f.unnamed).map(f => f.high));
    for (let bit = 31; bit >= 0; bit--)
        strip.append(span("bit" + (value / 2 ** bit & 1 ? " set" : "") + (ends.has(bit) && bit < 31 ? " cut" : "") +
            (fields.some(f => !f.unnamed && f.low <= bit && bit <= f.high) ? "" : " free")));
    return strip;
}
function fieldTable(fields) {
    const table = div("bits");
    for (const f of [...fields].filter(x => !x.unnamed).sort((a, b) => b.low - a.low).concat(fields.filter(x => x.unnamed)))
        table.append(div(f.bits ? "" : "zero", span("range", f.unnamed ? "" : f.low === f.high ? String(f.low) : f.high + ":" + f.low),
            span("key", f.name || "no name"), span("val", f.text)));
    return table;
}
