/** A tensor handle (or a numpy array): its card. */

import { find } from "../entities.js";
import { cardText } from "../layout/card_texts.js";
import { plainDtype } from "../layout/reads.js";
import { cls, h } from "../svg.js";

/** @typedef {import("./scene_facts.js").Scene} Scene */

/** @param {Scene} scene @param {string} uid @param {import("../entities.js").Handle} handle @param {import("../layout/memory.js").CardRow} row */
export function cardMark(scene, uid, handle, row) {
  const { metrics: M, memory } = scene.plan;
  const { x, w } = memory.lanes.handles;
  const text = cardText(handle);
  const tracked = text.tracked || handle.leaf === false;
  const touched = scene.snap.fresh.has(uid) || scene.snap.changed.has(uid);
  const named = scene.names.tags.has(uid);
  const bits = (handle.bits ?? []).join(" ");
  const dtype = plainDtype(handle.dtype);
  const role = `${text.tracked ? "∇ " : ""}${text.role}${bits ? ` ${bits}` : ""}`;
  const top = row.y;
  const description = `${uid} ${text.shape} ${dtype}, ${text.second}, ${role}, requires_grad ${text.tracked ? "True" : "False"}`;
  return h(
    "g",
    {
      key: `card ${uid}`,
      class: cls(
        "card",
        tracked ? "tape" : "free",
        scene.snap.fresh.has(uid) && "fresh",
        handle.kind === "array" && "array",
        !named && "unnamed",
      ),
      "data-handle": uid,
      "data-counter": handle.counter ?? null,
      "data-node-ref": handle.grad_fn ?? null,
      "data-grad-ref": handle.grad ?? null,
      "data-on": handle.storage ?? null,
      tabindex: "0",
      role: "group",
      "aria-label": description,
    },
    touched &&
      h("rect", {
        key: "halo",
        class: cls("halo", !scene.snap.fresh.has(uid) && "thin"),
        x: x - 3,
        y: top - 3,
        width: w + 6,
        height: M.cardH + 6,
        rx: 9,
      }),
    h("rect", { key: "box", class: "card-box", x, y: top, width: w, height: M.cardH, rx: 7 }),
    h("path", {
      key: "bar",
      class: "card-bar",
      d: `M${x + 5.5} ${top + 0.5}h-1a5 6.5 0 0 0 -4 6.5v${M.cardH - 14}a5 6.5 0 0 0 4 6.5h1z`,
    }),
    h(
      "text",
      { key: "shape", class: "shape", x: x + 15, y: top + (M.dense ? 14 : 17), "font-size": M.font },
      text.shape,
    ),
    h(
      "text",
      { key: "role", class: "role end", x: x + w - 10, y: top + (M.dense ? 14 : 17), "font-size": M.small + 0.5 },
      role,
    ),
    h(
      "text",
      { key: "second", class: "meta", x: x + 15, y: top + (M.dense ? 26 : 31.5), "font-size": M.small },
      geometryText(text.second, handle, scene),
    ),
    h("title", { key: "title" }, description),
  );
}

/** The dtype is said on the card only where the strip is read under several. @param {string} text @param {import("../entities.js").Handle} handle
 * @param {Scene} scene */
function geometryText(text, handle, scene) {
  const cells = find(scene.snap.entities, handle.storage, "storage")?.cells;
  return cells && Object.keys(cells).length > 1 && handle.kind !== "array"
    ? `${plainDtype(handle.dtype)} ${text.replace("stride ", "").replace("offset ", "+")}`
    : text;
}
