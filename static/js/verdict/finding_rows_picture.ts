/** The rows of a verdict as SVG: names, cells with their numbers, the cut between two of them, the pin that broke. */

import { shortNumberText } from "../trace/format.ts";
import { h, type VNode } from "../browser/svg.ts";
import { largestMagnitude, signTint } from "../marks/memory/tint.ts";
import { clipSpans, richTextMarks, parseRichText, spanWidth, wrapSpans } from "./rich_text.ts";
import { svgText, type PictureBlock } from "./finding_lines_picture.ts";
import type { LabelledFindingRow, Verdict } from "./verdict.ts";
import type { Cell } from "../trace/entities.ts";
import type { Translate } from "../words/sentences.ts";

interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** At its usual size, a share of which is taken where there is less room. */
const SIZES = {
  tag: 26,
  name: 15,
  cell: { w: 96, h: 40, withOld: 58 },
  value: 19,
  old: 14,
  gap: 14,
  cut: 42,
  pin: 70,
  label: 14,
};
const SCALES = [1.5, 1.35, 1.2, 1.1, 1, 0.9, 0.8, 0.72];
const SMALLEST = 0.72;

/** As large as there is room for, without leaving numbers out that a smaller one shows. */
export function findingRowsBlock(verdict: Verdict, box: Box, scale: number, say: Translate): PictureBlock {
  const all = [...verdict.rows, ...verdict.rowsAfterCut];
  const showsHistory = Boolean(verdict.cut);
  const isLossless = (size: number) =>
    all.every(
      (row) =>
        shownCells(row, box, size, showsHistory, say) >= shownCells(row, box, scale, showsHistory, say) &&
        !headingMarks(row, box, size).isBroken,
    );
  for (const share of SCALES) {
    if (share > 1 && !isLossless(scale * share)) continue;
    const block = rowsBlock(verdict, box, scale * share, say);
    if (block.height <= box.h) return block;
  }
  // what is about the cause goes first, so the last rows are those that can be spared
  let { rows, rowsAfterCut } = verdict;
  let block: PictureBlock;
  do {
    if (rowsAfterCut.length > 1) rowsAfterCut = rowsAfterCut.slice(0, -1);
    else rows = rows.slice(0, -1);
    block = rowsBlock({ ...verdict, rows, rowsAfterCut }, box, scale * SMALLEST, say);
  } while (block.height > box.h && rows.length + rowsAfterCut.length > 1);
  return block.height <= box.h ? block : { height: 0, nodes: [] };
}

function rowsBlock({ rows, rowsAfterCut, cut, pin }: Verdict, box: Box, scale: number, say: Translate): PictureBlock {
  const nodes: VNode[] = [];
  let y = box.y;
  const add = ({ height, nodes: made }: PictureBlock) => {
    nodes.push(...made);
    y += height;
  };
  rows.forEach((row, k) => {
    add(rowBlock(row, { ...box, y }, scale, Boolean(cut), say));
    if (pin && !k) add(pinBlock(pin, { ...box, y }, scale, say));
  });
  if (cut) add(omittedRowsBlock(cut, { ...box, y }, scale));
  for (const row of rowsAfterCut) add(rowBlock(row, { ...box, y }, scale, true, say));
  return { height: y - box.y - (rows.length ? SIZES.gap * scale : 0), nodes };
}

/** A tensor: its names above its cells. `showsHistory`: the node that made it is told beside them. */
function rowBlock(
  row: LabelledFindingRow,
  box: Box,
  scale: number,
  showsHistory: boolean,
  say: Translate,
): PictureBlock {
  const heading = headingMarks(row, box, scale);
  const top = box.y + heading.height;
  const cells = cellMarks(row, { ...box, y: top }, scale, showsHistory, say);
  return { height: heading.height + cells.height + SIZES.gap * scale, nodes: [...heading.nodes, ...cells.nodes] };
}

