/** The loom's rows: the heights of a statement's code, handles, nodes and writes. */

import { elementBox } from "./loom_columns.js";
import { leafDot, nodeDot } from "./loom_graph.js";
import { CODE, FOLD, LINE, MOST_LINES, NODE, PAD, SLOT, TITLE, WRITE } from "./loom_sizes.js";
import { extent, numel, plainDtype, reads } from "./reads.js";

/** @typedef {import("./loom.js").Column} Column */
/** @typedef {import("./loom.js").ReadLine} ReadLine */
/** @typedef {import("./loom.js").HandleBox} HandleBox */
/** @typedef {import("./loom.js").WriteBox} WriteBox */
/** @typedef {import("./loom.js").Dot} Dot */
/** @typedef {import("./loom.js").Loom} Loom */

/** One row, from y on; where the next begins. @param {Loom} plan @param {import("./run_story.js").Row} row @param {number} r
 * @param {number} top @param {number} room */
export function layoutRow(plan, row, r, top, room) {
  const { story: run, columns, stacked } = plan;
  const widest = stacked
    ? Math.max(24, Math.floor((room - 56 - row.inset * 10) / 7.2))
    : Math.max(12, Math.floor((plan.code - 62 - row.inset * 10) / 7.54));
  const code = wrapCode(row.code, widest);
  const codeH = code.length * CODE + (row.freed || row.kind === "raise" || row.visits.length ? 16 : 0);
  const foldY = top;
  const begin = top + (row.skipped ? FOLD : 0);
  let y = begin + PAD + (stacked ? codeH + 4 : 0);
  /** @type {HandleBox[]} */
  const handles = [];
  /** @type {WriteBox[]} */
  const writes = [];
  /** @type {Dot[]} */
  const dots = [];
  const makers = new Map(row.nodes.map((uid) => [uid, run.nodes.get(uid)]));
  const made = row.readers.filter(({ entity, alias }) => !alias && entity.grad_fn && makers.has(entity.grad_fn));
  y = flowBoxes(
    row.readers.filter((reader) => !made.includes(reader)),
    ({ entity }) => entity.storage,
    y,
    (reader, at) => {
      const box = handleBox(reader, columns.at(reader.entity.storage, r), at);
      if (box) handles.push(box);
      if (box && !reader.alias)
        plan.handleRows.set(reader.uid, { row: r, cy: box.cy, name: reader.title.split(" ")[0] });
      return box ? { column: box.column, h: TITLE + Math.max(1, box.lines.length) * LINE + 5 } : null;
    },
  );
  for (const uid of inputsFirst(row.nodes, run)) {
    const node = /** @type {import("./run_story.js").GraphNode} */ (run.nodes.get(uid));
    if (node.variable && leafDot(plan, node, r, dots)) continue;
    const own = made.filter((reader) => reader.entity.grad_fn === uid);
    let tall = NODE + node.slots.length * SLOT;
    let cy = y + NODE / 2;
    for (const reader of own) {
      const block = handleBox(reader, columns.at(reader.entity.storage, r), y);
      if (!block) continue;
      handles.push(block);
      cy = block.cy;
      tall = Math.max(cy - y + NODE / 2 + node.slots.length * SLOT, TITLE + Math.max(1, block.lines.length) * LINE + 5);
      y = own.at(-1) === reader ? y : y + tall;
    }
    dots.push(nodeDot(plan, node, cy, r));
    y += tall;
  }
  y = flowBoxes(
    [...row.writes.values()],
    ({ storage }) => storage,
    y,
    (write, at) => {
      const column = columns.at(write.storage, r);
      if (!column) return null;
      writes.push({ write, column, y: at, cy: at + WRITE + LINE / 2 });
      return { column, h: WRITE + LINE + (column.heat ? 6 : 17) };
    },
  );
  const bottom = Math.max(y, stacked ? 0 : begin + PAD + codeH) + PAD - 3;
  const first = writes[0]?.cy ?? handles[0]?.cy ?? dots[0]?.y ?? (begin + bottom) / 2;
  plan.rows.push({ y: begin, h: bottom - begin, cy: first, codeY: begin + PAD, codeH, code, foldY });
  plan.handles.push(handles);
  plan.writes.push(writes);
  plan.rowDots.push(dots);
  return bottom;
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

/** @param {string[]} lines @param {number} most @returns {string[]} */
function wrapCode(lines, most) {
  const out = [];
  for (const line of lines) {
    const indent = line.length - line.trimStart().length;
    let rest = line.length > most && indent > 8 ? `        ${line.trimStart()}` : line;
    while (rest.length > most) {
      const at = Math.max(rest.lastIndexOf(" ", most), rest.lastIndexOf("(", most) + 1);
      const k = at > rest.length - rest.trimStart().length + 3 ? at : most;
      out.push(rest.slice(0, k));
      rest = `    ${rest.slice(k).trimStart()}`;
    }
    out.push(rest);
  }
  return out.length > 5 ? [...out.slice(0, 4), "…"] : out;
}

/** Inputs before what they go into. @param {string[]} nodes @param {import("./run_story.js").RunStory} run */
function inputsFirst(nodes, run) {
  const included = new Set(nodes);
  /** @type {Set<string>} */
  const out = new Set();
  for (const start of nodes) {
    const stack = [start];
    const open = new Set();
    while (stack.length) {
      const uid = stack[stack.length - 1];
      const todo = out.has(uid)
        ? []
        : (run.nodes.get(uid)?.next ?? []).flatMap((e) =>
            e && included.has(e[0]) && !out.has(e[0]) && !open.has(e[0]) ? [e[0]] : [],
          );
      open.add(uid);
      if (todo.length) stack.push(...todo.reverse());
      else out.add(/** @type {string} */ (stack.pop()));
    }
  }
  return [...out];
}

/** The windows of a handle, a line for each of its logical rows. @param {import("./run_story.js").Reader} reader
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
      if (rows.size === MOST_LINES) {
        more++;
        continue;
      }
      line = { cells: [], more: 0, y: y + TITLE + rows.size * LINE };
      rows.set(row, line);
    }
    line.cells.push({ index: read.index.join(","), cell: read.cell, ...elementBox(column, dtype, read.cell) });
  }
  const lines = [...rows.values()];
  if (more) lines[lines.length - 1].more = Math.ceil(numel(entity.shape) / (entity.shape?.at(-1) ?? 1)) - MOST_LINES;
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
