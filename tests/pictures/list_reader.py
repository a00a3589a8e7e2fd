"""What the browser measures of a list of rows, step by step: JavaScript, and no knowledge of what has to be there."""

PROBLEMS = r"""async steps => {
    const frame = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    const slider = document.querySelector("#slider");
    const scroller = document.querySelector(".net-scroll");
    const found = [];
    const BOXES = [".net-chip > rect", ".net-slot > rect", ".net-call > rect", ".net-tag > path", ".net-version > rect",
        ".net-card > rect:first-child", ".net-values-frame", ".net-no-gradient > rect", ".net-bar-ground",
        ".net-kept-box", ".net-bins"].join();
    for (const step of steps) {
        slider.value = String(step);
        slider.dispatchEvent(new Event("input", {bubbles: true}));
        await frame();
        const room = scroller.getBoundingClientRect();
        const isInSight = ({top, bottom}) => bottom > room.top + 1 && top < room.bottom - 1;
        const texts = [...document.querySelectorAll(".net-head text, .net-body text")].flatMap(text => {
            const box = text.getBoundingClientRect();
            const isHead = text.closest(".net-head") !== null;
            if (!text.textContent.trim() || !box.width || !(isHead || isInSight(box))) return [];
            const size = parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a;
            return [{text, words: text.textContent.slice(0, 40), box, size, isHead}];
        });
        const say = words => found.push(`step ${step}: ${words}`);
        // what a text stands in, as the rectangle before it in its group, holds all of it; no other box lies on it
        const boxes = [...document.querySelectorAll(BOXES)].map(e => ({e, box: e.getBoundingClientRect()}));
        texts.forEach(({text, words, box, size, isHead}, k) => {
            if (size < 11.9) say(`"${words}" is ${size.toFixed(1)} px high`);
            for (const {e, box: other} of boxes) {
                const isOwn = e.parentElement.contains(text);
                const wide = Math.min(box.right, other.right) - Math.max(box.left, other.left);
                const high = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
                if (wide < 1.5 || high < 5 || !isInSight(other)) continue;
                const middle = (box.left + box.right) / 2;
                const isWithin = middle > other.left && middle < other.right;
                if (!isOwn) say(`"${words}" lies on ${e.parentElement.getAttribute("class")}`);
                else if (isWithin && wide < box.width - 1.5) say(`"${words}" is wider than its box`);
            }
            if (box.right > room.right + 1.5 || box.left < room.left - 1.5) say(`"${words}" leaves the list`);
            for (const other of texts.slice(k + 1)) {
                if (other.isHead !== isHead) continue;  // rows go by below the heads of their columns
                const wide = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
                const high = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
                if (wide > 1.5 && high > 4.5) say(`"${words}" lies on "${other.words}"`);
            }
        });
        const now = [...document.querySelectorAll(".net-row.now")].map(row => row.getBoundingClientRect());
        if (now.length && !now.some(isInSight)) say("the row of the step is out of sight");
        if (room.height < 150) say(`the list is ${room.height} px high`);
    }
    return found;
}"""
"""The texts of the list that lie on each other, leave it or are small, and steps whose row is out of sight."""
