/**
 * A term of a loss that was computed from what requires grad and has no history: it is in the printed number and moves
 * nothing.
 */

import { asFound, codeFact, diagnosis, gradNameOf, operationName, phrase, placeAt } from "../diagnosis.ts";
import type { BackwardCall, Diagnosis, EventOccurrence, Operation, RunFacts } from "../diagnosis.ts";
import { nodeReceivingGradient } from "./gradient_flow.ts";
import { ancestorsAndCuts, reachableNodes, type GraphCut } from "../facts/graph_walk.ts";
import { lossTerms, type LossTerm } from "./loss_terms.ts";
import { numbersText } from "../facts/cell_values.ts";
import { memoizePerRun } from "../facts/memoize_per_run.ts";
import { literalValue, methodCalls, pathText } from "../../syntax/expressions.ts";
import { nameUses } from "../../syntax/name_uses.ts";
import type { SyntaxNode } from "../../syntax/tree.ts";

export const FINDINGS = [
  diagnosis({ kind: "term_moves_nothing", severity: "warning", of: termsWithoutHistory, say: asFound }),
];

/** By why a history ended: whether it may well be meant, as a constant that is only printed along. */
const CUTS_BY_INTENT = new Set(["detach", "no_grad", "inference"]);

const MAX_BACKWARDS_EXAMINED = 12;
const MAX_NAMES_BACK = 4;
/** Of a number, the smallest share that counts as added: 0.0001 times a penalty is little, and not nothing. */
const MIN_SHARE_ADDED = 1e-6;

function termsWithoutHistory(facts: RunFacts): Diagnosis[] {
  /** by the lines of the cut and of the term */
  const out = new Map<string, Diagnosis>();
  for (const call of backwardsOfLosses(facts)) {
    const [rootUid] = call.roots;
    if (!rootUid) continue;
    const terms = lossTerms(facts, rootUid, call.step);
    const moving = terms.filter(({ uid, step }) => facts.tensor(uid, step)?.requires_grad);
    if (!moving.length) continue;
    for (const term of [...(terms as Term[]), ...numbersAdded(facts, rootUid, call.step)]) {
      const cut = term.cut ?? cutBehindTerm(facts, term);
      if (!cut) continue;
      if (!term.cut && isOnlyOfOthers(facts, term)) {
        const made = facts.birthStep(term.uid);
        const key = `${facts.steps[made]?.line} untrained`;
        if (!out.has(key)) out.set(key, untrainedTerm(facts, call, term, made, moving[0]));
        continue;
      }
      const key = `${facts.steps[cut.step].line} ${facts.steps[term.step].line}`;
      if (!out.has(key)) out.set(key, diagnosisOf(facts, call, term, cut, moving[0]));
    }
    for (const found of termsThatMissTheStep(facts, call, moving)) {
      const key = `${placeAt(facts, found.cause).line} ${found.variant}`;
      if (!out.has(key)) out.set(key, found);
    }
  }
  return [...out.values()];
}

/** Terms that have a history, yet none that leads to what the next step updates, since it was cut on the way there. */
function termsThatMissTheStep(facts: RunFacts, call: BackwardCall, moving: LossTerm[]): Diagnosis[] {
  const optimizer = optimizerOfEachRound(facts, call);
  if (!optimizer || moving.length < 2) return [];
  const stepped = new Set(facts.parametersOf(optimizer.uid, optimizer.step));
  const reaches = (uid: string, step: number) => leavesReachedFrom(facts, uid, step).some((leaf) => stepped.has(leaf));
  const other = moving.find(({ uid, step }) => reaches(uid, step));
  if (!other) return [];
  return moving.flatMap((term) => {
    if (reaches(term.uid, term.step)) return [];
    const { cuts } = ancestorsAndCuts(facts, term.uid, term.step);
    const cut = cuts.find((candidate) => reaches(candidate.tensor, candidate.step));
    if (!cut) return [];
    const trained = leavesReachedFrom(facts, cut.tensor, cut.step).find((leaf) => stepped.has(leaf));
    const [x, p, name] = [
      facts.nameFact(term.uid, term.step),
      facts.nameFact(trained, cut.step),
      facts.nameFact(optimizer.uid, optimizer.step),
    ];
    const y = facts.nameFact(cut.tensor, cut.step);
    return [
      {
        variant: "others",
        cause: cut.step,
        chain: [
          [cut.step, "cut", [cut.tensor, cut.result]],
          [term.step, "made", [term.uid], { value: valueFact(facts, term) }],
          [optimizer.step, "none", [optimizer.uid]],
        ],
        names: [x, y, p, name],
        facts: { x, y, p, optimizer: name, loss: facts.nameFact(call.roots[0], call.step) },
        fixes: [["keep_history"]],
      },
    ];
  });
}

