/** What is in `.grad` afterwards? Of leaves, of tensors that keep none, and after it was reset. */

import { find, findHandle, type Cell } from "../trace/entities.ts";
import { cellsReadBy, cellAsNumber, numbersText } from "../findings/numbers.ts";
import { choiceAmong, typedAnswer, type Question } from "./question.ts";
import { combinedCells, elementName, isShort, shortReading } from "./readings.ts";
import type { Entities } from "../trace/state.ts";
import type { NamedHandle as Named, Unit } from "./units.ts";

type PartialQuestion = Partial<Question>;

const ADDED_WEIGHT = 88;
const CUT_WEIGHT = 87;
const RESET_WEIGHT = 84;
const NOT_KEPT_WEIGHT = 80;
const FIRST_WEIGHT = 70;
/** What backward kept was changed without its notice. */
const SILENTLY_WRONG_WEIGHT = 90;
/** A gradient of longer numbers than a reader works out. */
const LONG_NUMBERS_WEIGHT = 46;

export function askGradient(unit: Unit): PartialQuestion[] {
  if (unit.raised) return [];
  return unit.named.flatMap((tensor) =>
    tensor.handle.kind === "tensor" ? (unit.isBackward ? askAfterBackward(unit, tensor) : askReset(unit, tensor)) : [],
  );
}

/** The numbers of a tensor's `.grad`; null for None, undefined where the trace does not list them. */
function gradCells(entities: Entities, uid: string): Cell[] | null | undefined {
  const grad = find(entities, uid, "tensor")?.grad;
  if (!grad) return null;
  const handle = findHandle(entities, grad);
  return (handle && cellsReadBy(entities, handle)) ?? undefined;
}

function askAfterBackward(unit: Unit, tensor: Named): PartialQuestion[] {
  const before = gradCells(unit.before, tensor.uid);
  const after = gradCells(unit.after, tensor.uid);
  if (before === undefined || after === undefined) return [];
  if (after === null) return tensor.handle.leaf ? askCut(unit, tensor) : askNotKept(unit, tensor);
  if (before && JSON.stringify(before) === JSON.stringify(after)) return [];
  return before ? askAdded(tensor, before, after) : askFirst(unit, tensor, after);
}

function askAdded(tensor: Named, before: Cell[], after: Cell[]): PartialQuestion[] {
  const addedCells = combinedCells(after, before, (a, b) => a - b);
  return gradientQuestion(tensor, after, [addedCells, before], [], ADDED_WEIGHT);
}

function askFirst({ before }: Unit, tensor: Named, after: Cell[]): PartialQuestion[] {
  const ownCells = cellsReadBy(before, tensor.handle) ?? after;
  const isWrong = [...before.values()].some(
    (entity) => entity.kind === "node" && Object.values(entity.saved ?? {}).some(({ state }) => state === "changed"),
  );
  const weight = isWrong ? SILENTLY_WRONG_WEIGHT : after.every(isShort) ? FIRST_WEIGHT : LONG_NUMBERS_WEIGHT;
  if (after.length === 1 && isShort(after[0])) {
    const index = (tensor.handle.shape ?? []).map(() => 0);
    const answer = typedAnswer(cellAsNumber(after[0]), numbersText(after, true));
    const what = elementName(`${tensor.name}.grad`, index);
    return [{ kind: "grad", what, uid: tensor.uid, index, weight, reason: null, ...answer }];
  }
  const wrongCells = [after.map(() => 1), ownCells, combinedCells(after, after, (a) => 2 * a)];
  return gradientQuestion(tensor, after, wrongCells, ["None"], weight);
}

/** A gradient came by and was not kept. */
function askNotKept({ opened, at, step, before }: Unit, tensor: Named): PartialQuestion[] {
  const { grad_fn: node, output_nr: nr = 0 } = tensor.handle;
  if (!node || !tensor.handle.requires_grad || !before.has(tensor.uid)) return [];
  const visit = opened.trace.steps.slice(at + 1, step).find((other) => other.visit?.node === node)?.visit;
  const cells = visit?.grad_outputs[nr]?.cells;
  if (!cells?.length) return [];
  return noneQuestion(tensor, [cells, cells.map(() => 0)], NOT_KEPT_WEIGHT);
}

/** A leaf from which the graph was cut off. */
function askCut({ opened, at }: Unit, tensor: Named): PartialQuestion[] {
  const pathCuts = opened.index.events.get("path_cut") ?? [];
  const isCut = pathCuts.some(({ step, at: k }) => {
    const entry = opened.trace.steps[step].log[k];
    return step <= at && entry.kind === "event" && entry.event === "path_cut" && entry.tensor === tensor.uid;
  });
  const size = (tensor.handle.shape ?? []).reduce((a, b) => a * b, 1);
  if (!isCut || !tensor.handle.requires_grad || size > 64) return [];
  const zeros = new Array(size).fill(0);
  return noneQuestion(tensor, [zeros.map(() => 1), zeros], CUT_WEIGHT);
}

/** A `.grad` that was there is gone, or all zeros. */
function askReset({ before, after }: Unit, tensor: Named): PartialQuestion[] {
  const gradBefore = gradCells(before, tensor.uid);
  const gradAfter = gradCells(after, tensor.uid);
  if (!gradBefore || gradAfter === undefined || !gradBefore.some((cell) => cellAsNumber(cell) !== 0)) return [];
  const zeros = gradBefore.map(() => 0);
  if (gradAfter === null) return noneQuestion(tensor, [zeros, gradBefore], RESET_WEIGHT);
  return gradAfter.every((cell) => cellAsNumber(cell) === 0)
    ? gradientQuestion(tensor, gradAfter, [gradBefore], ["None"], RESET_WEIGHT)
    : [];
}

/** A question whose answer is None. */
function noneQuestion({ name, uid, handle }: Named, wrongCells: Cell[][], weight: number): PartialQuestion[] {
  const shape = handle.shape ?? [];
  const answer = choiceAmong(
    "None",
    wrongCells.map((cells) => numbersText(cells, shape.length === 0)),
  );
  const what = `${name}.grad`;
  return answer ? [{ kind: "grad", what, uid, index: null, weight, reason: "predict_why_grad", ...answer }] : [];
}

/** @param cells that are right @param wrongTexts more beliefs */
function gradientQuestion(
  { name, uid, handle }: Named,
  cells: Cell[],
  wrongCells: Cell[][],
  wrongTexts: string[],
  weight: number,
): PartialQuestion[] {
  const shape = handle.shape ?? [];
  const { index, text } = shortReading(cells, shape);
  const answer = choiceAmong(text, [...wrongCells.map((other) => shortReading(other, shape).text), ...wrongTexts]);
  const what = elementName(`${name}.grad`, index ?? []);
  return answer ? [{ kind: "grad", what, uid, index, weight, reason: null, ...answer }] : [];
}
