/** What two runs have different, by the names of the program: from which place of their common timeline to which. */

import { openTrace } from "../trace/state.js";
import { alignStatements, alignSteps } from "./align.js";
import { factsByName, PROPERTIES } from "./tensor_facts.js";

/** @typedef {import("../trace/state.js").OpenTrace} OpenTrace */
/** @typedef {import("../trace/wire.js").Trace} Trace */
/** @typedef {import("./align.js").Row} Row */
/** @typedef {import("./tensor_facts.js").Fact} Fact */
/** @typedef {import("./tensor_facts.js").NamedFacts} Named */
/** @typedef {import("./tensor_facts.js").Property} Property */
/**
 * @typedef {{name: string, property: Property | "exists", from: number, to: number, left: Fact | null, right: Fact | null,
 *   leftUid: string | null, rightUid: string | null}} Difference
 *   from, to: the first and the last row at which it is there; left, right: at the last one, null where the name means nothing;
 *   leftUid, rightUid: of what the name means, null for a plain value
 * @typedef {{row: number, line: {left: number | null, right: number | null}, left: string, right: string}} OutputDifference
 * @typedef {{left: OpenTrace, right: OpenTrace, statements: import("./align.js").Pair[], rows: Row[], differences: Difference[],
 *   output: OutputDifference[], apart: number | null}} Comparison
 *   apart: the first row that is not the same on both sides, null where all are
 */

/** @param {Trace} leftTrace @param {Trace} rightTrace @returns {Comparison} */
export function compareTraces(leftTrace, rightTrace) {
  return compareRuns(openTrace(leftTrace), openTrace(rightTrace));
}

/** @param {OpenTrace} left @param {OpenTrace} right @returns {Comparison} */
export function compareRuns(left, right) {
  const statements = alignStatements(left.trace.program, right.trace.program);
  const rows = alignSteps(left.trace, right.trace, statements);
  const differences = differencesOf(left, right, rows);
  const output = outputDifferences(left.trace, right.trace, rows);
  const firstAlone = rows.findIndex((row) => !row.both);
  const firstRows = [
    ...differences.map(({ from }) => from),
    ...output.map(({ row }) => row),
    ...(firstAlone < 0 ? [] : [firstAlone]),
  ];
  const apartRow = firstRows.length ? Math.min(...firstRows) : null;
  return { left, right, statements, rows, differences, output, apart: apartRow };
}

/** The differences at a row, in the order in which they are told. @param {Comparison} comparison @param {number} row */
export function differencesAt({ left, right, rows }, row) {
  const rowHere = rows[row];
  return rowHere ? differencesOfNames(factsByName(left, rowHere.left), factsByName(right, rowHere.right)) : [];
}

/** @param {OpenTrace} left @param {OpenTrace} right @param {Row[]} rows @returns {Difference[]} by their first row */
function differencesOf(left, right, rows) {
  /** @type {Map<string, Difference>} by name and property, those that are there now */
  const open = new Map();
  /** @type {Difference[]} */
  const ended = [];
  rows.forEach((row, k) => {
    // where one side alone goes on, the two are not at the same place; at the end they are as far as they came
    if (!row.both && k < rows.length - 1) return;
    const differencesHere = differencesOfNames(factsByName(left, row.left), factsByName(right, row.right));
    const keys = new Set(differencesHere.map(differenceKey));
    for (const [key, difference] of open) {
      if (keys.has(key)) continue;
      ended.push(difference);
      open.delete(key);
    }
    for (const difference of differencesHere) {
      const earlier = open.get(differenceKey(difference));
      open.set(differenceKey(difference), { ...difference, from: earlier?.from ?? k, to: k });
    }
  });
  return [...ended, ...open.values()].sort((a, b) => a.from - b.from);
}

/** @param {{name: string, property: string}} difference */
function differenceKey({ name, property }) {
  return `${property} ${name}`;
}

/** @param {Map<string, Named>} left @param {Map<string, Named>} right @returns {Omit<Difference, "from" | "to">[]} */
function differencesOfNames(left, right) {
  /** @type {Omit<Difference, "from" | "to">[]} */
  const out = [];
  /** @type {Set<string>} pairs of tensors that were compared by a shorter name */
  const compared = new Set();
  for (const name of new Set([...left.keys(), ...right.keys()])) {
    const [a, b] = [left.get(name), right.get(name)];
    const uids = { leftUid: a?.uid ?? null, rightUid: b?.uid ?? null };
    if (!a || !b) {
      const existsFact = { text: name, key: name };
      out.push({ name, property: "exists", left: a ? existsFact : null, right: b ? existsFact : null, ...uids });
      continue;
    }
    const comparedPair = `${a.uid} ${b.uid}`;
    if (isPath(name) && compared.has(comparedPair)) continue;
    compared.add(comparedPair);
    for (const property of differingProperties(a, b))
      out.push({ name, property, left: factOf(a, property), right: factOf(b, property), ...uids });
  }
  return withoutRepeatedSharing(out);
}

