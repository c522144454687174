// Time: one lane per processor, the number of the event along it. The base is drawn once per zoom, size and theme.

const LANE_TOP = 20, EDGE = 64, EDGE_RIGHT = 8;
const time = {from: 0, to: 1, base: null, key: ""};
const laneHeight = () => isPhone() ? 30 : meta.processors.length > 1 ? 30 : 38;
const timelineHeight = () => (isPhone() ? 0 : LANE_TOP) + laneHeight() * meta.processors.length;
const edge = () => isPhone() ? 8 : EDGE;

function wholeTime() {
    const first = P.n ? Math.min(...meta.processors.filter(c => c.packets[1] > c.packets[0]).map(c => P.time[c.packets[0]])) : 0;
    return [first, Math.max(first + 1, meta.time)];
}
function depthOf(p) {
    const depth = Math.max(0, T.depth[nodeOf[p]] - 1 - (meta.processors.length > 1 ? 1 : 0));
    return P.level[p] === SDS ? 3 : P.level[p] === INTERNAL ? -1 : Math.min(2, P.level[p] || Math.min(depth, 0));
}
function xOf(t, width) {
    return edge() + (t - time.from) / (time.to - time.from) * (width - edge() - EDGE_RIGHT);
}
function timeAt(x, width) {
    return time.from + (x - edge()) / (width - edge() - EDGE_RIGHT) * (time.to - time.from);
}
function tokens(...wanted) {
    const style = getComputedStyle(document.documentElement);
    return wanted.map(name => style.getPropertyValue("--" + name).trim());
}

function drawScale(g, width, height) {
    const [line, ink2] = tokens("line", "ink2");
    const span = time.to - time.from, steps = [1, 2, 5];
    let step = 1;
    for (let i = 0; step * (width / 110) < span; i++)
        step = steps[i % 3] * 10 ** Math.floor(i / 3);
    g.font = "11px " + getComputedStyle(document.body).fontFamily;
    for (let t = Math.ceil(time.from / step) * step; t < time.to; t += step) {
        const x = Math.round(xOf(t, width)) + 0.5;
        g.fillStyle = line;
        g.fillRect(x, 0, 1, height);
        g.fillStyle = ink2;
        if (x + 50 < width)
            g.fillText(thousands(t), x + 3, 11);
    }
}
// Bands, from the shallow to the deep; neighbours that touch are one.
function drawLane(g, c, top, width) {
    const colours = tokens("f0", "f1", "f2", "f3"), height = laneHeight();
    const runs = [null, null, null, null];
    const flush = depth => {
        const run = runs[depth];
        if (run) {
            g.fillStyle = colours[depth];
            g.fillRect(run[0], top + height - 12 - depth * 6, Math.max(1, run[1] - run[0]), 5);
        }
        runs[depth] = null;
    };
    const cover = (depth, x0, x1) => {
        if (runs[depth] && x0 <= runs[depth][1] + 0.5)
            runs[depth][1] = Math.max(runs[depth][1], x1);
        else {
            flush(depth);
            runs[depth] = [x0, x1];
        }
    };
    let last = 0;
    for (let p = c.packets[0]; p < c.packets[1]; p++) {
        const depth = depthOf(p) < 0 ? last : depthOf(p);
        const end = p + 1 < c.packets[1] ? P.time[p + 1] : meta.time;
        last = depth;
        if (end < time.from || P.time[p] > time.to)
            continue;
        const x0 = Math.max(edge(), xOf(P.time[p], width)), x1 = Math.min(width - EDGE_RIGHT, xOf(end, width));
        for (let d = 0; d <= depth; d++)
            cover(d, x0, x1);
    }
    runs.forEach((_, depth) => flush(depth));
}
function drawMarks(g, c, top, width) {
    const [ink, amb] = tokens("ink", "amb"), height = laneHeight();
    g.fillStyle = amb;
    let before = -9;
    for (let p = c.packets[0]; p < c.packets[1]; p++) {
        const x = Math.round(xOf(P.time[p], width));
        if (P.assumed[p] && x >= edge() && x <= width - EDGE_RIGHT && x > before + 2)
            g.fillRect(before = x, top + height - 5, 2, 3);
    }
    g.fillStyle = g.strokeStyle = ink;
    for (const p of draws) {
        const x = Math.round(xOf(P.time[p], width));
        if (p < c.packets[0] || p >= c.packets[1] || x < edge() || x > width - EDGE_RIGHT)
            continue;
        g.fillRect(x - 0.75, top + 2, 1.5, height - 8);
        drawSign(g, drawOf.get(p).kind, x, top);
    }
}
// A draw points down, a dispatch is a square; a blit and a resolve, which only move pixels, are hollow.
function drawSign(g, kind, x, top) {
    g.beginPath();
    g.moveTo(x - 3.5, top);
    g.lineTo(x + 3.5, top);
    if (kind === "dispatch" || kind === "blit")
        g.lineTo(x + 3.5, top + 5);
    g.lineTo(kind === "dispatch" || kind === "blit" ? x - 3.5 : x, top + 5);
    g.closePath();
    if (kind === "draw" || kind === "dispatch")
        g.fill();
    else
        g.stroke();
}
function drawBase(canvas, width, height) {
    const g = canvas.getContext("2d"), ratio = devicePixelRatio || 1;
    const [ink2, ink3] = tokens("ink2", "ink3");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, height);
    if (!isPhone())
        drawScale(g, width, height);
    let top = isPhone() ? 0 : LANE_TOP;
    for (const c of meta.processors) {
        g.font = "11px " + getComputedStyle(document.body).fontFamily;
        g.fillStyle = ink2;
        if (!isPhone())
            g.fillText(c.name, 12, top + laneHeight() / 2 - 1);
        if (c.packets[1] > c.packets[0]) {
            drawLane(g, c, top, width);
            drawMarks(g, c, top, width);
        } else {
            g.fillStyle = ink3;
            g.fillText("ran no packets", edge(), top + laneHeight() / 2 - 1);
        }
        top += laneHeight();
    }
    g.fillStyle = ink3;
    for (const [, , , t] of meta.submissions) {
        const x = Math.round(xOf(t, width));
        if (x >= edge() && x <= width - EDGE_RIGHT)
            g.fillRect(x, isPhone() ? 0 : LANE_TOP - 6, 1, height);
    }
}

