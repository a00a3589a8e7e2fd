/** The list of a run's names: a slim line for each, and thin lines to what of them is open beside it. */

import { findEntity, isHandle, type Cell } from "../../trace/entities.ts";
import { objectTypeText } from "../../layout/text/card_texts.ts";
import { bytesText, tupleText, truncateText } from "../../trace/format.ts";
import { frameValueChips } from "../../layout/memory/heading_chips.ts";
import { LIST_FONT_SIZES } from "../../layout/memory/memory_list.ts";
import { uidsOfBlock, uidsOfEntry, type ListEntry } from "../../layout/memory/memory_list_step.ts";
import { NAMELESS_KEY } from "../../layout/memory/memory_items.ts";
import { textWidth } from "../../layout/text/metrics.ts";
import { cutPathAtStart } from "../../layout/memory/pane_names.ts";
import { classNames, h, type VNode } from "../../browser/svg.ts";
import { rowPurposeText } from "../labels.ts";
import { cellColourMarks, changedBarMark } from "./row_cells.ts";
import { cachedMark, type MarkCache } from "../mark_cache.ts";
import type { MemoryOverview } from "../../layout/memory/memory_focus.ts";
import type { ListLine, MemoryList } from "../../layout/memory/memory_parts.ts";
import type { RowBlock } from "../../layout/memory/memory_parts.ts";
import type { MemoryStep } from "../../layout/memory/memory_step.ts";
import type { Storage } from "../../trace/wire.ts";
import type { Target } from "../../browser/targets.ts";
import type { StepFacts } from "../step_facts.ts";

const STRIP_HEIGHT = 11;
const INDENT = 10;
const LEFT = 12;
/** Of a line, between its colours and the edge of the list, where lines to what is open begin. */
const JOIN_START = 9;
/** From the edge of the list to what is open. */
const JOIN_LANES = { first: -4, step: 3, most: 5 };

export function memoryListMarks(
  stepFacts: StepFacts,
  memoryStep: MemoryStep,
  overview: MemoryOverview,
  height: number,
  markCache: MarkCache | null,
): VNode[] {
  const { list, entries } = overview;
  const lines = entries.map((entry) =>
    cachedMark(
      markCache,
      `line ${entry.line.key}`,
      () => listLineInputs(stepFacts, list, entry),
      null,
      () => listLineMark(stepFacts, memoryStep, overview, entry),
    ),
  );
  const edge = h("path", { key: "list edge", class: "list-edge", d: `M${overview.left - 0.5} 0V${height}` });
  return [edge, ...lines, restMark(stepFacts, overview), ...joinMarks(overview)].filter((mark) => mark !== null);
}

/** All that a line's description is made from; null for one that the step touched. */
function listLineInputs({ snap }: StepFacts, list: MemoryList, entry: ListEntry): unknown[] | null {
  const { line, uid, name, blocks, grad, wantsGrad, container, hot } = entry;
  if (hot || line.kind === "frame") return null;
  const inputs: unknown[] = [
    line,
    list.font,
    uid,
    name?.tag.text,
    name?.tag.frame,
    wantsGrad,
    container,
    blocks.length,
  ];
  inputs.push(snap.entities.get(container ?? ""));
  for (const block of [...blocks, ...(grad ? [grad] : [])]) {
    for (const one of uidsOfBlock(block)) inputs.push(one, snap.entities.get(one));
    if (block.storage && snap.written.has(block.storage)) return null;
  }
  return inputs;
}