/** The names as tags, the shape, and after which line it is so; in two lines where one is too short. */
function headingMarks(row: LabelledFindingRow, box: Box, scale: number): PictureBlock & { isBroken: boolean } {
  const size = SIZES.name * scale;
  const nodes: VNode[] = [];
  const tagHeight = SIZES.tag * scale;
  let x = box.x;
  let y = box.y;
  if (row.names.length)
    for (const [k, name] of row.names.entries()) {
      const fitted = fittedName(name, box.w - size * 1.8, size);
      const width = spanWidth({ text: fitted.text, code: true }, fitted.size) + size * 1.5;
      if (x > box.x && x + width > box.x + box.w) break;
      const end = x + width;
      const middle = y + tagHeight / 2;
      nodes.push(
        h("path", {
          class: k ? "verdict-tag other" : "verdict-tag",
          d: `M${x + 3} ${y}H${end - size * 0.55}L${end} ${middle}L${end - size * 0.55} ${y + tagHeight}H${x + 3}a3 3 0 0 1 -3 -3V${y + 3}a3 3 0 0 1 3 -3z`,
        }),
        svgText(
          k ? "verdict-name other" : "verdict-name",
          x + size * 0.5,
          middle + fitted.size * 0.36,
          fitted.size,
          fitted.text,
        ),
      );
      x = end + size * 0.5;
    }
  else {
    const label = clipSpans(wrapSpans(parseRichText(row.label), box.w, size), 1, box.w, size);
    nodes.push(...richTextMarks(label, { x, y: y + tagHeight * 0.68, size, leading: 0, className: "verdict-label" }));
    x += label[0].reduce((sum, run) => sum + spanWidth(run, size), 0) + size * 0.7;
  }
  const words = [row.shape.length > 1 ? row.shape.join(" × ") : "", versionsText(row), row.when]
    .filter(Boolean)
    .join(" · ");
  const small = SIZES.label * scale * 0.92;
  const width = spanWidth({ text: words, code: false }, small);
  let height = tagHeight;
  const isBroken = x + width > box.x + box.w;
  if (isBroken) {
    x = box.x;
    y += tagHeight;
    height += small * 1.5;
    nodes.push(svgText("verdict-quiet", x, y + small * 1.1, small, words));
  } else nodes.push(svgText("verdict-quiet", x, y + tagHeight * 0.66, small, words));
  return { height: height + 5 * scale, nodes, isBroken };
}

/** `v0→v1`, where the step counted. */
function versionsText({ versions, kind }: LabelledFindingRow) {
  if (!versions || kind === "none" || versions[0] === null || versions[0] === versions[1]) return "";
  return `v${versions[0]}→v${versions[1]}`;
}

/** A name a little smaller where it is too long, then without its middle. */
function fittedName(name: string, room: number, size: number): { text: string; size: number } {
  const width = spanWidth({ text: name, code: true }, 1);
  const smaller = Math.max(size * 0.72, Math.min(size, room / width));
  const characters = Array.from(name);
  const most = Math.floor((room / width / smaller) * characters.length);
  if (characters.length <= most) return { text: name, size: smaller };
  const half = Math.max(1, Math.floor((most - 1) / 2));
  return { text: `${characters.slice(0, half).join("")}…${characters.slice(-half).join("")}`, size: smaller };
}

