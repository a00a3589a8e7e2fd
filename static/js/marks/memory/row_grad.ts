/** The place of a `.grad` beside its tensor: its own strip with its version and name, None, or where else it stands. */

import { findEntity, findHandle, type Cell, type Handle } from "../../trace/entities.ts";
import { shortNumberText, tupleText, truncateText } from "../../trace/format.ts";
import { fittedText, type FittedText } from "../../layout/text/fitted_text.ts";
import { CHARACTER_WIDTH_EM, FONT_SIZES, textWidth } from "../../layout/text/metrics.ts";
import { numel, cellReads } from "../../trace/reads.ts";
import { classNames, h } from "../../browser/svg.ts";
import { focusable, textMark, titleMark } from "../../browser/shapes.ts";
import { cellStripMark } from "./row_cells.ts";
import { gradientCounterMark, isVersionWorthShowing } from "./row_counter.ts";
import type { RowDrawing } from "./row_drawing.ts";
import type { CellStrip } from "../../layout/cells/row_strip.ts";
import type { Entities } from "../../trace/state.ts";
import type { RenderContext } from "../render_context.ts";
import type { HandleLine, RowBlock } from "../../layout/memory/memory_parts.ts";

/** In characters. */
const MAX_ADDED_LENGTH = 6;

interface GradPlace {
  x: number;
  y: number;
  /** what the program calls the gradient */
  path: string;
}

/** `y` is that of the line. */
export function gradientPlaceMark(row: RowDrawing, { grad, uid }: HandleLine, y: number) {
  const { entities } = row.facts.snap;
  const handle = findHandle(entities, uid);
  if (!grad || !handle) return null;
  const place = { x: grad.x, y: y + grad.y, path: grad.path };
  if (grad.block && grad.strip) return gradientStripMark(row, uid, grad.block, grad.strip, place);
  if (handle.grad && entities.has(handle.grad)) return separateGradientMark(row, uid, handle.grad, place);
  return noGradientMark(row, uid, row.item.block.lost.get(uid), place);
}

function gradientStripMark(
  { facts, columns, open }: RowDrawing,
  ownerUid: string,
  block: RowBlock,
  strip: CellStrip,
  place: GradPlace,
) {
  const [uid] = block.handles;
  const handle = findHandle(facts.snap.entities, uid);
  const counterUid = handle?.counter;
  const { path } = place;
  const fresh = facts.snap.fresh.has(uid);
  const nameY = place.y + strip.h + 12;
  const addition = additionNotes(facts, ownerUid, block);
  const maxWidth = columns.w - 6 - place.x;
  const hasRoom = (text: string) => textWidth(`${path}  ${text}`, FONT_SIZES.small) <= maxWidth;
  const note = addition ? (addition.find(hasRoom) ?? "") : gradientMemoryNote(facts, block, handle);
  const shape = tupleText(handle?.shape ?? []);
  const name = fittedText([`${path}${note ? `  ${note}` : ""}`, path, ".grad"], maxWidth);
  const layout = fittedText([`${(handle?.layout ?? "").replace("torch.", "")} ${shape}`, shape], maxWidth - 2);
  return h(
    "g",
    {
      key: `grad ${ownerUid}`,
      class: classNames("grad-place", fresh && "fresh"),
      "data-handle": uid,
      "data-counter": counterUid ?? null,
      "data-on": handle?.storage ?? null,
      "data-grad-of": ownerUid,
      ...focusable({ kind: "handle", uid }, "group", `${path} ${shape}`),
    },
    block.storage
      ? cellStripMark(facts, block.storage, strip, { x: place.x, y: place.y, full: open, grad: true })
      : textMark("meta", place.x + 2, place.y + 14, layout.text, { key: "layout", ...fontAttributes(layout) }),
    fresh && block.storage && !facts.snap.fresh.has(block.storage) && !facts.manyChanged
      ? arrivedGradientHaloMark(strip, place)
      : null,
    counterUid &&
      isVersionWorthShowing(facts, counterUid, block.pins) &&
      gradientCounterMark(facts, counterUid, place.x - 23, place.y + (open ? Math.min(8, strip.h / 2 - 7) : 0.5)),
    open &&
      h(
        "g",
        {
          key: "name",
          class: "grad-name",
          "data-ref": uid,
          "data-path": path,
          target: { kind: "path", path, ref: uid },
        },
        h("text", { x: place.x + 1, y: nameY, ...fontAttributes(name) }, name.text),
        titleMark(`${facts.labels.gradient} ${path} ${shape} → ${uid}`),
      ),
  );
}

function fontAttributes({ size, spacing }: FittedText) {
  return { "font-size": size, "letter-spacing": spacing };
}

/** Around numbers that the step put into a `.grad`: they were on their way before. */
function arrivedGradientHaloMark({ bands }: CellStrip, place: GradPlace) {
  const [band] = bands;
  const size = band ? { width: Math.min(band.n, band.columns) * band.cw + 6, height: band.lines * band.ch + 6 } : {};
  return band && h("rect", { key: "halo", class: "halo", x: place.x - 3, y: place.y - 3, ...size, rx: 5 });
}

