/** A cell of a row: its value, coloured by sign and size, and what a step wrote over. */

import { dtypeText, fullNumberText, shortNumberText, encodedValueJson } from "../../trace/format.ts";
import { CHARACTER_WIDTH_EM, FONT_SIZES, textWidth } from "../../layout/text/metrics.ts";
import { classNames, h, type VNode } from "../../browser/svg.ts";
import { pathMark, rectMark, textMark, titleMark } from "../../browser/shapes.ts";
import { signTint } from "./tint.ts";
import type { CellBand } from "../../layout/cells/row_strip.ts";
import type { Cell } from "../../trace/entities.ts";

interface CellMarkPlace {
  x: number;
  y: number;
  w: number;
  h: number;
  most: number;
  now: boolean;
  was: Cell | undefined;
  outline: boolean;
  full: boolean;
}

export function cellMark(uid: string, band: CellBand, i: number, value: Cell, place: CellMarkPlace): VNode {
  const tint = signTint(value, place.most);
  const hasNumber = band.mode !== "heat";
  const box = { x: place.x, y: place.y, width: place.w, height: place.h };
  const fullText = fullNumberText(value);
  const description = `${uid}[${i}] = ${fullText} · ${dtypeText(band.dtype)}`;
  const isNonfinite = !hasNumber && value !== null && typeof value === "object" && "$f" in value;
  const classes = classNames("cell", place.now && "written", !hasNumber && "heat");
  const colourAttributes = {
    class: classNames("cell-box", tint && `wash ${tint.sign}`),
    ...box,
    "fill-opacity": tint?.opacity,
  };
  const title = titleMark(place.was === undefined ? description : `${description} (← ${fullNumberText(place.was)})`);
  const dataAttributes = {
    key: `${band.dtype} ${i}`,
    "data-cell": `${uid}:${i}`,
    "data-dtype": band.dtype,
    "data-value": encodedValueJson(value),
    target: { kind: "cell", storage: uid, index: i, dtype: band.dtype } as const,
  };
  if (!hasNumber && !isNonfinite && !place.outline)
    // a matrix has many of them
    return h("rect", { ...dataAttributes, ...colourAttributes, class: `${classes} ${colourAttributes.class}` }, title);
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
      rectMark("cell-written", place.x + 1, place.y + 1, Math.max(1, place.w - 2), Math.max(1, place.h - 2), {
        key: "written",
        rx: 2,
      }),
    isNonfinite && pathMark("nonfinite", `M${place.x + 2} ${place.y + 2}l${place.w - 4} ${place.h - 4}`, "nonfinite"),
    hasNumber && cellNumberMarks(value, place),
    title,
  );
}

/** Beside a number in its cell. */
const CELL_PADDING = 3;
/** A number that is a little too long has its digits closer together. */
const MAX_SQUEEZE_EM = 0.1;

/** Large cells have large numbers. */
function numberFontSize({ w, h: height, full }: { w: number; h: number; full: boolean }) {
  if (full && height >= 44 && w >= 60) return FONT_SIZES.headline;
  return full && height >= 18 && w >= 43 ? FONT_SIZES.usual : FONT_SIZES.small;
}

/**
 * A number of a cell that is so wide: smaller before it is rounded, and with its digits closer where it is still too
 * long.
 */
function fittedNumber(value: Cell, w: number, usualSize: number) {
  const room = w - CELL_PADDING;
  const maxCharactersAt = (font: number) => Math.floor(room / (CHARACTER_WIDTH_EM * font));
  const sizes = [usualSize, FONT_SIZES.usual, FONT_SIZES.small].filter((size) => size <= usualSize);
  const size = sizes.find((font) => maxCharactersAt(font) >= USUAL_NUMBER_LENGTH) ?? FONT_SIZES.small;
  const text = shortNumberText(value, Math.max(3, maxCharactersAt(size)));
  const fitting = sizes.find((font) => font <= size && textWidth(text, font) <= room) ?? FONT_SIZES.small;
  const excess = textWidth(text, fitting) - room;
  const spacing = excess > 0 ? -Math.min(MAX_SQUEEZE_EM * fitting, excess / Math.max(1, text.length - 1)) : null;
  return { text, size: fitting, spacing: spacing && Math.floor(spacing * 100) / 100 };
}

/** So many characters tell a number well enough. */
const USUAL_NUMBER_LENGTH = 5;

/** A cell's number, and below it the one that the step wrote over. */
function cellNumberMarks(
  value: Cell,
  place: { x: number; y: number; w: number; h: number; was: Cell | undefined; full: boolean },
) {
  const { text, size, spacing } = fittedNumber(value, place.w, numberFontSize(place));
  const cx = place.x + place.w / 2;
  const showsOldValue = place.was !== undefined && place.full && place.h >= MIN_HEIGHT_WITH_OLD_VALUE;
  const y = place.y + place.h / 2 + size * 0.36 - (showsOldValue ? 6.5 : 0);
  const was = showsOldValue ? fittedNumber(place.was as Cell, place.w, FONT_SIZES.small) : null;
  return [
    textMark("val", cx, y, text, { key: "val", size, "letter-spacing": spacing }),
    was &&
      textMark("was", cx, place.y + place.h - 3.5, was.text, {
        key: "was",
        size: was.size,
        "letter-spacing": was.spacing,
      }),
  ];
}

/** In a lower cell there is no room for two numbers. */
const MIN_HEIGHT_WITH_OLD_VALUE = 30;

export function writtenCellHaloMark(key: string, x: number, y: number, w: number, height: number, pulse: boolean) {
  return rectMark(classNames("halo", pulse && "pulse"), x - 3, y - 3, w + 6, height + 6, { key, rx: 5 });
}

/** `float32` as `f32`. */
export function shortDtype(dtype: string | null | undefined) {
  const name = dtypeText(dtype ?? "");
  const [, kind, bits] = name.match(/^(bfloat|float|uint|int|complex)(\d+)$/) ?? [];
  return kind ? `${{ bfloat: "bf", float: "f", uint: "u", int: "i", complex: "c" }[kind]}${bits}` : name;
}
