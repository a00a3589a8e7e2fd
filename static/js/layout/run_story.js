/** What a run did, row by row: a row is an executed statement, with the visits of its backward; one pass over the trace. */

import { sameValue } from "../state.js";
import { chip } from "./chip.js";
import { handleKey } from "./lifetimes.js";
import { names, refOf } from "./names.js";
import { extent, plainDtype } from "./reads.js";

/**
 * @typedef {{was: any, now: any}} Change
 * @typedef {{storage: string, by: string | null, silent: boolean, cells: Map<string, Change>, step: number,
 *   span: [string, number, number] | null}} Write
 *   cells by `dtype:index`; span: dtype, first and last element, where the elements are too many to list
 * @typedef {{uid: string, key: string, entity: any, title: string, alias: boolean, grad: boolean, named: boolean, cut: string | null, step: number}} Reader
 *   a handle where it was made, moved or given one more name; cut: why no gradient comes back
 * @typedef {{first: number, last: number, line: number, kind: string, code: string[], inset: number, turn: string,
 *   skipped: number, visits: number[], readers: Reader[], writes: Map<string, Write>, bumps: Map<string, [number, number]>,
 *   nodes: string[], freed: number}} Row
 *   freed: storages made and freed within the row; inset: how deep it stands in blocks and calls
 * @typedef {{uid: string, birth: number, death: number, freed: boolean, cells: Map<string, number>, summary: boolean,
 *   nbytes: number, owner: string | null, counters: string[]}} StorageLife   a storage; owner: of whose tensor it is the .grad
 * @typedef {{uid: string, name: string, next: ([string, number] | null)[], variable: string | null, row: number, slots: string[]}} GraphNode
 *   a node of the graph, with the row of the statement that made it
 * @typedef {{key: string, node: string, slot: string, storage: string, counter: string | null, expected: number | null,
 *   tensor: string | null, birth: number, death: number, broken: number | null, silent: number | null, released: boolean}} Pin
 * @typedef {{rows: Row[], rowOfStep: number[], storages: Map<string, StorageLife>, nodes: Map<string, GraphNode>, pins: Map<string, Pin>,
 *   visits: Map<string, number[]>, gradWidths: Map<number, number>, storageNames: Map<string, string>}} RunStory
 *   rowOfStep: the row of each step; visits: the steps at which each node ran; gradWidths: how wide the gradient of a visit is
 *   written; storageNames: the first name of a tensor on each storage
 */

const MOST_CODE = 4;

/** @param {import("../state.js").OpenTrace} opened @returns {RunStory} */
export function runStory(opened) {
  const { steps } = opened.trace;
  /** @type {RunStory} */
  const result = {
    rows: [],
    rowOfStep: [],
    storages: new Map(),
    nodes: new Map(),
    pins: new Map(),
    visits: new Map(),
    gradWidths: new Map(),
    storageNames: new Map(),
  };
  let before = opened.state(-1);
  for (let first = 0; first < opened.count; ) {
    const last = lastOfRow(steps, first);
    const row = newRow(opened.trace, first, last);
    const r = result.rows.push(row) - 1;
    /** @type {Map<string, number>} */
    const touched = new Map();
    /** @type {Map<string, number>} */
    const wrote = new Map();
    for (let k = first; k <= last; k++) {
      result.rowOfStep.push(r);
      const { set = {}, gone = [], visit } = steps[k];
      for (const uid of [...Object.keys(set), ...gone]) if (!touched.has(uid)) touched.set(uid, k);
      for (const [uid, fields] of Object.entries(/** @type {Record<string, any>} */ (set)))
        if (fields.cells || fields.cells_at) wrote.set(uid, k);
      const now = opened.state(k);
      for (const uid of Object.keys(set)) if (uid[0] === "n") updateNode(result, uid, now.get(uid), r, row);
      for (const uid of gone) if (uid[0] === "n") releaseNode(result, uid, r);
      if (!visit) continue;
      row.visits.push(k);
      const grad = visit.grad_outputs?.find(Boolean);
      if (grad) result.gradWidths.set(k, chip(grad).width);
      result.visits.set(visit.node, [...(result.visits.get(visit.node) ?? []), k]);
    }
    const after = opened.state(last);
    recordChanges(result, row, r, touched, before, after);
    for (const write of row.writes.values()) write.step = wrote.get(write.storage) ?? last;
    recordEvents(row, steps, before, after);
    before = after;
    first = last + 1;
  }
  const end = result.rows.length - 1;
  for (const life of result.storages.values()) if (!life.freed) life.death = end;
  for (const pin of result.pins.values()) if (!pin.released) pin.death = end;
  return result;
}

