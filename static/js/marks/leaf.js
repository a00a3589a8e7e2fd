/** A leaf and its gradient: the free place of a `.grad` to come, the line to the one that is there, and the leaf's node. */

import { find, findHandle } from "../entities.js";
import { textWidth } from "../layout/metrics.js";
import { handleRow } from "../layout/plan.js";
import { h } from "../svg.js";
import { roundedPath } from "./path.js";
import { inlineLabel } from "./storage.js";

/** @typedef {import("./scene_facts.js").Scene} Scene */

/** `a.grad` before there is one: its place, kept free, says None; afterwards a line from the leaf to it.
 * @param {Scene} scene @param {(at: {y: number, h: number} | undefined) => boolean} isVisible */
export function gradPlaceholders(scene, isVisible) {
  const out = [];
  const { metrics: M, memory } = scene.plan;
  const owners = new Set(
    [...scene.snap.entities.keys(), ...scene.snap.freed.keys()].map((k) => memory.storages.get(k)?.owner),
  );
  for (const [uid, t] of scene.snap.entities) {
    if (t.kind !== "tensor" || !t.leaf || !t.requires_grad || !t.storage) continue;
    const kid = memory.placeholders.get(t.storage);
    const row = handleRow(scene.plan, uid, t);
    const storage = kid ? memory.storages.get(kid) : undefined;
    if (!storage || !row || !(isVisible(storage) || isVisible(row))) continue;
    const grad = findHandle(scene.snap.entities, t.grad);
    const target = grad && t.grad ? handleRow(scene.plan, t.grad, grad) : null;
    const x = memory.lanes.handles.x;
    if (grad && target && target.cy > row.cy)
      out.push(
        h("path", {
          key: `to grad ${uid}`,
          class: "grad-wire",
          "data-grad-wire": uid,
          d: `M${x + 26} ${row.cy + M.cardH / 2}V${target.cy - M.cardH / 2}`,
        }),
      );
    else if (!owners.has(t.storage) && !t.grad) {
      const y = storage.stripY;
      const text = `${scene.names.paths.get(uid) ?? ""}.grad`;
      out.push(
        h(
          "g",
          { key: `none ${uid}`, class: "placeholder" },
          h("path", { d: `M${x + 26} ${row.cy + M.cardH / 2}V${y}` }),
          h("rect", {
            x: storage.stripX,
            y,
            width: Math.max(56, Math.min(storage.strip.w, 160)),
            height: Math.min(M.cellH, 26),
            rx: 3,
          }),
          h("text", { class: "meta end", x: storage.stripX - 14, y: y + 17 }, text),
          h("text", { class: "meta", x: storage.stripX + 12, y: y + 17 }, scene.labels.none),
        ),
      );
    }
  }
  return out;
}

/** A leaf meets its AccumulateGrad; in its visit the gradient goes on into `.grad`. @param {Scene} scene @param {string} uid
 * @param {import("../entities.js").Node} node */
export function leafMeeting(scene, uid, node) {
  const variable = findHandle(scene.snap.entities, node.variable);
  const box = scene.plan.graph.boxes.get(uid);
  const row = variable ? handleRow(scene.plan, node.variable ?? "", variable) : undefined;
  const storage = scene.plan.memory.storages.get(variable?.storage ?? "");
  if (!variable || !box || !row || !storage) return null;
  const right = storage.stripX + storage.strip.w;
  const out = [];
  // In one line with its card, a strip has its pins and its name at its right: the line begins after them.
  const label = textWidth(inlineLabel(storage.uid, find(scene.snap.entities, storage.uid, "storage")), 8.5);
  const start = storage.inline ? right + 14 + storage.side + label : right;
  if (Math.abs(box.cy - row.cy) < 1)
    out.push(h("path", { key: "line", class: "leaf-line", d: `M${start} ${row.cy}H${box.x}` }));
  else {
    const x = scene.plan.memory.width + 6;
    out.push(
      h("path", {
        key: "line",
        class: "leaf-line",
        d: roundedPath(
          [
            [start, row.cy],
            [x, row.cy],
            [x, box.cy],
            [box.x, box.cy],
          ],
          9,
        ),
      }),
    );
  }
  const visit = scene.snap.step?.visit;
  const grad = visit?.node === uid ? findHandle(scene.snap.entities, variable.grad) : undefined;
  const to = grad ? scene.plan.memory.storages.get(grad.storage ?? "") : undefined;
  if (to) {
    const x = box.x + 16;
    const y = to.stripY + Math.min(to.strip.h, 44) / 2;
    const end = to.stripX + to.strip.w + 6;
    out.push(
      h("path", {
        key: "into",
        class: "into-grad",
        d: roundedPath(
          [
            [x, box.y + box.h],
            [x, y],
            [end + 8, y],
          ],
          9,
        ),
      }),
    );
    out.push(h("path", { key: "tip", class: "arrow", d: `M${end} ${y}l9 -5v10z` }));
  }
  return h("g", { key: `meeting ${uid}`, class: "meeting", "data-meets": `${node.variable} ${uid}` }, out);
}
