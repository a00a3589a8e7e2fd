/** The loom's rows: the heights of a statement's code, handles, nodes and writes. */

import { elementBox } from "./loom_columns.js";
import { leafDot, nodeDot } from "./loom_graph.js";
import {
  CODE,
  VISIT_FOOT,
  FOLD,
  FOOT,
  LINE,
  MAX_HANDLES,
  MAX_LINES,
  MAX_NODES,
  MAX_OPEN,
  NODE,
  PAD,
  SLOT,
  QUIET_ROW,
  QUIET_ROW_STACKED,
  TITLE,
  WRITE,
} from "./loom_sizes.js";
import { truncate } from "./metrics.js";
import { extent, numel, plainDtype, reads } from "./reads.js";
import { inputsFirst } from "./run_rows.js";

/** @typedef {import("./loom.js").Column} Column */
/** @typedef {import("./loom.js").ReadLine} ReadLine */
/** @typedef {import("./loom.js").HandleBox} HandleBox */
/** @typedef {import("./loom.js").WriteBox} WriteBox */
/** @typedef {import("./loom.js").Dot} Dot */
/** @typedef {import("./loom.js").Loom} Loom */

/** @typedef {import("./run_rows.js").Row} Row */
/** @typedef {import("./run_rows.js").Reader} Reader */
/** @typedef {{handles: HandleBox[], writes: WriteBox[], dots: Dot[], hidden: string[]}} Content   hidden: names of what there is
 *   no room for */

/** One row, from y on; where the next begins. @param {Loom} plan @param {Row} row @param {number} r
 * @param {number} top @param {number} room */
export function placeRow(plan, row, r, top, room) {
  const { stacked, columns } = plan;
  const widest = stacked
    ? Math.max(24, Math.floor((room - 56 - row.inset * 10) / 7.2))
    : Math.max(12, Math.floor((plan.code - 62 - row.inset * 10) / 7.54));
  const beside = row.turn ? Math.max(10, widest - row.turn.length - 1) : widest;
  const begin = top + (row.skipped ? FOLD : 0);
  const readers = shownReaders(plan, row, r);
  /** @type {Content} */
  const content = { handles: [], writes: [], dots: [], hidden: readers.hidden };
  const thin =
    isQuiet(row) && columns.shelfCount(r) === 1 && !plan.ends.has(r) && !readers.hidden.length && !readers.shown.length;
  const code = thin ? firstLine(row.code, beside) : wrapCode(row.code, beside);
  const codeH = code.length * CODE + (thin ? 0 : footHeight(row, readers.hidden));
  const thinH = stacked ? QUIET_ROW_STACKED : QUIET_ROW;
  const codeY = begin + (thin ? (thinH - CODE) / 2 : PAD);
  let y = codeY + (stacked ? codeH + 4 : 0);
  if (thin) plan.shelves.push({ y: begin, h: 0 });
  else y = placeShelves(plan, row, r, readers.shown, y, content);
  const { handles, writes, dots, hidden } = content;
  const bottom = thin ? begin + thinH : Math.max(y, stacked ? 0 : codeY + codeH) + PAD - 3;
  const first = writes[0]?.cy ?? handles[0]?.cy ?? dots[0]?.y ?? (begin + bottom) / 2;
  closeShelves(plan, r, begin, bottom);
  plan.rows.push({ y: begin, h: bottom - begin, cy: first, codeY, codeH, code, foldY: top, thin, hidden });
  plan.handles.push(handles);
  plan.writes.push(writes);
  plan.rowDots.push(dots);
  return bottom;
}

/** Whether nothing happened in a row, whatever it executed. @param {Row} row */
function isQuiet({ readers, writes, bumps, nodes, visits, freed, kind }) {
  return (
    !readers.length && !writes.size && !bumps.size && !nodes.length && !visits.length && !freed && kind !== "raise"
  );
}

/** The height of what stands under the code: what is freed or raised, the visits, what there is no room for.
 * @param {Row} row @param {string[]} hidden */
function footHeight(row, hidden) {
  const visits = row.visits.length ? FOOT + VISIT_FOOT : 0;
  return (row.kind === "raise" || (row.freed && !visits) ? FOOT : 0) + visits + (hidden.length ? FOOT : 0);
}

/** The readers of a row that have room, a few of each storage, and the names of what has none. @param {Loom} plan @param {Row} row
 * @param {number} r */
function shownReaders({ columns, run }, row, r) {
  /** @type {Reader[]} */
  const shown = [];
  const hidden = (columns.hidden.get(r) ?? []).map((uid) => run.storageNames.get(uid) ?? uid);
  /** @type {Map<string, number>} */
  const counts = new Map();
  const named = (/** @type {Reader} */ reader) => (reader.named ? 0 : 1);
  for (const reader of [...row.readers].sort((a, b) => named(a) - named(b))) {
    const uid = reader.entity.storage ?? "";
    if (!columns.columnAt(uid, r)) continue;
    const n = (counts.get(uid) ?? 0) + 1;
    counts.set(uid, n);
    if (n <= MAX_HANDLES) shown.push(reader);
    else hidden.push(reader.title || reader.uid);
  }
  return { shown, hidden };
}

