/** The lines between the rows of the memory pane: frames and objects with what they hold, folds, and what was freed. */

import { lineLabel } from "../trace/program_files.js";
import { find } from "../trace/entities.js";
import { typeText } from "../layout/card_texts.js";
import { bytesText, valueText, wireText } from "../layout/format.js";
import { CHIP_FONT } from "../layout/heading_chips.js";
import { frameTitle, HEIGHT, headingNames, headingTitle } from "../layout/memory_placed.js";
import { EM, textWidth, truncate } from "../layout/metrics.js";
import { refOf } from "../trace/names.js";
import { cls, h } from "../browser/svg.js";
import { rowTagMark } from "./row_tags.js";

/** @typedef {import("../browser/svg.js").VNode} VNode */
/** @typedef {import("./step_facts.js").StepFacts} StepFacts */
/** @typedef {import("../layout/memory_placed.js").PlacedItem} PlacedItem */
/** @typedef {import("../layout/memory_items.js").HeadingItem} HeadingItem */
/** @typedef {import("../layout/memory_columns.js").Columns} Columns */
/** @typedef {import("../layout/heading_chips.js").PlacedChip} PlacedChip */

const UI_EM = 0.56;

/** @param {StepFacts} stepFacts @param {PlacedItem} place @param {HeadingItem} item @param {Columns} columns @returns {VNode} */
export function headingMark(stepFacts, place, item, columns) {
  const box = { x: 6, y: 2, width: columns.w - 12, height: place.h - 4, rx: 4 };
  return item.type === "frame"
    ? frameMark(stepFacts, place, item, columns, box)
    : objectMark(stepFacts, place, item, columns, box);
}

/** @param {StepFacts} stepFacts @param {PlacedItem} place @param {HeadingItem} item @param {Columns} columns
 * @param {Record<string, number>} box */
function frameMark(stepFacts, place, item, columns, box) {
  const frame = find(stepFacts.snap.entities, item.uid, "frame");
  const isCurrent = stepFacts.snap.step?.frame === item.uid;
  const isSuspended = frame?.state === "suspended";
  const name = frameTitle(item, columns);
  const lineX = 14 + textWidth(name, 12) + 10;
  return h(
    "g",
    {
      key: item.key,
      class: cls(
        "moves heading frame inner",
        isCurrent && "here",
        isSuspended && "suspended",
        stepFacts.snap.fresh.has(item.uid) && "fresh",
      ),
      transform: `translate(0 ${place.y})`,
      "data-frame-card": item.uid,
      role: "group",
      "aria-label": `${item.section}${isSuspended ? ` ${stepFacts.labels.suspended}` : ""}`,
    },
    h("rect", { key: "box", class: "frame-box", ...box }),
    item.hot && h("rect", { key: "halo", class: "halo thin", ...box }),
    h("text", { key: "name", class: "frame-name", x: 14, y: 15.5, "font-size": 12 }, name),
    h(
      "text",
      { key: "line", class: "meta", x: lineX, y: 15.5, "font-size": 10 },
      lineLabel(stepFacts.labels.line, frame?.line),
    ),
    chipMarks(stepFacts, place, item.uid),
    foldedMark(stepFacts, place, item, columns),
    h("title", {}, `${frame?.name ?? ""}() ${item.uid}`),
  );
}

/** @param {StepFacts} stepFacts @param {PlacedItem} place @param {HeadingItem} item @param {Columns} columns
 * @param {Record<string, number>} box */