/**
 * The one optimizer that steps after each call of a statement's backward and before the next of any; null where several
 * do, or none.
 */
function optimizerOfEachRound(facts: RunFacts, call: BackwardCall): { uid: string; step: number } | null {
  const outer = facts.backwardCalls.filter(({ parent }) => !parent);
  let found: { uid: string; step: number } | null = null;
  for (const own of outer.filter(({ stmt }) => stmt === call.stmt)) {
    const next = outer.find(({ step }) => step > own.end)?.step ?? facts.steps.length;
    const stepping = facts.optimizers.flatMap(({ uid, steps }) => {
      const step = steps.find((at) => at > own.end - 1 && at < next);
      return step === undefined ? [] : [{ uid, step }];
    });
    if (stepping.length !== 1 || (found && stepping[0].uid !== found.uid)) return null;
    found ??= stepping[0];
  }
  return found;
}

function leavesReachedFrom(facts: RunFacts, uid: string, step: number): string[] {
  const node = nodeReceivingGradient(facts, uid, step);
  if (!node) return [];
  return [...reachableNodes(facts, node)].flatMap((nodeUid) => facts.index.nodes.get(nodeUid)?.variable ?? []);
}

/** The first calls of each statement that runs backward from one number. */
function backwardsOfLosses(facts: RunFacts): BackwardCall[] {
  const seen = new Map<number | null, number>();
  return facts.backwardCalls.filter(({ api, roots, stmt, parent }) => {
    if (api !== "backward" || roots.length !== 1 || parent) return false;
    const count = (seen.get(stmt) ?? 0) + 1;
    seen.set(stmt, count);
    return count <= 2 && seen.size <= MAX_BACKWARDS_EXAMINED;
  });
}

/** a term, and where it is a plain number the place at which it became one */
type Term = LossTerm & { cut?: GraphCut };

/**
 * The nearest place behind a term without a history at which one ended; null where it has one, or none was to be
 * expected.
 */
function cutBehindTerm(facts: RunFacts, { uid, step }: Term): GraphCut | null {
  if (facts.tensor(uid, step)?.requires_grad !== false) return null;
  const { tensors, cuts } = ancestorsAndCuts(facts, uid, step);
  const [cut] = cuts.length ? cuts : tensors.flatMap((tensor) => cutOutsideTorch(facts, tensor) ?? []);
  if (!cut || cut.step > step) return null;
  const isTermItself = cut.result === uid || unscaledSource(facts, uid) === cut.result;
  return isTermItself && CUTS_BY_INTENT.has(cut.reason) ? null : cut;
}

/**
 * Whether all that a term was computed from, under `no_grad` or detached, are parameters that no optimizer holds, such
 * as those of a teacher: its history was not lost on the way, it has nothing to do with what is trained.
 */
function isOnlyOfOthers(facts: RunFacts, { uid, step }: Term): boolean {
  const held = parametersHeld(facts);
  const { cuts } = ancestorsAndCuts(facts, uid, step);
  const leavesOf = ({ tensor, step: at }: GraphCut) =>
    facts.tensor(tensor, at)?.leaf ? [tensor] : leavesReachedFrom(facts, tensor, at);
  return (
    held.size > 0 &&
    cuts.length > 0 &&
    cuts.every((cut) => CUTS_BY_INTENT.has(cut.reason) && !leavesOf(cut).some((leaf) => held.has(leaf)))
  );
}