function listLineMark(
  stepFacts: StepFacts,
  memoryStep: MemoryStep,
  { list, open }: MemoryOverview,
  entry: ListEntry,
): VNode {
  const { line, uid, name, blocks, hot, container } = entry;
  const { lineHeight, font } = list;
  const isHeading = line.kind === "heading" || line.kind === "frame";
  const x = LEFT + line.indent * INDENT;
  const baseline = lineHeight / 2 + font * 0.36;
  const room = list.strip - x - 6;
  const text = cutPathAtStart(lineText(stepFacts, line), room, font);
  const members = uidsOfEntry(entry);
  const isVariable = name?.tag.kind === "var";
  const target: Target | null =
    uid && name
      ? isVariable
        ? { kind: "name", frame: name.tag.frame, name: name.tag.name, ref: uid }
        : { kind: "path", path: name.tag.text, ref: uid }
      : uid
        ? { kind: "handle", uid }
        : container?.[0] === "o"
          ? { kind: "object", uid: container }
          : null;
  return h(
    "g",
    {
      key: `line ${line.key}`,
      class: classNames("list-line", line.kind, hot && "touched"),
      transform: `translate(${line.x} ${line.y})`,
      "data-line": line.key,
      "data-line-name": line.names.length === 1 ? line.names[0].text : null,
      "data-line-ref": uid ?? container,
      "data-line-members": members.join(" ") || null,
      target,
      tabindex: target ? "0" : null,
      role: "group",
      "aria-label": lineLabelText(stepFacts, entry),
    },
    h("rect", { key: "ground", class: "line-ground", x: 4, y: 0, width: list.w - 8, height: lineHeight, rx: 3 }),
    h("text", { key: "name", class: "line-name", x, y: baseline, "font-size": font }, text),
    isHeading && headingNoteMark(stepFacts, memoryStep, list, entry, open, x + textWidth(text, font) + 8, baseline),
    isHeading ? null : lineStripMarks(stepFacts, list, blocks, line.kind),
    isHeading ? null : lineGradientMarks(stepFacts, list, entry),
    h("title", {}, lineLabelText(stepFacts, entry)),
  );
}

function lineText({ labels }: StepFacts, { kind, text, names: [name] }: ListLine) {
  return kind === "old" ? text.replace(`old ${name.text}`, labels.oldName.replace("{name}", name.text)) : text;
}

/** What a line says in words. */
function lineLabelText({ snap }: StepFacts, { line, uid, container }: ListEntry) {
  const names = line.names.map(({ text }) => text).join(", ") || line.text;
  const handle = snap.entities.get(uid ?? "");
  if (isHandle(handle)) return `${names} ${tupleText(handle.shape ?? [])}`;
  const object = findEntity(snap.entities, container, "object");
  return object ? `${names} ${objectTypeText(object)}` : names;
}

/** After a heading's name: its type, or how many values a function has. */
function headingNoteMark(
  { snap }: StepFacts,
  memoryStep: MemoryStep,
  list: MemoryList,
  { container, line }: ListEntry,
  open: ReadonlySet<string>,
  x: number,
  y: number,
) {
  const size = LIST_FONT_SIZES.crowded;
  const room = Math.floor((list.w - 8 - x) / textWidth("n", size));
  if (line.kind === "frame" && container) {
    const isOpen = open.has(container);
    const chips = isOpen ? [] : frameValueChips(memoryStep, container);
    return h(
      "g",
      { key: "frame", class: "frame", "data-frame-card": isOpen ? null : container },
      chips.length > 0 &&
        h(
          "text",
          { key: "values", class: "meta", x, y, "font-size": size },
          `+${chips.length}`,
          h("title", {}, chips.map((chip) => `${chip.label} ${chip.text}`).join("\n")),
        ),
    );
  }
  const object = findEntity(snap.entities, container, "object");
  if (!object || room < 4) return null;
  return h("text", { key: "type", class: "meta", x, y, "font-size": size }, truncateText(objectTypeText(object), room));
}

/** The colours of the cells that a line's names mean; of several, side by side. */
function lineStripMarks(stepFacts: StepFacts, list: MemoryList, blocks: RowBlock[], kind: string): (VNode | null)[] {
  const shown = kind === "group" || kind === "state" ? blocks.slice(0, 4) : blocks.slice(0, 1);
  const w = (list.stripW - (shown.length - 1) * 3) / Math.max(1, shown.length);
  return shown.map((block, k) => slimStripMark(stepFacts, block, list.strip + k * (w + 3), w, list.lineHeight, false));
}

function lineGradientMarks(stepFacts: StepFacts, list: MemoryList, { grad, wantsGrad, uid, line }: ListEntry) {
  if (!list.gradW) return null;
  if (grad) return slimStripMark(stepFacts, grad, list.grad, list.gradW, list.lineHeight, true);
  const handle = stepFacts.snap.entities.get(uid ?? "");
  if (!wantsGrad || line.kind === "group" || (isHandle(handle) && handle.grad)) return null;
  const d = `M${list.grad} ${list.lineHeight / 2}h${list.gradW}`;
  return h("path", { key: "wants", class: "line-wants", d });
}

