/** The loom on the page: the whole run in one scrolled picture, its heads always in sight; and on paper, in slices. */

import { HEAD, loom as makeLoom, SMALLEST } from "./layout/loom.js";
import { ALL, band, TALL } from "./layout/view.js";
import { corner, LOOM, loomMarks } from "./marks/loom.js";
import { patch, SVG } from "./svg.js";

/** @typedef {import("./state.js").Opened} Opened */
/** @typedef {{show: (opened: Opened, i: number) => void, print: (opened: Opened) => void, printed: () => void}} LoomView */

const NARROW = 680;
/** Height over width of what a sheet of paper has room for. */
const SHEET = { upright: 1.3, across: 0.64 };
/** Wider pictures are printed across. */
const WIDE = 1350;
const GRAIN = 40;

/**
 * @param {HTMLElement} host
 * @param {Document} document
 * @param {{words?: Partial<import("./marks/loom.js").Words>, go: (i: number) => void}} how go: called with the step of a row that was chosen
 * @returns {LoomView}
 */
export function createLoom(host, document, { words = {}, go }) {
  const root = document.createElement("div");
  root.className = "loom";
  root.tabIndex = 0;
  const layers = {
    corner: surface(document, "corner"),
    head: surface(document, "head"),
    code: surface(document, "code"),
    body: surface(document, "body"),
  };
  const paper = document.createElement("div");
  paper.className = "loom-sheets";
  root.append(...Object.values(layers).map((one) => one.svg));
  host.append(root, paper);
  /** @type {WeakMap<Opened, Map<string, import("./layout/loom.js").Loom>>} */
  const plans = new WeakMap();
  /** @type {{opened: Opened, i: number} | null} */
  let shown = null;
  let seen = ALL;
  let k = 1;

  /** @param {Opened} opened @param {number} width @param {boolean} stacked */
  function planFor(opened, width, stacked) {
    const known = plans.get(opened) ?? /** @type {Map<string, import("./layout/loom.js").Loom>} */ (new Map());
    plans.set(opened, known);
    const room = Math.floor(width / GRAIN) * GRAIN;
    const key = `${room} ${stacked}`;
    const plan = known.get(key) ?? makeLoom(opened, { room, stacked });
    if (known.size > 3) known.clear();
    known.set(key, plan);
    return plan;
  }

  function current() {
    const width = host.clientWidth;
    return shown && width ? planFor(shown.opened, width, width < NARROW) : null;
  }

  function draw() {
    const plan = current();
    if (!plan || !shown) return;
    const { opened, i } = shown;
    k = Math.min(1, (host.clientWidth - 1) / plan.width);
    if (k < SMALLEST) k = 1;
    root.classList.toggle("stacked", plan.stacked);
    seen = sight(plan);
    const { head, code, body } = loomMarks(plan, opened, i, words, seen);
    const side = plan.stacked ? host.clientWidth / k : plan.code;
    place(layers.corner, k, 0, plan.stacked ? 0 : plan.code, HEAD);
    place(layers.head, k, 0, plan.width, HEAD);
    place(layers.code, k, HEAD, side, plan.height - HEAD);
    place(layers.body, k, HEAD, plan.width, plan.height - HEAD);
    layers.body.svg.setAttribute(
      "aria-label",
      opened.trace.program.source.split("\n")[opened.trace.steps[i].line - 1]?.trim() ?? "",
    );
    patch(document, layers.corner.group, corner(plan, { ...LOOM, ...words }));
    patch(document, layers.head.group, head);
    patch(document, layers.code.group, code);
    patch(document, layers.body.group, body);
  }

  /** What is in sight, in the plan's heights. @param {import("./layout/loom.js").Loom} plan */
  function sight(plan) {
    return plan.height <= TALL ? ALL : band(root.scrollTop / k, (root.scrollTop + root.clientHeight) / k);
  }

  function scrolled() {
    const plan = current();
    if (!plan || seen === ALL) return;
    const now = sight(plan);
    if (now.top !== seen.top || now.bottom !== seen.bottom) draw();
  }

  /** Scroll the row of the step into sight. */
  function bring() {
    const plan = current();
    const box = plan && shown ? plan.boxes[plan.story.at[shown.i]] : null;
    if (!box || !plan) return;
    const top = root.scrollTop / k + HEAD;
    const bottom = (root.scrollTop + root.clientHeight) / k;
    if (box.y >= top && box.y + box.h <= bottom) return;
    root.scrollTop =
      k * Math.max(0, box.h > bottom - top ? box.y - HEAD : box.y + box.h / 2 - HEAD - (bottom - top) / 2);
    scrolled();
  }

  /** @param {MouseEvent} event */
  function choose(event) {
    const plan = current();
    const target = event.target instanceof Element ? event.target : null;
    if (!plan || !shown || !target || target.closest(".loom-head, .loom-corner")) return;
    const point = target.closest("[data-step]")?.getAttribute("data-step");
    if (point && target.closest(".loom-point")) return go(Number(point));
    const y = (event.clientY - layers.body.svg.getBoundingClientRect().top) / k + HEAD;
    const r = plan.boxes.findLastIndex((box) => box.foldY <= y);
    if (r >= 0) go(plan.story.rows[r].last);
  }

  /** A cell, and all that reads it, in every row. @param {Event} event */
  function over(event) {
    const target = event.target instanceof Element ? event.target.closest("[data-loom-reads], [data-loom-cell]") : null;
    const cell = target?.getAttribute("data-loom-reads") ?? target?.getAttribute("data-loom-cell");
    for (const el of root.querySelectorAll(".lit")) el.classList.remove("lit");
    if (cell)
      for (const el of root.querySelectorAll(`[data-loom-reads="${cell}"], [data-loom-cell="${cell}"]`))
        el.classList.add("lit");
  }

  root.addEventListener("click", choose);
  root.addEventListener("pointerover", over);
  root.addEventListener("pointerleave", over);
  root.addEventListener("scroll", scrolled, { passive: true });
  if (typeof ResizeObserver !== "undefined")
    new ResizeObserver(() => {
      draw();
      bring();
    }).observe(host);

  return {
    show(opened, i) {
      const again = shown?.opened === opened;
      shown = { opened, i };
      draw();
      if (!again) root.scrollTo(0, 0);
      bring();
    },
    /** The whole run as it ended, a slice of rows for every sheet. @param {Opened} opened */
    print(opened) {
      const plan = makeLoom(opened, { room: 1180, scrolls: false });
      const across = plan.width > WIDE;
      const most = plan.width * (across ? SHEET.across : SHEET.upright) - HEAD;
      const slices = [];
      for (let from = 0; from < plan.boxes.length; ) {
        let to = from;
        while (
          to + 1 < plan.boxes.length &&
          plan.boxes[to + 1].y + plan.boxes[to + 1].h - plan.boxes[from].foldY <= most
        )
          to++;
        slices.push([from, to]);
        from = to + 1;
      }
      paper.replaceChildren(
        ...slices.map(([from, to]) => {
          const top = plan.boxes[from].foldY;
          const tall = plan.boxes[to].y + plan.boxes[to].h - top;
          const { head, code, body } = loomMarks(plan, opened, opened.count, words, { top, bottom: top + tall });
          const sheet = document.createElementNS(SVG, "svg");
          sheet.setAttribute("class", `loom-svg loom-sheet${across ? " across" : ""}`);
          sheet.setAttribute("viewBox", `0 0 ${plan.width} ${HEAD + tall}`);
          const rows = document.createElementNS(SVG, "svg");
          for (const [name, value] of Object.entries({
            y: HEAD,
            width: plan.width,
            height: tall,
            viewBox: `0 ${top} ${plan.width} ${tall}`,
          }))
            rows.setAttribute(name, String(value));
          patch(document, rows, [...body, ...code]);
          const heads = document.createElementNS(SVG, "g");
          patch(document, heads, [...head, ...corner(plan, { ...LOOM, ...words })]);
          sheet.append(rows, heads);
          return sheet;
        }),
      );
    },
    printed() {
      paper.replaceChildren();
    },
  };
}

/** @param {Document} document @param {string} name */
function surface(document, name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", `loom-svg loom-${name}`);
  const group = document.createElementNS(SVG, "g");
  svg.append(group);
  return { svg, group };
}

/** @param {ReturnType<typeof surface>} to @param {number} k its scale @param {number} y @param {number} w @param {number} h */
function place({ svg }, k, y, w, h) {
  svg.setAttribute("width", String(w * k));
  svg.setAttribute("height", String(h * k));
  svg.setAttribute("viewBox", `0 ${y} ${Math.max(w, 1)} ${Math.max(h, 1)}`);
}
