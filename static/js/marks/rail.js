/** A version counter: a rail beside all the cards that share it, with one window for its number. */

import { find } from "../entities.js";
import { textWidth } from "../layout/metrics.js";
import { cls, h } from "../svg.js";

/** @typedef {import("./scene_facts.js").Scene} Scene */

/** The size of letter under which a version is told with fewer of them. */
const SMALLEST = 7;

/** A rail: as tall as the cards that wear the counter, one window with its number.
 * @param {Scene} scene @param {string} counter @param {string} storage @param {import("../layout/memory.js").CardRow[]} rows */
export function railMark(scene, counter, storage, rows) {
  const { metrics: M, memory } = scene.plan;
  const { x, w } = memory.lanes.rails;
  const value = find(scene.snap.entities, counter, "counter")?.value ?? "?";
  const before = find(scene.previous, counter, "counter")?.value;
  const bumped = before !== undefined && before !== value;
  const badgeY = Math.min(...rows.map((r) => r.cy));
  const low = badgeY - M.cardH / 2;
  const high = Math.max(...rows.map((r) => r.cy)) + M.cardH / 2;
  const { text, size } = versionText(before, value, bumped, w - 8);
  const tall = M.dense ? 0 : 5;
  return h(
    "g",
    {
      key: `rail ${counter} ${storage}`,
      class: cls("rail", bumped && "bumped"),
      "data-counter-badge": counter,
      "data-version": value,
      "data-wearers": rows.length,
      role: "img",
      "aria-label": `${counter} v${value}`,
    },
    bumped &&
      h("rect", { key: "halo", class: "halo", x: x - 2, y: low - 3, width: w + 4, height: high - low + 6, rx: 9 }),
    h("rect", { key: "rail", class: "rail-box", x, y: low, width: w, height: high - low, rx: 7 }),
    !M.dense && h("text", { key: "name", class: "rail-name", x: x + w / 2, y: badgeY - 8 }, counter),
    h("rect", {
      key: "window",
      class: "badge",
      x: x + 3,
      y: badgeY - 10 + tall,
      width: w - 6,
      height: 20 - (tall ? 2 : 0),
      rx: 5,
    }),
    h("text", { key: "version", class: "badge-text", x: x + w / 2, y: badgeY + 4 + tall - 1, "font-size": size }, text),
    h("title", { key: "title" }, `version counter ${counter} = ${bumped ? `${before} → ` : ""}${value}`),
  );
}

/** What of a version fits into its window: the step it made, else the version, else its last digits.
 * @param {number | undefined} before @param {number | string} value @param {boolean} bumped @param {number} room pixels
 * @returns {{text: string, size: number}} */
export function versionText(before, value, bumped, room) {
  const texts = [...(bumped ? [`${before}→${value}`] : []), `v${value}`, `${value}`, `…${String(value).slice(-4)}`];
  const fits = (/** @type {string} */ text) => Math.min(text.length > 4 ? 9.5 : 12, room / textWidth(text, 1));
  const text = texts.find((text) => fits(text) >= SMALLEST) ?? texts[texts.length - 1];
  return { text, size: Math.floor(fits(text) * 10) / 10 };
}