const parametersHeld = memoizePerRun(
  (facts: RunFacts) =>
    new Set(facts.optimizers.flatMap(({ uid, made, steps }) => facts.parametersOf(uid, steps.at(-1) ?? made))),
);

function untrainedTerm(facts: RunFacts, { step: at, roots }: BackwardCall, term: Term, made: number, other: LossTerm) {
  const [x, loss] = [facts.nameFact(term.uid, term.step), facts.nameFact(roots[0], at)];
  return {
    variant: "untrained",
    severity: "note",
    cause: made,
    chain: [
      [made, "made", [term.uid]],
      [term.step, "none", [other.uid], { other: facts.nameFact(other.uid, term.step) }],
    ],
    names: [x, loss],
    facts: { x, loss, value: valueFact(facts, term) },
  } satisfies Diagnosis;
}

/**
 * Where the numbers of a new tensor left torch before: as an array whose memory it has, or as numbers that its
 * statement read.
 */
function cutOutsideTorch(facts: RunFacts, uid: string): GraphCut | null {
  const birth = facts.birthStep(uid);
  const storage = facts.handle(uid, birth)?.storage;
  const arrays = facts.index.handlesOfStorage(storage, birth).filter((other) => other[0] === "a");
  const asArray = facts
    .eventsOfKind("path_cut")
    .find((event) => event.step <= birth && event.reason === "numpy" && arrays.includes(event.result ?? ""));
  if (asArray) return { tensor: asArray.tensor, result: uid, step: asArray.step, op: asArray.name, reason: "numpy" };
  const isFresh = facts.opsAt(birth).some(({ name, inputs }) => name === "aten::lift_fresh" && inputs.includes(uid));
  const source = isFresh ? valueCutAt(facts, birth, () => true) : undefined;
  return source ? { tensor: source.tensor, result: uid, step: source.step, op: source.name, reason: "copy" } : null;
}

/** A tensor whose values left torch in a statement, or in an earlier one that gave them a name which this one reads. */
function valueCutAt(
  facts: RunFacts,
  step: number,
  isRead: (name: string) => boolean,
  depth = 0,
): EventOccurrence<"path_cut"> | undefined {
  const here = facts.eventsOfKind("path_cut").find((event) => event.step === step && doesLeaveTorch(facts, event));
  if (here || depth > MAX_NAMES_BACK) return here;
  const { frame } = facts.steps[step];
  for (const name of facts.mentionsAt(step).names) {
    if (!isRead(name)) continue;
    const meaning = facts.meaningsOf(frame, name).findLast((other) => other.step < step);
    const isPlain = meaning && (meaning.uid === "" || meaning.uid[0] === "a");
    const cut = isPlain ? valueCutAt(facts, meaning.step, () => true, depth + 1) : undefined;
    if (cut) return cut;
  }
  return undefined;
}

/** Whether a cut hands values to Python or NumPy; a `detach` only where its statement goes on to them. */
function doesLeaveTorch(facts: RunFacts, { reason, step }: EventOccurrence<"path_cut">) {
  if (reason === "item" || reason === "numpy") return true;
  return (
    (reason === "detach" || reason === "data") && methodCalls(facts.syntax(step), "numpy", "tolist", "item").length > 0
  );
}

/** Whether a statement adds a name as it is, or times a number. */
function isAddedByName(tree: SyntaxNode | null, name: string) {
  return ((tree && nameUses(tree).read.get(name)) ?? []).some((node) => isTermOfSum(node));
}

function isTermOfSum({ parent, field }: SyntaxNode): boolean {
  if (parent?.kind !== "BinOp" && parent?.kind !== "AugAssign") return false;
  if (["+", "-"].includes(String(parent.value))) return field !== "target";
  const isScaled = parent.value === "*" && parent.children.some(isNumberOrPath);
  return isScaled && isTermOfSum(parent);
}

