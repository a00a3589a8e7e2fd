/** Fixes of sizes that do not fit: which edits may help, by what does not fit. */

import { fixHint, nameTextOfFact, type FixHint, type LineAndStep, type RunFacts } from "../diagnosis.ts";
import { numel } from "../../trace/reads.ts";
import type { Operand } from "./operands.ts";

/** Sizes that a layer's message tells: what it was made for, and what it got. */
const SIZES_IN_MESSAGE: [RegExp, number, number][] = [
  [/Expected (\d+), got (\d+)/, 1, 2],
  [/should contain (\d+) elements not (\d+)/, 2, 1],
];

export function shapeMismatchFixes(
  facts: RunFacts,
  { variant, a, b, dimA, dimB }: ShapeMismatch,
  place: LineAndStep,
): FixHint[] {
  const sizes = { old: b.shape[dimB] ?? 1, new: a.shape[dimA] ?? 1 };
  const birthPlace = facts.place(b.made);
  if (variant === "linear") {
    const isFlat = a.shape.length > 2 && numel(a.shape.slice(1)) === sizes.old;
    return [...(isFlat ? [fixForOperand("flatten_input", place, a)] : []), fixHint("layer_size", birthPlace, sizes)];
  }
  if (variant === "channels") return [fixHint("layer_size", birthPlace, sizes)];
  if (variant === "product") return matmulFixes(a, b, place);
  if (variant === "broadcast" || variant === "into") return broadcastFixes(a, b, place);
  return variant === "join" ? [fixHint("pad_sequences", place)] : [];
}

function matmulFixes(a: Operand, b: Operand, place: LineAndStep): FixHint[] {
  const hasFittingSizes = (first: number[], second: number[]) =>
    first.at(-1) === second[Math.max(0, second.length - 2)];
  const transposedShape = (shape: number[]) => [...shape.slice(0, -2), shape.at(-1) ?? 1, shape.at(-2) ?? 1];
  const hints = [];
  if (b.shape.length > 1 && hasFittingSizes(a.shape, transposedShape(b.shape)))
    hints.push(fixForOperand("transpose_operand", place, b));
  if (a.shape.length > 1 && hasFittingSizes(transposedShape(a.shape), b.shape))
    hints.push(fixForOperand("transpose_operand", place, a));
  return hints;
}

function broadcastFixes(a: Operand, b: Operand, place: LineAndStep): FixHint[] {
  const [shorter, longer] = a.shape.length < b.shape.length ? [a, b] : [b, a];
  if (numel(a.shape) === numel(b.shape)) return [fixHint("match_target", place)];
  const shapeWithOne = [...shorter.shape, 1];
  const isFitting = shapeWithOne.every(
    (size, k) => size === 1 || size === longer.shape[longer.shape.length - shapeWithOne.length + k],
  );
  return shorter.shape.length < longer.shape.length && isFitting
    ? [fixForOperand("unsqueeze_operand", place, shorter)]
    : [];
}

/** Fixes where no two operands were compared: by the sizes of the message. `shape` is that of what was refused. */
export function fixesForErrorMessage(facts: RunFacts, place: LineAndStep, shape: number[]): FixHint[] {
  const message = facts.error?.message ?? "";
  for (const [pattern, madeGroup, givenGroup] of SIZES_IN_MESSAGE) {
    const match = pattern.exec(message);
    if (match) return [fixHint("layer_size", place, { old: Number(match[madeGroup]), new: Number(match[givenGroup]) })];
  }
  if (/target size/i.test(message)) return [fixHint("match_target", place)];
  return /shape '.*' is invalid/.test(message) ? [fixHint("infer_size", place, { size: numel(shape.slice(1)) })] : [];
}

function fixForOperand(kind: string, place: LineAndStep, operand: Operand) {
  return fixHint(kind, place, { name: nameTextOfFact(operand.name) });
}

/** dims are counted from the front */
export interface ShapeMismatch {
  variant: string;
  a: Operand;
  b: Operand;
  dimA: number;
  dimB: number;
}
