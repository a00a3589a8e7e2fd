/** A cell of a storage: its value, coloured by sign and size, and what a step wrote over. */

import { dtypeText, fullNumber, shortNumber, wireText } from "../layout/format.js";
import { EM } from "../layout/metrics.js";
import { cls, h } from "../svg.js";

/** @typedef {import("../entities.js").Cell} Cell */

/** @typedef {import("./scene_facts.js").Scene} Scene */

/** The largest finite magnitude. @param {(Cell | null)[]} values */
export function largest(values) {
  return values.reduce((/** @type {number} */ m, v) => Math.max(m, Math.abs(magnitude(v))), 0);
}

/** @param {Cell | null} v */
function magnitude(v) {
  if (typeof v === "number") return v;
  if (v === true) return 1;
  if (!v || typeof v !== "object") return 0;
  if ("$i" in v) return Number(v.$i);
  if ("$f" in v) return v.$f === "nan" ? 0 : v.$f === "inf" ? Infinity : -Infinity;
  return 0;
}

/** @param {Cell | null} v @param {number} most */
export function signTint(v, most) {
  const a = magnitude(v);
  if (a === 0) return null;
  const share = Number.isFinite(most) && most > 0 ? Math.min(1, Math.abs(a) / most) : Math.abs(a) === Infinity ? 1 : 0;
  return { sign: a < 0 ? "neg" : "pos", opacity: 0.08 + 0.28 * share };
}

/**
 * One cell.
 * @param {Scene} scene @param {string} uid @param {string} dtype @param {number} i @param {Cell} value
 * @param {{x: number, y: number, w: number, h: number, most: number, mode: string, written: boolean, was: Cell | undefined, inline: boolean,
 * whole?: boolean}} at whole: all cells were written, and the strip says so
 */
export function cellMark(scene, uid, dtype, i, value, at) {
  const { metrics: M } = scene.plan;
  const tint = signTint(value, at.most);
  const isHeat = at.mode === "heat";
  const room = Math.max(3, Math.floor((at.w - 5) / (EM * 10)));
  const text = isHeat ? fullNumber(value) : shortNumber(value, room);
  const fits = text.length * EM * M.font <= at.w - 6;
  const size = fits ? M.font : Math.max(7, Math.min(10, (at.w - 4) / (EM * text.length)));
  const roomy = at.h >= 40;
  const was = at.was === undefined ? null : shortNumber(at.was, Math.max(4, Math.floor((at.w - 8) / (EM * 9))));
  const cx = at.x + at.w / 2;
  const cy = at.y + at.h / 2 + (roomy ? 5 : at.inline ? 2.5 : 4);
  return h(
    "g",
    {
      key: `${dtype} ${i}`,
      class: cls("cell", at.written && "written", isHeat && "heat"),
      "data-cell": `${uid}:${i}`,
      "data-dtype": dtype,
      "data-value": wireText(value),
      tabindex: isHeat ? null : "-1",
      role: "img",
      "aria-label": `${uid}[${i}] ${fullNumber(value)}`,
    },
    h("rect", { class: "cell-box", x: at.x, y: at.y, width: at.w, height: at.h }),
    tint &&
      h("rect", {
        key: "wash",
        class: `wash ${tint.sign}`,
        x: at.x,
        y: at.y,
        width: at.w,
        height: at.h,
        "fill-opacity": tint.opacity,
      }),
    at.written &&
      !at.whole &&
      h("rect", {
        key: "written",
        class: "cell-written",
        x: at.x + 1.5,
        y: at.y + 1.5,
        width: at.w - 3,
        height: at.h - 3,
      }),
    isHeat &&
      typeof value === "object" &&
      "$f" in value &&
      h("path", { key: "nonfinite", class: "nonfinite", d: `M${at.x + 3} ${at.y + 3}l${at.w - 6} ${at.h - 6}` }),
    roomy && h("text", { key: "at", class: "index", x: at.x + 4, y: at.y + 10 }, String(i)),
    h(
      "text",
      { key: "val", class: cls("val", !fits && "tight"), x: cx, y: cy - (was && roomy ? 3 : 0), "font-size": size },
      text,
    ),
    was && roomy && h("text", { key: "was", class: "was", x: cx, y: at.y + at.h - 5 }, was),
    h(
      "title",
      { key: "title" },
      `${uid}[${i}] = ${fullNumber(value)} · ${dtypeText(dtype)}${at.was === undefined ? "" : ` (← ${fullNumber(at.was)})`}`,
    ),
  );
}
