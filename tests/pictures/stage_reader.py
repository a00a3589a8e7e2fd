"""What the stage in the browser shows at each step, read from its elements: facts, where they stand, what is in
sight."""

READ = r"""
const stage = document.querySelector("#stage");
const panes = () => ["memory", "graph"].map(side => stage.querySelector(`.${side}-pane`)).filter(pane => pane && !pane.hidden);
const all = (query, read, roots = panes()) => roots.flatMap(root => [...root.querySelectorAll(query)].map(read));
const text = (e, query) => e.querySelector(query)?.textContent ?? null;
const titleOf = e => e.dataset.title ?? e.querySelector("[data-title]")?.dataset.title ?? null;
const rect = e => { if (!e) return null; const r = e.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; };
const box = (e, query) => rect(e.querySelector(query));
const inSight = e => {
    const r = e.getBoundingClientRect(), s = (e.closest(".pane-scroll") ?? e.closest(".stage-pane")).getBoundingClientRect();
    return r.left >= s.left - 1 && r.right <= s.right + 1 && r.top >= s.top - 1 && r.bottom <= s.bottom + 1;
};
const ends = e => {
    const at = p => { const q = p.matrixTransform(e.getScreenCTM()); return [q.x, q.y]; };
    return [at(e.getPointAtLength(0)), at(e.getPointAtLength(e.getTotalLength()))];
};
const row = e => e.closest("[data-row]");
const rowKey = e => row(e)?.dataset.row ?? null;
const more = e => [...e.querySelectorAll(":scope > text.meta")].map(t => t.firstChild?.textContent ?? "").find(t => /^\+\d+$/.test(t)) ?? "+0";
const readStep = () => ({
    panes: panes().map(e => ({side: e.classList.contains("memory-pane") ? "memory" : "graph", still: e.dataset.still === "true",
        scrolled: e.querySelector(".pane-scroll").scrollTop,
        scrolls: e.querySelector(".pane-scroll").scrollHeight > e.querySelector(".pane-scroll").clientHeight + 1})),
    rows: all("[data-row]", e => ({key: e.dataset.row, slim: e.classList.contains("slim"), small: e.classList.contains("small"),
        top: e.getBoundingClientRect().top, label: text(e, ":scope > .no-name"),
        quiet: [...e.querySelectorAll(":scope > text.meta")].map(t => titleOf(t)).find(t => /^[tas]\d/.test(t ?? "")) ?? ""})),
    cells: all("[data-cell]", e => ({key: e.dataset.cell, dtype: e.dataset.dtype, value: e.dataset.value, text: text(e, ".val"),
        title: titleOf(e), box: rect(e.matches(".cell-box") ? e : e.querySelector(".cell-box")), written: e.classList.contains("written"),
        heat: e.classList.contains("heat"), row: rowKey(e)})),
    handles: all("[data-handle]", e => ({uid: e.dataset.handle, counter: e.dataset.counter ?? null, node: e.dataset.nodeRef ?? null,
        grad: e.dataset.gradRef ?? null, on: e.dataset.on ?? null, owner: e.dataset.gradOf ?? null, shape: text(e, ".shape"),
        role: text(e, ".role"), meta: text(e, ".meta"), label: e.getAttribute("aria-label"), slim: e.classList.contains("slim"),
        quiet: e.classList.contains("quiet"), box: rect(e.querySelector(".card-box,.strip-frame,.void") ?? e),
        row: rowKey(e), seen: inSight(e.querySelector(".card-box") ?? e)})),
    wires: all("[data-wire]", e => ({uid: e.dataset.wire, under: all(".bead-line", ends, [e]), runs: all(".map-run", rect, [e]),
        beads: e.querySelectorAll("[data-bead]").length, row: rowKey(e)})),
    beads: all("[data-bead]", e => ({key: e.dataset.bead, reads: e.dataset.reads, index: e.dataset.index, dtype: e.dataset.dtype,
        text: text(e, "text"), box: box(e, "rect")})),
    badges: all("[data-counter-badge]", e => ({counter: e.dataset.counterBadge, version: e.dataset.version, wearers: e.dataset.wearers,
        text: text(e, ".badge-text"), title: titleOf(e), box: box(e, ".rail-box"), row: rowKey(e)})),
    tags: all(".tag", e => ({name: e.dataset.name ?? null, frame: e.dataset.frame ?? null, ref: e.dataset.ref, path: e.dataset.path ?? null,
        text: [...e.querySelectorAll("text")].at(-1)?.textContent ?? "", box: box(e, "path"), row: rowKey(e), seen: inSight(e)})),
    moreNames: all(".tags", e => ({ref: e.querySelector("[data-ref]").dataset.ref, count: more(e),
        names: [...e.querySelectorAll(":scope > text[data-title]")].map(titleOf).join(", ")})),
    frames: all("[data-frame-card]", e => ({uid: e.dataset.frameCard, more: [more(e), text(e, '[data-fold^="items "] text') ?? "+0"]})),
    chips: all("[data-chip]", e => ({frame: e.dataset.frame, name: e.dataset.name, value: e.dataset.value, text: text(e, ".chip-value")})),
    objects: all("[data-object]", e => ({uid: e.dataset.object, more: text(e, '[data-fold^="items "] text') ?? "+0", type: text(e, ".meta"), seen: inSight(e)})),
    items: all("[data-item]", e => ({key: e.dataset.item, to: e.dataset.to ?? null, value: e.dataset.value, text: text(e, ".chip-value")})),
    nodes: all("[data-node]", e => ({uid: e.dataset.node, variable: e.dataset.variable ?? null, name: text(e, ".node-name"),
        label: e.getAttribute("aria-label"), box: box(e, ".node-box"), marks: [...e.classList], turn: text(e, ".order-text"),
        docked: e.closest(".graph-row")?.querySelector("[data-node]:not(.accumulate):not(.shaping)") !== e, seen: inSight(e.querySelector(".node-box"))})),
    again: all("[data-again]", e => ({uid: e.dataset.again, box: box(e, ".node-box")})),
    edges: all("[data-edge]", e => ({key: e.dataset.edge, from: e.dataset.from, to: e.dataset.to, ends: ends(e.querySelector(".edge-line")),
        arrow: e.querySelector(".arrow") !== null, flow: e.classList.contains("flow")})),
    slots: all("[data-slot]", e => ({key: e.dataset.slot, state: e.dataset.savedState, storage: e.dataset.savedIn ?? null, text: text(e, "text"),
        title: titleOf(e), dot: e.classList.contains("dot"), marks: [...e.classList]})),
    moreSlots: all("[data-slots]", e => ({keys: e.dataset.slots.split(" "), text: text(e, "text")})),
    pins: all("[data-pin]", e => ({key: e.dataset.pin, state: e.dataset.state, expected: e.dataset.expected ?? null, storage: e.dataset.storage,
        text: text(e, ".pin-head text"), words: e.querySelector(".pin-head text")?.getAttribute("class") ?? "", dot: e.classList.contains("dot"), marks: [...e.classList], bracket: e.querySelector(".pin-line") ? ends(e.querySelector(".pin-line")) : null, row: rowKey(e)})),
    morePins: all(".pin-more", e => ({row: rowKey(e), count: e.firstChild.textContent, names: titleOf(e)})),
    alarms: all(".alarm", e => ({row: rowKey(e), text: e.textContent})),
    moreGrads: all(".more-grads", e => e.textContent),
    grads: all("[data-grad]", e => ({on: e.dataset.grad, now: e.classList.contains("now"), title: titleOf(e), texts: all("text", t => t.textContent, [e])})),
    none: all(".placeholder", e => ({owner: e.dataset.gradOf, title: titleOf(e), text: text(e, "text")})),
    elsewhere: all(".grad-elsewhere", e => ({owner: e.dataset.gradOf, to: e.dataset.to})),
    gradNames: all(".grad-name", e => ({ref: e.dataset.ref, path: e.dataset.path})),
    strips: all("[data-storage-strip]", e => ({uid: e.dataset.storageStrip, first: e.dataset.first ?? null, notes: all("text.meta", t => t.textContent, [e]), box: rect(e.querySelector(".strip-frame,.void") ?? e), frames: all(".strip-frame", rect, [e]), row: rowKey(e), seen: inSight(e)})),
    colours: all("[data-storage-strip]", e => {
        const frame = e.querySelector(".strip-frame"), [x, width] = ["x", "width"].map(name => Number(frame?.getAttribute(name)));
        const at = sign => [...e.querySelectorAll(`:scope > path.wash.${sign}`)].flatMap(path => [...path.getAttribute("d").matchAll(/M(-?[\d.]+)/g)].map(([, left]) => (left - x) / width));
        return {uid: e.dataset.storageStrip, bands: e.querySelectorAll(".strip-frame").length, pos: at("pos"), neg: at("neg")};
    }),
    folds: all("[data-fold]", e => ({key: e.dataset.fold, text: [...e.querySelectorAll("text")].map(t => t.textContent).join("|"), open: e.getAttribute("aria-expanded"),
        members: (e.dataset.members ?? "").split(" ").filter(Boolean), box: rect(e.querySelector("rect:not(.halo)")), at: e.closest(".graph-row")?.querySelector("[data-node]:not(.accumulate):not(.shaping)")?.dataset.node ?? null})),
    links: all("[data-link]", e => ({key: e.dataset.link, kind: e.classList[1]}), [stage]),
});
const BOXES = ".card-box,.tag > path,.rail-box,.strip-frame,.void,.pin-head > rect,.placeholder > rect,.object-box,.moves > .frame-box,.fold.line > .fold-ground," +
    ".node-box,.slot > rect,.chip-frame,.node-tag,.node-flag > rect,.fold-line-box,.graph-more > rect,.fold-badge,.chip-ground,.bead > rect,.map-ground";
const area = e => { const r = e.getBoundingClientRect(); return {e, l: r.left, t: r.top, r: r.right, b: r.bottom, w: r.width, h: r.height}; };
const title = e => {
    const g = e.closest("[data-cell],[data-handle],[data-pin],[data-ref],[data-node],[data-slot],[data-grad],[data-fold],[data-counter-badge],[data-row],[data-bead],[data-item],[data-chip],[data-object],[data-frame-card]");
    const what = g ? Object.entries({...g.dataset})[0].join("=") : "";
    return e.tagName === "text" ? `'${e.firstChild.textContent.slice(0, 40)}' (${e.getAttribute("class") ?? ""} ${what})` : `${e.getAttribute("class") ?? e.parentElement.getAttribute("class")} ${what}`;
};
const hits = (a, b, s = 0.6) => a.l + s < b.r && b.l + s < a.r && a.t + s < b.b && b.t + s < a.b;
const linesThrough = (svg, texts) => {
    const out = [], boxes = [...svg.querySelectorAll("rect")].map(area);
    const free = texts.filter(t => !boxes.some(b => b.l <= t.l + 1 && b.r >= t.r - 1 && b.t <= t.t + 1 && b.b >= t.b - 1 && b.e.parentElement.contains(t.e)));
    for (const path of svg.querySelectorAll("path:not(.wash):not(.card-bar):not(.arrow)")) {
        const p = path.getBoundingClientRect(), length = path.getTotalLength();
        const near = free.filter(t => p.left < t.r && p.right > t.l && p.top < t.b && p.bottom > t.t);
        if (!near.length || getComputedStyle(path).stroke === "none" || path.closest("defs")) continue;
        const matrix = path.getScreenCTM();
        const crossed = new Set();
        for (let d = 0; d <= length; d += 2) {
            const {x, y} = path.getPointAtLength(d).matrixTransform(matrix);
            for (const t of near) if (x > t.l && x < t.r && y > t.t && y < t.b) crossed.add(t.e);
        }
        for (const e of crossed) out.push(`line through: ${path.getAttribute("class")} through ${title(e)}`);
    }
    return out;
};
const layoutProblems = () => {
    const out = [];
    for (const pane of panes()) for (const svg of pane.querySelectorAll("svg")) {
        const frame = pane.getBoundingClientRect();
        const boxes = [...svg.querySelectorAll(BOXES)].map(area).filter(a => a.w > 0 && a.h > 0);
        const texts = [...svg.querySelectorAll("text")].filter(e => e.textContent.trim() && !e.closest("defs")).map(area).filter(a => a.w > 0);
        for (const t of texts) {
            const size = parseFloat(getComputedStyle(t.e).fontSize) * t.e.getScreenCTM().a;
            if (stage.clientWidth >= 620 && size < 11.95) out.push(`smaller than 12 px: ${title(t.e)} ${Math.round(size * 10) / 10}`);
            [t.t, t.b, t.l, t.r] = [t.t + t.h * 0.2, t.b - t.h * 0.2, t.l + 0.3, t.r - 0.3];
            if (t.l < frame.left - 0.5 || t.r > frame.right + 0.5) out.push(`clipped by its pane: ${title(t.e)} ${Math.round(t.l - frame.left)}…${Math.round(t.r - frame.left)} of ${Math.round(frame.width)}`);
            const own = boxes.find(b => b.e.parentElement === t.e.parentElement && t.l + t.w / 2 > b.l && t.l + t.w / 2 < b.r && (t.t + t.b) / 2 > b.t && (t.t + t.b) / 2 < b.b);
            if (own && (t.l < own.l - 0.8 || t.r > own.r + 0.8) && !own.e.matches(".chip-ground")) out.push(`clipped by its box: ${title(t.e)} by ${Math.round(Math.max(own.l - t.l, t.r - own.r) * 10) / 10}`);
            t.text = true;
            if (stage.clientWidth >= 620 && t.e.matches(".role,.shape,.reading-words") && t.e.firstChild.textContent.includes("…")) out.push(`cut: ${title(t.e)}`);
        }
        out.push(...linesThrough(svg, texts));
        for (const b of boxes) if (b.l < frame.left - 1 || b.r > frame.right + 1) out.push(`outside of its pane: ${title(b.e)} ${Math.round(b.l - frame.left)}…${Math.round(b.r - frame.left)} of ${Math.round(frame.width)}`);
        const items = [...boxes, ...texts].sort((a, b) => a.t - b.t);
        for (let i = 0; i < items.length; i++) for (let j = i + 1; j < items.length && items[j].t < items[i].b; j++) {
            const [a, b] = [items[i], items[j]];
            if (!hits(a, b)) continue;
            if (!a.text && !b.text) {
                const inside = (x, y) => y.e.parentElement.contains(x.e) && x.l >= y.l - 1 && x.r <= y.r + 1 && x.t >= y.t - 1 && x.b <= y.b + 1;
                if (inside(a, b) || inside(b, a)) continue;
                if (a.e.closest(".bead") && b.e.closest(".bead") && a.e.parentElement.dataset.reads === b.e.parentElement.dataset.reads) continue;
            } else if (a.text !== b.text) {
                const [t, box] = a.text ? [a, b] : [b, a];
                const read = e => e.closest("[data-bead]")?.dataset.reads;
                if (t.e.matches(".times") && box.e.closest(".bead")) continue;
                if (t.e.matches(".order-text") && box.e.matches(".node-box") && box.e.parentElement.contains(t.e)) continue;
                if (read(t.e) && read(t.e) === read(box.e)) continue;
                const middle = (t.l + t.r) / 2 > box.l && (t.l + t.r) / 2 < box.r;
                if (box.e.parentElement.contains(t.e) && middle) continue;
            }
            out.push(`overlap: ${title(a.e)} on ${title(b.e)} by ${Math.round(Math.min(a.r, b.r) - Math.max(a.l, b.l))}×${Math.round(Math.min(a.b, b.b) - Math.max(a.t, b.t))}`);
        }
    }
    return [...new Set(out)];
};
const frame = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
const goTo = async i => {
    const slider = document.querySelector("#slider");
    const scrollers = () => panes().map(pane => pane.querySelector(".pane-scroll"));
    const scrolled = () => scrollers().map(scroller => scroller.scrollTop).join();
    const room = () => `${stage.clientWidth} ${stage.clientHeight}`;
    const [at, size] = [scrolled(), room()];
    slider.value = String(i);
    slider.dispatchEvent(new Event("input"));
    // the browser tells of scrolling with its next frame; said at once, no step has to be painted
    if (scrolled() !== at) for (const scroller of scrollers()) scroller.dispatchEvent(new Event("scroll"));
    if (room() !== size) await frame();
};
"""

ALL_STEPS = f"""async (n) => {{
    {READ}
    const out = [];
    for (let i = 0; i < n; i++) {{
        await goTo(i);
        out.push({{...readStep(), problems: layoutProblems(), step: Number(document.querySelector("#workbench").dataset.step),
            said: [...document.querySelectorAll("#sentences li")].map(e => e.textContent)}});
    }}
    return JSON.stringify(out);
}}"""
"""What is drawn at each step, and what of it overlaps or is cut, as JSON: a megabyte of values takes Playwright a
second."""

LAYOUT = f"""async (steps) => {{
    {READ}
    const out = [];
    for (const i of steps) {{
        await goTo(i);
        out.push({{step: i, problems: layoutProblems()}});
    }}
    return out;
}}"""
"""Of these steps, only what overlaps or is cut."""
