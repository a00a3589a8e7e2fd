/** Frames with the plain values of their names, and containers with what they hold. */

import { isChip, objectEntries, tagWidth, typeText } from "../layout/card_texts.js";
import { valueText, wireText } from "../layout/format.js";
import { truncate, textWidth } from "../layout/metrics.js";
import { refOf } from "../layout/names.js";
import { cls, h } from "../svg.js";
import { tagMark } from "./tag.js";

/** @typedef {import("./scene_facts.js").Scene} Scene */

const FONT = 11.5;

/** @param {Scene} scene @param {string} uid @param {import("../entities.js").Frame} frame */
export function frameMark(scene, uid, frame) {
  const card = scene.plan.memory.cards.get(uid);
  if (!card) return null;
  const name = frame.caller ? `${frame.name}()` : scene.labels.module;
  const current = scene.snap.step?.frame === uid;
  const chips = [...frame.vars].flatMap(([key, value]) => {
    const at = card.chips.get(key);
    if (!at || !isChip(key, value)) return [];
    const moved = scene.snap.changed.has(`${uid}/${key}`);
    return [
      chipMark(scene, key, value, { x: card.x + at.x, y: card.y + at.y, w: at.w }, cls("chip", moved && "moved"), {
        key: `chip ${key}`,
        "data-chip": wireText(value),
        "data-name": key,
        "data-frame": uid,
        "data-ref": refOf(value),
        "data-value": wireText(value),
      }),
    ];
  });
  return h(
    "g",
    {
      key: `frame ${uid}`,
      class: cls(
        "frame",
        current && "here",
        frame.state === "suspended" && "suspended",
        frame.caller && "inner",
        scene.snap.fresh.has(uid) && "fresh",
      ),
      "data-frame-card": uid,
      role: "group",
      "aria-label": name,
    },
    h("rect", { key: "box", class: "frame-box", x: card.x, y: card.y, width: card.w, height: card.h, rx: 8 }),
    h(
      "text",
      { key: "name", class: "frame-name", x: card.x + 12, y: card.y + (card.h < 30 ? 17 : 21) },
      truncate(name, 14),
    ),
    chips,
  );
}

/** @param {Scene} scene @param {string} uid @param {import("../entities.js").Container} object */
export function objectMark(scene, uid, object) {
  const card = scene.plan.memory.cards.get(uid);
  if (!card) return null;
  const { metrics: M } = scene.plan;
  let x = card.x + 6;
  const tags = (scene.names.tags.get(uid) ?? []).map((tag) => {
    const w = tagWidth(tag, M.tagFont - 1);
    const mark = tagMark(scene, tag, uid, { x, y: card.y + 17, w, font: M.tagFont - 1, height: 21, hidden: false });
    x += w + 2;
    return mark;
  });
  const type = typeText(object);
  const chips = objectEntries(object, scene.snap.entities).flatMap(({ key, value, text }) => {
    const at = card.chips.get(key);
    if (!at) return [];
    return [
      chipMark(
        scene,
        key,
        value,
        { x: card.x + at.x, y: card.y + at.y, w: at.w },
        "item",
        {
          key: `item ${key}`,
          "data-item": `${uid}:${key}`,
          "data-to": refOf(value),
          "data-value": wireText(value),
        },
        text,
      ),
    ];
  });
  return h(
    "g",
    {
      key: `object ${uid}`,
      class: cls("object", scene.snap.fresh.has(uid) && "fresh", scene.snap.changed.has(uid) && "moved"),
      "data-object": uid,
      tabindex: "0",
      role: "group",
      "aria-label": `${uid} ${type}`,
    },
    h("rect", { key: "box", class: "object-box", x: card.x, y: card.y, width: card.w, height: card.h, rx: 8 }),
    tags,
    h("text", { key: "type", class: "meta", x: x + 6, y: card.y + 21 }, type),
    chips,
  );
}

/** @param {Scene} scene @param {string} name @param {import("../entities.js").Value} value @param {{x: number, y: number, w: number}} at
 * @param {string} classes @param {Record<string, string | null>} attrs @param {string} [shown] */
function chipMark(scene, name, value, at, classes, attrs, shown) {
  const text = shown ?? valueText(value, 22, scene.snap.entities);
  const start = textWidth(name, FONT);
  const room = Math.max(1, Math.floor((at.w - start - 24) / (0.603 * FONT)));
  const ref = refOf(value);
  const { chipH } = scene.plan.metrics;
  return h(
    "g",
    { ...attrs, class: cls(classes, ref && "ref") },
    h("rect", { key: "box", x: at.x, y: at.y, width: at.w, height: chipH, rx: 5 }),
    h("text", { key: "name", class: "chip-name", x: at.x + 8, y: at.y + chipH / 2 + 4, "font-size": FONT }, name),
    h(
      "text",
      { key: "value", class: "chip-value end", x: at.x + at.w - 8, y: at.y + chipH / 2 + 4, "font-size": FONT },
      truncate(text, Math.max(room, 3)),
    ),
    h("title", { key: "title" }, `${name} = ${valueText(value, 400, scene.snap.entities)}`),
  );
}
