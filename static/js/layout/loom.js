/** The loom's plan: columns for the cells of every storage, a row for every statement, lanes for the graph. Nothing moves between steps. */

import { nodeLabel } from "./graph.js";
import { Lanes } from "./lanes.js";
import { truncate, textWidth } from "./metrics.js";
import { extent, itemsize, numel, plainDtype, reads } from "./reads.js";
import { Packer } from "./packing.js";
import { runStory } from "./run_story.js";

/**
 * @typedef {{uid: string, x: number, w: number, cell: number, least: number, heat: boolean, rails: Map<string, number>,
 *   right: number}} Column   cell: the width of one element of the smallest dtype, of `least` bytes; right: where the next may begin
 * @typedef {{cells: {index: string, x: number, w: number, cell: number}[], more: number, y: number}} ReadLine
 * @typedef {{reader: import("./run_story.js").Reader, column: Column, y: number, cy: number, lines: ReadLine[], bar: [number, number] | null}} HandleBox
 * @typedef {{write: import("./run_story.js").Write, column: Column, y: number, cy: number}} WriteBox
 * @typedef {{y: number, h: number, cy: number, codeY: number, codeH: number, code: string[], foldY: number}} RowBox
 * @typedef {{uid: string, name: string, leaf: boolean, group: string, x: number, y: number,
 *   slots: Map<string, number>, row: number, label: string}} Dot   group: nodes of the same one are one dot
 * @typedef {{key: string, from: string, to: string, x0: number, y0: number, x1: number, y1: number, row: number}} Edge
 * @typedef {{pin: import("./run_story.js").Pin, x: number, rail: number, y: number, slotX: number, to: number, at: number | null}} PinLine
 *   rail: where the counter stands; to: where it lets go; at: the height where it broke or its bytes changed
 * @typedef {{story: import("./run_story.js").RunStory, rows: RowBox[], columns: Map<string, Column>, handles: HandleBox[][], writes: WriteBox[][],
 *   handleRows: Map<string, {row: number, cy: number, name: string}>, dots: Map<string, Dot>, rowDots: Dot[][], edges: Edge[], trunks: {x: number, y0: number, y1: number}[], pinLines: PinLine[],
 *   head: number, code: number, memory: {x: number, w: number}, graph: {x: number, w: number, names: number},
 *   stacked: boolean, cell: number, width: number, height: number}} Loom
 */

/** A picture somewhat wider than its room is drawn smaller, but not smaller than this. */
export const SMALLEST_SCALE = 0.8;
export const HEAD = 92;
export const LINE = 26;
export const TITLE = 19;
export const CODE = 18;
export const WRITE = 19;
/** How much wider the page's bold face is than the monospaced one. */
export const BOLD = 1.17;
const SLOT = 16;
const FOLD = 24;
const NODE = 24;
const PAD = 9;
const RAIL = 26;
const PIN_PITCH = 8;
const MOST_LINES = 8;
/** Widths of a cell, and the most elements of a storage that is drawn cell by cell; more are a strip of colours. */
const ROOMY = [
  [56, 24],
  [48, 24],
  [42, 24],
  [36, 24],
  [32, 24],
  [28, 24],
  [28, 8],
  [24, 4],
];
const DENSEST = [20, 2];
const STACKED = [
  [40, 24],
  [34, 24],
  [28, 8],
  [24, 4],
];
/** With more storages than this, the columns of a freed one are let again. */
const MOST_KEPT = 12;

/**
 * @param {import("../state.js").OpenTrace} opened
 * @param {{room?: number, stacked?: boolean, scrolls?: boolean}} [options] room: the width that there is; stacked: code above
 *   its row, not beside; scrolls: what is wider need not be as narrow as can be
 * @returns {Loom}
 */