function paintTimeline() {
    const canvas = $("timeline"), box = canvas.parentElement, width = box.clientWidth, height = timelineHeight(), ratio = devicePixelRatio || 1;
    if (!width || !meta)
        return;
    const key = [width, height, ratio, time.from, time.to, document.documentElement.dataset.theme, matchMedia("(prefers-color-scheme: dark)").matches].join();
    if (key !== time.key) {
        time.key = key;
        time.base = document.createElement("canvas");
        time.base.width = canvas.width = width * ratio;
        time.base.height = canvas.height = height * ratio;
        canvas.style.height = height + "px";
        drawBase(time.base, width, height);
    }
    const g = canvas.getContext("2d");
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.clearRect(0, 0, canvas.width, canvas.height);
    g.drawImage(time.base, 0, 0);
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawPin(g, width);
}
function drawPin(g, width) {
    if (at.packet < 0)
        return;
    const x = xOf(P.time[at.packet], width), lane = processorOf(at.packet);
    if (x < edge() - 1 || x > width - EDGE_RIGHT + 1)
        return;
    const top = (isPhone() ? 0 : LANE_TOP) + lane * laneHeight();
    [g.fillStyle] = tokens("acc");
    g.fillRect(x - 1, top, 2, laneHeight() - 4);
    g.beginPath();
    g.arc(x, top + (isPhone() ? 3 : -4), 3, 0, 7);
    g.fill();
}

function packetAt(x, y) {
    const width = $("timeline").clientWidth, t = timeAt(x, width);
    const lane = Math.max(0, Math.min(meta.processors.length - 1, Math.floor((y - (isPhone() ? 0 : LANE_TOP)) / laneHeight())));
    const c = meta.processors[lane];
    const near = draws.find(p => p >= c.packets[0] && p < c.packets[1] && Math.abs(xOf(P.time[p], width) - x) < 4);
    if (near !== undefined)
        return near;
    const [from, end] = c.packets;
    return end > from ? Math.max(from, lastWhere(from, end, p => P.time[p] <= t)) : -1;
}
function zoom(factor, around) {
    const [first, last] = wholeTime(), span = Math.max(40, Math.min(last - first, (time.to - time.from) * factor));
    const share = (around - time.from) / (time.to - time.from);
    pan(around - share * span, span);
}
function pan(from, span) {
    const [first, last] = wholeTime();
    time.from = Math.max(first, Math.min(last - span, from));
    time.to = time.from + span;
    paintTimeline();
}
function wholeTimeline() {
    [time.from, time.to] = wholeTime();
    paintTimeline();
}
function showInTimeline() {
    if (at.packet < 0)
        return;
    const t = P.time[at.packet], span = time.to - time.from;
    if (t < time.from || t > time.to)
        pan(t - span / 2, span);
    else
        paintTimeline();
}

function makeTimeline() {
    const canvas = $("timeline"), tip = $("tip");
    canvas.addEventListener("click", event => {
        const p = packetAt(event.offsetX, event.offsetY);
        if (p >= 0)
            go({packet: p, event: null});
    });
    canvas.addEventListener("wheel", event => {
        event.preventDefault();
        if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
            pan(time.from + event.deltaX / canvas.clientWidth * (time.to - time.from), time.to - time.from);
        else
            zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(event.offsetX, canvas.clientWidth));
    }, {passive: false});
    canvas.addEventListener("mousemove", event => {
        const p = packetAt(event.offsetX, event.offsetY);
        tip.hidden = p < 0;
        if (p < 0)
            return;
        tip.textContent = (isDraw(p) ? drawName(p) + " · " : "") + packetName(p) + " " + p;
        tip.style.left = Math.min(event.offsetX + 12, canvas.clientWidth - tip.offsetWidth - 8) + "px";
    });
    canvas.addEventListener("mouseleave", () => tip.hidden = true);
    new ResizeObserver(() => paintTimeline()).observe(canvas.parentElement);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => paintTimeline());
}
