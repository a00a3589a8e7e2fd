/** What two runs have different, by the names of the program: from which place of their common timeline to which. */

import { openTrace, type OpenTrace } from "../trace/state.ts";
import { alignStatements, alignSteps, type IndexPair, type TimelineRow } from "./align.ts";
import {
  factsByName,
  TENSOR_PROPERTIES,
  type TensorFact,
  type TensorFacts,
  type FactsOfName as Named,
  type NameGroup,
  type SharingFact,
  type TensorProperty,
} from "./tensor_facts.ts";
import type { Step, Trace } from "../trace/wire.ts";

export interface Difference {
  name: string;
  property: TensorProperty | "exists";
  /** from, to: the first and the last row at which it is there */
  from: number;
  to: number;
  /** left, right: at the last one, null where the name means nothing */
  left: TensorFact | null;
  right: TensorFact | null;
  /** leftUid, rightUid: of what the name means, null for a plain value */
  leftUid: string | null;
  rightUid: string | null;
}

export interface OutputDifference {
  row: number;
  line: { left: number | null; right: number | null };
  left: string;
  right: string;
}

export interface Comparison {
  left: OpenTrace;
  right: OpenTrace;
  statements: IndexPair[];
  rows: TimelineRow[];
  differences: Difference[];
  output: OutputDifference[];
  /** the first row that is not the same on both sides, null where all are */
  apart: number | null;
}

export function compareTraces(leftTrace: Trace, rightTrace: Trace): Comparison {
  return compareRuns(openTrace(leftTrace), openTrace(rightTrace));
}