/** What a row shows, shelf by shelf; where it ends. @param {Loom} plan @param {Row} row @param {number} r
 * @param {Reader[]} readers @param {number} y @param {Content} content */
function placeShelves(plan, row, r, readers, y, content) {
  const { columns } = plan;
  const makers = new Set(row.nodes);
  const made = readers.filter(({ entity, alias }) => !alias && makers.has(entity.grad_fn ?? ""));
  const kept = new Set(made);
  const shelfOf = (/** @type {string | null | undefined} */ storageUid) => {
    const column = columns.columnAt(storageUid, r);
    return column ? columns.shelfIn(column, r) : 0;
  };
  const nodes = nodesWithShelf(plan, row, r, made, shelfOf, content);
  for (let shelf = 0; shelf < columns.shelfCount(r); shelf++) {
    plan.shelves.push({ y, h: 0 });
    const here = readers.filter((reader) => !kept.has(reader) && shelfOf(reader.entity.storage) === shelf);
    y = placeHandles(plan, r, here, y, content);
    y = placeNodes(
      plan,
      r,
      nodes.filter((line) => line.shelf === shelf),
      made,
      y,
      content,
    );
    const writes = [...row.writes.values()].filter(({ storage }) => shelfOf(storage) === shelf);
    y = placeWrites(plan, r, writes, y, content);
  }
  return y;
}

/** The shelves of a row reach from its top to its bottom. @param {Loom} plan @param {number} r @param {number} top
 * @param {number} bottom */
function closeShelves({ shelves, columns }, r, top, bottom) {
  const from = columns.shelves[r];
  shelves[from].y = top;
  for (let k = from; k < shelves.length; k++) shelves[k].h = (shelves[k + 1]?.y ?? bottom) - shelves[k].y;
}

/** Handles that no node of the row made. @param {Loom} plan @param {number} r @param {Reader[]} readers @param {number} y
 * @param {Content} content */
function placeHandles(plan, r, readers, y, { handles }) {
  return flowBoxes(
    readers,
    ({ entity }) => entity.storage,
    y,
    (reader, at) => {
      const box = handleBox(reader, plan.columns.columnAt(reader.entity.storage, r), at);
      if (box) handles.push(box);
      if (box && !reader.alias)
        plan.handleRows.set(reader.uid, { row: r, cy: box.cy, name: reader.title.split(" ")[0] });
      return box ? { column: box.column, h: TITLE + Math.max(1, box.lines.length) * LINE + 5 } : null;
    },
  );
}

/** @typedef {{nodes: string[], inline: boolean, shelf: number}} NodeLine   inline: the slots stand in the line */

/** The lines of a row's nodes with the shelf of each, which never goes back. @param {Loom} plan @param {Row} row @param {number} r
 * @param {Reader[]} made @param {(storage: string | null | undefined) => number} shelfOf @param {Content} content
 * @returns {NodeLine[]} */
function nodesWithShelf(plan, row, r, made, shelfOf, { dots }) {
  const { nodes } = plan.run;
  const list = inputsFirst(row.nodes, plan.run).filter((uid) => {
    const node = /** @type {import("./run_rows.js").GraphNode} */ (nodes.get(uid));
    return !(node.variable && leafDot(plan, node, r, dots));
  });
  const inline = list.length > MAX_OPEN;
  let shelf = 0;
  return nodeLines(list, made).map((group) => {
    for (const { entity } of made) if (entity.grad_fn === group[0]) shelf = Math.max(shelf, shelfOf(entity.storage));
    return { nodes: group, inline, shelf };
  });
}

/** Nodes with the handles that they made. @param {Loom} plan @param {number} r @param {NodeLine[]} lines @param {Reader[]} made
 * @param {number} y @param {Content} content */
function placeNodes(plan, r, lines, made, y, { handles, dots }) {
  const { nodes } = plan.run;
  for (const { nodes: group, inline } of lines) {
    const node = /** @type {import("./run_rows.js").GraphNode} */ (nodes.get(group[0]));
    const own = made.filter((reader) => reader.entity.grad_fn === group[0]);
    const slotsH = inline ? 0 : node.slots.length * SLOT;
    let tall = (inline ? SLOT + 2 : NODE) + slotsH;
    let cy = y + tall / 2 - slotsH / 2;
    for (const reader of own) {
      const block = handleBox(reader, plan.columns.columnAt(reader.entity.storage, r), y);
      if (!block) continue;
      handles.push(block);
      cy = block.cy;
      tall = Math.max(cy - y + NODE / 2 + slotsH, TITLE + Math.max(1, block.lines.length) * LINE + 5);
      y = own.at(-1) === reader ? y : y + tall;
    }
    for (const uid of group) {
      const member = /** @type {import("./run_rows.js").GraphNode} */ (nodes.get(uid));
      const dot = nodeDot(plan, member, cy, r, inline);
      if (group.length > 1) Object.assign(dot, { group: `fold ${group[0]}`, fold: group });
      dots.push(dot);
    }
    y += tall;
  }
  return y;
}

