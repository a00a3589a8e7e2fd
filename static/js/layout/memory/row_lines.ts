/** A row of the memory pane from its own corner: the strip, and a line for each handle with what stands in it. */

import { isHandle, type Handle } from "../../trace/entities.ts";
import { GRADIENT_COUNTER_INDENT, type MemoryColumns } from "./memory_columns.ts";
import { cellCount } from "./first_names.ts";
import { wrapNames } from "./pane_names.ts";
import { MAX_BEAD_LINES, handleReading, type RowReading } from "../cells/row_reading.ts";
import { bandOfDtype, layoutCellStrip, type CellStrip } from "../cells/row_strip.ts";
import { cellExtentOfHandle, type StridedLayout } from "../../trace/reads.ts";
import type { MemoryStep } from "./memory_step.ts";
import type { RowItem, RowBlock, RowLevel, HandleLine, RowLayout } from "./memory_parts.ts";

export const ROW_SIZES = {
  inset: 4,
  slim: 24,
  line: 20,
  card: 30,
  handle: 34,
  bead: 17,
  quiet: 18,
  pins: 20,
  name: 18,
  counters: 5,
};

/** The room of how many names a closed row hides. */
const HIDDEN_NAME_COUNT_WIDTH = 20;

/** What a gradient is called stands below it where it stands beside its value. */
const GRADIENT_NAME_BELOW = 14;
/** Fewer cells that nothing reads are drawn like the others. */
const MIN_UNREAD_CELLS = 4;
/** A bracket and, under it, what it reads in words. */
const READING_WORDS_HEIGHT = 28;

const NO_READING: RowReading = { kind: "none" };

export function layoutRow(memoryStep: MemoryStep, item: RowItem, columns: MemoryColumns, level: RowLevel): RowLayout {
  return new RowArrangement(memoryStep, item, columns, level).layout;
}

/** How high a closed row is. */
export function collapsedRowHeight(memoryStep: MemoryStep, item: RowItem, columns: MemoryColumns) {
  const { block } = item;
  const storage = memoryStep.entities.get(block.storage ?? "");
  const dtypeCount = storage?.kind === "storage" && storage.cells ? Object.keys(storage.cells).length : 0;
  const [uid] = block.handles;
  const isPlain = block.handles.length < 2 && block.others.length < 2 && dtypeCount < 2;
  if (isPlain && (!block.hot || (block.names.get(uid ?? "")?.length ?? 0) < 2)) return ROW_SIZES.slim;
  return layoutRow(memoryStep, item, columns, "slim").h;
}

/** Puts one line below the other. */
class RowArrangement {
  memoryStep: MemoryStep;
  item: RowItem;
  columns: MemoryColumns;
  isOpen: boolean;
  level: RowLevel;
  isSmall: boolean;
  isOnlyHandle: boolean;
  top: number;
  y: number;
  layout: RowLayout;

  constructor(memoryStep: MemoryStep, item: RowItem, columns: MemoryColumns, level: RowLevel) {
    const { block } = item;
    this.memoryStep = memoryStep;
    this.item = item;
    this.columns = columns;
    this.isOpen = level !== "slim";
    this.level = level;
    this.isSmall = item.small;
    this.isOnlyHandle = block.handles.length + block.others.length < 2 || item.small;
    const pinRoom = Math.min(3, block.pins.length) * 11;
    const strip = this.blockStrip(block, this.isOpen ? columns.fullStripW : columns.stripW - pinRoom, this.isSmall);
    const hasPinLine = this.isOpen && (item.small || memoryStep.options.compact ? block.pins.length > 0 : block.kept);
    this.top = hasPinLine ? ROW_SIZES.pins : 0;
    this.y = this.top;
    this.layout = { level, low: this.isSmall, top: this.top, strip, lines: [], quiet: [], groups: [], h: 0 };
    this.arrangeLines();
    this.centreFirstLine();
  }

  /** Beside cells in one line, however high they are, the names and the tensor stand in the middle. */
  centreFirstLine() {
    const { layout } = this;
    const shift = this.offsetOfFirstLine();
    const [line] = layout.lines;
    if (!line || shift <= 0) return;
    line.y += shift;
    line.h -= shift;
    if (line.grad?.block) line.grad.y -= shift;
    const [group] = layout.groups;
    group.y += shift;
    if (group.uids.length > 1) group.h -= shift;
  }