/** Whether a name leads through other objects, as `net.0.weight`: a second one of a tensor says nothing new. @param {string} name */
function isPath(name) {
  return /[.[]/.test(name);
}

/** @param {Named} named @param {Property} property */
function factOf({ own: ownFacts, shared: sharedFacts }, property) {
  return ownFacts[property] ?? sharedFacts[property] ?? null;
}

/** @type {WeakMap<import("./tensor_facts.js").Facts, {other: import("./tensor_facts.js").Facts, properties: Property[]}>} of the left
 * side's facts, with which they were compared last */
const lastCompared = new WeakMap();

/** @param {Named} a @param {Named} b @returns {Property[]} in the order in which they are told */
function differingProperties(a, b) {
  const lastComparison = lastCompared.get(a.own);
  const ownProperties =
    lastComparison?.other === b.own
      ? lastComparison.properties
      : OWN_PROPERTIES.filter((property) => !isSameFact(a.own[property], b.own[property]));
  if (lastComparison?.other !== b.own) lastCompared.set(a.own, { other: b.own, properties: ownProperties });
  const shared = SHARING_PROPERTIES.filter((property) => !isSameFact(a.shared[property], b.shared[property]));
  return shared.length
    ? PROPERTIES.filter((property) => ownProperties.includes(property) || shared.includes(property))
    : ownProperties;
}

/** @type {Property[]} */
const SHARING_PROPERTIES = ["memory", "counter", "base"];
const OWN_PROPERTIES = PROPERTIES.filter((property) => !SHARING_PROPERTIES.includes(property));

/** @param {Fact | undefined} left @param {Fact | undefined} right */
function isSameFact(left, right) {
  return left === right || left?.key === right?.key;
}

/** Sharing is told once: of two names that share only on one side, by the later one. A tensor of another type, or a number in
 * the place of a tensor, has nothing else to compare. @param {Omit<Difference, "from" | "to">[]} differences */
function withoutRepeatedSharing(differences) {
  const otherType = new Set(differences.filter(({ property }) => property === "type").map(({ name }) => name));
  /** @type {Record<string, Set<string>>} names whose change of sharing is in the list */
  const compared = { memory: new Set(), counter: new Set() };
  const isImplied = (/** @type {Omit<Difference, "from" | "to">} */ { name, property, left, right }) => {
    if (otherType.has(name)) return property !== "type" && (!left || !right);
    const toldNames = compared[property];
    if (!toldNames) return false;
    const namesIn = (/** @type {Fact | null} */ fact) => new Set(fact?.text ? fact.text.split(", ") : []);
    const [leftNames, rightNames] = [namesIn(left), namesIn(right)];
    const changedNames = [...leftNames, ...rightNames].filter(
      (other) => leftNames.has(other) !== rightNames.has(other),
    );
    if (changedNames.every((other) => toldNames.has(other))) return true;
    toldNames.add(name);
    return false;
  };
  const reversed = [...differences].reverse();
  const keptDifferences = new Set(reversed.filter((difference) => !isImplied(difference)));
  return differences.filter((difference) => keptDifferences.has(difference));
}

/** What the same steps print otherwise, and what only one side prints. @param {Trace} left @param {Trace} right @param {Row[]} rows
 * @returns {OutputDifference[]} */
function outputDifferences(left, right, rows) {
  /** @type {OutputDifference[]} */
  const out = [];
  let [l, r] = [-1, -1];
  rows.forEach((row, k) => {
    const a = row.left > l ? left.steps[row.left] : null;
    const b = row.right > r ? right.steps[row.right] : null;
    [l, r] = [row.left, row.right];
    const [leftText, rightText] = [printedText(a), printedText(b)];
    if (leftText !== rightText)
      out.push({ row: k, line: { left: a?.line ?? null, right: b?.line ?? null }, left: leftText, right: rightText });
  });
  return out;
}

/** @param {import("../trace/wire.js").Step | null} traceStep */
function printedText(traceStep) {
  return (traceStep?.log ?? []).map((entry) => (entry.kind === "out" ? entry.text : "")).join("");
}