function slimStripMark(
  stepFacts: StepFacts,
  block: RowBlock,
  x: number,
  w: number,
  lineHeight: number,
  isGradient: boolean,
): VNode | null {
  const { snap } = stepFacts;
  const storage = findEntity(snap.entities, block.storage, "storage");
  const y = (lineHeight - STRIP_HEIGHT) / 2;
  const box = { x, y, width: w, height: STRIP_HEIGHT, rx: 2 };
  const isChanged = block.storage !== null && (snap.fresh.has(block.storage) || snap.written.has(block.storage));
  const { dtype, values } = slimValues(storage);
  const band = {
    ...{ dtype, n: values.length, y: 0, columns: values.length, lines: 1, ch: STRIP_HEIGHT },
    cw: w / Math.max(1, values.length),
    mode: "heat" as const,
  };
  return h(
    "g",
    {
      key: `${isGradient ? "grad" : "cells"} ${block.key}`,
      class: classNames("line-strip", isGradient && "grad"),
      "data-line-strip": block.storage,
    },
    h("rect", { key: "ground", class: "strip-ground", ...box }),
    ...cellColourMarks(band, values, { x, y, full: false, grad: isGradient }),
    h("rect", {
      key: "frame",
      class: classNames("line-frame", isGradient && "grad", isChanged && !stepFacts.manyChanged && "changed"),
      ...box,
    }),
    isChanged && stepFacts.manyChanged && changedBarMark(x - 5, y, STRIP_HEIGHT, lineHeight - 2),
  );
}

/** The cells of a memory, or the means of stretches of it. */
function slimValues(storage: Storage | undefined): { dtype: string; values: Cell[] } {
  const [cells] = Object.entries(storage?.cells ?? {});
  if (cells) return { dtype: cells[0], values: cells[1] };
  const [summary] = Object.entries(storage?.summary ?? {});
  return { dtype: summary?.[0] ?? "", values: ((summary?.[1].heat ?? []) as (Cell | null)[]).map((mean) => mean ?? 0) };
}

/** How many storages have no name: opened by a click. */
function restMark({ labels, snap }: StepFacts, { list, rest }: MemoryOverview): VNode | null {
  const line = list.lines[list.lines.length - 1];
  if (!rest.length || line.kind !== "rest") return null;
  const bytes = rest.reduce(
    (sum, { storage }) => sum + (findEntity(snap.entities, storage, "storage")?.nbytes ?? 0),
    0,
  );
  const text = `${labels.nameless.replace("{n}", `${rest.length}`)} · ${bytesText(bytes)}`;
  const members = rest.flatMap(uidsOfBlock);
  const font = LIST_FONT_SIZES.crowded;
  const room = Math.floor((list.w - 2 * LEFT) / textWidth("n", font));
  return h(
    "g",
    {
      key: "fold nameless",
      class: "fold line rest",
      transform: `translate(${line.x} ${line.y})`,
      "data-fold": NAMELESS_KEY,
      "data-members": members.join(" "),
      target: { kind: "fold", key: NAMELESS_KEY, members },
      role: "button",
      tabindex: "0",
      "aria-expanded": "false",
      "aria-label": text,
    },
    h("rect", { key: "ground", class: "fold-ground", x: 4, y: 0, width: list.w - 8, height: list.lineHeight, rx: 3 }),
    h(
      "text",
      { key: "text", class: "fold-text", x: LEFT, y: list.lineHeight / 2 + font * 0.36, "font-size": font },
      text.length <= room ? text : truncateText(`${rest.length} ${labels.unnamedStorages}`, room),
    ),
    h("title", {}, rest.map((block) => rowPurposeText(block, labels)).join(", ")),
  );
}

/** From the lines of what is open to where it stands. */
function joinMarks({ list, joins, left }: MemoryOverview): VNode[] {
  return joins.map(({ key, from: { line }, y }, k) => {
    const start = left - JOIN_START; // lines of the left of two columns would cross the names of the right one
    const at = line.y + list.lineHeight / 2;
    const lane = left + JOIN_LANES.first + Math.min(JOIN_LANES.most, k) * JOIN_LANES.step;
    return h("path", { key: `join ${key}`, class: "list-join", d: `M${start} ${at}H${lane}V${y}H${left + 12}` });
  });
}