/**
 * What the step's gradient was added to: as a sum, the part that arrived, or in words; null where it was added to
 * nothing.
 */
function additionNotes({ snap, previous, labels }: RenderContext, ownerUid: string, block: RowBlock): string[] | null {
  const visit = snap.step?.visit;
  if (visit?.accumulates !== ownerUid) return null;
  const before = findHandle(previous, findHandle(previous, ownerUid)?.grad);
  if (!before) return null;
  const cellsOf = (entities: Entities, storage: string | null | undefined) =>
    Object.values(findEntity(entities, storage, "storage")?.cells ?? {})[0] ?? [];
  const arrived = visit.grad_outputs.find(Boolean)?.cells ?? [];
  const sum = sumText(cellsOf(previous, before.storage), arrived, cellsOf(snap.entities, block.storage));
  return sum ? [sum, `+ ${shortNumberText(arrived[0], MAX_ADDED_LENGTH)}`] : [labels.addedToGrad];
}

/** The rounding of a sum in float16, as a part of its largest number: a larger difference is another sum. */
const SUM_TOLERANCE = 2e-3;

/** `2.0 + 1.6 = 3.6`; null where it isn't about single numbers, or more than the two was added. */
function sumText(before: Cell[], arrived: Cell[], sum: Cell[]): string | null {
  const [a, b, total] = [before, arrived, sum].map((cells) => (cells.length === 1 ? cells[0] : null));
  if (typeof a !== "number" || typeof b !== "number" || typeof total !== "number") return null;
  if (Math.abs(a + b - total) > SUM_TOLERANCE * Math.max(...[a, b, total].map(Math.abs))) return null;
  const text = (value: number) => shortNumberText(value, 6);
  return `${text(a)} ${b < 0 ? text(b).replace("−", "− ") : `+ ${text(b)}`} = ${text(total)}`;
}

/** What is odd about a gradient's memory: that one cell is read more than once, or that others read it too. */
function gradientMemoryNote({ labels }: RenderContext, block: RowBlock, handle: Handle | undefined) {
  if (!handle) return "";
  const list = cellReads(handle);
  const cells = new Set(list.map(({ cell }) => cell)).size;
  if (list.length > cells) return labels.readTimes.replace("{times}", `${numel(handle.shape) / cells}`);
  return block.others.length ? `+${block.others.length} ${labels.moreHandles}` : "";
}

/** A gradient with a row of its own. */
function separateGradientMark({ facts, columns, open }: RowDrawing, ownerUid: string, uid: string, place: GradPlace) {
  const name = facts.names.tags.get(uid)?.find((tag) => tag.kind !== "grad")?.text ?? facts.names.paths.get(uid) ?? uid;
  const text = `${facts.labels.is} ${name}`;
  const maxWidth = columns.w - 6 - place.x;
  return h(
    "g",
    {
      key: `grad ${ownerUid}`,
      class: "grad-elsewhere",
      "data-grad-of": ownerUid,
      "data-to": uid,
      target: { kind: "gradient elsewhere", ref: uid },
    },
    textMark(
      "meta",
      place.x,
      place.y + (open ? 19 : 12),
      truncateText(text, Math.max(4, Math.floor(maxWidth / (CHARACTER_WIDTH_EM * FONT_SIZES.small)))),
      { size: FONT_SIZES.small },
    ),
    titleMark(`${place.path} → ${uid}`),
  );
}

/** No gradient yet, or none any more. */
function noGradientMark(
  { facts, columns, open }: RowDrawing,
  ownerUid: string,
  freedStorage: string | undefined,
  place: GradPlace,
) {
  const { none, freed } = facts.labels;
  const widthOf = (words: string) => Math.max(42, textWidth(words, FONT_SIZES.small) + 16);
  const why = textWidth(facts.labels.why, FONT_SIZES.small) + 8;
  const room = Math.min(columns.gradW, columns.w - 8 - place.x);
  const said = `${none} · ${freed}`;
  const text = freedStorage && widthOf(said) <= room ? said : none;
  const own = widthOf(text);
  const isAsking = open && !freedStorage && own + why <= room;
  const w = Math.min(Math.max(own, room), isAsking ? own + why : own);
  const box = { x: place.x, y: place.y + (open ? 4 : 1), width: w, height: open ? 22 : 16, rx: 3 };
  return h(
    "g",
    {
      key: `grad ${ownerUid}`,
      class: classNames("placeholder", freedStorage && "lost"),
      "data-grad-of": ownerUid,
      target: { kind: "missing gradient", of: ownerUid },
    },
    h("rect", box),
    textMark("meta", place.x + 8, place.y + (open ? 19.3 : 13.2), text, { size: FONT_SIZES.small }),
    isAsking &&
      textMark("why", place.x + own, place.y + 19.3, facts.labels.why, { key: "why", size: FONT_SIZES.small }),
    titleMark(`${place.path} ${facts.labels.is} None`),
  );
}