function cellMarks(
  row: LabelledFindingRow,
  box: Box,
  scale: number,
  showsHistory: boolean,
  say: Translate,
): PictureBlock {
  const { cell } = SIZES;
  const w = cell.w * scale;
  const height = (row.old ? cell.withOld : cell.h) * scale;
  if (row.kind === "none")
    return {
      height,
      nodes: [
        h("rect", { class: "verdict-missing", x: box.x, y: box.y, width: w, height, rx: 4 }),
        svgText("verdict-none", box.x + w / 2, box.y + height / 2 + 6 * scale, SIZES.value * scale, "None"),
      ],
    };
  const history = showsHistory ? historyMarks(row, box, height, scale, say) : { width: 0, nodes: () => [] };
  const { cells } = row;
  if (!cells || !cells.length) {
    const end = summaryMarks(row, box, height, scale, say);
    return { height, nodes: [...end.nodes, ...history.nodes(end.x + 10 * scale)] };
  }
  const shownCount = shownCells(row, box, scale, showsHistory, say);
  const shown = cells.slice(0, shownCount);
  const largest = largestMagnitude(cells);
  const nodes = shown.flatMap((value, k) =>
    cellNodes(row, value, k, { x: box.x + k * w, y: box.y, w, h: height }, largest, scale),
  );
  const width = shownCount * w;
  const tone = row.old ? "written" : row.kind === "gradient" ? "gradient" : "plain";
  nodes.push(h("rect", { class: `verdict-strip ${tone}`, x: box.x, y: box.y, width, height, rx: 4 }));
  let x = box.x + width + 10 * scale;
  if (cells.length > shownCount) {
    const more = say("verdict.more_numbers", { n: cells.length - shownCount });
    const size = SIZES.label * scale;
    nodes.push(svgText("verdict-quiet", x, box.y + height / 2 + size * 0.36, size, more));
    x += spanWidth({ text: more, code: false }, size) + 10 * scale;
  }
  return { height, nodes: [...nodes, ...history.nodes(x)] };
}

/** How many of a row's cells are drawn. */
function shownCells(row: LabelledFindingRow, box: Box, scale: number, showsHistory: boolean, say: Translate): number {
  const count = row.cells?.length ?? 0;
  const history = showsHistory ? historyMarks(row, box, 0, scale, say).width : 0;
  const fitting = Math.floor((box.w - history - (history ? 34 * scale : 0)) / (SIZES.cell.w * scale));
  return count <= fitting ? count : Math.max(1, fitting - 1);
}

function cellNodes(
  row: LabelledFindingRow,
  value: Cell,
  k: number,
  place: Box,
  largest: number,
  scale: number,
): VNode[] {
  const old = row.old?.[k];
  const tint = signTint(value, largest);
  const center = place.x + place.w / 2;
  const baseline = place.y + (row.old ? 27 * scale : place.h / 2 + 7 * scale);
  return [
    h("rect", { class: "verdict-cell", x: place.x, y: place.y, width: place.w, height: place.h }),
    ...(tint
      ? [
          h("rect", {
            class: `verdict-tint ${tint.sign}`,
            x: place.x,
            y: place.y,
            width: place.w,
            height: place.h,
            "fill-opacity": tint.opacity,
          }),
        ]
      : []),
    svgText("verdict-value", center, baseline, SIZES.value * scale, shortNumberText(value, 6)),
    ...(old === undefined
      ? []
      : [svgText("verdict-old", center, place.y + 48 * scale, SIZES.old * scale, shortNumberText(old, 6))]),
  ];
}

/** What a tensor holds whose numbers the trace does not list. */
function summaryMarks({ shape, summary }: LabelledFindingRow, box: Box, height: number, scale: number, say: Translate) {
  const count = say("verdict.numbers", { n: shape.reduce((a, b) => a * b, 1) });
  const range =
    summary?.min != null && summary.max != null
      ? say("verdict.range", { min: shortNumberText(summary.min, 6), max: shortNumberText(summary.max, 6) })
      : "";
  const size = SIZES.label * scale;
  const words = [count, range].filter(Boolean).join(" ");
  const width = Math.min(box.w, spanWidth({ text: words, code: false }, size) + 24 * scale);
  return {
    x: box.x + width,
    nodes: [
      h("rect", { class: "verdict-cell", x: box.x, y: box.y, width, height, rx: 4 }),
      h("rect", { class: "verdict-strip plain", x: box.x, y: box.y, width, height, rx: 4 }),
      svgText("verdict-range", box.x + width / 2, box.y + height / 2 + size * 0.36, size, words),
    ],
  };
}

