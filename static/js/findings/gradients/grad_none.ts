/** Why `.grad` is None, where the program shows interest in it: it reads it, or gives the tensor to an optimizer. */

import { asFound, codeFact, diagnosis as declare, gradNameOf, nameTextOfFact, operationName } from "../diagnosis.ts";
import type { Diagnosis, Fact, Link, RunFacts } from "../diagnosis.ts";
import { addToList } from "../../trace/multimap.ts";
import { gradReadings } from "../statements/grad_readings.ts";
import { runCoverage } from "../account/run_coverage.ts";
import { gradNoneReason, type GradNoneReason } from "./grad_none_reasons.ts";
import { isDownstreamOf } from "../training/not_in_optimizer.ts";
import { misdirectedOptimizers } from "../training/optimizer_misses.ts";
import { firstNameOf } from "../../syntax/expressions.ts";
import { loopVariables } from "../../syntax/statements.ts";
import { outermostModuleWithout } from "../training/training_facts.ts";

export const FINDINGS = [
  declare({ kind: "grad_none", severity: "warning", lookedFor: "cut", of: gradsThatAreNone, say: asFound }),
];

interface ExpectedGrad {
  uid: string;
  /** as the program's text has it */
  path: string;
  step: number;
  /** the tensors that this one stands for */
  uids: string[];
  /** the optimizer that has it and others, which do get gradients, and the module that it is of */
  optimizer?: string;
  module?: string;
  /** of those others, some */
  trained?: string[];
}

/**
 * By these a program keeps a part out of the training, such as a teacher that its optimizer holds along with the rest;
 * not where what it trains is computed from that part.
 */
const RECORDING_OFF = new Set(["cut_no_grad", "cut_inference"]);
const MAX_GRAD_NONE_FINDINGS = 12;
const MAX_COMPARED_PARAMETERS = 8;

function gradsThatAreNone(facts: RunFacts): Diagnosis[] {
  const errorStatement = statementThatRaisedOnNoneGrad(facts);
  const out: Map<string, Diagnosis> = new Map(
    nonLeafTensorsInOptimizer(facts).map((diagnosis) => ["optimizer", diagnosis]),
  );
  for (const interest of [...optimizerStepsWithoutGrads(facts), ...readsOfNoneGrad(facts)]) {
    if (out.size >= MAX_GRAD_NONE_FINDINGS) break;
    const reason = gradNoneReason(facts, interest.uid, interest.step);
    if (!reason) continue;
    if (interest.optimizer && reason.variant === "unused") {
      if (runCoverage(facts).otherThreadsBackwards) continue; // one of those may have come from a loss that reaches it
      out.set(`unused ${interest.uid}`, partUnusedDiagnosis(facts, interest, interest.optimizer, reason));
      continue;
    }
    const key = `${reason.variant} ${facts.steps[reason.cause].line}`;
    const knownDiagnosis = out.get(key);
    const explainsError = errorStatement === facts.steps[interest.step].stmt;
    if (knownDiagnosis && (!explainsError || knownDiagnosis.explainsError))
      addTensorToDiagnosis(knownDiagnosis, facts, interest);
    else out.set(key, diagnosisOf(facts, interest, reason, explainsError));
  }
  return [...out.values()];
}

/**
 * Why a tensor has no `.grad` after a step, whether the program asks for it or not; null where the trace does not say
 * why.
 */
export function diagnosisOfNoneGrad(facts: RunFacts, uid: string, step: number): Diagnosis | null {
  const reason = gradNoneReason(facts, uid, step);
  return reason && diagnosisOf(facts, { uid, path: "", step, uids: [uid] }, reason, false);
}