/** The last step of a row: what the engine visits belongs to the statement that called it. @param {any[]} steps @param {number} first */
function lastOfRow(steps, first) {
  let k = first;
  const sameStatement = (/** @type {any} */ a, /** @type {any} */ b) =>
    a.stmt === b.stmt && a.frame === b.frame && String(a.iter) === String(b.iter);
  while (
    steps[k].kind === "visit" &&
    steps[k + 1] &&
    sameStatement(steps[k], steps[k + 1]) &&
    /^(visit|statement|raise|return)$/.test(steps[k + 1].kind)
  )
    k++;
  return k;
}

/** @param {any} trace @param {number} first @param {number} last @returns {Row} */
function newRow(trace, first, last) {
  const step = trace.steps[last];
  const statement = trace.program.statements?.[step.stmt];
  const compound = statement && /^(Async)?(For|With|FunctionDef)$|^(While|If|Try|ClassDef|Match)$/.test(statement.kind);
  const to = !statement || compound ? step.line : Math.min(statement.end_line, statement.line + MOST_CODE - 1);
  const lines = trace.program.source.split("\n").slice((statement && !compound ? statement.line : step.line) - 1, to);
  const indent = lines.length ? (lines[0].match(/^ */)?.[0].length ?? 0) : 0;
  return {
    first,
    last,
    line: step.line,
    kind: step.kind,
    inset: Math.min(6, (step.depth ?? 0) + Math.floor(indent / 4)),
    skipped: trace.steps[first].skipped ?? 0,
    code:
      step.kind === "end"
        ? []
        : lines.map((/** @type {string} */ line) =>
            line.slice(Math.min(indent, line.length - line.trimStart().length)).trimEnd(),
          ),
    turn: step.iter?.length ? step.iter.join(", ") : "",
    visits: [],
    readers: [],
    writes: new Map(),
    bumps: new Map(),
    nodes: [],
    freed: 0,
  };
}

/** @param {RunStory} out @param {string} uid @param {any} node @param {number} r @param {Row} row */
function updateNode(out, uid, node, r, row) {
  if (!node) return;
  let known = out.nodes.get(uid);
  if (!known) {
    known = { uid, name: node.name ?? "", next: [], variable: null, row: r, slots: [] };
    out.nodes.set(uid, known);
    row.nodes.push(uid);
  }
  known.name = node.name ?? known.name;
  known.variable = node.variable ?? known.variable;
  if (node.next?.length) known.next = node.next;
  for (const [slot, saved] of Object.entries(/** @type {Record<string, any>} */ (node.saved ?? {}))) {
    if (!known.slots.includes(slot)) known.slots.push(slot);
    const key = `${uid}:${slot}`;
    const held = saved.storage && saved.state !== "freed" && !node.released;
    let pin = out.pins.get(key);
    if (!pin && held) {
      pin = {
        key,
        node: uid,
        slot,
        storage: saved.storage,
        counter: saved.counter ?? null,
        expected: saved.expected ?? null,
        tensor: saved.tensor ?? null,
        birth: r,
        death: r,
        broken: null,
        silent: null,
        released: false,
      };
      out.pins.set(key, pin);
    }
    if (!pin) continue;
    if (saved.state === "stale" || saved.state === "detached") pin.broken ??= r;
    if (saved.state === "changed") pin.silent ??= r;
    if (!held) releasePin(pin, r);
  }
}

/** @param {Pin} pin @param {number} r */
function releasePin(pin, r) {
  if (pin.released) return;
  pin.released = true;
  pin.death = r;
}

/** @param {RunStory} out @param {string} uid @param {number} r */
function releaseNode(out, uid, r) {
  for (const slot of out.nodes.get(uid)?.slots ?? []) {
    const pin = out.pins.get(`${uid}:${slot}`);
    if (pin) releasePin(pin, r);
  }
}

/**
 * What the row left other than it was.
 * @param {RunStory} out @param {Row} row @param {number} r @param {Map<string, number>} touched the first step of the row that names each
 * @param {import("../state.js").Entities} before @param {import("../state.js").Entities} after
 */
