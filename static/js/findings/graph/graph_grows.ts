/** A loop in which a name or a list keeps the graph of every iteration alive. */

import { asFound, codeFact, diagnosis, phrase, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { referencedUid } from "../../trace/names.ts";
import { addToList } from "../../trace/multimap.ts";
import { reachableNodes } from "../facts/graph_walk.ts";
import { areOperandsOfOneOperation, storedTensor, type StoredTensor } from "./stored_graphs.ts";
import type { Value } from "../../trace/wire.ts";

const KIND = { kind: "graph_grows", severity: "warning", lookedFor: "graphs" } as const;

export const FINDINGS = [
  diagnosis({
    ...KIND,
    when: ({ backwardCalls }) => backwardCalls.length,
    of: namesWithGrowingGraph,
    say: asFound,
  }),
  diagnosis({ ...KIND, of: itemsAppended, say: growingListDiagnosis }),
];

/** a name's tensor and its node, from a step on */
interface ValueWithGraph {
  step: number;
  uid: string;
  node: string;
}

/** empty for what is no tensor */
interface NameMeaning {
  uid: string;
  step: number;
}

/** values of one name, each computed from the one before */
interface ValueSequence {
  holdings: ValueWithGraph[];
  /** the nodes that came with each */
  seen: Set<string>[];
}

/** What a statement appends to a list, however deep in the item. */
type ListItem = StoredTensor & { list: string; step: number };

/** A chain or a list is a loop's from so many iterations on. */
const MIN_LOOP_ITERATIONS = 3;
/** So many nodes are looked at between one value of a name and the next. */
const MAX_NODES_BETWEEN_VALUES = 400;
/** So many items of a list are followed back. */
const MAX_VALUES_WITH_HISTORY = 64;

function namesWithGrowingGraph(facts: RunFacts): Diagnosis[] {
  /** by the line that makes it grow */
  const out = new Map<number, { begins: number; found: Diagnosis }>();
  for (const [name, meanings] of [...meaningsOfVariables(facts), ...meaningsOfAttributes(facts)]) {
    if (meanings.length + 1 < MIN_LOOP_ITERATIONS && !meanings.some(({ uid }) => isGraphGrownByWrites(facts, uid)))
      continue;
    const chain = longestValueSequence(facts, successiveValuesOfName(facts, meanings));
    if (!chain || chain.holdings.length < MIN_LOOP_ITERATIONS) continue;
    if (!isOfLoop(facts, chain.holdings)) continue;
    const found = diagnosisOfValueSequence(facts, name, chain);
    if (!found) continue;
    const [{ step: begins }, { step: grows }] = chain.holdings;
    const { line } = facts.place(grows);
    if ((out.get(line)?.begins ?? Infinity) > begins) out.set(line, { begins, found });
  }
  return [...out.values()].map(({ found }) => found);
}

/** What each variable meant, by its name. */
function meaningsOfVariables(facts: RunFacts): [string, NameMeaning[]][] {
  return [...facts.scan.meaningsByName].map(([key, meanings]) => [key.slice(key.indexOf("/") + 1), meanings]);
}

/** What each attribute of an object of the program was, by its path. */
function meaningsOfAttributes(facts: RunFacts): [string, NameMeaning[]][] {
  const out = new Map<string, NameMeaning[]>();
  for (const { owner, name, step, after } of facts.attributeChanges)
    addToList(out, `${owner} ${name}`, { uid: after?.[0] === "t" ? after : "", step });
  return [...out].flatMap(([key, meanings]) => {
    if (!meanings.some(({ uid }) => uid && facts.history.fieldChanges(uid, "grad_fn").length)) return [];
    const [owner, name] = key.split(" ");
    const path = facts.nameText(owner, meanings[meanings.length - 1].step);
    return [[path ? `${path}.${name}` : name, meanings]];
  });
}

/** Whether writes in place gave a tensor one node after the other. */
function isGraphGrownByWrites(facts: RunFacts, uid: string) {
  return uid !== "" && facts.history.fieldChanges(uid, "grad_fn").length >= MIN_LOOP_ITERATIONS;
}

/** What a name meant, one after the other; a value that has no history ends a chain. */
function successiveValuesOfName(facts: RunFacts, meanings: NameMeaning[]): ValueWithGraph[] {
  const history = facts.history;
  return meanings.flatMap(({ uid, step }, k) => {
    if (uid[0] !== "t") return { step, uid, node: "" };
    const end = meanings[k + 1]?.step ?? facts.steps.length;
    const changes = history.fieldChanges(uid, "grad_fn").filter((change) => change.step > step && change.step < end);
    const nodes = [{ step, value: facts.gradFnOf(uid, step) }, ...changes];
    return nodes.map(({ step: at, value }) => ({ step: at, uid, node: typeof value === "string" ? value : "" }));
  });
}

function longestValueSequence(facts: RunFacts, heldValues: ValueWithGraph[]): ValueSequence | null {
  let longest: ValueSequence | null = null;
  let chain: ValueSequence = { holdings: [], seen: [] };
  for (const holding of heldValues) {
    const last = chain.holdings.at(-1);
    const seen = holding.node && last?.node ? nodesBetween(facts, holding, last) : null;
    chain = seen
      ? { holdings: [...chain.holdings, holding], seen: [...chain.seen, seen] }
      : { holdings: holding.node ? [holding] : [], seen: [] };
    if (chain.holdings.length > (longest?.holdings.length ?? 0)) longest = chain;
  }
  return longest;
}

/** The nodes behind a value that came since an earlier one; null where they don't lead to that one. */
function nodesBetween(facts: RunFacts, current: ValueWithGraph, previous: ValueWithGraph): Set<string> | null {
  if (current.node === previous.node) return null;
  const seen = new Set([current.node]);
  let leadsBack = false;
  for (const uid of seen) {
    for (const edge of facts.index.nodes.get(uid)?.next ?? []) {
      if (!edge) continue;
      if (edge[0] === previous.node) leadsBack = true;
      else if (facts.birthStep(edge[0]) > previous.step && seen.size < MAX_NODES_BETWEEN_VALUES) seen.add(edge[0]);
      else if (facts.birthStep(edge[0]) > facts.birthStep(previous.node) && seen.size < MAX_NODES_BETWEEN_VALUES)
        seen.add(edge[0]);
    }
  }
  return leadsBack ? seen : null;
}

/** Null where one backward goes through all of it, as through an unrolled loop. */
function diagnosisOfValueSequence(
  facts: RunFacts,
  name: string,
  { holdings: heldValues, seen }: ValueSequence,
): Diagnosis | null {
  const visits = heldValues.map(({ node }) => facts.visitsOf(node)?.length ?? 0);
  const isWalked = visits.slice(1).some((count) => count > 0);
  const isWalkedAgain = visits.filter((count) => count >= MIN_LOOP_ITERATIONS).length > 0;
  const walkedApart = seen.filter((nodes) => ownVisits(facts, nodes).length > 0).length;
  if ((isWalked || isWalkedInOneBackward(facts, seen)) && !isWalkedAgain) return null;
  const isUsed = isWalkedAgain || walkedApart >= MIN_LOOP_ITERATIONS - 1;
  if (!isUsed && !isInTrainingLoop(facts, heldValues) && !isSumOfUnusedGraphs(facts, heldValues)) return null;
  const variant = isWalkedAgain ? "carried" : isUsed ? "summed" : "never_walked";
  return graphGrowthDiagnosis(
    facts,
    name,
    variant,
    heldValues,
    seen.reduce((sum, nodes) => sum + nodes.size, 0),
  );
}

/**
 * Whether each value adds to the one before what was computed apart from it, and no backward of the whole run walks any
 * of that: a sum of validation losses, results that are joined. Not where the statement adds for a backward elsewhere,
 * as in the forward of a module that is also trained.
 */
function isSumOfUnusedGraphs(facts: RunFacts, heldValues: ValueWithGraph[]): boolean {
  if (!isRecordedWhole(facts)) return false;
  const [, { step: second }] = heldValues;
  const isWalkedElsewhere = [...facts.scan.meaningsByName.values()].some((meanings) =>
    meanings.some(
      ({ uid, step }) => facts.steps[step].stmt === facts.steps[second].stmt && isOfWalkedNode(facts, uid, step),
    ),
  );
  if (isWalkedElsewhere) return false;
  return heldValues.slice(1).every(({ node }, k) => {
    const { name = "", next = [] } = facts.index.nodes.get(node) ?? {};
    const previous = heldValues[k].node;
    const added = next.flatMap((edge) => (edge && edge[0] !== previous ? [edge[0]] : []));
    return (
      /^(?:Add|Cat)/.test(name) &&
      next.some((edge) => edge?.[0] === previous) &&
      added.length === 1 &&
      added.every((start) => leadToLeavesAndAreUnvisited(facts, reachableNodes(facts, start), previous))
    );
  });
}

/** Whether every step was recorded, to the end: what a step that was left out walked is not known. */
function isRecordedWhole({ ranToItsEnd, steps }: RunFacts) {
  return ranToItsEnd && !steps.some(({ skipped }) => skipped);
}

/** Whether nodes lead to leaves, not to another node, and no backward visited one of them. */
function leadToLeavesAndAreUnvisited(facts: RunFacts, nodes: Set<string>, other: string) {
  const isVisited = (uid: string) => facts.index.visitStepsByNode.has(uid) && !facts.index.nodes.get(uid)?.variable;
  return nodes.size > 1 && !nodes.has(other) && ![...nodes].some(isVisited);
}

function isOfWalkedNode(facts: RunFacts, uid: string, step: number) {
  return uid[0] === "t" && facts.visitsOf(facts.gradFnOf(uid, step)).length > 0;
}

/**
 * The visits of nodes that are a value's own: those that accumulate are a parameter's, and every backward comes to
 * them.
 */
function ownVisits({ index }: RunFacts, nodes: Set<string>): number[] {
  return [...nodes].flatMap((uid) => (index.nodes.get(uid)?.variable ? [] : (index.visitStepsByNode.get(uid) ?? [])));
}

/** Whether values come from one statement again and again, and not each from one of its own. */
function isOfLoop({ steps }: RunFacts, heldValues: ValueWithGraph[]) {
  const counts = new Map<unknown, number>();
  for (const { step } of heldValues) counts.set(steps[step].stmt, (counts.get(steps[step].stmt) ?? 0) + 1);
  return Math.max(...counts.values()) >= MIN_LOOP_ITERATIONS - 1;
}

/**
 * Whether the pieces of a value's graph were walked by a single backward, of which not every visit needs to be a step.
 */
function isWalkedInOneBackward(facts: RunFacts, seen: Set<string>[]) {
  const steps = seen.flatMap((nodes) => ownVisits(facts, nodes));
  return new Set(steps.map((step) => facts.steps[step].visit?.backward)).size === 1;
}

/** Whether the iterations in which a value grows run a backward themselves. */
function isInTrainingLoop(facts: RunFacts, heldValues: ValueWithGraph[]) {
  const [first, last] = [heldValues[0].step, heldValues[heldValues.length - 1].step];
  return facts.backwardCalls.some(({ step }) => step > first && step < last);
}

function graphGrowthDiagnosis(
  facts: RunFacts,
  name: string,
  variant: string,
  heldValues: ValueWithGraph[],
  nodes: number,
  list: string | null = null,
): Diagnosis {
  const x = codeFact(name);
  const [first, second] = heldValues;
  const y = facts.nameFact(first.uid, first.step);
  const last = heldValues[heldValues.length - 1];
  const walkedBetween = facts.backwardCalls.find(({ step }) => step < last.step && step > heldValues[0].step);
  const depth = facts.steps[heldValues[0].step].iter?.length;
  const lastInLoop = heldValues.findLast(({ step }) => facts.steps[step].iter?.length === depth) ?? last;
  const iterations = iterationsBetween(facts, heldValues[0].step, lastInLoop.step);
  const isThinned = iterations > heldValues.length;
  const born = list === null ? -1 : facts.birthStep(list);
  const counted = Math.max(iterations, heldValues.length);
  const n = list === null ? counted : (finalLength(facts, list, last.step) ?? counted);
  return {
    variant,
    severity: variant === "never_walked" ? "note" : "warning",
    cause: second.step,
    chain: [
      // what only a closure leads to is out of sight until it is called
      facts.steps[born]?.kind !== "call" &&
        (born >= 0 ? [born, "made", [list]] : [heldValues[0].step, "made", [heldValues[0].uid]]),
      walkedBetween && [walkedBetween.step, "starts", walkedBetween.roots],
      [last.step, "kept", [last.uid, last.node]],
    ],
    names: list === null ? [x] : [x, y],
    facts: {
      x,
      y,
      name,
      n,
      nodes: isThinned ? phrase("finding.graph_grows.their_nodes") : phrase("finding.graph_grows.nodes", { nodes }),
    },
    fixes: [[variant === "carried" ? "detach_carried" : "detach_sum", { x: name }]],
  };
}

/**
 * How many iterations of one loop lie between two steps, both included, where not all of them were recorded; else 0.
 */
function iterationsBetween(facts: RunFacts, first: number, last: number) {
  if (!facts.steps.slice(first + 1, last + 1).some(({ skipped, kind }) => skipped && kind !== "visit")) return 0;
  const [from, to] = [facts.steps[first].iter ?? [], facts.steps[last].iter ?? []];
  const isSameLoop =
    from.length > 0 && from.length === to.length && from.slice(0, -1).join() === to.slice(0, -1).join();
  return isSameLoop ? to[to.length - 1] - from[from.length - 1] + 1 : 0;
}

/** What a statement appends to a list, of tensors that still have their graphs: by list and statement. */
function itemsAppended(facts: RunFacts): ListItem[][] {
  const appendedTensors = new Map<string, ListItem[]>();
  /** by statement */
  const lastList = new Map<unknown, SeenList>();
  for (const { uid, step, fields } of facts.index.objectChanges) {
    if (!fields.splice && !(fields.items && !fields.kind)) continue;
    const last = fields.splice?.at(-1)?.[2].at(-1) ?? fields.items?.at(-1);
    const ref = referencedUid((Array.isArray(last) ? last[1] : last) as Value);
    const stored = storedTensor(facts, ref, step);
    if (!stored) continue;
    const { stmt } = facts.steps[step];
    const before = lastList.get(stmt);
    const first = before && isSameHiddenList(facts, before, uid) ? before.first : uid;
    lastList.set(stmt, { uid, first, len: fields.len ?? 0 });
    addToList(appendedTensors, `${first} ${stmt}`, { list: uid, ...stored, step });
  }
  return [...appendedTensors.values()];
}

/** A list to which a statement appended last; `first` is what it was when it was seen first. */
interface SeenList {
  uid: string;
  first: string;
  len: number;
}

/** Whether a list is one of before that only a closure leads to: out of sight between two calls, with all its items. */
function isSameHiddenList(facts: RunFacts, { uid, len }: SeenList, other: string): boolean {
  const fields = facts.scan.initialFields(other);
  return (
    uid !== other &&
    len > 0 &&
    fields?.kind === "object" &&
    fields.len === len &&
    !facts.index.isAlive(uid, facts.birthStep(other))
  );
}

/**
 * A list of states, each computed from the one before, that nothing takes together and no backward walks: a buffer of
 * which every entry keeps the whole past alive.
 */
function listWithHistoryDiagnosis(facts: RunFacts, items: ListItem[]): Diagnosis | null {
  const { backwardCalls } = facts;
  const isDirect = items.every(({ suffix }) => !suffix);
  if (backwardCalls.length ? !isRecordedWhole(facts) : isDirect) return null;
  const values = aliveValues(facts, items)
    .filter(({ node }, k, all) => node !== all[k - 1]?.node)
    .slice(0, MAX_VALUES_WITH_HISTORY);
  if (
    values.length < MIN_LOOP_ITERATIONS ||
    areOperandsOfOneOperation(facts, [...new Set(values.map(({ uid }) => uid))])
  )
    return null;
  const seen = values.slice(1).map((value, k) => nodesBetween(facts, value, values[k]));
  if (!seen.every((nodes) => nodes && !ownVisits(facts, nodes).length)) return null;
  const last = items[items.length - 1];
  const name = facts.nameText(last.list, last.step);
  const death = facts.index.lifetimes.get(last.list)?.death ?? -1;
  const len = facts.object(last.list, last.step)?.len ?? 0;
  if (!name || len < values.length || backwardCalls.some(({ step }) => step > death)) return null;
  const found = graphGrowthDiagnosis(facts, name, "history", values, values.length, last.list);
  const y = codeFact(`${name}[-1]${last.suffix}`);
  const isIndexed = !["dict", "defaultdict", "OrderedDict"].includes(facts.scan.initialFields(last.list)?.type ?? "");
  return {
    ...found,
    severity: "warning",
    facts: isIndexed ? { ...found.facts, y } : found.facts,
    fixes: isDirect ? [["detach_sum", { x: name }, last.step]] : [],
  };
}

/** Of a list's items those that have a history and live until the last. */
function aliveValues(facts: RunFacts, items: ListItem[]): ValueWithGraph[] {
  const last = items[items.length - 1];
  return items.flatMap(({ uid, step }) => {
    const node = facts.gradFnOf(uid, step);
    return node && facts.deathStep(uid) >= last.step ? [{ step, uid, node }] : [];
  });
}

function growingListDiagnosis(facts: RunFacts, items: ListItem[]): Diagnosis | null {
  if (items.length < MIN_LOOP_ITERATIONS) return null;
  const walked = items.flatMap(({ uid, step }) => {
    const node = facts.gradFnOf(uid, step);
    const [visit] = facts.visitsOf(node);
    return node && visit !== undefined ? [{ step, uid, node, backward: facts.steps[visit].visit?.backward }] : [];
  });
  const backwards = new Set(walked.map(({ backward }) => backward));
  const last = items[items.length - 1];
  const alive = walked.filter(({ uid }) => facts.deathStep(uid) >= last.step);
  const withHistory = listWithHistoryDiagnosis(facts, items);
  if (withHistory) return withHistory;
  if (!facts.backwardCalls.length) return listWithoutBackwardDiagnosis(facts, items, "evaluated");
  if (!walked.length && areGraphsUnused(facts, items)) return listWithoutBackwardDiagnosis(facts, items, "unused");
  if (backwards.size < MIN_LOOP_ITERATIONS || alive.length < MIN_LOOP_ITERATIONS) return null;
  const name = facts.nameText(last.list, last.step);
  return name ? graphGrowthDiagnosis(facts, name, "listed", alive, alive.length, last.list) : null;
}

/** Whether the items of a list have graphs that share leaves at most, and that no backward of the whole run walks. */
function areGraphsUnused(facts: RunFacts, items: { uid: string; step: number }[]) {
  if (!isRecordedWhole(facts)) return false;
  const nodes = items.flatMap(({ uid, step }) => facts.gradFnOf(uid, step) ?? []);
  if (nodes.length < items.length || new Set(nodes).size < nodes.length) return false;
  const graphs = nodes.map((node) => reachableNodes(facts, node));
  return graphs.every(
    (graph, k) =>
      leadToLeavesAndAreUnvisited(facts, graph, nodes[k - 1] ?? nodes[k + 1]) &&
      ![...graph].some((uid) => !facts.index.nodes.get(uid)?.variable && graphs[k + 1]?.has(uid)),
  );
}

/** How many items a list has at its end, recorded or not. */
function finalLength(facts: RunFacts, list: string, step: number) {
  const end = Math.min(facts.index.lifetimes.get(list)?.death ?? step, facts.steps.length - 1);
  return facts.object(list, end)?.len;
}

/** A list of results with their graphs, which nobody asks for a gradient: an evaluation that records. */
function listWithoutBackwardDiagnosis(
  facts: RunFacts,
  items: ListItem[],
  variant: "evaluated" | "unused",
): Diagnosis | null {
  const last = items[items.length - 1];
  const heldValues = aliveValues(facts, items);
  const name = facts.nameText(last.list, last.step);
  if (heldValues.length < MIN_LOOP_ITERATIONS || !name) return null;
  return {
    ...graphGrowthDiagnosis(facts, name, variant, heldValues, heldValues.length, last.list),
    severity: "note",
    fixes: [["detach_sum", { x: name }, last.step]],
  };
}
