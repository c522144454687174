// The tree: submission, processor, packets, draw-state groups. Nodes in preorder; visible nodes are an array.

const SUBMISSION = 0, PROCESSOR = 1, PACKET = 2, GROUP = 3, FOLD = 4;
const FOLD_FROM = 6; // equal packets in a row

const T = {n: 0};
let nodeOf = new Int32Array(0); // of a packet
let visible = new Int32Array(0), rowOf = new Map();
let isListed = null; // a filter over packets, or null: all

// Groups by their address, from the last CP_SET_DRAW_STATE of a processor.
function noteGroups(p, groups) {
    const w = words(p);
    for (let i = 0; i + 2 < w.length; i += 3)
        groups.set(w[i + 1] + w[i + 2] * 0x100000000, w[i] >> 24 & 31);
}

// Children of a submission on a processor: [type, reference, children, depth in the hardware].
function nest(from, end, root) {
    const stack = [[RING, root]], groups = nest.groups;
    let last = null; // packet at the top of the stack
    const top = () => stack[stack.length - 1];
    for (let p = from; p < end; p++) {
        const level = P.level[p];
        const node = [PACKET, p, []];
        if (level === INTERNAL) {
            top()[1].push(node);
            if (opcode(p) === OP_IB_END && stack.length > 1)
                stack.pop();
            last = null;
            continue;
        }
        while (stack.length > 1 && level < top()[0])
            stack.pop();
        if (level > top()[0]) {
            const siblings = top()[1];
            const parent = last || (siblings.length ? siblings[siblings.length - 1] : null);
            let into = parent ? parent[2] : siblings;
            if (level === SDS) {
                const group = [GROUP, groups.has(address(p)) ? groups.get(address(p)) : -1, [], address(p)];
                into.push(group);
                into = group[2];
            }
            stack.push([level, into]);
        }
        top()[1].push(node);
        if (opcode(p) === OP_SET_DRAW_STATE)
            noteGroups(p, groups);
        last = node;
    }
}

const foldKey = node => node[0] === PACKET && !node[2].length ? (type(node[1]) === 4 ? firstRegister(node[1]) : 0x40000 + opcode(node[1])) : -1;

function folded(children) {
    const ret = [];
    for (let i = 0; i < children.length;) {
        const key = foldKey(children[i]);
        let end = i + 1;
        while (key >= 0 && end < children.length && foldKey(children[end]) === key)
            end++;
        if (end - i >= FOLD_FROM)
            ret.push([FOLD, children[i][1], children.slice(i, end)]);
        else
            for (let k = i; k < end; k++)
                ret.push(children[k]);
        i = end;
    }
    return ret;
}

function flatten(roots) {
    const types = [], refs = [], depths = [], ends = [], extras = new Map();
    const walk = (nodes, depth) => {
        for (const node of nodes) {
            const at = types.length;
            types.push(node[0]);
            refs.push(node[1]);
            depths.push(depth);
            ends.push(0);
            if (node[3] !== undefined)
                extras.set(at, node[3]);
            if (node[2].length)
                walk(node[0] === FOLD ? node[2] : folded(node[2]), depth + 1);
            ends[at] = types.length;
        }
    };
    walk(roots, 0);
    Object.assign(T, {n: types.length, type: Uint8Array.from(types), ref: Int32Array.from(refs),
        depth: Uint8Array.from(depths), end: Int32Array.from(ends), extra: extras});
}

// Packets of one processor and submission follow each other.
function submissionRanges(c) {
    const ranges = new Map();
    for (let p = c.packets[0]; p < c.packets[1]; p++) {
        const range = ranges.get(P.submission[p]);
        if (range)
            range[1] = p + 1;
        else
            ranges.set(P.submission[p], [p, p + 1]);
    }
    return ranges;
}