/** The nodes of each line: those that made a handle which is shown stand alone. @param {string[]} list @param {Reader[]} made
 * @returns {string[][]} */
function nodeLines(list, made) {
  if (list.length <= MAX_NODES) return list.map((uid) => [uid]);
  const alone = new Set(made.map(({ entity }) => entity.grad_fn));
  const rest = list.filter((uid) => !alone.has(uid)).length;
  const each = Math.ceil(rest / Math.max(4, MAX_NODES - (list.length - rest)));
  /** @type {string[][]} */
  const lines = [];
  let open = false;
  for (const uid of list) {
    const last = lines[lines.length - 1];
    if (open && !alone.has(uid) && last.length < each) last.push(uid);
    else lines.push([uid]);
    open = !alone.has(uid);
  }
  return lines;
}

/** @param {Loom} plan @param {number} r @param {import("./run_rows.js").Write[]} list @param {number} y @param {Content} content */
function placeWrites({ columns }, r, list, y, { writes }) {
  return flowBoxes(
    list,
    ({ storage }) => storage,
    y,
    (write, at) => {
      const column = columns.columnAt(write.storage, r);
      if (!column) return null;
      writes.push({ write, column, y: at, cy: at + WRITE + LINE / 2 });
      return { column, h: WRITE + LINE + (column.heat ? 6 : 17) };
    },
  );
}

/** Things beside each other on one shelf where their columns allow it. @template T
 * @param {T[]} list @param {(thing: T) => string | undefined} storageOf @param {number} y
 * @param {(thing: T, y: number) => {column: Column, h: number} | null} add */
function flowBoxes(list, storageOf, y, add) {
  let tall = 0;
  /** @type {Column[]} */
  let taken = [];
  for (const thing of list) {
    const uid = storageOf(thing);
    if (taken.some((column) => column.uid === uid)) {
      y += tall;
      tall = 0;
      taken = [];
    }
    const made = add(thing, y);
    if (!made) continue;
    taken.push(made.column);
    tall = Math.max(tall, made.h);
  }
  return y + tall;
}

/** @param {string[]} lines @param {number} maxLength @returns {string[]} */
function firstLine(lines, maxLength) {
  if (!lines.length) return [];
  return [truncate(lines.length > 1 ? `${lines[0]} …` : lines[0], maxLength)];
}

/** @param {string[]} lines @param {number} maxLength @returns {string[]} */
function wrapCode(lines, maxLength) {
  const out = [];
  for (const line of lines) {
    const indent = line.length - line.trimStart().length;
    let rest = line.length > maxLength && indent > 8 ? `        ${line.trimStart()}` : line;
    while (rest.length > maxLength) {
      const at = Math.max(rest.lastIndexOf(" ", maxLength), rest.lastIndexOf("(", maxLength) + 1);
      const k = at > rest.length - rest.trimStart().length + 3 ? at : maxLength;
      out.push(rest.slice(0, k));
      rest = `    ${rest.slice(k).trimStart()}`;
    }
    out.push(rest);
  }
  return out.length > 5 ? [...out.slice(0, 4), "…"] : out;
}

/** The windows of a handle, a line for each of its logical rows. @param {import("./run_rows.js").Reader} reader
 * @param {Column | undefined} column @param {number} y @returns {HandleBox | null} */
function handleBox(reader, column, y) {
  const { entity } = reader;
  if (!column) return null;
  const dtype = plainDtype(entity.dtype);
  const list = column.heat || !column.cell ? [] : reads(entity);
  /** @type {Map<string, ReadLine>} */
  const rows = new Map();
  let more = 0;
  for (const read of list) {
    const row = read.index.slice(0, -1).join(",");
    let line = rows.get(row);
    if (!line) {
      if (rows.size === MAX_LINES) {
        more++;
        continue;
      }
      line = { cells: [], more: 0, y: y + TITLE + rows.size * LINE };
      rows.set(row, line);
    }
    line.cells.push({ subscript: read.index.join(","), cell: read.cell, ...elementBox(column, dtype, read.cell) });
  }
  const lines = [...rows.values()];
  if (more) lines[lines.length - 1].more = Math.ceil(numel(entity.shape) / (entity.shape?.at(-1) ?? 1)) - MAX_LINES;
  const span = lines.length ? null : extent(entity);
  const ends =
    span && column.cell
      ? [elementBox(column, dtype, span[0]).x, elementBox(column, dtype, span[1] + 1).x]
      : [column.x, column.x + column.w];
  return {
    reader,
    column,
    y,
    cy: y + TITLE + LINE / 2 - 1,
    lines,
    bar: lines.length ? null : /** @type {[number, number]} */ (ends),
  };
}
