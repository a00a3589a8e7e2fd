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
 * @typedef {{cells: {index: string, x: number, w: number, cell: number}[], more: number, y: number}} Line
 * @typedef {{reader: import("./run_story.js").Reader, column: Column, y: number, cy: number, lines: Line[], bar: [number, number] | null}} Block
 * @typedef {{write: import("./run_story.js").Write, column: Column, y: number, cy: number}} Shot
 * @typedef {{y: number, h: number, cy: number, codeY: number, codeH: number, code: string[], foldY: number}} Box
 * @typedef {{uid: string, name: string, leaf: boolean, place: string, x: number, y: number,
 *   slots: Map<string, number>, row: number, label: string}} Dot   place: nodes with the same one are one dot
 * @typedef {{key: string, from: string, to: string, x0: number, y0: number, x1: number, y1: number, row: number}} Strand
 * @typedef {{pin: import("./run_story.js").Pin, x: number, rail: number, y: number, slotX: number, to: number, at: number | null}} Hold
 *   rail: where the counter stands; to: where it lets go; at: the height where it broke or its bytes changed
 * @typedef {{story: import("./run_story.js").RunStory, boxes: Box[], columns: Map<string, Column>, blocks: Block[][], shots: Shot[][],
 *   homes: Map<string, {row: number, cy: number, name: string}>, dots: Map<string, Dot>, rowDots: Dot[][], strands: Strand[], trunks: {x: number, y0: number, y1: number}[], holds: Hold[],
 *   head: number, code: number, memory: {x: number, w: number}, graph: {x: number, w: number, names: number},
 *   stacked: boolean, cell: number, width: number, height: number}} Loom
 */

/** A picture somewhat wider than its room is drawn smaller, but not smaller than this. */
export const SMALLEST = 0.8;
export const HEAD = 92;
export const LINE = 26;
export const TITLE = 19;
export const CODE = 18;
export const SHOT = 19;
/** How much wider the page's bold face is than the monospaced one. */
export const BOLD = 1.17;
const SLOT = 16;
const FOLD = 24;
const NODE = 24;
const PAD = 9;
const RAIL = 26;
const HOLD = 8;
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
const KEPT = 12;

/**
 * @param {import("../state.js").OpenTrace} opened
 * @param {{room?: number, stacked?: boolean, scrolls?: boolean}} [options] room: the width that there is; stacked: code above
 *   its row, not beside; scrolls: what is wider need not be as narrow as can be
 * @returns {Loom}
 */
export function loom(opened, { room = 1180, stacked = false, scrolls = true } = {}) {
  const told = runStory(opened);
  const code = stacked ? 8 : codeWidth(told, room);
  const holds = { pins: held(told), bumps: bumped(told) };
  /** @type {Loom | null} */
  let plan = null;
  const tries = stacked ? STACKED : ROOMY;
  for (const [cell, most] of scrolls ? tries : [...tries, DENSEST]) {
    if (cell === DENSEST[0] && plan && plan.width * SMALLEST <= room) break;
    const columns = arranged(told, holds, code, cell, most);
    if (columns.right * SMALLEST > room && cell !== DENSEST[0]) continue;
    plan = woven(told, columns, { code, cell, room, stacked });
    if (plan.width <= room) return plan;
  }
  if (plan && (!scrolls || plan.width * SMALLEST <= room)) return plan;
  // What has to scroll anyway need not be small as well.
  const [cell, most] = stacked ? [30, 8] : [34, 8];
  return woven(told, arranged(told, holds, code, cell, most), { code, cell, room, stacked });
}

/** The plan with these columns. @param {import("./run_story.js").RunStory} told @param {{columns: Map<string, Column>, right: number}} arrangement
 * @param {{code: number, cell: number, room: number, stacked: boolean}} sizes @returns {Loom} */
