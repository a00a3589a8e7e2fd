/** A row of the memory pane from its own corner: the strip, and a line for each handle with what stands in it. */

import { isHandle } from "../entities.js";
import { SMALL_COUNTER } from "./memory_columns.js";
import { textWidth } from "./metrics.js";
import { flowNames } from "./pane_names.js";
import { MAX_LINES, rowReading } from "./row_reading.js";
import { bandOf, rowStrip } from "./row_strip.js";

/** @typedef {import("./memory_items.js").RowItem} RowItem */
/** @typedef {import("./memory_blocks.js").Block} Block */
/** @typedef {import("./memory_step.js").MemoryStep} MemoryStep */
/** @typedef {import("./row_strip.js").RowStrip} RowStrip */
/** @typedef {import("./memory_columns.js").Columns} Columns */
/**
 * @typedef {"slim" | "tight" | "full"} Level   tight: full, with the beads of each handle stacked in one line
 * @typedef {{uid: string, y: number, h: number, names: import("./pane_names.js").PlacedName[], hidden: number,
 *   reading: import("./row_reading.js").RowReading, first: boolean,
 *   grad: {block: Block | null, strip: RowStrip | null, x: number, y: number, path: string} | null}} HandleLine
 *   hidden: names that there is no room for. grad: its place, block null where there is no gradient to draw in it, path
 *   what the program calls it
 * @typedef {{counter: string | null, key: string, y: number, h: number, uids: string[]}} CounterGroup
 * @typedef {{level: Level, low: boolean, top: number, strip: RowStrip, lines: HandleLine[],
 *   quiet: {uids: string[], y: number}[], groups: CounterGroup[], h: number}} RowLayout
 *   low: without cards. top: of the strip. quiet: handles without a name, in a line of their own
 */

export const SIZE = {
  inset: 4,
  slim: 24,
  line: 20,
  card: 30,
  handle: 34,
  bead: 17,
  quiet: 18,
  pins: 15,
  name: 18,
  counters: 5,
};

/** The room of how many names a closed row hides. */
const HIDDEN_COUNT_WIDTH = 16;

/** @type {import("./row_reading.js").RowReading} */
const NO_READING = { kind: "none" };

/** @param {MemoryStep} memoryStep @param {RowItem} item @param {Columns} columns @param {Level} level @returns {RowLayout} */
export function rowLayout(memoryStep, item, columns, level) {
  return new Arrangement(memoryStep, item, columns, level).layout;
}

/** How high a closed row is. @param {MemoryStep} memoryStep @param {RowItem} item @param {Columns} columns */
export function slimHeight(memoryStep, item, columns) {
  const { block } = item;
  const storage = memoryStep.entities.get(block.storage ?? "");
  const listed = storage?.kind === "storage" && storage.cells ? Object.keys(storage.cells).length : 0;
  const [uid] = block.handles;
  const plain = block.handles.length < 2 && block.others.length < 2 && listed < 2;
  if (plain && (!block.hot || (block.names.get(uid ?? "")?.length ?? 0) < 2)) return SIZE.slim;
  return rowLayout(memoryStep, item, columns, "slim").h;
}

/** Puts one line below the other. */
class Arrangement {
  /** @param {MemoryStep} memoryStep @param {RowItem} item @param {Columns} columns @param {Level} level */
  constructor(memoryStep, item, columns, level) {
    const { block } = item;
    this.at = memoryStep;
    this.item = item;
    this.columns = columns;
    this.full = level !== "slim";
    this.level = level;
    this.low = item.small;
    this.alone = block.handles.length + block.others.length < 2 || item.small;
    const pinRoom = Math.min(3, block.pins.length) * 11;
    const strip = this.strip(block, this.full ? columns.fullStripW : columns.stripW - pinRoom, this.low);
    const pinned = this.full && (item.small || memoryStep.options.compact ? block.pins.length > 0 : block.kept);
    this.top = pinned ? SIZE.pins : 0;
    this.y = this.top;
    /** @type {RowLayout} */
    this.layout = { level, low: this.low, top: this.top, strip, lines: [], quiet: [], groups: [], h: 0 };
    this.arrange();
  }

  /** @param {Block} block @param {number} width @param {boolean} low */
  strip(block, width, low) {
    const { entities } = this.at;
    const storage = entities.get(block.storage ?? "");
    const handle = entities.get(block.handles[0] ?? "");
    const shape = isHandle(handle) ? (handle.shape ?? []) : [];
    const last = shape.length > 1 ? shape[shape.length - 1] : 1;
    const room = { width, full: this.full, beads: block.handles.length > 1, low, last };
    return rowStrip(storage?.kind === "storage" ? storage : undefined, room);
  }

