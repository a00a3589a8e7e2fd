/** A loop in which a name or a list keeps the graph of every iteration alive. */

import { refOf } from "../trace/names.js";
import { addToList } from "../trace/multimap.js";
import { code, fix, link, namesOf } from "./finding.js";
import { attributeChanges } from "./object_history.js";
import { tensorHistory } from "./tensor_history.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./finding.js").Diagnosis} Diagnosis */
/**
 * @typedef {{step: number, uid: string, node: string}} HeldValue   a name's tensor and its node, from a step on
 * @typedef {{uid: string, step: number}} Meaning   empty for what is no tensor
 * @typedef {{holdings: HeldValue[], seen: Set<string>[]}} Chain
 *   values of one name, each computed from the one before; seen: the nodes that came with each
 */

/** A chain or a list is a loop's from so many iterations on. */
const MIN_ITERATIONS = 3;
/** So many nodes are looked at between one value of a name and the next. */
const MAX_NODES = 400;

/** @param {RunFacts} facts @returns {Diagnosis[]} */
export function graphGrows(facts) {
  if (!facts.backwards.length) return growingLists(facts);
  return [...growingNames(facts), ...growingLists(facts)];
}

/** @param {RunFacts} facts @returns {Diagnosis[]} */
function growingNames(facts) {
  /** @type {Map<string, Diagnosis>} by the line that makes it grow */
  const out = new Map();
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

/** What each variable meant, by its name. @param {RunFacts} facts @returns {[string, Meaning[]][]} */
function meaningsOfVariables(facts) {
  return [...facts.scan.meanings].map(([key, meanings]) => [key.slice(key.indexOf("/") + 1), meanings]);
}

/** What each attribute of an object of the program was, by its path. @param {RunFacts} facts @returns {[string, Meaning[]][]} */
function meaningsOfAttributes(facts) {
  /** @type {Map<string, Meaning[]>} */
  const out = new Map();
  for (const { owner, name, step, after } of attributeChanges(facts))
    addToList(out, `${owner} ${name}`, { uid: after?.[0] === "t" ? after : "", step });
  return [...out].flatMap(([key, meanings]) => {
    if (!meanings.some(({ uid }) => uid && tensorHistory(facts).changes(uid, "grad_fn").length)) return [];
    const [owner, name] = key.split(" ");
    const path = facts.nameText(owner, meanings[meanings.length - 1].step);
    return [[path ? `${path}.${name}` : name, meanings]];
  });
}

/** Whether writes in place gave a tensor one node after the other. @param {RunFacts} facts @param {string} uid */
function growsByWrites(facts, uid) {
  return uid !== "" && tensorHistory(facts).changes(uid, "grad_fn").length >= MIN_ITERATIONS;
}

/** What a name meant, one after the other; a value that has no history ends a chain. @param {RunFacts} facts
 * @param {Meaning[]} meanings @returns {HeldValue[]} */
function valuesOverTime(facts, meanings) {
  const history = tensorHistory(facts);
  return meanings.flatMap(({ uid, step }, k) => {
    if (uid[0] !== "t") return { step, uid, node: "" };
    const end = meanings[k + 1]?.step ?? facts.steps.length;
    const changes = history.changes(uid, "grad_fn").filter((change) => change.step > step && change.step < end);
    const nodes = [{ step, value: history.valueAt(uid, "grad_fn", step) }, ...changes];
    return nodes.map(({ step: at, value }) => ({ step: at, uid, node: typeof value === "string" ? value : "" }));
  });
}

/** @param {RunFacts} facts @param {HeldValue[]} heldValues @returns {Chain | null} */
function longestChain(facts, heldValues) {
  /** @type {Chain | null} */
  let longest = null;
  /** @type {Chain} */
  let chain = { holdings: [], seen: [] };
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

/** The nodes behind a value that came since an earlier one; null where they don't lead to that one.
 * @param {RunFacts} facts @param {HeldValue} current @param {HeldValue} previous @returns {Set<string> | null} */
function nodesBetween(facts, current, previous) {
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

/** @param {RunFacts} facts @param {string} name @param {Chain} chain @returns {Diagnosis | null} null where one backward goes through
 * all of it, as through an unrolled loop */
function diagnosisOfChain(facts, name, { holdings: heldValues, seen }) {
  const visits = heldValues.map(({ node }) => facts.index.visitsOf.get(node)?.length ?? 0);
  const isWalked = visits.slice(1).some((count) => count > 0);
  const isWalkedAgain = visits.filter((count) => count >= MIN_ITERATIONS).length > 0;
  const walkedApart = seen.filter((nodes) => [...nodes].some((uid) => facts.index.visitsOf.has(uid))).length;
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

/** Whether the iterations in which a value grows run a backward themselves. @param {RunFacts} facts @param {HeldValue[]} heldValues */
function inTrainingLoop(facts, heldValues) {
  const [first, last] = [heldValues[0].step, heldValues[heldValues.length - 1].step];
  return facts.backwards.some(({ step }) => step > first && step < last);
}

/** @param {RunFacts} facts @param {string} name @param {string} variant @param {HeldValue[]} heldValues @param {number} nodes
 * @returns {Diagnosis} */
function growthDiagnosis(facts, name, variant, heldValues, nodes) {
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

/** Lists to which a loop appends a tensor that still has its graph. @param {RunFacts} facts @returns {Diagnosis[]} */
function growingLists(facts) {
  /** @type {Map<string, {list: string, uid: string, step: number}[]>} by list and statement */
  const appendedTensors = new Map();
  for (const { uid, step, fields } of facts.index.objectChanges) {
    if (!fields.splice && !(fields.items && !fields.kind)) continue;
    const last = fields.splice?.at(-1)?.[2].at(-1) ?? fields.items?.at(-1);
    const ref = refOf(/** @type {import("../trace/wire.js").Value} */ (Array.isArray(last) ? last[1] : last));
    if (ref?.[0] === "t") addToList(appendedTensors, `${uid} ${facts.steps[step].stmt}`, { list: uid, uid: ref, step });
  }
  return [...appendedTensors.values()].flatMap((items) => diagnosisOfList(facts, items) ?? []);
}

/** @param {RunFacts} facts @param {{list: string, uid: string, step: number}[]} items @returns {Diagnosis | null} */
function diagnosisOfList(facts, items) {
  if (items.length < MIN_ITERATIONS) return null;
  const history = tensorHistory(facts);
  const backwards = new Set();
  const walkedItems = items.filter(({ uid, step }) => {
    const nodeUid = /** @type {string | null} */ (history.valueAt(uid, "grad_fn", step));
    const visit = facts.index.visitsOf.get(nodeUid ?? "")?.[0];
    if (visit !== undefined) backwards.add(facts.steps[visit].visit?.backward);
    return visit !== undefined;
  });
  const last = items[items.length - 1];
  const aliveItems = walkedItems.filter(({ uid }) => (facts.index.lives.get(uid)?.death ?? -1) >= last.step);
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

/** A list of results with their graphs, in a program that asks for no gradient at all: an evaluation that records.
 * @param {RunFacts} facts @param {{list: string, uid: string, step: number}[]} items @returns {Diagnosis | null} */
function listWithoutBackward(facts, items) {
  const last = items[items.length - 1];
  const history = tensorHistory(facts);
  const heldValues = items.flatMap(({ uid, step }) => {
    const node = history.valueAt(uid, "grad_fn", step);
    const isAlive = (facts.index.lives.get(uid)?.death ?? -1) >= last.step;
    return typeof node === "string" && isAlive ? [{ step, uid, node }] : [];
  });
  const name = facts.nameText(last.list, last.step);
  if (heldValues.length < MIN_ITERATIONS || !name) return null;
  const diagnosis = growthDiagnosis(facts, name, "evaluated", heldValues, heldValues.length);
  const y = facts.nameFact(heldValues[0].uid, heldValues[0].step);
  const fixes = [fix("detach_sum", facts.place(last.step), { x: name })];
  return { ...diagnosis, severity: "note", facts: { ...diagnosis.facts, y }, names: namesOf(code(name), y), fixes };
}
