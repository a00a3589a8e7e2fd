/** The loom's rows: the heights of a statement's code, handles, nodes and writes. */

import { truncateText } from "../../trace/format.ts";
import { elementSpan, type StorageColumn } from "./loom_columns.ts";
import { addLeafDot, addNodeDot } from "./loom_graph.ts";
import {
  CODE_LINE_HEIGHT,
  ROW_VISIT_FOOT_HEIGHT,
  SKIPPED_ITERATIONS_HEIGHT,
  ROW_FOOT_HEIGHT,
  READ_LINE_HEIGHT,
  MAX_HANDLES_PER_STORAGE,
  MAX_READ_LINES,
  MAX_NODE_LINES_PER_ROW,
  MAX_NODES_WITH_SLOT_LINES,
  LOOM_NODE_HEIGHT,
  LOOM_ROW_PADDING,
  LOOM_SLOT_HEIGHT,
  EVENTLESS_ROW_HEIGHT,
  EVENTLESS_ROW_HEIGHT_STACKED,
  HANDLE_TITLE_HEIGHT,
  WRITE_TITLE_HEIGHT,
} from "./loom_sizes.ts";
import { cellExtentOfHandle, numel, unqualifiedDtype, cellReads } from "../../trace/reads.ts";
import { sortInputsFirst } from "./run_rows.ts";
import type { NodeFacts } from "../../trace/trace_index.ts";
import type { LoomRow, StorageReader, StorageWrite } from "./run_row.ts";
import type { LoomPlan, NodeDot, WriteBox, HandleBox, ReadLine } from "./loom_plan.ts";

interface RowContent {
  handles: HandleBox[];
  writes: WriteBox[];
  dots: NodeDot[];
  /** names of what there is no room for */
  hidden: string[];
}

/** One row, from y on; where the next begins. */
export function placeLoomRow(plan: LoomPlan, row: LoomRow, r: number, top: number, width: number) {
  const { stacked, columns } = plan;
  const maxCharacters = stacked
    ? Math.max(24, Math.floor((width - 56 - row.inset * 10) / 7.2))
    : Math.max(12, Math.floor((plan.code - 62 - row.inset * 10) / 7.54));
  const maxBesideTurn = row.turn ? Math.max(10, maxCharacters - row.turn.length - 1) : maxCharacters;
  const rowTop = top + (row.skipped ? SKIPPED_ITERATIONS_HEIGHT : 0);
  const readers = readersWithRoom(plan, row, r);
  const content: RowContent = { handles: [], writes: [], dots: [], hidden: readers.hidden };
  const isQuietRow =
    isEventlessRow(row) &&
    columns.shelfCount(r) === 1 &&
    !plan.ends.has(r) &&
    !readers.hidden.length &&
    !readers.shown.length;
  const code = isQuietRow ? firstCodeLine(row.code, maxBesideTurn) : wrapCodeLines(row.code, maxBesideTurn);
  const codeHeight = code.length * CODE_LINE_HEIGHT + (isQuietRow ? 0 : rowFootHeight(row, readers.hidden));
  const thinH = stacked ? EVENTLESS_ROW_HEIGHT_STACKED : EVENTLESS_ROW_HEIGHT;
  const codeY = rowTop + (isQuietRow ? (thinH - CODE_LINE_HEIGHT) / 2 : LOOM_ROW_PADDING);
  let y = codeY + (stacked ? codeHeight + 4 : 0);
  if (isQuietRow) plan.shelves.push({ y: rowTop, h: 0 });
  else y = placeRowShelves(plan, row, r, readers.shown, y, content);
  const { handles, writes, dots, hidden } = content;
  const bottom = isQuietRow ? rowTop + thinH : Math.max(y, stacked ? 0 : codeY + codeHeight) + LOOM_ROW_PADDING - 3;
  const firstCenter = writes[0]?.cy ?? handles[0]?.cy ?? dots[0]?.y ?? (rowTop + bottom) / 2;
  setShelfHeights(plan, r, rowTop, bottom);
  plan.rows.push({
    y: rowTop,
    h: bottom - rowTop,
    cy: firstCenter,
    codeY,
    codeH: codeHeight,
    code,
    foldY: top,
    thin: isQuietRow,
    hidden,
  });
  plan.handles.push(handles);
  plan.writes.push(writes);
  plan.rowDots.push(dots);
  return bottom;
}