function diagnosisOf(
  facts: RunFacts,
  interest: ExpectedGrad,
  reason: GradNoneReason,
  explainsError: boolean,
): Diagnosis {
  const isResetBeforeUse = reason.variant === "reset" && interest.path === "";
  const isKeptOut =
    RECORDING_OFF.has(reason.variant) &&
    !(interest.trained ?? []).some((trained) => isDownstreamOf(facts, trained, interest.step, [interest.uid]));
  const x = displayNameOfExpectedGrad(facts, interest);
  const read = facts.place(interest.step).line;
  const ownName = JSON.stringify(facts.nameFact(interest.uid, interest.step));
  const chain = reason.chain.map(
    ([at, role, uids, own = {}]): Link => [at, role, uids, JSON.stringify(own.x) === ownName ? { ...own, x } : own],
  );
  return {
    variant: reason.variant,
    severity: explainsError
      ? "error"
      : isResetBeforeUse
        ? "warning"
        : isKeptOut && interest.optimizer
          ? "note"
          : reason.severity,
    cause: reason.cause,
    chain: [...chain, [interest.step, "none", [interest.uid]]],
    names: [x, ...["y", "loss", "from"].map((name) => reason.facts?.[name] as Fact | undefined)],
    facts: {
      x,
      grad: gradNameOf(x),
      grads: [gradNameOf(x)],
      grads_count: 1,
      name: nameTextOfFact(x),
      n: interest.uids.length,
      read,
      ...reason.facts,
    },
    concerns: interest.uids,
    fixes: (reason.fixes ?? []).map((kind) => [kind, { x: nameTextOfFact(x), to: reason.to ?? read }]),
    explainsError,
  };
}

/** A part of what an optimizer holds that no loss is computed from. */
function partUnusedDiagnosis(
  facts: RunFacts,
  { uid, step, uids, module: owner }: ExpectedGrad,
  optimizer: string,
  reason: GradNoneReason,
): Diagnosis {
  const made = facts.optimizer(optimizer)?.made ?? step;
  const x = facts.nameFact(uid, step);
  const module = facts.nameFact(owner ?? uid, step);
  const names = {
    x,
    module,
    optimizer: facts.nameFact(optimizer, step),
    n: uids.length,
    code: facts.statementFact(made),
  };
  return {
    variant: "in_optimizer",
    severity: "note",
    cause: made,
    chain: [
      [made, "way", [optimizer]],
      ...reason.chain.filter(([, role]) => role === "starts"),
      [step, "none", [uid], { grad: gradNameOf(x) }],
    ],
    names: [x, module, names.optimizer],
    facts: { ...names, ...reason.facts },
    concerns: uids,
  };
}

function addTensorToDiagnosis(diagnosis: Diagnosis, facts: RunFacts, interest: ExpectedGrad) {
  const name = displayNameOfExpectedGrad(facts, interest);
  diagnosis.concerns = [...(diagnosis.concerns ?? []), ...interest.uids];
  const grads = diagnosis.facts.grads as Fact[];
  const grad = gradNameOf(name);
  if (grads.some((listed) => JSON.stringify(listed) === JSON.stringify(grad))) return;
  grads.push(grad);
  diagnosis.facts.grads_count = grads.length;
  diagnosis.names = [...(diagnosis.names ?? []), name];
}