export function loomLayout(opened, { room = 1180, stacked = false, scrolls = true } = {}) {
  const run = runStory(opened);
  const code = stacked ? 8 : codeWidth(run, room);
  const margins = { pins: pinCounts(run), bumps: bumpWidths(run) };
  /** @type {Loom | null} */
  let plan = null;
  const tries = stacked ? STACKED : ROOMY;
  for (const [cell, most] of scrolls ? tries : [...tries, DENSEST]) {
    if (cell === DENSEST[0] && plan && plan.width * SMALLEST_SCALE <= room) break;
    const columns = layoutColumns(run, margins, code, cell, most);
    if (columns.right * SMALLEST_SCALE > room && cell !== DENSEST[0]) continue;
    plan = buildPlan(run, columns, { code, cell, room, stacked });
    if (plan.width <= room) return plan;
  }
  if (plan && (!scrolls || plan.width * SMALLEST_SCALE <= room)) return plan;
  // What has to scroll anyway need not be small as well.
  const [cell, most] = stacked ? [30, 8] : [34, 8];
  return buildPlan(run, layoutColumns(run, margins, code, cell, most), { code, cell, room, stacked });
}

/** The plan with these columns. @param {import("./run_story.js").RunStory} run @param {{columns: Map<string, Column>, right: number}} arrangement
 * @param {{code: number, cell: number, room: number, stacked: boolean}} sizes @returns {Loom} */
function buildPlan(run, { columns, right }, { code, cell, room, stacked }) {
  /** @type {Loom} */
  const plan = {
    story: run,
    rows: [],
    columns,
    handles: [],
    writes: [],
    handleRows: new Map(),
    dots: new Map(),
    rowDots: [],
    edges: [],
    trunks: [],
    pinLines: [],
    head: HEAD,
    code,
    memory: { x: code, w: right - code },
    graph: { x: right + 10, w: 16, names: 0 },
    stacked,
    cell,
    width: 0,
    height: 0,
  };
  let y = HEAD;
  run.rows.forEach((row, r) => {
    y = layoutRow(plan, row, r, y, room);
  });
  plan.height = y;
  layoutGraph(plan);
  layoutPins(plan);
  return plan;
}

/** @param {import("./run_story.js").RunStory} run @param {number} room */
function codeWidth(run, room) {
  const longest = Math.max(
    0,
    ...run.rows.flatMap((row) => row.code.map((line) => textWidth(line, 12.5) + row.inset * 10 + row.turn.length * 7)),
  );
  return Math.round(Math.min(330, Math.max(200, room * 0.26), Math.max(190, longest + 62)));
}

// ---- columns

/** How many pins hold a rail at once. @param {import("./run_story.js").RunStory} told @returns {Map<string, number>} */
function pinCounts(told) {
  /** @type {Map<string, number>} */
  const most = new Map();
  /** @type {Map<string, Packer>} */
  const slots = new Map();
  for (const pin of told.pins.values()) {
    const key = `${pin.storage}|${pin.counter ?? ""}`;
    const lane = slots.get(key) ?? new Packer();
    slots.set(key, lane);
    lane.allocate(pin.birth, pin.death, 1);
    most.set(key, lane.height);
  }
  return most;
}

/** How wide the ticks of a counter are written. @param {import("./run_story.js").RunStory} told @returns {Map<string, number>} */
function bumpWidths(told) {
  /** @type {Map<string, number>} */
  const most = new Map();
  for (const { bumps } of told.rows)
    for (const [counter, bump] of bumps)
      most.set(counter, Math.max(most.get(counter) ?? 0, textWidth(bump.join("→"), 10.5) + 10));
  return most;
}

/** @param {import("./run_story.js").RunStory} run @param {{pins: Map<string, number>, bumps: Map<string, number>}} margins @param {number} left @param {number} cell
 * @param {number} most @returns {{columns: Map<string, Column>, right: number}} */