function objectMark(stepFacts, place, item, columns, box) {
  const object = find(stepFacts.snap.entities, item.uid, "object");
  const isInner = item.type === "inner";
  const { left, placed, hidden, end } = headingNames(item, columns);
  const type = headingTitle(object, end, columns);
  return h(
    "g",
    {
      key: item.key,
      class: cls("moves heading object", isInner && "inner", stepFacts.snap.fresh.has(item.uid) && "fresh"),
      transform: `translate(0 ${place.y})`,
      "data-object": item.uid,
      tabindex: "0",
      role: "group",
      "aria-label": `${item.uid} ${object ? typeText(object) : ""}`,
    },
    h("rect", { key: "box", class: "object-box", ...box }),
    item.hot && h("rect", { key: "halo", class: "halo thin", ...box }),
    isInner && h("path", { key: "branch", class: "branch", d: `M${left - 12} 0V11h7` }),
    placed.map(({ name, x, w }) => rowTagMark(stepFacts.labels, item.uid, name, { x, y: 3, w, h: 16, font: 11.5 })),
    hidden.length > 0 &&
      h(
        "text",
        { key: "more names", class: "meta", x: end - 20, y: 15, "font-size": 9 },
        `+${hidden.length}`,
        h("title", {}, hidden.map(({ text }) => text).join(", ")),
      ),
    type && h("text", { key: "type", class: "meta", x: end + 2, y: 15.5, "font-size": 10.5 }, type),
    chipMarks(stepFacts, place, item.uid),
    item.type === "optimizer" && stateSign(item),
    (item.type !== "optimizer" || place.folded.length > 0) && foldedMark(stepFacts, place, item, columns),
  );
}

/** @param {StepFacts} stepFacts @param {PlacedItem} place @param {string} uid of the frame or object */
function chipMarks(stepFacts, place, uid) {
  const { chips } = place;
  if (!chips) return [];
  const out = chips.chips.map((chip) => chipMark(stepFacts, uid, chip));
  const [before, after] = [chips.before, chips.after];
  const open = chips.lines > 1;
  if (before || after || open) {
    const x = before && !after ? chips.beforeX : chips.afterX;
    const text = open ? "−" : `+${before + after}`;
    out.push(foldButton(`items ${uid}`, open, { x, y: chips.afterLine * HEIGHT.line, text }));
  }
  return out;
}

/** @param {StepFacts} stepFacts @param {string} uid @param {PlacedChip} chip */
export function chipMark(stepFacts, uid, chip) {
  const { key, label, text, value, kind, changed, x, line, w } = chip;
  const y = line * HEIGHT.line;
  const isFrame = uid[0] === "f";
  const ref = refOf(value);
  const valueX = x + textWidth(label, CHIP_FONT) + (label ? 5 : 0);
  const attrs = isFrame
    ? { "data-chip": wireText(value), "data-name": key, "data-frame": uid, "data-value": wireText(value) }
    : kind === "note"
      ? {}
      : { "data-item": `${uid}:${key}`, "data-to": ref, "data-value": wireText(value) };
  const leadsElsewhere = kind === "tensor" || kind === "object";
  const wide = textWidth(text, CHIP_FONT) + 10;
  return h(
    "g",
    { key: `chip ${key}`, class: cls(isFrame ? "chip" : "item", kind, changed && "moved"), ...attrs },
    h("rect", { key: "box", class: "chip-ground", x: x - 4, y: y + 2.5, width: w + 8, height: 17, rx: 4 }),
    label && h("text", { key: "name", class: "chip-name", x, y: y + 15, "font-size": CHIP_FONT }, label),
    leadsElsewhere && h("path", { key: "leads", class: "leads", d: `M${valueX} ${y + 11}h6m-3 -3l3 3l-3 3` }),
    leadsElsewhere &&
      h("rect", { key: "to", class: "chip-to", x: valueX + 9, y: y + 4, width: wide, height: 14, rx: 4 }),
    h(
      "text",
      {
        key: "value",
        class: "chip-value",
        x: leadsElsewhere ? valueX + 14 : valueX,
        y: y + 15,
        "font-size": CHIP_FONT,
      },
      kind === "here" ? `${text} ↓` : text,
    ),
    h("title", { key: "title" }, `${key} = ${valueText(value, 400, stepFacts.snap.entities)}`),
  );
}