  /** How far below the top of its cells the names of a row stand. */
  offsetOfFirstLine(): number {
    const { bands } = this.layout.strip;
    if (!this.isOpen || this.isSmall || bands.length !== 1) return 0;
    const [band] = bands;
    return band.lines > 1 || band.mode !== "numbers" ? 0 : Math.max(0, Math.floor((band.ch - ROW_SIZES.card) / 2));
  }

  blockStrip(block: RowBlock, width: number, low: boolean) {
    const { entities } = this.memoryStep;
    const storage = entities.get(block.storage ?? "");
    const handle = entities.get(block.handles[0] ?? "");
    const shape = isHandle(handle) ? (handle.shape ?? []) : [];
    const last = shape.length > 1 ? shape[shape.length - 1] : 1;
    const isShared = this.memoryStep.firstNames.sharedLengths.has(cellCount(storage));
    const column = shape.length === 2 && shape[1] === 1 && !isShared;
    const stripRoom = {
      width,
      full: this.isOpen,
      beads: isShared,
      low,
      last,
      column,
      read: this.readCells(block),
      row: this.columns.row,
    };
    return layoutCellStrip(storage?.kind === "storage" ? storage : undefined, stripRoom);
  }

  /**
   * How many cells there are up to the last that a tensor or a node reads; null where few follow, or where that isn't
   * known.
   */
  readCells(block: RowBlock): number | null {
    const { entities } = this.memoryStep;
    const storage = entities.get(block.storage ?? "");
    const lists = storage?.kind === "storage" ? Object.values(storage.cells ?? {}) : [];
    if (lists.length !== 1) return null;
    const readers: StridedLayout[] = block.pins.map(({ saved }) => saved);
    for (const uid of [...block.handles, ...block.others]) {
      const handle = entities.get(uid);
      if (!isHandle(handle)) return null;
      readers.push(handle);
    }
    const ends = readers.map((reader) => cellExtentOfHandle(reader)?.[1] ?? Infinity);
    const read = Math.max(0, ...ends.map((end) => end + 1));
    return read > 0 && lists[0].length - read >= MIN_UNREAD_CELLS ? read : null;
  }

  arrangeLines() {
    const { layout, isOpen, isSmall } = this;
    for (const group of this.handlesByCounter().values()) {
      if (layout.groups.length) this.y += isOpen ? ROW_SIZES.counters : 2;
      const from = this.y;
      let bottom = from;
      for (const uid of group.handles) {
        const height = this.handleLine(uid);
        bottom = this.y + (isOpen && !isSmall ? ROW_SIZES.card : 16);
        this.y += height;
      }
      if (group.others.length && isOpen && !isSmall) {
        layout.quiet.push({ uids: group.others, y: this.y });
        bottom = this.y + 15;
        this.y += ROW_SIZES.quiet;
      }
      const uids = [...group.handles, ...group.others];
      layout.groups.push({ counter: group.counter, y: from, h: Math.max(16, bottom - from), uids });
    }
    const bottomOfStrip = this.top + layout.strip.h;
    this.y = Math.max(this.y, bottomOfStrip, this.top + (isOpen && !isSmall ? ROW_SIZES.handle : ROW_SIZES.line));
    const hasGradLabel = isOpen && !isSmall && layout.lines.some((line) => line.grad?.block);
    layout.h = this.y + (isOpen && !isSmall ? (hasGradLabel && this.columns.phone ? 15 : 8) : isOpen ? 7 : 4);
  }

  /** Handles by their counter, in order. */
  handlesByCounter() {
    const { entities } = this.memoryStep;
    const out = new Map<string, { counter: string | null; handles: string[]; others: string[] }>();
    const addTo = (uid: string, list: "handles" | "others") => {
      const handle = entities.get(uid);
      const counterUid = (isHandle(handle) && handle.counter) || null;
      const key = counterUid ?? uid;
      const group = out.get(key) ?? { counter: counterUid, handles: [], others: [] };
      group[list].push(uid);
      out.set(key, group);
    };
    for (const uid of this.item.block.handles) addTo(uid, "handles");
    for (const uid of this.item.block.others) addTo(uid, "others");
    return out;
  }