/** The node that made a tensor, or that it has no history. */
function historyMarks(row: LabelledFindingRow, box: Box, height: number, scale: number, say: Translate) {
  // of a result that is gone the trace may not tell the node
  if (row.requiresGrad && !row.history) return { width: 0, nodes: () => [] };
  const size = SIZES.label * scale;
  const words = row.history || say("verdict.no_history");
  const width = spanWidth({ text: words, code: Boolean(row.history) }, size) + 22 * scale;
  const middle = box.y + height / 2;
  const boxHeight = 30 * scale;
  return {
    width,
    nodes: (x: number) => {
      const left = x + 18 * scale;
      return [
        h("path", { class: row.history ? "verdict-edge" : "verdict-edge missing", d: `M${x} ${middle}H${left}` }),
        h("rect", {
          class: row.history ? "verdict-node" : "verdict-missing",
          x: left,
          y: middle - boxHeight / 2,
          width,
          height: boxHeight,
          rx: 6,
        }),
        svgText(
          row.history ? "verdict-node-name" : "verdict-no-history",
          left + width / 2,
          middle + size * 0.36,
          size,
          words,
        ),
      ];
    },
  };
}

/** Two strokes on the line that goes on from one row to the next. */
function omittedRowsBlock(words: string, box: Box, scale: number): PictureBlock {
  const height = SIZES.cut * scale;
  const x = box.x + 40 * scale;
  const top = box.y - 8 * scale;
  const middle = box.y + height / 2 - 7 * scale;
  const stroke = 11 * scale;
  const size = SIZES.label * scale * 1.05;
  return {
    height,
    nodes: [
      h("path", {
        class: "verdict-edge",
        d: `M${x} ${top}V${middle - stroke}M${x} ${middle + stroke}V${box.y + height - 8 * scale}`,
      }),
      h("path", {
        class: "verdict-stroke",
        d: `M${x - 1 * scale} ${middle - stroke}l${-7 * scale} ${2 * stroke}M${x + 9 * scale} ${middle - stroke}l${-7 * scale} ${2 * stroke}`,
      }),
      svgText("verdict-bad", x + 24 * scale, middle + size * 0.36, size, words),
    ],
  };
}

/** What was kept of the row, for which node, and with which version. */
function pinBlock(pin: NonNullable<Verdict["pin"]>, box: Box, scale: number, say: Translate): PictureBlock {
  const height = SIZES.pin * scale;
  const size = SIZES.label * scale;
  const left = box.x + 12 * scale;
  const nodeWidth = spanWidth({ text: pin.node, code: true }, size) + 22 * scale;
  const pill = say("verdict.pin", { expected: pin.expected, found: pin.found });
  const pillWidth = spanWidth({ text: pill, code: false }, size, true) + 26 * scale;
  const boxHeight = 30 * scale;
  const top = box.y + height - boxHeight - 14 * scale;
  const x = left + nodeWidth / 2;
  const pillX = left + nodeWidth + 14 * scale;
  const isBroken = pin.expected !== pin.found;
  return {
    height,
    nodes: [
      h("path", { class: "verdict-pin-line", d: `M${x} ${box.y - 11 * scale}V${top}` }),
      h("rect", { class: "verdict-node", x: left, y: top, width: nodeWidth, height: boxHeight, rx: 6 }),
      svgText("verdict-node-name", x, top + boxHeight / 2 + size * 0.36, size, pin.node),
      h("rect", {
        class: isBroken ? "verdict-pill" : "verdict-pill quiet",
        x: pillX,
        y: top,
        width: pillWidth,
        height: boxHeight,
        rx: boxHeight / 2,
      }),
      svgText("verdict-pill-text", pillX + pillWidth / 2, top + boxHeight / 2 + size * 0.36, size, pill),
    ],
  };
}
