// What a reader can't read well in the picture that is drawn: texts upon each other, texts that are cut, small texts.
// Returns a list of {kind, text, other?, at}.
(rooms) => {
    const faults = [];
    const close = 2; // pixels by which boxes of letters may touch: a line's box is higher than its letters
    const parts = [];
    for (const room of document.querySelectorAll(rooms)) {
        if (!room.checkVisibility()) continue;
        const walker = document.createTreeWalker(room, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            const text = node.data.trim();
            const holder = node.parentElement;
            if (!text || holder.closest("title, desc, style, script, .visually-hidden, [aria-hidden=measure]")) continue;
            if (!holder.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
            const range = document.createRange();
            range.selectNodeContents(node);
            const rects = [...range.getClientRects()].filter(({ width, height }) => width > 1 && height > 1);
            if (rects.length === 0) continue;
            parts.push({ text, holder, rects });
        }
    }
    const kept = [];
    for (const { text, holder, rects } of parts.filter(({ holder }) => !holder.closest(".where, .fix-bar-text, .net-key, .net-path, summary, .finding-what, #headline > button"))) {
        const size = parseFloat(getComputedStyle(holder).fontSize);
        const matrix = holder.getScreenCTM?.();
        const drawn = size * (matrix ? Math.hypot(matrix.a, matrix.b) : 1);
        let cutAt = null;
        for (const rect of rects) {
            let { left, right, top, bottom } = rect;
            const whole = { left, right, top, bottom };
            for (let up = holder; up && up !== document.body; up = up.parentElement) {
                const style = getComputedStyle(up);
                if (style.overflowX === "visible" && style.overflowY === "visible") continue;
                if (style.display === "inline") continue;
                if (up instanceof SVGElement && !(up instanceof SVGSVGElement)) continue;
                const box = up.getBoundingClientRect();
                const scrolls = /auto|scroll/.test(style.overflowX);
                if (style.overflowX !== "visible") {
                    if (!scrolls && left < box.right && right > box.left && (right > box.right + 1 || left < box.left - 1))
                        cutAt = up;
                    left = Math.max(left, box.left);
                    right = Math.min(right, box.right);
                }
                if (style.overflowY !== "visible") {
                    // a line of which half is seen; what scrolls may end in one
                    const seen = Math.min(bottom, box.bottom) - Math.max(top, box.top);
                    if (!/auto|scroll/.test(style.overflowY) && seen > 2 && seen < 0.8 * (bottom - top)) cutAt = up;
                    top = Math.max(top, box.top);
                    bottom = Math.min(bottom, box.bottom);
                }
            }
            const visible = right - left > 1 && bottom - top > 0.5 * (whole.bottom - whole.top);
            const over = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
            if (visible && over && over.closest(rooms) === holder.closest(rooms)) kept.push({ text, holder, left, right, top, bottom, drawn });
        }
        if (cutAt && kept.some(part => part.holder === holder))
            faults.push({ kind: "cut", text, at: `${holder.tagName}.${holder.getAttribute("class") ?? ""}`,
                by: `${cutAt.tagName}.${cutAt.getAttribute("class") ?? cutAt.id}` });
    }
    for (const { text, holder, drawn } of kept)
        if (drawn < 11.9 ) faults.push({
                kind: "small",
                text,
                at: holder.getAttribute("class") ?? holder.tagName,
                size: drawn,
            });
    kept.sort((a, b) => a.left - b.left);
    for (let i = 0; i < kept.length; i++)
        for (let j = i + 1; j < kept.length && kept[j].left < kept[i].right; j++) {
            const [a, b] = [kept[i], kept[j]];
            if (a.holder === b.holder) continue;
            const wide = Math.min(a.right, b.right) - b.left;
            const highA = a.bottom - a.top, highB = b.bottom - b.top;
            const high = Math.min(a.bottom - 0.18 * highA, b.bottom - 0.18 * highB) - Math.max(a.top + 0.18 * highA, b.top + 0.18 * highB);
            if (wide > close && high > close)
                faults.push({ kind: "upon", text: a.text, other: b.text,
                    at: `${a.holder.getAttribute("class") ?? a.holder.tagName} / ${b.holder.getAttribute("class") ?? b.holder.tagName}`,
                    by: `${Math.round(wide)}x${Math.round(high)}` });
        }
    return faults;
}
