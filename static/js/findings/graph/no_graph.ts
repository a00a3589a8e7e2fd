/** Backward was asked of a tensor that no graph leads back from: what cut it, or that nothing ever required grad. */

import { codeFact, declareErrorDiagnosis, fixHint, nameTextOfFact, operationName } from "../diagnosis.ts";
import type { Diagnosis, Fact, Link, RunFacts } from "../diagnosis.ts";
import { checkpointEndStep, fixKindsForGraphCut, gradModeSwitchAt } from "./grad_mode.ts";
import { mentionedTensors, receiverOf } from "../statements/mentioned_entities.ts";
import { ancestorsAndCuts, type GraphCut } from "../facts/graph_walk.ts";
import { lastNumberConversion, lossAsNumber } from "./number_loss.ts";
import { attributeRead, isTorchMember } from "../../syntax/expressions.ts";
import { walk } from "../../syntax/tree.ts";

export const ERROR_FINDINGS = [
  declareErrorDiagnosis({ kind: "no_graph", lookedFor: "cut", say: backwardWithoutGraph }),
];

const NO_GRAPH_ERROR = /does not require grad and does not have a grad_fn|that (?:doesn't require|has requires_grad)/;

function backwardWithoutGraph(facts: RunFacts, step: number): Diagnosis | null {
  const root = rootWithoutGraph(facts, step);
  if (!root) return lossAsNumber(facts, step);
  const { tensors, cuts } = ancestorsAndCuts(facts, root, step);
  const cut = cuts[0] ?? cutThroughNumberOrArray(facts, tensors);
  if (cut) return graphCutDiagnosis(facts, root, cut, step);
  return (
    frozenLeafDiagnosis(facts, root, tensors, step) ??
    requiredTooLateDiagnosis(facts, root, tensors, step) ??
    neverRequiredGradDiagnosis(facts, root, tensors, step)
  );
}

/** The tensor that backward was asked to start from, where it has no graph. */
function rootWithoutGraph(facts: RunFacts, step: number) {
  const call = facts.backwardCalls.findLast((backward) => facts.stepsOfFinalException.includes(backward.step));
  const isWithoutGraph = (uid: string | null | undefined) => facts.tensor(uid, step)?.requires_grad === false;
  const root = call?.roots.find(isWithoutGraph);
  if (root && (call?.step ?? -1) >= step) return root;
  if (!NO_GRAPH_ERROR.test(facts.error?.message ?? "")) return null;
  const askedTensor = ["backward", "register_hook", "retain_grad"]
    .map((method) => receiverOf(facts, step, method)?.uid)
    .find(Boolean);
  if (askedTensor && isWithoutGraph(askedTensor)) return askedTensor;
  return mentionedTensors(facts, step).find(({ uid }) => isWithoutGraph(uid))?.uid ?? null;
}

/** The cut through a Python number or an array: the tensor was made anew from values that had left the graph. */
function cutThroughNumberOrArray(facts: RunFacts, tensors: string[]): GraphCut | null {
  for (const uid of tensors) {
    const cut = lastNumberConversion(facts, facts.birthStep(uid));
    if (cut) return { tensor: cut.tensor, result: uid, step: cut.step, op: cut.name, reason: cut.reason };
  }
  return null;
}

function graphCutDiagnosis(facts: RunFacts, rootUid: string, recorded: GraphCut, step: number): Diagnosis {
  const cut = withCutFromStatement(facts, recorded);
  const y = facts.nameFact(rootUid, step);
  const createGraphCall = cut.reason === "create_graph" ? facts.backwardAt(cut.step) : undefined;
  const x = facts.nameFact(createGraphCall?.roots[0] ?? cut.tensor, cut.step);
  const constant = createGraphCall && ownFunctionVisited(facts, createGraphCall.uid) ? "own_backward" : "constant";
  const reason = createGraphCall?.createsGraph ? constant : cut.reason;
  const end = createGraphCall ? createGraphCall.end + 1 : cut.step;
  const result =
    nameBoundAt(facts, cut.step) ??
    (end > cut.step ? firstNameBound(facts, cut.step, end) : null) ??
    facts.nameFact(cut.result, cut.step);
  const findingFacts = { x, y, z: result, op: operationName(cut.op), code: facts.statementFact(cut.step) };
  const checkedFacts = { ...findingFacts, code: facts.statementFact(step) };
  const gradOff = reason === "no_grad" ? gradModeSwitchAt(facts, cut.step) : null;
  const gradOffFacts = gradOff ? { ...findingFacts, code: codeFact(gradOff.code) } : findingFacts;
  return {
    variant: gradOff?.isSwitch ? "grad_mode" : reason,
    cause: gradOff?.isSwitch ? facts.place(gradOff.step) : facts.place(cut.step),
    chain: [
      gradOff && gradOff.line !== facts.place(cut.step).line && [gradOff, "way", [], { code: codeFact(gradOff.code) }],
      [cut.step, "cut", [cut.tensor, cut.result], findingFacts],
      ...linksToRoot(facts, rootUid, cut, step),
      [step, "checked", [rootUid], checkedFacts],
    ],
    names: [y, result, x],
    facts: { ...gradOffFacts, cut_line: facts.place(cut.step).line },
    fixes: gradOff?.isSwitch
      ? [
          ["grad_on", {}, cut.step],
          ["remove_line", {}, gradOff.step],
        ]
      : fixKindsForGraphCut(reason).map((kind) =>
          fixHint(kind, facts.place(cut.step), { name: nameTextOfFact(result) }),
        ),
  };
}

/** A Function of the program through which a backward went; undefined where there is none. */
function ownFunctionVisited(facts: RunFacts, backwardUid: string) {
  const visits = facts.index.visitsByBackward.get(backwardUid) ?? [];
  const nodes = visits.map(({ step }) => facts.steps[step].visit?.node);
  return nodes.find((node) => facts.scan.initialFields(node)?.custom === true);
}

function readsData(facts: RunFacts, step: number) {
  const tree = facts.syntax(step);
  return tree && [...walk(tree)].some((node) => attributeRead(node)?.attribute === "data" && !isTorchMember(node));
}

/** Where and why a history ends, by what the statement says where the trace has less. */
function withCutFromStatement(facts: RunFacts, cut: GraphCut) {
  const { reason, step } = cut;
  if (reason === "detach" && readsData(facts, step)) return { ...cut, reason: "data" };
  const checkpoint = reason === "no_grad" ? checkpointEndStep(facts, step) : null;
  return checkpoint === null ? cut : { ...cut, reason: "checkpoint", step: checkpoint };
}

/** The step that made the root, where it lies between. */
function linksToRoot(facts: RunFacts, rootUid: string, cut: GraphCut, step: number): Link[] {
  const birthStep = facts.birthStep(rootUid);
  if (birthStep <= cut.step || birthStep >= step) return [];
  return [[birthStep, "made", [rootUid], { x: facts.nameFact(rootUid, birthStep) }]];
}

/** The first name that one of several steps gave to a tensor. */
function firstNameBound(facts: RunFacts, first: number, last: number): Fact | null {
  const { frame } = facts.steps[first];
  for (let step = first; step <= Math.min(last, facts.steps.length - 1); step++) {
    const name = facts.steps[step].frame === frame ? nameBoundAt(facts, step) : null;
    if (name) return name;
  }
  return null;
}

/** The name that a step gave to a tensor. */
export function nameBoundAt(facts: RunFacts, step: number): Fact | null {
  const { frame, set } = facts.steps[step];
  const names = Object.entries(set?.[frame ?? ""]?.vars ?? {}).flatMap(([name, value]) =>
    value && typeof value === "object" && "ref" in value && value.ref[0] === "t" ? [name] : [],
  );
  return names.length === 1 ? codeFact(names[0]) : null;
}

/** Where a leaf behind it was told not to require grad any more. */
function frozenLeafDiagnosis(facts: RunFacts, rootUid: string, tensors: string[], step: number): Diagnosis | null {
  for (const uid of tensors) {
    const freezingStep = stepThatStoppedRequiringGrad(facts, uid);
    if (freezingStep === undefined) continue;
    const findingFacts = { x: facts.nameFact(uid, step), y: facts.nameFact(rootUid, step) };
    return {
      variant: "frozen",
      cause: freezingStep,
      chain: [
        [freezingStep, "cut", [uid]],
        [step, "checked", [rootUid]],
      ],
      facts: findingFacts,
      fixes: [["remove_line"]],
    };
  }
  return null;
}

/** Where a leaf behind it came to require grad only after it had been used. */
function requiredTooLateDiagnosis(facts: RunFacts, rootUid: string, tensors: string[], step: number): Diagnosis | null {
  for (const uid of tensors) {
    if (uid === rootUid || !facts.tensor(uid, step)?.requires_grad) continue;
    const requiredStep = facts.history
      .fieldChanges(uid, "requires_grad")
      .find((change) => change.step < step && change.value === true)?.step;
    const use = facts.usesOf(uid).find(({ outputs }) => !outputs.includes(uid));
    if (requiredStep === undefined || !use || use.step >= requiredStep) continue;
    const findingFacts = {
      x: facts.nameFact(uid, requiredStep),
      y: facts.nameFact(rootUid, step),
      use: facts.steps[use.step].line,
    };
    return {
      variant: "late",
      cause: requiredStep,
      chain: [
        [use.step, "way", [uid]],
        [requiredStep, "moved", [uid]],
        [step, "checked", [rootUid]],
      ],
      facts: findingFacts,
      fixes: [["require_grad", { name: nameTextOfFact(findingFacts.x) }, facts.birthStep(uid)]],
    };
  }
  return null;
}

/** Nothing behind it ever required grad. */
function neverRequiredGradDiagnosis(facts: RunFacts, rootUid: string, tensors: string[], step: number): Diagnosis {
  const leaves = tensors.filter(
    (uid) => uid !== rootUid && facts.nameText(uid, step) && /float|complex/.test(facts.handle(uid, step)?.dtype ?? ""),
  );
  const origins = leaves.filter((uid) => !facts.producingOperation(uid)?.inputs.length);
  const namedLeaves = origins.length ? origins : leaves;
  const leaf = namedLeaves.at(-1) ?? rootUid;
  const birthStep = Math.max(0, facts.birthStep(leaf));
  const findingFacts = {
    y: facts.nameFact(rootUid, step),
    x: facts.nameFact(leaf, birthStep),
    leaves: namedLeaves.map((uid) => facts.nameFact(uid, step)),
  };
  return {
    variant: leaf === rootUid ? "alone" : "never",
    cause: birthStep,
    chain: [
      [birthStep, "made", [leaf]],
      [step, "checked", [rootUid]],
    ],
    names: [findingFacts.y, findingFacts.x],
    facts: findingFacts,
    fixes: [["require_grad", { name: facts.nameText(leaf, birthStep) ?? "" }]],
  };
}

/** The step at which a tensor that required grad at first last came not to. */
function stepThatStoppedRequiringGrad(facts: RunFacts, uid: string) {
  if (!facts.scan.initialFields(uid)?.requires_grad) return undefined;
  return facts.history.fieldChanges(uid, "requires_grad").findLast(({ value }) => value === false)?.step;
}