function layoutColumns(run, margins, left, cell, most) {
  const lives = [...run.storages.values()].filter((life) => life.death > life.birth || !life.freed);
  /** @type {Map<string, Column>} */
  const columns = new Map();
  const reuses = lives.length > MOST_KEPT;
  const track = new Packer();
  const order = reuses ? lives : ownersFirst(lives);
  let x = left + 14;
  let right = x;
  for (const bolt of order) {
    const shape = columnShape(bolt, cell, most);
    let railX = 7;
    /** @type {[string, number][]} */
    const rails = [];
    for (const counter of bolt.counters.length ? bolt.counters : [""]) {
      rails.push([counter, shape.w + railX + 13]);
      railX +=
        RAIL +
        4 +
        Math.max(
          0,
          ((margins.pins.get(`${bolt.uid}|${counter}`) ?? 0) - 1) * PIN_PITCH,
          (margins.bumps.get(counter) ?? 0) - 38,
        );
    }
    const width = Math.ceil(shape.w + railX + 9);
    const owner = bolt.owner ? columns.get(bolt.owner) : undefined;
    const at = reuses
      ? left + 14 + track.allocateNear(bolt.birth, bolt.death, width, owner ? owner.right - left - 14 : 0)
      : x;
    columns.set(bolt.uid, {
      uid: bolt.uid,
      x: at,
      ...shape,
      rails: new Map(rails.map(([counter, by]) => [counter, at + by])),
      right: at + width,
    });
    x = at + width;
    right = Math.max(right, x);
  }
  return { columns, right };
}

/** By birth, with a .grad right of its owner. @param {import("./run_story.js").StorageLife[]} lives */
function ownersFirst(lives) {
  const known = new Set(lives.map((life) => life.uid));
  const first = lives.filter((bolt) => !bolt.owner || !known.has(bolt.owner));
  const gradsOf = (/** @type {string} */ uid) => lives.filter((bolt) => bolt.owner === uid && bolt.uid !== uid);
  /** @type {Set<import("./run_story.js").StorageLife>} */
  const out = new Set();
  const add = (/** @type {import("./run_story.js").StorageLife} */ bolt) => {
    if (out.has(bolt)) return;
    out.add(bolt);
    gradsOf(bolt.uid).forEach(add);
  };
  first.forEach(add);
  lives.forEach(add);
  return [...out];
}

/** @param {import("./run_story.js").StorageLife} life @param {number} cell @param {number} most */
function columnShape(life, cell, most) {
  if (life.summary) return { w: 150, cell: 150 / Math.max(1, life.nbytes), least: 1, heat: true };
  if (!life.cells.size) return { w: 56, cell: 0, least: 1, heat: false };
  const sizes = [...life.cells].map(([dtype, n]) => ({ n, size: itemsize(dtype) }));
  const least = Math.min(...sizes.map((s) => s.size));
  const n = Math.max(1, ...sizes.map((s) => Math.ceil((s.n * s.size) / least)));
  if (n <= most) return { w: Math.max(n * cell, 26), cell: n === 1 ? Math.max(cell, 26) : cell, least, heat: false };
  const each = Math.max(0.3, Math.min(most < 24 ? 7 : 10, (most < 24 ? 200 : 300) / n));
  return { w: n * each, cell: each, least, heat: true };
}

/** Where element i of a dtype lies. @param {Column} column @param {string} dtype @param {number} i */
export function elementBox(column, dtype, i) {
  const w = column.cell * (itemsize(dtype) / column.least);
  return { x: column.x + i * w, w };
}

// ---- rows

/** One row, from y on; where the next begins. @param {Loom} plan @param {import("./run_story.js").Row} row @param {number} r
 * @param {number} top @param {number} room */
function layoutRow(plan, row, r, top, room) {
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
    y,
    (reader, at) => {
      const box = handleBox(reader, columns, at);
      if (box) handles.push(box);
      if (box && !reader.alias)
        plan.handleRows.set(reader.uid, { row: r, cy: box.cy, name: reader.title.split(" ")[0] });
      return box ? { column: box.column, h: TITLE + Math.max(1, box.lines.length) * LINE + 5 } : null;
    },
  );
  for (const uid of inputsFirst(row.nodes, run)) {
    const node = /** @type {import("./run_story.js").GraphNode} */ (run.nodes.get(uid));
    if (node.variable && leafDot(plan, node, r, dots)) continue;
    const own = made.filter((one) => one.entity.grad_fn === uid);
    let tall = NODE + node.slots.length * SLOT;
    let cy = y + NODE / 2;
    for (const reader of own) {
      const block = handleBox(reader, columns, y);
      if (!block) continue;
      handles.push(block);
      cy = block.cy;
      tall = Math.max(cy - y + NODE / 2 + node.slots.length * SLOT, TITLE + Math.max(1, block.lines.length) * LINE + 5);
      y = own.at(-1) === reader ? y : y + tall;
    }
    dots.push(nodeDot(plan, node, cy, r));
    y += tall;
  }
  y = flowBoxes([...row.writes.values()], y, (write, at) => {
    const column = columns.get(write.storage);
    if (!column) return null;
    writes.push({ write, column, y: at, cy: at + WRITE + LINE / 2 });
    return { column, h: WRITE + LINE + (column.heat ? 6 : 17) };
  });
  const bottom = Math.max(y, stacked ? 0 : begin + PAD + codeH) + PAD - 3;
  const first = writes[0]?.cy ?? handles[0]?.cy ?? dots[0]?.y ?? (begin + bottom) / 2;
  plan.rows.push({ y: begin, h: bottom - begin, cy: first, codeY: begin + PAD, codeH, code, foldY });
  plan.handles.push(handles);
  plan.writes.push(writes);
  plan.rowDots.push(dots);
  return bottom;
}