/** A path through modules says more than the name of a loop. */
function displayNameOfExpectedGrad(facts: RunFacts, { uid, path, step }: ExpectedGrad) {
  const item = (facts.namesAt(step).tags.get(uid) ?? []).find(
    ({ kind, text }) => kind === "item" && !text.includes("param_groups"),
  );
  if (!/[.[]/.test(path) && item && facts.steps[step].iter?.length) return codeFact(item.text);
  const isElement = item && !/[.[]/.test(path) && loopVariablesAt(facts, step).has(path);
  if (path && isElement) return { code: path, also: item.text };
  return path ? codeFact(path) : facts.nameFact(uid, step);
}

function loopVariablesAt(facts: RunFacts, step: number) {
  const tree = facts.syntax(step);
  return tree ? loopVariables(tree) : new Set<string>();
}

/** The statement that raised because a `.grad` is None. */
function statementThatRaisedOnNoneGrad({ error, steps }: RunFacts) {
  if (!error || !/NoneType|must be Tensor, not None/.test(error.message)) return null;
  if (!["AttributeError", "TypeError"].includes(error.type)) return null;
  return steps[error.step]?.stmt ?? null;
}

/** An optimizer was given a tensor that keeps no `.grad`, as it is the result of an operation: it takes leaves only. */
function nonLeafTensorsInOptimizer(facts: RunFacts): Diagnosis[] {
  if (!/can't optimize a non-leaf/.test(facts.error?.message ?? "")) return [];
  const step = facts.errorStep;
  const isResult = (uid: string) => facts.tensor(uid, step)?.leaf === false;
  const givenResult = [...facts.index.lifetimes.values()].find(
    ({ uid, kind }) => kind === "tensor" && isResult(uid) && isNamedInStatement(facts, uid, step),
  );
  if (!givenResult) return [];
  const birthStep = Math.max(0, facts.birthStep(givenResult.uid));
  const x = facts.nameFact(givenResult.uid, birthStep);
  return [
    {
      variant: "optimizer_given",
      severity: "error",
      cause: birthStep,
      chain: [
        [birthStep, "made", [givenResult.uid]],
        [step, "checked", [givenResult.uid]],
      ],
      facts: { x, op: operationName(facts.producingOperation(givenResult.uid)?.name ?? "") },
      fixes: [["leaf_of_result", { x: nameTextOfFact(x) }]],
      explainsError: true,
    },
  ];
}

/** Whether a statement's text has the name of a tensor, or of what it is in. */
function isNamedInStatement(facts: RunFacts, uid: string, step: number) {
  const name = facts.naming.nameAt(uid, step);
  return name !== null && facts.mentionsAt(step).names.has(firstNameOf(name));
}

/** Where the program reads a `.grad` that is None. */
function readsOfNoneGrad(facts: RunFacts): ExpectedGrad[] {
  const _history = facts.history;
  return gradReadings(facts)
    .filter(({ uid, step }) => !facts.gradOf(uid, Math.max(0, step - 1)) && !facts.gradOf(uid, step))
    .map((reading) => ({ ...reading, uids: [reading.uid] }));
}

/** Steps of optimizers whose tensors have no `.grad` at all, though a backward has run. */
function optimizerStepsWithoutGrads(facts: RunFacts): ExpectedGrad[] {
  const history = facts.history;
  return facts.optimizers.flatMap(({ uid, steps }) => {
    const step = steps.at(-1);
    if (step === undefined || !facts.backwardCalls.some((call) => call.step < step)) return [];
    const params = facts.parametersOf(uid, step);
    if (!params.length || params.some((param) => history.fieldChanges(param, "grad").some(({ value }) => value))) {
      const reset = gradsResetBeforeOptimizerStep(facts, uid, steps);
      return reset.length ? reset : parametersNeverReached(facts, uid, params, steps);
    }
    if (facts.naming.nameAt(params[0], step)?.includes("param_groups")) return []; // see `parameter_detached`
    if (misdirectedOptimizers(facts).some(({ optimizer }) => optimizer === uid)) return [];
    return [{ uid: params[0], path: "", step, uids: params }];
  });
}

/**
 * Parameters of an optimizer that no gradient ever came to, nor any other change, while others of its parameters got
 * theirs: the first of each module. Where the loop was thinned, what came in between would show in their numbers.
 */
function parametersNeverReached(facts: RunFacts, optimizer: string, params: string[], steps: number[]): ExpectedGrad[] {
  if (!facts.ranToItsEnd) return [];
  const history = facts.history;
  const step = steps[steps.length - 1];
  const isNeverReached = (uid: string) => {
    const storage = facts.storageOf(uid, step);
    return (
      history.valueAt(uid, "requires_grad", step) === true &&
      !facts.naming.nameAt(uid, step)?.includes("param_groups") && // see `parameter_detached`
      !history.fieldChanges(uid, "grad").some(({ value }) => value) &&
      !facts.writesOf(storage).some((write) => write.step >= steps[0])
    );
  };
  const reached = params.filter((uid) => !isNeverReached(uid));
  const byModule = new Map<string, string[]>();
  for (const uid of params.filter(isNeverReached))
    addToList(byModule, outermostModuleWithout(facts, uid, reached), uid);
  return [...byModule].map(([module, uids]) => ({
    uid: uids[0],
    path: "",
    step,
    uids,
    optimizer,
    module,
    trained: reached.slice(0, MAX_COMPARED_PARAMETERS),
  }));
}

/** Where every step of an optimizer finds that the gradients have been reset. */
function gradsResetBeforeOptimizerStep(facts: RunFacts, uid: string, steps: number[]): ExpectedGrad[] {
  const params = facts.parametersOf(uid, steps[0]);
  const isWithoutGrad = (step: number) => params.every((param) => !facts.gradOf(param, step - 1));
  if (!params.length || !steps.every(isWithoutGrad)) return [];
  return [{ uid: params[0], path: "", step: steps[0], uids: params }];
}
