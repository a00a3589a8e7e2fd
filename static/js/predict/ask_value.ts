/** What value has this element afterwards? Of a name that the statement does not write, of a copy, of a transposed view. */

import { find, sameValue } from "../trace/entities.ts";
import { cellAsNumber } from "../findings/numbers.ts";
import { plainDtype } from "../layout/reads.ts";
import { choiceAmong, typedAnswer, type Choice, type Question } from "./question.ts";
import { cellText, elementName, elementsOf, isShort, memoryOf, sameCells } from "./readings.ts";
import type { NamedHandle as Named, Unit } from "./units.ts";

type PartialQuestion = Partial<Question>;

const SHARED_WEIGHT = 80;
const COPY_WEIGHT = 76;
const STEPPED_WEIGHT = 68;
const TRANSPOSED_WEIGHT = 54;

export function askValue(unit: Unit): PartialQuestion[] {
  if (unit.isBackward || unit.raised) return [];
  return [...askShared(unit), ...askCopy(unit), ...askStepped(unit), ...askTransposed(unit)];
}

/** The elements of a name that hold other values than before. */
function changedElements({ before, after }: Unit, { uid, handle }: Named) {
  const storageUid = handle.storage ?? "";
  const handleBefore = find(before, uid, handle.kind);
  if (!handleBefore || (handleBefore.storage === storageUid && before.get(storageUid) === after.get(storageUid)))
    return [];
  const elementsBefore = elementsOf(before, handleBefore);
  const elementsAfter = elementsBefore && elementsOf(after, handle);
  if (!elementsAfter || elementsBefore.length !== elementsAfter.length) return [];
  return elementsAfter
    .map((now, k) => ({ ...now, was: elementsBefore[k].value }))
    .filter(
      ({ value, was: valueBefore }) => !sameValue(value, valueBefore) && cellText(value) !== cellText(valueBefore),
    );
}

/** Names of handles through which the statement writes. */
function namesWritten({ opened, step, mentioned, named }: Unit) {
  const writerUids = new Set(
    opened.trace.steps[step].log.flatMap((entry) =>
      entry.kind === "event" && entry.event === "written" && entry.by ? [entry.by] : [],
    ),
  );
  return named.filter(({ name, uid }) => writerUids.has(uid) || mentioned.targets.has(name.split(/[.[]/)[0]));
}

/** A name that reads what another one writes. */
function askShared(unit: Unit): PartialQuestion[] {
  const writtenUids = new Set(namesWritten(unit).map(({ uid }) => uid));
  if (!writtenUids.size) return [];
  for (const candidate of unit.named) {
    if (writtenUids.has(candidate.uid)) continue;
    const [changed] = changedElements(unit, candidate);
    const choices = changed && choiceAmong(cellText(changed.value), [cellText(changed.was)]);
    if (choices) return [elementQuestion(candidate, changed.index, choices, SHARED_WEIGHT)];
  }
  return [];
}

/** A name that held the same numbers in memory of its own. */
function askCopy(unit: Unit): PartialQuestion[] {
  const { before, after, named } = unit;
  for (const writer of namesWritten(unit)) {
    const [changed] = changedElements(unit, writer);
    const handleBefore = find(before, writer.uid, writer.handle.kind);
    const valuesBefore = handleBefore && elementsOf(before, handleBefore)?.map(({ value }) => value);
    if (!changed || !valuesBefore) continue;
    for (const candidate of named) {
      if (memoryOf(after, candidate.handle) === memoryOf(after, writer.handle)) continue;
      if (candidate.handle.shape?.join() !== writer.handle.shape?.join() || !before.has(candidate.uid)) continue;
      const elements = elementsOf(after, candidate.handle);
      if (
        !elements ||
        !sameCells(
          elements.map(({ value }) => value),
          valuesBefore,
        )
      )
        continue;
      const element = elements.find(({ index }) => index.join() === changed.index.join());
      const choices = element && choiceAmong(cellText(element.value), [cellText(changed.value)]);
      if (choices) return [elementQuestion(candidate, element.index, choices, COPY_WEIGHT)];
    }
  }
  return [];
}

/** What an optimizer, or a step by hand, makes of a parameter: typed. */
function askStepped(unit: Unit): PartialQuestion[] {
  if (!/\.step\(|\.grad\b/.test(unit.code)) return [];
  for (const candidate of unit.named) {
    if (!candidate.handle.requires_grad) continue;
    const changed = changedElements(unit, candidate).find(({ value, was }) => isShort(value) && isShort(was));
    if (changed)
      return [
        elementQuestion(
          candidate,
          changed.index,
          typedAnswer(cellAsNumber(changed.value), cellText(changed.value)),
          STEPPED_WEIGHT,
        ),
      ];
  }
  return [];
}

/** An element of a new view that memory's order would give otherwise. */
function askTransposed({ opened, step, after, named }: Unit): PartialQuestion[] {
  const { fresh } = opened.at(step);
  for (const candidate of named) {
    const { handle, uid } = candidate;
    if (!fresh.has(uid) || fresh.has(handle.storage ?? "") || (handle.shape ?? []).length < 2) continue;
    const elements = elementsOf(after, handle);
    const row = find(after, handle.storage, "storage")?.cells?.[plainDtype(handle.dtype)];
    if (!elements || !row) continue;
    for (const [k, { index, value }] of elements.entries()) {
      const rowMajor = row[elements[0].cell + k];
      const choices = rowMajor === undefined ? null : choiceAmong(cellText(value), [cellText(rowMajor)]);
      if (choices) return [elementQuestion(candidate, index, choices, TRANSPOSED_WEIGHT)];
    }
  }
  return [];
}

function elementQuestion(
  { name, uid }: Named,
  index: number[],
  answer: { choices: Choice[]; right: number; number: number | null },
  weight: number,
): PartialQuestion {
  return { kind: "value", what: elementName(name, index), uid, index, weight, reason: null, ...answer };
}