export function compareRuns(left: OpenTrace, right: OpenTrace): Comparison {
  const statements = alignStatements(left.trace.program, right.trace.program);
  const rows = alignSteps(left.trace, right.trace, statements);
  const differences = differencesBetween(left, right, rows);
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

/** The differences at a row, in the order in which they are told. */
export function differencesAt({ left, right, rows }: Comparison, row: number) {
  const rowHere = rows[row];
  return rowHere ? differencesOfNames(factsByName(left, rowHere.left), factsByName(right, rowHere.right)) : [];
}

/** Two runs have too many names at too many steps to compare them. */
export class ComparisonTooLarge extends Error {}

/** Names of both sides that are compared, at all rows together: about two seconds of work. */
const MAX_COMPARED_NAMES = 800_000;

/** Names that take as long to compare as one that differs. */
const DIFFERENCE_COST = 4;

/** The differences by their first row. Raises ComparisonTooLarge. */
function differencesBetween(left: OpenTrace, right: OpenTrace, rows: TimelineRow[]): Difference[] {
  /** by name and property, those that are there now */
  const open = new Map<string, Difference>();
  const ended: Difference[] = [];
  let namesLeft = MAX_COMPARED_NAMES;
  rows.forEach((row, k) => {
    // where one side alone goes on, the two are not at the same place; at the end they are as far as they came
    if (!row.both && k < rows.length - 1) return;
    const [leftFacts, rightFacts] = [factsByName(left, row.left), factsByName(right, row.right)];
    namesLeft -= leftFacts.size + rightFacts.size;
    if (namesLeft < 0)
      throw new ComparisonTooLarge("these programs have too many names at too many steps to compare them");
    const differencesHere = differencesOfNames(leftFacts, rightFacts);
    namesLeft -= differencesHere.length * DIFFERENCE_COST;
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

function differenceKey({ name, property }: { name: string; property: string }) {
  return `${property} ${name}`;
}

function differencesOfNames(left: Map<string, Named>, right: Map<string, Named>): Omit<Difference, "from" | "to">[] {
  const out: Omit<Difference, "from" | "to">[] = [];
  /** pairs of tensors that were compared by a shorter name */
  const compared = new Set<string>();
  for (const name of new Set([...left.keys(), ...right.keys()])) {
    const [a, b] = [left.get(name), right.get(name)];
    const uids = { leftUid: a?.uid ?? null, rightUid: b?.uid ?? null };
    if (!a || !b) {
      const existsFact = { text: name, key: name };
      out.push({ name, property: "exists", left: a ? existsFact : null, right: b ? existsFact : null, ...uids });
      continue;
    }
    const comparedPair = `${a.uid} ${b.uid}`;
    if (isAttributePath(name) && compared.has(comparedPair)) continue;
    compared.add(comparedPair);
    for (const property of differingProperties(a, b))
      out.push({ name, property, left: propertyFactOf(a, property), right: propertyFactOf(b, property), ...uids });
  }
  return withoutRepeatedSharing(out);
}

/** Whether a name leads through other objects, as `net.0.weight`: a second one of a tensor says nothing new. */
function isAttributePath(name: string) {
  return /[.[]/.test(name);
}

function propertyFactOf({ own: ownFacts, shared: sharedFacts }: Named, property: TensorProperty) {
  return ownFacts[property] ?? sharedFacts[property] ?? null;
}

/** of the left side's facts, with which they were compared last */
const lastComparedFacts = new WeakMap<TensorFacts, { other: TensorFacts; properties: TensorProperty[] }>();

/** The properties in the order in which they are told. */
function differingProperties(a: Named, b: Named): TensorProperty[] {
  const lastComparison = lastComparedFacts.get(a.own);
  const ownProperties =
    lastComparison?.other === b.own
      ? lastComparison.properties
      : OWN_PROPERTIES.filter((property) => !areFactsEqual(a.own[property], b.own[property]));
  if (lastComparison?.other !== b.own) lastComparedFacts.set(a.own, { other: b.own, properties: ownProperties });
  const shared = SHARING_PROPERTIES.filter((property) => !areFactsEqual(a.shared[property], b.shared[property]));
  return shared.length
    ? TENSOR_PROPERTIES.filter((property) => ownProperties.includes(property) || shared.includes(property))
    : ownProperties;
}

const SHARING_PROPERTIES: TensorProperty[] = ["memory", "counter", "base"];
const OWN_PROPERTIES = TENSOR_PROPERTIES.filter((property) => !SHARING_PROPERTIES.includes(property));

function areFactsEqual(left: TensorFact | undefined, right: TensorFact | undefined) {
  return left === right || left?.key === right?.key;
}

/** Sharing is told once: of two names that share only on one side, by the later one. A tensor of another type, or a
 * number in the place of a tensor, has nothing else to compare. */
function withoutRepeatedSharing(differences: Omit<Difference, "from" | "to">[]) {
  const otherType = new Set(differences.filter(({ property }) => property === "type").map(({ name }) => name));
  /** names whose change of sharing is in the list */
  const compared: Record<string, Set<string>> = { memory: new Set(), counter: new Set() };
  const isImplied = ({ name, property, left, right }: Omit<Difference, "from" | "to">) => {
    if (otherType.has(name)) return property !== "type" && (!left || !right);
    const toldNames = compared[property];
    if (!toldNames) return false;
    const [leftGroup, rightGroup] = [(left as SharingFact | null)?.group, (right as SharingFact | null)?.group];
    const areTold = (group?: NameGroup, others?: NameGroup) =>
      (group?.names ?? []).every((other) => other === name || others?.has(other) || toldNames.has(other));
    if (areTold(leftGroup, rightGroup) && areTold(rightGroup, leftGroup)) return true;
    toldNames.add(name);
    return false;
  };
  const reversed = [...differences].reverse();
  const keptDifferences = new Set(reversed.filter((difference) => !isImplied(difference)));
  return differences.filter((difference) => keptDifferences.has(difference));
}

/** What the same steps print otherwise, and what only one side prints. */
function outputDifferences(left: Trace, right: Trace, rows: TimelineRow[]): OutputDifference[] {
  const out: OutputDifference[] = [];
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

function printedText(traceStep: Step | null) {
  return (traceStep?.log ?? []).map((entry) => (entry.kind === "out" ? entry.text : "")).join("");
}
