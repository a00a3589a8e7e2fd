/** The loom's program: a row's code with its line, its iteration and the visits of its backward. */

import { BOLD, CODE, HEAD } from "../layout/loom_sizes.js";
import { textWidth } from "../layout/metrics.js";
import { cls, h } from "../svg.js";
import { visibleRows } from "./loom_scene.js";

/** @typedef {import("../svg.js").VNode} VNode */
/** @typedef {import("./loom_scene.js").LoomScene} LoomScene */

/** @param {LoomScene} scene @returns {VNode[]} */
export function codeMarks(scene) {
  const { plan, now, labels } = scene;
  const out = [];
  if (!plan.stacked)
    out.push(
      h("rect", { key: "ground", class: "loom-ground", x: 0, y: HEAD, width: plan.code, height: plan.height - HEAD }),
    );
  for (const r of visibleRows(scene)) {
    const box = plan.rows[r];
    const row = plan.story.rows[r];
    const x = 46 + row.inset * 10;
    const current = r === now;
    const parts = [];
    if (current && !plan.stacked)
      parts.push(h("rect", { key: "band", class: "loom-now", x: 0, y: box.y, width: plan.code, height: box.h }));
    if (plan.stacked)
      parts.push(
        h("rect", {
          key: "ground",
          class: cls("loom-under", current && "now"),
          x: 4,
          y: box.codeY - 4,
          width: x + Math.max(90, ...box.code.map((line) => textWidth(line, 12.5))) + (row.turn ? 40 : 4),
          height: box.codeH + 4,
          rx: 4,
        }),
      );
    if (row.skipped)
      parts.push(
        h("path", { key: "fold", class: "loom-fold", d: `M16 ${box.foldY + 12}l3 -4l4 8l4 -8l4 8l3 -4` }),
        h(
          "text",
          { key: "unseen", class: "loom-note", x: 42, y: box.foldY + 16 },
          labels.unseen.replace("{n}", String(row.skipped)),
        ),
      );
    if (current) parts.push(h("path", { key: "here", class: "loom-here", d: `M7 ${box.codeY + 3}l8 5l-8 5z` }));
    const end = row.kind === "end";
    parts.push(
      h(
        "text",
        { key: "line", class: end ? "loom-note" : "loom-line end", x: end ? x : 36, y: box.codeY + 13 },
        end ? labels.end : String(row.line),
      ),
    );
    box.code.forEach((line, k) =>
      parts.push(h("text", { key: `code ${k}`, class: "loom-code", x, y: box.codeY + 13 + k * CODE }, line)),
    );
    const foot = box.codeY + 13 + box.code.length * CODE - 1;
    const notes = [];
    if (row.turn) notes.push(`[${row.turn}]`);
    if (row.kind !== "statement" && /^(call|return|yield|resume)$/.test(row.kind))
      notes.push({ call: "→", return: "←", yield: "⇠", resume: "⇢" }[row.kind] ?? "");
    if (notes.length)
      parts.push(
        h(
          "text",
          {
            key: "turn",
            class: "loom-note",
            x: Math.min(
              x + textWidth(box.code[0] ?? "", 12.5) + 8,
              (plan.stacked ? 360 : plan.code) - notes.join(" ").length * 7 - 4,
            ),
            y: box.codeY + 13,
          },
          notes.join(" "),
        ),
      );
    const raised = row.kind === "raise";
    if (raised) parts.push(h("text", { key: "raises", class: "loom-alarm", x, y: foot }, `✕ ${labels.raises}`));
    else if (row.visits.length) parts.push(...visitMarks(scene, r, x, foot));
    else if (row.freed)
      parts.push(
        h("text", { key: "freed", class: "loom-note", x, y: foot }, labels.passing.replace("{n}", String(row.freed))),
      );
    out.push(
      h(
        "g",
        {
          key: `code ${r}`,
          class: cls("loom-statement", current && "now", r > now && "future"),
          "data-loom-row": r,
          "data-step": row.last,
          "aria-current": current ? "step" : null,
        },
        parts,
      ),
    );
  }
  return out;
}

/** The visits of a backward: a point each, which leads to its step. @param {LoomScene} scene @param {number} r @param {number} x @param {number} y */
function visitMarks({ plan, i, now, labels }, r, x, y) {
  const { visits } = plan.story.rows[r];
  const done = visits.filter((k) => k <= i).length;
  const text = labels.visit
    .replace("{k}", String(r === now ? done : visits.length))
    .replace("{n}", String(visits.length));
  const out = [h("text", { key: "visit", class: "loom-visit", x, y }, text)];
  const from = x + 12 + textWidth(text, 11) * BOLD;
  const pitch = Math.min(11, ((plan.stacked ? 340 : plan.code) - from - 4) / visits.length);
  if (pitch < 4) return out;
  visits.forEach((k, n) => {
    out.push(
      h("circle", {
        key: `visit ${k}`,
        class: cls("loom-point", k === i && "now", k > i && "future"),
        cx: from + n * pitch,
        cy: y - 4,
        r: 3.6,
        "data-step": k,
      }),
    );
  });
  return out;
}
