/** A loop in which a name or a list keeps the graph of every iteration alive. */

import { referencedUid } from "../trace/names.ts";
import { addToList } from "../trace/multimap.ts";
import { code, fix, link, namesOf, type Diagnosis } from "./finding.ts";
import { attributeChanges } from "./object_history.ts";
import { tensorHistory } from "./tensor_history.ts";
import type { Value } from "../trace/wire.ts";
import type { RunFacts } from "./run_facts.ts";

/** a name's tensor and its node, from a step on */
interface HeldValue {
  step: number;
  uid: string;
  node: string;
}

/** empty for what is no tensor */
interface Meaning {
  uid: string;
  step: number;
}

/** values of one name, each computed from the one before */
interface Chain {
  holdings: HeldValue[];
  /** the nodes that came with each */
  seen: Set<string>[];
}

/** A chain or a list is a loop's from so many iterations on. */
const MIN_ITERATIONS = 3;
/** So many nodes are looked at between one value of a name and the next. */
const MAX_NODES = 400;

export function graphGrows(facts: RunFacts): Diagnosis[] {
  if (!facts.backwards.length) return growingLists(facts);
  return [...growingNames(facts), ...growingLists(facts)];
}

function growingNames(facts: RunFacts): Diagnosis[] {
  /** by the line that makes it grow */
  const out = new Map<string, Diagnosis>();
  for (const [name, meanings] of [...meaningsOfVariables(facts), ...meaningsOfAttributes(facts)]) {
    if (meanings.length + 1 < MIN_ITERATIONS && !meanings.some(({ uid }) => growsByWrites(facts, uid))) continue;
    const chain = longestChain(facts, valuesOverTime(facts, meanings));
    if (!chain || chain.holdings.length < MIN_ITERATIONS) continue;
    const diagnosis = diagnosisOfChain(facts, name, chain);
    if (!diagnosis) continue;
    const earlier = out.get(`${diagnosis.cause.line}`);
    if (!earlier || earlier.chain[0].step > diagnosis.chain[0].step) out.set(`${diagnosis.cause.line}`, diagnosis);
  }
  return [...out.values()];
}

/** What each variable meant, by its name. */
function meaningsOfVariables(facts: RunFacts): [string, Meaning[]][] {
  return [...facts.scan.meanings].map(([key, meanings]) => [key.slice(key.indexOf("/") + 1), meanings]);
}

/** What each attribute of an object of the program was, by its path. */
function meaningsOfAttributes(facts: RunFacts): [string, Meaning[]][] {
  const out = new Map<string, Meaning[]>();
  for (const { owner, name, step, after } of attributeChanges(facts))
    addToList(out, `${owner} ${name}`, { uid: after?.[0] === "t" ? after : "", step });
  return [...out].flatMap(([key, meanings]) => {
    if (!meanings.some(({ uid }) => uid && tensorHistory(facts).changes(uid, "grad_fn").length)) return [];
    const [owner, name] = key.split(" ");
    const path = facts.nameText(owner, meanings[meanings.length - 1].step);
    return [[path ? `${path}.${name}` : name, meanings]];
  });
}

/** Whether writes in place gave a tensor one node after the other. */
function growsByWrites(facts: RunFacts, uid: string) {
  return uid !== "" && tensorHistory(facts).changes(uid, "grad_fn").length >= MIN_ITERATIONS;
}

/** What a name meant, one after the other; a value that has no history ends a chain. */
function valuesOverTime(facts: RunFacts, meanings: Meaning[]): HeldValue[] {
  const history = tensorHistory(facts);
  return meanings.flatMap(({ uid, step }, k) => {
    if (uid[0] !== "t") return { step, uid, node: "" };
    const end = meanings[k + 1]?.step ?? facts.steps.length;
    const changes = history.changes(uid, "grad_fn").filter((change) => change.step > step && change.step < end);
    const nodes = [{ step, value: history.valueAt(uid, "grad_fn", step) }, ...changes];
    return nodes.map(({ step: at, value }) => ({ step: at, uid, node: typeof value === "string" ? value : "" }));
  });
}

