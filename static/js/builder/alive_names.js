/** The names that have a value at a place of the program, as a run says: what an operation there can be given. */

import { find } from "../trace/entities.js";
import { refOf } from "../trace/names.js";
import { nameMarks } from "./names.js";

/** @typedef {import("../trace/state.js").OpenTrace} OpenTrace */
/** @typedef {import("./positions.js").Position} Position */
/** @typedef {import("./statements.js").Item} Item */
/** @typedef {{name: string, kind: string, type?: string, shape?: number[], dtype?: string, requires_grad?: boolean, leaf?: boolean, grad?: boolean}} AliveName */

const MAX_NAMES = 24;
const OPTIMIZER_TYPE =
  /^(SGD|Adam\w*|NAdam|RAdam|SparseAdam|RMSprop|Rprop|Adagrad|Adadelta|ASGD|LBFGS|Adafactor|Muon)$/;
const COLLECTION_TYPE = /^(list|tuple|dict|set|OrderedDict|frozenset)$/;

/**
 * @param {import("./statements.js").Program} program @param {Position} position
 * @param {OpenTrace | null} opened the run of this text; null where there is none @param {(item: Item) => number[]} stepsOf the steps of a card
 * @returns {AliveName[]} the nearest first
 */
export function aliveNames(program, position, opened, stepsOf) {
  const boundAt = lastBindings(program, position);
  const step = opened ? stepBefore(program, position, opened, stepsOf) : null;
  const frame = opened && step !== null ? frameOfPosition(opened, step, position) : null;
  if (!opened || step === null || !frame)
    return [...boundAt.keys()].map((name) => ({ name, kind: "unknown" })).slice(0, MAX_NAMES);
  const entities = opened.state(step);
  const names = [...frame.vars]
    .filter(([name]) => !name.startsWith("__"))
    .map(([name, value]) => aliveName(name, value, entities))
    .filter((alive) => alive !== null);
  return names.sort((a, b) => (boundAt.get(b.name) ?? -1) - (boundAt.get(a.name) ?? -1)).slice(0, MAX_NAMES);
}

/** The line that bound each name last before a place. @param {import("./statements.js").Program} program @param {Position} position */
function lastBindings(program, { line }) {
  const positionOffset = program.lines.slice(0, line).join("\n").length;
  /** @type {Map<string, number>} */
  const boundAt = new Map();
  for (const { from, name, role } of nameMarks(program)) {
    if (from >= positionOffset) break;
    if (role === "made") boundAt.delete(name);
    if (role === "made") boundAt.set(name, from);
  }
  return new Map([...boundAt].reverse());
}

/** The step after which a place comes: the last one of what stands above it, in its body or around it.
 * @param {import("./statements.js").Program} program @param {Position} position @param {OpenTrace} opened @param {(item: Item) => number[]} stepsOf */
function stepBefore(program, { line, body }, opened, stepsOf) {
  for (let outer = /** @type {Position["body"] | null} */ (body); outer; outer = outer.of?.body ?? null) {
    const above = outer.statements.filter(({ end }) => end < line).reverse();
    for (const item of [...above, ...(outer.head ? [outer.head] : [])]) {
      const steps = stepsOf(item);
      const last = item.kind === "head" && item.end < line ? lastStepOfBlock(program, item, stepsOf) : steps.at(-1);
      if (last === undefined || last < 0) continue;
      if (opened.trace.steps[last].kind !== "raise") return last;
    }
  }
  return null;
}

/** The last step of a whole block that is in the frame of its head. @param {import("./statements.js").Program} program @param {Item} head
 * @param {(item: Item) => number[]} stepsOf */
function lastStepOfBlock({ items }, head, stepsOf) {
  if (head.word === "def" || head.word === "class" || head.word === "async") return stepsOf(head).at(-1) ?? -1;
  const innerSteps = items.filter(({ first, end }) => first >= head.first && end <= head.end).flatMap(stepsOf);
  return Math.max(-1, ...innerSteps);
}

/** The frame of a step, or around it the one that a place is in. @param {OpenTrace} opened @param {number} step @param {Position} position */
function frameOfPosition(opened, step, { body }) {
  const entities = opened.state(step);
  let frame = find(entities, opened.trace.steps[step].frame, "frame");
  let isInFunction = false;
  for (let head = body.of; head; head = head.body?.of ?? null)
    isInFunction ||= head.word === "def" || head.word === "async";
  while (frame && !isInFunction && frame.caller) frame = find(entities, frame.caller, "frame");
  return frame;
}

/** @param {string} name @param {import("../trace/entities.js").Value} value @param {import("../trace/state.js").Entities} entities @returns {AliveName | null} */
function aliveName(name, value, entities) {
  const entity = entities.get(refOf(value) ?? "");
  if (entity?.kind === "tensor")
    return {
      name,
      kind: "tensor",
      type: entity.type ?? "",
      ...(entity.shape && { shape: entity.shape }),
      dtype: `torch.${String(entity.dtype ?? "").replace(/^torch\./, "")}`,
      requires_grad: Boolean(entity.requires_grad),
      leaf: entity.leaf !== false,
      grad: Boolean(entity.grad),
    };
  if (entity?.kind === "array") return { name, kind: "array", ...(entity.shape && { shape: entity.shape }) };
  if (entity?.kind === "object") {
    const type = entity.type ?? "";
    return {
      name,
      kind: OPTIMIZER_TYPE.test(type) ? "optimizer" : COLLECTION_TYPE.test(type) ? "collection" : "module",
      type: type.slice(0, 60),
    };
  }
  if (value && typeof value === "object" && "py" in value) {
    if (value.py === "module") return null;
    return { name, kind: value.py === "function" ? "function" : "other", type: String(value.py).slice(0, 60) };
  }
  return { name, kind: "other" };
}