  arrange() {
    const { layout, full, low } = this;
    for (const [key, group] of this.counters()) {
      if (layout.groups.length) this.y += full ? SIZE.counters : 2;
      const from = this.y;
      let bottom = from;
      for (const uid of group.handles) {
        const height = this.handleLine(uid);
        bottom = this.y + (full && !low ? SIZE.card : 16);
        this.y += height;
      }
      if (group.others.length && full && !low) {
        layout.quiet.push({ uids: group.others, y: this.y });
        bottom = this.y + 15;
        this.y += SIZE.quiet;
      }
      const uids = [...group.handles, ...group.others];
      layout.groups.push({ counter: group.counter, key, y: from, h: Math.max(16, bottom - from), uids });
    }
    const least = this.top + layout.strip.h;
    this.y = Math.max(this.y, least, this.top + (full && !low ? SIZE.handle : SIZE.line));
    const labelled = full && !low && layout.lines.some((line) => line.grad?.block);
    layout.h = this.y + (full && !low ? (labelled ? 15 : 8) : full ? 7 : 4);
  }

  /** Handles by their counter, in order. */
  counters() {
    const { entities } = this.at;
    const out = /** @type {Map<string, {counter: string | null, handles: string[], others: string[]}>} */ (new Map());
    const add = (/** @type {string} */ uid, /** @type {"handles" | "others"} */ list) => {
      const handle = entities.get(uid);
      const counterUid = (isHandle(handle) && handle.counter) || null;
      const key = counterUid ?? uid;
      const group = out.get(key) ?? { counter: counterUid, handles: [], others: [] };
      group[list].push(uid);
      out.set(key, group);
    };
    for (const uid of this.item.block.handles) add(uid, "handles");
    for (const uid of this.item.block.others) add(uid, "others");
    return out;
  }

  /** @param {string} uid @returns {number} its height */
  handleLine(uid) {
    const { item, layout, full, low, columns } = this;
    const handle = /** @type {import("../entities.js").Handle} */ (this.at.entities.get(uid));
    const names = item.block.names.get(uid) ?? [];
    const hot = item.block.hot;
    const room = columns.namesW - item.indent * columns.indent + (full ? 0 : 4);
    const flown = flowNames(names, room, full);
    const open = full || hot || flown.lines < 2;
    const shown = open
      ? flown.names
      : flowNames(names, room - HIDDEN_COUNT_WIDTH, full).names.filter((name) => name.line === 0);
    const nameLines = shown.length ? shown[shown.length - 1].line : 0;
    const first = !layout.lines.length;
    const most = this.level === "full" ? MAX_LINES : 1;
    const band = bandOf(layout.strip, handle.dtype);
    const reading = low ? NO_READING : rowReading(handle, band, { alone: this.alone, most });
    const grad = this.gradPlace(uid, handle, first);
    layout.lines.push({
      uid,
      y: this.y,
      h: 0,
      names: shown,
      hidden: flown.names.length - shown.length,
      reading,
      first,
      grad,
    });
    const line = layout.lines[layout.lines.length - 1];
    if (!full) line.h = Math.max(SIZE.line + nameLines * SIZE.name, first ? layout.strip.h + 5 : 0);
    else if (low) line.h = Math.max(SIZE.line, layout.strip.h);
    else line.h = this.fullHeight(line, nameLines);
    return line.h;
  }

  /** @param {HandleLine} line @param {number} nameLines */
  fullHeight(line, nameLines) {
    const { layout, columns } = this;
    const { reading, first, grad } = line;
    const beads = reading.kind === "beads" ? reading.lines.length * SIZE.bead : 0;
    const map = reading.kind === "map" ? mapHeight(layout.strip) + 4 : 0;
    const below = beads ? 4 + beads + (this.alone ? 0 : 3) : map ? 3 + map : 0;
    const values = first ? layout.strip.h + below : Math.max(beads + 6, map);
    const gradH = grad?.strip?.h ?? 0;
    if (grad && columns.phone) grad.y = first ? layout.strip.h + (below || 4) + 3 : values + 6;
    const right = columns.phone ? values + (grad?.block ? gradH + 8 : 0) : Math.max(values, gradH);
    return Math.max(SIZE.handle, nameLines ? 22 + nameLines * SIZE.name : 0, right);
  }

  /** The place of a `.grad`. @param {string} uid @param {import("../entities.js").Handle} handle @param {boolean} first
   * @returns {HandleLine["grad"]} */
  gradPlace(uid, handle, first) {
    const { columns, item, full } = this;
    const block = item.block.grads.get(uid) ?? null;
    const awaits = handle.requires_grad && (handle.leaf || handle.retains_grad);
    if (!columns.gradW || item.small || (!block && (columns.phone || (!awaits && !handle.grad)))) return null;
    const under = columns.phone && full;
    const strip = block ? this.strip(block, under ? columns.fullGradW : columns.gradW, false) : null;
    const path = `${item.block.names.get(uid)?.[0].tag.text ?? ""}.grad`;
    return {
      block,
      strip,
      x: under ? columns.strip + SMALL_COUNTER : columns.grad,
      y: under && first ? SIZE.handle : 0,
      path,
    };
  }
}

/** How tall the map of a strip is. @param {RowStrip} strip */
export function mapHeight(strip) {
  const lines = strip.bands.reduce((sum, band) => sum + band.lines, 0);
  return Math.max(5, Math.min(22, lines * 6));
}

/** How wide a pin is that says so much. @param {string} text */
export function pinWidth(text) {
  return Math.ceil(textWidth(text, 9.5)) + 10;
}
