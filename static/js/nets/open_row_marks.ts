/** What the open row of a step looks like: a line for each tensor, its gradient in the right column, nodes between. */

import { fullNumberText, shortNumberText } from "../trace/format.ts";
import { numel } from "../trace/reads.ts";
import { textWidth } from "../layout/text/metrics.ts";
import { classNames, h, type VNode } from "../browser/svg.ts";
import { pathMark, rectMark, textMark, titleMark } from "../browser/shapes.ts";
import { histogramMark, histogramOf, HISTOGRAM_WIDTH } from "./histogram.ts";
import { largestMagnitude, signTint } from "../marks/memory/tint.ts";
import { normText, shapeText } from "./net_words.ts";
import { fitText, pathThatFits } from "./net_row_labels.ts";
import type { Cell } from "../trace/entities.ts";
import type { OpenRow, RowGradient, RowNode, RowTensor, RowValues } from "./open_row.ts";
import type { Translate } from "../words/sentences.ts";

export interface BodyRoom {
  /** left edges in pixels */
  columns: { rail: number; name: number; norm: number };
  width: number;
  /** of the body, in pixels */
  height: number;
  /** of the rows around it */
  isNarrow: boolean;
}

interface Box {
  /** words stand over it */
  isLabelled?: boolean;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Of what leads to the whole run. */
export const WHOLE_RUN_KEY = "whole run";
const NODE_LINE = 26;
/** In its place where a statement makes no node. */
const REST_LINE = 14;
const PADDING = 5;
/** Of a line with the words over its numbers. */
const LINE = { most: 40, least: 29 };
const CELL = { most: 46, least: 38 };
const LEAST_CHARACTERS = 4;
const CHARACTER_WIDTH = 7.25;
/** Matrices with more numbers than these are drawn as squares. */
const MAX_LISTED_MATRIX = 8;
const TINT_LEVELS = 6;
const MAX_WITHOUT_HISTOGRAM = 64;
const LEAST_BESIDE_HISTOGRAM = 210;

const hasNodeLine = ({ invocation, nodes }: OpenRow) => nodes.length > 0 || !invocation.isStatement;

/** Where the node stands in a body, from its top: the rail comes by there; null where there is none. */
export function nodeHeightInBody(row: OpenRow, room: BodyRoom): number | null {
  const lines = shownLines(row, room);
  return hasNodeLine(row) ? PADDING + lines.read.length * lines.height + NODE_LINE / 2 : null;
}

/** `asOf`: the step after which the row is shown, where that is an earlier one. */
export function openRowMarks(row: OpenRow, room: BodyRoom, say: Translate, asOf: number | null = null): VNode {
  const lines = shownLines(row, room);
  const marks: VNode[] = [];
  let y = PADDING;
  const add = (tensor: RowTensor) => {
    marks.push(tensorLine(tensor, y, lines.height, room, say));
    y += lines.height;
  };
  for (const tensor of lines.read) add(tensor);
  const nodeHeight = hasNodeLine(row) ? NODE_LINE : REST_LINE;
  const more = lines.hidden ? say("net_more_tensors", { n: lines.hidden }) : "";
  const earlier = asOf === null ? "" : say("net_as_of", { step: asOf + 1 });
  const rest = [earlier, more].filter(Boolean).join(" · ");
  const width = room.width - (rest ? textWidth(rest, 12) + 12 : 0);
  if (hasNodeLine(row)) marks.push(nodeLine(row, y, { ...room, width }, say));
  if (rest) {
    // all that an optimizer moved stands in the whole run
    const leads = row.invocation.isStatement && row.read.some(({ role }) => role === "parameter");
    const link = leads ? { target: { kind: "net row" as const, key: WHOLE_RUN_KEY }, role: "button", tabindex: 0 } : {};
    const className = classNames("net-class end", leads && "net-link");
    marks.push(textMark(className, room.width - 12, y + nodeHeight / 2 + 4, rest, { ...link }));
  }
  y += nodeHeight;
  for (const tensor of lines.made) add(tensor);
  return h("g", { class: "net-open" }, marks);
}

/** The lines that there is room for: what the step touched, results and inputs before parameters. */
function shownLines(row: OpenRow, { height }: BodyRoom) {
  const { read, made } = row;
  const room = height - (hasNodeLine(row) ? NODE_LINE : REST_LINE) - 2 * PADDING;
  const count = Math.max(1, Math.min(read.length + made.length, Math.floor(room / LINE.least)));
  const all = [...made, ...read];
  const rank = (tensor: RowTensor, k: number) =>
    (tensor.isTold ? -200 : 0) +
    (tensor.gradient?.isFresh || tensor.isWritten ? 0 : 100) +
    (tensor.role === "made" ? 0 : tensor.role === "read" ? 10 : 20) +
    k / 100;
  const ranks = new Map(all.map((tensor, k) => [tensor, rank(tensor, k)]));
  const shown = new Set([...all].sort((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0)).slice(0, count));
  const lineHeight = Math.max(LINE.least, Math.min(LINE.most, Math.floor(room / Math.max(1, shown.size))));
  const isShown = (tensor: RowTensor) => shown.has(tensor);
  return {
    read: read.filter(isShown),
    made: made.filter(isShown),
    hidden: all.length - shown.size,
    height: lineHeight,
  };
}

function tensorLine(tensor: RowTensor, top: number, height: number, room: BodyRoom, say: Translate): VNode {
  const { columns, width, isNarrow } = room;
  const cellHeight = Math.min(22, height - 14);
  const y = top + 13;
  const middle = y + cellHeight / 2;
  const card = columns.name + CARD_OFFSET;
  const name = tensor.name ?? say(tensor.role === "made" ? "net_result" : "net_input");
  const tagWidth = textWidth(name, 12) + 14;
  // a long name takes the place of what is said of the tensor, and one that is longer stands over the numbers
  const isWide = !isNarrow && tagWidth > CARD_OFFSET - 20;
  const isAbove = tagWidth > (isNarrow ? NARROW_TAG : CARD_OFFSET + CARD_WIDTH - 12);
  const cells = isAbove ? columns.name : isNarrow ? columns.name + 112 : card + 168;
  const gradient = gradientMarks(
    tensor,
    { x: columns.norm, y, width: width - 12 - columns.norm, height: cellHeight },
    say,
  );
  const valueRoom = { x: cells, y, width: columns.norm - 24 - cells, height: cellHeight, isLabelled: isAbove };
  return h(
    "g",
    {
      key: `tensor ${tensor.role} ${tensor.uid}`,
      class: classNames("net-tensor", tensor.role, tensor.isGone && "gone"),
      target: { kind: "handle", uid: tensor.uid },
    },
    isAbove
      ? nameAbove(name, columns.name, y - 4.5, (gradient ? columns.norm : width) - 12 - columns.name)
      : nameTag(name, columns.name, middle, tensor.role === "read", tagWidth),
    !isNarrow && !isWide && cardMark(tensor, { x: card, y: top + 1, height: height - 4, middle }, say),
    !isNarrow && !isAbove && tensor.version !== null && versionMark(tensor, card + 128, middle),
    h("g", {}, valueMarks(tensor, valueRoom, classNames("net-values", tensor.isWritten && "written"))),
    gradient,
  );
}

/** Of a name where its numbers stand beside it. */
const NARROW_TAG = 92;
/** Between a name and its tensor. */
const CARD_OFFSET = 138;
const CARD_WIDTH = 122;
/** For two lines of text. */
const MIN_CARD_HEIGHT = 30;

function nameTag(name: string, x: number, middle: number, isRead: boolean, width: number) {
  const label = h("text", { x: x + 7, y: middle + 4 }, [name, titleMark(name)]);
  const d = `M${x} ${middle - 10}h${width}l7 10l-7 10h${-width}z`;
  return h("g", { class: classNames("net-tag", isRead && "read") }, h("path", { d }), label);
}

function nameAbove(name: string, x: number, y: number, room: number) {
  return textMark("net-name-above", x, y, pathThatFits(name, room, 12), { title: name });
}

function cardMark(
  { shape, isLeaf, isGone, requiresGrad, maker, madeOn, moved }: RowTensor,
  { x, y, height, middle }: { x: number; y: number; height: number; middle: number },
  say: Translate,
) {
  const by = maker?.kind === "module" ? maker.name : null;
  const note =
    moved !== undefined
      ? say("net_moved_by", { norm: normText(moved) })
      : isGone
        ? say("net_memory_gone")
        : isLeaf
          ? say(requiresGrad ? "net_wants_grad" : "net_no_grad")
          : by
            ? say("net_by", { name: pathThatFits(by, 88, 12) })
            : madeOn
              ? say("net_line", { line: madeOn })
              : "";
  const half = y + height / 2;
  if (height < MIN_CARD_HEIGHT)
    return h("g", { class: classNames("net-card", requiresGrad && "grad") }, [
      h("rect", { x, y: middle - 10, width: CARD_WIDTH, height: 20, rx: 3 }),
      rectMark("net-card-edge", x, middle - 10, 3, 20),
      textMark("net-card-shape", x + 9, middle + 4, shapeText(shape), { title: note }),
    ]);
  return h("g", { class: classNames("net-card", requiresGrad && "grad") }, [
    h("rect", { x, y: y + 2, width: CARD_WIDTH, height: height - 4, rx: 3 }),
    rectMark("net-card-edge", x, y + 2, 3, height - 4),
    textMark("net-card-shape", x + 9, half - 2, shapeText(shape)),
    textMark(null, x + 9, half + 11, fitText(note, 110, 12), { title: note }),
  ]);
}

function versionMark({ version }: RowTensor, x: number, middle: number) {
  const text = `v${version}`;
  const width = textWidth(text, 12) + 8;
  return h("g", { class: "net-version" }, [
    h("rect", { x, y: middle - 9, width, height: 18, rx: 4 }),
    h("text", { x: x + 4, y: middle + 4 }, text),
  ]);
}

function gradientMarks({ gradient, gradientState }: RowTensor, place: Box, say: Translate) {
  const { x, y, height } = place;
  if (!gradient) {
    if (!gradientState) return null;
    const key = `net_gradient_${gradientState === "cleared" ? "absent" : gradientState}`;
    const text = textWidth(say(key), 12) + 14 <= place.width ? say(key) : say(`${key}_short`);
    return h("g", { class: classNames("net-no-gradient", gradientState) }, [
      h("rect", { x: x + 0.5, y: y + 0.5, width: textWidth(text, 12) + 14, height: height - 1, rx: 4 }),
      h("text", { x: x + 8, y: y + height / 2 + 4 }, text),
    ]);
  }
  const whole = say(`net_gradient_${gradient.role}`);
  const label = textWidth(whole, 12) <= place.width ? whole : say(`net_gradient_${gradient.role}_short`);
  const marks = valueMarks(
    gradient,
    { ...place, isLabelled: true },
    classNames("net-values gradient", gradient.isFresh && "fresh"),
  );
  return h("g", {}, textMark("net-gradient-label", x, y - 3, label), marks);
}

/** Numbers in cells, matrices as squares, or the means of stretches of what is too large to list. */
function valueMarks(values: RowValues | RowGradient, place: Box, className: string): VNode[] {
  const { shape, cells, summary } = values;
  const count = numel(shape);
  const histogram = count > MAX_WITHOUT_HISTOGRAM ? histogramOf(values) : null;
  const isRoomy = histogram !== null && place.width >= LEAST_BESIDE_HISTOGRAM + HISTOGRAM_WIDTH;
  const room = isRoomy ? { ...place, width: place.width - HISTOGRAM_WIDTH - 6 } : place;
  const marks = isRoomy ? [histogramMark(histogram, { ...place, x: place.x + room.width + 6 }, className)] : [];
  const heat = summary?.heat ?? null;
  if (!cells)
    return heat?.length
      ? [heatStrip(heat, count, room, className), ...marks]
      : [textMark("net-class", place.x, place.y + place.height / 2 + 4, "–")];
  const [rows, columns] = shape.slice(-2);
  if (shape.length >= 2 && count > MAX_LISTED_MATRIX && rows > 1 && columns > 1)
    return [...matrixMarks(cells, shape, room, className), ...marks];
  return [numberStrip(cells, count, room, className), ...marks];
}

function numberStrip(cells: Cell[], count: number, { x, y, width, height }: Box, className: string): VNode {
  const texts = cells.slice(0, Math.ceil(width / CELL.least)).map((cell) => shortNumberText(cell, LEAST_CHARACTERS));
  const longest = Math.max(...texts.map((text) => text.length));
  const least = Math.max(CELL.least, longest * CHARACTER_WIDTH + 4);
  const fitting = Math.max(1, Math.floor(width / least));
  const more = textWidth(`+${count}`, 12) + 6;
  const shown = cells.length <= fitting ? cells.length : Math.max(1, Math.floor((width - more) / least));
  const cellWidth = Math.min(Math.max(least, CELL.most), (width - (shown < count ? more : 0)) / shown);
  const most = largestMagnitude(cells);
  const marks = cells.slice(0, shown).flatMap((cell, k) => {
    const tint = signTint(cell, most);
    const box = { x: x + k * cellWidth, y, width: cellWidth, height };
    const text = shortNumberText(cell, Math.max(3, Math.floor((cellWidth - 4) / CHARACTER_WIDTH)));
    return [
      tint && h("rect", { class: `net-cell ${tint.sign}`, ...box, "fill-opacity": 2 * tint.opacity }),
      textMark("net-value", box.x + cellWidth / 2, y + height / 2 + 4, text, { title: fullNumberText(cell) }),
    ];
  });
  return h("g", { class: className }, [
    rectMark("net-values-ground", x, y, shown * cellWidth, height, { rx: 2 }),
    marks,
    rectMark("net-values-frame", x, y, shown * cellWidth, height, { rx: 2 }),
    shown < count && textMark("net-class", x + shown * cellWidth + 5, y + height / 2 + 4, `+${count - shown}`),
  ]);
}

/** The last two dimensions as squares, one for each index of those before them; then the first row in numbers. */
function matrixMarks(
  cells: Cell[],
  shape: number[],
  { x, y, width, height, isLabelled }: Box,
  className: string,
): VNode[] {
  const [rows, columns] = shape.slice(-2);
  const size = rows * columns;
  const count = cells.length / size;
  const raise = isLabelled ? 0 : 11;
  const mapHeight = height + raise;
  const mapWidth = Math.max(14, Math.min(90, (mapHeight * columns) / rows));
  const numbers = Math.min(columns, 8) * CELL.least + 40;
  const room = Math.max(mapWidth, Math.min(width, Math.max(width * 0.45, width - numbers)));
  const shown = Math.max(1, Math.min(count, Math.floor((room + 3) / (mapWidth + 3))));
  const most = largestMagnitude(cells);
  const marks = Array.from({ length: shown }, (_, k) =>
    heatMapMark(
      cells.slice(k * size, (k + 1) * size),
      columns,
      most,
      { x: x + k * (mapWidth + 3), y: y - raise, width: mapWidth, height: mapHeight },
      className,
    ),
  );
  let at = x + shown * (mapWidth + 3) + 3;
  if (shown < count) {
    const text = `+${count - shown}`;
    marks.push(textMark("net-class", at, y + height / 2 + 4, text));
    at += textWidth(text, 12) + 6;
  }
  const left = x + width - at;
  if (left >= 3 * CELL.least) {
    const index = `[${[...shape.slice(0, -1)].map(() => 0).join(",")}]`;
    if (!isLabelled) marks.push(textMark("net-class", at, y - 3, index));
    marks.push(numberStrip(cells.slice(0, columns), columns, { x: at, y, width: left, height }, className));
  }
  return marks;
}

/** A small map: cells of one tint are one path. */
function heatMapMark(
  cells: Cell[],
  columns: number,
  most: number,
  { x, y, width, height }: Box,
  className: string,
): VNode {
  const rows = cells.length / columns;
  const [w, high] = [width / columns, height / rows];
  const paths = new Map<string, string>();
  cells.forEach((cell, k) => {
    const tint = signTint(cell, most);
    if (!tint) return;
    const level = Math.max(1, Math.ceil(((tint.opacity - 0.08) / 0.28) * TINT_LEVELS));
    const key = `${tint.sign} ${level}`;
    const [left, top] = [round(x + (k % columns) * w), round(y + Math.floor(k / columns) * high)];
    paths.set(key, `${paths.get(key) ?? ""}M${left} ${top}h${round(w)}v${round(high)}h${-round(w)}z`);
  });
  return h("g", { class: classNames(className, "map") }, [
    rectMark("net-values-ground", x, y, width, height),
    [...paths].map(([key, d]) => {
      const [sign, level] = key.split(" ");
      return pathMark(`net-cell ${sign}`, d, { "fill-opacity": 0.12 + (0.75 * Number(level)) / TINT_LEVELS });
    }),
    rectMark("net-values-frame", x, y, width, height),
  ]);
}

const round = (value: number) => Math.round(value * 100) / 100;

function heatStrip(heat: Cell[], count: number, { x, y, width, height }: Box, className: string): VNode {
  const text = `${count}`;
  const room = Math.min(220, width - textWidth(text, 12) - 8);
  const most = largestMagnitude(heat);
  return h("g", { class: className }, [
    rectMark("net-values-ground", x, y, room, height, { rx: 2 }),
    heat.map((mean, k) => {
      const tint = signTint(mean, most);
      return (
        tint &&
        rectMark(`net-cell ${tint.sign}`, x + (k * room) / heat.length, y, room / heat.length, height, {
          "fill-opacity": 2 * tint.opacity,
        })
      );
    }),
    rectMark("net-values-frame", x, y, room, height, { rx: 2 }),
    textMark("net-class", x + room + 6, y + height / 2 + 4, text),
  ]);
}

/** The nodes of the row, the one of the step filled, with what it kept; of many those around it. */
function nodeLine(
  { nodes, hasRaised }: OpenRow,
  top: number,
  { columns, width: bodyWidth, isNarrow }: BodyRoom,
  say: Translate,
): VNode {
  const y = top + NODE_LINE / 2;
  let x = columns.name;
  const marks: VNode[] = [pathMark("net-stem", `M${columns.rail} ${y}H${x}`)];
  const end = bodyWidth - 12;
  if (!nodes.length) {
    const key = hasRaised ? "net_no_node_raised" : "net_no_node";
    const text = say(isNarrow ? "net_no_node_short" : key);
    return h("g", { key: "nodes", class: "net-nodes" }, marks, textMark("net-class", x + 6, y + 4, text));
  }
  const now = nodes.findIndex(({ isNow }) => isNow);
  const words = nodes.filter(({ isShapeOnly, isNow }) => !isShapeOnly || isNow);
  const list = words.length ? words : nodes;
  const from = Math.max(
    0,
    Math.min(
      list.findIndex(({ isNow }) => isNow),
      list.length - 1,
    ) - 2,
  );
  if (from > 0) {
    const before = `+${from}`;
    marks.push(textMark("net-class", x, y + 4, before));
    x += textWidth(before, 12) + 4;
  }
  for (const [k, node] of list.slice(from).entries()) {
    const width = textWidth(node.word, 12) + 18;
    if (x + width > end - 60) {
      marks.push(textMark("net-class", x + 4, y + 4, `+${list.length - from - k}`));
      break;
    }
    marks.push(nodeMark(node, x, y, width));
    x += width + 6;
    const isTold = now < 0 ? list.length <= 2 : node.isNow;
    if (isTold && !isNarrow) x = slotMarks(node, x, y, end - 80, marks, say);
  }
  return h("g", { key: "nodes", class: "net-nodes" }, marks);
}

function nodeMark({ word, isNow, hasRun }: RowNode, x: number, y: number, width: number) {
  return h("g", { class: classNames("net-chip node", isNow ? "now" : hasRun ? "returned" : "ran") }, [
    h("rect", { x, y: y - 10, width, height: 20, rx: 10 }),
    h("text", { x: x + 9, y: y + 4 }, word),
  ]);
}

/** What a node keeps, or kept, for backward. The place after them. */
function slotMarks({ slots }: RowNode, x: number, y: number, end: number, marks: VNode[], say: Translate): number {
  for (const [k, { name, shape, state }] of slots.entries()) {
    const text = shape?.length ? `${name} ${shapeText(shape)}` : name;
    const width = textWidth(text, 12) + 12;
    if (x + width > end) {
      marks.push(textMark("net-class", x, y + 4, `+${slots.length - k}`));
      return x + 26;
    }
    marks.push(
      h("g", { class: `net-slot ${state}` }, [
        h("rect", { x: x + 0.5, y: y - 9.5, width, height: 19, rx: 4 }),
        h("text", { x: x + 6, y: y + 4 }, text),
        titleMark(say(`net_slot_${state}`)),
      ]),
    );
    x += width + 5;
  }
  return x + 4;
}