function buildTree() {
    const busy = meta.processors.filter(c => c.packets[1] > c.packets[0]);
    const ranges = busy.map(submissionRanges), groups = busy.map(() => new Map());
    const roots = [];
    for (let s = -1; s < meta.submissions.length; s++) {
        const children = [];
        busy.forEach((c, i) => {
            const range = ranges[i].get(s >= 0 ? s : NONE);
            const list = [];
            nest.groups = groups[i];
            if (range)
                nest(range[0], range[1], list);
            if (busy.length > 1 && list.length)
                children.push([PROCESSOR, meta.processors.indexOf(c), list]);
            else
                children.push(...list);
        });
        if (s >= 0 || children.length)
            roots.push([SUBMISSION, s, children]);
    }
    flatten(roots);
    T.open = new Uint8Array(T.n);
    T.parent = new Int32Array(T.n).fill(-1);
    nodeOf = new Int32Array(P.n).fill(-1);
    const path = [];
    for (let i = 0; i < T.n; i++) {
        path.length = T.depth[i];
        T.parent[i] = path.length ? path[path.length - 1] : -1;
        path.push(i);
        if (T.type[i] === PACKET)
            nodeOf[T.ref[i]] = i;
        T.open[i] = T.type[i] <= PROCESSOR || (T.type[i] === PACKET && !isDraw(T.ref[i])) ? 1 : 0;
        if (T.type[i] === SUBMISSION && T.ref[i] < 0)
            T.open[i] = 0;
    }
}

// How many packets below a node pass the filter, all of them in one pass from the end.
function countListed() {
    T.listed = new Int32Array(T.n);
    for (let i = T.n - 1; i >= 0; i--) {
        if (T.type[i] === PACKET && (!isListed || isListed(T.ref[i])))
            T.listed[i]++;
        if (T.parent[i] >= 0)
            T.listed[T.parent[i]] += T.listed[i];
    }
}

function listVisible() {
    const rows = [];
    if (!T.listed)
        countListed();
    rowOf = new Map();
    for (let i = 0; i < T.n;) {
        if (isListed && !T.listed[i]) {
            i = T.end[i];
            continue;
        }
        rowOf.set(i, rows.length);
        rows.push(i);
        i = T.open[i] ? i + 1 : T.end[i];
    }
    visible = Int32Array.from(rows);
}

function filterTree(filter) {
    isListed = filter;
    T.listed = null;
    listVisible();
}

function openTo(node) {
    let changed = false;
    for (let at = T.parent[node]; at >= 0; at = T.parent[at]) {
        changed = changed || !T.open[at];
        T.open[at] = 1;
    }
    if (changed || !rowOf.has(node))
        listVisible();
    return changed;
}

// Packets below a node of a packet: the last one of them, or itself.
function lastBelow(p) {
    const node = nodeOf[p];
    let last = p;
    for (let i = node + 1; i < T.end[node]; i++)
        if (T.type[i] === PACKET)
            last = Math.max(last, T.ref[i]);
    return last;
}
function countBelow(node, sort) {
    return T.type.subarray(node + 1, T.end[node]).reduce((count, other) => count + (other === sort), 0);
}
// The packet in which a draw goes on once its groups ran, or -1.
function continuationOf(p) {
    const last = lastBelow(p);
    return last !== p && isDraw(p) && opcode(last) === OP_IB_END ? last : -1;
}

// ---- rows ----

function nodeName(node) {
    const ref = T.ref[node];
    switch (T.type[node]) {
    case SUBMISSION: return ref < 0 ? "Boot" : "Submission " + meta.submissions[ref][0];
    case PROCESSOR: return meta.processors[ref].name;
    case GROUP: return "Draw-state group" + (ref >= 0 ? " " + ref : "");
    default: return packetName(ref);
    }
}
function nodeSummary(node) {
    const ref = T.ref[node];
    if (T.type[node] === SUBMISSION && ref >= 0) {
        const [, at, count] = meta.submissions[ref];
        return hex(at) + " · " + thousands(count) + " dwords" + (T.end[node] === node + 1 ? " · not captured" : "");
    }
    if (T.type[node] === GROUP)
        return hex(T.extra.get(node));
    if (T.type[node] === FOLD)
        return "× " + (T.end[node] - node - 1);
    if (T.type[node] !== PACKET)
        return "";
    const missing = isIb(ref) && P.streams.has(words(ref)[0] + words(ref)[1] * 0x100000000) ? " · not captured" : "";
    return summaryOf(ref) + missing;
}
const isDim = node => T.type[node] === PACKET && (opcode(T.ref[node]) === OP_IB_END || opcode(T.ref[node]) === 0x10) ||
    T.type[node] === SUBMISSION && T.end[node] === node + 1;