function woven(told, { columns, right }, { code, cell, room, stacked }) {
  /** @type {Loom} */
  const plan = {
    story: told,
    boxes: [],
    columns,
    blocks: [],
    shots: [],
    homes: new Map(),
    dots: new Map(),
    rowDots: [],
    strands: [],
    trunks: [],
    holds: [],
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
  told.rows.forEach((row, r) => {
    y = lay(plan, row, r, y, room);
  });
  plan.height = y;
  thread(plan);
  pin(plan);
  return plan;
}

/** @param {import("./run_story.js").RunStory} told @param {number} room */
function codeWidth(told, room) {
  const longest = Math.max(
    0,
    ...told.rows.flatMap((row) => row.code.map((line) => textWidth(line, 12.5) + row.inset * 10 + row.turn.length * 7)),
  );
  return Math.round(Math.min(330, Math.max(200, room * 0.26), Math.max(190, longest + 62)));
}

// ---- columns

/** How many pins hold a rail at once. @param {import("./run_story.js").RunStory} told @returns {Map<string, number>} */
function held(told) {
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
function bumped(told) {
  /** @type {Map<string, number>} */
  const most = new Map();
  for (const { bumps } of told.rows)
    for (const [counter, bump] of bumps)
      most.set(counter, Math.max(most.get(counter) ?? 0, textWidth(bump.join("→"), 10.5) + 10));
  return most;
}

/** @param {import("./run_story.js").RunStory} told @param {{pins: Map<string, number>, bumps: Map<string, number>}} holds @param {number} left @param {number} cell
 * @param {number} most @returns {{columns: Map<string, Column>, right: number}} */
function arranged(told, holds, left, cell, most) {
  const bolts = [...told.storages.values()].filter((bolt) => bolt.death > bolt.birth || !bolt.freed);
  /** @type {Map<string, Column>} */
  const columns = new Map();
  const again = bolts.length > KEPT;
  const track = new Packer();
  const order = again ? bolts : owned(bolts);
  let x = left + 14;
  let right = x;
  for (const bolt of order) {
    const shape = shaped(bolt, cell, most);
    let beside = 7;
    /** @type {[string, number][]} */
    const rails = [];
    for (const counter of bolt.counters.length ? bolt.counters : [""]) {
      rails.push([counter, shape.w + beside + 13]);
      beside +=
        RAIL +
        4 +
        Math.max(0, ((holds.pins.get(`${bolt.uid}|${counter}`) ?? 0) - 1) * HOLD, (holds.bumps.get(counter) ?? 0) - 38);
    }
    const whole = Math.ceil(shape.w + beside + 9);
    const owner = bolt.owner ? columns.get(bolt.owner) : undefined;
    const at = again
      ? left + 14 + track.allocateNear(bolt.birth, bolt.death, whole, owner ? owner.right - left - 14 : 0)
      : x;
    columns.set(bolt.uid, {
      uid: bolt.uid,
      x: at,
      ...shape,
      rails: new Map(rails.map(([counter, by]) => [counter, at + by])),
      right: at + whole,
    });
    x = at + whole;
    right = Math.max(right, x);
  }
  return { columns, right };
}

/** By birth, with a .grad right of its owner. @param {import("./run_story.js").StorageLife[]} bolts */
function owned(bolts) {
  const known = new Set(bolts.map((bolt) => bolt.uid));
  const first = bolts.filter((bolt) => !bolt.owner || !known.has(bolt.owner));
  const rest = (/** @type {string} */ uid) => bolts.filter((bolt) => bolt.owner === uid && bolt.uid !== uid);
  /** @type {Set<import("./run_story.js").StorageLife>} */
  const out = new Set();
  const add = (/** @type {import("./run_story.js").StorageLife} */ bolt) => {
    if (out.has(bolt)) return;
    out.add(bolt);
    rest(bolt.uid).forEach(add);
  };
  first.forEach(add);
  bolts.forEach(add);
  return [...out];
}

/** @param {import("./run_story.js").StorageLife} bolt @param {number} cell @param {number} most */
function shaped(bolt, cell, most) {
  if (bolt.summary) return { w: 150, cell: 150 / Math.max(1, bolt.nbytes), least: 1, heat: true };
  if (!bolt.cells.size) return { w: 56, cell: 0, least: 1, heat: false };
  const sizes = [...bolt.cells].map(([dtype, n]) => ({ n, size: itemsize(dtype) }));
  const least = Math.min(...sizes.map((s) => s.size));
  const n = Math.max(1, ...sizes.map((s) => Math.ceil((s.n * s.size) / least)));
  if (n <= most) return { w: Math.max(n * cell, 26), cell: n === 1 ? Math.max(cell, 26) : cell, least, heat: false };
  const each = Math.max(0.3, Math.min(most < 24 ? 7 : 10, (most < 24 ? 200 : 300) / n));
  return { w: n * each, cell: each, least, heat: true };
}

/** Where element i of a dtype lies. @param {Column} column @param {string} dtype @param {number} i */
export function place(column, dtype, i) {
  const wide = column.cell * (itemsize(dtype) / column.least);
  return { x: column.x + i * wide, w: wide };
}

// ---- rows

/** One row, from y on; where the next begins. @param {Loom} plan @param {import("./run_story.js").Row} row @param {number} r
 * @param {number} top @param {number} room */
function lay(plan, row, r, top, room) {
  const { story: told, columns, stacked } = plan;
  const widest = stacked
    ? Math.max(24, Math.floor((room - 56 - row.inset * 10) / 7.2))
    : Math.max(12, Math.floor((plan.code - 62 - row.inset * 10) / 7.54));
  const code = wrapped(row.code, widest);
  const codeH = code.length * CODE + (row.freed || row.kind === "raise" || row.visits.length ? 16 : 0);
  const foldY = top;
  const begin = top + (row.skipped ? FOLD : 0);
  let y = begin + PAD + (stacked ? codeH + 4 : 0);
  /** @type {Block[]} */
  const blocks = [];
  /** @type {Shot[]} */
  const shots = [];
  /** @type {Dot[]} */
  const dots = [];
  const makers = new Map(row.nodes.map((uid) => [uid, told.nodes.get(uid)]));
  const mine = row.readers.filter(({ entity, alias }) => !alias && entity.grad_fn && makers.has(entity.grad_fn));
  y = shelves(
    row.readers.filter((one) => !mine.includes(one)),
    y,
    (reader, at) => {
      const block = blocked(reader, columns, at);
      if (block) blocks.push(block);
      if (block && !reader.alias)
        plan.homes.set(reader.uid, { row: r, cy: block.cy, name: reader.title.split(" ")[0] });
      return block ? { column: block.column, h: TITLE + Math.max(1, block.lines.length) * LINE + 5 } : null;
    },
  );
  for (const uid of sorted(row.nodes, told)) {
    const knot = /** @type {import("./run_story.js").GraphNode} */ (told.nodes.get(uid));
    if (knot.variable && leafDot(plan, knot, r, dots)) continue;
    const own = mine.filter((one) => one.entity.grad_fn === uid);
    let tall = NODE + knot.slots.length * SLOT;
    let cy = y + NODE / 2;
    for (const reader of own) {
      const block = blocked(reader, columns, y);
      if (!block) continue;
      blocks.push(block);
      cy = block.cy;
      tall = Math.max(cy - y + NODE / 2 + knot.slots.length * SLOT, TITLE + Math.max(1, block.lines.length) * LINE + 5);
      y = own.at(-1) === reader ? y : y + tall;
    }
    dots.push(dotted(plan, knot, cy, r));
    y += tall;
  }
  y = shelves([...row.writes.values()], y, (write, at) => {
    const column = columns.get(write.storage);
    if (!column) return null;
    shots.push({ write, column, y: at, cy: at + SHOT + LINE / 2 });
    return { column, h: SHOT + LINE + (column.heat ? 6 : 17) };
  });
  const bottom = Math.max(y, stacked ? 0 : begin + PAD + codeH) + PAD - 3;
  const first = shots[0]?.cy ?? blocks[0]?.cy ?? dots[0]?.y ?? (begin + bottom) / 2;
  plan.boxes.push({ y: begin, h: bottom - begin, cy: first, codeY: begin + PAD, codeH, code, foldY });
  plan.blocks.push(blocks);
  plan.shots.push(shots);
  plan.rowDots.push(dots);
  return bottom;
}

/** Things beside each other on one shelf where their columns allow it. @template T @param {T[]} list @param {number} y
 * @param {(thing: T, y: number) => {column: Column, h: number} | null} put */
function shelves(list, y, put) {
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
    const made = put(thing, y);
    if (!made) continue;
    taken.push(made.column);
    tall = Math.max(tall, made.h);
  }
  return y + tall;
}

/** @param {string[]} lines @param {number} most @returns {string[]} */
function wrapped(lines, most) {
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

/** Inputs before what they go into. @param {string[]} nodes @param {import("./run_story.js").RunStory} told */
function sorted(nodes, told) {
  const here = new Set(nodes);
  /** @type {Set<string>} */
  const out = new Set();
  for (const start of nodes) {
    const stack = [start];
    const open = new Set();
    while (stack.length) {
      const uid = stack[stack.length - 1];
      const todo = out.has(uid)
        ? []
        : (told.nodes.get(uid)?.next ?? []).flatMap((e) =>
            e && here.has(e[0]) && !out.has(e[0]) && !open.has(e[0]) ? [e[0]] : [],
          );
      open.add(uid);
      if (todo.length) stack.push(...todo.reverse());
      else out.add(/** @type {string} */ (stack.pop()));
    }
  }
  return [...out];
}

/** The windows of a handle, a line for each of its logical rows. @param {import("./run_story.js").Reader} reader
 * @param {Map<string, Column>} columns @param {number} y @returns {Block | null} */
function blocked(reader, columns, y) {
  const { entity } = reader;
  const column = columns.get(entity.storage ?? "");
  if (!column) return null;
  const dtype = plainDtype(entity.dtype);
  const list = column.heat || !column.cell ? [] : reads(entity);
  /** @type {Map<string, Line>} */
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
    line.cells.push({ index: read.index.join(","), cell: read.cell, ...place(column, dtype, read.cell) });
  }
  const lines = [...rows.values()];
  if (more) lines[lines.length - 1].more = Math.ceil(numel(entity.shape) / (entity.shape.at(-1) ?? 1)) - MOST_LINES;
  const span = lines.length ? null : extent(entity);
  const ends =
    span && column.cell
      ? [place(column, dtype, span[0]).x, place(column, dtype, span[1] + 1).x]
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

/** @param {Loom} plan @param {import("./run_story.js").GraphNode} knot @param {number} y @param {number} r @returns {Dot} */
function dotted(plan, knot, y, r) {
  const slots = new Map(knot.slots.map((slot, k) => [slot, y + NODE / 2 + k * SLOT + SLOT / 2]));
  const name = nodeLabel({ .../** @type {any} */ (knot) }).replace("+= ", "");
  const short = name.replace(/Backward\d*$/, "").replace("AccumulateGrad", "+=");
  const dot = {
    uid: knot.uid,
    name: knot.name,
    leaf: Boolean(knot.variable),
    place: knot.uid,
    x: 0,
    y,
    slots,
    row: r,
    label: plan.stacked ? short : name,
  };
  plan.dots.set(knot.uid, dot);
  return dot;
}

/** AccumulateGrad stands in its leaf's row: one place for all that ever lead there.
 * @param {Loom} plan @param {import("./run_story.js").GraphNode} knot @param {number} r @param {Dot[]} here @returns {boolean} */
function leafDot(plan, knot, r, here) {
  const home = plan.homes.get(knot.variable ?? "");
  if (!home) return false;
  const dot = dotted(plan, knot, home.cy, home.row);
  dot.label = `${dot.label} ${home.name}`.trim();
  dot.place = `leaf ${knot.variable} ${home.row}`;
  (home.row === r ? here : plan.rowDots[home.row]).push(dot);
  return true;
}

/** Lanes for the nodes, the way of every edge. @param {Loom} plan */
function thread(plan) {
  const lanes = new Lanes();
  const { dots, story: told } = plan;
  /** @type {Map<string, number>} */
  const last = new Map();
  for (const [uid, knot] of told.nodes) {
    const from = dots.get(uid);
    if (from)
      for (const edge of knot.next) {
        const to = edge && dots.get(edge[0]);
        if (to) last.set(to.place, Math.max(last.get(to.place) ?? 0, from.y));
      }
  }
  /** @type {Map<string, number>} */
  const at = new Map();
  for (const dot of [...dots.values()].sort((a, b) => a.y - b.y)) {
    const key = dot.place;
    if (at.has(key)) continue;
    const straight = (told.nodes.get(dot.uid)?.next ?? [])
      .flatMap((e) => {
        const to = e && dots.get(e[0]);
        return to && to.y < dot.y && last.get(to.place) === dot.y ? [at.get(to.place) ?? -1] : [];
      })
      .find((lane) => lane >= 0);
    at.set(key, lanes.allocate(dot.y, Math.max(dot.y, last.get(key) ?? 0), straight));
  }
  const pitch = Math.max(6, Math.min(plan.stacked ? 11 : 17, (plan.stacked ? 60 : 180) / Math.max(1, lanes.count)));
  for (const dot of dots.values()) dot.x = plan.graph.x + 12 + (at.get(dot.place) ?? 0) * pitch;
  plan.graph.names = Math.ceil(plan.graph.x + 12 + lanes.count * pitch + 4);
  let widest = 0;
  for (const dot of dots.values())
    widest = Math.max(widest, wide(plan, dot), ...[...dot.slots.keys()].map((slot) => slotWide(plan, dot, slot)));
  plan.graph.w = dots.size ? Math.ceil(plan.graph.names - plan.graph.x + widest + 14) : 16;
  plan.width = plan.graph.x + plan.graph.w;
  /** @type {Set<string>} */
  const trunks = new Set();
  for (const [uid, knot] of told.nodes) {
    const from = dots.get(uid);
    if (from)
      knot.next.forEach((edge, k) => {
        const to = edge && dots.get(edge[0]);
        if (!to) return;
        plan.strands.push({
          key: `${uid}:${k}`,
          from: uid,
          to: edge[0],
          x0: from.x,
          y0: from.y,
          x1: to.x,
          y1: to.y,
          row: from.row,
        });
        if (trunks.has(to.place)) return;
        trunks.add(to.place);
        plan.trunks.push({ x: to.x, y0: to.y, y1: last.get(to.place) ?? to.y });
      });
  }
}

/** How wide a node is written, with the gradient that reaches it. @param {Loom} plan @param {Dot} dot */
function wide(plan, dot) {
  const chips = plan.stacked ? [] : (plan.story.visits.get(dot.uid) ?? []).map((k) => plan.story.arrived.get(k) ?? 0);
  return textWidth(truncate(dot.label, plan.stacked ? 15 : 30), 11.5) * BOLD + 14 + Math.max(0, ...chips);
}

/** @param {Loom} plan @param {Dot} dot @param {string} slot */
function slotWide(plan, dot, slot) {
  const pin = plan.story.pins.get(`${dot.uid}:${slot}`);
  const text = pin && !plan.stacked ? `${slot} = ${plan.story.called.get(pin.storage) ?? pin.storage} @ v0` : slot;
  const more = pin?.broken !== null && pin ? 66 : pin?.silent !== null && pin ? 92 : plan.stacked ? 0 : 58;
  return textWidth(text, 10.5) + 12 + more;
}

/** From a node's slot to the rail whose version it expects, and down until backward lets go. @param {Loom} plan */
function pin(plan) {
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
    const x = rail + lane.allocate(pin.birth, pin.death, 1) * HOLD;
    const hit = pin.broken ?? pin.silent;
    const shot = hit === null ? null : plan.shots[hit].find((one) => one.write.storage === pin.storage);
    const box = plan.boxes[pin.death];
    const to = pin.death > pin.birth || !pin.released ? (pin.released ? box.y + box.h / 2 : box.y + box.h) : y + 7;
    plan.holds.push({
      pin,
      x,
      rail,
      y,
      slotX: plan.graph.names,
      to: Math.max(to, y),
      at: hit === null ? null : (shot?.cy ?? plan.boxes[hit].cy),
    });
  }
}
