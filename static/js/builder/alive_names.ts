/** The names that have a value at a place of the program, as a run says: what an operation there can be given. */

import { findEntity } from "../trace/entities.ts";
import { referencedUid } from "../trace/names.ts";
import { nameOccurrences } from "./names.ts";
import type { Entities, OpenTrace } from "../trace/state.ts";
import type { Value } from "../trace/wire.ts";
import type { StatementPosition } from "./positions.ts";
import type { ProgramItem, ParsedProgram } from "./statements.ts";

export interface AliveName {
  name: string;
  kind: string;
  type?: string;
  shape?: number[];
  dtype?: string;
  requires_grad?: boolean;
  leaf?: boolean;
  grad?: boolean;
}

const MAX_ALIVE_NAMES = 24;
const OPTIMIZER_CLASS_NAME =
  /^(SGD|Adam\w*|NAdam|RAdam|SparseAdam|RMSprop|Rprop|Adagrad|Adadelta|ASGD|LBFGS|Adafactor|Muon)$/;
const COLLECTION_CLASS_NAME = /^(list|tuple|dict|set|OrderedDict|frozenset)$/;

/**
 * The names that are alive at a position, the nearest first. `opened` is the run of this text, null where there is
 * none.
 */
export function aliveNames(
  program: ParsedProgram,
  position: StatementPosition,
  opened: OpenTrace | null,
  stepsOf: (item: ProgramItem) => number[],
): AliveName[] {
  const boundAt = lastBindingLines(program, position);
  const step = opened ? stepBeforePosition(program, position, opened, stepsOf) : null;
  const frame = opened && step !== null ? frameOfPosition(opened, step, position) : null;
  if (!opened || step === null || !frame)
    return [...boundAt.keys()].map((name) => ({ name, kind: "unknown" })).slice(0, MAX_ALIVE_NAMES);
  const entities = opened.state(step);
  const names = [...frame.vars]
    .filter(([name]) => !name.startsWith("__"))
    .map(([name, value]) => aliveName(name, value, entities))
    .filter((alive) => alive !== null);
  return names.sort((a, b) => (boundAt.get(b.name) ?? -1) - (boundAt.get(a.name) ?? -1)).slice(0, MAX_ALIVE_NAMES);
}

/** The line that bound each name last before a place. */
function lastBindingLines(program: ParsedProgram, { line }: StatementPosition) {
  const positionOffset = program.lines.slice(0, line).join("\n").length;
  const boundAt = new Map<string, number>();
  for (const { from, name, role } of nameOccurrences(program)) {
    if (from >= positionOffset) break;
    if (role === "made") boundAt.delete(name);
    if (role === "made") boundAt.set(name, from);
  }
  return new Map([...boundAt].reverse());
}

/** The step after which a place comes: the last one of what stands above it, in its body or around it. */
function stepBeforePosition(
  program: ParsedProgram,
  { line, body }: StatementPosition,
  opened: OpenTrace,
  stepsOf: (item: ProgramItem) => number[],
) {
  for (let outer = body as StatementPosition["body"] | null; outer; outer = outer.of?.body ?? null) {
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

/** The last step of a whole block that is in the frame of its head. */
function lastStepOfBlock({ items }: ParsedProgram, head: ProgramItem, stepsOf: (item: ProgramItem) => number[]) {
  if (head.word === "def" || head.word === "class" || head.word === "async") return stepsOf(head).at(-1) ?? -1;
  const innerSteps = items.filter(({ first, end }) => first >= head.first && end <= head.end).flatMap(stepsOf);
  return Math.max(-1, ...innerSteps);
}

/** The frame of a step, or around it the one that a place is in. */
function frameOfPosition(opened: OpenTrace, step: number, { body }: StatementPosition) {
  const entities = opened.state(step);
  let frame = findEntity(entities, opened.trace.steps[step].frame, "frame");
  let isInFunction = false;
  for (let head = body.of; head; head = head.body?.of ?? null)
    isInFunction ||= head.word === "def" || head.word === "async";
  while (frame && !isInFunction && frame.caller) frame = findEntity(entities, frame.caller, "frame");
  return frame;
}

function aliveName(name: string, value: Value, entities: Entities): AliveName | null {
  const entity = entities.get(referencedUid(value) ?? "");
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
      kind: OPTIMIZER_CLASS_NAME.test(type) ? "optimizer" : COLLECTION_CLASS_NAME.test(type) ? "collection" : "module",
      type: type.slice(0, 60),
    };
  }
  if (value && typeof value === "object" && "py" in value) {
    if (value.py === "module") return null;
    return { name, kind: value.py === "function" ? "function" : "other", type: String(value.py).slice(0, 60) };
  }
  return { name, kind: "other" };
}