/** Things beside each other on one shelf where their columns allow it. @template T @param {T[]} list @param {number} y
 * @param {(thing: T, y: number) => {column: Column, h: number} | null} add */
function flowBoxes(list, y, add) {
  let tall = 0;
  /** @type {Column[]} */
  let taken = [];
  for (const thing of list) {
    const uid = /** @type {any} */ (thing).storage ?? /** @type {any} */ (thing).entity?.storage;
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
 * @param {Map<string, Column>} columns @param {number} y @returns {HandleBox | null} */
function handleBox(reader, columns, y) {
  const { entity } = reader;
  const column = columns.get(entity.storage ?? "");
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

// ---- the graph

/** @param {Loom} plan @param {import("./run_story.js").GraphNode} node @param {number} y @param {number} r @returns {Dot} */
function nodeDot(plan, node, y, r) {
  const slots = new Map(node.slots.map((slot, k) => [slot, y + NODE / 2 + k * SLOT + SLOT / 2]));
  const name = nodeLabel(node.name).replace("+= ", "");
  const short = name.replace(/Backward\d*$/, "").replace("AccumulateGrad", "+=");
  const dot = {
    uid: node.uid,
    name: node.name,
    leaf: Boolean(node.variable),
    group: node.uid,
    x: 0,
    y,
    slots,
    row: r,
    label: plan.stacked ? short : name,
  };
  plan.dots.set(node.uid, dot);
  return dot;
}

/** AccumulateGrad stands in its leaf's row: one place for all that ever lead there.
 * @param {Loom} plan @param {import("./run_story.js").GraphNode} node @param {number} r @param {Dot[]} rowDots @returns {boolean} */
function leafDot(plan, node, r, rowDots) {
  const leafRow = plan.handleRows.get(node.variable ?? "");
  if (!leafRow) return false;
  const dot = nodeDot(plan, node, leafRow.cy, leafRow.row);
  dot.label = `${dot.label} ${leafRow.name}`.trim();
  dot.group = `leaf ${node.variable} ${leafRow.row}`;
  (leafRow.row === r ? rowDots : plan.rowDots[leafRow.row]).push(dot);
  return true;
}

/** Lanes for the nodes, the way of every edge. @param {Loom} plan */
function layoutGraph(plan) {
  const lanes = new Lanes();
  const { dots, story: run } = plan;
  /** @type {Map<string, number>} */
  const last = new Map();
  for (const [uid, node] of run.nodes) {
    const from = dots.get(uid);
    if (from)
      for (const edge of node.next) {
        const to = edge && dots.get(edge[0]);
        if (to) last.set(to.group, Math.max(last.get(to.group) ?? 0, from.y));
      }
  }
  /** @type {Map<string, number>} */
  const at = new Map();
  for (const dot of [...dots.values()].sort((a, b) => a.y - b.y)) {
    const key = dot.group;
    if (at.has(key)) continue;
    const straight = (run.nodes.get(dot.uid)?.next ?? [])
      .flatMap((e) => {
        const to = e && dots.get(e[0]);
        return to && to.y < dot.y && last.get(to.group) === dot.y ? [at.get(to.group) ?? -1] : [];
      })
      .find((lane) => lane >= 0);
    at.set(key, lanes.allocate(dot.y, Math.max(dot.y, last.get(key) ?? 0), straight));
  }
  const pitch = Math.max(6, Math.min(plan.stacked ? 11 : 17, (plan.stacked ? 60 : 180) / Math.max(1, lanes.count)));
  for (const dot of dots.values()) dot.x = plan.graph.x + 12 + (at.get(dot.group) ?? 0) * pitch;
  plan.graph.names = Math.ceil(plan.graph.x + 12 + lanes.count * pitch + 4);
  let widest = 0;
  for (const dot of dots.values())
    widest = Math.max(
      widest,
      labelWidth(plan, dot),
      ...[...dot.slots.keys()].map((slot) => slotWidth(plan, dot, slot)),
    );
  plan.graph.w = dots.size ? Math.ceil(plan.graph.names - plan.graph.x + widest + 14) : 16;
  plan.width = plan.graph.x + plan.graph.w;
  /** @type {Set<string>} */
  const trunks = new Set();
  for (const [uid, knot] of run.nodes) {
    const from = dots.get(uid);
    if (from)
      knot.next.forEach((edge, k) => {
        const to = edge && dots.get(edge[0]);
        if (!to) return;
        plan.edges.push({
          key: `${uid}:${k}`,
          from: uid,
          to: edge[0],
          x0: from.x,
          y0: from.y,
          x1: to.x,
          y1: to.y,
          row: from.row,
        });
        if (trunks.has(to.group)) return;
        trunks.add(to.group);
        plan.trunks.push({ x: to.x, y0: to.y, y1: last.get(to.group) ?? to.y });
      });
  }
}

/** How wide a node is written, with the gradient that reaches it. @param {Loom} plan @param {Dot} dot */
function labelWidth(plan, dot) {
  const chips = plan.stacked
    ? []
    : (plan.story.visits.get(dot.uid) ?? []).map((k) => plan.story.gradWidths.get(k) ?? 0);
  return textWidth(truncate(dot.label, plan.stacked ? 15 : 30), 11.5) * BOLD + 14 + Math.max(0, ...chips);
}

/** @param {Loom} plan @param {Dot} dot @param {string} slot */
function slotWidth(plan, dot, slot) {
  const pin = plan.story.pins.get(`${dot.uid}:${slot}`);
  const text =
    pin && !plan.stacked ? `${slot} = ${plan.story.storageNames.get(pin.storage) ?? pin.storage} @ v0` : slot;
  const more = pin?.broken !== null && pin ? 66 : pin?.silent !== null && pin ? 92 : plan.stacked ? 0 : 58;
  return textWidth(text, 10.5) + 12 + more;
}

/** From a node's slot to the rail whose version it expects, and down until backward lets go. @param {Loom} plan */
function layoutPins(plan) {
  /** @type {Map<string, Packer>} */
  const slots = new Map();
  for (const pin of plan.story.pins.values()) {
    const column = plan.columns.get(pin.storage);
    const dot = plan.dots.get(pin.node);
    const y = dot?.slots.get(pin.slot);
    if (!column || !dot || y === undefined) continue;
    const rail = column.rails.get(pin.counter ?? "") ?? [...column.rails.values()][0];
    const key = `${pin.storage}|${rail}`;
    const lane = slots.get(key) ?? new Packer();
    slots.set(key, lane);
    const x = rail + lane.allocate(pin.birth, pin.death, 1) * PIN_PITCH;
    const hit = pin.broken ?? pin.silent;
    const shot = hit === null ? null : plan.writes[hit].find((one) => one.write.storage === pin.storage);
    const box = plan.rows[pin.death];
    const to = pin.death > pin.birth || !pin.released ? (pin.released ? box.y + box.h / 2 : box.y + box.h) : y + 7;
    plan.pinLines.push({
      pin: pin,
      x,
      rail,
      y,
      slotX: plan.graph.names,
      to: Math.max(to, y),
      at: hit === null ? null : (shot?.cy ?? plan.rows[hit].cy),
    });
  }
}