function longestChain(facts: RunFacts, heldValues: HeldValue[]): Chain | null {
  let longest: Chain | null = null;
  let chain: Chain = { holdings: [], seen: [] };
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
function nodesBetween(facts: RunFacts, current: HeldValue, previous: HeldValue): Set<string> | null {
  if (current.node === previous.node) return null;
  const seen = new Set([current.node]);
  let leadsBack = false;
  for (const uid of seen) {
    for (const edge of facts.index.nodes.get(uid)?.next ?? []) {
      if (!edge) continue;
      if (edge[0] === previous.node) leadsBack = true;
      else if (facts.birth(edge[0]) > previous.step && seen.size < MAX_NODES) seen.add(edge[0]);
      else if (facts.birth(edge[0]) > facts.birth(previous.node) && seen.size < MAX_NODES) seen.add(edge[0]);
    }
  }
  return leadsBack ? seen : null;
}

/** @returns null where one backward goes through all of it, as through an unrolled loop */
function diagnosisOfChain(facts: RunFacts, name: string, { holdings: heldValues, seen }: Chain): Diagnosis | null {
  const visits = heldValues.map(({ node }) => facts.index.visitStepsByNode.get(node)?.length ?? 0);
  const isWalked = visits.slice(1).some((count) => count > 0);
  const isWalkedAgain = visits.filter((count) => count >= MIN_ITERATIONS).length > 0;
  const walkedApart = seen.filter((nodes) => [...nodes].some((uid) => facts.index.visitStepsByNode.has(uid))).length;
  if (isWalked && !isWalkedAgain) return null;
  const isUsed = isWalkedAgain || walkedApart >= MIN_ITERATIONS - 1;
  if (!isUsed && !inTrainingLoop(facts, heldValues)) return null;
  const variant = isWalkedAgain ? "carried" : isUsed ? "summed" : "never_walked";
  return growthDiagnosis(
    facts,
    name,
    variant,
    heldValues,
    seen.reduce((sum, nodes) => sum + nodes.size, 0),
  );
}

/** Whether the iterations in which a value grows run a backward themselves. */
function inTrainingLoop(facts: RunFacts, heldValues: HeldValue[]) {
  const [first, last] = [heldValues[0].step, heldValues[heldValues.length - 1].step];
  return facts.backwards.some(({ step }) => step > first && step < last);
}

function growthDiagnosis(
  facts: RunFacts,
  name: string,
  variant: string,
  heldValues: HeldValue[],
  nodes: number,
): Diagnosis {
  const x = code(name);
  const [, second] = heldValues;
  const last = heldValues[heldValues.length - 1];
  const walkedBetween = facts.backwards.find(({ step }) => step < last.step && step > heldValues[0].step);
  const chain = [
    link(facts.place(heldValues[0].step), "made", { x }, [heldValues[0].uid]),
    ...(walkedBetween
      ? [
          link(
            facts.place(walkedBetween.step),
            "starts",
            { code: facts.codeFact(walkedBetween.step) },
            walkedBetween.roots,
          ),
        ]
      : []),
    link(facts.place(last.step), "kept", { x }, [last.uid, last.node]),
  ];
  return {
    variant,
    severity: variant === "never_walked" ? "note" : "warning",
    cause: facts.place(second.step),
    chain,
    names: namesOf(x),
    facts: { x, name, n: heldValues.length, nodes, code: facts.codeFact(second.step) },
    fixes: [fix(variant === "carried" ? "detach_carried" : "detach_sum", facts.place(second.step), { x: name })],
  };
}

/** Lists to which a loop appends a tensor that still has its graph. */
function growingLists(facts: RunFacts): Diagnosis[] {
  /** by list and statement */
  const appendedTensors = new Map<string, { list: string; uid: string; step: number }[]>();
  for (const { uid, step, fields } of facts.index.objectChanges) {
    if (!fields.splice && !(fields.items && !fields.kind)) continue;
    const last = fields.splice?.at(-1)?.[2].at(-1) ?? fields.items?.at(-1);
    const ref = referencedUid((Array.isArray(last) ? last[1] : last) as Value);
    if (ref?.[0] === "t") addToList(appendedTensors, `${uid} ${facts.steps[step].stmt}`, { list: uid, uid: ref, step });
  }
  return [...appendedTensors.values()].flatMap((items) => diagnosisOfList(facts, items) ?? []);
}

function diagnosisOfList(facts: RunFacts, items: { list: string; uid: string; step: number }[]): Diagnosis | null {
  if (items.length < MIN_ITERATIONS) return null;
  const history = tensorHistory(facts);
  const backwards = new Set();
  const walkedItems = items.filter(({ uid, step }) => {
    const nodeUid = history.valueAt(uid, "grad_fn", step) as string | null;
    const visit = facts.index.visitStepsByNode.get(nodeUid ?? "")?.[0];
    if (visit !== undefined) backwards.add(facts.steps[visit].visit?.backward);
    return visit !== undefined;
  });
  const last = items[items.length - 1];
  const aliveItems = walkedItems.filter(({ uid }) => (facts.index.lifetimes.get(uid)?.death ?? -1) >= last.step);
  if (!facts.backwards.length) return listWithoutBackward(facts, items);
  if (backwards.size < MIN_ITERATIONS || aliveItems.length < MIN_ITERATIONS) return null;
  const name = facts.nameText(last.list, last.step);
  if (!name) return null;
  const heldValues = aliveItems.map(({ uid, step }) => ({
    step,
    uid,
    node: String(history.valueAt(uid, "grad_fn", step)),
  }));
  const diagnosis = growthDiagnosis(facts, name, "listed", heldValues, aliveItems.length);
  const y = facts.nameFact(heldValues[0].uid, heldValues[0].step);
  return { ...diagnosis, facts: { ...diagnosis.facts, y }, names: namesOf(code(name), y) };
}

/** A list of results with their graphs, in a program that asks for no gradient at all: an evaluation that records. */
function listWithoutBackward(facts: RunFacts, items: { list: string; uid: string; step: number }[]): Diagnosis | null {
  const last = items[items.length - 1];
  const history = tensorHistory(facts);
  const heldValues = items.flatMap(({ uid, step }) => {
    const node = history.valueAt(uid, "grad_fn", step);
    const isAlive = (facts.index.lifetimes.get(uid)?.death ?? -1) >= last.step;
    return typeof node === "string" && isAlive ? [{ step, uid, node }] : [];
  });
  const name = facts.nameText(last.list, last.step);
  if (heldValues.length < MIN_ITERATIONS || !name) return null;
  const diagnosis = growthDiagnosis(facts, name, "evaluated", heldValues, heldValues.length);
  const y = facts.nameFact(heldValues[0].uid, heldValues[0].step);
  const fixes = [fix("detach_sum", facts.place(last.step), { x: name })];
  return { ...diagnosis, severity: "note", facts: { ...diagnosis.facts, y }, names: namesOf(code(name), y), fixes };
}