/** Whether nothing happened in a row, whatever it executed. */
function isEventlessRow({ readers, writes, bumps, nodes, visits, freed, kind }: LoomRow) {
  return (
    !readers.length && !writes.size && !bumps.size && !nodes.length && !visits.length && !freed && kind !== "raise"
  );
}

/** The height of what stands under the code: what is freed or raised, the visits, what there is no room for. */
function rowFootHeight(row: LoomRow, hidden: string[]) {
  const visits = row.visits.length ? ROW_FOOT_HEIGHT + ROW_VISIT_FOOT_HEIGHT : 0;
  return (
    (row.kind === "raise" || (row.freed && !visits) ? ROW_FOOT_HEIGHT : 0) +
    visits +
    (hidden.length ? ROW_FOOT_HEIGHT : 0)
  );
}

/** The readers of a row that have room, a few of each storage, and the names of what has none. */
function readersWithRoom({ columns, run }: LoomPlan, row: LoomRow, r: number) {
  const shown: StorageReader[] = [];
  const hidden = (columns.hidden.get(r) ?? []).map((uid) => run.storageNames.get(uid) ?? uid);
  const counts = new Map<string, number>();
  const nameRank = (reader: StorageReader) => (reader.named ? 0 : 1);
  for (const reader of [...row.readers].sort((a, b) => nameRank(a) - nameRank(b))) {
    const uid = reader.entity.storage ?? "";
    if (!columns.columnAt(uid, r)) continue;
    const n = (counts.get(uid) ?? 0) + 1;
    counts.set(uid, n);
    if (n <= MAX_HANDLES_PER_STORAGE) shown.push(reader);
    else hidden.push(reader.title || reader.uid);
  }
  return { shown, hidden };
}

/** What a row shows, shelf by shelf; where it ends. */
function placeRowShelves(
  plan: LoomPlan,
  row: LoomRow,
  r: number,
  readers: StorageReader[],
  y: number,
  content: RowContent,
) {
  const { columns } = plan;
  const makers = new Set(row.nodes);
  const madeHere = readers.filter(({ entity, alias }) => !alias && makers.has(entity.grad_fn ?? ""));
  const madeReaders = new Set(madeHere);
  const shelfOf = (storageUid: string | null | undefined) => {
    const column = columns.columnAt(storageUid, r);
    return column ? columns.firstShelfIn(column, r) : 0;
  };
  const nodes = assignNodeLinesToShelves(plan, row, r, madeHere, shelfOf, content);
  for (let shelf = 0; shelf < columns.shelfCount(r); shelf++) {
    plan.shelves.push({ y, h: 0 });
    const onShelf = readers.filter((reader) => !madeReaders.has(reader) && shelfOf(reader.entity.storage) === shelf);
    y = placeHandlesWithoutNode(plan, r, onShelf, y, content);
    y = placeNodesWithHandles(
      plan,
      r,
      nodes.filter((nodeLine) => nodeLine.shelf === shelf),
      madeHere,
      y,
      content,
    );
    const writes = [...row.writes.values()].filter(({ storage }) => shelfOf(storage) === shelf);
    y = placeStorageWrites(plan, r, writes, y, content);
  }
  return y;
}

/** The shelves of a row reach from its top to its bottom. */
function setShelfHeights({ shelves, columns }: LoomPlan, r: number, top: number, bottom: number) {
  const from = columns.firstShelfOfRow[r];
  shelves[from].y = top;
  for (let k = from; k < shelves.length; k++) shelves[k].h = (shelves[k + 1]?.y ?? bottom) - shelves[k].y;
}