  /** Returns the line's height. */
  handleLine(uid: string): number {
    const { item, layout, isOpen, isSmall, columns } = this;
    const handle = this.memoryStep.entities.get(uid) as Handle;
    const names = item.block.names.get(uid) ?? [];
    const hot = item.block.hot;
    const nameWidth = columns.namesW - item.indent * columns.indent + (isOpen ? 0 : 4);
    const flowedNames = wrapNames(names, nameWidth, isOpen);
    const open = isOpen || hot || flowedNames.lines < 2;
    const shown = open
      ? flowedNames.names
      : wrapNames(names, nameWidth - HIDDEN_NAME_COUNT_WIDTH, isOpen).names.filter((name) => name.line === 0);
    const nameLines = shown.length ? shown[shown.length - 1].line : 0;
    const first = !layout.lines.length;
    const maxLines = this.level === "full" ? MAX_BEAD_LINES : 1;
    const band = bandOfDtype(layout.strip, handle.dtype);
    const reading = isSmall ? NO_READING : handleReading(handle, band, { alone: this.isOnlyHandle, most: maxLines });
    const grad = this.gradientPlace(uid, handle, first);
    layout.lines.push({
      uid,
      y: this.y,
      h: 0,
      names: shown,
      hidden: flowedNames.names.length - shown.length,
      reading,
      first,
      grad,
    });
    const line = layout.lines[layout.lines.length - 1];
    if (!isOpen) line.h = Math.max(ROW_SIZES.line + nameLines * ROW_SIZES.name, first ? layout.strip.h + 5 : 0);
    else if (isSmall) line.h = Math.max(ROW_SIZES.line, layout.strip.h);
    else line.h = this.openLineHeight(line, nameLines);
    return line.h;
  }

  openLineHeight(line: HandleLine, nameLines: number) {
    const { layout, columns } = this;
    const { reading, first, grad } = line;
    const beadsHeight = reading.kind === "beads" ? reading.lines.length * ROW_SIZES.bead : 0;
    const mapRoom = reading.kind === "map" ? cellMapHeight(layout.strip) + 4 : 0;
    const wordsHeight = reading.kind === "under" && !first ? READING_WORDS_HEIGHT : 0;
    const heightBelowStrip = beadsHeight ? 4 + beadsHeight + (this.isOnlyHandle ? 0 : 3) : mapRoom ? 3 + mapRoom : 0;
    const valuesHeight = first ? layout.strip.h + heightBelowStrip : Math.max(beadsHeight + 6, mapRoom, wordsHeight);
    const isAwaited = grad !== null && !grad.block && first; // its room is there before it comes
    const gradHeight = grad?.strip ? grad.strip.h : isAwaited ? layout.strip.h : 0;
    if (grad && columns.phone) grad.y = first ? layout.strip.h + (heightBelowStrip || 4) + 3 : valuesHeight + 6;
    else if (grad) grad.y = 0;
    const rightHeight = columns.phone
      ? valuesHeight + (grad?.block ? gradHeight + 8 : 0)
      : Math.max(valuesHeight, gradHeight && gradHeight + GRADIENT_NAME_BELOW);
    const namesHeight = Math.max(ROW_SIZES.handle, nameLines ? 22 + nameLines * ROW_SIZES.name : 0);
    return Math.max((first ? this.offsetOfFirstLine() : 0) + namesHeight, rightHeight);
  }

  /** The place of a `.grad`. */
  gradientPlace(uid: string, handle: Handle, first: boolean): HandleLine["grad"] {
    const { columns, item, isOpen } = this;
    const block = item.block.grads.get(uid) ?? null;
    const canHaveGrad = handle.requires_grad && (handle.leaf || handle.retains_grad);
    if (!columns.gradW || item.small || (!block && (columns.phone || (!canHaveGrad && !handle.grad)))) return null;
    const path = `${item.block.names.get(uid)?.[0].tag.text ?? ""}.grad`;
    const isBelowValue = columns.phone && isOpen;
    const strip = block ? this.blockStrip(block, isBelowValue ? columns.fullGradW : columns.gradW, false) : null;
    return {
      block,
      strip,
      x: isBelowValue ? columns.strip + GRADIENT_COUNTER_INDENT : columns.grad,
      y: isBelowValue && first ? ROW_SIZES.handle : 0,
      path,
    };
  }
}

/** How tall the map of a strip is. */
export function cellMapHeight(strip: CellStrip) {
  const lines = strip.bands.reduce((sum, band) => sum + band.lines, 0);
  return Math.max(5, Math.min(22, lines * 6));
}