/** What opens or closes. @param {string} key @param {boolean} open @param {{x: number, y: number, text: string}} place */
function foldButton(key, open, place) {
  const w = textWidth(place.text, 10) + 8;
  return h(
    "g",
    {
      key: `fold ${key}`,
      class: "fold more",
      "data-fold": key,
      role: "button",
      tabindex: "0",
      "aria-expanded": `${open}`,
      "aria-label": place.text,
    },
    h("rect", { key: "ground", class: "fold-ground", x: place.x - 4, y: place.y + 3, width: w, height: 16, rx: 4 }),
    h("text", { key: "text", class: "meta", x: place.x, y: place.y + 15, "font-size": 10 }, place.text),
  );
}

/** The rows that a heading hides, and what brings them back. @param {StepFacts} stepFacts @param {PlacedItem} place
 * @param {HeadingItem} item @param {Columns} columns */
function foldedMark(stepFacts, place, item, columns) {
  if (item.type === "inner") return null;
  const key = `rows ${item.section}`;
  const count = place.folded.length;
  const x = item.type === "frame" ? 0 : 12;
  const button = { "data-fold": key, role: "button", tabindex: "0", "aria-expanded": `${count === 0}` };
  const names = place.folded.map(({ item: row }) => (row.kind === "row" ? row.block.label : "")).join(", ");
  const text = `${count} ${stepFacts.labels.folded}`;
  const w = uiWidth(text, 11) + 14;
  const chipsEnd = (place.chips?.afterX ?? place.chipX) + (place.chips?.after ? place.chips.more - 4 : 0);
  const countX = Math.min(chipsEnd, columns.w - 12 - w);
  return h(
    "g",
    {
      key: "rows",
      class: cls("fold rows", count > 0 && "closed"),
      ...button,
      "data-members": foldMembers(place.folded.flatMap(({ item: row }) => (row.kind === "row" ? [row.block] : []))),
      "aria-label": count ? `${text}: ${names}` : item.section,
    },
    h("rect", { key: "ground", class: "fold-ground", x: x - 4, y: 2, width: 16, height: 18, rx: 4 }),
    item.type === "frame" || item.type === "optimizer"
      ? null
      : h("text", { key: "sign", class: "fold-sign", x, y: 15, "font-size": 10 }, count ? "▸" : "▾"),
    count > 0 && h("rect", { key: "count", class: "fold-badge", x: countX, y: 3.5, width: w, height: 15, rx: 7 }),
    count > 0 && h("text", { key: "text", class: "fold-text", x: countX + 7, y: 15, "font-size": 11 }, text),
    h("title", {}, names || item.section),
  );
}

/** What opens the storages that an optimizer keeps. @param {HeadingItem} item */
function stateSign(item) {
  if (!item.state.length) return null;
  const open = item.open || item.state.some((block) => block.hot);
  return h(
    "g",
    {
      key: "state",
      class: "fold rows",
      "data-fold": `state ${item.uid}`,
      "data-members": foldMembers(open ? [] : item.state),
      role: "button",
      tabindex: "0",
      "aria-expanded": `${open}`,
      "aria-label": `${item.state.length}`,
    },
    h("rect", { key: "ground", class: "fold-ground", x: 8, y: 2, width: 16, height: 18, rx: 4 }),
    h("text", { key: "sign", class: "fold-sign", x: 12, y: 15, "font-size": 10 }, open ? "▾" : "▸"),
    h("title", {}, item.state.map((block) => block.label).join(", ")),
  );
}

/** Storages in one line. @param {StepFacts} stepFacts @param {PlacedItem} place
 * @param {import("../layout/memory_items.js").FoldItem} item @param {Columns} columns */