/** Handles that no node of the row made. */
function placeHandlesWithoutNode(
  plan: LoomPlan,
  r: number,
  readers: StorageReader[],
  y: number,
  { handles }: RowContent,
) {
  return packBoxesIntoLines(
    readers,
    ({ entity }) => entity.storage,
    y,
    (reader, index) => {
      const box = layoutHandleBox(reader, plan.columns.columnAt(reader.entity.storage, r), index);
      if (box) handles.push(box);
      if (box && !reader.alias)
        plan.handleRows.set(reader.uid, { row: r, cy: box.cy, name: reader.title.split(" ")[0] });
      return box
        ? { column: box.column, h: HANDLE_TITLE_HEIGHT + Math.max(1, box.lines.length) * READ_LINE_HEIGHT + 5 }
        : null;
    },
  );
}

interface NodeLine {
  nodes: string[];
  /** the slots stand in the line */
  inline: boolean;
  shelf: number;
}

/** The lines of a row's nodes with the shelf of each, which never goes back. */
function assignNodeLinesToShelves(
  plan: LoomPlan,
  row: LoomRow,
  r: number,
  madeReaders: StorageReader[],
  shelfOf: (storage: string | null | undefined) => number,
  { dots }: RowContent,
): NodeLine[] {
  const { nodes } = plan.run;
  const list = sortInputsFirst(row.nodes, plan.run).filter((uid) => {
    const node = nodes.get(uid) as NodeFacts;
    return !(node.variable && addLeafDot(plan, node, r, dots));
  });
  const inline = list.length > MAX_NODES_WITH_SLOT_LINES;
  let shelf = 0;
  return groupNodesIntoLines(list, madeReaders).map((group) => {
    for (const { entity } of madeReaders)
      if (entity.grad_fn === group[0]) shelf = Math.max(shelf, shelfOf(entity.storage));
    return { nodes: group, inline, shelf };
  });
}

/** Nodes with the handles that they made. */
function placeNodesWithHandles(
  plan: LoomPlan,
  r: number,
  lines: NodeLine[],
  madeReaders: StorageReader[],
  y: number,
  { handles, dots }: RowContent,
) {
  const { nodes } = plan.run;
  for (const { nodes: group, inline } of lines) {
    const node = nodes.get(group[0]) as NodeFacts;
    const ownReaders = madeReaders.filter((reader) => reader.entity.grad_fn === group[0]);
    const slotsHeight = inline ? 0 : node.slots.length * LOOM_SLOT_HEIGHT;
    let height = (inline ? LOOM_SLOT_HEIGHT + 2 : LOOM_NODE_HEIGHT) + slotsHeight;
    let cy = y + height / 2 - slotsHeight / 2;
    for (const reader of ownReaders) {
      const block = layoutHandleBox(reader, plan.columns.columnAt(reader.entity.storage, r), y);
      if (!block) continue;
      handles.push(block);
      cy = block.cy;
      height = Math.max(
        cy - y + LOOM_NODE_HEIGHT / 2 + slotsHeight,
        HANDLE_TITLE_HEIGHT + Math.max(1, block.lines.length) * READ_LINE_HEIGHT + 5,
      );
      y = ownReaders.at(-1) === reader ? y : y + height;
    }
    for (const uid of group) {
      const member = nodes.get(uid) as NodeFacts;
      const dot = addNodeDot(plan, member, cy, r, inline);
      if (group.length > 1) Object.assign(dot, { group: `fold ${group[0]}`, fold: group });
      dots.push(dot);
    }
    y += height;
  }
  return y;
}

/** The nodes of each line: those that made a handle which is shown stand alone. */
function groupNodesIntoLines(list: string[], madeReaders: StorageReader[]): string[][] {
  if (list.length <= MAX_NODE_LINES_PER_ROW) return list.map((uid) => [uid]);
  const makerUids = new Set(madeReaders.map(({ entity }) => entity.grad_fn));
  const otherCount = list.filter((uid) => !makerUids.has(uid)).length;
  const perLine = Math.ceil(otherCount / Math.max(4, MAX_NODE_LINES_PER_ROW - (list.length - otherCount)));
  const lines: string[][] = [];
  let isOpen = false;
  for (const uid of list) {
    const last = lines[lines.length - 1];
    if (isOpen && !makerUids.has(uid) && last.length < perLine) last.push(uid);
    else lines.push([uid]);
    isOpen = !makerUids.has(uid);
  }
  return lines;
}

