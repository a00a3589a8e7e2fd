/** Gradients as facts of sentences, and whether several of them add up to another. */

import { codeFact, phrase, type Fact } from "../diagnosis.ts";
import { shortNumberText, tupleText } from "../../trace/format.ts";
import { cellsReadBy, cellAsNumber } from "../facts/cell_values.ts";
import type { Cell, EntityLookup } from "../../trace/entities.ts";
import type { Grad, Tensor } from "../../trace/wire.ts";

/** its elements, or a summary of many, or neither */
export type Gradient = Pick<Grad, "shape" | "dtype" | "cells" | "summary">;

const MAX_LISTED_NUMBERS = 8;
const SIGNIFICANT_DIGITS = 8;

/** The relative error that one operation of a type makes. */
const ROUNDING_ERRORS: Record<string, number> = { float64: 2e-16, float32: 1.2e-7, float16: 1e-3, bfloat16: 8e-3 };

/** What a sentence says of a gradient's values. */
export function gradientValuesFact(grad: Gradient | null | undefined): Fact {
  if (!grad) return phrase("answer.no_value");
  const { shape, cells, summary } = grad;
  if (cells) return codeFact(nestedArrayText(cells, shape));
  const shapeFact = codeFact(tupleText(shape));
  if (!summary) return phrase("answer.not_listed", { size: shapeFact });
  const [min, max] = [summary.min, summary.max].map((value) => codeFact(shortNumberText(value, SIGNIFICANT_DIGITS)));
  return phrase("answer.summary", { size: shapeFact, min, max });
}

/** What a `.grad` holds; null where it is None. */
export function gradAttributeFact(grad: Gradient | null): Fact {
  return grad ? gradientValuesFact(grad) : codeFact("None");
}

/** Elements as nested lists; of many the first, with the shape before them. */
function nestedArrayText(cells: Cell[], shape: number[]) {
  const texts = cells.slice(0, MAX_LISTED_NUMBERS).map((cell) => shortNumberText(cell, SIGNIFICANT_DIGITS));
  if (!shape.length) return texts.join();
  if (cells.length <= MAX_LISTED_NUMBERS) return nestedListText(texts, shape);
  return `${shape.length > 1 ? `${tupleText(shape)} ` : ""}[${texts.slice(0, MAX_LISTED_NUMBERS - 2).join(", ")}, …]`;
}

function nestedListText(texts: string[], shape: number[]): string {
  const [length = 0, ...rest] = shape;
  if (!rest.length) return `[${texts.join(", ")}]`;
  const elementsPerPart = texts.length / Math.max(1, length);
  const parts = Array.from({ length }, (_, k) =>
    nestedListText(texts.slice(k * elementsPerPart, (k + 1) * elementsPerPart), rest),
  );
  return `[${parts.join(", ")}]`;
}

/** A tensor's elements at a state, as a gradient. */
export function tensorAsGradient(entities: EntityLookup, tensor: Tensor | undefined): Gradient | null {
  if (!tensor) return null;
  const storage = entities.get(tensor.storage ?? "");
  const [summary] = storage?.kind === "storage" ? Object.values(storage.summary ?? {}) : [];
  const shape = tensor.shape ?? [];
  return { shape, dtype: tensor.dtype ?? "", cells: cellsReadBy(entities, tensor), summary: summary ?? null };
}

/** Whether gradients add up to a sum, but for rounding; null where the trace does not list all of their elements. */
export function doGradientsAddUpTo(parts: Gradient[], sum: Gradient | null | undefined): boolean | null {
  const lists = parts.map(({ cells }) => cells?.map(cellAsNumber));
  const expected = sum?.cells?.map(cellAsNumber);
  if (!expected || lists.some((list) => list?.length !== expected.length)) return null;
  const tolerance = (ROUNDING_ERRORS[sum?.dtype ?? ""] ?? ROUNDING_ERRORS.float32) * (parts.length + 2);
  return expected.every((value, k) => {
    const terms = lists.map((list) => list?.[k] ?? Number.NaN);
    const total = terms.reduce((a, b) => a + b, 0);
    if (Object.is(total, value) || total === value || (Number.isNaN(total) && Number.isNaN(value))) return true;
    return Math.abs(total - value) <= tolerance * terms.reduce((a, b) => a + Math.abs(b), 1e-30);
  });
}

/** Whether two gradients have the same elements; null where one of them is not listed. */
export function haveSameElements(a: Gradient | null, b: Gradient | null): boolean | null {
  if (!a?.cells || !b?.cells) return null;
  return JSON.stringify(a.cells) === JSON.stringify(b.cells);
}