export function foldLineMark(stepFacts, place, item, columns) {
  const { labels, snap } = stepFacts;
  const n = item.blocks.length;
  const bytes = item.blocks.reduce(
    (sum, { storage }) => sum + (find(snap.entities, storage, "storage")?.nbytes ?? 0),
    0,
  );
  const foldTexts = {
    flight: n > 1 ? labels.flight : labels.flightOne,
    kept: labels.keptUnnamed,
    unnamed: n > 1 ? labels.unnamedStorages : labels.unnamedStorage,
    rows: labels.moreRows,
    calls: labels.moreCalls,
  };
  const text = `${item.count ?? n} ${foldTexts[item.foldKind]} · ${bytesText(bytes)}`;
  const names = item.blocks.map((block) => block.label).join(", ");
  const namesX = columns.names + 18 + uiWidth(text, 11.5) + 12;
  const maxChars = Math.floor((columns.w - namesX - 12) / (EM * 10));
  return h(
    "g",
    {
      key: `fold ${item.key}`,
      class: "moves fold line",
      transform: `translate(0 ${place.y})`,
      "data-fold": item.key,
      "data-members": foldMembers(item.blocks),
      role: "button",
      tabindex: "0",
      "aria-expanded": "false",
    },
    h("rect", { key: "ground", class: "fold-ground", x: 6, y: 1, width: columns.w - 12, height: 18, rx: 4 }),
    h(
      "text",
      { key: "sign", class: "fold-sign", x: columns.names + 4, y: 14, "font-size": 11, "aria-hidden": "true" },
      "▸",
    ),
    h("text", { key: "text", class: "fold-text", x: columns.names + 18, y: 14, "font-size": 11.5 }, text),
    maxChars > 3 &&
      h("text", { key: "names", class: "fold-names", x: namesX, y: 14, "font-size": 10 }, truncate(names, maxChars)),
    h("title", {}, `${text}: ${names}`),
  );
}

/** All that a fold stands for, with the gradients beside it. @param {import("../layout/memory_blocks.js").Block[]} blocks
 * @returns {string | null} uids */
function foldMembers(blocks) {
  const uids = blocks.flatMap((block) => [...block.uids, ...[...block.grads.values()].flatMap((grad) => grad.uids)]);
  return uids.length ? uids.join(" ") : null;
}

/** @param {string} text in the face of the page @param {number} size */
function uiWidth(text, size) {
  return (textWidth(text, size) / EM) * UI_EM;
}

/** What the step freed. @param {StepFacts} stepFacts @param {PlacedItem} place
 * @param {import("../layout/memory_items.js").GhostItem} item @param {Columns} columns */
export function freedMark(stepFacts, place, item, columns) {
  const bytes = item.freed.reduce((sum, { nbytes }) => sum + (nbytes ?? 0), 0);
  const text = `${stepFacts.labels.freedNow}: ${item.freed.length} · ${bytesText(bytes)}`;
  let x = columns.names + 18 + uiWidth(text, 11.5) + 12;
  const end = columns.w - 40;
  let hidden = 0;
  const marks = item.freed.map(({ uid, name }) => {
    const label = name ? `${name} ${uid}` : uid;
    const w = textWidth(label, 10);
    const isShown = x + w <= end;
    if (!isShown) hidden += 1;
    const mark = h(
      "g",
      { key: `ghost ${uid}`, class: "ghost", "data-ghost": uid },
      isShown && h("text", { class: "struck", x, y: 14, "font-size": 10 }, label),
    );
    if (isShown) x += w + 12;
    return mark;
  });
  return h(
    "g",
    { key: "ghosts", class: "moves ghosts", transform: `translate(0 ${place.y})` },
    h("rect", { key: "box", class: "ghost-box", x: 8, y: 2, width: columns.w - 16, height: 16, rx: 4 }),
    h("text", { key: "text", class: "fold-text", x: columns.names + 18, y: 14, "font-size": 11.5 }, text),
    marks,
    hidden > 0 && h("text", { key: "more", class: "meta", x, y: 14, "font-size": 10 }, `+${hidden}`),
    h("title", {}, item.freed.map(({ uid, name }) => `${name} ${uid}`.trim()).join(", ")),
  );
}