function placeStorageWrites({ columns }: LoomPlan, r: number, list: StorageWrite[], y: number, { writes }: RowContent) {
  return packBoxesIntoLines(
    list,
    ({ storage }) => storage,
    y,
    (write, index) => {
      const column = columns.columnAt(write.storage, r);
      if (!column) return null;
      writes.push({ write, column, y: index, cy: index + WRITE_TITLE_HEIGHT + READ_LINE_HEIGHT / 2 });
      return { column, h: WRITE_TITLE_HEIGHT + READ_LINE_HEIGHT + (column.heat ? 6 : 17) };
    },
  );
}

/** Things beside each other on one shelf where their columns allow it. */
function packBoxesIntoLines<T>(
  list: T[],
  storageOf: (thing: T) => string | undefined,
  y: number,
  addBox: (thing: T, y: number) => { column: StorageColumn; h: number } | null,
) {
  let height = 0;
  let takenColumns: StorageColumn[] = [];
  for (const item of list) {
    const uid = storageOf(item);
    if (takenColumns.some((column) => column.uid === uid)) {
      y += height;
      height = 0;
      takenColumns = [];
    }
    const box = addBox(item, y);
    if (!box) continue;
    takenColumns.push(box.column);
    height = Math.max(height, box.h);
  }
  return y + height;
}

function firstCodeLine(lines: string[], maxLength: number): string[] {
  if (!lines.length) return [];
  return [truncateText(lines.length > 1 ? `${lines[0]} …` : lines[0], maxLength)];
}

function wrapCodeLines(lines: string[], maxLength: number): string[] {
  const wrapped = [];
  for (const codeLine of lines) {
    const indent = codeLine.length - codeLine.trimStart().length;
    let remaining = codeLine.length > maxLength && indent > 8 ? `        ${codeLine.trimStart()}` : codeLine;
    while (remaining.length > maxLength) {
      const breakIndex = Math.max(remaining.lastIndexOf(" ", maxLength), remaining.lastIndexOf("(", maxLength) + 1);
      const end = breakIndex > remaining.length - remaining.trimStart().length + 3 ? breakIndex : maxLength;
      wrapped.push(remaining.slice(0, end));
      remaining = `    ${remaining.slice(end).trimStart()}`;
    }
    wrapped.push(remaining);
  }
  return wrapped.length > 5 ? [...wrapped.slice(0, 4), "…"] : wrapped;
}

/** The windows of a handle, a line for each of its logical rows. */
function layoutHandleBox(reader: StorageReader, column: StorageColumn | undefined, y: number): HandleBox | null {
  const { entity } = reader;
  if (!column) return null;
  const dtype = unqualifiedDtype(entity.dtype);
  const list = column.heat || !column.cell ? [] : cellReads(entity);
  const rows = new Map<string, ReadLine>();
  let more = 0;
  for (const read of list) {
    const row = read.index.slice(0, -1).join(",");
    let readLine = rows.get(row);
    if (!readLine) {
      if (rows.size === MAX_READ_LINES) {
        more++;
        continue;
      }
      readLine = { cells: [], more: 0, y: y + HANDLE_TITLE_HEIGHT + rows.size * READ_LINE_HEIGHT };
      rows.set(row, readLine);
    }
    readLine.cells.push({ subscript: read.index.join(","), cell: read.cell, ...elementSpan(column, dtype, read.cell) });
  }
  const lines = [...rows.values()];
  if (more)
    lines[lines.length - 1].more = Math.ceil(numel(entity.shape) / (entity.shape?.at(-1) ?? 1)) - MAX_READ_LINES;
  const cellExtent = lines.length ? null : cellExtentOfHandle(entity);
  const barEnds =
    cellExtent && column.cell
      ? [elementSpan(column, dtype, cellExtent[0]).x, elementSpan(column, dtype, cellExtent[1] + 1).x]
      : [column.x, column.x + column.w];
  return {
    reader,
    column,
    y,
    cy: y + HANDLE_TITLE_HEIGHT + READ_LINE_HEIGHT / 2 - 1,
    lines,
    bar: lines.length ? null : (barEnds as [number, number]),
  };
}