function recordChanges(out, row, r, touched, before, after) {
  const naming = names(after);
  /** @type {Set<string>} */
  const gradUids = new Set();
  for (const uid of touched.keys()) {
    const tensor = after.get(uid);
    if (tensor?.kind !== "tensor" || !tensor.grad) continue;
    gradUids.add(tensor.grad);
  }
  for (const [uid, step] of touched) {
    const old = before.get(uid);
    const now = after.get(uid);
    const kind = now?.kind ?? old?.kind;
    if (uid[0] === "s") updateStorage(out, row, r, uid, old, now);
    else if (kind === "counter" && old && now && old.value !== now.value) row.bumps.set(uid, [old.value, now.value]);
    else if (now && (kind === "tensor" || kind === "array") && (!old || handleKey(uid, old) !== handleKey(uid, now))) {
      const grad = (naming.tags.get(uid) ?? []).some((tag) => tag.kind === "grad");
      row.readers.push(newReader(uid, now, naming, { alias: false, grad: grad || gradUids.has(uid), step }));
    } else if (now?.kind === "frame") {
      for (const [name, value] of now.vars) {
        const ref = refOf(value);
        const bound = ref && before.has(ref) && after.get(ref);
        if (!ref || !bound || !bound.storage || sameValue(old?.vars.get(name), value)) continue;
        row.readers.push({
          ...newReader(ref, bound, naming, { alias: true, grad: false, step }),
          key: `${ref}|${uid}|${name}`,
          title: name,
        });
      }
    }
  }
  for (const { entity, title, named } of row.readers) {
    if (named && entity.storage && !out.storageNames.has(entity.storage))
      out.storageNames.set(entity.storage, title.split(" ")[0]);
    const life = out.storages.get(entity.storage ?? "");
    if (life && entity.counter && !life.counters.includes(entity.counter)) life.counters.push(entity.counter);
  }
  for (const uid of touched.keys()) {
    const tensor = after.get(uid);
    const grad = tensor?.grad ? after.get(tensor.grad)?.storage : null;
    const held = out.storages.get(grad ?? "");
    if (held && tensor?.storage && tensor.storage !== grad) held.owner ??= tensor.storage;
  }
}

/** @param {string} uid @param {any} entity @param {import("./names.js").Names} naming @param {{alias: boolean, grad: boolean, step: number}} how @returns {Reader} */
function newReader(uid, entity, naming, { alias, grad, step }) {
  const tags = (naming.tags.get(uid) ?? []).map((tag) => tag.text);
  return {
    uid,
    key: handleKey(uid, entity),
    entity,
    title: tags.slice(0, 3).join(" "),
    alias,
    grad,
    named: tags.length > 0,
    cut: null,
    step,
  };
}

/** @param {RunStory} out @param {Row} row @param {number} r @param {string} uid @param {any} old @param {any} now */
function updateStorage(out, row, r, uid, old, now) {
  const known = out.storages.get(uid);
  if (!now) {
    if (known) Object.assign(known, { death: r, freed: true });
    else row.freed += 1;
    return;
  }
  const life = known ?? {
    uid,
    birth: r,
    death: r,
    freed: false,
    cells: new Map(),
    summary: false,
    nbytes: now.nbytes ?? 0,
    owner: null,
    counters: [],
  };
  out.storages.set(uid, life);
  for (const [dtype, cells] of Object.entries(now.cells ?? {}))
    life.cells.set(dtype, Math.max(life.cells.get(dtype) ?? 0, cells.length));
  life.summary ||= !now.cells && Boolean(now.summary || now.windows);
  if (!old) return;
  /** @type {Map<string, Change>} */
  const cells = new Map();
  for (const [dtype, values] of Object.entries(now.cells ?? {})) {
    const past = old.cells?.[dtype];
    if (!past || past === values) continue;
    values.forEach((/** @type {any} */ value, /** @type {number} */ i) => {
      if (i < past.length && !sameValue(past[i], value)) cells.set(`${dtype}:${i}`, { was: past[i], now: value });
    });
  }
  if (cells.size) row.writes.set(uid, { storage: uid, by: null, silent: false, cells, step: row.last, span: null });
}

/** Who wrote, what it broke, and what was cut. @param {Row} row @param {any[]} steps
 * @param {import("../state.js").Entities} before @param {import("../state.js").Entities} after */
function recordEvents(row, steps, before, after) {
  const naming = names(after);
  for (let k = row.first; k <= row.last; k++)
    for (const entry of steps[k].log ?? []) {
      if (entry.event === "written" && before.has(entry.storage) && after.has(entry.storage)) {
        const write = row.writes.get(entry.storage) ?? {
          storage: entry.storage,
          by: null,
          silent: false,
          cells: new Map(),
          step: k,
          span: null,
        };
        const changed = write.cells.size > 0 || (entry.changed !== 0 && !after.get(entry.storage)?.cells);
        if (changed) row.writes.set(entry.storage, write);
        const span = entry.region && extent({ kind: "tensor", storage: entry.storage, ...entry.region });
        if (span)
          write.span = [
            plainDtype(entry.region.dtype),
            Math.min(span[0], write.span?.[1] ?? span[0]),
            Math.max(span[1], write.span?.[2] ?? span[1]),
          ];
        if (entry.by) write.by = naming.paths.get(entry.by) ?? null;
      } else if (entry.event === "saved_changed_silently") {
        const saved = after.get(entry.node)?.saved?.[entry.slot];
        const write = row.writes.get(saved?.storage ?? "");
        if (write) write.silent = true;
      } else if (entry.event === "path_cut" && entry.result) {
        const cut = row.readers.find((one) => one.uid === entry.result);
        if (cut) cut.cut = entry.name;
      }
    }
}
