// cpscope view: the page's script, joined of several files that share one scope. SPDX-License-Identifier: MIT
"use strict";

// Sections of the file: base64 of a zlib stream, whose length is an attribute of the element.

class Failure extends Error {}

function bytesOf(text) {
    const binary = atob(text.trim());
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++)
        bytes[i] = binary.charCodeAt(i);
    return bytes;
}

async function section(name) {
    const element = document.getElementById("d-" + name);
    if (!element)
        throw new Failure("the file has no section " + name);
    const size = Number(element.dataset.n);
    const packed = bytesOf(element.textContent);
    element.remove(); // its text is no longer needed
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    if (bytes.length !== size)
        throw new Failure("section " + name + " has " + bytes.length + " bytes, expected " + size);
    return bytes;
}

async function jsonSection(name) {
    return JSON.parse(new TextDecoder().decode(await section(name)));
}

// Columns one after the other: bytes as they are, numbers as four planes of bytes.
class Columns {
    constructor(bytes) {
        this.bytes = bytes;
        this.at = 0;
    }
    u8(count) {
        if (this.at + count > this.bytes.length)
            throw new Failure("a column is cut short");
        this.at += count;
        return this.bytes.subarray(this.at - count, this.at);
    }
    u32(count, isDelta) {
        const [b0, b1, b2, b3] = [this.u8(count), this.u8(count), this.u8(count), this.u8(count)];
        const ret = new Uint32Array(count);
        for (let i = 0, before = 0; i < count; i++) {
            const value = b0[i] | b1[i] << 8 | b2[i] << 16 | b3[i] << 24;
            before = isDelta ? before + value | 0 : value;
            ret[i] = before;
        }
        return ret;
    }
}
