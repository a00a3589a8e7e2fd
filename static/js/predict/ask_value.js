/** What value has this element afterwards? Of a name that the statement does not write, of a copy, of a transposed view. */

import { find, sameValue } from "../entities.js";
import { numberOf } from "../findings/numbers.js";
import { plainDtype } from "../layout/reads.js";
import { choose, typed } from "./question.js";
import { cellText, elementName, elementsOf, isShort, memoryOf, sameCells } from "./readings.js";

/** @typedef {import("./units.js").Unit} Unit */
/** @typedef {import("./units.js").Named} Named */
/** @typedef {Partial<import("./question.js").Question>} Asked */

const SHARED_WEIGHT = 80;
const COPY_WEIGHT = 76;
const STEPPED_WEIGHT = 68;
const TRANSPOSED_WEIGHT = 54;

/** @param {Unit} unit @returns {Asked[]} */
export function askValue(unit) {
  if (unit.isBackward || unit.raised) return [];
  return [...askShared(unit), ...askCopy(unit), ...askStepped(unit), ...askTransposed(unit)];
}

/** The elements of a name that hold other values than before. @param {Unit} unit @param {Named} one */
function changedElements({ before, after }, { uid, handle }) {
  const storageUid = handle.storage ?? "";
  const old = find(before, uid, handle.kind);
  if (!old || (old.storage === storageUid && before.get(storageUid) === after.get(storageUid))) return [];
  const was = elementsOf(before, old);
  const is = was && elementsOf(after, handle);
  if (!is || was.length !== is.length) return [];
  return is
    .map((now, k) => ({ ...now, was: was[k].value }))
    .filter(({ value, was: past }) => !sameValue(value, past) && cellText(value) !== cellText(past));
}

/** Names of handles through which the statement writes. @param {Unit} unit */
function namesWritten({ opened, step, mentioned, named }) {
  const by = new Set(
    opened.trace.steps[step].log.flatMap((entry) =>
      entry.kind === "event" && entry.event === "written" && entry.by ? [entry.by] : [],
    ),
  );
  return named.filter(({ name, uid }) => by.has(uid) || mentioned.targets.has(name.split(/[.[]/)[0]));
}

/** A name that reads what another one writes. @param {Unit} unit @returns {Asked[]} */
function askShared(unit) {
  const own = new Set(namesWritten(unit).map(({ uid }) => uid));
  if (!own.size) return [];
  for (const one of unit.named) {
    if (own.has(one.uid)) continue;
    const [changed] = changedElements(unit, one);
    const choices = changed && choose(cellText(changed.value), [cellText(changed.was)]);
    if (choices) return [elementQuestion(one, changed.index, choices, SHARED_WEIGHT)];
  }
  return [];
}

/** A name that held the same numbers in memory of its own. @param {Unit} unit @returns {Asked[]} */
function askCopy(unit) {
  const { before, after, named } = unit;
  for (const writer of namesWritten(unit)) {
    const [changed] = changedElements(unit, writer);
    const old = find(before, writer.uid, writer.handle.kind);
    const numbers = old && elementsOf(before, old)?.map(({ value }) => value);
    if (!changed || !numbers) continue;
    for (const one of named) {
      if (memoryOf(after, one.handle) === memoryOf(after, writer.handle)) continue;
      if (one.handle.shape?.join() !== writer.handle.shape?.join() || !before.has(one.uid)) continue;
      const elements = elementsOf(after, one.handle);
      if (
        !elements ||
        !sameCells(
          elements.map(({ value }) => value),
          numbers,
        )
      )
        continue;
      const mine = elements.find(({ index }) => index.join() === changed.index.join());
      const choices = mine && choose(cellText(mine.value), [cellText(changed.value)]);
      if (choices) return [elementQuestion(one, mine.index, choices, COPY_WEIGHT)];
    }
  }
  return [];
}

/** What an optimizer, or a step by hand, makes of a parameter: typed. @param {Unit} unit @returns {Asked[]} */
function askStepped(unit) {
  if (!/\.step\(|\.grad\b/.test(unit.code)) return [];
  for (const one of unit.named) {
    if (!one.handle.requires_grad) continue;
    const changed = changedElements(unit, one).find(({ value, was }) => isShort(value) && isShort(was));
    if (changed)
      return [
        elementQuestion(one, changed.index, typed(numberOf(changed.value), cellText(changed.value)), STEPPED_WEIGHT),
      ];
  }
  return [];
}

/** An element of a new view that memory's order would give otherwise. @param {Unit} unit @returns {Asked[]} */
function askTransposed({ opened, step, after, named }) {
  const { fresh } = opened.at(step);
  for (const one of named) {
    const { handle, uid } = one;
    if (!fresh.has(uid) || fresh.has(handle.storage ?? "") || (handle.shape ?? []).length < 2) continue;
    const elements = elementsOf(after, handle);
    const row = find(after, handle.storage, "storage")?.cells?.[plainDtype(handle.dtype)];
    if (!elements || !row) continue;
    for (const [k, { index, value }] of elements.entries()) {
      const rowMajor = row[elements[0].cell + k];
      const choices = rowMajor === undefined ? null : choose(cellText(value), [cellText(rowMajor)]);
      if (choices) return [elementQuestion(one, index, choices, TRANSPOSED_WEIGHT)];
    }
  }
  return [];
}

/** @param {Named} one @param {number[]} index @param {{choices: import("./question.js").Choice[], right: number, number: number | null}} answer @param {number} weight @returns {Asked} */
function elementQuestion({ name, uid }, index, answer, weight) {
  return { kind: "value", what: elementName(name, index), uid, index, weight, reason: null, ...answer };
}
