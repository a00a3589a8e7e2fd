/** Name tags: filled for a variable, outlined for a path, with the function's name before an inner frame's. */

import { tagWidth } from "../layout/card_texts.js";
import { EM, textWidth, truncate } from "../layout/metrics.js";
import { cls, h } from "../svg.js";

/** @typedef {import("./scene_facts.js").Scene} Scene */

/** @param {Scene} scene @param {string} uid @param {import("../layout/memory.js").CardRow} row */
export function tagsMark(scene, uid, row) {
  const { metrics: M, memory } = scene.plan;
  const list = scene.names.tags.get(uid) ?? [];
  const lane = memory.lanes.names;
  let x = lane.x + lane.w;
  const out = [];
  const cardX = memory.lanes.handles.x;
  if (!list.length)
    return h("text", { key: `tags ${uid}`, class: "no-name end", x: x + 2, y: row.cy + 4 }, scene.labels.unnamed);
  out.push(h("path", { key: "stem", class: "stem", d: `M${x - 4} ${row.cy}H${cardX}` }));
  let hidden = 0;
  list.forEach((tag, i) => {
    const w = Math.min(tagWidth(tag, M.tagFont), lane.w + 8);
    if (x - w < lane.x - 8 && i > 0) {
      hidden++;
      out.push(tagMark(scene, tag, uid, { x: x - 6, y: row.cy, w, font: M.tagFont, height: M.tagH, hidden: true }));
      return;
    }
    x -= w;
    out.push(tagMark(scene, tag, uid, { x, y: row.cy, w, font: M.tagFont, height: M.tagH, hidden: false }));
    x -= 4;
  });
  if (hidden) out.push(h("text", { key: "more", class: "meta end", x: x - 2, y: row.cy + 4 }, `+${hidden}`));
  return h("g", { key: `tags ${uid}`, class: "tags" }, out);
}

/**
 * A name tag: filled for a variable, outlined for a path, with the function's name before an inner frame's.
 * @param {Scene} scene @param {import("../layout/names.js").Tag} tag @param {string} uid
 * @param {{x: number, y: number, w: number, font: number, height: number, hidden: boolean}} at
 */
export function tagMark(scene, tag, uid, at) {
  const variable = tag.kind === "var";
  const moved = variable && scene.snap.changed.has(`${tag.frame}/${tag.name}`);
  const half = at.height / 2;
  const w = at.w - 4;
  const point = 9;
  const d = `M${at.x + 4} ${at.y - half}h${w - point - 4}l${point} ${half}l${-point} ${half}h${-(w - point - 4)}a4 4 0 0 1 -4 -4v${-(at.height - 8)}a4 4 0 0 1 4 -4z`;
  const prefix = tag.scope ? textWidth(tag.scope, at.font - 3) + 6 : 0;
  const shown = truncate(tag.text, Math.max(2, Math.floor((at.w - 20 - prefix) / (EM * at.font))));
  const text = textWidth(shown, at.font);
  const start = at.x + (w - point + 4 - (prefix + text)) / 2;
  return h(
    "g",
    {
      key: `${tag.frame ?? ""} ${tag.kind} ${tag.name}`,
      class: cls("tag", variable ? "var" : "path", moved && "moved", at.hidden && "tucked"),
      "data-name": variable ? tag.name : null,
      "data-frame": tag.frame,
      "data-ref": uid,
      "data-path": variable ? null : tag.text,
      tabindex: at.hidden ? null : "0",
      role: "img",
      "aria-label": `${tag.scope ? `${tag.scope}: ` : ""}${tag.text}`,
    },
    h("path", { key: "shape", d }),
    tag.scope
      ? h("text", { key: "of", class: "of", x: start, y: at.y + at.font * 0.32, "font-size": at.font - 3 }, tag.scope)
      : null,
    h("text", { key: "text", x: start + prefix, y: at.y + at.font * 0.34, "font-size": at.font }, shown),
    h("title", { key: "title" }, `${tag.scope ? `${tag.scope}: ` : ""}${tag.text} → ${uid}`),
  );
}
