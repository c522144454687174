// From the shell to the first place.

function shellText() {
    const firmware = meta.firmware2 ? meta.firmware + ", " + meta.firmware2 : meta.firmware;
    $("inputs").textContent = meta.capture + " · " + firmware + " · " + meta.gen;
    $("inputs").title = $("inputs").textContent;
    $("tab-diff").hidden = !meta.diff;
    $("status").textContent = "Reading " + thousands(meta.events) + " events …";
}
function connect() {
    for (const view of ["packet", "state", "diff"])
        $("tab-" + view).addEventListener("click", () => go({view}));
    for (const side of ["path", "steps", "why"])
        $("side-" + side).addEventListener("click", () => go({side}));
    for (const pane of PANES)
        $("pane-" + pane).addEventListener("click", () => {
            if (pane === "state")
                go({view: "state", pane});
            else if (at.view !== "packet" && pane !== "tree")
                go({view: "packet", pane});
            else {
                showPane(pane);
                paintAll();
            }
        });
    $("theme").addEventListener("click", nextTheme);
    $("keys").addEventListener("click", showHelp);
    $("close-help").addEventListener("click", () => $("help").close());
    $("close-why").addEventListener("click", () => {
        stateWhy = false;
        go({event: null, side: "path"});
    });
    document.addEventListener("click", event => {
        const a = event.target.closest("a[href^='#']");
        if (a && !event.defaultPrevented && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
            event.preventDefault();
            enterFragment(a.getAttribute("href"), true);
        }
    });
    addEventListener("hashchange", () => enterFragment(location.hash, false));
    addEventListener("resize", () => paintTimeline());
    addEventListener("beforeprint", () => document.querySelectorAll(".fold").forEach(fold => fold.click()));
}
async function enterFragment(text, isClick) {
    const place = placeFrom(text);
    if (place.view === "diff") {
        await readChanges();
        if (place.packet === undefined && changes.list.length)
            [place.packet] = changes.list;
    }
    if (place.q !== at.q && !isClick) {
        $("q").value = place.q;
        search(place.q);
    }
    delete place.q;
    const isPlace = place.packet !== undefined || place.view !== "packet";
    await go({...place, pane: isClick || isPlace ? "packet" : undefined});
}
async function start() {
    if (typeof DecompressionStream !== "function") {
        $("status").textContent = "This browser cannot unpack the page's data: it takes Chrome 80, Firefox 113, Safari 16.4, or later.";
        return;
    }
    meta = await jsonSection("meta");
    shellText();
    readRun(await section("ev"));
    names = await jsonSection("names");
    P.layout = names.packets;
    listDraws();
    buildTree();
    listVisible();
    makeTree();
    tree.resize(visible.length);
    readCode((await jsonSection("code")).parts);
    countPackets();
    makeSearch();
    makeTimeline();
    makeKeys();
    connect();
    $("status").hidden = true;
    document.body.dataset.view = "packet";
    document.body.classList.add("ready");
    [time.from, time.to] = wholeTime();
    at.packet = P.n ? Math.max(0, T.ref[visible.find(i => T.type[i] === PACKET)] || 0) : -1;
    showPane("tree");
    paintCounts();
    tree.resize(visible.length);
    await enterFragment(location.hash, false);
}
start().catch(error => {
    $("status").hidden = false;
    $("status").textContent = "The page cannot be shown: " + error.message;
    if (!(error instanceof Failure))
        throw error;
});