/** A name may mean a number, too: a sum with a tensor is told by its operands. */
function isNumberOrPath(factor: SyntaxNode) {
  return literalValue(factor) !== undefined || pathText(factor) !== null;
}

/** What a tensor is a multiple of. */
function unscaledSource(facts: RunFacts, uid: string) {
  const op = facts.producingOperation(uid);
  return op && /^(?:mul|div|neg)$/.test(operationName(op.name)) ? op.inputs[0] : null;
}

/** Numbers that `item()` made of a tensor within the statement that adds them to the loss. */
function numbersAdded(facts: RunFacts, rootUid: string, step: number): Term[] {
  const sumUids = new Set([rootUid]);
  const terms: Term[] = [];
  for (const uid of sumUids) {
    const op = facts.producingOperation(uid);
    if (!op || op.step > step || !/^(?:add|sub)$/.test(operationName(op.name))) continue;
    for (const input of op.inputs) sumUids.add(input);
    if (op.inputs.length !== 1) continue;
    const cut = valueCutAt(facts, op.step, (name) => isAddedByName(facts.syntax(op.step), name));
    const isBefore = cut && (cut.step < op.step || (cut.op ?? 0) < op.at);
    if (cut && isBefore && !sumUids.has(cut.tensor) && isNumberAdded(facts, op, cut.tensor))
      terms.push({
        uid: cut.tensor,
        step: op.step,
        cut: { tensor: cut.tensor, result: null, step: cut.step, op: cut.name, reason: "item" },
      });
  }
  return terms;
}

/** Whether the sum of a tensor and a plain number can hold what another tensor has, by how far they lie apart. */
function isNumberAdded(facts: RunFacts, { inputs, outputs, step }: Operation, uid: string) {
  const [before, after, value] = [inputs[0], outputs[0], uid].map((each) => facts.numbersOf(each, step)?.[0]);
  if (before === undefined || after === undefined || value === undefined) return true;
  return value === 0 || Math.abs(after - before) > MIN_SHARE_ADDED * Math.abs(value);
}

function diagnosisOf(
  facts: RunFacts,
  { step: backwardStep, roots }: BackwardCall,
  { uid, step }: Term,
  cut: GraphCut,
  other: LossTerm,
): Diagnosis {
  const x = facts.nameFact(uid, step);
  const y = facts.nameFact(cut.result ?? cut.tensor, cut.step);
  const loss = facts.nameFact(roots[0], backwardStep);
  const reached = facts.eventsOfKind("grad_accumulated").find((event) => event.step >= backwardStep);
  const parameter = reached ? facts.nameFact(reached.tensor, reached.step) : null;
  const code = facts.statementFact(cut.step);
  const isOnPurpose = CUTS_BY_INTENT.has(cut.reason);
  const termStep = Math.max(facts.birthStep(uid), cut.step);
  return {
    variant: variantOfCut(cut.reason),
    severity: isOnPurpose ? "note" : "warning",
    cause: cut.step,
    chain: [
      [cut.step, "cut", [cut.tensor, cut.result], { x: facts.nameFact(cut.tensor, cut.step) }],
      cut.reason !== "item" && [termStep, "made", [uid]],
      [step, "none", [other.uid], { other: facts.nameFact(other.uid, step) }],
    ],
    names: [x, y, loss],
    facts: {
      x,
      y,
      loss,
      code,
      value: valueFact(facts, { uid, step }),
      cut: facts.place(cut.step).line,
      grad: parameter ? gradNameOf(parameter) : codeFact(".grad"),
    },
    fixes: [[cut.reason === "create_graph" ? "create_graph" : "keep_history"]],
  };
}

function valueFact(facts: RunFacts, { uid, step }: LossTerm) {
  const values = facts.cellsOf(uid, step);
  return values ? numbersText(values, true) : phrase("finding.term_moves_nothing.its_value");
}

/** Which sentence tells why a history ended. */
function variantOfCut(reason: string) {
  if (reason === "create_graph") return "create_graph";
  if (reason === "dtype") return "dtype";
  return ["no_grad", "inference"].includes(reason) ? "no_grad" : "left";
}
