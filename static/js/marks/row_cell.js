/** A cell of a row: its value, coloured by sign and size, and what a step wrote over. */

import { dtypeText, fullNumber, shortNumber, wireText } from "../layout/format.js";
import { EM } from "../layout/metrics.js";
import { cls, h } from "../browser/svg.js";
import { signTint } from "./tint.js";

/** @typedef {import("../browser/svg.js").VNode} VNode */
/** @typedef {import("../layout/row_strip.js").CellBand} CellBand */
/** @typedef {import("../trace/entities.js").Cell} Cell */

/** @param {string} uid @param {CellBand} band @param {number} i @param {Cell} value
 * @param {{x: number, y: number, w: number, h: number, most: number, now: boolean, was: Cell | undefined, outline: boolean,
 * full: boolean, first: boolean}} place @returns {VNode} */
export function cellMark(uid, band, i, value, place) {
  const tint = signTint(value, place.most);
  const hasNumber = band.mode !== "heat";
  const box = { x: place.x, y: place.y, width: place.w, height: place.h };
  const fullText = fullNumber(value);
  const description = `${uid}[${i}] = ${fullText} · ${dtypeText(band.dtype)}`;
  const isNonfinite = !hasNumber && value !== null && typeof value === "object" && "$f" in value;
  const classes = cls("cell", place.now && "written", !hasNumber && "heat");
  const colourAttributes = {
    class: cls("cell-box", tint && `wash ${tint.sign}`),
    ...box,
    "fill-opacity": tint?.opacity,
  };
  const title = h(
    "title",
    { key: "title" },
    place.was === undefined ? description : `${description} (← ${fullNumber(place.was)})`,
  );
  const dataAttributes = {
    key: `${band.dtype} ${i}`,
    "data-cell": `${uid}:${i}`,
    "data-dtype": band.dtype,
    "data-value": wireText(value),
  };
  if (!hasNumber && !isNonfinite && !place.outline)
    return h("rect", { ...dataAttributes, ...colourAttributes, class: `${classes} ${colourAttributes.class}` }, title); // a matrix has many of them
  return h(
    "g",
    {
      ...dataAttributes,
      class: classes,
      tabindex: hasNumber && place.full ? "-1" : null,
      role: hasNumber ? "img" : null,
      "aria-label": hasNumber ? `${uid}[${i}] ${fullText}` : null,
    },
    h("rect", { key: "box", ...colourAttributes }),
    place.outline &&
      h("rect", {
        key: "written",
        class: "cell-written",
        x: place.x + 1,
        y: place.y + 1,
        width: Math.max(1, place.w - 2),
        height: Math.max(1, place.h - 2),
        rx: 2,
      }),
    isNonfinite &&
      h("path", {
        key: "nonfinite",
        class: "nonfinite",
        d: `M${place.x + 2} ${place.y + 2}l${place.w - 4} ${place.h - 4}`,
      }),
    hasNumber && numberMarks(value, place),
    title,
  );
}

/** So many characters are written smaller, rather than fewer of them. */
const MIN_CHARACTERS = 5;
const MIN_FONT_SIZE = 8.6;

/** A cell's number, and below it the one that the step wrote over. @param {Cell} value
 * @param {{x: number, y: number, w: number, h: number, was: Cell | undefined, full: boolean}} place */
function numberMarks(value, place) {
  const usualSize = place.full && place.h >= 28 && place.w >= 33 ? 11.5 : 9.8;
  const maxCharactersAt = (/** @type {number} */ font) => Math.floor((place.w - 3) / (EM * font));
  const text = shortNumber(
    value,
    Math.max(3, maxCharactersAt(usualSize), Math.min(MIN_CHARACTERS, maxCharactersAt(MIN_FONT_SIZE))),
  );
  const size = Math.min(usualSize, Math.floor(((place.w - 3) / (EM * text.length)) * 10) / 10);
  const cx = place.x + place.w / 2;
  const showsOldValue = place.was !== undefined && place.full && place.h >= 28;
  const y = place.y + place.h / 2 + size * 0.36 - (showsOldValue ? 4 : 0);
  const was = showsOldValue ? shortNumber(place.was, Math.max(3, Math.floor((place.w - 3) / 5.2))) : "";
  const oldValueSize = Math.min(8.5, Math.floor(((place.w - 3) / (EM * Math.max(1, was.length))) * 10) / 10);
  return [
    h("text", { key: "val", class: "val", x: cx, y, "font-size": size }, text),
    showsOldValue &&
      h("text", { key: "was", class: "was", x: cx, y: place.y + place.h - 3.5, "font-size": oldValueSize }, was),
  ];
}

/** @param {string} key @param {number} x @param {number} y @param {number} w @param {number} height @param {boolean} pulse */
export function haloMark(key, x, y, w, height, pulse) {
  return h("rect", {
    key,
    class: cls("halo", pulse && "pulse"),
    x: x - 3,
    y: y - 3,
    width: w + 6,
    height: height + 6,
    rx: 5,
  });
}

/** `float32` as `f32`. @param {string | null | undefined} dtype */
export function shortDtype(dtype) {
  const name = dtypeText(dtype ?? "");
  const [, kind, bits] = name.match(/^(bfloat|float|uint|int|complex)(\d+)$/) ?? [];
  return kind ? `${{ bfloat: "bf", float: "f", uint: "u", int: "i", complex: "c" }[kind]}${bits}` : name;
}