function marksOf(node) {
    const from = T.type[node] === PACKET ? node : node + 1, end = T.type[node] === FOLD ? T.end[node] : node + 1;
    let assumed = false, bad = false, differs = false;
    for (let i = from; i < Math.max(end, from + (T.type[node] === PACKET ? 1 : 0)); i++) {
        if (T.type[i] !== PACKET)
            continue;
        const p = T.ref[i];
        assumed = assumed || P.assumed[p];
        bad = bad || P.bad[p];
        differs = differs || (changes && changes.of.has(p));
    }
    return [bad ? span("mark bad", "!") : null, assumed ? span("mark amb", "≈") : null,
        differs ? span("mark chg", "≠") : null];
}

function countText(node) {
    const below = T.type[node] === FOLD ? 0 : T.type[node] === SUBMISSION ? 0 : countBelow(node, PACKET);
    if (below)
        return isListed && T.type[node] !== PACKET ? "" : thousands(below);
    return T.type[node] === PACKET && P.writes[T.ref[node]] > 1 ? P.writes[T.ref[node]] + " w" : "";
}

function drawBadge(p) {
    const {kind, number} = drawOf.get(p);
    const badge = span("badge " + kind, number < 0 ? kind : String(number));
    badge.title = drawName(p);
    return badge;
}
function fillTreeRow(row, i) {
    const node = visible[i], kind = T.type[node], ref = T.ref[node];
    const isHere = kind === PACKET && ref === at.packet || kind === FOLD && !T.open[node] && nodeOf[at.packet] > node && nodeOf[at.packet] < T.end[node];
    const hasBelow = T.end[node] > node + 1;
    const guides = span("guides");
    guides.style.width = T.depth[node] * 12 + "px";
    const draw = kind === PACKET && isDraw(ref) ? drawBadge(ref) : null;
    row.className = "row tree-row" + (isHere ? " here" : "") + (isDim(node) ? " dim" : "") + (draw ? " draw" : "") +
        (kind <= PROCESSOR || kind === GROUP ? " ui" : "");
    row.append(span("num", kind === PACKET ? String(ref) : ""), guides, span("arrow", hasBelow ? T.open[node] ? "▾" : "▸" : ""),
        ...(draw ? [draw] : []), span("label", span("name" + (kind === SUBMISSION ? " strong" : ""), nodeName(node)), " ",
            span("sum", nodeSummary(node))), ...marksOf(node).filter(Boolean), span("count", countText(node)));
    row.id = "t" + node;
    role(row, "treeitem", {"aria-level": T.depth[node] + 1, "aria-selected": String(isHere)});
    if (hasBelow)
        row.setAttribute("aria-expanded", String(!!T.open[node]));
    else
        row.removeAttribute("aria-expanded");
    row.node = node;
}

let tree = null;
const isPhone = () => innerWidth < 720;

function makeTree() {
    tree = new List($("tree"), () => isPhone() ? 36 : 22, fillTreeRow);
    $("tree").addEventListener("click", event => {
        const row = event.target.closest(".row");
        if (row && document.body.classList.contains("ready"))
            clickNode(row.node, event.target.classList.contains("arrow"));
    });
}
function toggle(node) {
    T.open[node] ^= 1;
    listVisible();
    tree.resize(visible.length);
}
function clickNode(node, isArrow) {
    if (T.type[node] === PACKET && !isArrow)
        go({packet: T.ref[node], event: null, pane: "packet"});
    else
        toggle(node);
}
function showInTree(middle) {
    const node = nodeOf[at.packet];
    if (node >= 0 && (!isListed || T.listed[node]))
        openTo(node);
    tree.resize(visible.length);
    if (rowOf.has(node)) {
        tree.show(rowOf.get(node), middle);
        $("tree").setAttribute("aria-activedescendant", "t" + node);
    }
}
// The next packet among those that are visible.
function packetBeside(step) {
    const from = rowOf.get(nodeOf[at.packet]);
    for (let i = (from === undefined ? -1 : from) + step; i >= 0 && i < visible.length; i += step > 0 ? 1 : -1)
        if (T.type[visible[i]] === PACKET)
            return T.ref[visible[i]];
    return -1;
}
// Names from the submission down to a packet.
function pathOf(p) {
    const ret = [];
    for (let node = nodeOf[p]; node >= 0; node = T.parent[node]) {
        const kind = T.type[node];
        if (kind !== FOLD)
            ret.unshift(kind === PACKET ? packetName(T.ref[node]) + " " + T.ref[node] : kind === SUBMISSION ? nodeName(node).toLowerCase()
                : kind === GROUP ? "group " + T.ref[node] : nodeName(node));
    }
    return ret;
}
