/** A handle in a row: its card, its slim form, and the quiet line of those that have no name. */

import { findHandle } from "../entities.js";
import { cardText } from "../layout/card_texts.js";
import { tuple } from "../layout/format.js";
import { EM, textWidth, truncate } from "../layout/metrics.js";
import { plainDtype } from "../layout/reads.js";
import { SIZE } from "../layout/row_lines.js";
import { cls, h } from "../svg.js";
import { roleLabel } from "./labels.js";
import { shortDtype } from "./row_cell.js";

/** @typedef {import("./step_facts.js").StepFacts} StepFacts */
/** @typedef {import("../entities.js").Handle} Handle */
/** @typedef {import("../layout/memory_columns.js").Columns} Columns */
/** @typedef {{x: number, y: number, w: number}} Place */

/** A text cut to its room, whole in its title. @param {string} text @param {number} room @param {number} font */
function clippedText(text, room, font) {
  return truncate(text, Math.max(2, Math.floor(room / (EM * font) + 0.02)));
}

/** @param {StepFacts} stepFacts @param {string} uid @param {Handle} handle @param {boolean} named */
function cardAttributes(stepFacts, uid, handle, named) {
  const text = cardText(handle);
  const tracked = text.tracked || handle.leaf === false;
  const bits = (handle.bits ?? []).join(" ");
  const role = `${text.tracked ? "∇ " : ""}${roleLabel(text.role, stepFacts.labels)}${bits ? ` ${bits}` : ""}`;
  const description = `${uid} ${text.shape} ${plainDtype(handle.dtype)}, ${text.second}, ${role}, requires_grad ${text.tracked ? "True" : "False"}`;
  const fresh = stepFacts.snap.fresh.has(uid);
  return {
    shape: text.shape,
    role,
    description,
    fresh,
    touched: fresh || stepFacts.snap.changed.has(uid),
    attrs: {
      key: `card ${uid}`,
      class: cls(
        "card",
        tracked ? "tape" : "free",
        fresh && "fresh",
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
  };
}

/** @param {StepFacts} stepFacts @param {string} uid @param {Place} at */
export function rowCardMark(stepFacts, uid, at) {
  const handle = findHandle(stepFacts.snap.entities, uid);
  if (!handle) return null;
  const said = cardAttributes(stepFacts, uid, handle, stepFacts.names.tags.has(uid));
  const { x, y, w } = at;
  const wide = w >= 80;
  const shapeFont = wide ? 11.5 : 10;
  const left = x + (wide ? 11 : 9);
  const tight = left + textWidth(said.shape, 10) + 6 + textWidth(said.role, 10) > x + w - 6;
  const role = !wide
    ? ""
    : tight
      ? said.role
          .split(" ")
          .filter((word) => word === "∇")
          .join("")
      : said.role;
  const roleW = role ? textWidth(role, 10) + 6 : 0;
  const geometry = geometryText(handle, wide);
  return h(
    "g",
    said.attrs,
    said.touched && haloMark(said.fresh, x, y, w, SIZE.card),
    h("rect", { key: "box", class: "card-box", x, y, width: w, height: SIZE.card, rx: 6 }),
    h("path", { key: "bar", class: "card-bar", d: `M${x + 5} ${y + 0.5}h-1a5 6 0 0 0 -4 6v17a5 6 0 0 0 4 6h1z` }),
    fittedText("shape", left, y + 13, said.shape, x + w - 6 - roleW - left, shapeFont),
    role && h("text", { key: "role", class: "role end", x: x + w - 6, y: y + 13, "font-size": 10 }, role),
    fittedText("meta", left, y + 25, geometry, x + w - 4 - left, wide ? 9 : 8),
    h("title", { key: "title" }, said.description),
  );
}

/** A text a little smaller where it is too long, then cut. @param {string} name @param {number} x @param {number} y
 * @param {string} text @param {number} room @param {number} font */
function fittedText(name, x, y, text, room, font) {
  const size = Math.max(font - 2, Math.min(font, Math.floor((room / (EM * Math.max(1, text.length))) * 10) / 10));
  return h("text", { key: name, class: name, x, y, "font-size": size }, clippedText(text, room, size));
}

/** @param {boolean} fresh @param {number} x @param {number} y @param {number} w @param {number} tall */
function haloMark(fresh, x, y, w, tall) {
  return h("rect", {
    key: "halo",
    class: cls("halo", !fresh && "thin"),
    x: x - 2,
    y: y - 2,
    width: w + 4,
    height: tall + 4,
    rx: 8,
  });
}

/** Strides, offset and dtype. @param {Handle} handle @param {boolean} wide */
function geometryText(handle, wide) {
  if (handle.kind === "array")
    return `numpy ${shortDtype(handle.dtype)}${handle.writeable === false ? " read-only" : ""}`;
  const dtype = shortDtype(handle.dtype);
  if (!handle.stride) return `${(handle.layout ?? handle.type ?? "").replace("torch.", "")} ${dtype}`;
  const steps = `${tuple(handle.stride)}${handle.offset ? ` +${handle.offset}` : ""}`;
  return wide ? `${steps} ${dtype}` : steps;
}

/** A handle in a closed row. @param {StepFacts} stepFacts @param {string} uid @param {Place} at
 * @param {{named: boolean, gradient: boolean}} is gradient: on its way, of this shape */
export function slimCardMark(stepFacts, uid, at, { named, gradient }) {
  const handle = findHandle(stepFacts.snap.entities, uid);
  if (!handle) return null;
  const said = cardAttributes(stepFacts, uid, handle, named);
  const { x, y, w } = at;
  return h(
    "g",
    { ...said.attrs, class: cls(said.attrs.class, "slim", gradient && "passing") },
    h("rect", { key: "box", class: "card-box", x, y, width: w, height: 16, rx: 4 }),
    said.touched && haloMark(said.fresh, x, y, w, 16),
    h("path", { key: "bar", class: "card-bar", d: `M${x + 1} ${y + 1}h3v14h-3z` }),
    fittedText("shape", x + 9, y + 12, said.shape, w - 12, 10.5),
    h("title", { key: "title" }, said.description),
  );
}

/** Handles without a name in one line. @param {StepFacts} stepFacts @param {string[]} uids @param {Columns} columns
 * @param {number} y @param {{x: number, room: number, say: boolean, aside?: boolean}} at from where on; aside: another handle
 * is what the row is about */
export function quietMarks(stepFacts, uids, columns, y, at) {
  const end = at.x + at.room;
  let x = at.x;
  const out = [];
  let shown = 0;
  for (const uid of uids) {
    const handle = findHandle(stepFacts.snap.entities, uid);
    if (!handle) continue;
    const said = cardAttributes(stepFacts, uid, handle, false);
    const more = shown < uids.length - 1 ? 18 : 0;
    const w = Math.min(textWidth(said.shape, 9.5) + 13, at.room - more);
    if (shown ? x + w + more > end + 0.5 : x + 24 + more > end) break;
    out.push(
      h(
        "g",
        { ...said.attrs, class: cls(said.attrs.class, "quiet", at.aside && "aside") },
        h("rect", { key: "box", class: "card-box", x, y, width: w, height: 15, rx: 4 }),
        said.touched && haloMark(said.fresh, x + 1, y + 1, w - 2, 13),
        h("path", { key: "bar", class: "card-bar", d: `M${x + 1} ${y + 2}h2.4v11h-2.4z` }),
        fittedText("shape", x + 8, y + 11, said.shape, w - 10, 9.5),
        h("title", { key: "title" }, said.description),
      ),
    );
    x += w + 3;
    shown += 1;
  }
  if (shown < uids.length) {
    const rest = uids.slice(shown);
    out.push(
      h(
        "text",
        { key: "more quiet", class: "meta", x, y: y + 11, "font-size": 9.5 },
        `+${rest.length}`,
        h("title", {}, rest.join(", ")),
      ),
    );
  }
  if (at.say) out.push(quietLabel(stepFacts, uids.length, columns, y));
  return out;
}

/** @param {StepFacts} stepFacts @param {number} count @param {Columns} columns @param {number} y */
function quietLabel(stepFacts, count, columns, y) {
  const text = `${count > 1 ? `${count} × ` : ""}${stepFacts.labels.unnamed}`;
  return h(
    "text",
    { key: `quiet ${y}`, class: "no-name end", x: columns.card - 8, y: y + 11.5, "font-size": 9.5 },
    text,
  );
}
